r"""From a System or a Model to the document of a model file: plain data, without rounding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint, Single
from haugmbd.contact.contact import Contact
from haugmbd.control.block import Block
from haugmbd.drivers import Driver
from haugmbd.errors import Fault
from haugmbd.forces import TSDA, Bushing, ContactForce, LinearActuator, PointForce, StateForce, Torque
from haugmbd.forces.base import ForceElement
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.forces.rope import SlackRope
from haugmbd.joints import Composed, Pulley, Vectors
from haugmbd.modelfile.parts.blocks import block_text
from haugmbd.modelfile.parts.by_signature import text_by_signature
from haugmbd.modelfile.parts.equations import freedom_text
from haugmbd.modelfile.parts.functions import Unwritable, code_name, driver_text, unwritable, value_text
from haugmbd.modelfile.parts.joint_loads import JOINT_LOADS, joint_load_text
from haugmbd.modelfile.parts.own_classes import own_text
from haugmbd.modelfile.parts.shapes import shape_text
from haugmbd.modelfile.schema import (
    BY_SIGNATURE,
    COUPLING_CLASSES,
    COUPLING_FIELDS,
    DAMPING_MODELS,
    EQUATION_CLASSES,
    EQUATIONS,
    FORMAT,
    GUIDE_CLASSES,
    JOINT_CLASSES,
    JOINTS,
    MOTION_CLASSES,
    ROLLING_CLASSES,
    ROPE_CLASSES,
    kept_by,
)
from haugmbd.simulation.sensor import Sensor

WIDTH = 120
"""Characters of a line; a table that fits stands on one line."""

Parameters = Mapping[str, float]
Document = dict[str, Any]


class Head(NamedTuple):
    """What stands at the head of a document: name, gravity, parameters, and the choices of a system."""

    name: str
    gravity: Any
    parameters: Parameters
    tolerance: float | None
    planar: str | None

    def text(self, off: Iterable[str]) -> Document:
        """Return the head as it is written;  off: names of parts that are."""
        head: Document = {"format": FORMAT, "name": self.name, "gravity": np.asarray(self.gravity, dtype=np.float64).tolist()}
        if self.tolerance is not None:
            head["tolerance"] = float(self.tolerance)
        if self.planar is not None:
            head["planar"] = self.planar
        names = sorted(off)
        if names:
            head["off"] = names
        if self.parameters:
            head["parameters"] = dict(self.parameters)
        return head


class Parts(NamedTuple):
    """The parts of a system, and the names of those that are off."""

    bodies: Sequence[Body]
    joints: Sequence[Joint]
    loads: Sequence[ForceElement]
    contacts: Iterable[Contact]
    blocks: Iterable[Block]
    sensors: Iterable[Sensor]
    off: Iterable[str]


def document_of(head: Head, parts: Parts, *, drawn: bool = True) -> tuple[Document, list[Fault]]:
    """Return the document, and the faults of parts that a file cannot hold;  drawn: with shapes."""
    faults: list[Fault] = []
    # parts that a load has made are left out, and their places are kept: the load makes them again
    places = {
        load.name: [_first(ends, load.parts()) for ends in (parts.bodies, parts.joints)] for load in parts.loads if load.parts()
    }
    joints = [*parts.joints, *(load.rope for load in parts.loads if isinstance(load, SlackRope))]  # as they were added
    loads = [load for load in parts.loads if not isinstance(load, SlackRope | MassInTime)]  # those of bodies are written with them
    made = {id(part) for load in loads for part in load.parts()}
    bodies, joints = [body for body in parts.bodies if id(body) not in made], [joint for joint in joints if id(joint) not in made]

    def texts(group: Iterable[Any], where: Callable[[Any], str], text: Callable[[Any, Parameters], Any]) -> list[Any]:
        written = []
        for part in group:
            try:
                faults_of_part = part.faults()
                faults.extend(faults_of_part)
                if not faults_of_part:
                    written.append(text(part, head.parameters))
            except Unwritable as error:
                faults.append(unwritable(where(part), error))
        return written

    document = head.text(parts.off)
    faults.extend(fault for body in bodies if body.is_ground for fault in body.faults())
    ground = [shape for body in bodies if body.is_ground and drawn for shape in body.shape]
    if ground:
        document["ground_shape"] = [shape_text(shape) for shape in ground]
    document["bodies"] = texts((body for body in bodies if not body.is_ground), _body, body_text if drawn else _undrawn)
    document["joints"] = texts(joints, lambda joint: f"joint {joint.name!r}", joint_text)
    document["loads"] = texts(loads, lambda load: load.where, load_text)
    for entry in document["loads"]:
        entry |= {"place": places[entry["name"]]} if entry["name"] in places else {}
    others = {
        "contacts": texts(parts.contacts, lambda contact: contact.where, contact_text),
        "blocks": texts(parts.blocks, lambda block: block.where, block_text),
        "sensors": _sensor_texts(parts.sensors, faults),
    }
    return document | {section: entries for section, entries in others.items() if entries}, faults


def _sensor_texts(sensors: Iterable[Sensor], faults: list[Fault]) -> list[Document]:
    """Return the sensors; a fault for each that a file cannot hold."""
    texts = []
    for sensor in sensors:
        try:
            texts.append(sensor_text(sensor))
        except Unwritable as error:
            faults.append(unwritable(f"sensor {sensor.name!r}", error))
    return texts


def contact_text(contact: Contact, parameters: Parameters) -> Document:
    """Return a rigid contact."""
    friction: Document = {"mu": contact.mu} if contact.mu != 0.0 else {}
    friction |= {"law": type(contact.law).__name__} if contact.law is not None else {}
    if contact.has_shapes:
        shapes = {"shape_i": shape_text(contact.shape_i), "shape_j": shape_text(contact.shape_j)}
        return {
            "name": contact.name,
            "i": contact.i.name,
            "j": contact.j.name,
            **shapes,
            "restitution": contact.restitution,
            **friction,
        }
    frames = {"frame_i": _frame(contact.frame_i), "frame_j": _frame(contact.frame_j)}
    numbers = {"radius": contact.radius, "restitution": contact.restitution, **friction}
    return {"name": contact.name, "i": contact.i.name, "j": contact.j.name, **frames, **numbers}


def sensor_text(sensor: Sensor) -> Document:
    """Return a sensor. Raise Unwritable if its function has no name that can be imported."""
    if isinstance(sensor.function, str):
        raise Unwritable("its function is the name of a signal, which a file cannot hold yet")
    return {"name": sensor.name, **code_name(sensor.function), **({"unit": sensor.unit} if sensor.unit else {})}


def _first(parts: Sequence[Body | Joint], made: Sequence[Body | Joint]) -> int:
    """Return the place of the first part that is one of a load's own."""
    mine = {id(part) for part in made}
    return next(k for k, part in enumerate(parts) if id(part) in mine)


