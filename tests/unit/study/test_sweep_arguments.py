"""What a sweep refuses: bad arguments and options with what to do, scripts without a guard."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import haugmbd as mbd
from tests.support.sweep_cells import GRID, build, module_path, run


def nested():
    def inner(**cell):
        return cell

    return inner


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((lambda **cell: cell, GRID, run), r"build is a lambda, which other processes cannot import. Write a function with def .*serial"),
        ((build, GRID, nested()), r"run is .*inner, which other"),
        ((3, GRID, run), "build = 3 must be a function"),
        ((build, GRID, run, "serail"), "executor = 'serail' must be None .*'serial', 'threads', or an executor"),
        ((build, GRID, run, "serial", None, -1.0), "budget = -1.0 must be a positive number"),
        ((build, 5, run, "serial"), "parameters is a int; give a dict of lists"),
        ((build, {"x": 1, "y": []}, run, "serial"), r"'x' is 1: give a list of values, \[1\] for one; 'y' has no values"),
        ((build, {"x": "ab"}, run, "serial"), r"'x' is 'ab': give a list"),
        ((build, {"x": [1, 1.0, 1]}, run, "serial"), "'x' repeats a value"),
        ((build, {"x": [object(), np.nan], "status": [1]}, run, "serial"), r"'status' is.*'x'\[0\]: it is a object.*'x'\[1\]: it is NaN"),
        ((build, [{"x": 1}, {"y": 1}, 7], run, "serial"), r"cell 1: its parameters are 'y'; those of the first are 'x'; cell 2: it is 7"),
        ((build, [{"a b": 1}], run, "serial"), "'a b' is not a name"),
        ((build, mbd.RandomCells({"x": (2, 1), "y": [], "z": 3}, n=0), run, "serial"), "n = 0 .*'x': .*'y': the list is.*'z': 3"),
        ((build, GRID, run, "serial", "table.csv"), "must be a folder, or a file that ends with .nc"),
        ((build, GRID, run, "serial", 3), "store = 3 must be a path"),
        ((build, mbd.AskTell(lambda: 3), run, "serial"), "ask returned a bad cell: it is 3"),
    ],
)  # fmt: skip
def test_bad_arguments_say_what_to_do(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mbd.UsageError, match=f"(?s){said}"):
        mbd.sweep(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_all_bad_options_are_said_at_once():
    with pytest.raises(mbd.UsageError, match=r"(?s)seed = -1.*version = 2.*workers = 0.*retry = 1.*progress = None"):
        mbd.sweep(build, GRID, run, "serial", seed=-1, version=2, workers=0, retry=1, progress=None)
    with pytest.raises(mbd.UsageError, match="ask = 3 must be a function; tell = 4 must be .*; n = 0 must be"):
        mbd.AskTell(3, 4, 0)
    with pytest.raises(mbd.UsageError, match="a parameter is called 'seed', too"):
        mbd.sweep(build, {"seed": [1]}, run, "serial", seed=1)
    with pytest.raises(TypeError, match=r"no argument 'stores' \(did you mean 'store'"):
        mbd.sweep(build, GRID, run, stores="study")


@pytest.mark.slow
def test_scripts_without_a_guard_are_told(tmp_path):
    lines = "import haugmbd as mbd\ndef build(x): return x\ndef run(x): return {'y': x}\n"
    call = "mbd.sweep(build, {'x': [1]}, run, workers=1)\n"
    script = tmp_path / "study.py"
    script.write_text(lines + call)
    bare = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, env=os.environ | module_path()
    )
    assert 'under `if __name__ == "__main__":`' in bare.stderr.splitlines()[-1]
