"""Scripted mistakes: each is said by its cause, by name; and docs/mobility.md shows the same table."""

from __future__ import annotations

from pathlib import Path

import pytest

import haugmbd as mbd
from haugmbd.gallery import GALLERY
from tests.support.mistakes import MISTAKES, Mistake, four_bar, said, table
from tests.support.mobility_systems import SYSTEMS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mobility.md"


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_the_cause_is_said_by_name(mistake: Mistake) -> None:
    text, at = said(mistake), 0
    for part in mistake.says:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is not said (in this order) in: {text}"
        at = found + len(part)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_nothing_else_is_accused(mistake: Mistake) -> None:
    """One mistake, one fault or doubt: no consequences told as causes."""
    try:
        report = mbd.mobility(mistake.make())
    except mbd.HaugmbdError:
        return
    assert len(report.faults) + len(report.warnings) + len(report.locked) <= 1, str(report)
    assert max(map(len, str(report).splitlines())) <= 120


def test_without_a_mistake_nothing_is_said() -> None:
    report = mbd.mobility(four_bar())
    assert report.ok
    assert report.warnings == report.locked == report.skipped_parts == ()
    assert report.degrees_of_freedom == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [make.__name__ for make in GALLERY])
def test_the_gallery_is_beyond_doubt(name: str) -> None:
    report = mbd.mobility(SYSTEMS[name]())
    assert report.ok
    assert report.warnings == report.locked == ()


def test_there_are_twenty_and_each_says_something_of_its_own() -> None:
    assert len(MISTAKES) >= 20
    assert len({mistake.says for mistake in MISTAKES}) == len(MISTAKES)
    innocent = " ".join(str(mbd.mobility(four_bar())).split())
    assert not any(all(part in innocent for part in mistake.says) for mistake in MISTAKES)


def test_what_is_left_out_is_named() -> None:
    report = mbd.mobility(four_bar(axis=(0, 0, 0)))
    assert report.skipped_parts == ("joint 'C'",)
    assert "left out of what follows: joint 'C'" in str(report)
    broken = mbd.mobility(four_bar(crank={"p": (1, 0, 0, 1)}))
    assert broken.skipped_parts == ("body 'crank'", "joint 'A'", "joint 'B'")


def test_the_readme_shows_the_table() -> None:
    lines = PAGE.read_text().splitlines()
    start = lines.index(table()[0])
    assert lines[start : start + len(table())] == table(), "\n" + "\n".join(table())
