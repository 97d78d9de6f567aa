r"""gain_limit: the largest Baumgarte gains with which a mechanism stays stable, measured beside the theoretical limit.

    beta = ratio * alpha         measured: bisection over runs         theoretical: |R(z)| = 1 for x'' + 2 alpha x' + beta^2 x = 0

For ratio = 1 the root is double, and the measured limit lies below the theoretical one; see `gain_map`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import need_no_stops
from haugmbd.simulation.run_options import NEWTON_EULER
from haugmbd.study.gains.gain_map import RK4_METHOD, check_gain_arguments
from haugmbd.study.gains.gain_runs import GainRuns
from haugmbd.study.gains.stability_function import LARGEST, has_stability_function, stability_limit
from haugmbd.system.system import System

SMALLEST = 0.05
"""alpha h, or beta h if that is larger, with which the search begins."""
LARGER = 1.3
"""Factor by which gains grow until a run is unstable."""
MOST_RUNS = 60
"""Bound of the search; 2^-50 is below every tolerance."""


@dataclass(frozen=True)
class GainLimit:
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

    def __str__(self) -> str:
        """Return both limits; for beta = alpha with the reason of the difference."""
        text = (
            f"{type(self.integrator).__name__}, h = {self.h:g} s, beta = {self.ratio:g} alpha: stable up to alpha h = {self.measured:.4g}, "
            f"in theory {self.theoretical:.4f} ({100.0 * self.difference:+.1f} %)"
        )
        return f"{text}; the root is double, and the motion splits it" if self.ratio == 1.0 and self.difference < 0.0 else text


@check_keywords
def gain_limit(
    system: System | Model, *, ratio: float, h: float, t_end: float, integrator: Integrator = RK4_METHOD, rtol: float = 1e-3
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
    """
    check_gain_arguments(
        {"ratio": (ratio, "1", True), "h": (h, "s", True), "rtol": (rtol, "1", True)}, t_end, "position", "gain_limit"
    )
    if np.ndim(ratio) or np.ndim(h) or np.ndim(rtol):
        raise UsageError("gain_limit: ratio, h and rtol must be single numbers.")
    model = model_given(system, "gain_limit")
    need_no_stops(model, "gain_limit")
    runs = GainRuns.of(model, NEWTON_EULER, integrator, float(h), float(t_end), "position")

    def is_stable(alpha_h: float) -> bool:
        return runs.cell(alpha_h / h, ratio * alpha_h / h).stable

    low = SMALLEST / max(1.0, ratio)
    if not is_stable(low):
        raise UsageError(f"gain_limit: alpha h = {low:g} is unstable already: h = {h:g} s is too large for this motion.")
    high = LARGER * low
    while is_stable(high):
        low, high = high, LARGER * high
        if high > LARGEST:
            raise UsageError(
                f"gain_limit: {type(integrator).__name__} is stable up to alpha h = {low:g}, and further is not sought."
            )
    for _ in range(MOST_RUNS):
        if high - low <= rtol * low:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_stable(middle) else (low, middle)
    theoretical = stability_limit(integrator, float(ratio)) if has_stability_function(integrator) else float("nan")
    return GainLimit(float(ratio), float(h), 0.5 * (low + high), theoretical, integrator)
