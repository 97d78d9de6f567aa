r"""write_urdf: a System as a robot file: a tree of links; cut joints as loops, in the file or in a sidecar.

link frame    the axes of the body, its origin in the point of the joint that leads to it
tree          RJ continuous, TJ prismatic, Planar planar, Fixed fixed; free bodies floating below the root
chains        CJ, UJ, PointOnLine, PointInPlane as such joints and spherical ones (of Bullet), with links without mass between them
cut           SJ, Fixed in the sidecar of Extended URDF (3d, 6d), between frames that are links;  RJ, TJ as <loop_joint>
              others as a chain of links without mass on one body that is closed to the other one: a Distance is a rod on two hinges
mimic         a coupling of two coordinates of the tree
damping       of an RSDA or a JointSpring without spring and actuator
limit         of a JointLimit; its effort is the force that moves the stop by 0.01 rad or 0.001 m
visual        boxes, spheres, cylinders, and meshes as .obj files
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import triad
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, Planar, PointInPlane, PointOnLine
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.exports import (
    Branch,
    Export,
    checked,
    element,
    exported,
    finished,
    indented,
    kind_of,
    limit_of,
    loads_in_tree,
    numbers,
    plain_spring,
    rpy,
    spanning_tree,
    write_text,
    written_shapes,
)
from haugmbd.modelfile.imports import FAR, YIELD
from haugmbd.modelfile.urdf.followers import followers
from haugmbd.modelfile.urdf.write_visual import Visuals
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System

TREE: dict[type[Joint], str] = {RJ: "continuous", TJ: "prismatic", Planar: "planar", Fixed: "fixed"}
CHAINS: tuple[type[Joint], ...] = (CJ, UJ, PointOnLine, PointInPlane)
"""Joints that are several joints of the file, one after the other."""
LOOPS: dict[type[Joint], str] = {RJ: "revolute", TJ: "prismatic"}
SIDECAR: dict[type[Joint], str] = {SJ: "3d", Fixed: "6d"}
CLOSING = (RJ, SJ, Fixed)
"""Joints that close loops; a TJ does where nothing else can."""
ROOT = "world"
REMEDY = "Leave it out with leave_out=True, or save the system as .json."


@check_keywords
def write_urdf(system: System, path: str | FilePath, *, loops: str | FilePath | None = None, leave_out: bool = False) -> Export:
    """Write a system to a URDF file, its closed loops included.

    Parameters
    ----------
    system : System
        The mechanism, closed at its modelled pose. The coordinates of the file are zero there.
    path : str or Path
        The file, .urdf.
    loops : str or Path, optional
        The sidecar file for spherical and fixed joints that close loops; by default the same name with .yaml. It is written if needed.
    leave_out : bool
        Whether parts that a URDF cannot hold are left out; the result lists them.

    Returns
    -------
    Export
        The files, and what was left out.

    Raises
    ------
    ModelFileError
        With all parts that a URDF cannot hold, such as springs and drivers.
    ModelError
        If the system has faults.
    UsageError
        If the path does not end with .urdf.

    Notes
    -----
    A URDF has no gravity and no velocities; the result says so. `read_urdf(path, loops=..., gravity=...)` reads the files.
    Source: the URDF specification of ROS; Extended URDF.
    """
    path = checked(system, path, ".urdf")
    faults: list[Fault] = []
    held = exported(system)
    branches, cut = spanning_tree(held, (*TREE, *CHAINS), CLOSING)
    points = {id(system.ground): np.zeros(3)}
    root = ROOT
    while root in (body.name for body in system.bodies[1:]):
        root += "_"
    names = {id(body): body.name for body in system.bodies} | {id(system.ground): root}
    visuals, undrawn = Visuals(path), list[str]()
    parts = [element("link", written_shapes(system.ground, lambda shape: visuals.text(shape, np.zeros(3)), undrawn), name=root)]
    followed, loose = followers(cut, branches, REMEDY, faults)
    limits: dict[int, str] = {}
    damping = _damping(loads_in_tree(held, cut, REMEDY, faults), limits, undrawn, faults)
    dynamics = {key: [element("dynamics", damping=numbers(c))] for key, c in damping.items()}
    for follower, (leader, multiplier) in followed.items():
        mimic = element("mimic", joint=leader.name, multiplier=numbers(multiplier), offset="0.0")
        dynamics.setdefault(follower, []).append(mimic)
    for branch in branches:
        points[id(branch.body)] = origin = _origin_of(branch)
        drawn = written_shapes(branch.body, partial(visuals.text, origin=origin), undrawn)
        parts += _branch(branch, names, points, dynamics, limits.get(id(branch.joint), ""), drawn)
    rows: list[tuple[str, str, str]] = []
    for joint in loose:
        parts += _cut(joint, names, points, rows, faults)
    left = finished(path, system, faults, leave_out)
    files = [path, *visuals.write()]
    write_text(path, '<?xml version="1.0"?>\n' + indented(element("robot", parts, name=system.name)))
    if rows:
        sidecar = path.with_suffix(".yaml") if loops is None else path_of(loops, "loops")
        pairs = "".join(f"  - ['{a}', '{b}']\n" for _, a, b in rows)
        write_text(sidecar, f"closed_loop:\n{pairs}type: [{', '.join(kind for kind, _, _ in rows)}]\n")
        files.append(sidecar)
    left += undrawn
    left.append(f"gravity, which is ({numbers(system.gravity)}) m/s2 here")
    if any(np.any(body.v) or np.any(body.omega_bar) for body in system.bodies):
        left.append("velocities")
    return Export(tuple(files), tuple(left))


def _damping(loads: list[ForceElement], limits: dict[int, str], left: list[str], faults: list[Fault]) -> dict[int, float]:
    """Return the damping of joints by RSDA or JointSpring, and put the limits of joints by JointLimit; faults for other loads."""
    found: dict[int, float] = {}
    for load in loads:
        spring, stop = plain_spring(load), limit_of(load)
        limited = load.joint_range()
        if limited is not None and stop is not None and id(stop[0]) not in limits:
            joint, *ends = stop
            lower, upper = np.clip(ends, -FAR, FAR)
            effort = limited.k * YIELD[type(joint) is RJ]
            given = {"lower": lower, "upper": upper, "effort": effort, "velocity": FAR}
            limits[id(joint)] = element("limit", **{key: numbers(x) for key, x in given.items()})
            left += [f"{load.where}: its restitution"] if load.impulsive else [f"{load.where}: its damping"] if limited.c else []
        elif spring is not None and spring.k == 0.0 and type(spring.joint) in (RJ, TJ):
            found[id(spring.joint)] = found.get(id(spring.joint), 0.0) + spring.c
        else:
            faults.append(
                Fault(
                    load.where,
                    f"a URDF holds no {kind_of(load)}; of loads it holds the damping of an RJ or a TJ, and a JointLimit of one",
                    REMEDY,
                )
            )
    return found


def _point(branch: Branch) -> Array:
    """Return the point of the joint that leads to a body, global; of a free body its centre of mass."""
    if branch.joint is None:
        return branch.body.r
    if isinstance(branch.joint, PointOnLine | PointInPlane):
        return np.asarray(branch.joint.frame_j.point)
    point: Array = (branch.joint.frame_i if branch.reverse else branch.joint.frame_j).point
    return point


def _origin_of(branch: Branch) -> Array:
    """Return the origin of the link of a body, from its centre of mass, body frame."""
    origin: Array = branch.body.A.T @ (_point(branch) - branch.body.r)
    return origin


def _branch(
    branch: Branch, names: dict[int, str], points: dict[int, Array], dynamics: dict[int, list[str]], limit: str, drawn: list[str]
) -> list[str]:
    """Return the link of a body and the joint that leads to it.

    points: origins of the links, from the centre of mass;  dynamics: elements of joints;  limit, drawn: of this joint and link
    """
    body, joint, point = branch.body, branch.joint, _point(branch)
    J = body.J_bar
    six = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2], "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}
    solid = [
        element("origin", xyz=numbers(-points[id(body)]), rpy="0 0 0"),
        element("mass", value=numbers(body.mass)),
        element("inertia", **{key: numbers(x) for key, x in six.items()}),
    ]
    inertial = [element("inertial", solid)] if body.mass > 0.0 or J.any() else []
    link = element("link", [*inertial, *drawn], name=body.name)
    if isinstance(joint, CHAINS):
        origin = _origin(branch.parent, points[id(branch.parent)], point, body.A)
        row = _chain(joint.name, steps(joint, reverse=branch.reverse), names[id(branch.parent)], origin, body.A, names, body.name)
        return [link, *row]
    kind = "floating" if joint is None else "revolute" if limit and type(joint) is RJ else TREE[type(joint)]
    inside = [
        element("parent", link=names[id(branch.parent)]),
        element("child", link=body.name),
        _origin(branch.parent, points[id(branch.parent)], point, body.A),
    ]
    if joint is not None and kind != "fixed":
        h = (-1.0 if branch.reverse else 1.0) * joint.frame_i.A[:, 2]
        inside.append(element("axis", xyz=numbers(body.A.T @ h)))
        if limit or kind == "prismatic":
            inside.append(limit or element("limit", lower="-1e3", upper="1e3", effort="1e9", velocity="1e9"))
        inside += dynamics.get(id(joint), [])
    name = f"{body.name} free" if joint is None else joint.name
    return [link, element("joint", inside, name=name, type=kind)]


Steps = list[tuple[str, Array]]


def steps(joint: Joint, *, reverse: bool = False) -> Steps:
    """Return the joints of the file that a joint is, from one body to the other, with their axes (global).

    reverse: from body j to body i, which a line or plane is then fixed on: the ball is first
    """
    f, g, h = joint.frame_i.A.T
    ball = [("spherical", h)]
    if isinstance(joint, CJ):
        row = [("prismatic", h), ("continuous", h)]
    elif isinstance(joint, UJ):
        row = [("continuous", f), ("continuous", joint.frame_j.A[:, 1])]
    elif isinstance(joint, PointOnLine):
        row = [("prismatic", h), *ball]
    else:
        row = [("prismatic", f), ("prismatic", g), *ball]
    return [(kind, -axis) for kind, axis in row[::-1]] if reverse else row


def _chain(name: str, row: Steps, start: str, origin: str, A: Array, names: dict[int, str], end: str) -> list[str]:
    """Return joints one after the other from the link `start` to the link `end`, with links without mass between them.

    origin: of the first joint;  A: axes of all these links, global
    """
    parts, before = [], start
    for n, (kind, axis) in enumerate(row, start=1):
        last = n == len(row)
        after = end if last else _frame_name(f"{name} link {n}", names)
        inside = [element("parent", link=before), element("child", link=after), origin]
        origin = element("origin", xyz="0 0 0", rpy="0 0 0")
        if kind != "spherical":
            inside.append(element("axis", xyz=numbers(A.T @ axis)))
        if kind == "prismatic":
            inside.append(element("limit", lower="-1e3", upper="1e3", effort="1e9", velocity="1e9"))
        parts += [] if last else [element("link", name=after)]
        parts.append(element("joint", inside, name=name if last else f"{name} {n}", type=kind))
        before = after
    return parts


def _carried(joint: Joint, names: dict[int, str], points: dict[int, Array], rows: list[tuple[str, str, str]]) -> list[str]:
    """Return the chain of links without mass on body i of a joint that closes a loop, closed to body j; [] if it has none.

    a rod is on two hinges across it, and closed by a point; a UJ hangs on one hinge, and is closed by the other one, CJ, Planar by a hinge
    """
    i, j = joint.frame_i, joint.frame_j
    row: Steps = []
    P, closing = j.point, "3d"
    if isinstance(joint, Distance):
        given: Any = joint
        d = j.point - i.point
        if not isinstance(given.f, Constant) or not np.linalg.norm(d) > 0.0:
            return []
        a = cross(d, np.eye(3)[int(np.argmin(np.abs(d)))])
        P, row = i.point, [("continuous", a), ("continuous", cross(d, a))]
    elif isinstance(joint, UJ | CJ):
        row, closing = steps(joint)[:1], "revolute"
    elif isinstance(joint, Planar):
        row, closing = [("prismatic", i.A[:, 0]), ("prismatic", i.A[:, 1])], "revolute"
    elif isinstance(joint, PointOnLine | PointInPlane):
        row = steps(joint)[:-1]
    if not row:
        return []
    body, end = i.body, _frame_name(f"{joint.name} carriage", names)
    start = numbers(body.A.T @ (P - body.r) - points[id(body)])
    parts = [element("link", name=end)]
    parts += _chain(f"{joint.name} guide", row, names[id(body)], element("origin", xyz=start, rpy="0 0 0"), body.A, names, end)
    if closing == "revolute":
        h = joint.frame_j.A[:, 1] if isinstance(joint, UJ) else i.A[:, 2]
        T = triad(h)
        one = element("link1", link=end, xyz="0 0 0", rpy=numbers(rpy(body.A.T @ T)))
        where = numbers(j.s_bar - points[id(j.body)])
        two = element("link2", link=names[id(j.body)], xyz=where, rpy=numbers(rpy(j.body.A.T @ T)))
        return [*parts, element("loop_joint", [one, two, element("axis", xyz="0 0 1")], name=joint.name, type="revolute")]
    pair = []
    for owner, place, side in ((end, body.A.T @ (j.point - P), "i"), (names[id(j.body)], j.s_bar - points[id(j.body)], "j")):
        name = _frame_name(f"{joint.name} {side}", names)
        pair.append(name)
        at = [element("parent", link=owner), element("child", link=name), element("origin", xyz=numbers(place), rpy="0 0 0")]
        parts += [element("link", name=name), element("joint", at, name=f"{name} frame", type="fixed")]
    rows.append(("3d", pair[0], pair[1]))
    return parts


def _origin(parent: Body, start: Array, point: Array, A: Array) -> str:
    """Return the origin of a frame in the frame of a link."""
    return element("origin", xyz=numbers(parent.A.T @ (point - parent.r) - start), rpy=numbers(rpy(parent.A.T @ A)))


def _frame_name(name: str, names: dict[int, str]) -> str:
    """Return a name for a link that is only a frame: without marks of YAML, and used by no other link, which `names` then says."""
    plain = re.sub(r"[^\w .+-]", "_", name).strip()
    while plain in names.values():
        plain += "_"
    names[-len(names)] = plain
    return plain


def _cut(
    joint: Joint, names: dict[int, str], points: dict[int, Array], rows: list[tuple[str, str, str]], faults: list[Fault]
) -> list[str]:
    """Return the elements of a joint that closes a loop; a fault for one that cannot be written."""
    kind = type(joint)
    ends = ((joint.frame_i, "i"), (joint.frame_j, "j"))
    if kind in LOOPS:
        at = []
        for number, (frame, _) in enumerate(ends, start=1):
            own = frame.body
            where = numbers(frame.s_bar - points[id(own)])
            at.append(element(f"link{number}", link=names[id(own)], xyz=where, rpy=numbers(rpy(frame.A_bar))))
        return [element("loop_joint", [*at, element("axis", xyz="0 0 1")], name=joint.name, type=LOOPS[kind])]
    if kind in SIDECAR:
        parts = []
        pair = []
        for frame, side in ends:
            own, name = frame.body, _frame_name(f"{joint.name} {side}", names)
            pair.append(name)
            origin = element("origin", xyz=numbers(frame.s_bar - points[id(own)]), rpy=numbers(rpy(frame.A_bar)))
            inside = [element("parent", link=names[id(own)]), element("child", link=name), origin]
            parts += [element("link", name=name), element("joint", inside, name=f"{name} frame", type="fixed")]
        rows.append((SIDECAR[kind], pair[0], pair[1]))
        return parts
    carried = _carried(joint, names, points, rows)
    if carried:
        return carried
    kinds: tuple[type[Joint], ...] = (*TREE, *CHAINS, *LOOPS, *SIDECAR, Distance)
    known = ", ".join(sorted({k.__name__ for k in kinds}))
    faults.append(Fault(f"joint {joint.name!r}", f"a URDF holds no {kind.__name__}; it holds {known}", REMEDY))
    return []
