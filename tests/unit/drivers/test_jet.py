"""The 2-jet against closed forms, complex step and high-order differences."""

import math

import numpy as np
import pytest

from haugmbd.drivers import Jet
from haugmbd.drivers.autodiff.jet import BINARY
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.drivers.autodiff.rules import UNARY

DIFFERENCE_RTOL = 1e-9  # rounding of the differences is 1e-10 at worst, see conftest
TIMES = (0.13, 0.57, 0.91)
ANALYTIC = [np.sin, np.cos, np.tan, np.exp, np.log, np.sqrt, np.arcsin, np.arctan, np.sinh, np.tanh, np.log1p]

CLOSED = [
    (lambda t: 3.0 - 2.0 * t + t**3, lambda t: (3 - 2 * t + t**3, -2 + 3 * t**2, 6 * t)),
    (lambda t: np.sin(5 * t), lambda t: (np.sin(5 * t), 5 * np.cos(5 * t), -25 * np.sin(5 * t))),
    (lambda t: np.exp(-t) * t, lambda t: (t * np.exp(-t), (1 - t) * np.exp(-t), (t - 2) * np.exp(-t))),
    (lambda t: 1 / (1 + t), lambda t: (1 / (1 + t), -((1 + t) ** -2), 2 * (1 + t) ** -3)),
    (lambda t: np.sqrt(1 + t), lambda t: (np.sqrt(1 + t), 0.5 / np.sqrt(1 + t), -0.25 * (1 + t) ** -1.5)),
    (lambda t: 2**t, lambda t: (2**t, np.log(2) * 2**t, np.log(2) ** 2 * 2**t)),
    (lambda t: t**t, lambda t: (t**t, t**t * (np.log(t) + 1), t**t * ((np.log(t) + 1) ** 2 + 1 / t))),
    (lambda t: np.arctan2(np.sin(3 * t), np.cos(3 * t)), lambda t: (3 * t, 3.0, 0.0)),
    (lambda t: np.hypot(3 * t, 4 * t), lambda t: (5 * t, 5.0, 0.0)),
    (lambda t: -abs(-t) + (+t), lambda t: (0.0, 0.0, 0.0)),
    (lambda t: np.polyval([1.0, 0.0, 2.0], t), lambda t: (t**2 + 2, 2 * t, 2.0)),
    (np.polynomial.Polynomial([1.0, 2.0, 3.0]), lambda t: (1 + 2 * t + 3 * t**2, 2 + 6 * t, 6.0)),
    (lambda t: np.array([1.0, 2.0]) @ np.array([t, t * t]), lambda t: (t + 2 * t**2, 1 + 4 * t, 4.0)),
]


@pytest.mark.parametrize(("fn", "closed"), CLOSED)
@pytest.mark.parametrize("t", [0.2, 0.7])
def test_closed_forms(fn, closed, t):
    np.testing.assert_allclose(fn(Jet.variable(t)).stacked(), closed(t), rtol=1e-13, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("ufunc", UNARY, ids=lambda u: u.__name__)
@pytest.mark.parametrize("t", TIMES)
def test_every_unary_rule(ufunc, t, differences):
    shift = 1.5 if ufunc is np.arccosh else 0.0

    def fn(s):
        return ufunc(shift + 0.2 + 0.3 * s + 0.1 * s * s)

    np.testing.assert_allclose(fn(Jet.variable(t)).stacked(), differences(fn, t), rtol=DIFFERENCE_RTOL, atol=DIFFERENCE_RTOL)


@pytest.mark.slow
@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
@pytest.mark.parametrize("t", TIMES)
def test_every_binary_rule(ufunc, t, differences):
    variants = [
        lambda s: ufunc(1.3 + s * s, 0.4 + 0.2 * s + 0.1 * s**3),
        lambda s: ufunc(1.3 + s * s, 2.7),
        lambda s: ufunc(1.3, 0.4 + s * s),
    ]
    for fn in variants:
        np.testing.assert_allclose(fn(Jet.variable(t)).stacked(), differences(fn, t), rtol=DIFFERENCE_RTOL, atol=DIFFERENCE_RTOL)


@pytest.mark.parametrize("ufunc", ANALYTIC)
def test_first_derivative_by_complex_step(ufunc):
    def fn(s):
        return ufunc(0.3 + 0.4 * s * s) / (1 + s)

    t, h = 0.6, 1e-30
    assert fn(Jet.variable(t)).f_dot == pytest.approx(fn(t + 1j * h).imag / h, rel=1e-14)


def test_power_is_exact_where_the_base_is_zero_or_negative():
    assert (Jet.variable(0.0) ** 2).stacked().tolist() == [0.0, 0.0, 2.0]
    assert (Jet.variable(0.0) ** 1).stacked().tolist() == [0.0, 1.0, 0.0]
    assert (Jet.variable(0.0) ** 0).stacked().tolist() == [1.0, 0.0, 0.0]
    assert (Jet.variable(-2.0) ** 3).stacked().tolist() == [-8.0, 12.0, -12.0]


def test_arrays_of_times_give_the_same_as_single_times():
    def fn(t):
        return np.where(t < 0.5, np.sin(t), np.minimum(t * t, 1.0)) + 2.0

    times = np.linspace(0.0, 1.5, 7)
    together = fn(Jet.variable(times)).stacked()
    one_by_one = [fn(Jet.variable(t)).stacked() for t in times]
    np.testing.assert_array_equal(together, one_by_one)
    assert together.shape == (7, 3)


def test_branches_take_the_derivatives_of_the_branch():
    t = Jet.variable(0.25)
    assert np.where(t < 0.5, t * t, 1.0).stacked().tolist() == [0.0625, 0.5, 2.0]
    assert np.where(t > 0.5, t * t, 1.0).stacked().tolist() == [1.0, 0.0, 0.0]
    assert np.maximum(t, 0.5).stacked().tolist() == [0.5, 0.0, 0.0]
    assert np.clip(t, 0.0, 1.0).stacked().tolist() == [0.25, 1.0, 0.0]
    assert np.select([t < 0.1, t < 0.5], [1.0, 3.0 * t], 7.0).stacked().tolist() == [0.75, 3.0, 0.0]
    assert np.heaviside(t - 0.25, 0.5).stacked().tolist() == [0.5, 0.0, 0.0]
    assert abs(t - 0.25).f_dot == 0.0


def test_comparisons_look_at_the_value():
    t = Jet.variable(0.25)
    assert t < 0.5
    assert t >= 0.25
    assert t == 0.25
    assert t != Jet.variable(0.5)
    assert not (t > 0.5) | (t < 0.0)
    assert bool(t)
    assert min(t, 1.0) is t


@pytest.mark.parametrize("fn", [math.cos, float, lambda t: math.hypot(t, 1.0)])
def test_a_plain_float_is_refused(fn):
    with pytest.raises(NotAFloat, match="use np.cos"):
        fn(Jet.variable(0.3))


@pytest.mark.parametrize(
    "fn",
    [
        lambda t: np.interp(t, [0, 1], [0, 1]),
        np.spacing,
        lambda t: t * 1j,
        np.add.reduce,
        lambda t: t * "a",
    ],
)
def test_what_has_no_rule_raises_type_error(fn):
    with pytest.raises(TypeError):
        fn(Jet.variable(0.3))
