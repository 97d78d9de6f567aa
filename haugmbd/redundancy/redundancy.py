r"""Redundant constraints: the dependent rows that are left out of the equations of motion, decided once.

    K = [ M  Phi_kept^T; Phi_kept  0 ]           Phi_dropped holds because Phi_kept does;  lam of a dropped row is 0

The number of dependent rows along the motion is decided when the model is compiled, and does not change: a decision at every step
would drop a row that is only nearly dependent, and hide its error. The choice of the dropped rows changes if the kept ones lose their
rank during a run (`kkt.rank_deficient`, `formulations.python_formulation`). Motion and the sum of all reactions on a body do not
depend on this choice; the distribution of the load over dependent rows does (`DropDependentRows`, `MinimumNorm`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.drivers import Constant
from haugmbd.model.dependent_rows import DropDependentRows, Redundancy, Rule
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import put_length
from haugmbd.redundancy.alignment import examine
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, only_here, put_row_scale, report_of
from haugmbd.redundancy.sparse_ldl import PIVOT_TOL, solve
from haugmbd.tolerances import CONTRADICTION, GROWTH, ROUNDING, TOLD

if TYPE_CHECKING:
    from haugmbd.model.inspection.constraint_rows import Rows
    from haugmbd.model.labels import RowLabel
    from haugmbd.model.model import Model
    from haugmbd.model.state import State

NONE = np.zeros(0, dtype=np.int64)

RATE_TOL = 1e-8
"""Dependent rows conflict if the rates that they prescribe differ by more than this, relative to the fastest row."""


def unexamined(labels: Sequence[RowLabel], rule: Rule = DropDependentRows()) -> Redundancy:  # noqa: B008  frozen
    """Return a Redundancy without any dropped row, for rows that have not been examined."""
    return Redundancy(len(labels), len(labels), PIVOT_TOL, (), (), (), np.zeros(len(labels)), labels, rule)


def find_redundancy(
    model: Model,
    rows: Rows,
    rule: Rule = DropDependentRows(),  # noqa: B008  frozen
    tolerance: float | None = None,
    limit: float = CONTRADICTION,
) -> Redundancy:
    """Return the redundancy of `rows` where they were evaluated: O(n), and one elimination if no row depends on the others.

    tolerance: None where none was given;  limit: misfit up to which rows are redundant, unless it was
    """
    return redundancy_of(model, rows, examine(model, rows, tolerance, limit=limit), rule, tolerance, limit)


def redundancy_of(
    model: Model,
    rows: Rows,
    found: RankAnalysis,
    rule: Rule = DropDependentRows(),  # noqa: B008  frozen
    given: float | None = None,
    limit: float = CONTRADICTION,
) -> Redundancy:
    """Return the redundancy of rows that have been examined already."""
    gaps = _rate_gaps(model, found, rows) if len(found.dropped) else np.zeros(model.nc)
    if gaps.any():
        found, of_joints = _drivers_last(model, rows, found, given, limit)
        gaps = _rate_gaps(model, found, rows, of_joints)
    flat = tuple(np.nonzero(found.flat)[0].tolist())
    rank = model.nc - len(flat) - len(found.dropped)
    here: Ints = only_here(model, rows.state, found) if len(found.dropped) else found.dropped
    dropped = tuple(found.dropped.tolist())
    kept = partial(report_of, model, found) if dropped or flat else None
    return Redundancy(
        model.nc, rank, found.tolerance**2, dropped, tuple(here.tolist()), flat, gaps, model.labels, rule, given, found.misfit, kept
    )


def _drivers_last(model: Model, rows: Rows, rank: RankAnalysis, tolerance: float | None, limit: float) -> tuple[RankAnalysis, Ints]:
    """Return the rank, for which rows of joints are dropped before those of drivers are looked at, and these rows of joints.

    Where drivers determine the motion, a loop whose axes do not quite fit moves its redundant rows: that is their misfit, and no
    conflict of the drivers. Without the drivers these rows are found by themselves.
    """
    driven = np.setdiff1d(np.arange(model.nc), without_drivers(model))
    if not len(driven):
        return rank, NONE
    alone = examine(model, rows, tolerance, driven, limit)
    if not (len(alone.dropped) and alone.misfit > TOLD) or len(only_here(model, rows.state, alone)):
        return rank, NONE
    rest = analyse_rank(model, rows, alone.tolerance, alone.dropped)
    dropped = np.union1d(rest.dropped, alone.dropped)
    if len(dropped) < len(rank.dropped):
        return rank, NONE
    return replace(rest, dropped=dropped, misfit=alone.misfit), alone.dropped


def without_drivers(model: Model) -> Ints:
    """Return the numbers of the rows that no function of time prescribes."""
    moving = [k for k, driver in enumerate(model.drivers) if not isinstance(driver, Constant)]
    numbers: Ints = np.nonzero(~np.isin(model.drivers_of_rows(), moving))[0]
    return numbers


def _rate_gaps(model: Model, rank: RankAnalysis, rows: Rows, of_joints: Ints = NONE) -> Array:
    """Return |J_r u - nu_r| of dropped rows, in their own units (nc,), for the least motion u with J u = nu of the kept ones.

    of_joints: dropped rows that the motion may move by their misfit
    """
    x = np.zeros((rank.elimination.n_nodes, 6, 1))
    nu = rows.nu / rank.norm
    x[model.nb + 1 :].ravel()[model.slot_of_row] = nu
    u = solve(model, rank.elimination, x)[: model.nb + 1, :, 0]
    u[0] = 0.0
    slots = model.slot_of_row[rank.dropped]
    pair = model.tables["EDGES"][slots // 6]
    gap = np.abs(
        sum(np.einsum("sc,sc->s", rank.J[slots, side], u[pair[:, side]]) for side in range(model.sides)) - nu[rank.dropped]
    )
    allowed = np.full(len(gap), RATE_TOL * np.abs(nu).max(initial=0.0) + ROUNDING * rank.length)
    allowed[np.isin(rank.dropped, of_joints)] += GROWTH * rank.misfit * np.abs(u).max(initial=0.0)
    gaps = np.zeros(model.nc)
    gaps[rank.dropped] = np.where(gap > allowed, gap, 0.0) * rank.norm[rank.dropped]
    return gaps


def redundant_at(model: Model, state: State, limit: float = CONTRADICTION) -> Model:
    """Return the model with its redundancy found at another pose: for one that was compiled open, or at a singular pose.

    Rows that are dependent at `state` only are dropped as well, and the record says so.
    limit: misfit up to which rows are redundant, unless a tolerance was given
    """
    rows = evaluate(model, state)
    redundancy = find_redundancy(model, rows, model.redundancy.rule, model.redundancy.given, limit)
    other: Model = replace(model, tables=model.tables.changed({}, {})).with_dropped(redundancy)
    put_row_scale(other, rows)
    put_mask(other)
    put_length(other, rows)
    return other


def put_mask(model: Model) -> None:
    """Write the dropped rows to the table KEPT of a new model."""
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    first, _, _ = model.tables.place("KEPT")
    model.tables.reals[first + model.slot_of_row] = 1.0
    model.tables.reals[first + model.slot_of_row[dropped]] = 0.0
