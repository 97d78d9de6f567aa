r"""Flights of shapes: the steps of a run with shapes at rigid contacts while all of them are open, in compiled code.

    step       of an explicit Runge-Kutta method with a projection, of fixed length or with error control
    far        gap > MOST_APART h (|v_i| + |omega_i| d_i + |v_j| + |omega_j| d_j):  the contact is not looked at     d: reach of its shape
    look       gap > 0 of every point at the end of the step;  no point that comes nearer at its start and parts at its end, and that
               x (1 - x) <= 1 / 4 would let through:   min(g_0, g_1) > h max(-g_0', g_1') / 4
    locate     the first zero of the least gap of a contact, as `compiled_location` does

A point that has bounced begins at gap zero: (gap - gap_0) / (t - t_0) stands in place of its gap.  A step that is not as plain as that is
made by `frictional_motion`, which comes back for the next one.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import resolve
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.records import new_record
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.points import put_rotations
from haugmbd.geometry.manifold import MANIFOLD, is_far
from haugmbd.geometry.narrow_phase import GAP, GAP_RATE, RATES
from haugmbd.geometry.tables import MOST_POINTS, PLANE, POINT_COLUMNS, RATE_COLUMNS, Shapes, new_scratch
from haugmbd.impacts.contact_problem import ContactProblem, Key
from haugmbd.integrators.compiled_location import Motion, Search, Step, location, new_search, put_bracket
from haugmbd.integrators.dense_output import put_body
from haugmbd.integrators.explicit.embedded import CONTROL, LEAST_ERROR, Embedded, EmbeddedRungeKutta
from haugmbd.integrators.explicit.embedded import run as run_embedded
from haugmbd.integrators.explicit.runge_kutta import RungeKutta, make_step
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Point, Problem, Steps, copy_options, empty_steps, steps_to
from haugmbd.integrators.watches.stiffness_watch import new_watch
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import dot, load, sub
from haugmbd.model.generalized_forces import copy_line
from haugmbd.simulation.hybrid.flight import FLIES, MEETS, UNDECIDED, suits
from haugmbd.simulation.run_options import NEWTON_EULER

MOST_APART = 2.0
"""Of the way that two shapes go towards each other in a step with the larger speeds of its ends: a larger gap does not close in it."""
PARTED = 1e-13
"""Relative to the size: a point that has bounced, and has gone a shorter way, has not come back: less is rounding of its gap."""
FIRST_STEPS, MOST_STEPS = 8, 1000
"""Steps of the first part of a flight, which the next impact may leave out, and of the longest one."""


class Watched(NamedTuple):
    """The contacts of a flight, k of them, of n bodies, and room for what they are asked.

    pairs, bodies: (k, 2) shapes and bodies;  reach: (k, 2) of the shapes from the centres of their bodies [m];  since: start [s]
    noted: (m, 2) contact and feature of points with a law of their own;  law: (m, 3) see RATE;  parted: the way of a point that has [m]
    A: (3, n, 3, 3) at the ends of a step, and for one state;  speed: (n, 2) largest |v| and |omega| of a step
    find, rates: `manifold`, `narrow_phase.rates`;  point: (1, 21) of these;  place, features, scratch: of the manifold
    ends: (2, 8, 2) gaps and rates at the ends of a step;  ended: (2, 8) their features
    """

    find: Any
    rates: Any
    point: Array
    shapes: Shapes
    pairs: Ints
    bodies: Ints
    reach: Array
    since: float
    noted: Ints
    law: Array
    parted: float
    A: Array
    speed: Array
    place: Array
    features: Ints
    scratch: Array
    ends: Array
    ended: Ints


RATE, FIRST, BELOW = range(3)
"""Of a noted point: its gap rate [m/s] and gap [m] where it has bounced, 0 else; how far its gap may go below zero [m]."""


@kernel
def guard_of(w: Watched, k: int, feature: int, gap: float, t: float) -> float:
    """Return what is zero where a point of contact k closes: its gap, or what stands in its place."""
    for m in range(w.noted.shape[0]):
        if w.noted[m, 0] == k and w.noted[m, 1] == feature:
            rate, after = w.law[m, RATE], t - w.since
            instead: float = gap + w.law[m, BELOW]
            if rate > 0.0:
                instead = (gap - w.law[m, FIRST]) / after if rate * after > w.parted else rate
            return instead
    return gap


@kernel
def least_guard(w: Watched, k: int, t: float, bodies: Array, A: Array, margin: float) -> tuple[int, float]:
    """Return the number of points of contact k with gap <= margin, and the least guard of them, infinite without any."""
    n = w.find(w.shapes, w.pairs[k, 0], w.pairs[k, 1], bodies, A, margin, w.place, w.features, w.scratch)
    least = np.inf
    for point in range(n):
        least = min(least, guard_of(w, k, w.features[point], w.place[point, GAP], t))
    return n, least


@kernel
def value_at(w: Watched, k: int, t: float, y: Array) -> float:
    """Return the least guard of contact k at a state."""
    bodies = borrow(y, 0, w.A.shape[1], WIDTH)
    put_rotations(bodies, w.A[2])
    _, least = least_guard(w, k, t, bodies, w.A[2], np.inf)
    return least


@kernel
def on_dense_output(w: Watched, k: int, after: float, step: Step, out: Array) -> float:
    """Return the least guard of contact k at a time after the start of a step, on dense output."""
    h = step.t_1 - step.t_0
    copy_line(step.y_0, out)
    for side in range(2):
        body = w.bodies[k, side]
        a, b = WIDTH * body, WIDTH * (body + 1)
        if body > 0:
            put_body(after / h, h, step.y_0[a:b], step.y_dot_0[a:b], step.y_1[a:b], step.y_dot_1[a:b], out[a:b])
    return value_at(w, k, step.t_0 + after, out)


@kernel
def put_speeds(w: Watched, before: Array, after: Array) -> None:
    """Write the largest |v| and |omega| of each body at the ends of a step."""
    for body in range(1, w.speed.shape[0]):
        for part in range(2):
            first = VELOCITY if part == 0 else OMEGA_BAR
            a, b = load(before, body, first), load(after, body, first)
            w.speed[body, part] = sqrt(max(dot(a, a), dot(b, b)))


@kernel
def longest_approach(w: Watched, k: int, bodies: Array, h: float) -> float:
    """Return how far the shapes of contact k come nearer in a step, at most [m]."""
    i, j = w.bodies[k, 0], w.bodies[k, 1]
    apart = sub(load(bodies, j, 0), load(bodies, i, 0))
    distance, total = sqrt(dot(apart, apart)), 0.0
    for side in range(2):
        body, other = w.bodies[k, side], 1 - side
        is_plane = w.shapes.kind[w.pairs[k, side]] == PLANE
        reach = distance + w.reach[k, other] if is_plane else w.reach[k, side]
        total += w.speed[body, 0] + w.speed[body, 1] * reach
    return MOST_APART * h * total


@kernel
def is_apart(w: Watched, k: int, bodies: Array, A: Array, margin: float) -> bool:
    """Return whether the balls around the shapes of contact k are farther apart than the margin."""
    a, b = w.pairs[k, 0], w.pairs[k, 1]
    if w.shapes.kind[a] <= w.shapes.kind[b]:
        return is_far(w.shapes, a, b, bodies, A, margin)
    return is_far(w.shapes, b, a, bodies, A, margin)


@kernel
def put_end(w: Watched, k: int, end: int, t: float, bodies: Array, margin: float) -> tuple[int, float]:
    """Write gaps, rates and features of the points of contact k at an end of a step; return their number, and the least guard."""
    a, b = w.pairs[k, 0], w.pairs[k, 1]
    count, least = least_guard(w, k, t, bodies, w.A[end], margin)
    for n in range(count):
        w.rates(w.shapes, a, b, w.features[n], bodies, w.A[end], w.point, 0)
        w.ends[end, n, 0], w.ends[end, n, 1], w.ended[end, n] = w.place[n, GAP], w.point[0, GAP_RATE], w.features[n]
    return count, least


@kernel
def may_dip(w: Watched, before: int, after: int, h: float) -> bool:
    """Return whether a point, one of so many before and after a step, may close and open again in it."""
    for m in range(before):
        if w.ends[0, m, 1] < 0.0:
            for n in range(after):
                rises = w.ended[0, m] == w.ended[1, n] and w.ends[1, n, 1] > 0.0 and w.ends[1, n, 0] > 0.0
                if rises and min(w.ends[0, m, 0], w.ends[1, n, 0]) <= 0.25 * h * max(-w.ends[0, m, 1], w.ends[1, n, 1]):
                    return True
    return False


@kernel
def put_brackets(w: Watched, step: Step, search: Search) -> int:
    """Write where contacts close in a step, sorted by their secants; return the number of brackets, -1 if a step is not plain."""
    n, h, m = w.A.shape[1], step.t_1 - step.t_0, 0
    before, after = borrow(step.y_0, 0, n, WIDTH), borrow(step.y_1, 0, n, WIDTH)
    put_rotations(before, w.A[0])
    put_rotations(after, w.A[1])
    put_speeds(w, before, after)
    for k in range(w.pairs.shape[0]):
        margin = longest_approach(w, k, before, h)
        if is_apart(w, k, before, w.A[0], margin):
            continue
        count, g_0 = put_end(w, k, 0, step.t_0, before, 2.0 * margin)
        count_after, g_1 = put_end(w, k, 1, step.t_1, after, 2.0 * margin)
        if may_dip(w, count, count_after, h) or not g_0 > 0.0:
            return -1
        if not g_1 > 0.0:
            if g_0 == np.inf:
                return -1
            m = put_bracket(search, m, k, 0.0, h, g_0, g_1)
    return m


first_zero, put_met = location(value_at, on_dense_output)


@kernel
def end_of_flight(m: Motion, w: Watched, step: Step, search: Search, met: Array) -> tuple[int, float]:
    """Return FLIES, UNDECIDED, or MEETS with the time at which contacts close in a step; the state there is in `search.first`."""
    n = put_brackets(w, step, search)
    if n == 0:
        return FLIES, step.t_1
    zero = first_zero(m, w, n, step, search) if n > 0 else np.nan
    if not zero > step.t_0:
        return UNDECIDED, step.t_0
    put_met(w, n, zero, step, search, met)
    return MEETS, zero


@kernel
def put_first(steps: Steps, number: int, t: float, search: Search) -> None:
    """Let a step end at the first zero."""
    steps.t[number] = t
    copy_line(search.first[0], steps.y[number])
    copy_line(search.first[1], steps.y_dot[number])


@released
def fly_entry(
    m: Motion, w: Watched, t0: float, h: float, point: Point, steps: Steps, search: Search, met: Array
) -> tuple[int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or to the first contact that closes, which ends the last step.

    met: (k,) times of the contacts that close there, infinite before
    Return the number of steps done, and FLIES, MEETS or UNDECIDED: the next step is not plain.
    """
    for number in range(steps.y.shape[0]):
        copy_line(point.y, search.start[0])
        copy_line(point.y_dot, search.start[1])
        t, end = steps.t[number - 1] if number > 0 else t0, steps.t[number]
        code = make_step(m.dynamics, m.options, m.tableau, m.notes, t, end, h, point, m.k, steps.y[number], steps.y_dot[number])
        if code != OK:
            return number, UNDECIDED
        step = Step(t, end, search.start[0], search.start[1], steps.y[number], steps.y_dot[number])
        what, zero = end_of_flight(m, w, step, search, met)
        if what == MEETS:
            put_first(steps, number, zero, search)
        if what != FLIES:
            return number + (1 if what == MEETS else 0), what
    return steps.y.shape[0], FLIES


