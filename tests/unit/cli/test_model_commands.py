"""Commands with a MODEL: what they print and write, as text and as JSON, and their exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.cli import completion, main
from haugmbd.cli.answers import as_options
from haugmbd.cli.parser import parser
from haugmbd.gallery import four_bar, pendulum
from tests.support.model_files import BY_HAND

OPEN = """
import haugmbd as mbd
from joints import RJ

system = mbd.System("open")
bar = system.add(mbd.Body("bar", 1.0, (1, 1, 1), r=(1, 0, 0)))
system.add(RJ.from_vectors("pin", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), bar, (-0.9, 0, 0), (0, 0, 1)))
"""
GAP = 0.1
"""[m] Distance of the points of the pin in OPEN."""


def said(capsys, *argv):
    """Exit code, standard output and standard error of a command."""
    code = main.main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def by_hand(tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(BY_HAND)
    return path


@pytest.mark.slow
def test_run_takes_any_method_its_numbers_and_what_is_stored(capsys):
    """As `compare` does: formulation, integrator and stabilization in one text."""
    code, text, _ = said(
        capsys, "run", "pendulum", "--t-end", "0.1", "--h", "0.01", "--method", "NullSpace + RK4 + Baumgarte(5, 5)", "--json"
    )
    told = json.loads(text)
    method = {"formulation": mbd.NullSpace(), "integrator": mbd.RK4(), "stabilization": mbd.Baumgarte(5, 5)}
    python = mbd.simulate(pendulum(), 0.1, h=0.01, **method)
    assert code == 0
    assert told["settings"] == json.loads(json.dumps(python.settings))
    assert told["bodies"][python.names.bodies[1]]["r"] == python.r[-1, 1].tolist()
    for given, wrong in (
        (("--method", "rk4"), "did you mean 'RK4'"),
        (("--method", "RK4(h=0.01)", "--h", "0.1"), "give one of them"),
        (("--method", "RK4", "--rtol", "1e-6"), "no error control"),
        (("--store-every", "0"), "'0' is not a whole number"),
    ):
        code, _, error = said(capsys, "run", "pendulum", *given)
        assert code != 0
        assert wrong in error


@pytest.mark.slow
def test_store_every_and_budget_of_run(tmp_path, capsys):
    out = tmp_path / "run.npz"
    assert said(capsys, "run", "pendulum", "--t-end", "0.1", "--h", "0.01", "--store-every", "5", "--out", out)[0] == 0
    np.testing.assert_allclose(mbd.load(out).t, [0.0, 0.05, 0.1], rtol=1e-14)
    code, text, _ = said(capsys, "run", "pendulum", "--t-end", "1000", "--h", "1e-5", "--store-every", "100000", "--budget", "0.05")
    assert code == 1
    assert "budget" in text


def test_advice_names_options_of_the_command():
    """Whatever a message of the package advises: the arguments of `simulate` that the command has."""
    advice = "Store fewer: store_every= or t_eval=, pass project_velocity=True, or integrator=RK4(), budget=3."
    assert as_options(advice) == ("Store fewer: --store-every or t_eval=, pass --project-velocity, or --method RK4(), --budget 3.")


@pytest.mark.slow
def test_run_writes_what_python_computes(by_hand, tmp_path, capsys):
    out = tmp_path / "run.npz"
    code, text, _ = said(capsys, "run", by_hand, "--t-end", "0.05", "--out", out)
    assert code == 0
    assert "completed at t = 0.05 s after 50 steps" in text
    assert f"wrote {out}" in text
    python = mbd.simulate(mbd.load_model(by_hand), 0.05, h=1e-3)
    loaded = mbd.load(out)
    np.testing.assert_array_equal(loaded.y, python.y)
    np.testing.assert_array_equal(loaded.reaction("pin").force, python.reaction("pin").force)


def test_places_are_printed_without_rounding(capsys):
    """The slider moves along x: its y was printed as 9.25186e-24."""
    _, text, _ = said(capsys, "run", "slider_crank", "--t-end", "0.1")
    assert "slider                r = (0.226369, 0, 0) m" in text


@pytest.mark.slow
def test_run_as_json_with_files(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    files = [tmp_path / name for name in ("run.csv", "run.png", "run.html")]
    options = [each for pair in zip(("--out", "--plot", "--animate"), files, strict=True) for each in pair]
    code, text, _ = said(capsys, "run", "pendulum", "--t-end", "0.1", "--rtol", "1e-6", "--atol", "1e-8", "--json", *options)
    data = json.loads(text)
    assert code == 0
    assert data["ok"]
    assert data["status"] == "COMPLETED"
    assert data["t_end"] == 0.1
    assert data["files"] == [str(file) for file in files]
    assert files[0].read_text().startswith("t,bar.r.x")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "<html" in files[2].read_text()[:400].lower()
    exact = mbd.simulate(pendulum(), 0.1, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(data["bodies"]["bar"]["r"], exact["bar"].r[-1])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK4", "GeneralizedAlpha", "RATTLE", "DOP853"])
def test_run_with_methods(method, capsys):
    code, text, _ = said(capsys, "run", "pendulum", "--t-end", "0.02", "--method", method, "--json")
    assert code == 0
    assert method in json.loads(text)["settings"]["integrator"]


def test_a_run_that_fails_is_exit_code_1(tmp_path, capsys):
    content = BY_HAND.replace("0.2 * t**2 * sin(3 * t)", "0.001 * t**2 / (0.02 - t)")
    (tmp_path / "bar.toml").write_text(content)
    code, text, error = said(capsys, "run", tmp_path / "bar.toml", "--t-end", "0.1", "--json")
    assert code == 1
    data = json.loads(text)
    assert not data["ok"]
    assert "t = 0.02" in data.get("message", "") + data.get("error", "") + error


def test_check_as_json_and_on_files(by_hand, tmp_path, capsys):
    code, text, _ = said(capsys, "check", four_bar().save(tmp_path / "four_bar.json"), "--json")
    assert code == 0
    assert json.loads(text)["degrees_of_freedom"] == 1
    assert said(capsys, "check", by_hand)[0] == 0


def test_assemble_closes_and_writes(tmp_path, capsys):
    (tmp_path / "open.py").write_text(OPEN)
    out = tmp_path / "closed.json"
    code, text, error = said(capsys, "assemble", tmp_path / "open.py", "--out", out, "--json")
    assert code == 0
    assert f"executing {tmp_path / 'open.py'}" in error
    assert json.loads(text)["gaps"]["pin"]["distance"] == pytest.approx(GAP, rel=1e-9)
    closed = mbd.load_model(out)
    closed.compile()
    assert np.abs(mbd.evaluate(closed).Phi).max() <= 1e-12  # of points at 1 m: rounding, and the tolerance of `assemble`
    assert said(capsys, "check", tmp_path / "open.py")[0] == 1
    assert said(capsys, "check", out)[0] == 0


@pytest.mark.slow
def test_convert_and_info(by_hand, tmp_path, capsys):
    out = tmp_path / "bar.json"
    code, text, _ = said(capsys, "convert", by_hand, out)
    assert (code, text) == (0, f"wrote {out}\n")
    code, text, _ = said(capsys, "info", out, "--json")
    assert json.loads(text)["joints"] == {"drive": "RotationDriver", "pin": "RJ"}
    assert "spring" in said(capsys, "info", out)[1]
    assert json.loads(said(capsys, "info", "--json")[1])["haugmbd"] == mbd.__version__
    assert json.loads(said(capsys, "info", "--schema")[1])["title"] == "haugmbd model 1"


def test_faults_of_a_file_are_exit_code_1_with_all_of_them(by_hand, capsys):
    by_hand.write_text(BY_HAND.replace("axis =", "axle =").replace('"mass"\nJ', "-1\nJ"))
    code, text, error = said(capsys, "check", by_hand, "--json")
    assert code == 1
    data = json.loads(text)
    assert len(data["faults"]) == 3
    assert "did you mean" not in data["faults"][0]
    assert error.count("line ") == 3


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["run", "nowhere.json"], "'nowhere.json' is neither a file"),
        (["run", "pendulum", "--t-end", "-1"], "'-1' is not a positive number"),
        (["run", "pendulum", "--method", "Euler"], "there is no 'Euler'"),
        (["run"], "required: MODEL"),
        (["convert", "pendulum"], "required: FILE"),
        (["convert", "pendulum", "pendulum.yaml"], "'pendulum.yaml': a model is written as .json"),
        (["run", "pendulum", "--h", "1e-3", "--rtol", "1e-6"], "--h selects a fixed step"),
        (["completion", "fish"], "invalid choice: 'fish'"),
        (["run", "pendulum", "--t-end", "0.01", "--out", "/nowhere/at/all/run.npz"], "/nowhere/at/all/run.npz"),
        (["run", "pendulum", "--t-end", "1e9", "--out", "run.mat"], "'run.mat': a result is a .npz, .nc or .csv file"),
        (["run", "pendulum", "--t-end", "1e9", "--plot", "run.bmp"], "'run.bmp': a plot is a .png, .pdf or .svg file"),
        (["run", "pendulum", "--t-end", "1e9", "--animate", "run.mp4"], "'run.mp4': an animation is an .html file"),
        (["assemble", "pendulum", "--out", "pendulum.toml"], "'pendulum.toml': a system is saved as .json"),
        (["compare", "pendulum", "--t-end", "1e9", "--csv", "/nowhere/table.csv"], "there is no folder '/nowhere'"),
        (["gallery", "--out", "gallery.txt"], "'gallery.txt': the page is an .html file"),
    ],
)
def test_bad_arguments_are_exit_code_2(argv, sentence, capsys):
    code, _, error = said(capsys, *argv)
    assert code == 2
    assert sentence in error


def test_what_cannot_be_converted_is_said(tmp_path, capsys):
    (tmp_path / "drive.py").write_text(
        OPEN.replace("from joints import RJ", "from joints import RJ, RotationDriver").replace(
            "system.add(RJ", "pin = system.add(RJ"
        )
        + "system.add(RotationDriver('drive', pin, lambda t: t))\n"
    )
    code, _, error = said(capsys, "convert", tmp_path / "drive.py", tmp_path / "drive.json")
    assert code == 1
    assert "joint 'drive': its function is a lambda" in error
    assert "mbd.Expression" in error


def test_what_a_format_cannot_hold_is_left_out_by_the_option_that_the_error_names(tmp_path, capsys):
    code, _, error = said(capsys, "convert", "piston_engine", tmp_path / "engine.urdf")
    assert code == 1
    assert "--leave-out" in error
    assert "leave_out" not in error
    code, text, _ = said(capsys, "convert", "piston_engine", tmp_path / "engine.urdf", "--leave-out")
    assert code == 0
    assert "left out" in text


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_scripts_name_every_command_and_option(shell, capsys):
    code, text, _ = said(capsys, "completion", shell)
    assert code == 0
    for name, command in completion.commands_of(parser()).items():
        assert name in text
        options = [option for action in command._actions for option in action.option_strings if option.startswith("--")]
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{name})"))
        assert all(option in line for option in options)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=text, text=True, capture_output=True, timeout=60).stderr == ""


def test_bash_completes():
    if not shutil.which("bash"):
        pytest.skip("no bash")
    script = completion.script("bash")
    for words, wanted in (("haugmbd che", "check"), ("haugmbd run --t-", "--t-end"), ("haugmbd info four", "four_bar")):
        ask = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _haugmbd; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "--norc"], input=ask, text=True, capture_output=True, timeout=60)
        assert done.stdout.split() == [wanted]


@pytest.mark.slow
def test_parameters_of_a_model_are_set_by_every_command_that_reads_one(capsys, by_hand, tmp_path):
    """As `load_model(parameters=)`, and as arguments of functions; what is no parameter is refused by name, before anything runs."""
    whole = tmp_path / "whole.json"
    assert said(capsys, "convert", by_hand, whole, "--set", "length=3", "--set", "density=20")[0] == 0
    expected = mbd.load_model(by_hand, parameters={"length": 3.0, "density": 20.0})
    assert mbd.load_model(whole).bodies[1].mass == expected.bodies[1].mass == 60.0
    code, text, _ = said(capsys, "run", by_hand, "--set", "length=3", "--t-end", "0.02", "--h", "0.01", "--json")
    assert code == 0
    run = mbd.simulate(mbd.load_model(by_hand, parameters={"length": 3.0}), 0.02, h=0.01)
    assert json.loads(text)["bodies"]["bar"]["r"] == run["bar"].r[-1].tolist()

    program = tmp_path / "made.py"
    program.write_text(
        "import haugmbd as mbd\n\n\ndef system(mass=1.0, parts=1):\n    made = mbd.System('made')\n    for k in range(parts):\n"
        "        made.add(mbd.Body(f'body {k}', mass, (1, 1, 1)))\n    return made\n"
    )
    for model, given, dof in ((program, "parts=3", 18), ("chain", "n=3", 3), ("planetary_gear", "planets=4", 1)):
        code, text, told = said(capsys, "check", model, "--set", given, "--json")
        assert code == 0, told
        assert json.loads(text)["degrees_of_freedom"] == dof
    fixed = tmp_path / "fixed.py"
    fixed.write_text("import haugmbd as mbd\n\nsystem = mbd.System('fixed')\nsystem.add(mbd.Body('body', 1.0, (1, 1, 1)))\n")
    robot = tmp_path / "robot.urdf"
    robot.write_text('<robot name="r"><link name="base"/></robot>')
    for model, given, why in (
        (by_hand, "lenght=3", "did you mean 'length'"),
        (program, "mas=3", "did you mean 'mass'"),
        ("chain", "links=3", "has no parameter 'links'"),
        (fixed, "mass=3", "must define a function system"),
        (robot, "mass=3", "has none"),
        (by_hand, "length=", "is not NAME=NUMBER"),
        (by_hand, "length=nan", "is not NAME=NUMBER"),
        (by_hand, "length=1,2", "is not NAME=NUMBER"),
    ):
        code, _, told = said(capsys, "run", model, "--set", given, "--t-end", "0.02")
        assert code == 2, told
        assert why in told


@pytest.mark.parametrize("part", ["--formulation", "--integrator", "--stabilization"])
def test_a_part_of_a_method_is_not_an_option_of_its_own(capsys, part):
    code, _, told = said(capsys, "run", "pendulum", part, "RK4")
    assert code == 2
    assert "give --method" in told
