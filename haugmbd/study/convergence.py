r"""convergence: the order of methods in every group of errors, fitted, with its confidence and what limits it.

    e(h) = C h^p         in positions, orientations, velocities, multipliers, reactions, energy, and outputs

A method may have different orders in different groups: multipliers of index 3 lose orders, velocities that are only projected gain none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import UsageError
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.plotting.style import COLORS, axes, set_title, side_legend
from haugmbd.simulation.arguments import check_budget, check_numbers, need_no_stops
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.comparison.plots import BAND, LINES, MARKERS
from haugmbd.study.error_groups import GROUPS, Outputs, check_groups
from haugmbd.study.method import Method
from haugmbd.study.order_fit import FittedOrder, fit_order
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

Where = Literal["max", "end"]


@dataclass(frozen=True, eq=False)
class Convergence(StudyData):
    """Errors of methods over their steps, and the fitted orders.

    Attributes
    ----------
    labels : tuple of str
        Labels of the methods.
    groups : tuple of str
        Groups of errors, and outputs.
    h : ndarray, (n,)
        Steps [s], from the largest on.
    t : ndarray, (k,)
        Times at which all runs are compared [s]: those that all steps reach.
    uncertainty : dict of str to (float, float)
        Uncertainty of the reference by group: at the end, and the largest; empty if it is unknown.
    reasons : dict of (str, float) to str
        Why runs failed, by label and step; combinations that cannot be run (of `mbd.methods`) with NaN for the step.
    model_name : str
        Name of the model.
    """

    labels: tuple[str, ...]
    groups: tuple[str, ...]
    h: Array
    t: Array
    uncertainty: dict[str, tuple[float, float]]
    reasons: dict[tuple[str, float], str]
    model_name: str
    _points: dict[str, list[Point]]

    def errors(self, label: str, group: str, *, where: Where = "max") -> Array:
        """Return the errors of a method, from the largest step on.

        Parameters
        ----------
        label : str
            Label of the method.
        group : str
            Group of errors, or output.
        where : {"max", "end"}
            The largest error over the common times, or that at the end.

        Returns
        -------
        ndarray, (n,)
            Errors relative to the scale of the group, in rad for orientations; NaN where a run failed.

        Raises
        ------
        UsageError
            If there is no such method or group.
        """
        self._check(label, group, where)
        return np.array([point.error(group, where) for point in self._points[label]])

    def order(self, label: str, group: str, *, where: Where = "max") -> FittedOrder:
        """Return the fitted order of a method in a group of errors.

        Parameters
        ----------
        label : str
            Label of the method.
        group : str
            Group of errors, or output.
        where : {"max", "end"}
            The largest error over the common times, or that at the end.

        Returns
        -------
        FittedOrder
            A number, with `.confidence` (half-width, 95 %), `.flags` of the points and `.limits`. NaN if fewer than two points count.

        Raises
        ------
        UsageError
            If there is no such method or group.
        """
        errors = self.errors(label, group, where=where)
        steps = self.t[-1] / self.h
        band = self.uncertainty.get(group, (0.0, 0.0))[0 if where == "end" else 1]
        return fit_order(self.h, errors, band, steps)

    _grid = ("label", "group", "h")

    def _columns(self) -> Columns:
        cells = [(label, group, k) for label in self.labels for group in self.groups for k in range(len(self.h))]
        ends = {(a, b, where): self.errors(a, b, where=where) for a in self.labels for b in self.groups for where in ("end", "max")}
        orders = {(a, b): self.order(a, b) for a in self.labels for b in self.groups}
        return {
            "label": column([label for label, _, _ in cells]),
            "group": column([group for _, group, _ in cells]),
            "h": column([self.h[k] for *_, k in cells]),
            "error_max": column([ends[label, group, "max"][k] for label, group, k in cells]),
            "error_end": column([ends[label, group, "end"][k] for label, group, k in cells]),
            "order": column([float(orders[label, group]) for label, group, _ in cells]),
            "status": column([self._points[label][k].cell.status for label, _, k in cells]),
        }

    def __str__(self) -> str:
        """Return a table of the orders in all groups."""
        rows = [[label, *(self._cell(label, group) for group in self.groups)] for label in self.labels]
        head = f"{self.model_name}: orders with 95 % confidence, h = {self.h[0]:g} ... {self.h[-1]:g} s"
        notes = (
            ["* points left out: see .order(label, group).flags"] if any("*" in cell for row in rows for cell in row[1:]) else []
        )
        return "\n".join(
            [
                head,
                *table_lines(["method", *self.groups], rows, right=range(1, len(self.groups) + 1)),
                *notes,
                *reason_lines(self.reasons),
            ]
        )

    def _cell(self, label: str, group: str) -> str:
        order = self.order(label, group)
        if np.isnan(order):
            return "-" + "*" * bool(order.limits)
        return (f"{order:.2f}" if np.isnan(order.confidence) else f"{float(order):.2f} +- {order.confidence:.2f}") + "*" * bool(
            order.limits
        )

    def plot(self, group: str = "positions", *, where: Where = "max", ax: Axes | None = None) -> Axes:
        """Plot the errors of all methods over the step, with the fitted lines; points that do not count are hollow.

        Parameters
        ----------
        group : str
            Group of errors, or output.
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
            If there is no such group.
        """
        orders = {label: self.order(label, group, where=where) for label in self.labels}
        ax = axes(ax)
        for (label, order), color, marker, style in zip(orders.items(), cycle(COLORS), cycle(MARKERS), cycle(LINES)):  # noqa: B905  cycles
            _draw(ax, label, order, color, marker, style)
        band = self.uncertainty.get(group, (0.0, 0.0))[0 if where == "end" else 1]
        low, _ = ax.get_ylim()
        if band > low:
            ax.axhspan(low, band, color=BAND, zorder=0, label="reference not good enough")
            ax.set_ylim(bottom=low)
        set_title(ax, f"{self.model_name}: error in {group}, {'largest' if where == 'max' else 'at the end'}")
        ax.set_xticks(self.h, [f"{x:g}" for x in self.h])
        ax.minorticks_off()
        ax.set_xlabel("h [s]")
        ax.set_ylabel("error [rad]" if group == "orientations" else "relative error [1]")
        side_legend(ax)
        return ax

    def _check(self, label: str, group: str, where: str) -> None:
        if label not in self.labels:
            raise UsageError(f"no method {label!r}: {', '.join(map(repr, self.labels))}{did_you_mean(str(label), self.labels)}.")
        if group not in self.groups:
            raise UsageError(f"no group {group!r}: {', '.join(self.groups)}{did_you_mean(str(group), self.groups)}.")
        if not is_one_of(where, ("max", "end")):
            raise UsageError(f"where is {where!r}: give 'max' or 'end'.")


def _draw(ax: Axes, label: str, order: FittedOrder, color: str, marker: str, style: str) -> None:
    """Draw points and line of one method."""
    name = label if np.isnan(order) else f"{label}: {float(order):.2f}"
    counts = np.array([not flag for flag in order.flags])
    shown = np.isfinite(order.errors) & (order.errors > 0.0)
    ax.loglog([], [], style, color=color, marker=marker, markersize=6, label=name)
    ax.loglog(order.h[shown & counts], order.errors[shown & counts], marker, color=color, markersize=6)
    ax.loglog(order.h[shown & ~counts], order.errors[shown & ~counts], marker, color=color, markersize=6, markerfacecolor="white")
    if counts.any() and not np.isnan(order):
        x = order.h[counts][[0, -1]]
        ax.loglog(x, order.constant * x ** float(order), style, color=color)


@check_keywords
def convergence(
    system: System | Model,
    methods: Iterable[Method],
    t_end: float,
    *,
    h: npt.ArrayLike,
    reference: Method | Result | None = None,
    groups: Iterable[str] = GROUPS,
    outputs: Outputs | None = None,
    state: State | None = None,
    project_velocity: bool = False,
    budget: float | None = None,
    progress: bool = False,
) -> Convergence:
    """Return the orders of methods in every group of errors, from runs with several steps.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    methods : iterable of Method
        Methods that take a fixed step, each with its own label; their own steps do not count.
    t_end : float
        Final time [s].
    h : array_like, (n,)
        Steps [s], two or more. Errors are compared at the times that all of them reach, so give steps such as 0.04, 0.02, 0.01.
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
        Longest time of a run [s].
    progress : bool
        If True, show a progress bar. Runs that Ctrl-C ends or prevents are points without errors, and the others are returned.

    Returns
    -------
    Convergence
        `.order(label, group)`, `.errors(label, group)`, and `.plot(group)`. Print it for a table.

    Raises
    ------
    UsageError
        If an argument is not valid, a method takes no fixed step, labels occur twice, or no reference is possible.
    ModelError
        If the system has faults.

    Notes
    -----
    Multipliers and reactions are those of the method itself. Runs that fail are points with the flag "failed". Points below ten times the
    uncertainty of the reference, or within rounding, do not count, and are flagged.
    Source: Hairer, Norsett and Wanner, Solving ODE I, sec. II.4.
    """
    chosen, wanted = listed_methods(methods, "convergence"), check_groups(groups, outputs)
    steps = positive_numbers("h", h, "convergence", 2)
    check_numbers(None, t_end=t_end, budget=budget)
    check_budget(budget)
    adaptive = [repr(method.label) for method in chosen if not method.integrator.takes_step]
    if adaptive:
        raise UsageError(
            f"convergence needs methods of fixed step, and {', '.join(adaptive)} choose their own: leave them out, or use work_precision."
        )
    model = model_given(system, "convergence")
    need_no_stops(model, "convergence")
    study = SharedRun(
        model,
        float(t_end),
        wanted,
        outputs,
        given_reference(reference),
        budget,
        1,
        other_arguments(state, project_velocity),
        progress,
    )
    settings = [Setting(method.label, float(step), method.with_step(float(step))) for method in chosen for step in steps]
    points, reference_run = study.run(settings)
    by_label = {method.label: [point for point in points if point.setting.label == method.label] for method in chosen}
    reasons = {(p.setting.label, p.setting.value): p.cell.reason for p in points if p.errors is None}
    reasons |= refused_methods(methods)
    times = next((p.errors.t for p in points if p.errors is not None), np.array([float(t_end)]))
    return Convergence(
        tuple(by_label), (*wanted, *(outputs or {})), steps, times, reference_run.uncertainty, reasons, model.name, by_label
    )
