r"""A serial chain in maximal coordinates: the same links, joints and loads as a System.

    body k     the link's frame moved to its centre of mass:   r = P_k + R_k c_k,   p from R_k,   v, omega_bar from q_dot
    joint k    frame on the link before at L - c,  axes A(p) T;   frame on the link at -c,  axes T;   they coincide at q = 0
               T = (f, g, h):  h along the axis;  universal: f, g its arms;  spherical and fixed: the link's own axes
    rows       as in `link_joints`;  a free link has no joint

    tau        a pair of equal and opposite loads whose power is tau . q_dot
               slide  F = tau z at the handle, on both bodies          turn  n = tau z,  on both bodies
               two turns at right angles:  n = tau_1 z_1 + tau_2 z_2;      spherical:  n = R tau, tau in the link's frame
               z_1 of a universal joint and the axes of a spherical one are fixed in one body only: there the pair is a StateForce

Source: Haug (2021), composition of joints from basic constraints; d'Alembert: constraint wrenches of ideal joints have no power.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.inertia import solid_inertia
from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, ModelError
from haugmbd.forces import ForceElement, PointForce, StateForce, Torque
from haugmbd.math.euler_parameters import cross, from_rotation_matrix, normalized, rotation_matrix
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, TURN
from haugmbd.serial_chain.link import CROSSED_TOL, Link
from haugmbd.serial_chain.link_joints import JOINTS, LinkJoint, SphericalLink, UniversalLink
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, link_motion
from haugmbd.system.system import System

if TYPE_CHECKING:
    from haugmbd.serial_chain.base import BaseChain

FREE = (SLIDE, SLIDE, SLIDE, BALL, BALL, BALL)
"""The ways of a free link, which has no joint."""

MASSLESS = "A Body needs a mass: give the link one (and its part of J_bar), or make it one link with its neighbour."


class JointPlacement(NamedTuple):
    """Link k of a chain with its body and the one before it (the ground first), and its parts of tau, (nv,), and q, (nq,)."""

    link: Link
    before: Body
    body: Body
    s_bar: Array
    """Where the link sits on the body before [m], (3,), in that body's frame."""
    tau: Array
    q: Array
    """Its coordinates at the modelled pose."""

    @property
    def name(self) -> str:
        """Return the name of the joint."""
        return joint_name(self.link)

    @property
    def P(self) -> Array:
        """Return the handle at the modelled pose, global [m], (3,)."""
        return np.asarray(self.body.r - self.body.A @ self.link.c)


def joint_name(link: Link) -> str:
    """Return the name of the joint of a link."""
    return f"joint of {link.name}"


def kinds(link: Link) -> tuple[int, ...]:
    """Return the kinds of a link's freedoms."""
    return tuple(kind for kind, _ in link.ways)


def to_system(
    chain: BaseChain, tau: npt.ArrayLike | None, wrenches: Any, q: npt.ArrayLike | None, qd: npt.ArrayLike | None
) -> System:
    """Return `chain` as a System, see `SerialChain.to_system`."""
    q = chain.read("q", chain.q_zero() if q is None else q, chain.nq)
    tau, external = chain.read("tau", tau, chain.nv), chain.read_wrenches(wrenches)
    motion = link_motion(chain, q, qd)
    faults = [fault for k, link in enumerate(chain.links) for fault in _massless_faults(k, link)]
    if faults:
        raise ModelError(faults)
    system = System(chain.name, gravity=chain.gravity)
    bodies = [_body(link, motion, k) for k, link in enumerate(chain.links)]
    for k in np.argsort(chain.order):
        system.add(bodies[k])
    for placement in _placements(chain, system.ground, bodies, tau, q):
        if kinds(placement.link) != FREE:
            system.add(_joint(placement))
        for load in _actuators(placement):
            system.add(load)
    for body, wrench in zip(bodies, external, strict=False):
        for load in _push(body, wrench):
            system.add(load)
    return system


def _massless_faults(k: int, link: Link) -> Iterator[Fault]:
    """Yield the faults that keep a link from being a body with a joint of the catalogue."""
    where = f"link {link.name!r}"
    if not link.mass > 0.0:
        yield Fault(where, f"its mass is {link.mass:g} kg", MASSLESS)
    axes = [axis for _, axis in link.ways]
    skew = kinds(link) == (SLIDE, TURN) and np.linalg.norm(cross(axes[0], axes[1])) > CROSSED_TOL
    if skew or (kinds(link) not in JOINTS and kinds(link) != FREE):
        what = f"its joint ({'; '.join(link.labels())}) is not in the catalogue of joints"
        yield Fault(where, what, "Use Link.revolute, prismatic, cylindrical, universal, spherical, fixed or free.")


