r"""Entry points of blocks with trees that hang on them, in place of those of `kkt.entry_points`: the same names, the same meaning."""

from __future__ import annotations

from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined
from haugmbd.compiled.status_codes import OK, SINGULAR, report
from haugmbd.kkt.entry_points import SINGULAR_TOL, copy
from haugmbd.kkt.tree.hanging_trees import backward_with_trees, factor_with_trees, forward_with_trees
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, with b; `finish` returns outward."""
    return factored(w, False)


@entry
def factorize_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where no edge is narrow."""
    return factored(w, True)


@inlined
def factored(w: Workspace, all_wide: bool) -> int:
    """Factor, with b; return SINGULAR if a pivot vanishes."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    worst, node = factor_with_trees(w, x, all_wide)
    if not worst > SINGULAR_TOL:
        return report(ws.status(w), SINGULAR, node, worst)
    return OK


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces of another b inward, with the current factor; `finish` returns outward."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward_with_trees(w, x, False)
    return OK


@entry
def begin_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Pass the forces inward where no edge is narrow."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward_with_trees(w, x, True)
    return OK


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward_with_trees(w, ws.solution(w), False)
    return OK


@entry
def finish_wide_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b where no edge is narrow."""
    backward_with_trees(w, ws.solution(w), True)
    return OK


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
FACTORIZE_WIDE = Routine(factorize_wide_entry, SOLVE_SIGNATURE)
FINISH_WIDE = Routine(finish_wide_entry, SOLVE_SIGNATURE)
BEGIN_WIDE = Routine(begin_wide_entry, SOLVE_SIGNATURE)
