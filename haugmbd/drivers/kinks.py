r"""Kinks and jumps of a function of time: where steps end, so that methods keep their order, and no step leaps over a short pulse.

A function that takes intervals in place of t (`autodiff.interval`) tells itself where it takes another branch: an interval on which it is
undecided is halved, down to rounding, from left to right, and no further than it is asked for (`breaks_of`).
Of any other function, such as one that calls `math.sin` or a table of SciPy, nothing is known beforehand, and it is not called at times
that a run may never reach. The kinks of a force that presses, which must be known, are those of its values (`kinks_of`):

    r = f_m - (4 (f_1 + f_2) - (f_0 + f_3)) / 6        at the ends and quarters of an interval: O(h^4) where f is smooth, O(h) at a kink

An interval whose residual is small is smooth; any other is halved. Smooth halves pass soon; a kink remains in one of them, down to
rounding. A function that oscillates too fast for the intervals is not searched to its end: it has no kinks that could be told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from haugmbd.drivers.autodiff.interval import Interval, Undecided

INTERVALS = 29
"""At first. A kink that is nearer to another one than their length over 2^10 may stay unseen."""
SMALL = 1e-7
"""Of the range of f, for an interval of the whole length: a smaller residual is that of a smooth function, whose kink no step feels."""
PART = 0.4871
"""Where an interval is divided: by halves a kink at a third of one would always stand at two thirds of a quarter, where r is zero."""
SHIFT = 0.1371
"""Of an interval: the first ones do not begin at round parts of the whole, where r may be zero for a kink at a round time."""
SHORT = 1e-7
"""Relative to |t| + 1 s: a shorter interval that is not smooth has a kink."""
NARROW = 1e-14
"""Relative to |t| + 1 s: a kink is known to this."""
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""Of the range of f: a smaller residual is rounding."""
MOST = 20_000
"""Evaluations: more of them are of a function that oscillates, and none of its times is returned."""


CLOSE = 4.0 * float(np.finfo(np.float64).eps)
"""Relative to |t| + 1 s: an interval that is not halved any more, and by how much it is widened, because the rounding of a function that
is evaluated in floats may differ from that of its bounds."""
APART = 1e-10
"""Relative to |t| + 1 s: a break that is nearer to the one before it is not looked for."""
FARTHEST = 1e-6
"""Relative to |t| + 1 s: a function that is undecided on a longer piece, near a double zero or everywhere, is not searched any more."""


class Break(NamedTuple):
    """A function is smooth up to `before`, and again from `after` on [s]."""

    before: float
    after: float


def breaks_of(f: Callable[[Any], Any], start: float, end: float) -> Iterator[Break]:
    """Yield the breaks of a function of time between two times, in order. The function is called no farther than they are asked for."""
    todo, skip, resumed = [(start, end)], APART, start
    while todo:
        a, b = todo.pop()
        if b <= resumed:
            continue
        a = max(a, resumed)
        try:
            f(Interval(a, b))
            continue
        except Undecided:
            pass
        except Exception:  # noqa: BLE001  a user's function may raise anything for what is no number; the run meets its own errors
            return
        if b - a > CLOSE * (1.0 + abs(b)):
            middle = 0.5 * (a + b)
            todo += [(middle, b), (a, middle)]
            continue
        unit = 1.0 + abs(b)
        skip = 2.0 * skip if a - resumed <= skip * unit and resumed > start else APART
        if skip > FARTHEST:
            return
        yield Break(max(a - CLOSE * unit, start), min(b + CLOSE * unit, end))
        resumed = b + skip * unit


def kinks_of(f: Callable[[float], float], start: float, end: float) -> list[float]:
    """Return the times between two at which f has a kink or a jump, in order; none where it oscillates too fast to tell."""
    parts = np.arange(INTERVALS + 1) / INTERVALS
    parts[1:-1] += SHIFT / INTERVALS
    edges = (start + parts * (end - start)).tolist()
    size = max(abs(f(t)) for t in edges)
    todo, found, looked = list(zip(edges[:-1], edges[1:], strict=True))[::-1], list[float](), 0
    while todo:
        a, b = todo.pop()
        looked += 1
        if 5 * looked > MOST:
            return []
        residual = _residual(f, a, b)
        if residual <= max(SMALL * size * (b - a) / (end - start), ROUNDING * size):
            continue
        if b - a <= SHORT * (1.0 + abs(b)):
            found.append(_located(f, a, b, size))
        else:
            middle = a + PART * (b - a)
            todo += [(middle, b), (a, middle)]
    return [t for k, t in enumerate(found) if start < t < end and (k == 0 or t - found[k - 1] > SHORT * (1.0 + abs(t)))]


def _residual(f: Callable[[float], float], a: float, b: float) -> float:
    """Return r on an interval."""
    f_0, f_1, f_m, f_2, f_3 = (f(a + k * (b - a) / 4.0) for k in range(5))
    return abs(f_m - (4.0 * (f_1 + f_2) - (f_0 + f_3)) / 6.0)


def _located(f: Callable[[float], float], a: float, b: float, size: float) -> float:
    """Return the time of a kink in a short interval: always the half with the larger residual has it."""
    while b - a > NARROW * (1.0 + abs(b)):
        middle = a + PART * (b - a)
        left, right = _residual(f, a, middle), _residual(f, middle, b)
        if max(left, right) <= ROUNDING * size:
            break
        a, b = (a, middle) if left > right else (middle, b)
    return b
