r"""Jet: a value with its first two time derivatives; a function of t written with NumPy, called with a Jet, gives exact f, f', f''.

    y = g(x):     y' = g'(x) x'              y'' = g''(x) x'^2 + g'(x) x''
    x y:          (x y)' = x' y + x y'       (x y)'' = x'' y + 2 x' y' + x y''
    z = x / y:    z' = (x' - z y') / y       z'' = (x'' - 2 z' y' - z y'') / y
    p = x^y:      p' = p l,  p'' = p (l^2 + l'),  l = y' log x + y x' / x;    y constant: the rule y = g(x) with g = x^y

Functions with jumps or kinks (abs, sign, floor, minimum, heaviside, comparisons, np.where) have the derivatives of the branch at t;
abs and sign have derivative 0 at the kink.
Source: Griewank and Walther, Evaluating Derivatives, ch. 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.drivers.autodiff.operators import Operators
from haugmbd.drivers.autodiff.rules import UNARY, Value


class Jet(Operators):
    """A value with its first two time derivatives f, f_dot, f_ddot: scalars or arrays that broadcast."""

    __slots__ = ("f", "f_ddot", "f_dot")

    def __init__(self, f: Value, f_dot: Value = 0.0, f_ddot: Value = 0.0) -> None:
        self.f: Value = _real(f)
        self.f_dot: Value = _real(f_dot)
        self.f_ddot: Value = _real(f_ddot)

    @classmethod
    def variable(cls, t: Value) -> Jet:
        """Return the independent variable: t, 1, 0."""
        return cls(t, 1.0, 0.0)

    def stacked(self) -> Value:
        """Return f, f', f'' as one array (..., 3)."""
        three = (self.f, self.f_dot, self.f_ddot)
        if all(type(x) is np.float64 for x in three):
            return np.array(three)
        return np.stack(np.broadcast_arrays(*three), axis=-1)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply the rule of `ufunc`; comparisons use the values and return booleans."""
        if method != "__call__" or kwargs:
            raise TypeError(f"np.{ufunc.__name__} of t takes no options and no .{method}")
        if ufunc in COMPARISONS:
            return ufunc(*(lift(x).f for x in inputs))
        if ufunc in UNARY:
            return _chain(lift(inputs[0]), *UNARY[ufunc](lift(inputs[0]).f))
        if ufunc in BINARY:
            return BINARY[ufunc](lift(inputs[0]), lift(inputs[1]))
        raise TypeError(f"np.{ufunc.__name__} has no derivative rule")

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """Return value and derivatives of the branch that holds, as np.where."""
        holds = condition.f if isinstance(condition, Jet) else condition
        a, b = lift(x), lift(y)
        return _pick(holds, a, b)

    def __bool__(self) -> bool:
        """Return the truth of the value, as for a float."""
        return bool(self.f)

    def __repr__(self) -> str:
        return f"Jet({self.f}, {self.f_dot}, {self.f_ddot})"


def lift(x: Any) -> Jet:
    """Return a Jet unchanged, and a number or an array as a constant."""
    return x if isinstance(x, Jet) else Jet(x)


def _real(x: Any) -> Value:
    """Return x as float64 (a NumPy scalar, so that 1/0 is inf and comparisons are np.bool). Raise TypeError if it is not a real number."""
    if type(x) is np.float64:
        return x
    if type(x) is float:
        return np.float64(x)
    y = np.asarray(x)
    if y.dtype.kind not in "biuf":
        raise TypeError(f"a real number is needed here, not {type(x).__name__} {str(x)[:40]}")
    value: Value = y.astype(np.float64)
    return value[()]


def _chain(x: Jet, g: Value, g1: Value, g2: Value) -> Jet:
    return Jet(g, g1 * x.f_dot, g2 * x.f_dot * x.f_dot + g1 * x.f_ddot)


def _pick(holds: Any, a: Jet, b: Jet) -> Jet:
    return Jet(*(_real(np.where(holds, u, v)) for u, v in ((a.f, b.f), (a.f_dot, b.f_dot), (a.f_ddot, b.f_ddot))))


def _multiply(x: Jet, y: Jet) -> Jet:
    return Jet(x.f * y.f, x.f_dot * y.f + x.f * y.f_dot, x.f_ddot * y.f + 2.0 * x.f_dot * y.f_dot + x.f * y.f_ddot)


def _divide(x: Jet, y: Jet) -> Jet:
    z = np.true_divide(x.f, y.f)
    z1 = (x.f_dot - z * y.f_dot) / y.f
    return Jet(z, z1, (x.f_ddot - 2.0 * z1 * y.f_dot - z * y.f_ddot) / y.f)


def _power(x: Jet, y: Jet) -> Jet:
    """Return x^y; if y is constant by the rule of a constant exponent, which holds for x <= 0, too."""
    p, n = np.power(x.f, y.f), y.f
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 * 0^-1 is the zero that np.where picks
        g1 = np.where(n == 0.0, 0.0, n * np.power(x.f, n - 1.0))
        g2 = np.where((n == 0.0) | (n == 1.0), 0.0, n * (n - 1.0) * np.power(x.f, n - 2.0))
    fixed = _chain(x, p, g1, g2)
    steady = (y.f_dot == 0.0) & (y.f_ddot == 0.0)
    if np.all(steady):
        return fixed
    u, log_x = x.f_dot / x.f, np.log(x.f)
    rate = y.f_dot * log_x + n * u
    rate_dot = y.f_ddot * log_x + 2.0 * y.f_dot * u + n * (x.f_ddot / x.f - u * u)
    return _pick(steady, fixed, Jet(p, p * rate, p * (rate * rate + rate_dot)))


def _arctan2(y: Jet, x: Jet) -> Jet:
    r2 = x.f * x.f + y.f * y.f
    a1 = (x.f * y.f_dot - y.f * x.f_dot) / r2
    return Jet(np.arctan2(y.f, x.f), a1, (x.f * y.f_ddot - y.f * x.f_ddot - 2.0 * a1 * (x.f * x.f_dot + y.f * y.f_dot)) / r2)


def _hypot(x: Jet, y: Jet) -> Jet:
    h = np.hypot(x.f, y.f)
    h1 = (x.f * x.f_dot + y.f * y.f_dot) / h
    return Jet(h, h1, (x.f_dot**2 + x.f * x.f_ddot + y.f_dot**2 + y.f * y.f_ddot - h1 * h1) / h)


def _remainder(x: Jet, y: Jet) -> Jet:
    m = np.remainder(x.f, y.f)
    q = np.rint((x.f - m) / y.f)
    return Jet(m, x.f_dot - q * y.f_dot, x.f_ddot - q * y.f_ddot)


BINARY: dict[np.ufunc, Callable[[Jet, Jet], Jet]] = {
    np.add: lambda x, y: Jet(x.f + y.f, x.f_dot + y.f_dot, x.f_ddot + y.f_ddot),
    np.subtract: lambda x, y: Jet(x.f - y.f, x.f_dot - y.f_dot, x.f_ddot - y.f_ddot),
    np.multiply: _multiply,
    np.divide: _divide,
    np.power: _power,
    np.float_power: _power,
    np.arctan2: _arctan2,
    np.hypot: _hypot,
    np.remainder: _remainder,
    np.floor_divide: lambda x, y: Jet(np.floor_divide(x.f, y.f)),
    np.minimum: lambda x, y: _pick((x.f <= y.f) | np.isnan(x.f), x, y),
    np.maximum: lambda x, y: _pick((x.f >= y.f) | np.isnan(x.f), x, y),
    np.fmin: lambda x, y: _pick((x.f <= y.f) | np.isnan(y.f), x, y),
    np.fmax: lambda x, y: _pick((x.f >= y.f) | np.isnan(y.f), x, y),
    np.heaviside: lambda x, y: _pick(x.f == 0.0, y, Jet(np.heaviside(x.f, 0.0))),
}

COMPARISONS = frozenset(
    (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.logical_and, np.logical_or, np.logical_not)
)
