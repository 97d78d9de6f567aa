r"""Constraint violation over time, by joint or by row, on a logarithmic axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.plotting.drawing import FLOOR, draw, finish, known
from haugmbd.plotting.style import axes, envelope, largest
from haugmbd.simulation.results.quantities import HasQuantities
from haugmbd.simulation.results.segments import changes_structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = {
    "position": r"$|\Phi|$",
    "velocity": r"$|\Phi_q u - \nu|$",
    "acceleration": r"$|\Phi_q \dot u - \gamma|$",
}
PER_TIME = {"position": "", "velocity": "/s", "acceleration": "/s²"}
ROUNDING_OF_ROWS = 1e-15
"""Relative violation that is rounding: some units in the last place of coordinates of the model's size."""


def violation(
    result: HasQuantities,
    *,
    level: Literal["position", "velocity", "acceleration"] = "position",
    by: Literal["joint", "row"] = "joint",
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot the constraint violation over time on a logarithmic axis.

    Parameters
    ----------
    result : Result
        The result.
    level : {"position", "velocity", "acceleration"}
        Level of the constraints.
    by : {"joint", "row"}
        One line for each joint, or for each row.
    ax : Axes, optional
        Axes of the plot; by default new ones.
    label : str, optional
        Words before the names in the legend, for overlays.

    Returns
    -------
    Axes
        The Axes.

    Raises
    ------
    UsageError
        If the level, or `by`, is unknown.

    Notes
    -----
    Rows of one unit are drawn in this unit. Rows of several units (m, m2, 1, rad) are drawn as gaps: lengths relative to the
    characteristic length of the model, and angles in rad. Exact zeros are drawn at a floor, and the band below is rounding. Of many
    states, the largest value of each interval is drawn.
    """
    whole: Any = known(result)
    if level not in LEVELS:
        raise UsageError(f"level is {level!r}: give one of {', '.join(map(repr, LEVELS))}.")
    if by not in ("joint", "row"):
        raise UsageError(f"by is {by!r}: give 'joint' or 'row'.")
    model: Model = whole.model if changes_structure(whole._pieces()) else whole._pieces()[0].model
    rows = np.abs(whole.violation(level, by="row"))
    units = list(dict.fromkeys(one.unit for one in model.labels))
    scale, unit = (np.ones(model.nc), units[0]) if len(units) == 1 else (row_scales(model), "")
    gaps = rows / scale
    if by == "joint":
        lines = {name: np.linalg.norm(gaps[:, entry.rows], axis=1) for name, entry in model.joints.items()}
    else:
        lines = {f"{one.joint}, row {k} {one.kind}": gaps[:, k] for k, one in enumerate(model.labels)}
    lines, note = largest(lines)
    ax = axes(ax)
    t = np.concatenate([piece.t for piece in whole._pieces()])
    draw(ax, {name: envelope(t, values) for name, values in lines.items()}, label, log=True)
    title = f"{whole._attributes()['model']}: violation, {level} level, by {by}{note}"
    words = (
        f"{unit}{PER_TIME[level]}" if unit else f"rad, or relative to {model.length:.3g} m{PER_TIME[level].replace('/', ', 1/')}"
    )
    finish(ax, title, "t [s]", f"{LEVELS[level]}  [{words}]", span=t)
    if level == "position":
        rounding = ROUNDING_OF_ROWS * (model.length if unit == "m" else 1.0)
        if not any(text.get_text() == "rounding" for text in ax.texts):  # an overlay has the band already
            ax.axhspan(FLOOR / 10.0, rounding, facecolor="#888888", alpha=0.15, linewidth=0.0, zorder=0.5)
            place = ax.get_yaxis_transform()
            ax.text(0.995, rounding, "rounding", transform=place, ha="right", va="top", fontsize="x-small", color="#888888")
    return ax


def row_scales(model: Model) -> Array:
    """Return by what rows are divided (nc,): gradients at the modelled pose, those of lengths times the characteristic length."""
    rows = evaluate(model)
    force, moment = (np.linalg.norm(part, axis=2).max(axis=1) for part in (rows.Phi_r, rows.PiBar))
    scale: Array = np.where(force > 0.0, force * model.length, np.where(moment > 0.0, moment, 1.0))
    return scale
