r"""Stepper: a run that is advanced from outside, step by step, with inputs that are held during a step.

    t_n = t_0 + n h         y_n = step(y_(n-1), u_n)         the same kernels, in the same order, as those of one `simulate` with this h

Two ways lead from step to step:

compiled steps    a method of fixed step, and a smooth motion: the batch of steps of `simulate`, called for the steps that are asked for
a run with stops  all that switches (stops, touches, joints that stick, sampled blocks, delays) and error control: the loop of `simulate`,
                  which ends a step at each t_n as it does at the calls of a sampled block

An input that changes makes the rates jump: they are evaluated anew at the start of the step, as behind the call of a sampled block.
"""

from __future__ import annotations

from pickle import PicklingError
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.diagnostics.reaction_signals import bind
from haugmbd.errors import SimulationError, UsageError
from haugmbd.formulations import Formulation
from haugmbd.formulations.accelerations import check_formulation
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.explicit.runge_kutta import OneStep, RungeKutta
from haugmbd.integrators.initial_state import check_start, projected
from haugmbd.integrators.singularities.branch_crossing import CrossingStart
from haugmbd.integrators.singularities.singularity_crossing import CrossingSearch, crossing_search
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import NUMBERS, StepBatch
from haugmbd.integrators.step_context import Problem, Steps, steps_to
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.inspection.given import model_given, need_state
from haugmbd.model.inspection.run_memory import need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import (
    check_drivers,
    check_friction,
    check_kinds,
    check_numbers,
    choose_integrator,
    needs_switching,
    rigid_stop,
)
from haugmbd.simulation.compatibility import resolve_stabilization
from haugmbd.simulation.held_inputs import model_with_inputs
from haugmbd.simulation.held_steps import ROWS, TURNS, Plan, held_steps, new_plan
from haugmbd.simulation.quantity_reader import QuantityReader
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION, Recording
from haugmbd.simulation.stepping.broken_motions import with_known_turns
from haugmbd.simulation.stepping.drift import AngleDrift
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.simulation.stepping.run import Run
from haugmbd.system.checks.constraint_residuals import has_branches
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.system.checks.known_turns import counted_angles, counts_turns

WHO = "Stepper"
LOOK_AHEAD = 100
"""Steps after which drivers are examined for breaks in as many steps ahead, and rows that no equation watches are looked at."""


class Methods(NamedTuple):
    """The methods of a Stepper;  rule: the stabilization, or what takes its place."""

    integrator: Integrator
    formulation: Formulation
    rule: Stabilization
    project_velocity: bool


class Advance(Protocol):
    """A way from step to step: time [s] of the last one, and the rates there;  most: number of steps that are made at once."""

    most: int
    problem: Problem
    y_dot: Array
    t: float

    def begin(self) -> None:
        """Apply the stabilization to the start."""

    def renew(self) -> None:
        """Evaluate the rates anew, which an input has changed."""

    def advance(self, n: int) -> None:
        """Make n steps, at most `most`, and read the outputs at their ends that compiled code reads."""

    def kept(self) -> dict[str, Any]:
        """Return what steps depend on, for a pickle."""

    def restore(self, kept: dict[str, Any]) -> None:
        """Continue where another one was."""


