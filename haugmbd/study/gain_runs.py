r"""Runs with Baumgarte stabilization, and whether they are stable.

A run is unstable if it fails, if the violation exceeds a tenth of the size of the model (or that of the run without stabilization, if it is
larger), or if the violation grows: with M the largest violation in the second and in the last quarter of the run,

    M_last / M_second  >  10 g

g is the growth that the motion itself causes: the larger of the same quotients without stabilization, and with gains that are stable with
every method (alpha h = beta h = 0.25).  Growth by 10 in half a run of n steps is |R| = 10^(2/n): 1.012 with 400 steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import RunStatus
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import SimulationError, UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators import Baumgarte
from haugmbd.integrators.base import Integrator
from haugmbd.model.model import Model
from haugmbd.simulation.arguments import choose_integrator
from haugmbd.simulation.run_options import RunMethods
from haugmbd.simulation.simulate import run_system
from haugmbd.study.method import OwnRun
from haugmbd.study.signal import scaled_norm, violation_signal

SAFE = 0.25
"""Dimensionless gains alpha h = beta h with which every explicit method is stable."""
GROWN = 10.0
"""Growth between two quarters of a run, against that of the motion itself, above which it is unstable."""
LOST = 0.1
"""Of the size of the model: a larger violation is no solution any more."""
LEAST = 1e-15
"""Of the size of the model: a smaller violation is rounding, and its growth is not measured."""
FEWEST_STEPS = 80
"""Steps below which growth cannot be judged."""
NOT_RUN = "not run: Ctrl-C"
"""Reason of a cell that was not run."""


class GainCell(NamedTuple):
    """One run.

    stable;  violation: the largest |Phi|, inf if the run failed, NaN if there was none;  reason: why it is unstable, "" if it is not
    """

    stable: bool
    violation: float
    reason: str


@dataclass(frozen=True)
class GainRuns:
    """Runs of a model with a method and a step, with any gains.

    integrator: with its step;  growth: g;  lost: violation, in sizes of the model, above which a run is lost;  unstabilized: without gains
    moves: whether the motion violates the constraints at all, beyond rounding
    """

    model: Model
    formulation: Formulation
    integrator: Integrator
    h: float
    t_end: float
    level: Level
    growth: float = 1.0
    lost: float = LOST
    unstabilized: GainCell = GainCell(False, np.inf, "")
    moves: bool = True

    @classmethod
    def of(cls, model: Model, formulation: Formulation, integrator: Integrator, h: float, t_end: float, level: Level) -> GainRuns:
        """Return the runs with step h.  Raise UsageError if there are too few steps to judge them."""
        if t_end < FEWEST_STEPS * h:
            raise UsageError(
                f"t_end = {t_end:g} s has {t_end / h:.0f} steps of h = {h:g} s; growth can be judged from {FEWEST_STEPS} or more: "
                f"give t_end = {FEWEST_STEPS * h:g} or longer."
            )
        chosen = (
            integrator.with_arguments(h, None, None)
            if isinstance(integrator, OwnRun)
            else choose_integrator(h, None, None, integrator)
        )
        runs = cls(model, formulation, chosen, h, t_end, level)
        free, free_sizes = runs._run(0.0, 0.0)
        _, safe_sizes = runs._run(SAFE / h, SAFE / h)
        growth = max(1.0, *(_growth(sizes) for sizes in (free_sizes, safe_sizes)))
        largest = float(free_sizes.max(initial=0.0))
        return replace(
            runs, growth=growth, lost=max(LOST, largest), unstabilized=free, moves=not len(free_sizes) or largest > 10.0 * LEAST
        )

    def cell(self, alpha: float, beta: float) -> GainCell:
        """Return the run with these gains [1/s]."""
        cell, sizes = self._run(alpha, beta)
        if not cell.stable:
            return cell
        growth = _growth(sizes) / self.growth
        if growth <= GROWN:
            return cell
        return cell._replace(
            stable=False, reason=f"the violation grows by {growth:.3g} in half the run, beyond what the motion causes"
        )

    def _run(self, alpha: float, beta: float) -> tuple[GainCell, Array]:
        """Return the run, unstable if it fails or is lost, and its violation over time in units of the length.

        Raise KeyboardInterrupt if Ctrl-C has ended the run: a part of it says nothing of the whole.
        """
        with np.errstate(all="ignore"):
            try:
                if isinstance(self.integrator, OwnRun):
                    result = self.integrator.result(self.model, self.t_end, "run", alpha=alpha, beta=beta)
                else:
                    rule = Baumgarte(alpha, beta)
                    result = run_system(self.model, self.t_end, RunMethods(self.integrator, self.formulation, rule))
            except SimulationError as error:
                return GainCell(False, np.inf, str(error)), np.zeros(0)
            if result.status is RunStatus.INTERRUPTED:
                raise KeyboardInterrupt
            sizes = scaled_norm(result, result.violation("position"))
            worst, lost = float(np.abs(result.violation(self.level)).max()), float(sizes.max())
            if not (np.isfinite(worst) and np.isfinite(lost)):
                return GainCell(False, np.inf, "the violation is not finite"), np.zeros(0)
            worst = float(np.abs(violation_signal(result, self.level).y).max())
        if lost > self.lost:
            return GainCell(False, worst, f"the violation reaches {lost:.2g} of the size of the model"), sizes
        return GainCell(True, worst, ""), sizes


def _growth(sizes: Array) -> float:
    """Return the largest violation of the last quarter over that of the second, both at least `LEAST`; 1 for a run that failed."""
    n = len(sizes)
    return max(float(sizes[3 * n // 4 :].max()), LEAST) / max(float(sizes[n // 4 : n // 2].max()), LEAST) if n else 1.0
