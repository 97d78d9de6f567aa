r"""The interface of explicit integrators and formulations: two routines, called by address.

    rates(P, options, t, y, y_dot)     y_dot = f(t, y), at any y
    post_step(P, options, t, y, y_dot) at the end of a step: correct y, then y_dot = f(t, y)

A stabilization is such a pair.  `post_step` always normalizes the Euler parameters and records their drift.
`Options` contains its parameters, then the counters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import F1, Routine, function_type, resolve, types
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.numba_names import typeof_impl
from haugmbd.compiled.records import copy_record, new_record, record_dtype, record_type
from haugmbd.compiled.selection import select
from haugmbd.compiled.status_codes import NOT_FINITE, OK, report
from haugmbd.integrators.state_space import NearSingular, SingularCrossing, StateSpace
from haugmbd.integrators.watches.event_watch import EVENT_WATCH_TYPE, NO_EVENTS, EventWatch, watch_events
from haugmbd.integrators.watches.rank_watch import NO_WATCH, WATCH_TYPE, RankWatch, watch_step
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch, new_watch
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_kernels import normalize
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, WIDTH, Pack


class Options:
    """The parameters of a stabilization, then the counters of a run."""

    tolerance: float  # largest |Phi| and |Phi_q u - nu| that a projection leaves alone
    in_metres: float  # 1 where the tolerance is, 0 where lengths are measured by that of the model
    every: float  # steps from projection to projection
    threshold: float  # a violation below it is left alone
    levels: float  # which levels are projected
    energy_tolerance: float
    alpha: float  # Baumgarte's gains [1/s]
    beta: float
    # counters
    max_euler_drift: float  # largest and summed drift of |p| in a step
    sum_euler_drift: float
    n_rates: float
    n_factorizations: float
    n_projections: float
    n_since_projection: float  # steps; infinite where the next state is projected whatever the parameters say, as at the start
    # of the energy projection
    energy: float  # at the start; NaN before
    max_energy: float
    max_twice_kinetic: float  # the largest 2 T so far
    max_gradient: float  # the largest w^T M w so far
    energy_restored: float  # sum over the steps: what the energy would have drifted by without the projection
    max_energy_restored: float  # the largest size of this sum so far


PARAMETERS = ("tolerance", "every", "threshold", "levels", "energy_tolerance", "alpha", "beta")
OPTIONS = record_dtype(Options)
OPTIONS_TYPE = record_type(OPTIONS)
SIGNATURE = types.int64(PACK_TYPE, OPTIONS_TYPE, types.float64, F1, F1)


NO_COLUMNS = np.zeros(0, dtype=np.int64)


@dataclass
class Problem:
    """The data that an integrator advances: state space, workspace, the two routines, the options, and the current time and state.

    first_batch: steps of the first batch, where the run may end soon; None for as many as possible
    longest_batch: largest number of steps of a batch; None for as many as possible
    batch_seconds: time that a batch may take, about, where a run has a limited time; None for no limit
    singular_crossings: singular configurations that the run has crossed
    near_singular: those that it passed, and that are singular up to a small gap, or that its steps did not resolve
    watch: for rows that are about to become dependent;  events: for places where a force changes its law
    modes_before: modes (nf, columns) of joints with friction at the end of the run that this one continues, None without
    slips: modes (nf, columns) of joints with friction that have begun to slip at the start, None without;  slipped: those that do
    """

    state_space: StateSpace
    pack: Pack
    rates: Routine
    post_step: Routine
    options: Options
    t: float
    y: Array
    first_batch: int | None = None
    longest_batch: int | None = None
    batch_seconds: float | None = None
    singular_crossings: list[SingularCrossing] = field(default_factory=list)
    near_singular: list[NearSingular] = field(default_factory=list)
    watch: RankWatch = NO_WATCH
    events: EventWatch = NO_EVENTS
    modes_before: Array | None = None
    slips: Array | None = None
    slipped: list[int] = field(default_factory=list)
    _stages: Array | None = field(default=None, init=False, repr=False)
    watched: StiffnessWatch | None = field(default=None, init=False, repr=False)
    """What an explicit method of fixed step has noted of its steps."""

    def beside(self, t: float, y: Array) -> Problem:
        """Return the same problem at another state, for a step beside those of the run: it looks at no events, and notes nothing."""
        other: Problem = object.__new__(Problem)
        vars(other).update(vars(self), t=t, y=y, events=NO_EVENTS)
        other.watched = new_watch(NO_COLUMNS, self.y.size)
        return other

    def stages(self, s: int) -> Array:
        """Return an array (s, ny) for the rates of stages: the same one each time, since a large array is not free."""
        if self._stages is None or self._stages.shape != (s, self.y.size):
            self._stages = np.zeros((s, self.y.size))
        return self._stages

    def stiffness(self, known: bool) -> StiffnessWatch:
        """Return the watch of how accelerations depend on velocities; of no column where the method or the model has none."""
        if self.watched is None:
            watches = known and self.state_space.may_be_stiff()
            self.watched = new_watch(self._velocities() if watches else NO_COLUMNS, self.y.size)
        return self.watched

    def _velocities(self) -> Ints:
        """Return the columns of velocities in the flat state."""
        places = self.state_space.places()
        spins = [places.spins[:, 1] + a for a in range(3)] if len(places.spins) else []
        columns: Ints = np.concatenate([places.slides[:, 1], *spins])
        return columns

    @property
    def dynamics(self) -> Dynamics:
        """The system that compiled steppers integrate."""
        return new_dynamics(self.rates, self.post_step, self.pack, self.watch, self.events)


def make_options(**parameters: float) -> Options:
    """Return options with these parameters, and counters at zero."""
    options: Options = new_record(OPTIONS, n_since_projection=np.inf, energy=np.nan, **parameters)
    return options


def copy_options(options: Options) -> Options:
    """Return a copy of the options."""
    copy: Options = copy_record(options)
    return copy


def restore_memory(options: Options, before: Options) -> None:
    """Restore the memory of a stabilization; the counters stay."""
    for name in ("n_since_projection", "energy", "max_energy", "max_twice_kinetic", "max_gradient"):
        setattr(options, name, getattr(before, name))


def post_step_each(post_step: Routine, pack: Pack, options: Options, t: Array, y: Array) -> tuple[int, int]:
    """Apply the stabilization to states y (k, ny) at t (k,), in place; return the code and the number of states done."""
    options, y_dot = copy_options(options), np.zeros(y.shape[1])
    for k in range(len(t)):
        options.n_since_projection = np.inf
        code = post_step(pack, options, t[k], y[k], y_dot)
        if code != OK:
            return code, k
    return OK, len(t)


@kernel
def fastest_velocity(bodies: Array, length: float) -> float:
    """Return the largest component of u, lengths divided by `length` [m]."""
    fastest = 0.0
    for k in range(1, bodies.shape[0]):
        for a in range(6):
            fastest = max(fastest, abs(bodies[k, VELOCITY + a]) / (length if a < 3 else 1.0))
    return fastest


NOTHING = 1e-100
"""[m, rad, per s] Numbers of a state below it become zero: what a projection leaves across the plane of a mechanism falls by the digits of
rounding in every step, to denormal numbers, with which processors compute a hundred times as slowly."""


@kernel
def normalize_euler(P: Pack, options: Options, y: Array) -> None:
    """Normalize p <- p / |p| for every body, and record the drift; set numbers that are nothing to zero."""
    n = ws.n_bodies(P)
    bodies = borrow(y, 0, n, WIDTH)
    worst = 0.0
    for k in range(1, n):
        for a in range(WIDTH):
            bodies[k, a] = select(abs(bodies[k, a]) < NOTHING, 0.0, bodies[k, a])
        worst = max(worst, abs(normalize(bodies[k, EULER:VELOCITY])))
    options.max_euler_drift = max(options.max_euler_drift, worst)
    options.sum_euler_drift += worst


class Dynamics(NamedTuple):
    """The system that a compiled stepper integrates: the two routines of a stabilization, the model, and the watches of rows and events."""

    rates: Routine
    post_step: Routine
    pack: Pack
    watch: RankWatch
    events: EventWatch


def new_dynamics(
    rates: Routine, post_step: Routine, pack: Pack, watch: RankWatch = NO_WATCH, events: EventWatch = NO_EVENTS
) -> Dynamics:
    """Return the system, with all functions compiled that steppers call."""
    resolve(rates, post_step, pack, watch.pack, events.look, events.pack)
    return Dynamics(rates, post_step, pack, watch, events)


class Point(NamedTuple):
    """The current y and y' (ny,) of a stepper, advanced in place."""

    y: Array
    y_dot: Array


