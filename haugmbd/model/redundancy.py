r"""Redundancy: which rows are left out of the equations of motion because they say what others say, decided once, and reported.

    K = [ M  Phi_kept^T; Phi_kept  0 ]           Phi_dropped holds because Phi_kept does;  lam of a dropped row is 0

How many rows depend on the others along the motion is decided where the model is compiled, and stays: a decision at every step would take
a row that is nearly dependent for one that is, and leave its error out of sight.  Which ones are dropped changes where those that are kept
lose their rank on the way (`saddle.redundant`, `formulations.taught`).  Motion and the sum of all reactions on a body do not depend on
which rows are dropped; how the load is shared between rows that say the same does (`KeptRows`, `MinimumNorm`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.model import tables as at
from haugmbd.model.elimination import PIVOT_TOL, solve
from haugmbd.model.immutable import immutable
from haugmbd.model.nearby import only_here
from haugmbd.model.rank import Dependency, Examined, RankReport, examine, put_row_scale, report_of
from haugmbd.model.rows import evaluate

if TYPE_CHECKING:
    from haugmbd.model.model import Model, RowLabel
    from haugmbd.model.rows import Rows
    from haugmbd.model.state import State

RATE_TOL = 1e-8
"""Difference of what dependent rows prescribe, relative to the fastest row, above which they conflict; rounding is 1e-12."""

LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-8, 1e-2

SHOWN = 12
"""How many dropped rows a text lists before it counts the rest."""


@dataclass(frozen=True)
class KeptRows:
    """Multipliers of the rows that are kept at a state: lam of a dropped row is 0, its share is carried by the rows that say the same."""


@dataclass(frozen=True)
class MinimumNorm:
    """Of all multipliers that give the same motion those with the least sum of squares, in the rows' own units (N, N m, ...).

    Equal joints share a load equally; what is unique is the same as with `KeptRows`.  The motion is not changed.
    """


Rule = KeptRows | MinimumNorm


def check_rule(rule: object) -> None:
    """Raise UsageError unless `rule` is one of the two."""
    if not isinstance(rule, Rule):
        raise UsageError(f"redundancy = {rule!r} must be an object: KeptRows() or MinimumNorm().")


def check_tolerance(tolerance: object) -> None:
    """Raise UsageError unless `tolerance` is a number that can tell dependent rows from others."""
    if isinstance(tolerance, bool) or not (
        isinstance(tolerance, Real) and LEAST_TOLERANCE <= float(tolerance) <= LARGEST_TOLERANCE
    ):
        raise UsageError(
            f"tolerance = {tolerance!r} must be a number from {LEAST_TOLERANCE:g} (rounding of a pose) to {LARGEST_TOLERANCE:g} "
            "(rad, or part of the size of the model): rows that are nearer to the others are dropped."
        )


@immutable("Change the System and compile it again.")
@dataclass(frozen=True, eq=False)
class Redundancy:
    """What was found at the modelled pose.  The first three are counts and what they were made with.

    n_rows, rank: of Phi_q;  tolerance: pivot, relative, below which a row depends on others (the square of a distance)
    dropped: numbers of the rows that are left out there;  only_here: of dependent rows that depend on others at this pose only
    flat: of rows without a gradient there;  gaps: (nc,) by how much the rate that a dropped row prescribes contradicts the kept ones
    labels: what each row is;  rule: which multipliers are given
    """

    n_rows: int
    rank: int
    tolerance: float
    dropped: tuple[int, ...]
    only_here: tuple[int, ...]
    flat: tuple[int, ...]
    gaps: Array
    labels: tuple[RowLabel, ...]
    rule: Rule = KeptRows()
    _found: tuple[Model, Examined] | None = field(default=None, repr=False)

    @cached_property
    def report(self) -> RankReport:
        """Each dependent row by the kept ones, with the coefficients at the modelled pose."""
        if self._found is None:
            return RankReport(self.n_rows, self.rank, (), (), self.labels)
        return report_of(*self._found)

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """The same: (row, ((kept row, coefficient), ...)) of each."""
        return self.report.dependencies

    @property
    def dropped_labels(self) -> tuple[RowLabel, ...]:
        """Joint, kind and words of each dropped row."""
        return tuple(self.labels[row] for row in self.dropped)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints whose rows are dropped, in the order of the rows."""
        return tuple(dict.fromkeys(label.joint for label in self.dropped_labels))

    @property
    def structural(self) -> tuple[int, ...]:
        """Numbers of the rows that depend on others along the motion."""
        return tuple(row for row in self.dropped if row not in self.only_here)

    @property
    def consistent(self) -> bool:
        """Whether dependent rows prescribe the same rates at t = 0."""
        return not self.gaps.any()

    def with_rule(self, rule: Rule, tolerance: float | None = None) -> Redundancy:
        """The same rows, with other multipliers; tolerance: by which others will be found at other poses."""
        return replace(self, rule=rule, tolerance=self.tolerance if tolerance is None else tolerance**2)

    def __str__(self) -> str:
        """Counts, and one line for each dropped row."""
        head = f"{self.n_rows} rows, rank {self.rank} (pivots below {self.tolerance:.0e} of their scale are zero)"
        if not self.dropped:
            return f"{head}: no row depends on the others"
        word = "consistent" if self.consistent else "CONFLICTING"
        lines = [f"  {self.labels[k]}{' (only at this pose)' * (k in self.only_here)}" for k in self.dropped[:SHOWN]]
        more = [f"  and {len(self.dropped) - SHOWN} more"] if len(self.dropped) > SHOWN else []
        return "\n".join([f"{head}; dropped, {word}:", *lines, *more])


