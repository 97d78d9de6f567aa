"""`haugmbd warm`: afterwards nothing is left to compile for the default methods; with --all every method is among what it names."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from haugmbd.cli.warm import other_methods
from haugmbd.formulations import FORMULATIONS
from haugmbd.simulation.compatibility import STABILIZATIONS, integrators

LISTED = """
import sys
from haugmbd.compiled.code_cache import CodeCache
asked, load = set(), CodeCache.load_overload
CodeCache.load_overload = lambda self, *given: (asked.add(self._impl.filename_base), load(self, *given))[1]
"""
WARM = """
from haugmbd.cli.main import main
main(["warm"])
"""
FIRST = """
import haugmbd as mbd
from haugmbd.gallery.planar_linkages import four_bar
from haugmbd.gallery.pendulums import pendulum
for make in (four_bar, pendulum):
    for how in ({"h": 1e-3}, {"rtol": 1e-6, "atol": 1e-8, "t_eval": [0.0, 0.01]}):
        result = mbd.simulate(make(), 0.02, **how)
        result.lam, result.violation(), result.energy(), result.resample([0.0055]), result.reaction(next(iter(result.model.joints)))
"""


def compiled_by(*programs):
    """The compiled functions that a process has asked the disk cache for after each of these programs, and what it prints.

    It asks once for each; those that have been loaded when the first program ends are not asked for by the second.
    """
    listed = [f"{program}\nprint(*sorted(asked), file=sys.stderr)" for program in programs]
    done = subprocess.run([sys.executable, "-c", "\n".join([LISTED, *listed])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return *(set(line.split()) for line in done.stderr.splitlines()), done.stdout


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler nothing is compiled")
def test_afterwards_a_first_simulation_has_nothing_to_compile():
    before, after, said = compiled_by(WARM, FIRST)
    assert "RK4 with projection" in said
    assert "ready after" in said
    assert len(before) > 10
    assert after == before


@pytest.mark.slow
def test_all_names_every_method():
    named = {name for name, _ in other_methods()}
    assert named >= integrators().keys() | {kind.__name__ for kind in FORMULATIONS}
    assert named >= {f"stabilization {name}" for name in STABILIZATIONS}
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # that all of them run is seen without compiling them, too
    done = subprocess.run([sys.executable, "-m", "haugmbd.cli.main", "warm", "--all"], capture_output=True, text=True, env=plain)
    assert done.returncode == 0, done.stderr
    assert all(f"{name} ... " in done.stdout for name in named)
