r"""Intervals: a function called with an interval in place of a number either takes one branch for all of its numbers, or says so.

    f([a, b]) contains f(t) for all t in [a, b];   x < y holds where the largest x is less than the smallest y, fails where the smallest
    x is not less than the largest y, and is undecided else

A function that is decided on an interval has neither a jump nor a kink there that its branches make: comparisons, `if`, abs, sign, floor,
round, remainders, minimum, np.where, np.piecewise, tables of np.interp, int(t). One that is undecided is halved, down to the rounding of t.
An interval is larger than the values that it stands for where t occurs more than once; halves are larger by half as much.
Rounding is not enclosed: the times are those at which the function itself, evaluated in floats, changes its branch, or next to them.
Source: Moore, Kearfott and Cloud (2009), Introduction to Interval Analysis, ch. 2 to 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from haugmbd.drivers.autodiff.operators import COMPOSED, NotAFloat, Operators

INF = math.inf
Bounds: TypeAlias = tuple[float, float]


LOG: list[list[Any]] = []
"""Where the branches that functions take are noted, the last of them; none if nobody asks."""

SHORT = 1e-9
"""Relative to 1 + |x|: half the length of an interval that stands for a number."""


def branches(f: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Return the branches that a function takes at one point: what its comparisons, signs and whole numbers are there, in order.

    arguments: numbers and arrays.  Raise what the function raises; one that makes plain floats of its arguments hides its branches.
    """
    LOG.append([])
    try:
        f(*map(points, arguments))
    finally:
        taken = LOG.pop()
    return tuple(taken)


def points(x: Any) -> Any:
    """Return a number or an array as intervals without length; what is neither, as it is."""
    if not isinstance(x, float | int | np.ndarray | np.generic):
        return x
    return lift(x) if np.ndim(x) == 0 else np.array([lift(a) for a in np.ravel(x)] + [None], dtype=object)[:-1].reshape(np.shape(x))


def hides_branches(f: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether a function makes plain floats of its arguments, or does not take intervals at all: nothing is known of its branches."""
    try:
        f(*(_widened(points(x)) for x in arguments))
    except Undecided:
        return False
    except Exception:  # noqa: BLE001  a user's function may raise anything for what is no number
        return True
    return False


def _widened(x: Any) -> Any:
    """Return an interval without length as a short one."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([_widened(a) for a in x.ravel()] + [None], dtype=object)[:-1].reshape(x.shape)
    if not isinstance(x, Interval):
        return x
    by = SHORT * (1.0 + abs(x.lower))
    return Interval(x.lower - by, x.upper + by)


def noted(branch: Any) -> Any:
    """Return a branch, after it was noted."""
    if LOG:
        LOG[-1].append(branch)
    return branch


class Undecided(Exception):  # noqa: N818  no user meets it
    """A function takes more than one branch on an interval."""


class Interval(Operators):
    """All numbers from `lower` to `upper`."""

    __slots__ = ("lower", "upper")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, lower: float, upper: float) -> None:
        known = lower == lower and upper == upper  # noqa: PLR0124  not NaN, which a function has outside of its range
        self.lower, self.upper = (float(lower), float(upper)) if known else (-INF, INF)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply the rule of `ufunc`. Raise Undecided where more than one branch is taken."""
        if method != "__call__" or kwargs or ufunc not in RULES:
            raise TypeError(f"np.{ufunc.__name__} has no rule for intervals")
        if all(_is_scalar(x) for x in inputs):
            return RULES[ufunc](*map(lift, inputs))
        parts = np.broadcast(*(_boxed(x) for x in inputs))
        return np.array([RULES[ufunc](*map(lift, part)) for part in parts] + [None], dtype=object)[:-1].reshape(parts.shape)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a function of NumPy that is no ufunc."""
        if func is np.where:
            return self.where(*args, **kwargs)
        if func in COMPOSED:
            return COMPOSED[func](*args, **kwargs)
        if func in FUNCTIONS:
            return FUNCTIONS[func](*args, **kwargs)
        raise TypeError(f"np.{func.__name__} has no rule for intervals")

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        """Return np.where."""
        return x if bool(condition) else y

    def __bool__(self) -> bool:
        """Return whether it is not zero."""
        return not equal(self, lift(0.0))

    def __float__(self) -> float:
        """Return the number if it is one. Raise NotAFloat for an interval of some length."""
        if self.lower == self.upper:
            return self.lower
        raise NotAFloat("an interval is not a plain float")

    def __int__(self) -> int:
        return self._whole(math.trunc)

    __trunc__ = __index__ = __int__

    def __floor__(self) -> int:
        return self._whole(math.floor)

    def __ceil__(self) -> int:
        return self._whole(math.ceil)

    def __round__(self, digits: int | None = None) -> Any:
        return self._whole(round) if digits is None else _round(self, digits)

    def _whole(self, to_whole: Callable[[float], int]) -> int:
        """Return the whole number that all of them have in common."""
        if not (math.isfinite(self.lower) and math.isfinite(self.upper)):
            raise Undecided
        return int(the_same(to_whole(self.lower), to_whole(self.upper)))

    def __repr__(self) -> str:
        return f"Interval({self.lower!r}, {self.upper!r})"


