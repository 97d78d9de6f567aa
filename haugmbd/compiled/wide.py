r"""Numbers of eight members side by side, as a number of compiled code: a kernel that is given arrays of `Wide` computes eight at once.

    (a_1 ... a_8) + (b_1 ... b_8) = (a_1 + b_1 ... a_8 + b_8)        with the roundings of eight calls, one by one

A kernel is compiled once more for them, from the same source.  A comparison is a MASK, one bit for each member; what only chooses
between two numbers (`max`, `abs`, `select`) is chosen member by member.  A branch must be the same for all eight: where it differs, it
is that of the first member, and one more decision APART is counted.  Whoever calls such a kernel looks whether the count has moved, and
if so computes these members one by one.
"""

from __future__ import annotations

import ctypes
import math
import operator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.compiled.cache_stamp import source_stamp
from haugmbd.compiled.numba_names import COMPILES, Nothing, intrinsic, ir, types
from haugmbd.compiled.scalars import COMPARISONS, FLAGS, NumberType, PairModel, active_operator, view_of

if COMPILES:
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    from numba.core import cgutils
    from numba.core.errors import NumbaError as NumbaError
    from numba.core.typeconv import Conversion
    from numba.core.typing.templates import AbstractTemplate, infer_global
    from numba.core.typing.templates import signature as signature_of
    from numba.extending import lower_builtin, lower_cast, models, overload, register_model
else:
    llvm = cgutils = Conversion = AbstractTemplate = infer_global = signature_of = Nothing()
    lower_builtin = lower_cast = models = overload = register_model = Nothing()

    class NumbaError(Exception):  # type: ignore[no-redef]
        """What a compiler raises that is not there."""


MEMBERS = 8
"""Members side by side: as many doubles as a wide vector register holds."""
WIDE = np.dtype([("members", np.float64, (MEMBERS,))])
"""A wide number in memory."""

DOUBLE, WORD, BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(1)
VECTOR = ir.VectorType(DOUBLE, MEMBERS)
CELL = ir.LiteralStructType([VECTOR], packed=True)
"""A number in registers and in memory: arrays of NumPy are not aligned to vectors."""
SIGNAL = "haugmbd_members_apart"
"""The function that counts decisions in which members differ."""


# ------------------------------------------------------------------------------------------------------------ decisions
_apart = ctypes.c_int64(0)


@cache
def count_decisions() -> None:
    """Make the function known by which compiled code counts; before a kernel of wide numbers is compiled or loaded."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = ir.Module("members apart")
    function = ir.Function(module, ir.FunctionType(WORD, [WORD]), SIGNAL)
    builder = ir.IRBuilder(function.append_basic_block())
    place = builder.inttoptr(ir.Constant(WORD, ctypes.addressof(_apart)), WORD.as_pointer())
    builder.ret(builder.atomic_rmw("add", place, function.args[0], "monotonic"))
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    llvm.add_symbol(SIGNAL, engine.get_function_address(SIGNAL))
    _engines.append(engine)


_engines: list[Any] = []
"""Keeps the machine code of `count_decisions`."""


# ------------------------------------------------------------------------------------------------------------ the type
class WideType(NumberType):
    """The type of numbers of eight members."""

    def __init__(self) -> None:
        super().__init__(f"Wide{MEMBERS} {source_stamp(Path(__file__))[:8]}")  # a cache tells kernels of other rules by the type


Wide = WideType()


@register_model(WideType)
class WideModel(PairModel):
    """A vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, CELL)


def _cell(builder: Any, vector: Any) -> Any:
    return builder.insert_value(ir.Constant(CELL, ir.Undefined), vector, 0)


