r"""Flights: smooth segments of a motion with impacts in which all contacts are open; compiled code searches for the next impact.

    step       of an explicit Runge-Kutta method, as in `runge_kutta`
    look       gap > 0 of every contact at the end and in the middle of the step, and no gap that turns towards zero between them
    locate     the first zero of a gap, as `event_location` does, with the same operations in the same order:
               Brent's method on dense output, then  t <- t - g(step(t)) / g_dot  on steps that end there

A flight makes no object per step, event or contact, and one workspace serves all of them. It is for what needs nothing between the steps:
contacts with planes and stops of joint coordinates, steps of fixed length with a projection, all of them stored, and no function of the
user, event, sensor, friction or compliant contact. A flight that meets anything else (a gap that may close and open within a step, a zero
that is not found by corrections, a joint that turns too far) is given up, and the loop of `stepping.run` makes its segment from the start.
Source: Brent, Algorithms for Minimization without Derivatives (1973), ch. 4.
"""

from __future__ import annotations

import time
from math import floor, ulp
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, kernel, released
from haugmbd.compiled.status_codes import OK
from haugmbd.contact.gap import BODY_I, COLUMN, KIND, PLANE, THIRD, GapTable, gap_of, gap_rate_of
from haugmbd.diagnostics.contact_warnings import unilateral_joints
from haugmbd.diagnostics.run_warnings import LARGEST_GAP, Outcome, RunStatus, TurnMonitor, end_of_run, violation_notes
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.impacts.single_impact import SingleImpacts
from haugmbd.integrators.dense_output import cubic_value, put_body
from haugmbd.integrators.event_location import (
    AT_ONCE,
    CORRECTIONS,
    JUMPS,
    LOCATED,
    NEARLY,
    OF_STEP,
    ROUNDED,
    SHORTEST,
    SLOPE,
)
from haugmbd.integrators.explicit.runge_kutta import LEFT, RungeKutta, make_step
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.leaps import CLEAR as TURN_CLEAR
from haugmbd.integrators.leaps import OUTSIDE
from haugmbd.integrators.singularities.singularity_search import may_be_singular
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_batch import growing_lengths
from haugmbd.integrators.step_context import Dynamics, Options, Point, Problem, Steps, copy_options, steps_to
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch, new_watch
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.model.generalized_forces import copy_line
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.driver_breaks import driven_joints
from haugmbd.model.inspection.row_gaps import largest_gap
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.hybrid.contact_events import CLEAR, NEARER
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.run_methods import NEWTON_EULER, RunMethods
from haugmbd.simulation.run_options import Recorded
from haugmbd.simulation.stepping.run import FIRST_BATCH
from haugmbd.simulation.stepping.state_memory import need_memory_for_states
from haugmbd.system.checks.constraint_residuals import has_branches
from haugmbd.system.checks.function_ranges import has_ranges
from haugmbd.system.checks.known_turns import DRIFTED, counts_turns, gaps_beyond

SIZE, BELOW, START_RATE = range(3)
"""Columns of the law of a contact: its size, how far its gap may go below zero, and its rate [m/s] at the start of the flight if it has
just bounced, 0 otherwise."""
FLIES, MEETS, UNDECIDED = range(3)
"""What steps end with: nothing, an impact, or a step that the loop of a run has to search."""
MOST_ITERATIONS, RELATIVE = 100, 4.0 * ulp(1.0)
"""Of Brent's method, as SciPy has them."""


class Search(NamedTuple):
    """Work arrays of a search, for k contacts and states of ny numbers.

    gaps: (3, k) at the start of a step, in its middle and at its end;  start: (2, ny) state and rates at the start of the step
    halfway: (ny,) room for dense output;  trial: (4, ny) state, rates and room at the end of a step to a zero;  first: (2, ny) of the first
    brackets: (2 k, 6) lower, upper, g_lower, g_upper, secant, time of the zero;  numbers: (2 k,) their contacts;  order: (2 k,)
    """

    gaps: Array
    start: Array
    halfway: Array
    trial: Array
    first: Array
    brackets: Array
    numbers: Ints
    order: Ints


