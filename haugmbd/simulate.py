r"""simulate: from a system to a Result.

fixed step        simulate(system, t_end, h=1e-3)                RK4 with projection
adaptive          simulate(system, t_end, rtol=1e-8, atol=1e-10)  Dormand-Prince 5(4) with projection and dense output
"""

from __future__ import annotations

import time
from dataclasses import replace
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.errors import ModelError, SimulationError, UsageError
from haugmbd.formulations import NewtonEuler
from haugmbd.formulations.trouble import explain
from haugmbd.integrators import RK4, DormandPrince, Projection, SciPySolver, Unstabilized
from haugmbd.integrators.chunk import Chunk
from haugmbd.integrators.dense import interpolate
from haugmbd.integrators.initial import consistent_start
from haugmbd.integrators.stepping import EULER_SUM, EULER_WORST, N_CORRECTED, N_FACTOR, N_RATES, PARAMETERS, Problem
from haugmbd.model.consistency import branch_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.status import OK
from haugmbd.model.system import System
from haugmbd.progress import Progress
from haugmbd.result import Counters, Result

Integrator: TypeAlias = RK4 | DormandPrince | SciPySolver


@runtime_checkable
class Stabilization(Protocol):
    """What ends a step: two routines and their options."""

    @property
    def rates(self) -> Routine:
        """y_dot = f(t, y)."""

    @property
    def settle(self) -> Routine:
        """The end of a step."""

    def options(self) -> Array:
        """Parameters, and room for counters."""


def simulate(
    system: System | Model,
    t_end: float,
    *,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    state: State | None = None,
    formulation: NewtonEuler = NewtonEuler(),  # noqa: B008  frozen
    integrator: Integrator | None = None,
    stabilization: Stabilization | None = Projection(),  # noqa: B008  frozen
    repair_velocity: bool = False,
    store_every: int = 1,
    progress: bool = False,
) -> Result:
    """Simulate from `state` (by default the modelled one) to `t_end` [s].

    Parameters
    ----------
    h: fixed step [s], with RK4;  rtol, atol: error a step, with Dormand-Prince (rtol 1e-8, atol 1e-10 where nothing is said)
    t_eval: times [s] at which states are wanted, by dense output; otherwise every `store_every`-th step is kept
    integrator, stabilization: objects: RK4(h), DormandPrince(...);  Projection(), Baumgarte(alpha, beta), None
    repair_velocity: project inconsistent initial velocities, instead of refusing them
    progress: show a bar

    Returns a Result; after Ctrl-C the result so far, with `interrupted` set.
    Raises ModelError (faults of the model), UsageError (bad arguments), SimulationError or SingularKKT, whose `.result` holds
    what was computed so far.
    """
    if not isinstance(formulation, NewtonEuler):
        raise UsageError(f"formulation={formulation!r} is none of this version's; it has NewtonEuler().")
    _check_kinds(system, t_end, h, rtol, atol, state, integrator, stabilization, store_every)
    method = _integrator(h, rtol, atol, integrator)
    model = system if isinstance(system, Model) else system.compile()
    start = model.state() if state is None else state
    times = _times(t_eval, start.t, t_end)
    _check_interval(method, start.t, t_end, store_every)
    _check_drivers(model, start.t, t_end)
    rule = Unstabilized() if stabilization is None else stabilization
    pack = model.pack()
    start = consistent_start(model, pack, start, repair_velocity=repair_velocity)
    problem = Problem(model, pack, rule.rates, rule.settle, rule.options(), start.t, start.y)
    settings = {"formulation": repr(formulation), "integrator": repr(method), "stabilization": repr(stabilization)}
    return _Run(problem, method, t_end, times, store_every, settings).go(progress)


