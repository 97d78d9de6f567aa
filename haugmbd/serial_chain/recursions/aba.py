r"""aba: forward dynamics by the articulated-body algorithm, in three passes.

    outward    kinematics;   p_i = v x* I v - external                                         bias force of the link
    inward     I^A_i = I_i + what is left of link i+1,   p^A_i likewise,  p^A += I^A b_i
               each freedom, the last first:   U = I^A s    D = s^T U    u = tau - s^T p^A
                                               I^A <- I^A - U U^T / D    p^A <- p^A + U u / D      the joint is eliminated
               and both are shifted from handle i to handle i-1
    outward    a = a_(i-1) shifted    q_ddot = (u - U^T a) / D,   a <- a + s q_ddot, each freedom;     a_i = a + b_i

I^A is handed inward in registers: a serial chain needs no array of them.  Gravity is an acceleration -g of the base.  Cost: O(n).
Source: Featherstone 2008, table 7.1; Mirtich 1996, ch. 4 (three passes, frames at the centres of mass; here at the handles).
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, inlined
from haugmbd.deprecated import check_keywords
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    NO_WRENCH,
    ZERO,
    ArticulatedInertia,
    Twist,
    Wrench,
    add_twists,
    add_wrenches,
    rank_one_downdate,
    scale_wrench,
    shift_inertia,
    shift_twist,
    shift_wrench,
    times_full,
    times_full_transposed,
    times_symmetric,
    times_twist,
)
from haugmbd.math.vec3 import dot, scale
from haugmbd.serial_chain.base import BaseChain, need_chain, not_finite_error
from haugmbd.serial_chain.chain_arrays import ChainArrays, axis, chain_arrays, end_freedom, first_freedom, gravity, slides, step
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.link_inertia import (
    add_rigid,
    bias_acceleration,
    freedom_response,
    load_wrench,
    move_along,
    place_inertia,
    put_bias_wrench,
    store_pivot,
)

FINE, NOT_FINITE = -1, -2

WEAK_TOL = 1e-14
"""A freedom with D below this part of the inertia of its link or one joint farther out (traces of M or J) has no inertia: the elimination
of other freedoms leaves rounding of either sign.
"""


class InertiaScale(NamedTuple):
    """The traces of M and J, against which D is compared."""

    translation: float
    rotation: float


class Eliminated(NamedTuple):
    """Articulated inertia and bias force at the handle of the previous link.

    weak: number of the last freedom without inertia; FINE if there is none
    """

    inertia: ArticulatedInertia
    bias: Wrench
    scale: InertiaScale
    weak: int


NOTHING_BEYOND = InertiaScale(0.0, 0.0)


@inlined
def eliminate_joint(c: ChainArrays, i: int, I: ArticulatedInertia, p: Wrench, beyond: InertiaScale, tau: Array) -> Eliminated:
    """Return the inertia and bias after the freedoms of joint i, the last first, are eliminated, at the handle of the link before.

    beyond: the scale at joint i + 1
    """
    translation, rotation = I.M[0] + I.M[3] + I.M[5], I.J[0] + I.J[3] + I.J[5]
    weak = FINE
    for k in range(end_freedom(c, i) - 1, first_freedom(c, i) - 1, -1):
        z = axis(c, k)
        if slides(c, k):
            U = Wrench(times_symmetric(I.M, z), times_full_transposed(I.H, z))
            D, u, largest = dot(z, U.force), tau[k] - dot(z, p.force), max(beyond.translation, translation)
        else:
            U = Wrench(times_full(I.H, z), times_symmetric(I.J, z))
            D, u, largest = dot(z, U.moment), tau[k] - dot(z, p.moment), max(beyond.rotation, rotation)
        D_inv = 0.0
        if D > WEAK_TOL * largest:
            D_inv = 1.0 / D
        else:
            weak = k
        store_pivot(c, k, U, D_inv, u)
        I = rank_one_downdate(I, D_inv, U)
        p = add_wrenches(p, scale_wrench(u * D_inv, U))
    d = step(c, i)
    scale = InertiaScale(translation, rotation + translation * dot(d, d))
    return Eliminated(shift_inertia(I, d), shift_wrench(p, d), scale, weak)


@inlined
def articulate(c: ChainArrays, tau: Array) -> int:
    """Run the inward pass: U, 1/D, u of every freedom; return the freedom whose D is not positive, or FINE."""
    weak = FINE
    left = Eliminated(NO_INERTIA, NO_WRENCH, NOTHING_BEYOND, FINE)
    for i in range(c.links.shape[0] - 1, -1, -1):
        I = add_rigid(left.inertia, c, i)
        p = add_wrenches(add_wrenches(left.bias, load_wrench(c, i)), times_twist(I, bias_acceleration(c, i)))
        left = eliminate_joint(c, i, I, p, left.scale, tau)
        weak = left.weak if left.weak != FINE else weak
    return weak


@inlined
def back_substitute(c: ChainArrays, base: Twist, qdd: Array) -> None:
    """Run the outward pass from the acceleration of the base: q_ddot (nv,)."""
    a = base
    for i in range(c.links.shape[0]):
        a = shift_twist(a, step(c, i))
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            qdd[k] = freedom_response(c, k, a)
            a = move_along(a, c, k, qdd[k])
        a = add_twists(a, bias_acceleration(c, i))


@inlined
def forward_dynamics(c: ChainArrays, q: Array, qd: Array, tau: Array, external: Array, qdd: Array) -> int:
    """Compute the joint accelerations qdd (nv,); return the freedom without inertia, or FINE."""
    place(c, q)
    rate(c, qd)
    place_inertia(c)
    put_bias_wrench(c, external)
    weak = articulate(c, tau)
    back_substitute(c, Twist(scale(-1.0, gravity(c)), ZERO), qdd)
    return weak


@entry
def aba_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, tau: Array, external: Array, qdd: Array) -> int:
    """Run `forward_dynamics` for Python, and return NOT_FINITE for a NaN."""
    weak = forward_dynamics(chain_arrays(ints, reals, work), q, qd, tau, external, qdd)
    total = 0.0
    for k in range(qdd.size):
        total += qdd[k]
    return weak if weak >= 0 or isfinite(total) else NOT_FINITE


run_aba = DirectCall(aba_entry)


@check_keywords
def aba(chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike | None = None, *, wrenches: Any = None) -> Array:
    """Return the joint accelerations of a serial chain: forward dynamics by the articulated-body algorithm.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates.
    tau : array_like, (nv,), optional
        Generalized forces; by default zero.
    wrenches : array_like, (n, 6), optional
        External force [N] and moment [N m] on each link at its centre of mass, global.

    Returns
    -------
    ndarray, (nv,)
        Joint accelerations.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.
    SimulationError
        If a freedom has no inertia; the message names it.

    Notes
    -----
    The cost is O(n). Source: Featherstone 2008, table 7.1; Mirtich 1996, ch. 4.
    """
    need_chain(chain, "aba")
    q, qd, tau = chain.read_motion(q, qd, "tau", tau)
    external, work, qdd = chain.read_wrenches(wrenches), chain.workspace(), np.empty(chain.nv)
    weak = run_aba(chain.tables.ints, chain.tables.reals, work, q, qd, tau, external, qdd)
    chain.give_back(work)
    if weak != FINE:
        raise not_finite_error(chain, weak, q, qd, tau, external)
    return qdd