def new_search(k: int, ny: int) -> Search:
    """Return work arrays for k contacts."""
    arrays = np.zeros((3, k)), np.zeros((2, ny)), np.zeros(ny), np.zeros((4, ny)), np.zeros((2, ny)), np.zeros((2 * k, 6))
    return Search(*arrays, np.zeros(2 * k, dtype=np.int64), np.zeros(2 * k, dtype=np.int64))


SMALL_ARRAY = 16_000
"""Numbers of the states of the first part of a flight, at most: larger arrays are pages that the system has to clear, for steps that the
next impact may leave out."""


LOWER, UPPER, G_LOWER, G_UPPER, SECANT, ZERO = range(6)


class Watched(NamedTuple):
    """The contacts of a flight.  law: (k, 3), see SIZE;  since: its start [s]"""

    table: GapTable
    law: Array
    since: float


class Step(NamedTuple):
    """A step: times of its ends [s], and state and rates there (ny,)."""

    t_0: float
    t_1: float
    y_0: Array
    y_dot_0: Array
    y_1: Array
    y_dot_1: Array


@kernel
def value_at(w: Watched, k: int, t: float, y: Array) -> float:
    """Return g of contact k at a state: its gap plus what it may go below zero, or the quotient of one that has bounced."""
    gap = gap_of(w.table, k, y)
    if w.law[k, START_RATE] > 0.0:
        return gap / (t - w.since) if t > w.since else w.law[k, START_RATE]
    above: float = gap + w.law[k, BELOW]
    return above


@kernel
def put_between(w: Watched, k: int, t: float, step: Step, out: Array) -> None:
    """Write the bodies of contact k at a time within a step, by dense output."""
    h = step.t_1 - step.t_0
    s = (t - step.t_0) / h
    for side in range(2):
        body = w.table.places[k, BODY_I + side]
        a, b = WIDTH * body, WIDTH * (body + 1)
        if body == 0:
            for n in range(WIDTH):
                out[n] = step.y_0[n]
        else:
            put_body(s, h, step.y_0[a:b], step.y_dot_0[a:b], step.y_1[a:b], step.y_dot_1[a:b], out[a:b])
    c = w.table.places[k, COLUMN]
    if c > 0:
        out[c] = cubic_value(s, h, step.y_0[c], step.y_dot_0[c], step.y_1[c], step.y_dot_1[c])


@kernel
def on_dense_output(w: Watched, k: int, after: float, step: Step, out: Array) -> float:
    """Return g of contact k at a time after the start of a step, on dense output."""
    t = step.t_0 + after
    put_between(w, k, t, step, out)
    return value_at(w, k, t, out)


@kernel
def may_leap(w: Watched, k: int, step: Step, search: Search) -> bool:
    """Return whether contact k may be closed and open again within a step, unseen at its ends and in its middle."""
    below = w.law[k, BELOW]
    before, middle, after = search.gaps[0, k] + below, search.gaps[1, k] + below, search.gaps[2, k] + below
    slope, curvature = 0.5 * (after - before), before - 2.0 * middle + after
    least = min(before, middle, after)
    if not (least > 0.0 and curvature > 0.0 and abs(slope) <= curvature):
        return False
    nearer: bool = middle - 0.5 * slope * slope / curvature < NEARER * least
    return nearer


@kernel
def falls_and_rises(h: float, gap: float, rate: float, gap_after: float, rate_after: float) -> bool:
    """Return whether a gap above zero at both ends of a time h may be below it between them, as `leaps.falls_and_rises`."""
    if not (rate < 0.0 and rate_after > 0.0 and gap > 0.0 and gap_after > 0.0):
        return False
    return gap + rate * ((gap_after - gap - rate_after * h) / (rate - rate_after)) <= 0.0


@kernel
def leaps(w: Watched, k: int, step: Step, search: Search) -> bool:
    """Return whether the tangents of the gap of contact k meet below zero in one of the halves of a step."""
    below, h = w.law[k, BELOW], 0.5 * (step.t_1 - step.t_0)
    put_between(w, k, 0.5 * (step.t_0 + step.t_1), step, search.halfway)
    before, middle, after = search.gaps[0, k] + below, search.gaps[1, k] + below, search.gaps[2, k] + below
    rate = gap_rate_of(w.table, k, search.halfway)
    first = falls_and_rises(h, before, gap_rate_of(w.table, k, step.y_0), middle, rate)
    return first or falls_and_rises(h, middle, rate, after, gap_rate_of(w.table, k, step.y_1))


