r"""Dual numbers with several tangents, as a number of compiled code: what a kernel may do with a number is said here, and only here.

    (a, a') + (b, b') = (a + b, a' + b')      (a, a') (b, b') = (a b, a b' + b a')      f(a, a') = (f(a), f'(a) a')

A kernel that is given arrays of `Dual` is compiled once more for them, from the same source: it computes its value, and `LANES`
directional derivatives of it side by side in one vector register.  Branches and comparisons follow the value; a whole number, a floor and
a sign have no derivative.  What has no rule here is an error of the compiler, never a silent zero.

In memory a dual is LANES + 1 doubles, the value first: an array of duals is a NumPy array of `DUAL`.
Source: Griewank, Walther (2008), Evaluating Derivatives, ch. 3 (vector forward mode).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.compiled.array_views import lower_view
from haugmbd.compiled.cache_stamp import source_stamp
from haugmbd.compiled.numba_names import COMPILES, Nothing, intrinsic, ir, types

if COMPILES:
    from numba.core.typeconv import Conversion
    from numba.core.typing.templates import AbstractTemplate, infer_global
    from numba.core.typing.templates import signature as signature_of
    from numba.extending import lower_builtin, lower_cast, models, overload, register_model
else:
    Conversion = AbstractTemplate = infer_global = signature_of = Nothing()
    lower_builtin = lower_cast = models = overload = register_model = Nothing()

LANES = 8
"""Directional derivatives of one number: as many doubles as a wide vector register holds."""
DUAL = np.dtype([("value", np.float64), ("tangent", np.float64, (LANES,))])
"""A dual number in memory."""

DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, LANES)
FLAGS = ("contract",)


class NumberType(types.Type):  # type: ignore[misc]  # Numba has no types
    """A type of numbers that kernels take in place of doubles."""

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Let real numbers become such numbers; there is no way back."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


class ActiveType(NumberType):
    """A type of numbers with derivatives."""


class DualType(ActiveType):
    """The type of dual numbers."""

    def __init__(self) -> None:
        super().__init__(f"Dual{LANES} {source_stamp(Path(__file__))[:8]}")  # a cache tells kernels of other rules by the type


Dual = DualType()


class PairModel(models.DataModel):  # type: ignore[misc]
    """A value and what goes with it, the same in registers and in memory.  parts: their type"""

    def __init__(self, manager: Any, kind: Any, parts: Any) -> None:
        super().__init__(manager, kind)
        self._type = parts

    def get_value_type(self) -> Any:
        """Return the type of a number in registers."""
        return self._type

    def get_data_type(self) -> Any:
        """Return the type of a number in memory."""
        return self._type

    get_argument_type = get_return_type = get_value_type

    def as_data(self, builder: Any, value: Any) -> Any:
        """Return the number as it is in memory."""
        return value

    as_argument = as_return = from_data = from_argument = from_return = as_data

    def get_nested_types(self) -> Any:
        """Return no types: a number has no parts."""
        return ()

    def traverse(self, builder: Any) -> Any:
        """Return no parts."""
        return []


@register_model(DualType)
class DualModel(PairModel):
    """A value and a vector of tangents, without space between them."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.LiteralStructType([DOUBLE, VECTOR], packed=True))


# ------------------------------------------------------------------------------------------------------------ LLVM
def _pair(builder: Any, value: Any, tangent: Any) -> Any:
    """Return a dual."""
    whole = ir.Constant(ir.LiteralStructType([DOUBLE, VECTOR], packed=True), ir.Undefined)
    return builder.insert_value(builder.insert_value(whole, value, 0), tangent, 1)


def _parts(context: Any, builder: Any, number: Any, kind: Any) -> tuple[Any, Any]:
    """Return value and tangent of a number; None for the tangent of a real one."""
    if isinstance(kind, DualType):
        return builder.extract_value(number, 0), builder.extract_value(number, 1)
    return context.cast(builder, number, kind, types.float64), None


def _spread(builder: Any, x: Any) -> Any:
    """Return a vector of equal numbers."""
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), zeros)


def _scaled(builder: Any, x: Any, tangent: Any) -> Any:
    """Return x times a vector; None for none."""
    return None if tangent is None else builder.fmul(_spread(builder, x), tangent, flags=FLAGS)


