r"""Entry points of the recursion over forests with coupled joints: the same names as in `kkt.tree.entry_points`, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.entry_points import SINGULAR_TOL, copy
from haugmbd.kkt.tree.coupled_recursion import backward, factor, forward
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, and pass the forces of b inward; `finish` returns outward."""
    return factorized(w, False)


@entry
def factorize_single_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has one free coordinate."""
    return factorized(w, True)


@inlined
def factorized(w: Workspace, single: bool) -> int:
    """Factor, and pass the forces of b inward."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    worst, node = factor(w, x, single)
    if not worst > SINGULAR_TOL:
        return report(ws.status(w), SINGULAR, node, worst)
    return OK


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces of another b inward, with the current factor; `finish` returns outward."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, False)
    return OK


@entry
def begin_single_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass forces inward where every cluster has one free coordinate."""
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
def finish_single_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b where every cluster has one free coordinate."""
    backward(w, ws.solution(w), True)
    return OK


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
FACTORIZE_SINGLE = Routine(factorize_single_entry, SOLVE_SIGNATURE)
FINISH_SINGLE = Routine(finish_single_entry, SOLVE_SIGNATURE)
BEGIN_SINGLE = Routine(begin_single_entry, SOLVE_SIGNATURE)
