r"""A test for a random walk: are the increments of a signal uncorrelated?

    e_i = (y_i+1 - y_i) / sqrt(t_i+1 - t_i) - mean          VR(q) = 1 + 2 sum_{k<q} (1 - k/q) rho_k

The variance of a random walk grows like time, so that VR(q) = 1; a smooth signal has VR(q) near q, noise around a mean 1 / q.
The growth exponent H in |y(t + tau) - y(t)| ~ tau^H is half the slope of the mean square over the lag: 1/2 for a random walk.
Source: Lo and MacKinlay 1988, Rev. Financial Studies 1, 41-66 (variance ratio); Chow and Denning 1993 (several q together).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array

LAGS = (2, 4, 8, 16)
"""The lags q of the test."""
CRITICAL = 4.0
"""Standard errors: the largest of the four deviations of a random walk exceeds it once in 5000 signals."""
NEAR = 0.2
"""A smaller |VR - 1| is a random walk in practice, however many samples tell it from an exact one."""
DRIFTING = 5.0
"""Standard errors: a larger mean increment is a drift that outgrows the walk."""


FREE = (0.25, 0.75)
"""Growth exponents H that count as a random walk."""


class WalkTest(NamedTuple):
    """Result of the test.

    walks: whether the increments are uncorrelated and without drift;  deviation: the largest |VR - 1|, in standard errors;
    ratio: VR at that lag;  lag: that lag;  exponent: H;  drift: mean increment in standard errors;  rms: of the increments
    """

    walks: bool
    deviation: float
    ratio: float
    lag: int
    exponent: float
    drift: float
    rms: float


def variance_ratio_test(t: Array, y: Array) -> WalkTest:
    """Return the test of a signal y (n,) at increasing times t (n,), n >= 4."""
    step = np.diff(y)
    e = step / np.sqrt(np.diff(t) / np.mean(np.diff(t)))
    n, mean = len(e), float(e.mean())
    e = e - mean
    variance = float(np.mean(e * e))
    rms = float(np.sqrt(np.mean(step * step)))
    if variance <= (1e-12 * max(abs(mean), 1e-300)) ** 2:
        return WalkTest(False, np.inf, np.inf, 2, 1.0, np.inf, rms)
    worst = (0.0, 1.0, 2)
    rejected = False
    for q in (lag for lag in LAGS if 2 * lag <= n):
        k = np.arange(1, q)
        rho = np.array([float(np.mean(e[j:] * e[:-j])) / variance for j in k])
        ratio = 1.0 + 2.0 * float(((1.0 - k / q) * rho).sum())
        error = np.sqrt(2.0 * (2.0 * q - 1.0) * (q - 1.0) / (3.0 * q * n))
        rejected |= abs(ratio - 1.0) > max(CRITICAL * error, NEAR)
        worst = max(worst, (abs(ratio - 1.0) / error, ratio, q))
    drift = abs(mean) / float(np.sqrt(variance / n))
    growth = _growth(y)
    walks = not rejected and drift <= DRIFTING and FREE[0] <= growth <= FREE[1]
    return WalkTest(walks, worst[0], worst[1], worst[2], growth, drift, rms)


def _growth(y: Array) -> float:
    """Return H: half the slope of log mean |y_i+q - y_i|^2 over log q."""
    lags = np.unique(np.geomspace(1, max(len(y) // 8, 2), 8).astype(int))
    square = np.array([float(np.mean((y[q:] - y[:-q]) ** 2)) for q in lags])
    if len(lags) < 2 or not (square > 0.0).all():
        return 0.0
    return 0.5 * float(np.polyfit(np.log(lags), np.log(square), 1)[0])
