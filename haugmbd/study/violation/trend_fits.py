r"""Least-squares fits of a trend: constant, linear, quadratic, exponential, and a power of time that is free.

    s = (t - t_0) / T in [0, 1]         y ~ c      c + b s      c + b s + a s^2      c + b exp(kappa s)      c + b s^p

kappa and p are found by variable projection: for each value c and b follow from linear least squares.
Fits are compared by the Bayesian information criterion with the effective number of samples, since neighbouring residuals are alike:

    BIC = n_eff log(RSS / n) + k log(n_eff)         n_eff = n / (1 + 2 sum rho_k), over the first positive autocorrelations rho_k

Sources: Golub and Pereyra 1973 (variable projection); Schwarz 1978 (BIC); Geyer 1992 (initial positive sequence).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array

RATES = np.geomspace(0.5, 80.0, 24)
"""|kappa| of the search: growth over the window by 1.6 to 1e34."""
POWERS = np.linspace(0.1, 8.0, 40)
"""p of the search."""
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Relative to the largest |y|: a smaller residual is rounding."""
FEWEST_EFFECTIVE = 4.0
"""Least number of independent samples that is assumed."""


@dataclass(frozen=True)
class Fit:
    """A fitted trend.

    law: its name;  values: (n,) the trend;  rms: root mean square of the residual;  n_parameters: of the fit;
    shape: kappa or p of the nonlinear fits, else 0;  coefficients: (1, b, a) of the powers of s, or (c, b) of the nonlinear fits
    """

    law: str
    values: Array
    rms: float
    n_parameters: int
    shape: float
    coefficients: Array


def fit_trends(s: Array, y: Array) -> dict[str, Fit]:
    """Return all fits by law;  s: (n,) in [0, 1];  y: (n,)."""
    fits = {law: _polynomial(s, y, degree, law) for degree, law in enumerate(("constant", "linear", "quadratic"))}
    fits["exponential"] = _nonlinear(s, y, np.concatenate([-RATES[::-1], RATES]), _exponential, "exponential")
    fits["power"] = _nonlinear(s, y, POWERS, np.power, "power")
    return fits


def _polynomial(s: Array, y: Array, degree: int, law: str) -> Fit:
    return _solve(np.vander(s, degree + 1, increasing=True), y, law, degree + 1, 0.0)


def _exponential(s: Array, kappa: float) -> Array:
    """Return exp(kappa s), at most 1."""
    found: Array = np.exp(kappa * s - max(kappa, 0.0))
    return found


def _nonlinear(s: Array, y: Array, grid: Array, basis: Callable[[Array, float], Array], law: str) -> Fit:
    """Return the fit c + b basis(s, x) with the best x near the best value of the grid."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  a fifth of the time of importing all of haugmbd

    def fitted(x: float) -> Fit:
        return _solve(np.column_stack([np.ones_like(s), basis(s, x)]), y, law, 3, x)

    rms = [fitted(x).rms for x in grid]
    k = int(np.argmin(rms))
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    best = minimize_scalar(lambda x: fitted(x).rms, bounds=(low, high), method="bounded", options={"xatol": 1e-8 * (high - low)})
    return min(fitted(float(best.x)), fitted(float(grid[k])), key=lambda fit: fit.rms)


def _solve(columns: Array, y: Array, law: str, n_parameters: int, shape: float) -> Fit:
    """Return the linear least-squares fit of the columns."""
    coefficients: Array = np.asarray(np.linalg.lstsq(columns, y, rcond=None)[0], dtype=np.float64)
    values: Array = columns @ coefficients
    return Fit(law, values, float(np.sqrt(np.mean((y - values) ** 2))), n_parameters, shape, coefficients)


def autocorrelation(residual: Array) -> Array:
    """Return the autocorrelation of a residual (n,) at lags 0 ... n - 1; zero beyond lag 0 for a residual that is constant."""
    n, e = len(residual), residual - residual.mean()
    rho = np.fft.irfft(np.abs(np.fft.rfft(e, 2 * n)) ** 2)[:n]
    found: Array = rho / rho[0] if rho[0] > 0.0 else np.eye(1, n)[0]
    return found


def effective_samples(residual: Array) -> float:
    """Return the number of independent samples that a residual (n,) is worth."""
    n, rho = len(residual), autocorrelation(residual)
    ends = np.flatnonzero(rho <= 0.0)
    positive = rho[1 : ends[0] if len(ends) else n]
    return max(n / (1.0 + 2.0 * float(positive.sum())), FEWEST_EFFECTIVE)


def information_criterion(fit: Fit, y: Array, n_eff: float) -> float:
    """Return the BIC of a fit of y with so many effective samples."""
    rounding = ROUNDING * float(np.abs(y).max(initial=0.0))
    return n_eff * 2.0 * float(np.log(max(fit.rms, rounding, 1e-300))) + fit.n_parameters * float(np.log(n_eff))


def shape_error(s: Array, y: Array, fit: Fit) -> float:
    """Return the standard error of p in c + b s^p, or of kappa in c + b exp(kappa s)."""
    if fit.law == "power":
        grown = np.power(s, fit.shape)
        slope = grown * np.log(s, out=np.zeros_like(s), where=s > 0.0)
    else:
        grown = _exponential(s, fit.shape)
        slope = grown * s
    columns = np.column_stack([np.ones_like(s), grown, fit.coefficients[1] * slope])
    covariance = np.linalg.pinv(columns.T @ columns)
    samples = max(effective_samples(y - fit.values) - 3.0, 1.0)
    return float(fit.rms * np.sqrt(covariance[2, 2] * len(s) / samples))
