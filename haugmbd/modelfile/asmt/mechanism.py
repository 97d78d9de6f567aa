r"""From an assembly to a System: one body for each group of parts that are fixed to each other, the ground for those fixed to it.

fixed joint between markers M_i on part a and M_j on part b:     T_b = T_a M_i M_j^-1
body frame    the axes of the first part of the group, its origin in the centre of mass c:    s_bar = r - c
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.inertia import MassProperties, combine
from haugmbd.bodies.shapes import Shape
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import Fault, UsageError
from haugmbd.joints import CJ, RJ, SJ, RotationDriver, TranslationDriver
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.modelfile.asmt.assembly import AsmtJoint, AsmtMotion, Assembly, at_line
from haugmbd.modelfile.asmt.couplings import coupling_between
from haugmbd.modelfile.asmt.formulas import expression_of
from haugmbd.modelfile.asmt.general import add_general_motion, add_line_force
from haugmbd.modelfile.asmt.joints import joint_between
from haugmbd.modelfile.imports import IDENTITY, OPEN, Transform, heavy, substitute
from haugmbd.system.system import System
from haugmbd.tolerances import is_rounding

FIXED = "FixedJoint"
LINKED = ("CylSphJoint", "RevCylJoint")
"""Joints that keep a distance from the axis of their first marker."""
COUPLED = ("GearJoint", "RackPinionJoint", "ScrewJoint")
"""Joints that are couplings of other joints."""
OF_CURVES = ("CVCVJoint", "PTCVJoint", "CVSFJoint", "PTSFJoint", "SFSFJoint", "CurveCurveContact", "PointCurveContact")
"""Joints between points, curves and surfaces."""
REPLACE = "Replace it by a joint that can be read."
GROUND = ""
"""The assembly itself, as the part of its markers."""
UNIT = MassProperties(1.0, np.ones(3))
"""What FreeCAD writes for every part."""
HOLDS = 1e-6
"""Largest equation [m], [1] of a joint between fixed parts that holds: digits of files, and above the 1e-7 of FreeCAD's solver."""
LARGE = 100.0
"""[m] An assembly of this size is probably in millimetres."""


class PartPlace(NamedTuple):
    """Where a part is: the first part of its group, and its pose there."""

    leader: str
    pose: Transform


class Built(NamedTuple):
    """The system as read, and what the report says of it; where: the body and the frame on it of each part."""

    system: System
    where: dict[str, tuple[str, Transform]]
    substituted: list[str]
    warnings: list[str]
    dropped: list[str]


def mechanism(made: Assembly, merge_fixed: bool) -> Built:
    """Return the system; faults are collected in the assembly."""
    built = Built(System(made.name, gravity=made.gravity, ground_shape=tuple(made.ground_shapes)), {}, made.substituted, [], [])
    for joint in made.joints.values():
        if joint.type in OF_CURVES:
            what = f"its type {joint.type!r} cannot be read: it is one of curves or surfaces"
            made.fault(joint.line, f"joint {joint.name!r}", what, REPLACE)
    ends = [(joint.line, f"joint {joint.name!r}", joint.markers) for joint in made.joints.values() if joint.type not in OF_CURVES]
    ends += [(general.line, f"motion {general.name!r}", general.markers) for general in made.general_motions]
    ends += [(load.line, f"load {load.name!r}", load.markers) for load in made.loads]
    for line, where, markers in ends:
        for key, path in zip(("MarkerI", "MarkerJ"), markers, strict=True):
            if path not in made.markers:
                what = f"{key}: there is no marker {path!r:.80}{did_you_mean(path, made.markers)}"
                made.fault(line, where, what, "Give the path /Assembly/Part/Marker.")
    if made.faults:
        return built
    places, used = _groups(made, built, merge_fixed)
    bodies = _bodies(made, built, places)
    for late in (False, True):  # couplings are of joints, which may stand after them
        for joint in made.joints.values():
            if joint.name not in used and (joint.type in COUPLED) is late:
                _add_joint(made, built, bodies, joint)
    for motion in made.motions.values():
        _add_motion(made, built, motion)
    for general in made.general_motions:
        add_general_motion(made, built.system, general, _ends(made, built, bodies, general.markers))
    for load in made.loads:
        add_line_force(made, built.system, load, _ends(made, built, bodies, load.markers))
    _add_warnings(made, built)
    return built


