"""Tapes against jets, closed forms, differences; compiled kernels against their plain Python; what cannot be recorded."""

import math

import numpy as np
import pytest

from haugmbd.drivers import Jet
from haugmbd.drivers.autodiff import tape_machine
from haugmbd.drivers.autodiff.jet import BINARY
from haugmbd.drivers.autodiff.rules import UNARY
from haugmbd.drivers.autodiff.tape import LOWERED, RECORDED, trace
from haugmbd.drivers.program import sample, tape_program

PYTHON_ONLY = {np.rint, np.floor_divide, np.fmin, np.fmax}  # jets know them, tapes leave them to Python


def taped(fn, t):
    tape = trace([fn])
    assert tape is not None
    return sample(tape_program(tape), np.asarray(t, dtype=float))


def python_of(kernel):
    """The plain Python of a kernel (itself, if compilation is switched off)."""
    return getattr(kernel, "py_func", kernel)


def random_expression(rng, depth):
    """A smooth random function of t, as text: every subexpression stays within the domain of what is applied to it."""
    if depth == 0:
        return rng.choice(["t", f"{rng.uniform(0.2, 2.0):.3f}"])
    a, b = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    c = f"{rng.uniform(0.3, 1.5):.3f}"
    forms = [
        f"({a} + {b})", f"({a} - {c}*{b})", f"({a} * np.cos({b}))", f"np.sin({c}*{a})", f"np.exp(-({a})**2)", f"np.tanh({a} + {c})",
        f"({a}) / (1.5 + np.sin({b}))", f"np.sqrt(1 + ({a})**2)", f"np.log(2 + np.cos({a}))", f"np.arctan2({a}, 2 + np.sin({b}))",
        f"np.hypot({a}, {c})", f"(1.2 + np.sin({a})) ** np.cos({b})", f"np.arcsin(0.9*np.sin({a}))", f"np.square({a})",
        f"np.where({a} < {c}, np.sin({b}), np.cos({b}))", f"np.maximum({a}, {b})",
        f"np.cbrt(3 + np.sin({a}))", f"np.exp2(np.sin({a}))",
    ]  # fmt: skip
    return rng.choice(forms)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(seed, differences):
    rng = np.random.default_rng(seed)
    fn = eval("lambda t: " + random_expression(rng, 4) + " + 0.0*t", {"np": np})
    times = rng.uniform(-1.0, 2.0, 3)
    by_tape = taped(fn, times)
    by_jet = np.array([fn(Jet.variable(t)).stacked() for t in times])
    by_differences = np.array([differences(fn, t) for t in times])
    scale = 1.0 + np.max(np.abs(by_jet))
    assert np.max(np.abs(by_tape - by_jet)) < 1e-12 * scale  # the same formulas, rounded differently
    assert np.max(np.abs(by_tape - by_differences)) < 1e-8 * scale


@pytest.mark.parametrize("ufunc", [u for u in UNARY if u not in PYTHON_ONLY], ids=lambda u: u.__name__)
def test_every_unary_rule(ufunc):
    shift = 1.5 if ufunc is np.arccosh else 0.0
    times = np.array([0.1, 0.6, 0.9])

    def fn(t):
        return ufunc(shift + 0.2 + 0.3 * t + 0.1 * t * t)

    np.testing.assert_allclose(taped(fn, times), [fn(Jet.variable(t)).stacked() for t in times], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("ufunc", [u for u in BINARY if u not in PYTHON_ONLY], ids=lambda u: u.__name__)
def test_every_binary_rule(ufunc):
    times = np.array([0.1, 0.6, 0.9])
    for fn in (lambda t: ufunc(0.9 + t * t, 0.4 + t), lambda t: ufunc(t, 0.7), lambda t: ufunc(0.7, t), lambda t: ufunc(t, -2.0)):
        with np.errstate(all="ignore"):
            expected = np.array([fn(Jet.variable(t)).stacked() for t in times])
        np.testing.assert_allclose(taped(fn, times), expected, rtol=1e-13, atol=1e-14)


def test_the_tape_knows_every_rule_of_the_jet_but_the_named_ones():
    assert {*UNARY, *BINARY} - {*RECORDED, *LOWERED} == PYTHON_ONLY


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 0.5, 2.5])
def test_powers(n):
    closed = [[t**n, n * t ** (n - 1), n * (n - 1) * t ** (n - 2)] for t in (0.3, 1.7)]
    np.testing.assert_allclose(taped(lambda t: t**n, [0.3, 1.7]), closed, rtol=1e-14)
    if n in (0, 1, 2, 3):
        at_zero = [float(n == 0), float(n == 1), 2.0 * (n == 2)]
        assert taped(lambda t: t**n, 0.0).tolist() == at_zero


