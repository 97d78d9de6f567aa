"""`labs.grade`: every file of a folder runs by itself, and one that fails is a row."""

from __future__ import annotations

import ast
import importlib
import json
import os
import signal
import time
from threading import Thread

import pytest

import haugmbd as mbd
from haugmbd.labs import grade
from haugmbd.labs.hand_out import program_of
from haugmbd.simulation.stepping.progress import Progress

PROGRAM = "import haugmbd as mbd\nprint(mbd.labs.check('lab9', {'sweet spot': SPOT, 'elbow': ...}))\n"
CHECKED = """
import json, os
line = {"lab": THE_LAB, "findings": [["sweet spot", "right" if SPOT else "not yet", ""]]}
with open(os.environ["HAUGMBD_LAB_RECORD"], "a") as file:
    file.write(json.dumps(line) + "\\n")
"""
"""What a program with a check leaves, without the import of the library, which takes most of its time."""


@pytest.mark.slow
def test_a_class_is_graded(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ada.py").write_text(PROGRAM.replace("SPOT", "2 / 3"))
    cells = [
        {"cell_type": "markdown", "source": ["no code"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", *PROGRAM.replace("SPOT", "0.5").splitlines(keepends=True)]},
    ]
    (folder / "bob.ipynb").write_text(json.dumps({"cells": cells}))
    (folder / "cy.py").write_text("raise ValueError('too late')\n")
    (folder / "dan.ipynb").write_text("{}")
    (folder / "notes.txt").write_text("not a program")
    grades = grade(folder, "lab9")
    assert [row[0] for row in grades.rows] == ["ada.py", "bob.ipynb", "cy.py", "dan.ipynb"]
    assert [grades.right(row[0]) for row in grades.rows] == [1, 0, 0, 0]
    assert [row[1]["sweet spot"] for row in grades.rows] == ["right", "not yet", "not answered", "not answered"]
    assert [row[2] for row in grades.rows] == ["", "", "ValueError: too late", "it is not a notebook: 'cells'"]
    lines = grades.to_csv(tmp_path / "grades.csv").read_text().splitlines()
    assert lines[0] == "file,sweet spot,elbow,rest,right,error"
    assert lines[1].startswith("ada.py,right,not answered,not answered,1")
    assert "too late" in str(grades)
    with pytest.raises(mbd.UsageError, match="no file is called 'eve.py'"):
        grades.right("eve.py")


NOTEBOOK = (
    "%%time\nx = (7\n    % 4)",
    "for _ in range(2):\n    %time y = 1\n!pip list\nmbd?\n?mbd",
    "%%bash\nrm no-such-file",
    "display(x)\nget_ipython().run_line_magic('matplotlib', 'inline')",
    CHECKED.replace("THE_LAB", "'lab9'").replace("SPOT", "abs(x - 3.0) < 1e-9"),
)


def test_what_only_a_notebook_has_is_left_out():
    text = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in NOTEBOOK[:4]]})
    program = program_of(text)
    ast.parse(program)
    assert "    % 4)" in program
    for command in ("%time", "pip", "mbd?", "rm no-such-file"):
        assert command not in program
    for bad in ("{}", "[]", '{"cells": [3]}', '{"cells": null}', "{"):
        with pytest.raises((ValueError, KeyError, TypeError)):
            program_of(bad)


@pytest.mark.slow
def test_files_of_all_editors_are_graded(tmp_path):
    program = CHECKED.replace("THE_LAB", "'lab9'").replace("SPOT", "True")
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbf" + program.encode())
    (tmp_path / "latin.py").write_bytes(f"# -*- coding: latin-1 -*-\n# \xe9\n{program}".encode("latin-1"))
    (tmp_path / "upper.IPYNB").write_text(json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in NOTEBOOK]}))
    grades = grade(tmp_path, "lab9")
    assert [(row[0], grades.right(row[0]), row[2]) for row in grades.rows] == [
        ("bom.py", 1, ""),
        ("latin.py", 1, ""),
        ("upper.IPYNB", 1, ""),
    ]


