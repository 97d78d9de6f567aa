"""The command `haugmbd compare`, and methods as text."""

from __future__ import annotations

import csv
import json

import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.gallery import four_bar
from haugmbd.study.comparison import report
from haugmbd.study.method_text import method_from, names


@pytest.mark.slow
def test_the_command_writes_a_report_and_a_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report, "_figures", lambda comparison: "")  # tests of the report draw them
    out, table = tmp_path / "report.html", tmp_path / "table.csv"
    methods = ["RK4", "RK4 + None", "RATTLE", "DormandPrince(rtol=1e-9)"]
    argv = ["compare", "four_bar", "--methods", *methods, "--t-end", "0.05", "--h", "0.01", "--out", str(out), "--csv", str(table)]
    assert main.main(argv) == 0
    said = capsys.readouterr().out
    assert "RK4(h=0.01), no stabilization" in said
    assert "RATTLE(h=0.01): refused: RATTLE needs inertia about every axis" in said
    assert "RATTLE needs inertia about every axis" in out.read_text()
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["completed", "completed", "refused", "completed"]
    assert float(rows[0]["error_positions_end"]) > 0.0


@pytest.mark.parametrize(
    ("argv", "code", "sentence"),
    [
        (["nothing"], 2, "'nothing' is neither a file nor a mechanism of the gallery"),
        (["four_bar", "--methods", "RK5"], 2, "method 'RK5': there is no 'RK5' (did you mean 'RK"),
        (["four_bar", "--out", "report.pdf"], 2, "the report is an .html file"),
        (["four_bar", "--t-end", "0"], 2, "'0' is not a positive number"),
        (["four_bar", "--t-end", "0.01", "--methods", "RATTLE", "--reference", "RATTLE"], 1, "no reference possible"),
    ],
)
def test_what_cannot_be_done_is_said(argv, code, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main.main(["compare", *argv]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_as_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report, "_figures", lambda comparison: "")
    model, out = four_bar().save(tmp_path / "bar.json"), tmp_path / "report.html"
    argv = ["compare", str(model), "--methods", "RK4", "RATTLE", "--t-end", "0.02", "--h", "0.01", "--out", str(out), "--json"]
    assert main.main(argv) == 0
    data = json.loads(capsys.readouterr().out, parse_constant=lambda x: pytest.fail(f"{x} is not JSON"))
    assert data["ok"]
    assert [row["status"] for row in data["methods"].values()] == ["completed", "refused"]
    assert data["files"] == [str(out)]
    model.write_text("{}")
    assert main.main([*argv[:2], "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]


def test_a_text_is_a_method():
    for text, method in (
        ("RK4(h=1e-3)", mbd.Method(integrator=mbd.RK4(h=1e-3))),
        ("NullSpace(by=SVD()) + RK4", mbd.Method(formulation=mbd.NullSpace(by=mbd.SVD()), integrator=mbd.RK4())),
        ("Baumgarte(5, +0.0) + RK4(0.1)", mbd.Method(integrator=mbd.RK4(0.1), stabilization=mbd.Baumgarte(5, 0.0))),
        ("RK4 + Baumgarte.scaled(0.1, 0.2)", mbd.Method(integrator=mbd.RK4(), stabilization=mbd.Baumgarte.scaled(0.1, 0.2))),
        ("None+Heun", mbd.Method(integrator=mbd.Heun(), stabilization=None)),
        ("BDF(constraint_form=Index2, rtol=1e-6)", mbd.Method(integrator=mbd.BDF(constraint_form=mbd.Index2(), rtol=1e-6))),
        ("SciPySolver(method='LSODA')", mbd.Method(integrator=mbd.SciPySolver(method="LSODA"))),
        ("RangeSpace", mbd.Method(formulation=mbd.RangeSpace())),
    ):
        assert method_from(text) == method
    assert {kind.__name__ for kind in (mbd.RadauIIA, mbd.GGL, mbd.FullNewton, mbd.EnergyProjection, mbd.QR)} <= names().keys()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("RK4 +", "cannot be read"),
        ("RK4 + Heun", "has two parts of one kind (integrator)"),
        ("__import__('os')", "there is no '__import__'"),
        ("RK4(h=open('x'))", "there is no 'open'"),
        ("RK4(h=[x for x in 'a'])", "is not a name, number or text"),
        ("RK4(**{})", "cannot be read"),
        ("RK4, Heun", "each of several methods as a text of its own"),
        ("RK4(dt=1)", "did you mean 'h'"),
        ("Baumgarte", "Baumgarte needs arguments"),
        ("GGL", "GGL is not a formulation, integrator or stabilization"),
        ("RK4 + 3", "3 is not a formulation"),
        ("BDF + Projection", "BDF fulfils the constraints in its own step"),
    ],
)
def test_what_is_no_method_is_refused(text, sentence):
    with pytest.raises(mbd.UsageError, match="^method ") as raised:
        method_from(text)
    assert sentence in str(raised.value)
