r"""gain_limit: the largest Baumgarte gains with which a mechanism stays stable, measured beside the theoretical limit.

    beta = ratio * alpha         measured: bisection over runs         theoretical: |R(z)| = 1 for x'' + 2 alpha x' + beta^2 x = 0

For ratio = 1 the root is double, and the measured limit lies below the theoretical one; see `gain_map`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log10

import numpy as np

from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import need_no_stops
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.simulation.run_options import NEWTON_EULER
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.study.gain_map import RK4_METHOD, check_gain_arguments
from haugmbd.study.gain_runs import GainRuns
from haugmbd.study.stability_function import LARGEST, has_stability_function, stability_limit
from haugmbd.system.system import System

SMALLEST = 0.05
"""alpha h, or beta h if that is larger, with which the search begins."""
LARGER = 1.3
"""Factor by which gains grow until a run is unstable."""
MOST_RUNS = 60
"""Bound of the search; 2^-50 is below every tolerance."""
LEAST_DIGITS = 0.1
"""Of a progress bar, for any tolerance."""


@dataclass(frozen=True)
class GainLimit(StudyData):
    """The largest stable gains along beta = ratio * alpha.

    Attributes
    ----------
    ratio : float
        beta / alpha.
    h : float
        Step [s].
    measured, theoretical : float
        alpha h of the limit; NaN where the theoretical one is not known.
    integrator : Integrator
        The method.
    """

    ratio: float
    h: float
    measured: float
    theoretical: float
    integrator: Integrator = field(repr=False)

    @property
    def difference(self) -> float:
        """Measured over theoretical limit, minus one."""
        return self.measured / self.theoretical - 1.0

    def _columns(self) -> Columns:
        return {name: column([getattr(self, name)]) for name in ("ratio", "h", "measured", "theoretical", "difference")}

    def __str__(self) -> str:
        """Return both limits; for beta = alpha with the reason of the difference."""
        text = (
            f"{type(self.integrator).__name__}, h = {self.h:g} s, beta = {self.ratio:g} alpha: stable up to alpha h = {self.measured:.4g}, "
            f"in theory {self.theoretical:.4f} ({100.0 * self.difference:+.1f} %)"
        )
        return f"{text}; the root is double, and the motion splits it" if self.ratio == 1.0 and self.difference < 0.0 else text


@check_keywords
def gain_limit(
    system: System | Model,
    *,
    ratio: float,
    h: float,
    t_end: float,
    integrator: Integrator = RK4_METHOD,
    rtol: float = 1e-3,
    progress: bool = False,
) -> GainLimit:
    """Return the largest gains with beta = ratio * alpha for which Baumgarte stabilization is stable, by bisection over runs.

    Parameters
    ----------
    system : System or Model
        The system.
    ratio : float
        beta / alpha.
    h : float
        Step [s].
    t_end : float
        Length of each run [s]; at least 80 steps, better 400.
    integrator : Integrator
        A method of fixed step, without its step.
    rtol : float
        Relative tolerance of the limit.
    progress : bool
        If True, show a progress bar: the digits to which the limit is known.

    Returns
    -------
    GainLimit
        `.measured` and `.theoretical` alpha h.

    Raises
    ------
    UsageError
        If an argument is not valid, or if all gains up to alpha h = 20, or none, are stable.
    ModelError
        If the system or its initial state has faults.
    KeyboardInterrupt
        After Ctrl-C; the attribute `result` holds the largest stable and the smallest unstable alpha h so far.
    """
    check_flags(progress=progress)
    check_gain_arguments(
        {"ratio": (ratio, "1", True), "h": (h, "s", True), "rtol": (rtol, "1", True)}, t_end, "position", "gain_limit"
    )
    if np.ndim(ratio) or np.ndim(h) or np.ndim(rtol):
        raise UsageError("gain_limit: ratio, h and rtol must be single numbers.")
    model = model_given(system, "gain_limit")
    need_no_stops(model, "gain_limit")
    runs = GainRuns.of(model, NEWTON_EULER, integrator, float(h), float(t_end), "position")

    search = Search(runs, float(ratio))
    digits = max(LEAST_DIGITS, -log10(rtol))
    with Progress(progress, 0.0, digits, "digits") as bar:
        try:
            search.enclose()
            search.bisect(float(rtol), bar)
            bar.reach(digits)
        except KeyboardInterrupt as stop:
            raise search.interrupted(stop) from None
    theoretical = stability_limit(integrator, float(ratio)) if has_stability_function(integrator) else float("nan")
    return GainLimit(float(ratio), float(h), 0.5 * (search.low + search.high), theoretical, integrator)


@dataclass
class Search:
    """The search for the limit of alpha h: `low` is stable, `high` is not."""

    runs: GainRuns
    ratio: float
    low: float = 0.0
    high: float = inf

    def is_stable(self, alpha_h: float) -> bool:
        """Return whether a run with alpha h is stable, and move the end of the interval there."""
        stable = self.runs.cell(alpha_h / self.runs.h, self.ratio * alpha_h / self.runs.h).stable
        self.low, self.high = (alpha_h, self.high) if stable else (self.low, alpha_h)
        return stable

    def enclose(self) -> None:
        """Find an interval that holds the limit. Raise UsageError if there is none."""
        least = SMALLEST / max(1.0, self.ratio)
        if not self.is_stable(least):
            raise UsageError(
                f"gain_limit: alpha h = {least:g} is unstable already: h = {self.runs.h:g} s is too large for this motion."
            )
        while self.is_stable(LARGER * self.low):
            if LARGER * self.low > LARGEST:
                raise UsageError(
                    f"gain_limit: {type(self.runs.integrator).__name__} is stable up to alpha h = {self.low:g}, and further is not sought."
                )

    def bisect(self, rtol: float, bar: Progress) -> None:
        """Halve the interval until it is as short as the tolerance; show the digits."""
        for _ in range(MOST_RUNS):
            if self.high - self.low <= rtol * self.low:
                break
            self.is_stable(0.5 * (self.low + self.high))
            bar.reach(min(max(0.0, -log10(rtol)), max(0.0, -log10((self.high - self.low) / self.low))))

    def interrupted(self, stop: KeyboardInterrupt) -> KeyboardInterrupt:
        """Return Ctrl-C with the interval so far."""
        stable = f"alpha h = {self.low:.6g} is stable" if self.low else "no gains were found to be stable"
        unstable = "no larger one was tried" if self.high == inf else f"alpha h = {self.high:.6g} is not"
        told = KeyboardInterrupt(
            f"gain_limit was interrupted by Ctrl-C: {stable}, and {unstable}. The attribute `result` of this error holds both.",
            *stop.args,
        )
        told.result = self.low, self.high  # type: ignore[attr-defined]
        return told
