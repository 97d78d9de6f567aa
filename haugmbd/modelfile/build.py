r"""From the document of a model file to a System. All faults are reported at once, each with its path in the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import frozen
from haugmbd.constraints.joint import Joint, Single
from haugmbd.contact.contact import Contact
from haugmbd.contact.impact_laws import LAWS
from haugmbd.drivers import as_driver
from haugmbd.drivers.expression import parameter_fault
from haugmbd.drivers.expression_grammar import evaluate_number, parse, variables
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.forces import TSDA, Bushing, ContactForce, LinearActuator, PointForce, StateForce, Torque
from haugmbd.forces.base import ForceElement
from haugmbd.joints import Composed, Locked, Place, Pulley, Spaced, Vectors
from haugmbd.modelfile.parts.blocks import block_of
from haugmbd.modelfile.parts.by_signature import made_by_signature
from haugmbd.modelfile.parts.equations import Equations, freedom_of
from haugmbd.modelfile.parts.joint_loads import JOINT_LOADS, make_joint_load
from haugmbd.modelfile.parts.own_classes import make_own
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.modelfile.schema import (
    BY_SIGNATURE,
    COUPLING_CLASSES,
    DAMPING_MODELS,
    EQUATION_CLASSES,
    EQUATIONS,
    FORMAT,
    GUIDE_CLASSES,
    HEAD,
    JOINT_CLASSES,
    KEYS,
    MOTION_CLASSES,
    PARAMETERS,
    ROLLING_CLASSES,
    ROPE_CLASSES,
    SECTIONS,
    kept_by,
)
from haugmbd.modelfile.values import Field, Kind, Number, Record
from haugmbd.simulation.sensor import Sensor
from haugmbd.system.system import System

MOST_PARTS = 100_000
"""Entries of a section: a file of a stranger is read in seconds, or refused at once."""
UNIT_EPS = 4.0 * float(np.finfo(np.float64).eps)
"""|p| of normalized Euler parameters is 1 within this; they are kept bit by bit."""


class Anything(Kind):
    """A value that is read later."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        return given

    def schema(self) -> dict[str, Any]:
        return {}


TOP = Record((*HEAD, *(Field(key, Anything(), False) for key in (PARAMETERS, *SECTIONS))))


def build(document: Any, reading: Reading, ground: Body | None = None) -> System | None:
    """Return the system of a document, on this ground if given; None, with the faults in `reading`, if there are any."""
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers such as 1e300, whose squares the parts judge
        return _built(document, reading, ground)


def _built(document: Any, reading: Reading, ground: Body | None) -> System | None:
    """Return the system of a document; None, with the faults in `reading`, if there are any."""
    if isinstance(document, dict) and str(document.get("format", "")).startswith("haugmbd model ") and document["format"] != FORMAT:
        reading.fault(
            ("format",), f"it is {document['format']!r}", f"This version of haugmbd reads {FORMAT!r}: install a newer one."
        )
        return None
    top = TOP.read(document, (), reading)
    if not isinstance(document, dict):
        return None
    head = top if top is not BAD else {key: value for key, value in document.items() if key in KEYS}
    reading.parameters = _parameters(head.get(PARAMETERS, {}), reading)
    sections = {name: _section(head.get(name, []), (name,), reading) for name in SECTIONS}
    _name_parts(sections, reading)
    parts = _Parts(reading, ground)
    # each section refers to those before it: blocks, bodies, joints, then what acts on them
    blocks = parts.read("blocks", sections["blocks"], block_of)
    reading.blocks.update({block.name: block for block in blocks if block is not None})
    bodies = parts.read("bodies", sections["bodies"], parts.body)
    for body in bodies:
        if body is not None:
            parts.bodies.setdefault(body.name, body)
    joints = parts.read_joints(sections["joints"])
    _names(sections["contacts"], "contacts", reading, {})
    contacts = parts.read("contacts", sections["contacts"], parts.contact)
    loads = parts.read("loads", sections["loads"], parts.load)
    sensors = _sensors(sections["sensors"], reading)
    if reading.problems or top is BAD:
        return None
    if ground is None:
        parts.ground.__setstate__(parts.ground.__getstate__() | {"shape": tuple(head.get("ground_shape", ()))})
    system = _empty_system(head, reading)
    off = set(head.get("off", ()))
    unknown = sorted(off - {part.name for part in (*joints, *loads, *contacts)})
    if unknown:
        reading.fault(("off",), f"it names {', '.join(map(repr, unknown))}", "Name joints, loads or contacts of this file.")
        return None
    _add_parts(system, parts.ground, [*bodies, *joints, *loads, *contacts, *blocks, *sensors], off)
    places = [entry.get("place") for entry in sections["loads"]]
    put_in_place(system, [(place, load.parts()) for place, load in zip(places, loads, strict=True) if place is not None])
    return system


