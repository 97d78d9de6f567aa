"""haugmbd without Numba, on its engine: the walk of `walk.py` has the numbers of Numba, and what only Numba can do says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from haugmbd.compiled.engine_library import WISH, choose

WALK = Path(__file__).with_name("walk.py")
GROUPS = ("gallery", "mechanisms", "methods", "touching", "blocks", "analysis", "studies", "pages")
CHAOTIC = ("andrews", "double_pendulum", "chain", "trebuchet", "jansen_leg")
"""Mechanisms whose motion over a second grows rounding beyond it, with a portable engine."""
PORTABLE = 1e-11
"""Of the size of the numbers, where sums may be rounded otherwise; `exact` has every bit of Numba."""
PLAIN = ("minimum_degree", "front_plan")
"""Parts of the names of entries that run as plain Python: they return arrays that they make, see `engine_build.workload`."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(choose().library is None, reason="no engine fits here: make engine")]


def walked(wish, *words):
    """What the walk prints, and the name of the engine that it ran on."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(WALK), *words],
        env=os.environ | {WISH: wish, "HAUGMBD_QUIET": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("group", GROUPS)
def test_the_numbers_are_those_of_numba(group):
    engine = choose().library.path.stem
    ours, numbas = walked(engine, "hidden", group), walked("0", group)
    assert ours["loaded"] == []
    assert [note for note in ours["notes"] if "plain Python" in note and not any(x in note for x in PLAIN)] == []
    assert list(ours["numbers"]) == list(numbas["numbers"])
    for case, right in numbas["numbers"].items():
        found = ours["numbers"][case]
        if isinstance(right, str):  # it is refused, in the same words
            assert found == right, case
        elif engine == "exact":
            assert np.array_equal(found, right, equal_nan=True), case
        elif not (case.endswith("simulate") and any(name in case for name in CHAOTIC)):
            assert np.abs(np.subtract(found, right)).max() <= PORTABLE * np.abs(right).max(), case


def test_what_needs_numba_says_so():
    for case, found in walked(choose().library.path.stem, "hidden", "refused")["numbers"].items():
        assert isinstance(found, str), case
        assert "umba" in found, case
