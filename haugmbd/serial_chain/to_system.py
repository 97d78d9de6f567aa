"""A serial chain in maximal coordinates: the same links, joints and loads as a System.

    body k     the link's frame moved to its centre of mass:   r = P_k + R_k c_k,   p from R_k,   v, omega_bar from q_dot
    joint k    frame on the link before at L - c,  axes A(p) T;   frame on the link at -c,  axes T;   they coincide at q = 0
               T = (f, g, h):  h along the axis;  universal: f, g its arms;  spherical and fixed: the link's own axes
    rows       as below;  a free link has no joint

    tau        a pair of equal and opposite loads whose power is tau . q_dot
               slide  F = tau z at the handle, on both bodies          turn  n = tau z,  on both bodies
               two turns at right angles:  n = tau_1 z_1 + tau_2 z_2;      spherical:  n = R tau, tau in the link's frame
               z_1 of a universal joint and the axes of a spherical one are fixed in one body only: there the pair is a StateForce

The joints of links, as rows between two bodies; they equal joints of the catalogue, which is not imported here.

    RevoluteLink     SJ, perp-1(f_i, g_i, h_j)          as RJ         CylindricalLink   perp-1, perp-2          as CJ
    PrismaticLink    CJ, DP1(f_i, g_j, 0)               as TJ         UniversalLink     SJ, DP1(f_i, g_j, 0)    as UJ
    FixedLink        RJ, DP1(f_i, g_j, 0)               as Fixed      SphericalLink     SJ                      as SJ

Body i is the link before, body j the link; the frames coincide where the link's coordinates are zero.

tau that varies along a motion is one force element on all bodies.

    slide  F = tau z at the handle, on both bodies        turn  n = tau z,  on both bodies        spherical  n = A tau
    two turns at right angles  n = tau_1 z_1 + tau_2 z_2        z_1 and slides fixed on the body before, z_2 and balls on the link

The pair of each joint is equal and opposite, and its power is tau . q_dot, as with constant tau.
Source: Haug (2021), composition of joints from basic constraints; Haug (2021), composition of joints from basic constraints;
d'Alembert: constraint wrenches of ideal joints have no power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.inertia import solid_inertia
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import DP1, Joint, Primitive, coincident, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import F_I, G_J, H_I, H_J, Side, ball, slide, turn
from haugmbd.errors import Fault, ModelError
from haugmbd.forces import ForceElement, PointForce, StateForce, Torque
from haugmbd.math.euler_parameters import cross, from_rotation_matrix, normalized, rotation_matrix
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, TURN
from haugmbd.serial_chain.link import CROSSED_TOL, Link
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, link_motion
from haugmbd.system.system import System

if TYPE_CHECKING:
    from haugmbd.serial_chain.base import BaseChain


class LinkJoint(Joint):
    """The joint of a link.  q0: value of the coordinate at the modelled pose, of a joint with one freedom."""

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame, q0: float = 0.0) -> None:
        super().__init__(name, frame_i, frame_j)
        self.q0 = q0

    def coincident(self) -> tuple[Primitive, ...]:
        """Return the three rows of coincident points."""
        return coincident(self.i, self.frame_i.s_bar, self.j, self.frame_j.s_bar)

    def parallel(self) -> tuple[Primitive, ...]:
        """Return perp-1: h_j stays along h_i."""
        return perpendicular_1(self.i, self.frame_i.f, self.frame_i.g, self.j, self.frame_j.h)

    def on_line(self) -> tuple[Primitive, ...]:
        """Return perp-2: the point of body j stays on the line of body i along h_i."""
        i, j = self.frame_i, self.frame_j
        return perpendicular_2(self.i, i.f, i.g, i.s_bar, self.j, j.s_bar)

    def product(self) -> tuple[Primitive, ...]:
        """Return the row f_i . g_j = 0: no turn about h, or the axes of a universal joint."""
        return (DP1(self.i, self.frame_i.f, self.j, self.frame_j.g),)


class RevoluteLink(LinkJoint):
    """The link turns about h."""

    freedoms = (turn(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.parallel())


class PrismaticLink(LinkJoint):
    """The link slides along h."""

    freedoms = (slide(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.parallel(), *self.on_line(), *self.product())


class CylindricalLink(LinkJoint):
    """The link slides along h and turns about it."""

    freedoms = (slide(H_I), turn(H_J))

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.parallel(), *self.on_line())


class UniversalLink(LinkJoint):
    """The link turns about f of the link before, then about its own g."""

    freedoms = (turn(F_I), turn(G_J))

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.product())


class SphericalLink(LinkJoint):
    """The link turns freely."""

    freedoms = ball(Side.J)

    def primitives(self) -> tuple[Primitive, ...]:
        return self.coincident()


class FixedLink(LinkJoint):
    """The link keeps its place."""

    freedoms = ()

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.parallel(), *self.product())


JOINTS: dict[tuple[int, ...], type[LinkJoint]] = {
    (TURN,): RevoluteLink,
    (SLIDE,): PrismaticLink,
    (SLIDE, TURN): CylindricalLink,
    (TURN, TURN): UniversalLink,
    (BALL, BALL, BALL): SphericalLink,
    (): FixedLink,
}
"""The joint of a link, by the kinds of its ways."""


def actuator_wrenches(chain: BaseChain, tau: Array, A: Array) -> Array:
    """Return rows (F, n_bar) of tau (nv,) on the links, at their centres of mass, (n, 6);  A (n, 3, 3): their orientations."""
    force, moment, first = np.zeros((chain.n, 3)), np.zeros((chain.n, 3)), 0
    for k, link in enumerate(chain.links):
        tau_of_link, first = tau[first : first + link.nv], first + link.nv
        to_global = (A[k - 1] if k else np.eye(3)) @ rotation_matrix(link.p)
        kinds, axes = np.array([kind for kind, _ in link.ways]), np.array([axis for _, axis in link.ways]).reshape(-1, 3)
        F = to_global @ (tau_of_link[kinds == SLIDE] @ axes[kinds == SLIDE])
        turns = np.flatnonzero(kinds != SLIDE)
        before = turns[:1] if (kinds[turns] == TURN).all() else turns[:0]
        after = turns[len(before) :]
        n = to_global @ (tau_of_link[before] @ axes[before]) + A[k] @ (tau_of_link[after] @ axes[after])
        force[k] += F
        moment[k] += n - cross(A[k] @ link.c, F)
        if k:
            arm = A[k - 1] @ (chain.links[k - 1].L - chain.links[k - 1].c)
            force[k - 1] -= F
            moment[k - 1] -= n + cross(arm, F)
    return np.hstack([force, np.einsum("kji,kj->ki", A, moment)])


def add_actuation(chain: BaseChain, system: System, tau: Callable[[float], Array]) -> None:
    """Add tau(t) -> (nv,) to the System that `to_system` made of the chain, as one StateForce called "tau"."""

    def force(t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        return actuator_wrenches(chain, tau(t), rotation_matrix(normalized(p)))

    system.add(StateForce("tau", [system[link.name] for link in chain.links], force=force))


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
