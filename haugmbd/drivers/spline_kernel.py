r"""A piecewise quintic in compiled code.   f(t) = sum_k c_k (t - x_m)^(5-k),   x_m <= t < x_{m+1}

Data of one spline in a flat array: period (0 for none), breakpoints x_0 .. x_M, then M rows c_0 .. c_5, highest power first.
Before x_0 and after x_M the first and last polynomial continue. With a period, t is first shifted into [x_0, x_0 + period).
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.jit import kernel
from haugmbd.drivers.autodiff.tape_machine import Floats, Three


@kernel
def evaluate_spline(t: float, numbers: Floats, first: int, last: int) -> Three:
    """Return f, f', f'' at t of the spline in numbers[first:last]."""
    pieces = (last - first - 2) // 7
    knots = first + 1
    period = numbers[first]
    if period > 0.0:
        t = numbers[knots] + np.remainder(t - numbers[knots], period)
    low, high = 0, pieces  # x_low <= t < x_high, the outer pieces reach to infinity
    while high - low > 1:
        middle = (low + high) // 2
        if t < numbers[knots + middle]:
            high = middle
        else:
            low = middle
    x = t - numbers[knots + low]
    row = knots + pieces + 1 + 6 * low
    f, f1, f2 = numbers[row], 0.0, 0.0
    for k in range(1, 6):
        f2 = f2 * x + 2.0 * f1
        f1 = f1 * x + f
        f = f * x + numbers[row + k]
    return f, f1, f2