STEEP, BENT = 5.0 / 32.0, 1.0 / 64.0
"""x_half = (x0 + x1) / 2 + STEEP h (x0' - x1') + BENT h^2 (x0'' + x1''), of the quintic of `dense_output`."""
FAR = 4.0
"""Gaps at both ends of a step that are larger than so many changes towards its middle are open there, and their parabola has no zero."""


@kernel
def is_far(w: Watched, k: int, step: Step, before: float, after: float) -> bool:
    """Return whether a gap from a plane of the ground is so large at both ends of a step that it cannot close in it."""
    if w.table.places[k, KIND] != PLANE or w.table.places[k, BODY_I] != 0:
        return False
    h, j = step.t_1 - step.t_0, WIDTH * w.table.places[k, BODY_I + 1]
    change, turned, reach = 0.0, 0.0, 0.0
    for a in range(3):
        v, r = j + VELOCITY + a, j + OMEGA_BAR + a
        change += abs(STEEP * h * (step.y_0[v] - step.y_1[v]) + BENT * h * h * (step.y_dot_0[v] + step.y_dot_1[v]))
        turned += h * (abs(step.y_0[r]) + abs(step.y_1[r])) + h * h * (abs(step.y_dot_0[r]) + abs(step.y_dot_1[r]))
        reach += abs(w.table.numbers[k, THIRD + a])
    return min(before, after) > FAR * (change + reach * turned)


@kernel
def put_brackets(w: Watched, step: Step, search: Search) -> int:
    """Write where gaps close in a step, sorted by their secants; return the number of brackets, -1 if a gap may close and open unseen."""
    m, half = 0, 0.5 * (step.t_0 + step.t_1)
    for k in range(w.table.places.shape[0]):
        size, below = CLEAR * w.law[k, SIZE], w.law[k, BELOW]
        search.gaps[2, k] = gap_of(w.table, k, step.y_1)
        if search.gaps[0, k] > size and search.gaps[2, k] > size and is_far(w, k, step, search.gaps[0, k], search.gaps[2, k]):
            continue
        put_between(w, k, half, step, search.halfway)
        search.gaps[1, k] = gap_of(w.table, k, search.halfway)
        if may_leap(w, k, step, search) and leaps(w, k, step, search):
            return -1
        least = min(search.gaps[0, k], search.gaps[1, k], search.gaps[2, k])
        if least + below > size:
            continue
        g_0, g_half, g_1 = (
            value_at(w, k, step.t_0, step.y_0),
            value_at(w, k, half, search.halfway),
            value_at(w, k, step.t_1, step.y_1),
        )
        middle, end = half - step.t_0, step.t_1 - step.t_0
        if g_0 > 0.0 >= g_half:
            m = put_bracket(search, m, k, 0.0, middle, g_0, g_half)
        if g_half > 0.0 >= g_1:
            m = put_bracket(search, m, k, middle, end, g_half, g_1)
        if g_0 > 0.0 and g_half > 0.0 and g_1 > 0.0 and turns_to_zero(0.0, middle, end, g_0, g_half, g_1):
            return -1
    return m


@kernel
def turns_to_zero(a: float, b: float, c: float, f_a: float, f_b: float, f_c: float) -> bool:
    """Return whether the parabola through three positive values turns near zero within its times, as `leaps.turn_of_values` asks."""
    slope, slope_after = (f_b - f_a) / (b - a), (f_c - f_b) / (c - b)
    bend = (slope_after - slope) / (c - a)
    if not bend > 0.0:
        return False
    turn = 0.5 * (a + b) - 0.5 * slope / bend
    least = f_a + (turn - a) * (slope + bend * (turn - b))
    low = least <= TURN_CLEAR * (max(f_a, f_b, f_c) - min(f_a, f_b, f_c))
    return low and -OUTSIDE < (turn - a) / (c - a) < 1.0 + OUTSIDE


