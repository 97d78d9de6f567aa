"""`haugmbd gallery` and `haugmbd demo NAME`: every mechanism is listed with its counts, drawn, and can be run by its name."""

from __future__ import annotations

import base64
import json
import re

import pytest

import haugmbd as mbd
from haugmbd.cli import main
from haugmbd.gallery import GALLERY, four_bar

PNG_HEAD = b"\x89PNG"


@pytest.mark.slow
def test_every_mechanism_is_listed_with_its_counts(capsys):
    assert main.main(["gallery", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["mechanisms"]
    assert [row["name"] for row in rows] == [build.__name__ for build in GALLERY]
    for row, build in zip(rows, GALLERY, strict=True):
        assert row["degrees_of_freedom"] == mbd.mobility(build()).degrees_of_freedom, row["name"]
        assert len(row["what"]) > 10
    assert main.main(["gallery"]) == 0
    table = capsys.readouterr().out
    assert all(re.search(rf"^{build.__name__} .*\d+ +\d+ +\d+$", table, re.MULTILINE) for build in GALLERY)


@pytest.mark.slow
def test_the_page_has_a_picture_of_each(tmp_path, capsys):
    path = tmp_path / "gallery.html"
    assert main.main(["gallery", "--out", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    text = path.read_text()
    pictures = re.findall(r'alt="(\w+)" src="data:image/png;base64,([^"]+)"', text)
    assert [name for name, _ in pictures] == [build.__name__ for build in GALLERY]
    assert all(base64.b64decode(data).startswith(PNG_HEAD) for _, data in pictures)
    assert "http" not in text  # nothing is loaded from elsewhere


@pytest.mark.slow
def test_a_page_that_cannot_be_written_is_said(tmp_path, capsys):
    assert main.main(["gallery", "--out", str(tmp_path / "none" / "gallery.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_the_demo_of_another_mechanism_writes_its_animation(tmp_path, capsys):
    assert main.main(["demo", "four_bar", "--t-end", "0.1", "--out", str(tmp_path)]) == 0
    assert "four_bar.html" in capsys.readouterr().out
    assert "coupler" in (tmp_path / "four_bar.html").read_text()
    assert main.main(["demo", "five_bar"]) == 2
    assert "four_bar" in capsys.readouterr().err


def test_a_picture_is_saved_as_a_page_or_as_a_drawing(tmp_path):
    still = mbd.picture(four_bar())
    assert still.save(tmp_path / "four_bar.png").read_bytes().startswith(PNG_HEAD)
    assert still.save(tmp_path / "four_bar.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(mbd.UsageError, match="cannot write"):
        still.save(tmp_path / "none" / "four_bar.png")
