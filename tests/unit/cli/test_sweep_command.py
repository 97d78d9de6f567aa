"""haugmbd sweep: rows against runs of single models; stores, failures, and arguments that are not valid."""

from __future__ import annotations

import csv
import importlib
import json
import math
import sys

import pytest

import haugmbd as mbd
from haugmbd import Row, Sweep
from haugmbd.cli import main
from haugmbd.cli import studies as command
from haugmbd.cli.studies import values_of
from haugmbd.study.sweeps.table import pending_row

MODEL = """
format = "haugmbd model 1"
name = "bar"
gravity = [0, 0, -9.81]

[parameters]
length = 2.0
mass = "3 * length"

[[bodies]]
name = "bar"
mass = "mass"
J_bar = [0.01, "mass * length**2 / 12", "mass * length**2 / 12"]
r = ["length / 2", 0, 0]

[[joints]]
type = "RJ"
name = "pin"
i = "ground"
j = "bar"
point = [0, 0, 0]
axis = [0, 1, 0]
"""
PROGRAM = """
import haugmbd as mbd
from joints import RJ


def system(length, mass=1.0):
    made = mbd.System("bar", gravity=(0, 0, -9.81))
    bar = made.add(mbd.Body("bar", mass, (0.01, mass * length**2 / 12, mass * length**2 / 12), r=(length / 2, 0, 0)))
    made.add(RJ("pin", made.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return made
"""
SHORT = ("--t-end", "0.1", "--h", "0.01", "--body", "bar")


def said(capsys, *argv):
    code = main.main([str(arg) for arg in argv])
    out, error = capsys.readouterr()
    return code, out, error


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(MODEL)
    return path


def test_rows_are_those_of_single_runs(model, tmp_path, capsys):
    table = tmp_path / "table.csv"
    code, out, _ = said(capsys, "sweep", model, "--set", "length=1,2", "--set", "mass=1:2:2", *SHORT, "--out", table)
    assert code == 0
    assert f"wrote {table}" in out
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(float(row["length"]), float(row["mass"])) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    for row in rows:
        system = mbd.load_model(model, parameters={"length": float(row["length"]), "mass": float(row["mass"])})
        result = mbd.simulate(system, 0.1, h=0.01)
        assert float(row["bar.z"]) == result["bar"].r[-1, 2]
        # J theta'' = m g l / 2 with J = m l^2 / 3: theta = 3 g t^2 / (4 l) at first
        angle = 3.0 * 9.81 / (2.0 * float(row["length"])) * 0.1**2 / 2.0
        assert float(row["bar.z"]) == pytest.approx(-0.5 * float(row["length"]) * math.sin(angle), rel=1e-2)


def test_a_python_file_and_the_gallery(tmp_path, capsys):
    path = tmp_path / "bar.py"
    path.write_text(PROGRAM)
    code, out, _ = said(capsys, "sweep", path, "--set", "length=2", *SHORT, "--json")
    data = json.loads(out)
    assert (code, data["ok"]) == (0, True)
    (tmp_path / "bar.toml").write_text(MODEL)
    _, out, _ = said(capsys, "sweep", tmp_path / "bar.toml", "--set", "length=2", *SHORT, "--json")
    assert json.loads(out)["rows"][0]["values"]["bar.z"] == pytest.approx(data["rows"][0]["values"]["bar.z"], rel=1e-12)
    assert said(capsys, "sweep", "chain", "--set", "nope=2", *SHORT)[0] == 2


def test_a_store_goes_on_and_a_changed_file_is_another_study(model, tmp_path, capsys):
    argv = ("sweep", model, "--set", "length=1,2", *SHORT, "--method", "NullSpace + RK4", "--store", tmp_path / "store")
    code, first, _ = said(capsys, *argv)
    assert code == 0
    assert said(capsys, *argv)[:2] == (0, first)
    model.write_text(MODEL.replace("-9.81", "-1.62"))
    code, _, error = said(capsys, *argv)
    assert code == 2
    assert "another" in error


