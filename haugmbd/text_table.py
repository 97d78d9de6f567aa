"""Tables in plain text: a head, a rule, and lines with columns as wide as their widest entry."""

from __future__ import annotations

from collections.abc import Collection, Sequence

GAP = "  "
"""Between two columns."""

CUT = ".."
"""The end of an entry that is longer than its column."""


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
    return [_line(line, widths, right) for line in (head, rule, *lines)]


def _line(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    """Return one line."""
    fitted = [x if len(x) <= n else x[: n - len(CUT)] + CUT for x, n in zip(cells, widths, strict=True)]
    return GAP.join(x.rjust(n) if k in right else x.ljust(n) for k, (x, n) in enumerate(zip(fitted, widths, strict=True))).rstrip()
