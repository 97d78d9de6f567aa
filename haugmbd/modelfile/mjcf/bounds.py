r"""What is checked of an MJCF file before MuJoCo compiles it: which files it names, and how large its elements would become.

MuJoCo reads the files that a model names, wherever they are, and repeats elements as often as it is told; a file of a stranger may name
/etc/passwd, or 1e9 bodies in one line. Files must be in one folder or below it; counts are bounded.
"""

from __future__ import annotations

from math import isfinite, prod
from pathlib import Path

from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.modelfile.text import read_bounded
from haugmbd.modelfile.xml_reader import Element, parse_xml

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 1000
"""Nested elements: a chain of bodies is as deep as it is long."""
MAX_INCLUDES = 200
MAX_COUNT = 10_000
"""Repetitions of an element, all its repetitions around it included."""
MAX_CELLS = 10_000_000
"""Cells of a height field or a texture."""
MAX_MEMORY = 2.0**31
"""[bytes] Memory that a file may ask for."""
UNITS = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50, "E": 2.0**60}
FOLDERS = ("assetdir", "meshdir", "texturedir")
COUNTS = {
    "replicate": ("count",),
    "composite": ("count",),
    "flexcomp": ("count",),
    "hfield": ("nrow", "ncol"),
    "texture": ("width", "height"),
}
"""Attributes whose product is a number of elements, or of cells."""
CELLS = ("hfield", "texture")


def check_file(path: Path, folder: Path | None) -> None:
    """Raise ModelFileError, with all of them, for files outside of a folder (by default that of the file) and for large counts.

    Raise UsageError if there is no such file.
    """
    read_bounded(path, MAX_BYTES)
    root = (path.parent if folder is None else folder).resolve()
    faults: list[Fault] = []
    waiting, tops = [path], dict[Path, Element]()
    while waiting:
        here = waiting.pop()
        if here in tops:
            continue
        if len(tops) == MAX_INCLUDES:
            raise ModelFileError(str(path), [Fault("the whole file", f"it includes more than {MAX_INCLUDES} files", "")])
        try:
            tops[here] = parse_xml(read_bounded(here, MAX_BYTES), depth=MAX_DEPTH)
        except UsageError as error:
            raise ModelFileError(str(path), [Fault(str(here), str(error).rstrip("."), "")]) from None
        places = (path.parent, here.parent)
        for element in tops[here].below():
            if element.tag == "include" and "file" in element.attributes:
                waiting += [x for x in _named(element, "file", here, places, root, faults) if x.is_file()]
    elements = [(here, element) for here, top in tops.items() for element in top.below()]
    everywhere = (
        path.parent,
        *(path.parent / x for _, e in elements for x in map(e.attributes.get, FOLDERS) if e.tag == "compiler" and x),
    )
    for here, element in elements:
        for key in element.attributes:
            if (key.startswith("file") or (key in FOLDERS and element.tag == "compiler")) and element.tag != "include":
                _named(element, key, here, everywhere, root, faults)
    for here, top in tops.items():
        _check_counts(top, here, faults)
    if faults:
        raise ModelFileError(str(path), faults)


def _named(element: Element, key: str, here: Path, places: tuple[Path, ...], root: Path, faults: list[Fault]) -> list[Path]:
    """Return the paths of a file that an element names, from all places; a fault if one of them is outside of the folder."""
    name = element.attributes[key]
    found = {place: _inside(place, name, root) for place in dict.fromkeys(places)}
    inside = [path for path in found.values() if path is not None]
    if len(inside) < len(found):
        what = f"it names {name!r:.120}, outside of the folder"
        remedy = f"Files must be in {str(root)!r} or below it: move them there, or give folder=."
        faults.append(Fault(f"{here.name}, line {element.line}, <{element.tag}>", what, remedy))
        return []
    return list(dict.fromkeys(inside))


def _check_counts(top: Element, here: Path, faults: list[Fault]) -> None:
    """Append a fault for each element that is repeated too often, or is too large."""
    stack = [(top, 1.0)]
    while stack:
        element, times = stack.pop()
        times = _counted(element, times, f"{here.name}, line {element.line}, <{element.tag}>", faults)
        stack += [(child, times) for child in element.children]


def _inside(place: Path, name: str, root: Path) -> Path | None:
    """Return the path of a named file; None if it is outside of the root folder."""
    try:
        path = (place / name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if path.is_relative_to(root) else None


def _counted(element: Element, times: float, where: str, faults: list[Fault]) -> float:
    """Return how often what is inside an element is repeated; faults for numbers that are too large."""
    if element.tag == "size" and _bytes(element.attributes.get("memory", "0")) > MAX_MEMORY:
        faults.append(
            Fault(where, f"it asks for {element.attributes['memory']!r:.40} of memory", "Leave memory out: it grows as needed.")
        )
    keys = COUNTS.get(element.tag, ())
    numbers = [float(x) for key in keys for x in _numbers(element.attributes.get(key, "1"))]
    count = prod(numbers) * (1.0 if element.tag in CELLS else times)
    most, word = (MAX_CELLS, "cells") if element.tag in CELLS else (MAX_COUNT, "repetitions")
    if keys and not abs(count) <= most:
        faults.append(Fault(where, f"it makes {count:g} {word}", f"Give at most {most}."))
    return count if element.tag == "replicate" else times


def _numbers(text: str) -> list[float]:
    """Return the numbers of an attribute; [1] if they are not numbers, which MuJoCo refuses."""
    try:
        found = [float(part) for part in text.split()]
    except ValueError:
        return [1.0]
    return [x if isfinite(x) else float("inf") for x in found] or [1.0]


def _bytes(text: str) -> float:
    """Return a size such as 100M in bytes; 0 for a text that is not a size, which MuJoCo refuses."""
    number = text.strip().rstrip("".join(UNITS) + "".join(UNITS).lower())
    unit = text.strip()[len(number) :][:1].upper()
    try:
        return float(number) * UNITS.get(unit, 1.0)
    except ValueError:
        return 0.0
