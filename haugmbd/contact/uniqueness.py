r"""Which contact forces are unique: the least and the largest value of every component among all forces that fulfil the laws.

    F = { f :  G f = G f_0,   f_n >= 0,   |f_T| <= mu f_n where the point sticks,   f_T = -mu f_n d where it slides }

G f_0 fixes the accelerations; joints take what is left (their reactions are those of lam = lam_0 + Y f).  The kernel of G alone is not the
answer: a box at rest on four corners and one on the edge of tipping have the same kernel, and only the cones tell them apart.
A component is a linear program over F; the circles |f_T| <= mu f_n are cut by their tangents where a solution lies outside (Kelley).
Sources: Kelley, The cutting-plane method, J. SIAM 8 (1960); Rimon, Burdick, The Mechanics of Robot Grasping (2019), ch. 12.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError
from haugmbd.graph import Groups
from haugmbd.math.cone_program import least_values
from haugmbd.math.linear_program import Polyhedron

RANK = 1e-9
"""Relative: singular values of G below it are those of its kernel."""
CUTS = 40
"""Rounds of tangents; three to six are usual."""
STILL = 1e-9
"""Relative: a smaller part of a direction of the kernel is none."""
OUTSIDE = 1e-8
"""Relative to the largest normal force: a point that is farther outside of its circle is cut off."""
SIDES = 8
"""Tangents of a circle to begin with."""
EDGE = 1e-9
"""Relative to the largest force: a force that is nearer to the boundary of its cone is on it."""
ONE_VALUE = 1e-7
"""Relative to the largest force: bounds that are nearer are one value."""


class ForceSet(NamedTuple):
    """The set F.

    columns: (3 m, c) forces by unknowns z;  S: (r, c) and right: (r,) of S z = right;  z: one of its points
    first: (m,) the unknown that is the normal force of each point;  sticks: (m,);  mu: (m,)
    """

    columns: Array
    S: Array
    right: Array
    z: Array
    first: Ints
    sticks: Array
    mu: Array


def force_bounds(F: ForceSet) -> tuple[Array, Array]:
    """Return the least and the largest value of each component, (m, 3) each, normal first.  Raise SimulationError if one is not found."""
    m = len(F.first)
    sticks = np.asarray(F.sticks, dtype=bool)
    asked = np.repeat(sticks[:, None], 3, axis=1)
    asked[:, 0] = True  # friction of a point that slides is a part of its normal force
    low, high = np.zeros((m, 3)), np.zeros((m, 3))
    low[asked], high[asked] = force_ranges(F, F.columns[asked.ravel()])
    for k in np.flatnonzero(~sticks):
        share = F.columns[3 * k + 1 : 3 * k + 3, F.first[k]]
        ends = np.array([share * low[k, 0], share * high[k, 0]])
        low[k, 1:], high[k, 1:] = ends.min(axis=0), ends.max(axis=0)
    return low, high


def force_ranges(F: ForceSet, rows: Array) -> tuple[Array, Array]:
    """Return the least and the largest value of linear functions rows (q, c) of the unknowns z over F, (q,) each; infinite without one.

    Points that share no direction of the kernel are apart: a tower has as many small programs as it has faces.
    """
    value = rows @ F.z
    low, high = value.copy(), value.copy()
    size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-300)
    for block in _blocks(F, _kernel(F)):
        costs = rows @ block.kernel
        moves = np.flatnonzero(np.abs(costs).max(axis=1, initial=0.0) > STILL * size)
        if len(moves):
            found = block.least(np.concatenate([costs[moves], -costs[moves]]))
            low[moves] += found[: len(moves)]
            high[moves] -= found[len(moves) :]
    return low, high


def are_unique(low: Array, high: Array, size: float) -> Array:
    """Return which components have one value;  size: the largest bound of all contacts, as what others leave of rounding is no range."""
    return np.asarray(high - low <= ONE_VALUE * size)


def free_directions(F: ForceSet) -> Array:
    """Return a basis (c, q) of the directions in which the unknowns z can change within F: none where all forces are unique."""
    return np.column_stack([np.zeros((len(F.z), 0)), *(block.inner for block in _blocks(F, _kernel(F)))])


def _kernel(F: ForceSet) -> Array:
    """Return an orthonormal basis (c, d) of the unknowns that change no acceleration."""
    scale = 1.0 / np.sqrt(np.maximum(np.abs(F.S).max(axis=1, initial=0.0), 1e-300))
    _, s, V = np.linalg.svd(scale[:, None] * F.S, full_matrices=True)
    return np.asarray(V[int((s > RANK * s.max(initial=0.0)).sum()) :].T)


def _blocks(F: ForceSet, kernel: Array) -> list[_Block]:
    """Return the parts of the kernel (c, d), each with the points that share it."""
    m, d = len(F.first), kernel.shape[1]
    if d == 0:
        return []
    ends = [*F.first[1:].tolist(), len(F.z)]
    share = np.abs(kernel @ kernel.T)
    by_rows = np.maximum.reduceat(share, F.first, axis=0)
    linked = np.maximum.reduceat(by_rows, F.first, axis=1) > STILL
    groups = Groups(range(m))
    for k, other in zip(*np.nonzero(linked), strict=True):
        groups.unite(int(k), int(other))
    size = max(float(np.abs(F.columns @ F.z).max(initial=0.0)), 1e-300)
    found = []
    for root in sorted({groups.find(k) for k in range(m) if linked[k].any()}):
        points = np.array([k for k in range(m) if groups.find(k) == root])
        places = np.concatenate([np.arange(F.first[k], ends[k]) for k in points])
        U, s, _ = np.linalg.svd(kernel[places], full_matrices=False)
        own = np.zeros((len(F.z), int((s > 0.5).sum())))  # the part of an orthonormal basis: its singular values are 0 and 1
        own[places] = U[:, s > 0.5]  # noqa: PLR2004
        found.append(_Block(F, own, size, points))
    return found


class _Block:
    """Linear functions over a part of F in coordinates w of its kernel, z = z_0 + size N w."""

    def __init__(self, F: ForceSet, kernel: Array, size: float, points: Ints) -> None:
        self.F, self.size, self.base, self.points = F, size, F.z / size, points
        self.kernel = kernel
        self.inner = self._with_inner_point(kernel)

    def _with_inner_point(self, kernel: Array) -> Array:
        """Return the directions of the kernel in which the set has an inner point.

        A point whose force has to vanish, or to stay at the limit of friction in one direction, takes its other directions away.
        """
        tight = [k for k in self.points if self._room(k) <= EDGE]
        while tight and kernel.shape[1]:
            polyhedron = Polyhedron(*self._tangents(kernel))
            for k in tight:
                cost, held = self._edge(k, kernel)
                w, ends = polyhedron.least(cost)
                if ends and -float(cost @ w) <= EDGE:
                    _, s, V = np.linalg.svd(held, full_matrices=True)
                    rank = int((s > STILL).sum())
                    kernel = kernel @ V[rank:].T
                    tight.remove(k)
                    break
            else:
                break
        return kernel

    def _room(self, k: int) -> float:
        """Return how far the force of a point is from the boundary of its cone."""
        n, z = self.F.first[k], self.base
        return float(z[n] * self.F.mu[k] - np.hypot(z[n + 1], z[n + 2])) if self._is_round(k) else float(z[n])

    def _is_round(self, k: int) -> bool:
        return bool(self.F.sticks[k]) and self.F.mu[k] > 0.0

    def _edge(self, k: int, kernel: Array) -> tuple[Array, Array]:
        """Return minus the margin that a point could have, by w, and what vanishes if it can have none."""
        n, mu, z = self.F.first[k], self.F.mu[k], self.base
        if not self._is_round(k):
            return -kernel[n], kernel[n : n + 1]
        length = float(np.hypot(z[n + 1], z[n + 2]))
        if z[n] <= EDGE or length == 0.0:
            return -kernel[n], kernel[n : n + 3]
        c, s = z[n + 1] / length, z[n + 2] / length
        along = c * kernel[n + 1] + s * kernel[n + 2] - mu * kernel[n]
        return along, np.array([along, c * kernel[n + 2] - s * kernel[n + 1]])

    def _tangents(self, kernel: Array) -> tuple[Array, Array]:
        """Return rows and limits of a polyhedron around the set: tangents of the circles, one of them where the force is."""
        rows, limits = [], []
        for k in self.points:
            n, mu, z = self.F.first[k], self.F.mu[k], self.base
            rows.append(-kernel[n])
            limits.append(z[n])
            if self._is_round(k):
                first = np.arctan2(z[n + 2], z[n + 1])
                for angle in first + 2.0 * np.pi * np.arange(SIDES) / SIDES:
                    c, s = np.cos(angle), np.sin(angle)
                    rows.append(c * kernel[n + 1] + s * kernel[n + 2] - mu * kernel[n])
                    limits.append(mu * z[n] - c * z[n + 1] - s * z[n + 2])
        return np.array(rows), np.array(limits)

    def least(self, costs: Array) -> Array:
        """Return by how much each cost . w, (q, d), can fall below its value at z_0; minus infinity where it falls without end."""
        d = self.inner.shape[1]
        turn = self.kernel.T @ self.inner
        costs = costs @ turn
        found = np.zeros(len(costs))
        moves = np.flatnonzero(np.abs(costs).max(axis=1, initial=0.0) > STILL)
        if d == 0 or not len(moves):
            return found
        G, h = np.zeros((len(self.points), 3, d)), np.zeros((len(self.points), 3))
        for row, k in enumerate(self.points):
            n, mu = self.F.first[k], self.F.mu[k]
            if self._is_round(k):
                scale = np.array([mu, 1.0, 1.0])
                G[row], h[row] = -scale[:, None] * self.inner[n : n + 3], scale * self.base[n : n + 3]
            else:
                G[row, 0], h[row, 0] = -self.inner[n], self.base[n]
        values = least_values(costs[moves], G, h)
        for one in np.flatnonzero(np.isnan(values)):
            values[one] = self._endless(costs[moves[one]])
        found[moves] = self.size * values
        return found

    def _endless(self, cost: Array) -> float:
        """Return minus infinity if a cost falls without end; raise SimulationError if its least value is not found."""
        polyhedron = Polyhedron(*self._tangents(self.inner))
        for _ in range(CUTS):
            w, ends = polyhedron.least(cost)
            z = self.inner @ w + (self.base if ends else 0.0)
            outside = [
                (k, float(np.hypot(z[n + 1], z[n + 2])))
                for k, n in zip(self.points, self.F.first[self.points], strict=True)
                if self._is_round(k) and np.hypot(z[n + 1], z[n + 2]) > self.F.mu[k] * z[n] + OUTSIDE
            ]
            if not outside:
                return float(cost @ w) if ends else -np.inf
            for k, length in outside:
                n, mu = self.F.first[k], self.F.mu[k]
                c, s = z[n + 1] / length, z[n + 2] / length
                limit = mu * self.base[n] - c * self.base[n + 1] - s * self.base[n + 2]
                polyhedron.add(c * self.inner[n + 1] + s * self.inner[n + 2] - mu * self.inner[n], max(float(limit), 0.0))
        raise SimulationError(f"the bounds of contact forces are not found: {CUTS} rounds of tangents did not suffice.")
