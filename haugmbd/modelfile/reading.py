r"""What is collected while a model file is read: its faults, each with the path in the file; names and parameters that its values use.

A path is the keys and list positions from the top of the document: ("joints", 3, "axis") is written joints[3].axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from haugmbd.deprecated import did_you_mean

Path: TypeAlias = tuple[str | int, ...]

MOST_PROBLEMS = 200
"""Faults that are reported: a file with more of them is another kind of file."""


class Problem(NamedTuple):
    """A fault of a file: the path of the value, the defect, and the remedy."""

    path: Path
    what: str
    remedy: str


class _Bad:
    """The place of a value that cannot be used; its fault is reported."""

    def __repr__(self) -> str:
        return "BAD"


BAD: Any = _Bad()


@dataclass
class Reading:
    """One reading of a document.

    parameters: the named numbers;  names: of the parts that a reference may mean, by kind ("body", "joint", "block");
    blocks: those that have been made, by name;
    allow_code: whether functions may be imported by their names;  failed: parameters with faults, whose users are not reported.
    """

    allow_code: bool = False
    parameters: dict[str, float] = field(default_factory=dict)
    names: dict[str, dict[str, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    blocks: dict[str, Any] = field(default_factory=dict)

    def fault(self, path: Path, what: str, remedy: str) -> Any:
        """Record a fault, and return BAD."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(path, what, remedy))
        return BAD

    def near(self, name: str, names: Iterable[str]) -> str:
        """Return " (did you mean ...?)" with the nearest name, "" if none is near or if no more faults are reported."""
        return did_you_mean(name, names) if len(self.problems) < MOST_PROBLEMS else ""

    def refers(self, path: Path, kind: str, name: Any) -> Any:
        """Return a name if there is a part of this kind and name; else record a fault."""
        known = self.names.get(kind, {})
        if isinstance(name, str) and name in known:
            return name
        if not isinstance(name, str):
            return self.fault(path, f"{shown(name)} is not a name of a {kind}", f"Give the name of a {kind} as a string.")
        return self.fault(path, f"there is no {kind} {name!r:.80}{self.near(name, known)}", f"There {_list(kind, known)}.")


def _list(kind: str, names: Iterable[str]) -> str:
    """Return the known names as words."""
    given = [f"{name!r:.80}" for name in islice(names, 9)]
    if not given:
        return f"is no {kind} in this file"
    return f"are {', '.join(given[:8])}{' and more' * (len(given) > 8)}"


def shown(value: Any) -> str:
    """Return a short text of a wrong value, in the words of a file."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return f"a table of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)}" if len(repr(value[:4])) > 40 or len(value) > 4 else repr(value)
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def written(path: Path) -> str:
    """Return a path as text: joints[3].axis."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' * bool(text)}{part}"
    return text or "the whole file"