@kernel
def put_bracket(search: Search, m: int, k: int, lower: float, upper: float, g_lower: float, g_upper: float) -> int:
    """Insert a bracket of contact k behind those whose secant is not later; return the number of brackets."""
    secant = lower + (upper - lower) * g_lower / (g_lower - g_upper)
    place = m
    while place > 0 and search.brackets[search.order[place - 1], SECANT] > secant:
        search.order[place] = search.order[place - 1]
        place -= 1
    search.order[place], search.numbers[m] = m, k
    b = search.brackets[m]
    b[LOWER], b[UPPER], b[G_LOWER], b[G_UPPER], b[SECANT] = lower, upper, g_lower, g_upper, secant
    return m + 1


@kernel
def known_or_on_dense_output(w: Watched, k: int, x: float, b: Array, step: Step, out: Array) -> float:
    """Return g on dense output, without an evaluation at the ends of its bracket."""
    g_lower: float = b[G_LOWER]
    g_upper: float = b[G_UPPER]
    if x == b[LOWER]:
        return g_lower
    if x == b[UPPER]:
        return g_upper
    return on_dense_output(w, k, x, step, out)


@kernel
def zero_in(w: Watched, k: int, b: Array, near: float, step: Step, out: Array) -> tuple[bool, float]:
    """Return whether Brent's method has converged, and the zero of g on dense output in a bracket, within `near` [s]."""
    if b[G_UPPER] == 0.0:
        return True, b[UPPER]
    x_before, x, x_other = b[LOWER], b[UPPER], 0.0
    g_before, g, g_other = b[G_LOWER], b[G_UPPER], 0.0
    last, now = 0.0, 0.0
    for _ in range(MOST_ITERATIONS):
        # the zero is between x and x_other, and x is the better of the two
        if g_before != 0.0 and g != 0.0 and (g_before < 0.0) != (g < 0.0):
            x_other, g_other = x_before, g_before
            last = now = x - x_before
        if abs(g_other) < abs(g):
            x_before, x, x_other = x, x_other, x
            g_before, g, g_other = g, g_other, g
        delta, half = (near + RELATIVE * abs(x)) / 2.0, (x_other - x) / 2.0
        if g == 0.0 or abs(half) < delta:
            return True, x
        # the secant, or the inverse parabola through three points, where it is short enough; else bisection
        if abs(last) > delta and abs(g) < abs(g_before):
            if x_before == x_other:
                trial = -g * (x - x_before) / (g - g_before)
            else:
                slope_before, slope_other = (g_before - g) / (x_before - x), (g_other - g) / (x_other - x)
                trial = -g * (g_other * slope_other - g_before * slope_before) / (slope_other * slope_before * (g_other - g_before))
            if 2.0 * abs(trial) < min(abs(last), 3.0 * abs(half) - delta):
                last, now = now, trial
            else:
                last = now = half
        else:
            last = now = half
        x_before, g_before = x, g
        if abs(now) > delta:
            x += now
        else:
            x += delta if half > 0.0 else -delta
        g = known_or_on_dense_output(w, k, x, b, step, out)
    return False, x


class Motion(NamedTuple):
    """What makes steps: the system, its options and method, rates k (s - 1, ny) of stages; what a run notes of its steps, and no notes."""

    dynamics: Dynamics
    options: Options
    tableau: Tableau
    k: Array
    notes: StiffnessWatch
    silent: StiffnessWatch


@kernel
def step_to(m: Motion, t: float, step: Step, trial: Array) -> float:
    """Make a step from the start of a step to t, and write state and rates to `trial`; return the time that it reaches, NaN if it fails."""
    h = t - step.t_0
    copy_line(step.y_0, trial[0])
    copy_line(step.y_dot_0, trial[1])
    if h <= SHORTEST * (1.0 + abs(t)):
        for n in range(step.y_0.size):
            trial[0, n] = step.y_0[n] + h * step.y_dot_0[n]
        return t
    options, end = m.options, step.t_0 + h
    since = options.n_since_projection
    options.n_since_projection = np.inf  # wherever it ends, it is corrected
    point = Point(trial[0], trial[1])
    code = make_step(m.dynamics, options, m.tableau, m.silent, step.t_0, end, h, point, m.k, trial[2], trial[3])
    options.n_since_projection = since
    return t if code == OK else np.nan


