r"""Closed loops of revolute joints in space, as numbers for every tool: rows depend on each other, and yet they move.

    A04       Bricard's mechanism (IFToMM A04): five rods along edges of a unit cube, six hinges, each perpendicular to both its rods
              30 rows for 30 coordinates, 29 of them independent
    Bennett   four hinges, sides a / sin(alpha) = b / sin(beta): 20 rows for 18 coordinates, 17 of them independent

Rods of 1 kg, square, 0.1 m wide, so that no axis is without inertia, from rest under gravity; body axes are global ones at the start.
Source: Bricard 1897; Bennett 1903; Gonzalez, Dopico, Lugris, Cuadrado (2006), A benchmarking system for MBS simulation software.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, tan
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MASS, WIDTH, T_END, SAMPLE = 1.0, 0.1, 10.0, 0.1
"""[kg], [m], [s]; states are looked at each SAMPLE [s] where steps are fixed, at every step where they are not."""


@dataclass(frozen=True)
class Loop:
    """points, axes (n, 3): of the hinges [m]; hinge k is between body k and k + 1, the ground is body 0 and n;  gravity [m/s2]."""

    points: Array
    axes: Array
    gravity: tuple[float, float, float]

    @property
    def r(self) -> Array:
        """Centres of mass of the rods, (n - 1, 3) [m]."""
        return np.asarray((self.points[:-1] + self.points[1:]) / 2)

    @property
    def J(self) -> Array:
        """Their moments of inertia, (n - 1, 3, 3) [kg m2]."""
        d = np.diff(self.points, axis=0)
        squares = (d**2).sum(1)[:, None, None]
        along = d[:, :, None] * d[:, None, :] / squares
        return np.asarray(MASS * (WIDTH**2 / 6.0 * along + (squares + WIDTH**2) / 12.0 * (np.eye(3) - along)))


def bricard() -> Loop:
    """A04: three edges of the cube and back."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    return Loop(points, np.cross(points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points), (0.0, -9.81, 0.0))


def bennett() -> Loop:
    """Sides of 1 m and 1.93 m, twisted by 30 and 75 degrees."""
    a, alpha, beta, theta = 1.0, pi / 6, 5 * pi / 12, 0.8
    b, other = a * sin(beta) / sin(alpha), 2 * np.arctan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(theta / 2))
    frame, points, axes = np.eye(4), [], []
    for turn, side, twist in ((theta, a, alpha), (other, b, beta), (-theta, a, alpha), (-other, b, beta)):
        points.append(frame[:3, 3])
        axes.append(frame[:3, 2])
        c, s, ca, sa = cos(turn), sin(turn), cos(twist), sin(twist)
        frame = frame @ np.array([[c, -s * ca, s * sa, side * c], [s, c * ca, -c * sa, side * s], [0, sa, ca, 0], [0, 0, 0, 1]])
    return Loop(np.array(points), np.array(axes), (0.3, -9.81, 1.0))


LOOPS = {"A04": bricard, "Bennett": bennett}
END = {
    "A04": np.array([0.9998654755550479, -1.0001344882610506, 0.49973098730364984]),
    "Bennett": np.array([-1.4409013498358383, -0.024509767601185534, 0.09147169796930321]),
}
"""Centre of rod 3 after T_END [m], by DOP853 at 1e-13; MuJoCo's RK4 comes as near as 2e-11 and 3e-7 with steps of 0.1 ms."""


def energies(loop: Loop, r: Array, v: Array, omega_bar: Array) -> Array:
    """T + V [J] over time, of (nt, nb, 3) each."""
    T = 0.5 * MASS * (v**2).sum((1, 2)) + 0.5 * np.einsum("tbi,bij,tbj->t", omega_bar, loop.J, omega_bar)
    return np.asarray(T - MASS * r.sum(1) @ np.array(loop.gravity))


def gaps(loop: Loop, r: Array, A: Array) -> Array:
    """Over time, how far the ends of any hinge are apart [m], or its axes [rad], the worst; r (nt, nb, 3), A (nt, nb, 3, 3)."""
    still = np.zeros((len(r), 1, 3)), np.broadcast_to(np.eye(3), (len(r), 1, 3, 3))
    r, A = np.concatenate([still[0], r], axis=1), np.concatenate([still[1], A], axis=1)
    r_0 = np.vstack([np.zeros(3), loop.r])
    n, worst = len(loop.points), np.zeros(len(r))
    for k, (point, axis) in enumerate(zip(loop.points, loop.axes, strict=True)):
        i, j = k, (k + 1) % n
        d = r[:, i] + A[:, i] @ (point - r_0[i]) - r[:, j] - A[:, j] @ (point - r_0[j])
        worst = np.maximum(worst, np.maximum(np.linalg.norm(d, axis=1), np.linalg.norm((A[:, i] - A[:, j]) @ axis, axis=1)))
    return worst


def judged(name: str, seconds: float, r: Array, v: Array, omega_bar: Array, A: Array) -> dict[str, Any]:
    """The answer of a tool: CPU time [s], largest error of the energy [J], and largest gap: all along, in the first and the last
    tenth; and how far rod 3 is from its place at the end [m].
    """
    loop = LOOPS[name]()
    energy, gap, tenth = energies(loop, r, v, omega_bar), gaps(loop, r, A), max(1, len(r) // 10)
    error = np.abs(energy - energy[0])
    course = {f"{name}s": [float(x[:tenth].max()), float(x[-tenth:].max())] for name, x in (("error", error), ("gap", gap))}
    away = float(np.linalg.norm(r[-1, 2] - END[name]))
    return {"seconds": seconds, "error": float(error.max()), "gap": float(gap.max()), **course, "away": away}
