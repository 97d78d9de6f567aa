r"""Stability of Baumgarte's equation under an explicit method, and the largest gains that it allows.

    x'' + 2 alpha x' + beta^2 x = 0        z = h ( -alpha +- sqrt(alpha^2 - beta^2) )

Runge-Kutta            x_1 = R(z) x_0,    R(z) = 1 + z b^T (I - z A)^-1 e = 1 + sum_k z^k b^T A^(k-1) e
semi-implicit Euler    v_1 = v_0 - h (2 alpha v_0 + beta^2 x_0),    x_1 = x_0 + h v_1

The method is stable where the largest |R| of the two roots is at most one.  For alpha = beta the root is double.
Source: Hairer and Wanner, Solving ODE II, sec. IV.2; Baumgarte 1972.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.integrators import SemiImplicitEuler
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.explicit.lie import LieRungeKutta
from haugmbd.integrators.explicit.runge_kutta import RungeKutta

LARGEST = 20.0
"""alpha h and beta h up to which a limit is sought; no explicit method of the package is stable beyond."""
ONE = 1.0 + 1e-9
"""A larger |R| grows; roots on the unit circle are rounded."""
SCAN, BISECTIONS = 4000, 50
"""Points of the search for the limit, and halvings of the interval found."""


def has_stability_function(integrator: Integrator) -> bool:
    """Return whether the stability function of the method is known."""
    return isinstance(integrator, RungeKutta | LieRungeKutta | SemiImplicitEuler)


def spectral_radius(integrator: Integrator, alpha_h: Array, beta_h: Array) -> Array:
    """Return by what the slower or growing root is multiplied in a step; NaN for a method whose stability function is not known.

    alpha_h, beta_h: dimensionless gains, of shapes that broadcast
    """
    a, b = np.broadcast_arrays(np.asarray(alpha_h, dtype=np.float64), np.asarray(beta_h, dtype=np.float64))
    if isinstance(integrator, SemiImplicitEuler):
        half, product = 0.5 * (2.0 - 2.0 * a - b * b), 1.0 - 2.0 * a
        root = np.sqrt((half * half - product).astype(complex))
        return np.asarray(np.maximum(np.abs(half + root), np.abs(half - root)))
    if not isinstance(integrator, RungeKutta | LieRungeKutta):
        return np.full(a.shape, np.nan)
    root = np.sqrt((a * a - b * b).astype(complex))
    coefficients = stability_polynomial(integrator)
    return np.asarray(np.maximum(*(np.abs(np.polynomial.polynomial.polyval(z, coefficients)) for z in (-a + root, -a - root))))


def stability_polynomial(integrator: RungeKutta | LieRungeKutta) -> Array:
    """Return the coefficients of R(z) in ascending powers, (s + 1,)."""
    _, a, b = integrator.tableau
    powers, column = [1.0], np.ones(len(b))
    for _ in range(len(b)):
        powers.append(float(b @ column))
        column = a @ column
    return np.array(powers)


def stability_limit(integrator: Integrator, ratio: float) -> float:
    """Return alpha h at which beta = ratio * alpha leaves the stable region that begins at 0; NaN if the function is not known."""
    top = LARGEST / max(1.0, ratio)
    x = top * np.arange(1, SCAN + 1) / SCAN
    beyond = np.flatnonzero(spectral_radius(integrator, x, ratio * x) > ONE)
    if not has_stability_function(integrator) or not len(beyond):
        return float("nan")
    low, high = (float(x[beyond[0] - 1]) if beyond[0] else 0.0), float(x[beyond[0]])
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        inside = spectral_radius(integrator, np.array(middle), np.array(ratio * middle)) <= ONE
        low, high = (middle, high) if inside else (low, middle)
    return low
