"""A store gives no rows of a study whose functions read another value: it is refused, or runs, whatever the value and the way to it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

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


NAME, FOLDER, IN_A_TABLE = "number.txt", "data", {"table": ["data/number.txt"]}


def number_in(path):
    with open(path, encoding="utf-8") as stream:
        return float(stream.read())


def in_a_helper(x):
    return {"y": float(np.loadtxt("number.txt"))}


class Reader:
    def __init__(self, path):
        self.path = path

    def __call__(self, x):
        return {"y": number_in(self.path)}


WAYS_TO_A_FILE = {
    "constant": lambda: lambda x: {"y": number_in("number.txt")},
    "global": lambda: lambda x: {"y": number_in(NAME)},
    "folder": lambda: lambda x: {"y": number_in(Path(FOLDER) / "number.txt")},
    "joined": lambda: lambda x: {"y": number_in(os.path.join(FOLDER, NAME))},
    "text": lambda: lambda x: {"y": number_in(f"{FOLDER}/number.txt")},
    "table": lambda: lambda x: {"y": number_in(IN_A_TABLE["table"][0])},
    "enclosed path": lambda: (lambda path: lambda x: {"y": number_in(path)})(Path("number.txt")),
    "default": lambda: lambda x, path="number.txt": {"y": number_in(path)},
    "called function": lambda: lambda x: {"y": in_a_helper(x)["y"]},
    "partial": lambda: functools.partial(lambda x, path: {"y": number_in(path)}, path="number.txt"),
    "object": lambda: Reader("number.txt"),
}


@pytest.mark.parametrize("way", WAYS_TO_A_FILE)
def test_the_content_of_a_file_counts_that_a_text_names(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for content, rows in (("2.0", [2.0]), ("2.0", [2.0]), ("3.0", None)):
        (tmp_path / "number.txt").write_text(content)
        (tmp_path / "data" / "number.txt").write_text(content)
        if rows is None:
            with pytest.raises(mbd.UsageError, match="is that of another study"):
                swept(WAYS_TO_A_FILE[way](), "store")
        else:
            assert swept(WAYS_TO_A_FILE[way](), "store") == rows


def test_the_content_of_a_file_that_a_cell_names_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in (2.0, 2.0, 3.0):
        (tmp_path / "number.txt").write_text(f"{content}")
        rows = mbd.sweep(lambda file: file, [{"file": "number.txt"}], lambda path: {"y": number_in(path)}, "serial", store="store")
        assert rows["y"].tolist() == [content]


def test_a_file_that_a_function_writes_does_not_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def logged(x):
        with open("log.txt", "a", encoding="utf-8") as stream:
            stream.write(f"{x}\n")
        return {"y": x}

    assert [swept(logged, "store") for _ in range(2)] == [[1], [1]]
    assert (tmp_path / "log.txt").read_text() == "1\n"
