r"""SciPy's solvers on the same right-hand side: `SciPySolver("DOP853")`, and the function for `solve_ivp` itself.

    y' = f(t, y)      f = the `rates` of the stabilization;   after each accepted step of a one-step method   y <- post_step(y)

They are slower than the compiled integrators, and serve as an independent check of them.
Source: scipy.integrate (RK23, RK45, DOP853; LSODA, BDF, Radau).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK, STEP_TOO_SMALL, USER_STOPPED, report
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import chosen
from haugmbd.formulations.base import Formulation
from haugmbd.formulations.error_messages import explain
from haugmbd.integrators.base import Adaptive, Integrator
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.model.inspection.given import model_given
from haugmbd.model.inspection.run_memory import need_no_memory
from haugmbd.model.model import Model
from haugmbd.workspace.layout import workspace_array

ONE_STEP = ("RK23", "RK45", "DOP853")
"""Methods whose state may be corrected between steps."""
METHODS = (*ONE_STEP, "Radau", "BDF", "LSODA")
HIGH_ORDER = ("DOP853", "LSODA")
"""Methods of order up to eight and twelve, whose steps are longer than dense output of order six can follow."""
TIMES = {"Radau": 3, "BDF": 1, "LSODA": 1}
"""Number of times after its start at which one of the other methods evaluates y' in a step that it tries."""


