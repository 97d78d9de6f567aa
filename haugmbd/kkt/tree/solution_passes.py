r"""What the entry points of every recursion do:  factor and pass b inward,  pass another b inward,  return outward.

A recursion is three kernels:  factor(w, x, form) -> (weakest pivot, its node),  forward(w, x, form),  backward(w, x, form).
form: a constant of the entry point, the special case for which it is compiled
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.jit import inlined
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.entry_points import SINGULAR_TOL, copy
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace


@inlined
def factored(w: Workspace, factor: Any, form: Any) -> int:
    """Factor the augmented matrix of the current rows, and pass the forces of b inward; return SINGULAR if a pivot vanishes."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    worst, node = factor(w, x, form)
    if not worst > SINGULAR_TOL:
        return report(ws.status(w), SINGULAR, node, worst)
    return OK


@inlined
def begun(w: Workspace, forward: Any, form: Any) -> int:
    """Pass the forces of another b inward, with the current factor."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, form)
    return OK


@inlined
def finished(w: Workspace, backward: Any, form: Any) -> int:
    """Write K^-1 b to the solution array, for the b of `factored` or `begun`."""
    backward(w, ws.solution(w), form)
    return OK
