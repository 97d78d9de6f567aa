"""Drivers from numbers and functions: values, fallback to Python, and one fault for every kind of bad input."""

import dataclasses
import math

import numba
import numpy as np
import pytest

from haugmbd import Driver, QuinticSpline
from haugmbd.drivers import (
    Constant,
    Functions,
    TimeFunction,
    Unusable,
    as_driver,
    call_python_drivers,
    compile_drivers,
    evaluate_drivers,
)
from haugmbd.drivers.program import PYTHON


def swing(t):
    return 0.3 * np.sin(2.0 * t) + t**2


def swing_exact(t):
    return np.stack([0.3 * np.sin(2 * t) + t**2, 0.6 * np.cos(2 * t) + 2 * t, -1.2 * np.sin(2 * t) + 2 + 0 * t], axis=-1)


def ramp(t):
    return t**3 if t < 0.5 else 0.125 + 0.75 * (t - 0.5)


def ramp_exact(t):
    return [t**3, 3 * t**2, 6 * t] if t < 0.5 else [0.125 + 0.75 * (t - 0.5), 0.75, 0.0]


def test_a_number_is_a_constant():
    driver = as_driver(2)
    assert isinstance(driver, Constant)
    assert driver.faults() == ()
    np.testing.assert_array_equal(driver.values([[0.0], [1.0]]), [[[2, 0, 0]], [[2, 0, 0]]])
    assert as_driver(np.float32(0.5)).value == 0.5
    assert as_driver(np.array(3)).value == 3.0


def test_a_function_is_recorded_and_exact():
    driver = as_driver(swing)
    assert isinstance(driver, TimeFunction)
    assert driver.tape is not None
    t = np.linspace(0.0, 30.0, 12).reshape(3, 4)
    np.testing.assert_allclose(driver.values(t), swing_exact(t), rtol=1e-14)
    np.testing.assert_allclose(driver.values(t), [[driver.row(s) for s in row] for row in t], rtol=1e-14)


def test_a_driver_is_taken_as_it_is():
    driver = QuinticSpline(np.arange(6.0), np.arange(6.0))
    assert as_driver(driver) is driver


def test_a_function_that_branches_is_evaluated_by_python():
    driver = as_driver(ramp)
    assert driver.faults() == ()
    assert driver.tape is None
    assert driver.program().kind == PYTHON
    times = np.array([0.2, 0.4, 0.6, 3.0])
    np.testing.assert_allclose(driver.values(times), [ramp_exact(t) for t in times], rtol=1e-14)
    assert driver.values(np.zeros((2, 0))).shape == (2, 0, 3)


def test_a_function_whose_tape_disagrees_is_evaluated_by_python():
    calls = []

    def fickle(t):
        calls.append(t)
        return t * (1.0 + 0.001 * (len(calls) == 12))  # the call that is recorded, after eleven checks, differs from all others

    driver = as_driver(fickle)
    assert driver.faults() == ()
    assert len(calls) > 12
    assert driver.tape is None
    np.testing.assert_array_equal(driver.values(2.0), [2.0, 1.0, 0.0])


def test_a_numba_function_is_read_as_python():
    @numba.njit
    def compiled(t):
        return np.sin(t) * t

    driver = as_driver(compiled)
    assert driver.faults() == ()
    assert driver.tape is not None
    np.testing.assert_allclose(
        driver.values(0.4), [np.sin(0.4) * 0.4, np.sin(0.4) + 0.4 * np.cos(0.4), 2 * np.cos(0.4) - 0.4 * np.sin(0.4)]
    )


def test_a_function_that_returns_a_number_is_constant():
    np.testing.assert_array_equal(as_driver(lambda t: 3).values([0.0, 9.0]), [[3, 0, 0], [3, 0, 0]])


def test_three_functions_of_numpy_are_recorded():
    driver = as_driver((np.sin, np.cos, lambda t: -np.sin(t)))
    assert isinstance(driver, Functions)
    assert driver.faults() == ()
    assert driver.tape is not None
    np.testing.assert_allclose(driver.values(0.7), [np.sin(0.7), np.cos(0.7), -np.sin(0.7)], rtol=1e-15)


def test_three_functions_of_math_are_called():
    driver = as_driver([math.sin, math.cos, lambda t: -math.sin(t)])
    assert driver.faults() == ()
    assert driver.tape is None
    np.testing.assert_allclose(driver.values([0.7]), [[np.sin(0.7), np.cos(0.7), -np.sin(0.7)]], rtol=1e-15)


@pytest.mark.parametrize("omega", [0.01, 1.0, 100.0, 2000.0])
def test_three_right_functions_pass_at_all_frequencies(omega):
    def sine(t):
        return 5.0 + np.sin(omega * t)

    assert (
        Functions(sine, lambda t: omega * np.cos(omega * t), lambda t: -(omega**2) * np.sin(omega * t), check=SECOND).faults() == ()
    )