@kernel
def locate(m: Motion, w: Watched, k: int, b: Array, step: Step, search: Search) -> float:
    """Write the moment at which g is zero to `search.trial`; return its time, NaN where corrections do not find it."""
    near = max(min(LOCATED, OF_STEP * (b[UPPER] - b[LOWER])), ROUNDED * abs(step.t_0))
    converged, after = zero_in(w, k, b, near, step, search.halfway)
    if not converged:
        return np.nan
    # g_dot of dense output, where the zero is farther from the ends of the bracket
    width = b[UPPER] - b[LOWER]
    aside = SLOPE * width * (1.0 if after < 0.5 * (b[LOWER] + b[UPPER]) else -1.0)
    g_aside, g_there = (
        on_dense_output(w, k, after + aside, step, search.halfway),
        on_dense_output(w, k, after, step, search.halfway),
    )
    g_dot = (g_aside - g_there) / aside
    largest = max(abs(b[G_LOWER]), abs(b[G_UPPER]))
    # t <- t - g(step(t)) / g_dot
    for _ in range(CORRECTIONS):
        t = step_to(m, step.t_0 + after, step, search.trial)
        g = value_at(w, k, t, search.trial[0])
        change = -g / g_dot if g_dot != 0.0 else np.inf
        if abs(change) <= near:
            return t if abs(g) <= JUMPS * largest else np.nan
        if not abs(change) <= SLOPE * width:
            return np.nan
        after += change
    return np.nan


@kernel
def has_passed(w: Watched, k: int, b: Array, step: Step, t: float, first: Array) -> bool:
    """Return whether g has passed zero since the start of its bracket in the state at the first impact, at t."""
    passed: bool = t > step.t_0 + b[LOWER] and b[G_LOWER] > 0.0 >= value_at(w, k, t, first)
    return passed


@kernel
def first_impact(m: Motion, w: Watched, n: int, step: Step, search: Search) -> float:
    """Write the moment of the first of n impacts in a step to `search.first`; return its time, NaN where it is not found.

    The times of all impacts that were located are written to their brackets, NaN for those that certainly come later.
    """
    t = np.inf
    for place in range(n):
        number = search.order[place]
        b, k = search.brackets[number], search.numbers[number]
        b[ZERO] = np.nan
        if t < np.inf and t < step.t_0 + b[UPPER] and not has_passed(w, k, b, step, t, search.first[0]):
            if abs(value_at(w, k, t, search.first[0])) > NEARLY * max(abs(b[G_LOWER]), abs(b[G_UPPER])):
                continue
        zero = locate(m, w, k, b, step, search)
        if not zero > step.t_0:
            return np.nan
        b[ZERO] = zero
        if zero < t:
            t = zero
            copy_line(search.trial[0], search.first[0])
            copy_line(search.trial[1], search.first[1])
    return t


@kernel
def put_met(w: Watched, n: int, t: float, step: Step, search: Search, met: Array) -> None:
    """Write the times at which the contacts of n brackets meet at the instant of the first impact, at t, to met (k,); others stay."""
    for place in range(n):
        number = search.order[place]
        b, k = search.brackets[number], search.numbers[number]
        if b[ZERO] <= t + AT_ONCE * (1.0 + abs(t)) or (b[ZERO] == b[ZERO] and has_passed(w, k, b, step, t, search.first[0])):
            met[k] = b[ZERO]


