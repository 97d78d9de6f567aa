r"""Entry points of the recursion over forests in implicit steps, with the tangents of forces: the same names, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.entry_points import SINGULAR_TOL, copy
from haugmbd.kkt.tree.implicit_recursion import backward, factor, forward
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@inlined
def factored(w: Workspace, all_revolute: bool) -> int:
    """Factor, and pass the forces of b inward; return SINGULAR if a pivot vanishes."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    worst, node = factor(w, x, all_revolute)
    if not worst > SINGULAR_TOL:
        return report(ws.status(w), SINGULAR, node, worst)
    return OK


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows and tangents, and pass the forces of b inward; `finish` returns outward."""
    return factored(w, False)


@entry
def factorize_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where all joints are revolute."""
    return factored(w, True)


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces of another b inward, with the current factor; `finish` returns outward."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, False)
    return OK


@entry
def begin_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces inward where all joints are revolute."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, True)
    return OK


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward(w, ws.solution(w), False)
    return OK


@entry
def finish_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b where all joints are revolute."""
    backward(w, ws.solution(w), True)
    return OK


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
FACTORIZE_REVOLUTE = Routine(factorize_revolute_entry, SOLVE_SIGNATURE)
FINISH_REVOLUTE = Routine(finish_revolute_entry, SOLVE_SIGNATURE)
BEGIN_REVOLUTE = Routine(begin_revolute_entry, SOLVE_SIGNATURE)