class _Run:
    """One simulation on its way: what has been stored so far."""

    def __init__(
        self, problem: Problem, method: Any, t_end: float, times: Array | None, every: int, settings: dict[str, str]
    ) -> None:
        self.problem, self.method, self.t_end, self.times, self.every = problem, method, t_end, times, every
        self.settings = settings
        self.t: list[Array] = []
        self.y: list[Array] = []
        self.steps = self.rejected = self.next_time = 0
        self.cpu = time.process_time()

    def go(self, progress: bool) -> Result:
        """Run to the end, to Ctrl-C, or to an error that carries what there is."""
        p = self.problem
        k1 = np.zeros(p.y.size)
        interrupted = False
        with Progress(progress, p.t, self.t_end) as bar:
            try:
                code = p.settle(p.pack, p.options, p.t, p.y, k1)
                self._need(code, p.t)
                self._last = (np.array([p.t]), p.y[None].copy(), k1[None].copy())
                self._keep_first()
                for chunk in self.method.chunks(p, k1, self.t_end):
                    self._store(chunk)
                    self._need(chunk.code, chunk.t_stop)
                    self._check_branch()
                    bar.reach(float(self._last[0][-1]))
            except KeyboardInterrupt:
                interrupted = True
        return self._result(interrupted)

    def _check_branch(self) -> None:
        """Raise where a rotation driver is followed half a turn off, which no row can see."""
        t, y, _ = self._last
        model = self.problem.model
        faults = branch_faults(model, State.from_y(float(t[-1]), y[-1], model.nb + 1))
        if faults:
            raise SimulationError("; ".join(map(str, faults)), self._result(interrupted=False))

    def _keep_first(self) -> None:
        """The initial state, which every result without `t_eval` begins with."""
        if self.times is None:
            self.t.append(self._last[0])
            self.y.append(self._last[1])

    def _store(self, chunk: Chunk) -> None:
        """Keep every so-many-th state of a chunk, or those at the wanted times."""
        if len(chunk.t) == 0:
            return
        before = self._last
        self._last = (chunk.t[-1:].copy(), chunk.y[-1:].copy(), chunk.y_dot[-1:].copy())
        if self.times is not None:
            self._interpolate(*(np.concatenate(pair) for pair in zip(before, chunk[:3], strict=True)))
        else:
            at_end = chunk.t[-1] >= self.t_end
            kept = (np.arange(self.steps + 1, self.steps + 1 + len(chunk.t)) % self.every == 0) | (at_end & (chunk.t >= self.t_end))
            self.t.append(chunk.t[kept])
            self.y.append(chunk.y[kept])
        self.steps += chunk.accepted
        self.rejected += chunk.rejected

    def _interpolate(self, t: Array, y: Array, y_dot: Array) -> None:
        """States at the wanted times up to t[-1]."""
        assert self.times is not None
        stop = int(np.searchsorted(self.times, t[-1], side="right"))
        wanted = self.times[self.next_time : stop]
        if len(wanted):
            states = interpolate(wanted, t, y, y_dot, self.problem.model.nb + 1)
            self._settle_each(wanted, states)
            self.t.append(wanted)
            self.y.append(states)
            self.next_time = stop

    def _settle_each(self, t: Array, y: Array) -> None:
        """Bring interpolated states where the stabilization wants them; not counted as work of the integrator."""
        p = self.problem
        options, y_dot = p.options.copy(), np.zeros(p.y.size)
        for k in range(len(t)):
            self._need(p.settle(p.pack, options, t[k], y[k], y_dot), t[k])

    def _need(self, code: int, t: float) -> None:
        """Raise unless all is well; the error carries what has been computed."""
        if code == OK:
            return
        p = self.problem
        try:
            p.model.raise_user_error(p.pack)
        except Exception as raised:
            raised.result = self._result(interrupted=False)  # type: ignore[attr-defined]
            raise
        error = explain(p.model, p.pack, code, t)
        error.result = self._result(interrupted=False)
        raise error

    def _result(self, interrupted: bool) -> Result:
        """What there is."""
        p = self.problem
        t = np.concatenate([np.zeros(0), *self.t])
        y = np.concatenate([np.zeros((0, p.y.size)), *self.y])
        o = p.options
        counters = Counters(
            steps=self.steps,
            rejected=self.rejected,
            evaluations=int(o[N_RATES]),
            factorizations=int(o[N_FACTOR]),
            corrected=int(o[N_CORRECTED]),
            euler_worst=float(o[EULER_WORST]),
            euler_sum=float(o[EULER_SUM]),
            cpu=time.process_time() - self.cpu,
        )
        return Result(p.model, t, y, counters, self.settings, interrupted)