@released
def fly_entry(
    m: Motion, w: Watched, t0: float, h: float, point: Point, steps: Steps, search: Search, met: Array
) -> tuple[int, int, int]:
    """Advance the point from t0 by steps of h to the times in `steps`, or to the first impact, which ends the last step.

    met: (k,) times of the contacts that meet there, infinite before
    Return the code, the number of steps done, and FLIES, MEETS or UNDECIDED.
    """
    for k in range(w.table.places.shape[0]):
        search.gaps[0, k] = gap_of(w.table, k, point.y)
    for number in range(steps.y.shape[0]):
        copy_line(point.y, search.start[0])
        copy_line(point.y_dot, search.start[1])
        t, end = steps.t[number - 1] if number > 0 else t0, steps.t[number]
        code = make_step(m.dynamics, m.options, m.tableau, m.notes, t, end, h, point, m.k, steps.y[number], steps.y_dot[number])
        if code != OK:
            return code, number, UNDECIDED
        step = Step(t, end, search.start[0], search.start[1], steps.y[number], steps.y_dot[number])
        n = put_brackets(w, step, search)
        if n < 0:
            return OK, number, UNDECIDED
        if n > 0:
            zero = first_impact(m, w, n, step, search)
            if not zero > t:
                return OK, number, UNDECIDED
            put_met(w, n, zero, step, search, met)
            steps.t[number] = zero
            copy_line(search.first[0], steps.y[number])
            copy_line(search.first[1], steps.y_dot[number])
            return OK, number + 1, MEETS
        for k in range(search.gaps.shape[1]):
            search.gaps[0, k] = search.gaps[2, k]
    return OK, steps.y.shape[0], FLIES


fly = DirectCall(fly_entry)


@once_per_model
def suits(model: Model) -> bool:
    """Return whether a model has nothing between its steps that a flight does not look at."""
    callbacks = model.force_callbacks
    called = callbacks.any and not callbacks.compiled
    switches = model.has_contacts or model.has_stops or may_stick(model) or bool(unilateral_joints(model))
    drives = bool(driven_joints(model)) or has_branches(model) or has_ranges(model)
    return not (called or switches or drives or model.network is not None or may_be_singular(model))


class Flown(NamedTuple):
    """A flight: what it records, without events; the contacts that meet at its end, by their times there, and the state there."""

    recorded: Recorded
    met: list[tuple[float, str]]
    state: State


