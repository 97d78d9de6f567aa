"""drift_law: which law a violation, or any other error, follows over time; the fits of trends, the test for a random walk, the choice.

    constant   linear   quadratic   exponential        trends, with or without a bounded oscillation about them
    oscillating                                        a bounded oscillation that exceeds the trend and the mean
    random walk                                        uncorrelated increments, as of rounding errors

The trend with the least BIC is taken, or a simpler one that differs from it by less than the distance between the laws.  A trend that
changes less over the window than the oscillation about it swings is no trend yet: the law is then "oscillating", and the evidence tells the
trend.  Where the oscillation itself grows or decays, its amplitude follows the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import UsageError
from haugmbd.plotting.style import axes, set_title, side_legend
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.study.signal import Signal, checked_signal, violation_signal
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True)
class DriftLaw(StudyData):
    """The law that a signal follows over time, with its evidence.

    Attributes
    ----------
    law : str
        "constant", "linear", "quadratic", "exponential", "oscillating" or "random walk".
    exponent : float
        Growth exponent p in t^p, fitted; 0 for bounded laws (constant, oscillating); for "exponential" the rate [1/s].
    exponent_error : float
        Its standard error; NaN where the exponent follows from the law and not from a fit.
    evidence : dict of str to Evidence
        For every law what it leaves unexplained, and why it was taken or not; "power" is the free exponent beside the laws.
    coefficients : dict of str to float
        Of the trend, in the unit of the signal: "constant"; "per_s", "per_s2" of a polynomial; "amplitude", "rate" of an exponential.
    swing : float
        Peak to peak of the oscillation about the trend.
    t, y, trend : ndarray, (nt,)
        Times [s], the signal, and the fitted trend.
    name : str
        What the signal is, with its unit.

    Notes
    -----
    `print` shows the evidence as a table; `plot()` draws signal and trend.
    """

    law: str
    exponent: float
    exponent_error: float
    evidence: dict[str, Evidence]
    coefficients: dict[str, float]
    swing: float
    t: Array
    y: Array
    trend: Array
    name: str

    def _columns(self) -> Columns:
        return {"t": column(self.t), "signal": column(self.y), "trend": column(self.trend)}

    def __str__(self) -> str:
        """Return the law and a table of the evidence."""
        rows = [[name, f"{e.rms:.2e}", "" if np.isnan(e.bic) else f"{e.bic:.0f}", e.note] for name, e in self.evidence.items()]
        return "\n".join([self.sentence, *table_lines(["law", "unexplained", "BIC - least", "note"], rows, right=(1, 2))])

    @property
    def sentence(self) -> str:
        """The law in one sentence."""
        error = "" if np.isnan(self.exponent_error) else f" +- {self.exponent_error:.1g}"
        what = "rate" if self.law == "exponential" else "exponent"
        unit = " 1/s" if self.law == "exponential" else ""
        return f"{self.name}: {self.law}, {what} {self.exponent:.3g}{error}{unit}, {self.y[-1]:.3g} at t = {self.t[-1]:.6g} s"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the signal and its trend.

        Parameters
        ----------
        ax : Axes, optional
            Axes of the plot; by default new ones.

        Returns
        -------
        Axes
            The Axes.
        """
        ax = axes(ax)
        ax.plot(self.t, self.y, color="0.55", linewidth=1.0, label="signal")
        if self.law != "random walk":
            ax.plot(self.t, self.trend, color="black", linestyle="--", linewidth=1.8, label="trend")
        set_title(ax, f"{self.law}, {'rate' if self.law == 'exponential' else 'exponent'} {self.exponent:.3g}")
        ax.set_xlabel("t [s]")
        ax.set_ylabel(self.name)
        ax.set_xlim(float(self.t[0]), float(self.t[-1]))
        side_legend(ax)
        return ax


@overload
def drift_law(result: Result, *, level: Level = ..., joint: str | None = None) -> DriftLaw: ...
@overload
def drift_law(result: npt.ArrayLike, y: npt.ArrayLike) -> DriftLaw: ...
@check_keywords
def drift_law(result: Any, y: Any = None, *, level: Level | None = None, joint: str | None = None) -> DriftLaw:
    """Return the law that a violation, or another error, follows over time.

    Parameters
    ----------
    result : Result or array_like, (nt,)
        A result, whose violation is examined; or times [s] that increase, with the signal `y`.
    y : array_like, (nt,), optional
        The signal at these times, such as `result.energy().drift`; at least 16 samples.
    level : {"position", "velocity", "acceleration"}, optional
        Level of the constraints of a result; by default "position".
    joint : str, optional
        Name of a joint of a result; by default all rows are examined together.

    Returns
    -------
    DriftLaw
        `.law`, `.exponent`, `.evidence`, `.coefficients`, and `.plot()`.

    Raises
    ------
    UsageError
        If there are too few samples, if they are not finite, or if level or joint are unknown.

    Notes
    -----
    Of a single row the signal is its signed violation, in its unit; of several rows it is their norm, with Phi in m divided by the length
    L of the model, in m2 by L^2, angles by 1.  At acceleration level the accelerations of the method are taken where the run recorded them
    (`record_method=True`).  A law describes the window that was computed: what oscillates in 10 s may drift in 100 s.
    Sources: Schwarz 1978, Ann. Statist. 6, 461-464 (BIC); Lo and MacKinlay 1988, Rev. Financial Studies 1, 41-66 (random walk).
    """
    if isinstance(result, Result):
        if y is not None:
            raise UsageError("drift_law(result, y): give a result, or times and a signal, not both.")
        signal = violation_signal(result, level or "position", joint)
    elif y is None:
        raise UsageError(
            f"drift_law: {type(result).__name__} is not a Result: give drift_law(result, level=...), or drift_law(t, y)."
        )
    elif level is not None or joint is not None:
        raise UsageError("drift_law(t, y): level and joint belong to a result.")
    else:
        signal = checked_signal(result, y)
    return _law_of(signal)


