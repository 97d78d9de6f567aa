r"""Past a singular configuration: where the matrix cannot be factored, or error control creeps up to the place, a few steps leap over it.

    sigma ~ |t - t*|      the smallest singular value of Phi_q:  accelerations off the manifold are wrong by (error of the stage) / sigma
    RK4 with h, h/2, ...  from t0 to 2 t* - t0, no stage nearer to t* than h / 4

That error points across the motion, where the next projection takes it away; but error control sees it, and makes the steps ever
smaller where larger ones would do.  The leap is taken when two step sizes in a row agree: the motion is then determined by where it
comes from.  Where they do not (at rest in a bifurcation, two branches that part slowly), the run stops and says so.

Where Newton's iteration fails, the place is not known to better than a step: if leaps do not agree, wider ones are tried.  A run that
stops again before it is as far behind a leap as that was wide goes on from there with another leap, twice as wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.integrators.chunk import Chunk, cut_multipliers
from haugmbd.integrators.explicit import runge_kutta_steps
from haugmbd.integrators.method import FixedStep, Integrator
from haugmbd.integrators.rk4 import RK4
from haugmbd.integrators.stepping import Problem
from haugmbd.model.status import NO_CONVERGENCE, OK, SINGULAR, USER_STOPPED
from haugmbd.model.tables import room

FIRST = 0.25
"""First step size of a leap, in parts of the way to the singular configuration."""

HALVINGS = 10
"""Step sizes that are tried."""

AGREE = 10.0
"""Two leaps agree when they differ by so many error tolerances of a step."""

AGREE_AT_WORST = 1e-7
"""Relative difference of the two best leaps up to which the motion counts as determined, though the tolerance is sharper."""

WIDER = (1.0, 2.0, 4.0, 8.0)
"""In parts of the longest step before it, how far from the place a leap may start where Newton's iteration failed."""

PHASE = 0.25
"""Part of a step that the singular configuration stands from the nearest step: a quarter is as far from the stages of RK4 as can be."""


class Leap(NamedTuple):
    """States after each step: t (k,), y, y_dot (k, ny)."""

    t: Array
    y: Array
    y_dot: Array


class Start(NamedTuple):
    """Where a leap starts: time [s], state, rates."""

    t: float
    y: Array
    y_dot: Array


class Across(NamedTuple):
    """What a leap goes over: from the k-th state, to as far behind t_singular [s];  comfortable: the steps before it [s];  again: whether
    it goes on behind another.
    """

    k: int
    t_singular: float
    comfortable: float
    again: bool


