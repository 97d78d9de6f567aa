r"""Entry points of the recursion over forests with coupled joints: the same names as in `kkt.tree.entry_points`, the same meaning.

varying, one, two: the numbers of free coordinates of the clusters are different, or more; one each; two each
revolute: all joints are
"""

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
    return factored(w, factor, (0, False))


@entry
def begin_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where the clusters have different numbers of free coordinates."""
    return begun(w, forward, (0, False))


@entry
def finish_varying_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where the clusters have different numbers of free coordinates."""
    return finished(w, backward, (0, False))


@entry
def factorize_varying_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where the clusters have different numbers of free coordinates, and all joints are revolute."""
    return factored(w, factor, (0, True))


@entry
def begin_varying_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where the clusters have different numbers of free coordinates, and all joints are revolute."""
    return begun(w, forward, (0, True))


@entry
def finish_varying_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where the clusters have different numbers of free coordinates, and all joints are revolute."""
    return finished(w, backward, (0, True))


@entry
def factorize_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has one free coordinate."""
    return factored(w, factor, (1, False))


@entry
def begin_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has one free coordinate."""
    return begun(w, forward, (1, False))


@entry
def finish_one_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has one free coordinate."""
    return finished(w, backward, (1, False))


@entry
def factorize_one_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has one free coordinate, and all joints are revolute."""
    return factored(w, factor, (1, True))


@entry
def begin_one_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has one free coordinate, and all joints are revolute."""
    return begun(w, forward, (1, True))


@entry
def finish_one_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has one free coordinate, and all joints are revolute."""
    return finished(w, backward, (1, True))


@entry
def factorize_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has two free coordinates."""
    return factored(w, factor, (2, False))


@entry
def begin_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has two free coordinates."""
    return begun(w, forward, (2, False))


@entry
def finish_two_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has two free coordinates."""
    return finished(w, backward, (2, False))


@entry
def factorize_two_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where every cluster has two free coordinates, and all joints are revolute."""
    return factored(w, factor, (2, True))


@entry
def begin_two_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Begin where every cluster has two free coordinates, and all joints are revolute."""
    return begun(w, forward, (2, True))


@entry
def finish_two_revolute_entry(w: Workspace, python_solver: Callback) -> int:
    """Finish where every cluster has two free coordinates, and all joints are revolute."""
    return finished(w, backward, (2, True))


FACTORIZE = tuple(
    tuple(Routine(f, SOLVE_SIGNATURE) for f in pair)
    for pair in (
        (factorize_varying_entry, factorize_varying_revolute_entry),
        (factorize_one_entry, factorize_one_revolute_entry),
        (factorize_two_entry, factorize_two_revolute_entry),
    )
)
BEGIN = tuple(
    tuple(Routine(f, SOLVE_SIGNATURE) for f in pair)
    for pair in (
        (begin_varying_entry, begin_varying_revolute_entry),
        (begin_one_entry, begin_one_revolute_entry),
        (begin_two_entry, begin_two_revolute_entry),
    )
)
FINISH = tuple(
    tuple(Routine(f, SOLVE_SIGNATURE) for f in pair)
    for pair in (
        (finish_varying_entry, finish_varying_revolute_entry),
        (finish_one_entry, finish_one_revolute_entry),
        (finish_two_entry, finish_two_revolute_entry),
    )
)
"""By the number of free coordinates of every cluster, the first where it varies, or is larger; and by whether all joints are revolute."""
