r"""Points of contact and limits together: limits of joints' coordinates, of swing and twist, and ropes, beside pairs of shapes.

A limit has a gap and no friction: one row along its coordinate, and nothing across it, so that it is a point whose tangents are zero.

    gap' = C u        gap'' = C u' - gamma        gamma = -d/ds gap'(q o exp(s u), u)  at s = 0

The derivative along the motion is that of central differences of order eight: with steps by which nothing turns more than STEP, their error
is below rounding.
Source: Pfeiffer, Glocker (1996), ch. 4; Fornberg, Generation of finite difference formulas (1988), table 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.gap import GapFunction
from haugmbd.contact.points import ContactPoints, Kinematics, Touching
from haugmbd.math.body_columns import EULER, VELOCITY, WIDTH
from haugmbd.math.euler_parameters import exponential, product

STEP = 0.02
"""[rad], or of the size of the model: steps of the differences.  Their error is STEP^8 / 630 of the rate, rounding 1e-16 / STEP."""
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
"""Of the differences over 1, 2, 3 and 4 steps to either side."""
PLACES = np.array([1, 2, 3, 4, -1, -2, -3, -4]) * STEP


class PointsAndLimits:
    """The points of contact of pairs of shapes, and behind them limits, each of which is one point; the face of `ContactPoints`.

    length: the size of the model [m]
    """

    def __init__(self, points: ContactPoints, limits: Sequence[GapFunction], length: float) -> None:
        self.points, self.limits, self.length = points, tuple(limits), length
        self.n, self.shapes, self.pairs = points.n, points.shapes, points.pairs
        self.first = len(points.bodies)
        ends = np.array([(limit.i, limit.j) for limit in limits], dtype=np.int64).reshape(-1, 2)
        self.bodies = np.concatenate([points.bodies, ends])
        self._keys = np.array([(self.first + k, 0) for k in range(len(limits))], dtype=np.int64).reshape(-1, 2)

    def _limit_gaps(self, y: Array) -> Array:
        """Return the gaps of all limits [m or rad]."""
        state = y[None]
        return np.array([limit.gap_and_rate(state)[0][0] for limit in self.limits])

    def near(self, y: Array, margin: float) -> tuple[Ints, Array]:
        """Return contact and feature (k, 2), and gap (k,), of the points with gap <= margin at the flat state."""
        keys, gaps = self.points.near(y, margin)
        of_limits = self._limit_gaps(y)
        near = of_limits <= margin
        return np.concatenate([keys, self._keys[near]]), np.concatenate([gaps, of_limits[near]])

    def touching(self, y: Array, margin: float, held: Ints) -> Touching:
        """Return the points with gap <= margin at the flat state, and those of `held` (h, 2), sorted by contact."""
        of_limits = held[:, 0] >= self.first
        shapes, gaps = self.points.touching(y, margin, np.ascontiguousarray(held[~of_limits])), self._limit_gaps(y)
        near = gaps <= margin
        near[held[of_limits, 0] - self.first] = True
        keys = self._keys[near]
        if not len(keys):
            return shapes
        kin = self._limit_kinematics(keys, y)
        return Touching(
            np.concatenate([shapes.keys, keys]),
            np.concatenate([shapes.gap, gaps[near]]),
            np.concatenate([shapes.pairs, self.bodies[keys[:, 0]]]),
            np.concatenate([shapes.D, kin.D]),
            np.concatenate([shapes.C, kin.C.reshape(-1, 3, 12)]),
        )

    def gaps(self, keys: Ints, y: Array) -> Array:
        """Return the gaps (k,) of points (k, 2), contact and feature, at the flat state."""
        of_limits = keys[:, 0] >= self.first
        gaps = np.empty(len(keys))
        gaps[~of_limits] = self.points.gaps(np.ascontiguousarray(keys[~of_limits]), y)
        if of_limits.any():
            gaps[of_limits] = self._limit_gaps(y)[keys[of_limits, 0] - self.first]
        return gaps

    def at(self, keys: Ints, y: Array) -> Kinematics:
        """Return the points (k, 2), contact and feature, at the flat state."""
        of_limits = keys[:, 0] >= self.first
        shapes = self.points.at(np.ascontiguousarray(keys[~of_limits]), y)
        if not of_limits.any():
            return shapes
        limits, joined = self._limit_kinematics(keys[of_limits], y), []
        for a, b in zip(shapes, limits, strict=True):
            both = np.empty((len(keys), *a.shape[1:]))
            both[~of_limits], both[of_limits] = a, b
            joined.append(both)
        return Kinematics(*joined)

    def _limit_kinematics(self, keys: Ints, y: Array) -> Kinematics:
        """Return the points of limits; x is the place of body j, the directions are the global axes."""
        k = len(keys)
        gap, v, gamma, C = np.empty(k), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((k, 3, 2, 6))
        bodies = y[: WIDTH * self.n].reshape(self.n, WIDTH)
        states, per_step = self._along(y)
        for row, number in enumerate((keys[:, 0] - self.first).tolist()):
            limit = self.limits[number]
            gaps, rates = limit.gap_and_rate(y[None])
            gap[row], v[row, 0] = gaps[0], rates[0]
            C[row, 0] = limit.row(y)
            if per_step > 0.0:
                rate = limit.gap_and_rate(states)[1]
                gamma[row, 0] = -float(WEIGHTS @ (rate[:4] - rate[4:])) * per_step
        return Kinematics(gap, bodies[self.bodies[keys[:, 0], 1], :3].copy(), np.tile(np.eye(3), (k, 1, 1)), C, gamma, v)

    def _along(self, y: Array) -> tuple[Array, float]:
        """Return the states (8, ny) of the differences along the motion with constant velocities, and 1 / their step [1/s]."""
        states = np.tile(y, (8, 1))
        bodies = states[:, : WIDTH * self.n].reshape(8, self.n, WIDTH)
        u = bodies[0, :, VELOCITY:].copy()
        speed = max(float(np.abs(u[:, 3:]).max()), float(np.abs(u[:, :3]).max()) / self.length)
        if speed == 0.0:
            return states, 0.0
        for moved, s in zip(bodies, PLACES / speed, strict=True):
            moved[:, :3] += s * u[:, :3]
            moved[:, EULER:VELOCITY] = product(moved[:, EULER:VELOCITY], exponential(s * u[:, 3:]))
        return states, speed / STEP
