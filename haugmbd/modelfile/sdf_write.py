r"""write_sdf: a System as a world of SDFormat with one model: links, and joints between any two of them, so that loops need no cut.

link frame    that of the body;   gravity of the world
joint         RJ revolute, TJ prismatic, SJ ball, UJ universal, Fixed fixed, CJ with a Screw on it screw; the parent is body i, or the world
chains        CJ, Planar, PointOnLine, PointInPlane, Distance as such joints one after the other, with links of 1e-9 of all mass between
              them: a rod is a link on a universal joint, with a ball at its end; a TSDA has a slide with its spring between these
mimic         a coupling of two coordinates of RJ and TJ
dynamics      spring and damper of one RSDA or JointSpring on an RJ or TJ
limit         of a JointLimit, with the effort that moves it by 0.01 rad or 0.001 m

Source: the SDFormat specification, version 1.11.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from math import pi
from pathlib import Path as FilePath

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import triad
from haugmbd.bodies.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.forces import TSDA
from haugmbd.forces.base import ForceElement
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Coupling, Distance, Fixed, Planar, PointInPlane, PointOnLine, Screw
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.exports import (
    Branch,
    Export,
    Exported,
    checked,
    constant_terms,
    element,
    exported,
    finished,
    indented,
    kind_of,
    limit_of,
    numbers,
    plain_spring,
    positive,
    rgba,
    rpy,
    stated_inertia,
    write_text,
    written_shapes,
)
from haugmbd.modelfile.imports import YIELD
from haugmbd.modelfile.urdf.followers import followers
from haugmbd.system.system import System

SINGLE: dict[type[Joint], str] = {RJ: "revolute", TJ: "prismatic", SJ: "ball", UJ: "universal", Fixed: "fixed"}
CHAINS: tuple[type[Joint], ...] = (CJ, Planar, PointOnLine, PointInPlane, Distance)
REMEDY = "Leave it out with leave_out=True, or save the system as .json."
SMALL, RADIUS = 1e-9, 1e-2
"""Mass of a link between the joints of a chain, as a part of all mass, and its radius of gyration [m]: no link is without mass there."""
Steps = list[tuple[str, list[Array]]]


@check_keywords
def write_sdf(system: System, path: str | FilePath, *, leave_out: bool = False) -> Export:
    """Write a system to an SDF file: a world with one model.

    Parameters
    ----------
    system : System
        The mechanism. Coordinates of the file are zero at its modelled pose.
    path : str or Path
        The file, .sdf.
    leave_out : bool
        Whether parts that the file cannot hold are left out; the result lists them.

    Returns
    -------
    Export
        The file, and what was left out.

    Raises
    ------
    ModelFileError
        With all parts that the file cannot hold, such as drivers and springs between points.
    ModelError
        If the system has faults.
    UsageError
        If the path does not end with .sdf.

    Notes
    -----
    Joints need no tree: loops are written as they are. Cylindrical joints, joints of points on lines and planes, and rods are two or more
    joints with links of 1e-9 of all mass between them. The file has no velocities. `read_sdf(path)` reads it.
    Source: the SDFormat specification.
    """
    path = checked(system, path, ".sdf")
    writer = _Writer(exported(system))
    text = writer.text()
    left = finished(path, system, writer.faults, leave_out)
    write_text(path, '<?xml version="1.0"?>\n' + indented(text))
    return Export((path,), (*left, *writer.left))


class _Writer:
    """Collects links and joints as elements, what is left out, and faults."""

    def __init__(self, system: Exported) -> None:
        self.system = system
        self.left: list[str] = []
        self.faults: list[Fault] = []
        self.drawn = partial(_visual, count(1))
        self.mass = sum(body.mass for body in system.bodies[1:])
        self.names = {id(body): body.name for body in system.bodies} | {id(system.ground): "world"}
        self.springs: dict[int, list[str]] = {}
        self.limits: dict[int, str] = {}
        self.mimics: dict[int, str] = {}

    def text(self) -> str:
        """Return the file."""
        for load in self.system.loads:
            self.load(load)
        couplings: list[Joint] = [joint for joint in self.system.joints if isinstance(joint, Coupling)]
        screws = {id(joint.terms[0][0].joint): joint for joint in couplings if isinstance(joint, Screw) and _is_thread(joint)}
        others = [joint for joint in couplings if id(joint) not in {id(screw) for screw in screws.values()}]
        branches = [Branch(joint.j, joint.i, joint, False) for joint in self.system.joints]
        followed, _ = followers(others, branches, REMEDY, self.faults, "the file")
        for follower, (leader, multiplier) in followed.items():
            inside = [_value("multiplier", multiplier), _value("offset", 0.0), _value("reference", 0.0)]
            self.mimics[follower] = element("mimic", inside, joint=leader.name)
        links = [self.link(body) for body in self.system.bodies[1:]]
        links += [part for load in self.system.loads if type(load) is TSDA for part in self.strut(load)]
        for joint in self.system.joints:
            if isinstance(joint, Coupling):
                continue
            links += self.joint(joint, screws.get(id(joint)))
        ground = written_shapes(self.system.ground, self.drawn, self.left)
        if ground:
            links.insert(0, element("link", ground, name="world shapes"))
            links.append(_joint("world shapes fixed", "fixed", "world", "world shapes", []))
        if any(np.any(body.v) or np.any(body.omega_bar) for body in self.system.bodies):
            self.left.append("velocities")
        model = element("model", links, name=self.system.name or "model")
        world = element("world", [_value("gravity", np.asarray(self.system.gravity)), model], name=self.system.name or "world")
        return element("sdf", [world], version="1.11")

    def load(self, load: ForceElement) -> None:
        """Keep the spring or the limit of a joint; a fault for any other load."""
        spring, stop = plain_spring(load), limit_of(load)
        limited = load.joint_range()
        if type(load) is TSDA and _is_strut(load):
            return
        if spring is not None and type(spring.joint) in (RJ, TJ) and id(spring.joint) not in self.springs:
            values = {"damping": spring.c, "spring_stiffness": spring.k, "spring_reference": spring.rest}
            self.springs[id(spring.joint)] = [_value(tag, x) for tag, x in values.items()]
        elif stop is not None and limited is not None and id(stop[0]) not in self.limits:
            joint, lower, upper = stop
            ends = {"lower": lower, "upper": upper, "effort": limited.k * YIELD[type(joint) is RJ]}
            self.limits[id(joint)] = element("limit", [_value(tag, x) for tag, x in ends.items()])
            lost = "its restitution" if load.impulsive else "its damping" if limited.c else ""
            self.left += [f"{load.where}: {lost}"] if lost else []
        else:
            holds = "springs between points, and one linear spring and damper, and one JointLimit, of each RJ and TJ"
            self.faults.append(Fault(load.where, f"the file holds no such {kind_of(load)}; of loads it holds {holds}", REMEDY))

    def link(self, body: Body) -> str:
        """Return the link of a body."""
        J = stated_inertia(body, "SDF", self.left, self.faults)
        shapes = written_shapes(body, self.drawn, self.left)
        return _link(body.name, body.r, body.A, body.mass, J, shapes)

    def joint(self, joint: Joint, screw: Joint | None) -> list[str]:
        """Return the elements of a joint; a fault for one that cannot be written."""
        i, j, sense = joint.i, joint.j, 1.0
        row, P = steps(joint), joint.frame_j.point
        if isinstance(joint, Distance):
            P = joint.frame_i.point
        if not row:
            word = type(joint).__name__
            what = "a Distance that changes with time, or is zero" if isinstance(joint, Distance) else f"a {word}"
            kinds: tuple[type[Joint], ...] = (*SINGLE, *CHAINS)
            known = ", ".join(sorted(kind.__name__ for kind in kinds))
            self.faults.append(Fault(f"joint {joint.name!r}", f"the file does not hold {what}; it holds {known}", REMEDY))
            return []
        if j.is_ground:
            i, j, sense, row = j, i, -1.0, [(kind, axes[::-1]) for kind, axes in row[::-1]]
            P = joint.frame_j.point
        if screw is not None:
            (turn, c_1), (_, c_2) = sorted(constant_terms(screw), key=lambda term: not term[0].turns)
            del turn
            axis = self.axis("axis", joint, sense * row[0][1][0], j.A)
            inside = [_pose(j.A.T @ (P - j.r), np.eye(3)), axis, _value("screw_thread_pitch", -2.0 * pi * c_1 / c_2)]
            return [_joint(joint.name, "screw", self.names[id(i)], self.names[id(j)], inside)]
        return self.chain(joint, row, (i, j), (P, sense))

    def chain(self, joint: Joint, row: Steps, ends: tuple[Body, Body], at: tuple[Array, float]) -> list[str]:
        """Return joints one after the other between two bodies, with small links between them."""
        i, j = ends
        P, sense = at
        parts, before = [], self.names[id(i)]
        for n, (kind, axes) in enumerate(row, start=1):
            last = n == len(row)
            far = isinstance(joint, Distance) and last
            where = (joint.frame_j.point if j is joint.j else joint.frame_i.point) if far else P
            after, A, r = self.names[id(j)], j.A, j.r
            if not last:
                after, A, r = self.free_name(f"{joint.name} link {n}"), np.eye(3), P
                mass = SMALL * self.mass
                parts.append(_link(after, r, A, mass, mass * RADIUS**2 * np.eye(3), []))
            tags = ("axis", "axis2")
            inside = [_pose(A.T @ (where - r), np.eye(3))]
            inside += [self.axis(tag, joint, sense * a, A) for tag, a in zip(tags, axes, strict=False)]
            name = joint.name if last else self.free_name(f"{joint.name} {n}")
            parts.append(_joint(name, kind, before, after, inside))
            before = after
        if len(row) > 1:
            told = f"joint {joint.name!r} is {len(row)} joints of the file, with links of {SMALL * self.mass:.3g} kg between them"
            self.left.append(told)
        return parts

    def strut(self, load: TSDA) -> list[str]:
        """Return a spring between two points: a link on a universal joint, one that slides out of it on a spring, and a ball."""
        if not _is_strut(load):
            return []
        i, j = load.frame_i, load.frame_j
        d = j.point - i.point
        T = triad(d)
        rest = load.l0 - float(np.linalg.norm(d)) - (load.actuator.drivers[0].value / load.k if load.k else 0.0)  # type: ignore[attr-defined]
        values = {"damping": load.c, "spring_stiffness": load.k, "spring_reference": rest}
        spring = element("dynamics", [_value(tag, x) for tag, x in values.items()])
        names = [self.free_name(f"{load.name} link {n}") for n in (1, 2)]
        mass = SMALL * self.mass
        parts = [
            _link(name, P, np.eye(3), mass, mass * RADIUS**2 * np.eye(3), [])
            for name, P in zip(names, (i.point, j.point), strict=True)
        ]
        axes = [element(tag, [_value("xyz", T[:, k])]) for k, tag in enumerate(("axis", "axis2"))]
        parts.append(_joint(self.free_name(f"{load.name} 1"), "universal", self.names[id(i.body)], names[0], axes))
        slide = element("axis", [_value("xyz", T[:, 2]), spring])
        parts.append(_joint(self.free_name(load.name), "prismatic", names[0], names[1], [slide]))
        if j.body.is_ground:  # a ball is the same from either side
            ball = _joint(self.free_name(f"{load.name} 2"), "ball", "world", names[1], [])
        else:
            place = _pose(j.s_bar, np.eye(3))
            ball = _joint(self.free_name(f"{load.name} 2"), "ball", names[1], j.body.name, [place])
        self.left.append(f"{load.where} is three joints of the file, with links of {mass:.3g} kg between them")
        return [*parts, ball]

    def axis(self, tag: str, joint: Joint, a: Array, A: Array) -> str:
        """Return an axis, with limits, spring and mimic of an RJ or TJ;  a: global, A: axes of the child."""
        key = id(joint) if type(joint) in (RJ, TJ) else 0
        limit = self.limits.get(key) or element("limit", [_value("lower", -1e16), _value("upper", 1e16)])
        spring = self.springs.get(key)
        inside = [_value("xyz", A.T @ a), limit, *([element("dynamics", spring)] if spring else [])]
        return element(tag, [*inside, *([self.mimics[key]] if key in self.mimics else [])])

    def free_name(self, name: str) -> str:
        """Return a name that no link and no joint has."""
        taken = {*self.names.values(), *(joint.name for joint in self.system.joints)}
        while name in taken:
            name += "_"
        self.names[-len(self.names)] = name
        return name


def steps(joint: Joint) -> Steps:
    """Return the joints of the file that a joint is, from body i to body j, with their axes (global); [] for one that is none."""
    if isinstance(joint, Distance):
        d = joint.frame_j.point - joint.frame_i.point
        if not isinstance(joint.f, Constant) or not np.linalg.norm(d) > 0.0:
            return []
        a = cross(d, np.eye(3)[int(np.argmin(np.abs(d)))])
        a = a / np.linalg.norm(a)
        b = cross(d, a)
        return [("universal", [a, b / np.linalg.norm(b)]), ("ball", [])]
    if type(joint) not in (*SINGLE, *CHAINS):
        return []
    f, g, h = joint.frame_i.A.T
    if isinstance(joint, UJ):
        return [("universal", [f, joint.frame_j.A[:, 1]])]
    if isinstance(joint, CJ):
        return [("prismatic", [h]), ("revolute", [h])]
    if isinstance(joint, Planar):
        return [("prismatic", [f]), ("prismatic", [g]), ("revolute", [h])]
    if isinstance(joint, PointOnLine):
        return [("prismatic", [h]), ("ball", [])]
    if isinstance(joint, PointInPlane):
        return [("prismatic", [f]), ("prismatic", [g]), ("ball", [])]
    return [(SINGLE[type(joint)], [h] if isinstance(joint, RJ | TJ) else [])]


def _is_strut(load: TSDA) -> bool:
    """Return whether a spring between two points is linear, and its points are apart."""
    drivers = load.actuator.drivers
    steady = load.user_function() is None and len(drivers) == 1 and isinstance(drivers[0], Constant)
    apart = float(np.linalg.norm(load.frame_j.point - load.frame_i.point)) > 0.0
    return steady and apart and (load.k != 0.0 or drivers[0].value == 0.0)  # type: ignore[attr-defined]


def _is_thread(joint: Coupling) -> bool:
    """Return whether a coupling is that of the angle and the displacement of one CJ."""
    terms = constant_terms(joint)
    return len(terms) == 2 and terms[0][0].joint is terms[1][0].joint and type(terms[0][0].joint) is CJ  # noqa: PLR2004


def _link(name: str, r: Array, A: Array, mass: float, J: Array, shapes: list[str]) -> str:
    six = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2], "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}
    inertia = element("inertia", [_value(tag, x) for tag, x in six.items()])
    return element("link", [_pose(r, A), element("inertial", [_value("mass", mass), inertia]), *shapes], name=name)


def _joint(name: str, kind: str, parent: str, child: str, inside: list[str]) -> str:
    ends = [f"<parent>{_escaped(parent)}</parent>", f"<child>{_escaped(child)}</child>"]
    return element("joint", [*ends, *inside], name=name, type=kind)


def _pose(r: Array, A: Array) -> str:
    return _value("pose", np.concatenate([r, rpy(A)]))


def _value(tag: str, x: Array | float) -> str:
    return f"<{tag}>{numbers(x)}</{tag}>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _visual(number: Iterator[int], shape: Shape) -> str:
    """Return a shape as a visual; "" for one that the file cannot hold."""
    geometry = _geometry(shape)
    if not geometry:
        return ""
    color = [element("material", [f"<{tag}>{rgba(shape.color)}</{tag}>" for tag in ("ambient", "diffuse")])] if shape.color else []
    pose = _pose(np.asarray(shape.center), euler_parameters.rotation_matrix(np.asarray(shape.p)))
    return element("visual", [pose, element("geometry", [geometry]), *color], name=f"{type(shape).__name__} {next(number)}")


def _geometry(shape: Shape) -> str:
    if isinstance(shape, Box) and positive(shape.edges):
        return element("box", [_value("size", shape.edges)])
    if isinstance(shape, Sphere) and positive((shape.radius,)):
        return element("sphere", [_value("radius", shape.radius)])
    if isinstance(shape, Cylinder | Capsule) and positive((shape.radius, shape.length)) and not getattr(shape, "inner_radius", 0.0):
        tag = "cylinder" if isinstance(shape, Cylinder) else "capsule"
        return element(tag, [_value("radius", shape.radius), _value("length", shape.length)])
    return element("ellipsoid", [_value("radii", shape.semi_axes)]) if isinstance(shape, Ellipsoid) else ""
