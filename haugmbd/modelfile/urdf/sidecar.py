r"""The sidecar file of Extended URDF, which closes loops of a URDF:

    closed_loop: [[frameA, frameB], [frameC, frameD]]       names of links or joints
    type: ['6d', '3d']                                      the frames coincide; their points coincide

Only these two keys are read, in YAML's flow form or as lists with dashes; other keys are reported. No YAML library is needed, and no tag,
anchor or document of YAML is understood.
Source: Extended URDF, as robots with closed loops for Pinocchio are published.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from haugmbd.errors import UsageError

TOKEN = re.compile(
    r"""\s*(?:(?P<bracket>[\[\],])|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<plain>[^\s\[\],'"#][^\[\],'"#\n]*))"""
)
IGNORED = re.compile(r"(?:\s|#[^\n]*)*")
"""Blanks, and comments up to the end of their lines."""
KEY = re.compile(r"^([A-Za-z_][\w ]*?)\s*:(?:\s+(.*))?$", re.ASCII)
MAX_DEPTH = 3
MAX_LOOPS = 10_000
TYPES = {"3d": "spherical", "6d": "fixed"}


def read_sidecar(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return (type, frame A, frame B) of each loop, and the keys that are not read. Raise UsageError for anything else."""
    sections = _sections(text)
    pairs = _value(sections.pop("closed_loop", ""), "closed_loop")
    types = _value(sections.pop("type", ""), "type")
    if not isinstance(pairs, list) or not all(_pair(pair) for pair in pairs):
        raise UsageError("closed_loop must be a list of pairs of frames, such as [[frameA, frameB]]")
    if isinstance(types, str):
        types = [types] * len(pairs)
    if not isinstance(types, list) or len(types) != len(pairs) or not all(isinstance(x, str) and x.lower() in TYPES for x in types):
        raise UsageError(f"type must be a list of {len(pairs)} of '3d' and '6d', one for each loop, got {types!r:.80}")
    return [(TYPES[kind.lower()], a, b) for kind, (a, b) in zip(types, pairs, strict=True)], sorted(sections)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(x, str) for x in value)


def _sections(text: str) -> dict[str, str]:
    """Return the text below each key at the margin."""
    sections: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        found = KEY.match(line)
        if found is not None:
            key = found.group(1)
            if key in sections:
                raise UsageError(f"line {number}: the key {key!r} is there twice")
            sections[key] = [found.group(2) or ""]
        elif key:
            sections[key].append(line)
        else:
            raise UsageError(f"line {number}: a key such as closed_loop: is expected, found {line.strip()[:40]!r}")
    return {key: "\n".join(lines) for key, lines in sections.items()}


def _value(text: str, key: str, depth: int = 0) -> Any:
    """Return the value of a key: a text, or lists of texts."""
    block = dedent(text.strip("\n")).rstrip()
    if depth > MAX_DEPTH:
        raise UsageError(f"{key}: its lists are nested deeper than {MAX_DEPTH} levels")
    if block.startswith("- ") or block.startswith("-\n"):
        return [_value(item, key, depth + 1) for item in _items(block, key)]
    tokens: list[tuple[str, str]] = []
    end = 0
    while True:
        end = next(IGNORED.finditer(block, end)).end()
        if end == len(block):
            break
        found = TOKEN.match(block, end)
        if found is None:
            raise UsageError(f"{key}: {block[end : end + 40]!r} cannot be read")
        tokens.append((str(found.lastgroup), found.group(str(found.lastgroup)).strip()))
        end = found.end()
    return _nested(tokens, key)


def _items(block: str, key: str) -> list[str]:
    """Return the items of a list with dashes; what is indented belongs to the item before it."""
    items: list[list[str]] = []
    for line in block.splitlines():
        if line.startswith("-"):
            items.append([f" {line[1:]}"])
        elif items and line.startswith(" "):
            items[-1].append(line)
        else:
            raise UsageError(f"{key}: {line.strip()[:40]!r} cannot be read in a list")
    if len(items) > MAX_LOOPS:
        raise UsageError(f"{key}: it has more than {MAX_LOOPS} entries")
    return ["\n".join(item) for item in items]


def _nested(tokens: list[tuple[str, str]], key: str) -> Any:
    """Return the lists of a flow text."""
    stack: list[list[Any]] = [[]]
    for kind, text in tokens:
        if kind != "bracket":
            stack[-1].append(text)
        elif text == "[":
            stack.append([])
            if len(stack) > MAX_DEPTH + 1:
                raise UsageError(f"{key}: its lists are nested deeper than {MAX_DEPTH} levels")
        elif text == "]":
            if len(stack) < 2:
                raise UsageError(f"{key}: a bracket is closed that was not opened")
            inner = stack.pop()
            stack[-1].append(inner)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise UsageError(
            f"{key}: one value is expected, got {len(stack[0])}" if len(stack) == 1 else f"{key}: a bracket is not closed"
        )
    return stack[0][0]