def _body(body: Body) -> str:
    return f"body {body.name!r}"


def _undrawn(body: Body, parameters: Parameters) -> Document:
    """Return a body without shapes and velocities."""
    J = np.diag(body.J_bar)
    diagonal = _same(np.diag(J), body.J_bar)
    text: Document = {"name": body.name, "mass": body.mass, "J_bar": (J if diagonal else body.J_bar).tolist()}
    if body.in_time is not None:
        text |= _in_time(body, parameters)
    return text | {"r": body.r.tolist(), "p": body.p.tolist()}


def _in_time(body: Body, parameters: Parameters) -> Document:
    """Return mass, moments of inertia and exhaust velocity of a mass in time."""
    load, given = MassInTime(body), body.in_time or {}
    text: Document = {} if given["mass"] is None else {"mass": driver_text(load.mass, parameters)}
    text |= {"J_bar": [driver_text(f, parameters) for f in load.moments]} if load.moments else {}
    return text | ({} if given["exhaust"] is None else {"exhaust": load.exhaust.tolist()})


def body_text(body: Body, parameters: Parameters) -> Document:
    """Return a body."""
    text = _undrawn(body, parameters)
    if body.shape != (...,):
        text["shape"] = [shape_text(shape) for shape in body.shape]
    if body.solid:
        text["solid"] = [shape_text(shape) for shape in body.solid]
    return text | {key: x.tolist() for key, x in (("v", body.v), ("omega_bar", body.omega_bar)) if not _same(x, np.zeros(3))}


