r"""The response of a serial chain to impulses, in two passes: the compiled part of `chain_impulse` and `articulated_impulse`.

    inward     I^A_i, U, 1/D as in `aba`, all at rest;   p_i = -(impulse on link i)
               p^A_i = p_i + what is left of p^A_(i+1);   each freedom:   u = tau - s^T p^A,   p^A <- p^A + U u / D
    outward    dv = dv_(i-1) shifted    dq_dot = (u - U^T dv) / D,   dv <- dv + s dq_dot, each freedom
               l_i = I^A_i dv_i + p^A_i                                  reaction impulse through joint i on link i

An impulse acts for no time, so that rates and gravity do not matter. I^A_i and p^A_i are kept from the inward pass, so that l_i is
computed at its joint: the sum of I_i dv_i from the tip would lose digits by cancellation.

A contact acts on link k at a point along n with the impulse -n J; the links beyond move with it:
    p_k = (n, arm x n) at the handle,   dv, dq_dot, l: the response to J = 1
    n^T A^-1 n = sum u^2 / D,           J = (1 + e) v_imp / (n^T A^-1 n)
Freedoms beyond link k have u = 0, and no reaction crosses their joints but that of their own inertia.
Cost: O(n), with 6-vectors only.
Source: Mirtich 1996, ch. 4 (impulses on articulated bodies); Featherstone 2008, ch. 7.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, inlined, kernel
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    NO_TWIST,
    NO_WRENCH,
    ArticulatedInertia,
    Wrench,
    add_wrenches,
    shift_twist,
    times_twist,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global
from haugmbd.serial_chain.chain_arrays import (
    ChainArrays,
    center,
    chain_arrays,
    end_freedom,
    first_freedom,
    handle,
    slides,
    step,
    store_pair,
)
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.aba import FINE, NOTHING_BEYOND, Eliminated, eliminate_joint
from haugmbd.serial_chain.recursions.articulated_inertia import (
    D_INV,
    SMALL_U,
    add_rigid,
    freedom_response,
    load_wrench,
    move_along,
    store_wrench,
    velocity,
)
from haugmbd.serial_chain.recursions.link_inertia import place_inertia

KEPT = 27
"""Numbers kept for a link: I^A = [M H; H^T J] (6 + 9 + 6) and p^A (6), about its handle."""

STRIKE = np.dtype(
    [
        ("link", "i8"),
        ("in_link_frame", "i8"),
        ("normal", "f8", (3,)),
        ("moment", "f8", (3,)),
        ("point", "f8", (3,)),
        ("restitution", "f8"),
        ("v_imp", "f8"),
        ("v_bounce", "f8"),
        ("compliance", "f8"),
        ("impulse", "f8"),
        ("yields", "f8"),
    ],
    align=True,
)
"""A contact.  Given: the link, or -1 for none; whether the point is in the link frame; unit normal, point, restitution.

