r"""rnea: inverse dynamics by the recursive Newton-Euler algorithm, and what every joint carries.

    outward    a_i = a_(i-1) shifted + sum s q_ddot + b_i            a_0 = -g
               f_i = I_i a_i + v x* I v - external
    inward     f_i += f_(i+1) shifted from handle i+1 to handle i       the wrench through joint i on link i, about its handle
               tau = s^T f_i

The wrench through a joint is what its constraint carries AND what its actuator gives: s^T f = tau.
Cost: O(n).
Source: Luh, Walker, Paul (1980); Featherstone ch. 5; seed 001 (equation of motion), seed 002 (inverse dynamics).
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.algebra.jit import entry, inlined
from haugmbd.algebra.vec3 import Array, Ints, add, cross, dot, load, scale, store, sub
from haugmbd.model import tables as at
from haugmbd.model.tables import view
from haugmbd.recursive.aba import FINE
from haugmbd.recursive.chain import SerialChain
from haugmbd.recursive.inertia import place_inertia, put_bias_wrench, times_inertia
from haugmbd.recursive.kinematics import AXIS, B_ANGULAR, B_LINEAR, MASS, SLIDE, STEP, C, place, rate
from haugmbd.recursive.trouble import need_chain, no_answer


@inlined
def accelerate(ints: Ints, reals: Array, work: Array, qdd: Array) -> None:
    """Spatial accelerations of the links, gravity as an acceleration of the base, after `rate`."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    where, moving, room = view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_RATE), view(work, ints, at.FREEDOM_ROOM)
    motion = view(work, ints, at.LINK_MOTION)
    a, alpha = sub((0.0, 0.0, 0.0), load(view(reals, ints, at.GRAVITY), 0, 0)), (0.0, 0.0, 0.0)
    for i in range(links.shape[0]):
        a = add(a, cross(alpha, load(where, i, STEP)))
        for k in range(links[i, 0], links[i, 0] + links[i, 1]):
            s = scale(qdd[k], load(room, k, AXIS))
            if freedoms[k, 0] == SLIDE:
                a = add(a, s)
            else:
                alpha = add(alpha, s)
        a, alpha = add(a, load(moving, i, B_LINEAR)), add(alpha, load(moving, i, B_ANGULAR))
        store(motion, i, 0, a)
        store(motion, i, 3, alpha)


@inlined
def gather(ints: Ints, reals: Array, work: Array, tau: Array) -> None:
    """The inward pass: wrenches through the joints, and tau."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    link, where, motion = view(reals, ints, at.LINK_REALS), view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_MOTION)
    G, wrench, room = view(work, ints, at.LINK_J), view(work, ints, at.LINK_WRENCH), view(work, ints, at.FREEDOM_ROOM)
    f, n = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(links.shape[0] - 1, -1, -1):
        c, a, alpha = load(where, i, C), load(motion, i, 0), load(motion, i, 3)
        F = scale(link[i, MASS], add(a, cross(alpha, c)))
        f = add(f, add(F, load(wrench, i, 0)))
        n = add(n, add(add(times_inertia(G, i, alpha), cross(c, F)), load(wrench, i, 3)))
        store(wrench, i, 0, f)
        store(wrench, i, 3, n)
        for k in range(links[i, 0], links[i, 0] + links[i, 1]):
            z = load(room, k, AXIS)
            tau[k] = dot(z, f) if freedoms[k, 0] == SLIDE else dot(z, n)
        n = add(n, cross(load(where, i, STEP), f))


@entry
def rnea_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, qdd: Array, pushes: Array, tau: Array) -> bool:
    """Generalized forces tau (nv,), and whether they are finite; joint wrenches and link accelerations stay in the work room."""
    place(ints, reals, work, q)
    rate(ints, work, qd)
    place_inertia(ints, reals, work)
    put_bias_wrench(ints, reals, work, pushes)
    accelerate(ints, reals, work, qdd)
    gather(ints, reals, work, tau)
    total = 0.0
    for k in range(tau.size):
        total += tau[k]
    return isfinite(total)


class Carried(NamedTuple):
    """tau: (nv,);  wrench: (n, 6) force and moment through joint i on link i, about its handle `point` (n, 3), global."""

    tau: Array
    wrench: Array
    point: Array


def rnea(
    chain: SerialChain, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike | None = None, *, wrenches: Any = None
) -> Array:
    """Generalized forces tau (nv,) that give `chain` the accelerations qdd (nv,) (None: zero) at q (nq,), qd (nv,).

    wrenches: (n, 6) external force [N] and moment [N m] on each link at its centre of mass, global
    Raises UsageError for wrong lengths.
    """
    need_chain(chain, "rnea")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    pushes, work, tau = chain.read_wrenches(wrenches), chain.room(), np.empty(chain.nv)
    fine = rnea_entry(chain.tables.ints, chain.tables.reals, work, q, qd, qdd, pushes, tau)
    chain.give_back(work)
    if not fine:
        raise no_answer(chain, FINE, q, qd, qdd, pushes)
    return tau


def joint_wrenches(chain: SerialChain, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, wrenches: Any = None) -> Carried:
    """What every joint carries (constraint and actuator together) at q, qd when the chain accelerates with qdd; see `rnea`."""
    need_chain(chain, "joint_wrenches")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    pushes, work, tau = chain.read_wrenches(wrenches), chain.room(), np.empty(chain.nv)
    fine = rnea_entry(chain.tables.ints, chain.tables.reals, work, q, qd, qdd, pushes, tau)
    found = Carried(tau, chain.matrix(work, "LINK_WRENCH"), chain.matrix(work, "LINK_PLACE")[:, :3])
    chain.give_back(work)
    if not fine:
        raise no_answer(chain, FINE, q, qd, qdd, pushes)
    return found
