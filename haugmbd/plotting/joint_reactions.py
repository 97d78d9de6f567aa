r"""Reactions of a joint over time, with a band around components that are not unique."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.model.dependent_rows import DropDependentRows, MinimumNorm
from haugmbd.plotting.drawing import draw, finish, known, set_limits
from haugmbd.plotting.style import axes
from haugmbd.simulation.results.quantities import HasQuantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORCES = {"force": "force [N]", "torque": "torque [N m]"}


def reactions(
    result: HasQuantities,
    joint: str,
    *,
    quantity: Literal["force", "torque"] = "force",
    on: Literal["i", "j"] = "j",
    frame: Literal["ground", "body", "joint"] = "ground",
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot the reaction of a joint over time: components and magnitude, with a band around components that are not unique.

    Parameters
    ----------
    result : Result
        The result.
    joint : str
        Name of the joint.
    quantity : {"force", "torque"}
        Force, or torque about the joint's point.
    on : {"j", "i"}
        Body on which the reaction acts.
    frame : {"ground", "body", "joint"}
        Frame of the components.
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
        If the joint or the quantity is unknown.

    Notes
    -----
    A component that is not unique depends on how redundant rows share their load. Its hatched band covers the values by
    `DropDependentRows` and by `MinimumNorm`; other ways of sharing go beyond it.
    """
    if quantity not in FORCES:
        raise UsageError(f"quantity is {quantity!r}: give 'force' or 'torque'.")
    whole: Any = known(result)
    found = whole.reaction(joint, on=on, frame=frame)
    values: Array = getattr(found, quantity)
    unique = found.unique[:3] if quantity == "force" else found.unique[3:]
    names = [part if own else f"{part} (not unique)" for part, own in zip("xyz", unique, strict=True)]
    ax = axes(ax)
    lines = {name: (found.t, values[:, k]) for k, name in enumerate(names)}
    magnitude = "magnitude" if all(unique) else "magnitude (not unique)"
    drawn = draw(ax, lines | {magnitude: (found.t, np.linalg.norm(values, axis=1))}, label, strong=magnitude)
    size = float(np.nanmax(np.abs(found.force), initial=0.0))
    noise = 1e-12 * size * (1.0 if quantity == "force" else whole._pieces()[0].model.length)
    finish(ax, f"{joint}: {quantity} on {found.body}, {frame} frame", "t [s]", FORCES[quantity], span=found.t, noise=noise)
    if not all(unique):
        others = [getattr(piece, quantity) for piece in _both_rules(whole, joint, on, frame)]
        _draw_bands(ax, found.t, [values, *others], unique, [line.get_color() for line in drawn])
    return ax


def _both_rules(whole: Any, joint: str, on: str, frame: str) -> list[Any]:
    """Return the reaction with both choices of the multipliers of dependent rows."""
    from haugmbd.simulation.results.joining import join_reactions, over_structures  # noqa: PLC0415  only where a reaction is not unique

    def by(rule: Any) -> Any:
        of = lambda piece: replace(piece, _model=piece.model.with_redundancy(rule)).reaction(joint, on=on, frame=frame)  # noqa: E731
        return over_structures(whole._pieces(), joint, lambda piece: joint in piece.model.joints, of, join_reactions)

    return [by(rule) for rule in (DropDependentRows(), MinimumNorm())]


def _draw_bands(ax: Axes, t: Array, choices: list[Array], unique: tuple[bool, ...], palette: list[str]) -> None:
    """Draw a hatched band over the values of each component that is not unique, at least as wide as can be seen."""
    low, high = np.min(choices, axis=0), np.max(choices, axis=0)
    bottom, top = ax.get_ylim()
    bottom, top = min(bottom, float(np.nanmin(low[:, ~np.array(unique)]))), max(top, float(np.nanmax(high[:, ~np.array(unique)])))
    least = 0.02 * (top - bottom)
    for k in np.flatnonzero(~np.array(unique)):
        ax.fill_between(
            t,
            low[:, k] - least,
            high[:, k] + least,
            facecolor=palette[k],
            edgecolor=palette[k],
            alpha=0.22,
            hatch="///",
            linewidth=0.0,
        )
    set_limits(ax, bottom - 2.0 * least, top + 2.0 * least)
