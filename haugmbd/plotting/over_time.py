"""Plots over time: joints, loads, drivers, bodies and energies; reactions of a joint; violation of the constraints.

Each axis has one unit. Components of a reaction that are not unique lie in a band.
Violation is drawn by joint or by row, on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.load_history import columns_of
from haugmbd.errors import UsageError
from haugmbd.model.dependent_rows import DropDependentRows, MinimumNorm
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.plotting.drawing import FLOOR, ORDERS, coordinate, draw, finish, known, label_or, set_limits
from haugmbd.plotting.style import axes, envelope, largest, literal
from haugmbd.simulation.results.named_outputs import Reader, meant_outputs
from haugmbd.simulation.results.quantities import HasQuantities
from haugmbd.simulation.results.segments import changes_structure

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
    draw(
        ax,
        {key: (history.t, series) for key, series in values.items()},
        label_or(label, None if len(values) > 1 else literal(name)),
    )
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
    what = what or next(quantity for quantity in ("force", "torque", "forces", "power") if quantity in history.quantities)
    if what not in history.quantities:
        raise UsageError(f"what is {what!r}: load {name!r} has {', '.join(map(repr, history.quantities))}.")
    lines = {key: (history.t, series) for key, series in columns_of(history, what).items()}
    ax = axes(ax)
    draw(ax, lines, label_or(label, literal(name) if len(lines) == 1 else None))
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
    draw(ax, {what: (history.t, getattr(history, what))}, label_or(label, literal(name)))
    return finish(ax, f"{name}: {what}", "t [s]", f"{what} [{units[what]}]", span=history.t)


def block(result: HasQuantities, name: str, *, what: str | None = None, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot the outputs of a block over time, or its states.

    Parameters
    ----------
    result : Result
        The result.
    name : str
        Name of the block.
    what : str, optional
        Name of one output, or "x" for the states; by default all outputs, or the states of a block without any.
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
        If the block or its output does not exist.
    """
    history = known(result).block(name)
    if what is not None and what != "x":
        series = {what: history[what]}
    elif what == "x" or not history.outputs:
        series = {"x": history.x}
    else:
        series = dict(history.outputs)
    ax = axes(ax)
    draw(ax, _lines_of(history.t, series), label_or(label, literal(name) if len(series) == 1 else None))
    words = ", ".join(series)
    return finish(ax, f"{name}: {words}", "t [s]", words if len(series) == 1 else "outputs", span=history.t)