@public_class
@dataclass(frozen=True)
class SciPySolver(Adaptive):
    """A solver of scipy.integrate.

    Parameters
    ----------
    method : str
        Name of the solver in SciPy: RK23, RK45, DOP853, Radau, BDF or LSODA.
    rtol, atol : float
        Relative and absolute tolerances of the error of a step.
    h_first : float, optional
        First step [s]; by default chosen by SciPy.
    h_max : float
        Largest step [s].

    Raises
    ------
    UsageError
        If SciPy has no solver of this name.

    Notes
    -----
    Radau, BDF and LSODA use data of earlier steps.  They go with stabilization=None or Baumgarte, not with Projection.
    Source: Virtanen et al. 2020, SciPy 1.0, Nature Methods 17, 261-272.
    """

    method: str = "DOP853"

    reference: ClassVar[str] = "Virtanen et al. 2020, SciPy 1.0, Nature Methods 17, 261-272 (scipy.integrate)"

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise UsageError(f"SciPySolver method {self.method!r} is unknown; SciPy has {', '.join(METHODS)}.")

    @classmethod
    def examples(cls) -> dict[str, Integrator]:
        return {f"SciPySolver {', '.join(names)}": cls(method=names[-1]) for names in (ONE_STEP, METHODS[len(ONE_STEP) :])}

    @property
    def correctable(self) -> bool:
        return self.method in ONE_STEP

    @property
    def dense(self) -> bool:
        return self.method not in HIGH_ORDER

    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance to `t_end`, a step at a time."""
        rates, nothing = _Rates(problem), np.zeros((0, problem.y.size))
        try:
            solver = self._solver(rates, t_end)
        except (_Stopped, ValueError, np.linalg.LinAlgError) as error:
            yield StepBatch(np.zeros(0), nothing, nothing, *_reason(error, rates.stopped), 0, 0)
            return
        while solver.status == "running":
            t, before = solver.t, solver.nfev
            rates.times.clear()
            try:
                solver.step()
            except (_Stopped, ValueError, np.linalg.LinAlgError) as error:
                yield StepBatch(np.zeros(0), nothing, nothing, *_reason(error, rates.stopped), 0, 0)
                return
            rejected = self._tried(solver, t, before, rates.times) - (solver.status != "failed")
            y, y_dot = np.array(solver.y), np.zeros_like(solver.y)
            code = _failure(solver, rates) if solver.status == "failed" else OK
            if code == OK:
                code = problem.post_step(problem.pack, problem.options, solver.t, y, y_dot)
            if code != OK:
                yield StepBatch(np.zeros(0), y[None][:0], y_dot[None][:0], code, solver.t, 0, rejected)
                return
            if self.correctable:
                solver.y, solver.f = y.copy(), y_dot.copy()
            yield StepBatch(np.array([solver.t]), y[None], y_dot[None], OK, solver.t, 1, rejected)

    def _solver(self, rates: _Rates, t_end: float) -> Any:
        """Return SciPy's solver at the state of the problem."""
        import scipy.integrate  # noqa: PLC0415  0.3 s, only where it is used

        problem, span = rates.problem, t_end - rates.problem.t
        return getattr(scipy.integrate, self.method)(
            rates,
            problem.t,
            problem.y.copy(),
            t_end,
            rtol=self.rtol,
            atol=self.atol * self.units(problem),
            max_step=min(self.h_max, span),
            first_step=None if self.h_first is None else min(self.h_first, span),
        )

    def _tried(self, solver: Any, t: float, before: int, times: set[float]) -> int:
        """Return how many steps from `t` were tried for one, which SciPy does not report.

        A Runge-Kutta method evaluates all its stages each time; the others evaluate at the end of each step that they try.  The times of a
        step that is a rounding of t, to a stop, are the same.
        """
        if self.method in ONE_STEP:
            return int(solver.nfev - before) // int(solver.n_stages)
        return max(1, sum(bool(time > t) for time in times) // TIMES[self.method])


class _Stopped(Exception):  # noqa: N818  it ends SciPy's step, and no user meets it
    """The failure of an evaluation: its code, and the time [s]."""

    def __init__(self, code: int, t: float) -> None:
        super().__init__(code, t)
        self.code, self.t = code, t


class _Rates:
    """The right-hand side f(t, y) as SciPy calls it.

    stopped: the last failure of an evaluation, OK without one;  times: at which it was evaluated
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.stopped, self.times = problem, _Stopped(OK, problem.t), set[float]()

    def __call__(self, t: float, y: Array) -> Array:
        """Return y'; numbers that are none, with which SciPy tries a shorter step, where they cannot be evaluated."""
        problem = self.problem
        self.times.add(t)
        y_dot = np.zeros_like(y)
        code = problem.rates(problem.pack, problem.options, t, np.ascontiguousarray(y), y_dot)
        if code == USER_STOPPED:
            raise _Stopped(code, t)
        if code != OK:
            self.stopped.code, self.stopped.t = code, t
            return np.full_like(y, np.nan)
        return y_dot


def _failure(solver: Any, rates: _Rates) -> int:
    """Return the code of the failure of a solver: that of the evaluation which failed, or a step that became too small."""
    if rates.stopped.code != OK:
        return rates.stopped.code
    h = float(getattr(solver, "h_abs", np.spacing(solver.t)))
    return report(workspace_array(rates.problem.pack, "STATUS")[0], STEP_TOO_SMALL, 0, h)


def _reason(error: Exception, stopped: _Stopped) -> tuple[int, float]:
    """Return code and time of the failure that stopped SciPy.

    It is an error of a user's function, or a matrix that SciPy cannot factor because an evaluation failed.  Raises `error` if no evaluation
    has failed.
    """
    if isinstance(error, _Stopped):
        return error.code, error.t
    if stopped.code == OK:
        raise error
    return stopped.code, stopped.t


@check_keywords
def ode_function(model: Model, *, formulation: Formulation | None = None) -> Callable[[float, Array], Array]:
    """Return the right-hand side f(t, y) of a model for scipy.integrate.solve_ivp.

    Parameters
    ----------
    model : Model or System
        A System is compiled first.  `model.state().y` is the initial y.
    formulation : Formulation, optional
        By default `NewtonEuler()`.

    Returns
    -------
    callable
        f(t, y) -> y', with flat states (ny,).  It raises SingularKKTError or SimulationError as `accelerations` does.

    Raises
    ------
    UsageError, ModelError
        If an argument has the wrong kind, or the formulation cannot treat the model. If the model needs what a run adds at its events:
        rigid stops, contact forces with damping, sampled blocks and delays.
    """
    model = model_given(model, "ode_function")
    need_no_memory(model, "ode_function")
    rule = Unstabilized()
    pack = rule.fitted(model, chosen(formulation).pack(model))
    options = rule.options()

    def f(t: float, y: Array) -> Array:
        y_dot = np.zeros_like(y)
        code = rule.rates(pack, options, t, np.ascontiguousarray(y), y_dot)
        if code != OK:
            model.raise_user_error(pack)
            raise explain(model, pack, code, t)
        return y_dot

    return f
