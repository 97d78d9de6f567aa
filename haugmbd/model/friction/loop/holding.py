r"""Joints that stick stay where they are: what steps and projections would move of them is taken away, as impulses of their friction do.

    x = K^-1 b + sum f_c x_c    S f = -B (K^-1 b + u)       x: change of the state;  u: rates that it should end, or 0
    x_c = K^-1 (B_c^T, 0)       S = B K^-1 B^T              over the channels of the joints that stick

x_c fulfils the rows without b, so that x gives them what K^-1 b does.  Channels that depend on others follow them, as in `sticking`.
Source: Haug (2021), friction and stiction.
"""

from __future__ import annotations

from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.model.friction import columns as at
from haugmbd.model.friction.loop.algebra import eliminate_sticking
from haugmbd.model.friction.loop.arrays import Loop, keep_solution, loop_of
from haugmbd.model.friction.loop.responses import put_column, put_wrenches, solve_again
from haugmbd.model.friction.loop.sticking import HELD
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Pack


@kernel
def sticks(L: Loop, k: int) -> bool:
    """Return whether joint k sticks until the next event of the run."""
    return L.ints[k, at.LOADED] == 1 and L.modes[k, at.MODE] == at.STICKS  # type: ignore[no-any-return]


@kernel
def hold_joints(P: Pack, rates: bool) -> int:
    """Take the motion of joints that stick from the change by b; with their rates in the state.

    The factor and the terms of friction are those of the state; b is overwritten.
    """
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
    for c in range(m):
        for d in range(m):
            both = L.active[0, c] != 0.0 and L.active[0, d] != 0.0
            L.S[c, d] = 0.5 * (L.G[c, d] + L.G[d, c]) if both else 0.0
    eliminate_sticking(L.S, L.R, L.active[0], L.active[2], L.active[3])
    for node in range(x.shape[0]):
        for a in range(6):
            total = base[0, 6 * node + a]
            for c in range(m):
                if L.active[0, c] > 0.0:
                    total += L.R[0, c] * L.X[c, 6 * node + a]
            x[node, a] = total
    return OK