def sensor(result: HasQuantities, name: str, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot the values of a sensor over time.

    Parameters
    ----------
    result : Result
        The result.
    name : str
        Name of the sensor.
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
        If no sensor of that name was recorded.
    """
    history = known(result).sensor(name)
    ax = axes(ax)
    draw(ax, _lines_of(history.t, {name: history.value}), label)
    return finish(ax, name, "t [s]", f"{name} [{history.unit}]" if history.unit else name, span=history.t)


def _lines_of(t: Array, series: Mapping[str, Array]) -> dict[str, tuple[Array, Array]]:
    """Return a line for each number of arrays (nt, ...)."""
    lines: dict[str, tuple[Array, Array]] = {}
    for name, values in series.items():
        columns = np.asarray(values, dtype=np.float64).reshape(len(t), -1).T
        lines |= {name if len(columns) == 1 else f"{name}[{k}]": (t, x) for k, x in enumerate(columns)}
    return lines


def quantities(
    result: HasQuantities,
    y: str | Sequence[str],
    *,
    over: str = "t",
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot any quantities over time, or over another one: camber over travel, torque over speed.

    Parameters
    ----------
    result : Result
        The result.
    y : str or sequence of str
        Names of quantities: "joint.pin.angle", "body.bob.r[0]", "reaction.pin.force[2]", "load.strut.force", "point.bob(0, 0, 1).v[0]",
        "energy.total", ...; or the short names of signals, such as "pin.angle". A vector without a number is drawn by its numbers.
    over : str
        Name of the quantity of the x-axis; by default "t", the time.
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
        If a name means nothing, with the nearest one; if `over` is no single number.
    """
    whole: Any = known(result)
    reader, model = Reader(whole), whole._pieces()[0].model
    outputs = meant_outputs(reader, model, y)
    if isinstance(over, str) and over == "t":
        x, xlabel, span = np.asarray(whole.t), "t [s]", np.asarray(whole.t)
    else:
        xs = meant_outputs(reader, model, over)
        if len(xs) != 1:
            raise UsageError(f"over = {over!r} is a vector of {len(xs)} numbers: say which, such as {xs[0].text!r}.")
        x, xlabel, span = reader.values(xs[0]), over, None
    ax = axes(ax)
    draw(ax, {output.text: (x, reader.values(output)) for output in outputs}, label)
    words = ", ".join(output.text for output in outputs)
    return finish(ax, f"{words} over {'time' if over == 't' else over}", xlabel, words if len(outputs) == 1 else "", span=span)


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
    if not is_one_of(what, COORDINATES):
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
    if not is_one_of(quantity, FORCES):
        raise UsageError(f"quantity is {quantity!r}: give 'force' or 'torque'.")
    whole: Any = known(result)
    reaction = whole.reaction(joint, on=on, frame=frame)
    values: Array = getattr(reaction, quantity)
    unique = reaction.unique[:3] if quantity == "force" else reaction.unique[3:]
    names = [part if is_unique else f"{part} (not unique)" for part, is_unique in zip("xyz", unique, strict=True)]
    ax = axes(ax)
    lines = {name: (reaction.t, values[:, k]) for k, name in enumerate(names)}
    magnitude = "magnitude" if all(unique) else "magnitude (not unique)"
    drawn = draw(ax, lines | {magnitude: (reaction.t, np.linalg.norm(values, axis=1))}, label, strong=magnitude)
    size = float(np.nanmax(np.abs(reaction.force), initial=0.0))
    noise = 1e-12 * size * (1.0 if quantity == "force" else whole._pieces()[0].model.length)
    finish(ax, f"{joint}: {quantity} on {reaction.body}, {frame} frame", "t [s]", FORCES[quantity], span=reaction.t, noise=noise)
    if not all(unique):
        others = [getattr(piece, quantity) for piece in _both_rules(whole, joint, on, frame)]
        _draw_bands(ax, reaction.t, [values, *others], unique, [line.get_color() for line in drawn])
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
    if not is_one_of(level, LEVELS):
        raise UsageError(f"level is {level!r}: give one of {', '.join(map(repr, LEVELS))}.")
    if not is_one_of(by, ("joint", "row")):
        raise UsageError(f"by is {by!r}: give 'joint' or 'row'.")
    model: Model = whole.model if changes_structure(whole._pieces()) else whole._pieces()[0].model
    rows = np.abs(whole.violation(level, by="row"))
    units = list(dict.fromkeys(row.unit for row in model.labels))
    scale, unit = (np.ones(model.nc), units[0]) if len(units) == 1 else (row_scales(model), "")
    gaps = rows / scale
    if by == "joint":
        lines = {name: np.linalg.norm(gaps[:, entry.rows], axis=1) for name, entry in model.joints.items()}
    else:
        lines = {f"{row.joint}, row {k} {row.kind}": gaps[:, k] for k, row in enumerate(model.labels)}
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
            transform = ax.get_yaxis_transform()
            ax.text(0.995, rounding, "rounding", transform=transform, ha="right", va="top", fontsize="x-small", color="#888888")
    return ax


def row_scales(model: Model) -> Array:
    """Return by what rows are divided (nc,): gradients at the modelled pose, those of lengths times the characteristic length."""
    rows = evaluate(model)
    force, moment = (np.linalg.norm(part, axis=2).max(axis=1) for part in (rows.Phi_r, rows.PiBar))
    scale: Array = np.where(force > 0.0, force * model.length, np.where(moment > 0.0, moment, 1.0))
    return scale