def _sum(builder: Any, a: Any, b: Any, subtract: bool = False) -> Any:
    """Return the sum or difference of vectors, of which one may be None."""
    if b is None:
        return a
    if a is None:
        return builder.fsub(ir.Constant(VECTOR, [-0.0] * LANES), b, flags=FLAGS) if subtract else b
    return (builder.fsub if subtract else builder.fadd)(a, b, flags=FLAGS)


def _add(builder: Any, a: Any, da: Any, b: Any, db: Any) -> Any:
    return _pair(builder, builder.fadd(a, b, flags=FLAGS), _sum(builder, da, db))


def _subtract(builder: Any, a: Any, da: Any, b: Any, db: Any) -> Any:
    return _pair(builder, builder.fsub(a, b, flags=FLAGS), _sum(builder, da, db, subtract=True))


def _multiply(builder: Any, a: Any, da: Any, b: Any, db: Any) -> Any:
    return _pair(builder, builder.fmul(a, b, flags=FLAGS), _sum(builder, _scaled(builder, a, db), _scaled(builder, b, da)))


def _divide(builder: Any, a: Any, da: Any, b: Any, db: Any) -> Any:
    """d(a / b) = (da - (a / b) db) / b."""
    ratio = builder.fdiv(a, b, flags=FLAGS)
    top = _sum(builder, da, _scaled(builder, ratio, db), subtract=True)
    return _pair(builder, ratio, builder.fmul(_spread(builder, builder.fdiv(ir.Constant(DOUBLE, 1.0), b)), top, flags=FLAGS))


def _any_active(*kinds: Any) -> bool:
    return any(isinstance(kind, ActiveType) for kind in kinds)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, NumberType | types.Float | types.Integer | types.Boolean)


def active_operator(which: Any, result: Any, lower: Callable[..., Any], kind: Any = Dual) -> None:
    """Let an operator take two numbers of which one is of a kind, by default a dual.  lower: writes its code, which returns a `result`"""

    class Typed(AbstractTemplate):  # type: ignore[misc]
        key = which

        def generic(self, arguments: Any, keywords: Any) -> Any:
            """Return the signature if one of two numbers is of the kind."""
            if len(arguments) == 2 and kind in arguments and all(map(_is_number, arguments)):  # noqa: PLR2004  two operands
                return signature_of(result, *arguments)
            return None

    infer_global(which)(Typed)
    own = type(kind)
    for kinds in ((own, own), (own, types.Number), (types.Number, own), (own, types.Boolean)):
        lower_builtin(which, *kinds)(lower)


def _binary(operators: tuple[Any, ...], rule: Callable[..., Any]) -> None:
    """Let operators take duals beside numbers.  rule(builder, a, da, b, db): the result, a dual."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (a, da), (b, db) = (_parts(context, builder, x, kind) for x, kind in zip(arguments, signature.args, strict=True))
        return rule(builder, a, da, b, db)

    for which in operators:
        active_operator(which, Dual, lower)


_binary((operator.add, operator.iadd), _add)
_binary((operator.sub, operator.isub), _subtract)
_binary((operator.mul, operator.imul), _multiply)
_binary((operator.truediv, operator.itruediv), _divide)


def _compared(which: Any, llvm_name: str, kind: Any) -> None:
    """Let a comparison of numbers of a kind be that of their values."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (
            builder.extract_value(x, 0) if isinstance(of, ActiveType) else context.cast(builder, x, of, types.float64)
            for x, of in zip(arguments, signature.args, strict=True)
        )
        compare = builder.fcmp_unordered if llvm_name == "!=" else builder.fcmp_ordered
        return compare(llvm_name, a, b)

    active_operator(which, types.boolean, lower, kind)


COMPARISONS = (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
)


def compare_values(kind: Any) -> None:
    """Let numbers of a kind be compared by their values."""
    for which, name in COMPARISONS:
        _compared(which, name, kind)


compare_values(Dual)


@lower_cast(types.Float, DualType)  # type: ignore[untyped-decorator]
@lower_cast(types.Integer, DualType)  # type: ignore[untyped-decorator]
def _lift(context: Any, builder: Any, real: Any, dual: Any, x: Any) -> Any:
    """Return a real number as a dual whose tangents are 0."""
    return _pair(builder, context.cast(builder, x, real, types.float64), ir.Constant(VECTOR, [0.0] * LANES))