def _body(link: Link, motion: LinkMotion, k: int) -> Body:
    """Return the link as a body at its pose."""
    A = motion.A[k]
    p = normalized(from_rotation_matrix(A))
    omega_bar = A.T @ motion.omega[k]
    J_bar = solid_inertia(link.J_bar, link.solid)
    return Body(link.name, link.mass, J_bar, r=motion.r[k], p=p, v=motion.v[k], omega_bar=omega_bar, shape=link.shape)


def _placements(chain: BaseChain, ground: Body, bodies: list[Body], tau: Array, q: Array) -> Iterator[JointPlacement]:
    """Yield the placement of every link on the body before it."""
    before, s_bar, v, c = ground, chain.base, 0, 0
    for link, body in zip(chain.links, bodies, strict=True):
        yield JointPlacement(link, before, body, s_bar, tau[v : v + link.nv], q[c : c + link.nq])
        before, s_bar, v, c = body, link.L - link.c, v + link.nv, c + link.nq


def _joint(placement: JointPlacement) -> LinkJoint:
    """Return the joint; its frames coincide at q = 0. One freedom has the value of q at the modelled pose."""
    link, joint = placement.link, JOINTS[kinds(placement.link)]
    axes = [axis for _, axis in link.ways]
    if joint is UniversalLink:
        T = np.column_stack((axes[0], axes[1], cross(axes[0], axes[1])))
    else:
        T = triad(axes[0]) if axes and joint is not SphericalLink else np.eye(3)
    before = Frame(placement.before, placement.s_bar, rotation_matrix(link.p) @ T)
    return joint(placement.name, before, Frame(placement.body, -link.c, T), float(placement.q[0]) if link.nv == 1 else 0.0)


def _actuators(placement: JointPlacement) -> Iterator[ForceElement]:
    """Yield the loads of tau: on the body before, and on the link."""
    if not placement.tau.any():
        return
    link, R0 = placement.link, rotation_matrix(placement.link.p)
    slide = np.array([kind == SLIDE for kind in kinds(link)])
    axes = np.array([axis for _, axis in link.ways])
    name = f"tau of {link.name}"
    if slide.any():
        F = placement.tau[slide] @ axes[slide]
        yield from _force_pair(f"{name}, slide", placement, F, R0)
    if slide.all():
        return
    tau, z = placement.tau[~slide], axes[~slide]
    if len(z) == 1:
        n = tau[0] * z[0]
        yield from _torque_pair(name, placement, -R0 @ n, n)
    elif kinds(link) == (TURN, TURN):
        yield from _couple(name, placement, R0 @ (tau[0] * z[0]), tau[1] * z[1])
    else:
        yield from _couple(name, placement, np.zeros(3), tau @ z)


def _force_pair(name: str, placement: JointPlacement, F: Array, R0: Array) -> Iterator[ForceElement]:
    """Yield F (3,), link frame, at the handle, and -F on the body before along the same line.

    The force on a free link keeps its direction.
    """
    if kinds(placement.link) == FREE:
        yield PointForce(name, placement.body, point=placement.P, force=R0 @ F)
        return
    yield PointForce(name, placement.body, point=placement.P, force=F, frame="body")
    if not placement.before.is_ground:
        point = placement.before.r + placement.before.A @ placement.s_bar
        yield PointForce(f"{name}, back", placement.before, point=point, force=-R0 @ F, frame="body")


def _torque_pair(name: str, placement: JointPlacement, back: Array, n: Array) -> Iterator[ForceElement]:
    """Yield the torque n (3,) on the link, and `back` on the body before, each in its body's frame."""
    yield Torque(name, placement.body, torque=n, frame="body")
    if not placement.before.is_ground:
        yield Torque(f"{name}, back", placement.before, torque=back, frame="body")


def _couple(name: str, placement: JointPlacement, a: Array, b: Array) -> Iterator[ForceElement]:
    """Yield the torque A_before a + A_link b on the link, and its opposite on the body before if it can move."""
    if placement.before.is_ground:
        if a.any():
            yield Torque(f"{name}, 1", placement.body, torque=a)
        if b.any():
            yield Torque(f"{name}, 2", placement.body, torque=b, frame="body")
        return
    yield StateForce(name, (placement.before, placement.body), force=partial(couple, a, b))


def couple(a: Array, b: Array, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
    """Return rows (F, n_bar) of the torque n = A_1 a + A_2 b on body 2 and -n on body 1, (2, 6)."""
    A = rotation_matrix(normalized(p))
    n = A[0] @ a + A[1] @ b
    return np.array([[0.0, 0.0, 0.0, *(-A[0].T @ n)], [0.0, 0.0, 0.0, *(A[1].T @ n)]])


def _push(body: Body, wrench: Array) -> Iterator[ForceElement]:
    """Yield an external wrench (6,): force and moment at the centre of mass, global, constant."""
    if wrench[:3].any():
        yield PointForce(f"force on {body.name}", body, force=wrench[:3])
    if wrench[3:].any():
        yield Torque(f"moment on {body.name}", body, torque=wrench[3:])
