r"""The multifrontal LDL^T as a solver: rows in fronts of true sizes, with dense kernels; bodies are eliminated first, each on its own.

    fronts [ns]    BODY_NS for each body, GRADIENT_NS for each row on a body, PLAN_PART of that of the dense kernels, see `front_folding`

It serves every model, and is the fastest for nets, trusses and other meshes, where most of the work is fill.  A single front with all
rows is the dense solver, for study only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import entry, inlined, kernel
from haugmbd.kkt.front_kernels import PANEL, link_blas
from haugmbd.kkt.front_ldl import (
    FrontFactor,
    FrontTables,
    Independent,
    Kept,
    backward,
    every_row,
    factor_bodies,
    forward,
    front_loop,
    independent_rows_only,
    kept_rows_only,
)
from haugmbd.kkt.front_plan import FrontPlan
from haugmbd.kkt.pivot_trials import WITH_EQUAL_BODIES, copy, first_trial, next_trial, scale_of
from haugmbd.kkt.solver import DENSE, MULTIFRONTAL, Solver, SolverRoutines, SolverTables, routines_by_trials, solution
from haugmbd.math.larger import worst_of
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.accessors import accessor
from haugmbd.workspace.layout import Tables, Workspace, declare

FRONT_ARRAYS = declare(
    "fronts",
    {
        "FRONTS": "(nf, 11) and the next four: fronts, see `kkt.front_plan`",
        "FRONT_ROWS": "(., 1)",
        "FRONT_RUNS": "(., 3)",
        "FRONT_BODIES": "(., 3)",
        "BODY_ROWS": "(., 3)",
    },
    {
        "FRONT_FACTOR": "(1, .) rows of the factor, front by front",
        "FRONT_STACK": "(1, .) updates of fronts that wait for their parents",
        "FRONT_MATRIX": "(1, .) the current front",
        "ROWS_OF_BODY": "(., 6) rows of each body times L^-T of its inertia",
        "FRONT_PIVOTS": "(1, .) inverse pivots of the current front",
        "FRONT_UNKNOWNS": "(1, .) its unknowns",
        "FRONT_PANEL": "(32, .) pivot rows of the current front, divided by their pivots",
    },
    {},
)
"""The matrices of this solver: shapes and meaning."""

fronts = accessor("FRONTS")
front_rows = accessor("FRONT_ROWS", flat=True)
front_runs = accessor("FRONT_RUNS")
front_bodies = accessor("FRONT_BODIES")
body_rows = accessor("BODY_ROWS")
front_factor = accessor("FRONT_FACTOR", flat=True)
front_stack = accessor("FRONT_STACK", flat=True)
front_matrix = accessor("FRONT_MATRIX", flat=True)
rows_of_body = accessor("ROWS_OF_BODY")
front_pivots = accessor("FRONT_PIVOTS", flat=True)
front_unknowns = accessor("FRONT_UNKNOWNS", flat=True)
front_panel = accessor("FRONT_PANEL", flat=True)


BODY_NS, GRADIENT_NS, PLAN_PART = 140.0, 26.0, 2.0
"""Predicted time of fronts [ns]: for each body, for each row on it, and for each ns that `front_folding` counts, which leaves out the
solution.  The constants fit nets and trusses of 8 to 150 bodies to 5 %, and others to 15 %."""


@inlined
def tables_of(w: Workspace) -> FrontTables:
    """Return the tables of the fronts."""
    return FrontTables(fronts(w), front_rows(w), front_runs(w), front_bodies(w), body_rows(w))


@inlined
def factor_of(w: Workspace) -> FrontFactor:
    """Return the arrays of the factorization."""
    return FrontFactor(
        ws.diagonal_blocks(w),
        ws.inverse_pivots(w),
        front_factor(w),
        front_stack(w),
        front_matrix(w),
        rows_of_body(w),
        front_pivots(w),
        front_unknowns(w),
        front_panel(w),
    )


@inlined
def gradients_of(w: Workspace) -> Array:
    """Return the gradients of all rows, (., 6): those of a row for each of its sides in turn."""
    n = ws.rows_of(w, at.J) * ws.columns_of(w, at.J) // 6
    gradients: Array = borrow(w.work, ws.start_of(w, at.J), n, 6)
    return gradients


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
            worst, node = worst_of(worst, node, weak, where)
            trial = next_trial(w, trial, 1.0 / worst, node)
        x = ws.solution(w)
        copy(ws.right_hand_side(w), x)
        forward(s, f, x)
        return -1 - trial

    return factored


factored_with_every_row = factorization(every_row)
factored_with_kept_rows = factorization(kept_rows_only)
factored_with_independent_rows = factorization(independent_rows_only)


@inlined
def eliminate_all(w: Workspace, form: int) -> int:
    """Factor with every row."""
    return factored_with_every_row(w, 0)  # type: ignore[no-any-return]


@inlined
def eliminate_chosen(w: Workspace, form: int) -> int:
    """Factor with as many rows of each edge as it keeps."""
    return factored_with_kept_rows(w, Kept(ws.kept_rows(w), ws.pivot_rows(w)))  # type: ignore[no-any-return]


@inlined
def forward_fronts(w: Workspace, x: Array, form: int) -> None:
    """Set x <- d^-1 L^-1 x with the current factor."""
    forward(tables_of(w), factor_of(w), x)


@inlined
def backward_fronts(w: Workspace, x: Array, form: int) -> None:
    """Set x <- L^-T x: the result of `forward_fronts` becomes the solution."""
    backward(tables_of(w), factor_of(w), x)


WITH_FRONTS = routines_by_trials(
    "fronts",
    __name__,
    0,
    eliminate=eliminate_all,
    eliminate_chosen=eliminate_chosen,
    forward=forward_fronts,
    backward=backward_fronts,
)

solve_with_fronts = solution(forward_fronts, backward_fronts, 0)


@entry
def factorize_independent_entry(w: Workspace, tol: float, preferred: float) -> int:
    """Factor with those rows only whose pivots, relative to their scales, are above `tol`; KEPT has the rows that take part."""
    independent = Independent(ws.kept_rows(w), ws.pivot_rows(w), tol, preferred)
    return factored_with_independent_rows(w, independent)  # type: ignore[no-any-return]


@entry
def solve_columns_entry(w: Workspace, x: Array) -> None:
    """Set each of the right-hand sides x (nd, nn, 6) to its solution, with the current factor."""
    for k in range(x.shape[0]):
        solve_with_fronts(w, x[k])


def front_routines(tables: Tables) -> SolverRoutines:
    """Return the routines of the fronts, whose dense kernels call BLAS."""
    link_blas()
    return WITH_FRONTS


def fronts_ns(edges: Sequence[tuple[int, ...]], weight: Sequence[int], planned: float) -> float:
    """Return the predicted time of fronts [ns];  planned: of their dense kernels."""
    bodies = {body for pair in edges for body in pair if body}
    gradients = sum(n for pair, n in zip(edges, weight, strict=True) for body in pair if body)
    return BODY_NS * len(bodies) + GRADIENT_NS * gradients + PLAN_PART * planned


def front_tables(plan: FrontPlan, n_bodies: int, reason: str, name: str = MULTIFRONTAL) -> SolverTables:
    """Return the tables of the multifrontal solver, also for a single front; n_bodies: the ground counted."""
    ints = {
        "FRONTS": plan.fronts,
        "FRONT_ROWS": plan.rows[:, None],
        "FRONT_RUNS": plan.runs,
        "FRONT_BODIES": plan.bodies,
        "BODY_ROWS": plan.body_rows,
    }
    factor, stack, most = plan.sizes.tolist()
    work = {
        "D": (n_bodies, 36),
        "FRONT_FACTOR": (1, factor),
        "FRONT_STACK": (1, stack),
        "FRONT_MATRIX": (1, most * most),
        "ROWS_OF_BODY": (len(plan.body_rows), 6),
        "FRONT_PIVOTS": (1, most),
        "FRONT_UNKNOWNS": (1, most),
        "FRONT_PANEL": (PANEL, most),
    }
    return SolverTables(name, reason, ints, work)


def has_fronts(tables: Tables) -> bool:
    """Return whether these are tables of the multifrontal solver."""
    return tables.place("FRONTS")[2] > 0


FRONTS = Solver(
    MULTIFRONTAL,
    "every model; the fastest for nets, trusses and other meshes",
    FRONT_ARRAYS,
    has_fronts,
    front_routines,
    True,
)

ONE_FRONT = FRONTS._replace(name=DENSE, takes="every model of few rows, for study")
