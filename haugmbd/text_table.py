"""Tables in plain text: a head, a rule, and lines with columns as wide as their widest entry; lists of names; first lines of docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from typing import Any

GAP = "  "
"""Between two columns."""

CUT = ".."
"""In place of what is left out of an entry that is longer than its column."""


def first_line(what: Any) -> str:
    """Return the first line of the docstring of a class or function; its name where Python runs without docstrings (-OO)."""
    return next(iter((inspect.getdoc(what) or "").splitlines()), "") or what.__name__


def first_few(texts: Sequence[str], most: int) -> str:
    """Return the first few texts, such as names in quotes, and the number of the others, as part of a sentence."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def table_lines(
    head: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    width: int | None = None,
    may_be_cut: Collection[int] = (),
) -> list[str]:
    """Return the lines of a table.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    lines : sequence of sequences of str
        The entries, one for each column.
    right : collection of int
        Columns that are aligned to the right, as numbers are.
    width : int, optional
        Largest length of a line: the widest of the columns `may_be_cut` is made narrower until a line fits.
    may_be_cut : collection of int
        Columns whose entries may be cut.

    Returns
    -------
    list of str
        The head, a rule, and the lines, without spaces at their ends.
    """
    widths = [max(len(line[k]) for line in (head, *lines)) for k in range(len(head))]
    while (
        width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width and any(widths[k] > len(CUT) for k in may_be_cut)
    ):
        widths[max(may_be_cut, key=lambda k: widths[k])] -= 1
    rule = tuple("-" * n for n in widths)
    fitted = [_fitted([line[k] for line in (head, rule, *lines)], n) for k, n in enumerate(widths)]
    return [_line(cells, widths, right) for cells in zip(*fitted, strict=True)]


def _fitted(cells: Sequence[str], n: int) -> list[str]:
    """Return the entries of a column that is n wide: cut at their ends, or between where others would look the same."""
    at_end = [x if len(x) <= n else x[: n - len(CUT)] + CUT for x in cells]
    alike: dict[str, set[str]] = {x: set() for x in at_end}
    for cut, whole in zip(at_end, cells, strict=True):
        alike[cut].add(whole)
    return [_cut_between(whole, n) if len(alike[cut]) > 1 else cut for cut, whole in zip(at_end, cells, strict=True)]


def _cut_between(text: str, n: int) -> str:
    """Return the beginning and the end of a text, n characters."""
    last = (n - len(CUT)) // 2
    return text if len(text) <= n else text[: n - len(CUT) - last] + CUT + text[len(text) - last :]


def _line(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    """Return one line."""
    return GAP.join(x.rjust(n) if k in right else x.ljust(n) for k, (x, n) in enumerate(zip(cells, widths, strict=True))).rstrip()