def unexamined(labels: tuple[RowLabel, ...], rule: Rule = KeptRows()) -> Redundancy:  # noqa: B008  frozen
    """Nothing is known, and no row is dropped."""
    return Redundancy(len(labels), len(labels), PIVOT_TOL, (), (), (), np.zeros(len(labels)), labels, rule)


def find_redundancy(model: Model, rows: Rows, rule: Rule = KeptRows()) -> Redundancy:  # noqa: B008  frozen
    """Examine `rows` where they were evaluated: O(n), and nothing more than one elimination where no row depends on the others."""
    return redundancy_of(model, rows, examine(model, rows), rule)


def redundancy_of(model: Model, rows: Rows, found: Examined, rule: Rule = KeptRows()) -> Redundancy:  # noqa: B008  frozen
    """The same, of rows that have been examined already."""
    flat = tuple(np.nonzero(found.flat)[0].tolist())
    rank = model.nc - len(flat) - len(found.dropped)
    here: Ints = only_here(model, rows.state, found) if len(found.dropped) else found.dropped
    gaps = _rate_gaps(model, found, rows) if len(found.dropped) else np.zeros(model.nc)
    dropped = tuple(found.dropped.tolist())
    kept = (model, found) if dropped or flat else None
    return Redundancy(model.nc, rank, found.tolerance**2, dropped, tuple(here.tolist()), flat, gaps, model.labels, rule, kept)


def _rate_gaps(model: Model, found: Examined, rows: Rows) -> Array:
    """|J_r u - nu_r| of dropped rows, in their own units (nc,), for the least motion u with J u = nu of the kept ones."""
    x = np.zeros((*found.elimination.inverse.shape[:2], 1))
    nu = rows.nu / found.norm
    x[model.nb + 1 :].ravel()[model.slot_of_row] = nu
    u = solve(model, found.elimination, x)[: model.nb + 1, :, 0]
    u[0] = 0.0
    slots = model.slot_of_row[found.dropped]
    pair = model.tables["EDGES"][slots // 6]
    gap = np.abs(sum(np.einsum("sc,sc->s", found.J[slots, side], u[pair[:, side]]) for side in (0, 1)) - nu[found.dropped])
    gaps = np.zeros(model.nc)
    gaps[found.dropped] = np.where(gap > RATE_TOL * np.abs(nu).max(initial=0.0), gap, 0.0) * found.norm[found.dropped]
    return gaps


def redundant_at(model: Model, state: State) -> Model:
    """The same model with its redundancy found at another pose: for one that was compiled open, or at a singular pose.

    Nothing is refused: rows that depend on others at `state` only are dropped, too, and the record says so.
    """
    rows = evaluate(model, state)
    other: Model = replace(
        model, redundancy=find_redundancy(model, rows, model.redundancy.rule), tables=model.tables.changed({}, {})
    )
    put_row_scale(other, rows)
    put_mask(other)
    return other


def put_mask(model: Model) -> None:
    """Write the dropped rows to the table KEPT of a model that nobody has seen yet."""
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    first = model.tables.ints[3 * at.KEPT]
    model.tables.reals[first + model.slot_of_row] = 1.0
    model.tables.reals[first + model.slot_of_row[dropped]] = 0.0
