r"""Dependent rows of a model: which were found, how they follow from the others, and which multipliers are chosen for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.model.immutable import immutable
from haugmbd.model.labels import RowLabel


class Dependency(NamedTuple):
    """`row` = sum of coefficient x row over `terms` (kept rows); no terms: the gradient of the row is zero at this pose."""

    row: int
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class RankReport:
    """How many rows there are, how many are independent, and how each of the others follows from those.

    rows, rank: counts;  dropped: numbers of the dependent rows;  dependencies: one for each of them;  labels: what each row is
    """

    rows: int
    rank: int
    dropped: tuple[int, ...]
    dependencies: tuple[Dependency, ...]
    labels: tuple[RowLabel, ...]

    def joints_of(self, dependency: Dependency) -> tuple[str, ...]:
        """The joints that a dependency ties together, in the order of the rows."""
        rows = sorted({dependency.row, *(row for row, _ in dependency.terms)})
        return tuple(dict.fromkeys(self.labels[row].joint for row in rows))

    def __str__(self) -> str:
        """One line for each dependent row: its label, and the rows that it follows from."""
        head = f"{self.rows} rows, rank {self.rank}"
        lines = []
        for row, terms in self.dependencies:
            sums = " ".join(f"{c:+.4g} ({self.labels[k]})" for k, c in terms) or "nothing: its gradient is zero"
            lines.append(f"{self.labels[row]} = {sums}")
        return "\n".join([head, *lines])


SHOWN = 12
"""How many dropped rows a text lists before it counts the rest."""


@public_class
@dataclass(frozen=True)
class DropDependentRows:
    """Multipliers of the rows that are kept at a state: lam of a dropped row is 0, its share is carried by the rows that say the same."""


@public_class
@dataclass(frozen=True)
class MinimumNorm:
    """Of all multipliers that give the same motion those with the least sum of squares, in the rows' own units (N, N m, ...).

    Equal joints share a load equally; what is unique is the same as with `DropDependentRows`.  The motion is not changed.
    """


Rule = DropDependentRows | MinimumNorm


def check_rule(rule: object) -> None:
    """Raise UsageError unless `rule` is one of the two."""
    if not isinstance(rule, Rule):
        raise UsageError(f"redundancy = {rule!r} must be an object: DropDependentRows() or MinimumNorm().")


@public_class
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
    rule: Rule = DropDependentRows()
    _report: Callable[[], RankReport] | None = field(default=None, repr=False)

    @cached_property
    def report(self) -> RankReport:
        """Each dependent row by the kept ones, with the coefficients at the modelled pose."""
        if self._report is None:
            return RankReport(self.n_rows, self.rank, (), (), self.labels)
        return self._report()

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
