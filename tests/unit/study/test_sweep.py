"""Sweeps: the same table from every executor and after every interruption; failures are rows; nothing runs twice."""

from __future__ import annotations

import functools
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
from haugmbd.study.sweeps.identity import describe
from tests.support import sweep_cells as cells
from tests.support.sweep_cells import GRID, build, run

N = 300
PENDULUMS = {"mass": [1.0, 2.5], "length": [0.5, 0.75]}


@pytest.fixture(scope="module")
def table():
    return mbd.sweep(build, GRID, run, "serial")


def assert_same(a, b):
    """The same columns, bit by bit, in the same order."""
    assert a.parameters == b.parameters
    assert a.names == b.names
    assert [row.values for row in a.rows] == [row.values for row in b.rows]
    assert (a.cells, a.status) == (b.cells, b.status)
    assert [row.reason for row in a.rows] == [row.reason for row in b.rows]


def test_a_grid_is_every_combination_and_the_rows_are_what_run_returns(table):
    assert len(table) == N
    assert table.cells[16] == {"x": 1, "y": GRID["y"][1]}
    assert set(table.status) == {"ok"}
    assert table.names == ("sine", "sum", "count")
    x, y = (a.ravel() for a in np.meshgrid(GRID["x"], GRID["y"], indexing="ij"))
    assert (table["sine"] == [math.sin(i * j + 0.1) for i, j in zip(x, y, strict=True)]).all()
    assert table["count"].dtype == np.int64
    assert (table["count"] == 3 * x).all()
    assert table.failures == ()


@pytest.mark.slow
def test_real_runs_are_equal_bit_by_bit_in_series_threads_and_processes():
    serial = mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, "serial")
    assert set(serial.status) == {"ok"}
    fall = [-0.5 * 9.81 * 0.05**2 * m * s**2 / (m * s**2 + 0.1) for m in PENDULUMS["mass"] for s in PENDULUMS["length"]]
    assert np.allclose(serial["z"], fall, rtol=1e-3)  # of t^2 phi''''; a quarter of it measured
    with ThreadPoolExecutor(2) as threads:
        assert_same(serial, mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, threads))
        assert threads.submit(int, "1").result() == 1  # it stays the user's
    assert_same(serial, mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, workers=2))
    for workers in (None, 1, 3):
        assert_same(serial, mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, "threads", workers=workers))


@pytest.mark.slow
def test_processes_of_the_library_and_of_an_executor_give_the_table_of_one_process(table):
    assert_same(table, mbd.sweep(build, GRID, run, workers=2))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert_same(table, mbd.sweep(build, GRID, run, processes))


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


def test_a_process_of_an_executor_that_dies_is_no_row():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes,
        pytest.raises(mbd.SimulationError, match="BrokenProcessPool"),
    ):
        mbd.sweep(cells.build_ending, {"how": ["kill"]}, cells.run_ending, processes)


def test_cells_may_be_added_and_come_in_any_order(table, tmp_path):
    count = []

    def counted(system):
        count.append(system)
        return run(system)

    some = [dict(cell) for cell in table.cells[::7]]
    mbd.sweep(build, some[::-1], counted, "serial", store=tmp_path / "study")
    assert len(count) == len(some)
    whole = mbd.sweep(build, GRID, counted, "serial", store=tmp_path / "study")
    assert len(count) == N
    assert_same(whole, table)
    twice = mbd.sweep(build, [some[0], some[1], some[0]], counted, "serial")
    assert len(count) == N + 2
    assert twice["sum"].tolist() == [table["sum"][0], table["sum"][7], table["sum"][0]]


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


def test_random_cells_depend_on_seed_number_and_name_alone():
    few = mbd.RandomCells({"mass": (1.0, 2.0), "kind": ["a", "b"]}, n=40, seed=3).cells()
    more = mbd.RandomCells({"kind": ["a", "b"], "mass": (1.0, 2.0), "k": lambda rng: int(rng.integers(5))}, n=60, seed=3).cells()
    assert [(cell["mass"], cell["kind"]) for cell in more[:40]] == [(cell["mass"], cell["kind"]) for cell in few]
    masses = np.array([cell["mass"] for cell in more])
    assert ((masses >= 1.0) & (masses < 2.0)).all()
    assert len(set(masses)) == 60
    assert {cell["kind"] for cell in few} == {"a", "b"}
    other = mbd.RandomCells({"mass": (1.0, 2.0)}, n=60, seed=4).cells()
    assert not set(masses) & {cell["mass"] for cell in other}


