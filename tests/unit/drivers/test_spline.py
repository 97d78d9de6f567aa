"""Quintic splines: quintics come back to rounding, the pieces join with four derivatives, the order is six."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from haugmbd import QuinticSpline
from haugmbd.drivers import compile_drivers, evaluate_drivers
from haugmbd.drivers.spline_kernel import evaluate_spline

IRREGULAR = np.array([0.0, 0.21, 0.35, 0.62, 0.8, 1.07, 1.3, 1.44, 1.9])
REST = {"start": (0.0, 0.0), "end": (0.0, 0.0)}


def polynomial(seed):
    """A random quintic with its first and second derivative."""
    p = np.poly1d(np.random.default_rng(seed).normal(size=6))
    return p, p.deriv(), p.deriv(2)


@pytest.mark.parametrize("start_given", [False, True])
@pytest.mark.parametrize("end_given", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_quintics_are_reproduced_to_rounding(start_given, end_given, seed):
    p, p1, p2 = polynomial(seed)
    start = (p1(0.0), p2(0.0)) if start_given else None
    end = (p1(1.9), p2(1.9)) if end_given else None
    spline = QuinticSpline(IRREGULAR, p(IRREGULAR), start=start, end=end)
    assert spline.faults() == ()
    t = np.linspace(0.0, 1.9, 41)
    scale = np.max(np.abs(p2(t)))
    np.testing.assert_allclose(spline.values(t), np.stack([p(t), p1(t), p2(t)], axis=-1), rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize(
    ("least", "ends"), [(6, {}), (4, {"start": (0, 0)}), (4, {"end": (0, 0)}), (2, REST), (6, {"periodic": True})]
)
def test_least_number_of_points(least, ends):
    t = np.linspace(0.0, 1.0, least)
    assert QuinticSpline(t, 0 * t, **ends).faults() == ()
    (fault,) = QuinticSpline(t[:-1], 0 * t[:-1], **ends).faults()
    assert f"needs at least {least}" in fault.what


def test_rest_to_rest_is_the_known_quintic():
    spline = QuinticSpline([0.0, 2.0], [0.0, 1.0], start=(0.0, 0.0), end=(0.0, 0.0))
    t = np.linspace(0.0, 2.0, 9)
    x = t / 2.0
    closed = np.stack([x**3 * (10 - 15 * x + 6 * x**2), 15 * x**2 * (1 - x) ** 2, 15 * x * (1 - x) * (1 - 2 * x)], axis=-1)
    np.testing.assert_allclose(spline.values(t), closed, atol=1e-14)


def joins(spline):
    """Derivatives 0..4 at the end of each piece and at the begin of the next one."""
    pieces = [np.poly1d(c) for c in spline.coefficients]
    widths = np.diff(spline.breakpoints)
    for k in range(5):
        for left, right, width in zip(pieces[:-1], pieces[1:], widths[:-1], strict=True):
            yield (left.deriv(k) if k else left)(width), (right.deriv(k) if k else right)(0.0), k


@pytest.mark.parametrize("ends", [{}, {"start": (1.0, -2.0)}, {"end": (0.0, 0.0)}, REST, {"periodic": True}])
def test_four_derivatives_are_continuous(ends):
    f = np.random.default_rng(3).normal(size=IRREGULAR.size)
    f[-1] = f[0]
    spline = QuinticSpline(IRREGULAR, f, **ends)
    assert spline.faults() == ()
    assert len(spline.coefficients) > 1
    np.testing.assert_allclose(spline.values(IRREGULAR)[:, 0], f, atol=1e-12)
    scale = np.max(np.abs(spline.coefficients)) * 24
    for left, right, _ in joins(spline):
        assert abs(left - right) < 1e-12 * scale


def test_ends_have_the_given_derivatives():
    spline = QuinticSpline(IRREGULAR, np.sin(IRREGULAR), start=(0.3, -0.7), end=(0.1, 0.2))
    np.testing.assert_allclose(spline.values(0.0), [0.0, 0.3, -0.7], atol=1e-12)
    np.testing.assert_allclose(spline.values(1.9), [np.sin(1.9), 0.1, 0.2], atol=1e-11)


def test_not_a_knot_is_that_of_scipy():
    f = np.random.default_rng(4).normal(size=IRREGULAR.size)
    reference = make_interp_spline(IRREGULAR, f, k=5)
    t = np.linspace(-0.1, 2.0, 50)
    expected = np.stack([reference(t, k) for k in range(3)], axis=-1)
    np.testing.assert_allclose(QuinticSpline(IRREGULAR, f).values(t), expected, rtol=1e-9, atol=1e-9)


def errors_for_sine(n, **ends):
    knots = np.linspace(0.0, 2.0 * np.pi, n + 1)
    f = np.sin(knots)
    f[-1] = f[0]
    t = np.linspace(0.0, 2.0 * np.pi, 501)
    exact = np.stack([np.sin(t), np.cos(t), -np.sin(t)], axis=-1)
    return np.max(np.abs(QuinticSpline(knots, f, **ends).values(t) - exact), axis=0)


@pytest.mark.parametrize("ends", [{"periodic": True}, {"start": (1.0, 0.0), "end": (1.0, 0.0)}])
def test_order_of_accuracy(ends):
    order = np.log2(errors_for_sine(16, **ends) / errors_for_sine(32, **ends))
    assert order[0] == pytest.approx(6.0, abs=0.4)
    assert order[1] == pytest.approx(5.0, abs=0.4)
    assert order[2] == pytest.approx(4.0, abs=0.4)


def test_a_period_repeats_smoothly():
    t = np.linspace(0.5, 2.5, 13)
    f = np.cos(np.pi * t) + 0.3 * np.sin(2 * np.pi * t)
    spline = QuinticSpline(t, f, periodic=True)
    s = np.linspace(0.5, 2.5, 20, endpoint=False)
    np.testing.assert_allclose(spline.values(s + 6.0), spline.values(s), atol=1e-11)
    np.testing.assert_allclose(spline.values(s - 4.0), spline.values(s), atol=1e-11)
    np.testing.assert_allclose(spline.values(2.5 - 1e-12), spline.values(2.5), atol=1e-9)
    assert spline.t_range == (-np.inf, np.inf)
    assert spline.faults_between(-5.0, 100.0) == ()


def test_range_is_said_and_end_polynomials_go_on():
    p, p1, p2 = polynomial(5)
    spline = QuinticSpline(IRREGULAR, p(IRREGULAR))
    assert (spline.t_min, spline.t_max) == (0.0, 1.9)
    assert spline.faults_between(0.0, 1.9) == ()
    (fault,) = spline.faults_between(0.0, 2.5)
    assert fault.where == "driver"
    assert "0 .. 1.9 s" in fault.what
    assert "0 to 2.5 s" in fault.what
    np.testing.assert_allclose(spline.values(2.0), [p(2.0), p1(2.0), p2(2.0)], rtol=1e-8, atol=1e-8)


def test_kernel_compiled_and_plain():
    spline = QuinticSpline(IRREGULAR, np.sin(3 * IRREGULAR))
    numbers = spline.program().numbers
    plain = getattr(evaluate_spline, "py_func", evaluate_spline)
    for t in (-0.3, 0.0, 0.7, 1.3, 1.9, 2.2):
        np.testing.assert_allclose(evaluate_spline(t, numbers, 0, len(numbers)), plain(t, numbers, 0, len(numbers)), rtol=1e-12)


def test_several_splines_in_one_table():
    splines = [QuinticSpline(IRREGULAR, np.sin(k * IRREGULAR), periodic=False) for k in (1, 2, 3)]
    tables = compile_drivers(splines)
    F = tables.F0.copy()
    evaluate_drivers(0.77, tables.table, tables.ops, tables.numbers, F)
    np.testing.assert_array_equal(F, [spline.values(0.77) for spline in splines])


@pytest.mark.parametrize(
    ("t", "f", "options", "text"),
    [
        ([0, 1, 2], [0, 1, 2], {}, "3 points"),
        (IRREGULAR, IRREGULAR[:-1], {}, "9 times and 8 values"),
        ([0, 1, 1, 2, 3, 4], [0] * 6, {}, "t[1] = 1 s, t[2] = 1 s"),
        ([0, 1, 2, 3, 4, np.nan], [0] * 6, {}, "t[5]"),
        (IRREGULAR, np.where(IRREGULAR > 1, np.inf, 0), {}, "f[5]"),
        (IRREGULAR, np.zeros((9, 2)), {}, "shape (9, 2)"),
        (IRREGULAR, None, {}, "f of the table is None"),
        (IRREGULAR, [[1, 2], [3]], {}, "ragged"),
        (IRREGULAR, IRREGULAR * 1j, {}, "complex"),
        (IRREGULAR, IRREGULAR, {"start": 3}, "start is 3"),
        (IRREGULAR, IRREGULAR, {"end": (0, np.nan)}, "end is"),
        (IRREGULAR, IRREGULAR, {"periodic": True}, "gap 1.9"),
        (IRREGULAR, 0 * IRREGULAR, {"periodic": True, "start": (0, 0)}, "periodic"),
    ],
)
def test_bad_tables(t, f, options, text):
    spline = QuinticSpline(t, f, **options)
    assert text in " ".join(str(fault) for fault in spline.faults())
    assert all(fault.where == "driver" and fault.remedy for fault in spline.faults())
    assert np.all(np.isnan(spline.values([0.0, 1.0])))
    assert compile_drivers([spline]).python_drivers.tolist() == [0]


def test_the_table_is_a_read_only_copy():
    f = np.zeros(9)
    spline = QuinticSpline(IRREGULAR, f)
    f[3] = 1.0
    assert spline.f[3] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        spline.f[0] = 1.0
