"""The style of all plots, and their Axes. Matplotlib is imported when a plot is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444", "#A6761D", "#7570B3", "#66A61E")
"""Okabe and Ito's palette first: distinct in every kind of colour vision."""

STYLE: dict[str, Any] = {
    "figure.figsize": (8.0, 3.8),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.4,
}

MOST_LINES = 10
"""Lines that a reader can tell apart; of more, the largest are drawn."""

INTERVALS = 400
"""Of a violation over more states than can be seen side by side, so many peaks are drawn."""


def axes(ax: Axes | None) -> Axes:
    """Return the given Axes, or new ones in haugmbd's style. Raise UsageError if matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  loaded only where something is drawn
        from cycler import cycler  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("plots need matplotlib, which is not installed: pip install 'haugmbd[viz]'.") from error
    style: Any = {**STYLE, "axes.prop_cycle": cycler(color=COLORS)}
    with plt.rc_context(style):
        _, new = plt.subplots()
    return new


def finish(ax: Axes, t: Array, title: str, ylabel: str) -> Axes:
    """Set title, labels, time axis and a legend beside the plot, and return the Axes."""
    ax.set_title(title, loc="left")
    ax.set_xlabel("t [s]")
    ax.set_ylabel(ylabel)
    if len(t) > 1:
        ax.set_xlim(float(t[0]), float(t[-1]))
    if len(ax.lines) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, fontsize="small")
    return ax


def largest(lines: dict[str, Array]) -> tuple[dict[str, Array], str]:
    """Return at most `MOST_LINES` of the lines, the largest ones, and a note on those left out."""
    if len(lines) <= MOST_LINES:
        return lines, ""
    order = sorted(lines, key=lambda name: float(np.max(np.abs(lines[name]), initial=0.0)), reverse=True)
    return {name: lines[name] for name in order[:MOST_LINES]}, f" (the {MOST_LINES} largest of {len(lines)})"


def envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Return times and values; for more than twice `INTERVALS` states, the largest value of each interval and its time."""
    if len(t) <= 2 * INTERVALS:
        return t, values
    starts = np.unique(np.linspace(0, len(t), INTERVALS, endpoint=False).astype(np.int64))
    ends = np.append(starts[1:], len(t))
    peaks = np.array([a + int(np.argmax(values[a:b])) for a, b in zip(starts, ends, strict=True)])
    return t[peaks], values[peaks]
