"""What is drawn of a result: the result itself, names of points, series of joint coordinates; lines, limits and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.joint_coordinates import JointHistory
from haugmbd.errors import UsageError
from haugmbd.plotting.style import colors, estimated_width, for_grey, ink, literal, set_title, text_width
from haugmbd.simulation.results.quantities import HasQuantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"angle": "rad", "displacement": "m", "rotation": "rad"}
ORDERS = ("", "rate of the ", "acceleration of the ")


def known(result: object) -> HasQuantities:
    """Return the result. Raise UsageError for another type."""
    if not isinstance(result, HasQuantities):
        raise UsageError(f"{type(result).__name__} is not a result to draw: give what mbd.simulate(...) returned.")
    return result


def name_of(point: Any) -> str:
    """Return the name of a point in a legend."""
    return point if isinstance(point, str) else f"{point[0]} {tuple(np.asarray(point[1]).tolist())}"


def coordinate(history: JointHistory, what: str | None, derivative: int) -> tuple[dict[str, Array], str, str]:
    """Return series by name, unit and kind of a joint's coordinates of one kind, or of their first or second derivative."""
    kinds = sorted(dict.fromkeys(history.coordinates), key=list(UNITS).index)
    kind = kinds[0] if what is None else what
    if not is_one_of(kind, kinds):
        raise UsageError(f"what is {what!r}: joint {history.joint!r} has {', '.join(map(repr, kinds))}.")
    if not is_one_of(derivative, (0, 1, 2)):
        raise UsageError(f"derivative is {derivative!r}: give 0, 1 (rate) or 2 (acceleration).")
    columns: list[Array] = []
    table = (history.rate if derivative == 1 else history.acceleration).reshape(len(history.t), -1)
    at = 0
    for column in history.coordinates:
        width = 3 if column == "rotation" else 1
        if column == kind:
            columns += list(table[:, at : at + width].T)
        at += width
    if derivative == 0:
        columns = list(getattr(history, kind).reshape(len(history.t), -1).T)
    names = ["x", "y", "z"] if kind == "rotation" else [f"{kind} {k + 1}" for k in range(len(columns))]
    names = [kind] if len(columns) == 1 else names
    unit = UNITS[kind] + ("", "/s", "/s²")[derivative]
    return dict(zip(names, columns, strict=True)), unit, kind


# Drawing of lines, and what comes after them: labels, limits, lines that lie on each other, the legend.
#
# overlay     lines of a second call on the same Axes: the same colours, another line style; a single line has the next colour
# identical   a line on another one gets markers, and its entry in the legend says on which it lies
# rounding    a range that is rounding only is not blown up to the height of the plot
# legend      beside the Axes where the layout makes room for it; otherwise in a strip above the data, within the Axes

LINE_STYLES = ("-", "--", "-.", ":")
GREY_STYLES: tuple[Any, ...] = (*LINE_STYLES, (0, (7, 2)), (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (9, 2, 3, 2)))
"""Line styles that can be told apart without colours."""
MARKERS = ("o", "s", "^", "D", "v", "P")
MARKS = 12
"""Markers on a line that lies on another one."""
IDENTICAL = 2e-3
"""Distance of two lines, relative to the height of the plot, that cannot be seen."""
ROUNDING = 1e-12
"""Relative to the largest value: a range below it is rounding."""
FLOOR = 1e-17
"""Value at which exact zeros are drawn on a logarithmic axis."""
WIDE = 4.2
"""[in] Axes at least so wide have the legend beside them."""
TALLEST = 0.7
"""Largest part of the height that the legend takes above the data."""
COLUMN_SPACING, HANDLE = 1.2, 3.2
"""Sizes of a legend in units of its font: between columns; handle and space before the text."""
ROOM = "haugmbd room"
OWN = "haugmbd"


def overlays(ax: Axes) -> int:
    """Return how many plots have been drawn on the Axes."""
    return 1 + max((int(str(line.get_gid()).split(":")[1]) for line in ax.lines if _own(line)), default=-1)


def _own(line: Any) -> bool:
    return str(line.get_gid()).startswith(f"{OWN}:")


