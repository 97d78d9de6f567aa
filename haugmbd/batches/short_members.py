r"""Short runs of many members of a batch in one call of compiled code, in one workspace: what `simulation.smooth_run` makes one by one.

    start    the state is sound, and its gaps and their rates are far below their tolerances          else the member is made alone
    run      post_step, then the kernel of `integrators.explicit.runge_kutta` to t_end, in a workspace as new and with counters at zero
    end      rotations in a step and violation are small                                              else the member is made alone

A member is taken where nothing can be said of it but that it has reached its end: whatever has a warning, a fault or a failure is made
by the road of one member, with its words.  The numbers are those of that road, bit by bit.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.diagnostics.run_warnings import LARGEST_GAP, LARGEST_TURN, RunStatus, turns_entry
from haugmbd.integrators.explicit.runge_kutta import RungeKutta, ends_of_steps, run_entry
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.step_batch import NUMBERS, most_steps
from haugmbd.integrators.step_context import Dynamics, Options, Point, Steps
from haugmbd.integrators.watches.event_watch import NO_EVENTS
from haugmbd.integrators.watches.rank_watch import NO_WATCH
from haugmbd.integrators.watches.stiffness_watch import SAMPLES, StiffnessWatch
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.inspection.row_gaps import worst_of_rows
from haugmbd.model.model import Model
from haugmbd.simulation.results.records import Counters, Recorded
from haugmbd.simulation.run_options import PROJECTION
from haugmbd.simulation.smooth_run import SmoothRun, ended, idle_runs, is_short, needs_steps_alone
from haugmbd.simulation.stepping.state_memory import need_memory_for_states
from haugmbd.system.checks.constraint_residuals import states_that_hold

DONE, STEPS, RATES, FACTORIZATIONS, PROJECTIONS, LARGEST_DRIFT, SUM_OF_DRIFTS = range(7)
"""Columns of what is told of a member: whether it is done, and its counters."""


def _plain(compiled: Any) -> Any:
    """Return the Python function of an entry, to be part of another one."""
    return getattr(compiled, "py_func", compiled)


make_steps = kernel(_plain(run_entry))
note_turns = kernel(_plain(turns_entry))


class Grid(NamedTuple):
    """The steps of all members: they begin at `first` (1,), h long, and end at `ends` (n,); one of `rest` follows, from `before_rest` to
    `last` (1,), or (0,) where there is none.
    """

    first: Array
    h: float
    ends: Array
    before_rest: float
    rest: float
    last: Array


class Members(NamedTuple):
    """What members differ in, and what is kept of them, a row each.

    starts: (N, ny);  reals: (N, m) constants, which stand at `places` (m,);  holds: (N,) whether the starts hold
    y: (N, 1 + steps, ny) states;  told: (N, 7), see DONE
    counts, t, h, y_stiff: what their watches of stiffness have noted, see `stiffness_watch`
    """

    starts: Array
    places: Ints
    reals: Array
    holds: Any
    y: Array
    told: Array
    counts: Array
    t: Array
    h: Array
    y_stiff: Array


class Room(NamedTuple):
    """Room for one member: a workspace as new;  rates at the ends of its steps;  those of stages;  the largest turns of its bodies."""

    new_work: Array
    y_dot: Array
    k: Array
    largest: Array


@kernel
def begin_counters(options: Options, fresh: Options) -> None:
    """Set the counters to those of a new run."""
    options.max_euler_drift, options.sum_euler_drift = fresh.max_euler_drift, fresh.sum_euler_drift
    options.n_rates, options.n_factorizations = fresh.n_rates, fresh.n_factorizations
    options.n_projections, options.n_since_projection = fresh.n_projections, fresh.n_since_projection
    options.energy, options.max_energy = fresh.energy, fresh.max_energy
    options.max_twice_kinetic, options.max_gradient = fresh.max_twice_kinetic, fresh.max_gradient
    options.energy_restored, options.max_energy_restored = fresh.energy_restored, fresh.max_energy_restored


@kernel
def begin_workspace(work: Array, room: Room) -> None:
    """Make a workspace as new, and the room for turns that of a run that begins."""
    for a in range(work.size):
        work[a] = room.new_work[a]
    for k in range(room.largest.shape[0]):
        room.largest[k, 0], room.largest[k, 1], room.largest[k, 2], room.largest[k, 3] = 0.0, 1.0, 0.0, 0.0


@kernel
def run_member(
    dynamics: Dynamics,
    options: Options,
    tableau: Tableau,
    stiffness: StiffnessWatch,
    grid: Grid,
    length: float,
    point: Point,
    y: Array,
    room: Room,
) -> int:
    """Run one member from the point to its end, with its states in y (1 + steps, ny); return the number of its steps.

    0 if it fails, or is violated at the end: its road is then that of one member.
    """
    P, n = dynamics.pack, grid.ends.size
    # the stabilization is applied to the start
    if dynamics.post_step(P, options, grid.first[0], point.y, point.y_dot) != OK:
        return 0
    copy_line(point.y, y[0])
    # the steps of h
    steps = Steps(grid.ends, y[1 : n + 1], room.y_dot)
    code, done = make_steps(dynamics, options, tableau, stiffness, grid.first[0], grid.h, point, room.k, steps)
    if code != OK or done < n or (n > 0 and not worst_of_rows(P, length)[0] <= LARGEST_GAP):
        return 0
    if grid.last.size == 0:
        return n
    # the step of the rest
    steps = Steps(grid.last, y[n + 1 : n + 2], room.y_dot)
    code, done = make_steps(dynamics, options, tableau, stiffness, grid.before_rest, grid.rest, point, room.k, steps)
    return n + 1 if code == OK and done == 1 and worst_of_rows(P, length)[0] <= LARGEST_GAP else 0


@kernel
def has_turned_far(grid: Grid, columns: Ints, y: Array, largest: Array) -> bool:
    """Return whether a body has rotated too far in a step of a run with the states y (1 + steps, ny)."""
    n = grid.ends.size
    t = note_turns(grid.first, y[:1], columns, np.nan, largest)
    t = note_turns(grid.ends, y[1 : n + 1], columns, t, largest)
    note_turns(grid.last, y[n + 1 :], columns, t, largest)
    for k in range(largest.shape[0]):
        if largest[k, 0] > LARGEST_TURN:
            return True
    return False


@released
def members_entry(
    dynamics: Dynamics,
    options: Options,
    fresh: Options,
    tableau: Tableau,
    velocities: Ints,
    spins: Ints,
    grid: Grid,
    length: float,
    members: Members,
    point: Point,
    room: Room,
) -> int:
    """Run members one after the other, and tell which are done; return their number.

    velocities: columns that the watch of stiffness reads;  spins: (nb, 3) columns of the angular velocities
    """
    P, count = dynamics.pack, 0
    for k in range(members.starts.shape[0]):
        told = members.told[k]
        told[DONE] = 0.0
        for a in range(members.places.size):
            P.reals[members.places[a]] = members.reals[k, a]
        if not members.holds[k]:
            continue
        begin_workspace(P.work, room)
        begin_counters(options, fresh)
        for a in range(point.y.size):
            point.y[a], point.y_dot[a] = members.starts[k, a], 0.0
        stiffness = StiffnessWatch(velocities, members.counts[k], members.t[k], members.h[k], members.y_stiff[k])
        steps = run_member(dynamics, options, tableau, stiffness, grid, length, point, members.y[k], room)
        if steps == 0 or has_turned_far(grid, spins, members.y[k], room.largest):
            continue
        told[DONE], told[STEPS], told[RATES] = 1.0, steps, options.n_rates
        told[FACTORIZATIONS], told[PROJECTIONS] = options.n_factorizations, options.n_projections
        told[LARGEST_DRIFT], told[SUM_OF_DRIFTS] = options.max_euler_drift, options.sum_euler_drift
        count += 1
    return count


run_members = DirectCall(members_entry)


class ShortMembers:
    """The short runs of one model from one time to another; None of them where `of` says so.

    size: members of one call, so that Ctrl-C and progress are seen in time
    """

    def __init__(self, model: Model, method: RungeKutta, t: float, t_end: float) -> None:
        assert method.h is not None
        self.model, self.method, self.t_end = model, method, t_end
        ends, rest = ends_of_steps(t, t_end, method.h)
        last = np.array([t_end]) if rest > 0.0 else np.zeros(0)
        self.grid = Grid(np.array([t]), method.h, ends, t + len(ends) * method.h, rest, last)
        self.t = np.concatenate([self.grid.first, ends, last])
        self.outcome = ended(RunStatus.COMPLETED, t_end, t_end)
        self.size = max(1, NUMBERS // (model.y0.size * (len(self.t) + SAMPLES)))

    @classmethod
    def of(cls, model: Model, method: Any, t: Array, t_end: float) -> ShortMembers | None:
        """Return the runs of members that begin at t (N,); None where they may need more than steps."""
        short = isinstance(method, RungeKutta) and is_short(method, t_end - float(t[0])) and (t == t[0]).all()
        if not (short and model.nb and needs_steps_alone(model)):
            return None
        found = cls(model, method, float(t[0]), t_end)
        return found if found.grid.ends.size <= most_steps(model.y0.size) else None

    def run(self, starts: Array, places: Ints, reals: Array) -> list[Recorded | None]:
        """Return what the runs from the states (N, ny) record, with constants (N, m) at these places; None for one that is made alone."""
        idle, count = idle_runs(self.model), len(starts)
        need_memory_for_states(float(count * len(self.t)), self.model.y0.size)
        try:
            buffers = idle.runs.pop()
        except IndexError:
            buffers = SmoothRun(self.model)
        began = time.process_time()
        members, watch = self._members(buffers, starts, places, reals)
        self._enter(buffers, members, watch)
        idle.runs.append(buffers)
        cpu = (time.process_time() - began) / count
        return [self._recorded(members, watch, k, cpu) if members.told[k, DONE] else None for k in range(count)]

    def _members(self, own: SmoothRun, starts: Array, places: Ints, reals: Array) -> tuple[Members, StiffnessWatch]:
        """Return the arrays of members, and the watch of stiffness of one, in the problem of a workspace as new."""
        p, b = own.problem, self.method.tableau.b
        p.pack = own.pack._replace(reals=own.pack.reals.copy()) if places.size else own.pack
        p.t, p.options, p.watch, p.events, p.watched = self.t[0], PROJECTION.options(), NO_WATCH, NO_EVENTS, None
        watch = p.stiffness(bool(b.size > 1 and self.method.tableau.c[-1] == 1.0))
        count, ny, kept = len(starts), starts.shape[1], len(watch.t)
        holds = states_that_hold(self.model, np.full(count, self.t[0]), starts)
        states, stiff = np.empty((count, len(self.t), ny)), np.zeros((count, kept, ny))
        noted = np.zeros((count, len(watch.counts))), np.zeros((count, kept)), np.zeros((count, kept))
        return Members(starts, places, reals, holds, states, np.zeros((count, SUM_OF_DRIFTS + 1)), *noted, stiff), watch

    def _enter(self, own: SmoothRun, members: Members, watch: StiffnessWatch) -> None:
        """Make the runs."""
        p, tableau = own.problem, self.method.tableau
        y_dot, largest = np.empty((len(self.t), p.y.size)), np.zeros((len(own.names), 4))
        room, point = Room(own.new_work, y_dot, p.stages(tableau.b.size - 1), largest), Point(p.y, np.zeros(p.y.size))
        options = p.options, PROJECTION.options()
        run_members(p.dynamics, *options, tableau, watch.columns, own.columns, self.grid, self.model.length, members, point, room)

    def _recorded(self, members: Members, watch: StiffnessWatch, k: int, cpu: float) -> Recorded:
        """Return what the run of a member records."""
        told = members.told[k]
        steps, rates, factorizations, projections = (int(told[n]) for n in (STEPS, RATES, FACTORIZATIONS, PROJECTIONS))
        drifts = float(told[LARGEST_DRIFT]), float(told[SUM_OF_DRIFTS])
        counters = Counters(steps, 0, rates, factorizations, projections, *drifts, cpu)
        own = StiffnessWatch(watch.columns, members.counts[k], members.t[k], members.h[k], members.y_stiff[k])
        return Recorded(self.t, members.y[k], None, None, None, {}, counters, self.outcome, (), (), 0.0, None, own)
