r"""A robot as its URDF describes it: links, joints and loop joints as data; faults with their lines, and what is not read.

    joint   frame of the child link at q = 0:   T_child = T_parent T(origin),    T(origin) = (xyz, Rz(yaw) Ry(pitch) Rx(roll))
    link    inertia about its centre of mass, in the axes of its inertial origin

Source: the URDF specification of ROS (urdf/XML), with its defaults: origin 0, axis (1, 0, 0), mimic multiplier 1 and offset 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import cos, isfinite, sin
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.inertia import MassProperties
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import Fault, ModelFileError
from haugmbd.modelfile.imports import Transform
from haugmbd.modelfile.text import number
from haugmbd.modelfile.urdf.unread import unread_inside
from haugmbd.modelfile.urdf.visual import Visual
from haugmbd.modelfile.xml_reader import Element

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
"""Those of ROS, and the spherical joints of Bullet."""
TURNING, SLIDING = ("revolute", "continuous"), ("prismatic",)
MOVING = TURNING + SLIDING
UNIVERSAL = "universal"
"""The type of a joint that a sidecar file makes of one of a URDF, which has no such type."""
LOOP_TYPES = ("revolute", "continuous", "prismatic", "spherical", "fixed")
URDF_PLUS = "URDF+ <loop>"
LOOP_JOINT = "<loop_joint>"
SIDECAR = "Extended URDF"
COMMA = re.compile(r",(?=\s|$)")
"""A comma after a number, as some programs write; one between digits may be that of a decimal fraction, and is refused."""
LARGEST = 1e60
"""Numbers are below it: products of three of them are finite."""
PARTS = ("link", "joint", "loop", "loop_joint", "material")
"""Elements of a robot that are read."""
NOT_READ = {
    "transmission": "transmissions",
    "gazebo": "extensions of a simulator",
    "sensor": "sensors",
    "collision": "collision shapes",
    "calibration": "calibrations",
    "safety_controller": "safety controllers",
    "coupling": "URDF+ couplings",
}


MAX_LINKS = 20_000
"""Links that are read; robots have up to a few hundred."""
MOST_FAULTS = 200
"""Faults that are reported: a file with more of them is another kind of file."""


@dataclass
class Link:
    """A link: its inertia in the link frame, None without one."""

    name: str
    line: int
    inertia: MassProperties | None = None
    visuals: list[Visual] = field(default_factory=list)


@dataclass
class UrdfJoint:
    """A joint: the pose of its frame on the parent, its axis there, and its numbers."""

    name: str
    line: int
    type: str
    parent: str
    child: str
    origin: Transform
    axis: Array
    damping: float = 0.0
    friction: float = 0.0
    limits: tuple[float, float] | None = None
    effort: float = 0.0
    mimic: tuple[str, float, float] | None = None
    second: Array | None = None
    """The second axis, of a universal joint, in the frame of the joint. A URDF has none; a sidecar file makes them."""


class Loop(NamedTuple):
    """A closed loop: a joint between frames on two links; the axis is given in both frames."""

    name: str
    type: str
    links: tuple[str, str]
    frames: tuple[Transform, Transform]
    axis: Array
    convention: str


@dataclass
class Robot:
    """The contents of a URDF; the root link first in `tree` order."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, UrdfJoint] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    root: str = ""

    def fault(self, line: int, where: str, what: str, remedy: str) -> None:
        """Record a fault."""
        self.faults.append(Fault(f"line {line}, {where}", what, remedy))
        if len(self.faults) >= MOST_FAULTS:
            raise ModelFileError(
                "",
                [*self.faults, Fault("the whole file", f"it has {MOST_FAULTS} faults or more", "Only the first ones are listed.")],
            )

    def children(self) -> dict[str, list[UrdfJoint]]:
        """Return the joints of each parent link."""
        found: dict[str, list[UrdfJoint]] = {}
        for joint in self.joints.values():
            found.setdefault(joint.parent, []).append(joint)
        return found

    def in_tree_order(self) -> list[UrdfJoint]:
        """Return the joints, each after the joint of its parent."""
        children, found, stack = self.children(), [], [self.root]
        while stack:
            for joint in children.get(stack.pop(), ()):
                found.append(joint)
                stack.append(joint.child)
        return found


