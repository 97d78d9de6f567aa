r"""Numbers that remember how they were computed: reverse differentiation of compiled code.

    c = f(a, b)      entry of c: df/da, entry of a, df/db, entry of b, adjoint 0
    backward         adjoint of a += df/da adjoint of c,  adjoint of b += df/db adjoint of c        from the last entry to the first

A kernel that is given arrays of `Taped` is compiled once more for them, from the same source.  A number is its value and the address of
its entry, 0 for a constant.  Entries follow one another in a tape whose size is a power of two, and which begins at a multiple of it: the
address of any entry tells where the tape begins, and there stands the address of the next free entry.
Source: Griewank, Walther (2008), Evaluating Derivatives, ch. 4 (reverse mode) and ch. 6 (tapes).
"""

from __future__ import annotations

import mmap
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.cache_stamp import source_stamp
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.numba_names import COMPILES, Nothing, intrinsic, ir, types
from haugmbd.compiled.scalars import ActiveType, PairModel, active_operator, compare_values, view_of

if COMPILES:
    from numba.core import cgutils
    from numba.extending import lower_cast, register_model
else:
    cgutils = lower_cast = register_model = Nothing()

TAPED = np.dtype([("value", np.float64), ("entry", np.int64)])
"""A taped number in memory."""
SIZE = 2**29
"""Bytes of a tape: room, of which the system gives what is used."""
ENTRY = 5
"""Numbers of an entry: slope and address twice, and the adjoint."""
FIRST = 8
"""Numbers before the first entry; the first of them is the address of the next free one."""
FULL = SIZE // 8 // ENTRY // 4
"""Entries that one evaluation may make at most, to be safe."""

DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
ONE, MINUS = ir.Constant(DOUBLE, 1.0), ir.Constant(DOUBLE, -1.0)


