r"""A small reader of XML for files of strangers: elements with their lines; no document types, no entities, bounded size and nesting.

Source: W3C, Extensible Markup Language 1.0; entities are refused because of their exponential growth (CVE-2003-1564).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from haugmbd.errors import UsageError

MAX_DEPTH = 40
"""Nested elements; a URDF needs 6."""
MAX_ELEMENTS = 200_000
MAX_ATTRIBUTES = 1000
"""Of one element; formats know up to 100, and readers that look for each take a time of the second order."""


BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?((?:\s|<!--(?:(?!-->)[\s\S])*-->)*)(<\?xml\b[^>]*\?>)")
"""What is before the declaration of a document: nothing, blank lines or comments; and the declaration."""


@dataclass
class Element:
    """An element: its name, its attributes, its children, its line, and its text, where it is asked for."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        """Return the children of this name."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """Return the first child of this name, None if there is none."""
        return next(iter(self.all(tag)), None)

    def below(self) -> Iterator[Element]:
        """Yield all elements below this one."""
        stack = list(reversed(self.children))
        while stack:
            one = stack.pop()
            yield one
            stack.extend(reversed(one.children))


def _from_declaration(data: bytes) -> bytes:
    """Return a document whose declaration is its first bytes, as XML demands, with the lines of the file.

    Blank lines and comments before <?xml ... ?> are put behind it; readers of robots take them, and they change nothing.
    """
    found = BEFORE.match(data)
    if found is None or not found.group(1):
        return data
    before, declaration = found.groups()
    flat = declaration.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b" ")
    return bytes(flat + before + declaration.count(b"\n") * b"\n" + data[found.end() :])


def _with_plain_comments(data: bytes) -> bytes:
    """Return a document whose comments contain no two hyphens in a row, which XML forbids and readers of robots take."""
    parts, end = list[bytes](), 0
    while (start := data.find(b"<!--", end)) >= 0 and (close := data.find(b"-->", start + 4)) >= 0:
        inside = data[start + 4 : close].replace(b"--", b"  ")
        parts += [data[end:start], b"<!--", inside[:-1] + inside[-1:].replace(b"-", b" "), b"-->"]
        end = close + 3
    return b"".join((*parts, data[end:]))


def parse_xml(data: bytes, *, depth: int = MAX_DEPTH, elements: int = MAX_ELEMENTS, texts: bool = False) -> Element:
    """Return the root element, with the texts of elements if `texts`.

    Raise UsageError, with the line, if the data are not XML, have a document type, or are too deep.
    """
    data = _with_plain_comments(_from_declaration(data))
    parser = expat.ParserCreate()
    top = Element("", {}, 0)
    stack = [top]
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(stack) > depth:
            raise UsageError(f"line {parser.CurrentLineNumber}: its elements are nested deeper than {depth} levels")
        if count > elements:
            raise UsageError(f"line {parser.CurrentLineNumber}: it has more than {elements} elements")
        if len(attributes) > MAX_ATTRIBUTES:
            raise UsageError(f"line {parser.CurrentLineNumber}: <{tag[:40]}> has more than {MAX_ATTRIBUTES} attributes")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_: Any) -> None:
        raise UsageError(f"line {parser.CurrentLineNumber}: it has a document type or entities, which are not read")

    parts: dict[int, list[str]] = {}

    def end(tag: str) -> None:
        element = stack.pop()
        if texts:
            element.text = "".join(parts.pop(id(element), ()))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    if texts:
        parser.buffer_text = True
        parser.CharacterDataHandler = lambda text: parts.setdefault(id(stack[-1]), []).append(text)
    for name in ("StartDoctypeDeclHandler", "EntityDeclHandler", "UnparsedEntityDeclHandler", "ExternalEntityRefHandler"):
        setattr(parser, name, refuse)
    _run_parser(parser, data)
    return top.children[0]


def _run_parser(parser: expat.XMLParserType, data: bytes) -> None:
    """Parse the data. Raise UsageError, with the line where the parser knows it, if they are not XML."""
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UsageError(f"line {error.lineno}: it is not XML: {expat.errors.messages[error.code]}") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"it is not XML that can be read: {error}") from None
