r"""Plots of results: each function draws one diagram, takes `ax=None`, and returns the Axes.

mbd.plot.violation(result)    energy(result)    coordinates(result, body)    reactions(result, joint)

result: a Result, or the ReducedResult of a serial chain, which is plotted through `maximal()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.plotting.style import axes, envelope, finish, largest
from haugmbd.simulation.chain_result import ReducedResult
from haugmbd.simulation.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coordinates", "energy", "reactions", "violation"]

FLOOR = 1e-17
"""Value at which exact zeros are drawn on a logarithmic axis."""

LEVELS = {
    "position": r"$|\Phi|$",
    "velocity": r"$|\Phi_q u - \nu|$",
    "acceleration": r"$|\Phi_q \dot u - \gamma|$",
}
PER_TIME = {"position": "", "velocity": "/s", "acceleration": "/s²"}
COORDINATES = {
    "r": ("position of the centre of mass, global [m]", ("x", "y", "z")),
    "p": ("Euler parameters [1]", ("e0", "e1", "e2", "e3")),
    "v": ("velocity of the centre of mass, global [m/s]", ("x", "y", "z")),
    "omega_bar": ("angular velocity, body frame [rad/s]", ("x", "y", "z")),
}
QUANTITIES = {"force": "force [N]", "torque": "torque [N m]"}


def known(result: object) -> Result | ReducedResult:
    """Return the result. Raise UsageError for another type."""
    if not isinstance(result, Result | ReducedResult):
        raise UsageError(f"{type(result).__name__} is no result to draw: give what mbd.simulate(...) returned.")
    return result


def maximal(result: Result | ReducedResult) -> Result:
    """Return the result in maximal coordinates."""
    given = known(result)
    return given.maximal() if isinstance(given, ReducedResult) else given


def violation(
    result: Result | ReducedResult,
    *,
    level: Literal["position", "velocity", "acceleration"] = "position",
    by: Literal["joint", "row"] = "joint",
    ax: Axes | None = None,
) -> Axes:
    """Plot the constraint violation over time on a logarithmic axis.

    Parameters
    ----------
    result : Result or ReducedResult
        The result.
    level : {"position", "velocity", "acceleration"}
        Level of the constraints.
    by : {"joint", "row"}
        One line for each joint, or for each row.
    ax : Axes, optional
        Axes of the plot; by default new ones.

    Returns
    -------
    Axes
        The Axes.

    Notes
    -----
    Exact zeros are drawn at a floor. Of many states, the largest value of each interval is drawn.
    """
    result = maximal(result)
    labels = result.model.labels
    if by == "joint":
        lines = result.violation(level, by="joint")
    else:
        rows = result.violation(level)
        lines = {f"{label.joint}, row {k} {label.kind}": rows[:, k] for k, label in enumerate(labels)}
    lines, note = largest(lines)
    ax = axes(ax)
    for name, values in lines.items():
        t, peaks = envelope(result.t, np.abs(values))
        ax.semilogy(t, np.maximum(peaks, FLOOR), label=name)
    title = f"{result.names.model}: violation, {level} level, by {by}{note}"
    units = ", ".join(dict.fromkeys(label.unit + PER_TIME[level] for label in labels))
    return finish(ax, result.t, title, f"{LEVELS[level]}  [{units}]")


def energy(result: Result | ReducedResult, *, ax: Axes | None = None) -> Axes:
    """Plot kinetic and potential energy, work if there is any, and the total, which is constant on an exact solution.

    Parameters
    ----------
    result : Result or ReducedResult
        The result.
    ax : Axes, optional
        Axes of the plot; by default new ones.

    Returns
    -------
    Axes
        The Axes; the title gives the drift of the total.
    """
    e = known(result).energy()
    name = result.chain.name if isinstance(result, ReducedResult) else result.names.model
    ax = axes(ax)
    ax.plot(e.t, e.kinetic, label="kinetic")
    ax.plot(e.t, e.potential, label="potential")
    if e.applied_work.any():
        ax.plot(e.t, e.applied_work, label="applied work")
    if e.dissipated_work.any():
        ax.plot(e.t, e.dissipated_work, label="dissipated work")
    ax.plot(e.t, e.total, color="black", linestyle="--", label="total")
    drift = float(np.max(np.abs(e.drift), initial=0.0))
    return finish(ax, e.t, f"{name}: energy, drift of the total at most {drift:.1e} J", "energy [J]")


def coordinates(
    result: Result | ReducedResult, body: str, *, what: Literal["r", "p", "v", "omega_bar"] = "r", ax: Axes | None = None
) -> Axes:
    """Plot one coordinate vector of a body over time.

    Parameters
    ----------
    result : Result or ReducedResult
        The result.
    body : str
        Name of the body.
    what : {"r", "p", "v", "omega_bar"}
        Position, Euler parameters, velocity or angular velocity.
    ax : Axes, optional
        Axes of the plot; by default new ones.

    Returns
    -------
    Axes
        The Axes.

    Raises
    ------
    UsageError
        If the body or the quantity is unknown.
    """
    if what not in COORDINATES:
        raise UsageError(f"what is {what!r}: give one of {', '.join(map(repr, COORDINATES))}.")
    history = maximal(result)[body]
    words, parts = COORDINATES[what]
    values = {"r": history.r, "p": history.p, "v": history.v, "omega_bar": history.omega_bar}[what]
    ax = axes(ax)
    for k, part in enumerate(parts):
        ax.plot(result.t, values[:, k], label=part)
    quantity, unit = words.rsplit(" ", 1)
    return finish(ax, result.t, f"{body}: {quantity}", f"{what} {unit}")


def reactions(
    result: Result | ReducedResult,
    joint: str,
    *,
    quantity: Literal["force", "torque"] = "force",
    on: Literal["i", "j"] = "j",
    frame: Literal["ground", "body", "joint"] = "ground",
    ax: Axes | None = None,
) -> Axes:
    """Plot the reaction of a joint over time: components and magnitude.

    Parameters
    ----------
    result : Result or ReducedResult
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

    Returns
    -------
    Axes
        The Axes.

    Raises
    ------
    UsageError
        If the joint or the quantity is unknown.
    """
    if quantity not in QUANTITIES:
        raise UsageError(f"quantity is {quantity!r}: give 'force' or 'torque'.")
    found = maximal(result).reaction(joint, on=on, frame=frame)
    values = found.force if quantity == "force" else found.torque
    ax = axes(ax)
    for k, part in enumerate("xyz"):
        ax.plot(found.t, values[:, k], label=part)
    ax.plot(found.t, np.linalg.norm(values, axis=1), color="black", linestyle="--", label="magnitude")
    title = f"{joint}: {quantity} on {found.body}, {frame} frame"
    return finish(ax, found.t, title, QUANTITIES[quantity])