def test_the_seed_of_a_cell_depends_on_study_and_cell_alone(tmp_path):
    def build_seeded(x, seed):
        return x, seed

    def run_seeded(system):
        return {"seed": system[1], "noise": np.random.default_rng(system[1]).normal()}

    a = mbd.sweep(build_seeded, {"x": [1, 2, 3]}, run_seeded, "serial", seed=1)
    b = mbd.sweep(build_seeded, [{"x": 3}, {"x": 1}], run_seeded, "serial", seed=1)
    c = mbd.sweep(build_seeded, {"x": [1, 2, 3]}, run_seeded, "serial", seed=2)
    assert b["noise"].tolist() == [a["noise"][2], a["noise"][0]]
    assert len({*a["seed"], *c["seed"]}) == 6
    assert all(0 <= seed < 2**63 for seed in a["seed"])


def test_an_optimizer_asks_and_is_told(tmp_path):
    bounds, told = [0.0, 10.0], []

    def run_parabola(system):
        return {"f": (system[0] - 3.0) ** 2}

    def ask():
        return None if bounds[1] - bounds[0] < 1e-3 else {"x": bounds[0] + (bounds[1] - bounds[0]) / 3.0, "y": 0}

    def tell(cell, row):
        told.append(row.values["f"])
        bounds[0 if cell["x"] < 3.0 else 1] = cell["x"]

    def go():
        return mbd.sweep(build, mbd.AskTell(ask, tell, n=50), run_parabola, "serial", store=tmp_path / "study")

    first = go()
    assert abs(bounds[1] - 3.0) < 1e-3 or abs(bounds[0] - 3.0) < 1e-3
    assert first["f"].tolist() == told
    bounds[:], before = [0.0, 10.0], (tmp_path / "study" / "cells.jsonl").read_bytes()
    second = go()  # every row is known, and told
    assert (tmp_path / "study" / "cells.jsonl").read_bytes() == before
    assert_same(first, second)
    limited = mbd.sweep(build, mbd.AskTell(lambda: {"x": 1, "y": 2}, n=4), run, "serial")
    assert limited["sum"].tolist() == [3, 3, 3, 3]


def test_a_function_of_scipy_drives_a_sweep_with_a_store(tmp_path):
    from scipy.optimize import minimize_scalar

    def f(x):
        return mbd.sweep(
            build, [{"x": float(x), "y": 1}], lambda s: {"f": math.cosh(s[0] - 0.5)}, "serial", store=tmp_path / "study"
        )["f"][0]

    assert abs(minimize_scalar(f, bracket=(0.0, 1.0), tol=1e-6).x - 0.5) < 1e-4  # cosh is flat: half the digits
    assert len((tmp_path / "study" / "cells.jsonl").read_text().splitlines()) > 5


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


def test_the_method_is_handed_to_run_and_belongs_to_the_key(tmp_path):
    def run_method(system, method):
        return {"order": method.order}

    found = mbd.sweep(build, {"x": [1], "y": [2]}, run_method, "serial", method=mbd.RK4(), store=tmp_path / "study")
    assert found["order"].tolist() == [4]
    with pytest.raises(mbd.UsageError, match=r"another study: method was 'RK4\(.*is 'Heun\("):
        mbd.sweep(build, {"x": [1], "y": [2]}, run_method, "serial", method=mbd.Heun(), store=tmp_path / "study")


