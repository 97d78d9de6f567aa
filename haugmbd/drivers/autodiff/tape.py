r"""Tape: a plain function of t, recorded once, so that compiled code evaluates it without calling Python.

The function is called once with a Tracer in place of t; every operation appends a row (op, a, b, c) to the tape and returns the
Tracer of its result.  x^2, x^3, ... become products, log2 a scaled log, and so on, so that the tape machine needs few operations.
A function that uses the truth or the value of a Tracer (`if t < 1`, float(t), math.cos(t)) cannot be recorded: `trace` returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from haugmbd.drivers.autodiff import tape_machine as tk
from haugmbd.drivers.autodiff.operators import Operators
from haugmbd.drivers.autodiff.rules import LN2, LN10
from haugmbd.drivers.autodiff.tape_machine import Floats, Ints

MAX_PRODUCT_POWER = 8  # x^n up to here as at most 4 products; one call of pow costs as much

Operand: TypeAlias = int  # 0 is t, k > 0 the k-th operation, -k the k-th constant


class Untraceable(TypeError):
    """The function uses an operation that a tape cannot hold."""


_APART: ContextVar[bool] = ContextVar("constants apart", default=False)


@contextmanager
def constants_apart() -> Iterator[None]:
    """Record functions in this block with a place of its own for each constant: equal ones may differ beside a parameter's value."""
    token = _APART.set(True)
    try:
        yield
    finally:
        _APART.reset(token)


@dataclass
class Recorder:
    """The growing tape; equal operations, and equal constants unless they are kept apart, are stored once."""

    ops: dict[tuple[int, Operand, Operand, Operand], Operand] = field(default_factory=dict)
    constants: dict[str, tuple[Operand, float]] = field(default_factory=dict)

    def operation(self, op: int, a: Operand, b: Operand = 0, c: Operand = 0) -> Operand:
        """Append an operation, or find the same one; return its operand."""
        return self.ops.setdefault((op, a, b, c), len(self.ops) + 1)

    def constant(self, value: float) -> Operand:
        """Append a constant, or find the same one (0.0 and -0.0 are different); return its operand."""
        key = f"{len(self.constants)} {value.hex()}" if _APART.get() else value.hex()
        return self.constants.setdefault(key, (-len(self.constants) - 1, value))[0]

    def operand(self, x: Any) -> Operand:
        """Return the operand of a Tracer of this recording or of a real number. Raise Untraceable for anything else."""
        if isinstance(x, Tracer) and x.recorder is self:
            return x.operand
        y = np.asarray(x)
        if y.shape != () or y.dtype.kind not in "iuf":
            raise Untraceable(f"no tape holds {type(x).__name__}")
        return self.constant(float(y))