@pytest.mark.parametrize(
    "fn",
    [
        lambda t: np.where((t > 0.2) & (t <= 0.6), t * t, 1.0 - t),
        lambda t: np.where(~(t < 0.5) | (t == 0.1), np.sin(t), 0.0),
        lambda t: np.where(np.logical_and(t >= 0.3, t != 0.7), t, 2.0),
        lambda t: np.clip(3.0 * t, 0.5, 2.0),
        lambda t: np.select([t < 0.3, t < 0.7], [t, t**2], 1.0),
        lambda t: (t > 0.5) * np.sin(t),
        lambda t: np.sign(t - 0.5) * abs(t - 0.5),
        lambda t: np.heaviside(t - 0.5, 0.5) * t,
        lambda t: (t % 0.3) ** 2 + np.floor(2 * t) - np.ceil(t) + np.trunc(t - 0.5),
    ],
)
def test_branches(fn):
    times = np.array([-0.2, 0.0, 0.1, 0.2, 0.45, 0.5, 0.6, 0.7, 1.1])
    np.testing.assert_allclose(taped(fn, times), [fn(Jet.variable(t)).stacked() for t in times], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    "fn",
    [
        lambda t: t if t < 1 else 1.0,
        math.cos,
        lambda t: np.array([t, t]),
        lambda t: np.array([1.0, 2.0]) * t,
        np.rint,
        lambda t: t > 1,
        lambda t: (t > 1) + (t > 2),
        lambda t: None,
        lambda t: 1j * t,
        lambda t: np.where(t, 1.0, "a"),
        lambda t: np.add(t, 1.0, dtype=float),
        lambda t: {}[t],
    ],
)
def test_what_no_tape_holds(fn):
    assert trace([fn]) is None


def test_equal_operations_and_constants_are_stored_once():
    tape = trace([lambda t: np.sin(2.0 * t) + 2.0 * np.sin(2.0 * t)])
    assert len(tape.ops) == 4  # 2 t, sin, 2 sin, +
    assert tape.constants.tolist() == [2.0]


def test_three_functions_on_one_tape():
    tape = trace([lambda t: 3.0, np.sin, lambda t: t])
    np.testing.assert_array_equal(sample(tape_program(tape), np.array([0.5])), [[3.0, np.sin(0.5), 0.5]])


@pytest.mark.slow
@pytest.mark.parametrize("op", range(tape_machine.LAST_UNARY + 1))
def test_unary_kernels_compiled_and_plain(op):
    kernel = (
        tape_machine.circular
        if op <= tape_machine.ARCTAN
        else tape_machine.hyperbolic
        if op <= tape_machine.ARCTANH
        else tape_machine.exponential
    )
    for x in np.random.default_rng(op).uniform(0.1, 0.9, 5):
        y = x + (op == tape_machine.ARCCOSH)
        np.testing.assert_allclose(kernel(op, y), python_of(kernel)(op, y), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("op", range(tape_machine.ADD, tape_machine.LAST_ARITHMETIC + 1))
def test_arithmetic_kernel_compiled_and_plain(op):
    for arguments in np.random.default_rng(op).uniform(0.1, 2.0, (5, 6)):
        compiled = tape_machine.arithmetic(op, *arguments)
        np.testing.assert_allclose(compiled, python_of(tape_machine.arithmetic)(op, *arguments), rtol=1e-12)


@pytest.mark.slow
def test_tape_machine_compiled_and_plain():
    tape = trace([lambda t: np.where(t < 0.5, np.sin(3 * t) ** 1.7, np.minimum(np.log1p(t), abs(np.tanh(t) - 1)) / (t + 1))])
    for t in (0.3, 0.8):
        W = np.zeros((1 + len(tape.constants) + len(tape.ops), 3))
        V = W.copy()
        arguments = (t, tape.ops, 0, len(tape.ops), tape.constants, 0, len(tape.constants))
        with np.errstate(all="ignore"):
            tape_machine.run_tape(*arguments, W)
            python_of(tape_machine.run_tape)(*arguments, V)
        np.testing.assert_allclose(W, V, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("op", range(tape_machine.MINIMUM, tape_machine.WHERE + 1))
def test_choosing_kernel_compiled_and_plain(op):
    W = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [np.nan, 1.0, 1.0], [0.0, 0.0, 0.0]])
    for a, b in ((0, 1), (1, 0), (1, 1), (3, 1), (1, 3)):
        V = W.copy()
        tape_machine.choose(op, a, b, 2, 4, W)
        python_of(tape_machine.choose)(op, a, b, 2, 4, V)
        np.testing.assert_array_equal(W, V)


def test_minimum_and_maximum_keep_nan():
    assert np.isnan(taped(lambda t: np.minimum(t, np.log(t)), -1.0)[0])
    assert np.isnan(taped(lambda t: np.maximum(np.log(t), t), -1.0)[0])
