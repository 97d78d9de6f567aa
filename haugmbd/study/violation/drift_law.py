r"""drift_law: which law a violation, or any other error, follows over time.

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
from haugmbd.plotting.style import axes
from haugmbd.simulation.results.result import Result
from haugmbd.study.violation.law_choice import Evidence, LawChoice
from haugmbd.study.violation.signal import Signal, checked_signal, violation_signal
from haugmbd.study.violation.trend_fits import Fit
from haugmbd.text_table import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class DriftLaw:
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
        ax.set_title(f"{self.law}, {'rate' if self.law == 'exponential' else 'exponent'} {self.exponent:.3g}", loc="left")
        ax.set_xlabel("t [s]")
        ax.set_ylabel(self.name)
        ax.set_xlim(float(self.t[0]), float(self.t[-1]))
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, fontsize="small")
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
