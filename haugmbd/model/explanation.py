"""The equations of a model as text: one row as a paragraph, a model as a table."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from haugmbd.compiled.array_types import Array
from haugmbd.model.labels import RowLabel
from haugmbd.text_table import table_lines

WIDTH = 120
"""Number of characters in a line."""

NUMBERS = ("Phi", "Phi_dot", "gamma", "f")

HEAD = ("row", "joint", "kind", "body i", "body j", "unit", *NUMBERS)

NAMES = (1, 3, 4)
"""Columns that are cut if a line is too long: the names."""

RIGHT = (0, *range(len(HEAD) - len(NUMBERS), len(HEAD)))
"""Columns of numbers."""

UNIT_OF_F = {"m2": "m"}
"""Units of f that differ from those of Phi: a distance is squared inside the row."""


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """One equation at one state.

    Attributes
    ----------
    number : int
        Number of the row.
    label : RowLabel
        Joint, kind, words and unit.
    kind, body_i, body_j : str
        Kind of the joint, and names of its bodies.
    Phi, Phi_dot, gamma : float
        Values in the unit of Phi, per s, per s2.
    f : ndarray, (3,)
        f, f', f'' of its driver.
    driven : bool
        Whether f depends on time.
    t : float
        Time [s].
    others : tuple of str
        Names of further bodies, of a coupling of several joints.
    """

    number: int
    label: RowLabel
    kind: str
    body_i: str
    body_j: str
    Phi: float
    Phi_dot: float
    gamma: float
    f: Array
    driven: bool
    t: float
    others: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return the equation in words."""
        return self.label.words

    @property
    def symbols(self) -> str:
        """Return the equation in symbols."""
        return self.label.primitive.symbols

    @property
    def unit(self) -> str:
        """Return the unit of Phi."""
        return self.label.unit

    def __str__(self) -> str:
        """Return a paragraph: words, symbols and their meaning, bodies, and values."""
        f_unit = UNIT_OF_F.get(self.unit, self.unit)
        vectors = ", ".join(f"{name} = {_vector(x)}" for name, x in self.label.primitive.given().items())
        levels = zip(("Phi", "Phi_dot", "gamma"), (self.Phi, self.Phi_dot, self.gamma), ("", "/s", "/s2"), strict=True)
        values = ", ".join(f"{name} = {_quantity(x, self.unit, per)}" for name, x, per in levels)
        jet = zip(("f", "f'", "f''"), self.f, ("", "/s", "/s2"), strict=True)
        driver = ", ".join(f"{name} = {_quantity(x, f_unit, per)}" for name, x, per in jet)
        lines = [
            f"row {self.number}: {self.label.kind} of joint {self.label.joint!r} ({self.kind})",
            *_entry("says", self.words),
            *_entry("symbols", self.symbols),
            *_entry("with", vectors),
            *_entry("bodies", ", ".join([f"i = {self.body_i!r}", f"j = {self.body_j!r}", *map(repr, self.others)])),
            *_entry("driver", driver if self.driven else f"f = {_quantity(self.f[0], f_unit)}, constant"),
            *_entry("value", f"{values} at t = {self.t:g} s"),
        ]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Explanation:
    """Rows of a model at one state, as text: a table of all rows, or a paragraph for each row of one joint.

    Attributes
    ----------
    model : str
        Name of the model.
    t : float
        Time [s].
    rows : tuple of RowExplanation
        One for each row.
    as_table : bool
        Whether the text is the table.
    solver : str
        How the equations are solved, and why.
    """

    model: str
    t: float
    rows: tuple[RowExplanation, ...]
    as_table: bool
    solver: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, k: int) -> RowExplanation:
        return self.rows[k]

    def __str__(self) -> str:
        """Return the table, with the symbols of each kind below it; or the paragraphs."""
        if not self.as_table:
            return "\n\n".join(map(str, self.rows))
        head = f"{self.model!r}: {len(self.rows)} equations at t = {self.t:g} s"
        symbols = {row.label.kind: row.symbols for row in self.rows}
        cells = [_cells(row) for row in self.rows]
        legend = [line for kind, text in symbols.items() for line in _entry(kind, text)]
        legend += _entry("solver", self.solver)
        return "\n".join([head, "", *table_lines(HEAD, cells, right=RIGHT, width=WIDTH, may_be_cut=NAMES), "", *legend])

    __repr__ = __str__


def _cells(row: RowExplanation) -> tuple[str, ...]:
    """Return a line of the table."""
    numbers = (row.Phi, row.Phi_dot, row.gamma, float(row.f[0]))
    names = (row.label.joint, row.label.kind, row.body_i, row.body_j, row.unit)
    return (str(row.number), *names, *(_number(x, digits=5) for x in numbers))


def _entry(name: str, text: str) -> list[str]:
    """Return a name and its text, wrapped."""
    first = f"  {name:<8} "
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False)


def _number(x: float, digits: int = 9) -> str:
    """Return a number as text, without a negative zero."""
    return f"{float(x) + 0.0:.{digits}g}"


def _quantity(x: float, unit: str, per: str = "") -> str:
    """Return a number and its unit; no unit for a pure number."""
    text = f"{'' if unit == '1' and not per else unit}{per}"
    return f"{_number(x)} {text}".rstrip()


def _vector(x: Array) -> str:
    """Return a vector in brackets."""
    return "(" + ", ".join(f"{float(value) + 0.0:g}" for value in x) + ")"
