r"""Multipliers of the kept rows that exert the same reactions on the bodies as given multipliers of all rows.

    [ M       Phi_kept^T ] [ z   ]   [ Phi_q^T lam ]
    [ Phi_kept  0        ] [ lam'] = [ 0           ]         z = 0, because the right-hand side is in the range of Phi_kept^T

An iteration that adds corrections can leave multipliers in rows that are dropped at a later pose.  This routine converts them to
multipliers of the rows that are kept at that pose.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.formulations.newton_euler import factorize, finish
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import clear
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack


@entry
def keep_entry(P: Pack, t: Array, y: Array, x: Array) -> int:
    """Replace the multipliers in x (nt, 6 nn) at the states y (nt, ny) by those of the kept rows."""
    b, solution = ws.right_hand_side(P), ws.solution(P)
    edges, J = ws.edges(P), ws.jacobian(P)
    n = b.shape[0] - edges.shape[0]
    for k in range(t.shape[0]):
        code = prepare(P, t[k], y[k])
        if code != OK:
            return code
        clear(b)
        for e in range(edges.shape[0]):
            for side in range(edges.shape[1]):
                for a in range(6):
                    for c in range(6):
                        b[edges[e, side], c] += J[6 * e + a, side, c] * x[k, 6 * (n + e) + a]
        for a in range(6):
            b[0, a] = 0.0
        code = factorize(P)
        if code == OK:
            code = finish(P)
        if code != OK:
            return code
        for e in range(edges.shape[0]):
            for a in range(6):
                x[k, 6 * (n + e) + a] = solution[n + e, a]
    return OK
