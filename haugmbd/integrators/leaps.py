r"""Gaps that a step leaps over: they fall through zero and rise again between two states at which they are positive.

    g0 > 0, g0' < 0    and    g1 > 0, g1' > 0         at two times, h apart
    tangents meet at   s = (g1 - g0 - g1' h) / (g0' - g1'),   g = g0 + g0' s        a convex gap is not below it

Where they meet above zero there is no leap. Else the least gap is searched: where the tangents meet, or in the middle, the rate tells on
which side it is. The other way round, a gap rises from zero and falls through it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SEARCHES = 50
"""Largest number of states at which the least gap is searched."""


def falls_and_rises(h: Any, gap: Any, rate: Any, gap_after: Any, rate_after: Any, *, zero: float = 0.0) -> Any:
    """Return whether a gap above `zero` at both ends of a time h may be below it between them, of numbers or arrays."""
    with np.errstate(all="ignore"):
        lowest = gap + rate * np.divide(gap_after - gap - rate_after * h, np.subtract(rate, rate_after))
    return (rate < 0.0) & (rate_after > 0.0) & (gap > zero) & (gap_after > zero) & (lowest <= zero)


def rises_and_falls(gap: Any, rate: Any, gap_after: Any, rate_after: Any, *, zero: float = 0.0) -> Any:
    """Return whether a gap that is not above `zero` at two times is above it between them, of numbers or arrays."""
    return (rate > 0.0) & (rate_after < 0.0) & (gap <= zero) & (gap_after <= zero)


def turn_of(measure: Callable[[float], tuple[float, float]], start: float, end: float, zero: float = 0.0) -> float | None:
    """Return a time between two at which a gap is on the other side of zero than at both; None if there is none.

    measure: gap and rate at a time;  zero: above it the gap is open
    """
    (gap, rate), (gap_after, rate_after) = measure(start), measure(end)
    rises = rate > 0.0
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
