r"""A characteristic: a function of one variable through a table, with its slope and its integral, for compiled code.

    (x_k, f_k)            piecewise cubic, C1, monotone where the table is, a line between two points
    QuinticSpline         that spline, or a periodic one
    beyond the table      a line with the slope at its end

One flat array: number of pieces n, period (0 for none), knots x_0 .. x_n, n rows of coefficients in x - x_m (highest power first), and the
integrals from x_0 to each knot, the last of which is that of a period.
Source: Fritsch, Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300-304, for the monotone slopes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.validation import frozen, numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.drivers import QuinticSpline
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault

ORDER = 6
"""Coefficients of a piece: a quintic."""


class Characteristic:
    """A function f(x) with f' and the integral of f from 0, made of a table or a spline; `numbers` is what compiled code reads."""

    def __init__(self, given: Any, knots: Array, coefficients: Array, period: float) -> None:
        self.given = given
        if not period:
            knots, coefficients = _continued(knots, coefficients)
        h = np.diff(knots)
        integrals = np.zeros(len(h) + 1)
        integrals[1:] = np.cumsum(sum(c * h ** (ORDER - k) / (ORDER - k) for k, c in enumerate(coefficients.T)))
        self.numbers = frozen(np.concatenate([[len(h), period], knots, coefficients.ravel(), integrals]))

    def values(self, x: Array) -> Array:
        """Return f, f' and the integral of f from 0 to x, (nt, 3)."""
        n, period = int(self.numbers[0]), float(self.numbers[1])
        knots, rest = self.numbers[2 : n + 3], self.numbers[n + 3 :]
        coefficients, integrals = rest[: ORDER * n].reshape(n, ORDER), rest[ORDER * n :]

        def at(x: Array) -> Array:
            turns = np.floor((x - knots[0]) / period) if period else np.zeros(len(x))
            inside = x - turns * period
            m = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, n - 1)
            h, c = inside - knots[m], coefficients[m].T
            f = sum(c[k] * h ** (5 - k) for k in range(6))
            slope = sum((5 - k) * c[k] * h ** (4 - k) for k in range(5))
            total = turns * integrals[-1] + integrals[m] + sum(c[k] * h ** (6 - k) / (6 - k) for k in range(6))
            return np.stack(np.broadcast_arrays(f, slope, total), axis=-1)

        out = at(np.asarray(x, dtype=np.float64))
        out[:, 2] -= at(np.zeros(1))[0, 2]
        return out


def read_characteristic(faults: list[Fault], where: str, label: str, given: Any, units: tuple[str, str]) -> Characteristic | None:
    """Return the characteristic of a QuinticSpline or of a table (x, f); None and a fault for anything else."""
    remedy = f"Give two lists, x [{units[0]}] increasing and f [{units[1]}], or a QuinticSpline(x, f)."
    if isinstance(given, QuinticSpline):
        found = given.faults()
        faults.extend(Fault(where, f"{label}: {fault.what}", fault.remedy) for fault in found)
        if found:
            return None
        period = float(given.t[-1] - given.t[0]) if given.periodic else 0.0
        return Characteristic(given, given.breakpoints, given.coefficients, period)
    table = numbers(given) if isinstance(given, tuple | list | np.ndarray) else None
    if table is None or table.ndim != 2 or len(table) != 2 or table.shape[1] < 2:
        faults.append(Fault(where, f"{label} is {shown(given)}, not a table of two equally long lists", remedy))
        return None
    if not np.isfinite(table).all():
        faults.append(Fault(where, f"{label} has numbers that are not finite", remedy))
        return None
    back = np.flatnonzero(np.diff(table[0]) <= 0.0)
    if len(back):
        k = int(back[0])
        what = f"x of {label} does not increase: x[{k}] = {table[0, k]:.9g}, x[{k + 1}] = {table[0, k + 1]:.9g}"
        faults.append(Fault(where, what, "Sort the table, and give each x once."))
        return None
    from scipy.interpolate import PchipInterpolator  # imported here, because it is slow and most programs do not need it

    cubic = np.asarray(PchipInterpolator(*table).c).T
    return Characteristic(frozen(table), table[0], np.hstack([np.zeros((len(cubic), ORDER - 4)), cubic]), 0.0)


def _continued(knots: Array, coefficients: Array) -> tuple[Array, Array]:
    """Return knots and pieces with a line before the first and behind the last one."""
    width, h, last = knots[-1] - knots[0], knots[-1] - knots[-2], coefficients[-1]
    slope_0, slope_1 = coefficients[0][4], sum((5 - k) * last[k] * h ** (4 - k) for k in range(5))
    before = [0.0, 0.0, 0.0, 0.0, slope_0, coefficients[0][5] - slope_0 * width]
    behind = [0.0, 0.0, 0.0, 0.0, slope_1, np.polyval(last, h)]
    return np.concatenate([[knots[0] - width], knots, [knots[-1] + width]]), np.vstack([before, coefficients, behind])


@kernel
def integral_from_start(numbers: Array, first: int, x: float) -> tuple[float, float, float]:
    """Return f, f' and the integral of f from the first knot to x, of the characteristic in numbers[first:]."""
    n, period = int(numbers[first]), numbers[first + 1]
    knots = first + 2
    turns = 0.0
    if period > 0.0:
        turns = np.floor((x - numbers[knots]) / period)
    x -= turns * period
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if x < numbers[knots + middle]:
            high = middle
        else:
            low = middle
    h = x - numbers[knots + low]
    row = knots + n + 1 + ORDER * low
    end = knots + n + 1 + ORDER * n
    f, slope, area = numbers[row], 0.0, numbers[row] / ORDER
    for k in range(1, ORDER):
        slope = slope * h + f
        f = f * h + numbers[row + k]
        area = area * h + numbers[row + k] / (ORDER - k)
    return f, slope, turns * numbers[end + n] + numbers[end + low] + area * h


@kernel
def evaluate_characteristic(numbers: Array, first: int, x: float) -> tuple[float, float, float]:
    """Return f, f' and the integral of f from 0 to x, of the characteristic in numbers[first:]."""
    f, slope, area = integral_from_start(numbers, first, x)
    return f, slope, area - integral_from_start(numbers, first, 0.0)[2]
