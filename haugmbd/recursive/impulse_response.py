r"""What a serial chain does when impulses strike it, in two passes: the compiled side of `chain_impulse` and `articulated_impulse`.

    inward     I^A_i, U, 1/D as in `aba`, all at rest;   p_i = -(impulse on link i)
               p^A_i = p_i + what is left of p^A_(i+1);   each freedom:   u = tau - s^T p^A,   p^A <- p^A + U u / D
    outward    dv = dv_(i-1) shifted    dq_dot = (u - U^T dv) / D,   dv <- dv + s dq_dot, each freedom
               l_i = I^A_i dv_i + p^A_i                                  (12): reaction impulse through joint i on link i

An impulse is a force that acts for no time: no rates, no gravity.  I^A_i and p^A_i are kept from the inward pass, so that l_i is
computed where it acts: adding up I_i dv_i from the tip (12) would lose a digit with every other link to cancellation.

A contact (22) strikes link k at a point along n; it gets -n J, and what hangs on link k is dragged along:
    p_k = (n, arm x n) at the handle,   dv, dq_dot, l: the response to J = 1
    n^T A^-1 n = sum u^2 / D,           J = (1 + e) v_imp / (n^T A^-1 n)
Freedoms beyond link k have u = 0, and no reaction crosses their joints but that of their own inertia.
Cost: O(n), with 6-vectors only.
Source: seed 000 (11)-(14), (19)-(22), (27), (28); Featherstone (articulated bodies); Mirtich (1996) ch. 4.
"""

from __future__ import annotations

import numpy as np

from haugmbd.algebra.jit import entry, inlined, kernel
from haugmbd.algebra.vec3 import Array, Ints, Vec, add, cross, dot, load, scale, store, sub, to_global
from haugmbd.model import tables as at
from haugmbd.model.tables import blocks, view
from haugmbd.recursive.aba import (
    FINE,
    Nine,
    Six,
    add_rigid_h,
    add_rigid_j,
    add_rigid_m,
    full,
    full_t,
    let_go,
    sym,
)
from haugmbd.recursive.inertia import place_inertia
from haugmbd.recursive.kinematics import AXIS, D_INV, MASS, OMEGA, SLIDE, SMALL_U, STEP, C, P, U, V, place, rate

KEPT = 27
"""Numbers kept for a link: I^A = [M H; H^T J] (6 + 9 + 6) and p^A (6), about its handle."""
NORMAL, MOMENT, POINT, E, V_IMP, V_BOUNCE, COMPLIANCE, IMPULSE, GIVES, HIT = 0, 3, 6, 9, 10, 11, 12, 13, 14, 15
"""Where the numbers of a contact stand: normal, point x normal (found), the point, e; then, found: v_imp, v_bounce, n^T A^-1 n, J, and
the largest u against its scale.
"""
NO_HIT: Array = np.zeros(HIT)


@kernel
def load_six(table: Array, row: int, first: int) -> Six:
    """Six numbers of a row."""
    t = table[row]
    return (t[first], t[first + 1], t[first + 2], t[first + 3], t[first + 4], t[first + 5])


@kernel
def keep(kept: Array, i: int, M: Six, H: Nine, J: Six, f: Vec, n: Vec) -> None:
    """I^A and p^A of link i."""
    for a in range(6):
        kept[i, a], kept[i, 15 + a] = M[a], J[a]
    for a in range(9):
        kept[i, 6 + a] = H[a]
    store(kept, i, 21, f)
    store(kept, i, 24, n)


@inlined
def apply_pushes(ints: Ints, work: Array, pushes: Array) -> None:
    """p_i = -(impulse on link i) about its handle, from impulses (n, 6) about the centres of mass; none is (0, 6)."""
    where, wrench = view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_WRENCH)
    for i in range(wrench.shape[0]):
        f, n = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if pushes.shape[0] > 0:
            f, n = load(pushes, i, 0), load(pushes, i, 3)
        store(wrench, i, 0, scale(-1.0, f))
        store(wrench, i, 3, scale(-1.0, add(n, cross(load(where, i, C), f))))


@inlined
def strike(ints: Ints, work: Array, k: int, in_link: bool, hit: Array) -> None:
    """v_imp and p_k of a contact; a point given in the link frame becomes a global one."""
    where, moving, wrench = view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_RATE), view(work, ints, at.LINK_WRENCH)
    handle, point = load(where, k, P), (hit[POINT], hit[POINT + 1], hit[POINT + 2])
    if in_link:
        point = add(handle, to_global(blocks(work, ints, at.LINK_A, 3, 3), k, point))
        for a in range(3):
            hit[POINT + a] = point[a]
    n, arm = (hit[NORMAL], hit[NORMAL + 1], hit[NORMAL + 2]), sub(point, handle)
    moment = cross(point, n)
    for a in range(3):
        hit[MOMENT + a] = moment[a]
    hit[V_IMP] = dot(n, add(load(moving, k, V), cross(load(moving, k, OMEGA), arm)))
    store(wrench, k, 0, n)
    store(wrench, k, 3, cross(arm, n))


