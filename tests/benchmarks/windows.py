r"""N four-bar windows (IFToMM A02) as numbers, for every tool: slender rods of 1 m and 1 kg in the plane (x, z), z upwards.

n + 1 uprights on the ground at (k, 0), n bars along their tops; it starts upright with tops at 1 m/s along x, and passes the
singular position in which all lie flat again and again.  On the parallelogram branch, phi from upright:

phi'' = g ((n+1)/2 + n) / ((n+1)/3 + n) sin phi          top of the first upright: (sin phi, cos phi)
T + V = sum  m |v|^2 / 2 + J rate^2 / 2 + m g z          J = m L^2 / 12
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MASS, LENGTH, MOMENT, GRAVITY, T_END = 1.0, 1.0, 1.0 / 12.0, 9.81, 10.0
SAMPLE = 0.1
"""[s] between the states at which the energy is looked at, where steps are fixed; an error control's steps are all looked at."""
END = {2: 31.7505971869796, 40: 31.59743374398101}
"""Phi after 10 s [rad], by DOP853 at 1e-13; of two windows it is the published end to all its digits."""


@dataclass(frozen=True)
class Rods:
    """r, v (nb, 2): centres of mass [m], [m/s];  angle, rate (nb,): from x towards z [rad], [rad/s];  joints: (i, j, point), number 0 is
    the ground, rod k of the arrays is k + 1; a joint that meets j for the first time belongs to the tree, the others close loops.
    """

    r: Array
    v: Array
    angle: Array
    rate: Array
    joints: tuple[tuple[int, int, tuple[float, float]], ...]


def windows(n: int) -> Rods:
    """Uprights first, then bars."""
    up, bar = np.arange(n + 1.0), np.arange(float(n))
    r = np.vstack([np.column_stack([up, 0.5 + 0 * up]), np.column_stack([bar + 0.5, 1.0 + 0 * bar])])
    v = np.repeat([[0.5, 0.0], [1.0, 0.0]], [n + 1, n], axis=0)
    angle, rate = (np.repeat(pair, [n + 1, n]) for pair in ((np.pi / 2, 0.0), (-1.0, 0.0)))
    joints = [(0, k + 1, (float(k), 0.0)) for k in range(n + 1)]
    for k in range(n):
        joints += [(k + 1, n + 2 + k, (float(k), 1.0)), (n + 2 + k, k + 2, (k + 1.0, 1.0))]
    return Rods(r, v, angle, rate, tuple(joints))


def energies(r: Array, v: Array, rate: Array) -> Array:
    """T + V [J] over time, of (nt, nb, 2), (nt, nb, 2), (nt, nb)."""
    return np.asarray((0.5 * MASS * (v**2).sum(2) + 0.5 * MOMENT * rate**2 + MASS * GRAVITY * r[:, :, 1]).sum(1))


def judged(n: int, seconds: float, energy: Array, top: Array) -> dict[str, Any]:
    """The answer of a tool: CPU time [s], largest error of the energy [J], how far the first top is from its place at the end [m]."""
    error, place = np.abs(energy - energy[0]).max(), np.array([np.sin(END[n]), np.cos(END[n])])
    return {"seconds": seconds, "error": float(error), "away": float(np.linalg.norm(top - place))}
