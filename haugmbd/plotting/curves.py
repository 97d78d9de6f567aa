r"""Curves that are not over time: paths of points, phase portraits, amplitude spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.plotting.drawing import coordinate, draw, finish, known, label_or, name_of, overlays, set_limits
from haugmbd.plotting.style import axes, literal
from haugmbd.simulation.results.quantities import HasQuantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = "xyz"
SEEN = 1e-3
"""Relative to the largest: amplitudes up to whose highest frequency the axis reaches twice."""
UNEVEN = 1e-6
"""Relative to the mean step: steps of time that differ by more are not even."""


def path(
    result: HasQuantities,
    *points: str | tuple[str, npt.ArrayLike],
    plane: str | None = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot the paths of points in a plane, with equal scales; a dot marks the start.

    Parameters
    ----------
    result : Result
        The result.
    *points : str or (str, array_like (3,))
        Points as in `result.point`; by default the centres of mass of all bodies.
    plane : {"xy", "xz", "yz", ...}, optional
        The two global axes that are drawn; by default those along which the points move farthest.
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
        If a point or the plane does not exist.
    """
    whole = known(result)
    places = points or whole._pieces()[0].model.body_names[1:]
    paths = {name_of(spot): whole.point(spot) for spot in places}
    across = _plane(plane, [point.r for point in paths.values()])
    ax = axes(ax)
    first = overlays(ax) == 0
    x, y = (AXES.index(letter) for letter in across)
    lines = draw(ax, {name: (point.r[:, x], point.r[:, y]) for name, point in paths.items()}, label)
    for line, point in zip(lines, paths.values(), strict=True):
        start = ax.plot(point.r[:1, x], point.r[:1, y], "o", color=line.get_color(), markersize=4.5)
        start[0].set_label("_start")
    title, noise = f"{_title(whole)}: paths in the {across} plane", _noise(paths.values())
    finish(ax, title, f"{across[0]} [m]", f"{across[1]} [m]", noise=noise, equal=True)
    if first:
        ax.set_aspect("equal", adjustable="datalim")
    ax.set_autoscaley_on(True)  # the limits stay, and may be widened for equal scales
    return ax


def phase(result: HasQuantities, joint: str, *, what: str | None = None, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot the rate of a joint over its coordinate.

    Parameters
    ----------
    result : Result
        The result.
    joint : str
        Name of the joint.
    what : {"angle", "displacement"}, optional
        The coordinate, if the joint has both; of several of one kind all are drawn.
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
        If the joint or its coordinate does not exist.
    """
    history = known(result).joint(joint)
    values, unit, kind = coordinate(history, what, 0)
    rates, rate_unit, _ = coordinate(history, kind, 1)
    ax = axes(ax)
    draw(ax, {name: (values[name], rates[name]) for name in values}, label_or(label, None if len(values) > 1 else literal(joint)))
    return finish(ax, f"{joint}: phase portrait", f"{kind} [{unit}]", f"rate [{rate_unit}]")


def spectrum(
    result: HasQuantities,
    joint: str,
    *,
    what: str | None = None,
    derivative: int = 0,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Plot the amplitude spectrum of a joint's coordinate: a steady oscillation has its amplitude at its frequency.

    Parameters
    ----------
    result : Result
        The result. States at uneven times are interpolated by a cubic spline.
    joint : str
        Name of the joint.
    what : {"angle", "displacement", "rotation"}, optional
        The coordinate, if the joint has several kinds.
    derivative : {0, 1, 2}
        The coordinate itself, its rate or its acceleration.
    ax : Axes, optional
        Axes of the plot; by default new ones.
    label : str, optional
        Words before the names in the legend, for overlays.

    Returns
    -------
    Axes
        The Axes; logarithmic in the amplitude.

    Raises
    ------
    UsageError
        If the joint or its coordinate does not exist, or if there are fewer than 8 finite states.

    Notes
    -----
    The mean is taken off, and Hann's window is applied: |sum w_k x_k exp(-i w t_k)| 2 / sum w_k. An angle that turns on and on has a
    trend, which fills the low frequencies: take derivative=1.
    """
    history = known(result).joint(joint)
    values, unit, kind = coordinate(history, what, derivative)
    lines = {name: amplitudes(history.t, series) for name, series in values.items()}
    top = max(float(np.max(a, initial=0.0)) for _, a in lines.values())
    ax = axes(ax)
    draw(ax, lines, label_or(label, None if len(values) > 1 else literal(joint)), log=True)
    words = ("", "rate of the ", "acceleration of the ")[derivative]
    shown = finish(ax, f"{joint}: amplitude spectrum", "frequency [Hz]", f"amplitude, {words}{kind} [{unit}]")
    frequencies, sizes = (np.concatenate([line[k] for line in lines.values()]) for k in (0, 1))
    seen = frequencies[sizes >= SEEN * top]
    shown.set_xlim(0.0, min(float(frequencies.max()), 2.0 * max(float(seen.max(initial=0.0)), 8.0 / float(np.ptp(history.t)))))
    if top > 0.0:
        set_limits(shown, max(shown.get_ylim()[0], 1e-3 * SEEN * top), shown.get_ylim()[1])
    return shown


def amplitudes(t: Array, x: Array) -> tuple[Array, Array]:
    """Return frequencies [Hz] and amplitudes of a series x (nt,) at the times t (nt,). UsageError for fewer than 8 finite values."""
    known_values = np.isfinite(x) & np.concatenate([[True], np.diff(t) > 0.0])
    t, x = t[known_values], x[known_values]
    if len(t) < 8:
        raise UsageError(f"a spectrum needs 8 finite states or more, and there are {len(t)}.")
    step = (t[-1] - t[0]) / (len(t) - 1)
    even = t[0] + step * np.arange(len(t))
    if np.abs(np.diff(t) - step).max() > UNEVEN * step:
        from scipy.interpolate import CubicSpline  # noqa: PLC0415  loaded where it is used

        x = CubicSpline(t, x)(even)
    window = np.hanning(len(x) + 1)[:-1]
    size: Array = np.abs(np.fft.rfft(window * (x - np.average(x, weights=window)))) * 2.0 / window.sum()
    return np.fft.rfftfreq(len(x), step), size


def _plane(plane: str | None, paths: list[Array]) -> str:
    """Return the plane, by default that of the two widest directions. UsageError for one that does not exist."""
    if plane is None:
        width = np.max([np.ptp(r[np.isfinite(r).all(axis=1)], axis=0) if len(r) else np.zeros(3) for r in paths], axis=0)
        chosen = sorted(np.argsort(-width, kind="stable")[:2].tolist())
        return "".join(AXES[k] for k in chosen)
    if not (isinstance(plane, str) and len(plane) == 2 and set(plane) <= set(AXES) and plane[0] != plane[1]):
        raise UsageError(f'plane = {plane!r}: give two of x, y, z, such as "xz".')
    return plane


def _noise(points: object) -> float:
    """Return the size of the rounding of positions, in proportion to the largest coordinate."""
    sizes = [float(np.nanmax(np.abs(point.r), initial=0.0)) for point in points]  # type: ignore[attr-defined]
    return 1e-12 * max(sizes, default=0.0)


def _title(result: HasQuantities) -> str:
    return result._attributes()["model"]