@inlined
def articulate_at_rest(ints: Ints, reals: Array, work: Array, tau: Array, kept: Array) -> int:
    """The inward pass: U, 1/D, u of every freedom, I^A and p^A of every link; return the freedom whose nothing resists, or FINE."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    link, where, G = view(reals, ints, at.LINK_REALS), view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_J)
    wrench, room = view(work, ints, at.LINK_WRENCH), view(work, ints, at.FREEDOM_ROOM)
    weak, mass, turn = FINE, 0.0, 0.0
    M = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    H = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    f, n = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(links.shape[0] - 1, -1, -1):
        m, c = link[i, MASS], load(where, i, C)
        M, H, J = add_rigid_m(M, m), add_rigid_h(H, m, c), add_rigid_j(J, G, i, m, c)
        f, n = add(f, load(wrench, i, 0)), add(n, load(wrench, i, 3))
        keep(kept, i, M, H, J, f, n)
        M, H, J, f, n, mass, turn, weak = let_go(links, freedoms, where, room, tau, i, M, H, J, f, n, mass, turn, weak)
    return weak


@inlined
def respond(ints: Ints, work: Array, kept: Array, dqd: Array, l: Array, dv: Array) -> None:
    """The outward pass: dq_dot (nv,), l_i and dv_i (n, 6) about and at the handles."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    where, room = view(work, ints, at.LINK_PLACE), view(work, ints, at.FREEDOM_ROOM)
    v, omega = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(links.shape[0]):
        v = add(v, cross(omega, load(where, i, STEP)))
        for k in range(links[i, 0], links[i, 0] + links[i, 1]):
            x = (room[k, SMALL_U] - dot(load(room, k, U), v) - dot(load(room, k, U + 3), omega)) * room[k, D_INV]
            dqd[k] = x
            if freedoms[k, 0] == SLIDE:
                v = add(v, scale(x, load(room, k, AXIS)))
            else:
                omega = add(omega, scale(x, load(room, k, AXIS)))
        M, J = load_six(kept, i, 0), load_six(kept, i, 15)
        a, b = load_six(kept, i, 6), load(kept, i, 12)
        H = (a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2])
        store(l, i, 0, add(load(kept, i, 21), add(sym(M, v), full(H, omega))))
        store(l, i, 3, add(load(kept, i, 24), add(full_t(H, v), sym(J, omega))))
        store(dv, i, 0, v)
        store(dv, i, 3, omega)


@inlined
def bounce(ints: Ints, work: Array, link: int, hit: Array, dqd: Array, l: Array, dv: Array) -> None:
    """The law of contact: n^T A^-1 n and J; the response to J = 1 becomes that to J, at the world origin."""
    freedoms, where, room = view(ints, ints, at.FREEDOMS), view(work, ints, at.LINK_PLACE), view(work, ints, at.FREEDOM_ROOM)
    point = (hit[POINT], hit[POINT + 1], hit[POINT + 2])
    far = dot(point, point) ** 0.5
    compliance, gives = 0.0, 0.0
    for k in range(freedoms.shape[0]):
        u = room[k, SMALL_U]
        compliance += u * u * room[k, D_INV]
        arm = sub(point, load(where, freedoms[k, 1], P))
        lever = 1.0 if freedoms[k, 0] == SLIDE else dot(arm, arm) ** 0.5 + far
        gives = max(gives, abs(u) / lever if u != 0.0 else 0.0)
    J = (1.0 + hit[E]) * hit[V_IMP] / compliance if hit[V_IMP] > 0.0 and compliance > 0.0 else 0.0
    hit[COMPLIANCE], hit[IMPULSE], hit[GIVES] = compliance, J, gives
    for k in range(freedoms.shape[0]):
        dqd[k] = J * dqd[k] if J > 0.0 else 0.0
    for i in range(l.shape[0]):
        handle = load(where, i, P)
        for a in range(6):
            l[i, a] = J * l[i, a] if J > 0.0 else 0.0
            dv[i, a] = J * dv[i, a] if J > 0.0 else 0.0
        store(l, i, 3, add(load(l, i, 3), cross(handle, load(l, i, 0))))
        store(dv, i, 0, add(load(dv, i, 0), cross(handle, load(dv, i, 3))))
    hit[V_BOUNCE] = hit[V_IMP]
    for a in range(6):
        hit[V_BOUNCE] += hit[NORMAL + a] * dv[link, a]


@entry
def impulse_entry(
    ints: Ints, reals: Array, work: Array, kept: Array, q: Array, qd: Array, tau: Array, pushes: Array, k: int, in_link: bool,
    hit: Array, dqd: Array, l: Array, dv: Array,
) -> int:  # fmt: skip
    """Response to joint impulses tau and pushes, about the handles (k < 0), or to a contact of link k, at the world origin.

    Return the freedom without inertia, or FINE.
    """
    place(ints, reals, work, q)
    place_inertia(ints, reals, work)
    apply_pushes(ints, work, pushes)
    if k >= 0:
        rate(ints, work, qd)
        strike(ints, work, k, in_link, hit)
    weak = articulate_at_rest(ints, reals, work, tau, kept)
    respond(ints, work, kept, dqd, l, dv)
    if k >= 0:
        bounce(ints, work, k, hit, dqd, l, dv)
    return weak
