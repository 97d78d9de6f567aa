r"""aba: forward dynamics by the articulated-body algorithm, in three passes.

    outward    kinematics;   p_i = v x* I v - external                                         bias force of the link alone
    inward     I^A_i = I_i + what is left of link i+1,   p^A_i likewise,  p^A += I^A b_i
               each freedom, the last first:   U = I^A s    D = s^T U    u = tau - s^T p^A
                                               I^A <- I^A - U U^T / D    p^A <- p^A + U u / D      what is left gives way along s
               and both are shifted from handle i to handle i-1
    outward    a = a_(i-1) shifted    q_ddot = (u - U^T a) / D,   a <- a + s q_ddot, each freedom;     a_i = a + b_i

I^A = [M H; H^T J] is held in 6 + 9 + 6 numbers and handed inward in registers: a serial chain needs no array of them.
Gravity is an acceleration -g of the base.  Cost: O(n), and the growth exponent is 1.
Source: Featherstone; Mirtich (1996) ch. 4; seed 003 (three passes, frames at the centres of mass; here at the handles).
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.algebra.jit import entry, inlined, kernel
from haugmbd.algebra.vec3 import Array, Ints, Vec, add, cross, dot, load, scale, store, sub
from haugmbd.model import tables as at
from haugmbd.model.tables import view
from haugmbd.recursive.chain import SerialChain
from haugmbd.recursive.inertia import place_inertia, put_bias_wrench
from haugmbd.recursive.kinematics import AXIS, B_ANGULAR, B_LINEAR, D_INV, MASS, SLIDE, SMALL_U, STEP, C, U, place, rate
from haugmbd.recursive.trouble import need_chain, no_answer

FINE, NOT_FINITE = -1, -2

WEAK_TOL = 1e-14
"""A freedom with D below this part of the inertia that stands there or one joint farther out (traces of M or J) has none: what other
freedoms have already let go leaves rounding, 1e-16 times some ten, of either sign."""

Six = tuple[float, float, float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]


@kernel
def sym(M: Six, x: Vec) -> Vec:
    """M x, M symmetric: xx, xy, xz, yy, yz, zz."""
    return (
        M[0] * x[0] + M[1] * x[1] + M[2] * x[2],
        M[1] * x[0] + M[3] * x[1] + M[4] * x[2],
        M[2] * x[0] + M[4] * x[1] + M[5] * x[2],
    )


@kernel
def full(H: Nine, x: Vec) -> Vec:
    """H x."""
    return (
        H[0] * x[0] + H[1] * x[1] + H[2] * x[2],
        H[3] * x[0] + H[4] * x[1] + H[5] * x[2],
        H[6] * x[0] + H[7] * x[1] + H[8] * x[2],
    )


@kernel
def full_t(H: Nine, x: Vec) -> Vec:
    """H^T x."""
    return (
        H[0] * x[0] + H[3] * x[1] + H[6] * x[2],
        H[1] * x[0] + H[4] * x[1] + H[7] * x[2],
        H[2] * x[0] + H[5] * x[1] + H[8] * x[2],
    )


@kernel
def sym_less(M: Six, k: float, a: Vec) -> Six:
    """M - k a a^T."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (M[0] - x * a[0], M[1] - x * a[1], M[2] - x * a[2], M[3] - y * a[1], M[4] - y * a[2], M[5] - z * a[2])