def _groups(made: Assembly, built: Built, merge_fixed: bool) -> tuple[dict[str, PartPlace], set[str]]:
    """Return the place of each part, and the names of the fixed joints that this has used up."""
    fixed = [joint for joint in made.joints.values() if joint.type == FIXED] if merge_fixed else []
    at: dict[str, list[AsmtJoint]] = {}
    for joint in fixed:
        for path in joint.markers:
            at.setdefault(made.markers[path].part, []).append(joint)
    places: dict[str, PartPlace] = {}
    used: set[str] = set()
    for leader in (GROUND, *made.parts):
        if leader in places:
            continue
        places[leader] = PartPlace(leader, IDENTITY)
        stack = [leader]
        while stack:
            part = stack.pop()
            for joint in at.get(part, ()):
                i, j = (made.markers[path] for path in joint.markers)
                one, other = (i, j) if i.part == part else (j, i)
                pose = places[part].pose @ one.pose @ other.pose.inverse()
                if joint.name in used:
                    continue
                used.add(joint.name)
                if other.part in places:
                    _check_circle(made, joint, places[other.part].pose, pose)
                    continue
                places[other.part] = PartPlace(leader, pose)
                stack.append(other.part)
                _note_moved(made, built, joint, leader, other.part, pose)
    return places, used


def _pose_of(made: Assembly, part: str) -> Transform:
    return made.pose if part == GROUND else made.parts[part].pose


def _check_circle(made: Assembly, joint: AsmtJoint, before: Transform, after: Transform) -> None:
    """Record a fault if a circle of fixed joints does not close."""
    gap = max(float(np.abs(before.r - after.r).max()), float(np.abs(before.A - after.A).max()))
    if gap > 1e3 * OPEN:
        what = f"the fixed joints of a circle contradict each other by {gap:.3g} (m or rad)"
        made.fault(joint.line, f"joint {joint.name!r}", what, "Remove one of them, or move its markers.")


def _note_moved(made: Assembly, built: Built, joint: AsmtJoint, leader: str, part: str, pose: Transform) -> None:
    """Report a part that a fixed joint moves."""
    new, old = _pose_of(made, leader) @ pose, _pose_of(made, part)
    distance, angle = float(np.linalg.norm(new.r - old.r)), float(np.abs(new.A - old.A).max())
    if max(distance, angle) > OPEN:
        built.substituted.append(
            f"part {part!r} was moved by {distance:.4g} m and turned, so that the fixed joint {joint.name!r} closes"
        )


def _bodies(made: Assembly, built: Built, places: dict[str, PartPlace]) -> dict[str, Body]:
    """Add the bodies, and return that of each part."""
    total = sum(part.inertia.mass for part in made.parts.values() if part.inertia is not None)
    members: dict[str, list[str]] = {}
    for part, place in places.items():
        members.setdefault(place.leader, []).append(part)
    bodies: dict[str, Body] = {}
    for leader, parts in members.items():
        center = np.zeros(3)
        if leader == GROUND:
            body, frame = built.system.ground, made.pose
        else:
            inertia = _common(made, places, parts)
            if inertia is None:
                inertia, note = substitute("part", leader, total)
                built.substituted.append(note)
            drawn = [(places[part].pose, shape) for part in parts for shape in made.parts[part].shapes]
            shapes = tuple(shape.placed(at.r - inertia.center, at.A) for at, shape in drawn)
            body, center, frame = _body(made, leader, inertia, shapes), inertia.center, IDENTITY
            built.system.add(body)
        for part in parts:
            bodies[part] = body
            on = frame @ places[part].pose
            built.where[part] = (body.name, Transform(on.A, on.r - center))
    return bodies


def _common(made: Assembly, places: dict[str, PartPlace], parts: list[str]) -> MassProperties | None:
    """Return the common inertia of parts in the axes of the first one; None if none has mass."""
    solids = []
    for part in parts:
        inertia, pose = made.parts[part].inertia, places[part].pose
        if inertia is not None:
            solids.append(inertia.placed(pose.r + pose.A @ inertia.center, pose.A))
    return None if not solids else solids[0] if len(solids) == 1 else combine(solids)


