r"""What MJCF says by sites, tendons, actuators and small bodies: rods, ropes, springs between points, couplings, constant forces, slides.

    Distance, Rope over points   a spatial tendon over sites, whose length an equality holds
    TSDA                         a spatial tendon with stiffness, damping and springlength;  a constant actuator f_a shifts l_0 by -f_a / k
    sum c_k q_k = 0              a fixed tendon, whose length an equality holds
    PointForce, Torque           an actuator at a site with the constant bias 1 and the force as its gear: along the axes of a site of the
                                 world, or of the body; `read_mjcf(control={})` reads it
    JointForce, Motor            an actuator of each hinge or slide: the constant force is its bias, and a control is added to it
    others that close loops      TJ, CJ, Planar, UJ, PointOnLine, PointInPlane: a carriage without a weight worth the name on the joints
                                 that the first body has, closed to the second one by a weld, two connects, or one

Source: MuJoCo's documentation, XML reference: tendon, equality/tendon, actuator/general.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.forces import TSDA, PointForce, Torque
from haugmbd.forces.base import ForceElement
from haugmbd.joints import CJ, TJ, UJ, CoordinateFunction, Coupling, Distance, Planar, PointInPlane, PointOnLine, Rope
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.exports import Branch, constant_along, constant_terms, element, numbers
from haugmbd.modelfile.mjcf.equalities import coordinate_name

CARRIAGE, LEAST = 1e-9, 1e-13
"""Mass of a carriage, as a part of all mass, and its moment of inertia [kg m2], which moves where it turns: a UJ."""
AXES = "axes of the world"
"""Name of the site of the world along whose axes forces act."""


@dataclass
class Strings:
    """What is collected: sites by body (id), tendons, equalities and actuators as elements, and names of sites that are in use."""

    sites: dict[int, list[str]]
    tendons: list[str] = field(default_factory=list)
    equalities: list[str] = field(default_factory=list)
    actuators: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def site(self, name: str, body: Body, s_bar: Array) -> str:
        """Add a site, and return its name."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        self.sites[id(body)].append(element("site", name=name, pos=numbers(s_bar)))
        return name

    def spatial(self, name: str, ends: list[tuple[Body, Array]], **attributes: str) -> None:
        """Add a tendon over points of bodies."""
        sites = [self.site(f"{name} {k}", body, s_bar) for k, (body, s_bar) in enumerate(ends, start=1)]
        self.tendons.append(element("spatial", [element("site", site=site) for site in sites], name=name, **attributes))

    def held(self, name: str) -> None:
        """Hold the length of a tendon."""
        self.equalities.append(element("tendon", name=name, tendon1=name))


def tie(strings: Strings, joint: Joint, branches: list[Branch]) -> bool:
    """Add the tendon of a joint that is one, and return whether it is."""
    if isinstance(joint, Coupling) and not isinstance(joint, CoordinateFunction) and len(constant_terms(joint)) > 2:  # noqa: PLR2004
        names = [(coordinate_name(coordinate, branches), c) for coordinate, c in constant_terms(joint)]
        if not all(name for name, _ in names):
            return False
        parts = [element("joint", joint=name, coef=numbers(c)) for name, c in names]
        strings.tendons.append(element("fixed", parts, name=joint.name))
        strings.held(joint.name)
        return True
    ends = _ends(joint)
    if len(ends) < 2:  # noqa: PLR2004
        return False
    strings.spatial(joint.name, ends)
    strings.held(joint.name)
    return True


def _ends(joint: Any) -> list[tuple[Body, Array]]:
    """Return the points of a rod, or of a rope without pulleys, of constant length; none of any other joint."""
    if isinstance(joint, Distance) and isinstance(joint.f, Constant):
        return [(frame.body, frame.s_bar) for frame in (joint.frame_i, joint.frame_j)]
    if isinstance(joint, Rope) and isinstance(joint.f, Constant) and not joint.may_be_slack:
        pairs = [part for part in joint.path if isinstance(part, tuple) and isinstance(part[0], Body)]
        if len(pairs) == len(joint.path):
            return [(body, body.A.T @ (np.asarray(point, dtype=np.float64) - body.r)) for body, point in pairs]
    return []


def pull(strings: Strings, load: ForceElement, ground: Body, branches: list[Branch], left: list[str]) -> bool:
    """Add the tendon or the actuator of a load that is one, and return whether it is;  left: facts for the report."""
    if type(load) is TSDA:
        return _spring(strings, load)
    if isinstance(load, PointForce | Torque):
        return _force(strings, load, ground, left)
    return _motors(strings, load, branches, left)


def _motors(strings: Strings, load: ForceElement, branches: list[Branch], left: list[str]) -> bool:
    """Add constant forces along coordinates of joints of the tree."""
    along = constant_along(load)
    names = [coordinate_name(q, branches) for q, _ in along]
    if not along or not all(names):
        return False
    for n, (joint, (_, force)) in enumerate(zip(names, along, strict=True), start=1):
        law = {"gaintype": "fixed", "gainprm": "1 0 0", "biastype": "affine", "biasprm": numbers((force, 0.0, 0.0))}
        name = load.name if len(along) == 1 else f"{load.name} {n}"
        strings.actuators.append(element("general", name=name, joint=joint, **law))
    left.append(f"{load.where} is an actuator in the file: read_mjcf(path, control={{}}) reads it")
    return True


