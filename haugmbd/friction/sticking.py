"""Joints that stick: their friction, by which they have no acceleration, and the steps and projections that leave them in place.

    no acceleration     B u' + bias = 0 gives their friction f: rows that are switched on
                        S f = -rates          S = B K^-1 B^T,  rates: of x_0 with the bias, and by unit friction of each joint that slides
    no motion           x = K^-1 b + sum f_c x_c,   S f = -B (K^-1 b + u)       x: change of the state;  u: rates that it should end, or 0
                        x_c = K^-1 (B_c^T, 0): x fulfils the rows as K^-1 b does; the f are impulses of friction

S is symmetric, positive semidefinite.  Channels that stick and depend on each other (all joints of a mechanism that comes to rest) are told
by their pivots, and carry nothing.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import Loop, keep_solution, loop_of
from haugmbd.friction.responses import put_column, put_wrenches, solve_again
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Pack

HELD = 1e-12
"""Relative to the bodies alone: a rate that gives way less to its own friction is held by joints."""


DEPENDENT = 1e-10
"""Relative to its own entry: a smaller pivot belongs to a channel whose rate follows from the others."""


@kernel
def eliminate_sticking(S: Array, R: Array, active: Array, weight: Array, done: Array) -> None:
    """Solve S f = r for each row r of R, in place, over the active channels; those that depend on others get 0.

    weight: (m,) the channel with the largest weight * S_pp comes first: what sticks with the longest lever;  done: (m,) work array
    """
    for p in range(S.shape[0]):
        done[p] = 1.0 if active[p] == 0.0 else 0.0
    for _ in range(S.shape[0]):
        # the pivot S_pp with the largest weight: the channel that moves its joint most
        p = -1
        for c in range(S.shape[0]):
            if done[c] == 0.0 and (p < 0 or weight[c] * S[c, c] > weight[p] * S[p, p]):
                p = c
        if p < 0:
            break
        done[p] = 1.0
        if not S[p, p] > DEPENDENT * active[p]:
            active[p] = -1.0
            continue
        # r <- r - S_rp / S_pp r_p, for all right-hand sides;  S_rc <- S_rc - S_rp / S_pp S_pc
        for row in range(R.shape[0]):
            if R[row, p] != 0.0:  # most rows are of joints that stick, and empty
                for r in range(S.shape[0]):
                    if r != p and active[r] != 0.0:
                        R[row, r] -= S[r, p] / S[p, p] * R[row, p]
        for r in range(S.shape[0]):
            if r == p or active[r] == 0.0 or S[r, p] == 0.0:
                continue
            factor = S[r, p] / S[p, p]
            for c in range(S.shape[1]):
                S[r, c] -= factor * S[p, c]
    # S is diagonal on the pivots: f_p = r_p / S_pp
    for p in range(S.shape[0]):
        for row in range(R.shape[0]):
            R[row, p] = R[row, p] / S[p, p] if active[p] > 0.0 else 0.0


@kernel
def condense_sticking(L: Loop) -> None:
    """Write the friction R of the channels that stick, by x_0 and by each joint that slides, and the wrenches w_0, V with it."""
    m, n = L.X.shape[0], L.ints.shape[0]
    # the channels that stick, with S_cc; those that give way less than HELD are held by joints
    for c in range(m):
        L.active[0, c] = 0.0
    for k in range(n):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] == at.STICKS:
            for c in range(L.ints[k, at.FIRST], L.ints[k, at.FIRST] + L.ints[k, at.CHANNELS]):
                L.active[0, c] = L.G[c, c] if L.G[c, c] > HELD * L.active[1, c] else 0.0
    # S = B K^-1 B^T, symmetric;  r = -(B u' + bias): of x_0, and by unit friction of each joint that slides
    for c in range(m):
        for d in range(m):
            both = L.active[0, c] != 0.0 and L.active[0, d] != 0.0
            L.S[c, d] = 0.5 * (L.G[c, d] + L.G[d, c]) if both else 0.0
        L.R[0, c] = -L.G[m, c] if L.active[0, c] != 0.0 else 0.0
        for k in range(n):
            slides = L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS
            L.R[1 + k, c] = -L.G[L.ints[k, at.FIRST], c] if slides and L.active[0, c] != 0.0 else 0.0
    # S f = r is solved for all r at once; f is eliminated from the wrenches: w_0 + sum f_c w_c
    eliminate_sticking(L.S, L.R, L.active[0], L.active[2], L.active[3])
    put_wrench(L, 0, m)
    for a in range(6 * n):
        L.w_0[0, a] = L.w[0, a]
    for k in range(n):
        slides = L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS
        if slides:
            put_wrench(L, 1 + k, L.ints[k, at.FIRST])
        for a in range(6 * n):
            L.V[a, k] = L.w[0, a] if slides else 0.0


@kernel
def put_wrench(L: Loop, row: int, column: int) -> None:
    """Write the wrenches by a column, with the friction that sticks by it, a row of R, to w."""
    for a in range(L.w.shape[1]):
        L.w[0, a] = L.W[column, a]
    for c in range(L.X.shape[0]):
        if L.active[0, c] > 0.0:
            for a in range(L.w.shape[1]):
                L.w[0, a] += L.R[row, c] * L.W[c, a]


@kernel
def sticks(L: Loop, k: int) -> bool:
    """Return whether joint k sticks until the next event of the run."""
    return L.ints[k, at.LOADED] == 1 and L.modes[k, at.MODE] == at.STICKS  # type: ignore[no-any-return]


@kernel
def hold_joints(P: Pack, rates: bool) -> int:
    """Take the motion of joints that stick from the change by b; with their rates in the state.

    The factor and the terms of friction are those of the state; b is overwritten.
    """
    # K^-1 b: the change without the joints that stick
    code = solve_again(P)
    if code != OK:
        return code
    L, x, base = loop_of(P), ws.solution(P), ws.friction_base(P)
    n, m = L.ints.shape[0], L.X.shape[0]
    put_wrenches(P, L, m)
    keep_solution(P, base)
    ws.solve_for(P)[0, 0] = layout.ACCELERATIONS
    for c in range(m):
        L.active[0, c] = 0.0
        for row in range(n + 1):
            L.R[row, c] = 0.0
    # x_c = K^-1 (B_c^T, 0), and r = -B K^-1 b less the rates of the state, of the channels that stick
    for k in range(n):
        if not sticks(L, k):
            continue
        for c in range(L.ints[k, at.CHANNELS]):
            code = put_column(P, L, k, c, False)
            if code != OK:
                return code
            channel = L.ints[k, at.FIRST] + c
            L.R[0, channel] = -L.G[m, channel] - (L.terms[k, at.RATE + c] if rates else 0.0)
            L.active[0, channel] = L.G[channel, channel] if L.G[channel, channel] > HELD * L.active[1, channel] else 0.0
    # S f = r: impulses of friction
    for c in range(m):
        for d in range(m):
            both = L.active[0, c] != 0.0 and L.active[0, d] != 0.0
            L.S[c, d] = 0.5 * (L.G[c, d] + L.G[d, c]) if both else 0.0
    eliminate_sticking(L.S, L.R, L.active[0], L.active[2], L.active[3])
    # x = K^-1 b + sum f_c x_c
    for node in range(x.shape[0]):
        for a in range(6):
            total = base[0, 6 * node + a]
            for c in range(m):
                if L.active[0, c] > 0.0:
                    total += L.R[0, c] * L.X[c, 6 * node + a]
            x[node, a] = total
    return OK
