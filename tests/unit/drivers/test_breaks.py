"""Functions that jump: an interval on which one is decided contains no jump of it, and every jump is found, in order."""

import math

import numpy as np
import pytest

from haugmbd.drivers.autodiff.interval import Interval, Undecided, branches
from haugmbd.drivers.kinks import breaks_of

ONE = {
    name: getattr(np, name)
    for name in (
        *(
            "sin",
            "cos",
            "tan",
            "arcsin",
            "arccos",
            "arctan",
            "sinh",
            "cosh",
            "tanh",
            "arcsinh",
            "arccosh",
            "arctanh",
            "exp",
            "exp2",
            "expm1",
        ),
        *(
            "log",
            "log2",
            "log10",
            "log1p",
            "sqrt",
            "cbrt",
            "square",
            "reciprocal",
            "negative",
            "positive",
            "absolute",
            "fabs",
            "floor",
            "ceil",
        ),
        *("trunc", "rint", "sign", "deg2rad", "rad2deg", "round", "fix", "sinc"),
    )
}
TWO = {
    name: getattr(np, name)
    for name in (
        *("add", "subtract", "multiply", "divide", "power", "float_power", "arctan2", "hypot", "floor_divide", "remainder", "fmod"),
        *("minimum", "maximum", "fmin", "fmax", "copysign", "heaviside"),
    )
}


def inside(rng, x):
    return [x.lower, x.upper, *rng.uniform(x.lower, x.upper, 5)]


def check(rng, f, given):
    """The values at points of intervals are in the interval of the values."""
    try:
        y = f(*given)
    except Undecided:
        return 0
    y = y if isinstance(y, Interval) else Interval(float(y), float(y))
    with np.errstate(all="ignore"):
        values = np.array([float(f(*(rng.choice(inside(rng, x)) for x in given))) for _ in range(8)])
    values = values[np.isfinite(values)]
    slack = 1e-12 * (1.0 + np.abs(values).max(initial=0.0))
    assert ((y.lower - slack <= values) & (values <= y.upper + slack)).all()
    return 1


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_an_interval_contains_the_values(name):
    rng = np.random.default_rng(len(name))
    f, n = (ONE[name], 1) if name in ONE else (TWO[name], 2)
    decided = 0
    for _ in range(60):
        centres = rng.uniform(-3.0, 3.0, n)
        decided += check(rng, f, [Interval(c, c + 10.0 ** rng.uniform(-6.0, 0.0)) for c in centres])
    assert decided > 10