def _name_parts(sections: dict[str, list[Any]], reading: Reading) -> None:
    """Keep the names of bodies, joints and blocks, to which parts refer before these are read; faults for those that are there twice."""
    reading.names["body"] = _names(sections["bodies"], "bodies", reading, {"ground": -1})
    reading.names["joint"] = _names(sections["joints"], "joints", reading, {})
    _names(sections["loads"], "loads", reading, {})
    reading.names["block"] = _names(sections["blocks"], "blocks", reading, {})
    _names(sections["sensors"], "sensors", reading, {})


def _sensors(entries: list[Any], reading: Reading) -> list[Sensor]:
    """Return the sensors without those that have faults."""
    read = [SECTIONS["sensors"][1].read(entry, ("sensors", k), reading) for k, entry in enumerate(entries)]
    return [Sensor(**values) for values in read if values is not BAD]


def _empty_system(head: dict[str, Any], reading: Reading) -> System:
    """Return the system of the head of a document, without parts."""
    return System(
        head.get("name", "system"),
        gravity=tuple(head.get("gravity", (0.0, 0.0, 0.0))),
        parameters=reading.parameters,
        tolerance=head.get("tolerance"),
        planar=head.get("planar"),
    )


def _add_parts(system: System, ground: Body, parts: list[Any], off: set[str]) -> None:
    """Add the parts, which stand on this ground, to the system;  off: names of those that are off at the start."""
    system.ground = system.bodies[0] = ground
    for part in parts:
        switchable = isinstance(part, Joint | ForceElement | Contact)
        system.add(part, active=not (switchable and part.name in off))


def put_in_place(system: System, owned: list[tuple[Any, tuple[Body | Joint, ...]]]) -> None:
    """Move the parts that loads have added, to the places that they had among the bodies and among the joints of the written system."""
    for k, parts in ((0, system.bodies), (1, system.joints)):
        ordered: list[Any] = parts
        mine = [(int(places[k]), [part for part in made if part in ordered]) for places, made in owned]
        for _, made in mine:
            for part in made:
                ordered.remove(part)
        for at, made in sorted(mine, key=lambda pair: pair[0]):
            ordered[at:at] = made


def _parameters(table: Any, reading: Reading) -> dict[str, float]:
    """Return the parameters as numbers; expressions over one another are evaluated in the order in which they can be."""
    if not isinstance(table, dict):
        reading.fault((PARAMETERS,), f"it is {shown(table)}, not a table", "Give numbers by name.")
        return {}
    values: dict[str, float] = {}
    open_texts: dict[str, str] = {}
    for name, value in table.items():
        if name == "comment" and isinstance(value, str):
            continue
        why = parameter_fault(name, 0.0)
        if why:
            reading.fault((PARAMETERS, name), why, "Rename the parameter.")
        elif isinstance(value, str):
            open_texts[name] = value
        else:
            number = Number().read(value, (PARAMETERS, name), reading)
            if number is BAD:
                reading.failed.add(name)
            else:
                values[name] = number
    return _evaluated(values, open_texts, reading)


