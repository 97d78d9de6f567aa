r"""Entry points of the recursion over forests with coupled joints: the same names as in `kkt.tree.entry_points`, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry
from haugmbd.kkt.tree.clusters.coupled_recursion import backward, factor, forward
from haugmbd.kkt.tree.solution_passes import begun, factored, finished
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@entry
def factorize_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where the clusters have different numbers of free coordinates."""
    return factored(w, factor, 0)


@entry
def begin_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where the clusters have different numbers of free coordinates."""
    return begun(w, forward, 0)


@entry
def finish_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where the clusters have different numbers of free coordinates."""
    return finished(w, backward, 0)


@entry
def factorize_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has one free coordinate."""
    return factored(w, factor, 1)


@entry
def begin_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has one free coordinate."""
    return begun(w, forward, 1)


@entry
def finish_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has one free coordinate."""
    return finished(w, backward, 1)


@entry
def factorize_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has two free coordinates."""
    return factored(w, factor, 2)


@entry
def begin_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has two free coordinates."""
    return begun(w, forward, 2)


@entry
def finish_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has two free coordinates."""
    return finished(w, backward, 2)


FACTORIZE = tuple(Routine(f, SOLVE_SIGNATURE) for f in (factorize_varying_entry, factorize_one_entry, factorize_two_entry))
BEGIN = tuple(Routine(f, SOLVE_SIGNATURE) for f in (begin_varying_entry, begin_one_entry, begin_two_entry))
FINISH = tuple(Routine(f, SOLVE_SIGNATURE) for f in (finish_varying_entry, finish_one_entry, finish_two_entry))
"""By the number of free coordinates of every cluster; the first where it varies, or is larger."""