def joint_text(joint: Joint, parameters: Parameters) -> Document:
    """Return a joint: as its class where the catalogue has it, else by its equations."""
    kind = type(joint)
    if isinstance(joint, Single):
        return {"type": joint.primitive.kind, "name": joint.name, **_equation(joint.primitive, parameters)}
    if JOINT_CLASSES.get(kind.__name__) is kind and kind.__name__ in JOINTS.forms:
        text: Document = {"type": kind.__name__, "name": joint.name}
        if isinstance(joint, Composed):
            return text | _composed(joint, parameters)
        given: Any = joint
        return text | {"joint": given.joint.name, "f": driver_text(given.f, parameters)}
    if COUPLING_CLASSES.get(kind.__name__) is kind:
        return {"type": kind.__name__, "name": joint.name, **_coupling(joint, parameters)}
    if GUIDE_CLASSES.get(kind.__name__) is kind:
        return {"type": kind.__name__, "name": joint.name, "i": joint.i.name, "j": joint.j.name, **_given(joint)}
    if MOTION_CLASSES.get(kind.__name__) is kind:
        return {"type": kind.__name__, "name": joint.name, **_motion(joint, parameters)}
    if ROPE_CLASSES.get(kind.__name__) is kind:
        return {"type": kind.__name__, "name": joint.name, **_rope(joint, parameters)}
    if ROLLING_CLASSES.get(kind.__name__) is kind:
        return {"type": kind.__name__, "name": joint.name, **_rolling(joint)}
    if joint.needs() or not joint.primitives():
        raise Unwritable(f"it is a {kind.__name__}, which a file cannot hold yet")
    return _own_joint(joint, parameters)


def _coupling(joint: Any, parameters: Parameters) -> Document:
    """Return the arguments of a coupling: those that were given, and names in place of joints."""
    text: Document = {}
    for name in (field.name for field in COUPLING_FIELDS[type(joint).__name__]):
        value = joint.f if name == "f" else joint.given[name]
        if name == "terms":
            text[name] = [{"coordinate": _coordinate(part), "coefficient": float(c)} for part, c in value.items()]
        elif isinstance(value, Driver):
            text[name] = driver_text(value, parameters)
        elif isinstance(value, Joint | Coordinate):
            text[name] = _coordinate(value)
        elif value is not None:
            text[name] = value if isinstance(value, bool) else np.asarray(value, dtype=np.float64).tolist()
    return text


def _given(joint: Any) -> Document:
    """Return the arguments that a joint was made with, without those that were left out."""
    given = {key: value for key, value in joint.given.items() if value is not None}
    return {key: x if isinstance(x, bool) else np.asarray(x, dtype=np.float64).tolist() for key, x in given.items()}


def _motion(joint: Any, parameters: Parameters) -> Document:
    """Return the arguments of a driver of a body."""
    functions = {key: [driver_text(f, parameters) for f in getattr(joint, key)] for key in ("r", "orientation")}
    point = joint.given["point"]
    return {"body": joint.j.name, **functions, **({} if point is None else _numbers_of({"point": point}))}


def _rope(joint: Any, parameters: Parameters) -> Document:
    """Return the arguments of a rope: its path, with names in place of bodies and joints, and its length."""
    text: Document = {"path": [_path_entry(part) for part in joint.path]}
    if joint.given["length"] is not None:
        text["length"] = driver_text(joint.f, parameters)
    options = {key: joint.given[key] for key in ("unilateral", "EA", "c", "restitution")}
    return text | {key: x if isinstance(x, bool) else float(x) for key, x in options.items() if x}


def _path_entry(part: Any) -> Document:
    """Return a point or a disc of a path."""
    if isinstance(part, Pulley):
        on = {"joint" if isinstance(part.on, Joint) else "body": part.on.name, "radius": float(part.radius)}
        vectors = {key: getattr(part, key) for key in ("center", "axis", "side") if getattr(part, key) is not None}
        return on | _numbers_of(vectors) | ({"turns": part.turns} if part.turns else {})
    on, value, *side = part
    if isinstance(on, Body):
        return {"body": on.name, **_numbers_of({"point": value})}
    return {"joint": on.name, "radius": float(value), **(_numbers_of({"side": side[0]}) if side else {})}


def _numbers_of(vectors: Mapping[str, Any]) -> Document:
    """Return vectors as lists of numbers."""
    return {key: np.asarray(x, dtype=np.float64).tolist() for key, x in vectors.items()}


def _rolling(joint: Any) -> Document:
    """Return the arguments of a rolling joint."""
    values = {
        key: value if isinstance(value, bool) else np.asarray(value, dtype=np.float64).tolist()
        for key, value in joint.given.items()
    }
    return {"body": joint.j.name, **values, **({} if joint.grounded else {joint.surface_key: joint.i.name})}


