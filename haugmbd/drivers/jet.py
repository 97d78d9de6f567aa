r"""Jet: a value with its first two time derivatives; a function of t written with NumPy, called with a Jet, gives exact f, f', f''.

    y = g(x):     y' = g'(x) x'              y'' = g''(x) x'^2 + g'(x) x''
    x y:          (x y)' = x' y + x y'       (x y)'' = x'' y + 2 x' y' + x y''
    z = x / y:    z' = (x' - z y') / y       z'' = (x'' - 2 z' y' - z y'') / y
    p = x^y:      p' = p l,  p'' = p (l^2 + l'),  l = y' log x + y x' / x;    y constant: the rule y = g(x) with g = x^y

Functions that jump or bend (abs, sign, floor, minimum, heaviside, comparisons, np.where) have the derivatives of the branch that
holds at t; at the bend itself abs and sign have derivative 0.  Source: Griewank and Walther, Evaluating Derivatives, ch. 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Value: TypeAlias = Any  # np.float64, or a float64 array of the shape of t
Derivatives: TypeAlias = tuple[Value, Value, Value]  # g, g', g''

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))


class NotAFloat(TypeError):
    """Somebody asked a Jet or a tracer for a plain float, as math.cos does: the derivatives would be lost."""


def _polyval(p: Sequence[Any], x: Any) -> Any:
    """Horner's rule, highest power first, as np.polyval."""
    y = 0.0 * x
    for coefficient in p:
        y = y * x + coefficient
    return y


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """np.clip; a limit that is None does not limit."""
    below = a if a_min is None else np.maximum(a, a_min)
    return below if a_max is None else np.minimum(below, a_max)


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """np.select: the first condition that holds decides."""
    y = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        y = np.where(condition, choice, y)
    return y


COMPOSED: dict[Callable[..., Any], Callable[..., Any]] = {np.polyval: _polyval, np.clip: _clip, np.select: _select}


class Operators(NDArrayOperatorsMixin):
    """What Jet and the tape's tracer share: an operator is its ufunc; np.polyval, clip, select are composed of ufuncs and where."""

    __slots__ = ()

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """x where the condition holds, else y; any of the three may be of this class."""
        raise TypeError(f"{type(self).__name__} has no rule for np.where")

    def __array_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """np.where and the composed functions; TypeError for all others."""
        if func is np.where:
            return self.where(*args, **kwargs)
        if func in COMPOSED:
            return COMPOSED[func](*args, **kwargs)
        raise TypeError(f"np.{func.__name__} has no derivative rule")

    def __float__(self) -> float:
        """Always raise: a float has no derivatives."""
        raise NotAFloat("t is not a plain float: use np.cos instead of math.cos, and no float(t)")