def _body(made: Assembly, leader: str, inertia: MassProperties, shapes: tuple[Shape, ...]) -> Body:
    """Return the body of a group; its velocities are those of its first part."""
    part = made.parts[leader]
    A, arm = part.pose.A, part.pose.A @ inertia.center
    v = part.velocity + cross(part.omega, arm)
    p = euler_parameters.from_rotation_matrix(A)
    motion = {"r": part.pose.r + arm, "p": p, "v": v, "omega_bar": A.T @ part.omega}
    body = Body(leader, inertia.mass, inertia.J_bar, shape=shapes or ..., **motion)
    for fault in body.faults():
        made.faults.append(Fault(at_line(part.line, fault.where), fault.what, fault.remedy))
    return body


def _ends(made: Assembly, built: Built, bodies: dict[str, Body], markers: tuple[str, str]) -> tuple[Frame, Frame]:
    """Return the frames of two markers on their bodies."""
    ends = []
    for path in markers:
        marker = made.markers[path]
        at = built.where[marker.part][1] @ marker.pose
        ends.append(Frame(bodies[marker.part], at.r, at.A))
    return ends[0], ends[1]


def _add_joint(made: Assembly, built: Built, bodies: dict[str, Body], joint: AsmtJoint) -> None:
    """Add a joint, or record why it cannot be."""
    where, ends = f"joint {joint.name!r}", _ends(made, built, bodies, joint.markers)
    if ends[0].body is ends[1].body:
        _drop_joint(made, built, joint, ends)
        return
    if joint.type in LINKED and not is_rounding(joint.values.get("distanceIJ", 0.0), 1.0):  # as a distance of 1 m is written
        parts = linked(joint, ends)
        built.substituted.append(f"{where}: its distance from an axis became the link {parts[0].name!r} without mass")
        for link in parts:
            made.faults += [Fault(at_line(joint.line, fault.where), fault.what, fault.remedy) for fault in link.faults()]
            built.system.add(link)
        return
    try:
        if joint.type in COUPLED:
            known = built.system.joints
            part: Joint = coupling_between(joint.type, joint.name, ends[0], ends[1], joint.values, known)
        else:
            part = joint_between(joint.type, joint.name, ends[0], ends[1], joint.values)
    except UsageError as error:
        made.fault(joint.line, where, str(error).rstrip("."), REPLACE)
        return
    for fault in part.faults():
        made.faults.append(Fault(at_line(joint.line, fault.where), fault.what, fault.remedy))
    built.system.add(part)


def linked(joint: AsmtJoint, ends: tuple[Frame, Frame]) -> tuple[Any, ...]:
    """Return a link without mass that keeps a distance from the axis of marker I, and its joints: along the axis, and at marker J.

    The link turns about the axis and slides along it, so that the origin of marker J is at its end: on a ball, or on a hinge whose axis is
    parallel.
    """
    (i, j), distance = ends, joint.values["distanceIJ"]
    axis = i.A[:, 2]
    apart = j.point - i.point
    foot = i.point + (axis @ apart) * axis
    out = j.point - foot
    size = float(np.linalg.norm(out))
    out = out / size if size > HOLDS else i.A[:, 0]
    around = cross(axis, out)
    v, w = _moving(j) - _moving(i), float((_moving(j) - _moving(i)) @ around) / distance
    link = Body(
        f"{joint.name} link",
        0.0,
        (0.0, 0.0, 0.0),
        r=foot + distance * out,
        v=_moving(i) + (v @ axis) * axis + distance * w * around,
        omega_bar=i.body.A @ i.body.omega_bar + w * axis,
    )
    slide = CJ(joint.name, i.body, link, point=foot, axis=axis)
    if joint.type == "CylSphJoint":
        return link, slide, SJ.from_vectors(f"{joint.name} end", link, np.zeros(3), j.body, j.s_bar)
    same = float(np.sign(axis @ j.A[:, 2])) or 1.0
    f = np.eye(3)[int(np.argmin(np.abs(axis)))]
    f = f - (f @ axis) * axis
    f /= np.linalg.norm(f)
    return link, slide, RJ.from_vectors(f"{joint.name} end", link, np.zeros(3), f, np.cross(axis, f), j.body, j.s_bar, same * j.h)


def _moving(end: Frame) -> Array:
    """Return the velocity of the origin of a frame, global [m/s]."""
    body = end.body
    return np.asarray(body.v + body.A @ cross(body.omega_bar, end.s_bar))