JUMPS = {
    "where": (lambda t: np.where(t < 0.7, 3.0, -2.0), [0.7]),
    "if": (lambda t: 3.0 if t < 0.7 else -2.0, [0.7]),
    "comparison": (lambda t: 3.0 * (t > 0.7), [0.7]),
    "pulse": (lambda t: np.where((t > 0.7) & (t < 0.7001), 1.0, 0.0), [0.7, 0.7001]),
    "and": (lambda t: 1.0 if 0.7 < t < 0.7001 else 0.0, [0.7, 0.7001]),
    "sign": (lambda t: np.sign(np.sin(5.0 * t + 0.1)), [(k * np.pi - 0.1) / 5.0 for k in (1, 2, 3)]),
    "heaviside": (lambda t: np.heaviside(t - 0.7, 0.5), [0.7]),
    "copysign": (lambda t: np.copysign(2.0, t - 0.7), [0.7]),
    "floor": (lambda t: np.floor(2.5 * t), [0.4, 0.8, 1.2, 1.6]),
    "ceil": (lambda t: np.ceil(2.5 * t - 0.5), [0.2, 0.6, 1.0, 1.4, 1.8]),
    "math.floor": (lambda t: math.floor(2.5 * t), [0.4, 0.8, 1.2, 1.6]),
    "trunc": (lambda t: np.trunc(2.5 * t), [0.4, 0.8, 1.2, 1.6]),
    "fix": (lambda t: np.fix(2.5 * t), [0.4, 0.8, 1.2, 1.6]),
    "int": (lambda t: int(2.5 * t), [0.4, 0.8, 1.2, 1.6]),
    "round": (lambda t: np.round(2.5 * t), [0.2, 0.6, 1.0, 1.4, 1.8]),
    "built-in round": (lambda t: round(2.5 * t), [0.2, 0.6, 1.0, 1.4, 1.8]),
    "rint": (lambda t: np.rint(2.5 * t), [0.2, 0.6, 1.0, 1.4, 1.8]),
    "fmod": (lambda t: np.fmod(t, 0.7), [0.7, 1.4]),
    "remainder": (lambda t: t % 0.7, [0.7, 1.4]),
    "floor_divide": (lambda t: t // 0.7, [0.7, 1.4]),
    "divmod": (lambda t: sum(divmod(t, 0.7)), [0.7, 1.4]),
    "modf": (lambda t: np.modf(t / 0.7)[0], [0.7, 1.4]),
    "piecewise": (lambda t: np.piecewise(t, [t < 0.7, t >= 0.7], [3.0, lambda s: s]), [0.7]),
    "select": (lambda t: np.select([t < 0.7, t < 1.4], [1.0, 2.0], 0.0), [0.7, 1.4]),
    "digitize": (lambda t: np.digitize(t, [0.7, 1.4]), [0.7, 1.4]),
    "searchsorted": (lambda t: np.searchsorted([0.7, 1.4], t), [0.7, 1.4]),
    "list": (lambda t: [0.0, 1.0, 5.0][int(t > 0.7) + int(t > 1.4)], [0.7, 1.4]),
    "interp": (lambda t: np.interp(t, [0.0, 0.7, 0.71, 3.0], [0.0, 0.0, 5.0, 4.0]), [0.7, 0.71]),
    "interp periodic": (lambda t: np.interp(t, [0.0, 0.3, 0.7], [0.0, 1.0, 0.0], period=0.7), [0.3, 0.7, 1.0, 1.4, 1.7]),
    "abs": (lambda t: abs(t - 0.7), [0.7]),
    "maximum": (lambda t: np.maximum(t - 0.7, 0.0), [0.7]),
    "max": (lambda t: max(t - 0.7, 0.0), [0.7]),
    "clip": (lambda t: np.clip(t, 0.7, 1.4), [0.7, 1.4]),
    "arctan2": (lambda t: np.arctan2(np.sin(4.0 * t), np.cos(4.0 * t)), [np.pi / 4.0]),
    "vector": (lambda t: (t, np.where(t < 0.7, 1.0, 0.0), 0.0), [0.7]),
    "array": (lambda t: np.array([1.0, 0.0, 0.0]) * np.sign(t - 0.7), [0.7]),
    "math alone, which hides its branches": (lambda t: math.sin(t) if t < 0.7 else 2.0 * math.sin(t), []),
    "smooth": (lambda t: np.exp(-t) * np.sin(40.0 * t) ** 3, []),
}


@pytest.mark.parametrize("name", JUMPS)
def test_every_break_is_found_once(name):
    f, right = JUMPS[name]
    found = list(breaks_of(f, 0.0, 1.9))
    assert [one.after for one in found] == pytest.approx(right, abs=1e-12)
    assert all(0.0 < one.after - one.before < 1e-12 for one in found)


def test_breaks_are_looked_for_no_farther_than_they_are_wanted():
    latest = []

    def f(t):
        latest.append(t.upper - t.lower if isinstance(t, Interval) else 0.0)
        return np.floor(t)

    breaks = breaks_of(f, 0.0, 1e6)
    assert next(breaks).after == pytest.approx(1.0)
    assert len(latest) < 200


def test_a_function_that_fails_has_no_breaks():
    def f(t):
        raise KeyError("table")

    assert list(breaks_of(f, 0.0, 1.0)) == []


def test_branches_are_those_that_are_taken():
    def f(t, q, v):
        return -abs(q) * np.sign(v[1]) if t < 1.0 else round(q)

    at = (0.5, 0.3, np.array([0.0, -2.0]))
    assert branches(f, *at) == branches(f, 0.6, 0.2, np.array([5.0, -1.0]))
    others = ((1.5, *at[1:]), (0.5, -0.3, at[2]), (0.5, 0.3, -at[2]))
    assert all(branches(f, *at) != branches(f, *other) for other in others)
