r"""Plots over time: joints, loads, drivers, bodies, energies. Each axis has one unit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from haugmbd.diagnostics.histories.load_history import columns_of
from haugmbd.errors import UsageError
from haugmbd.plotting.drawing import ORDERS, coordinate, draw, finish, known
from haugmbd.plotting.style import axes, literal
from haugmbd.simulation.results.quantities import HasQuantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COORDINATES = {
    "r": ("position of the centre of mass, global", "m", ("x", "y", "z")),
    "p": ("Euler parameters", "1", ("e0", "e1", "e2", "e3")),
    "v": ("velocity of the centre of mass, global", "m/s", ("x", "y", "z")),
    "omega": ("angular velocity, global", "rad/s", ("x", "y", "z")),
    "omega_bar": ("angular velocity, body frame", "rad/s", ("x", "y", "z")),
    "a": ("acceleration of the centre of mass, global", "m/s²", ("x", "y", "z")),
}


def joint(
    result: HasQuantities,
    name: str,
    *,
    what: str | None = None,
    derivative: int = 0,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot the coordinates of a joint over time, or their rates or accelerations.

    Parameters
    ----------
    result : Result
        The result.
    name : str
        Name of the joint.
    what : {"angle", "displacement", "rotation"}, optional
        The kind of coordinate; by default the first of these that the joint has. One axis has one unit.
    derivative : {0, 1, 2}
        0 for the coordinate, 1 for its rate, 2 for its acceleration.
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
        If the joint or its coordinate does not exist, or if its turns are not known.
    """
    history = known(result).joint(name)
    values, unit, kind = coordinate(history, what, derivative)
    ax = axes(ax)
    draw(ax, {key: (history.t, series) for key, series in values.items()}, label or (None if len(values) > 1 else literal(name)))
    others = [other for other in dict.fromkeys(history.coordinates) if other != kind]
    more = f" (it has {', '.join(others)}, too)" if others and what is None else ""
    return finish(ax, f"{name}: {ORDERS[derivative]}{kind}{more}", "t [s]", f"{ORDERS[derivative]}{kind} [{unit}]", span=history.t)


def load(result: HasQuantities, name: str, *, what: str | None = None, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot one quantity of a force element over time.

    Parameters
    ----------
    result : Result
        The result.
    name : str
        Name of the element.
    what : str, optional
        A quantity that `result.load(name)` has, such as "force", "torque", "length", "rate", "normal_force", "power"; by default its force
        or torque. Of several coordinates, bodies or points of contact each has a line.
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
        If the element or the quantity does not exist.
    """
    history = known(result).load(name)
    what = what or next(own for own in ("force", "torque", "forces", "power") if own in history.quantities)
    if what not in history.quantities:
        raise UsageError(f"what is {what!r}: load {name!r} has {', '.join(map(repr, history.quantities))}.")
    lines = {key: (history.t, series) for key, series in columns_of(history, what).items()}
    ax = axes(ax)
    draw(ax, lines, label or (literal(name) if len(lines) == 1 else None))
    return finish(ax, f"{name}: {what}", "t [s]", f"{what} [{_unit_of_lines(history.unit(what), lines)}]", span=history.t)


def _unit_of_lines(unit: str, lines: Iterable[str]) -> str:
    """Return the unit of lines that are called JOINT.COORDINATE; of angles and displacements both, as "N m, of displacements N"."""
    turns, either, slides = unit.partition(" or ")
    if not either:
        return unit
    along = {"displacement" in line.rpartition(".")[2] for line in lines}
    return f"{turns}, of displacements {slides}" if len(along) > 1 else slides if along == {True} else turns


def driver(result: HasQuantities, name: str, *, what: str | None = None, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot one quantity of a driver over time.

    Parameters
    ----------
    result : Result
        The result.
    name : str
        Name of the driver.
    what : {"torque", "force", "value", "rate", "power", "work"}, optional
        The quantity; by default its torque or force.
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
        If the driver or the quantity does not exist.
    """
    history = known(result).driver(name)
    what = what or history.quantity
    force = "N m" if history.quantity == "torque" else "N"
    units = {"value": history.unit, "rate": f"{history.unit}/s", history.quantity: force, "power": "W", "work": "J"}
    if what not in units:
        raise UsageError(f"what is {what!r}: driver {name!r} has {', '.join(map(repr, units))}.")
    ax = axes(ax)
    draw(ax, {what: (history.t, getattr(history, what))}, label or literal(name))
    return finish(ax, f"{name}: {what}", "t [s]", f"{what} [{units[what]}]", span=history.t)


def coordinates(
    result: HasQuantities,
    body: str,
    *,
    what: Literal["r", "p", "v", "omega", "omega_bar", "a"] = "r",
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot one coordinate vector of a body over time.

    Parameters
    ----------
    result : Result
        The result.
    body : str
        Name of the body.
    what : {"r", "p", "v", "omega", "omega_bar", "a"}
        Position, Euler parameters, velocity, angular velocity (global, body frame), acceleration.
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
        If the body or the quantity is unknown.
    """
    if what not in COORDINATES:
        raise UsageError(f"what is {what!r}: give one of {', '.join(map(repr, COORDINATES))}.")
    whole: Any = known(result)
    history = whole[body]
    words, unit, parts = COORDINATES[what]
    values = getattr(history, what)
    ax = axes(ax)
    draw(ax, {part: (history.t, values[:, k]) for k, part in enumerate(parts)}, label)
    return finish(ax, f"{body}: {words}", "t [s]", f"{what} [{unit}]", span=history.t)


def energy(result: HasQuantities, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot kinetic and potential energy, work if there is any, and the total, which is constant on an exact solution.

    Parameters
    ----------
    result : Result
        The result.
    ax : Axes, optional
        Axes of the plot; by default new ones.
    label : str, optional
        Words before the names in the legend, for overlays.

    Returns
    -------
    Axes
        The Axes; the title gives the drift of the total.
    """
    whole = known(result)
    e = whole.energy()
    lines = {"kinetic": e.kinetic, "potential": e.potential}
    lines |= {
        name: values for name, values in (("applied work", e.applied_work), ("dissipated work", e.dissipated_work)) if values.any()
    }
    ax = axes(ax)
    draw(ax, {name: (e.t, values) for name, values in (lines | {"total": e.total}).items()}, label, strong="total")
    drift = float(np.nanmax(np.abs(e.drift), initial=0.0))
    words = f"drift of the total at most {drift:.1e} J" if len(whole._pieces()) == 1 else f"impacts take {drift:.3g} J"
    return finish(ax, f"{whole._attributes()['model']}: energy, {words}", "t [s]", "energy [J]", span=e.t)
