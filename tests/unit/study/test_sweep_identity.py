"""A store gives no rows of a study whose functions read another value: it is refused, or runs, whatever the value and the way to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, peaucellier
from tests.support.enclosed_values import READERS, drawn_value, system_of_law
from tests.support.sweep_cells import build, module_path, run

CELL = [{"x": 1}]


def build_one(x):
    return x


def swept(run, store, **options):
    return mbd.sweep(build_one, CELL, run, "serial", store=store, **options)["y"].tolist()


def refuses_or_runs(seed, folder):
    """Draw a value of a random kind and a reader; the same study reads its rows, and that of another value does not get them."""
    reader = READERS[seed % len(READERS)]
    (two, layers), (again, _), (three, _) = (drawn_value(np.random.default_rng([11, seed]), k) for k in (2, 2, 3))
    what = f"{reader.__name__}: {' in '.join(layers)}"
    assert swept(reader(two, 2.0), folder) == [2.0], what
    assert swept(reader(again, 2.0), folder) == [2.0], what
    before = (folder / "cells.jsonl").read_bytes()
    assert before.count(b"\n") == 2, what  # it has not run again
    with pytest.raises(mbd.UsageError, match=r"is that of another study: .*has changed"):
        pytest.fail(f"{what}: {swept(reader(three, 2.0), folder)} of another study")
    assert (folder / "cells.jsonl").read_bytes() == before, what


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_each_way_to_read_a_value(reader, tmp_path):
    refuses_or_runs(READERS.index(reader), tmp_path)


@pytest.mark.slow
def test_studies_whose_functions_differ_in_one_value(tmp_path):
    for seed in range(60):
        refuses_or_runs(seed, tmp_path / str(seed))


def test_build_and_method_count_as_run_does(tmp_path):
    def make(gains):
        def build_scaled(x):
            return gains["k"][0] * x

        return build_scaled

    def run_y(x, method=None):
        return {"y": x}

    def go(gain, store, **options):
        gains = {"k": [np.float32(gain)]}
        return mbd.sweep(make(gains), CELL, run_y, "serial", store=store, **options)["y"].tolist()

    assert go(2.0, tmp_path / "build") == [2.0]
    with pytest.raises(mbd.UsageError, match=r"read by build, .*make.*build_scaled, has changed: 'gains' \(dict\)"):
        go(3.0, tmp_path / "build")
    assert go(2.0, tmp_path / "method", method=np.array([1.0])) == [2.0]
    with pytest.raises(mbd.UsageError, match="read by method"):
        go(2.0, tmp_path / "method", method=np.array([2.0]))


def test_a_number_that_differs_is_shown(tmp_path):
    def make(gain):
        return lambda x: {"y": gain * x}

    assert swept(make(2.0), tmp_path) == [2.0]
    with pytest.raises(mbd.UsageError, match=r"has changed: 'gain' was 2.0, is 3.0\."):
        swept(make(3.0), tmp_path)


def test_a_model_counts_with_the_laws_of_its_parts(tmp_path):
    def run_torque(model):
        return {"y": float(mbd.simulate(model, 0.01, h=1e-2).t[-1])}

    def go(gain):
        return mbd.sweep(system_of_law(gain), {"bob.mass": [1.0]}, run_torque, "serial", store=tmp_path)

    assert go(2.0).rows == go(2.0).rows
    with pytest.raises(mbd.UsageError, match=r"build, Model, has changed: \"law of Torque 'motor'\""):
        go(3.0)


def test_what_cannot_be_compared_is_refused_unless_a_version_stands_for_it(tmp_path):
    with open(os.devnull, "w") as log:

        def run_logged(x):
            log.write(str(x))
            return {"y": 2.0}

        assert mbd.sweep(build_one, CELL, run_logged, "serial")["y"].tolist() == [2.0]  # rows in memory are of this call alone
        with pytest.raises(mbd.UsageError, match=r'run reads log: a _io.TextIOWrapper, .*Give version="1"'):
            swept(run_logged, tmp_path)
        assert list(tmp_path.iterdir()) == []
        assert swept(run_logged, tmp_path, version="1") == swept(run_logged, tmp_path, version="1") == [2.0]
        with pytest.raises(mbd.UsageError, match="version was '1', is '2'"):
            swept(run_logged, tmp_path, version="2")


def test_a_version_does_not_hide_a_value_that_differs(tmp_path):
    def make(gain):
        return lambda x: {"y": gain[0] * x}

    assert swept(make([2.0]), tmp_path, version="1") == [2.0]
    with pytest.raises(mbd.UsageError, match="'gain'"):
        swept(make([3.0]), tmp_path, version="1")


def test_a_store_of_the_older_format_is_refused(tmp_path):
    mbd.sweep(build, {"x": [1], "y": [2]}, run, "serial", store=tmp_path)
    head, *rows = (tmp_path / "cells.jsonl").read_text().splitlines()
    record = json.loads(head) | {"sweep": 1}
    del record["check"]
    record["check"] = f"{zlib.crc32(json.dumps(record).encode()):08x}"
    (tmp_path / "cells.jsonl").write_text("\n".join([json.dumps(record), *rows, ""]))
    with pytest.raises(mbd.UsageError, match=r"has format 1, whose studies do not hold the values .* Give another store"):
        mbd.sweep(build, {"x": [1], "y": [2]}, run, "serial", store=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("make", [peaucellier, double_pendulum, lambda: system_of_law(2.0)], ids=["redundant", "regular", "law"])
def test_systems_models_and_results_are_the_same_after_they_were_used(make, tmp_path):
    system = make()
    model = system.compile()
    result = mbd.simulate(model, 0.002, h=1e-3)

    def run_all(x):
        other = mbd.simulate(system, 0.002, h=1e-3)
        used = [model.explain(), result.energy(), result.lam, mbd.mobility(system), mbd.accelerations(model, model.state())]
        return {"y": len(other) + 0 * len(used)}

    assert swept(run_all, tmp_path) == swept(run_all, tmp_path) == [3]
    assert (tmp_path / "cells.jsonl").read_bytes().count(b"\n") == 2


CHANGED_GLOBAL = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import haugmbd as mbd
GAIN = 2.0
def build(x): return x
def run(x): return {"y": GAIN * x}
if __name__ == "__main__":
    said = []
    for GAIN in (2.0, 3.0):
        for executor in (None, ProcessPoolExecutor(1, mp_context=get_context("spawn"))):
            try:
                said.append(mbd.sweep(build, {"x": [1.0]}, run, executor, workers=1)["y"].tolist())
            except (mbd.UsageError, mbd.SimulationError) as error:
                said.append("'GAIN', which run reads, is another value in a worker process" in str(error))
    print(said)
"""


@pytest.mark.slow
def test_worker_processes_do_not_run_with_another_value_of_a_global(tmp_path):
    """They import the script anew: the value that it has set since is not there."""
    (tmp_path / "study.py").write_text(CHANGED_GLOBAL)
    ended = subprocess.run([sys.executable, tmp_path / "study.py"], capture_output=True, text=True, env=os.environ | module_path())
    assert ended.stdout.strip() == "[[2.0], [2.0], True, True]", ended.stderr
