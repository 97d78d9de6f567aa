"""Plots of a comparison: columns against columns, and curves over time; distinct in grey by markers and line styles."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.plotting.style import COLORS, axes, envelope, for_grey, largest, set_title, side_legend
from haugmbd.study.comparison.rows import ComparisonRows
from haugmbd.study.comparison.runs import CONTACT, LAWS, LEVELS, TEXTS
from haugmbd.study.method import Method, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MARKERS, LINES = "osD^vPX*<>h", ("-", "--", "-.", ":")
"""Eleven markers beside ten colours: 110 methods have a pair of their own."""
FLOOR = 1e-17
"""Where exact zeros are drawn on a logarithmic axis."""
BAND, ROOM = "#dcdcdc", 0.04
"""Colour of the band of the reference; part of a logarithmic axis beyond the largest value, which is the radius of a marker and more."""
NUMBERS = ("h", "h_first", "h_max", "rtol", "atol")
"""Parameters in which the methods of one line differ."""
LINE_HEIGHT, MARGIN = 0.21, 0.9
"""[in] of a line of the legend, and around it."""
MARKS = 9
"""Markers on a curve."""
UNITS = {"cpu": " [s]", "compilation": " [s]", "t_reached": " [s]", "energy_drift_max": " [J]", "energy_drift_end": " [J]"}
NAMES = {"cpu": "CPU time", "euler_max": "| |p| - 1 |, stored states", "euler_drift": "| |p| - 1 |, in a step"}
WHERE = {"max": "largest", "end": "at the end", "rms": "rms"}
ENERGY = "energy drift"
TITLES = {
    "position": ("violation, position level", r"largest $|\Phi|$"),
    "velocity": ("violation, velocity level", r"largest $|\Phi_q u - \nu|$"),
    "acceleration": ("violation, acceleration level, with the method's own accelerations", r"largest $|\Phi_q \dot u - \gamma|$"),
    CONTACT: ("worst violation of the laws of contact", "largest residual [relative]"),
    ENERGY: ("drift of the total energy", "|E - E(0)| [J]"),
}
"""By level: title and axis; rows are in their own units."""


def plot_columns(comparison: ComparisonRows, x: str, y: str, ax: Axes | None) -> Axes:
    """Draw one column over another, see `ComparisonRows.plot`."""
    for name in (x, y):
        comparison.column(name)
        if name in TEXTS:
            raise UsageError(f"column {name!r} is text: plot columns of numbers.")
    lines = families(comparison)
    own, ax = ax is None, axes(ax)
    for (name, labels), color, marker, style in zip(lines.items(), cycle(COLORS), cycle(MARKERS), cycle(LINES)):  # noqa: B905  cycles
        rows = sorted(((comparison.row(label), label) for label in labels), key=lambda one: one[0][x])
        at = np.maximum([[row[x], row[y]] for row, _ in rows], FLOOR)
        ax.loglog(*at.T, linestyle=style if len(rows) > 1 else "none", color=color, marker=marker, markersize=7, label=name)
        hollow = [k for k, (_, label) in enumerate(rows) if {x, y} & set(comparison.limited[label])]
        ax.loglog(*at[hollow].T, linestyle="none", color=color, marker=marker, markersize=7, markerfacecolor="white", zorder=3)
    for name, span in ((x, ax.axvspan), (y, ax.axhspan)):
        if np.isfinite(comparison.uncertainty(name)):
            _band(ax, span, name == x, comparison.uncertainty(name))
    _few_ticks(ax)
    ax.set_xlabel(axis_of(x))
    ax.set_ylabel(axis_of(y))
    _title(
        ax,
        comparison,
        f"{name_of(y)}, over {name_of(x)}",
        [label for label in comparison.labels if not drawn(comparison, label, x, y)],
    )
    _legend(ax, len(lines) + 1, own)
    return ax


def drawn(comparison: ComparisonRows, label: str, x: str, y: str) -> bool:
    """Return whether a method reached the end and has both numbers."""
    row = comparison.row(label)
    return bool(comparison.cells[label].completed and np.isfinite(row[x]) and np.isfinite(row[y]))


def families(comparison: ComparisonRows) -> dict[str, list[str]]:
    """Return the labels of methods that reached the end, by families that differ in steps and tolerances only."""
    found: dict[str, list[str]] = {}
    for label, cell in comparison.cells.items():
        if cell.completed:  # a result that was there already is a family of its own
            found.setdefault(label if cell.method is None else family_of(cell.method), []).append(label)
    return {(labels[0] if len(labels) == 1 else name): labels for name, labels in found.items()}


def family_of(method: Method) -> str:
    """Return the name of a method without its step and its tolerances."""
    part: Any = method.integrator
    if is_dataclass(part):
        usual = {each.name: each.default for each in fields(part) if each.name in NUMBERS}
        part = replace(part, **usual)  # type: ignore[type-var]
    return label_of(method.formulation, part, method.stabilization)


def overlay_curves(comparison: ComparisonRows, level: str, ax: Axes | None) -> Axes:
    """Draw one curve for each method, see `ComparisonRows.overlay`."""
    laws = (CONTACT, *LAWS, "overlap") if comparison.model.contacts else ()
    levels = [*LEVELS, *laws, ENERGY, *((*comparison.groups, *comparison.outputs) if comparison.reference else ())]
    if level not in levels:
        raise UsageError(f"level is {level!r}{did_you_mean(str(level), levels)}: give one of {', '.join(map(repr, levels))}.")
    key = "drift" if level == ENERGY else level
    curves = {label: row.curves[key] for label, row in comparison.measures.items() if key in row.curves}
    shown = {label: curve for label, curve in curves.items() if np.isfinite(curve[1]).any()}
    missing = [label for label in comparison.labels if label not in shown]
    kept, note = largest({label: values for label, (_, values) in shown.items()})
    shown = {label: shown[label] for label in comparison.labels if label in kept}
    is_new, ax = ax is None, axes(ax)
    for (label, (t, values)), color, marker, style in zip(shown.items(), cycle(COLORS), cycle(MARKERS), cycle(LINES)):  # noqa: B905
        first = 1 if len(values) > 1 and values[0] == 0.0 else 0  # the common start, which a logarithmic axis does not have
        times, peaks = envelope(t[first:], values[first:])
        k = list(shown).index(label)
        every = (k * max(1, len(times) // (MARKS * max(1, len(shown)))), max(1, len(times) // MARKS))
        ax.semilogy(times, np.maximum(peaks, FLOOR), style, color=color, marker=marker, markevery=every, markersize=5, label=label)
    if np.isfinite(comparison.uncertainty(f"error_{level}_max")):
        _band(ax, ax.axhspan, False, comparison.uncertainty(f"error_{level}_max"))
    title, ylabel = TITLES.get(
        level, (f"error of {level}", f"error of {level} {'[rad]' if level == 'orientations' else '[relative]'}")
    )
    ax.set_xlabel("t [s]")
    ax.set_ylabel(ylabel)
    ax.set_xlim(comparison.t_start, comparison.t_end)
    _title(ax, comparison, title + note, missing)
    _legend(ax, len(shown) + 1, is_new)
    return ax


def axis_of(column: str) -> str:
    """Return the label of an axis: the name of a column with its unit."""
    if column.startswith("error_"):
        return f"{name_of(column)} {'[rad]' if 'orientations' in column else '[relative]'}"
    return name_of(column) + UNITS.get(column, "")


def name_of(column: str) -> str:
    """Return the name of a column in words."""
    if column in NAMES:
        return NAMES[column]
    what, _, where = column.rpartition("_")
    if where not in WHERE:
        return column.replace("_", " ")
    kind, _, part = what.partition("_")
    named = {
        "error": f"error of {part}",
        "violation": f"violation at {part} level" if part in LEVELS else f"violation of the laws of contact, {part}",
        "energy": "energy drift",
    }[kind]
    return f"{named}, {WHERE[where]}"


def _band(ax: Axes, span: Any, across: bool, uncertainty: float) -> None:
    """Draw the grey band below the uncertainty of the reference, with room for the markers at the other end of the longer axis."""
    low, high = ax.get_xlim() if across else ax.get_ylim()
    low, high = min(low, 0.3 * uncertainty), max(high, 3.0 * uncertainty)
    span(low, uncertainty, color=BAND, zorder=0, label="uncertainty of the reference")
    (ax.set_xlim if across else ax.set_ylim)(low, high * (high / low) ** ROOM)


def _few_ticks(ax: Axes) -> None:
    """Label 2 and 5 between the decades of a short axis, which has one at least: labels of all digits overlap."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator  # noqa: PLC0415  only where something is drawn

    if not any(np.isfinite(line.get_xydata()).all(axis=1).any() for line in ax.lines):
        return  # nothing is drawn
    for axis, limits, put in ((ax.xaxis, ax.get_xlim(), ax.set_xlim), (ax.yaxis, ax.get_ylim(), ax.set_ylim)):
        wider = (10.0 * limits[0] / limits[1]) ** 0.5
        if wider > 1.0:
            put(limits[0] / wider, limits[1] * wider)
        axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        axis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(2.0, 2.0)))


def _title(ax: Axes, comparison: ComparisonRows, what: str, left_out: list[str]) -> None:
    """Set the title, and below it what is not drawn."""
    note = f"\nnot drawn: {listed(left_out)}" if left_out else ""
    set_title(ax, f"{comparison.model.name}: {what}{note}")


def listed(labels: list[str]) -> str:
    """Return the first labels, and the number of the others."""
    first = list(islice(labels, 2))
    return ", ".join(first) + (f" and {len(labels) - 2} more" if len(labels) > 2 else "")


def _legend(ax: Axes, lines: int, own: bool) -> None:
    """Put the legend beside the plot; a figure of our own becomes as high as it."""
    if for_grey():
        side_legend(ax)
        return
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, fontsize="small", handlelength=3.2
        )
    figure: Any = ax.get_figure()
    if own and figure is not None:
        figure.set_size_inches(figure.get_figwidth() + 2.0, max(figure.get_figheight(), LINE_HEIGHT * lines + MARGIN))
