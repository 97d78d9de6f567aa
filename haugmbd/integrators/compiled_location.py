r"""Location of events in compiled code: what `event_location` does in one step, with the same operations in the same order.

    brackets   where functions g_k of the state fall through zero between two times of a step, sorted by their secants
    estimate   g(dense output at t) = 0 for t, by Brent's method
    correct    t <- t - g(step(t)) / g_dot, until the correction is rounding
    first      the earliest zero ends the step; with it go those of its instant, and those that have passed zero in the state there

What g is, is said by two kernels, of a state and of dense output, and what they read, w, see `location`:

    value(w, k, t, y)      between(w, k, after, step, out)       after the start of the step [s];  out: (ny,) room for a state

A search that is not as plain as that is not made here: its result is NaN, or UNDECIDED, and `event_location` makes it.
Every operation is rounded, as in Python.
Source: Brent, Algorithms for Minimization without Derivatives (1973), ch. 4.
"""

from __future__ import annotations

from math import ulp
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel, uncontracted
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.event_location import AT_ONCE, CORRECTIONS, JUMPS, LOCATED, NEARLY, OF_STEP, ROUNDED, SHORTEST, SLOPE
from haugmbd.integrators.explicit.runge_kutta import make_step
from haugmbd.integrators.explicit.tableau import Tableau
from haugmbd.integrators.leaps import CLEAR as TURN_CLEAR
from haugmbd.integrators.leaps import OUTSIDE
from haugmbd.integrators.step_context import Dynamics, Options, Point
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch
from haugmbd.model.generalized_forces import copy_line

UNDECIDED = -1
"""In place of a number of events: `event_location` has to search the step."""
MOST_ITERATIONS, RELATIVE = 100, 4.0 * ulp(1.0)
"""Of Brent's method, as SciPy has them."""


class Search(NamedTuple):
    """Work arrays of a search, for k functions and states of ny numbers.

    gaps: (3, .) what is known at the start of a step, in its middle and at its end;  start: (2, ny) state and rates at its start
    halfway: (ny,) room for dense output;  trial: (4, ny) state, rates and room at the end of a step to a zero;  first: (2, ny) of the first
    brackets: (2 k, 6) lower, upper, g_lower, g_upper, secant, time of the zero;  numbers: (2 k,) their functions;  order: (2 k,)
    brent: (8,) see X_BEFORE
    """

    gaps: Array
    start: Array
    halfway: Array
    trial: Array
    first: Array
    brackets: Array
    numbers: Ints
    order: Ints
    brent: Array


def new_search(k: int, ny: int, known: int | None = None) -> Search:
    """Return work arrays for k functions;  known: numbers that are known at a time, by default one of each function."""
    gaps = np.zeros((3, k if known is None else known))
    arrays = gaps, np.zeros((2, ny)), np.zeros(ny), np.zeros((4, ny)), np.zeros((2, ny)), np.zeros((2 * k, 6))
    return Search(*arrays, np.zeros(2 * k, dtype=np.int64), np.zeros(2 * k, dtype=np.int64), np.zeros(8))


LOWER, UPPER, G_LOWER, G_UPPER, SECANT, ZERO = range(6)


class Step(NamedTuple):
    """A step: times of its ends [s], and state and rates there (ny,)."""

    t_0: float
    t_1: float
    y_0: Array
    y_dot_0: Array
    y_1: Array
    y_dot_1: Array


class Motion(NamedTuple):
    """What makes steps: the system, its options and method, rates k (s - 1, ny) of stages; what a run notes of its steps, and no notes."""

    dynamics: Dynamics
    options: Options
    tableau: Tableau
    k: Array
    notes: StiffnessWatch
    silent: StiffnessWatch


@uncontracted
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


@uncontracted
def put_bracket(search: Search, m: int, k: int, lower: float, upper: float, g_lower: float, g_upper: float) -> int:
    """Insert a bracket of function k behind those whose secant is not later; return the number of brackets."""
    secant = lower + (upper - lower) * g_lower / (g_lower - g_upper)
    place = m
    while place > 0 and search.brackets[search.order[place - 1], SECANT] > secant:
        search.order[place] = search.order[place - 1]
        place -= 1
    search.order[place], search.numbers[m] = m, k
    b = search.brackets[m]
    b[LOWER], b[UPPER], b[G_LOWER], b[G_UPPER], b[SECANT] = lower, upper, g_lower, g_upper, secant
    return m + 1


