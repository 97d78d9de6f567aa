"""Times, numbers of states and spans of time of a result, as `result.at(t)`, `result.state(k)` and `result[t0:t1]` take them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

ROUNDING = 1e-12
"""Relative to |t| + 1 s: a stored time this far outside a span is its end, up to the rounding of sums of steps."""


def check_time(t: Any, times: Array) -> float:
    """Return t as a float. Raise UsageError if it is not a time within those of a result."""
    if isinstance(t, bool) or not isinstance(t, Real) or not np.isfinite(float(t)):
        raise UsageError(f"t = {t!r:.60} must be a time [s], one finite number.")
    if not len(times):
        raise UsageError("the result has no states.")
    if not times[0] <= float(t) <= times[-1]:
        raise UsageError(f"t = {float(t):g} s is outside the result, which goes from {times[0]:g} to {times[-1]:g} s.")
    return float(t)


def check_times_within(times: Array, within: Array) -> None:
    """Raise UsageError unless times (k,) are those of a result with the times `within` (nt,)."""
    if not len(within) or times.ndim != 1 or not np.all((times >= within[0]) & (times <= within[-1])):
        span = f"{within[0]:g} .. {within[-1]:g} s" if len(within) else "no time: the result has no states"
        raise UsageError(f"t_new must be times (k,) within {span}; got {times.tolist()!r:.60}.")


def check_number(k: Any, n: int) -> int:
    """Return the number of a state, from 0 on. Raise UsageError if a result of n states has none of that number, which may be negative."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not -n <= k < n:
        at = "; result.at(t) is the state at a time [s]" if isinstance(k, float) else ""
        have = f"has {n} states, of the numbers 0 to {n - 1}, or -{n} to -1 from the end" if n else "has no states"
        raise UsageError(f"there is no state of the number {k!r:.60}: the result {have}{at}.")
    return int(k) % n


def times_within(span: slice, times: Array) -> tuple[npt.NDArray[np.bool_], tuple[float, float]]:
    """Return which of the times (nt,) are in the span t0:t1, ends included, and the ends. Raise UsageError if none is, or for a step."""
    if span.step is not None:
        raise UsageError(f"result[t0:t1] is a span of time and takes no step, got {span.step!r}: use resample, or store_every.")
    ends = []
    for name, given, default in (("t0", span.start, -np.inf), ("t1", span.stop, np.inf)):
        if given is not None and (isinstance(given, bool) or not isinstance(given, Real) or np.isnan(float(given))):
            raise UsageError(f"{name} = {given!r:.60} of result[t0:t1] must be a time [s].")
        ends.append(default if given is None else float(given))
    first, last = ends
    keep: npt.NDArray[np.bool_] = (times >= first - ROUNDING * (1.0 + abs(first) if np.isfinite(first) else 0.0)) & (
        times <= last + ROUNDING * (1.0 + abs(last) if np.isfinite(last) else 0.0)
    )
    if not keep.any():
        span_of = f"from {times[0]:g} to {times[-1]:g} s" if len(times) else "without any state"
        raise UsageError(f"no state is stored from {first:g} to {last:g} s: the result is {span_of}.")
    return keep, (first, last)
