"""The command: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys

import pytest

from haugmbd import __version__
from haugmbd.cli import main
from haugmbd.cli import shown as demo
from haugmbd.cli.completion import commands_of
from haugmbd.cli.model_argument import by_name
from haugmbd.cli.parser import SIX, gallery_names, parser
from haugmbd.study.comparison import report
from tests.support.pictures import coarse_pictures

PLOTS = {"violation.png", "energy.png", "coordinates.png", "reactions.png"}


@pytest.mark.slow
def test_demo_prints_the_model_the_figures_and_the_published_values_and_writes_the_plots(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report, "_figures", lambda comparison: "")  # tests of the report draw them
    with coarse_pictures():
        assert main.main(["demo", "--out", str(tmp_path / "plots"), "--t-end", "1"]) == 0
    said = capsys.readouterr().out
    assert "18 - 17 = 1" in said
    assert "2000 steps of 0.0005 s" in said
    violations = [float(value) for value in re.findall(r"violation, \w+ +(\S+)", said)]
    assert len(violations) == 3
    assert max(violations[:2]) <= 1e-12  # projected to 1e-13 at every step
    assert violations[2] <= 1e-8  # of accelerations of about 1e2: 1e-10 relative
    assert float(re.search(r"energy drift +(\S+) J", said)[1]) <= 1e-8  # of 0.7 J: RK4 at this step
    gaps = [float(value) for value in re.findall(r"at 1 s .* difference +(\S+)", said)]
    assert len(gaps) == 2
    assert max(map(abs, gaps)) <= 1e-8
    assert "at 5 s" not in said
    assert float(re.search(r"CPU time +(\S+) us a step", said)[1]) > 0.0
    assert {file.name for file in (tmp_path / "plots").iterdir()} == PLOTS | {"slider_crank.html", "comparison.html"}
    assert said.count("completed") == len(SIX) == 6
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in (tmp_path / "plots").glob("*.png"))


@pytest.mark.slow
def test_a_value_that_is_missed_is_said_and_fails(tmp_path, capsys, monkeypatch):
    off = demo.FREE[1]._replace(t=0.01, value=demo.FREE[1].value + 1.0)
    monkeypatch.setattr(demo, "FREE", (off,))
    for drawing in ("_write_plots", "_compare"):
        monkeypatch.setattr(demo, drawing, lambda *given: None)
    assert main.main(["demo", "--out", str(tmp_path), "--t-end", "0.01"]) == 1
    assert "TOO FAR" in capsys.readouterr().out


@pytest.mark.slow
def test_the_help_of_each_command_says_what_it_does(capsys):
    main.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    for command in commands_of(parser()):
        assert main.main([command, "--help"]) == 0
        first = " ".join(capsys.readouterr().out.split("\n\n")[1].split())
        assert first.removesuffix(".")[1:] in said


def test_info_says_versions_cache_and_threads(capsys):
    assert main.main(["info"]) == 0
    said = capsys.readouterr().out
    assert f"haugmbd {__version__}" in said
    for package in ("numpy", "scipy", "numba", "numpy-quaternion"):
        assert re.search(rf"  {package} +\d+\.\d+", said)
    assert re.search(r"cache +\S+", said)
    assert "threads" in said


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["dance"], "invalid choice: 'dance'"),
        ([], "the following arguments are required: command"),
        (["demo", "--t-end", "soon"], "'soon' is not a time"),
        (["demo", "--t-end", "-1"], "'-1' is not a time"),
        (["demo", "--t-end", "nan"], "'nan' is not a time"),
        (["demo", "--speed=3"], "unrecognized arguments: --speed=3"),
    ],
)
def test_a_bad_command_line_gets_one_sentence_and_exit_code_2(argv, sentence, capsys):
    assert main.main(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert sentence in said.err


def test_a_folder_that_cannot_be_written_gets_one_sentence_before_anything_is_computed(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("in the way")
    assert main.main(["demo", "--out", str(file / "plots")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "--out" in said.err
    assert str(file) in said.err


def test_help_is_no_error(capsys):
    assert main.main(["--help"]) == 0
    assert "demo" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_traceback():
    """As in `haugmbd info | head -1`."""
    command = [sys.executable, "-m", "haugmbd.cli.main", "info"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert said == ""
    assert process.returncode == 1


def test_the_command_runs_as_a_process_and_hands_its_exit_code_on(monkeypatch, capsys):
    """As `python -m haugmbd.cli.main dance`, without another process."""
    monkeypatch.setattr(sys, "argv", ["haugmbd", "dance"])
    monkeypatch.delitem(sys.modules, "haugmbd.cli.main")  # else `runpy` warns that it runs twice
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("haugmbd.cli.main", run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("haugmbd: ")


def test_a_doubtful_run_is_said_once(capsys):
    """In the text, and not by a line of the command's own code besides."""
    assert main.main(["run", "pendulum", "--t-end", "2", "--h", "0.5"]) == 0
    told = capsys.readouterr()
    assert told.out.count("a body turns by more than 1 rad") == 1
    assert told.err == ""


@pytest.mark.filterwarnings("always")
def test_warnings_are_printed_without_a_line_of_code(tmp_path, capsys):
    import haugmbd as mbd  # noqa: PLC0415
    from joints import Fixed  # noqa: PLC0415

    system = mbd.System("frame")
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1)))
    system.add(Fixed("weld", system.ground, body))
    path = system.save(tmp_path / "frame.json")
    assert main.main(["run", str(path), "--t-end", "0.01", "--h", "0.01"]) == 0
    assert capsys.readouterr().err.startswith("haugmbd: LockedModelWarning: ")


@pytest.mark.parametrize("arguments", [["info"], ["run", "pendulum", "--t-end", "soon"], ["run"], ["gallery", "--colour"]])
def test_json_is_one_object_with_ok(arguments, capsys):
    """Of `info` without a model, and of arguments that are not valid, too."""
    code = main.main([*arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is (code == 0)
    assert ("error" in told) is (code == 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv", [["--version"], ["--help"], ["run", "--help"], ["completion", "bash"], ["dance"], ["run", "--colour"]]
)
def test_what_needs_no_engine_imports_none(argv):
    """Neither NumPy nor the compiler: an answer takes the time of starting Python."""
    program = (
        f"import sys; from haugmbd.cli.main import main; main({argv!r}); print(sorted({{'numpy', 'numba'}} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("wrong", "meant"), [("rum", "run"), ("simulate", "run"), ("galery", "gallery")])
def test_a_wrong_command_says_which_one_was_meant(wrong, meant, capsys):
    assert main.main([wrong]) == 2
    told = capsys.readouterr().err
    assert f"invalid choice: '{wrong}'" in told
    assert (f"did you mean '{meant}'" in told) == (wrong != "simulate")


def test_the_names_of_the_gallery_are_those_of_its_list():
    assert gallery_names() == list(by_name())
