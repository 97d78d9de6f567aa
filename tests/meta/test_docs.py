"""README and docs/: their programs run, their tables are those of the code, their commands, files and links exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from haugmbd.gallery import four_bar
from tests.support.tables import TABLES, written_to

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    )
}
README = PAGES["README.md"]
PROGRAMS = [
    pytest.param(program, page, id=f"{page} {k}")
    for page, text in PAGES.items()
    for k, program in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
]
SAME = 1e-12  # kg, m, kg m2: the same numbers in another order of operations
README_LINES = 150  # a poster; topics have pages of their own
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(("page", "make"), TABLES)
def test_the_table_of_the_page_is_that_of_the_code(page, make):
    table = make()
    assert written_to(PAGES[page], table) == PAGES[page], (
        f"{page}: run `python -m tests.support.tables`, which writes this:\n" + "\n".join(table)
    )


def test_every_page_about_the_library_has_a_program():
    without = {page for page in PAGES if page.startswith("docs/") and not any(page in program.id for program in PROGRAMS)}
    assert without == {"docs/benchmarks.md"}


@pytest.mark.slow
@pytest.mark.parametrize(("program", "page"), PROGRAMS)
def test_the_program_runs_and_says_what_its_comments_say(program, page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(program, page, "exec"), {"__name__": "page"})
    said = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^print\(.*\) +# (.*)$", program, flags=re.MULTILINE)
    assert len(said) == len(promised)
    for line, comment in zip(said, promised, strict=True):
        assert comment.startswith(line)


def test_the_readme_is_a_poster():
    assert len(README.splitlines()) <= README_LINES
    four_bar = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)[1]
    assert len([line for line in four_bar.splitlines() if line.strip()]) <= 26


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_file_and_link_that_is_named_exists(page):
    text = PAGES[page]
    missing = [
        target
        for target in re.findall(r"(?:`|^    )make ([a-z-]+)", text, flags=re.MULTILINE)
        if not re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE)
    ]
    named = re.findall(r"`((?:haugmbd|joints|tests|examples|docs)/[\w/.]*)`", text)
    missing += [path for path in named if not (ROOT / path).exists()]
    links = re.findall(r"\]\(([\w/.-]+)\)", text)
    missing += [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\(([\w.-]+\.md)\)", PAGES["docs/index.md"]))
    assert linked == {Path(page).name for page in PAGES if page.startswith("docs/")} - {"index.md"}


def test_the_site_has_every_page():
    """The contents of the site name every page of docs/, and no other ones."""
    text = (ROOT / "docs" / "_ext" / "site_pages.py").read_text()
    contents = text[text.index("CONTENTS = {") : text.index('"""The pages of the site')]
    named = set(re.findall(r'"([a-z-]+)"', contents))
    assert named == {Path(page).stem for page in PAGES if page.startswith("docs/")} - {"index"}


def test_figures_are_small():
    figures = {(ROOT / page).parent / name for page, text in PAGES.items() for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)}
    assert len(figures) >= 3
    assert max(figure.stat().st_size for figure in figures) < 100_000


def test_the_four_bar_of_the_readme_is_that_of_the_gallery():
    """So that the figure, the program and the gallery show the same mechanism."""
    program = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)[1]
    made: dict[str, Any] = {}
    exec(program[: program.index("result =")], made)
    ours, others = made["system"], four_bar()
    assert tuple(ours.gravity) == tuple(others.gravity)
    for one, other in zip(ours.bodies, others.bodies, strict=True):
        assert one.name == other.name
        for value in ("mass", "J_bar", "r", "p"):
            np.testing.assert_allclose(getattr(one, value), getattr(other, value), rtol=0.0, atol=SAME)
    for one, other in zip(ours.joints, others.joints, strict=True):
        assert (type(one), one.name, one.i.name, one.j.name) == (type(other), other.name, other.i.name, other.j.name)
        np.testing.assert_allclose(one.frame_i.point, other.frame_i.point, rtol=0.0, atol=SAME)
