r"""What a chain's links do at q, qd: poses, velocities, accelerations, Jacobians and bias accelerations, at the centres of mass.

    r = P + c          v_C = v + omega x c          v_C_dot = a + omega x v + alpha x c + omega x (omega x c)           a: spatial
    v_C = J_S q_dot    omega = J_R q_dot            v_C_dot = J_S q_ddot + sigma_S     omega_dot = J_R q_ddot + sigma_R
    columns of freedom k for every link i it carries:   turn  J_S = z x (r_i - P_k), J_R = z      slide  J_S = z, J_R = 0

Source: seed 002 (Jacobians and bias accelerations, by recursion); seed 000 (1)-(10) for twists at the world origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.chain_arrays import SLIDE, chain_arrays
from haugmbd.serial_chain.error_messages import need_chain, no_answer
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.aba import FINE
from haugmbd.serial_chain.recursions.rnea import accelerate


@entry
def motion_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, qdd: Array) -> None:
    """Places, rates and accelerations of all links, left in the work room."""
    c = chain_arrays(ints, reals, work)
    place(c, q)
    rate(c, qd)
    accelerate(c, qdd)


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """A: (n, 3, 3);  P: (n, 3) handles, r: (n, 3) centres of mass [m];  v: (n, 3) of the centres [m/s], omega: (n, 3) [rad/s]

    v_dot: (n, 3) [m/s2] and omega_dot: (n, 3) [rad/s2] of the centres;  axes: (nv, 3) of the freedoms.  All global.
    """

    A: Array
    P: Array
    r: Array
    v: Array
    omega: Array
    v_dot: Array
    omega_dot: Array
    axes: Array

    @property
    def twist(self) -> Array:
        """Velocity twists (v_O, omega) at the world origin, (n, 6): seed 000 (7)."""
        return np.hstack([self.v - np.cross(self.omega, self.r), self.omega])


@check_keywords
def link_motion(
    chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, qdd: npt.ArrayLike | None = None
) -> LinkMotion:
    """What every link does at q (nq,), qd (nv,), qdd (nv,) (None: zero).  Raises UsageError for wrong lengths."""
    need_chain(chain, "link_motion")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    work = chain.workspace()
    motion_entry(chain.tables.ints, chain.tables.reals, work, q, qd, qdd)
    A, places, rates = (chain.matrix(work, name) for name in ("LINK_A", "LINK_PLACE", "LINK_RATE"))
    motion, axes = chain.matrix(work, "LINK_MOTION"), chain.matrix(work, "FREEDOM_ROOM")[:, :3]
    chain.give_back(work)
    if not (np.isfinite(places).all() and np.isfinite(rates).all() and np.isfinite(motion).all()):
        raise no_answer(chain, FINE, q, qd, qdd)
    P, c, v, omega = places[:, :3], places[:, 6:], rates[:, :3], rates[:, 3:6]
    a, alpha = motion[:, :3] + chain.gravity + np.cross(omega, v), motion[:, 3:]
    v_dot = a + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
    return LinkMotion(A.reshape(-1, 3, 3), P, P + c, v + np.cross(omega, c), omega, v_dot, alpha, axes)


@check_keywords
def jacobians(chain: BaseChain, at: LinkMotion | npt.ArrayLike) -> tuple[Array, Array]:
    """J_S and J_R, (n, 3, nv) each: v_C = J_S q_dot and omega = J_R q_dot, global.

    at: the coordinates q (nq,), or what `link_motion` gave for `chain`, where that is there already
    Raises UsageError for wrong lengths, and for the motion of another chain.
    """
    need_chain(chain, "jacobians")
    motion = at if isinstance(at, LinkMotion) else link_motion(chain, at)
    if len(motion.r) != chain.n or len(motion.axes) != chain.nv:
        what = f"{len(motion.r)} links and {len(motion.axes)} freedoms, chain {chain.name!r} has {chain.n} and {chain.nv}"
        raise UsageError(f"jacobians got the motion of another chain: it has {what}. Give link_motion(chain, q), or q itself.")
    kinds, owners = chain.tables["FREEDOMS"].T
    carried = np.arange(chain.n)[:, None] >= owners
    slide = kinds == SLIDE
    arms = motion.r[:, None] - motion.P[owners]
    J_S = np.where(slide[:, None], motion.axes, np.cross(motion.axes, arms)) * carried[..., None]
    J_R = np.where(slide[:, None], 0.0, motion.axes) * carried[..., None]
    return np.swapaxes(J_S, 1, 2), np.swapaxes(J_R, 1, 2)