class CompiledSteps:
    """Steps of a method of fixed step, of a motion without switches."""

    def __init__(self, problem: Problem, method: OneStep, h: float, reader: QuantityReader) -> None:
        self.problem, self.method, self.h, self.t = problem, method, h, problem.t
        self.y_dot = np.zeros(problem.y.size)
        self.model: Model = problem.state_space.model  # type: ignore[attr-defined]
        self.most = max(1, min(1000, NUMBERS // problem.y.size))
        self.steps = steps_to(np.zeros(1), problem.y.size)
        self.search: CrossingSearch | None = crossing_search(problem, np.inf)
        self.drift = AngleDrift(problem.state_space, 0)
        self.counts_turns, self.has_breaks = counts_turns(self.model), bool(driven_joints(self.model))
        self.has_branches = has_branches(self.model) or has_ranges(self.model)
        self.t_start, self.done, self.since, self.looked = problem.t, 0, 0, 0
        self.broken: tuple[float, SimulationError] | None = None
        self.angles = counted_angles(self.model)
        self.reader = reader
        self.plan: Plan | None = None
        self.renews = False

    def begin(self) -> None:
        """Apply the stabilization to the start."""
        p = self.problem
        self.drift.leave_start(p.y)
        self._need(p.post_step(p.pack, p.options, p.t, p.y, self.y_dot), p.t)
        self._begin_steps()

    def _begin_steps(self) -> None:
        """Begin steps at the state of the problem, from which their ends are counted."""
        p = self.problem
        self.t = self.t_start = p.t
        self.done = 0
        if self.search is not None:
            self.search.begin(CrossingStart(p.t, p.y.copy(), self.y_dot.copy()), self.method)
        self.plan = None

    def renew(self) -> None:
        """Evaluate the rates anew in the next step, because an input has changed."""
        self.renews = True

    def advance(self, n: int) -> None:
        """Make n steps at once, and read the outputs at their ends."""
        if n == 0:
            return
        p, steps = self.problem, self.steps
        if len(steps.t) != n:
            steps = self.steps = steps_to(np.zeros(n), p.y.size)
            self.plan = None
        if n == 1:
            steps.t[0] = self.t_start + self.h * (self.done + 1.0)
        else:
            steps.t[:] = self.t_start + self.h * np.arange(self.done + 1, self.done + 1 + n, dtype=np.float64)
        if self.has_breaks or self.has_branches:
            self._look_ahead(n)
        t_before = self.t
        code, made, search = self._make(steps)
        self.done += made
        if made:
            self.t = p.t = float(steps.t[made - 1])
            self.since += made
        if code != OK:
            self._need(code, float(steps.t[min(made, n - 1)]))
        if search:
            self._check(CrossingStart(t_before, *self.before), steps, made, search)
        if made < n:  # rows have ended the steps, and nothing was found
            self.advance(n - made)

    def _make(self, steps: Steps) -> tuple[int, int, int]:
        """Make steps to the times in `steps`, and read the outputs; return the code, the number done, and what is to be searched."""
        p, renews, self.renews = self.problem, self.renews, False
        if self.plan is None and isinstance(self.method, RungeKutta):
            self.plan = new_plan(p, self.method.tableau, self.y_dot, steps, self.angles, self.reader)
            self.before = self.plan.before
        if self.plan is not None:
            return held_steps(self.plan, self.t, self.h, renews)  # type: ignore[no-any-return]
        if renews:
            self._need(p.rates(p.pack, p.options, self.t, p.y, self.y_dot), self.t)
        self.before = np.stack([p.y, self.y_dot])
        code, made = self.method.steps(p, self.t, self.h, self.y_dot, steps)
        if made:
            self.reader.follow(steps.y[:made], self.y_dot)
        return code, made, (ROWS | TURNS) if made else 0

    def _check(self, before: CrossingStart, steps: Steps, made: int, search: int) -> None:
        """Search the steps for singular configurations, and for turns that are not known; take out the drift of integrated angles."""
        if self.search is not None and search & ROWS:
            batch = self._batch(steps, made)
            crossing, _ = self.search.find(before, batch, self.method)
            if crossing is not None:
                where = crossing.passed
                at, joints = (self.t, ()) if where is None else (where.t, where.joints)
                raise SimulationError(
                    f"the mechanism passes a singular configuration at t = {at:.6g} s ({', '.join(map(repr, joints))}), which a Stepper "
                    "does not cross, because it would have to go back behind steps that were made. `simulate` crosses it."
                )
        if self.counts_turns and search & TURNS:
            batch, stopped = with_known_turns(self.problem.state_space, self._batch(steps, made), None)
            if stopped is not None:
                raise stopped
            kept = len(self.drift.cut(batch, None, self.since - made)[0].t)
            self.since += kept - made
            state = self.drift.state_without(self.since)
            if state is not None:
                self._restart_from(float(steps.t[kept - 1]), state)
                self.advance(made - kept)

    def _restart_from(self, t: float, state: Array) -> None:
        """Continue from a state at t [s] without drift of its integrated angles."""
        p = self.problem
        p.t, p.y[:] = t, state
        self._need(p.post_step(p.pack, p.options, p.t, p.y, self.y_dot), p.t)
        self._begin_steps()

    @staticmethod
    def _batch(steps: Steps, made: int) -> StepBatch:
        """Return the steps that were made as a batch."""
        return StepBatch(steps.t[:made], steps.y[:made], steps.y_dot[:made], OK, float(steps.t[made - 1]), made, 0)

    def _look_ahead(self, n: int) -> None:
        """Examine the drivers of the next steps. Raise SimulationError where one of them breaks within n steps, or a branch was left."""
        self.looked -= n
        if self.looked < 0:
            p, ahead = self.problem, max(n, LOOK_AHEAD)
            if self.has_branches and (wrong := p.state_space.wrong_branch(np.array([self.t]), p.y[None])):
                raise SimulationError(wrong)
            if self.has_breaks:
                times = self.t_start + self.h * np.arange(self.done, self.done + 1 + ahead, dtype=np.float64)
                found = p.state_space.broken(times)
                self.broken = None if found is None else (found[0], _stopped(*found))
            self.looked = ahead - n
        if self.broken is not None and self.broken[0] <= self.t_start + self.h * (self.done + n):
            raise self.broken[1]

    def _need(self, code: int, t: float) -> None:
        """Raise the error of a code that is not OK."""
        if code != OK:
            raise self.problem.state_space.error(self.problem.pack, code, t)

    def _memory(self) -> list[Array]:
        """Return the arrays that steps depend on: what is copied from one Stepper to another."""
        p = self.problem
        arrays = [p.y, self.y_dot, p.pack.work, _numbers(p.options)]
        if self.search is not None:
            watch = self.search.watch
            arrays += [watch.volumes, _numbers(watch.state), watch.pack.work, watch.ends]
        return arrays

    def kept(self) -> dict[str, Any]:
        """Return what steps depend on, for a pickle."""
        counts = self.t, self.t_start, self.done, self.since, self.drift.since
        return {"counts": counts, "arrays": [array.copy() for array in self._memory()]}

    def restore(self, kept: dict[str, Any]) -> None:
        """Continue where another one was."""
        self.t, self.t_start, self.done, self.since, self.drift.since = kept["counts"]
        self.problem.t = self.t
        for array, before in zip(self._memory(), kept["arrays"], strict=True):
            array[:] = before


def _numbers(record: Any) -> Array:
    """Return the numbers of a record as an array over its memory."""
    array: Array = record.base.view(np.float64)
    return array


def _stopped(t: float, what: str) -> SimulationError:
    """Return the error of a driver that breaks."""
    return SimulationError(f"the steps stop before t = {t:.9g} s: {what}")


class RunWithStops:
    """The loop of `simulate`, which ends a step at each time that is asked for."""

    most = 1

    def __init__(self, problem: Problem, method: Integrator, h: float, reader: QuantityReader) -> None:
        self.problem, self.method, self.h, self.t, self.reader = problem, method, h, problem.t, reader
        recording = Recording(take=_drop)
        self.run: Run[None] = Run(problem, method, np.inf, recording, _no_result)
        if self.run.crossings is None:
            self.run.crossings = crossing_search(problem, np.inf)
        self.bar = Progress(False, problem.t, np.inf)
        self.t_start, self.done, self.renewed = problem.t, 0, False
        self.y_dot = np.zeros(problem.y.size)
        self.last = problem.y[None]
        self.longest = 0.0

    def begin(self) -> None:
        """Apply the stabilization to the start."""
        self.y_dot = self.run.begin()

    def renew(self) -> None:
        """Evaluate the rates anew, which an input has changed."""
        p = self.problem
        self.run._need(p.rates(p.pack, p.options, p.t, p.y, self.y_dot), p.t)
        self.run._continue_from_state(self.y_dot)

    def advance(self, n: int) -> None:
        """Make a step, and read the outputs at its end."""
        self._to(self.t_start + self.h * (self.done + 1.0))
        self.done += 1
        self.reader.follow(self.problem.y[None], self.y_dot)

    def _to(self, t: float) -> None:
        """Go to the time t [s]; blocks are called there at the beginning of the next step."""
        p, method = self.problem, self.method
        clock = self.run.clock
        if clock is not None and self.done:
            self.run._leave_stop(clock, self.y_dot)
        while p.t < t:
            stop = t if clock is None else clock.next_stop(p.t, t)
            if clock is not None:
                method = self.run.lengths.restarted(self.method)
            elif self.longest and self.method.step is None:
                method = self.method.starting_with(self.longest)
            self.run.reach(stop, method, self.y_dot, self.bar)
            self.longest = self.h
            times, y, y_dot = self.run._last
            p.t, p.y[:], self.y_dot[:] = float(times[-1]), y[-1], y_dot[-1]
            if clock is not None and p.t < t:
                self.run._leave_stop(clock, self.y_dot)
        self.t = p.t

    def kept(self) -> dict[str, Any]:
        """Return what steps depend on, for a pickle. Raise PicklingError for blocks that remember what was."""
        if self.run.clock is not None:
            raise PicklingError(
                "a Stepper of a model with sampled blocks or delays cannot be pickled: they remember the motion before."
            )
        return {"t": self.t, "y": self.problem.y.copy()}

    def restore(self, kept: dict[str, Any]) -> None:
        """Begin anew at the state where another one was: what touches or sticks follows from it."""
        p = self.problem
        p.t, p.y[:] = kept["t"], kept["y"]
        self.__init__(p, self.method, self.h, self.reader)  # type: ignore[misc]
        self.begin()


def _drop(t: Array, y: Array) -> None:
    """Take states of a run that nobody stores."""


def _no_result(found: Any) -> None:
    """Make no result of a run."""


@public_class
class Stepper:
    """A mechanism that is advanced step by step, with inputs that are set and outputs that are read between steps.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    h : float
        Step [s]; with an integrator of error control the time between two ends of its steps.
    integrator : Integrator, optional
        A method whose steps depend on the state at their start alone; by default RK4.
    formulation : Formulation
        Algorithm for the accelerations.
    stabilization : Stabilization or None
        Constraint stabilization, as an object.
    state : State, optional
        Initial state; by default the modelled one.
    inputs : sequence of str
        Names of force elements whose force, torque or actuator is set, in place of their own law (a number as modelled is the first value,
        else 0); and of drivers of joints, such as a RotationDriver, whose acceleration is set: angle and rate go on from it.
    outputs : sequence of str
        Names of quantities, `PART.QUANTITY`: "crank.r", "crank.v[0]", "pin.angle", "pin.rate", "pin.force", "motor.torque",
        "spring.length", "pid.out", "energy.kinetic".
    project_velocity : bool
        Whether to project inconsistent initial velocities.

    Attributes
    ----------
    h : float
        Step [s].
    input_names, output_names : tuple of str
        The names of all numbers: "tip[0]", "tip[1]", "tip[2]" of an input "tip" with three numbers.
    outputs : ndarray, (m,)
        The outputs at the state of now: always the same array.

    Raises
    ------
    UsageError
        If a name is none, with those that there are; or if the mechanism or the methods cannot be stepped, by name.
    ModelError
        If the system or its state has faults.

    Notes
    -----
    States have the bits of one `simulate` with the same h. Where places switch (stops, compliant contacts, joints that stick) or sampled
    blocks are called, a step ends at each t_0 + n h besides; such steps cost as much as the loop of `simulate` for each. Inputs are held
    during a step. Python's global lock is released in compiled steps: each thread may step a Stepper of its own. A Stepper can be pickled.
    Rigid contacts and stops, and methods that use data of earlier steps, are refused.
    Outputs of bodies and coordinates of joints are read by compiled code; others cost as much as the question to a Result.

    Examples
    --------
    >>> stepper = mbd.Stepper(system, h=1e-3, inputs=["motor"], outputs=["pin.angle", "pin.rate"])
    >>> for _ in range(1000):
    ...     angle, rate = stepper.outputs
    ...     stepper.step(-20.0 * angle - 2.0 * rate)
    """

    @check_keywords
    def __init__(
        self,
        system: Any,
        *,
        h: float,
        integrator: Integrator | None = None,
        formulation: Formulation = NEWTON_EULER,
        stabilization: Stabilization | None = PROJECTION,
        state: State | None = None,
        inputs: Any = (),
        outputs: Any = (),
        project_velocity: bool = False,
    ) -> None:
        check_numbers(integrator, h=h)
        check_flags(project_velocity=project_velocity)
        check_formulation(formulation)
        if h is None or not (np.isfinite(float(h)) and h > 0.0):
            raise UsageError(f"{WHO}: the step h = {h!r} s must be a positive number.")
        self.h = float(h)
        given = model_given(system, WHO)
        need_no_freewheels(given, WHO)
        check_kinds(given, state, stabilization)
        fixed = integrator is None or integrator.takes_step
        method = choose_integrator(self.h if fixed else None, None, None, integrator)
        rule = resolve_stabilization(formulation, method, stabilization, PROJECTION)
        self._methods = Methods(method, formulation, rule, project_velocity)
        _need_steps(given, method)
        check_friction(given, method)
        self._first = None if state is None else need_state(state)
        self._compile(given, inputs, outputs)
        self.reset()

    def _compile(self, given: Model, inputs: Any, outputs: Any) -> None:
        """Make the model with its inputs, and the reader of its outputs."""
        self._given = given, inputs, outputs
        self._model, self._inputs = model_with_inputs(given, inputs, WHO)
        bind(self._model)
        self._reader = QuantityReader(self._model, outputs, WHO)
        self._t_last = min((driver.t_range[1] for driver in self._model.drivers), default=np.inf)
        self._stale = False
        self._steps: Advance

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the model and the names, the numbers of now, and the inputs."""
        names = ("h", "_methods", "_first", "_given", "_stale")
        return {name: getattr(self, name) for name in names} | {
            "steps": self._steps.kept(),
            "start": self._start,
            "inputs": self._inputs.kept(),
            "outputs": self._reader.values.copy(),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Compile the model with its inputs again, and continue where the other one was."""
        self.h, self._methods, self._first = kept["h"], kept["_methods"], kept["_first"]
        self._compile(*kept["_given"])
        self.reset(kept["start"])
        self._inputs.restore(self._steps.problem.pack, kept["inputs"])
        self._steps.restore(kept["steps"])
        self._stale = kept["_stale"]
        self._reader.values[:] = kept["outputs"]

    def __repr__(self) -> str:
        n, m = len(self.input_names), len(self.outputs)
        return f"Stepper({self._model.name!r}: t = {self.t:.6g} s, h = {self.h:g} s, {n} inputs, {m} outputs)"

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the numbers that are set."""
        return self._inputs.names

    @property
    def output_names(self) -> tuple[str, ...]:
        """Return the names of the numbers that are read."""
        return self._reader.names

    @property
    def outputs(self) -> Array:
        """Return the outputs at the state of now, (m,); the same array after every step."""
        return self._reader.values

    @property
    def inputs(self) -> Array:
        """Return the values that are held now, (m,), a copy."""
        return self._inputs.values.copy()

    @property
    def t(self) -> float:
        """Return the time [s]."""
        return self._steps.t

    @property
    def state(self) -> State:
        """Return the state of now."""
        return State.from_y(self._steps.t, self._steps.problem.y, self._model.nb + 1)

    def step(self, inputs: npt.ArrayLike | dict[str, Any] | None = None, *, n: int = 1) -> Array:
        """Make n steps, and return the outputs at the end.

        Parameters
        ----------
        inputs : array_like, (m,), or dict, optional
            Values that are held from now on: of all inputs, one number if there is one, or a dict of some of them by name.
        n : int
            Number of steps.

        Returns
        -------
        ndarray, (m,)
            `outputs`, the same array at every call.

        Raises
        ------
        UsageError
            If inputs are not finite numbers, or n is not a whole number of 1 or more.
        SimulationError
            If the motion cannot continue; the state is that of the last step that was made.
        """
        if n.__class__ is not int:
            n = _whole(n)
        if n < 1:
            raise UsageError(f"{WHO}: n = {n} must be a whole number of steps, 1 or more.")
        if inputs is not None:
            self._hold(inputs)
        steps = self._steps
        if steps.t + (n - 1e-9) * self.h > self._t_last:
            check_drivers(self._model, self._start.t, steps.t + n * self.h)
        if self._stale:
            steps.renew()
            self._stale = False
        while n > steps.most:
            steps.advance(steps.most)
            n -= steps.most
        steps.advance(n)
        if self._reader.asks:
            self._ask()
        return self._reader.values

    def reset(self, state: State | None = None) -> Array:
        """Go to a state, and hold the inputs as modelled.

        Parameters
        ----------
        state : State, optional
            The state; by default the one with which the Stepper was made.

        Returns
        -------
        ndarray, (m,)
            `outputs` there.

        Raises
        ------
        UsageError
            If the state is no State.
        ModelError
            If it does not fit the model.
        """
        start = self._first if state is None else need_state(state)
        start = self._model.state() if start is None else start
        if needs_switching(self._given[0], (), start):
            raise UsageError(
                f"{WHO}: the state has other parts switched on than the model: compile the system with these parts active."
            )
        method, formulation, rule, project_velocity = self._methods
        if method.step is not None:
            check_drivers(self._model, start.t, start.t + self.h)
        pack = rule.fitted(self._model, formulation.pack(self._model))
        self._inputs.restart(pack, start.t)
        check_start(self._model, start, project_velocity=project_velocity)
        if project_velocity:
            start = projected(self._model, pack if formulation.block_factor else self._model.pack(), start)
        self._start = start
        problem = rule.problem(MaximalStateSpace(self._model), pack, start.t, start.y)
        if is_smooth(self._model, method):
            self._steps = CompiledSteps(problem, method, self.h, self._reader)  # type: ignore[arg-type]
        else:
            self._steps = RunWithStops(problem, method, self.h, self._reader)
        self._steps.begin()
        self._stale = False
        self._reader.begin()
        self._reader.follow(self._steps.problem.y[None], self._steps.y_dot)
        if self._reader.asks:
            self._ask()
        return self._reader.values

    def _hold(self, inputs: Any) -> None:
        """Hold other values of the inputs; the rates are evaluated anew if one of them changes."""
        own = self._inputs
        values = own.read(inputs, WHO)
        if values.tobytes() == own.values.tobytes():
            return
        own.put(self._steps.problem.pack, self._steps.t, values)
        self._stale = True

    def _ask(self) -> None:
        """Read the outputs that need a Result of the state."""
        self._inputs.keep_in_model()
        self._reader.ask(self._steps.t, self._steps.problem.y)


def _whole(n: Any) -> int:
    """Return a number of steps. Raise UsageError unless it is whole."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise UsageError(f"{WHO}: n = {n!r} must be a whole number of steps, 1 or more.")
    return int(n)


def is_smooth(model: Model, method: Integrator) -> bool:
    """Return whether steps of a method are all that happens in a run of a model: nothing switches, and no block is called between them."""
    network = model.network
    stops = network is not None and bool(network.sampled or network.delays)
    return isinstance(method, OneStep) and not (model.has_contacts or model.has_stops or may_stick(model) or stops)


def _need_steps(model: Model, method: Integrator) -> None:
    """Raise UsageError for a model or a method that cannot be stepped."""
    if stop := rigid_stop(model):
        raise UsageError(
            f"{WHO} does not take {stop}, which is rigid: velocities jump between steps. Make it compliant (k= and c= of a JointLimit, "
            "Compliant contact, ContactForce), or use simulate."
        )
    if not method.one_step:
        raise UsageError(
            f"{WHO} does not take {type(method).__name__}, which uses data of earlier steps: give RK4(), RKMK4(), DormandPrince() or "
            "another method whose steps depend on the state alone."
        )
