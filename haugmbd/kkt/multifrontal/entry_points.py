r"""Entry points of the multifrontal solver, in place of those of `kkt.entry_points`: the same names, the same meaning."""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.ffi import Callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.kkt.entry_points import WITH_EQUAL_BODIES, copy, first_trial, next_trial, refiner, scale_of
from haugmbd.kkt.least_squares import fitter
from haugmbd.kkt.multifrontal.factorization import (
    FrontFactor,
    FrontTables,
    backward,
    every_row,
    factor_bodies,
    forward,
    front_loop,
)
from haugmbd.kkt.multifrontal.row_choice import Independent, Kept, independent_rows_only, kept_rows_only
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import SOLVE_SIGNATURE, Workspace


@inlined
def tables_of(w: Workspace) -> FrontTables:
    """Return the tables of the fronts."""
    return FrontTables(ws.fronts(w), ws.front_rows(w), ws.front_runs(w), ws.front_bodies(w), ws.body_rows(w))


@inlined
def factor_of(w: Workspace) -> FrontFactor:
    """Return the arrays of the factorization."""
    return FrontFactor(
        ws.diagonal_blocks(w),
        ws.inverse_pivots(w),
        ws.front_factor(w),
        ws.front_stack(w),
        ws.front_matrix(w),
        ws.rows_of_body(w),
        ws.front_pivots(w),
        ws.front_unknowns(w),
        ws.front_panel(w),
    )


@inlined
def gradients_of(w: Workspace) -> Array:
    """Return the gradients of all rows, (., 6): those of a row for each of its sides in turn."""
    n = ws.rows_of(w, at.J) * ws.columns_of(w, at.J) // 6
    gradients: Array = borrow(w.work, ws.start_of(w, at.J), n, 6)
    return gradients


@kernel
def solve_with_fronts(w: Workspace, x: Array) -> None:
    """Set x <- K^-1 x with the current factor."""
    s, f = tables_of(w), factor_of(w)
    forward(s, f, x)
    backward(s, f, x)


def factorization(select: Any) -> Any:
    """Return the kernel that factors the augmented matrix:  select: see `factorization.front_loop`."""
    factor_fronts = front_loop(select)

    @kernel
    def factored(w: Workspace, choice: Any) -> int:
        """Factor the augmented matrix of the current rows, and eliminate b forward; return SINGULAR if rows depend on others."""
        s, f, J, trial = tables_of(w), factor_of(w), gradients_of(w), first_trial(w)
        while trial >= 0:
            scale, equal = scale_of(w, trial), trial == WITH_EQUAL_BODIES
            inertia, tangents = (ws.even_inertia(w) if equal else ws.shifted_inertia(w)), ws.tangent_blocks(w)
            worst, node = factor_bodies(inertia, tangents[:0] if equal else tangents, scale, f.D, f.d_inv)
            weak, where = factor_fronts(choice, s, J, ws.padding_line(w), scale, f)
            if not weak <= worst and worst == worst:
                worst, node = weak, where
            trial = next_trial(w, trial, 1.0 / worst, node)
        x = ws.solution(w)
        copy(ws.right_hand_side(w), x)
        forward(s, f, x)
        return -1 - trial

    return factored


factored_with_every_row = factorization(every_row)
factored_with_kept_rows = factorization(kept_rows_only)
factored_with_independent_rows = factorization(independent_rows_only)
refined_by_fronts = refiner(solve_with_fronts)
fitted_by_fronts = fitter(solve_with_fronts)


@entry
def factorize_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor the augmented matrix of the current rows, and eliminate b forward; `finish` substitutes back."""
    return factored_with_every_row(w, 0)  # type: ignore[no-any-return]


@entry
def factorize_chosen_entry(w: Workspace, python_solver: Callback) -> int:
    """Factor where rows are dropped: as many rows of each edge as it keeps."""
    kept = Kept(ws.kept_rows(w), ws.pivot_rows(w))
    return factored_with_kept_rows(w, kept)  # type: ignore[no-any-return]


@entry
def factorize_independent_entry(w: Workspace, tol: float, preferred: float) -> int:
    """Factor with those rows only whose pivots, relative to their scales, are above `tol`; KEPT has the rows that take part."""
    independent = Independent(ws.kept_rows(w), ws.pivot_rows(w), tol, preferred)
    return factored_with_independent_rows(w, independent)  # type: ignore[no-any-return]


@entry
def begin_entry(w: Workspace, python_solver: Callback) -> int:
    """Eliminate forward for K^-1 b with the current factor; `finish` substitutes back."""
    x = ws.solution(w)
    copy(ws.right_hand_side(w), x)
    forward(tables_of(w), factor_of(w), x)
    return OK


@entry
def finish_entry(w: Workspace, python_solver: Callback) -> int:
    """Write K^-1 b to the solution array, for the b of `factorize` or `begin`."""
    backward(tables_of(w), factor_of(w), ws.solution(w))
    return OK


@entry
def refine_entry(w: Workspace, python_solver: Callback) -> int:
    """Improve the solution until it is that of the true inertia."""
    return refined_by_fronts(w)  # type: ignore[no-any-return]


@entry
def fit_all_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Fit accelerations to all rows; leave other solutions unchanged."""
    return fitted_by_fronts(w)  # type: ignore[no-any-return]


@entry
def refine_and_fit_all_rows_entry(w: Workspace, python_solver: Callback) -> int:
    """Refine the solution of a model with massless directions, then fit accelerations to all rows."""
    code = refine_entry(w, python_solver)
    return fit_all_rows_entry(w, python_solver) if code == OK else code


@entry
def solve_columns_entry(w: Workspace, x: Array) -> None:
    """Set each of the right-hand sides x (nd, nn, 6) to its solution, with the current factor."""
    for k in range(x.shape[0]):
        solve_with_fronts(w, x[k])


FACTORIZE = Routine(factorize_entry, SOLVE_SIGNATURE)
FACTORIZE_CHOSEN = Routine(factorize_chosen_entry, SOLVE_SIGNATURE)
FINISH = Routine(finish_entry, SOLVE_SIGNATURE)
BEGIN = Routine(begin_entry, SOLVE_SIGNATURE)
REFINE = Routine(refine_entry, SOLVE_SIGNATURE)
FIT_ALL_ROWS = Routine(fit_all_rows_entry, SOLVE_SIGNATURE)
REFINE_AND_FIT_ALL_ROWS = Routine(refine_and_fit_all_rows_entry, SOLVE_SIGNATURE)