def _drop_joint(made: Assembly, built: Built, joint: AsmtJoint, ends: tuple[Frame, Frame]) -> None:
    """Leave out a joint between parts that are fixed to each other, where it holds; record a fault where it does not."""
    where, on = f"joint {joint.name!r}", ends[0].body.name
    on_parts = {made.markers[path].part for path in joint.markers}
    if joint.markers[0] == joint.markers[1]:
        made.fault(joint.line, where, f"both its markers are {joint.markers[0]!r}, on {on!r}", "Give markers of parts that move.")
        return
    try:
        gap = 0.0 if joint.type in COUPLED else _gap(joint, ends)
    except UsageError as error:
        made.fault(joint.line, where, str(error).rstrip("."), REPLACE)
        return
    parts = " and ".join(repr(part) if part else "the assembly" for part in sorted(on_parts))
    if len(on_parts) == 1:  # no motion of the mechanism can close or open it
        told = built.dropped if gap <= HOLDS else built.warnings
        told.append(
            f"{where}: both its markers are on {parts}, open by {gap:.2g} (m or rad), which no motion changes: it is left out"
        )
        return
    if not gap <= HOLDS:
        what = f"it is open by {gap:.3g} (m or rad), and both its markers are on {on!r}, fixed to each other (parts: {parts})"
        made.fault(joint.line, where, what, "Remove it, or the fixed joints that contradict it.")
        return
    built.dropped.append(f"{where}: both its markers are on {on!r} (parts: {parts}), where it holds (open by {gap:.2g})")


def _gap(joint: AsmtJoint, ends: tuple[Frame, Frame]) -> float:
    """Return the largest equation of a joint between two frames where they are; for a check, its two sides are put on bodies of their own.

    Raise UsageError for a type that cannot be read.
    """
    check = System("check")
    i, j = (check.add(Body(side, 1.0, (1.0, 1.0, 1.0), r=end.body.r, p=end.body.p)) for side, end in zip("ij", ends, strict=True))
    check.add(
        joint_between(
            joint.type, joint.name, Frame(i, ends[0].s_bar, ends[0].A_bar), Frame(j, ends[1].s_bar, ends[1].A_bar), joint.values
        )
    )
    model = check.compile(check_pose=False)
    return float(np.abs(evaluate(model, model.state()).Phi).max(initial=0.0))


def _add_motion(made: Assembly, built: Built, motion: AsmtMotion) -> None:
    """Add a driver, or record why it cannot be."""
    where, moving_joints = f"motion {motion.name!r}", {joint.name: joint for joint in built.system.joints}
    if motion.joint not in moving_joints:
        what = f"there is no joint {motion.joint!r:.60} that moves{did_you_mean(motion.joint, moving_joints)}"
        made.fault(motion.line, where, what, "Give MotionJoint the path /Assembly/Joint.")
        return
    turns = motion.type == "RotationalMotion"
    try:
        f = expression_of(motion.formula, 1.0 if turns else made.length)
    except UsageError as error:
        made.fault(motion.line, where, str(error).rstrip("."), "Give a formula of time.")
        return
    name = motion.name if motion.name not in moving_joints else f"{motion.name} (motion)"
    kind = RotationDriver if turns else TranslationDriver
    driver = kind(name, moving_joints[motion.joint], f)
    for fault in driver.faults():
        made.faults.append(Fault(at_line(motion.line, fault.where), fault.what, fault.remedy))
    built.system.add(driver)


def _add_warnings(made: Assembly, built: Built) -> None:
    """Append what is doubtful about masses and units."""
    unit = UNIT.J_bar * made.length**2
    solids = [part.inertia for part in made.parts.values()]
    if solids and all(
        solid is not None and solid.mass == 1.0 and np.allclose(solid.J_bar, unit, rtol=1e-9, atol=0.0) for solid in solids
    ):
        note = "every part has mass 1 and moments (1, 1, 1), as FreeCAD writes them: they are not the masses of the parts"
        built.warnings.append(f"{note}; `kinematics` does not use them")
    size = max((float(np.abs(part.pose.r).max()) for part in made.parts.values()), default=0.0)
    if size > LARGE:
        note = f"a part is {size:.4g} m from the origin: if the file is in millimetres, as FreeCAD's are"
        built.warnings.append(f"{note}, pass length=0.001")
    built.warnings.extend(heavy("part", built.system.bodies))
