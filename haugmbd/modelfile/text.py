r"""The text of model files: bounded reading of JSON and TOML into plain data, and the line of every path.

Files of strangers are data. A file that is too long, too deep or not regular is refused before its contents are used.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from haugmbd.errors import UsageError
from haugmbd.modelfile.reading import Path

MAX_BYTES = 32 * 2**20
"""Bytes of a file that a program wrote (JSON): about 30000 bodies."""
MAX_BYTES_BY_HAND = 2**20
"""Bytes of a file that a person wrote (TOML)."""
MAX_DEPTH = 12
"""Nested lists and tables; a model file needs 8."""

LINE = re.compile(r"\r\n|\r|\n")
"""The end of a line: other separators of Unicode are parts of names."""
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""A decimal number as every language writes it: Python takes 1_0 for ten, and digits of all scripts, which no other program does."""
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s"\[\]{},:]+')
TOML_TABLE = re.compile(r"^\s*\[(\[)?([^\[\]]+)\]")
TOML_KEY = re.compile(r"^\s*([A-Za-z0-9_$\-]+|\"[^\"]*\"|'[^']*')\s*=")


def read_bounded(path: FilePath, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes. Raise UsageError for any other."""
    try:
        if not path.exists():
            raise UsageError(f"there is no file {str(path)!r}.")
        if not path.is_file():
            raise UsageError(f"{str(path)!r} is not a regular file.")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{str(path)!r:.300} cannot be read: {error.strerror}.") from None
    if len(data) > most:
        raise UsageError(f"{str(path)!r} has more than {most / 2**20:g} MiB: a file of that size is not read.")
    return data


def decode(data: bytes) -> str:
    """Return the text of UTF-8 bytes. Raise UsageError, with the line, for other bytes."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"line {line}: it is not UTF-8 text ({error.reason})") from None


def number(word: str) -> float:
    """Return the number that a word of a file is. Raise ValueError for anything but a decimal number; it may be too large for a float."""
    if NUMBER.fullmatch(word) is None:
        raise ValueError(f"{word!r:.40} is not a decimal number")
    return float(word)


def parse_json(text: str) -> Any:
    """Return the data of a JSON text. Raise UsageError, with the line, if it is not one, too deep, or has a key twice."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {error.lineno}, column {error.colno}: it is not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"it nests lists and tables deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:  # a number of thousands of digits, a key twice, NaN
        raise UsageError(f"it is not JSON: {str(error).split(';')[0]}") from None
    return bounded(data)


def parse_toml(text: str) -> Any:
    """Return the data of a TOML text. Raise UsageError, with the line, if it is not one, or too deep."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > 1000 or line.count("[") > 10_000:
            raise UsageError(f"line {number}: its keys or lists are nested too deep")
    try:
        return bounded(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"it is not TOML that can be read: it nests lists and tables deeper than {MAX_DEPTH} levels") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"it is not TOML that can be read: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table. Raise ValueError for a key that is there twice: one of the two values would be lost."""
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r:.60} is there twice in one table")
    return table


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def bounded(data: Any) -> Any:
    """Return the data. Raise UsageError if it is nested too deep."""
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        level = [
            part for each in level if isinstance(each, dict | list) for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return data
    raise UsageError(f"it nests lists and tables deeper than {MAX_DEPTH} levels")


def json_lines(text: str) -> dict[Path, int]:
    """Return the line of every path of a valid JSON text; of an entry of a table the line of its key."""
    lines: dict[Path, int] = {(): 1}
    path: list[str | int] = []
    kinds: list[str] = []
    key_next = False
    for token, line in _tokens(text):
        if key_next and token.startswith('"'):
            path[-1] = json.loads(token)
            lines[tuple(path)] = line
            key_next = False
            continue
        if token in "]}":
            kinds.pop()
            path.pop()
            key_next = False
        elif token == ",":
            if kinds[-1] == "{":
                key_next = True
            else:
                path[-1] = int(path[-1]) + 1
        elif token != ":":
            lines.setdefault(tuple(path), line)
            if token in "[{":
                kinds.append(token)
                path.append(0)
                key_next = token == "{"
    return lines


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line, last = 1, 0
    for found in JSON_TOKEN.finditer(text):
        line += text.count("\n", last, found.start())
        last = found.start()
        yield found.group(), line


def toml_lines(text: str) -> dict[Path, int]:
    """Return the line of tables and of keys at the beginning of a line of a TOML text."""
    lines: dict[Path, int] = {(): 1}
    counts: dict[str, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        head = TOML_TABLE.match(line)
        key = TOML_KEY.match(line)
        if head is not None:
            names = [name.strip().strip("\"'") for name in head.group(2).split(".")]
            if head.group(1):
                counts[".".join(names)] = counts.get(".".join(names), -1) + 1
            table = _counted(names, counts)
            lines.setdefault(table, number)
        elif key is not None:
            lines.setdefault((*table, key.group(1).strip("\"'")), number)
    return lines


def _counted(names: list[str], counts: dict[str, int]) -> Path:
    """Return the path of a table; a list of tables has the position of its last one."""
    path: list[str | int] = []
    for k, name in enumerate(names):
        path.append(name)
        position = counts.get(".".join(names[: k + 1]))
        if position is not None:
            path.append(position)
    return tuple(path)


def line_of(lines: dict[Path, int], path: Path) -> int:
    """Return the line of a path, or of the nearest table that contains it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
