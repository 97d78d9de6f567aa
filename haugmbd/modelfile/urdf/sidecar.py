r"""The sidecar file of Extended URDF, which closes loops of a URDF:

    closed_loop: [[frameA, frameB], [frameC, frameD]]       names of links or joints
    type: ['6d', '3d']                                      the frames coincide; their points coincide
    joint_name: [jointA, jointB]                            joints that are others than the URDF can say
    joint_type: [SPHERICAL, UJOINT_XY]                      a ball; a universal joint of these two axes of the joint's frame; FIXED

Only these keys are read, in YAML's flow form or as lists with dashes; other keys are reported. No YAML library is needed, and no tag,
anchor or document of YAML is understood.
Source: Extended URDF, as robots with closed loops for Pinocchio are published.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any, NamedTuple

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
KIND = re.compile(r"SPHERICAL|FIXED|UJOINT_(?:X[YZ]|Y[XZ]|Z[XY])")


class Sidecar(NamedTuple):
    """A sidecar file: (type, frame A, frame B) of each loop, the kind of joints that are replaced, and the keys that are not read."""

    loops: list[tuple[str, str, str]]
    joints: dict[str, str]
    unread: list[str]


def read_sidecar(text: str) -> Sidecar:
    """Return what a sidecar file says. Raise UsageError for anything else."""
    sections = _sections(text)
    pairs = _value(sections.pop("closed_loop", ""), "closed_loop")
    types = _value(sections.pop("type", ""), "type")
    names, kinds = (_value(sections.pop(key, "[]"), key) for key in ("joint_name", "joint_type"))
    if not isinstance(pairs, list) or not all(_pair(pair) for pair in pairs):
        raise UsageError("closed_loop must be a list of pairs of frames, such as [[frameA, frameB]]")
    if isinstance(types, str):
        types = [types] * len(pairs)
    if not isinstance(types, list) or len(types) != len(pairs) or not all(isinstance(x, str) and x.lower() in TYPES for x in types):
        raise UsageError(f"type must be a list of {len(pairs)} of '3d' and '6d', one for each loop, got {types!r:.80}")
    loops = [(TYPES[kind.lower()], a, b) for kind, (a, b) in zip(types, pairs, strict=True)]
    return Sidecar(loops, _replaced(names, kinds), sorted(sections))


def _replaced(names: Any, kinds: Any) -> dict[str, str]:
    """Return the kinds of the joints that are replaced."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise UsageError(f"joint_name must be a list of joints, each once, got {names!r:.80}")
    if not isinstance(kinds, list) or len(kinds) != len(names) or not all(isinstance(x, str) and KIND.fullmatch(x) for x in kinds):
        wanted = "SPHERICAL, FIXED and UJOINT_XY, UJOINT_ZX or other two axes, one for each joint of joint_name"
        raise UsageError(f"joint_type must be a list of {len(names)} of {wanted}, got {kinds!r:.80}")
    return dict(zip(names, kinds, strict=True))


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
