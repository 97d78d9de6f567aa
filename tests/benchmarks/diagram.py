"""Work-precision diagrams: error against CPU time, both logarithmic, a line for each method, labelled where its errors are least.

They go to `benchmarks/` of the repository, which Git ignores, or to HAUGMBD_DIAGRAMS; without matplotlib there are none.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.plotting.style import COLORS, STYLE
from tests.benchmarks.worker import REPOSITORY

if TYPE_CHECKING:
    from tests.benchmarks.precision import Curve

FOLDER = Path(os.environ.get("HAUGMBD_DIAGRAMS", REPOSITORY / "benchmarks"))
OURS = (
    "DOP853",
    "Dormand-Prince",
    "RK4",
    "RKMK4",
    "HEM4",
    "generalized-alpha",
    "trapezoidal",
    "RATTLE",
    "BDF",
    "adaptive gen.-alpha",
    "Radau IIA",
)
"""Each has its colour and marker, the same in all diagrams; other names take those of the last."""
MORE_COLORS = (*COLORS, "#882255")
MARKERS = "osD^vP*X<>h"
PEERS = {"Exudyn": ("#000000", "--", "sD"), "MuJoCo": ("#777777", "-.", "ov"), "Pinocchio": ("#8B0000", ":", "^P")}
"""Colour, line, and markers one after the other."""
GAP = 1.0
"""[pixel] around labels."""
PLACES = [(side, up) for up in sorted(range(-90, 91, 3), key=abs) for side in (9, -9)]
"""[points] from the end of a line to its label: right or left of it, and up."""


def looks(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Colour, marker and line of each curve."""
    found, seen = [], dict.fromkeys(PEERS, 0)
    for curve in curves:
        tool, name = curve.method.tool, curve.method.name
        if tool in PEERS:
            color, dash, markers = PEERS[tool]
            found.append({"color": color, "linestyle": dash, "marker": markers[seen[tool] % len(markers)]})
            seen[tool] += 1
        else:
            k = OURS.index(name) if name in OURS else len(OURS) - 1
            found.append({"color": MORE_COLORS[k], "linestyle": "-", "marker": MARKERS[k]})
    return found


def draw(
    title: str, file: str, error: str, enough: float | None, curves: Sequence[Curve], folder: Path | None = None, dpi: int = 130
) -> Path | None:
    """Write the diagram; where it is, or None without matplotlib."""
    folder = FOLDER if folder is None else folder
    if importlib.util.find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context  # noqa: PLC0415  loaded only where something is drawn
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context({**STYLE, "figure.figsize": (9.0, 5.4), "figure.dpi": dpi}):
        figure = Figure()
        canvas, ax = FigureCanvasAgg(figure), figure.add_subplot()
        drawn = [curve for curve in curves if curve.seconds]
        for curve, look in zip(drawn, looks(drawn), strict=True):
            ax.loglog(1e3 * np.array(curve.seconds), curve.errors, markersize=5, **look)
        _dress(ax, title, error, enough)
        canvas.draw()
        figure.set_layout_engine("none")
        _label(ax, drawn, canvas)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / file)
    return folder / file


def _dress(ax: Any, title: str, error: str, enough: float | None) -> None:
    """Words, grid, the wanted error, and room for labels."""
    ax.set_title(title, loc="left")
    ax.set_xlabel("CPU time [ms], one thread, least of several runs")
    ax.set_ylabel(error)
    ax.grid(visible=True, which="major")
    left, right = ax.get_xlim()
    ax.set_xlim(left, right * (right / left) ** 0.28)
    low, high = ax.get_ylim()
    ax.set_ylim(low / (high / low) ** 0.04, high)
    if enough is not None:
        ax.axhline(enough, color="black", linewidth=0.9, linestyle=(0, (1, 3)))
        ax.annotate(
            f"wanted: {enough:g}", (1.0, enough), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize="small"
        )


def _label(ax: Any, curves: Sequence[Curve], canvas: Any) -> None:
    """Each line's name beside its least error, where it covers no other name, and as little as may be of lines."""
    from matplotlib.text import Text  # noqa: PLC0415

    renderer = canvas.get_renderer()
    taken = [text.get_window_extent(renderer) for text in ax.texts]
    dots = np.vstack([_along(ax.transData.transform(line.get_xydata())) for line in ax.lines[: len(curves)]])
    for curve, line in sorted(zip(curves, ax.lines, strict=False), key=lambda pair: min(pair[0].errors)):
        k, color = int(np.argmin(curve.errors)), line.get_color()
        point, tried = (1e3 * curve.seconds[k], curve.errors[k]), []
        for side, up in PLACES:
            place = {"xytext": (side, up), "textcoords": "offset points", "va": "center", "ha": "left" if side > 0 else "right"}
            text = ax.annotate(curve.method.label, point, color=color, fontsize="small", **place)
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer).padded(GAP)
            text.remove()
            inside = ax.bbox.x0 < box.x0 and box.x1 < ax.bbox.x1 and ax.bbox.y0 < box.y0 and box.y1 < ax.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                covered = ((box.min <= dots) & (dots <= box.max)).all(axis=1).sum()
                tried.append((float(abs(up) + 4.0 * covered + 6.0 * (side < 0)), place, box))
        if tried:
            _, place, box = min(tried, key=lambda found: found[0])
            arrow = (
                {
                    "arrowstyle": "-",
                    "color": color,
                    "linewidth": 0.6,
                    "shrinkB": 3.0,
                    "relpos": (float(place["xytext"][0] < 0), 0.5),
                }
                if abs(place["xytext"][1]) > 9
                else None
            )
            ax.annotate(curve.method.label, point, color=color, fontsize="small", arrowprops=arrow, **place)
            taken.append(box)


def _along(corners: Any) -> Any:
    """Points along a line of such corners, some pixels apart; corners count threefold, for their markers."""
    between = [np.linspace(a, b, max(2, int(np.linalg.norm(b - a) / 6.0))) for a, b in pairwise(corners)]
    return np.vstack([*between, corners, corners])