Found: moment = point x normal, v_imp, v_bounce, compliance = n^T A^-1 n, the impulse J, and the largest u of a freedom against its lever.
"""


RECORD = np.dtype((np.record, STRIKE))
"""The same with attributes, as in compiled code."""


NO_VECTOR = (0.0, 0.0, 0.0)


def strike_record(
    link: int = -1, in_link_frame: bool = False, normal: Any = NO_VECTOR, point: Any = NO_VECTOR, restitution: float = 0.0
) -> Any:
    """Return a contact of `link`, with what is found zero; link -1 means no contact."""
    given = link, in_link_frame, normal, NO_VECTOR, point, restitution, 0.0, 0.0, 0.0, 0.0, 0.0
    return np.array([given], dtype=RECORD)[0]


class Response(NamedTuple):
    """The response of a chain to impulses.

    dqd: (nv,) change of the joint rates;  l: (n, 6) impulses through the joints;  dv: (n, 6) changes of the twists
    """

    dqd: Array
    l: Array
    dv: Array


@kernel
def three(a: Array) -> Vec:
    """Return the numbers of an array (3,)."""
    return (a[0], a[1], a[2])


@kernel
def keep(kept: Array, i: int, I: ArticulatedInertia, p: Wrench) -> None:
    """Keep I^A and p^A of link i."""
    for a in range(6):
        kept[i, a], kept[i, 15 + a] = I.M[a], I.J[a]
    for a in range(9):
        kept[i, 6 + a] = I.H[a]
    store(kept, i, 21, p.force)
    store(kept, i, 24, p.moment)


@kernel
def kept_inertia(kept: Array, i: int) -> ArticulatedInertia:
    """Return I^A of link i."""
    k = kept[i]
    return ArticulatedInertia(
        (k[0], k[1], k[2], k[3], k[4], k[5]),
        (k[6], k[7], k[8], k[9], k[10], k[11], k[12], k[13], k[14]),
        (k[15], k[16], k[17], k[18], k[19], k[20]),
    )


@kernel
def kept_bias(kept: Array, i: int) -> Wrench:
    """Return p^A of link i."""
    return Wrench(load(kept, i, 21), load(kept, i, 24))


@inlined
def apply_external(c: ChainArrays, external: Array) -> None:
    """Write p_i = -(impulse on link i) about its handle, from impulses (n, 6) about the centres of mass; none is (0, 6)."""
    for i in range(c.links.shape[0]):
        store_wrench(c, i, NO_WRENCH)
        if external.shape[0] > 0:
            f, n = load(external, i, 0), load(external, i, 3)
            store_wrench(c, i, Wrench(scale(-1.0, f), scale(-1.0, add(n, cross(center(c, i), f)))))


@inlined
def apply_strike(c: ChainArrays, strike: Any) -> None:
    """Write v_imp and p_k of a contact; a point given in the link frame becomes a global one."""
    k, n, point = strike.link, three(strike.normal), three(strike.point)
    if strike.in_link_frame == 1:
        point = add(handle(c, k), to_global(c.A, k, point))
    arm, v, moment = sub(point, handle(c, k)), velocity(c, k), cross(point, n)
    for a in range(3):
        strike.point[a], strike.moment[a] = point[a], moment[a]
    strike.v_imp = dot(n, add(v.linear, cross(v.angular, arm)))
    store_wrench(c, k, Wrench(n, cross(arm, n)))


@inlined
def articulate_at_rest(c: ChainArrays, tau: Array, kept: Array) -> int:
    """Run the inward pass: U, 1/D, u of every freedom, I^A and p^A of every link; return a freedom without inertia, or FINE."""
    weak = FINE
    left = Eliminated(NO_INERTIA, NO_WRENCH, NOTHING_BEYOND, FINE)
    for i in range(c.links.shape[0] - 1, -1, -1):
        I, p = add_rigid(left.inertia, c, i), add_wrenches(left.bias, load_wrench(c, i))
        keep(kept, i, I, p)
        left = eliminate_joint(c, i, I, p, left.scale, tau)
        weak = left.weak if left.weak != FINE else weak
    return weak


@inlined
def respond(c: ChainArrays, kept: Array, response: Response) -> None:
    """Run the outward pass: dq_dot (nv,), l_i and dv_i (n, 6) about and at the handles."""
    dv = NO_TWIST
    for i in range(c.links.shape[0]):
        dv = shift_twist(dv, step(c, i))
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            response.dqd[k] = freedom_response(c, k, dv)
            dv = move_along(dv, c, k, response.dqd[k])
        l = add_wrenches(kept_bias(kept, i), times_twist(kept_inertia(kept, i), dv))
        store_pair(response.l, i, l.force, l.moment)
        store_pair(response.dv, i, dv.linear, dv.angular)


@inlined
def bounce(c: ChainArrays, strike: Any, response: Response) -> None:
    """Apply the law of contact: n^T A^-1 n and J; the response to J = 1 becomes that to J, at the world origin."""
    point, (dqd, l, dv) = three(strike.point), response
    far = dot(point, point) ** 0.5
    compliance, yields = 0.0, 0.0
    for k in range(c.freedoms.shape[0]):
        u = c.joint[k, SMALL_U]
        compliance += u * u * c.joint[k, D_INV]
        arm = sub(point, handle(c, c.freedoms[k, 1]))
        lever = 1.0 if slides(c, k) else dot(arm, arm) ** 0.5 + far
        yields = max(yields, abs(u) / lever if u != 0.0 else 0.0)
    J = (1.0 + strike.restitution) * strike.v_imp / compliance if strike.v_imp > 0.0 and compliance > 0.0 else 0.0
    strike.compliance, strike.impulse, strike.yields = compliance, J, yields
    for k in range(c.freedoms.shape[0]):
        dqd[k] = J * dqd[k] if J > 0.0 else 0.0
    for i in range(l.shape[0]):
        for a in range(6):
            l[i, a] = J * l[i, a] if J > 0.0 else 0.0
            dv[i, a] = J * dv[i, a] if J > 0.0 else 0.0
        store(l, i, 3, add(load(l, i, 3), cross(handle(c, i), load(l, i, 0))))
        store(dv, i, 0, add(load(dv, i, 0), cross(handle(c, i), load(dv, i, 3))))
    strike.v_bounce = strike.v_imp
    for a in range(3):
        strike.v_bounce += strike.normal[a] * dv[strike.link, a] + strike.moment[a] * dv[strike.link, 3 + a]


@inlined
def impulse_response(
    c: ChainArrays, kept: Array, q: Array, qd: Array, tau: Array, external: Array, strike: Any, response: Response
) -> int:
    """Compute the response to joint impulses tau and external impulses about the handles, or to a contact, at the world origin.

    Returns the freedom without inertia, or FINE.
    """
    place(c, q)
    place_inertia(c)
    apply_external(c, external)
    if strike.link >= 0:
        rate(c, qd)
        apply_strike(c, strike)
    weak = articulate_at_rest(c, tau, kept)
    respond(c, kept, response)
    if strike.link >= 0:
        bounce(c, strike, response)
    return weak


@entry
def impulse_entry(
    tables: tuple[Ints, Array, Array],
    kept: Array,
    motion: tuple[Array, Array],
    applied: tuple[Array, Array],
    strike: Any,
    response: Response,
) -> int:
    """Run `impulse_response` for Python;  tables: (ints, reals, work);  motion: (q, qd);  applied: (tau, external)."""
    c = chain_arrays(tables[0], tables[1], tables[2])
    return impulse_response(c, kept, motion[0], motion[1], applied[0], applied[1], strike, response)


run_impulse = DirectCall(impulse_entry)