def draw(
    ax: Axes, lines: Mapping[str, tuple[Array, Array]], label: str | None, *, strong: str = "", log: bool = False
) -> list[Any]:
    """Draw lines (x, y) by name on the Axes, and return them; `label` stands before the names, `strong` is drawn in the ink's colour."""
    k, palette = overlays(ax), colors(ax)
    drawn = []
    for number, (name, (x, y)) in enumerate(lines.items()):
        alone = len(lines) == 1
        color = ink(ax) if name == strong else palette[(k if alone else number) % len(palette)]
        style: Any = LINE_STYLES[k % len(LINE_STYLES)]
        if for_grey():
            style = GREY_STYLES[(k + number) % len(GREY_STYLES)]
        elif name == strong and k == 0:
            style = (0, (5, 2))
        values = np.maximum(y, FLOOR) if log else y
        (line,) = ax.plot(x, values, color=color, linestyle=style, label=entry(label, literal(name), alone=alone))
        line.set_gid(f"{OWN}:{k}")
        drawn.append(line)
    if log:
        ax.set_yscale("log")
    return drawn


def label_or(label: str | None, other: str | None) -> str | None:
    """Return the label that was given, or else another one. Raise UsageError for a label that is no text."""
    if label is not None and not isinstance(label, str):
        raise UsageError(f"label = {label!r:.60} must be a text, or None.")
    return label or other


def entry(label: str | None, name: str, *, alone: bool) -> str:
    """Return the words of a line in the legend."""
    label = label_or(label, None)
    if not label:
        return name
    return label if alone else f"{label}: {name}"


def finish(
    ax: Axes, title: str, xlabel: str, ylabel: str, *, span: Array | None = None, noise: float = 0.0, equal: bool = False
) -> Axes:
    """Set title, labels, limits and legend, and return the Axes.

    span: times that the x axis covers;  noise: size of the values that is rounding, 0 if it is not known;  equal: both scales are equal
    """
    shown = ax.get_title(loc="left").replace("\n", " ").replace(r"\$", "$")
    set_title(ax, title if overlays(ax) <= 1 or not shown else _of_both(shown, title))
    ax.set_xlabel(xlabel)
    same = ax.get_ylabel() in ("", ylabel)
    ax.set_ylabel(ylabel if same else f"{ax.get_ylabel()}; {ylabel}")
    if span is not None and len(span) > 1:
        first, last = float(np.nanmin(span)), float(np.nanmax(span))
        if overlays(ax) > 1:
            first, last = min(first, ax.get_xlim()[0]), max(last, ax.get_xlim()[1])
        if last > first:
            ax.set_xlim(first, last)
    _show_range(ax, noise)
    _mark_identical(ax)
    _legend(ax, equal=equal)
    return ax


def _of_both(shown: str, title: str) -> str:
    """Return the title of an overlay: that of the first plot, with the name of another joint, body or load of which it shows the same."""
    names, _, what = shown.rpartition(": ")
    name, _, same = title.rpartition(": ")
    return f"{names}, {name}: {what}" if names and what == same and name not in names.split(", ") else shown


def set_limits(ax: Axes, low: float, high: float) -> None:
    """Set the limits of the data on the y axis; room for the legend is made above them."""
    ax.set_ylim(low, high)
    for artist in ax.artists:
        if artist.get_gid() == ROOM:
            artist.data_limits = artist.known = ax.get_ylim()  # type: ignore[attr-defined]


def _values(ax: Axes) -> Array:
    """Return all finite values of the lines."""
    heights = [np.asarray(line.get_ydata(), dtype=np.float64) for line in ax.lines if _own(line)]
    values: Array = np.concatenate([np.zeros(0), *heights])
    return np.asarray(values[np.isfinite(values)])


def _show_range(ax: Axes, noise: float) -> None:
    """Fit the y axis to the data; where their range is rounding, show a range that is larger than rounding."""
    values = _values(ax)
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    if ax.get_yscale() == "log":
        ax.set_ylim(10.0 ** np.floor(np.log10(low) - 0.2), 10.0 ** np.ceil(np.log10(high) + 0.2))
        return
    least = max(ROUNDING * max(abs(low), abs(high)), noise)
    if high - low <= least:
        middle = 0.5 * (low + high)
        half = max(0.05 * abs(middle), 20.0 * noise, 1e-12 if middle == 0.0 else 0.0)
        low, high = middle - half, middle + half
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + margin)


