r"""write_mjcf: a System as a model of MuJoCo: a tree of bodies, and equalities that close loops.

tree    RJ hinge, TJ slide, SJ ball, CJ hinge and slide, UJ two hinges, Planar two slides and a hinge, Fixed no joint; free bodies
cut     SJ connect, Fixed weld, RJ two connects on its axis
RSDA    of a hinge: stiffness, damping, springref
frames  those of the bodies; angles in radians
"""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.errors import Fault
from haugmbd.math import euler_parameters
from haugmbd.modelfile.exports.export import (
    Export,
    checked,
    element,
    finished,
    indented,
    modelled_angle,
    numbers,
    plain_spring,
    write_text,
)
from haugmbd.modelfile.exports.tree import Branch, spanning_tree
from haugmbd.system.system import System
from joints import CJ, RJ, SJ, TJ, UJ, Fixed, Planar

TREE = (RJ, TJ, SJ, CJ, UJ, Planar, Fixed)
REMEDY = "Leave it out with leave_out=True, or save the system as .json."
SMALLEST = 1e-14
"""[kg], [kg m2] Below it MuJoCo takes a mass or a moment of inertia for a mistake (mjMINVAL is 1e-15)."""


@check_keywords
def write_mjcf(system: System, path: str | FilePath, *, leave_out: bool = False) -> Export:
    """Write a system to an MJCF file, a model of MuJoCo.

    Parameters
    ----------
    system : System
        The mechanism, closed at its modelled pose. The coordinates of the file are zero there.
    path : str or Path
        The file, .xml.
    leave_out : bool
        Whether parts that the file cannot hold are left out; the result lists them.

    Returns
    -------
    Export
        The file, and what was left out.

    Raises
    ------
    ModelFileError
        With all parts that the file cannot hold, such as drivers, and bodies without inertia about an axis.
    ModelError
        If the system has faults.
    UsageError
        If the path does not end with .xml.

    Notes
    -----
    Loops become equality constraints, which are soft in MuJoCo. Velocities are not written. `read_mjcf` reads the file.
    Source: MuJoCo's documentation, XML reference.
    """
    path = checked(system, path, ".xml")
    faults: list[Fault] = []
    branches, cut = spanning_tree(system, TREE)
    springs = _springs(system, faults)
    inside: dict[int, list[str]] = {id(body): [] for body in system.bodies}
    for branch in reversed(branches):
        inside[id(branch.parent)].insert(0, _body(branch, inside[id(branch.body)], springs, faults))
    equalities = [text for joint in cut for text in _equality(system, joint, faults)]
    left = finished(path, faults, leave_out)
    sections = [
        element("compiler", angle="radian", inertiafromgeom="false", autolimits="true"),
        element("option", gravity=numbers(system.gravity)),
        element("worldbody", inside[id(system.ground)]),
    ]
    if equalities:
        sections.append(element("equality", equalities))
    write_text(path, indented(element("mujoco", sections, model=system.name)))
    if any(np.any(body.v) or np.any(body.omega_bar) for body in system.bodies):
        left.append("velocities")
    return Export((path,), tuple(left))


def _springs(system: System, faults: list[Fault]) -> dict[int, dict[str, str]]:
    """Return the attributes of hinges with an RSDA; faults for other loads, and for a second one on a joint."""
    found: dict[int, dict[str, str]] = {}
    for load in system.loads:
        spring = plain_spring(load)
        if spring is not None and id(spring.joint) not in found:
            rest = numbers(spring.theta0 - modelled_angle(spring.joint))
            found[id(spring.joint)] = {"stiffness": numbers(spring.k), "damping": numbers(spring.c), "springref": rest}
        else:
            what = f"the file holds no {type(load).__name__} but one RSDA on an RJ or CJ, without actuator"
            faults.append(Fault(load.where, what, REMEDY))
    return found


