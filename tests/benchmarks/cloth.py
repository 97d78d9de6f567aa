r"""A cloth of rods, as numbers for every tool: n x n small balls on a level grid, massless rods between neighbours, held at two opposite
corners, falling from rest.  Rods end at the centres, so that balls do not turn: a tool may take them for points.

    error of the energy relative to  n^2 m g a,  a the mesh
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

N, MASS, MESH, GRAVITY, T_END, SAMPLES = 30, 0.1, 0.2, 9.81, 0.3, 10
"""Balls along a side, [kg], [m], [m/s2], [s]; the energy is looked at as many times."""


def places() -> Array:
    """The balls, (n^2, 3) [m], row by row; the first and the last are held."""
    i, j = np.divmod(np.arange(N * N), N)
    return np.stack([i * MESH, j * MESH, np.zeros(N * N)], axis=1)


def rods() -> list[tuple[int, int]]:
    """The pairs of balls that a rod connects."""
    number = np.arange(N * N).reshape(N, N)
    along, across = (number[:-1], number[1:]), (number[:, :-1], number[:, 1:])
    return [(int(i), int(j)) for first, second in (along, across) for i, j in zip(first.ravel(), second.ravel(), strict=True)]


def judged(seconds: float, r: Array, v: Array, length: float) -> dict[str, Any]:
    """The answer of a tool: CPU time [s]; largest error of the energy, of positions and velocities (nt, k, 3); gap of a rod [m]."""
    energy = 0.5 * MASS * (v**2).sum((1, 2)) + MASS * GRAVITY * r[:, :, 2].sum(1)
    return {"seconds": seconds, "error": float(np.abs(energy - energy[0]).max()) / (N * N * MASS * GRAVITY * MESH), "gap": length}


def longest_gap(r: Array) -> float:
    """By how much a rod is too long or too short at most [m]; r (nt, n^2, 3)."""
    i, j = np.array(rods()).T
    return float(np.abs(np.linalg.norm(r[:, j] - r[:, i], axis=2) - MESH).max())