def _is_scalar(x: Any) -> bool:
    return isinstance(x, Interval) or np.ndim(x) == 0


def _boxed(x: Any) -> Any:
    """Return an array of objects."""
    boxed = np.empty(np.shape(x) if not isinstance(x, Interval) else (), dtype=object)
    boxed[...] = x
    return boxed


def lift(x: Any) -> Interval:
    """Return a number as an interval."""
    return x if isinstance(x, Interval) else Interval(float(x), float(x))


def the_same(a: Any, b: Any) -> Any:
    """Return what is equal at both ends. Raise Undecided if it is not."""
    if a != b:
        raise Undecided
    return noted(a)


def less(x: Interval, y: Interval) -> bool:
    """Return x < y."""
    if not (x.upper < y.lower or x.lower >= y.upper):
        raise Undecided
    return bool(noted(x.upper < y.lower))


def equal(x: Interval, y: Interval) -> bool:
    """Return x == y."""
    same, apart = x.lower == x.upper == y.lower == y.upper, x.upper < y.lower or y.upper < x.lower
    if not (same or apart):
        raise Undecided
    return bool(noted(same))


# ------------------------------------------------------------------------------------------------ functions of one number


def _rising(g: Callable[[float], float], lowest: float = -INF, largest: float = INF) -> Callable[[Interval], Interval]:
    """Return the rule of a function that rises, between the ends of its range."""
    return lambda x: Interval(g(max(x.lower, lowest)), g(min(x.upper, largest)))


def _falling(g: Callable[[float], float], lowest: float = -INF, largest: float = INF) -> Callable[[Interval], Interval]:
    return lambda x: Interval(g(min(x.upper, largest)), g(max(x.lower, lowest)))


