r"""Crossing of singular configurations, in the same way for every integrator and formulation, by one driver above them.

    search     where the motion reaches a singular configuration t*, see `singularity_search`
    cut        steps nearer to it than APART are discarded
    cross      the smooth motion from there to the other side, as polynomials, see `smooth_branch`
    restart    the integrator begins again behind it

A run that ends beside a singular configuration is crossed there, too, and the crossing is cut at its end: near to it a step is inaccurate.
This needs the motion beyond the end, and is done where no driver and no function of the user would have to be evaluated there.  Otherwise
the run says that it ends beside a singular configuration.

The integrator crosses a singular configuration when the incoming velocity selects a unique continuation.  This is so where the smallest
singular value of the rows grows like |t - t*| along the motion: the branches then separate at first order.  Each crossing is verified:
two curves of different pieces agree; the polynomial fulfils Phi = 0 at t* itself (it does not where two branches pass each other at a small
distance); sigma(t* +- w) is twice sigma(t* +- w / 2).  If one of these tests fails, the integrator continues without a crossing, or the run
stops with the error that stopped it.
Source: Haug 2021, sec. 3.7 (singular configurations, branches); Rheinboldt (1978) (regular bifurcation points).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from math import log
from typing import NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OFF_MANIFOLD, OK, SINGULAR, STEP_TOO_SMALL, USER_STOPPED
from haugmbd.drivers import Constant
from haugmbd.errors import SimulationError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.singularity_search import FINE, SWEEPS, Place, SingularSearch, Way, may_be_singular, time_to, weakest
from haugmbd.integrators.smooth_branch import Curve, SmoothBranch
from haugmbd.integrators.state_space import MaximalStateSpace, NearSingular, SingularCrossing
from haugmbd.integrators.step_batch import StepBatch, split_multipliers
from haugmbd.integrators.step_context import Problem, copy_options, restore_memory
from haugmbd.model.constraint_rows import rows_in
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.length import units_of_rows
from haugmbd.model.model import Model
from haugmbd.workspace.layout import workspace_array

APART = 0.15
"""[rad, or parts of the size] Motion between the last step that is kept and the singular configuration."""
NEAR = 0.2
"""Motion: a singular configuration at most this far ahead is crossed now."""
BEYOND = 0.02
"""Motion from the end of the run to a singular configuration that is taken into account."""
FAR = 0.5
"""Motion of a batch of steps, after which the search is made."""
FEWEST = 4
"""Least number of steps of a batch, unless a singular configuration is ahead."""
UNLIMITED = 1e6
"""Steps of a batch that are no limit: batches are shorter in any case."""
AGREE = 1.0
"""Two curves agree if their ends differ by at most this number of error tolerances of a step."""
AGREE_AT_WORST = 1e-7
"""Relative difference up to which the motion counts as determined, even if the tolerance is smaller."""
HALVINGS = 7
"""Number of lengths of the crossing that are tried, each half as long as the one before."""
ON_BRANCH = 1e-8
"""Relative to |Phi_q| times the size: |Phi| of the polynomial at the singular configuration."""
LINEAR = (1.5, 2.8)
"""Bounds of sigma(t* +- w) / sigma(t* +- w / 2): 2 where sigma vanishes like |t - t*|, 4 where like its square, 1 where not at all."""
SAME = 2.0
"""Growth, as t* is approached to a quarter, of what dropped rows say of the motion that kept ones let free: 4 where they forbid it."""
SHARE = 1e-3
"""Relative to the largest multiplier: a larger one belongs to the dependent rows."""
BESIDE = (1.0 / 16.0, 1.0 / 64.0)
"""Parts of the length of a crossing, on either side of it, at which sigma locates it: at t* itself sigma^2 is rounding."""
OUTPUTS = 8
"""Number of states of a crossing that an adaptive run stores."""
FIRST = 0.25
"""First step behind a crossing, relative to the longest of the last steps before it."""
EXACT = 1e-11
"""Contradiction of the rows at a singular configuration, relative to the size: rounding of the pose and of the polynomial."""
LEAP = 3.0
"""Fall of the smallest singular value inside a step that is too long for the bend of the motion there."""
PLUNGE = 30.0
"""The same from one end of a step to the other, or to its least place: a step may end on the singular configuration."""
AT_END = 1e3
"""Fall of the smallest singular value towards the end of a run, beyond which velocities and the branch are uncertain there."""
STEPS_BESIDE, SAMPLES_IN_STEP = 2, 17
"""Steps on either side of such a place that are looked at, and samples in each."""
STOPS = (SINGULAR, STEP_TOO_SMALL, OFF_MANIFOLD, NO_CONVERGENCE)
"""Codes with which a singular configuration may stop a run."""


class CrossingStart(NamedTuple):
    """A state: time [s], y, rates."""

    t: float
    y: Array
    y_dot: Array


class Motion(Protocol):
    """A motion with states (k, ny) at the times t (k,)."""

    def states(self, t: Array, /) -> Array: ...


class StepsTaken(NamedTuple):
    """The motion between the steps of a run."""

    states: Callable[[Array], Array]


class Crossing(NamedTuple):
    """The curve of the crossing, the state at its end, and its record; None if only the selection of kept rows is singular.

    gap: contradiction of the dependent rows at the singular configuration, relative to the size
    """

    curve: Curve
    end: CrossingStart
    passed: SingularCrossing | None
    gap: float = 0.0

    def end_at(self, t: float) -> CrossingStart:
        """Return the state of the curve at time t [s]."""
        when = np.array([t])
        return CrossingStart(t, self.curve.states(when)[0], self.curve.rates(when)[0])


def crossing_search(problem: Problem, t_end: float) -> CrossingSearch | None:
    """Return the search for singular configurations of a run to `t_end`; None if its model has none."""
    if not isinstance(problem.state_space, MaximalStateSpace) or not may_be_singular(problem.state_space.model):
        return None
    return CrossingSearch(problem.state_space.model, problem, t_end)


def batches_across(
    method: Integrator, problem: Problem, k1: Array, t_end: float, driver: CrossingSearch | None = None
) -> Iterator[StepBatch]:
    """Yield the batches of `method`, and of the crossings of singular configurations between them.

    driver: the search of a run that goes on behind `t_end`; by default a new one
    """
    driver = driver or crossing_search(problem, t_end)
    if driver is None:
        yield from method.batches(problem, k1, t_end)
        return
    while problem.t < t_end:
        before = CrossingStart(problem.t, problem.y.copy(), k1.copy())
        options = copy_options(problem.options)
        for batch in method.batches(problem, k1, t_end):
            crossing, kept = driver.find(before, batch, method)
            if crossing is not None and problem.pack.callback.error is None:
                h = driver.longest
                restore_memory(problem.options, options)
                restarted = driver.restart(crossing) if crossing.end.t <= t_end else crossing.end_at(t_end)
                if restarted is not None:
                    if kept or batch.rejected:
                        yield driver.first_steps(batch, kept)
                    yield driver.batch(crossing, restarted, method, batch)
                    if crossing.passed is not None and crossing.passed.t <= t_end:
                        problem.singular_crossings.append(crossing.passed)
                        if crossing.gap > EXACT:
                            problem.near_singular.append(NearSingular(*crossing.passed[:2], crossing.gap))
                    problem.t, problem.y[:], k1[:] = restarted
                    break
            if batch.code == OK and problem.pack.callback.error is None:
                problem.near_singular += driver.unresolved(before, batch)
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


def is_autonomous(model: Model) -> bool:
    """Return whether nothing that is evaluated along the motion depends on time, or belongs to the user."""
    return not model.force_callbacks.any and all(isinstance(driver, Constant) for driver in model.drivers)


def root_of_samples(x: Array, f: Array) -> float:
    """Return where a smooth monotonic function with the values f at x is zero, by inverse interpolation."""
    return float(np.polyfit(f / np.abs(f).max(), x, len(x) - 1)[-1])


class CrossingSearch:
    """The search for singular configurations in one run, and their crossing."""

    def __init__(self, model: Model, problem: Problem, t_end: float) -> None:
        self.model, self.problem, self.t_end = model, problem, t_end
        self.horizon = np.inf if is_autonomous(model) else t_end
        callback = problem.pack.callback
        self.search = SingularSearch(model, callback)
        self.refused: list[float] = []
        self.expected: list[float] = []
        self.passed_near: set[float] = set()
        self.longest = t_end - problem.t
        self.trail: list[tuple[float, float]] = []
        problem.longest_batch = 2 * FEWEST

    @cached_property
    def branch(self) -> SmoothBranch:
        """The smooth motion across singular configurations, with a workspace that most runs never need."""
        return SmoothBranch(self.model, self.problem.pack.callback)

    def find(self, before: CrossingStart, batch: StepBatch, method: Integrator) -> tuple[Crossing | None, int]:
        """Return the crossing that ends this batch, and the number of its steps before; None if there is none, or not yet."""
        if not (batch.code in (OK, *STOPS) or self._stopped_by_formulation(batch.code)):
            return None, 0
        t = np.concatenate([[before.t], batch.t])
        y, y_dot = np.vstack([before.y[None], batch.y]), np.vstack([before.y_dot[None], batch.y_dot])
        if not (np.isfinite(y).all() and np.isfinite(y_dot).all()):
            return None, 0
        places, way = self._places(t, y, y_dot)
        s = way.s[: len(t)]
        last = float(t[-1])
        if not places and len(t) > 1 and self._plunges(t, y):
            step = float(s[-1] - s[-2])
            places = [p._replace(distance=p.distance - step) for p in self._places(t[:-1], y[:-1], y_dot[:-1])[0]]
        per_step = float(s[-1] - s[-2]) if len(batch.t) else 0.0
        missed = [e for e in self.expected if t[0] < e <= last and not places]  # by steps that went astray before it
        places += [Place(e, float(np.interp(e, t, s) - s[-1]), 0.0) for e in missed]
        self.expected = [p.t for p in places if p.distance > 0.0]
        self._limit(places, per_step, time_to(FAR, *way.pace) / float(t[-1] - t[-2]) if len(t) > 1 else 0.0)
        if len(t) > 1:
            self.longest = float(np.diff(t).max())
        for place in places:
            if place.distance > NEAR and batch.code == OK:
                continue
            s_place = float(s[-1]) + place.distance
            k = int(np.searchsorted(s, s_place - APART, side="right")) - 1
            k = max(0, k)
            if k:
                self.longest = float(np.diff(t[: k + 1]).max())
            crossing = self.cross(CrossingStart(float(t[k]), y[k], y_dot[k]), place.t, method)
            if crossing is not None:
                return crossing, k
            self.refused.append(place.t)
        return None, 0

    def _places(self, t: Array, y: Array, y_dot: Array) -> tuple[list[Place], Way]:
        """Return the places where the motion through states (k, ny), or ahead of them, may be singular, and this motion."""
        way = self.search.way(t, y, y_dot, self.horizon)
        most = float(np.interp(self.t_end, way.t, way.s) - way.s[len(t) - 1]) + BEYOND if self.t_end < way.t[-1] else np.inf
        found = [p for p in self.search.places(way, float(t[-1])) if p.distance <= most]
        return [p for p in found if not any(abs(p.t - r) < 1e-3 * (1.0 + abs(r)) for r in self.refused)], way

    def _plunges(self, t: Array, y: Array) -> bool:
        """Return whether the last of the states is singular, or nearly so: its rates then say nothing of the motion."""
        g = self.search.values(t[-2:], y[-2:])
        return not g[1] >= g[0] - 2.0 * log(PLUNGE)

    def unresolved(self, before: CrossingStart, batch: StepBatch) -> list[NearSingular]:
        """The places that were looked at and not crossed, which a step of this batch has leapt over.

        Within a step that resolves the motion the smallest singular value changes little; it falls far below that of both ends, and
        rises again, in a step that is longer than the bend of the motion beside a singular configuration.
        """
        t = np.concatenate([[before.t], batch.t])
        found = self._at_end(before, batch) if self.horizon == self.t_end else []
        for place in self.refused:
            if place in self.passed_near or not t[0] < place <= t[-1]:
                continue
            self.passed_near.add(place)
            y, y_dot = np.vstack([before.y[None], batch.y]), np.vstack([before.y_dot[None], batch.y_dot])
            states = self.search.way(t, y, y_dot, float(t[-1])).states
            middle = int(np.searchsorted(t, place))
            for k in range(max(1, middle - STEPS_BESIDE), min(len(t), middle + STEPS_BESIDE + 1)):
                times = np.linspace(t[k - 1], t[k], SAMPLES_IN_STEP)
                g = self.search.values(times, states(times))
                inner = int(g[1:-1].argmin()) + 1
                leapt = g[inner] < min(g[0], g[-1]) - 2.0 * log(LEAP) or np.ptp(g) > 2.0 * log(PLUNGE)
                if np.isfinite(g).all() and leapt:
                    self.sigma(StepsTaken(states), float(times[inner]))
                    found.append(NearSingular(float(times[inner]), self.joints(), np.nan))
                    break
        return found

    def _at_end(self, before: CrossingStart, batch: StepBatch) -> list[NearSingular]:
        """The nearly singular configuration that the run ends beside, if there is one; before the end nothing but its motion is kept.

        trail: motion from the start, and g, at the starts of batches, over the last part FAR of the motion
        """
        t = np.concatenate([[before.t], batch.t])
        y, y_dot = np.vstack([before.y[None], batch.y]), np.vstack([before.y_dot[None], batch.y_dot])
        way = self.search.way(t, y, y_dot, self.t_end)
        so_far = self.trail[-1][0] if self.trail else 0.0
        self.trail[-1:] = [(so_far, float(self.search.values(t[:1], y[:1])[0])), (so_far + float(way.s[len(t) - 1]), -np.inf)]
        self.trail = [one for one in self.trail if one[0] >= self.trail[-1][0] - FAR]
        if t[-1] < self.t_end:
            return []
        s = np.linspace(max(0.0, float(way.s[-1]) - APART), float(way.s[-1]), SAMPLES_IN_STEP)
        times = np.interp(s, way.s, way.t)
        g = self.search.values(times, way.states(times))
        edge = max(float(g.max()), *(one for _, one in self.trail))
        k = int(g.argmin())
        left, right = float(times[max(0, k - 1)]), float(times[min(len(times) - 1, k + 1)])
        inner = self.search.enclosed(way.states, left, right, edge, FINE)
        t_least, depth = (times[k], edge - g[k]) if inner is None else inner
        if not depth > 2.0 * log(AT_END):
            return []
        self.sigma(StepsTaken(way.states), float(t_least))
        return [NearSingular(float(t_least), self.joints(), np.nan, ends=True)]

    def _stopped_by_formulation(self, code: int) -> bool:
        """Return whether a formulation in Python found no solution; False if a user's function failed."""
        kkt_solver = self.problem.pack.python_solver
        return code == USER_STOPPED and self.problem.pack.callback.error is None and isinstance(kkt_solver.error, SimulationError)

    def _limit(self, places: list[Place], per_step: float, far: float) -> None:
        """Limit the number of steps of the next batch;  far: the number that moves about FAR, even while the motion is reversing."""
        ahead = [0.5 * place.distance for place in places if place.distance > 0.0]
        most = np.inf
        if per_step > 0.0:
            most = max(1.0, min(ahead) / per_step) if ahead else max(float(FEWEST), min(far, FAR / per_step))
        self.problem.longest_batch = int(min(most, UNLIMITED))

    def cross(self, start: CrossingStart, t_singular: float, method: Integrator) -> Crossing | None:
        """Return the smooth motion from `start` to the same distance behind the singular configuration; None if it is not determined."""
        (rtol, atol), units = method.tolerances, method.units(self.problem)
        way = t_singular - start.t
        t1 = t_singular + way
        if method.step:
            t1 = start.t + np.ceil((t1 - start.t) / method.step - 1e-9) * method.step
        t1 = float(min(t1, self.horizon))
        if abs(self.t_end - t1) < 1e-9 * way:
            t1 = self.t_end
        if not (way > 0.0 and t1 > t_singular):
            return None
        best, before, found, w = np.inf, None, None, way
        for _ in range(HALVINGS):
            times = [start.t] + [t for t in (t_singular - w, t_singular + w) if start.t + 1e-3 * w < t < t1 - 1e-3 * w] + [t1]
            curve = self.branch.curve(times, t_singular, start.y)
            end = None if curve is None else self._end(curve, t_singular)
            if curve is not None and end is not None:
                t_singular = self._again(curve, t_singular, w)
                if before is not None:
                    size = np.maximum(np.abs(end.y), np.abs(before.y))
                    gap = float(np.sqrt(np.mean(((end.y - before.y) / (atol * units + rtol * size)) ** 2)))
                    if gap < best:
                        best, found = gap, (curve, end, w)
                    if gap <= AGREE:
                        break
            before, w = end, 0.5 * w
        if found is None or not best * rtol <= max(AGREE * rtol, AGREE_AT_WORST):
            return None
        return self._shown(*found, t_singular)

    def _end(self, curve: Curve, t_singular: float) -> CrossingStart | None:
        """Return the state at the end of a curve, projected on the constraints."""
        t1 = curve.t1
        y = curve.states(np.array([t1]))[0]
        found = self.branch.projected(t1, y)
        return None if found is None else CrossingStart(t1, *found)

    def _again(self, curve: Curve, t_singular: float, w: float) -> float:
        """Return the time of the singular configuration on the curve."""
        a, b = max(curve.t0, t_singular - 0.5 * w), min(curve.t1, t_singular + 0.5 * w)
        g = self.search.values(np.array([a, b]), curve.states(np.array([a, b])))
        if not np.isfinite(g).all():
            return t_singular
        found = self.search.enclosed(curve.states, a, b, float(g.min()), FINE)
        return found[0] if found is not None else t_singular

    def _shown(self, curve: Curve, end: CrossingStart, w: float, t_singular: float) -> Crossing | None:
        """Return the crossing if the tests show that the velocity selects the continuation."""
        pack, model = self.search.pack, self.model
        y = curve.states(np.array([t_singular]))[0]
        code = rows_entry(pack, t_singular, y)
        pack.callback.keep_interruption(code)
        if code != OK:
            return None
        rows = rows_in(model, pack, model.state())
        scale = np.linalg.norm(rows.Phi_r, axis=(1, 2)) * self.search.size + np.linalg.norm(rows.PiBar, axis=(1, 2))
        if not (np.abs(rows.Phi) <= ON_BRANCH * np.maximum(scale, units_of_rows(model))).all():
            return None
        tau = min(w, t_singular - curve.t0, curve.t1 - t_singular)
        forbidden, beside = [], []
        for side in (-1.0, 1.0):
            sigma = [self.sigma(curve, t_singular + side * part * tau) for part in (0.5, 0.25)]
            if not LINEAR[0] < sigma[0][0] / max(sigma[1][0], 1e-300) < LINEAR[1]:
                return None
            near = [self.sigma(curve, t_singular + side * part * tau) for part in BESIDE]
            if not min(value for value, _ in near) > 0.0:
                return None
            forbidden.append(near[1][1] > SAME * near[0][1])
            beside += [(side * part * tau, side * value) for part, (value, _) in zip(BESIDE, near, strict=True)]
        if any(forbidden):
            return Crossing(curve, end, None)
        t_singular += root_of_samples(*np.array(beside).T)
        names = self.joints()
        b = workspace_array(pack, "RIGHT")[model.nb + 1 :].reshape(-1)[model.slot_of_row]
        gap = abs(float(b @ rows.Phi)) / float(np.linalg.norm(b) * max(1.0, scale.max()))
        least = self.sigma(curve, t_singular)[0]
        return Crossing(curve, end, SingularCrossing(t_singular, names, float((least / sigma[0][0]) ** 2)), gap)

    def sigma(self, curve: Motion, t: float) -> tuple[float, float]:
        """Return the smallest singular value at a time, and the change of length of all rows in the corresponding motion."""
        pack, model = self.search.pack, self.model
        b = workspace_array(pack, "RIGHT")
        b[:] = 0.0
        random = np.random.default_rng(0)
        n = model.nb + 1
        b[n:].reshape(-1)[model.slot_of_row] = random.standard_normal(model.nc) * units_of_rows(model)
        code, sigma = weakest(pack, t, curve.states(np.array([t]))[0], SWEEPS)
        pack.callback.keep_interruption(code)
        if code != OK:
            return 0.0, 0.0
        x = workspace_array(pack, "SOLUTION")[1:n].ravel()
        return sigma, float(np.linalg.norm(rows_in(model, pack, model.state()).Phi_q @ x / units_of_rows(model)))

    def joints(self) -> tuple[str, ...]:
        """Return the joints of the most nearly dependent rows that were found last."""
        model = self.model
        b = workspace_array(self.search.pack, "RIGHT")[model.nb + 1 :].reshape(-1)[model.slot_of_row]
        part = np.abs(b) / units_of_rows(model)
        return tuple(sorted({label.joint for label, share in zip(model.labels, part, strict=True) if share > SHARE * part.max()}))

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

    def _keep_interruption(self, code: int) -> None:
        """Keep the Ctrl-C that has ended an attempt to restart; what a formulation in Python raises there is none, and forgotten."""
        callback, solver = self.problem.pack.callback, self.problem.pack.python_solver
        if solver.error is None:
            callback.keep_interruption(code)
        elif callback.error is None and not isinstance(solver.error, Exception):
            callback.error = solver.error

    def first_steps(self, batch: StepBatch, k: int) -> StepBatch:
        """Return the first k steps of a batch."""
        return batch.first(k)._replace(code=OK, t_stop=float(batch.t[k - 1]) if k else batch.t_stop, curve=None)

    def batch(self, crossing: Crossing, end: CrossingStart, method: Integrator, batch: StepBatch) -> StepBatch:
        """Return a crossing as a batch: at the times of a fixed step, or at some times."""
        curve = crossing.curve
        span = end.t - curve.t0
        if method.step:
            inner = curve.t0 + method.step * np.arange(1.0, int(span / method.step - 1e-9) + 1.0)
        else:
            inner = curve.t0 + span / OUTPUTS * np.arange(1.0, float(OUTPUTS))
        t: Array = np.append(inner, end.t)
        y, y_dot = np.vstack([curve.states(inner), end.y]), np.vstack([curve.rates(inner), end.y_dot])
        lam, u_dot = (split_multipliers(own, 0, len(t)) for own in (batch.lam, batch.u_dot))
        return StepBatch(t, y, y_dot, OK, end.t, len(t), 0, lam, curve, u_dot)
