"""The store of a sweep: of one study and one writer at a time; a torn end is cut off, damage and other studies are refused."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.study.sweeps.cells import describe
from tests.support import sweep_cells as cells
from tests.support.sweep_cells import GRID, assert_same, build, module_path, run


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study.nc", "study"])
def test_a_store_of_another_study_is_refused_and_says_what_differs(name, tmp_path):
    if name.endswith(".nc"):
        pytest.importorskip("h5netcdf")
    store, cell = tmp_path / name, {"x": [1], "y": [2]}
    mbd.sweep(build, cell, run, "serial", store=store)
    for said, options in (
        ("the text of run", dict(run=_twin())),
        (r"build was tests.support.sweep_cells.build, is tests.support.sweep_cells.build_ending", dict(build=cells.build_ending)),
        ("seed was None, is 3", dict(seed=3)),
        ("version was '', is 'b'", dict(version="b")),
        (r"parameters was \['x', 'y'\], is \['x', 'z'\]", dict(parameters={"x": [1], "z": [2]})),
    ):
        with pytest.raises(mbd.UsageError, match=f"another study: {said}"):
            mbd.sweep(**dict(build=build, parameters=cell, run=run, executor="serial", store=store) | options)
    assert mbd.sweep(build, cell, run, "serial", store=store).status == ("ok",)


def test_a_function_is_its_text_and_what_it_encloses():
    def make(factor, seen):
        def inner(system):
            seen.append(system)
            return factor * system

        return inner

    first, second = make(2, []), make(2, [1])
    assert describe(first) == describe(second)  # a list that counts calls is no part of the study
    assert describe(first) != describe(make(3, []))
    assert describe(functools.partial(build, y=1)) == describe(functools.partial(build, y=1))
    assert describe(functools.partial(build, y=1)) != describe(functools.partial(build, y=2))
    assert describe(lambda x: x + 1) != describe(lambda x: x + 2)
    table = np.arange(5000.0)
    first = describe(functools.partial(build, y=[table]))
    table = table.copy()
    assert describe(functools.partial(build, y=[table])) == first
    table[2500] = -1.0  # in the middle, which NumPy does not print
    assert describe(functools.partial(build, y=[table])) != first
    assert describe(functools.partial(build, y=np.random.default_rng(1))) == describe(
        functools.partial(build, y=np.random.default_rng(1))
    )


@pytest.mark.slow
def test_a_study_that_has_not_begun_leaves_no_store_in_the_way(tmp_path):
    names = ["study.nc", "study"] if find_spec("h5netcdf") else ["study"]
    for name in names:
        with pytest.raises(mbd.UsageError, match="is a lambda"):
            mbd.sweep(lambda **cell: cell, GRID, run, store=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    program = f"""
import haugmbd as mbd
def f(x): return x
for name in {names}:
    try:
        mbd.sweep(f, {{'x': [1]}}, f, workers=1, store={str(tmp_path)!r} + "/" + name)
    except mbd.UsageError as error:
        print(error)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | module_path())
    assert ended.stdout.count("cannot import build, run or method") == len(names), ended.stderr
    assert ended.stdout.count("Functions of a notebook or of an interactive session go into a module") == len(names)
    for name in names:
        assert mbd.sweep(build, {"x": [1], "y": [2]}, run, "serial", store=tmp_path / name).status == ("ok",)


def _twin():
    """A function with the name of `run` and another text."""
    scope = {"__name__": run.__module__}
    exec("def run(system):\n    return {'sine': 0.0}\n", scope)
    return scope["run"]


def test_a_damaged_store_is_refused_and_a_torn_end_is_cut_off(tmp_path):
    def go():
        return mbd.sweep(build, {"x": [1, 2, 3], "y": [2]}, run, "serial", store=tmp_path)

    whole, journal = go(), tmp_path / "cells.jsonl"
    good = journal.read_bytes()
    journal.write_bytes(good.replace(b'"count": 6', b'"count": 7'))
    with pytest.raises(mbd.UsageError, match="damaged in line 3"):
        go()
    for cut in (1, 40, len(good) - 10, len(good) - good.index(b"\n")):
        journal.write_bytes(good[:-cut])
        assert_same(go(), whole)
        assert journal.read_bytes().count(b"\n") == 4
    journal.write_bytes(good[: -len(good.splitlines()[-1]) - 1] + b"\0" * 50 + b"\n")
    assert_same(go(), whole)
    journal.write_bytes(b"x,y\n1,2\n")
    with pytest.raises(mbd.UsageError, match="not a store of a sweep"):
        go()


def test_a_netcdf_file_that_is_none_or_is_damaged_is_refused(tmp_path):
    pytest.importorskip("h5netcdf")
    store = tmp_path / "study.nc"
    mbd.sweep(build, {"x": [1, 2], "y": [2]}, run, "serial", store=store)
    data = bytearray(store.read_bytes())
    data[len(data) // 2] ^= 1
    store.write_bytes(data)
    with pytest.raises(mbd.UsageError, match="damaged"):
        mbd.sweep(build, {"x": [1, 2], "y": [2]}, run, "serial", store=store)
    store.write_bytes(b"nothing")
    with pytest.raises(mbd.UsageError, match="not a store of a sweep"):
        mbd.sweep(build, {"x": [1, 2], "y": [2]}, run, "serial", store=store)


def test_a_store_is_written_by_one_sweep_at_a_time(tmp_path):
    def run_nested(system):
        mbd.sweep(build, {"x": [1], "y": [2]}, run, "serial", store=tmp_path)
        return {}

    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], run_nested, "serial", store=tmp_path).rows
    assert "in use by another sweep of this process" in row.reason