def _even(g: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """Return the rule of an even function that rises with |x|."""

    def rule(x: Interval) -> Interval:
        near = 0.0 if x.lower <= 0.0 <= x.upper else min(abs(x.lower), abs(x.upper))
        return Interval(g(near), g(max(abs(x.lower), abs(x.upper))))

    return rule


def _wave(phase: float) -> Callable[[Interval], Interval]:
    """Return the rule of cos(x + phase): its peaks are at multiples of 2 pi."""

    def rule(x: Interval) -> Interval:
        a, b = x.lower + phase, x.upper + phase
        if not b - a < 2.0 * math.pi:
            return Interval(-1.0, 1.0)
        ends = math.cos(a), math.cos(b)
        has_top = math.floor(b / (2.0 * math.pi)) >= a / (2.0 * math.pi)
        has_bottom = math.floor(b / (2.0 * math.pi) - 0.5) >= a / (2.0 * math.pi) - 0.5
        return Interval(-1.0 if has_bottom else min(ends), 1.0 if has_top else max(ends))

    return rule


def _tan(x: Interval) -> Interval:
    has_pole = not x.upper - x.lower < math.pi or math.floor(x.upper / math.pi - 0.5) >= x.lower / math.pi - 0.5
    return Interval(-INF, INF) if has_pole else Interval(math.tan(x.lower), math.tan(x.upper))


def _step(g: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """Return the rule of a function that is constant between its jumps."""
    return lambda x: lift(the_same(g(x.lower), g(x.upper)))


def _absolute(x: Interval) -> Interval:
    if x.lower < 0.0 < x.upper:
        raise Undecided
    return x if noted(x.lower >= 0.0) else Interval(-x.upper, -x.lower)


def _sign(x: Interval) -> float:
    """Return the sign, also that of zero."""
    return float(noted(1.0 if x.lower > 0.0 else -1.0 if x.upper < 0.0 else float(not equal(x, lift(0.0)))))


def _negative(x: Interval) -> Interval:
    return Interval(-x.upper, -x.lower)


# ------------------------------------------------------------------------------------------------ functions of two numbers


def _around(products: Sequence[float]) -> Interval:
    """Return the interval of several numbers."""
    return Interval(min(products), max(products)) if all(p == p for p in products) else Interval(-INF, INF)  # noqa: PLR0124


def _multiply(x: Interval, y: Interval) -> Interval:
    if x is y:
        return RULES[np.square](x)  # type: ignore[no-any-return]
    return _around((x.lower * y.lower, x.lower * y.upper, x.upper * y.lower, x.upper * y.upper))


def _divide(x: Interval, y: Interval) -> Interval:
    if y.lower <= 0.0 <= y.upper:
        return Interval(-INF, INF)
    return _around((x.lower / y.lower, x.lower / y.upper, x.upper / y.lower, x.upper / y.upper))


def _power(x: Interval, n: Interval) -> Interval:
    if n.lower == n.upper and n.lower == round(n.lower) and n.lower >= 0.0:
        odd = n.lower % 2.0 == 1.0
        return (_rising if odd else _even)(lambda a: float(np.power(a, n.lower)))(x)
    if n.lower == n.upper == round(n.lower):
        return _divide(lift(1.0), _power(x, _negative(n)))
    if x.upper < 0.0 or n.lower != n.upper and x.lower <= 0.0:
        return Interval(-INF, INF)
    with np.errstate(all="ignore"):
        low = max(x.lower, 0.0)
        return _around([float(np.power(a, m)) for a in (low, x.upper) for m in (n.lower, n.upper)])


def _arctan2(y: Interval, x: Interval) -> Interval:
    if x.lower < 0.0 and y.lower < 0.0 <= y.upper or x.lower <= 0.0 <= x.upper and y.lower <= 0.0 <= y.upper:
        raise Undecided  # it jumps by 2 pi
    noted(x.lower < 0.0 and y.lower < 0.0)
    return _around([math.atan2(b, a) for b in (y.lower, y.upper) for a in (x.lower, x.upper)])


def _hypot(x: Interval, y: Interval) -> Interval:
    a, b = _even(abs)(x), _even(abs)(y)
    return Interval(math.hypot(a.lower, b.lower), math.hypot(a.upper, b.upper))


def _quotient(to_whole: Callable[[Interval], Interval]) -> Callable[[Interval, Interval], Interval]:
    """Return the rule of a rounded quotient."""
    return lambda x, y: to_whole(_divide(x, y))


def _rest(to_whole: Callable[[Interval], Interval]) -> Callable[[Interval, Interval], Interval]:
    """Return the rule of x - y q with the rounded quotient q."""
    return lambda x, y: x - y * to_whole(_divide(x, y))


def _smaller(x: Interval, y: Interval) -> Interval:
    return x if x is y or less(x, y) else y


def _larger(x: Interval, y: Interval) -> Interval:
    return y if x is not y and less(x, y) else x


def _finite(step: Callable[[Interval], Interval]) -> Callable[[Interval], Interval]:
    """Return the rule where there are whole numbers."""

    def rule(x: Interval) -> Interval:
        if not (math.isfinite(x.lower) and math.isfinite(x.upper)):
            raise Undecided
        return step(x)

    return rule


FLOOR, TRUNC, CEIL, RINT = (_finite(_step(g)) for g in (math.floor, math.trunc, math.ceil, round))


def _np(g: np.ufunc) -> Callable[[float], float]:
    """Return a function of NumPy for one float, silent outside of its range."""

    def one(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(g(x))

    return one


def _truth(x: Interval) -> bool:
    return bool(x)


RULES: dict[np.ufunc, Callable[..., Any]] = {
    **{
        g: _rising(_np(g))
        for g in (
            *(np.exp, np.exp2, np.expm1, np.sinh, np.tanh, np.arctan, np.arcsinh, np.cbrt),
            *(np.deg2rad, np.radians, np.rad2deg, np.degrees, np.positive),
        )
    },
    **{g: _rising(_np(g), 0.0) for g in (np.sqrt, np.log, np.log2, np.log10)},
    np.log1p: _rising(_np(np.log1p), -1.0),
    np.arccosh: _rising(_np(np.arccosh), 1.0),
    **{g: _rising(_np(g), -1.0, 1.0) for g in (np.arcsin, np.arctanh)},
    np.arccos: _falling(_np(np.arccos), -1.0, 1.0),
    np.negative: _negative,
    **{g: _even(_np(g)) for g in (np.cosh, np.square)},
    np.cos: _wave(0.0), np.sin: _wave(-0.5 * math.pi), np.tan: _tan,
    np.absolute: _absolute, np.fabs: _absolute,
    np.floor: FLOOR, np.trunc: TRUNC, np.ceil: CEIL, np.rint: RINT,
    np.sign: lambda x: lift(_sign(x)),
    np.signbit: lambda x: less(x, lift(0.0)),
    np.heaviside: lambda x, half: half if _sign(x) == 0.0 else lift(max(_sign(x), 0.0)),
    np.copysign: lambda x, y: _negative(_even(abs)(x)) if less(y, lift(0.0)) else _even(abs)(x),
    np.add: lambda x, y: Interval(x.lower + y.lower, x.upper + y.upper),
    np.subtract: lambda x, y: Interval(x.lower - y.upper, x.upper - y.lower),
    np.multiply: _multiply, np.divide: _divide, np.reciprocal: lambda x: _divide(lift(1.0), x),
    np.power: _power, np.float_power: _power, np.arctan2: _arctan2, np.hypot: _hypot,
    np.floor_divide: _quotient(FLOOR), np.remainder: _rest(FLOOR), np.fmod: _rest(TRUNC),
    np.divmod: lambda x, y: (_quotient(FLOOR)(x, y), _rest(FLOOR)(x, y)),
    np.modf: lambda x: (x - TRUNC(x), TRUNC(x)),
    np.minimum: _smaller, np.fmin: _smaller, np.maximum: _larger, np.fmax: _larger,
    np.less: less, np.greater: lambda x, y: less(y, x),
    np.less_equal: lambda x, y: not less(y, x), np.greater_equal: lambda x, y: not less(x, y),
    np.equal: equal, np.not_equal: lambda x, y: not equal(x, y),
    np.logical_and: lambda x, y: _truth(x) and _truth(y), np.logical_or: lambda x, y: _truth(x) or _truth(y),
    np.logical_not: lambda x: not _truth(x), np.logical_xor: lambda x, y: _truth(x) != _truth(y),
    np.isfinite: lambda x: True, np.isnan: lambda x: False, np.isinf: lambda x: False,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------ functions of NumPy that are no ufuncs


def _round(x: Any, digits: int = 0, decimals: int | None = None) -> Any:
    ten = 10.0 ** (digits if decimals is None else decimals)
    return RINT(lift(x) * ten) / ten


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Return np.piecewise: the last condition that holds decides; one function more than conditions is that of all others."""
    conditions = [bool(c) for c in (condlist if isinstance(condlist, list | tuple) else [condlist])]
    chosen = next((k for k in reversed(range(len(conditions))) if conditions[k]), None)
    if chosen is None:
        chosen = len(conditions) if len(funclist) > len(conditions) else None
    function = 0.0 if chosen is None else funclist[chosen]
    return function(x, *args, **kw) if callable(function) else function


def _segment(x: Interval, knots: Any, side: str = "left") -> int:
    """Return the place among increasing knots that all numbers have."""
    a, b = np.searchsorted(np.asarray(knots, dtype=np.float64), (x.lower, x.upper), side=side).tolist()  # type: ignore[call-overload]
    return int(the_same(a, b))


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> int:
    return _segment(lift(v), a if sorter is None else np.asarray(a)[sorter], side)


def _digitize(x: Any, bins: Any, right: bool = False) -> int:
    knots = np.asarray(bins, dtype=np.float64)
    if len(knots) > 1 and knots[0] > knots[-1]:
        return len(knots) - _segment(lift(x), knots[::-1], "right" if right else "left")
    return _segment(lift(x), knots, "left" if right else "right")


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Interval:
    """Return np.interp between two neighbours of the table."""
    given, knots, values = lift(x), np.asarray(xp, dtype=np.float64), np.asarray(fp, dtype=np.float64)
    if period is not None:
        order = np.argsort(knots % period)
        knots, values = (knots % period)[order], values[order]
        knots, values = np.hstack([knots[-1] - period, knots, knots[0] + period]), np.hstack([values[-1], values, values[0]])
        given = RULES[np.remainder](given, lift(period))
    # at a knot itself, which a bisection may hit, either neighbour has the value
    first = int(np.searchsorted(knots, given.lower, side="right"))
    if given.upper > given.lower and first < len(knots) and given.upper > knots[first]:
        raise Undecided
    noted(first)
    ends = np.interp((given.lower, given.upper), knots, values, left=left, right=right).tolist()
    return Interval(min(ends), max(ends))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.round: _round, np.around: _round,
    np.fix: lambda x: TRUNC(lift(x)), np.piecewise: _piecewise,
    np.searchsorted: _searchsorted, np.digitize: _digitize, np.interp: _interp,
    np.nan_to_num: lambda x, **_: x, np.real: lambda x: x, np.ndim: lambda x: 0, np.shape: lambda x: (), np.size: lambda x: 1,
    np.sinc: lambda x: Interval(-1.0, 1.0) if x.lower != x.upper else lift(float(np.sinc(x.lower))),
    np.isscalar: lambda x: True,
}  # fmt: skip
