r"""Gaps that a step leaps over: they fall through zero and rise again between two states at which they are positive.

    g0 > 0, g0' < 0    and    g1 > 0, g1' > 0         at two times, h apart
    tangents meet at   s = (g1 - g0 - g1' h) / (g0' - g1'),   g = g0 + g0' s        a convex gap is not below it

Where they meet above zero there is no leap. Else the least gap is searched: where the tangents meet, or in the middle, the rate tells on
which side it is. The other way round, a gap rises from zero and falls through it again.

A function without a rate is known at both ends of a step and in its middle. Where the parabola through three values turns towards zero,
the function is evaluated; the three values around the least one give the next parabola, until one stays away from zero:

    g1 ... g3, all of one sign    turn at t, with g there         |g| > CLEAR (largest |g| - least |g|):  no zero
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array

SEARCHES = 50
"""Largest number of states at which the least gap is searched."""
CLEAR = 0.5
"""Of the change of three values: a parabola that turns above it has no zero near its turn, unless it is wrong by as much."""
OUTSIDE, INSIDE = 0.25, 0.05
"""Of a step: so far outside a parabola may turn, to be looked at so far inside, where a function that is no parabola may turn."""
CLOSE = 1e-9
"""Of a step: turns that are nearer to a time at which the value is known are that time."""


def falls_and_rises(h: Any, gap: Any, rate: Any, gap_after: Any, rate_after: Any, *, zero: float = 0.0) -> Any:
    """Return whether a gap above `zero` at both ends of a time h may be below it between them, of numbers or arrays."""
    with np.errstate(all="ignore"):
        lowest = gap + rate * np.divide(gap_after - gap - rate_after * h, np.subtract(rate, rate_after))
    return (rate < 0.0) & (rate_after > 0.0) & (gap > zero) & (gap_after > zero) & (lowest <= zero)


def rises_and_falls(gap: Any, rate: Any, gap_after: Any, rate_after: Any, *, zero: float = 0.0) -> Any:
    """Return whether a gap that is not above `zero` at two times is above it between them, of numbers or arrays."""
    return (rate > 0.0) & (rate_after < 0.0) & (gap <= zero) & (gap_after <= zero)


def turn_of(
    measure: Callable[[float], tuple[float, float]], start: float, end: float, zero: float = 0.0, *, opens: bool = False
) -> float | None:
    """Return a time between two at which a gap is on the other side of zero than at both; None if there is none.

    measure: gap and rate at a time;  zero: above it the gap is open
    opens: whether a gap that is closed at both times is searched for one at which it is open, too
    """
    (gap, rate), (gap_after, rate_after) = measure(start), measure(end)
    rises = opens and bool(rises_and_falls(gap, rate, gap_after, rate_after, zero=zero))
    for search in range(SEARCHES):
        h = end - start
        if not rises and not falls_and_rises(h, gap, rate, gap_after, rate_after, zero=zero):
            return None
        meet = (gap_after - gap - rate_after * h) / (rate - rate_after)
        now = start + (meet if search % 2 == 0 and 0.0 < meet < h else 0.5 * h)
        here = measure(now)
        if here[0] > zero if rises else here[0] < 0.0:
            return now
        if (here[1] > 0.0) == rises:
            start, (gap, rate) = now, here
        else:
            end, (gap_after, rate_after) = now, here
    return None


def may_turn(values: Array, halfway: Array) -> npt.NDArray[np.bool_]:
    """Return in which steps functions may turn beyond zero that are positive at the ends, (n, ...), and in the middles, (n - 1, ...)."""
    before, after = values[:-1], values[1:]
    slope, bend = 0.5 * (after - before), after - 2.0 * halfway + before  # in half steps
    most, least = np.maximum(np.maximum(before, after), halfway), np.minimum(np.minimum(before, after), halfway)
    with np.errstate(all="ignore"):
        turns = (bend > 0.0) & (np.abs(slope) < (1.0 + 2.0 * OUTSIDE) * bend)
        low = halfway - 0.5 * slope * slope / bend <= CLEAR * (most - least)
    found: npt.NDArray[np.bool_] = (least > 0.0) & turns & low
    return found


def turn_of_values(g: Callable[[float], float], times: Sequence[float], values: Sequence[float]) -> float | None:
    """Return a time at which a function has another sign than at three times, all of one sign; None if there is none.

    g: the function of the time;  times: (3,), increasing;  values: (3,), of g there
    """
    sign = 1.0 if values[0] > 0.0 else -1.0
    (a, b, c), (f_a, f_b, f_c) = times, values
    if not sign * ((f_c - f_b) / (c - b) - (f_b - f_a) / (b - a)) > 0.0:  # bends away from zero: most steps
        return None
    start, step = times[0], times[2] - times[0]
    known = [(t, sign * value) for t, value in zip(times, values, strict=True)]
    for search in range(SEARCHES):
        reach, margin = (OUTSIDE, INSIDE) if search == 0 else (0.0, 0.0)
        (a, f_a), (b, f_b), (c, f_c) = known
        slope, slope_after = (f_b - f_a) / (b - a), (f_c - f_b) / (c - b)
        bend = (slope_after - slope) / (c - a)
        if not bend > 0.0:
            return None
        turn = 0.5 * (a + b) - 0.5 * slope / bend
        least = f_a + (turn - a) * (slope + bend * (turn - b))
        if least > CLEAR * (max(f_a, f_b, f_c) - min(f_a, f_b, f_c)) or not -reach < (turn - start) / step < 1.0 + reach:
            return None
        now = start + min(max(turn - start, margin * step), (1.0 - margin) * step)
        if min(abs(now - t) for t, _ in known) <= CLOSE * step:
            return None
        here = sign * g(now)
        if here < 0.0:
            return now
        known = _around_least(sorted([*known, (now, here)]))
    return None


def _around_least(known: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the three of four values, sorted by time, that are around the least one."""
    least = min(range(4), key=lambda k: known[k][1])
    first = min(max(least - 1, 0), 1)
    return known[first : first + 3]
