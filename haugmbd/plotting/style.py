"""The style of all plots: colours, Axes, light and dark backgrounds. Matplotlib is imported when a plot is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444", "#A6761D", "#7570B3", "#66A61E")
"""Okabe and Ito's palette first: distinct in every kind of colour vision."""
DARK_COLORS = ("#56B4E9", "#FF8C42", "#2BC79A", "#E59CC5", "#F0C84B", "#9AD1FF", "#C9C9C9", "#D9A95B", "#ABA6E0", "#A5DB5E")
"""The same order on a dark background."""

STYLE: dict[str, Any] = {
    "figure.figsize": (8.0, 3.8),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
}
DARK: dict[str, Any] = {
    "figure.facecolor": "#16181c",
    "axes.facecolor": "#16181c",
    "savefig.facecolor": "#16181c",
    "text.color": "#e8e8e8",
    "axes.labelcolor": "#e8e8e8",
    "axes.edgecolor": "#b0b0b0",
    "axes.titlecolor": "#e8e8e8",
    "xtick.color": "#c8c8c8",
    "ytick.color": "#c8c8c8",
}

GRID, DARK_GRID = "#e3e3e3", "#3a3f47"
INK, DARK_INK = "#000000", "#f2f2f2"

MOST_LINES = 10
"""Lines that a reader can tell apart; of more, the largest are drawn."""

INTERVALS = 400
"""Of a violation over more states than can be seen side by side, so many peaks are drawn."""


def literal(name: str) -> str:
    """Return a name as matplotlib shows it letter by letter: its $ begin no formula, and a _ at its start hides it from no legend."""
    return f"{' ' if name.startswith('_') else ''}{name}".replace("$", r"\$")


@contextmanager
def theme(*, dark: bool = True) -> Iterator[None]:
    """Draw plots that are made inside the `with` block on a dark or a light background.

    Parameters
    ----------
    dark : bool
        True for a dark background.

    Raises
    ------
    UsageError
        If matplotlib is not installed.

    Notes
    -----
    Axes that are given to a plot keep their own background; colours suit it.
    """
    plt = pyplot()
    with plt.rc_context(DARK if dark else {"figure.facecolor": "white", "axes.facecolor": "white"}):
        yield


def pyplot() -> Any:
    """Return matplotlib.pyplot. Raise UsageError if matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  loaded only where something is drawn
    except ImportError as error:
        raise UsageError("plots need matplotlib, which is not installed: pip install matplotlib.") from error
    return plt


def axes(ax: Axes | None) -> Axes:
    """Return the given Axes, or new ones, in haugmbd's style. Raise UsageError if matplotlib is missing, or ax is not an Axes."""
    plt = pyplot()
    if ax is None:
        with plt.rc_context(STYLE):
            _, ax = plt.subplots()
    elif not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise UsageError(f"ax = {ax!r:.60} must be one Axes of matplotlib, such as one of plt.subplots(2)[1].")
    assert ax is not None
    _lay_out(ax, plt)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(True, color=DARK_GRID if is_dark(ax) else GRID, linewidth=0.7)
    return ax


def _lay_out(ax: Axes, plt: Any) -> None:
    """Give a figure whose layout nobody has chosen the constrained layout, in which labels and titles keep apart."""
    figure: Any = ax.get_figure()
    if getattr(figure, "get_layout_engine", None) is None or figure.get_layout_engine() is not None:
        return
    names = ("left", "right", "bottom", "top", "wspace", "hspace")
    if all(getattr(figure.subplotpars, name) == plt.rcParams[f"figure.subplot.{name}"] for name in names):
        figure.set_layout_engine("constrained")


def is_dark(ax: Axes) -> bool:
    """Return whether the background of the Axes is dark."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415  loaded only where something is drawn

    figure: Any = ax.get_figure()
    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha < 0.5:
        red, green, blue, _ = to_rgba(figure.get_facecolor())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def colors(ax: Axes) -> tuple[str, ...]:
    """Return the colours that suit the background."""
    return DARK_COLORS if is_dark(ax) else COLORS


def ink(ax: Axes) -> str:
    """Return black on a light background, white on a dark one."""
    return DARK_INK if is_dark(ax) else INK


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
