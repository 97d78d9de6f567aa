r"""Past a singular configuration: where the matrix cannot be factored, or error control creeps up to the place, a few steps leap over it.

    sigma ~ |t - t*|      the smallest singular value of Phi_q:  accelerations off the manifold are wrong by (error of the stage) / sigma
    RK4 with h, h/2, ...  from t0 to 2 t* - t0, no stage nearer to t* than h / 4

That error points across the motion, where the next projection takes it away; but error control sees it, and makes the steps ever
smaller where larger ones would do.  The leap is taken when two step sizes in a row agree: the motion is then determined by where it
comes from.  Where they do not (at rest in a bifurcation, two branches that part slowly), the run stops and says so.
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
from haugmbd.model.status import OK, SINGULAR

FIRST = 0.25
"""First step size of a leap, in parts of the way to the singular configuration."""

HALVINGS = 10
"""Step sizes that are tried."""

AGREE = 10.0
"""Two leaps agree when they differ by so many error tolerances of a step."""

AGREE_AT_WORST = 1e-7
"""Relative difference of the two best leaps up to which the motion counts as determined, though the tolerance is sharper."""

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


def chunks_past(method: Integrator, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
    """The chunks of `method`, which goes on behind a singular configuration where the motion is determined there."""
    rtol, atol = method.tolerances
    while True:
        before = Start(problem.t, problem.y.copy(), k1.copy())
        h = 0.0
        for chunk in method.chunks(problem, k1, t_end):
            place = problem.subject.singular(problem.pack, chunk.code, chunk.t_stop)
            if place is not None:
                evidence = problem.pack.work.copy()  # of what stopped the run: attempts to leap leave their own
                past, h = _past(problem, before, chunk, t_end, rtol, atol)
                if past is None:
                    problem.pack.work[:] = evidence
                else:
                    problem.passed.append(place)
                    yield past
                    problem.t, problem.y[:], k1[:] = float(past.t[-1]), past.y[-1], past.y_dot[-1]
                    break
            yield chunk
            if chunk.code != OK:
                return
            if len(chunk.t):
                before = Start(float(chunk.t[-1]), chunk.y[-1].copy(), chunk.y_dot[-1].copy())
        else:
            return
        if not problem.t < t_end:
            return
        method = method if isinstance(method, FixedStep) else method.starting_with(h)


def _past(problem: Problem, before: Start, chunk: Chunk, t_end: float, rtol: float, atol: float) -> tuple[Chunk | None, float]:
    """The chunk up to a comfortable distance from where it stopped, and a leap over that place; and the step that was comfortable."""
    t = np.concatenate([[before.t], chunk.t])
    y, y_dot = np.vstack([before.y, chunk.y]), np.vstack([before.y_dot, chunk.y_dot])
    fixed = chunk.code == SINGULAR and chunk.rejected == 0
    t_singular = chunk.t_stop if fixed else float(t[-1])
    comfortable = float(np.diff(t).max(initial=0.0)) or t_singular - before.t
    allowed = np.nonzero((t <= t_singular - 0.5 * comfortable) & (t >= 2.0 * t_singular - t_end))[0]
    if len(allowed) == 0:
        return None, 0.0
    k = int(allowed[-1])
    found = leap(problem, Start(float(t[k]), y[k], y_dot[k]), t_singular, FIRST * (t_singular - float(t[k])), rtol, atol)
    if found is None:
        return None, 0.0
    t, y, y_dot = (
        np.concatenate(pair) for pair in ((chunk.t[:k], found.t), (chunk.y[:k], found.y), (chunk.y_dot[:k], found.y_dot))
    )
    lam = cut_multipliers(chunk.lam, k, len(found.t))
    return Chunk(t, y, y_dot, OK, float(t[-1]), len(t), chunk.rejected, lam), FIRST * comfortable


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