def _evaluated(values: dict[str, float], texts: dict[str, str], reading: Reading) -> dict[str, float]:
    """Return all parameters; those that wait for others are evaluated as soon as these are known."""
    programs: dict[str, tuple[str, ...]] = {}
    for name, text in texts.items():
        try:
            programs[name] = variables(parse(text))
        except UsageError as error:
            reading.fault((PARAMETERS, name), str(error).rstrip("."), "Give a number, or an expression over other parameters.")
    users: dict[str, list[str]] = {}
    for name, needed in programs.items():
        for other in needed:
            users.setdefault(other, []).append(name)
    waiting = {name: sum(other in programs for other in needed) for name, needed in programs.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    while ready:
        name = ready.pop()
        try:
            if reading.failed.isdisjoint(programs[name]):
                values[name] = evaluate_number(texts[name], values)
        except UsageError as error:
            reading.fault((PARAMETERS, name), str(error).rstrip("."), "Give a number, or an expression over other parameters.")
        if name not in values:
            reading.failed.add(name)
        for user in users.get(name, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    for name, count in waiting.items():
        if count > 0:
            reading.fault(
                (PARAMETERS, name),
                f"the expression {texts[name]!r} depends on itself, through others",
                "Give one of them a number.",
            )
    reading.failed = {name for name in (*texts, *reading.failed) if name not in values}
    return {name: values[name] for name in (*(n for n in values if n not in texts), *texts) if name in values}


def _section(entries: Any, path: Path, reading: Reading) -> list[Any]:
    """Return the entries of a list of parts."""
    if not isinstance(entries, list):
        reading.fault(path, f"it is {shown(entries)}, not a list", "Give a list of tables.")
        return []
    if len(entries) > MOST_PARTS:
        reading.fault(path, f"it has {len(entries)} entries", f"Give at most {MOST_PARTS}.")
        return []
    return entries


def _names(entries: list[Any], section: str, reading: Reading, names: dict[str, int]) -> dict[str, int]:
    """Return the names of parts; a fault for a name that is there twice."""
    for k, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in names:
            before = "the ground" if names[name] < 0 else f"{section}[{names[name]}]"
            reading.fault((section, k, "name"), f"the name {name!r} is that of {before}", "Give each part its own name.")
        elif isinstance(name, str):
            names[name] = k
    return names


class _Parts:
    """Makes parts of entries, and keeps them by name."""

    def __init__(self, reading: Reading, ground: Body | None) -> None:
        self.reading = reading
        self.ground = ground or Body.ground()
        self.bodies: dict[str, Body] = {self.ground.name: self.ground}
        self.joints: dict[str, Joint] = {}

    def read(self, section: str, entries: list[Any], make: Callable[[dict[str, Any]], Any]) -> list[Any]:
        """Return the parts of a section; None in the place of one with faults."""
        return [self.part(section, k, entry, make) for k, entry in enumerate(entries)]

    def read_joints(self, entries: list[Any]) -> list[Any]:
        """Return the joints; drivers, couplings and ropes are read last: they refer to joints, which may stand after them."""
        of_joints = (*COUPLING_CLASSES, *ROPE_CLASSES)
        late = [isinstance(entry, dict) and ("joint" in entry or str(entry.get("type")) in of_joints) for entry in entries]
        joints: list[Any] = [None] * len(entries)
        for k in sorted(range(len(entries)), key=late.__getitem__):
            joints[k] = self.part("joints", k, entries[k], self.joint)
            if joints[k] is not None:
                self.joints.setdefault(joints[k].name, joints[k])
        return joints

    def part(self, section: str, k: int, entry: Any, make: Callable[[dict[str, Any]], Any]) -> Any:
        """Return one part; None, with its faults, if it has any, or if what it refers to has."""
        values = SECTIONS[section][1].read(entry, (section, k), self.reading)
        if values is BAD:
            return None
        try:
            part = make(values)
        except _Missing:
            return None
        except HaugmbdError as error:
            self.reading.fault((section, k), str(error).rstrip("."), "")
            return None
        except Exception as error:  # noqa: BLE001  the constructor of a class of the user may raise anything
            if not isinstance(values.get("type"), type):
                raise
            self.reading.fault((section, k), f"its constructor raises {type(error).__name__}: {error}", "")
            return None
        faults = part.faults()
        for fault in faults:
            key = next((key for key in entry if fault.what.startswith((f"{key} ", f"{key}:"))), None)
            self.reading.fault((section, k) if key is None else (section, k, key), f"{fault.where}: {fault.what}", fault.remedy)
        return None if faults else part

    def on(self, name: str) -> Body:
        """Return the body of this name. Raise _Missing if it has faults."""
        if name not in self.bodies:
            raise _Missing
        return self.bodies[name]

    def at(self, name: str) -> Joint:
        """Return the joint of this name. Raise _Missing if it has faults."""
        if name not in self.joints:
            raise _Missing
        return self.joints[name]

    def body(self, values: dict[str, Any]) -> Body:
        """Return a body."""
        values = {key: tuple(x) if key in ("shape", "solid") else x for key, x in values.items()}
        solid = values.pop("solid", ())
        made = Body(**values)
        if solid:
            made.__setstate__(made.__getstate__() | {"solid": solid})
        p = np.asarray(values.get("p", made.p), dtype=np.float64)
        if abs(float(np.linalg.norm(p)) - 1.0) <= UNIT_EPS and not made.faults():
            made.__setstate__(made.__getstate__() | {"p": frozen(p)})
        return made

    def joint(self, values: dict[str, Any]) -> Joint:
        """Return a joint."""
        values = dict(values)
        kind, name = values.pop("type"), values["name"]
        if kind in EQUATION_CLASSES:
            return Single(name, self.equation(kind, {key: value for key, value in values.items() if key != "name"}))
        if kind in COUPLING_CLASSES:
            return self.coupling(kind, values)
        if kind in MOTION_CLASSES:
            return MOTION_CLASSES[kind](**values | {"body": self.on(values["body"])})
        if kind in ROPE_CLASSES:
            return ROPE_CLASSES[kind](**values | {"path": [self.path_entry(entry) for entry in values["path"]]})
        if kind in ROLLING_CLASSES:
            values |= {key: self.on(values[key]) for key in ("body", "plane_body", "surface_body") if key in values}
            return ROLLING_CLASSES[kind](**values)
        if kind in GUIDE_CLASSES:
            return GUIDE_CLASSES[kind](**values | {"i": self.on(values["i"]), "j": self.on(values["j"])})
        if "joint" in values:
            return JOINT_CLASSES[kind](**values | {"joint": self.at(values["joint"])})
        values |= {"i": self.on(values["i"]), "j": self.on(values["j"])}
        if "frame_i" not in values:
            return JOINT_CLASSES[kind](**values)
        i, j = Frame(values["i"], **values["frame_i"]), Frame(values["j"], **values["frame_j"])
        if kind == EQUATIONS:
            rows = tuple(self.equation(row.pop("type"), row) for row in map(dict, values["equations"]))
            allowed = tuple(map(freedom_of, values["freedoms"])) if "freedoms" in values else None
            return Equations(name, i, j, rows, allowed)
        return _composed(JOINT_CLASSES[kind], name, i, j, values)

    def contact(self, values: dict[str, Any]) -> Contact:
        """Return a rigid contact."""
        values = values | {"i": self.on(values["i"]), "j": self.on(values["j"])}
        values |= {"law": LAWS[values["law"]]()} if "law" in values else {}
        if "frame_i" not in values:
            return Contact(**values)
        frames = [Frame(values.pop(side), **values.pop(f"frame_{side}")) for side in "ij"]
        return Contact.from_frames(values.pop("name"), *frames, **values)

    def coupling(self, kind: str, values: dict[str, Any]) -> Joint:
        """Return a coupling of joint coordinates."""
        if "terms" in values:
            terms = [(self.coordinate(term["coordinate"]), term["coefficient"]) for term in values["terms"]]
            values |= {"terms": dict(terms)}
        for key in ("joint", "joint_a", "joint_b", "rotation_joint", "translation_joint"):
            if key in values:
                values[key] = self.coordinate(values[key])
        return COUPLING_CLASSES[kind](**values)

    def path_entry(self, entry: dict[str, Any]) -> Any:
        """Return a point or a disc of the path of a rope."""
        values = dict(entry)
        if "point" in values:
            return self.on(values["body"]), values["point"]
        on = self.at(values.pop("joint")) if "joint" in values else self.on(values.pop("body"))
        turns = values.pop("turns", 0)
        return Pulley(on, values.pop("radius"), turns=int(turns) if float(turns).is_integer() else turns, **values)

    def coordinate(self, given: Any) -> Any:
        """Return a joint, or a coordinate of it."""
        if isinstance(given, str):
            return self.at(given)
        return self.at(given["joint"]).coordinate(given["coordinate"], int(given.get("number", 1)))

    def equation(self, kind: str, values: dict[str, Any]) -> Any:
        """Return a constraint equation."""
        return EQUATION_CLASSES[kind](**values | {"i": self.on(values["i"]), "j": self.on(values["j"])})

    def load(self, values: dict[str, Any]) -> ForceElement:
        """Return a force element."""
        if isinstance(values["type"], type):
            return make_own(values, self.on, self.at)
        values = dict(values)
        kind = values.pop("type")
        if kind in JOINT_LOADS:
            return make_joint_load(kind, values, self.coordinate)
        if kind in BY_SIGNATURE:
            return made_by_signature(BY_SIGNATURE[kind], values, self.on, self.at)
        if kind == "StateForce":
            return StateForce(**values | {"bodies": [self.on(name) for name in values["bodies"]]})
        if kind in ("TSDA", "LinearActuator", "Bushing", "ContactForce"):
            values |= {"i": self.on(values["i"]), "j": self.on(values["j"])}
            if kind == "Bushing":
                return self.bushing(values)
            if kind == "ContactForce":
                return contact_force(values)
            return self.spring(TSDA if kind == "TSDA" else LinearActuator, values)
        values |= {"body": self.on(values["body"])}
        return Torque(**values) if kind == "Torque" else self.point_force(values)

    def spring(self, make: type[TSDA], values: dict[str, Any]) -> TSDA:
        """Return a TSDA or a LinearActuator; body-frame points are kept bit by bit."""
        if "s_bar_i" not in values:
            return make(**values)
        i, j = (Frame(values[side], values.pop(f"s_bar_{side}")) for side in "ij")
        return changed(make(**values, point_i=i.point, point_j=j.point), frame_i=i, frame_j=j)

    def bushing(self, values: dict[str, Any]) -> Bushing:
        """Return a bushing; body-frame points and axes are kept bit by bit."""
        if "frame_i" not in values:
            return Bushing(**values)
        i, j = (Frame(values[side], **values.pop(f"frame_{side}")) for side in "ij")
        return changed(Bushing(**values, point=i.point), frame_i=i, frame_j=j)

    def point_force(self, values: dict[str, Any]) -> PointForce:
        """Return a PointForce; a body-frame point is kept bit by bit."""
        if "s_bar" not in values:
            return PointForce(**values)
        frame = Frame(values["body"], values.pop("s_bar"))
        return changed(PointForce(**values), frame=frame)


def contact_force(values: dict[str, Any]) -> ContactForce:
    """Return a contact force."""
    if "model" in values:
        model = dict(values["model"])
        values["model"] = DAMPING_MODELS[model.pop("type")](**model)
    return ContactForce(**values)


class _Missing(Exception):
    """A part refers to another one that has faults, which are reported."""


def _composed(kind: type[Any], name: str, i: Frame, j: Frame, values: dict[str, Any]) -> Composed:
    """Return a joint of the catalogue from its frames and vectors."""
    usual = Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h)
    vectors = usual._replace(**{key: frozen(x) for key, x in values.get("vectors", {}).items()})
    place = Place(i, j, vectors, ())
    kept = values.get(kept_by(kind)) if kept_by(kind) else None
    if issubclass(kind, Spaced):
        return kind._spaced(name, place, kept)
    if issubclass(kind, Locked):
        joint = kind._locked(name, place, kept)
        if kept is not None:
            joint.f = as_driver(kept)
        joint.q0 = values.get("q0", 0.0)
        return joint
    made: Composed = kind._at(name, place)
    made.q0 = values.get("q0", 0.0)
    return made