def _law_of(signal: Signal) -> DriftLaw:
    """Return the law of a signal."""
    t, y, scale = signal.t, signal.y, float(np.abs(signal.y).max())
    span = float(t[-1] - t[0])
    s, unit = (t - t[0]) / span, scale or 1.0
    choice = LawChoice(t, s, y / unit, is_rounding=scale <= signal.rounding)
    exponent, error = choice.exponent()
    if choice.law == "exponential":
        exponent, error = exponent / span, error / span
    evidence = {name: e._replace(rms=e.rms * unit) for name, e in choice.evidence().items()}
    return DriftLaw(
        choice.law, exponent, error, evidence, _coefficients(choice.trend, span, unit), choice.swing * unit,
        t, y, choice.trend.values * unit, signal.name,
    )  # fmt: skip


def _coefficients(fit: Fit, span: float, unit: float) -> dict[str, float]:
    """Return the coefficients of a trend in seconds and in the unit of the signal."""
    c = [float(x) * unit for x in fit.coefficients]
    if fit.law == "exponential":
        return {"constant": c[0], "amplitude": c[1] * float(np.exp(-max(fit.shape, 0.0))), "rate": fit.shape / span}
    return {name: x / span**k for k, (name, x) in enumerate(zip(("constant", "per_s", "per_s2"), c, strict=False))}


# Least-squares fits of a trend: constant, linear, quadratic, exponential, and a power of time that is free.
#
#     s = (t - t_0) / T in [0, 1]         y ~ c      c + b s      c + b s + a s^2      c + b exp(kappa s)      c + b s^p
#
# kappa and p are found by variable projection: for each value c and b follow from linear least squares.
# Fits are compared by the Bayesian information criterion with the effective number of samples, since neighbouring residuals are alike:
#
#     BIC = n_eff log(RSS / n) + k log(n_eff)         n_eff = n / (1 + 2 sum rho_k), over the first positive autocorrelations rho_k
#
# Sources: Golub and Pereyra 1973 (variable projection); Schwarz 1978 (BIC); Geyer 1992 (initial positive sequence).

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


# A test for a random walk: are the increments of a signal uncorrelated?
#
#     e_i = (y_i+1 - y_i) / sqrt(t_i+1 - t_i) - mean          VR(q) = 1 + 2 sum_{k<q} (1 - k/q) rho_k
#
# The variance of a random walk grows like time, so that VR(q) = 1; a smooth signal has VR(q) near q, noise around a mean 1 / q.
# The growth exponent H in |y(t + tau) - y(t)| ~ tau^H is half the slope of the mean square over the lag: 1/2 for a random walk.
# Source: Lo and MacKinlay 1988, Rev. Financial Studies 1, 41-66 (variance ratio); Chow and Denning 1993 (several q together).

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
    growth = _growth_exponent(y)
    walks = not rejected and drift <= DRIFTING and FREE[0] <= growth <= FREE[1]
    return WalkTest(walks, worst[0], worst[1], worst[2], growth, drift, rms)


def _growth_exponent(y: Array) -> float:
    """Return H: half the slope of log mean |y_i+q - y_i|^2 over log q."""
    lags = np.unique(np.geomspace(1, max(len(y) // 8, 2), 8).astype(int))
    square = np.array([float(np.mean((y[q:] - y[:-q]) ** 2)) for q in lags])
    if len(lags) < 2 or not (square > 0.0).all():
        return 0.0
    return 0.5 * float(np.polyfit(np.log(lags), np.log(square), 1)[0])


# The choice of a law for a signal, with the evidence for and against each.
#
# random walk     if the increments are uncorrelated, and more probable than noise about any trend
# a trend         else the one with the least BIC, or a simpler one that is as good: by BIC, or because the two hardly differ in the window
# oscillating     if the oscillation about the trend swings more than the trend changes;  "constant" where it is small against the mean,
#                 and the law of its amplitude where that grows or decays

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
