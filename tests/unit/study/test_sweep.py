"""Sweeps: the same table from every executor, in any order; seeds, optimizers, tables."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import haugmbd as mbd
from tests.support import sweep_cells as cells
from tests.support.sweep_cells import GRID, assert_same, build, run

N = 300
PENDULUMS = {"mass": [1.0, 2.5], "length": [0.5, 0.75]}


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
    assert_same(serial, mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, workers=1))
    for workers in (None, 1, 3):
        assert_same(serial, mbd.sweep(cells.build_pendulum, PENDULUMS, cells.run_pendulum, "threads", workers=workers))


@pytest.mark.slow
def test_processes_of_the_library_and_of_an_executor_give_the_table_of_one_process(table):
    assert_same(table, mbd.sweep(build, GRID, run, workers=2))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert_same(table, mbd.sweep(build, GRID, run, processes))


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
