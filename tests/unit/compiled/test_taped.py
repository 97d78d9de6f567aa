"""Numbers on a tape: every rule against differences, and against duals where a kernel has both."""

import math

import numpy as np
import pytest

from haugmbd.compiled.jit import DirectCall, released
from haugmbd.compiled.numba_names import COMPILES, OFF
from haugmbd.compiled.scalars import value_of
from haugmbd.compiled.taped import ENTRY, FIRST, SIZE, TAPED, Tape, as_taped, entry_of, seed, sweep_back

pytestmark = pytest.mark.skipif(not COMPILES or OFF, reason="numbers on a tape are compiled")


@released
def all_rules_entry(X, reals, words):
    """Write the adjoints of a sum of every rule; return its value."""
    a, b = as_taped(X)[0], as_taped(X)[1]
    y = a * math.sin(b) + math.sqrt(a / b) - max(a, 2.0) ** 2 + abs(b - a) + math.atan2(a, b) + 2.0 / a
    y += math.exp(-a) * math.log(b) - min(a, b) + math.hypot(a, b) + math.cos(a) ** 3 - (1.0 - b)
    seed(reals, words[0] // SIZE * SIZE, entry_of(y), 1.0)
    sweep_back(reals, words, 2)
    return value_of(y)


def of_floats(a, b):
    y = a * math.sin(b) + math.sqrt(a / b) - max(a, 2.0) ** 2 + abs(b - a) + math.atan2(a, b) + 2.0 / a
    return y + math.exp(-a) * math.log(b) - min(a, b) + math.hypot(a, b) + math.cos(a) ** 3 - (1.0 - b)


@pytest.mark.slow
@pytest.mark.parametrize("at", [(3.0, 0.7), (1.3, 2.2)])
def test_adjoints_are_the_derivatives_of_every_rule(at):
    tape = Tape()
    tape.begin(2)
    X = np.zeros(2, TAPED)
    X["value"], X["entry"] = at, tape.inputs(0, 2)
    value = DirectCall(all_rules_entry)(X.view(np.float64).reshape(2, 2), tape.reals, tape.words)
    found = tape.reals[FIRST : FIRST + 2 * ENTRY].reshape(2, ENTRY)[:, 4]
    h = 1e-5
    exact = [
        (of_floats(at[0] + h, at[1]) - of_floats(at[0] - h, at[1])) / (2 * h),
        (of_floats(at[0], at[1] + h) - of_floats(at[0], at[1] - h)) / (2 * h),
    ]
    assert value == pytest.approx(of_floats(*at), rel=1e-14)
    assert np.abs(found - exact).max() < 1e-8
