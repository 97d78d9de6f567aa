r"""Rules of the functions of one operand: g, g', g'' by ufunc.   y = tan x: 1 + y^2, 2 y (1 + y^2);   w = arcsin' x: w' = x w^3

Steps (sign, floor, ...) have derivative 0, also where they jump; |x| has derivative 0 at x = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Value: TypeAlias = Any  # np.float64, or a float64 array of the shape of t
Derivatives: TypeAlias = tuple[Value, Value, Value]  # g, g', g''

LN2 = float(np.log(2.0))
LN10 = float(np.log(10.0))


def _arc(x: Value) -> tuple[Value, Value]:
    """Return first and second derivative of arcsin."""
    w = 1.0 / np.sqrt((1.0 - x) * (1.0 + x))
    return w, x * w * w * w


def _root_slope(x: Value, c: float) -> tuple[Value, Value]:
    """Return first and second derivative of the inverse hyperbolic sine (c = 1) and cosine (c = -1)."""
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
