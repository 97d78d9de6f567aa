"""Sweeps that are stopped, killed or fail in part: nothing that has ended is lost, and what is missing runs later."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
import pytest

import haugmbd as mbd
from tests.support import sweep_cells as cells
from tests.support.sweep_cells import GRID, assert_same, build, run

N = 300


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study.nc", "study"])
def test_a_study_that_is_killed_in_the_middle_goes_on_and_ends_with_the_same_table(name, tmp_path):
    if name.endswith(".nc"):
        pytest.importorskip("h5netcdf")
    (tmp_path / "wait").touch()
    store, journal = tmp_path / name, tmp_path / ("study.nc.cells.jsonl" if name.endswith(".nc") else "study/cells.jsonl")
    study = subprocess.Popen([sys.executable, "-m", "tests.support.sweep_cells", str(tmp_path), str(store)])
    try:
        while not all((tmp_path / f"begun {x}").exists() for x in cells.BLOCKING):
            assert study.poll() is None
            time.sleep(0.01)
        with pytest.raises(mbd.UsageError, match="in use by another process"):
            mbd.sweep(cells.build_waiting, cells.waiting_cells(tmp_path), cells.run_waiting, "serial", store=store)
    finally:
        study.send_signal(signal.SIGKILL)
        study.wait()
    kept = len(journal.read_bytes().splitlines()) - 1
    assert 150 <= kept <= N - 2  # every cell that had ended: both workers were in one that waits
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    (tmp_path / "wait").unlink()
    resumed = mbd.sweep(cells.build_waiting, cells.waiting_cells(tmp_path), cells.run_waiting, "serial", store=store)
    runs = (tmp_path / "runs").read_text().splitlines()
    assert len(set(runs)) == N
    assert len(runs) <= N + 2  # only those that ran when it was killed
    again = mbd.sweep(cells.build_waiting, cells.waiting_cells(tmp_path), cells.run_waiting, "serial", store=store)
    assert len((tmp_path / "runs").read_text().splitlines()) == len(runs)
    whole = mbd.sweep(cells.build_waiting, cells.waiting_cells(tmp_path), cells.run_waiting, "serial")
    assert_same(resumed, whole)
    assert_same(again, whole)
    assert (resumed.seconds == again.seconds).all()
    if name.endswith(".nc"):
        assert not journal.exists()
        with pytest.importorskip("xarray").open_dataset(store, engine="h5netcdf") as dataset:
            assert (np.sort(dataset["sine"]) == np.sort(whole["sine"])).all()


@pytest.mark.slow
def test_failures_timeouts_and_killed_workers_are_rows():
    hows = ["fine", "raise", "hang", "kill", "exit", "last"]
    found = mbd.sweep(cells.build_ending, {"how": hows}, cells.run_ending, budget=3.0, workers=2)
    assert found.status == ("ok", "failed", "timeout", "killed", "killed", "ok")
    assert [row.reason for row in found.rows] == [
        "", "ValueError: a bad cell", "longer than the budget of 3 s", "its worker process was killed by SIGKILL",
        "its worker process ended with exit code 3", "",
    ]  # fmt: skip
    assert found["length"][[0, 5]].tolist() == [4.0, 4.0]
    assert np.isnan(found["length"][1:5]).all()
    assert [str(failure) for failure in found.failures][0] == "how='raise': failed: ValueError: a bad cell"


def test_an_executor_that_breaks_ends_the_study_with_everything_kept(table, tmp_path):
    class Breaking(Executor):
        """Ends five cells, loses the sixth, and takes no more."""

        count = 0

        def submit(self, fn, *args):
            self.count += 1
            if self.count > 6:
                raise BrokenProcessPool("no more")
            future = Future()
            if self.count <= 5:
                future.set_result(fn(*args))
            else:
                future.set_exception(BrokenProcessPool("a process died"))
            return future

    with pytest.raises(
        mbd.SimulationError, match=r"(?s)BrokenProcessPool.* 5 of 300 cells are kept in .*study.*another executor"
    ) as caught:
        mbd.sweep(build, GRID, run, Breaking(), store=tmp_path / "study")
    assert caught.value.result.status.count("ok") == 5
    assert caught.value.result.status.count("pending") == N - 5
    assert_same(table, mbd.sweep(build, GRID, run, "serial", store=tmp_path / "study"))
    with pytest.raises(mbd.SimulationError, match=r"Give store="):
        mbd.sweep(build, GRID, run, Breaking())
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(mbd.SimulationError, match=r"shutdown"):
        mbd.sweep(build, GRID, run, closed)


class InPlace(Executor):
    """Runs a cell in `submit`, as executors for debugging do."""

    def submit(self, fn, *args):
        future = Future()
        try:
            future.set_result(fn(*args))
        except BaseException as error:  # noqa: BLE001  as executors of the library do
            future.set_exception(error)
        return future


def test_an_executor_that_runs_in_place_keeps_each_row_before_the_next_cell_begins(table, tmp_path):
    seen = []

    def run_counting(system):
        journal = tmp_path / "study" / "cells.jsonl"
        seen.append(journal.read_bytes().count(b"\n") - 1)
        return run(system)

    found = mbd.sweep(build, GRID, run_counting, InPlace(), store=tmp_path / "study")
    assert seen == list(range(N))
    assert_same(found, table)


def test_ctrl_c_in_an_executor_that_runs_in_place_is_no_fault_of_it(tmp_path, request):
    def run_interrupted(system):
        if system[0] == 2:
            signal.raise_signal(signal.SIGINT)
        return run(system)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    found = mbd.sweep(build, {"x": [1, 2, 3], "y": [1]}, run_interrupted, InPlace(), store=tmp_path / "study")
    assert found.interrupted
    assert found.status == ("ok", "pending", "pending")


KILLED = """
import os, signal, sys
from concurrent.futures import Executor, Future
import haugmbd as mbd
from tests.support.sweep_cells import GRID, build, run

