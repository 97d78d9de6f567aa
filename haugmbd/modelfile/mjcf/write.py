r"""write_mjcf: a System as a model of MuJoCo: a tree of bodies, and equalities that close loops.

tree    RJ hinge, TJ slide, SJ ball, CJ hinge and slide, UJ two hinges, Planar two slides and a hinge, PointOnLine a slide and a ball,
        PointInPlane two slides and a ball, Fixed no joint; free bodies
cut     SJ connect, Fixed weld, RJ two connects on its axis; couplings of one or two coordinates are equalities of joints
others  rods, ropes, springs between points, couplings of many coordinates and constant forces, motors: see `write_tendons`
RSDA, JointSpring of a hinge or slide: stiffness, damping, springref
shapes  boxes, spheres and cylinders are geoms that touch nothing
speeds  a keyframe "modelled"
frames  those of the bodies; angles in radians
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np

from haugmbd.bodies.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords
from haugmbd.errors import Fault, ModelFileError
from haugmbd.forces.base import ForceElement
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Fixed, Planar, PointInPlane, PointOnLine
from haugmbd.math import euler_parameters
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
    positive,
    rgba,
    spanning_tree,
    stated_inertia,
    write_text,
    written_shapes,
)
from haugmbd.modelfile.imports import FAR
from haugmbd.modelfile.mjcf.equalities import REMEDY, equality
from haugmbd.modelfile.mjcf.rates import rates_of
from haugmbd.modelfile.mjcf.write_tendons import Carriage, Strings, carriage, equality_faults, pull, tie
from haugmbd.system.system import System

TREE = (RJ, TJ, SJ, CJ, UJ, Planar, PointOnLine, PointInPlane, Fixed)
CLOSING = (RJ, SJ, Fixed)
"""Joints of a tree, and those that may close a loop."""
KEY = "modelled"
"""Name of the keyframe with the velocities."""
FLAT = 1e-13
"""Part of its largest moment of inertia by which the others of a flat body are larger in a file: J3 <= J1 + J2 holds after rounding."""
NESTED = 496
"""Largest number of bodies that carry one another: MuJoCo's reader of XML takes 500 nested elements."""


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
        With all parts that the file cannot hold, such as drivers, and bodies without mass.
    ModelError
        If the system has faults.
    UsageError
        If the path does not end with .xml.

    Notes
    -----
    Loops and couplings become equality constraints, which are soft in MuJoCo; rods, ropes over points and springs between points become
    tendons; constant forces and motors become actuators, which `read_mjcf(path, control={})` reads. MuJoCo requires moments of inertia
    about all axes: slender rods get one of 1e-9 of their largest, and the result says so. Velocities become a keyframe:
    `read_mjcf(path, key="modelled")` reads the file with them.
    Source: MuJoCo's documentation, XML reference.
    """
    path = checked(system, path, ".xml")
    faults: list[Fault] = []
    if "world" in (body.name for body in system.bodies):
        raise ModelFileError(
            str(path), [Fault("body 'world'", "MuJoCo has its own body of this name", "Rename it.")], "cannot hold the system"
        )
    held = exported(system)
    branches, cut = spanning_tree(held, TREE, CLOSING)
    _refuse_deep_nests(path, branches)
    undrawn: list[str] = []
    strings = Strings({id(body): [] for body in system.bodies})
    loads = [load for load in loads_in_tree(held, cut, REMEDY, faults) if not pull(strings, load, system.ground, branches, undrawn)]
    springs = _springs(loads, undrawn, faults)
    cut = [joint for joint in cut if not tie(strings, joint, branches)]
    tree = _Tree({id(body): [] for body in system.bodies}, {id(body): [] for body in system.bodies})
    names = {id(body): body.name for body in system.bodies} | {id(system.ground): "world"}
    mass = sum(body.mass for body in system.bodies[1:])
    carried = {id(joint): made for joint in cut if (made := carriage(joint, mass, names)) is not None}
    for joint in cut:
        if id(joint) in carried:
            tree.carry(joint, carried[id(joint)], undrawn)
    for branch in reversed(branches):
        tree.nest(branch, strings, springs, undrawn, faults)
    equalities = _equalities(system, cut, carried, branches, faults)
    left = [*finished(path, system, faults, leave_out), *reversed(undrawn)]
    ground = written_shapes(system.ground, _geom, left)
    sections = [
        element("compiler", angle="radian", inertiafromgeom="false", autolimits="true"),
        element("option", gravity=numbers(system.gravity)),
        element("worldbody", [*ground, *strings.sites[id(system.ground)], *tree.inside[id(system.ground)]]),
    ]
    more = {"tendon": strings.tendons, "equality": [*equalities, *strings.equalities], "actuator": strings.actuators}
    sections += [element(tag, elements) for tag, elements in more.items() if elements]
    rates = tree.rates[id(system.ground)]
    if any(rates):
        sections.append(element("keyframe", [element("key", name=KEY, qvel=numbers(rates))]))
    write_text(path, indented(element("mujoco", sections, model=system.name)))
    return Export((path,), tuple(left))


class _Tree(NamedTuple):
    """The tree of bodies, written from its leaves: elements inside of each body (by id), and the rates of their joints."""

    inside: dict[int, list[str]]
    rates: dict[int, list[float]]

    def carry(self, joint: Joint, carriage: Carriage, left: list[str]) -> None:
        """Put the carriage of a joint that closes a loop behind what its first body holds."""
        self.inside[id(joint.i)].append(carriage.element)
        self.rates[id(joint.i)] += carriage.rates
        left.append(carriage.told)

    def nest(
        self, branch: Branch, strings: Strings, springs: dict[int, dict[str, str]], left: list[str], faults: list[Fault]
    ) -> None:
        """Put a body, with all that it holds, before what the body that carries it holds."""
        body, parent = branch.body, branch.parent
        geoms = written_shapes(body, _geom, left)
        rates, whole = rates_of(branch)
        left += [] if whole else [f"the part of the velocity of body {body.name!r} that its joint does not allow"]
        inside = [*geoms, *strings.sites[id(body)], *self.inside[id(body)]]
        self.inside[id(parent)].insert(0, _body(branch, inside, springs, left, faults))
        self.rates[id(parent)][:0] = rates + self.rates[id(body)]


def _equalities(
    system: System, cut: list[Joint], carried: dict[int, Carriage], branches: list[Branch], faults: list[Fault]
) -> list[str]:
    """Return the equalities of joints that close loops: of their carriages, and of those without one."""
    faults_of = {id(joint): equality_faults(joint) for joint in cut}
    faults += [fault for of_joint in faults_of.values() for fault in of_joint]
    equalities = [text for carriage in carried.values() for text in carriage.equalities]
    for joint in cut:
        if not faults_of[id(joint)] and id(joint) not in carried:
            equalities += equality(system, joint, branches, faults)
    return equalities


def _refuse_deep_nests(path: FilePath, branches: list[Branch]) -> None:
    """Raise ModelFileError for a chain that MuJoCo would not read: it nests a body in the one that carries it."""
    depth: dict[int, int] = {}
    for branch in branches:
        depth[id(branch.body)] = depth.get(id(branch.parent), 0) + 1
    deep = [branch.body for branch in branches if depth[id(branch.body)] > NESTED]
    if deep:
        what = f"{depth[id(deep[0])] - 1} bodies carry it one after the other, and MuJoCo reads at most {NESTED} that are nested"
        raise ModelFileError(
            str(path), [Fault(f"body {deep[0].name!r}", what, "Export a shorter chain.")], "cannot hold the system"
        )


def _springs(loads: list[ForceElement], left: list[str], faults: list[Fault]) -> dict[int, dict[str, str]]:
    """Return the attributes of joints with springs and limits; faults for other loads, and for a second one on a joint."""
    found: dict[int, dict[str, str]] = {}
    for load in loads:
        spring, stop = plain_spring(load), limit_of(load)
        if spring is not None and "stiffness" not in found.get(id(spring.joint), {}):
            own = found.setdefault(id(spring.joint), {})
            own |= {"stiffness": numbers(spring.k), "damping": numbers(spring.c), "springref": numbers(spring.rest)}
        elif stop is not None and "range" not in found.get(id(stop[0]), {}):
            found.setdefault(id(stop[0]), {})["range"] = numbers(np.clip(stop[1:], -FAR, FAR))
            left.append(f"{load.where}: {'restitution' if load.impulsive else 'stiffness and damping'} of its stops")
        else:
            holds = (
                "springs between points, constant forces, torques, JointForce and Motor without rotor on joints of the tree, one RSDA "
                "without actuator on an RJ or CJ, or one linear JointSpring on an RJ or TJ, and a JointLimit on an RJ or TJ"
            )
            what = f"the file holds no such {kind_of(load)}; of loads it holds {holds}"
            faults.append(Fault(load.where, what, REMEDY))
    return found


def _body(branch: Branch, inside: list[str], springs: dict[int, dict[str, str]], left: list[str], faults: list[Fault]) -> str:
    """Return a body with its joint, its inertia, and the bodies after it."""
    body, parent = branch.body, branch.parent
    J = stated_inertia(body, "MuJoCo", left, faults)
    moments, axes = np.linalg.eigh(J)
    lack = float(moments[2] * (1.0 + FLAT) - moments[0] - moments[1])
    if lack > 0.0:  # a flat body: MuJoCo's own rounding must not take it for one that cannot be
        J = J + 0.5 * lack * (axes[:, :2] @ axes[:, :2].T)
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
        return [element("joint", name=joint.name, type="slide", pos=pos, axis=axis(h), **spring)]
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
    if kind in (PointOnLine, PointInPlane):
        at = numbers(body.A.T @ (joint.frame_j.point - body.r))
        slides = [(joint.name, h)] if kind is PointOnLine else [(f"{joint.name} {n}", a) for n, a in ((1, f), (2, g))]
        row = [element("joint", name=name, type="slide", pos=at, axis=numbers(body.A.T @ a)) for name, a in slides]
        row.append(element("joint", name=f"{joint.name} ball", type="ball", pos=at))
        return row[-1:] + row[:-1] if branch.reverse else row
    if kind is Planar:
        flat = [element("joint", name=f"{joint.name} {n}", type="slide", pos=pos, axis=axis(a)) for n, a in ((1, f), (2, g))]
        return [*flat, element("joint", name=joint.name, type="hinge", pos=pos, axis=axis(h))]
    return []


def _geom(shape: Shape) -> str:
    """Return a shape as a geom that touches nothing and weighs nothing; "" for one that the file cannot hold."""
    place = {"pos": numbers(shape.center), "quat": numbers(shape.p), "contype": "0", "conaffinity": "0", "mass": "0"}
    place |= {"rgba": rgba(shape.color)} if shape.color else {}
    if isinstance(shape, Box) and positive(shape.edges):
        return element("geom", type="box", size=numbers(0.5 * shape.edges), **place)
    if isinstance(shape, Sphere) and positive((shape.radius,)):
        return element("geom", type="sphere", size=numbers((shape.radius,)), **place)
    if isinstance(shape, Cylinder) and positive((shape.radius, shape.length)) and shape.inner_radius == 0.0:
        return element("geom", type="cylinder", size=numbers((shape.radius, 0.5 * shape.length)), **place)
    if isinstance(shape, Capsule) and positive((shape.radius, shape.length)):
        return element("geom", type="capsule", size=numbers((shape.radius, 0.5 * shape.length)), **place)
    if isinstance(shape, Ellipsoid):
        return element("geom", type="ellipsoid", size=numbers(shape.semi_axes), **place)
    return ""
