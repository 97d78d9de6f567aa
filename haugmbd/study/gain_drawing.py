"""The drawing of a gain map: violation as color, unstable cells hatched, the theoretical limit, and the best gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.base import Integrator
from haugmbd.plotting.heat_map import cell_borders, draw_cells, is_geometric
from haugmbd.plotting.style import axes, is_narrow, set_title
from haugmbd.study.stability_function import has_stability_function, spectral_radius

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINE = 300
"""Points along each side from which the theoretical limit is drawn."""
LIMIT = "theoretical limit |R(z)| = 1"
DOUBLE = "alpha = beta: double root, split by the motion"


class MapOfStep(NamedTuple):
    """The map of one step h [s] of a method;  stable, violation: (na, nb), NaN where no run was made"""

    alpha: Array
    beta: Array
    h: float
    stable: npt.NDArray[np.bool_]
    violation: Array
    integrator: Integrator

    def in_order(self) -> MapOfStep:
        """Return the map with increasing gains."""
        rows, columns = np.argsort(self.alpha), np.argsort(self.beta)
        cells = np.ix_(rows, columns)
        return self._replace(
            alpha=self.alpha[rows], beta=self.beta[columns], stable=self.stable[cells], violation=self.violation[cells]
        )


def draw_map(of_step: MapOfStep, *, title: str, quantity: str, ax: Axes | None) -> Axes:
    """Draw the map of one step.  With a single gain, a curve over the other."""
    ax = axes(ax)
    set_title(ax, title)
    of_step = of_step.in_order()
    alpha, beta = of_step.alpha, of_step.beta
    if min(len(alpha), len(beta)) == 1:
        return _curve(ax, of_step, quantity)
    colors = _colors(ax, of_step, quantity)
    _limit(ax, of_step)
    low, high = max(alpha.min(), beta.min()), min(alpha.max(), beta.max())
    if low < high:
        both = _fine(np.array([low, high]), low > 0.0)  # many points: the axes may have different scales
        ax.plot(both, both, color="white", linewidth=2.2)
        ax.plot(both, both, color="black", linewidth=1.0, linestyle=":", label=DOUBLE)
    if colors:
        _mark_least(ax, of_step)
    for axis, values in (("x", alpha), ("y", beta)):
        if is_geometric(values):
            getattr(ax, f"set_{axis}scale")("log")
    ax.set_xlabel(r"$\alpha$ [1/s]")
    ax.set_ylabel(r"$\beta$ [1/s]")
    ax.grid(visible=False)
    _legend(ax)
    return ax


def _mark_least(ax: Axes, of_step: MapOfStep) -> None:
    """Mark the stable gains, none of them zero, with the least violation."""
    alpha, beta = of_step.alpha, of_step.beta
    least = np.where(of_step.stable & (alpha > 0.0)[:, None] & (beta > 0.0)[None, :], of_step.violation, np.inf)
    i, j = np.unravel_index(int(least.argmin()), least.shape)
    if np.isfinite(least[i, j]):
        ax.plot(
            alpha[i],
            beta[j],
            "*",
            color="white",
            markeredgecolor="black",
            markersize=13,
            linestyle="none",
            label="least",
            clip_on=False,
        )


def _colors(ax: Axes, of_step: MapOfStep, quantity: str) -> bool:
    """Draw the cells; return whether one is stable."""
    alpha, beta, _, stable, violation, _ = of_step
    x, y = _edges(alpha), _edges(beta)
    drawn = stable & (violation > 0.0)
    if drawn.any():
        draw_cells(ax, x, y, np.where(drawn, violation, np.nan), f"largest {quantity}")
    missing = np.isnan(violation)
    if missing.any():
        ax.fill([], [], facecolor="white", edgecolor="0.45", label="not run")
    if not (stable | missing).all():
        lost = np.where(stable | missing, np.nan, 1.0).T
        ax.pcolor(x, y, np.ma.masked_invalid(lost), hatch="///", cmap="Greys", vmin=0.0, vmax=4.0, edgecolor="0.45", linewidth=0.0)
        ax.fill([], [], facecolor="0.85", edgecolor="0.45", hatch="///", label="unstable")
    return bool(drawn.any())


def _limit(ax: Axes, of_step: MapOfStep) -> None:
    """Draw the theoretical limit."""
    alpha, beta, h, _, _, integrator = of_step
    if not has_stability_function(integrator):
        return
    x, y = (_fine(_edges(values), is_geometric(values)) for values in (alpha, beta))
    radius = spectral_radius(integrator, x[:, None] * h, y[None, :] * h)
    if not radius.min() < 1.0 < radius.max() / (1.0 + 1e-6):
        return
    for color, width in (("white", 4.0), ("black", 2.0)):
        ax.contour(x, y, radius.T, levels=[1.0], colors=color, linewidths=width)
    ax.plot([], [], color="black", linewidth=2.0, label=LIMIT)


def _curve(ax: Axes, of_step: MapOfStep, quantity: str) -> Axes:
    """Draw the violation over the gain that varies."""
    alpha, beta, h, stable, violation, integrator = of_step
    over_alpha = len(beta) == 1
    x, name, other = (
        (alpha, r"$\alpha$", f"beta = {beta[0]:g} 1/s") if over_alpha else (beta, r"$\beta$", f"alpha = {alpha[0]:g} 1/s")
    )
    y, held = violation.ravel(), (stable | np.isnan(violation)).ravel()
    order = np.argsort(x)
    x, y, held = x[order], y[order], held[order]
    ax.semilogy(x, np.where(held & (y > 0.0), y, np.nan), "o-", color="black", markersize=4, label=f"stable, {other}")
    for at in x[~held]:
        ax.axvline(float(at), color="0.8", linewidth=3.0, zorder=0)
    if not held.all():
        ax.plot([], [], color="0.8", linewidth=3.0, label="unstable")
    if has_stability_function(integrator) and len(x) > 1:
        fine = np.linspace(float(x.min()), float(x.max()), 20 * FINE)
        gains = (fine * h, np.full_like(fine, beta[0] * h)) if over_alpha else (np.full_like(fine, alpha[0] * h), fine * h)
        inside = spectral_radius(integrator, *gains) <= 1.0
        for k, at in enumerate(np.flatnonzero(np.diff(inside.astype(int)))):
            ax.axvline(float(fine[at]), color="black", linestyle="--", linewidth=1.4, label=LIMIT if k == 0 else None)
    if is_geometric(x):
        ax.set_xscale("log")
    ax.set_xlabel(f"{name} [1/s]")
    ax.set_ylabel(f"largest {quantity}")
    _legend(ax)
    return ax


def _legend(ax: Axes) -> None:
    """Put the legend below the diagram."""
    handles, labels = ax.get_legend_handles_labels()
    figure: Any = ax.get_figure()
    if (
        handles and is_narrow(ax) and figure.get_layout_engine() is not None
    ):  # the layout finds the place: one column of a page is short
        figure.legend(handles, labels, loc="outside lower center", frameon=False, fontsize="small")
    elif handles:
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize="small")


def _edges(values: Array) -> Array:
    """Return the borders of cells around gains, which are not negative."""
    return np.maximum(cell_borders(values), 0.0)


def _fine(edges: Array, geometric: bool) -> Array:
    """Return points between the first and the last border."""
    low, high = float(edges[0]), float(edges[-1])
    points: Any = np.geomspace(low, high, FINE) if geometric else np.linspace(low, high, FINE)
    return np.asarray(points)