def _spring(strings: Strings, load: TSDA) -> bool:
    """Add a spring between two points."""
    (driver,) = load.actuator.drivers or (None,)
    if load.actuator.user_function is not None or not isinstance(driver, Constant):
        return False
    free = load.l0 - driver.value / load.k if load.k else load.l0
    if (load.k == 0.0 and driver.value) or free < 0.0:
        return False
    ends = [(frame.body, frame.s_bar) for frame in (load.frame_i, load.frame_j)]
    strings.spatial(load.name, ends, stiffness=numbers(load.k), damping=numbers(load.c), springlength=numbers(free))
    return True


def _force(strings: Strings, load: PointForce | Torque, ground: Body, left: list[str]) -> bool:
    """Add a constant force or torque."""
    value = load.torque if isinstance(load, Torque) else load.force
    drivers: list[Any] = list(value.drivers)
    if value.user_function is not None or not all(isinstance(driver, Constant) for driver in drivers):
        return False
    vector = [driver.value for driver in drivers]
    gear = (0.0, 0.0, 0.0, *vector) if isinstance(load, Torque) else (*vector, 0.0, 0.0, 0.0)
    where = np.zeros(3) if isinstance(load, Torque) else load.frame.s_bar
    site = strings.site(f"{load.name} point", load.body, where)
    along: dict[str, str] = {}
    if not load.in_body:
        if AXES not in strings.names:
            strings.site(AXES, ground, np.zeros(3))
        along["refsite"] = AXES
    law = {"gaintype": "fixed", "gainprm": "0 0 0", "biastype": "affine", "biasprm": "1 0 0"}
    strings.actuators.append(element("general", name=load.name, site=site, **along, gear=numbers(gear), **law))
    left.append(f"{load.where} is an actuator in the file: read_mjcf(path, control={{}}) reads it")
    return True


def equality_faults(joint: Joint) -> list[Fault]:
    """Return why a rod or a rope is no tendon."""
    where, remedy = f"joint {joint.name!r}", "Leave it out with leave_out=True, or save the system as .json."
    given: Any = joint
    if isinstance(joint, Distance | Rope) and not isinstance(given.f, Constant):
        return [Fault(where, "its length changes with time, and equalities of the file are constant", remedy)]
    if isinstance(joint, Rope):
        what = "a rope that may be slack, or with pulleys, is no equality of the file; it holds ropes over points"
        return [Fault(where, what, remedy)]
    return []


class Carriage(NamedTuple):
    """A small body that slides on body i of a joint: its element, its rates, the equalities with body j, and a line for the report."""

    element: str
    rates: list[float]
    equalities: list[str]
    told: str


def carriage(joint: Joint, mass: float, names: dict[int, str]) -> Carriage | None:
    """Return the carriage of a joint that closes a loop; None for a joint that has none.  mass: of all bodies;  names: by body (id)"""
    kind = type(joint)
    if kind not in (TJ, CJ, UJ, Planar, PointOnLine, PointInPlane):
        return None
    i, j = joint.frame_i, joint.frame_j
    body, P = i.body, j.point
    f, g, h = i.A.T
    flat = kind in (Planar, PointInPlane)
    moves = [f] if kind is UJ else [f, g] if flat else [h]
    name = f"{joint.name} carriage"
    joints = [
        element("joint", name=f"{name} {n}", type="hinge" if kind is UJ else "slide", axis=numbers(body.A.T @ a))
        for n, a in enumerate(moves, start=1)
    ]
    solid = element("inertial", pos="0 0 0", mass=numbers(CARRIAGE * mass), diaginertia=numbers((LEAST,) * 3))
    box = element("body", [*joints, solid], name=name, pos=numbers(body.A.T @ (P - body.r)))
    w_i, w_j = (each.body.A @ each.body.omega_bar for each in (i, j))
    v = j.body.v + cross(w_j, P - j.body.r) - body.v - cross(w_i, P - body.r)
    motion = w_j - w_i if kind is UJ else v
    rates = [float(a @ motion) for a in moves]
    if kind is UJ:  # the second axis may turn on its own
        g_j = joint.frame_j.A[:, 1]
        rates = [float((motion - (g_j @ motion) * g_j) @ f)]
    ends = {"body1": name, "body2": names[id(j.body)]}
    if kind is TJ:
        T = body.A.T @ j.body.A
        pose = numbers((*(body.A.T @ (j.body.r - P)), *euler_parameters.from_rotation_matrix(T)))
        held = [element("weld", name=joint.name, anchor="0 0 0", relpose=pose, **ends)]
    else:
        held = [element("connect", name=joint.name, anchor="0 0 0", **ends)]
    if kind in (CJ, Planar, UJ):
        axis = numbers(body.A.T @ (joint.frame_j.A[:, 1] if kind is UJ else h))
        held.append(element("connect", name=f"{joint.name} axis", anchor=axis, **ends))
    return Carriage(
        box, rates, held, f"joint {joint.name!r} closes a loop: the file has a carriage of {CARRIAGE * mass:.3g} kg for it"
    )