def _spread(builder: Any, x: Any) -> Any:
    """Return a vector of equal numbers."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), MEMBERS), [0] * MEMBERS)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), zeros)


def _vector(context: Any, builder: Any, number: Any, kind: Any) -> Any:
    """Return the vector of a number, which is the same for all members if it is real."""
    if isinstance(kind, WideType):
        return builder.extract_value(number, 0)
    return _spread(builder, context.cast(builder, number, kind, types.float64))


def _count(builder: Any, more: int) -> Any:
    """Write a call that counts some decisions, and return how many there were before, in all threads."""
    signal = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORD, [WORD]), SIGNAL)
    signal.attributes.add("cold")
    return builder.call(signal, [ir.Constant(WORD, more)])


class MaskType(types.Type):  # type: ignore[misc]  # Numba has no types
    """The type of a comparison of wide numbers."""

    def __init__(self) -> None:
        super().__init__(f"Mask{MEMBERS}")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Let one condition be that of all members; there is no way back."""
        return Conversion.safe if isinstance(other, types.Boolean) else None

    @staticmethod
    def lower_somewhere(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write whether there is a member: no decision that members could differ in."""
        return builder.icmp_unsigned("!=", arguments[0], BYTE(0))

    @staticmethod
    def typed_select(x: Any, y: Any) -> Any:
        """Return the signature of a choice by a mask, and its code."""
        kind = types.int64 if all(isinstance(each, types.Integer) for each in (x, y)) else Wide

        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte = arguments[0]
            if kind is not Wide:
                a, b = (
                    context.cast(builder, value, was, kind) for value, was in zip(arguments[1:], signature.args[1:], strict=True)
                )
                return builder.select(builder.trunc(byte, ir.IntType(1)), a, b)
            a, b = (_vector(context, builder, value, was) for value, was in zip(arguments[1:], signature.args[1:], strict=True))
            return _cell(builder, builder.select(builder.bitcast(byte, BITS), a, b))

        return kind(Mask, x, y), write


Mask = MaskType()
BYTE, BITS = ir.IntType(MEMBERS), ir.VectorType(ir.IntType(1), MEMBERS)


@register_model(MaskType)
class MaskModel(models.PrimitiveModel):  # type: ignore[misc]
    """A bit for each member."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, BYTE)


def _decided(builder: Any, byte: Any) -> Any:
    """Return the decision of the first member, and count it if that of others differs."""
    none, every = builder.icmp_unsigned("==", byte, BYTE(0)), builder.icmp_unsigned("==", byte, BYTE(2**MEMBERS - 1))
    with cgutils.if_unlikely(builder, builder.not_(builder.or_(none, every))):
        _count(builder, 1)
    return builder.trunc(byte, ir.IntType(1))


@intrinsic  # type: ignore[untyped-decorator]
def _inverted(typing: Any, mask: Any) -> Any:
    return Mask(Mask), lambda context, builder, signature, arguments: builder.not_(arguments[0])


class _Truth(AbstractTemplate):  # type: ignore[misc]
    key = bool

    def generic(self, arguments: Any, keywords: Any) -> Any:
        """Return the signature of the decision of a branch."""
        return signature_of(types.boolean, *arguments) if arguments == (Mask,) else None


infer_global(bool)(_Truth)


@lower_builtin(bool, MaskType)  # type: ignore[untyped-decorator]
def _branch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _decided(builder, arguments[0])


@lower_cast(types.Boolean, MaskType)  # type: ignore[untyped-decorator]
def _for_all(context: Any, builder: Any, condition: Any, mask: Any, value: Any) -> Any:
    """Return one condition for all members."""
    return _mask_of(context, builder, value, condition)


overload(operator.not_, strict=False)(lambda x: (lambda x: _inverted(x)) if x is Mask else None)  # noqa: PLW0108


def _counted(x: Any, y: Any) -> Any:
    """Return the rule of a whole number and a condition that is counted: a decision."""
    return (lambda x, y: x + (1 if y else 0)) if isinstance(x, types.Integer) and y is Mask else None


overload(operator.add, strict=False)(_counted)
overload(operator.iadd, strict=False)(_counted)


def _mask_of(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """Return the bits of a mask, or those of one condition for all members."""
    if kind is Mask:
        return value
    return builder.select(context.cast(builder, value, kind, types.boolean), BYTE(2**MEMBERS - 1), BYTE(0))


def _mask_operator(which: Any, instruction: str) -> None:
    """Let an operator take two masks, or a mask and a condition."""

    class Typed(AbstractTemplate):  # type: ignore[misc]
        key = which

        def generic(self, arguments: Any, keywords: Any) -> Any:
            """Return the signature if one of two conditions is a mask."""
            if len(arguments) == 2 and Mask in arguments and all(each in (Mask, types.boolean) for each in arguments):  # noqa: PLR2004
                return signature_of(Mask, *arguments)
            return None

    infer_global(which)(Typed)

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (_mask_of(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
        return getattr(builder, instruction)(a, b)

    for kinds in ((MaskType, MaskType), (MaskType, types.Boolean), (types.Boolean, MaskType)):
        lower_builtin(which, *kinds)(lower)


for _operators, _instruction in (
    ((operator.and_, operator.iand), "and_"),
    ((operator.or_, operator.ior), "or_"),
    ((operator.xor, operator.ixor), "xor"),
):
    for _which in _operators:
        _mask_operator(_which, _instruction)


# ------------------------------------------------------------------------------------------------------------ operators
def _operator(operators: tuple[Any, ...], instruction: str) -> None:
    """Let operators take wide numbers beside real ones."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (_vector(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
        return _cell(builder, getattr(builder, instruction)(a, b, flags=FLAGS))

    for which in operators:
        active_operator(which, Wide, lower, Wide)


_operator((operator.add, operator.iadd), "fadd")
_operator((operator.sub, operator.isub), "fsub")
_operator((operator.mul, operator.imul), "fmul")
_operator((operator.truediv, operator.itruediv), "fdiv")


def _comparison(which: Any, llvm_name: str) -> None:
    """Let a comparison of wide numbers be a mask."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (_vector(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
        compare = builder.fcmp_unordered if llvm_name == "!=" else builder.fcmp_ordered
        return builder.bitcast(compare(llvm_name, a, b), BYTE)

    active_operator(which, Mask, lower, Wide)


for _which, _name in COMPARISONS:
    _comparison(_which, _name)


@lower_cast(types.Float, WideType)  # type: ignore[untyped-decorator]
@lower_cast(types.Integer, WideType)  # type: ignore[untyped-decorator]
def _lift(context: Any, builder: Any, real: Any, wide: Any, x: Any) -> Any:
    """Return a real number for all members."""
    return _cell(builder, _spread(builder, context.cast(builder, x, real, types.float64)))


# ------------------------------------------------------------------------------------------------------------ functions
def _vector_function(name: str, count: int = 1) -> Any:
    """Return an intrinsic of Numba that is an intrinsic of LLVM, of one or two numbers, member by member."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = [_vector(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True)]
        kind = ir.FunctionType(VECTOR, [VECTOR] * count)
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{MEMBERS}f64")
        return _cell(builder, builder.call(function, vectors))

    if count == 1:

        @intrinsic  # type: ignore[untyped-decorator]
        def one(typing: Any, x: Any) -> Any:
            return Wide(x), write

        return one

    @intrinsic  # type: ignore[untyped-decorator]
    def two(typing: Any, x: Any, y: Any) -> Any:
        return Wide(x, y), write

    return two


def _chosen(llvm_name: str) -> Any:
    """Return an intrinsic: the first number where it compares so with the second one, the second one elsewhere."""

    @intrinsic  # type: ignore[untyped-decorator]
    def chosen(typing: Any, x: Any, y: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, b = (_vector(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
            return _cell(builder, builder.select(builder.fcmp_ordered(llvm_name, a, b), a, b))

        return Wide(x, y), write

    return chosen


@intrinsic  # type: ignore[untyped-decorator]
def member_of(typing: Any, x: Any, k: Any) -> Any:
    """Return the number of one member."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(builder.extract_value(arguments[0], 0), arguments[1])

    return types.float64(Wide, types.intp), write


@intrinsic  # type: ignore[untyped-decorator]
def with_member(typing: Any, x: Any, k: Any, value: Any) -> Any:
    """Return wide numbers in which one member has another value."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole, place, number = arguments
        return _cell(builder, builder.insert_element(builder.extract_value(whole, 0), number, place))

    return Wide(Wide, types.intp, types.float64), write


@intrinsic  # type: ignore[untyped-decorator]
def decisions_apart(typing: Any) -> Any:
    """Return how many decisions there were, in all threads, in which members differed."""
    return types.int64(), lambda context, builder, signature, arguments: _count(builder, 0)


as_wide: Any = view_of(Wide)
"""The wide numbers (n,) in an array of doubles (n, MEMBERS)."""


@intrinsic  # type: ignore[untyped-decorator]
def as_wide_record(typing: Any, numbers: Any, kind: Any) -> Any:
    """Return the record of wide numbers in an array of doubles (fields, MEMBERS);  kind: the type of the record, a constant."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = context.make_array(numbers)(context, builder, arguments[0])
        return builder.bitcast(whole.data, context.get_value_type(signature.return_type))

    return kind.instance_type(numbers, kind), lower


def _let(function: Any, rule: Any) -> None:
    """Let a function of one number take wide ones."""
    overload(function, strict=False)(lambda x: rule if isinstance(x, WideType) else None)


def _let_two(function: Any, rule: Any) -> None:
    """Let a function of two numbers take wide ones."""

    def chosen(x: Any, y: Any) -> Any:
        numbers = all(isinstance(each, NumberType | types.Float | types.Integer) for each in (x, y))
        return rule if numbers and Wide in (x, y) else None

    overload(function, strict=False)(chosen)


def _one_by_one(function: Any) -> Any:
    """Return a function of wide numbers that calls a function of real ones for each member."""

    def each(x: Any) -> Any:
        found = x
        for k in range(MEMBERS):
            found = with_member(found, k, function(member_of(x, k)))
        return found

    return each


def _two_by_two(function: Any) -> Any:
    """Return the same of two numbers."""

    def each(x: Any, y: Any) -> Any:
        a = x + 0.0 * y
        b = y + 0.0 * x
        for k in range(MEMBERS):
            a = with_member(a, k, function(member_of(a, k), member_of(b, k)))
        return a

    return each


_root, _size, _signed = _vector_function("sqrt"), _vector_function("fabs"), _vector_function("copysign", 2)
_largest, _least = _chosen(">="), _chosen("<=")

_function: Any
_let(operator.neg, lambda x: -0.0 - x)
_let(operator.pos, lambda x: x)
for _function in (abs, math.fabs, np.abs):
    _let(_function, lambda x: _size(x))  # noqa: PLW0108  Numba compiles a function of Python
for _function in (math.sqrt, np.sqrt):
    _let(_function, lambda x: _root(x))  # noqa: PLW0108
for _function in (math.sin, math.cos, math.tan, math.exp, math.expm1, math.log, math.log1p, math.log2, math.log10, math.sinh, math.cosh,
                  math.tanh, math.asin, math.acos, math.atan, math.asinh, math.acosh, math.atanh,
                  np.sin, np.cos, np.tan, np.exp, np.log, np.tanh, np.arcsin, np.arccos, np.arctan, np.exp2, np.cbrt, np.sign, np.rint,
                  np.trunc, np.floor, np.ceil):  # fmt: skip
    _let(_function, _one_by_one(_function))
for _function in (math.atan2, np.arctan2, math.hypot, np.hypot):
    _let_two(_function, _two_by_two(_function))
for _function in (max, np.maximum):
    _let_two(_function, lambda x, y: _largest(x, y))  # noqa: PLW0108
for _function in (min, np.minimum):
    _let_two(_function, lambda x, y: _least(x, y))  # noqa: PLW0108
_let_two(math.copysign, lambda x, y: _signed(x, y))  # noqa: PLW0108


@intrinsic  # type: ignore[untyped-decorator]
def _same_whole(typing: Any, x: Any) -> Any:
    """Return the whole part of a number towards 0: a decision."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wholes = builder.fptosi(builder.extract_value(arguments[0], 0), ir.VectorType(WORD, MEMBERS))
        first = builder.extract_element(wholes, ir.Constant(ir.IntType(32), 0))
        line = ir.Constant(wholes.type, ir.Undefined)
        line = builder.insert_element(line, first, ir.Constant(ir.IntType(32), 0))
        line = builder.shuffle_vector(
            line, ir.Constant(wholes.type, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), MEMBERS), [0] * MEMBERS)
        )
        _decided(builder, builder.bitcast(builder.icmp_signed("==", wholes, line), BYTE))
        return first

    return types.int64(Wide), write


_let(int, lambda x: _same_whole(x))  # noqa: PLW0108
_let(math.floor, lambda x: _same_whole(np.floor(x)))
_let(math.ceil, lambda x: _same_whole(np.ceil(x)))
_let(round, lambda x: _same_whole(np.rint(x)))
_let(float, lambda x: x)
_let(bool, lambda x: x != 0.0)
for _function in (math.isfinite, np.isfinite):
    _let(_function, lambda x: _size(x) < math.inf)
for _function in (math.isnan, np.isnan):
    _let(_function, lambda x: x != x)  # noqa: PLR0124


def _of_three(function: Any) -> None:
    """Let the largest or the least of three numbers be found in two steps."""

    def chosen(x: Any, y: Any, z: Any) -> Any:
        return (lambda x, y, z: function(function(x, y), z)) if Wide in (x, y, z) else None

    overload(function, strict=False)(chosen)


_of_three(max)
_of_three(min)


# ------------------------------------------------------------------------------------------------------------ powers
class _Power(AbstractTemplate):  # type: ignore[misc]
    key = operator.pow

    def generic(self, arguments: Any, keywords: Any) -> Any:
        """Return the signature of a power if one of two numbers is wide."""
        numbers = all(isinstance(each, NumberType | types.Integer | types.Float) for each in arguments)
        return signature_of(Wide, *arguments) if len(arguments) == 2 and Wide in arguments and numbers else None  # noqa: PLR2004


infer_global(operator.pow)(_Power)


@lower_builtin(operator.pow, WideType, types.IntegerLiteral)  # type: ignore[untyped-decorator]
def _constant_power(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write a constant whole power: by squaring, in the order in which Numba does it for doubles."""
    exponent = signature.args[1].literal_value
    factor, rest = builder.extract_value(arguments[0], 0), abs(exponent)
    product: Any = None
    while rest:
        if rest & 1:
            product = factor if product is None else builder.fmul(product, factor, flags=FLAGS)
        rest >>= 1
        if rest:
            factor = builder.fmul(factor, factor, flags=FLAGS)
    one = ir.Constant(VECTOR, [1.0] * MEMBERS)
    product = one if product is None else product
    return _cell(builder, builder.fdiv(one, product, flags=FLAGS) if exponent < 0 else product)


def _any_power(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write a power whose exponent is known in the run only: member by member."""
    kinds = [types.float64 if kind is Wide else kind for kind in signature.args]
    function = context.get_function(operator.pow, signature_of(types.float64, *kinds))
    found = ir.Constant(VECTOR, ir.Undefined)
    for k in range(MEMBERS):
        place = ir.Constant(ir.IntType(32), k)
        each = [
            builder.extract_element(builder.extract_value(x, 0), place) if kind is Wide else x
            for x, kind in zip(arguments, signature.args, strict=True)
        ]
        found = builder.insert_element(found, function(builder, each), place)
    return _cell(builder, found)


for _kinds in ((WideType, types.Integer), (WideType, types.Float), (WideType, WideType), (types.Number, WideType)):
    lower_builtin(operator.pow, *_kinds)(_any_power)


def _remainder(x: Any, y: Any) -> Any:
    """Return the rule of x mod y."""
    return (lambda x, y: x - np.floor(x / y) * y) if Wide in (x, y) else None


overload(operator.mod, strict=False)(_remainder)
overload(np.remainder, strict=False)(_remainder)
