r"""The tree of an ASMT file: each line is a record, and the records below it have one more tab before them.

    Part
    <tab>Position3D
    <tab><tab>0.1   0   0

The first line that is not blank names the program; the tree ends at a line TimeSeries, where computed results begin.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from haugmbd.errors import UsageError
from haugmbd.modelfile.text import LINE

HEADS = ("OndselSolver", "freeCAD: 3D CAD with Motion Simulation  by  askoh.com")
END = "TimeSeries"
MAX_DEPTH = 20
"""Tabs before a line; an assembly needs 8."""
MAX_LINES = 500_000


@dataclass
class Record:
    """A line: its text without tabs and spaces around it, its number, and the records below it."""

    text: str
    line: int
    children: list[Record] = field(default_factory=list)

    def first(self, text: str) -> Record | None:
        """Return the first record below this one with this text, None if there is none."""
        return next((child for child in self.children if child.text == text), None)

    def value(self) -> str:
        """Return the text of the first record below this one; "" if there is none."""
        return self.children[0].text if self.children else ""


def parse_records(text: str) -> Record:
    """Return the record of the assembly. Raise UsageError, with the line, for a text that is not ASMT."""
    lines = LINE.split(text)
    head = next((k for k, line in enumerate(lines) if line.strip()), 0)
    if lines[head].strip() not in HEADS:
        begins = f"begins with {lines[head].strip()[:40]!r}" if lines[head].strip() else "is empty"
        raise UsageError(f"line {head + 1}: it is not an ASMT file: it {begins}, and must begin with {HEADS[0]!r}")
    if len(lines) > MAX_LINES:
        raise UsageError(f"it has more than {MAX_LINES} lines")
    top = Record("", 0)
    stack = [top]
    for number, line in enumerate(lines[head + 1 :], start=head + 2):
        if line.strip() == END and not line.startswith("\t"):
            break
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip("\t"))
        if depth > MAX_DEPTH:
            raise UsageError(f"line {number}: it is nested deeper than {MAX_DEPTH} levels")
        if depth >= len(stack):
            raise UsageError(
                f"line {number}: {line.strip()[:40]!r} has {depth} tabs, which is more than one level below the line before"
            )
        del stack[depth + 1 :]
        record = Record(line.strip(), number)
        stack[depth].children.append(record)
        stack.append(record)
    assembly = top.first("Assembly")
    if assembly is None or len(top.children) != 1:
        raise UsageError(f"line {head + 2}: one record 'Assembly' is expected below the first line")
    return assembly
