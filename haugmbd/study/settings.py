"""Methods at several steps or tolerances: their runs and errors against one reference; failures are points, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.model.inspection.given import need_state
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.study.comparison.runs import Cell, Reference, check_reference, compute_reference, default_reference, run_cells
from haugmbd.study.error_groups import GroupErrors, Outputs, group_errors
from haugmbd.study.method import Method, MethodSet, no_method

SAME = 1e-9
"""Of the interval: times that are closer are the same."""
MOST_COMMON = 101
"""Common times at which errors are compared, at most."""


class Setting(NamedTuple):
    """A method at one setting.  label: of the method without the setting;  value: step or tolerance;  method: with it."""

    label: str
    value: float
    method: Method


@dataclass(frozen=True, eq=False)
class Point:
    """The run of a setting, and its errors, which are None where it did not reach the end."""

    setting: Setting
    cell: Cell
    errors: GroupErrors | None

    def error(self, group: str, where: str) -> float:
        """Return the error of a group at the "end", or the "max" over the common times; NaN if the run did not reach the end."""
        if self.errors is None:
            return float("nan")
        return self.errors.end(group) if where == "end" else self.errors.max(group)


@dataclass(frozen=True, eq=False)
class SharedRun:
    """The mechanism, the time and the reference that all settings share.

    more: other arguments of `simulate`
    """

    model: Model
    t_end: float
    groups: tuple[str, ...]
    outputs: Outputs | None
    reference: Method | Result
    budget: float | None
    repeats: int
    more: dict[str, Any]
    progress: bool = False

    def run(self, settings: Sequence[Setting]) -> tuple[list[Point], Reference]:
        """Run the settings, and the reference at the times that they are compared at. After Ctrl-C the others are points without errors."""
        check_flags(progress=self.progress)
        self._check(settings)
        check_reference(self.reference, self.model, self.t_end, self.outputs, self.budget, self.more)
        cells = run_cells(
            [one.method for one in settings],
            self.model,
            self.t_end,
            repeats=self.repeats,
            budget=self.budget,
            more=self.more,
            progress=self.progress,
        )
        done = [cell.result for cell in cells if cell.completed and cell.result is not None]
        at = common_states(done, self.t_end)
        times = np.unique(np.concatenate([[self.t_end], *(result.t[k] for result, k in zip(done, at, strict=True))]))
        reference = compute_reference(self.reference, self.model, times, self.groups, self.outputs, self.budget, self.more)
        chosen = {id(result): k for result, k in zip(done, at, strict=True)}
        points = [
            Point(setting, cell, self._errors(cell.result, reference, chosen) if cell.completed else None)
            for setting, cell in zip(settings, cells, strict=True)
        ]
        return points, reference

    def _check(self, settings: Sequence[Setting]) -> None:
        """Raise UsageError, with all faults, for steps and tolerances that cannot be run."""
        state = self.more.get("state")
        span = self.t_end - (0.0 if state is None else float(need_state(state).t))
        if not 0.0 < span < np.inf:
            raise UsageError(f"t_end = {self.t_end:g} s must be finite, and later than the start.")
        wrong: dict[str, None] = {}
        for one in settings:
            try:
                one.method.integrator.check(span)
            except UsageError as error:
                wrong[f"{one.method.label}: {str(error).rstrip('.')}"] = None
        if wrong:
            raise UsageError(f"{'; '.join(wrong)}.")

    def _errors(self, result: Result | None, reference: Reference, chosen: dict[int, Ints]) -> GroupErrors | None:
        if result is None:
            return None
        with np.errstate(all="ignore"):
            return group_errors(
                result, reference.result, groups=self.groups, outputs=self.outputs, at=chosen[id(result)], scales=reference.scales
            )


def common_states(results: Sequence[Result], t_end: float) -> list[Ints]:
    """Return, of each result, the numbers of its states at the times that all have, thinned; at least the last one."""
    if not results:
        return []
    coarse = min(results, key=len).t
    times = coarse
    for result in results:
        near = np.abs(result.t[_nearest(result.t, times)] - times)
        times = times[near <= SAME * t_end]
    if not len(times) or times[-1] < t_end * (1.0 - SAME):
        times = np.append(times, t_end)
    if len(times) > MOST_COMMON:
        times = times[np.unique(np.rint(np.linspace(0, len(times) - 1, MOST_COMMON)).astype(int))]
    return [_nearest(result.t, times) for result in results]


def _nearest(t: Array, wanted: Array) -> Ints:
    """Return the numbers of the times t (n,) that are next to wanted ones (k,)."""
    right = np.clip(np.searchsorted(t, wanted), 1, max(len(t) - 1, 1))
    right = np.minimum(right, len(t) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(np.abs(t[left] - wanted) <= np.abs(t[right] - wanted), left, right)


def given_reference(reference: Method | Result | None) -> Method | Result:
    """Return the reference, by default that of comparisons."""
    return default_reference() if reference is None else reference


def other_arguments(state: State | None, project_velocity: bool) -> dict[str, Any]:
    """Return the arguments of `simulate` that are the same for all runs."""
    return {"state": state, "project_velocity": project_velocity}


def listed_methods(methods: Any, who: str) -> list[Method]:
    """Return the methods.  Raise UsageError for what is not a method, and for labels that occur twice."""
    listed = (
        [methods]
        if isinstance(methods, Method)
        else list(methods)
        if isinstance(methods, Iterable) and not isinstance(methods, np.ndarray)
        else [methods]
    )
    wrong = [no_method(method) for method in listed if not isinstance(method, Method)]
    labels = [method.label for method in listed if isinstance(method, Method)]
    wrong += [
        f"{labels.count(label)} methods have the label {label!r}: give each its own, Method(..., label=...)"
        for label in dict.fromkeys(label for label in labels if labels.count(label) > 1)
    ]
    if not listed:
        wrong.append("there is no method: give at least one")
    if wrong:
        raise UsageError(f"{who}: {'; '.join(wrong)}.")
    return listed


def refused_methods(methods: Any) -> dict[tuple[str, float], str]:
    """Return why combinations of `mbd.methods` cannot be run, by label and NaN for the setting."""
    return {(one.label, float("nan")): one.reason for one in methods.refused} if isinstance(methods, MethodSet) else {}


def positive_numbers(name: str, given: npt.ArrayLike, who: str, fewest: int = 1) -> Array:
    """Return the numbers, each once, from the largest on.  Raise UsageError unless they are finite, positive and enough."""
    try:
        values = np.unique(np.atleast_1d(np.asarray(given, dtype=np.float64)))[::-1]
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) < fewest or not (np.isfinite(values).all() and (values > 0.0).all()):
        count = "" if fewest == 1 else f"{fewest} or more different ones, "
        raise UsageError(f"{who}: {name} = {given!r} must be numbers, {count}finite and positive.")
    return values


def reason_lines(reasons: Mapping[tuple[str, float], str]) -> list[str]:
    """Return why runs did not reach the end, one line for each method and reason, with the settings."""
    found: dict[tuple[str, str], list[float]] = {}
    for (label, value), reason in reasons.items():
        found.setdefault((label, reason), []).append(value)
    return [f"{label}{_at(values)}: {reason}" for (label, reason), values in found.items()]


def _at(values: list[float]) -> str:
    """Return the settings in words; "" for a combination that has none."""
    return f" at {', '.join(f'{x:g}' for x in values)}" if np.isfinite(values).all() else ""
