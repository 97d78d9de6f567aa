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

RANK = 1e-9
"""Relative: singular values of G below it are those of its kernel."""
CUTS = 40
"""Rounds of tangents; three to six are usual."""
SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""Of the linear programs, whose numbers are of order one: the sharpest that HiGHS takes."""
OUTSIDE = 1e-8
"""Relative to the largest normal force: a point that is farther outside of its circle is cut off."""
SIDES = 8
"""Tangents of a circle to begin with."""
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
    f = (F.columns @ F.z).reshape(m, 3)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(F.S).max(axis=1), 1e-300))
    U, s, V = np.linalg.svd(scale[:, None] * F.S, full_matrices=True)
    rank = int((s > RANK * s.max(initial=0.0)).sum())
    kernel = V[rank:].T
    if kernel.shape[1] == 0:
        return f.copy(), f.copy()
    program = _Program(F, kernel, max(float(np.abs(f).max(initial=0.0)), 1e-300))
    low, high = f.copy(), f.copy()
    moving = np.abs(F.columns @ kernel).max(axis=1).reshape(m, 3) > 1e-9
    for k, a in zip(*np.nonzero(moving), strict=True):
        row = F.columns[3 * k + a]
        if a > 0 and not F.sticks[k]:
            continue
        low[k, a], high[k, a] = program.least(row), -program.least(-row)
    for k in np.flatnonzero(~F.sticks.astype(bool)):
        for a in (1, 2):
            share = F.columns[3 * k + a, F.first[k]]
            ends = share * low[k, 0], share * high[k, 0]
            low[k, a], high[k, a] = min(ends), max(ends)
    return low, high


def are_unique(low: Array, high: Array, size: float) -> Array:
    """Return which components have one value;  size: the largest bound of all contacts, as what others leave of rounding is no range."""
    return np.asarray(high - low <= ONE_VALUE * size)


class _Program:
    """Linear programs over F in the coordinates w of the kernel, z = z_0 + N w, scaled by the largest force."""

    def __init__(self, F: ForceSet, kernel: Array, size: float) -> None:
        self.F, self.kernel, self.size = F, kernel, size
        self.base = F.z / size
        rows, limits = [], []
        for k, n in enumerate(F.first):
            rows.append(-kernel[n])
            limits.append(self.base[n])
            if F.sticks[k] and F.mu[k] > 0.0:
                for side in range(SIDES):
                    angle = 2.0 * np.pi * side / SIDES
                    row, limit = self._tangent(k, np.cos(angle), np.sin(angle))
                    rows.append(row)
                    limits.append(limit)
        self.rows, self.limits = rows, limits

    def _tangent(self, k: int, c: float, s: float) -> tuple[Array, float]:
        """Return a row and its limit of c f_1 + s f_2 <= mu f_n."""
        n = self.F.first[k]
        normal, first, second = self.kernel[n], self.kernel[n + 1], self.kernel[n + 2]
        z = self.base
        return c * first + s * second - self.F.mu[k] * normal, float(self.F.mu[k] * z[n] - c * z[n + 1] - s * z[n + 2])

    def least(self, row: Array) -> float:
        """Return the least value of a component, row . z; minus infinity where it has none."""
        from scipy.optimize import linprog  # noqa: PLC0415  imported only where forces are not unique

        cost = row @ self.kernel
        for _ in range(CUTS):
            limits = np.maximum(np.array(self.limits), 0.0)
            found = linprog(cost, A_ub=np.array(self.rows), b_ub=limits, bounds=(None, None), options=SHARP)
            if found.status == 3:  # noqa: PLR2004  unbounded
                return -np.inf
            if found.status != 0:
                raise SimulationError(f"the bounds of contact forces are not found: {found.message}")
            z = self.base + self.kernel @ found.x
            if not self._cut(z):
                return self.size * float(row @ z)
        raise SimulationError(f"the bounds of contact forces are not found: {CUTS} rounds of tangents did not suffice.")

    def _cut(self, z: Array) -> bool:
        """Add tangents where a point is outside of its circle; return whether there are any."""
        added = False
        for k, n in enumerate(self.F.first):
            if not (self.F.sticks[k] and self.F.mu[k] > 0.0):
                continue
            length = float(np.hypot(z[n + 1], z[n + 2]))
            if length > self.F.mu[k] * z[n] + OUTSIDE:
                row, limit = self._tangent(k, z[n + 1] / length, z[n + 2] / length)
                self.rows.append(row)
                self.limits.append(limit)
                added = True
        return added
