"""Dual numbers: every function that a kernel may use has the derivative of differences, and whole evaluations of models have, too."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from haugmbd import NewtonEuler, gallery
from haugmbd.compiled.jit import entry
from haugmbd.compiled.scalars import IN_NUMPY, LANES, SMOOTH, as_duals
from haugmbd.formulations.newton_euler import right_hand_side
from haugmbd.sensitivity.dual_pack import dual_pack

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there are no dual numbers without the compiler")
STEP = 1e-6
"""Of central differences: their error is the square of it, and rounding over it."""
AGREE = 1e-8
"""Relative difference of a tangent and of a central difference."""
DOMAIN = {"acosh": (1.2, 3.0), "log": (0.2, 3.0), "log2": (0.2, 3.0), "log10": (0.2, 3.0), "sqrt": (0.2, 3.0), "log1p": (-0.8, 3.0)}
"""Where a function is defined; others are asked between -0.9 and 0.9."""


def of_duals(function):
    """Return a function of the doubles of duals (n, LANES + 1), by a compiled function of an array."""

    @numba.njit
    def called(x, out):
        as_duals(out)[0] = function(as_duals(x))

    def value(x):
        out = np.zeros((1, LANES + 1))
        called(x, out)
        return out[0]

    return value


def differences(function, x):
    """Return central differences of a function of (n,) along the tangents of x (n, LANES + 1)."""
    return [(function(x[:, 0] + STEP * d) - function(x[:, 0] - STEP * d)) / (2.0 * STEP) for d in x[:, 1:].T]


@pytest.mark.parametrize("module", [math, np], ids=["math", "numpy"])
def test_functions_of_one_number_have_their_derivatives(module):
    rng = np.random.default_rng(1)
    for name in SMOOTH:
        function = getattr(module, IN_NUMPY.get(name, name) if module is np else name)

        @numba.njit
        def compiled(x, function=function):
            return function(x[0])

        x = np.hstack([[[rng.uniform(*DOMAIN.get(name, (-0.9, 0.9)))]], rng.normal(size=(1, LANES))])
        found = of_duals(compiled)(x)
        assert found[0] == compiled(x[:, 0]), name
        assert found[1:] == pytest.approx(differences(compiled, x), rel=AGREE, abs=AGREE), name


@numba.njit
def everything(x):
    """Return a number that every rule of two numbers enters: real ones on either side, kinks away from where they are kinks."""
    a, b, c = x[0], x[1], x[2]
    s = 2.0 * a + b / 3.0 - c * a + 1.0 / b - (a - 2) / c + (3 - b) * 2
    s += max(a, b) * min(b, 0.2) + max(a, b, c) + abs(-a) ** 3 + b**2 + (b + 2.0) ** a + 1.5**c
    s -= math.atan2(a, c) * math.hypot(b, a) + math.copysign(a, c) + (a + 5.0) % 0.7 + math.atan2(1.0, b)
    s *= 1.0 + np.arctan2(b, 2.0) * np.maximum(c, 0.1) - np.minimum(1.0, a) + math.fabs(c) + np.exp2(a) + np.cbrt(b)
    if a < b and not b == c and c != 0.0:
        s += math.floor(3.0 * a) + float(c) + int(5.0 * b)
    return s / (1.0 + a * a)


def test_every_rule_of_two_numbers():
    rng = np.random.default_rng(2)
    for _ in range(20):
        x = rng.normal(size=(3, LANES + 1))
        x[:, 0] = rng.uniform(0.3, 1.9, 3)
        if np.abs(np.subtract.outer(x[:, 0], x[:, 0])[~np.eye(3, dtype=bool)]).min() < 1e-3:
            continue
        found = of_duals(everything)(x)
        assert found[0] == pytest.approx(everything(x[:, 0].copy()), rel=1e-14)
        assert found[1:] == pytest.approx(differences(everything, x), rel=1e-6, abs=1e-6)


def test_the_root_of_zero_has_no_derivative_but_along_what_rests():
    x = np.zeros((1, LANES + 1))
    x[0, 1] = 1.0

    @numba.njit
    def root(x):
        return math.sqrt(x[0])

    assert of_duals(root)(x)[1] == np.inf
    assert not of_duals(root)(x)[2:].any()


def test_what_has_no_rule_is_an_error_of_the_compiler():
    @numba.njit
    def gamma(x):
        return math.gamma(x[0])

    with pytest.raises(numba.TypingError):
        of_duals(gamma)(np.ones((1, LANES + 1)))


@entry
def evaluate_in_duals(P, t, y, y_dot):
    """Evaluate y' in duals."""
    return right_hand_side(P, t, as_duals(y), as_duals(y_dot))


@entry
def evaluate(P, t, y, y_dot):
    """Evaluate y'."""
    return right_hand_side(P, t, y, y_dot)


MODELS = ["four_bar", "chain", "slider_crank", "net", "rolling_disc", "scissor_lift"]
"""Of blocks with dependent rows, the recursion over a forest, blocks, fronts, and rows of velocities."""


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_whole_evaluation_has_its_value_to_the_bit_and_its_derivatives(name):
    model = getattr(gallery, name)().compile()
    pack, ny = NewtonEuler().pack(model), len(model.y0)
    rng = np.random.default_rng(3)
    y, y_dot = np.zeros((ny, LANES + 1)), np.zeros((ny, LANES + 1))
    y[:, 0], y[13:, 1:] = model.y0, rng.normal(size=(ny - 13, LANES))

    def real(x):
        out = np.zeros(ny)
        assert evaluate(pack, 0.1, x, out) == 0
        return out

    assert evaluate_in_duals(dual_pack(pack), 0.1, y, y_dot) == 0
    assert np.array_equal(y_dot[:, 0], real(model.y0.copy()))
    for lane in (1, LANES):
        high, low = (real(model.y0 + to * y[:, lane]) for to in (STEP, -STEP))
        slope = (high - low) / (2.0 * STEP)
        assert np.abs(y_dot[:, lane] - slope).max() < 1e-7 * np.abs(slope).max()