def _coordinate(part: Joint | Coordinate) -> Any:
    """Return the name of a joint, or a coordinate of it."""
    if isinstance(part, Joint):
        return part.name
    number = {"number": part.number} if part.number > 1 else {}
    return {"joint": part.joint.name, "coordinate": part.what, **number}


def _composed(joint: Composed, parameters: Parameters) -> Document:
    """Return bodies, frames and vectors of a joint of the catalogue, and the number that it keeps."""
    i, j = joint.frame_i, joint.frame_j
    text = _between(joint)
    usual = Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h)
    other = {name: x.tolist() for name, x, y in zip(Vectors._fields, joint.vectors, usual, strict=True) if not _same(x, y)}
    if other:
        text["vectors"] = other
    if joint.q0 != 0.0:
        text["q0"] = joint.q0
    key = kept_by(type(joint))
    given: Any = joint
    return text | ({key: driver_text(given.f, parameters)} if key else {})


def _own_joint(joint: Joint, parameters: Parameters) -> Document:
    """Return a joint of the user by its equations."""
    for p in joint.primitives():
        if type(p).__name__ not in EQUATION_CLASSES:
            raise Unwritable(f"it has the equation {p.kind}, which a file holds only as part of its joint")
    text: Document = {"type": EQUATIONS, "name": joint.name, **_between(joint)}
    if joint.freedoms is not None:
        text["freedoms"] = [freedom_text(freedom) for freedom in joint.freedoms]
    return text | {"equations": [{"type": p.kind, **_equation(p, parameters)} for p in joint.primitives()]}


def _between(joint: Joint) -> Document:
    """Return bodies and frames."""
    frames = {"frame_i": _frame(joint.frame_i), "frame_j": _frame(joint.frame_j)}
    return {"i": joint.i.name, "j": joint.j.name, **frames}


def _frame(frame: Frame) -> Document:
    return {"s_bar": frame.s_bar.tolist(), "A_bar": frame.A_bar.tolist()}


def _equation(p: Primitive, parameters: Parameters) -> Document:
    """Return a constraint equation."""
    vectors = {name: np.asarray(x).tolist() for name, x in p.given().items()}
    return {"i": p.i.name, "j": p.j.name, **vectors, "f": driver_text(p.f, parameters)}


def load_text(load: ForceElement, parameters: Parameters) -> Document:
    """Return a force element."""
    texts: dict[type[ForceElement], Callable[[Any, Parameters], Document]] = {
        TSDA: _tsda,
        LinearActuator: _linear_actuator,
        Bushing: _bushing,
        PointForce: _point_force,
        Torque: _torque,
        StateForce: _state_force,
        ContactForce: _contact_force,
    }
    if load.is_open():
        return own_text(load, parameters)
    if BY_SIGNATURE.get(type(load).__name__) is type(load):
        return {"type": type(load).__name__, "name": load.name, **text_by_signature(load, parameters)}
    text = {"type": type(load).__name__, "name": load.name}
    if JOINT_LOADS.get(type(load).__name__) is type(load):
        text |= joint_load_text(load, parameters, _coordinate)
    elif type(load) in texts:
        text |= texts[type(load)](load, parameters)
    else:
        raise Unwritable(f"it is a {type(load).__name__}, which a file cannot hold yet")
    return text | ({"jacobian": code_name(load.jacobian.function)} if load.jacobian is not None else {})


def _ends(load: TSDA) -> Document:
    i, j = load.frame_i, load.frame_j
    return {"i": i.body.name, "j": j.body.name, "s_bar_i": i.s_bar.tolist(), "s_bar_j": j.s_bar.tolist()}


def _linear_actuator(load: LinearActuator, parameters: Parameters) -> Document:
    return {**_ends(load), "force": value_text(load.actuator, parameters)}


def _tsda(load: TSDA, parameters: Parameters) -> Document:
    return {**_ends(load), "k": load.k, "c": load.c, "l0": load.l0, "actuator": value_text(load.actuator, parameters)}


def _bushing(load: Bushing, parameters: Parameters) -> Document:
    i, j = load.frame_i, load.frame_j
    frames = {"i": i.body.name, "j": j.body.name, "frame_i": _frame(i), "frame_j": _frame(j)}
    return {**frames, "K": load.K.tolist(), "C": load.C.tolist(), "preload": load.preload.tolist()}


