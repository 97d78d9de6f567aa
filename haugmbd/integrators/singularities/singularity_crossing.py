r"""Crossing of singular configurations, in the same way for every integrator and formulation, by one driver above them.

    watch      whether rows are about to become dependent, see `rank_watch`; methods that do not watch search after some motion
    search     where the motion reaches a singular configuration t*, see `singularity_search`
    cut        steps nearer to it than APART are discarded
    cross      the smooth motion from there to the other side, as polynomials, see `branch_crossing`
    restart    the integrator begins again behind it

A run that ends beside a singular configuration is crossed there, too, and the crossing is cut at its end: near to it a step is inaccurate.
This needs the motion beyond the end, and is done where no driver and no function of the user would have to be evaluated there.  Otherwise
the run says that it ends beside a singular configuration.

The integrator crosses a singular configuration when the incoming velocity selects a unique continuation.  This is so where the smallest
singular value of the rows grows like |t - t*| along the motion: the branches then separate at first order.  Each crossing is verified:
its polynomial shows its own error, or two curves of different pieces agree; it fulfils Phi = 0 at t* itself (it does not where two
branches pass each other at a small distance); sigma(t* +- w) is twice sigma(t* +- w / 2).  If one of these tests fails, the integrator
continues without a crossing, or the run stops with the error that stopped it.
Source: Haug 2021, sec. 3.7 (singular configurations, branches); Rheinboldt (1978) (regular bifurcation points).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import log

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OFF_MANIFOLD, OK, SINGULAR, STEP_TOO_SMALL, USER_STOPPED
from haugmbd.drivers import Constant
from haugmbd.errors import SimulationError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.event_location import Moment, step_to
from haugmbd.integrators.singularities.branch_crossing import (
    AT_ONCE,
    BOTH,
    BY_HALVES,
    EXACT,
    BranchCrossing,
    Crossing,
    CrossingStart,
    Ways,
    crossing_batch,
)
from haugmbd.integrators.singularities.branch_selection import BranchSelection
from haugmbd.integrators.singularities.near_singular import NearSingularities, StepsTaken
from haugmbd.integrators.singularities.run_motion import Way
from haugmbd.integrators.singularities.singularity_search import SPACING, SingularCandidate, SingularSearch, may_be_singular
from haugmbd.integrators.singularities.smooth_branch import SmoothBranch
from haugmbd.integrators.state_space import MaximalStateSpace, NearSingular
from haugmbd.integrators.step_batch import StepBatch, split_multipliers
from haugmbd.integrators.step_context import Problem, copy_options, restore_memory
from haugmbd.integrators.watches.rank_watch import NO_WATCH, STEPS_AHEAD, new_watch
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model

APART = 0.15
"""[rad, or parts of the size] Motion between the last step that is kept and the singular configuration."""
FAR_APART = 0.3
"""Motion from the last step that is kept: a longer one is shortened by another step."""
NEAR = 0.2
"""Motion: a singular configuration at most this far ahead is crossed now."""
NEAR_AFTER = 0.35
"""The same where rows are watched, so that a singular configuration is found at once."""
SAME_PLACE = 0.01
"""Mean motion within which a place is one that was refused before: as well as it is located, and much less than SPACING."""
BEYOND = 0.02
"""Motion from the end of the run to a singular configuration that is taken into account."""
FEWEST = 4
"""Steps of a batch that is searched, unless a singular configuration is ahead."""
STEPS_SEARCHED, EXPECTED = 2, 0.1
"""States before rows are about to become dependent that are searched, where steps watch them, and motion between samples there."""
UNLIMITED = 10**6
"""Steps of a batch that are no limit: batches are shorter in any case."""
FIRST = 0.25
"""First step behind a crossing, relative to the longest of the last steps before it."""
PLUNGE = 30.0
"""Fall of the smallest singular value in the last step, beyond which its end is singular."""
STOPS = (SINGULAR, STEP_TOO_SMALL, OFF_MANIFOLD, NO_CONVERGENCE)
"""Codes with which a singular configuration may stop a run."""


ATTEMPTS = ((APART, AT_ONCE), (0.3, AT_ONCE), (0.6, AT_ONCE), (APART, BY_HALVES), (0.3, BY_HALVES), (0.6, BY_HALVES))
"""Motion before the singular configuration at which a run that has stopped may be crossed: its last steps may have gone astray."""


def crossing_search(problem: Problem, t_end: float) -> CrossingSearch | None:
    """Return the search for singular configurations of a run to `t_end`; None if its model has none."""
    if not isinstance(problem.state_space, MaximalStateSpace) or not may_be_singular(problem.state_space.model):
        return None
    return CrossingSearch(problem.state_space.model, problem, t_end)


def batches_across(
    method: Integrator, problem: Problem, k1: Array, t_end: float, driver: CrossingSearch | None = None
) -> Iterator[StepBatch]:
    """Yield the batches of `method`, and of the crossings of singular configurations between them.

    driver: the search of a run that continues behind `t_end`; by default a new one
    """
    driver = driver or crossing_search(problem, t_end)
    if driver is None:
        problem.events.begin(problem.t, problem.y, k1)
        yield from method.batches(problem, k1, t_end)
        return
    while problem.t < t_end:
        before = CrossingStart(problem.t, problem.y.copy(), k1.copy())
        driver.begin(before, method)
        problem.events.begin(*before)
        options = copy_options(problem.options)
        for batch in method.batches(problem, k1, t_end):
            crossing, kept = driver.find(before, batch, method)
            if crossing is not None and problem.pack.callback.error is None:
                h = driver.longest
                restore_memory(problem.options, options)
                restarted = driver.restart(crossing) if crossing.end.t <= t_end else crossing.end_at(t_end)
                if restarted is not None:
                    if len(kept.t) or batch.rejected:
                        yield kept
                    yield crossing_batch(crossing, restarted, method, batch)
                    if crossing.passed is not None and crossing.passed.t <= t_end:
                        problem.singular_crossings.append(crossing.passed)
                        if crossing.gap > EXACT:
                            problem.near_singular.append(NearSingular(*crossing.passed[:2], crossing.gap))
                    problem.t, problem.y[:], k1[:] = restarted
                    break
            if batch.code == OK and problem.pack.callback.error is None:
                problem.near_singular += driver.near_singular(before, batch)
            if batch.code in (OK, *STOPS) and problem.pack.callback.error is not None:
                batch = batch._replace(code=USER_STOPPED)  # in the attempt to cross
            yield batch
            if batch.code != OK:
                return
            if len(batch.t):
                before = CrossingStart(float(batch.t[-1]), batch.y[-1].copy(), batch.y_dot[-1].copy())
            options = copy_options(problem.options)
        else:
            return
        method = method.starting_with(method.step or FIRST * h)


@once_per_model
def is_autonomous(model: Model) -> bool:
    """Return whether nothing that is evaluated along the motion depends on time, or belongs to the user."""
    return not model.force_callbacks.any and all(isinstance(driver, Constant) for driver in model.drivers)


class _StepFailed(Exception):
    """The step to the start of a crossing failed."""


def _need(code: int, t: float) -> None:
    if code != OK:
        raise _StepFailed


def steps_of(before: CrossingStart, batch: StepBatch) -> StepsTaken:
    """Return the steps of a batch with the state before it."""
    t = np.concatenate([[before.t], batch.t])
    return StepsTaken(t, np.vstack([before.y[None], batch.y]), np.vstack([before.y_dot[None], batch.y_dot]))


class CrossingSearch:
    """The search for singular configurations in one run, and their crossing.  search: along its motion, by default a new one."""

    def __init__(self, model: Model, problem: Problem, t_end: float, search: SingularSearch | None = None) -> None:
        self.model, self.problem, self.t_end = model, problem, t_end
        self.horizon = np.inf if is_autonomous(model) else t_end
        self.search = SingularSearch(model, problem.pack.callback) if search is None else search
        self.near = NearSingularities(self.search, self._joints_at, t_end)
        self.refused: list[float] = []
        self.expected: list[float] = []
        self.longest = t_end - problem.t
        self.watch, self.is_watching = new_watch(len(model.tables["EDGES"]), self.search.pack, problem.y.size), False

    @cached_property
    def selection(self) -> BranchSelection:
        """The tests of what is singular, in the workspace of the search; most runs never need them."""
        return BranchSelection(self.model, self.search.pack, self.search.size)

    @cached_property
    def crossing(self) -> BranchCrossing:
        """The crossings, with a workspace that most runs never need."""
        return BranchCrossing(SmoothBranch(self.model, self.problem.pack.callback), self.selection, self.t_end, self.horizon)

    def begin(self, start: CrossingStart, method: Integrator) -> None:
        """Begin a run, or its part behind a crossing.

        Its first steps are searched, unless its rows are watched, and are not about to become dependent.
        """
        problem, state = self.problem, self.watch.state
        if self.is_watching and state.armed and 0.0 < state.values and state.t_new <= start.t:
            return  # the same motion continues
        self.is_watching = method.watches_rank
        problem.watch = self.watch if self.is_watching else NO_WATCH
        state.values = state.armed = state.due = 0.0
        problem.longest_batch = 2 * FEWEST
        if self.is_watching and self.search.begin(self.watch, start, method.step or 0.0):
            self._arm()
        if method.has_own_matrix:
            state.values = 0.0
        state.evaluates = float(problem.pack.python_solver is not NO_CALLBACK)

    def _arm(self) -> None:
        """Let the watch end the next batch, if rows are about to become dependent."""
        if not self.watch.state.due:
            self.watch.state.armed, self.problem.longest_batch = 1.0, UNLIMITED

    def find(self, before: CrossingStart, batch: StepBatch, method: Integrator) -> tuple[Crossing | None, StepBatch]:
        """Return the crossing that ends this batch, and its steps before; None if there is none, or not yet."""
        if not (batch.code in (OK, *STOPS) or self._stopped_by_formulation(batch.code)):
            return None, batch
        state = self.watch.state
        was_watched = bool(state.armed) and batch.code == OK
        if was_watched and not state.due:
            return None, batch
        steps = steps_of(before, batch)
        if not (np.isfinite(steps.y).all() and np.isfinite(steps.y_dot).all()):
            return None, batch
        places = (
            self._places_of(StepsTaken(*(x[-STEPS_SEARCHED:] for x in steps)), EXPECTED) if was_watched else self._places_of(steps)
        )
        state.armed = 0.0
        if self.is_watching and not places:
            self.problem.longest_batch = 1 if state.due else self.problem.longest_batch
            self._arm()
        state.due = 0.0
        s = self.search.way(*steps, steps.t[-1]).s
        if len(s) > 1:
            self.longest = float(np.diff(steps.t).max())
        far = max(NEAR_AFTER, STEPS_AHEAD * float(s[-1] - s[-2])) if was_watched and len(s) > 1 else NEAR
        for place in places:
            if place.distance > far and batch.code == OK:
                continue
            there = place._replace(distance=float(s[-1]) + place.distance)
            for attempt in ATTEMPTS if batch.code != OK else ((APART, BOTH),):
                crossing, kept = self._cross_from(steps, s, there, attempt, batch, method)
                if crossing is not None:
                    state.values = state.armed = 0.0
                    return crossing, kept
            self.refused.append(place.t)
        return None, batch

    def _cross_from(
        self,
        steps: StepsTaken,
        s: Array,
        place: SingularCandidate,
        attempt: tuple[float, Ways],
        batch: StepBatch,
        method: Integrator,
    ) -> tuple[Crossing | None, StepBatch]:
        """Return the crossing of a place from the step at some motion before it, and the steps before the crossing.

        s: (k,) the motion so far;  place: its distance is counted as they are;  attempt: that motion, and how to cross.  Where the motion
        is more than APART the steps nearer to the place went astray, and it is searched again.
        """
        apart, ways = attempt
        k = max(0, int(np.searchsorted(s, place.distance - apart, side="right")) - 1)
        if k:
            self.longest = float(np.diff(steps.t[: k + 1]).max())
        kept = batch.first(k)._replace(code=OK, t_stop=float(steps.t[k]) if k else batch.t_stop, curve=None)
        start = Moment(float(steps.t[k]), steps.y[k], steps.y_dot[k])
        if apart > APART:
            found, _ = self._places(StepsTaken(*(x[max(0, k - 1) : k + 1] for x in steps)), SPACING)
            again = [p for p in found if p.distance > 0.0]
            if not again:
                return None, batch
            place = again[0]._replace(distance=float(s[k]) + again[0].distance)
        if place.distance - float(s[k]) > FAR_APART and method.step is None and method.one_step:
            start, kept = self._nearer(start, kept, place, method)
        rtol, atol = method.tolerances
        accuracy = rtol, atol * method.units(self.problem)
        return self.crossing.cross(CrossingStart(*start), place.t, method.step, accuracy, ways), kept

    def _nearer(self, start: Moment, kept: StepBatch, place: SingularCandidate, method: Integrator) -> tuple[Moment, StepBatch]:
        """Return the state at APART from a place, by a step from `start`, and the steps to it; the same if the step fails."""
        speed = self.search.mean_speed(start.t, start.y, start.y_dot, place.t)
        t = place.t - APART / speed
        if not start.t < t < place.t:
            return start, kept
        try:
            end = step_to(self.problem, method, start, t, _need)
        except _StepFailed:
            return start, kept
        lam, u_dot = (split_multipliers(own, len(kept.t), 1) for own in (kept.lam, kept.u_dot))
        t_all, y, y_dot = np.append(kept.t, t), np.vstack([kept.y, end.y]), np.vstack([kept.y_dot, end.y_dot])
        return end, kept._replace(t=t_all, y=y, y_dot=y_dot, t_stop=t, accepted=len(t_all), lam=lam, u_dot=u_dot)

    def _places_of(self, steps: StepsTaken, spacing: float = SPACING) -> list[SingularCandidate]:
        """Return the places where the motion through some steps, or ahead of them, may be singular; limit the next batch."""
        t, y, y_dot = steps
        last = float(t[-1])
        places, way = self._places(steps, spacing)
        s = way.s[: len(t)]
        if not places and len(t) > 1 and self._becomes_singular(t, y):
            step = float(s[-1] - s[-2])
            places = [
                p._replace(distance=p.distance - step) for p in self._places(StepsTaken(t[:-1], y[:-1], y_dot[:-1]), spacing)[0]
            ]
        per_step = float(s[-1] - s[-2]) if len(t) > 1 else 0.0
        missed = [e for e in self.expected if t[0] < e <= last and not places]  # by steps that went astray before it
        places += [SingularCandidate(e, float(np.interp(e, t, s) - s[-1]), 0.0) for e in missed]
        self.expected = [p.t for p in places if p.distance > 0.0]
        self._limit(places, per_step)
        return places

    def _places(self, steps: StepsTaken, spacing: float) -> tuple[list[SingularCandidate], Way]:
        """Return the places where the motion through some steps, or ahead of them, may be singular, and this motion."""
        way = self.search.way(*steps, self.horizon)
        last = way.s[len(steps.t) - 1]
        most = float(np.interp(self.t_end, way.t, way.s) - last) + BEYOND if self.t_end < way.t[-1] else np.inf
        found = [p for p in self.search.places(way, float(steps.t[-1]), spacing) if p.distance <= most]
        slack = SAME_PLACE * float(way.t[-1] - way.t[0]) / float(way.s[-1]) if way.s[-1] > 0.0 else 0.0
        return [p for p in found if not any(abs(p.t - r) <= slack for r in self.refused)], way

    def _becomes_singular(self, t: Array, y: Array) -> bool:
        """Return whether the last of the states is singular, or nearly so: its rates then say nothing of the motion."""
        g = self.search.values(t[-2:], y[-2:])
        return not g[1] >= g[0] - 2.0 * log(PLUNGE)

    def near_singular(self, before: CrossingStart, batch: StepBatch) -> list[NearSingular]:
        """Return the nearly singular configurations that this batch has passed, or ends beside, and that were not crossed."""
        near, compares_ends = [], self.horizon == self.t_end
        if compares_ends or self.refused:
            steps = steps_of(before, batch)
            near = self.near.at_end(steps) if compares_ends else []
            near += self.near.stepped_over(self.refused, steps)
        return near

    def _stopped_by_formulation(self, code: int) -> bool:
        """Return whether a formulation in Python found no solution; False if a user's function failed."""
        kkt_solver = self.problem.pack.python_solver
        return code == USER_STOPPED and self.problem.pack.callback.error is None and isinstance(kkt_solver.error, SimulationError)

    def _limit(self, places: list[SingularCandidate], per_step: float) -> None:
        """Limit the number of steps of the next batch: to half of the motion to the first of the places ahead."""
        ahead = [0.5 * place.distance for place in places if place.distance > 0.0]
        most = max(1.0, min(ahead) / per_step) if ahead and per_step > 0.0 else float(FEWEST)
        self.problem.longest_batch = int(min(most, UNLIMITED))

    def restart(self, crossing: Crossing) -> CrossingStart | None:
        """Return the end of a crossing after the stabilization and the formulation of the run; None if they fail."""
        p, end = self.problem, crossing.end
        y, y_dot = end.y.copy(), np.zeros_like(end.y)
        since, p.options.n_since_projection = p.options.n_since_projection, np.inf
        error, p.pack.python_solver.error = p.pack.python_solver.error, None
        code = p.post_step(p.pack, p.options, end.t, y, y_dot)
        if code != OK:
            self._keep_interruption(code)
            p.options.n_since_projection, p.pack.python_solver.error = since, error
            return None
        return CrossingStart(end.t, y, y_dot)

    def _joints_at(self, way: Way, t: float) -> tuple[str, ...]:
        return self.selection.joints_at(way, t)

    def _keep_interruption(self, code: int) -> None:
        """Keep the Ctrl-C that has ended an attempt to restart; what a formulation in Python raises there is none, and forgotten."""
        callback, solver = self.problem.pack.callback, self.problem.pack.python_solver
        if solver.error is None:
            callback.keep_interruption(code)
        elif callback.error is None and not isinstance(solver.error, Exception):
            callback.error = solver.error