def _body(branch: Branch, inside: list[str], springs: dict[int, dict[str, str]], faults: list[Fault]) -> str:
    """Return a body with its joint, its inertia, and the bodies after it."""
    body, parent = branch.body, branch.parent
    J = body.J_bar
    if min(body.mass, float(np.linalg.eigvalsh(J)[0])) < SMALLEST:
        what = "it has no inertia about an axis, which MuJoCo requires"
        faults.append(Fault(f"body {body.name!r}", what, "Give it a small moment of inertia there."))
    six = numbers((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
    solid = element("inertial", pos="0 0 0", mass=numbers(body.mass), fullinertia=six)
    place = {
        "pos": numbers(parent.A.T @ (body.r - parent.r)),
        "quat": numbers(euler_parameters.from_rotation_matrix(parent.A.T @ body.A)),
    }
    return element("body", [*_joints(branch, springs), solid, *inside], name=body.name, **place)


def _joints(branch: Branch, springs: dict[int, dict[str, str]]) -> list[str]:
    """Return the joints that a body has in the file."""
    body, joint = branch.body, branch.joint
    if joint is None:
        return [element("freejoint", name=f"{body.name} free")]
    here = joint.frame_i if branch.reverse else joint.frame_j
    sense = -1.0 if branch.reverse else 1.0
    pos = numbers(here.s_bar)

    def axis(a: Array) -> str:
        return numbers(sense * (body.A.T @ a))

    f, g, h = joint.frame_i.A.T
    spring = springs.get(id(joint), {})
    kind = type(joint)
    if kind is RJ:
        return [element("joint", name=joint.name, type="hinge", pos=pos, axis=axis(h), **spring)]
    if kind is TJ:
        return [element("joint", name=joint.name, type="slide", pos=pos, axis=axis(h))]
    if kind is SJ:
        return [element("joint", name=joint.name, type="ball", pos=pos)]
    if kind is CJ:
        slide = element("joint", name=f"{joint.name} slide", type="slide", pos=pos, axis=axis(h))
        return [slide, element("joint", name=joint.name, type="hinge", pos=pos, axis=axis(h), **spring)]
    if kind is UJ:
        axes = [f, joint.frame_j.A[:, 1]]
        axes = axes[::-1] if branch.reverse else axes
        return [
            element("joint", name=f"{joint.name} {n}", type="hinge", pos=pos, axis=axis(a)) for n, a in enumerate(axes, start=1)
        ]
    if kind is Planar:
        flat = [element("joint", name=f"{joint.name} {n}", type="slide", pos=pos, axis=axis(a)) for n, a in ((1, f), (2, g))]
        return [*flat, element("joint", name=joint.name, type="hinge", pos=pos, axis=axis(h))]
    return []


def _equality(system: System, joint: Joint, faults: list[Fault]) -> list[str]:
    """Return the equalities of a joint that closes a loop; a fault for one that cannot be written."""
    names = {id(body): body.name for body in system.bodies} | {id(system.ground): "world"}
    i, j = joint.frame_i, joint.frame_j
    ends = {"body1": names[id(i.body)], "body2": names[id(j.body)]}
    kind = type(joint)
    if kind is SJ:
        return [element("connect", name=joint.name, anchor=numbers(i.s_bar), **ends)]
    if kind is RJ:
        second = numbers(i.s_bar + i.h)
        both = ((joint.name, numbers(i.s_bar)), (f"{joint.name} axis", second))
        return [element("connect", name=name, anchor=anchor, **ends) for name, anchor in both]
    if kind is Fixed:
        T = i.body.A.T @ j.body.A
        pose = numbers((*(i.body.A.T @ (j.body.r - i.body.r)), *euler_parameters.from_rotation_matrix(T)))
        return [element("weld", name=joint.name, anchor="0 0 0", relpose=pose, **ends)]
    faults.append(Fault(f"joint {joint.name!r}", f"the file holds no {kind.__name__} that closes a loop or drives", REMEDY))
    return []
