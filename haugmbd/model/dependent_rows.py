r"""Redundant constraints of a model: the dependent rows, how they follow from the others, and the choice of multipliers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.model.immutable import immutable
from haugmbd.model.labels import RowLabel
from haugmbd.tolerances import contradiction_limit


class Dependency(NamedTuple):
    """A dependent row: `row` = sum of coefficient x row over `terms` (kept rows).

    No terms: the gradient of the row is zero at this pose.
    """

    row: int
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class RankReport:
    """Rank of the Jacobian, and how each dependent row follows from the others.

    Attributes
    ----------
    rows, rank : int
        Number of rows, and of independent rows.
    dropped : tuple of int
        Numbers of the dependent rows.
    dependencies : tuple of Dependency
        One for each dependent row.
    labels : sequence of RowLabel
        Joint, kind, words and unit of each row.
    """

    rows: int
    rank: int
    dropped: tuple[int, ...]
    dependencies: tuple[Dependency, ...]
    labels: Sequence[RowLabel]

    def joints_of(self, dependency: Dependency) -> tuple[str, ...]:
        """Return the joints of the rows of a dependency, in the order of the rows."""
        rows = sorted({dependency.row, *(row for row, _ in dependency.terms)})
        return tuple(dict.fromkeys(self.labels[row].joint for row in rows))

    def __str__(self) -> str:
        """Return one line for each dependent row: its label, and the rows that it follows from."""
        head = f"{self.rows} rows, rank {self.rank}"
        lines = []
        for row, terms in self.dependencies:
            sums = " ".join(f"{c:+.4g} ({self.labels[k]})" for k, c in terms) or "nothing: its gradient is zero"
            lines.append(f"{self.labels[row]} = {sums}")
        return "\n".join([head, *lines])


SHOWN = 12
"""Number of dropped rows that a text lists; the rest is counted."""


@public_class
@dataclass(frozen=True)
class DropDependentRows:
    """Choice of multipliers: the multiplier of a dropped row is 0, and the kept rows carry its share.

    Notes
    -----
    Motion and total reactions on each body do not depend on this choice; the distribution of the load over dependent rows does.
    """


@public_class
@dataclass(frozen=True)
class MinimumNorm:
    """Choice of multipliers: those of minimum norm, in the rows' own units (N, N m, ...).

    Notes
    -----
    Equal joints share a load equally. Motion, total reactions and unique multipliers are the same as with `DropDependentRows`.
    """


Rule = DropDependentRows | MinimumNorm


def check_rule(rule: object) -> None:
    """Raise UsageError unless `rule` is DropDependentRows() or MinimumNorm()."""
    if not isinstance(rule, Rule):
        raise UsageError(f"redundancy = {rule!r} must be an object: DropDependentRows() or MinimumNorm().")


@public_class
@immutable("Change the System and compile it again.")
@dataclass(frozen=True, eq=False)
class Redundancy:
    """Redundant constraints, found at the modelled pose.

    Attributes
    ----------
    n_rows, rank : int
        Number of rows of Phi_q, and its rank.
    tolerance : float
        Square of the distance from the span of the others below which a row is dependent.
    dropped : tuple of int
        Numbers of the rows that are left out of the equations of motion.
    only_here : tuple of int
        Numbers of the dependent rows that are dependent at this pose only.
    flat : tuple of int
        Numbers of the rows whose gradient is zero at this pose.
    gaps : ndarray, (nc,)
        Difference between the rate that a dropped row prescribes and the rate that follows from the kept rows.
    labels : sequence of RowLabel
        Joint, kind, words and unit of each row.
    rule : DropDependentRows or MinimumNorm
        The choice of multipliers.
    given : float, optional
        How far redundant rows may contradict each other, if it was given: see `haugmbd.tolerances`.
    misfit : float
        Distance of the dropped rows from the span of the others [rad, or part of the size]: how far axes are from where they should be.
    """

    n_rows: int
    rank: int
    tolerance: float
    dropped: tuple[int, ...]
    only_here: tuple[int, ...]
    flat: tuple[int, ...]
    gaps: Array
    labels: Sequence[RowLabel]
    rule: Rule = DropDependentRows()
    given: float | None = None
    misfit: float = 0.0
    _report: Callable[[], RankReport] | None = field(default=None, repr=False)

    @cached_property
    def report(self) -> RankReport:
        """Return each dependent row as a combination of the kept ones, with the coefficients at the modelled pose."""
        if self._report is None:
            return RankReport(self.n_rows, self.rank, (), (), self.labels)
        return self._report()

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """Return (row, ((kept row, coefficient), ...)) of each dependent row."""
        return self.report.dependencies

    @property
    def dropped_labels(self) -> tuple[RowLabel, ...]:
        """Return joint, kind and words of each dropped row."""
        return tuple(self.labels[row] for row in self.dropped)

    @property
    def joints(self) -> tuple[str, ...]:
        """Return the joints whose rows are dropped, in the order of the rows."""
        return tuple(dict.fromkeys(label.joint for label in self.dropped_labels))

    @property
    def structural(self) -> tuple[int, ...]:
        """Return the numbers of the rows that are dependent along the whole motion."""
        return tuple(row for row in self.dropped if row not in self.only_here)

    @property
    def consistent(self) -> bool:
        """Return whether dependent rows prescribe the same rates at t = 0."""
        return not self.gaps.any()

    @property
    def limit(self) -> float:
        """Return how far redundant rows may contradict each other [rad, or part of the size of the mechanism]."""
        return contradiction_limit(self.given)

    def with_rule(self, rule: Rule, tolerance: float | None = None) -> Redundancy:
        """Return the same rows with another choice of multipliers.

        tolerance: how far redundant rows may contradict each other, and distance from the span of the others below which a row is
        dependent at other poses; by default unchanged
        """
        if tolerance is None:
            return replace(self, rule=rule)
        return replace(self, rule=rule, tolerance=tolerance**2, given=tolerance)

    def __str__(self) -> str:
        """Return the counts, and one line for each dropped row."""
        head = f"{self.n_rows} rows, rank {self.rank} (pivots below {self.tolerance:.0e} of their scale are zero)"
        if not self.dropped:
            return f"{head}: no row depends on the others"
        word = "consistent" if self.consistent else "CONFLICTING"
        lines = [f"  {self.labels[k]}{' (only at this pose)' * (k in self.only_here)}" for k in self.dropped[:SHOWN]]
        more = [f"  and {len(self.dropped) - SHOWN} more"] if len(self.dropped) > SHOWN else []
        return "\n".join([f"{head}; dropped, {word}:", *lines, *more])