X_BEFORE, X, X_OTHER, G_BEFORE, G, G_OTHER, LAST, NOW = range(8)
"""Of Brent's method: the iterate before, the iterate, and one where g has the other sign; g there; the last two changes of the iterate."""


@kernel
def begin_brent(s: Array, b: Array) -> None:
    """Begin in a bracket."""
    s[X_BEFORE], s[X], s[X_OTHER] = b[LOWER], b[UPPER], 0.0
    s[G_BEFORE], s[G], s[G_OTHER] = b[G_LOWER], b[G_UPPER], 0.0
    s[LAST] = s[NOW] = 0.0


@uncontracted
def is_zero_of_brent(s: Array, near: float) -> bool:
    """Return whether the iterate is the zero within `near` [s]; if not, go to the next iterate, whose g is not known yet."""
    # the zero is between x and x_other, and x is the better of the two
    if s[G_BEFORE] != 0.0 and s[G] != 0.0 and (s[G_BEFORE] < 0.0) != (s[G] < 0.0):
        s[X_OTHER], s[G_OTHER] = s[X_BEFORE], s[G_BEFORE]
        s[LAST] = s[NOW] = s[X] - s[X_BEFORE]
    if abs(s[G_OTHER]) < abs(s[G]):
        s[X_BEFORE], s[X], s[X_OTHER] = s[X], s[X_OTHER], s[X]
        s[G_BEFORE], s[G], s[G_OTHER] = s[G], s[G_OTHER], s[G]
    x, g, x_before, g_before = s[X], s[G], s[X_BEFORE], s[G_BEFORE]
    delta, half = (near + RELATIVE * abs(x)) / 2.0, (s[X_OTHER] - x) / 2.0
    if g == 0.0 or abs(half) < delta:
        return True
    # the secant, or the inverse parabola through three points, where it is short enough; else bisection
    trial = np.inf
    if abs(s[LAST]) > delta and abs(g) < abs(g_before):
        if x_before == s[X_OTHER]:
            trial = -g * (x - x_before) / (g - g_before)
        else:
            slope, slope_other = (g_before - g) / (x_before - x), (s[G_OTHER] - g) / (s[X_OTHER] - x)
            trial = -g * (s[G_OTHER] * slope_other - g_before * slope) / (slope_other * slope * (s[G_OTHER] - g_before))
    if 2.0 * abs(trial) < min(abs(s[LAST]), 3.0 * abs(half) - delta):
        s[LAST], s[NOW] = s[NOW], trial
    else:
        s[LAST] = s[NOW] = half
    s[X_BEFORE], s[G_BEFORE] = x, g
    least = delta if half > 0.0 else -delta
    s[X] = x + (s[NOW] if abs(s[NOW]) > delta else least)
    return False


@uncontracted
def put_line(y: Array, y_dot: Array, h: float, out: Array) -> None:
    """Write y + h y'."""
    for n in range(y.size):
        out[n] = y[n] + h * y_dot[n]


@kernel
def step_to(m: Motion, t: float, step: Step, trial: Array) -> float:
    """Make a step from the start of a step to t, and write state and rates to `trial`; return the time that it reaches, NaN if it fails."""
    h = t - step.t_0
    copy_line(step.y_0, trial[0])
    copy_line(step.y_dot_0, trial[1])
    if h <= SHORTEST * (1.0 + abs(t)):
        put_line(step.y_0, step.y_dot_0, h, trial[0])
        return t
    options, end = m.options, step.t_0 + h
    since = options.n_since_projection
    options.n_since_projection = np.inf  # wherever it ends, it is corrected
    point = Point(trial[0], trial[1])
    code = make_step(m.dynamics, options, m.tableau, m.silent, step.t_0, end, h, point, m.k, trial[2], trial[3])
    options.n_since_projection = since
    return t if code == OK else np.nan


@uncontracted
def enclosure_of(b: Array, t: float) -> float:
    """Return the length of the last enclosure [s] of a bracket in a step that starts at t."""
    return max(min(LOCATED, OF_STEP * (b[UPPER] - b[LOWER])), ROUNDED * abs(t))


@uncontracted
def place_aside(b: Array, after: float) -> float:
    """Return how far from a zero g is evaluated for g_dot, towards the middle of the bracket [s]."""
    return SLOPE * (b[UPPER] - b[LOWER]) * (1.0 if after < 0.5 * (b[LOWER] + b[UPPER]) else -1.0)


