r"""The tape machine: evaluate a recorded function and its first two derivatives at t, in compiled code.

Slot 0 is t = (t, 1, 0), then come the constants (c, 0, 0), then one slot per operation; an operation is a row (op, a, b, c) of
slots that exist already.  Slots are rows of the scratch W: value, first, second derivative.  One operand:

    y = g(x):   y' = g' x',   y'' = g'' x'^2 + g' x''

The rules are written here a second time, independently of `jet`: a tape is used only where both agree.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from haugmbd.compiled.jit import kernel

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Three: TypeAlias = tuple[float, float, float]

SIN, COS, TAN, ARCSIN, ARCCOS, ARCTAN = 0, 1, 2, 3, 4, 5
SINH, COSH, TANH, ARCSINH, ARCCOSH, ARCTANH = 6, 7, 8, 9, 10, 11
EXP, EXPM1, LOG, LOG1P, SQRT, CBRT, NEGATIVE, ABSOLUTE, FLOOR = 12, 13, 14, 15, 16, 17, 18, 19, 20
LAST_UNARY = FLOOR
ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, ARCTAN2, HYPOT, REMAINDER = 21, 22, 23, 24, 25, 26, 27, 28
LAST_ARITHMETIC = REMAINDER
MINIMUM, MAXIMUM, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, WHERE = 29, 30, 31, 32, 33, 34, 35


@kernel
def circular(op: int, x: float) -> Three:
    """Return g, g', g'' of the circular functions and their inverses."""
    if op == SIN:
        s, c = np.sin(x), np.cos(x)
        return s, c, -s
    if op == COS:
        s, c = np.sin(x), np.cos(x)
        return c, -s, -c
    if op == TAN:
        y = np.tan(x)
        w = 1.0 + y * y
        return y, w, 2.0 * y * w
    if op == ARCTAN:
        w = 1.0 / (1.0 + x * x)
        return np.arctan(x), w, -2.0 * x * w * w
    v = (1.0 - x) * (1.0 + x)
    w = 1.0 / np.sqrt(v)
    if op == ARCSIN:
        return np.arcsin(x), w, x * w / v
    return np.arccos(x), -w, -x * w / v


@kernel
def hyperbolic(op: int, x: float) -> Three:
    """Return g, g', g'' of the hyperbolic functions and their inverses."""
    if op == SINH:
        s, c = np.sinh(x), np.cosh(x)
        return s, c, s
    if op == COSH:
        s, c = np.sinh(x), np.cosh(x)
        return c, s, c
    if op == TANH:
        y, c = np.tanh(x), np.cosh(x)
        w = 1.0 / (c * c)
        return y, w, -2.0 * y * w
    if op == ARCTANH:
        w = 1.0 / ((1.0 - x) * (1.0 + x))
        return np.arctanh(x), w, 2.0 * x * w * w
    if op == ARCSINH:
        v = x * x + 1.0
        w = 1.0 / np.sqrt(v)
        return np.arcsinh(x), w, -x * w / v
    v = (x - 1.0) * (x + 1.0)
    w = 1.0 / np.sqrt(v)
    return np.arccosh(x), w, -x * w / v


@kernel
def exponential(op: int, x: float) -> Three:
    """Return g, g', g'' of exponentials, logarithms, roots and the functions with a constant slope."""
    if op == NEGATIVE:
        return -x, -1.0, 0.0
    if op == EXP:
        y = np.exp(x)
        return y, y, y
    if op == EXPM1:
        y = np.exp(x)
        return np.expm1(x), y, y
    if op == LOG:
        w = 1.0 / x
        return np.log(x), w, -w * w
    if op == LOG1P:
        w = 1.0 / (1.0 + x)
        return np.log1p(x), w, -w * w
    if op == SQRT:
        y = np.sqrt(x)
        w = 0.5 / y
        return y, w, -0.5 * w / x
    if op == CBRT:
        y = np.cbrt(x)
        w = 1.0 / (3.0 * y * y)
        return y, w, -2.0 * w / (3.0 * x)
    if op == ABSOLUTE:
        return np.abs(x), np.sign(x), 0.0
    return np.floor(x), 0.0, 0.0