@pytest.mark.slow
def test_a_program_that_does_not_end_is_ended(tmp_path):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    ((_, states, reason),) = grade(tmp_path, "lab9", timeout=0.5).rows
    assert reason == "it took more than 0.5 s"
    assert set(states.values()) == {"not answered"}


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(mbd.UsageError, match="no lab is called"):
        grade(tmp_path, "lab0")
    with pytest.raises(mbd.UsageError, match="has no .py and no .ipynb"):
        grade(tmp_path, "lab1")
    with pytest.raises(mbd.UsageError, match="is not a folder"):
        grade(tmp_path / "nowhere", "lab1")
    with pytest.raises(mbd.UsageError, match="timeout"):
        grade(tmp_path, "lab1", timeout=0.0)
    for workers in (0, -1, 1.5, True, "2", None):
        with pytest.raises(mbd.UsageError, match="workers = .* must be a positive whole number"):
            grade(tmp_path, "lab1", workers=workers)


@pytest.mark.slow
def test_a_file_that_checks_another_lab_or_none_says_so(tmp_path):
    (tmp_path / "a.py").write_text("print(1)\n")
    (tmp_path / "b.py").write_text(CHECKED.replace("THE_LAB", "'lab1'").replace("SPOT", "False"))
    reasons = [row[2] for row in grade(tmp_path, "lab9").rows]
    assert reasons == ["it calls no check of lab9", "it calls no check of lab9, but of lab1"]


def test_after_ctrl_c_the_files_that_were_run_keep_their_rows(monkeypatch, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("")
    grade_module = importlib.import_module("haugmbd.labs.grade")
    began, shown = [], []

    def run(*_):
        began.append(0)
        if len(began) == 2:
            raise KeyboardInterrupt
        return "of a.py"

    monkeypatch.setattr(grade_module, "_run", run)
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)))
    found = grade(tmp_path, "lab9", progress=True)
    assert [(name, reason) for name, _, reason in found.rows] == [
        ("a.py", "of a.py"),
        ("b.py", "not run: Ctrl-C"),
        ("c.py", "not run: Ctrl-C"),
    ]
    assert shown == [(1, 3)]
    assert found.right("c.py") == 0
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        grade(tmp_path, "lab9", progress=1)


@pytest.mark.slow
def test_several_workers_give_the_same_table(tmp_path):
    for k in range(7):
        program = CHECKED.replace("THE_LAB", "'lab9'").replace("SPOT", str(k % 2 == 0))
        (tmp_path / f"student{k}.py").write_text(program if k != 4 else f"{program}\nraise ValueError('late')\n")
    (tmp_path / "wrong.ipynb").write_text("{}")
    alone = grade(tmp_path, "lab9")
    assert [alone.right(row[0]) for row in alone.rows] == [1, 0, 1, 0, 1, 0, 1, 0]
    assert grade(tmp_path, "lab9", workers=3) == alone
    assert grade(tmp_path, "lab9", workers=100) == alone


WAITS = """
import pathlib, subprocess, sys, time
later = "import time, pathlib; time.sleep(0.7); pathlib.Path(r'HERE/survived').write_text('')"
subprocess.Popen([sys.executable, "-c", later])
pathlib.Path(r"HERE/begun").write_text("")
time.sleep(120)
"""


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_known_and_ends_what_runs(tmp_path):
    """A real interrupt, while one of two workers waits for a program that does not end, and that began another one."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "a.py").write_text(CHECKED.replace("THE_LAB", "'lab9'").replace("SPOT", "True"))
    (folder / "b.py").write_text(WAITS.replace("HERE", str(tmp_path)))
    (folder / "c.py").write_text(WAITS.replace("HERE", str(tmp_path)))
    (folder / "d.py").write_text("")

    def interrupt() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        time.sleep(0.1)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its background jobs to ignore it
    try:
        Thread(target=interrupt, daemon=True).start()
        found = grade(folder, "lab9", workers=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [(name, reason) for name, _, reason in found.rows] == [
        ("a.py", ""),
        ("b.py", "not run: Ctrl-C"),
        ("c.py", "not run: Ctrl-C"),
        ("d.py", "not run: Ctrl-C"),
    ]
    assert found.right("a.py") == 1
    time.sleep(1.0)
    assert os.name == "nt" or not (tmp_path / "survived").exists()