def test_three_right_functions_with_a_kink_pass():
    at = 0.3719  # one of the times that are checked: the kink is seen from one side only
    jerk = Functions(lambda t: max(t - at, 0) ** 3, lambda t: 3 * max(t - at, 0) ** 2, lambda t: 6 * max(t - at, 0), check=SECOND)
    assert jerk.faults() == ()
    step = Functions(lambda t: max(t - at, 0) ** 2, lambda t: 2 * max(t - at, 0), lambda t: 2.0 * (t > at), check=SECOND)
    assert step.faults() == ()


@pytest.mark.slow
@pytest.mark.parametrize("relative", [1e-5, 1e-2, 1.0])
def test_three_functions_that_disagree(relative):
    (fault,) = Functions(np.sin, np.cos, lambda t: -(1 + relative) * np.sin(t), check=SECOND).faults()
    assert fault.where == "driver"
    assert "f_ddot is" in fault.what
    assert "differences of f_dot give" in fault.what
    assert "at t = 1.6183 s" in fault.what  # where the sine, and with it the error, is largest
    off = float(fault.what.split("off by ")[1].split()[0])
    assert off == pytest.approx(relative * np.sin(1.6183), rel=1e-2)


def test_a_wrong_first_derivative_is_found():
    faults = Functions(lambda t: t**2, lambda t: t, lambda t: 1.0, check=SECOND).faults()
    assert [fault.what.split(" is ")[0] for fault in faults] == ["f_dot"]


SECOND = (0.0, 1.0)
"""[s] An interval in which functions are checked."""

BAD = [
    (lambda t: 2 * math.cos(t), "np.cos instead of math.cos"),
    (lambda t: math.sin(t) * math.exp(t), "np.sin instead of math.sin and np.exp instead of math.exp"),
    (lambda t: 2 * float(t), "plain float"),
    (lambda t: np.nan * t, "is (nan, nan, nan) at t = 0 s"),
    (lambda t: np.nan, "returns nan at t = 0 s"),
    (lambda t: 1 / (t - 0.25), "inf"),
    (np.sqrt, "(0, inf, nan) at t = 0 s"),
    (lambda t: np.log(0.5 - t), "at t = 0.5 s"),
    (lambda t: np.array([1.0, 2.0, 3.0]) * t, "shape (3,)"),
    (lambda t: np.array([1.0, 2.0, 3.0]), "shape (3,)"),
    (lambda t: [t, t], "a list of length 2"),
    (lambda t: None, "returns None"),
    (lambda t: 1j, "1j (complex)"),
    (lambda t: 1j * t, "complex"),
    (lambda t: t > 0.5, "bool"),
    (lambda t: "text", "'text' (str)"),
    (lambda t: {}["missing"], "KeyError"),
    (lambda t: 1 / 0, "ZeroDivisionError at t = 0 s"),
    (lambda: 1.0, "TypeError"),
    (lambda t, u: 1.0, "TypeError"),
    (lambda t: np.interp(t, [0, 1], [0, 1]), "np.interp has no derivative rule"),
    (None, "None is not a function of time"),
    ("sin(t)", "'sin(t)' (str)"),
    ("sin(t)", "A formula as text is mbd.Expression('sin(t)')"),
    (True, "True (bool)"),
    (1j, "1j (complex)"),
    (np.nan, "the constant is nan"),
    (-np.inf, "the constant is -inf"),
    (10**400, "the constant is 1000"),
    (lambda t: 10**400, "returns 1000"),
    (np.zeros(3), "an array of shape (3,)"),
    ((np.sin, np.cos), "a tuple of length 2"),
    ((1, 2, 3), "a tuple of length 3"),
    ([[1], [2, 3]], "a list of length 2"),
    (float, "<class 'float'>"),
    ((np.sin, np.cos, lambda t: None), "f_ddot(t) returns None"),
    ((np.sin, np.cos, lambda t: 1 / (t - 0.5)), "f_ddot(t) raises ZeroDivisionError at t = 0.5 s"),
    ((lambda t: t, lambda t: np.ones(1), lambda t: 0), "f_dot(t) returns an array of shape (1,)"),
]


@pytest.mark.parametrize(("given", "text"), BAD)
def test_bad_input_gives_one_fault_and_never_raises(given, text):
    driver = as_driver(given)
    if isinstance(driver, TimeFunction):
        driver = TimeFunction(given, check=SECOND)
    if isinstance(driver, Functions):
        driver = Functions(*given, check=SECOND)
    (fault,) = driver.faults()
    assert fault.where == "driver"
    assert text in f"{fault.what} {fault.remedy}"
    assert fault.remedy.endswith(".")
    assert driver.values([0.1, 0.2]).shape == (2, 3)
    compile_drivers([driver])


