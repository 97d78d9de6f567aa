r"""From a robot to a System: one body for each group of links, one joint for each joint that moves, one for each loop.

The frame of a body has the axes of its first link, and its origin in the centre of mass:   s_bar = r_link - c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.inertia import MassProperties
from haugmbd.bodies.shapes import Shape
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import Fault
from haugmbd.forces import RSDA, JointSpring
from haugmbd.joints import RJ, SJ, TJ, UJ, Coupling, Fixed, Planar
from haugmbd.math import euler_parameters
from haugmbd.modelfile.imports import SUBSTITUTE_PART, Limit, Transform, heavy, substitute
from haugmbd.modelfile.urdf.robot import MOVING, SIDECAR, SLIDING, TURNING, UNIVERSAL, Loop, Robot, UrdfJoint
from haugmbd.modelfile.urdf.tree import Group, groups, physical, poses, without_rounding
from haugmbd.modelfile.urdf.visual import Meshes, shape_of
from haugmbd.system.system import System


class Choices(NamedTuple):
    """The options of the caller: a root that floats, merged fixed joints, repaired inertias, followers without their coupling.

    substitute: factor of the masses that links without mass are given
    exact: links without mass that have none in the mechanism, either: joints give their motion from that of links with mass
    """

    floating: bool
    merge_fixed: bool
    repair_inertia: bool
    free_mimic: bool
    meshes: Meshes
    substitute: float = 1.0
    exact: frozenset[str] = frozenset()


class Built(NamedTuple):
    """The system as read, and what the report says of it."""

    system: System
    body_of: dict[str, str]
    frames: dict[str, tuple[str, Any, Any]]
    substituted: list[str]
    warnings: list[str]
    faults: list[Fault]
    limits: list[Limit]
    massless: list[str]


def mechanism(robot: Robot, q: Mapping[str, float], gravity: Any, choices: Choices) -> Built:
    """Return the system of a robot at the joint coordinates q; its loops may be open."""
    at, found = poses(robot, q), groups(robot, choices.merge_fixed)
    ground = () if choices.floating else _shapes(robot, found[robot.root], np.zeros(3), choices.meshes)
    built = Built(System(robot.name, gravity=gravity, ground_shape=ground), {}, {}, [], [], [], [], [])
    total = sum(link.inertia.mass for link in robot.links.values() if link.inertia is not None)
    bodies: dict[str, Body] = {}
    for leader, group in found.items():
        body = _body(robot, group, at[leader], total, choices, built)
        center = np.zeros(3) if body.is_ground or group.inertia is None else group.inertia.center
        for link, pose in group.poses.items():
            bodies[link] = body
            built.body_of[link] = body.name
            built.frames[link] = (body.name, pose.r - center, pose.A)
    for joint in robot.in_tree_order():
        if bodies[joint.parent] is not bodies[joint.child]:
            _add_joint(built, joint, bodies, at[joint.parent] @ joint.origin)
    if not choices.free_mimic:
        _add_couplings(built, robot)
    for loop in robot.loops:
        _add_loop(built, loop, bodies)
    built.warnings.extend((*heavy("link", built.system.bodies), *robot.warnings, *choices.meshes.warnings))
    made = {joint.name: joint for joint in built.system.joints}
    for name, joint in robot.joints.items():
        if joint.limits is not None and (joint.mimic is None or choices.free_mimic) and name in made:
            coordinate = made[name].coordinate("angle" if joint.type in TURNING else "displacement")
            built.limits.append(Limit(name, coordinate, 1.0, *joint.limits, q.get(name, 0.0), joint.effort))
    return built


def _body(robot: Robot, group: Group, pose: Transform, total: float, choices: Choices, built: Built) -> Body:
    """Return the body of a group of links; the ground for the root, unless it floats."""
    if group.first == robot.root and not choices.floating:
        return built.system.ground
    inertia = group.inertia
    if inertia is None and group.first in choices.exact:
        inertia = MassProperties(0.0, np.zeros(3))
        built.substituted.append(f"link {group.first!r} has no mass, and needs none: joints give its motion")
    where = f"line {robot.links[group.first].line}, link {group.first!r}"
    if inertia is None:
        inertia, note = substitute("link", group.first, total, choices.substitute * SUBSTITUTE_PART)
        built.substituted.append(note)
        built.massless.append(group.first)
    else:
        inertia, note = physical(inertia) if choices.repair_inertia else without_rounding(inertia)
        if choices.repair_inertia and inertia.mass == 0.0 and total > 0.0:
            inertia = MassProperties(SUBSTITUTE_PART * total, inertia.J_bar, inertia.center)
            note = f"{note + '; ' if note else ''}its mass 0 became {inertia.mass:.4g} kg"
        if note:
            built.substituted.append(f"link {group.first!r}: {note}")
    p = euler_parameters.from_rotation_matrix(pose.A)
    shapes = _shapes(robot, group, inertia.center, choices.meshes) or ...
    body = Body(group.first, inertia.mass, inertia.J_bar, r=pose.r + pose.A @ inertia.center, p=p, shape=shapes)
    remedy = " Or pass repair_inertia=True, which gives the nearest inertia that is possible, and a small mass for none."
    if inertia.mass == 0.0 and group.first not in choices.exact:
        what = "mass is 0.0 kg, must be positive"
        give = "Give the mass in kilograms, or no <inertial> for a link whose motion the joints give."
        built.faults.append(Fault(where, what, give + remedy))
    for fault in body.faults():
        repairable = "J_bar" in fault.what or inertia.mass == 0.0
        built.faults.append(Fault(where, fault.what, fault.remedy + remedy * repairable))
    built.system.add(body)
    return body


def _shapes(robot: Robot, group: Group, center: Any, meshes: Meshes) -> tuple[Shape, ...]:
    """Return what is drawn of a group of links, in the frame of its body."""
    shapes = []
    for link, pose in group.poses.items():
        drawn = (shape_of(visual, meshes) for visual in robot.links[link].visuals)
        shapes += [shape.placed(pose.r - center, pose.A) for shape in drawn if shape is not None]
    return tuple(shapes)


def _add_joint(built: Built, joint: UrdfJoint, bodies: Mapping[str, Body], frame: Transform) -> None:
    """Add a joint, and its damper."""
    i, j, axis = bodies[joint.parent], bodies[joint.child], frame.A @ joint.axis
    made: Joint | None = None
    if joint.type in TURNING:
        made = RJ(joint.name, i, j, point=frame.r, axis=axis)
    elif joint.type in SLIDING:
        made = TJ(joint.name, i, j, point=frame.r, axis=axis)
    elif joint.type == "planar":
        made = Planar(joint.name, i, j, point=frame.r, normal=axis)
    elif joint.type == "spherical":
        made = SJ(joint.name, i, j, point=frame.r)
    elif joint.type == UNIVERSAL and joint.second is not None:
        made = UJ(joint.name, i, j, point=frame.r, axis_i=axis, axis_j=frame.A @ joint.second)
    elif joint.type == "fixed":
        made = Fixed(joint.name, i, j, point=frame.r)
    if made is not None:
        built.system.add(made)
    if joint.damping and joint.type in TURNING and made is not None:
        built.system.add(RSDA(f"{joint.name} damping", made, c=joint.damping))
    elif joint.damping and joint.type in SLIDING and made is not None:
        built.system.add(JointSpring(f"{joint.name} damping", made, c=joint.damping))


def _add_couplings(built: Built, robot: Robot) -> None:
    """Add a coupling for each joint that follows another one: q - q_0 = multiplier (q_leader - q_leader0), offsets are part of the pose."""
    made = {joint.name: joint for joint in built.system.joints}
    for joint in robot.joints.values():
        if joint.mimic is None or joint.type not in TURNING + SLIDING:
            continue
        leader, multiplier, _ = joint.mimic
        terms: dict[Any, float] = {made[joint.name]: 1.0} | ({made[leader]: -multiplier} if multiplier else {})
        built.system.add(Coupling(f"{joint.name} mimic", terms))


def _add_loop(built: Built, loop: Loop, bodies: Mapping[str, Body]) -> None:
    """Add the joint that closes a loop, from the frames on its two links."""
    i, j = (_frame_on(built, bodies[link], link, pose) for link, pose in zip(loop.links, loop.frames, strict=True))
    if i.body is j.body:
        what = f"it joins {loop.links[0]!r} and {loop.links[1]!r}, which are parts of one body ({i.body.name!r})"
        built.faults.append(Fault(f"loop {loop.name!r}", what, "Give links that move against each other."))
        return
    T = triad(loop.axis)
    (f_i, g_i, _), (_, g_j, h_j) = ((frame.A_bar @ T).T for frame in (i, j))
    name, on_i, on_j = loop.name, (i.body, i.s_bar), (j.body, j.s_bar)
    if loop.type == "spherical":
        made: Joint = SJ.from_vectors(name, *on_i, *on_j)
    elif loop.type in TURNING:
        made = RJ.from_vectors(name, *on_i, f_i, g_i, *on_j, h_j)
    elif loop.type in SLIDING:
        made = TJ.from_vectors(name, *on_i, f_i, g_i, *on_j, h_j, g_j, 0.0)
    else:
        made = Fixed.from_vectors(name, *on_i, f_i, g_i, *on_j, h_j, g_j, 0.0)
    built.system.add(made)


def _frame_on(built: Built, body: Body, link: str, pose: Transform) -> Frame:
    """Return a frame that is given in the frame of a link."""
    _, s_bar, A_bar = built.frames[link]
    return Frame(body, s_bar + A_bar @ pose.r, A_bar @ pose.A)


def sidecar_loops(robot: Robot, pairs: list[tuple[str, str, str]], file: str) -> None:
    """Append the loops of a sidecar file: frames are named by their links or by the joints that lead to them."""
    origin = Transform(np.eye(3), np.zeros(3))
    for kind, *names in pairs:
        links = []
        for name in names:
            link = name if name in robot.links else robot.joints[name].child if name in robot.joints else ""
            if not link:
                robot.faults.append(Fault(file, f"there is no link or joint {name!r}", "Name frames of the URDF."))
            links.append(link)
        if all(links):
            number = len(robot.loops) + 1
            ends = (links[0], links[1])
            robot.loops.append(Loop(f"loop {number}", kind, ends, (origin, origin), np.array((0.0, 0.0, 1.0)), SIDECAR))


AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def replace_joints(robot: Robot, kinds: Mapping[str, str], file: str) -> list[str]:
    """Make joints what a sidecar file says that they are, and return that as texts; a fault for a joint that another one follows.

    Names that the URDF does not have are warnings: programs that read these files pass over them.
    """
    told = []
    leaders = {joint.mimic[0]: joint.name for joint in robot.joints.values() if joint.mimic is not None}
    for name, kind in kinds.items():
        joint = robot.joints.get(name)
        if joint is None:
            robot.warnings.append(
                f"joint_name: there is no joint {name!r}{did_you_mean(name, robot.joints)}, so that none is replaced"
            )
            continue
        if name in leaders:
            what = f"joint_name: joint {name!r} becomes {kind}, and joint {leaders[name]!r} follows its coordinate"
            robot.faults.append(Fault(file, what, "Remove the <mimic>, or the joint from joint_name."))
        was = joint.type
        lost = [word for word, there in (("limits", joint.limits), ("mimic", joint.mimic), ("damping", joint.damping)) if there]
        joint.limits, joint.mimic, joint.damping = None, None, 0.0
        joint.type = {"SPHERICAL": "spherical", "FIXED": "fixed"}.get(kind, UNIVERSAL)
        if joint.type == UNIVERSAL:
            joint.axis, joint.second = (np.array(AXES[letter]) for letter in kind[-2:])
        without = f", without its {' and '.join(lost)}" if lost and was in MOVING else ""
        told.append(f"joint {name!r} is {joint.type} in place of {was}, as joint_type says{without}")
    return told
