r"""Dependent rows by joint and name: their linear combinations, whether they hold everywhere or only at this pose, and contradictions.

    row = sum of coefficient x kept row        the gradients, at the pose of the report
    gap   gap of a dropped row, when the kept rows of the mechanism are closed                     [m or rad]
    rate  |J_r u - nu_r|, when the kept rows have their prescribed rates                           [unit of Phi per s]

Gaps and rates that are not zero are contradictions between dependent rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints import CD
from haugmbd.model.dependent_rows import Dependency, Redundancy
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.labels import RowLabel
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import RankAnalysis, corrected
from haugmbd.redundancy.sparse_ldl import SLOTS
from haugmbd.system.checks.constraint_residuals import constraint_gaps
from haugmbd.tolerances import TYPED_ANGLE, TYPED_LENGTH

UNIT_OF_GAP = {"m": "m", "m2": "m", "1": "rad", "rad": "rad"}
"""Of a row's gap, by the unit of its Phi: a distance is compared as a distance, a dot product as an angle."""


@dataclass(frozen=True)
class RowName:
    """A row by its joint: number in the model, joint, name ("CD z", "DP1 (2)": unique in the joint), words."""

    number: int
    joint: str
    name: str
    words: str

    def __str__(self) -> str:
        return f"{self.joint!r} {self.name}"


@dataclass(frozen=True)
class DependentRow:
    """row = sum of coefficient x kept row over `terms`; no terms: its gradient is zero at this pose.

    structural: it depends on the others along the motion, not at this pose only
    gap: [m or rad], in `unit`;  rate: in unit of Phi per s;  0 without a contradiction
    """

    row: RowName
    terms: tuple[tuple[float, RowName], ...]
    structural: bool
    gap: float
    unit: str
    rate: float
    rate_unit: str

    @property
    def consistent(self) -> bool:
        """Return whether the row agrees with the kept rows."""
        return self.gap == 0.0 and self.rate == 0.0

    def __str__(self) -> str:
        """Return the linear combination, and the size of the contradiction."""
        sums = " ".join(f"{_coefficient(c, first=not k)}{name}" for k, (c, name) in enumerate(self.terms))
        return f"{self.row} = {sums or 'nothing: its gradient is zero at this pose'}"


@dataclass(frozen=True)
class DependentSet:
    """Dependent rows that connect the same joints."""

    joints: tuple[str, ...]
    rows: tuple[DependentRow, ...]

    @property
    def structural(self) -> bool:
        """Return whether all rows depend on the others along the motion."""
        return all(row.structural for row in self.rows)

    @property
    def consistent(self) -> bool:
        """Return whether no row contradicts the others."""
        return all(row.consistent for row in self.rows)

    @property
    def amount(self) -> str:
        """Return the largest contradiction, with its unit; "" if there is none."""
        gap = max(self.rows, key=lambda row: row.gap)
        rate = max(self.rows, key=lambda row: row.rate)
        if gap.gap > 0.0:
            return f"{gap.gap:.6g} {gap.unit}"
        return f"{rate.rate:.6g} {rate.rate_unit}" if rate.rate > 0.0 else ""


def row_names(model: Model) -> tuple[RowName, ...]:
    """Return the names of all rows."""
    names: list[str] = [""] * model.nc
    for entry in model.joints.values():
        kinds = [_kind(model.labels[k]) for k in entry.rows.tolist()]
        for at, k in enumerate(entry.rows.tolist()):
            same = kinds.count(kinds[at]) > 1
            names[k] = f"{kinds[at]} ({kinds[:at].count(kinds[at]) + 1})" if same else kinds[at]
    return tuple(RowName(k, label.joint, names[k], label.words) for k, label in enumerate(model.labels))


def dependent_sets(
    model: Model, rows: Rows, examined: RankAnalysis, redundancy: Redundancy, *, is_open: bool
) -> tuple[DependentSet, ...]:
    """Return the dependent rows of `redundancy`, at the pose at which `rows` were evaluated.

    is_open: the joints are not closed there, so that the gaps of dropped rows are computed with the kept ones closed
    """
    if not redundancy.dependencies:
        return ()
    names, report = row_names(model), redundancy.report
    gap = _gaps(model, rows, examined, report.dependencies) if is_open and report.dropped else np.zeros(model.nc)
    sets: list[tuple[tuple[str, ...], list[DependentRow]]] = []
    at_joint: dict[str, list[int]] = {}
    for d in sorted(report.dependencies, key=lambda d: (-len(report.joints_of(d)), d.row)):
        joints, line = report.joints_of(d), _line(d, names, redundancy, gap)
        joint_names = set(joints)
        number = next((k for k in at_joint.get(line.row.joint, ()) if joint_names <= set(sets[k][0])), None)
        if number is None:
            number = len(sets)
            sets.append((joints, []))
            for joint in joints:
                at_joint.setdefault(joint, []).append(number)
        sets[number][1].append(line)
    dependent = [DependentSet(joints, tuple(sorted(lines, key=lambda line: line.row.number))) for joints, lines in sets]
    return tuple(sorted(dependent, key=lambda s: s.rows[0].row.number))


def _line(d: Dependency, names: tuple[RowName, ...], redundancy: Redundancy, gap: Array) -> DependentRow:
    """Return one dependency by names."""
    unit = redundancy.labels[d.row].unit
    terms = tuple((c, names[k]) for k, c in d.terms)
    structural = d.row not in redundancy.only_here and bool(terms)
    rate_unit = "1/s" if unit == "1" else f"{unit}/s"
    rate = float(redundancy.gaps[d.row]) if terms else 0.0
    return DependentRow(names[d.row], terms, structural, float(gap[d.row]), UNIT_OF_GAP.get(unit, unit), rate, rate_unit)


def _gaps(model: Model, rows: Rows, examined: RankAnalysis, dependencies: Iterable[Dependency]) -> Array:
    """Return the gaps of dropped rows (nc,) after Newton's method has closed the kept ones; to first order if it fails."""
    t, gaps = rows.state.t, np.zeros(model.nc)
    closed = corrected(model, rows.state, examined, np.zeros((model.nb + 1, SLOTS)), patient=True)
    measured = constraint_gaps(model, rows if closed is None else evaluate(model, closed.state), t)
    allowed = np.where(measured.is_angle, TYPED_ANGLE, TYPED_LENGTH * characteristic_length(model, rows))
    for d in dependencies:
        if d.terms:
            left = rows.Phi[d.row] - sum(c * rows.Phi[k] for k, c in d.terms)
            gap = abs(float(left / measured.gradient[d.row] if closed is None else measured.gap[d.row]))
            gaps[d.row] = gap if gap > allowed[d.row] else 0.0
    return gaps


def _kind(label: RowLabel) -> str:
    """Return CD with its direction if that is a global axis; the kind of others."""
    if isinstance(label.primitive, CD):
        axes = [letter for letter, part in zip("xyz", label.primitive.c.tolist(), strict=True) if part != 0.0]
        if len(axes) == 1:
            return f"CD {axes[0]}"
    return label.kind


def _coefficient(c: float, *, first: bool) -> str:
    """Return a coefficient before a name: "", "-", "+ 0.5 "."""
    size = "" if abs(abs(c) - 1.0) < 5e-5 else f"{abs(c):.4g} "
    if first:
        return f"{'-' if c < 0.0 else ''}{size}"
    return f"{'-' if c < 0.0 else '+'} {size}"
