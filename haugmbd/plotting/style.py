"""The style of all plots: colours, Axes, light and dark backgrounds. Matplotlib is imported when a plot is drawn."""

from __future__ import annotations

from contextlib import AbstractContextManager
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
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


THEMES: dict[str, dict[str, Any]] = {
    "light": {"figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white"},
    "dark": DARK,
    "paper": {
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "savefig.facecolor": "white",
        "savefig.dpi": 300,
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
    },
}
"""Parameters of matplotlib by the name of a theme. Of "paper": text stays text in PDF and SVG."""
OF_PAPER: dict[str, Any] = {
    "figure.dpi": 150,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
}
"""The style of new figures in a paper: sizes of its text, lines that stay apart in print."""
COLUMNS = {1: (3.4, 2.5), 2: (7.0, 2.9)}
"""[in] Sizes of a figure over one column of a page, and over two."""
SMALLEST = 8.0
"""[pt] Font of a title that must be short; 7/8 of its own where that is smaller."""
MARGIN = 0.8
"""[in] Width of labels and ticks beside Axes."""
NARROW = 4.2
"""[in] Figures that are narrower have no room for a legend beside the Axes."""
_chosen: dict[str, Any] = {"name": "", "style": {}, "before": {}}


class Theme(AbstractContextManager["Theme"]):
    """A theme that is drawn with from now on; as a context, until its end."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __exit__(self, *_: object) -> None:
        _restore()

    def __repr__(self) -> str:
        return f"theme({self.name!r})" if self.name else "theme()"


@check_keywords
def theme(name: str | None = None, *, columns: int = 1, dark: bool | None = None) -> Theme:
    """Draw plots that are made from now on for a purpose; `theme()` restores what was before.

    Parameters
    ----------
    name : {"paper", "dark", "light"}, optional
        "paper": figures as wide as a column of a page, with small text that is text in PDF and SVG, and with line styles that can be told
        apart in grey. "dark": a dark background. "light": a white one. Without a name the theme ends.
    columns : {1, 2}
        Of "paper": columns that a figure is wide, 3.4 or 7 inches.
    dark : bool, optional
        In place of the name: True for "dark", False for "light".

    Returns
    -------
    Theme
        For a `with` block, at whose end what was before is restored.

    Raises
    ------
    UsageError
        If matplotlib is not installed, there is no theme of that name, or columns is neither 1 nor 2.

    Notes
    -----
    Axes that are given to a plot keep their own background and size; colours suit it.
    """
    if name is None and dark is not None:
        name = "dark" if dark else "light"
    if name is not None and not is_one_of(name, THEMES):
        raise UsageError(f"no theme {name!r}{did_you_mean(str(name), THEMES)}: there are {', '.join(THEMES)}; theme() ends one.")
    if not is_one_of(columns, COLUMNS):
        raise UsageError(f"columns is {columns!r}: give 1 (3.4 in) or 2 (7 in).")
    plt = pyplot()
    _restore()
    if name is not None:
        style = OF_PAPER | {"figure.figsize": COLUMNS[columns]} if name == "paper" else {}
        params = THEMES[name] | style  # also those of texts that come later than their Axes: titles, legends, colour bars
        _chosen["before"] = {key: plt.rcParams[key] for key in params}
        _chosen["name"], _chosen["style"] = name, style
        plt.rcParams.update(params)
    return Theme(name or "")


def _restore() -> None:
    """End the theme."""
    before = _chosen["before"]
    _chosen.update({"name": "", "style": {}, "before": {}})
    if before:
        pyplot().rcParams.update(before)


def for_grey() -> bool:
    """Return whether lines must be told apart without their colours."""
    return bool(_chosen["name"] == "paper")


def is_narrow(ax: Axes) -> bool:
    """Return whether the figure has no room for a legend beside the Axes."""
    return bool(ax.figure.get_figure().get_size_inches()[0] < NARROW)  # type: ignore[union-attr]


def side_legend(ax: Axes, *handles: Any, **style: Any) -> None:
    """Put a legend beside the Axes; within narrow ones, so that they keep their width."""
    if is_narrow(ax):
        ax.legend(*handles, loc="best", frameon=False, fontsize="small", handlelength=2.4)
    else:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0, "frameon": False, "fontsize": "small"}
        ax.legend(*handles, **beside | style)


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
        with plt.rc_context(STYLE | _chosen["style"]):
            _, ax = plt.subplots()
    elif not hasattr(ax, "plot") or not hasattr(ax, "get_figure"):
        raise UsageError(f"ax = {ax!r:.60} must be one Axes of matplotlib, such as one of plt.subplots(2)[1].")
    assert ax is not None
    _lay_out(ax, plt)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(True, color=DARK_GRID if is_dark(ax) else GRID, linewidth=0.7)
    return ax


def stacked_axes(n: int) -> tuple[Any, list[Any]]:
    """Return a new figure of n Axes above each other with one abscissa, in haugmbd's style, which pyplot shows."""
    plt = pyplot()
    with plt.rc_context(STYLE | _chosen["style"]):
        width, height = plt.rcParams["figure.figsize"]
        size = width, height * max(1.0, 0.3 + 0.6 * n)
        figure, found = plt.subplots(n, 1, sharex=True, squeeze=False, figsize=size, layout="constrained")
    return figure, [axes(one) for one in found[:, 0]]


def text_width(text: str, font: Any) -> float:
    """Return the width of a text [pt]."""
    from matplotlib.textpath import TextToPath  # noqa: PLC0415  loaded only where something is drawn

    return float(TextToPath().get_text_width_height_descent(text, font, ismath=False)[0])


def estimated_width(ax: Axes) -> float:
    """Return about how wide the Axes will be [in], before the layout is known."""
    figure: Any = ax.get_figure()
    whole = float(figure.get_figwidth())
    spec = ax.get_subplotspec()
    if spec is None or figure.get_layout_engine() is None:
        return whole * float(ax.get_position().width)
    columns = spec.get_gridspec().ncols
    return whole * (spec.colspan.stop - spec.colspan.start) / columns - MARGIN


def set_title(ax: Axes, title: str) -> None:
    """Set the title no wider than the Axes: by a smaller font, then by lines."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415  loaded only where something is drawn

    text = ax.set_title(
        literal(title), loc="left", fontsize=ax.title.get_fontsize()
    )  # that of the theme in which the Axes were made
    font = FontProperties(family=text.get_fontfamily(), size=text.get_fontsize())
    wide = max(text_width(line, font) for line in title.split("\n")) / 72.0 / max(estimated_width(ax), 0.5)
    if wide <= 1.0:
        return
    own = float(text.get_fontsize())
    size = max(min(SMALLEST, 0.875 * own), own / wide)
    wide *= size / own
    text.set_fontsize(size)
    if wide > 1.0:
        longest = max(map(len, title.split("\n")))
        lines = (part for line in literal(title).split("\n") for part in wrap(line, max(8, int(0.92 * longest / wide))))
        text.set_text("\n".join(lines))


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