def test_constructors_are_lenient():
    assert "f is 3" in TimeFunction(3).faults()[0].what
    assert [fault.what[:7] for fault in Functions(None, 2, "a").faults()] == ["f is No", "f_dot i", "f_ddot "]
    assert np.isnan(Constant("1").value)
    assert "'1' (str)" in Constant("1").faults()[0].what
    assert "check" in TimeFunction(np.sin, check=(1.0, 0.0)).faults()[0].what
    assert "check" in Functions(np.sin, np.cos, np.sin, check=None).faults()[0].what
    assert isinstance(as_driver(object()), Unusable)


def test_the_checked_interval_can_be_chosen():
    def arc(t):
        return np.arcsin(t / 0.5)

    assert TimeFunction(arc).faults() == ()
    assert "at t = 0.5 s" in TimeFunction(arc, check=SECOND).faults()[0].what
    assert TimeFunction(arc, check=(0.0, 0.4)).faults() == ()
    assert TimeFunction(np.sqrt, check=(1.0, 2.0)).faults() == ()


def test_a_failure_later_is_nan_and_says_why():
    driver = as_driver(lambda t: t if t < 2.0 else None)
    assert driver.faults() == ()
    assert np.all(np.isnan(driver.values(3.0)))
    assert driver.fault_at(1.0) is None
    assert "returns None at t = 3 s" in driver.fault_at(3.0).what
    assert "is (nan, nan" in as_driver(lambda t: np.sqrt(2.0 - t)).fault_at(3.0).what
    three = as_driver((lambda t: 1 / (t - 5), lambda t: -((t - 5) ** -2), lambda t: 2 * (t - 5) ** -3))
    assert "at t = 5 s" in three.fault_at(5.0).what
    assert Constant(1.0).fault_at(0.0) is None
    assert Constant(np.nan).fault_at(0.0) is not None
    assert Unusable(None).fault_at(0.0) is not None


def test_an_interrupt_is_not_swallowed():
    def interrupted(t):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_driver(interrupted)


def test_drivers_are_frozen_and_compare_by_identity():
    a, b = as_driver(1.0), as_driver(1.0)
    assert a != b
    assert len({a, b}) == 2
    for driver, name in ((a, "value"), (as_driver(np.sin), "fn"), (as_driver((np.sin, np.cos, lambda t: -np.sin(t))), "f")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(driver, name, 2.0)


class Custom(Driver):
    """A driver as somebody else would write it."""

    def values(self, t):
        t = np.asarray(t, dtype=float)
        return np.stack([t, 1 + 0 * t, 0 * t], axis=-1)

    def faults(self):
        return ()


@pytest.mark.slow
def test_tables_of_all_kinds():
    knots = np.linspace(0.0, 2.0, 9)
    drivers = [
        as_driver(2.5), as_driver(swing), QuinticSpline(knots, np.cos(knots)), as_driver(ramp), Custom(),
        as_driver((np.sin, np.cos, lambda t: -np.sin(t))), as_driver(lambda t: t), as_driver(lambda t: 7.0), as_driver(0),
    ]  # fmt: skip
    tables = compile_drivers(drivers)
    assert tables.python_drivers.tolist() == [3, 4]
    assert tables.table[:, 0].tolist() == [1, 2, 5, 6, 7]
    assert not any(array.flags.writeable for array in tables)
    F = tables.F0.copy()
    plain = getattr(evaluate_drivers, "py_func", evaluate_drivers)
    for t in (0.3, 1.1):
        evaluate_drivers(t, tables.table, tables.ops, tables.numbers, F)
        call_python_drivers(t, tables, drivers, F)
        np.testing.assert_allclose(F, [driver.values(t) for driver in drivers], rtol=1e-15)
        G = tables.F0.copy()
        plain(t, tables.table, tables.ops, tables.numbers, G)
        np.testing.assert_array_equal(G[[0, 1, 2, 5, 6, 7, 8]], F[[0, 1, 2, 5, 6, 7, 8]])


@pytest.mark.slow
def test_constants_alone_leave_nothing_to_do():
    tables = compile_drivers([as_driver(1.0), as_driver(-2.0)])
    assert tables.table.shape == (0, 9)
    assert tables.F0.tolist() == [[1, 0, 0], [-2, 0, 0]]
    F = tables.F0.copy()
    evaluate_drivers(0.5, tables.table, tables.ops, tables.numbers, F)
    np.testing.assert_array_equal(F, tables.F0)
    assert compile_drivers([]).F0.shape == (0, 3)
