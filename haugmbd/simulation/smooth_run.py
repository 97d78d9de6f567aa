r"""Short runs of one model, one after the other in one workspace: control, fits, batches and notebooks make thousands of them.

A run is its steps, and what is examined behind them: turns, violations, angles that are not known, breaks of drivers, singular
configurations. Where nothing else can happen, and nothing of it is found, the loop of `stepping.run` has nothing to do, and the objects
that it needs for the other cases are not made:

    nothing switches, no block is called, no function of the user in Python, no event, sensor, budget or given times
    methods of the default: NewtonEuler with the default Projection, and an explicit method of fixed step, for LONGEST steps or fewer

A run that meets anything else is given up, and made by the loop, as are all later ones of the model. It calls no function of the user in
Python, so that nobody sees it twice.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.records import new_record
from haugmbd.compiled.status_codes import OK
from haugmbd.diagnostics.run_warnings import (
    LARGEST_GAP,
    Outcome,
    RunStatus,
    TurnMonitor,
    end_of_run,
    singular_notes,
    violation_notes,
)
from haugmbd.integrators.explicit.runge_kutta import Explicit
from haugmbd.integrators.singularities.singularity_crossing import CrossingSearch, batches_across
from haugmbd.integrators.singularities.singularity_search import SingularSearch, may_be_singular
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import OPTIONS
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.integrators.watches.event_watch import NO_EVENTS
from haugmbd.integrators.watches.rank_watch import NO_WATCH
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.inspection.row_gaps import largest_gap
from haugmbd.model.model import MOST_KEPT, Model
from haugmbd.simulation.results.records import Recorded, counters_of_steps
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION
from haugmbd.simulation.stepping.state_memory import need_memory_for_states
from haugmbd.system.checks.constraint_residuals import has_branches
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.system.checks.known_turns import DRIFTED, counts_turns, gaps_beyond

LONGEST = 1000
"""Steps of a run beyond which the loop makes it, whose cost is then little beside them: it ends soon after Ctrl-C."""


class Suited(NamedTuple):
    """What a model needs behind its steps, decided once.

    smooth: whether nothing switches, and no function of the user is called in Python;  singular: whether rows may become dependent
    turns: whether the state counts turns;  breaks: whether a joint is driven by a function of time;  branches: whether a motion can leave
    its branch, or a table, without a violation
    """

    smooth: bool
    singular: bool
    turns: bool
    breaks: bool
    branches: bool


@once_per_model
def suited(model: Model) -> Suited:
    """Return what a model needs behind its steps."""
    callbacks = model.force_callbacks
    called = callbacks.any and not callbacks.compiled
    switches = model.has_contacts or model.has_stops or may_stick(model) or bool(model.contacts)
    switches = switches or any(entry.load.impulsive for entry in model.loads)
    smooth = not (called or switches or model.network is not None) and model.tables.work_size <= MOST_KEPT
    smooth = smooth and not any(entry.part.unilateral for entry in model.joints.values())
    branches = has_branches(model) or has_ranges(model)
    return Suited(smooth, may_be_singular(model), counts_turns(model), bool(driven_joints(model)), branches)


def needs_steps_alone(model: Model) -> bool:
    """Return whether nothing is left to be examined behind the steps of a model but turns and violations, and it calls no user."""
    needs = suited(model)
    looks = needs.singular or needs.turns or needs.breaks or needs.branches
    return needs.smooth and not (looks or model.force_callbacks.any)


class GroupSteps(NamedTuple):
    """The steps of one run that were made beside those of others.

    t: (nt,) times, the start among them;  y: (nt, ny) states;  options: (.,) the counters;  gap: the largest of the last state
    """

    t: Array
    y: Array
    options: Array
    gap: float


class StepsMade(NamedTuple):
    """The steps of a run: t (nt,), y (nt, ny), the start among them, and the turns of its joints in them.

    interrupted: whether Ctrl-C has ended them
    """

    t: Array
    y: Array
    turns: TurnMonitor
    accepted: int
    rejected: int
    interrupted: bool


def ended(status: RunStatus, t: float, t_end: float, notes: tuple[Any, ...] = ()) -> Outcome:
    """Return how a run ended at t [s]."""
    return Outcome(status, end_of_run(status, f"at t = {t:.9g} s", t_end), notes)


class Idle:
    """The workspaces of a model that nobody uses now, one for each thread that has made runs at the same time.

    given_up: whether a run was given up
    """

    def __init__(self) -> None:
        self.runs: list[SmoothRun] = []
        self.given_up = False


@once_per_model
def idle_runs(model: Model) -> Idle:
    """Return the workspaces of a model that nobody uses now."""
    return Idle()


def is_short(method: Any, span: float) -> bool:
    """Return whether a method is one of those whose short runs are made here, and a run over `span` [s] is short."""
    return isinstance(method, Explicit) and method.h_first is None and span <= LONGEST * (method.h or 0.0)


def short_run(
    model: Model,
    method: Any,
    formulation: Any,
    rule: Any,
    start: Any,
    t_end: float,
    reals: Array | None = None,
    made: GroupSteps | None = None,
) -> Recorded | None:
    """Return what a run records, made in a workspace that is used again; None if the loop has to make it.

    reals: constants in place of those of the model, with other loads and another gravity;  made: its steps, if they are made already
    """
    if (
        formulation is not NEWTON_EULER
        or rule is not PROJECTION
        or not is_short(method, t_end - start.t)
        or not suited(model).smooth
    ):
        return None
    idle = idle_runs(model)
    if idle.given_up:
        return None
    need_memory_for_states((t_end - start.t) / method.h, model.y0.size)
    try:
        run = idle.runs.pop()
    except IndexError:
        run = SmoothRun(model)
    if made is None:
        recorded = run.recorded(method, start.t, start.flat, t_end, reals)
    else:
        recorded = run.examined(method, made, t_end, reals)
    idle.runs.append(run)
    idle.given_up = recorded is None
    return recorded


class SmoothRun:
    """A workspace for short runs of one model by the default methods."""

    def __init__(self, model: Model) -> None:
        self.model, self.needs = model, suited(model)
        self.pack = pack = NEWTON_EULER.pack(model)
        self.new_work = pack.work.copy()
        space = MaximalStateSpace(model)
        self.problem = PROJECTION.problem(space, pack, 0.0, np.zeros(model.y0.size))
        self.names, self.columns = space.spinning()
        self.length = model.length
        self.search = SingularSearch(model, pack.callback) if self.needs.singular else None

    def recorded(self, method: Any, t: float, y: Array, t_end: float, reals: Array | None = None) -> Recorded | None:
        """Return what a run from the state y (ny,) at t [s] records, with these constants; None if the loop has to make it."""
        began, p = time.process_time(), self.problem
        p.pack = self.pack if reals is None else self.pack._replace(reals=reals)
        p.pack.work[:] = self.new_work
        p.t, p.y[:], p.options = t, y, PROJECTION.options()
        p.longest_batch, p.watch, p.events, p.watched = None, NO_WATCH, NO_EVENTS, None
        p.singular_crossings, p.near_singular = [], []
        if self.needs.turns and gaps_beyond(self.model, y[None], DRIFTED) is not None:
            return None
        k1, turns, batches = np.zeros(y.size), TurnMonitor(self.names, self.columns), list[StepBatch]()
        self._gap = (0.0, "", t)
        try:
            if p.post_step(p.pack, p.options, t, p.y, k1) != OK:  # the first one may compile for seconds
                return None
        except KeyboardInterrupt:
            p.y[:], interrupted = y, True
        else:
            interrupted = False
        first = p.y[None].copy()
        turns.start(np.array([t]), first)
        if not interrupted:
            search = None if self.search is None else CrossingSearch(self.model, p, t_end, self.search.again())
            batches, interrupted = self._batches(method, k1, t_end, search, turns)
        if not (batches or interrupted):
            return None
        times, states = np.concatenate([[t], *(b.t for b in batches)]), np.concatenate([first, *(b.y for b in batches)])
        accepted, rejected = sum(b.accepted for b in batches), sum(b.rejected for b in batches)
        return self._record(method, t_end, StepsMade(times, states, turns, accepted, rejected, interrupted), began)

    def examined(self, method: Any, made: GroupSteps, t_end: float, reals: Array | None = None) -> Recorded | None:
        """Return what a run records whose steps are made; None if the loop has to make it."""
        began, p = time.process_time(), self.problem
        p.pack = self.pack if reals is None else self.pack._replace(reals=reals)
        options = dict(zip(OPTIONS.names or (), made.options.tolist(), strict=True))
        p.t, p.y[:], p.options = made.t[-1], made.y[-1], new_record(OPTIONS, **options)
        p.watched, p.singular_crossings, p.near_singular = None, [], []
        p.stiffness(known=False)
        if made.gap > LARGEST_GAP or (self.needs.turns and gaps_beyond(self.model, made.y[:1], DRIFTED) is not None):
            return None
        turns = TurnMonitor(self.names, self.columns)
        turns.start(made.t[:1], made.y[:1])
        turns.observe(made.t[1:], made.y[1:])
        self._gap = (made.gap, "", float(made.t[-1])) if made.gap > 0.0 else (0.0, "", float(made.t[0]))
        return self._record(method, t_end, StepsMade(made.t, made.y, turns, len(made.t) - 1, 0, interrupted=False), began)

    def _record(self, method: Any, t_end: float, made: StepsMade, began: float) -> Recorded | None:
        """Return what a run records of its steps; None if the loop has to judge its states;  began: CPU time [s] at its start"""
        p, gap = self.problem, self._gap
        if self._is_doubtful(made.t, made.y, method):
            return None
        counters = counters_of_steps(made.accepted, made.rejected, p.options, time.process_time() - began)
        notes = made.turns.notes(fixed=method.step is not None) + violation_notes(*gap) + singular_notes((), p.near_singular)
        status = RunStatus.INTERRUPTED if made.interrupted else RunStatus.COMPLETED
        outcome = ended(status, float(made.t[-1]), t_end, tuple(notes))
        return Recorded(made.t, made.y, None, None, None, {}, counters, outcome, (), (), 0.0, None, p.watched)

    def _batches(
        self, method: Any, k1: Array, t_end: float, search: CrossingSearch | None, turns: TurnMonitor
    ) -> tuple[list[StepBatch], bool]:
        """Return the batches of a run, none if one of them is not plain, and whether Ctrl-C has ended it.

        Their turns and the largest violation are noted.
        """
        p, batches = self.problem, list[StepBatch]()
        self._gap = (0.0, "", p.t)
        source = method.batches(p, k1, t_end) if search is None else batches_across(method, p, k1, t_end, search)
        try:
            for batch in source:
                if batch.code != OK or not len(batch.t) or batch.curve is not None or p.singular_crossings:
                    return [], False
                turns.observe(batch.t, batch.y)
                gap = largest_gap(p.pack, self.length)[0]
                if gap > self._gap[0]:
                    joint = p.state_space.worst_gap(p.pack)[1] if gap > LARGEST_GAP else ""
                    self._gap = (gap, joint, float(batch.t[-1]))
                batches.append(batch)
        except KeyboardInterrupt:
            return batches, True
        return batches, False

    def _is_doubtful(self, t: Array, y: Array, method: Any) -> bool:
        """Return whether something is found in the states y (nt, ny) at t (nt,) that the loop has to judge."""
        space, needs = self.problem.state_space, self.needs
        if needs.turns and gaps_beyond(self.model, y, DRIFTED) is not None:
            return True
        if needs.breaks and space.broken(t) is not None:
            return True
        return needs.branches and bool(space.wrong_branch(t, y))
