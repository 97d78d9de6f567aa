"""Between a chain's coordinates and the states of a System with the same bodies, link by link.

    to a state     r, p, v, omega_bar of every body by forward kinematics
    back           B = A(p_k)^T R_(k-1)^T R_k = rot(z_1, q_1) rot(z_2, q_2) ...      d = A(p_k)^T R_(k-1)^T (P_k - where it sits)
                   slides   q = z . d                         one turn   q = atan2(z . vee(B), (tr B - 1) / 2)
                   two turns, z_1 and z_2 at right angles     B z_2 = rot(z_1, q_1) z_2,   B^T z_1 = rot(z_2, -q_2) z_1
                   spherical  p of B, with e0 >= 0
                   rates    omega_k - omega_(k-1) = sum z q_dot,   v_Pk - (v of that place of the link before) = sum z q_dot

Angles are in (-pi, pi], because a state does not store the number of turns. The remainder that no q and q_dot explain is the gap.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.math.euler_parameters import cross, exponential, from_rotation_matrix, logarithm, normalized, rotation_matrix
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, TURN
from haugmbd.serial_chain.link import Link
from haugmbd.serial_chain.recursions.link_motion import link_motion
from haugmbd.tolerances import TYPED_ANGLE, TYPED_LENGTH, TYPED_SPEED

if TYPE_CHECKING:
    from haugmbd.serial_chain.base import BaseChain

MEND = "Give a state that satisfies the joints: model.state(), chain.state(model, q, qd), or one that a simulation returned."

SMALLEST = 1e-300
"""[m] The size of a chain without any length: only keeps its inverse finite."""


class Pose(NamedTuple):
    """A point of a body and its motion, global: A (3, 3), P (3,) [m], v (3,) [m/s], omega (3,) [rad/s]."""

    A: Array
    P: Array
    v: Array
    omega: Array

    def at(self, arm: Array) -> Pose:
        """Return the point of the same body at distance `arm` (3,), body frame [m]."""
        s = self.A @ arm
        return Pose(self.A, self.P + s, self.v + cross(self.omega, s), self.omega)


class Read(NamedTuple):
    """The coordinates of one joint, as they are read from a state.

    q, qd: of the joint;  gaps: (4,) [m, rad, m/s, rad/s]
    """

    q: Array
    qd: Array
    gaps: Array


def state(chain: BaseChain, model: Model, q: npt.ArrayLike, qd: npt.ArrayLike | None, t: float) -> State:
    """Return the state of `model` at the chain's q, qd; see `SerialChain.state`."""
    if not isinstance(model, Model):
        raise UsageError(f"chain.state got {model!r:.60}, and needs a compiled model. Give chain.to_system().compile().")
    if not isinstance(t, Real) or not np.isfinite(float(t)):
        raise UsageError(f"chain.state got t = {t!r}. Give a finite time [s].")
    motion = link_motion(chain, q, qd)
    names = [link.name for link in chain.links]
    if sorted(names) != sorted(model.body_names[1:]):
        strange = sorted(set(names) ^ set(model.body_names[1:]))
        what = f"the bodies of model {model.name!r} are not the links of chain {chain.name!r}: only one of them has {strange}"
        raise UsageError(f"{what}. Give the model of chain.to_system(), or the one that the chain was made from.")
    rows = [model.body(name) for name in names]
    y = model.state()
    r, p, v, omega_bar = y.r.copy(), y.p.copy(), y.v.copy(), y.omega_bar.copy()
    r[rows], p[rows], v[rows] = motion.r, normalized(from_rotation_matrix(motion.A)), motion.v
    omega_bar[rows] = np.einsum("nab,na->nb", motion.A, motion.omega)
    return State(t, r, p, v, omega_bar, y.angles)


def coordinates(chain: BaseChain, state: State) -> tuple[Array, Array]:
    """Return the chain's q and qd at a state; see `SerialChain.coordinates`."""
    if not isinstance(state, State):
        what = f"chain.coordinates got {state!r:.60} ({type(state).__name__}), and needs a State of bodies"
        raise UsageError(f"{what}. Give model.state(), chain.state(model, q, qd), or result.state().")
    if state.r.shape != (chain.n + 1, 3):
        what = f"the state has {len(state.r) - 1} bodies, chain {chain.name!r} has {chain.n} links"
        raise UsageError(f"{what}. Give a state of chain.to_system(), or of the model that the chain was made from.")
    reads = _read_all(chain, state)
    _need_closed(chain, state, reads)
    return _joined(reads)


def nearest_coordinates(chain: BaseChain, state: State) -> tuple[Array, Array]:
    """Return q and qd of a state of the right size, whatever its gaps are; the stages of an integrator have small gaps."""
    return _joined(_read_all(chain, state))


def _joined(reads: list[Read]) -> tuple[Array, Array]:
    """Return q and qd of all joints."""
    q, qd = np.concatenate([part.q for part in reads]), np.concatenate([part.qd for part in reads])
    return q + 0.0, qd + 0.0  # no minus zeros


