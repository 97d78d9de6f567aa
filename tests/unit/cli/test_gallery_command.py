"""`haugmbd gallery` and `haugmbd demo NAME`: every mechanism is listed with its counts, drawn, and can be run by its name."""

from __future__ import annotations

import base64
import io
import json
import re
from contextlib import redirect_stdout

import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.cli import shown as gallery
from haugmbd.gallery import GALLERY, four_bar
from haugmbd.viewer import still

PNG_HEAD = b"\x89PNG"
COARSE = 20
"""Dots per inch: what is drawn is the same."""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What `haugmbd gallery --out` prints, the file, and what `haugmbd gallery --json` prints: (text, path, rows)."""
    path = tmp_path_factory.mktemp("gallery") / "gallery.html"
    with redirect_stdout(io.StringIO()) as text, pytest.MonkeyPatch.context() as patch:
        patch.setattr(still, "DPI", COARSE)
        assert main.main(["gallery", "--out", str(path)]) == 0
    with redirect_stdout(io.StringIO()) as data:
        assert main.main(["gallery", "--json"]) == 0
    return text.getvalue(), path, json.loads(data.getvalue())["mechanisms"]


@pytest.mark.slow
def test_every_mechanism_is_listed_with_its_counts(written):
    table, _, rows = written
    assert [row["name"] for row in rows] == [build.__name__ for build in GALLERY]
    for row, build in zip(rows, GALLERY, strict=True):
        model = build().compile()  # a second way: the rank at which redundant rows are dropped
        assert row["degrees_of_freedom"] == 6 * model.nb - model.redundancy.rank, row["name"]
        assert len(row["what"]) > 10
    assert all(re.search(rf"^{build.__name__} .*\d+ +\d+ +\d+$", table, re.MULTILINE) for build in GALLERY)


@pytest.mark.slow
def test_the_page_has_a_picture_of_each(written):
    said, path, _ = written
    assert str(path) in said
    text = path.read_text()
    pictures = re.findall(r'alt="(\w+)" src="data:image/png;base64,([^"]+)"', text)
    assert [name for name, _ in pictures] == [build.__name__ for build in GALLERY]
    assert all(base64.b64decode(data).startswith(PNG_HEAD) for _, data in pictures)
    assert "http" not in text  # nothing is loaded from elsewhere


def test_a_page_that_cannot_be_written_is_said_before_anything_is_drawn(tmp_path, capsys, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(gallery, "by_name", dict)  # no mechanism
    assert main.main(["gallery", "--out", str(tmp_path / "folder")]) == 2
    assert "cannot write" in capsys.readouterr().err
    monkeypatch.setattr(gallery, "by_name", lambda: pytest.fail("a mechanism is built"))
    assert main.main(["gallery", "--out", str(tmp_path / "none" / "gallery.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_the_demo_of_another_mechanism_writes_its_animation(tmp_path, capsys):
    assert main.main(["demo", "four_bar", "--t-end", "0.1", "--out", str(tmp_path)]) == 0
    assert "four_bar.html" in capsys.readouterr().out
    assert "coupler" in (tmp_path / "four_bar.html").read_text()
    assert main.main(["demo", "five_bar"]) == 2
    assert "four_bar" in capsys.readouterr().err


@pytest.mark.slow
def test_a_picture_is_saved_as_a_page_or_as_a_drawing(tmp_path):
    still = mbd.picture(four_bar())
    assert still.save(tmp_path / "four_bar.png").read_bytes().startswith(PNG_HEAD)
    assert still.save(tmp_path / "four_bar.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(mbd.UsageError, match="cannot write"):
        still.save(tmp_path / "none" / "four_bar.png")
