"""The labs run, their solutions pass their own checks, and the students' version has no solutions."""

from __future__ import annotations

import ast
import re
import runpy
from contextlib import nullcontext
from pathlib import Path

import pytest

import haugmbd as mbd
from haugmbd import labs
from haugmbd.labs import hand_out

pyplot = pytest.importorskip("matplotlib.pyplot")

HAND_OUT = Path(__file__).resolve().parents[2] / "examples" / "labs" / "hand_out.py"
WARNS_OF = {"lab5": "energy should stay, and drifts"}
"""Labs that show a run which the library warns of, and its words."""

FILES = {f"lab{int(path.stem[3:5])}": path for path in hand_out.texts()}


@pytest.fixture(autouse=True)
def quiet(monkeypatch, tmp_path):
    """In a folder of its own, without windows, and with figures closed at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda *args, **kwargs: None)
    yield
    pyplot.close("all")


def test_every_lab_has_a_file_and_checks():
    assert list(FILES) == list(labs.LABS)
    for path in FILES.values():
        text = path.read_text()
        assert text.startswith("# %% [markdown]\n# # Lab ")
        assert "## Theory in a screenful" in text
        assert "## Exercises" in text


@pytest.mark.slow
@pytest.mark.parametrize("lab", FILES)
def test_the_lab_runs_and_its_solutions_are_right(lab, capsys):
    with pytest.warns(mbd.RunWarning, match=WARNS_OF[lab]) if lab in WARNS_OF else nullcontext():
        left = runpy.run_path(str(FILES[lab]))
    assert set(left["answers"]) == set(labs.LABS[lab].exercises)
    report = labs.check(lab, left["answers"])
    assert report.ok, report
    assert pyplot.get_fignums() or lab == "lab1"
    assert f"{lab}, " in capsys.readouterr().out


@pytest.mark.parametrize("lab", FILES)
def test_students_get_the_questions_and_not_the_solutions(lab):
    text = FILES[lab].read_text()
    handed = hand_out.student_version(text)
    ast.parse(handed)
    assert 'tags=["solution"]' not in handed
    for solution in re.findall(r'^# %% tags=\["solution"\]\n(.*?)(?=^# %%)', text, flags=re.DOTALL | re.MULTILINE):
        lines = [line for line in solution.splitlines() if line.startswith("answers[")]
        assert lines
        for line in lines:
            assert line not in handed.splitlines()
    asked = set(re.findall(r'^answers\["([^"]+)"\] = \.\.\.', handed, flags=re.MULTILINE))
    assert asked == set(labs.LABS[lab].exercises)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_students_version_runs_before_it_is_answered(tmp_path, capsys):
    path = tmp_path / "lab1.py"
    path.write_text(hand_out.student_version(FILES["lab1"].read_text()))
    left = runpy.run_path(str(path))
    assert set(left["answers"].values()) == {...}
    assert "0 of 4 right" in capsys.readouterr().out