@pytest.mark.parametrize("law", ["helper of a Python file", "function of a model file"])
def test_a_store_belongs_to_the_code_that_a_file_calls(law, tmp_path, capsys, monkeypatch):
    """In another file, which the text of the model does not show."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"laws_of_a_user_{len(law)}"

    def write(gain):
        (tmp_path / f"{name}.py").write_text(
            f"GAIN = {gain}\ndef mass(length):\n    return GAIN * length\ndef push(t, r, p, v, w):\n    return (0, 0, GAIN)\n"
        )
        sys.modules.pop(name, None)
        importlib.invalidate_caches()

    if law.startswith("helper"):
        model, more = tmp_path / "bar.py", ()
        model.write_text(PROGRAM.replace("import RJ", f"import RJ\nfrom {name} import mass as mass_of") + "\n")
        model.write_text(
            model.read_text()
            .replace("mass=1.0", "mass=2.0")
            .replace("    made = mbd", "    mass = mass_of(length)\n    made = mbd")
        )
    else:
        model, more = tmp_path / "bar.toml", ("--allow-code",)
        load = f'[[loads]]\ntype = "PointForce"\nname = "push"\nbody = "bar"\nforce = {{function = "{name}:push"}}\n'
        model.write_text(f"{MODEL}\n{load}")
    argv = ("sweep", model, "--set", "length=1,2", *SHORT, "--store", tmp_path / "store", *more)
    write(2.0)
    code, first, error = said(capsys, *argv)
    assert code == 0, error
    assert said(capsys, *argv)[:2] == (0, first)
    write(300.0)
    code, out, error = said(capsys, *argv)
    assert (code, "is that of another study" in error) == (2, True), out


def test_cells_that_have_not_run_are_one_line(tmp_path, capsys, monkeypatch):
    cells = tuple({"length": float(k)} for k in range(1, 41))
    rows = (Row("ok", {"steps": 1.0}), Row("failed", reason="a bad cell"), *(pending_row() for _ in range(38)))
    monkeypatch.setattr(command, "sweep", lambda *_, **__: Sweep(cells, rows, ("length",), "store", interrupted=True))
    (tmp_path / "bar.toml").write_text(MODEL)
    code, out, _ = said(capsys, "sweep", tmp_path / "bar.toml", "--set", "length=1:40:40", *SHORT)
    assert code == 1
    assert [line for line in out.splitlines() if "have not run" in line] == [
        "interrupted: 38 of 40 cells have not run; the same command continues"
    ]
    assert out.count("pending") == 1  # in the line of counts
    assert "failed: length=2.0: failed: a bad cell" in out


def test_cells_that_fail_are_rows(tmp_path, capsys):
    path = tmp_path / "bar.py"
    path.write_text(PROGRAM)
    code, out, _ = said(capsys, "sweep", path, "--set", "length=2,-1", "--set", "mass=1,-1", *SHORT)
    assert code == 1
    assert "failed: " in out
    assert "mass is -1.0 kg" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (("--set", "lenght=1"), "has no parameter 'lenght' (did you mean 'length'?)"),
        (("--set", "length"), "is not NAME=a,b,c or NAME=start:stop:count"),
        (("--set", "length=1:2:0"), "is not NAME="),
        (("--set", "length=1,nan"), "is not NAME="),
        ((), "--set NAME=VALUES is needed"),
        (("--set", "length=1", "--set", "length=2"), "once for each parameter"),
        (("--set", "length=1:2:1000", "--set", "mass=1:2:1000"), "1000000 cells"),
        (("--set", "length=1", "--method", "RK5"), "RK5"),
        (("--set", "length=1", "--out", "table.txt"), "the table is a .csv file"),
        (("--set", "length=1", "--workers", "0"), "workers"),
        (("--set", "length=1", "--body", "bra"), "no body is called 'bra'"),
        (("--set", "length=1", "--tolerance", "0.5"), "tolerance"),
    ],
)
def test_arguments_that_are_not_valid(argv, what, model, capsys):
    code, _, error = said(capsys, "sweep", model, *argv)
    assert code == 2
    assert what in error


def test_models_that_cannot_be_swept(tmp_path, capsys):
    code, _, error = said(capsys, "sweep", tmp_path / "none.toml", "--set", "a=1", "--json")
    assert code == 2
    assert "no mechanism of the gallery" in error
    path = tmp_path / "bar.py"
    path.write_text("system = 3\n")
    assert "must define a function system(a)" in said(capsys, "sweep", path, "--set", "a=1")[2]


def test_values_are_whole_numbers_where_the_builder_takes_such(tmp_path, capsys):
    code, out, _ = said(
        capsys, "sweep", "windows", "--set", "n=1,2", "--set", "lean=0.5", "--body", "upright 1", *SHORT[:4], "--json"
    )
    assert code == 0
    assert [row["status"] for row in json.loads(out)["rows"]] == ["ok", "ok"]
    code, _, error = said(capsys, "sweep", "windows", "--set", "m=1")
    assert code == 2
    assert "windows has no parameter 'm'" in error
    assert "its parameters are 'n', " in error


LOOP = """
import numpy as np

import haugmbd as mbd
from joints import RJ


def system(tilt):
    made = mbd.System("loop", gravity=(0, -9.81, 0))
    points = [np.array(point) for point in ((0.0, 0, 0), (0, 0.2, 0), (0.5, 0.35, 0), (0.6, 0, 0))]
    bars = [made.add(mbd.Body(f"bar{k}", 1.0, (0.01, 0.01, 0.01), r=(points[k] + points[k + 1]) / 2)) for k in range(3)]
    ends = [made.ground, *bars, made.ground]
    for k, point in enumerate(points):
        made.add(RJ(f"pin{k}", ends[k], ends[k + 1], point=point, axis=(0, tilt * (k == 1), 1)))
    return made
"""


@pytest.mark.slow
def test_the_tolerance_reaches_every_cell_and_is_part_of_the_study(tmp_path, capsys):
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    given = (
        "sweep",
        path,
        "--set",
        "tilt=0,4e-3",
        "--t-end",
        "0.02",
        "--h",
        "0.01",
        "--body",
        "bar0",
        "--store",
        tmp_path / "rows",
    )
    code, out, _ = said(capsys, *given, "--tolerance", "1e-2", "--json")
    flat, tilted = (row["values"]["bar0.x"] for row in json.loads(out)["rows"])
    assert code == 0
    assert tilted == pytest.approx(flat, rel=1e-2)
    code, _, error = said(capsys, *given)
    assert code == 2
    assert "is that of another study" in error
    code, out, _ = said(capsys, *given[:-2], "--json")
    locked = json.loads(out)["rows"][1]["values"]["bar0.x"]
    assert abs(locked) < 1e-3 * abs(flat)


def test_values():
    assert values_of("a=1,2.5") == ("a", [1.0, 2.5])
    assert values_of("a=0:1:3") == ("a", [0.0, 0.5, 1.0])


def test_parameters_of_load_model(model):
    assert mbd.load_model(model, parameters={"length": 4.0})["bar"].mass == 12.0
    with pytest.raises(mbd.UsageError, match=r"parameters: 'length' is 'x' \(str\), must be a finite number"):
        mbd.load_model(model, parameters={"length": "x"})