@released
def look_entry(
    m: Motion, w: Watched, t0: float, start: Point, steps: Steps, count: int, search: Search, met: Array
) -> tuple[int, int]:
    """Look at so many steps that were made from a start at t0, as `fly_entry` does."""
    copy_line(start.y, search.start[0])
    copy_line(start.y_dot, search.start[1])
    for number in range(count):
        t = steps.t[number - 1] if number > 0 else t0
        step = Step(t, steps.t[number], search.start[0], search.start[1], steps.y[number], steps.y_dot[number])
        what, zero = end_of_flight(m, w, step, search, met)
        if what == MEETS:
            put_first(steps, number, zero, search)
        if what != FLIES:
            return number + (1 if what == MEETS else 0), what
        copy_line(steps.y[number], search.start[0])
        copy_line(steps.y_dot[number], search.start[1])
    return count, FLIES


fly, look = DirectCall(fly_entry), DirectCall(look_entry)


class Flown(NamedTuple):
    """A flight: times (n,), states and rates (n, ny) of its steps; what ends it; the contacts that close at its end; the next step [s]."""

    t: Array
    y: Array
    y_dot: Array
    what: int
    met: list[int]
    h: float
    rejected: int


class ShapeFlights:
    """The flights of one motion, in one workspace.  size: of the motion [m], which scales tolerances"""

    def __init__(self, problem: ContactProblem, method: RungeKutta | EmbeddedRungeKutta, size: float) -> None:
        model, points, rule = problem.model, problem.points, Projection()
        self.problem, self.method, ny, n = problem, method, model.y0.size, problem.n
        self.pack = NEWTON_EULER.pack(model)
        self._steps = Problem(MaximalStateSpace(model), self.pack, rule.rates, rule.post_step, rule.options(), 0.0, np.zeros(ny))
        self._rates, self._search, self._met = np.zeros(ny), new_search(len(points.pairs), ny), np.empty(len(points.pairs))
        middle = points.shapes.middle
        own = np.linalg.norm(middle[:, :3], axis=1) + middle[:, 3]
        resolve(MANIFOLD, RATES)
        self._watched = Watched(
            find=MANIFOLD,
            rates=RATES,
            point=np.zeros((1, RATE_COLUMNS)),
            shapes=points.shapes,
            pairs=points.pairs,
            bodies=points.bodies,
            reach=np.ascontiguousarray(own[points.pairs]),
            since=0.0,
            noted=np.zeros((0, 2), dtype=np.int64),
            law=np.zeros((0, 3)),
            parted=PARTED * size,
            A=np.zeros((3, n, 3, 3)),
            speed=np.zeros((n, 2)),
            place=np.zeros((MOST_POINTS, POINT_COLUMNS)),
            features=np.zeros(MOST_POINTS, dtype=np.int64),
            scratch=new_scratch(points.shapes),
            ends=np.zeros((2, MOST_POINTS, 2)),
            ended=np.zeros((2, MOST_POINTS), dtype=np.int64),
        )
        tableau, p = method.tableau, self._steps
        watch, silent = p.stiffness(False), new_watch(np.zeros(0, dtype=np.int64), ny)
        adaptive = isinstance(method, EmbeddedRungeKutta)
        self._motion = Motion(
            p.dynamics, p.options, tableau, p.stages(tableau.b.size if adaptive else tableau.b.size - 1), watch, silent
        )
        self._embedded = Embedded(tableau, method.errors, method.units(p)) if isinstance(method, EmbeddedRungeKutta) else None

    def begin(self, since: float, bounced: dict[Key, tuple[float, float]], near: dict[Key, float]) -> None:
        """Note the points of a switch at a time.

        bounced: gap rate [m/s] and gap [m] of points that have just parted;  near: how far others may go below zero [m]
        """
        law = [(*one, 0.0) for one in bounced.values()] + [(0.0, 0.0, below) for below in near.values()]
        noted = np.array([*bounced, *near], dtype=np.int64).reshape(-1, 2)
        self._watched = self._watched._replace(since=float(since), noted=noted, law=np.array(law, dtype=np.float64).reshape(-1, 3))

    def restart(self, t: float, y: Array) -> Array:
        """Bring a state (ny,) behind a jump back to the constraints, in place; return its rates (ny,)."""
        p = self._steps
        p.options.n_since_projection = np.inf
        code = p.post_step(self.pack, p.options, float(t), y, self._rates)
        self.problem.response.note(code, t)
        return self._rates.copy()

    def next(self, t: float, y: Array, y_dot: Array, h: float, stop: float, most: int) -> Flown:
        """Return steps from a state, at most so many, up to `stop`; the first is about h, and the last may be a little longer."""
        p, work = self._steps, self.problem.response
        p.y[:], self._rates[:] = y, y_dot
        self._met.fill(np.inf)
        before = copy_options(p.options)
        flown = self._fixed(t, h, stop, most) if self._embedded is None else self._adaptive(t, y, y_dot, h, stop, most)
        work.n_rates += int(p.options.n_rates - before.n_rates)
        work.n_factorizations += int(p.options.n_factorizations - before.n_factorizations)
        return flown

    def _fixed(self, t: float, h: float, stop: float, most: int) -> Flown:
        """Return steps of a fixed length."""
        full = max(int(np.floor((stop - t) / h - 1e-3 + 1e-12)), 0)
        ends, length = t + h * np.arange(1, min(full, most) + 1, dtype=np.float64), h
        if not len(ends):
            ends, length = np.array([stop]), stop - t
        steps, point = steps_to(ends, self._steps.y.size), Point(self._steps.y, self._rates)
        done, what = fly(self._motion, self._watched, float(t), float(length), point, steps, self._search, self._met)
        return self._flown(steps, done, what, h, 0)

    def _adaptive(self, t: float, y: Array, y_dot: Array, h: float, stop: float, most: int) -> Flown:
        """Return steps with error control, made before contacts are looked at."""
        p, method = self._steps, self.method
        assert isinstance(method, EmbeddedRungeKutta)
        assert self._embedded is not None
        control = new_record(
            CONTROL,
            t=float(t),
            t_end=float(stop),
            h_next=float(h),
            rtol=method.rtol,
            atol=method.atol,
            h_max=min(method.h_max, stop - t),
            error_order=method.error_order,
            beta=method.beta,
            error_before=LEAST_ERROR,
            shrink=method.limits[0],
            grow=method.limits[1],
        )
        steps = empty_steps(most, p.y.size)
        code, made = run_embedded(p.dynamics, p.options, self._embedded, control, Point(p.y, self._rates), self._motion.k, steps)
        start = Point(np.ascontiguousarray(y), np.ascontiguousarray(y_dot))
        ends = steps.t[:made].copy()
        done, what = look(self._motion, self._watched, float(t), start, steps, made, self._search, self._met)
        if what == FLIES and code != OK:
            what = UNDECIDED
        if what == FLIES:
            return self._flown(steps, done, what, float(control.h_next), int(control.n_rejected))
        number = done - 1 if what == MEETS else done  # the step that is made again, or ended by an impact
        begin = float(ends[number - 1]) if number > 0 else float(t)
        length = float(ends[number]) - begin if number < made else h
        return self._flown(steps, done, what, length, int(control.n_rejected))

    def _flown(self, steps: Steps, done: int, what: int, h: float, rejected: int) -> Flown:
        met = np.flatnonzero(self._met < np.inf).tolist() if what == MEETS else []
        return Flown(steps.t[:done], steps.y[:done], steps.y_dot[:done], what, met, h, rejected)


def shape_flights(problem: ContactProblem, method: object, size: float) -> ShapeFlights | None:
    """Return the flights of a motion; None for parts or methods that need the loop in Python."""
    if not (
        isinstance(method, RungeKutta | EmbeddedRungeKutta)
        and method.h_first is None
        and problem.has_tables
        and suits(problem.model)
    ):
        return None
    return ShapeFlights(problem, method, size)