def _point_force(load: PointForce, parameters: Parameters) -> Document:
    text = {"body": load.body.name, "s_bar": load.frame.s_bar.tolist(), "force": value_text(load.force, parameters)}
    return text | _frame_of(load)


def _torque(load: Torque, parameters: Parameters) -> Document:
    return {"body": load.body.name, "torque": value_text(load.torque, parameters), **_frame_of(load)}


def _state_force(load: StateForce, parameters: Parameters) -> Document:
    return {"bodies": [body.name for body in load.bodies()], "force": value_text(load.value(), parameters)}


def _contact_force(load: ContactForce, parameters: Parameters) -> Document:
    shapes = {"shape_i": shape_text(load.shape_i), "shape_j": shape_text(load.shape_j)}
    name = type(load.model).__name__
    if DAMPING_MODELS.get(name) is not type(load.model):
        raise Unwritable(f"its model is a {name}, which a file cannot hold yet")
    model = {"type": name, "exponent": load.model.exponent}
    numbers = {key: getattr(load, key) for key in ("K", "restitution", "mu", "creep", "floor_speed")}
    return {"i": load.i.name, "j": load.j.name, **shapes, "model": model, **numbers}


def _frame_of(load: PointForce | Torque) -> Document:
    return {"frame": "body"} if load.in_body else {}


def _same(x: Array, y: Array) -> bool:
    """Return whether two arrays have the same bits, signs of zeros included."""
    return np.asarray(x).tobytes() == np.asarray(y).tobytes()


def canonical(document: Document) -> str:
    """Return the document as JSON: keys in the order of the schema, 17 digits where needed, a table on one line where it fits."""
    return f"{_text(document, 0, 0)}\n"


def _text(value: Any, indent: int, used: int) -> str:
    """Return a value as JSON; `used`: characters before it on its line."""
    flat = json.dumps(value, allow_nan=False, ensure_ascii=False)
    if indent > 0 and (used + len(flat) <= WIDTH or not isinstance(value, dict | list) or _numbers(value)):
        return flat
    inner = "  " * (indent + 1)
    if isinstance(value, dict):
        entries = [
            f"{inner}{(key := json.dumps(k, ensure_ascii=False))}: {_text(x, indent + 1, len(inner) + len(key) + 3)}"
            for k, x in value.items()
        ]
        ends = "{}"
    else:
        entries = [f"{inner}{_text(x, indent + 1, len(inner) + 1)}" for x in value]
        ends = "[]"
    body = ",\n".join(entries)
    return f"{ends[0]}\n{body}\n{'  ' * indent}{ends[1]}" if entries else ends


def _numbers(value: Any) -> bool:
    """Return whether a value is a list of numbers, or of such lists."""
    return isinstance(value, list) and all(isinstance(x, int | float) or _numbers(x) for x in value)


def membership_faults(
    bodies: Sequence[Body], joints: Sequence[Joint], loads: Sequence[ForceElement], contacts: Sequence[Contact]
) -> list[Fault]:
    """Return faults of names that two parts of a kind have, and of parts that are not in the list: references of a file are names."""
    faults = []
    groups: tuple[tuple[str, Sequence[Body | Joint | ForceElement | Contact]], ...] = (
        ("body", bodies),
        ("joint", joints),
        ("load", loads),
        ("contact", contacts),
    )
    for kind, parts in groups:
        counts = Counter(part.name for part in parts)
        for name, n in counts.items():
            if n > 1:
                faults.append(Fault(f"{kind} {name!r}", f"the name is used {n} times", "Give each its own name."))
    known = {id(part) for part in (*bodies, *joints)}
    users: list[tuple[str, tuple[Body | Joint, ...]]] = [
        (f"joint {joint.name!r}", (joint.i, joint.j, *(place.body for place in joint.places()), *joint.needs())) for joint in joints
    ]
    users += [(load.where, (*load.bodies(), *load.needs())) for load in loads]
    users += [(contact.where, (contact.i, contact.j)) for contact in contacts]
    for where, used in users:
        for part in used:
            if id(part) not in known:
                kind = "body" if isinstance(part, Body) else "joint"
                what = f"it uses {kind} {part.name!r}, which is not in the system"
                faults.append(Fault(where, what, f"Add the {kind}: system.add(...)."))
    return faults
