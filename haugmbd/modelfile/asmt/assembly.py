r"""An assembly as its ASMT file describes it: parts, markers, joints and motions as data, with faults and lines.

    marker      pose on its part:  T(RefPoint) T(Marker);    named /Assembly/Part/Marker, or /Assembly/Marker on the ground
    mass        PrincipalMassMarker: centre of mass, principal axes (columns), principal moments
    velocities  of the origin of the part, and the angular velocity, in the axes of the assembly

Lengths have no unit in a file; `length` [m] is the unit. Source: the files that OndselSolver reads and writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.inertia import MassProperties
from haugmbd.bodies.shapes import Shape
from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, ModelFileError
from haugmbd.modelfile.asmt.formulas import plain_numbers
from haugmbd.modelfile.asmt.records import Record
from haugmbd.modelfile.imports import IDENTITY, ROUNDED, Transform, nearest_rotation
from haugmbd.modelfile.text import number
from haugmbd.tolerances import ROUNDING, rounding_of_inertia

VALUES = {"offset": 1, "distanceIJ": 1, "theIzJz": 0, "radiusI": 1, "radiusJ": 1, "pitch": 1, "pitchRadius": 1}
"""Numbers of joints, and their powers of length."""
LARGEST = 1e60
"""Numbers are below it: products of three of them are finite."""
STILL = 1e-9
"""[m/s], [rad/s] Speed of the assembly, which is the ground, that is rounding of the program that wrote the file: it turns by 0.03 rad
in a year."""
NOT_READ = {
    "KinematicIJs": "measurements",
    "SimulationParameters": "simulation parameters",
    "RefCurves": "curves",
    "RefSurfaces": "surfaces",
}
READ = ("Notes", "Name", "Position3D", "RotationMatrix", "Velocity3D", "Omega3D", "RefPoints", "Parts", "ConstraintSets")
POSE = ("Position3D", "RotationMatrix")
INSIDE: Mapping[str, tuple[str, ...]] = {
    "part": (
        "Name",
        *POSE,
        "Velocity3D",
        "Omega3D",
        "FeatureOrder",
        "PrincipalMassMarker",
        "RefPoints",
        "RefCurves",
        "RefSurfaces",
    ),
    "mass marker": ("Name", *POSE, "Mass", "MomentOfInertias", "MomentOfInertia", "Density"),
    "reference point": (*POSE, "Markers"),
    "marker": ("Name", *POSE),
    "joint": ("Name", "MarkerI", "MarkerJ", *VALUES),
    "motion": ("Name", "MarkerI", "MarkerJ", "MotionJoint", "RotationZ", "TranslationZ"),
    "general motion": (
        "Name",
        "MarkerI",
        "MarkerJ",
        *(f"{key}{k}" for key in ("rIJI", "angIJJ") for k in (1, 2, 3)),
        "RotationOrder",
    ),
    "load": ("Name", "MarkerI", "MarkerJ", "tension", "twist"),
}
"""The records inside of parts, markers and joints; others are misspelt, or of a newer program."""
READ_TOO = ("ForceTorques", "ForcesTorques", "ConstantGravity", "AnimationParameters", "PrincipalMassMarker", *NOT_READ)


MAX_PARTS = 20_000
"""Parts that are read; assemblies have up to a few thousand."""
MOST_FAULTS = 200
"""Faults that are reported: a file with more of them is another kind of file."""


@dataclass
class Part:
    """A part: its pose, its mass in its own axes (None: no mass), its velocities, and what is drawn of it, if the file says so."""

    name: str
    line: int
    pose: Transform
    inertia: MassProperties | None = None
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    omega: Array = field(default_factory=lambda: np.zeros(3))
    shapes: tuple[Shape, ...] = ()


class Marker(NamedTuple):
    """A marker: the part that it is on ("" for the assembly), and its pose there."""

    part: str
    pose: Transform


class AsmtJoint(NamedTuple):
    """A joint: its type, the paths of its markers, its numbers."""

    name: str
    line: int
    type: str
    markers: tuple[str, str]
    values: dict[str, float]


class AsmtMotion(NamedTuple):
    """A motion: its type, the name of its joint, its formula."""

    name: str
    line: int
    type: str
    joint: str
    formula: str


class AsmtGeneralMotion(NamedTuple):
    """A motion of all six coordinates between two markers: formulas of the position of J in the axes of I, and of three angles."""

    name: str
    line: int
    markers: tuple[str, str]
    position: tuple[str, ...]
    angles: tuple[str, ...]
    order: tuple[int, ...]


class AsmtLoad(NamedTuple):
    """A force between two markers along their line: its formulas."""

    name: str
    line: int
    markers: tuple[str, str]
    tension: str
    twist: str


class AsmtLimit(NamedTuple):
    """A limit of a joint: its type, the name of its joint, "=<" or "=>", its formula."""

    name: str
    type: str
    joint: str
    side: str
    formula: str

    def __str__(self) -> str:
        """Return the limit for the report."""
        return f"limit {self.name!r} ({self.type} {self.side} {self.formula})"


def at_line(line: int, where: str) -> str:
    """Return a place with its line; formats without lines have 0."""
    return f"line {line}, {where}" if line else where


@dataclass
class Assembly:
    """The contents of a file."""

    name: str
    length: float
    parts: dict[str, Part] = field(default_factory=dict)
    markers: dict[str, Marker] = field(default_factory=dict)
    joints: dict[str, AsmtJoint] = field(default_factory=dict)
    motions: dict[str, AsmtMotion] = field(default_factory=dict)
    general_motions: list[AsmtGeneralMotion] = field(default_factory=list)
    loads: list[AsmtLoad] = field(default_factory=list)
    limits: list[AsmtLimit] = field(default_factory=list)
    gravity: Array = field(default_factory=lambda: np.zeros(3))
    pose: Transform = IDENTITY
    ground_shapes: list[Shape] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    substituted: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, line: int, where: str, what: str, remedy: str) -> None:
        """Record a fault."""
        self.faults.append(Fault(at_line(line, where), what, remedy))
        if len(self.faults) >= MOST_FAULTS:
            raise ModelFileError(
                "",
                [*self.faults, Fault("the whole file", f"it has {MOST_FAULTS} faults or more", "Only the first ones are listed.")],
            )


def assembly_of(root: Record, length: float) -> Assembly:
    """Return the assembly of a tree, with its faults."""
    name = root.first("Name")
    made = Assembly("" if name is None else name.value(), length)
    where = f"assembly {made.name!r}"
    if not made.name:
        made.fault(root.line, "assembly", "it has no name", "Give a record Name: the paths of markers begin with it.")
    made.pose = _pose(made, root, where)
    _check_still(made, root, where)
    gravity = root.first("ConstantGravity")
    made.gravity = length * _numbers(made, gravity, (3,), where)
    _read_markers(made, root, "", where)
    for record in _below(root, "Parts"):
        if record.text == "Part":
            _read_part(made, record)
        else:
            made.fault(record.line, where, f"{record.text!r:.40} in the list of parts is not known", "Give records Part.")
    if len(made.parts) > MAX_PARTS:
        made.fault(root.line, where, f"it has {len(made.parts)} parts, more than {MAX_PARTS}", "Split it.")
        return made
    sets = root.first("ConstraintSets")
    if sets is not None:
        _read_sets(made, sets)
    _read_loads(made, root, where)
    _note_unread(made, root)
    return made


def _check_still(made: Assembly, root: Record, where: str) -> None:
    """Record a fault for an assembly that moves: it is the ground; a velocity of the size of rounding is ignored."""
    for key in ("Velocity3D", "Omega3D"):
        size = float(np.abs(_numbers(made, root.first(key), (3,), where)).max())
        if size > STILL:
            what = f"its {key} is not zero ({size:.3g}): the assembly is the ground"
            made.fault(root.line, where, what, f"Give the {key} of its parts.")
        elif size > 0.0:
            made.ignored[f"{key} of the assembly, {size:.2g}, which is rounding"] += 1


def _read_loads(made: Assembly, root: Record, where: str) -> None:
    """Read the forces between two markers; a fault for each load of another kind."""
    for key in ("ForceTorques", "ForcesTorques"):
        for record in _below(root, key):
            if record.text == "InLineForceTorque":
                _read_load(made, record)
                continue
            what = f"the load {_name(record) or record.text!r} ({record.text}) cannot be read"
            made.fault(record.line, where, what, "Remove it, and add a PointForce or a Torque to the system.")


def _note_unread(made: Assembly, root: Record) -> None:
    """Count the records that are not read, for the report."""
    for key, note in NOT_READ.items():
        if root.first(key) is not None and root.first(key).children:  # type: ignore[union-attr]
            made.ignored[note] += 1
    for record in root.children:
        if record.text not in (*READ, *READ_TOO):
            made.ignored[f"the record {record.text[:40]!r}"] += 1


def _count_unread(made: Assembly, record: Record, kind: str) -> None:
    """Count the records below one that are not read."""
    for child in record.children:
        if child.text not in INSIDE[kind]:
            made.ignored[f"the record {child.text[:40]!r} of a {kind}"] += 1


def _below(record: Record, key: str) -> Iterable[Record]:
    """Return the records of a list."""
    found = record.first(key)
    return () if found is None else found.children


def _name(record: Record) -> str:
    found = record.first("Name")
    return "" if found is None else found.value()


def _numbers(made: Assembly, record: Record | None, shape: tuple[int, ...], where: str) -> Array:
    """Return the numbers below a record, in rows; zeros without one, or, with a fault, for bad ones."""
    if record is None:
        return np.zeros(shape)
    words = " ".join(child.text for child in record.children).split()
    try:
        values = [number(plain_numbers(word)) for word in words]
    except ValueError:
        values = []
    if len(values) != int(np.prod(shape)) or not all(abs(x) < LARGEST for x in values):
        what = f"{record.text} is {' '.join(words)[:60]!r}, not {int(np.prod(shape))} finite numbers"
        made.fault(record.line, where, what, "Give them, separated by tabs.")
        return np.zeros(shape)
    return np.array(values).reshape(shape)


def _pose(made: Assembly, record: Record, where: str) -> Transform:
    """Return Position3D and RotationMatrix of a record; 0 and I without them."""
    r = made.length * _numbers(made, record.first("Position3D"), (3,), where)
    given = record.first("RotationMatrix")
    if given is None:
        return Transform(np.eye(3), r)
    before = len(made.faults)
    M = _numbers(made, given, (3, 3), where)
    if len(made.faults) > before:
        return Transform(np.eye(3), r)
    A, gap = nearest_rotation(M)
    if A is None:
        what = f"RotationMatrix is not a rotation: max |A^T A - I| = {gap:.3g}, or it is a reflection"
        made.fault(given.line, where, what, "Give a rotation matrix by rows.")
        return Transform(np.eye(3), r)
    if gap > ROUNDED:
        made.substituted.append(f"{where}: RotationMatrix became the nearest rotation (max |A^T A - I| was {gap:.2g})")
    return Transform(A, r)


def _read_part(made: Assembly, record: Record) -> None:
    name = _name(record)
    where = f"part {name!r}"
    if not name or name in made.parts:
        what = f"the name {name!r} is empty, or that of another part, too"
        made.fault(record.line, where, what, "Give each part its own name.")
        return
    part = made.parts[name] = Part(name, record.line, _pose(made, record, where))
    part.velocity = made.length * _numbers(made, record.first("Velocity3D"), (3,), where)
    part.omega = _numbers(made, record.first("Omega3D"), (3,), where)
    _count_unread(made, record, "part")
    mass = record.first("PrincipalMassMarker")
    if mass is not None:
        part.inertia = _inertia(made, mass, where)
        if _name(mass):
            made.markers[f"/{made.name}/{name}/{_name(mass)}"] = Marker(name, _pose(made, mass, f"{where}, mass marker"))
    order = record.first("FeatureOrder")
    if order is not None and order.children:
        made.ignored["solid geometry of parts"] += 1
    _read_markers(made, record, name, where)


def _inertia(made: Assembly, record: Record, where: str) -> MassProperties | None:
    """Return the inertia in the axes of the part; None without any."""
    _count_unread(made, record, "mass marker")
    at = _pose(made, record, f"{where}, mass marker")
    mass = float(_numbers(made, record.first("Mass"), (1,), where)[0])
    key = "MomentOfInertias" if record.first("MomentOfInertias") else "MomentOfInertia"
    moments = made.length**2 * _numbers(made, record.first(key), (3,), where)
    moments[np.abs(moments) <= ROUNDING * np.abs(moments).max()] = 0.0
    if (moments < 0.0).any() and np.abs(moments).max() <= rounding_of_inertia(mass):
        moments[:] = 0.0
    if mass < 0.0 or (moments < 0.0).any():
        made.fault(
            record.line, where, f"its mass is {mass:g}, its moments {moments.tolist()}", "Give numbers that are not negative."
        )
        return None
    if mass == 0.0:
        return None
    return MassProperties(mass, moments).placed(at.r, at.A)


def _read_markers(made: Assembly, record: Record, part: str, where: str) -> None:
    """Read the markers of a part, or of the assembly."""
    for point in _below(record, "RefPoints"):
        _count_unread(made, point, "reference point")
        at = _pose(made, point, f"{where}, reference point")
        for marker in _below(point, "Markers"):
            name = _name(marker)
            path = "/".join(("", made.name, *([part] if part else []), name))
            if not name or path in made.markers:
                what = f"the name {name!r} is empty, or that of another marker, too"
                made.fault(marker.line, f"{where}, marker", what, "Give each marker of a part its own name.")
                continue
            _count_unread(made, marker, "marker")
            made.markers[path] = Marker(part, at @ _pose(made, marker, f"marker {path!r}"))


def _read_sets(made: Assembly, sets: Record) -> None:
    """Read joints, motions and limits."""
    for record in _below(sets, "Joints"):
        _read_joint(made, record)
    for record in _below(sets, "Motions"):
        name = _name(record)
        keys = {"RotationalMotion": "RotationZ", "TranslationalMotion": "TranslationZ"}
        if record.text == "AllowRotation":
            made.ignored[f"motion {name!r} (AllowRotation), which the solver drops once its joints are closed"] += 1
            continue
        if record.text == "GeneralMotion":
            _read_general_motion(made, record)
            continue
        if record.text not in keys:
            what = f"its type {record.text!r:.40} cannot be read"
            made.fault(record.line, f"motion {name!r}", what, f"Known are {', '.join(keys)}, GeneralMotion.")
            continue
        joint, formula = record.first("MotionJoint"), record.first(keys[record.text])
        if joint is None or formula is None:
            what = f"it lacks MotionJoint or {keys[record.text]}"
            made.fault(record.line, f"motion {name!r}", what, "Give both.")
            continue
        name = name or _unnamed(made, record, made.motions)
        if name in made.motions:
            made.fault(record.line, f"motion {name!r}", "another motion has this name, too", "Give each motion its own name.")
            continue
        _count_unread(made, record, "motion")
        text = " ".join(child.text for child in formula.children)
        last = joint.value().rsplit("/", 1)[-1]
        made.motions[name] = AsmtMotion(name, record.line, record.text, last, text)
    for record in _below(sets, "Limits"):
        on, side, bound = ("" if (x := record.first(key)) is None else x.value() for key in ("MotionJoint", "Type", "Limit"))
        made.limits.append(AsmtLimit(_name(record), record.text, on.rsplit("/", 1)[-1], side, bound))
    for record in _below(sets, "GeneralConstraintSets"):
        made.fault(record.line, f"constraint {_name(record)!r}", f"its type {record.text!r:.40} cannot be read", "Remove it.")


def _formula(record: Record, key: str) -> str:
    """Return the formula below a record, which may have several lines; "0" without one."""
    found = record.first(key)
    return "0" if found is None else " ".join(child.text for child in found.children)


def _markers_of(record: Record) -> tuple[str, str]:
    """Return the paths of MarkerI and MarkerJ."""
    i, j = ("" if (end := record.first(key)) is None else end.value() for key in ("MarkerI", "MarkerJ"))
    return i, j


def _read_general_motion(made: Assembly, record: Record) -> None:
    """Read a motion of all six coordinates."""
    name = _name(record) or _unnamed(made, record, made.motions)
    if name in made.motions or name in [one.name for one in made.general_motions]:
        made.fault(record.line, f"motion {name!r}", "another motion has this name, too", "Give each motion its own name.")
        return
    _count_unread(made, record, "general motion")
    given = record.first("RotationOrder")
    order = tuple(int(x) for x in _numbers(made, given, (3,), f"motion {name!r}")) if given is not None else (1, 2, 3)
    position, angles = (tuple(_formula(record, f"{key}{k}") for k in (1, 2, 3)) for key in ("rIJI", "angIJJ"))
    made.general_motions.append(AsmtGeneralMotion(name, record.line, _markers_of(record), position, angles, order))


def _read_load(made: Assembly, record: Record) -> None:
    """Read a force along the line of two markers."""
    name = _name(record) or f"{record.text} of line {record.line}"
    if name in [one.name for one in made.loads]:
        made.fault(record.line, f"load {name!r}", "another load has this name, too", "Give each load its own name.")
        return
    _count_unread(made, record, "load")
    made.loads.append(AsmtLoad(name, record.line, _markers_of(record), _formula(record, "tension"), _formula(record, "twist")))


def _unnamed(made: Assembly, record: Record, taken: Iterable[str]) -> str:
    """Return a name for a joint or motion without one: its type and its line, which the report tells."""
    name = f"{record.text[:40]} of line {record.line}"
    while name in taken:
        name += "_"
    made.substituted.append(f"line {record.line}: a {record.text[:40]} without a name is called {name!r}")
    return name


def _read_joint(made: Assembly, record: Record) -> None:
    name = _name(record)
    name = name or _unnamed(made, record, made.joints)
    where = f"joint {name!r}"
    if name in made.joints:
        made.fault(record.line, where, "another joint has this name, too", "Give each joint its own name.")
        return
    _count_unread(made, record, "joint")
    ends = [record.first(key) for key in ("MarkerI", "MarkerJ")]
    paths = ["" if end is None else end.value() for end in ends]
    values = {
        key: made.length**power * float(_numbers(made, record.first(key), (1,), where)[0])
        for key, power in VALUES.items()
        if record.first(key) is not None
    }
    made.joints[name] = AsmtJoint(name, record.line, record.text, (paths[0], paths[1]), values)