@kernel
def power(x: float, x1: float, x2: float, y: float, y1: float, y2: float) -> Three:
    """Return x^y with derivatives; a constant exponent may have any base."""
    p = x**y
    if y1 == 0.0 and y2 == 0.0:
        g1 = 0.0 if y == 0.0 else y * x ** (y - 1.0)
        g2 = 0.0 if y == 0.0 or y == 1.0 else y * (y - 1.0) * x ** (y - 2.0)
        return p, g1 * x1, g2 * x1 * x1 + g1 * x2
    w = 1.0 / x
    log_x = np.log(x)
    p1 = p * (y1 * log_x + y * x1 * w)
    slope = y2 * log_x + 2.0 * y1 * x1 * w + y * (x2 * w - x1 * x1 * w * w)
    return p, p1, p1 * (y1 * log_x + y * x1 * w) + p * slope


@kernel
def arithmetic(op: int, x: float, x1: float, x2: float, y: float, y1: float, y2: float) -> Three:
    """Return value and derivatives of an operation with two operands."""
    if op == ADD:
        return x + y, x1 + y1, x2 + y2
    if op == SUBTRACT:
        return x - y, x1 - y1, x2 - y2
    if op == MULTIPLY:
        return x * y, x1 * y + x * y1, x2 * y + 2.0 * x1 * y1 + x * y2
    if op == DIVIDE:
        w = 1.0 / y
        z = x / y
        z1 = (x1 - z * y1) * w
        return z, z1, (x2 - 2.0 * z1 * y1 - z * y2) * w
    if op == POWER:
        return power(x, x1, x2, y, y1, y2)
    if op == ARCTAN2:
        w = 1.0 / (y * y + x * x)
        a1 = (y * x1 - x * y1) * w
        return np.arctan2(x, y), a1, (y * x2 - x * y2 - 2.0 * a1 * (y * y1 + x * x1)) * w
    if op == HYPOT:
        h = np.hypot(x, y)
        h1 = (x * x1 + y * y1) / h
        return h, h1, (x1 * x1 + x * x2 + y1 * y1 + y * y2 - h1 * h1) / h
    m = np.remainder(x, y)
    q = np.rint((x - m) / y)
    return m, x1 - q * y1, x2 - q * y2


@kernel
def holds(op: int, x: float, y: float) -> bool:
    """Return whether a comparison holds; for minimum and maximum whether the first operand is taken."""
    if op == LESS:
        return x < y
    if op == LESS_EQUAL:
        return x <= y
    if op == EQUAL:
        return x == y
    if op == NOT_EQUAL:
        return x != y
    if op == MINIMUM:
        return x <= y or x != x
    return x >= y or x != x


@kernel
def choose(op: int, a: int, b: int, c: int, n: int, W: Floats) -> None:
    """Write slot n: a branch (where, minimum, maximum) or a comparison as 0 or 1."""
    if op == WHERE:
        source = b if W[a, 0] != 0.0 else c
    elif op <= MAXIMUM:
        source = a if holds(op, W[a, 0], W[b, 0]) else b
    else:
        W[n, 0] = 1.0 if holds(op, W[a, 0], W[b, 0]) else 0.0
        W[n, 1] = 0.0
        W[n, 2] = 0.0
        return
    W[n, 0] = W[source, 0]
    W[n, 1] = W[source, 1]
    W[n, 2] = W[source, 2]


@kernel
def run_tape(t: float, ops: Ints, op_first: int, op_last: int, numbers: Floats, first: int, last: int, W: Floats) -> None:
    """Fill the slots W (1 + constants + operations, 3) of the tape ops[op_first:op_last] with constants numbers[first:last]."""
    W[0, 0] = t
    W[0, 1] = 1.0
    W[0, 2] = 0.0
    n = 1
    for k in range(first, last):
        W[n, 0] = numbers[k]
        W[n, 1] = 0.0
        W[n, 2] = 0.0
        n += 1
    for k in range(op_first, op_last):
        op, a, b = ops[k, 0], ops[k, 1], ops[k, 2]
        if op <= LAST_UNARY:
            x, x1 = W[a, 0], W[a, 1]
            if op <= ARCTAN:
                g, g1, g2 = circular(op, x)
            elif op <= ARCTANH:
                g, g1, g2 = hyperbolic(op, x)
            else:
                g, g1, g2 = exponential(op, x)
            W[n, 0], W[n, 1], W[n, 2] = g, g1 * x1, g2 * x1 * x1 + g1 * W[a, 2]
        elif op <= LAST_ARITHMETIC:
            W[n, 0], W[n, 1], W[n, 2] = arithmetic(op, W[a, 0], W[a, 1], W[a, 2], W[b, 0], W[b, 1], W[b, 2])
        else:
            choose(op, a, b, ops[k, 3], n, W)
        n += 1
