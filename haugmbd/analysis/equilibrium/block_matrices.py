r"""Derivatives that the states of blocks add to small motions.

    M x'' + C x' + K x = E z            E = N^T dQ/dz
    z' = F x + G x' + H z               F = df/dx N,   G = df/dx' N,   H = df/dz

x are measured in L and rad, z in units of the user. A step in z is therefore tried in many sizes: where two sizes that differ by ten agree
best, truncation and rounding are both small.
Source: Astrom and Murray, Feedback Systems, ch. 6 (linearization of state equations).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, evaluate_residual, moved
from haugmbd.analysis.equilibrium.tangent_matrices import Derivative, differentiated
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

SIZES: Array = 10.0 ** np.arange(6.0, -7.0, -1.0)
"""Sizes of z that are tried, relative to the typical one."""

SMOOTH_TOL = 1e-4
"""Change of a derivative between two sizes of step, relative to it, above which the function is not smooth."""

FLAT = 3
"""So many of the smallest steps that change nothing show a state without effect, such as the integral of a controller at its limit."""


class BlockMatrices(NamedTuple):
    """E: (nd, ns) [J per unit of z];  F, G: (ns, nd);  H: (ns, ns)."""

    E: Array
    F: Array
    G: Array
    H: Array

    @property
    def rate_scale(self) -> Array:
        """The rates (ns,) of a motion of one unit: of 1 L or rad, L/s or rad/s, or the typical size of a state; 1 if nothing moves z."""
        size = np.abs(np.hstack([self.F, self.G, self.H])).sum(axis=1)
        return np.where(size > 0.0, size, 1.0)


def block_matrices(
    evaluator: ResidualEvaluator, y: Array, N: Array, derivative: Derivative = differentiated, sizes: Array = SIZES
) -> BlockMatrices:
    """Return the matrices in the basis N (6 nb, nd) at a pose;  sizes: of z that are tried, see `SIZES`; one is taken as it is."""
    nd, ns, model = N.shape[1], len(evaluator.states.columns), evaluator.model
    F, G = np.zeros((ns, nd)), np.zeros((ns, nd))
    for k, direction in enumerate(N.T if ns else ()):

        def moved_rates(h: float, x: Array = direction) -> Array:
            return evaluate_residual(evaluator, moved(evaluator, y, h * x)).rates

        def moving_rates(h: float, x: Array = direction) -> Array:
            u = np.vstack([np.zeros(6), (h * x * evaluator.scale).reshape(model.nb, 6)])
            return evaluate_residual(evaluator, y, u).rates

        F[:, k], G[:, k] = derivative(moved_rates), derivative(moving_rates)
    E, H = np.zeros((nd, ns)), np.zeros((ns, ns))
    for j in range(ns):
        column = _by_state(evaluator, y, j, derivative, sizes)
        E[:, j], H[:, j] = N.T @ column[: len(N)], column[len(N) :]
    return BlockMatrices(E, F, G, H)


def _by_state(evaluator: ResidualEvaluator, y: Array, j: int, derivative: Derivative, sizes: Array) -> Array:
    """Return the derivative (6 nb + ns,) of forces and rates by state j. Raise UsageError if they are not smooth in it."""
    states = evaluator.states
    found = list[Array]()
    for size in states.typical[j] * sizes:

        def after(h: float, size: float = size) -> Array:
            there = y.copy()
            there[states.columns[j]] += h * size
            residual = evaluate_residual(evaluator, there)
            return np.concatenate([residual.force, residual.rates])

        found.append(derivative(after) / size)
    if len(found) == 1:
        return found[0]
    change = [float(np.abs(a - b).max() / np.abs(a).max()) if a.any() else np.inf for a, b in zip(found, found[1:], strict=False)]
    best = int(np.argmin(change))
    if change[best] <= SMOOTH_TOL:
        return found[best]
    if not any(one.any() for one in found[-FLAT:]):
        return found[-1]
    raise UsageError(
        f"forces or rates are not smooth in {states.names[j]} (derivatives of neighbouring steps differ by {change[best]:.1e}): there is "
        "no linearization. Start from another value of it, or simulate."
    )