@intrinsic  # type: ignore[untyped-decorator]
def value_of(typing: Any, x: Any) -> Any:
    """Return the value of a number, a float."""
    if isinstance(x, ActiveType):
        return types.float64(x), lambda context, builder, signature, arguments: builder.extract_value(arguments[0], 0)
    return types.float64(x), lambda context, builder, signature, arguments: context.cast(builder, arguments[0], x, types.float64)


@intrinsic  # type: ignore[untyped-decorator]
def chained(typing: Any, value: Any, slope: Any, x: Any) -> Any:
    """Return the dual (value, slope x'): a function of the dual x."""
    if x is not Dual:
        return x(types.float64, types.float64, x), x.lower_chained

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _pair(builder, arguments[0], _scaled(builder, arguments[1], builder.extract_value(arguments[2], 1)))

    return Dual(types.float64, types.float64, Dual), lower


@intrinsic  # type: ignore[untyped-decorator]
def root_of(typing: Any, root: Any, x: Any) -> Any:
    """Return the dual root of x, whose value is known: d sqrt(x) = dx / (2 root), infinite at 0 but for lanes in which x rests."""
    if x is not Dual:
        return x(types.float64, x), x.lower_root

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        tangent, zero = builder.extract_value(arguments[1], 1), ir.Constant(VECTOR, [0.0] * LANES)
        slope = builder.fdiv(ir.Constant(DOUBLE, 0.5), arguments[0])
        moving = builder.fcmp_unordered("!=", tangent, zero)
        return _pair(builder, arguments[0], builder.select(moving, _scaled(builder, slope, tangent), zero))

    return Dual(types.float64, Dual), lower


