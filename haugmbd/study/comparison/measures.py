r"""The columns of a comparison: errors by group, violation by level, drifts and counters, from the result of one method.

error_<group>_<end|max>           at t_end, and the largest over the states that are compared; see `error_groups`
error_outputs_<end|max>           the largest of all outputs;  error_<output>_<end|max>  of each
                                  unknown of a run that did not reach t_end: its errors are those of a shorter motion
violation_<level>_<max|rms|end>   of v(t) = max_row |Phi|, |Phi_q u - nu|, |Phi_q u' - gamma|:  its largest value, sqrt(int v^2 dt / T),
                                  and its last value.  u' is that of the method.  In units of the rows
euler_max, euler_drift            largest | |p| - 1 | of the stored states;  the largest of a step before it is normalized
energy_drift_<max|end>            |E - E_0| of the total energy with all work [J]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import HaugmbdError, error_text
from haugmbd.simulation.results.result import Result
from haugmbd.study.comparison.cell import Cell
from haugmbd.study.comparison.reference import Reference
from haugmbd.study.error_groups import Outputs, group_errors

LEVELS = ("position", "velocity", "acceleration")
VIOLATIONS = tuple(f"violation_{level}_{what}" for level in LEVELS for what in ("max", "rms", "end"))
DRIFTS = ("euler_max", "euler_drift", "energy_drift_max", "energy_drift_end")
COUNTS = ("steps", "evaluations", "factorizations", "newton_iterations", "rejected", "solves")
COSTS = ("cpu", "compilation", "runs", "t_reached")
TEXTS = ("status", "reason", "formulation", "integrator", "stabilization")


def error_columns(groups: tuple[str, ...], outputs: Outputs | None) -> tuple[str, ...]:
    """Return the names of the columns of errors."""
    names = [*groups, *(("outputs", *outputs) if outputs else ())]
    return tuple(f"error_{name}_{what}" for name in names for what in ("end", "max"))


def columns_of(groups: tuple[str, ...], outputs: Outputs | None) -> tuple[str, ...]:
    """Return the names of all columns, in their order."""
    return (*error_columns(groups, outputs), *VIOLATIONS, *DRIFTS, *COUNTS, *COSTS, *TEXTS)


def compared_states(result: Result, most: int) -> Ints:
    """Return the numbers of at most `most` states, evenly spread over the steps, with the first and the last."""
    n = len(result)
    return np.unique(np.rint(np.linspace(0, n - 1, min(n, most))).astype(np.int64))


class Measures:
    """The measurements of one cell: a number for each column, violations by joint, curves over time, and what could not be measured."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.numbers: dict[str, float] = {}
        self.by_joint: dict[str, dict[str, float]] = {}
        self.curves: dict[str, tuple[Array, Array]] = {}
        self.notes: list[str] = []

    def add_all(self, reference: Reference | None, groups: tuple[str, ...], outputs: Outputs | None, most: int) -> None:
        """Measure everything."""
        cell, result = self.cell, self.cell.result
        self.numbers |= {"cpu": cell.cpu, "compilation": cell.compilation, "runs": float(cell.runs)}
        if result is None or not len(result):
            return
        self._count(result)
        for level in LEVELS:
            self._try(f"violation at {level} level", lambda level=level: self._violation(result, level))  # type: ignore[misc]
        self._try("energy", lambda: self._energy(result))
        self.numbers["euler_max"] = float(result.euler_violation().max(initial=0.0))
        if reference is not None:
            self._try("errors", lambda: self._errors(result, reference, groups, outputs, most))

    def _try(self, what: str, measure: Callable[[], None]) -> None:
        """Measure, or note why it cannot be measured."""
        try:
            with np.errstate(all="ignore"):  # a run that failed may hold numbers whose squares overflow
                measure()
        except (HaugmbdError, np.linalg.LinAlgError) as error:
            self.notes.append(f"{what}: {error_text(error)}")

    def _count(self, result: Result) -> None:
        c, method = result.counters, self.cell.method
        solves = method is not None and method.integrator.solves_constraints
        self.numbers |= {
            "steps": c.steps,
            "evaluations": c.evaluations,
            "factorizations": c.factorizations,
            "newton_iterations": c.projections if solves else 0,
            "rejected": c.rejected,
            "solves": c.solves,
            "euler_drift": c.max_euler_drift,
            "t_reached": float(result.t[-1]),
        }

    def _violation(self, result: Result, level: str) -> None:
        rows: Any = result.violation(level, of_method=True)  # type: ignore[call-overload]
        v = np.abs(rows).max(axis=1, initial=0.0)
        known = np.isfinite(v)
        self.curves[level] = (result.t[known], v[known])
        if not known.any():
            return
        t, v = self.curves[level]
        span = float(t[-1] - t[0])
        rms = np.sqrt(np.trapezoid(v**2, t) / span) if span > 0.0 else v[-1]
        self.numbers |= {f"violation_{level}_{what}": float(x) for what, x in (("max", v.max()), ("rms", rms), ("end", v[-1]))}
        model = result.model
        self.by_joint[level] = {
            name: float(np.linalg.norm(rows[known][:, joint.rows], axis=1).max()) for name, joint in model.joints.items()
        }

    def _energy(self, result: Result) -> None:
        drift = np.abs(result.energy().drift)
        self.curves["drift"] = (result.t, drift)
        self.numbers |= {"energy_drift_max": float(drift.max()), "energy_drift_end": float(drift[-1])}

    def _errors(self, result: Result, reference: Reference, groups: tuple[str, ...], outputs: Outputs | None, most: int) -> None:
        at = compared_states(result, most)
        found = group_errors(result, reference.result, groups=groups, outputs=outputs, at=at, scales=reference.scales)
        for name, errors in found.errors.items():
            known = np.isfinite(errors)
            self.curves[name] = (found.t[known], errors[known])
            largest = float(errors[known].max()) if known.any() else np.nan
            self.numbers[f"error_{name}_max"] = largest if self.cell.completed else np.nan
            if not known.all() and name not in found.notes:
                self.notes.append(f"errors of {name}: {np.sum(~known)} of {len(known)} states are not steps of the method")
            self.numbers[f"error_{name}_end"] = found.end(name) if self.cell.completed else np.nan
        if outputs:
            for what in ("end", "max"):
                self.numbers[f"error_outputs_{what}"] = max(self.numbers[f"error_{name}_{what}"] for name in outputs)
        self.notes += [f"errors of {group}: {note}" for group, note in found.notes.items()]
