r"""Entry points of the recursion over forests with coupled joints: the same names as in `kkt.tree.entry_points`, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.entry_points import SINGULAR_TOL, copy
from haugmbd.kkt.tree.clusters.coupled_recursion import backward, factor, forward
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@inlined
def factorized(w: Workspace, uniform: int) -> int:
    """Factor the augmented matrix of the current rows, and pass the forces of b inward."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    worst, node = factor(w, x, uniform)
    if not worst > SINGULAR_TOL:
        return report(ws.status(w), SINGULAR, node, worst)
    return OK


@inlined
def begun(w: Workspace, uniform: int) -> int:
    """Pass the forces of another b inward, with the current factor."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(w, x, uniform)
    return OK


@inlined
def finished(w: Workspace, uniform: int) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward(w, ws.solution(w), uniform)
    return OK


@entry
def factorize_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where the clusters have different numbers of free coordinates."""
    return factorized(w, 0)


@entry
def begin_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where the clusters have different numbers of free coordinates."""
    return begun(w, 0)


@entry
def finish_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where the clusters have different numbers of free coordinates."""
    return finished(w, 0)


@entry
def factorize_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has one free coordinate."""
    return factorized(w, 1)


@entry
def begin_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has one free coordinate."""
    return begun(w, 1)


@entry
def finish_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has one free coordinate."""
    return finished(w, 1)


@entry
def factorize_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has two free coordinates."""
    return factorized(w, 2)


@entry
def begin_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has two free coordinates."""
    return begun(w, 2)


@entry
def finish_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has two free coordinates."""
    return finished(w, 2)


FACTORIZE = tuple(Routine(f, SOLVE_SIGNATURE) for f in (factorize_varying_entry, factorize_one_entry, factorize_two_entry))
BEGIN = tuple(Routine(f, SOLVE_SIGNATURE) for f in (begin_varying_entry, begin_one_entry, begin_two_entry))
FINISH = tuple(Routine(f, SOLVE_SIGNATURE) for f in (finish_varying_entry, finish_one_entry, finish_two_entry))
"""By the number of free coordinates of every cluster; the first where it varies, or is larger."""
