r"""The choice of a law for a signal, with the evidence for and against each.

random walk     if the increments are uncorrelated, and more probable than noise about any trend
a trend         else the one with the least BIC, or a simpler one that is as good: by BIC, or because the two hardly differ in the window
oscillating     if the oscillation about the trend swings more than the trend changes;  "constant" where it is small against the mean,
                and the law of its amplitude where that grows or decays
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.study.violation.random_walk import variance_ratio_test
from haugmbd.study.violation.trend_fits import (
    Fit,
    autocorrelation,
    effective_samples,
    fit_trends,
    information_criterion,
    shape_error,
)

LAWS = ("constant", "linear", "quadratic", "exponential", "oscillating", "random walk")
"""The laws."""
TRENDS = ("constant", "linear", "quadratic", "exponential")
"""Laws of a trend, from the simplest on."""
DEGREE = {"constant": 0.0, "linear": 1.0, "quadratic": 2.0}
STRONG = 6.0
"""A smaller difference of BIC is not strong evidence (Kass and Raftery 1995)."""
LIKE_A_LINE = 0.043
"""Of the range: how far s^1.5, midway between linear and quadratic, lies from its best line (rms)."""
MIDWAY = 1.5
"""A smaller power of time is next to linear, a larger one to quadratic."""
LIKE_A_PARABOLA = 0.01
"""Of the range: how far exp(kappa s) lies from its best parabola where it grows by about 20 in the window (rms)."""
NEARLY_ALL = 0.1
"""Of the residual of a parabola: an exponential that leaves less than this is told from it, however near they are."""
SMOOTH = 0.3
"""Autocorrelation of neighbouring residuals: above it they oscillate, below it they are noise."""
SWING = 0.5
"""Amplitude over mean, above which a bounded signal is called oscillating, and not constant."""
BLOCKS = 24
"""Parts of the window, at most, in which the amplitude is measured; each holds half a period or more."""
PER_BLOCK, FEWEST_BLOCKS = 4, 6
"""Samples in a block, and blocks, below which the amplitude is not examined."""
GROWN = 3.0
"""A smaller change of the amplitude over the window does not count as growth or decay."""
OUTLIERS = 0.5
"""Percent of the samples at either end that do not count in the swing of an oscillation."""


class Evidence(NamedTuple):
    """The evidence for a law.

    Attributes
    ----------
    rms : float
        Root mean square of what the law leaves unexplained, in the unit of the signal.
    bic : float
        Bayesian information criterion above that of the best trend; NaN where it is not comparable.
    note : str
        The decision and its numbers.
    """

    rms: float
    bic: float
    note: str


class LawChoice:
    """The choice for a signal y (n,) of size 1 at times t (n,), which are s (n,) on [0, 1].

    law: the law;  trend: the fitted trend;  swing: peak to peak of the oscillation about it;  why: what decided
    is_rounding: whether the signal never exceeds rounding, so that no law is looked for
    """

    def __init__(self, t: Array, s: Array, y: Array, *, is_rounding: bool = False) -> None:
        self.s, self.y, self.is_rounding = s, y, is_rounding
        self.fits = fit_trends(s, y)
        least = min(self.fits.values(), key=lambda fit: fit.rms)
        self.n_eff = effective_samples(y - least.values)
        self.bic = {law: information_criterion(fit, y, self.n_eff) for law, fit in self.fits.items()}
        self.walk = variance_ratio_test(t, y)
        self.trend = self.fits["constant"] if is_rounding else self._nearest_polynomial(simplest_adequate(self.fits, self.bic))
        self.residual = y - self.trend.values
        low, high = np.percentile(self.residual, [OUTLIERS, 100.0 - OUTLIERS])
        self.swing = float(high - low)
        self.law, self.why = self._decide()

    def _decide(self) -> tuple[str, str]:
        """Return the law and what decided."""
        if self.is_rounding:
            return "constant", "it never exceeds rounding"
        if self.walk.walks and self._walk_is_likelier:
            return "random walk", "the increments are uncorrelated"
        change = float(np.ptp(self.trend.values))
        if not self._oscillates or self.swing <= change:
            return self.trend.law, "the simplest trend that explains the signal"
        grown = self.amplitude_law
        if grown is not None:
            return grown.law, f"the amplitude of the oscillation changes, by a factor {_growth(grown):.3g}"
        if self.swing <= 2.0 * SWING * abs(float(self.y.mean())):
            return "constant", "the oscillation is small against the mean"
        if change > 0.0:
            return "oscillating", f"it swings by {self.swing / change:.3g} times the change of its trend"
        return "oscillating", "it swings about a constant"

    def _nearest_polynomial(self, trend: Fit) -> Fit:
        """Return the line or parabola whose degree is next to the power of time, if the power fits better than the trend."""
        power = self.fits["power"]
        if trend.law == "constant" or self.bic["power"] > self.bic[trend.law] - (STRONG if trend.law == "exponential" else 0.0):
            return trend
        if abs(power.shape - MIDWAY) <= 2.0 * shape_error(self.s, self.y, power):
            return trend
        return self.fits["linear" if power.shape < MIDWAY else "quadratic"]

    @property
    def _walk_is_likelier(self) -> bool:
        """Whether independent increments are likelier than independent noise about the best trend."""
        least = min(fit.rms for fit in self.fits.values())
        return self.walk.rms < least

    @cached_property
    def _oscillates(self) -> bool:
        """Whether neighbouring residuals are alike."""
        e = self.residual - self.residual.mean()
        square = float(e @ e)
        return square > 0.0 and float(e[1:] @ e[:-1]) > SMOOTH * square

    @cached_property
    def amplitude_law(self) -> Fit | None:
        """The law of the amplitude if it grows or decays; None if it stays, or if there are too few samples."""
        blocks = min(len(self.y) // max(PER_BLOCK, 2 * _quarter(self.residual)), BLOCKS)
        if blocks < FEWEST_BLOCKS:
            return None
        block = np.minimum((self.s * blocks).astype(int), blocks - 1)
        filled = [k for k in range(blocks) if np.count_nonzero(block == k) >= PER_BLOCK - 1]
        if len(filled) < FEWEST_BLOCKS:
            return None
        middle = np.array([float(self.s[block == k].mean()) for k in filled])
        amplitude = np.array([float(np.sqrt(np.mean(self.residual[block == k] ** 2))) for k in filled])
        s = (middle - middle[0]) / (middle[-1] - middle[0])
        fits = fit_trends(s, amplitude)
        n_eff = effective_samples(amplitude - min(fits.values(), key=lambda fit: fit.rms).values)
        found = simplest_adequate(fits, {law: information_criterion(fit, amplitude, n_eff) for law, fit in fits.items()})
        growth = _growth(found)
        return found if found.law != "constant" and (growth >= GROWN or growth <= 1.0 / GROWN) else None

    def exponent(self) -> tuple[float, float]:
        """Return the growth exponent and its standard error; kappa for an exponential."""
        if self.law == "random walk":
            return self.walk.exponent, float("nan")
        if self.law in ("constant", "oscillating"):
            return 0.0, float("nan")
        amplitude = self.law != self.trend.law or (self._oscillates and self.swing > float(np.ptp(self.trend.values)))
        if amplitude and self.amplitude_law is not None:
            law = self.amplitude_law
            return (law.shape, float("nan")) if law.law == "exponential" else (DEGREE[law.law], float("nan"))
        if self.law == "exponential":
            return self.trend.shape, shape_error(self.s, self.y, self.trend)
        power = self.fits["power"]
        if self.bic["power"] > self.bic[self.law] + STRONG:
            return DEGREE[self.law], float("nan")
        return power.shape, shape_error(self.s, self.y, power)

    def evidence(self) -> dict[str, Evidence]:
        """Return the evidence for every law, and for a free power."""
        best = min(self.bic.values())
        found = {law: Evidence(self.fits[law].rms, self.bic[law] - best, self._note(law)) for law in TRENDS}
        found["oscillating"] = Evidence(float(np.std(self.residual)), float("nan"), self._note_of_oscillation())
        ratio = f"VR({self.walk.lag}) = {self.walk.ratio:.3g} of 1, {self.walk.deviation:.3g} standard errors off"
        found["random walk"] = Evidence(self.walk.rms, float("nan"), self._taken("random walk") + ratio)
        power = self.fits["power"]
        found["power"] = Evidence(power.rms, self.bic["power"] - best, f"t^{power.shape:.3f}")
        return found

    def _taken(self, law: str) -> str:
        return f"taken: {self.why}; " if law == self.law else ""

    def _note(self, law: str) -> str:
        """Return the note of a trend."""
        fit = self.fits[law]
        note = self._taken(law) + (f"changes by {float(np.ptp(fit.values)):.3g} of the largest value" if law != "constant" else "")
        if law == "exponential":
            note += f", kappa T = {fit.shape:.3g}"
        if law == self.trend.law and law != self.law:
            note = f"{note}; the trend of the signal".removeprefix("; ")
        return note.removesuffix("; ")

    def _note_of_oscillation(self) -> str:
        kind = "oscillation" if self._oscillates else "noise"
        return self._taken("oscillating") + f"{kind} of {self.swing:.3g} of the largest value, peak to peak, about the trend"


def simplest_adequate(fits: dict[str, Fit], bic: dict[str, float]) -> Fit:
    """Return the simplest trend that is as good as the one of least BIC."""
    best = fits[min(TRENDS, key=lambda law: bic[law])]
    for law in TRENDS:
        fit = fits[law]
        if fit is best or bic[law] <= bic[best.law] + STRONG:
            return fit
        apart = float(np.sqrt(np.mean((fit.values - best.values) ** 2))) / float(np.ptp(best.values))
        if law == "linear" and apart <= LIKE_A_LINE:
            return fit
        if law == "quadratic" and apart <= LIKE_A_PARABOLA and best.rms > NEARLY_ALL * fit.rms:
            return fit
    return best


def _quarter(residual: Array) -> int:
    """Return the number of samples after which a residual is uncorrelated: a quarter of the period of an oscillation."""
    ends = np.flatnonzero(autocorrelation(residual) <= 0.0)
    return int(ends[0]) if len(ends) else len(residual)


def _growth(fit: Fit) -> float:
    """Return the last over the first value of a trend of amplitudes."""
    first, last = abs(float(fit.values[0])), abs(float(fit.values[-1]))
    return last / first if first > 0.0 else float("inf")