class Flights:
    """The flights of one motion, in one workspace."""

    def __init__(
        self, model: Model, names: tuple[str, ...], table: GapTable, method: RungeKutta, rule: Projection, t_end: float
    ) -> None:
        self.model, self.names, self.method, self.rule, self.t_end = model, names, method, rule, t_end
        self.space = MaximalStateSpace(model)
        self.pack = NEWTON_EULER.pack(model)
        self.problem = Problem(self.space, self.pack, rule.rates, rule.post_step, rule.options(), 0.0, np.zeros(model.y0.size))
        self.table, self.search = table, new_search(len(names), model.y0.size)
        self._law, self._met = np.zeros((len(names), 3)), np.empty(len(names))
        self._k1 = np.zeros(model.y0.size)
        self._counts_turns, self._silent = counts_turns(model), new_watch(np.zeros(0, dtype=np.int64), model.y0.size)
        self._dynamics, self._options = self.problem.dynamics, rule.options()
        self._cpu, self._has_memory = time.process_time(), False

    def next(self, state: State, rates: Array, below: Array, sizes: Array) -> Flown | None:
        """Return the flight from a state to the next impact, or to the end of the motion; None if the loop of a run has to make it.

        rates: (k,) of the gaps of contacts that have just bounced, 0 of others;  below: (k,) how far gaps may go below zero;  sizes: (k,)
        """
        p, tableau = self.problem, self.method.tableau
        if not self._has_memory:
            assert self.method.h is not None
            need_memory_for_states((self.t_end - state.t) / self.method.h, p.y.size)
            self._has_memory = True
        p.t, p.y[:], p.options, p.watched = state.t, state.flat, copy_options(self._options), None
        self._law[:, SIZE], self._law[:, BELOW], self._law[:, START_RATE] = sizes, below, rates
        self._met.fill(np.inf)
        if p.post_step(self.pack, p.options, state.t, p.y, self._k1) != OK:
            return None
        t, y = [np.array([state.t])], [p.y[None].copy()]
        turns = TurnMonitor(*self.space.spinning())
        turns.start(t[0], y[0])
        watch = p.stiffness(bool(tableau.b.size > 1 and tableau.c[-1] == 1.0))
        motion = Motion(self._dynamics, p.options, tableau, p.stages(tableau.b.size - 1), watch, self._silent)
        watched, interrupted, what = Watched(self.table, self._law, float(state.t)), False, FLIES
        try:
            for begin, h, ends in self._parts(state.t):
                steps = steps_to(ends, p.y.size)
                code, done, what = fly(motion, watched, begin, h, Point(p.y, self._k1), steps, self.search, self._met)
                if code != OK or what == UNDECIDED:
                    return None
                t.append(steps.t[:done])
                y.append(steps.y[:done])
                turns.observe(t[-1], y[-1])
                if what == MEETS:
                    break
        except KeyboardInterrupt:
            interrupted = True
        return self._flown(np.concatenate(t), np.concatenate(y), turns, what == MEETS, interrupted)

    def _parts(self, t: float) -> Any:
        """Yield start, length and ends of the steps from t to the end of the motion, part by part, as `OneStep.batches` makes them."""
        h = self.method.h
        assert h is not None
        full = floor((self.t_end - t) / h * (1.0 + 1e-12))
        rest, done = self.t_end - t - full * h, 0
        most = growing_lengths(max(1, min(FIRST_BATCH, SMALL_ARRAY // self.problem.y.size)), 1000)
        while done < full:
            n = min(next(most), full - done)
            ends: Array = t + h * np.arange(done + 1, done + 1 + n, dtype=np.float64)
            if done + n == full and rest <= LEFT * h:
                ends[-1] = self.t_end
            yield t + done * h, h, ends
            done += n
        if rest > LEFT * h:
            yield t + full * h, rest, np.array([self.t_end])

    def _flown(self, t: Array, y: Array, turns: TurnMonitor, meets: bool, interrupted: bool) -> Flown | None:
        """Return the flight of these states; None if one of them is doubtful."""
        if self._counts_turns and gaps_beyond(self.model, y, DRIFTED) is not None:
            return None
        gap, o = largest_gap(self.pack, self.model.length)[0] if self.model.nc else 0.0, self.problem.options
        before, self._cpu = self._cpu, time.process_time()  # since the flight before, with the impact between them
        joint = self.space.worst_gap(self.pack)[1] if gap > LARGEST_GAP else ""
        counters = Counters(
            steps=len(t) - 1,
            rejected=0,
            evaluations=int(o.n_rates),
            factorizations=int(o.n_factorizations),
            projections=int(o.n_projections),
            max_euler_drift=float(o.max_euler_drift),
            euler_sum=float(o.sum_euler_drift),
            cpu=self._cpu - before,
        )
        met = sorted((float(self._met[k]), k) for k in np.flatnonzero(self._met < np.inf).tolist()) if meets else []
        found, now = [(when, self.names[k]) for when, k in met], float(t[-1])
        status = RunStatus.INTERRUPTED if interrupted else RunStatus.TERMINAL_EVENT if found else RunStatus.COMPLETED
        ended_by = f"{found[0][1]} meets" if found else ""
        end = now if found else self.t_end
        message = end_of_run(status, f"at t = {now:.9g} s", end, budget=None, ended_by=ended_by)
        outcome = Outcome(status, message, (*turns.notes(fixed=True), *violation_notes(gap, joint, now)))
        recorded = Recorded(t, y, None, None, None, {}, counters, outcome, (), (), 0.0, None, self.problem.watched)
        last = y[-1].copy()
        return Flown(recorded, found, State.from_y(now, last, self.model.nb + 1, flat=last))


def flights_of(contacts: ContactModes, methods: RunMethods, rule: Stabilization, t_end: float) -> Flights | None:
    """Return the flights of a motion; None for parts or methods that need the loop of a run."""
    method, table = methods.integrator, contacts.table
    if not (isinstance(method, RungeKutta) and method.h_first is None and isinstance(rule, Projection)) or table is None:
        return None
    if methods.formulation is not NEWTON_EULER or not suits(contacts.free):
        return None
    return Flights(contacts.free, contacts.names, table, method, rule, t_end)


def single_impacts_of(contacts: ContactModes) -> SingleImpacts | None:
    """Return the impacts of single contacts in compiled code; None where joints have friction or may only push, or a gap is no kernel."""
    return SingleImpacts(contacts.free, contacts.table) if contacts.table is not None and suits(contacts.free) else None