def robot_of(root: Element) -> Robot:
    """Return the robot of an XML document, with its faults."""
    robot = Robot(root.attributes.get("name", "robot") or "robot")
    if root.tag != "robot":
        robot.fault(root.line, f"<{root.tag}>", "the root element is not <robot>", "Give a URDF file.")
        return robot
    if any(":" in element.tag and element.tag.startswith("xacro") for element in root.below()):
        what = "it is a xacro file, which is a program that makes a URDF"
        robot.fault(
            root.line, "<robot>", what, "Name it .xacro and pass allow_code=True, or expand it: xacro file.xacro > file.urdf."
        )
        return robot
    for element in root.below():
        if element.tag in NOT_READ:
            robot.ignored[NOT_READ[element.tag]] += 1
    colors = {element.attributes.get("name", ""): element for element in root.all("material")}
    for element in root.children:
        if element.tag == "link":
            _read_link(robot, element, colors)
        elif element.tag == "joint":
            _read_joint(robot, element)
    if len(robot.links) > MAX_LINKS:
        robot.fault(root.line, "<robot>", f"it has {len(robot.links)} links, more than {MAX_LINKS}", "Split it.")
        return robot
    _check_tree(robot, root)
    _check_followers(robot)
    for element in root.children:
        if element.tag == "loop":
            _read_loop(robot, element, URDF_PLUS, ("predecessor", "successor"))
        elif element.tag == "loop_joint":
            _read_loop(robot, element, LOOP_JOINT, ("link1", "link2"))
        elif element.tag not in (*PARTS, *NOT_READ):
            robot.ignored[f"<{element.tag}>"] += 1
    _count_unread(robot, root)
    return robot


def _count_unread(robot: Robot, root: Element) -> None:
    """Count what is not read inside of the parts that are, each with its first line."""
    found: dict[str, list[int]] = {}
    for element in root.children:
        if element.tag in PARTS:
            for text, line in unread_inside(element, NOT_READ):
                found.setdefault(text, []).append(line)
    robot.ignored.update({f"{text}, first in line {min(lines)}": len(lines) for text, lines in found.items()})


def rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll), (3, 3)."""
    (cr, sr), (cp, sp), (cy, sy) = ((cos(x), sin(x)) for x in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _numbers(robot: Robot, element: Element | None, key: str, default: tuple[float, ...], where: str) -> Array:
    """Return the numbers of an attribute; a fault, and the default, if they are not numbers."""
    text = None if element is None else element.attributes.get(key)
    if element is None or text is None:
        return np.array(default)
    try:
        values = [number(part) for part in COMMA.sub(" ", text).split()]
    except ValueError:
        values = []
    if len(values) != len(default) or not all(abs(x) < LARGEST for x in values):
        count = f"{len(default)} finite numbers" if len(default) > 1 else "a finite number"
        robot.fault(element.line, where, f'{key}="{text:.60}" is not {count} below {LARGEST:g}', f"Give {count}, in SI units.")
        return np.array(default)
    return np.array(values)


def _number(robot: Robot, element: Element | None, key: str, default: float, where: str) -> float:
    return float(_numbers(robot, element, key, (default,), where)[0])


def _pose(robot: Robot, element: Element | None, where: str) -> Transform:
    """Return the pose of an element with xyz and rpy."""
    zero = (0.0, 0.0, 0.0)
    xyz, rpy = (_numbers(robot, element, key, zero, where) for key in ("xyz", "rpy"))
    return Transform(rotation(*rpy.tolist()), xyz)


def _named(robot: Robot, element: Element, known: Iterable[str], where: str) -> str:
    """Return the name of an element; a fault if it has none, or one that is there already."""
    name = element.attributes.get("name", "")
    if not name:
        robot.fault(element.line, where, "it has no name", 'Give name="...".')
    elif name in known:
        robot.fault(element.line, f"{where} {name!r:.80}", "the name is there twice", "Give each its own name.")
    return name or f"{where} at line {element.line}"


GEOMETRY = {"box": ("size", 3), "sphere": ("radius", 1), "cylinder": ("radius", 1), "mesh": ("scale", 3)}
"""Geometry of visuals: the key of its numbers, and how many they are; a cylinder has a length, too."""


def _read_visual(robot: Robot, element: Element, colors: dict[str, Element], where: str) -> Visual | None:
    """Return a visual; None if it has no geometry that is known, which is counted as ignored."""
    geometry = element.first("geometry")
    solids = [] if geometry is None else [child for child in geometry.children if child.tag in GEOMETRY]
    if not solids:
        robot.ignored["visuals of unknown geometry"] += 1
        return None
    solid, before = solids[0], len(robot.faults)
    key, count = GEOMETRY[solid.tag]
    pose = _pose(robot, element.first("origin"), where)
    numbers = _numbers(robot, solid, key, (1.0,) * count, where)
    if solid.tag == "cylinder":
        numbers = np.append(numbers, _number(robot, solid, "length", 0.0, where))
    if len(robot.faults) > before:  # what is drawn changes no motion
        robot.warnings += [f"{fault.where}: the {solid.tag} is not drawn: {fault.what}" for fault in robot.faults[before:]]
        del robot.faults[before:]
        return None
    return Visual(pose, solid.tag, numbers, _color(element, colors), solid.attributes.get("filename", ""), solid.line)


def _color(element: Element, colors: dict[str, Element]) -> str | None:
    """Return the colour of a visual as #rrggbb, of its own material or of one of the robot; None without one."""
    own = element.first("material")
    if own is None:
        return None
    given = own.first("color")
    named = colors.get(own.attributes.get("name", ""))
    if given is None and named is not None:
        given = named.first("color")
    try:
        rgb = [min(max(number(x), 0.0), 1.0) for x in (given.attributes.get("rgba", "") if given else "").split()[:3]]
    except ValueError:
        return None
    return "#" + "".join(f"{round(255 * x):02x}" for x in rgb) if len(rgb) == 3 and all(map(isfinite, rgb)) else None


