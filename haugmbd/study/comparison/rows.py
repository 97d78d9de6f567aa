"""The rows of a comparison: numbers and texts of each method, and the printed table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result
from haugmbd.study.comparison.runs import COUNTS, TEXTS, Cell, Measures, Reference, columns_of, error_columns
from haugmbd.study.error_groups import Outputs
from haugmbd.text_table import table_lines

PRINTED = (
    ("positions", "error_positions_max"),
    ("orientations", "error_orientations_max"),
    ("velocities", "error_velocities_max"),
    ("multipliers", "error_multipliers_max"),
    ("Phi", "violation_position_max"),
    ("Phi_dot", "violation_velocity_max"),
    ("Phi_ddot", "violation_acceleration_max"),
    ("contact", "violation_contact_max"),
    ("energy [J]", "energy_drift_max"),
    ("steps", "steps"),
    ("evaluations", "evaluations"),
    ("cpu [s]", "cpu"),
)
"""Columns of the printed table: largest errors and violations, and costs."""
WIDEST = 160
"""Length of a line of the table; long labels are cut."""
BELOW = "~"
"""Marks a number that is below the uncertainty of the reference."""


def text_of(part: Any) -> str:
    """Return a part of a method as text; the settings of a Result have texts already."""
    return part if isinstance(part, str) else repr(part)


class ComparisonRows:
    """The rows of a comparison, see `Comparison`."""

    def __init__(
        self,
        model: Model,
        t_start: float,
        t_end: float,
        measures: dict[str, Measures],
        reference: Reference | None,
        groups: tuple[str, ...],
        outputs: Outputs | None,
        parts: Mapping[str, tuple[Any, Any, Any]],
        budget: float | None = None,
    ) -> None:
        self.model, self.t_start, self.t_end, self.budget = model, t_start, t_end, budget
        self.measures, self.reference, self.groups, self.outputs = measures, reference, groups, tuple(outputs or ())
        self.parts = parts
        self.columns = columns_of(model, groups, outputs)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels."""
        return tuple(self.measures)

    @property
    def cells(self) -> dict[str, Cell]:
        """Return the cells by label."""
        return {label: one.cell for label, one in self.measures.items()}

    @property
    def results(self) -> dict[str, Result]:
        """Return the results by label."""
        return {label: cell.result for label, cell in self.cells.items() if cell.result is not None}

    @cached_property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """Return notes and warnings by label."""
        return {
            label: (*measures.notes, *(() if measures.cell.result is None else measures.cell.result.warnings))
            for label, measures in self.measures.items()
        }

    def row(self, label: str) -> dict[str, Any]:
        """Return the columns of one method by name; numbers that are unknown are NaN."""
        if label not in self.measures:
            raise UsageError(f"no method has the label {label!r}{did_you_mean(label, self.labels)}.")
        measures = self.measures[label]
        parts = ("" if part is None else text_of(part) for part in self.parts[label])
        texts = dict(zip(TEXTS, (measures.cell.status, measures.cell.reason, *parts), strict=True))
        return {name: texts[name] if name in texts else measures.numbers.get(name, np.nan) for name in self.columns}

    def column(self, name: str) -> list[Any]:
        """Return one column for all methods; UsageError if there is none of that name."""
        if name not in self.columns:
            raise UsageError(f"no column {name!r}{did_you_mean(name, self.columns)}; see Comparison.columns.")
        return [self.row(label)[name] for label in self.labels]

    def uncertainty(self, column: str) -> float:
        """Return the uncertainty of the reference in a column of errors; NaN if it is unknown, or for another column."""
        known = {} if self.reference is None else self.reference.uncertainty
        name, _, what = column.removeprefix("error_").rpartition("_")
        if not column.startswith("error_") or not (name in known or (name == "outputs" and set(self.outputs) <= known.keys())):
            return float("nan")
        k = 0 if what == "end" else 1
        return max(known[each][k] for each in self.outputs) if name == "outputs" else known[name][k]

    @cached_property
    def limited(self) -> dict[str, tuple[str, ...]]:
        """Return, by label, the columns of errors that are below the uncertainty: the reference is not good enough for them."""
        errors = error_columns(self.groups, dict.fromkeys(self.outputs))  # type: ignore[arg-type]
        return {label: tuple(name for name in errors if self.row(label)[name] <= self.uncertainty(name)) for label in self.labels}

    def __str__(self) -> str:
        """Return the table, what the marks mean, and the reasons of the rows that did not reach the end."""
        return "\n".join([*self._table(), *self._remarks()])

    def __repr__(self) -> str:
        return str(self)

    def _table(self) -> list[str]:
        """Return the lines of the table."""
        shown, lines = self._printed(), []
        for label in self.labels:
            row = self.row(label)
            marks = (BELOW if name in self.limited[label] else "" for _, name in shown)
            numbers = (f"{mark}{number(row[name], name)}" for mark, (_, name) in zip(marks, shown, strict=True))
            lines.append((label, *numbers, row["status"]))
        head = ("method", *(head for head, _ in shown), "status")
        return table_lines(head, lines, right=range(1, len(head) - 1), width=WIDEST, may_be_cut=(0,))

    def _printed(self) -> list[tuple[str, str]]:
        """Return the heads and names of the columns of the printed table."""
        return [(head, name) for head, name in PRINTED if name in self.columns and (self.reference or not name.startswith("error"))]

    def _remarks(self) -> list[str]:
        """Return the lines below the table: scales, the reference, and the methods that did not reach the end."""
        lines = [
            f"{self.model.name}, t = {self.t_start:g} .. {self.t_end:g} s: largest errors, violations and drift of each method."
        ]
        if self.reference is not None:
            lines.append(f"Errors relative to their scales, orientations in rad; reference: {self.reference.name}.")
            lines += self.reference.notes
        printed = {name for _, name in self._printed()}
        if any(printed.intersection(names) for names in self.limited.values()):
            lines.append(f"{BELOW} the reference is not good enough: the value is below its own uncertainty.")
        for label, cell in self.cells.items():
            if not cell.completed:
                first, *more = cell.reason.splitlines() or [""]
                lines.append(f"{label}: {cell.status}: {first}{f' ... ({len(more)} more lines in .cells)' if more else ''}")
        return lines


def number(x: float, name: str) -> str:
    """Return a number of a column as text: counts as they are, others with two digits; "-" if it is unknown."""
    if not np.isfinite(x):
        return "-" if np.isnan(x) else f"{x}"
    return f"{int(x)}" if name in (*COUNTS, "runs") else f"{x:.1e}"
