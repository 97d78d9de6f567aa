r"""Newton-Euler: accelerations and multipliers of the augmented system, by one block LDL^T.

    M u_dot + Phi_q^T lam = Q            Q = (F,  n_bar - omega_bar x J_bar omega_bar)
    Phi_q u_dot           = gamma        u = (v, omega_bar),   M = diag(m I, J_bar)

The reaction on a body is -Phi_q^T lam.
Source: seed 004 (EOM: the Newton-Euler Form); Haug sec. 11.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array
from haugmbd.algebra.views import borrow, borrow_line
from haugmbd.model import tables as at
from haugmbd.model.loads import fill_angle_rates, fill_loads
from haugmbd.model.motion import look, move, put_euler_rate
from haugmbd.model.passes import fill_all_rows
from haugmbd.model.status import FREE_AXIS, OK, SINGULAR, report
from haugmbd.model.tables import WIDTH, Pack, blocks, line, view
from haugmbd.saddle.factor import REFINED, Factor, assemble, factor, refine, solve
from haugmbd.saddle.schedule import Steps

@dataclass(frozen=True)
class NewtonEuler:
    """The augmented KKT system in (v, omega_bar), solved by the block LDL^T: O(n) for chains and trees, multipliers included."""


SINGULAR_TOL = 1e-13
"""|pivot| / scale below which the rows depend on one another now: rounding of a pivot that should be zero is about 1e-15."""


@kernel
def steps_of(P: Pack) -> Steps:
    """The order of elimination."""
    i = P.ints
    return Steps(line(i, i, at.ORDER), line(i, i, at.NEAR_AT), view(i, i, at.NEAR), line(i, i, at.PAIR_AT), view(i, i, at.PAIRS))


@kernel
def factor_of(P: Pack) -> Factor:
    """The room of the factorization."""
    return Factor(blocks(P.work, P.ints, at.D, 6, 6), view(P.work, P.ints, at.D_INV), blocks(P.work, P.ints, at.B, 6, 6))


@inlined
def factorize(P: Pack) -> int:
    """Factor the augmented matrix of the rows at hand."""
    f = factor_of(P)
    assemble(
        view(P.ints, P.ints, at.BODY_BLOCK),
        view(P.ints, P.ints, at.BODY_FIRST),
        view(P.reals, P.ints, at.SHIFTED),
        line(P.reals, P.ints, at.PAD),
        blocks(P.work, P.ints, at.J, 2, 6),
        f,
    )
    worst, node = factor(steps_of(P), view(P.reals, P.ints, at.SCALE), f)
    if not worst > SINGULAR_TOL:
        return report(line(P.work, P.ints, at.STATUS), SINGULAR, node, worst)
    return OK


@inlined
def solve_system(P: Pack) -> int:
    """Solve K x = b with the factor at hand: x = (u_dot, lam) for b = (Q, gamma), or any other question to the same matrix."""
    b, x = view(P.work, P.ints, at.RIGHT), view(P.work, P.ints, at.SOLUTION)
    copy(b, x)
    solve(steps_of(P), factor_of(P), x)
    if P.ints[P.ints[3 * at.FLAGS]] == 0:
        return OK
    change, node = refine(
        steps_of(P),
        factor_of(P),
        view(P.reals, P.ints, at.INERTIA),
        line(P.reals, P.ints, at.PAD),
        view(P.ints, P.ints, at.EDGES),
        blocks(P.work, P.ints, at.J, 2, 6),
        b,
        x,
        view(P.work, P.ints, at.CORRECTION),
    )
    if not change <= 1e3 * REFINED:
        return report(line(P.work, P.ints, at.STATUS), FREE_AXIS, node, change)
    return OK


@kernel
def copy(a: Array, b: Array) -> None:
    """b <- a."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


@kernel
def put_right_hand_side(P: Pack) -> None:
    """b = (Q, gamma)."""
    b, Q, level = view(P.work, P.ints, at.RIGHT), view(P.work, P.ints, at.Q), view(P.work, P.ints, at.LEVEL)
    pad = view(P.reals, P.ints, at.PAD)
    n = Q.shape[0]
    for k in range(n):
        for a in range(6):
            b[k, a] = Q[k, a]
    for e in range(pad.shape[0]):
        for a in range(6):
            b[n + e, a] = level[6 * e + a, 2] * (1.0 + pad[e, a])


@inlined
def accelerate(P: Pack, t: float, y: Array) -> int:
    """Leave (u_dot, lam) of the state `y` in the solution."""
    m = move(P, t, y)
    code = fill_loads(P, m, y)
    if code != OK:
        return code
    fill_all_rows(P, m)
    code = factorize(P)
    if code != OK:
        return code
    put_right_hand_side(P)
    return solve_system(P)


@kernel
def put_rates(P: Pack, t: float, y: Array, y_dot: Array) -> None:
    """y_dot = (v, G^T omega_bar / 2, v_dot, omega_bar_dot; angle rates) from the solution."""
    m = look(P, t, y)
    n = m.bodies.shape[0]
    rates = borrow(y_dot, 0, n, WIDTH)
    x = view(P.work, P.ints, at.SOLUTION)
    for k in range(1, n):
        put_euler_rate(m.bodies, rates, k)
        for a in range(3):
            rates[k, a] = m.bodies[k, 7 + a]
        for a in range(6):
            rates[k, 7 + a] = x[k, a]
    if m.angles.shape[0] > 0:
        fill_angle_rates(P, t, y, borrow_line(y_dot, WIDTH * n, m.angles.size))


@inlined
def right_hand_side(P: Pack, t: float, y: Array, y_dot: Array) -> int:
    """y_dot of the state `y` at time `t`, with everything evaluated anew."""
    code = accelerate(P, t, y)
    if code == OK:
        put_rates(P, t, y, y_dot)
    return code
