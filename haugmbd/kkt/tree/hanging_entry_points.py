r"""Entry points of blocks with trees that hang on them, in place of those of `kkt.entry_points`: the same names, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry
from haugmbd.kkt.tree.hanging_trees import backward_with_trees, factor_with_trees, forward_with_trees
from haugmbd.kkt.tree.solution_passes import begun, factored, finished
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, with b; `finish` returns outward."""
    return factored(w, factor_with_trees, False)


@entry
def factorize_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where no edge is narrow."""
    return factored(w, factor_with_trees, True)


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces of another b inward, with the current factor; `finish` returns outward."""
    return begun(w, forward_with_trees, False)


@entry
def begin_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces inward where no edge is narrow."""
    return begun(w, forward_with_trees, True)


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    return finished(w, backward_with_trees, False)


@entry
def finish_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b where no edge is narrow."""
    return finished(w, backward_with_trees, True)


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
FACTORIZE_WIDE = Routine(factorize_wide_entry, SOLVE_SIGNATURE)
FINISH_WIDE = Routine(finish_wide_entry, SOLVE_SIGNATURE)
BEGIN_WIDE = Routine(begin_wide_entry, SOLVE_SIGNATURE)
