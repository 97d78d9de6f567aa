"""The README: its programs run, its table is the catalogue's, its commands and files exist."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

import joints
from haugmbd import Body
from haugmbd.compatibility import table as legal_triples
from haugmbd.formulations import FORMULATIONS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text()

FORMULATION_HEAD = [
    "| formulation | dependent rows | multipliers | massless axes | work | 60 links | what it is |",
    "|---|---|---|---|---|---|---|",
]
HEAD = ["| joint | rows | freedom left | what it says |", "|---|---|---|---|"]
GEOMETRY = {
    "point": (0.1, 0.2, 0.3),
    "point_i": (0.1, 0.2, 0.3),
    "point_j": (0.5, 0.2, 0.3),
    "axis": (0.0, 0.0, 1.0),
    "axis_i": (1.0, 0.0, 0.0),
    "axis_j": (0.0, 1.0, 0.0),
    "normal": (0.0, 0.0, 1.0),
}


def build(kind: type[joints.Composed]) -> joints.Composed:
    """A joint of this kind between two bodies, from the parameters that it asks for."""
    i, j = Body("i", 1.0, (1.0, 1.0, 1.0)), Body("j", 1.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0))
    asked = inspect.signature(kind).parameters
    if "joint" in asked:
        base = {"RotationDriver": joints.RJ, "TranslationDriver": joints.TJ}[kind.__name__]
        return kind("drive", build(base), 0.0)
    return kind("joint", i, j, **{name: GEOMETRY[name] for name in asked if name in GEOMETRY})


def joint_table() -> list[str]:
    """The table of the README: one line for each joint of the catalogue, with the first sentence of its file."""
    lines = []
    for kind in joints.CATALOGUE:
        joint = build(kind)
        says = sys.modules[kind.__module__].__doc__.splitlines()[0].split(": ", 1)[1].rstrip(".")
        left = "one less" if "joint" in inspect.signature(kind).parameters else 6 - joint.rows
        lines.append(f"| `{kind.__name__}` | {joint.rows} | {left} | {says} |")
    return [*HEAD, *lines]


def formulation_table() -> list[str]:
    """The table of formulations: one line for each, with what its class says and the first sentence of its file."""
    lines = []
    for kind in FORMULATIONS:
        says = sys.modules[kind.__module__].__doc__.splitlines()[0].split(": ", 1)[1].rstrip(".")
        rows = "all" if kind.all_rows else "kept ones"
        work = "n" if kind.exponent == 1 else f"n^{kind.exponent}"
        name, inertia = kind.__name__, "yes" if kind.massless else "no"
        lines.append(f"| `{name}` | {rows} | {kind.multipliers.value} | {inertia} | {work} | {kind.ms:g} ms | {says} |")
    return [*FORMULATION_HEAD, *lines]


def test_the_table_of_formulations_is_that_of_the_code():
    table = [line for line in README.splitlines() if line.startswith("|")]
    assert FORMULATION_HEAD[0] in table, "\n" + "\n".join(formulation_table())
    start = table.index(FORMULATION_HEAD[0])
    assert table[start : start + 2 + len(FORMULATIONS)] == formulation_table(), "\n" + "\n".join(formulation_table())


def test_the_readme_has_programs():
    assert len(PROGRAMS) >= 2


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.splitlines()[0])
def test_the_program_runs_and_says_what_its_comments_say(program, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    said = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^print\(.*\) +# (.*)$", program, flags=re.MULTILINE)
    assert len(said) == len(promised)
    for line, comment in zip(said, promised, strict=True):
        assert comment.startswith(line)


def test_the_four_bar_is_short():
    lines = [line for line in PROGRAMS[0].splitlines() if line.strip()]
    assert len(lines) <= 26


def test_the_table_of_legal_triples_is_that_of_the_code():
    lines = README.splitlines()
    expected = legal_triples()
    start = lines.index(expected[0])
    assert lines[start : start + len(expected)] == expected, "\n" + "\n".join(expected)


def test_the_table_of_joints_is_that_of_the_catalogue():
    table = [line for line in README.splitlines() if line.startswith("|")]
    start = table.index(HEAD[0])
    assert table[start : start + 2 + len(joints.CATALOGUE)] == joint_table(), "\n" + "\n".join(joint_table())


def test_every_make_target_and_file_that_is_named_exists():
    targets = set(re.findall(r"\bmake (\w+)", README))
    assert {"demo", "test"} <= targets
    assert all(re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE) for target in targets)
    paths = re.findall(r"`((?:haugmbd|joints|tests|examples)/[\w/.]*)`", README) + re.findall(r"\]\(([\w/.]+)\)", README)
    assert paths
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


def test_figures_are_small():
    figures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert figures
    assert max((ROOT / figure).stat().st_size for figure in figures) < 100_000
