r"""work_precision: what methods cost for an error, over their steps or tolerances.

    each method at several steps, or tolerances:  error of each group  over  CPU time, steps, evaluations, factorizations

Costs at equal error are interpolated along log cost over log error between neighbouring runs, and not extrapolated.
Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.10 (work-precision diagrams).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import UsageError
from haugmbd.integrators.base import FixedOrAdaptive
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.plotting.style import COLORS, axes, set_title, side_legend
from haugmbd.simulation.arguments import check_budget, check_numbers, need_no_stops
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.comparison.compare import check_counts
from haugmbd.study.comparison.plots import BAND, LINES, MARKERS
from haugmbd.study.error_groups import GROUPS, Outputs, check_groups
from haugmbd.study.method import Method
from haugmbd.study.settings import (
    Point,
    Setting,
    SharedRun,
    given_reference,
    listed_methods,
    other_arguments,
    positive_numbers,
    reason_lines,
    refused_methods,
)
from haugmbd.system.system import System
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COSTS = {"cpu": "CPU time [s]", "steps": "steps", "evaluations": "evaluations", "factorizations": "factorizations"}
"""By name: the costs, in words."""
RTOL = (1e-4, 1e-6, 1e-8, 1e-10)
"""Default tolerances of methods with error control."""
ATOL_PART = 0.1
"""Absolute over relative tolerance."""

Where = Literal["max", "end"]


@dataclass(frozen=True, eq=False)
class WorkPrecision(StudyData):
    """Errors and costs of methods at several steps or tolerances.

    Attributes
    ----------
    labels : tuple of str
        Labels of the methods.
    groups : tuple of str
        Groups of errors, and outputs.
    settings : dict of str to ndarray
        By label: the steps [s], or relative tolerances, from the largest on.
    uncertainty : dict of str to (float, float)
        Uncertainty of the reference by group: at the end, and the largest; empty if it is unknown.
    reasons : dict of (str, float) to str
        Why runs did not reach the end, by label and setting; combinations that cannot be run with NaN for the setting.
    model_name : str
        Name of the model.
    """

    labels: tuple[str, ...]
    groups: tuple[str, ...]
    settings: dict[str, Array]
    uncertainty: dict[str, tuple[float, float]]
    reasons: dict[tuple[str, float], str]
    model_name: str
    _points: dict[str, list[Point]]

    def errors(self, label: str, group: str, *, where: Where = "max") -> Array:
        """Return the errors of a method in a group, (n,); NaN where a run did not reach the end.

        Raises
        ------
        UsageError
            If there is no such method or group.
        """
        _known("method", label, self.labels)
        _known("group", group, self.groups)
        _known("value of where", where, ("max", "end"))
        return np.array([point.error(group, where) for point in self._points[label]])

    def cost(self, label: str, cost: str = "cpu") -> Array:
        """Return a cost of a method, (n,): "cpu" [s], "steps", "evaluations" or "factorizations"; NaN where a run did not reach the end.

        Raises
        ------
        UsageError
            If there is no such method or cost.
        """
        _known("method", label, self.labels)
        _known("cost", cost, COSTS)
        return np.array([_cost(point, cost) for point in self._points[label]])

    def cost_at(self, label: str, error: float, *, group: str = "positions", cost: str = "cpu", where: Where = "max") -> float:
        """Return what a method costs for an error, interpolated between its runs; NaN outside their errors.

        Parameters
        ----------
        label : str
            Label of the method.
        error : float
            The error.
        group : str
            Group of errors, or output.
        cost : {"cpu", "steps", "evaluations", "factorizations"}
            The cost.
        where : {"max", "end"}
            The largest error over the common times, or that at the end.

        Returns
        -------
        float
            The cost.

        Raises
        ------
        UsageError
            If there is no such method, group or cost, or the error is not positive.
        """
        if not 0.0 < error < np.inf:
            raise UsageError(f"error = {error!r} must be finite and positive.")
        errors, costs = self.errors(label, group, where=where), self.cost(label, cost)
        for k in range(len(errors) - 1):
            low, high = sorted((k, k + 1), key=lambda j: errors[j])
            if 0.0 < errors[low] <= error <= errors[high]:
                part = 0.0 if errors[low] == errors[high] else np.log(error / errors[low]) / np.log(errors[high] / errors[low])
                return float(costs[low] * (costs[high] / costs[low]) ** part)
        return float("nan")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each run: method, setting, status, reason, costs, and the errors of all groups."""
        rows = []
        for label in self.labels:
            for point in self._points[label]:
                row: dict[str, Any] = {"method": label, "setting": point.setting.value}
                row |= {"status": point.cell.status, "reason": point.cell.reason}
                row |= {cost: _cost(point, cost) for cost in COSTS}
                row |= {f"error_{group}_{where}": point.error(group, where) for group in self.groups for where in ("end", "max")}
                rows.append(row)
        return rows

    def _columns(self) -> Columns:
        rows = self.rows()
        return {name: column([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def __str__(self) -> str:
        """Return a table of all runs: setting, costs, and largest errors."""
        lines = [
            [row["method"], f"{row['setting']:g}", *(f"{row[f'error_{group}_max']:.1e}" for group in self.groups)]
            + [f"{row['cpu']:.2e}", *(f"{row[cost]:.0f}" for cost in ("steps", "evaluations", "factorizations"))]
            for row in self.rows()
        ]
        head = ["method", "h or rtol", *self.groups, "cpu [s]", "steps", "evaluations", "factorizations"]
        return "\n".join([*table_lines(head, lines, right=range(1, len(head))), *reason_lines(self.reasons)])

    def plot(self, group: str = "positions", *, cost: str = "cpu", where: Where = "max", ax: Axes | None = None) -> Axes:
        """Plot the error in a group over a cost, one line for each method.

        Parameters
        ----------
        group : str
            Group of errors, or output.
        cost : {"cpu", "steps", "evaluations", "factorizations"}
            The cost.
        where : {"max", "end"}
            The largest error over the common times, or that at the end.
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes; the uncertainty of the reference is a grey band.

        Raises
        ------
        UsageError
            If there is no such group or cost.
        """
        curves = {label: (self.cost(label, cost), self.errors(label, group, where=where)) for label in self.labels}
        ax = axes(ax)
        for (label, (x, y)), color, marker, style in zip(curves.items(), cycle(COLORS), cycle(MARKERS), cycle(LINES)):  # noqa: B905  cycles
            shown = (x > 0.0) & (y > 0.0)
            ax.loglog(x[shown], y[shown], style, color=color, marker=marker, markersize=6, label=label)
        band = self.uncertainty.get(group, (0.0, 0.0))[0 if where == "end" else 1]
        low, _ = ax.get_ylim()
        if band > low:
            ax.axhspan(low, band, color=BAND, zorder=0, label="reference not good enough")
            ax.set_ylim(bottom=low)
        set_title(ax, f"{self.model_name}: error in {group} over cost, {'largest' if where == 'max' else 'at the end'}")
        ax.set_xlabel(COSTS[cost])
        ax.set_ylabel("error [rad]" if group == "orientations" else "relative error [1]")
        side_legend(ax)
        return ax


def _known(what: str, name: str, names: Iterable[str]) -> None:
    """Raise UsageError for an unknown name."""
    names = tuple(names)
    if name not in names:
        raise UsageError(f"no {what} {name!r}: {', '.join(map(repr, names))}{did_you_mean(str(name), names)}.")


def _cost(point: Point, cost: str) -> float:
    """Return a cost of a run; NaN if it did not reach the end."""
    if not point.cell.completed or point.cell.result is None:
        return float("nan")
    return point.cell.cpu if cost == "cpu" else float(getattr(point.cell.result.counters, cost))


def takes_tolerances(method: Method) -> bool:
    """Return whether a method is varied by its tolerances, and not by its step: of those that take both, as it is set."""
    integrator = method.integrator
    return integrator.adaptive if isinstance(integrator, FixedOrAdaptive) else integrator.takes_tolerances


def _settings(method: Method, tolerances: Array, steps: Array) -> list[Setting]:
    """Return a method with each of its tolerances, or with each step."""
    if takes_tolerances(method):
        return [Setting(method.label, float(x), method.with_tolerances(float(x), ATOL_PART * float(x))) for x in tolerances]
    return [Setting(method.label, float(x), method.with_step(float(x))) for x in steps]


@check_keywords
def work_precision(
    system: System | Model,
    methods: Iterable[Method],
    t_end: float,
    *,
    h: npt.ArrayLike | None = None,
    rtol: npt.ArrayLike = RTOL,
    reference: Method | Result | None = None,
    groups: Iterable[str] = GROUPS,
    outputs: Outputs | None = None,
    state: State | None = None,
    project_velocity: bool = False,
    budget: float | None = None,
    repeats: int = 3,
    progress: bool = False,
) -> WorkPrecision:
    """Return errors and costs of methods at several steps or tolerances.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    methods : iterable of Method
        Methods, each with its own label. Those of fixed step are run with each `h`, those with error control with each `rtol`; of
        integrators that take both, BDF(h=1e-3) is varied by its step, and BDF() by its tolerance.
    t_end : float
        Final time [s].
    h : array_like, (n,), optional
        Steps [s].
    rtol : array_like, (m,)
        Relative tolerances; the absolute one is a tenth.
    reference : Method or Result, optional
        What errors are measured against, see `compare`; by default DOP853 with rtol = 1e-12.
    groups : iterable of str
        Groups of errors; by default all.
    outputs : dict of str to callable, optional
        By name: functions of a Result whose errors are measured as well.
    state : State, optional
        Initial state; by default the modelled one.
    project_velocity : bool
        If True, project inconsistent initial velocities on the velocity constraints.
    budget : float, optional
        Longest time of a run [s]; runs that need more are points without error.
    repeats : int
        Number of runs of which the least CPU time counts.
    progress : bool
        If True, show a progress bar. Runs that Ctrl-C ends or prevents are points without errors, and the others are returned.

    Returns
    -------
    WorkPrecision
        `.errors`, `.cost`, `.cost_at`, `.rows()`, `.to_pandas()`, and `.plot(group, cost=)`. Print it for a table.

    Raises
    ------
    UsageError
        If an argument is not valid, a method of fixed step has no `h`, labels occur twice, or no reference is possible.
    ModelError
        If the system has faults.

    Notes
    -----
    CPU time is that of the runs, without compilation. Errors are compared at the times that all runs reach, at least at the end.
    Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.10.
    """
    chosen, wanted = listed_methods(methods, "work_precision"), check_groups(groups, outputs)
    check_numbers(None, t_end=t_end, budget=budget)
    check_budget(budget)
    check_counts(repeats=repeats)
    tolerances = positive_numbers("rtol", rtol, "work_precision")
    fixed = [repr(method.label) for method in chosen if not takes_tolerances(method)]
    if fixed and h is None:
        raise UsageError(f"work_precision: {', '.join(fixed)} take a fixed step: give h, such as h=[4e-3, 2e-3, 1e-3].")
    steps = np.zeros(0) if h is None else positive_numbers("h", h, "work_precision")
    model = model_given(system, "work_precision")
    need_no_stops(model, "work_precision")
    settings = [setting for method in chosen for setting in _settings(method, tolerances, steps)]
    study = SharedRun(
        model,
        float(t_end),
        wanted,
        outputs,
        given_reference(reference),
        budget,
        repeats,
        other_arguments(state, project_velocity),
        progress,
    )
    points, reference_run = study.run(settings)
    by_label = {method.label: [point for point in points if point.setting.label == method.label] for method in chosen}
    return WorkPrecision(
        tuple(by_label),
        (*wanted, *(outputs or {})),
        {label: np.array([point.setting.value for point in those]) for label, those in by_label.items()},
        reference_run.uncertainty,
        {(p.setting.label, p.setting.value): p.cell.reason for p in points if p.errors is None} | refused_methods(methods),
        model.name,
        by_label,
    )
