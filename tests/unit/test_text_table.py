"""The table of text: what is in a column stands in it, and a line is no longer than it may be."""

from __future__ import annotations

import pytest

from haugmbd.text_table import table_lines

HEAD = ("row", "joint", "value")


def test_columns_are_as_wide_as_their_widest_entry():
    lines = table_lines(HEAD, [("1", "a", "2.5"), ("10", "left hinge", "-3")], right=(0, 2))
    assert lines == [
        "row  joint       value",
        "---  ----------  -----",
        "  1  a             2.5",
        " 10  left hinge     -3",
    ]


def test_no_line_ends_with_spaces():
    assert table_lines(("name", "what"), [("a", ""), ("b", "long")])[2] == "a"


def test_a_head_without_lines():
    assert table_lines(("a", "bc"), []) == ["a  bc", "-  --"]


@pytest.mark.parametrize("width", [18, 20, 30, 60])
def test_a_long_name_is_cut_so_that_a_line_fits(width):
    name = "the hinge on the left of the frame"
    lines = table_lines(HEAD, [("1", name, "2.5")], width=width, may_be_cut=(1,))
    assert max(map(len, lines)) <= width
    shown = lines[2][5:].split("  ")[0].rstrip()
    assert shown == name if width == 60 else (shown.endswith("..") and name.startswith(shown[:-2]))


def test_where_nothing_can_be_cut_the_line_is_longer():
    assert max(map(len, table_lines(HEAD, [("1", "abcdefgh", "2.5")], width=4, may_be_cut=(1,)))) > 4


def test_names_that_differ_only_where_they_are_cut_are_cut_where_they_agree():
    """Methods of a comparison that differ in a gain have other names in print, too."""
    names = [f"RK4(h=0.002), Baumgarte(alpha={x}, beta={x})" for x in (5, 50, 500)]
    names += ["Heun(h=0.002), Projection, and more words", "short"]
    lines = table_lines(["method", "x"], [(name, "1") for name in names], width=31, may_be_cut=[0])[2:]
    cells = [line[:28].rstrip() for line in lines]
    assert len(set(cells)) == len(names)
    assert [cell.endswith(f"={x})") for cell, x in zip(cells, (5, 50, 500), strict=False)] == [True] * 3
    assert cells[0].startswith("RK4(h=")
    assert cells[3:] == ["Heun(h=0.002), Projection,..", "short"]
