"""The command `check`: its report, its exit codes, and what it says where there is nothing to check."""

from __future__ import annotations

from pathlib import Path

import pytest

from haugmbd.cli import main
from haugmbd.gallery import GALLERY

DOOR = """
import haugmbd as mbd
from joints import RJ


def system():
    system = mbd.System("door")
    door = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0)))
    for name, z in (("lower", -0.8), ("upper", 0.8)):
        system.add(RJ(name, system.ground, door, point=(0, 0, z), axis=(0, 0, 1)))
    return system
"""

RODS = """
import haugmbd as mbd
from joints import Distance

system = mbd.System("rods")
bob = system.add(mbd.Body("bob", 1.0, (1.0, 1.0, 1.0), r=(1, 0, 0)))
for name, length in (("short", 1.0), ("long", 1.25)):
    system.add(Distance(name, system.ground, bob, point_i=(0, 0, 0), point_j=(1, 0, 0), distance=length))
"""


def write(folder: Path, text: str) -> str:
    path = folder / "mechanism.py"
    path.write_text(text)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [make.__name__ for make in GALLERY])
def test_the_gallery_is_fine(name, capsys):
    assert main.main(["check", name]) == 0
    said = capsys.readouterr().out
    assert said.startswith("mobility of ")
    assert "degrees of freedom" in said


def test_a_function_in_a_file(tmp_path, capsys):
    assert main.main(["check", write(tmp_path, DOOR)]) == 0
    said = capsys.readouterr().out
    assert "5 of 10 rows" in said
    assert "'lower', 'upper'" in said
    assert "'door' turns 1 about z at (0, 0, 0)" in said


@pytest.mark.slow
def test_a_conflict_is_exit_code_1(tmp_path, capsys):
    assert main.main(["check", write(tmp_path, RODS)]) == 1
    said = capsys.readouterr().out
    assert "'short', 'long'" in said
    assert "CONFLICTING by 0.25 m" in said


def test_the_file_is_not_run_as_a_program_and_may_import_its_neighbour(tmp_path, capsys):
    (tmp_path / "its_neighbour.py").write_text(DOOR)
    text = "from its_neighbour import system\nif __name__ == '__main__':\n    raise SystemExit('was run')\n"
    assert main.main(["check", write(tmp_path, text)]) == 0
    assert "5 of 10 rows" in capsys.readouterr().out


def test_a_mistake_at_a_call_is_exit_code_1_with_its_line(tmp_path, capsys):
    text = DOOR.replace("system.add(RJ(name, system.ground, door,", "system.add(RJ(name, system.ground, 'door',")
    path = write(tmp_path, text)
    assert main.main(["check", path]) == 1
    said = capsys.readouterr().err
    assert f"{path}, line 10: " in said
    assert "'door'" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\n", "does not define `system`"),
        ("system = 3\n", "defines int, not a System, as `system`"),
        ("def system():\n    return None\n", "does not define `system`"),
        ("def system():\n    return 1 / 0\n", "line 2 raises ZeroDivisionError"),
        ("import nowhere_to_be_found\n", "line 1 raises ModuleNotFoundError"),
        ("system = (\n", "raises SyntaxError"),
        ("raise SystemExit(3)\n", "line 1 raises SystemExit: 3"),
    ],
)
def test_what_cannot_be_checked_is_exit_code_2(text, sentence, tmp_path, capsys):
    assert main.main(["check", write(tmp_path, text)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.startswith("haugmbd: ")
    assert captured.err.count("\n") <= 2


def test_what_is_no_file(capsys):
    assert main.main(["check", "nowhere.py"]) == 2
    assert "'nowhere.py' is neither a file nor a mechanism of the gallery; `haugmbd gallery` lists" in capsys.readouterr().err
    assert main.main(["check", "penduulm"]) == 2
    assert "'penduulm' is neither a file nor a mechanism of the gallery (did you mean 'pendulum'?)" in capsys.readouterr().err
    assert main.main(["check"]) == 2
    assert "required" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run.npz", "MODEL.JSON", "model", "model.txt"])
def test_only_python_files_are_executed(name, tmp_path, capsys):
    """A result, and whatever has an unknown ending, was executed as Python."""
    (tmp_path / name).write_text("raise SystemExit('executed')")
    assert main.main(["check", str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert "executed" in told.split(":")[-1]
    assert "a model is a file .json, .toml" in told
    assert "executing" not in told