class Jet(Operators):
    """f, f_dot, f_ddot: a value and its first two time derivatives, scalars or arrays that broadcast."""

    __slots__ = ("f", "f_ddot", "f_dot")

    def __init__(self, f: Value, f_dot: Value = 0.0, f_ddot: Value = 0.0) -> None:
        self.f: Value = _real(f)
        self.f_dot: Value = _real(f_dot)
        self.f_ddot: Value = _real(f_ddot)

    @classmethod
    def variable(cls, t: Value) -> Jet:
        """The independent variable itself: t, 1, 0."""
        return cls(t, 1.0, 0.0)

    def stacked(self) -> Value:
        """f, f', f'' as one array (..., 3)."""
        return np.stack(np.broadcast_arrays(self.f, self.f_dot, self.f_ddot), axis=-1)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply the rule of `ufunc`; comparisons look at the values and return plain booleans."""
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
        """np.where: value and derivatives of the branch that holds."""
        holds = condition.f if isinstance(condition, Jet) else condition
        a, b = lift(x), lift(y)
        return _pick(holds, a, b)

    def __bool__(self) -> bool:
        """Truth of the value, as for a float."""
        return bool(self.f)

    def __repr__(self) -> str:
        return f"Jet({self.f}, {self.f_dot}, {self.f_ddot})"


def lift(x: Any) -> Jet:
    """A Jet as it is; a number or an array as a constant."""
    return x if isinstance(x, Jet) else Jet(x)


def _real(x: Any) -> Value:
    """x as float64 (a NumPy scalar, so that 1/0 is inf and comparisons are np.bool); TypeError when it is complex or no number."""
    if type(x) is np.float64:
        return x
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
    """x^y; where y does not change, by the rule of a constant exponent (which holds for x <= 0, too)."""
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


def _arc(x: Value) -> tuple[Value, Value]:
    """First and second derivative of arcsin."""
    w = 1.0 / np.sqrt((1.0 - x) * (1.0 + x))
    return w, x * w * w * w


def _root_slope(x: Value, c: float) -> tuple[Value, Value]:
    """First and second derivative of the inverse hyperbolic sine (c = 1) and cosine (c = -1)."""
    w = 1.0 / np.sqrt(x * x + c)
    return w, -x * w * w * w


def _logarithm(g: np.ufunc, base: float) -> Callable[[Value], Derivatives]:
    return lambda x: (g(x), 1.0 / (base * x), -1.0 / (base * x * x))


def _step(g: np.ufunc) -> Callable[[Value], Derivatives]:
    return lambda x: (g(x), 0.0, 0.0)


def _scaled(g: np.ufunc, factor: float) -> Callable[[Value], Derivatives]:
    return lambda x: (g(x), factor, 0.0)


def _tan(x: Value) -> Derivatives:
    y = np.tan(x)
    return y, 1.0 + y * y, 2.0 * y * (1.0 + y * y)


def _tanh(x: Value) -> Derivatives:
    y, w = np.tanh(x), 1.0 / np.cosh(x)
    return y, w * w, -2.0 * y * w * w


def _sqrt(x: Value) -> Derivatives:
    y = np.sqrt(x)
    return y, 0.5 / y, -0.25 / (x * y)


def _cbrt(x: Value) -> Derivatives:
    y = np.cbrt(x)
    return y, 1.0 / (3.0 * y * y), -2.0 / (9.0 * x * y * y)


UNARY: dict[np.ufunc, Callable[[Value], Derivatives]] = {
    np.sin: lambda x: (np.sin(x), np.cos(x), -np.sin(x)),
    np.cos: lambda x: (np.cos(x), -np.sin(x), -np.cos(x)),
    np.tan: _tan,
    np.arcsin: lambda x: (np.arcsin(x), *_arc(x)),
    np.arccos: lambda x: (np.arccos(x), *(-w for w in _arc(x))),
    np.arctan: lambda x: (np.arctan(x), 1.0 / (1.0 + x * x), -2.0 * x / (1.0 + x * x) ** 2),
    np.sinh: lambda x: (np.sinh(x), np.cosh(x), np.sinh(x)),
    np.cosh: lambda x: (np.cosh(x), np.sinh(x), np.cosh(x)),
    np.tanh: _tanh,
    np.arcsinh: lambda x: (np.arcsinh(x), *_root_slope(x, 1.0)),
    np.arccosh: lambda x: (np.arccosh(x), *_root_slope(x, -1.0)),
    np.arctanh: lambda x: (np.arctanh(x), 1.0 / (1.0 - x * x), 2.0 * x / (1.0 - x * x) ** 2),
    np.exp: lambda x: (np.exp(x), np.exp(x), np.exp(x)),
    np.expm1: lambda x: (np.expm1(x), np.exp(x), np.exp(x)),
    np.exp2: lambda x: (np.exp2(x), LN2 * np.exp2(x), LN2 * LN2 * np.exp2(x)),
    np.log: _logarithm(np.log, 1.0),
    np.log2: _logarithm(np.log2, LN2),
    np.log10: _logarithm(np.log10, LN10),
    np.log1p: lambda x: (np.log1p(x), 1.0 / (1.0 + x), -1.0 / (1.0 + x) ** 2),
    np.sqrt: _sqrt,
    np.cbrt: _cbrt,
    np.square: lambda x: (x * x, 2.0 * x, 2.0),
    np.reciprocal: lambda x: (1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x)),
    np.negative: _scaled(np.negative, -1.0),
    np.positive: _scaled(np.positive, 1.0),
    np.deg2rad: _scaled(np.deg2rad, float(np.pi / 180.0)),
    np.radians: _scaled(np.radians, float(np.pi / 180.0)),
    np.rad2deg: _scaled(np.rad2deg, float(180.0 / np.pi)),
    np.degrees: _scaled(np.degrees, float(180.0 / np.pi)),
    np.absolute: lambda x: (np.absolute(x), np.sign(x), 0.0),
    np.fabs: lambda x: (np.absolute(x), np.sign(x), 0.0),
    np.sign: _step(np.sign),
    np.floor: _step(np.floor),
    np.ceil: _step(np.ceil),
    np.trunc: _step(np.trunc),
    np.rint: _step(np.rint),
}

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