class Steps(NamedTuple):
    """Accepted steps in arrays of fixed length: times (n,), states and their rates (n, ny)."""

    t: Array
    y: Array
    y_dot: Array


ROUTINE_TYPE = function_type(SIGNATURE)
DYNAMICS_TYPE = types.NamedTuple((ROUTINE_TYPE, ROUTINE_TYPE, PACK_TYPE, WATCH_TYPE, EVENT_WATCH_TYPE), Dynamics)


@typeof_impl.register(Dynamics)  # type: ignore[untyped-decorator]
def dynamics_type(dynamics: Dynamics, context: Any) -> Any:
    """Return the one type of all Dynamics."""
    return DYNAMICS_TYPE


def empty_steps(n: int, ny: int) -> Steps:
    """Return arrays for n steps."""
    return Steps(np.empty(n), np.empty((n, ny)), np.empty((n, ny)))


def steps_to(ends: Array, ny: int) -> Steps:
    """Return arrays for steps that end at the times `ends` (n,)."""
    return Steps(ends, np.empty((len(ends), ny)), np.empty((len(ends), ny)))


@inlined
def start_of(step: int, t0: float, steps: Steps) -> float:
    """Return the time at which a step of a method with fixed steps begins; t0: that of the first."""
    return steps.t[step - 1] if step > 0 else t0


@kernel
def end_step(dynamics: Dynamics, options: Options, t: float, new: Array, point: Point, y_dot: Array) -> int:
    """End a step of fixed length at (t, new): apply the stabilization, and advance the point; y_dot: y' there, for dense output.

    Explicit, Lie and half-explicit methods end their steps by this routine.
    """
    code = check_finite(dynamics.pack, new)
    if code == OK:
        code = dynamics.post_step(dynamics.pack, options, t, new, point.y_dot)
    if code == OK:
        copy_line(new, point.y)
        copy_line(point.y_dot, y_dot)
    return code


@kernel
def ends_batch(dynamics: Dynamics, t: float, h: float, point: Point) -> bool:
    """Look at rows and events at the end (t, point) of a step, before one of h; return whether the steps end here, to be searched."""
    rows = watch_step(dynamics.pack, dynamics.watch, t, h, point.y, point.y_dot)
    return watch_events(dynamics.events, t, point.y, point.y_dot) or rows


@kernel
def check_finite(P: Pack, y: Array) -> int:
    """Return OK, or NOT_FINITE with the first number that is not finite."""
    for k in range(y.size):
        if not isfinite(y[k]):
            return report(ws.status(P), NOT_FINITE, k, y[k])
    return OK