class TapedType(ActiveType):
    """The type of numbers on a tape."""

    def __init__(self) -> None:
        super().__init__(f"Taped {source_stamp(Path(__file__))[:8]}")  # a cache tells kernels of other rules by the type

    @staticmethod
    def lower_chained(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the code of (value, slope x')."""
        value, slope, x = arguments
        return _entered(builder, value, [(slope, builder.extract_value(x, 1))])

    @staticmethod
    def lower_root(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the code of the root of x, whose value is known; of slope 0 at 0, as of a number that rests."""
        root, x = arguments
        zero = ir.Constant(DOUBLE, 0.0)
        slope = builder.select(builder.fcmp_ordered(">", root, zero), builder.fdiv(ir.Constant(DOUBLE, 0.5), root), zero)
        return _entered(builder, root, [(slope, builder.extract_value(x, 1))])


Taped = TapedType()


@register_model(TapedType)
class TapedModel(PairModel):
    """A value and the address of its entry."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.LiteralStructType([DOUBLE, WORD]))


def _number(builder: Any, value: Any, address: Any) -> Any:
    whole = ir.Constant(ir.LiteralStructType([DOUBLE, WORD]), ir.Undefined)
    return builder.insert_value(builder.insert_value(whole, value, 0), address, 1)


def _entered(builder: Any, value: Any, parents: list[tuple[Any, Any]]) -> Any:
    """Return a number with a new entry;  parents: slopes and addresses.

    A function of constants is a constant, and so is one whose slopes are zero here; what a single number is added to keeps its entry.
    """
    zero = ir.Constant(WORD, 0)
    parents = [(slope, _moving(builder, slope, address)) for slope, address in parents]
    some = parents[0][1]
    for _, address in parents[1:]:
        some = builder.select(builder.icmp_unsigned("!=", some, zero), some, address)
    enters, alone = builder.icmp_unsigned("!=", some, zero), cgutils.false_bit
    for k, (slope, _) in enumerate(parents):
        if slope is ONE:
            others = [builder.icmp_unsigned("==", address, zero) for _, address in parents[:k] + parents[k + 1 :]]
            alone = builder.or_(alone, others[0] if others else cgutils.true_bit)
    made = cgutils.alloca_once_value(builder, builder.select(alone, some, zero))
    enters = builder.and_(enters, builder.not_(alone))
    with builder.if_then(enters):
        head = builder.inttoptr(builder.and_(some, ir.Constant(WORD, ~(SIZE - 1))), WORD.as_pointer())
        entry = builder.load(head)
        builder.store(builder.add(entry, ir.Constant(WORD, 8 * ENTRY)), head)
        line = builder.inttoptr(entry, DOUBLE.as_pointer())
        words = builder.inttoptr(entry, WORD.as_pointer())
        for k in range(2):
            slope, address = parents[k] if k < len(parents) else (ir.Constant(DOUBLE, 0.0), zero)
            builder.store(slope, builder.gep(line, [ir.Constant(WORD, 2 * k)]))
            builder.store(address, builder.gep(words, [ir.Constant(WORD, 2 * k + 1)]))
        builder.store(ir.Constant(DOUBLE, 0.0), builder.gep(line, [ir.Constant(WORD, 4)]))
        builder.store(entry, made)
    return _number(builder, value, builder.load(made))


def _moving(builder: Any, slope: Any, address: Any) -> Any:
    """Return the address of a number, 0 if its slope is zero here."""
    if isinstance(slope, ir.Constant):
        return address
    return builder.select(builder.fcmp_unordered("!=", slope, ir.Constant(DOUBLE, 0.0)), address, ir.Constant(WORD, 0))


def _parts(context: Any, builder: Any, number: Any, kind: Any) -> tuple[Any, Any]:
    """Return value and address of a number; None for the address of a real one."""
    if isinstance(kind, TapedType):
        return builder.extract_value(number, 0), builder.extract_value(number, 1)
    return context.cast(builder, number, kind, types.float64), None


def _binary(operators: tuple[Any, ...], rule: Callable[..., Any]) -> None:
    """Let operators take taped numbers beside real ones.  rule(builder, a, b): the value, and the slopes by a and b"""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (a, at_a), (b, at_b) = (_parts(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
        value, by_a, by_b = rule(builder, a, b)
        return _entered(builder, value, [(by, at) for by, at in ((by_a, at_a), (by_b, at_b)) if at is not None])

    for which in operators:
        active_operator(which, Taped, lower, Taped)


def _divide(builder: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    ratio, inverse = builder.fdiv(a, b), builder.fdiv(ONE, b)
    return ratio, inverse, builder.fmul(MINUS, builder.fmul(ratio, inverse))


_binary((operator.add, operator.iadd), lambda builder, a, b: (builder.fadd(a, b), ONE, ONE))
_binary((operator.sub, operator.isub), lambda builder, a, b: (builder.fsub(a, b), ONE, MINUS))
_binary((operator.mul, operator.imul), lambda builder, a, b: (builder.fmul(a, b), b, a))
_binary((operator.truediv, operator.itruediv), _divide)
compare_values(Taped)


@lower_cast(types.Float, TapedType)  # type: ignore[untyped-decorator]
@lower_cast(types.Integer, TapedType)  # type: ignore[untyped-decorator]
def _lift(context: Any, builder: Any, real: Any, taped: Any, x: Any) -> Any:
    """Return a real number as a constant."""
    return _number(builder, context.cast(builder, x, real, types.float64), ir.Constant(WORD, 0))


@intrinsic  # type: ignore[untyped-decorator]
def entry_of(typing: Any, x: Any) -> Any:
    """Return the address of the entry of a number, 0 for a constant."""
    return types.int64(x), lambda context, builder, signature, arguments: builder.extract_value(arguments[0], 1)


@intrinsic  # type: ignore[untyped-decorator]
def taped(typing: Any, value: Any, entry: Any) -> Any:
    """Return the number of a value and the address of an entry."""
    return Taped(types.float64, types.int64), lambda context, builder, signature, arguments: _number(builder, *arguments)


as_taped: Any = view_of(Taped)
"""The numbers (n,) in an array of doubles (n, 2)."""


class Tape:
    """A tape in memory.

    base: its address;  reals, words: (n,) the same memory as doubles and as whole numbers
    """

    def __init__(self) -> None:
        self._room = mmap.mmap(-1, 2 * SIZE)
        whole = np.frombuffer(self._room, dtype=np.float64)
        first = whole.ctypes.data
        skip = -first % SIZE // 8
        self.base = first + 8 * skip
        self.reals: Array = whole[skip : skip + SIZE // 8]
        self.words: Ints = self.reals.view(np.int64)
        self.begin(0)

    def begin(self, inputs: int) -> None:
        """Begin anew, with entries for some inputs: numbers that nothing computes."""
        self.reals[FIRST : FIRST + ENTRY * inputs] = 0.0
        self.words[0] = self.base + 8 * (FIRST + ENTRY * inputs)

    def inputs(self, first: int, n: int) -> Ints:
        """Return the addresses of n inputs."""
        return self.base + 8 * (FIRST + ENTRY * np.arange(first, first + n, dtype=np.int64))


@kernel
def sweep_back(reals: Array, words: Ints, inputs: int) -> None:
    """Pass the adjoints of all entries on to those of the inputs, and clear them."""
    base = words[0] // SIZE * SIZE
    last = (words[0] - base) // 8
    first = FIRST + ENTRY * inputs
    k = last - ENTRY
    while k >= first:
        adjoint = reals[k + 4]
        if adjoint != 0.0:
            reals[k + 4] = 0.0
            a, b = words[k + 1], words[k + 3]
            if a != 0:
                reals[(a - base) // 8 + 4] += adjoint * reals[k]
            if b != 0:
                reals[(b - base) // 8 + 4] += adjoint * reals[k + 2]
        k -= ENTRY


@kernel
def seed(reals: Array, base: int, address: int, adjoint: float) -> None:
    """Add to the adjoint of the entry at an address; nothing for a constant."""
    if address != 0:
        reals[(address - base) // 8 + 4] += adjoint