@pytest.mark.slow
def test_tables_for_pandas_xarray_and_csv(table, tmp_path):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    frame, dataset = table.to_pandas(), table.to_xarray()
    assert list(frame.columns) == ["x", "y", "sine", "sum", "count", "status", "reason"]
    assert dict(dataset.sizes) == {"x": 20, "y": 15}
    assert float(dataset["sine"].sel(x=3, y=GRID["y"][4])) == math.sin(3 * GRID["y"][4] + 0.1)
    assert dataset["count"].dtype == np.int64
    read = pandas.read_csv(table.to_csv(tmp_path / "table.csv"), index_col="cell", keep_default_na=False)
    assert (read[["x", "y", "sine", "sum", "count"]] == frame[["x", "y", "sine", "sum", "count"]]).all().all()
    some = mbd.sweep(build, [{"x": 1, "y": 2}, {"x": "no", "y": (1, 2)}], run, "serial")
    assert some.to_xarray()["sine"].dims == ("cell",)
    assert some.to_pandas()["y"].tolist() == [2, (1, 2)]
    assert some.status == ("ok", "failed")
    assert "2 cells: 1 ok, 1 failed" in str(some)
    assert "... 280 more" in str(table)
    with pytest.raises(mbd.UsageError, match=r"'sin' \(did you mean 'sine'"):
        table["sin"]
    assert xarray.__name__ == "xarray"


def test_results_that_are_no_numbers_are_failures_that_say_so():
    wrong = {"array": np.zeros(3), "text": "fast", "x": 1.0, "good": np.float64(2.0)}
    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], lambda _: wrong, "serial").rows
    assert row.status == "failed"
    for part in ("'array' is a ndarray of shape (3,)", "'text' is a str", "'x' is the name of something else"):
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


def test_the_bar_says_how_long_it_will_take(caplog, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    mbd.sweep(build, {"x": [1, 2], "y": ["no", 2]}, run, "serial", progress=True)
    assert len(caplog.messages) == 4
    assert caplog.messages[-1] == "4 of 4 cells, 2 not ok, 0 s to go"
    assert "s to go" in caplog.messages[0]
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    mbd.sweep(build, {"x": [1, 2], "y": [2]}, run, "serial", progress=True)
    assert "2/2" in capsys.readouterr().err


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
        ((build, [{"a b": 1}], run, "serial"), "'a b' is no name"),
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
@pytest.mark.parametrize("name", ["study.nc", "study"])
def test_a_study_that_has_not_begun_leaves_no_store_in_the_way(name, tmp_path):
    if name.endswith(".nc"):
        pytest.importorskip("h5netcdf")
    with pytest.raises(mbd.UsageError, match="is a lambda"):
        mbd.sweep(lambda **cell: cell, GRID, run, store=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    program = (
        f"import haugmbd as mbd\ndef f(x): return x\nmbd.sweep(f, {{'x': [1]}}, f, workers=1, store={str(tmp_path / name)!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | _path())
    assert "cannot import build, run or method" in ended.stderr
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
    with pytest.raises(mbd.UsageError, match="no store of a sweep"):
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
    with pytest.raises(mbd.UsageError, match="no store of a sweep"):
        mbd.sweep(build, {"x": [1, 2], "y": [2]}, run, "serial", store=store)


def test_a_store_is_written_by_one_sweep_at_a_time(tmp_path):
    def run_nested(system):
        mbd.sweep(build, {"x": [1], "y": [2]}, run, "serial", store=tmp_path)
        return {}

    (row,) = mbd.sweep(build, [{"x": 1, "y": 2}], run_nested, "serial", store=tmp_path).rows
    assert "in use by another sweep of this process" in row.reason


@pytest.mark.slow
def test_scripts_without_a_guard_and_interactive_sessions_are_told(tmp_path):
    lines = "import haugmbd as mbd\ndef build(x): return x\ndef run(x): return {'y': x}\n"
    call = "mbd.sweep(build, {'x': [1]}, run, workers=1)\n"
    script = tmp_path / "study.py"
    script.write_text(lines + call)
    bare = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, env=os.environ | _path())
    assert 'under `if __name__ == "__main__":`' in bare.stderr.splitlines()[-1]
    interactive = subprocess.run([sys.executable, "-c", lines + call], capture_output=True, text=True, env=os.environ | _path())
    assert "Functions of a notebook or of an interactive session go into a module" in interactive.stderr.splitlines()[-1]


def _path():
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