def _read_all(chain: BaseChain, state: State) -> list[Read]:
    """Return the coordinates of each joint, base first."""
    A = rotation_matrix(normalized(state.p))
    omega = np.einsum("nab,nb->na", A, state.omega_bar)
    before, reads = Pose(np.eye(3), chain.base, np.zeros(3), np.zeros(3)), []
    for link, row in zip(chain.links, chain.order, strict=True):
        here = Pose(A[row], state.r[row], state.v[row], omega[row]).at(-link.c)
        reads.append(_read(link, before, here))
        before = here.at(link.L)
    return reads


def _read(link: Link, before: Pose, here: Pose) -> Read:
    """Return q, qd and gaps of one joint."""
    R0 = before.A @ rotation_matrix(link.p)
    B, d = R0.T @ here.A, R0.T @ (here.P - before.P)
    slides = np.array([axis for kind, axis in link.ways if kind == SLIDE]).reshape(-1, 3)
    ways, turns = slides @ d, _turns(link, B)
    left = _rotation(link, turns).T @ B
    arm = here.P - before.P
    v = here.v - before.v - cross(before.omega, arm)
    v_rates, v_gap = _rates((R0 @ slides.T), v)
    w_rates, w_gap = _rates(_turn_axes(link, R0, here.A), here.omega - before.omega)
    apart, off = np.linalg.norm(d - ways @ slides), np.linalg.norm(logarithm(from_rotation_matrix(left)))
    return Read(np.concatenate([ways, turns]), np.concatenate([v_rates, w_rates]), np.array([apart, off, v_gap, w_gap]))


def _turns(link: Link, B: Array) -> Array:
    """Return the angles of a link whose rotation relative to the link before is B; Euler parameters of a spherical joint."""
    if any(kind == BALL for kind, _ in link.ways):
        return normalized(from_rotation_matrix(B))
    z = [axis for kind, axis in link.ways if kind == TURN]
    if len(z) == 2:
        (first, second), across = z, cross(z[0], z[1])
        a, b = B @ second, B.T @ first
        return np.array([np.arctan2(across @ a, second @ a), np.arctan2(across @ b, first @ b)])
    vee = 0.5 * np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])
    return np.array([np.arctan2(axis @ vee, 0.5 * (np.trace(B) - 1.0)) for axis in z])


def _rotation(link: Link, turns: Array) -> Array:
    """Return rot(z_1, q_1) rot(z_2, q_2) ... , or the rotation of a spherical joint, (3, 3)."""
    if len(turns) == 4:
        return np.asarray(rotation_matrix(turns))
    R = np.eye(3)
    axes = [axis for kind, axis in link.ways if kind == TURN]
    for axis, angle in zip(axes, turns, strict=True):
        R = R @ rotation_matrix(exponential(angle * axis))
    return R


def _turn_axes(link: Link, R0: Array, A: Array) -> Array:
    """Return the global axes of a link's turns, columns (3, k): the first is fixed on the link before, the last on the link."""
    z = [(kind, axis) for kind, axis in link.ways if kind != SLIDE]
    return np.array([A @ z[k][1] if z[k][0] == BALL or k == len(z) - 1 else R0 @ z[k][1] for k in range(len(z))]).reshape(-1, 3).T


def _rates(axes: Array, x: Array) -> tuple[Array, float]:
    """Return the rates with axes rates = x (least squares), and the norm of the remainder."""
    if axes.shape[1] == 0:
        return np.zeros(0), float(np.linalg.norm(x))
    rates: Array = np.asarray(np.linalg.lstsq(axes, x, rcond=None)[0], dtype=np.float64)
    return rates, float(np.linalg.norm(x - axes @ rates))


def _need_closed(chain: BaseChain, state: State, reads: list[Read]) -> None:
    """Raise ModelError with the gap of every joint that is open, in m and degrees, or moves apart."""
    lengths = [np.linalg.norm(link.L) + np.linalg.norm(link.c) for link in chain.links]
    size = max(SMALLEST, *lengths, np.ptp(state.r, axis=0).max())
    fastest = max(np.abs(state.v).max(), size * np.abs(state.omega_bar).max())
    allowed = np.array([TYPED_LENGTH * size, TYPED_ANGLE, TYPED_SPEED * fastest, TYPED_SPEED * fastest / size])
    words = (
        "its points are {:.3g} m apart",
        "its axes are {:.3g} degrees off",
        "its points part with {:.3g} m/s",
        "its bodies turn apart with {:.3g} rad/s",
    )
    faults = []
    for link, part in zip(chain.links, reads, strict=True):
        gaps = part.gaps * (1.0, np.degrees(1.0), 1.0, 1.0)
        open_ = ~(part.gaps <= allowed)
        parts = [word.format(gap) for word, gap, bad in zip(words, gaps, open_, strict=True) if bad]
        if parts:
            faults.append(Fault(f"joint of link {link.name!r} ({link.kind})", ", ".join(parts), MEND))
    if faults:
        raise ModelError(faults)