def _read_link(robot: Robot, element: Element, colors: dict[str, Element]) -> None:
    name = _named(robot, element, robot.links, "link")
    where = f"link {name!r:.80}"
    inertial = element.first("inertial")
    robot.links[name] = Link(name, element.line)
    visuals = (_read_visual(robot, visual, colors, where) for visual in element.all("visual"))
    robot.links[name].visuals = [visual for visual in visuals if visual is not None]
    if inertial is None:
        return
    pose = _pose(robot, inertial.first("origin"), where)
    mass = _number(robot, inertial.first("mass"), "value", 0.0, where)
    matrix = inertial.first("inertia")
    xx, xy, xz, yy, yz, zz = (_number(robot, matrix, f"i{key}", 0.0, where) for key in ("xx", "xy", "xz", "yy", "yz", "zz"))
    if mass < 0.0:
        robot.fault(inertial.line, where, f"its mass is {mass} kg", "Give a mass that is not negative.")
    if mass == 0.0 and not any((xx, xy, xz, yy, yz, zz)):
        return
    solid = MassProperties(mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    robot.links[name].inertia = solid.placed(pose.r, pose.A)


def _read_joint(robot: Robot, element: Element) -> None:
    name = _named(robot, element, robot.joints, "joint")
    where = f"joint {name!r:.80}"
    kind = element.attributes.get("type", "")
    if kind not in JOINT_TYPES:
        what = f"its type is {kind!r}{did_you_mean(kind, JOINT_TYPES)}"
        robot.fault(element.line, where, what, f"Give one of {', '.join(JOINT_TYPES)}.")
    ends = []
    for key in ("parent", "child"):
        end = element.first(key)
        ends.append("" if end is None else end.attributes.get("link", ""))
        if not ends[-1]:
            robot.fault(element.line, where, f"it has no {key}", f'Give <{key} link="..."/>.')
    origin = _pose(robot, element.first("origin"), where)
    axis = np.array((1.0, 0.0, 0.0)) if kind in ("fixed", "floating", "spherical") else _axis(robot, element, where)
    dynamics, limit = element.first("dynamics"), element.first("limit")
    joint = UrdfJoint(name, element.line, kind, ends[0], ends[1], origin, axis)
    joint.damping = _number(robot, dynamics, "damping", 0.0, where)
    joint.friction = _number(robot, dynamics, "friction", 0.0, where)
    if limit is not None and kind in ("revolute", "prismatic"):
        joint.limits = (_number(robot, limit, "lower", 0.0, where), _number(robot, limit, "upper", 0.0, where))
        joint.effort = _effort(limit)
    elif limit is not None and {"lower", "upper"} & limit.attributes.keys():
        robot.ignored[f"limits of {kind} joints"] += 1
    mimic = element.first("mimic")
    if mimic is not None:
        numbers = _number(robot, mimic, "multiplier", 1.0, where), _number(robot, mimic, "offset", 0.0, where)
        joint.mimic = (mimic.attributes.get("joint", ""), *numbers)
        if kind not in MOVING:
            robot.ignored[f"mimic of {kind} joints"] += 1
    robot.joints[name] = joint


def _effort(limit: Element) -> float:
    """Return the largest force of a joint; 0 (no limit) for a text that is not a finite number."""
    try:
        effort = number(limit.attributes.get("effort", "0"))
    except ValueError:
        return 0.0
    return effort if 0.0 < effort < LARGEST else 0.0


def _axis(robot: Robot, element: Element, where: str) -> Array:
    """Return the unit axis; (1, 0, 0) by default."""
    axis = _numbers(robot, element.first("axis"), "xyz", (1.0, 0.0, 0.0), where)
    length = float(np.linalg.norm(axis))
    if not 1e-100 < length < 1e100:
        robot.fault(element.line, where, f"its axis is {axis.tolist()}", "Give a direction that is not zero.")
        return np.array((1.0, 0.0, 0.0))
    return axis / length


def _read_loop(robot: Robot, element: Element, convention: str, ends: tuple[str, str]) -> None:
    """Read a loop joint of one of the two conventions inside a URDF."""
    name = element.attributes.get("name") or f"loop {len(robot.loops) + 1}"
    where = f"{convention[convention.index('<') :]} {name!r}"
    kind = element.attributes.get("type", "")
    kind = "spherical" if kind == "ball" else kind
    if convention == URDF_PLUS and kind == "spherical":
        what = "URDF+ has no spherical loop"
        robot.fault(element.line, where, what, 'Write <loop_joint type="spherical">, or type 3d in a sidecar file.')
    elif kind not in LOOP_TYPES:
        what = f"its type is {kind!r}, which no loop can have here"
        robot.fault(element.line, where, what, f"Give one of {', '.join(LOOP_TYPES)}.")
    links, frames = [], []
    for key in ends:
        end = element.first(key)
        if end is None:
            robot.fault(element.line, where, f"it has no <{key}>", f'Give <{key} link="...">.')
            return
        link = end.attributes.get("link", "")
        if link not in robot.links:
            robot.fault(end.line, where, _no_link(robot, link), "Give a link.")
            return
        links.append(link)
        frames.append(_pose(robot, end.first("origin") if convention == URDF_PLUS else end, where))
    pair = (links[0], links[1]), (frames[0], frames[1])
    robot.loops.append(Loop(name, kind, *pair, _axis(robot, element, where), convention))


def _no_link(robot: Robot, link: str) -> str:
    return f"there is no link {link!r:.80}{did_you_mean(link, robot.links)}"


def _check_tree(robot: Robot, root: Element) -> None:
    """Record faults unless the joints make one tree of all links; find the root."""
    parents: dict[str, str] = {}
    for joint in robot.joints.values():
        where = f"joint {joint.name!r:.80}"
        for link in dict.fromkeys((joint.parent, joint.child)):
            if not link or link in robot.links:
                continue
            robot.fault(
                joint.line,
                where,
                _no_link(robot, link),
                "Give a link of the file.",
            )
        if joint.child in parents:
            what = f"the link {joint.child!r} is the child of {parents[joint.child]!r}, too"
            robot.fault(
                joint.line, where, what, "A URDF is a tree: write a closed loop as <loop_joint>, <loop>, or in a sidecar file."
            )
        parents[joint.child] = joint.name
    roots = [name for name in robot.links if name not in parents]
    if not robot.links:
        robot.fault(
            root.line, "<robot>", "it has no link", "Is the file whole? One that a program makes may be empty where it failed."
        )
        return
    if len(roots) != 1:
        names = ", ".join(map(repr, roots[:8])) or "none"
        robot.fault(
            root.line, "<robot>", f"it must have one root link, it has {len(roots)}: {names}", "Join all links to one tree."
        )
        return
    robot.root = roots[0]
    if not robot.faults and len(robot.in_tree_order()) != len(robot.joints):
        robot.fault(root.line, "<robot>", "its joints form a circle", "A URDF is a tree: write a closed loop as <loop_joint>.")


def _check_followers(robot: Robot) -> None:
    """Record faults unless every joint with <mimic> follows a joint that turns or slides, and none follows itself."""
    moving = {name: joint for name, joint in robot.joints.items() if joint.type in MOVING}
    led: set[str] = set()
    for name in moving:
        chain, last = {name: None}, name
        while last not in led:
            mimic = moving[last].mimic
            if mimic is None:
                break
            leader = mimic[0]
            where, line = f"joint {last!r:.80}", moving[last].line
            if leader not in moving:
                kind = (
                    f"is {robot.joints[leader].type}" if leader in robot.joints else f"is not there{did_you_mean(leader, moving)}"
                )
                what = f"it follows the joint {leader!r}, which {kind}"
                robot.fault(line, where, what, "Give a joint that turns or slides.")
                break
            if leader in chain:
                robot.fault(line, where, f"it follows itself, through {leader!r}", "Let one of them follow no other joint.")
                break
            chain[leader], last = None, leader
        led.update(chain)
