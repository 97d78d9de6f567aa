r"""How much the accelerations of a step depend on its velocities: what the last stage of an explicit method says for nothing.

    stage s      Y_s     = y + h sum a_sj k_j         k_s = f(t + h, Y_s)              c_s = 1, as in RK4, RK3 and Heun
    step's end   y_(n+1) = y + h sum b_j  k_j         f(t + h, y_(n+1)) = k_1 of the next step
    both         k_1' - k_s = J (y_(n+1) - Y_s)       z = h |k_1' - k_s| / |y_(n+1) - Y_s|       about h |lambda|

over the columns of accelerations and velocities.  A smooth motion has z <= 1, or a difference k_1' - k_s that is small beside the
accelerations themselves: the method resolves it.  A step with  z > LARGE  and  |k_1' - k_s| > SEEN |k|  does not resolve its forces.  Few
such steps are kinks, as a touch is; where they follow one another the steps are beyond the stability of the method:

    score <- KEPT score + (1 of an unresolved step, else 0)    a part p of unresolved steps has the score p / (1 - KEPT)

    error of k   z |k_1' - k_s| / 6                   of the largest accelerations, over unresolved steps

Source: Shampine, Hiebert, Detecting stiffness with the Fehlberg (4, 5) formulas; Hairer, Wanner, Solving ODE II, sec. IV.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel

LARGE = 0.8
"""z above which a step may not resolve its forces: RK4 is stable up to 2.8, and off by 1 % of a decaying velocity at 0.8."""
SEEN = 0.1
"""Relative to the accelerations: a smaller difference is an error that the next steps remove."""
ROUNDING = 1e-6
"""Relative to the largest accelerations so far: smaller ones are the noise of a steady motion, whose forces are in balance."""
UNFELT = 1e-11
"""Change of the velocities in a step, relative to them, that is rounding: a motion without forces has no other accelerations."""
ENDLESS = 1e150
"""Square of an acceleration beyond which a motion grows without bound."""
TINY = 1e-300
KEPT = 0.95
"""Of the score from step to step: it remembers some twenty steps."""
LONG_KEPT = 0.99
"""Of the long score, which remembers some hundred steps: of a chatter that takes several steps for each swing."""
UNRESOLVED, ALL, FIRST, LAST, PEAK, SCORE, WORST, LONG_SCORE, LONG_WORST, ERROR = range(10)
"""Columns of the counts: unresolved steps, all steps, times of the first and the last unresolved one [s], square of the largest
accelerations, score, the largest score, the same of the long score, and the square of the largest error of accelerations."""
ORDERS_APART = 6.0
"""h (k_1' - k_s) / 6 is the difference of RK4 and of a method of order 3 that ends with k_1': the error of the velocities, which changes
the accelerations by z / h as much. The estimate is about twice the true error."""
MOST_FELT = 5.0
"""z that counts at most in the error: beyond, both ends of a step are on other branches of a force."""
SAMPLES, FEWEST, NUMBERS = 24, 1, 50_000
"""States that are kept, of the first unresolved step, the second, the fourth, ...: so many, fewer of a large model, which has NUMBERS of
them, but no fewer than FEWEST."""


class StiffnessWatch(NamedTuple):
    """What a run notes of its steps.

    columns: (m,) of velocities in y, and of accelerations in y';  counts: (10,), see UNRESOLVED
    t, h: (n,) time and length of steps that are kept;  y: (n, ny) states at their ends
    """

    columns: Ints
    counts: Array
    t: Array
    h: Array
    y: Array


def new_watch(columns: Ints, ny: int) -> StiffnessWatch:
    """Return a watch of the velocities in these columns (m,)."""
    n = max(FEWEST, min(SAMPLES, NUMBERS // max(ny, 1))) if columns.size else 0
    return StiffnessWatch(columns, np.zeros(ERROR + 1), np.zeros(n), np.zeros(n), np.zeros((n, ny)))


def error_of_accelerations(watch: StiffnessWatch) -> float:
    """Return the error of the accelerations in unresolved steps, relative to the largest of the run."""
    return float(np.sqrt(watch.counts[ERROR] / max(watch.counts[PEAK], TINY))) / ORDERS_APART


@kernel
def change_from_stage(columns: Ints, a: Array, b: Array, h: float, k1: Array, k: Array) -> float:
    """Return |y_(n+1) - Y_s|^2 over the velocities, before k1 is overwritten."""
    total = 0.0
    for m in range(columns.size):
        n = columns[m]
        change = (b[0] - a[0]) * k1[n]
        for j in range(1, b.size):
            change += (b[j] - a[j]) * k[j - 1, n]
        total += change * change
    return h * h * total


@kernel
def watch_stiffness(watch: StiffnessWatch, t: float, h: float, change: float, last: Array, y_dot: Array, y: Array) -> None:
    """Note a step that does not resolve its forces;  change: of `change_from_stage`;  last: k_s."""
    counts = watch.counts
    counts[ALL] += 1.0
    counts[SCORE] *= KEPT
    counts[LONG_SCORE] *= LONG_KEPT
    gap, size, speed = 0.0, 0.0, 0.0
    for m in range(watch.columns.size):
        n = watch.columns[m]
        gap += (y_dot[n] - last[n]) ** 2
        size += max(y_dot[n] ** 2, last[n] ** 2)
        speed += y[n] ** 2
    if not (size < ENDLESS and gap < ENDLESS):  # without bound: the states are of no use
        counts[UNRESOLVED] += 1.0
        counts[LAST] = t
        counts[SCORE] += 1.0
        counts[WORST] = max(counts[WORST], counts[SCORE])
        return
    counts[PEAK] = max(counts[PEAK], size)
    least = max(SEEN * SEEN * size, ROUNDING * ROUNDING * counts[PEAK])
    felt = h * h * gap > UNFELT * UNFELT * speed
    if felt and gap > least and h * h * gap > LARGE * LARGE * change:
        if counts[UNRESOLVED] == 0.0:
            counts[FIRST] = t
        counts[UNRESOLVED] += 1.0
        counts[LAST] = t
        counts[SCORE] += 1.0
        counts[WORST] = max(counts[WORST], counts[SCORE])
        counts[LONG_SCORE] += 1.0
        counts[LONG_WORST] = max(counts[LONG_WORST], counts[LONG_SCORE])
        counts[ERROR] = max(counts[ERROR], min(h * h * gap, MOST_FELT**2 * change) * gap / max(change, TINY))
        power, place = 1.0, 0
        while power < counts[UNRESOLVED]:
            power, place = 2.0 * power, place + 1
        if power == counts[UNRESOLVED] and place < watch.t.size:
            watch.t[place], watch.h[place] = t, h
            for n in range(y.size):
                watch.y[place, n] = y[n]
