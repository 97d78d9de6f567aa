r"""What unit friction does to the whole mechanism: a solution of the factored system for each column.

    [ M  Phi_q^T; Phi_q  0 ] x_c = (B_c^T, 0)          of each channel that sticks, or against the direction in which a joint slides
    W   wrenches that the joints carry by x_c           G   rates of the channels by x_c

Source: Haug (2021), friction; the columns are those of the inverse that friction needs.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.load import wrench_of
from haugmbd.model.friction.loop.arrays import Loop
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack


@kernel
def solve_again(P: Pack) -> int:
    """Solve K x = b with the current factor."""
    P.begin(P, P.python_solver)
    code = P.finish(P, P.python_solver)
    if ws.has_massless_directions(P):
        code = P.refine(P, P.python_solver)
    return code


@kernel
def put_wrenches(P: Pack, L: Loop, row: int) -> None:
    """Write the wrenches of all joints, and the rates of all channels, by the current solution to row `row`."""
    x, J, A = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P)
    first = ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        F, M = wrench_of(L.ints, L.terms, k, J, A, x, first)
        for a in range(3):
            L.W[row, 6 * k + a] = F[a]
            L.W[row, 6 * k + 3 + a] = M[a]
        i, j = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
        for c in range(L.ints[k, at.CHANNELS]):
            rate, B = 0.0, at.B + 12 * c
            for a in range(6):
                if i > 0:
                    rate += L.terms[k, B + a] * x[i, a]
                if j > 0:
                    rate += L.terms[k, B + 6 + a] * x[j, a]
            L.G[row, L.ints[k, at.FIRST] + c] = rate


@kernel
def response_of_bodies(inertia: Array, L: Loop, k: int, c: int) -> float:
    """Return the acceleration of channel c by unit friction in it, of the two bodies without joints; massless directions left out."""
    total = 0.0
    for a in range(12):
        body = L.ints[k, at.BODY_I] if a < 6 else L.ints[k, at.BODY_J]  # noqa: PLR2004
        mass = inertia[body, 0] if a % 6 < 3 else inertia[body, 1 + 4 * (a % 6 - 3)]  # noqa: PLR2004
        if body > 0 and mass > 0.0:
            total += L.terms[k, at.B + 12 * c + a] ** 2 / mass
    return total


@kernel
def put_column(P: Pack, L: Loop, k: int, c: int, slides: bool) -> int:
    """Solve for a unit force in channel c of joint k, or against its sliding; write column, wrenches and rates."""
    b, x = ws.right_hand_side(P), ws.solution(P)
    for node in range(b.shape[0]):
        for a in range(6):
            b[node, a] = 0.0
    i, j = L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
    for d in range(L.ints[k, at.CHANNELS]):
        f = -L.terms[k, at.DIRECTION + d] if slides else 1.0 if d == c else 0.0
        for a in range(6):
            b[i, a] += f * L.terms[k, at.B + 12 * d + a]
            b[j, a] += f * L.terms[k, at.B + 12 * d + 6 + a]
    for a in range(6):
        b[0, a] = 0.0
    code = solve_again(P)
    column = L.ints[k, at.FIRST] + c
    L.active[1, column] = response_of_bodies(ws.inertia(P), L, k, c)
    L.active[2, column] = L.terms[k, at.ARM + c] ** 2
    for node in range(x.shape[0]):
        for a in range(6):
            L.X[column, 6 * node + a] = x[node, a]
    put_wrenches(P, L, column)
    return code


@kernel
def put_columns(P: Pack, L: Loop) -> int:
    """Write wrenches and rates of the solution without friction, and a column for each joint that slides and rate that sticks."""
    last = L.X.shape[0]
    put_wrenches(P, L, last)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        slides = L.terms[k, at.STATE] != at.STICKS
        for c in range(L.ints[k, at.CHANNELS]):
            L.G[last, L.ints[k, at.FIRST] + c] += L.terms[k, at.BIAS + c]
            if c == 0 or not slides:
                code = put_column(P, L, k, c, slides)
                if code != OK:
                    return code
    return OK
