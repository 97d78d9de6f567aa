"""The statements of a source text: imports and definitions are found without a visit to every expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file of the packages, which several tests read: all of them take longer to parse than to walk through."""
    return ast.parse(file.read_text("utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node, and the cases and handlers that hold some."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, field, None)
        for one in below if isinstance(below, list) else ():
            yield one
            yield from statements(one)