def _mark_identical(ax: Axes) -> None:
    """Mark each line that lies on an earlier one, and say so in the legend."""
    lines = [line for line in ax.lines if _own(line)]
    for k, line in enumerate(lines):
        words = str(line.get_label()).split(" (on ")[0]
        below = next((other for other in lines[:k] if _identical(ax, other, line)), None)
        line.set_label(words if below is None else f"{words} (on {str(below.get_label()).split(' (on ')[0]})")
        if below is not None:
            n = max(1, np.size(line.get_xdata()) // MARKS)
            line.set_marker(MARKERS[k % len(MARKERS)])
            line.set_markevery((n * (k % 4) // 4, n))
            line.set(markersize=4.5, markerfacecolor="none")


def _identical(ax: Axes, first: Any, other: Any) -> bool:
    """Return whether two lines cannot be told apart."""
    (x, y), (x_other, y_other) = ((np.asarray(v, dtype=np.float64) for v in line.get_data()) for line in (first, other))
    if not len(x) or not len(x_other):
        return False
    if x.shape != x_other.shape or not np.array_equal(x, x_other):
        if np.any(np.diff(x) < 0.0) or np.any(np.diff(x_other) < 0.0):
            return False
        y = np.interp(x_other, x, y)
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log":
        y, y_other, low, high = np.log10(y), np.log10(y_other), np.log10(low), np.log10(high)
    gap = np.abs(y - y_other)
    finite = np.isfinite(gap)
    return bool(finite.any() and np.max(gap[finite]) <= IDENTICAL * (high - low))


def _legend(ax: Axes, *, equal: bool) -> None:
    """Put the legend beside the Axes if they are wide and the layout makes room, otherwise into them, where `RoomForLegend` lifts it."""
    handles, names = ax.get_legend_handles_labels()
    if len(names) < 2 and not (names and overlays(ax) > 1):
        return
    figure: Any = ax.get_figure()
    style: dict[str, Any] = {"frameon": False, "fontsize": "small", "borderaxespad": 0.0, "loc": "upper left"}
    if figure.get_layout_engine() is not None and (equal or estimated_width(ax) >= WIDE):
        ax.legend(handles, names, bbox_to_anchor=(1.01, 1.0), **style)
        return
    if equal:  # the limits belong to the equal scales
        ax.legend(handles, names, **style | {"loc": "best"})
        return
    ncols = columns_of(names, estimated_width(ax))
    ax.legend(handles, names, bbox_to_anchor=(0.01, 0.99), columnspacing=COLUMN_SPACING, ncols=ncols, **style)
    for old in [artist for artist in ax.artists if artist.get_gid() == ROOM]:
        old.remove()
    ax.add_artist(room_for_legend(ax.get_ylim()))


def columns_of(names: Sequence[str], width: float) -> int:
    """Return in how many columns, at most 4, the entries of a legend fit into a width [in]."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415  loaded only where something is drawn

    font = FontProperties(size="small")
    size = font.get_size_in_points()
    widths = [(text_width(name, font) + HANDLE * size) / 72.0 for name in names]
    for columns in range(min(len(names), 4), 1, -1):
        rows = -(-len(names) // columns)
        parts = [max(widths[k : k + rows]) for k in range(0, len(names), rows)]
        if sum(parts) + (len(parts) - 1) * COLUMN_SPACING * size / 72.0 <= 0.93 * width:
            return len(parts)
    return 1


def room_for_legend(limits: tuple[float, float]) -> Any:
    """Return an artist that makes room for the legend above the data whenever the Axes are drawn, as high as it is then.

    limits: of the y axis, around the data; if somebody has set other ones, they stay
    """
    from matplotlib.artist import Artist  # noqa: PLC0415  loaded only where something is drawn

    class RoomForLegend(Artist):
        def __init__(self) -> None:
            super().__init__()
            self.data_limits = self.known = limits
            self.set(zorder=-1e6, gid=ROOM)

        def get_tightbbox(self, renderer: Any = None) -> Any:
            """Make room before the layout asks how wide the labels of the ticks are; take no place."""
            if renderer is not None:
                self.draw(renderer)

        def draw(self, renderer: Any) -> None:
            ax: Any = self.axes
            legend = ax.get_legend() if ax is not None else None
            if legend is None or not np.allclose(ax.get_ylim(), self.known, rtol=1e-9, atol=0.0):
                return
            frame = ax.get_window_extent(renderer)
            part = min(TALLEST, legend.get_window_extent(renderer).height / frame.height + 0.04)
            wanted = raised(*self.data_limits, part, log=ax.get_yscale() == "log")
            if not np.allclose(wanted, self.known, rtol=1e-9, atol=0.0):
                ax.set_ylim(wanted)
                self.known = wanted

    return RoomForLegend()


def raised(low: float, high: float, part: float, *, log: bool) -> tuple[float, float]:
    """Return limits whose upper part of the height is free."""
    if log:
        a, b = np.log10(low), np.log10(high)
        return low, float(10.0 ** (a + (b - a) / (1.0 - part)))
    return low, low + (high - low) / (1.0 - part)
