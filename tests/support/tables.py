"""Tables of the documentation that are those of the code: `python -m tests.support.tables` writes them to their pages.

The first line of a table finds it on its page; it ends with the first line that is no row.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import joints
from haugmbd import Body
from haugmbd.formulations import FORMULATIONS
from haugmbd.simulation.compatibility import table as legal_triples

ROOT = Path(__file__).resolve().parents[2]

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


TABLES: tuple[tuple[str, Callable[[], list[str]]], ...] = (
    ("README.md", joint_table),
    ("docs/joints.md", joint_table),
    ("docs/formulations.md", formulation_table),
    ("docs/integrators.md", legal_triples),
)


def written_to(page: str, table: list[str]) -> str:
    """The text of a page with this table in place of the one that begins with the same line."""
    lines = page.split("\n")
    first = next(
        k for k, line in enumerate(lines) if line.split("|")[1:2] == table[0].split("|")[1:2] and lines[k + 1].startswith("|--")
    )
    last = next(k for k in range(first, len(lines)) if not lines[k].startswith("|"))
    return "\n".join([*lines[:first], *table, *lines[last:]])


if __name__ == "__main__":
    for name, make in TABLES:
        file = ROOT / name
        file.write_text(written_to(file.read_text(encoding="utf-8"), make()), encoding="utf-8")