def _check_kinds(
    system: Any, t_end: Any, h: Any, rtol: Any, atol: Any, state: Any, integrator: Any, stabilization: Any, store_every: Any
) -> None:
    """Refuse arguments of the wrong kind, each with what it should be."""
    if not isinstance(system, System | Model):
        raise UsageError(f"simulate got {system!r}, and needs a System or a compiled Model.")
    for name, value in (("t_end", t_end), ("h", h), ("rtol", rtol), ("atol", atol), ("store_every", store_every)):
        if not (isinstance(value, Real) or (value is None and name not in ("t_end", "store_every"))):
            raise UsageError(f"{name} = {value!r} must be a number.")
    if state is not None and not isinstance(state, State):
        raise UsageError(f"state = {state!r} must be a State: start from model.state() and change it with state.replace(...).")
    if integrator is not None and not isinstance(integrator, Integrator):
        raise UsageError(f"integrator = {integrator!r} must be an object: RK4(h), DormandPrince(...) or SciPySolver(...).")
    if stabilization is None:
        return
    if isinstance(stabilization, type) or not isinstance(stabilization, Stabilization):
        raise UsageError(f"stabilization = {stabilization!r} must be an object, Projection() or Baumgarte(alpha, beta), or None.")
    parameters = stabilization.options()[:PARAMETERS]
    if not (np.isfinite(parameters).all() and (parameters >= 0.0).all()):
        raise UsageError(f"stabilization = {stabilization!r}: its parameters must be finite and not negative.")


def _integrator(h: float | None, rtol: float | None, atol: float | None, given: Integrator | None) -> Integrator:
    """The integrator that the arguments mean."""
    if h is not None and (rtol is not None or atol is not None):
        raise UsageError(f"h = {h} asks for a fixed step and rtol or atol for an adaptive one: give one of them.")
    if given is None:
        if h is not None:
            return RK4(h)
        return DormandPrince(1e-8 if rtol is None else rtol, 1e-10 if atol is None else atol)
    if isinstance(given, RK4):
        if rtol is not None or atol is not None:
            raise UsageError("RK4 has a fixed step and no error control: give h, or use DormandPrince.")
        return given if h is None else replace(given, h=h)
    if h is not None:
        raise UsageError(
            f"{type(given).__name__} chooses its steps: give rtol and atol (a largest step is its own h_max), or use RK4."
        )
    return replace(given, rtol=given.rtol if rtol is None else rtol, atol=given.atol if atol is None else atol)


def _times(t_eval: npt.ArrayLike | None, t_start: float, t_end: float) -> Array | None:
    """The wanted times, increasing and inside the interval."""
    if t_eval is None:
        return None
    times = np.atleast_1d(np.asarray(t_eval, dtype=np.float64))
    if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise UsageError("t_eval must be one-dimensional, finite and strictly increasing.")
    if len(times) and (times[0] < t_start or times[-1] > t_end):
        raise UsageError(f"t_eval runs from {times[0]:g} to {times[-1]:g} s, the simulation from {t_start:g} to {t_end:g} s.")
    return times


def _check_drivers(model: Model, t_start: float, t_end: float) -> None:
    """Refuse an interval that a tabulated driver does not cover."""
    faults = [fault for driver in model.drivers for fault in driver.faults_between(t_start, t_end)]
    if faults:
        raise ModelError(faults)


def _check_interval(method: Integrator, t_start: float, t_end: float, every: int) -> None:
    """Refuse an empty interval and a step that is no step."""
    if not (np.isfinite(t_end) and t_end > t_start):
        raise UsageError(f"t_end = {t_end} s must be a finite time after the start, t = {t_start:g} s.")
    if every < 1 or every != int(every):
        raise UsageError(f"store_every = {every} must be a whole number of steps, 1 or more.")
    largest = getattr(method, "h_max", np.inf)
    if not largest > 0.0:
        raise UsageError(f"h_max = {largest} s must be positive.")
    if not isinstance(method, RK4):
        for name, value in (("rtol", method.rtol), ("atol", method.atol)):
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f"{name} = {value} must be positive; 1e-8 is a good start.")
        return
    if method.h is None or not (np.isfinite(method.h) and method.h > 0.0):
        raise UsageError(f"the step h = {method.h} s must be positive: RK4 needs simulate(..., h=1e-3) or RK4(h=1e-3).")
    if method.h > (t_end - t_start) * (1.0 + 1e-12):
        raise UsageError(f"the step h = {method.h:g} s is larger than the interval of {t_end - t_start:g} s.")