def location(value: Any, between: Any) -> tuple[Any, Any]:
    """Return the kernels that locate the zeros of functions: `first_zero` and `put_met`.

    first_zero(m, w, n, step, search)          the time of the first zero in n brackets of a step, NaN where it is not found
    put_met(w, n, t, step, search, met)        the times of the zeros that are of the instant of the first one, at t
    """

    @kernel
    def known_or_between(w: Any, k: int, x: float, b: Array, step: Step, out: Array) -> float:
        """Return g on dense output, without an evaluation at the ends of its bracket."""
        g_lower: float = b[G_LOWER]
        g_upper: float = b[G_UPPER]
        if x == b[LOWER]:
            return g_lower
        if x == b[UPPER]:
            return g_upper
        return between(w, k, x, step, out)  # type: ignore[no-any-return]

    @kernel
    def zero_in(w: Any, k: int, b: Array, near: float, step: Step, search: Search) -> tuple[bool, float]:
        """Return whether Brent's method has converged, and the zero of g on dense output in a bracket, within `near` [s]."""
        if b[G_UPPER] == 0.0:
            return True, b[UPPER]
        s = search.brent
        begin_brent(s, b)
        for _ in range(MOST_ITERATIONS):
            if is_zero_of_brent(s, near):
                return True, s[X]
            s[G] = known_or_between(w, k, s[X], b, step, search.halfway)
        return False, s[X]

    @kernel
    def locate(m: Motion, w: Any, k: int, b: Array, step: Step, search: Search) -> float:
        """Write the moment at which g is zero to `search.trial`; return its time, NaN where corrections do not find it."""
        near = enclosure_of(b, step.t_0)
        converged, after = zero_in(w, k, b, near, step, search)
        if not converged:
            return np.nan
        # g_dot of dense output, where the zero is farther from the ends of the bracket
        aside = place_aside(b, after)
        g_aside, g_there = between(w, k, after + aside, step, search.halfway), between(w, k, after, step, search.halfway)
        g_dot = (g_aside - g_there) / aside
        largest = max(abs(b[G_LOWER]), abs(b[G_UPPER]))
        # t <- t - g(step(t)) / g_dot
        for _ in range(CORRECTIONS):
            t = step_to(m, step.t_0 + after, step, search.trial)
            g = value(w, k, t, search.trial[0])
            change = -g / g_dot if g_dot != 0.0 else np.inf
            if abs(change) <= near:
                return t if abs(g) <= JUMPS * largest else np.nan
            if not abs(change) <= SLOPE * (b[UPPER] - b[LOWER]):
                return np.nan
            after += change
        return np.nan

    @kernel
    def has_passed(w: Any, k: int, b: Array, step: Step, t: float, first: Array) -> bool:
        """Return whether g has passed zero since the start of its bracket in the state at the first zero, at t."""
        passed: bool = t > step.t_0 + b[LOWER] and b[G_LOWER] > 0.0 >= value(w, k, t, first)
        return passed

    @kernel
    def first_zero(m: Motion, w: Any, n: int, step: Step, search: Search) -> float:
        """Write the moment of the first zero in n brackets of a step to `search.first`; return its time, NaN where it is not found.

        The times of all zeros that were located are written to their brackets, NaN for those that certainly come later.
        """
        t = np.inf
        for place in range(n):
            number = search.order[place]
            b, k = search.brackets[number], search.numbers[number]
            b[ZERO] = np.nan
            if t < np.inf and t < step.t_0 + b[UPPER] and not has_passed(w, k, b, step, t, search.first[0]):
                if abs(value(w, k, t, search.first[0])) > NEARLY * max(abs(b[G_LOWER]), abs(b[G_UPPER])):
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
    def put_met(w: Any, n: int, t: float, step: Step, search: Search, met: Array) -> None:
        """Write the times of the zeros of n brackets that are of the instant of the first one, at t, to met (k,); others stay."""
        for place in range(n):
            number = search.order[place]
            b, k = search.brackets[number], search.numbers[number]
            if b[ZERO] <= t + AT_ONCE * (1.0 + abs(t)) or (b[ZERO] == b[ZERO] and has_passed(w, k, b, step, t, search.first[0])):
                met[k] = b[ZERO]

    return first_zero, put_met
