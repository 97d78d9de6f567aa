"""The two layers of the compiler: the same bits, and a way back from every Numba that the fast layer does not know."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import haugmbd
from haugmbd.compiled.jit import LAYER

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

WISH = "HAUGMBD_PLAIN_NUMBA"

SMALL = """
import json, sys, warnings
import numba
{change}
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    from haugmbd.compiled.jit import LAYER, DirectCall, kernel, inlined, entry, released, routine
    from haugmbd.compiled.function_pointers import F1, Routine, types

    @kernel
    def dot(a, b):
        total = 0.0
        for k in range(a.size):
            total += a[k] * b[k]
        return total

    @inlined
    def twice(x):
        return x + x

    @routine
    def by_address(a, b):
        return twice(dot(a, b)) / dot(b, b)

    RATIO = Routine(by_address, types.float64(F1, F1))

    @entry
    def through(ratio, a, b):
        return ratio(a, b) - dot(a, a)

    @released
    def beside_others(a, b):
        return dot(a, b) / 3.0

    import numpy as np
    a, b = np.random.default_rng(3).normal(size=(2, 50))
    direct = DirectCall(beside_others)
    numbers = [through(RATIO, a, b), *(direct(a, b) for _ in range(3)), dot(a, b)]
from haugmbd.cli.models import _installation
print(json.dumps([LAYER.name, [str(one.message) for one in given], [x.hex() for x in numbers], _installation()["compiler"]]))
"""

WHOLE = """
import hashlib
import haugmbd as mbd
from haugmbd.compiled.jit import LAYER
from haugmbd.gallery import bouncing_toy, double_pendulum, four_bar, scissor_lift

def with_friction():
    system = double_pendulum()
    system.add(mbd.JointFriction("rubbing", system.joints[0], mbd.Coulomb(0.3), radius=0.05))
    return system

print(LAYER.name)
for make, options in (
    (four_bar, {"h": 1e-3}), (scissor_lift, {"h": 1e-3}), (with_friction, {"h": 1e-3}), (bouncing_toy, {"h": 1e-3}),
    (double_pendulum, {"integrator": mbd.BDF()}),
):
    result = mbd.simulate(make(), 0.01, **options)
    print(make.__name__, hashlib.sha1(result.y.tobytes()).hexdigest(), sep=":")
"""


def run(file, program, *flags, **environment):
    """What a new process prints that runs a program in a file."""
    file.write_text(program)
    kept = {"PYTHONPATH": str(Path(haugmbd.__file__).parents[1])} | {
        name: value for name, value in os.environ.items() if name not in (WISH, "NUMBA_CACHE_DIR")
    }
    found = subprocess.run(
        [sys.executable, *flags, str(file)], env=kept | environment, capture_output=True, text=True, timeout=1800
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """What the small program finds in the fast layer, compiled anew."""
    folder = tmp_path_factory.mktemp("fast")
    return json.loads(run(folder / "small.py", SMALL.format(change=""), NUMBA_CACHE_DIR=str(folder)))


@pytest.mark.slow
def test_an_unknown_numba_or_a_broken_fast_layer_is_served_by_the_plain_one_with_one_warning(fast, tmp_path):
    folder = {"NUMBA_CACHE_DIR": str(tmp_path)}
    wanted, unknown, broken = (
        json.loads(run(tmp_path / f"{name}.py", SMALL.format(change=change), **folder, **wish))
        for name, change, wish in (
            ("wanted", "", {WISH: "1"}),
            ("unknown", "numba.__version__ = '9.7.1'", {}),
            ("broken", "sys.modules['haugmbd.compiled.inlining'] = None", {}),
        )
    )
    assert (fast[0], fast[3]) == ("fast", "on, fast layer")
    assert fast[1] == wanted[1] == []
    for found in (wanted, unknown, broken):
        assert (found[0], found[3]) == ("plain", "on, plain layer")
        assert found[2] == fast[2]
    for found, facts in ((unknown, ("9.7.1", "0.63")), (broken, (numba.__version__, "haugmbd.compiled.inlining"))):
        (warning,) = found[1]
        for fact in (*facts, WISH, "half a minute", "Install numba"):
            assert fact in warning


@pytest.mark.slow
def test_python_without_docstrings_compiles_the_same_numbers(fast, tmp_path):
    assert json.loads(run(tmp_path / "small.py", SMALL.format(change=""), "-OO", NUMBA_CACHE_DIR=str(tmp_path))) == fast


@pytest.mark.slow
@pytest.mark.skipif(LAYER.name != "plain", reason="run with HAUGMBD_PLAIN_NUMBA=1: the plain layer takes long to compile")
def test_both_layers_give_the_same_bits(tmp_path):
    """The order of every sum is that of the source in both; nothing is allowed to be reordered."""
    place = {"NUMBA_CACHE_DIR": numba.config.CACHE_DIR} if numba.config.CACHE_DIR else {}
    file = tmp_path / "whole.py"
    plain, fast = run(file, WHOLE, **{WISH: "1"}, **place).split(), run(file, WHOLE).split()
    assert (plain[0], fast[0]) == ("plain", "fast")
    assert plain[1:] == fast[1:]