@kernel
def full_less(H: Nine, k: float, a: Vec, b: Vec) -> Nine:
    """H - k a b^T."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (
        H[0] - x * b[0], H[1] - x * b[1], H[2] - x * b[2],
        H[3] - y * b[0], H[4] - y * b[1], H[5] - y * b[2],
        H[6] - z * b[0], H[7] - z * b[1], H[8] - z * b[2],
    )  # fmt: skip


@kernel
def add_rigid_m(M: Six, m: float) -> Six:
    """M + m 1."""
    return (M[0] + m, M[1], M[2], M[3] + m, M[4], M[5] + m)


@kernel
def add_rigid_h(H: Nine, m: float, c: Vec) -> Nine:
    """H - m c~."""
    x, y, z = m * c[0], m * c[1], m * c[2]
    return (H[0], H[1] + z, H[2] - y, H[3] - z, H[4], H[5] + x, H[6] + y, H[7] - x, H[8])


@kernel
def add_rigid_j(J: Six, G: Array, i: int, m: float, c: Vec) -> Six:
    """J + J_C - m c~ c~, G (n, 6) the inertias about the centres of mass."""
    x, y, z = c
    return (
        J[0] + G[i, 0] + m * (y * y + z * z),
        J[1] + G[i, 1] - m * x * y,
        J[2] + G[i, 2] - m * x * z,
        J[3] + G[i, 3] + m * (x * x + z * z),
        J[4] + G[i, 4] - m * y * z,
        J[5] + G[i, 5] + m * (x * x + y * y),
    )


@kernel
def shift_h(H: Nine, M: Six, d: Vec) -> Nine:
    """H - M d~: the coupling seen from the handle that is d farther in."""
    x, y, z = d
    return (
        H[0] - (M[1] * z - M[2] * y), H[1] - (M[2] * x - M[0] * z), H[2] - (M[0] * y - M[1] * x),
        H[3] - (M[3] * z - M[4] * y), H[4] - (M[4] * x - M[1] * z), H[5] - (M[1] * y - M[3] * x),
        H[6] - (M[4] * z - M[5] * y), H[7] - (M[5] * x - M[2] * z), H[8] - (M[2] * y - M[4] * x),
    )  # fmt: skip


@kernel
def shift_j(J: Six, H: Nine, S: Nine, d: Vec) -> Six:
    """J - H^T d~ + d~ S, S the shifted H."""
    x, y, z = d
    return (
        J[0] - (H[3] * z - H[6] * y) + (y * S[6] - z * S[3]),
        J[1] - (H[6] * x - H[0] * z) + (y * S[7] - z * S[4]),
        J[2] - (H[0] * y - H[3] * x) + (y * S[8] - z * S[5]),
        J[3] - (H[7] * x - H[1] * z) + (z * S[1] - x * S[7]),
        J[4] - (H[1] * y - H[4] * x) + (z * S[2] - x * S[8]),
        J[5] - (H[2] * y - H[5] * x) + (x * S[5] - y * S[2]),
    )


@kernel
def let_go(
    links: Ints,
    freedoms: Ints,
    where: Array,
    room: Array,
    tau: Array,
    i: int,
    M: Six,
    H: Nine,
    J: Six,
    f: Vec,
    n: Vec,
    mass: float,
    turn: float,
    weak: int,
) -> tuple[Six, Nine, Six, Vec, Vec, float, float, int]:
    """Let link i give way along its freedoms, the last first, and hand what is left (I^A, p^A) to the handle before.

    mass, turn: traces of M and J one joint farther out, what a freedom's D is compared with;  weak: the last freedom without inertia
    """
    own_mass, own_turn = M[0] + M[3] + M[5], J[0] + J[3] + J[5]
    mass, turn = max(mass, own_mass), max(turn, own_turn)
    for k in range(links[i, 0] + links[i, 1] - 1, links[i, 0] - 1, -1):
        z = load(room, k, AXIS)
        if freedoms[k, 0] == SLIDE:
            Ul, Ua = sym(M, z), full_t(H, z)
            D, u, could = dot(z, Ul), tau[k] - dot(z, f), mass
        else:
            Ul, Ua = full(H, z), sym(J, z)
            D, u, could = dot(z, Ua), tau[k] - dot(z, n), turn
        d = 0.0
        if D > WEAK_TOL * could:
            d = 1.0 / D
        else:
            weak = k
        store(room, k, U, Ul)
        store(room, k, U + 3, Ua)
        room[k, D_INV], room[k, SMALL_U] = d, u
        M, H, J = sym_less(M, d, Ul), full_less(H, d, Ul, Ua), sym_less(J, d, Ua)
        f, n = add(f, scale(u * d, Ul)), add(n, scale(u * d, Ua))
    step = load(where, i, STEP)
    S = shift_h(H, M, step)
    J = shift_j(J, H, S, step)
    n = add(n, cross(step, f))
    return M, S, J, f, n, own_mass, own_turn + own_mass * dot(step, step), weak


@inlined
def articulate(ints: Ints, reals: Array, work: Array, tau: Array) -> int:
    """The inward pass: U, 1/D, u of every freedom; return the freedom whose D is not positive, or FINE."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    link, where, moving = view(reals, ints, at.LINK_REALS), view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_RATE)
    G, wrench, room = view(work, ints, at.LINK_J), view(work, ints, at.LINK_WRENCH), view(work, ints, at.FREEDOM_ROOM)
    weak, mass, turn = FINE, 0.0, 0.0
    M = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    H = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    f, n = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(links.shape[0] - 1, -1, -1):
        m, c = link[i, MASS], load(where, i, C)
        M, H, J = add_rigid_m(M, m), add_rigid_h(H, m, c), add_rigid_j(J, G, i, m, c)
        b, beta = load(moving, i, B_LINEAR), load(moving, i, B_ANGULAR)
        f = add(add(f, load(wrench, i, 0)), add(sym(M, b), full(H, beta)))
        n = add(add(n, load(wrench, i, 3)), add(full_t(H, b), sym(J, beta)))
        M, H, J, f, n, mass, turn, weak = let_go(links, freedoms, where, room, tau, i, M, H, J, f, n, mass, turn, weak)
    return weak