class Tracer(Operators):
    """Stand-in for t, and for everything computed from t, while a function is recorded."""

    __slots__ = ("boolean", "operand", "recorder")

    def __init__(self, recorder: Recorder, operand: Operand, boolean: bool = False) -> None:
        self.recorder = recorder
        self.operand = operand
        self.boolean = boolean

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record the ufunc."""
        if method != "__call__" or kwargs:
            raise Untraceable(f"np.{ufunc.__name__}.{method} with options")
        if ufunc in LOGIC:
            return LOGIC[ufunc](*(_truth(self.recorder, x) for x in inputs))
        if all(_is_boolean(x) for x in inputs):
            raise Untraceable("arithmetic of booleans alone follows other rules than that of numbers")
        if ufunc in LOWERED:
            return LOWERED[ufunc](*inputs)
        if ufunc in RECORDED:
            return self.record(RECORDED[ufunc], *inputs)
        raise Untraceable(f"np.{ufunc.__name__}")

    def record(self, op: int, *inputs: Any) -> Tracer:
        """Append one operation."""
        operand = self.recorder.operation(op, *(self.recorder.operand(x) for x in inputs))
        return Tracer(self.recorder, operand, boolean=tk.LESS <= op <= tk.NOT_EQUAL)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """Record np.where as one operation."""
        return self.record(tk.WHERE, _truth(self.recorder, condition, numbers=True), x, y)

    def __bool__(self) -> bool:
        """Raise Untraceable: a branch on t has no tape."""
        raise Untraceable("the function branches on t")


def _is_boolean(x: Any) -> bool:
    return x.boolean if isinstance(x, Tracer) else isinstance(x, bool | np.bool)


def _truth(recorder: Recorder, x: Any, numbers: bool = False) -> Any:
    """Return x as a Tracer or a number that is 0 or 1 (with `numbers`: 0 or anything else)."""
    if isinstance(x, Tracer) and (x.boolean or numbers):
        return x
    if isinstance(x, bool | np.bool):
        return Tracer(recorder, recorder.constant(float(x)), boolean=True)
    raise Untraceable("a condition that is not a comparison")


def _power(x: Any, n: Any) -> Any:
    """Return x^n; small integers n as products (binary powers), exact also at x = 0."""
    whole = not isinstance(n, Tracer) and np.ndim(n) == 0 and n in range(1, MAX_PRODUCT_POWER + 1)
    if not whole:
        return x.record(tk.POWER, x, n) if isinstance(x, Tracer) else n.record(tk.POWER, x, n)
    if n == 1:
        return 1.0 * x
    half = _power(x, int(n) // 2)
    return half * half if n % 2 == 0 else half * half * x


def _sign(x: Tracer) -> Any:
    return np.where(x > 0.0, 1.0, np.where(x < 0.0, -1.0, 0.0 * x))


def _heaviside(x: Any, at_zero: Any) -> Any:
    return np.where(x > 0.0, 1.0, np.where(x < 0.0, 0.0, np.where(x == 0.0, at_zero, x)))


def _boolean(x: Tracer) -> Tracer:
    return Tracer(x.recorder, x.operand, boolean=True)


RECORDED: dict[np.ufunc, int] = {
    np.sin: tk.SIN, np.cos: tk.COS, np.tan: tk.TAN, np.arcsin: tk.ARCSIN, np.arccos: tk.ARCCOS, np.arctan: tk.ARCTAN,
    np.sinh: tk.SINH, np.cosh: tk.COSH, np.tanh: tk.TANH,
    np.arcsinh: tk.ARCSINH, np.arccosh: tk.ARCCOSH, np.arctanh: tk.ARCTANH,
    np.exp: tk.EXP, np.expm1: tk.EXPM1, np.log: tk.LOG, np.log1p: tk.LOG1P, np.sqrt: tk.SQRT, np.cbrt: tk.CBRT,
    np.negative: tk.NEGATIVE, np.absolute: tk.ABSOLUTE, np.fabs: tk.ABSOLUTE, np.floor: tk.FLOOR,
    np.add: tk.ADD, np.subtract: tk.SUBTRACT, np.multiply: tk.MULTIPLY, np.divide: tk.DIVIDE, np.arctan2: tk.ARCTAN2,
    np.hypot: tk.HYPOT, np.remainder: tk.REMAINDER, np.minimum: tk.MINIMUM, np.maximum: tk.MAXIMUM,
    np.less: tk.LESS, np.less_equal: tk.LESS_EQUAL, np.equal: tk.EQUAL, np.not_equal: tk.NOT_EQUAL,
}  # fmt: skip

LOWERED: dict[np.ufunc, Callable[..., Any]] = {
    np.greater: lambda x, y: np.less(y, x),
    np.greater_equal: lambda x, y: np.less_equal(y, x),
    np.power: _power,
    np.float_power: _power,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1.0 / x,
    np.positive: lambda x: 1.0 * x,
    np.exp2: lambda x: np.exp(LN2 * x),
    np.log2: lambda x: np.log(x) * (1.0 / LN2),
    np.log10: lambda x: np.log(x) * (1.0 / LN10),
    np.deg2rad: lambda x: x * (np.pi / 180.0),
    np.radians: lambda x: x * (np.pi / 180.0),
    np.rad2deg: lambda x: x * (180.0 / np.pi),
    np.degrees: lambda x: x * (180.0 / np.pi),
    np.ceil: lambda x: -np.floor(-x),
    np.trunc: lambda x: np.where(x < 0.0, -np.floor(-x), np.floor(x)),
    np.sign: _sign,
    np.heaviside: _heaviside,
}

LOGIC: dict[np.ufunc, Callable[..., Any]] = {
    np.logical_and: lambda x, y: _boolean(x.record(tk.MINIMUM, x, y)),
    np.bitwise_and: lambda x, y: _boolean(x.record(tk.MINIMUM, x, y)),
    np.logical_or: lambda x, y: _boolean(x.record(tk.MAXIMUM, x, y)),
    np.bitwise_or: lambda x, y: _boolean(x.record(tk.MAXIMUM, x, y)),
    np.logical_not: lambda x: _boolean(x.record(tk.SUBTRACT, 1.0, x)),
    np.bitwise_not: lambda x: _boolean(x.record(tk.SUBTRACT, 1.0, x)),
}


@dataclass(frozen=True, eq=False)
class Tape:
    """A recorded function.

    ops: rows (op, a, b, c) of slots, shape (n, 4), int64.
    constants: shape (m,).
    outputs: the slots of the results; one for a function whose jet is wanted, three for (f, f_dot, f_ddot) given separately.
    """

    ops: Ints
    constants: Floats
    outputs: tuple[int, ...]


def trace(functions: Sequence[Callable[[Any], Any]]) -> Tape | None:
    """Record one or several functions of t on one tape; None when one of them cannot be recorded."""
    recorder = Recorder()
    t = Tracer(recorder, 0)
    try:
        with np.errstate(all="ignore"):
            results = [fn(t) for fn in functions]
        if any(_is_boolean(y) for y in results):
            return None
        outputs = [recorder.operand(y) for y in results]
    except Exception:  # noqa: BLE001 - a user's function may raise anything; calling it with a Jet says what and where
        return None
    return _finished(recorder, outputs)


def _finished(recorder: Recorder, outputs: Sequence[Operand]) -> Tape:
    """Return the tape, with slots in place of operands: t, then the constants, then the operations."""
    m = len(recorder.constants)

    def slot(operand: Operand) -> int:
        return -operand if operand < 0 else operand + m if operand > 0 else 0

    ops = np.array([(op, slot(a), slot(b), slot(c)) for op, a, b, c in recorder.ops], dtype=np.int64).reshape(-1, 4)
    constants = np.array([value for _, value in recorder.constants.values()], dtype=np.float64)
    ops.flags.writeable = False
    constants.flags.writeable = False
    return Tape(ops, constants, tuple(slot(y) for y in outputs))
