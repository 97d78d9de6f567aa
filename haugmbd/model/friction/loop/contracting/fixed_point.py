r"""Joints that slide, where the loop contracts: an iteration with one solution of the factored system for the friction of all joints.

    K x = (Q + B^T f, gamma),   f <- C(w(x))            where it contracts, f is unique (`contraction`)

It starts from the friction without the loop, so that the result depends on the state alone.
Where the bound does not prove that the loop contracts, it must along every step, by a half, and no joint alone may have slope 1: then
1 - dC/df has a positive determinant, as `uniqueness` wants it.  If it does not, the columns decide.
Source: as `anderson`, `contraction`.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.kkt.block_solver import factor_of
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.channels import add_friction
from haugmbd.model.friction.load import force_of, moments_press, normal_force, thrust, wrench_of
from haugmbd.model.friction.loop.arrays import Loop
from haugmbd.model.friction.loop.contracting.anderson import AGREES, FAILS, advance, forget
from haugmbd.model.friction.loop.contracting.contraction import slope_bounds
from haugmbd.model.friction.loop.responses import solve_again
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

MOST = 30
"""Iterations.  If more are needed, the columns are solved for."""


@kernel
def may_contract(P: Pack, L: Loop) -> tuple[bool, bool]:
    """Return whether all joints slide, none with a slope of 1 alone, and whether it is proved that their loop contracts."""
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.SLIDES:
            return False, False
    alone, q = slope_bounds(P, factor_of(P), L)  # type: ignore[arg-type]
    return alone < 1.0, q < 1.0


@kernel
def put_limits_of_solution(P: Pack, L: Loop, out: Array) -> None:
    """Write C(w(x)) of the current solution x to out (n,), and normal force, limit at rest and margin to the terms."""
    x, J, A, first = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P)
    terms = L.terms
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            out[k] = 0.0
            continue
        if moments_press(L.ints, L.reals, k):
            F, M = wrench_of(L.ints, terms, k, J, A, x, first)
        else:
            F, M = force_of(L.ints, k, J, x, first), (0.0, 0.0, 0.0)
        N, push = normal_force(L.ints, L.reals, terms, k, F, M), abs(thrust(L.ints, terms, k, F))
        out[k] = terms[k, at.C_0] + terms[k, at.C_1] * N + terms[k, at.C_2] * push
        terms[k, at.NORMAL] = N
        terms[k, at.LIMIT] = terms[k, at.S_0] + terms[k, at.S_1] * N + terms[k, at.S_2] * push


@kernel
def put_forces(P: Pack, L: Loop, f_t: Array) -> None:
    """Write the friction of sliding f_t, and b = (Q + B^T f, gamma)."""
    b, Q = ws.right_hand_side(P), ws.generalized_forces(P)
    for body in range(Q.shape[0]):
        for a in range(6):
            b[body, a] = Q[body, a]
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            for c in range(L.ints[k, at.CHANNELS]):
                L.terms[k, at.FRICTION + c] = -f_t[k] * L.terms[k, at.DIRECTION + c]
            add_friction(L.ints, L.terms, k, b)
    for a in range(6):
        b[0, a] = 0.0


@kernel
def iterate_solutions(P: Pack, L: Loop, proved: bool) -> bool:
    """Iterate from the solution without friction; return whether friction and multipliers agree, and the loop contracts.

    proved: whether it is known to contract, otherwise it must along every step
    """
    before = slope = 0.0
    forget(L.f_t)
    put_limits_of_solution(P, L, L.f_t[0])
    for count in range(MOST):
        put_forces(P, L, L.f_t[0])
        if solve_again(P) != OK:
            return False
        put_limits_of_solution(P, L, L.f_t[1])
        result, before, slope = advance(L.f_t, count, before, slope, proved)
        if result == AGREES:
            for k in range(L.ints.shape[0]):
                L.terms[k, at.MARGIN] = L.terms[k, at.LIMIT] - L.f_t[0, k]
            return True
        if result == FAILS:
            return False
    return False