@inlined
def give_way(ints: Ints, work: Array, a: Vec, qdd: Array) -> None:
    """The outward pass from the base's acceleration a: q_ddot (nv,)."""
    links, freedoms = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS)
    where, moving, room = view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_RATE), view(work, ints, at.FREEDOM_ROOM)
    alpha = (0.0, 0.0, 0.0)
    for i in range(links.shape[0]):
        a = add(a, cross(alpha, load(where, i, STEP)))
        for k in range(links[i, 0], links[i, 0] + links[i, 1]):
            x = (room[k, SMALL_U] - dot(load(room, k, U), a) - dot(load(room, k, U + 3), alpha)) * room[k, D_INV]
            qdd[k] = x
            if freedoms[k, 0] == SLIDE:
                a = add(a, scale(x, load(room, k, AXIS)))
            else:
                alpha = add(alpha, scale(x, load(room, k, AXIS)))
        a = add(a, load(moving, i, B_LINEAR))
        alpha = add(alpha, load(moving, i, B_ANGULAR))


@inlined
def forward_dynamics(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, tau: Array, pushes: Array, qdd: Array) -> int:
    """All of it: joint accelerations qdd (nv,); return the freedom without inertia, or FINE."""
    place(ints, reals, work, q)
    rate(ints, work, qd)
    place_inertia(ints, reals, work)
    put_bias_wrench(ints, reals, work, pushes)
    weak = articulate(ints, reals, work, tau)
    give_way(ints, work, sub((0.0, 0.0, 0.0), load(view(reals, ints, at.GRAVITY), 0, 0)), qdd)
    return weak


@entry
def aba_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, tau: Array, pushes: Array, qdd: Array) -> int:
    """`forward_dynamics` for Python, which also hears of a NaN: NOT_FINITE."""
    weak = forward_dynamics(ints, reals, work, q, qd, tau, pushes, qdd)
    total = 0.0
    for k in range(qdd.size):
        total += qdd[k]
    return weak if weak >= 0 or isfinite(total) else NOT_FINITE


def aba(
    chain: SerialChain, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike | None = None, *, wrenches: Any = None
) -> Array:
    """Joint accelerations qdd (nv,) of `chain` at q (nq,), qd (nv,) under tau (nv,) (None: none).

    wrenches: (n, 6) external force [N] and moment [N m] on each link at its centre of mass, global
    Raises UsageError for wrong lengths, SimulationError where a freedom has no inertia, naming it.
    """
    need_chain(chain, "aba")
    q, qd, tau = chain.read_motion(q, qd, "tau", tau)
    pushes, work, qdd = chain.read_wrenches(wrenches), chain.room(), np.empty(chain.nv)
    weak = aba_entry(chain.tables.ints, chain.tables.reals, work, q, qd, tau, pushes, qdd)
    chain.give_back(work)
    if weak != FINE:
        raise no_answer(chain, weak, q, qd, tau, pushes)
    return qdd
