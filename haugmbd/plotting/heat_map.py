"""Heat maps: borders of cells around values, which may be spaced by a factor, and colors on a logarithmic scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from haugmbd.compiled.array_types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = "viridis"
"""Its lightness increases throughout, so that it can be read in grey."""
DECADES = 10.0
"""Decades below the largest value that are told apart by color."""


def is_geometric(values: Array) -> bool:
    """Return whether values are spaced by a factor rather than by a difference."""
    v = np.sort(values)
    if len(v) < 3 or v[0] <= 0.0:
        return False
    return float(np.ptp(np.diff(np.log(v)))) < float(np.ptp(np.diff(v)) / np.mean(v))


def cell_borders(values: Array, *, geometric: bool | None = None) -> Array:
    """Return the borders (n + 1,) of cells around increasing values (n,);  geometric: by default as `is_geometric` says."""
    by_factor = is_geometric(values) if geometric is None else geometric
    v = np.log(values) if by_factor else values
    if len(v) == 1:
        borders = np.array([v[0] - 0.5, v[0] + 0.5])
    else:
        middle = 0.5 * (v[1:] + v[:-1])
        borders = np.concatenate([[2.0 * v[0] - middle[0]], middle, [2.0 * v[-1] - middle[-1]]])
    found: Array = np.exp(borders) if by_factor else borders
    return found


def draw_cells(ax: Axes, x: Array, y: Array, values: Array, label: str) -> None:
    """Draw values (n, m) as color on a logarithmic scale, with a color bar;  x: (n + 1,), y: (m + 1,) borders;  NaN stays white."""
    from matplotlib.colors import LogNorm  # noqa: PLC0415  loaded only where something is drawn

    high = float(np.nanmax(values))
    low = max(float(np.nanmin(values)), high * 10.0**-DECADES)
    norm: Any = LogNorm(low, max(high, 1.001 * low))
    image = ax.pcolormesh(x, y, np.maximum(values, low).T, norm=norm, cmap=COLORS, rasterized=True)
    ax.figure.colorbar(image, ax=ax, label=label, pad=0.02)
    ax.grid(visible=False)
