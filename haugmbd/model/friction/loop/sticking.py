r"""Joints that stick: B u' + bias = 0 gives their friction, as rows that are switched on.

    S f = -rates          S = B K^-1 B^T,  rates: of x_0 with the bias, and by unit friction of each joint that slides

Rows that stick and depend on each other (all joints of a mechanism that comes to rest) are told by their pivots, and carry nothing.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from haugmbd.compiled.jit import kernel
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.loop.algebra import eliminate_sticking
from haugmbd.model.friction.loop.arrays import Loop

HELD = 1e-12
"""Relative to the bodies alone: a rate that gives way less to its own friction is held by joints."""


@kernel
def condense_sticking(L: Loop) -> None:
    """Write the friction R of the channels that stick, by x_0 and by each joint that slides, and the wrenches w_0, V with it."""
    m, n = L.X.shape[0], L.ints.shape[0]
    for c in range(m):
        L.active[0, c] = 0.0
    for k in range(n):
        if L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] == at.STICKS:
            for c in range(L.ints[k, at.FIRST], L.ints[k, at.FIRST] + L.ints[k, at.CHANNELS]):
                L.active[0, c] = L.G[c, c] if L.G[c, c] > HELD * L.active[1, c] else 0.0
    for c in range(m):
        for d in range(m):
            both = L.active[0, c] != 0.0 and L.active[0, d] != 0.0
            L.S[c, d] = 0.5 * (L.G[c, d] + L.G[d, c]) if both else 0.0
        L.R[0, c] = -L.G[m, c] if L.active[0, c] != 0.0 else 0.0
        for k in range(n):
            slides = L.ints[k, at.LOADED] == 1 and L.terms[k, at.STATE] != at.STICKS
            L.R[1 + k, c] = -L.G[L.ints[k, at.FIRST], c] if slides and L.active[0, c] != 0.0 else 0.0
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