def chunks_past(method: Integrator, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
    """The chunks of `method`, which goes on behind a singular configuration where the motion is determined there."""
    wide = 0.0  # [s] the last leap, or the longest step of the last chunk
    while True:
        before = Start(problem.t, problem.y.copy(), k1.copy())
        h = 0.0
        for chunk in method.chunks(problem, k1, t_end):
            place = problem.subject.singular(problem.pack, chunk.code, chunk.t_stop)
            t = np.concatenate([[before.t], chunk.t])
            found = None if place is None else _past(problem, before, chunk, _across(t, chunk, wide, t_end), method.tolerances)
            if place is not None and found is not None:
                past, across = found
                if not across.again:
                    problem.passed.append(place)
                yield past
                h, wide = FIRST * across.comfortable, float(past.t[-1] - t[across.k])
                problem.t, problem.y[:], k1[:] = float(past.t[-1]), past.y[-1], past.y_dot[-1]
                break
            if place is not None and _stopped_by_user(problem):
                chunk = chunk._replace(code=USER_STOPPED)  # in the attempt to leap
            yield chunk
            if chunk.code != OK:
                return
            if len(chunk.t):
                wide = float(np.diff(t).max())
                before = Start(float(chunk.t[-1]), chunk.y[-1].copy(), chunk.y_dot[-1].copy())
        else:
            return
        if not problem.t < t_end:
            return
        method = method if isinstance(method, FixedStep) else method.starting_with(h)


def _across(t: Array, chunk: Chunk, wide: float, t_end: float) -> Iterator[Across]:
    """Where a leap may go, the best first, of the times of a chunk with its start; nowhere if there is no room."""
    fixed = chunk.code == SINGULAR and chunk.rejected == 0
    creeping = chunk.code == SINGULAR and not fixed
    t_singular = float(t[-1]) if creeping else chunk.t_stop
    longest = float(np.diff(t).max(initial=0.0)) or t_singular - float(t[0])
    if not fixed and t_singular - t[0] < wide:
        yield Across(0, min(float(t[0]) + wide, 0.5 * (float(t[0]) + t_end)), wide, again=True)
        return
    for wider in WIDER if chunk.code == NO_CONVERGENCE else WIDER[:1]:
        allowed = np.nonzero((t <= t_singular - 0.5 * wider * longest) & (t >= 2.0 * t_singular - t_end) & (t < t_singular))[0]
        if len(allowed):
            yield Across(int(allowed[-1]), t_singular, longest, again=False)


def _past(
    problem: Problem, before: Start, chunk: Chunk, places: Iterator[Across], tolerances: tuple[float, float]
) -> tuple[Chunk, Across] | None:
    """The chunk up to where a leap starts, and the leap over the first of the places that lets one; None where none does."""
    evidence = problem.pack.work.copy()  # of what stopped the run: attempts to leap leave their own
    for across in places:
        k = across.k
        start = Start(float(chunk.t[k - 1]), chunk.y[k - 1], chunk.y_dot[k - 1]) if k else before
        found = leap(problem, start, across.t_singular, FIRST * (across.t_singular - start.t), *tolerances)
        if found is not None:
            parts = ((chunk.t[:k], found.t), (chunk.y[:k], found.y), (chunk.y_dot[:k], found.y_dot))
            t, y, y_dot = (np.concatenate(pair) for pair in parts)
            lam = cut_multipliers(chunk.lam, k, len(found.t))
            return Chunk(t, y, y_dot, OK, float(t[-1]), len(t), chunk.rejected, lam), across
        if _stopped_by_user(problem):
            return None
    problem.pack.work[:] = evidence
    return None


def _stopped_by_user(problem: Problem) -> bool:
    """Whether the last attempt ended because a function of the user raised, or Ctrl-C came."""
    return bool(room(problem.pack, "STATUS")[0, 0] == USER_STOPPED)


def leap(problem: Problem, start: Start, t_singular: float, h: float, rtol: float, atol: float) -> Leap | None:
    """Steps from `start` to the other side of `t_singular`, as far behind it; None where the motion is not determined.

    h: the first step size that is tried [s];  rtol, atol: what two leaps should agree to
    """
    best, before = np.inf, None
    found: Leap | None = None
    for halving in range(HALVINGS):
        tried = _steps(problem, start, t_singular, h / 2**halving)
        if tried is not None and before is not None:
            size = np.maximum(np.abs(tried.y[-1]), np.abs(before.y[-1]))
            gap = float(np.sqrt(np.mean(((tried.y[-1] - before.y[-1]) / (atol + rtol * size)) ** 2)))
            if gap < best:
                best, found = gap, tried
            if gap <= AGREE:
                break
        before = tried
        if tried is None and _stopped_by_user(problem):
            return None
    if not best * rtol <= max(AGREE * rtol, AGREE_AT_WORST):
        return None
    return found


def _steps(problem: Problem, start: Start, t_singular: float, h: float) -> Leap | None:
    """RK4 with step h, placed so that no stage is near `t_singular`; None where a step fails."""
    span = t_singular - start.t
    first = span - PHASE * h - max(0, round(span / h - PHASE) - 1) * h
    n = max(1, int(np.ceil((2.0 * span - first) / h - 1.5)))
    parts = [(first, 1), (h, n), (2.0 * span - first - n * h, 1)]
    t, y, k1 = start.t, start.y.copy(), start.y_dot.copy()
    times, states, rates = [], [], []
    for step, count in parts:
        if not step > 0.0:
            return None
        ys, ks = np.empty((count, y.size)), np.empty((count, y.size))
        code, _ = runge_kutta_steps(RK4.tableau, problem, t, step, y, k1, ys, ks)
        if code != OK:
            return None
        times.append(t + step * np.arange(1, count + 1))
        t = float(times[-1][-1])
        states.append(ys)
        rates.append(ks)
    return Leap(np.concatenate(times), np.concatenate(states), np.concatenate(rates))