@intrinsic  # type: ignore[untyped-decorator]
def tangent_of(typing: Any, x: Any, lane: Any) -> Any:
    """Return one tangent of a dual."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(builder.extract_value(arguments[0], 1), arguments[1])

    return types.float64(Dual, types.intp), lower


def view_of(kind: Any) -> Any:
    """Return the function of compiled code that gives the numbers (n,) of a kind in an array of doubles, each in a row of it."""

    @intrinsic  # type: ignore[untyped-decorator]
    def view(typing: Any, numbers: Any) -> Any:
        """Return the numbers as they are in memory."""

        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            whole = context.make_array(numbers)(context, builder, arguments[0])
            data = builder.bitcast(whole.data, context.get_data_type(kind).as_pointer())
            return lower_view(context, builder, signature.return_type, data, [builder.extract_value(whole.shape, 0)])

        return types.Array(kind, 1, "C")(numbers), lower

    return view


as_duals: Any = view_of(Dual)
"""The duals (n,) in an array of doubles (n, LANES + 1)."""


# ------------------------------------------------------------------------------------------------------------ records
# A record of real numbers, such as Twist(ZERO, ZERO), becomes one of duals where a variable is either.
def _unified(record: Any, context: Any, other: Any) -> Any:
    """Return the type of records that are of two types: the same class, member by member; None for others."""
    if not isinstance(other, types.BaseNamedTuple) or other.instance_class is not record.instance_class:
        return None
    members = [context.unify_pairs(a, b) for a, b in zip(record, other, strict=True)]
    return None if None in members else types.BaseTuple.from_types(members, record.instance_class)


def _converted(record: Any, context: Any, other: Any) -> Any:
    """Return how a record becomes one of another type; None if it does not."""
    if not isinstance(other, types.BaseNamedTuple) or other.instance_class is not record.instance_class:
        return None
    kinds = [context.can_convert(a, b) for a, b in zip(record, other, strict=True)]
    return None if None in kinds else max(kinds)


if COMPILES:
    for _records in (types.NamedUniTuple, types.NamedTuple):
        _records.unify, _records.can_convert_to = _unified, _converted


@lower_cast(types.NamedTuple, types.NamedTuple)  # type: ignore[untyped-decorator]
@lower_cast(types.NamedTuple, types.NamedUniTuple)  # type: ignore[untyped-decorator]
@lower_cast(types.NamedUniTuple, types.NamedTuple)  # type: ignore[untyped-decorator]
@lower_cast(types.NamedUniTuple, types.NamedUniTuple)  # type: ignore[untyped-decorator]
def _cast_record(context: Any, builder: Any, was: Any, becomes: Any, record: Any) -> Any:
    """Return a record with its members cast."""
    members = [
        context.cast(builder, builder.extract_value(record, k), a, b) for k, (a, b) in enumerate(zip(was, becomes, strict=True))
    ]
    return context.make_tuple(builder, becomes, members)


# ------------------------------------------------------------------------------------------------------------ functions
def _unary(function: Any, rule: Any) -> None:
    """Let a function of one number take a dual."""

    def chosen(x: Any) -> Any:
        return rule if isinstance(x, ActiveType) else None

    overload(function, strict=False)(chosen)


def _positive(x: Any) -> Any:
    return x


_unary(operator.neg, lambda x: 0.0 - x)
_unary(operator.pos, _positive)
_unary(abs, lambda x: chained(abs(value_of(x)), math.copysign(1.0, value_of(x)), x))
_unary(math.fabs, lambda x: chained(abs(value_of(x)), math.copysign(1.0, value_of(x)), x))
LOG2_E, LOG10_E, LOG_2 = math.log2(math.e), math.log10(math.e), math.log(2.0)
SMOOTH: dict[str, Any] = {
    "sin": lambda x: chained(math.sin(value_of(x)), math.cos(value_of(x)), x),
    "cos": lambda x: chained(math.cos(value_of(x)), -math.sin(value_of(x)), x),
    "tan": lambda x: chained(math.tan(value_of(x)), 1.0 + math.tan(value_of(x)) ** 2, x),
    "exp": lambda x: chained(math.exp(value_of(x)), math.exp(value_of(x)), x),
    "expm1": lambda x: chained(math.expm1(value_of(x)), math.exp(value_of(x)), x),
    "log": lambda x: chained(math.log(value_of(x)), 1.0 / value_of(x), x),
    "log1p": lambda x: chained(math.log1p(value_of(x)), 1.0 / (1.0 + value_of(x)), x),
    "tanh": lambda x: chained(math.tanh(value_of(x)), 1.0 - math.tanh(value_of(x)) ** 2, x),
    "sinh": lambda x: chained(math.sinh(value_of(x)), math.cosh(value_of(x)), x),
    "cosh": lambda x: chained(math.cosh(value_of(x)), math.sinh(value_of(x)), x),
    "asin": lambda x: chained(math.asin(value_of(x)), 1.0 / math.sqrt(1.0 - value_of(x) ** 2), x),
    "acos": lambda x: chained(math.acos(value_of(x)), -1.0 / math.sqrt(1.0 - value_of(x) ** 2), x),
    "atan": lambda x: chained(math.atan(value_of(x)), 1.0 / (1.0 + value_of(x) ** 2), x),
    "asinh": lambda x: chained(math.asinh(value_of(x)), 1.0 / math.sqrt(value_of(x) ** 2 + 1.0), x),
    "acosh": lambda x: chained(math.acosh(value_of(x)), 1.0 / math.sqrt(value_of(x) ** 2 - 1.0), x),
    "atanh": lambda x: chained(math.atanh(value_of(x)), 1.0 / (1.0 - value_of(x) ** 2), x),
    "log2": lambda x: chained(math.log2(value_of(x)), LOG2_E / value_of(x), x),
    "log10": lambda x: chained(math.log10(value_of(x)), LOG10_E / value_of(x), x),
    "sqrt": lambda x: root_of(math.sqrt(value_of(x)), x),
}
"""Functions of one number, by the name that they have in `math`, and in NumPy."""
IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
for _name, _rule in SMOOTH.items():
    _unary(getattr(math, _name), _rule)
    _unary(getattr(np, IN_NUMPY.get(_name, _name)), _rule)
_unary(math.floor, lambda x: math.floor(value_of(x)))
_unary(math.ceil, lambda x: math.ceil(value_of(x)))
_unary(math.isfinite, lambda x: math.isfinite(value_of(x)))
_unary(math.isnan, lambda x: math.isnan(value_of(x)))
_unary(np.isfinite, lambda x: math.isfinite(value_of(x)))
_unary(np.exp2, lambda x: chained(np.exp2(value_of(x)), LOG_2 * np.exp2(value_of(x)), x))
_unary(np.cbrt, lambda x: chained(np.cbrt(value_of(x)), 1.0 / (3.0 * np.cbrt(value_of(x)) ** 2), x))
_unary(np.abs, lambda x: chained(abs(value_of(x)), math.copysign(1.0, value_of(x)), x))
_unary(np.isnan, lambda x: math.isnan(value_of(x)))
_unary(np.floor, lambda x: float(math.floor(value_of(x))))
_unary(np.ceil, lambda x: float(math.ceil(value_of(x))))
_unary(np.rint, lambda x: np.rint(value_of(x)))
_unary(np.trunc, lambda x: np.trunc(value_of(x)))
_unary(round, lambda x: round(value_of(x)))
_unary(np.sign, lambda x: np.sign(value_of(x)))


@overload(int, strict=False)  # type: ignore[untyped-decorator]
def _whole(x: Any) -> Any:
    return (lambda x: int(value_of(x))) if isinstance(x, ActiveType) else None


@overload(float, strict=False)  # type: ignore[untyped-decorator]
def _number(x: Any) -> Any:
    return (lambda x: x) if isinstance(x, ActiveType) else None


@overload(bool, strict=False)  # type: ignore[untyped-decorator]
def _truth(x: Any) -> Any:
    return (lambda x: value_of(x) != 0.0) if isinstance(x, ActiveType) else None


def _two(function: Any, both: Any) -> None:
    """Let a function of two numbers take duals, or one dual; `both` computes with duals."""

    def chosen(x: Any, y: Any) -> Any:
        return both if _any_active(x, y) and _is_number(x) and _is_number(y) else None

    overload(function, strict=False)(chosen)


_two(max, lambda x, y: 1.0 * x if value_of(x) >= value_of(y) else 1.0 * y)
_two(min, lambda x, y: 1.0 * x if value_of(x) <= value_of(y) else 1.0 * y)


def _of_three(function: Any) -> None:
    """Let the largest or the least of three numbers be found in two steps."""

    def chosen(x: Any, y: Any, z: Any) -> Any:
        return (lambda x, y, z: function(function(x, y), z)) if _any_active(x, y, z) else None

    overload(function, strict=False)(chosen)


_of_three(max)
_of_three(min)
_two(math.copysign, lambda x, y: x * (math.copysign(1.0, value_of(x)) * math.copysign(1.0, value_of(y))))
_two(math.hypot, lambda x, y: math.sqrt(x * x + y * y))
_two(
    math.atan2,
    lambda y, x: chained(
        math.atan2(value_of(y), value_of(x)),
        1.0,
        (y * value_of(x) - x * value_of(y)) / (value_of(x) ** 2 + value_of(y) ** 2),
    ),
)


_two(np.maximum, lambda x, y: max(x, y))  # noqa: PLW0108  Numba compiles a function of Python
_two(np.minimum, lambda x, y: min(x, y))  # noqa: PLW0108  Numba compiles a function of Python
_two(np.hypot, lambda x, y: math.hypot(x, y))  # noqa: PLW0108  Numba compiles a function of Python
_two(np.arctan2, lambda x, y: math.atan2(x, y))  # noqa: PLW0108  Numba compiles a function of Python


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, ActiveType) and isinstance(y, types.Integer | types.Float):
        return lambda x, y: chained(value_of(x) ** y, y * value_of(x) ** (y - 1), x)
    if _any_active(x, y):  # x^y = exp(y log x)
        return lambda x, y: math.exp(y * math.log(1.0 * x))
    return None


overload(operator.pow, strict=False)(_power)
overload(np.power, strict=False)(_power)
overload(operator.ipow, strict=False)(_power)


def _remainder(x: Any, y: Any) -> Any:
    """Return the rule of x mod y: the number of turns is constant."""
    return (lambda x, y: x - math.floor(value_of(x) / value_of(y)) * y) if _any_active(x, y) else None


overload(operator.mod, strict=False)(_remainder)
overload(np.remainder, strict=False)(_remainder)