class InPlace(Executor):
    count = 0
    def submit(self, fn, *args):
        self.count += 1
        if self.count > 150:
            os.kill(os.getpid(), signal.SIGKILL)
        future = Future()
        future.set_result(fn(*args))
        return future

mbd.sweep(build, GRID, run, InPlace(), store=sys.argv[1])
"""


@pytest.mark.slow
def test_a_run_in_place_that_is_killed_half_way_keeps_its_rows(table, tmp_path):
    store = tmp_path / "study"
    ended = subprocess.run([sys.executable, "-c", KILLED, store], env=os.environ | cells.module_path())
    assert ended.returncode == -signal.SIGKILL
    assert (store / "cells.jsonl").read_bytes().count(b"\n") == 151
    assert_same(mbd.sweep(build, GRID, run, "serial", store=store), table)


@pytest.mark.slow
def test_a_process_of_an_executor_that_dies_is_no_row():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes,
        pytest.raises(mbd.SimulationError, match="BrokenProcessPool"),
    ):
        mbd.sweep(cells.build_ending, {"how": ["kill"]}, cells.run_ending, processes)


def test_failed_cells_run_again_where_that_is_asked_for(tmp_path):
    bad = tmp_path / "bad"
    bad.touch()

    def fragile(system):
        if bad.exists():
            raise ValueError("not now")
        return run(system)

    def go(**options):
        return mbd.sweep(build, {"x": [1, 2], "y": [1]}, fragile, "serial", store=tmp_path / "study", **options)

    assert go().status == ("failed", "failed")
    bad.unlink()
    assert go().status == ("failed", "failed")
    assert go(retry=True).status == ("ok", "ok")
    assert go(retry=True).status == ("ok", "ok")


@pytest.mark.parametrize("caught", [False, True])
def test_ctrl_c_keeps_what_has_ended_and_no_part_of_a_run(caught, tmp_path, request):
    def run_interrupted(system):
        if system[0] == 2 and not (tmp_path / "go").exists():
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:  # as simulate does, to return the result so far
                if not caught:
                    raise
        return run(system)

    def go():
        return mbd.sweep(build, {"x": [1, 2, 3], "y": [1]}, run_interrupted, "serial", store=tmp_path / "study")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores Ctrl-C
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    stopped = go()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert stopped.interrupted
    assert stopped.status == ("ok", "pending", "pending")
    (tmp_path / "go").touch()
    whole = go()
    assert not whole.interrupted
    assert whole.status == ("ok", "ok", "ok")


def test_results_that_are_no_numbers_are_failures_that_say_so():
    wrong = {"array": np.zeros(3), "text": "fast", "x": 1.0, "good": np.float64(2.0)}
    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], lambda _: wrong, "serial").rows
    assert row.status == "failed"
    for part in ("'array' is a ndarray of shape (3,)", "'text' is a str", "'x' is the name of a parameter, or reserved"):
        assert part in row.reason
    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], lambda _: 3.0, "serial").rows
    assert row.reason == "TypeError: run returned a float; it must return a dict of numbers"
    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], lambda _: {"nan": np.nan, "yes": np.bool_(True), "n": np.int32(4)}, "serial").rows
    assert math.isnan(row.values["nan"])
    assert (row.values["yes"], row.values["n"]) == (True, 4)


def test_a_cell_that_takes_too_long_elsewhere_is_a_timeout_when_it_ends():
    found = mbd.sweep(build, [{"x": 1, "y": 2}], lambda s: time.sleep(0.02) or run(s), "serial", budget=0.01)
    assert found.status == ("timeout",)
    assert found.rows[0].values == {}
