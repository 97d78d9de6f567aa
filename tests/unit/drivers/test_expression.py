"""Expressions: values against Python's own arithmetic, exact derivatives, bounds, parameters, and nothing but a formula is read."""

from __future__ import annotations

import math
import pickle
import random
import string

import numpy as np
import pytest
import sympy

import haugmbd as mbd
from haugmbd.drivers.expression_grammar import FUNCTIONS, MAX_LENGTH, evaluate_number
from haugmbd.gallery import pendulum
from joints import RotationDriver

ROUNDING = 1e-12
"""Relative to the largest of the values: derivatives of formulas of ten operations lose some digits of 2e-16."""

FORMULAS = [
    "0.2 * sin(3 * t)",
    "2 - 3 - 4 * t / 2 / 5",
    "-t**2 + 2**-t**2",
    "-2**2 + (1 + t)**3**0.5",
    "exp(-t) * cos(2*pi*t) + log(1 + t) - sqrt(t + 2)",
    "arctan2(t, 2) + hypot(t, 1) + tanh(t)**2",
    "1e-3 * t + .5e1 - 2.*t",
    "e**t + abs(t - 5)",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", FORMULAS)
def test_values_and_derivatives_are_those_of_sympy(text):
    t = sympy.Symbol("t", real=True)
    names = {
        "arctan2": sympy.atan2,
        "hypot": lambda x, y: sympy.sqrt(x * x + y * y),
        "abs": sympy.Abs,
        "pi": sympy.pi,
        "e": sympy.E,
    }
    f = sympy.sympify(text, locals=names | {"t": t})
    times = np.array([0.3, 1.1, 2.7])
    exact = np.array([[float(sympy.diff(f, t, k).doit().subs(t, s).evalf(30)) for k in range(3)] for s in times.tolist()])
    driver = mbd.Expression(text)
    assert driver.faults() == ()
    assert driver.tape is not None  # compiled code evaluates it
    scale = np.abs(exact).max()
    np.testing.assert_allclose(driver.values(times), exact, rtol=0, atol=ROUNDING * scale)
    np.testing.assert_allclose([driver.row(s) for s in times], exact, rtol=0, atol=ROUNDING * scale)


def random_formula(rng, depth):
    """A random formula as text for both grammars, without poles."""
    if depth == 0:
        return rng.choice(["t", "2", "0.5", "1.25e0", "(t)", "3."])
    one, two = (random_formula(rng, depth - 1) for _ in range(2))
    return rng.choice(
        [
            f"{one} + {two}",
            f"{one} - {two}",
            f"({one}) * ({two})",
            f"-{one}",
            f"sin({one})",
            f"({one}) / (2 + cos({two}))",
            f"({one})**2",
        ]
    )


@pytest.mark.slow
def test_random_formulas_equal_those_of_python():
    rng = random.Random(1)
    for _ in range(200):
        text = random_formula(rng, rng.randint(1, 4))
        if len(text) > MAX_LENGTH:
            continue
        python = eval(text, {"sin": np.sin, "cos": np.cos, "t": np.float64(0.7), "__builtins__": {}})  # of the text made above
        assert float(mbd.Expression(text).at(np.float64(0.7))) == pytest.approx(float(python), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"column 1: a number, a name or '\(' is expected, found the end"),
        ("1 +", "column 4: a number"),
        ("__import__('os').system('true')", "column 12: \"'\" has no meaning|column 1: there is no function '__import__'"),
        ("t.real", "column 2: names have no points"),
        ("sin", "sin is a function"),
        ("sni(t)", "did you mean 'sin'"),
        ("sin(t, t)", "sin takes 1 argument, got 2"),
        ("2^3", r"write \*\* for a power"),
        ("t < 1", "a comparison is not a number"),
        ("where(t, 1, 2)", "where takes a comparison and two numbers"),
        ("1 < 2 < 3", "not expected|no number"),
        ("(t", r"'\)' is expected, found the end"),
        ("t t", "'t' is not expected here"),
        ("1e999", "too large"),
        ("(" * 50 + "t" + ")" * 50, "more than 40 levels"),
        ("2**" * 100 + "1", "more than 40 levels"),
        ("t" * 4001, "at most 4000 characters"),
        ("lambda: 1", "no meaning|not expected"),
        ("[t for t in (1,)]", "round parentheses"),
        ("t\N{SUPERSCRIPT TWO}", "no meaning"),
        (3.0, "is a string"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_column(text, told):
    with pytest.raises(mbd.UsageError, match=told):
        mbd.Expression(text)


def test_random_texts_are_read_or_refused():
    rng = random.Random(2)
    pieces = [
        *FUNCTIONS,
        *"t+-*/%(),<>=!. \n\t\0'\"[]{}",
        "**",
        "<=",
        "1",
        "2.5",
        "1e3",
        "1e",
        "x",
        "__class__",
        "lambda",
        "if",
        "\u00e9",
        "pi",
    ]
    read = 0
    for _ in range(2000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))
        if rng.random() < 0.3:
            text = "".join(rng.choice(string.printable) for _ in range(rng.randint(1, 20)))
        try:
            driver = mbd.Expression(text, parameters={"x": 2.0})
        except mbd.UsageError:
            continue
        read += 1
        values = driver.values(0.5)
        assert values.shape == (3,)
        assert np.isfinite(values).all() or driver.faults() or driver.fault_at(0.5) is not None
    assert read > 20


def test_long_flat_formulas_need_no_recursion():
    driver = mbd.Expression("t" + "+t" * 499)
    np.testing.assert_allclose(driver.values(2.0), [1000.0, 500.0, 0.0], rtol=1e-14)
    assert mbd.Expression("-" * 999 + "t").values(1.0)[0] == -1.0


def test_branches():
    driver = mbd.Expression("where(t <= 1, t**2, where(t > 2, 3, 2*t - 1))")
    np.testing.assert_array_equal(driver.values([0.5, 1.5, 2.5]), [[0.25, 1.0, 2.0], [2.0, 2.0, 0.0], [3.0, 0.0, 0.0]])


def test_parameters_come_from_the_system_or_from_the_expression():
    system = pendulum()
    pin = system.joints[0]
    named = mbd.System("p", parameters={"a": 0.5, "w": 2})
    assert dict(named.parameters) == {"a": 0.5, "w": 2.0}
    for joint_system in (named,):
        body = joint_system.add(mbd.Body("b", 1.0, (1, 1, 1)))
        joint = joint_system.add(type(pin)("pin", joint_system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
        driver = mbd.Expression("a * sin(w * t) * t**2")
        joint_system.add(RotationDriver("drive", joint, driver))
        joint_system.add(mbd.Torque("load", body, torque=(mbd.Expression("a"), 0, 0)))
        model = joint_system.compile()
    given = mbd.Expression("a * sin(w * t) * t**2", parameters={"a": 0.5, "w": 2.0})
    np.testing.assert_array_equal(driver.values([0.3, 0.7]), given.values([0.3, 0.7]))
    assert driver.values(0.3)[0] == pytest.approx(0.5 * math.sin(0.6) * 0.09, rel=1e-14)
    assert pickle.loads(pickle.dumps(model)).labels[-1].words == model.labels[-1].words
    assert "a * sin(w * t) * t**2" in model.labels[-1].words
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(driver)).values(0.4), driver.values(0.4))


def test_missing_and_changed_parameters_are_said():
    system = mbd.System("p", parameters={"ampl": 0.5})
    body = system.add(mbd.Body("b", 1.0, (1, 1, 1)))
    load = system.add(mbd.Torque("load", body, torque=(mbd.Expression("amp * t"), 0, 0)))
    with pytest.raises(mbd.ModelError, match=r"Torque 'load': the expression 'amp \* t' reads 'amp'.*did you mean 'ampl'"):
        system.compile()
    assert "no parameters are given" in str(mbd.Expression("amp * t").faults()[0])
    assert load.faults()
    bound = mbd.Expression("ampl * t", parameters={"ampl": 1.0})
    system.loads.clear()
    system.add(mbd.Torque("load", body, torque=(bound, 0, 0)))
    with pytest.raises(mbd.UsageError, match="'ampl' = 1.0, and system 'p' has 0.5. Make a new Expression"):
        system.compile()
    system.loads.clear()
    system.add(mbd.Torque("load", body, torque=(mbd.Expression("1 / t"), 0, 0)))
    with pytest.raises(mbd.ModelError, match="at t = 0 s"):
        system.compile()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"t": 1.0}, "'t' has a meaning"),
        ({"sin": 1.0}, "'sin' has a meaning"),
        ({"a b": 1.0}, "letters, digits"),
        ({"a": "x"}, "'a' is 'x'"),
        ({"a": math.nan, "2b": 1}, "'a' is nan.*'2b'"),
        ({"a": 10**400}, "finite"),
        ([1.0], "numbers by name"),
    ],
)
def test_parameters_that_are_none_are_refused(given, told):
    with pytest.raises(mbd.UsageError, match=told):
        mbd.System("p", parameters=given)


def test_numbers_over_parameters():
    assert evaluate_number("2 * a**2 - pi", {"a": 3.0}) == 18.0 - math.pi
    with pytest.raises(mbd.UsageError, match="depends on t"):
        evaluate_number("2 * t", {})
    with pytest.raises(mbd.UsageError, match=r"'lenght', which is not a parameter \(did you mean 'length'"):
        evaluate_number("2 * lenght", {"length": 1.0})
    with pytest.raises(mbd.UsageError, match="is inf"):
        evaluate_number("1 / (a - a)", {"a": 1.0})


def test_an_expression_reads_the_values_that_it_names_and_no_others():
    """A chain of n parameters, each of which reads the one before, is n evaluations, and not n for each of them."""
    read = []

    class Values(dict):
        def __getitem__(self, name):
            read.append(name)
            return super().__getitem__(name)

        def items(self):
            pytest.fail("all values were read")

    values = Values({f"p{k}": float(k) for k in range(100)})
    assert evaluate_number("p7 * p7 + p3", values) == 52.0
    assert read == ["p7", "p3"]
