r"""write_asmt: a System as an assembly of FreeCAD's solver: parts, a marker for each side of a joint, joints, motions.

part        the axes of the body, its origin in the centre of mass; principal axes and moments of its inertia
marker      the frame of the joint on its body; z is the axis
couplings   of two coordinates as gears, racks and screws
TSDA        a force along the line of two markers, InLineForceTorque
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Constant, Driver
from haugmbd.drivers.expression import Expression
from haugmbd.errors import Fault, UsageError
from haugmbd.forces import TSDA
from haugmbd.forces.base import ForceElement
from haugmbd.joints import (
    CJ,
    RJ,
    SJ,
    TJ,
    UJ,
    ConstantVelocity,
    Coupling,
    Distance,
    Fixed,
    Parallel,
    Perpendicular,
    Planar,
    PointInPlane,
    PointOnLine,
    RotationDriver,
    TranslationDriver,
)
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.asmt.formulas import WORD, WORDS
from haugmbd.modelfile.asmt.records import HEADS
from haugmbd.modelfile.asmt.write_couplings import record_of
from haugmbd.modelfile.exports import Export, Exported, checked, exported, finished, kind_of, write_text
from haugmbd.modelfile.parts.functions import expression_text
from haugmbd.modelfile.values import finite
from haugmbd.system.system import System

KINDS: dict[type[Joint], str] = {
    RJ: "RevoluteJoint",
    CJ: "CylindricalJoint",
    TJ: "TranslationalJoint",
    SJ: "SphericalJoint",
    UJ: "UniversalJoint",
    ConstantVelocity: "ConstantVelocityJoint",
    Planar: "PlanarJoint",
    Fixed: "FixedJoint",
    PointInPlane: "PointInPlaneJoint",
    PointOnLine: "PointInLineJoint",
    Parallel: "ParallelAxesJoint",
    Perpendicular: "PerpendicularJoint",
    Distance: "SphSphJoint",
}
MOTIONS: dict[type[Joint], tuple[str, str]] = {
    RotationDriver: ("RotationalMotion", "RotationZ"),
    TranslationDriver: ("TranslationalMotion", "TranslationZ"),
}
REMEDY = "Leave it out with leave_out=True, or save the system as .json."
OURS = {"t": "time"}

Lines = list[str]


@check_keywords
def write_asmt(system: System, path: str | FilePath, *, length: float = 1.0, leave_out: bool = False) -> Export:
    """Write a system to an ASMT file, the text format of FreeCAD's assembly solver.

    Parameters
    ----------
    system : System
        The mechanism.
    path : str or Path
        The file, .asmt.
    length : float
        The file's unit of length [m]: 0.001 for millimetres, in which FreeCAD works.
    leave_out : bool
        Whether parts that the file cannot hold are left out; the result lists them.

    Returns
    -------
    Export
        The file, and what was left out.

    Raises
    ------
    ModelFileError
        With all parts that the file cannot hold, such as force elements.
    ModelError
        If the system has faults.
    UsageError
        If the path does not end with .asmt, or if length is not positive.

    Notes
    -----
    `read_asmt(path, length=length)` reads the file.
    Source: the files that OndselSolver reads and writes.
    """
    path = checked(system, path, ".asmt")
    unit = finite(length)
    if unit is None or unit <= 0.0:
        raise UsageError(f"length is {length!r}, must be a positive number of metres, such as 0.001 for millimetres.")
    writer = _Writer(exported(system), unit)
    text = writer.text()
    left = finished(path, system, writer.faults, leave_out)
    write_text(path, text)
    return Export((path,), (*left, *writer.left))


def record(level: int, text: str, *values: Any) -> Lines:
    """Return a record and the values below it."""
    return ["\t" * level + text, *("\t" * (level + 1) + str(value) for value in values)]


def row(values: Any) -> str:
    """Return numbers in one line, with tabs."""
    return "".join(f"{float(x) + 0.0!r}\t" for x in np.ravel(values))


class _Writer:
    """Collects the lines of a file: markers by body, joints and motions."""

    def __init__(self, system: Exported, length: float) -> None:
        self.system = system
        self.length = length
        self.name = re.sub(r"[/\s]+", "_", system.name) or "Assembly"
        self.names = _plain_names(system.bodies)
        self.joint_names = _plain_names(system.joints)
        self.markers: dict[int, Lines] = {id(body): [] for body in system.bodies}
        self.faults: list[Fault] = []
        self.left: list[str] = []

    def text(self) -> str:
        """Return the file."""
        joints, motions = [], []
        for joint in self.system.joints:
            if type(joint) in MOTIONS:
                motions += self.motion(joint)
            else:
                joints += self.joint(joint)
        forces = [line for load in self.system.loads for line in self.force(load)]
        if any(shape is not ... for body in self.system.bodies for shape in body.shape):
            self.left.append("shapes")
        lines = [HEADS[0], "Assembly", *record(1, "Notes", "(Text string: '' runs: (Core.RunArray runs: #() values: #()))")]
        lines += [*record(1, "Name", self.name), *self.pose(1, np.zeros(3), np.eye(3)), *self.speeds(1, None)]
        lines += self.points(1, self.system.ground)
        lines += ["\tParts"]
        for body in self.system.bodies[1:]:
            lines += self.part(body)
        lines += ["\tKinematicIJs", "\tConstraintSets", "\t\tJoints", *joints, "\t\tMotions", *motions, "\t\tGeneralConstraintSets"]
        gravity = np.asarray(self.system.gravity, dtype=np.float64) / self.length
        lines += ["\tForceTorques", *forces, *record(1, "ConstantGravity", row(gravity)), "\tSimulationParameters"]
        for key, value in {"tstart": 0, "tend": 1, "hmin": 1e-9, "hmax": 1, "hout": 0.01, "errorTol": 1e-6}.items():
            lines += record(2, key, value)
        lines += ["\tAnimationParameters"]
        frames = {"nframe": 101, "icurrent": 1, "istart": 1, "iend": 101, "isForward": "true", "framesPerSecond": 30}
        for key, shown in frames.items():
            lines += record(2, key, shown)
        return "\n".join(lines) + "\n"

    def pose(self, level: int, r: Array, A: Array) -> Lines:
        """Return Position3D and RotationMatrix."""
        return [*record(level, "Position3D", row(r / self.length)), *record(level, "RotationMatrix", *map(row, A))]

    def speeds(self, level: int, body: Body | None) -> Lines:
        """Return Velocity3D and Omega3D of a part, whose origin is the centre of mass."""
        v, w = (np.zeros(3), np.zeros(3)) if body is None else (body.v, body.A @ body.omega_bar)
        return [*record(level, "Velocity3D", row(v / self.length)), *record(level, "Omega3D", row(w))]

    def points(self, level: int, body: Body) -> Lines:
        """Return the reference point with the markers of a body."""
        head = ["\t" * level + "RefPoints", "\t" * (level + 1) + "RefPoint", *self.pose(level + 2, np.zeros(3), np.eye(3))]
        markers = ["\t" * (level + 3) + line for line in self.markers[id(body)]]
        return [*head, "\t" * (level + 2) + "Markers", *markers, "\t" * level + "RefCurves", "\t" * level + "RefSurfaces"]

    def part(self, body: Body) -> Lines:
        """Return a part."""
        moments, axes = np.linalg.eigh(body.J_bar)
        moments = np.maximum(moments, 0.0)
        axes = axes * np.array((1.0, 1.0, np.sign(np.linalg.det(axes))))
        mass = [*record(4, "Name", "MassMarker"), *self.pose(4, np.zeros(3), axes), *record(4, "Mass", repr(body.mass))]
        mass += [*record(4, "MomentOfInertias", row(moments / self.length**2)), *record(4, "Density", 1)]
        head = ["\t\tPart", *record(3, "Name", self.names[id(body)]), *self.pose(3, body.r, body.A), *self.speeds(3, body)]
        return [*head, "\t\t\tFeatureOrder", "\t\t\tPrincipalMassMarker", *mass, *self.points(3, body)]

    def marker(self, joint: Joint, side: str, frame: Frame, A_bar: Array) -> str:
        """Add a marker, and return its path."""
        name = f"{self.joint_names[id(joint)]} {side}"
        self.markers[id(frame.body)] += ["Marker", *record(1, "Name", name), *self.pose(1, frame.s_bar, A_bar)]
        own = [] if frame.body.is_ground else [self.names[id(frame.body)]]
        return "/".join(["", self.name, *own, name])

    def joint(self, joint: Joint) -> Lines:
        """Return a joint; a fault for one that cannot be written."""
        kind = KINDS.get(type(joint))
        if isinstance(joint, Coupling):
            return self.coupling(joint)
        if kind is None:
            self.faults.append(Fault(f"joint {joint.name!r}", f"the file holds no {type(joint).__name__}", REMEDY))
            return []
        given: Any = joint
        values: Lines = []
        i, j = joint.frame_i, joint.frame_j
        axes = (i.A_bar, j.A_bar)
        if isinstance(joint, UJ | Perpendicular):
            axes = (triad(given.vectors.a_bar_i), triad(given.vectors.a_bar_j))
        if isinstance(joint, ConstantVelocity):
            v = joint.vectors
            pairs = ((v.a_bar_i, v.b_bar_i), (v.a_bar_j, -v.c_bar_j))  # z of the markers point against each other
            axes = tuple(np.column_stack((a, b, cross(a, b))) for a, b in pairs)  # type: ignore[assignment]
        if isinstance(joint, Distance):
            if not isinstance(given.f, Constant):
                self.faults.append(Fault(f"joint {joint.name!r}", "its distance changes with time", REMEDY))
                return []
            values = record(4, "distanceIJ", repr(given.f.value / self.length))
        ends = [self.marker(joint, side, frame, A) for side, frame, A in zip("ij", (i, j), axes, strict=True)]
        head = [f"\t\t\t{kind}", *record(4, "Name", self.joint_names[id(joint)])]
        return [*head, *record(4, "MarkerI", ends[0]), *record(4, "MarkerJ", ends[1]), *values]

    def coupling(self, joint: Coupling) -> Lines:
        """Return a gear, a rack or a screw; a fault for a coupling that cannot be written."""
        try:
            made = record_of(joint)
        except UsageError as error:
            self.faults.append(
                Fault(f"joint {joint.name!r}", f"the file holds no such {type(joint).__name__}: {str(error).rstrip('.')}", REMEDY)
            )
            return []
        ends = [self.marker(joint, side, frame, frame.A_bar) for side, frame in (("i", made.i), ("j", made.j))]
        values = [line for key, x in made.lengths.items() for line in record(4, key, repr(float(x) / self.length))]
        head = [f"\t\t\t{made.kind}", *record(4, "Name", self.joint_names[id(joint)])]
        return [*head, *record(4, "MarkerI", ends[0]), *record(4, "MarkerJ", ends[1]), *values]

    def force(self, load: ForceElement) -> Lines:
        """Return a spring between two points as a force along a line; a fault for any other load."""
        drivers = load.actuator.drivers if type(load) is TSDA else ()
        if type(load) is not TSDA or load.user_function() is not None or not all(isinstance(f, Constant) for f in drivers):
            self.faults.append(
                Fault(load.where, f"the file holds no {kind_of(load)}; of loads it holds springs between points", REMEDY)
            )
            return []
        constant = sum(float(f.value) for f in drivers if isinstance(f, Constant))
        k, c, l0 = load.k * self.length, load.c * self.length, load.l0 / self.length
        tension = f"{k!r}*(rIJ(self) - {l0!r}) + {c!r}*vrIJ(self) + {constant!r}"
        name = load.name.replace("/", "_")
        while name in self.joint_names.values():
            name += "_"
        ends = []
        for side, frame in (("i", load.frame_i), ("j", load.frame_j)):
            own = [] if frame.body.is_ground else [self.names[id(frame.body)]]
            self.markers[id(frame.body)] += ["Marker", *record(1, "Name", f"{name} {side}"), *self.pose(1, frame.s_bar, np.eye(3))]
            ends.append("/".join(["", self.name, *own, f"{name} {side}"]))
        head = ["\t\tInLineForceTorque", *record(3, "Name", name), *record(3, "MarkerI", ends[0]), *record(3, "MarkerJ", ends[1])]
        return [*head, *record(3, "tension", tension), *record(3, "twist", "0.0")]

    def motion(self, driver: Joint) -> Lines:
        """Return a motion; a fault for a driver whose formula cannot be written."""
        kind, key = MOTIONS[type(driver)]
        given: Any = driver
        try:
            formula = _formula(given.f, given.joint.q0, 1.0 if kind == "RotationalMotion" else 1.0 / self.length)
        except UsageError as error:
            self.faults.append(Fault(f"joint {driver.name!r}", str(error).rstrip("."), REMEDY))
            return []
        path = f"/{self.name}/{self.joint_names[id(given.joint)]}"
        head = [f"\t\t\t{kind}", *record(4, "Name", self.joint_names[id(driver)])]
        return [*head, *record(4, "MotionJoint", path), *record(4, key, formula)]


def _plain_names(parts: Iterable[Body] | Iterable[Joint]) -> dict[int, str]:
    """Return names without the marks of paths and the spaces around them, each of one part only."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    for part in parts:
        plain = part.name.replace("/", "_").strip() or "_"
        while plain in taken:
            plain += "_"
        taken.add(plain)
        found[id(part)] = plain
    return found


def _formula(f: Driver, q0: float, factor: float) -> str:
    """Return (f - q0) factor as a formula of time: coordinates of a file have no q0. Raise UsageError for one that cannot be written."""
    if isinstance(f, Constant):
        return repr((f.value - q0) * factor)
    if not isinstance(f, Expression):
        raise UsageError(f"its driver is a {type(f).__name__}; write it as an Expression")
    text = expression_text(f, {})
    unknown = [word for word in WORD.findall(re.sub(r"(?<=[0-9.])e(?=[-+0-9])", "", text)) if word not in (*WORDS.values(), "t")]
    if unknown or "%" in text:
        raise UsageError(f"its formula has {unknown[0] if unknown else '%'!r}, which the solver does not know")
    text = WORD.sub(lambda found: OURS.get(found.group(), found.group()), text).replace("**", "^")
    text = text if q0 == 0.0 else f"{text} - {q0!r}" if q0 > 0.0 else f"{text} + {-q0!r}"
    return text if factor == 1.0 else f"{factor!r}*({text})"
