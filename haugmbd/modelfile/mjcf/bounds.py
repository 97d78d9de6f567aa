r"""What is checked of an MJCF file before MuJoCo compiles it: which files it names, and how large its elements would become.

    elements of a file     n(e) = 1 + sum n(child)            of a replicate times its count, of an include those of its file,
                                                              of an attach those of the model, or of the part, that it copies

MuJoCo reads the files that a model names, wherever they are, and repeats elements as often as it is told; a file of a stranger may name
/etc/passwd, or 1e9 bodies in one line. Files must be in one folder or below it, those of included files and of attached models as well;
what an element becomes is counted as MuJoCo expands it, through files, and bounded. MuJoCo's compiler takes a time of at least the second
order in the numbers of bodies, elements and attributes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from math import isfinite, prod
from pathlib import Path
from typing import NamedTuple

from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.modelfile.text import number, read_bounded
from haugmbd.modelfile.xml_reader import Element, parse_xml

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 1000
"""Nested elements: a chain of bodies is as deep as it is long."""
MAX_INCLUDES = 200
"""Files that are included, and models that are attached."""
MAX_COUNT = 10_000
"""Repetitions of an element, all its repetitions around it included."""
MAX_BODIES = 5_000
"""Bodies of a model with all that is repeated: MuJoCo takes 10 s for as many, and 30 s to 80 s for twice as many."""
MAX_ELEMENTS = 60_000
"""Elements of a model with all that is repeated: 10 s of MuJoCo's compiler."""
MAX_CLASSES = 5_000
"""Classes of defaults; each holds an element of every kind."""
MAX_KEYS = 10_000
"""Keyframes: the time that MuJoCo takes for them grows faster than their number, 4 s for 5e4."""
MAX_CELLS = 10_000_000
"""Cells of height fields or textures."""
MAX_PIXELS = 2**27
"""Pixels of images, which may be far smaller as files; robots with 17 textures of 2048 x 2048 have half as many."""
MAX_ASSETS = 512 * 2**20
"""[bytes] Files of meshes, textures, height fields and skins together, each as often as it is named."""
MAX_MEMORY = 2.0**31
"""[bytes] Memory that a file may ask for."""
MAX_STEPS = 1e5
"""Steps of the search for the range of the length of an actuator; a default file has 1e3."""
UNITS = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50, "E": 2.0**60}
FOLDERS = ("assetdir", "meshdir", "texturedir")
COUNTS = {
    "replicate": ("count",),
    "composite": ("count",),
    "flexcomp": ("count",),
    "hfield": ("nrow", "ncol"),
    "texture": ("width", "height"),
    "camera": ("resolution",),
}
"""Attributes whose product is a number of elements, or of cells."""
CELLS = ("hfield", "texture", "camera")
BODIES = ("composite", "flexcomp")
"""Elements that make as many bodies as they count."""
FLEXIBLE = ("flex", "flexcomp")
"""Elements that cannot be read whatever MuJoCo makes of them."""
NUMBERS = {
    ("size", "nkey"): 1_000,
    ("size", "nuserdata"): 1_000_000,
    ("size", "njmax"): 100_000_000,
    ("size", "nconmax"): 10_000_000,
    ("size", "nstack"): 250_000_000,
    ("mesh", "params"): 300,
    ("user", "dim"): 1_000_000,
    ("contact", "num"): 10_000,
    ("numeric", "size"): 1_000_000,
}
"""The largest numbers of other attributes: of keyframes MuJoCo takes 18 s for 1e5, of user data 12 s for 2e8."""
PER_ELEMENT = ("nuser_", "nsample")
MAX_PER_ELEMENT = 1_000
"""Numbers that every element of a kind is given."""
PNG = b"\x89PNG\r\n\x1a\n"
SIZED = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?[ \t\r\n]*([a-zA-Z]?)")


class Made(NamedTuple):
    """What an element becomes: elements, and bodies among them."""

    elements: float = 0.0
    bodies: float = 0.0

    def __add__(self, other: object) -> Made:
        """Return both together."""
        assert isinstance(other, Made)
        return Made(self.elements + other.elements, self.bodies + other.bodies)

    def times(self, count: float) -> Made:
        """Return as many of them."""
        return Made(count * self.elements, count * self.bodies)


@dataclass
class Check:
    """What is found while the files of a model are read.

    path: the file that is asked for;  root: the folder that all files must be in;  tops: the root element of each file;
    made: of each attached model;  active: models that are being counted;  assets: bytes and pixels of the files that are named
    """

    path: Path
    root: Path
    faults: list[Fault] = field(default_factory=list)
    tops: dict[Path, Element] = field(default_factory=dict)
    made: dict[Path, Made] = field(default_factory=dict)
    active: list[Path] = field(default_factory=list)
    assets: int = 0
    pixels: int = 0

    def fault(self, here: Path, element: Element, what: str, remedy: str) -> None:
        """Record a fault."""
        self.faults.append(Fault(f"{here.name}, line {element.line}, <{element.tag}>", what, remedy))

    def top(self, here: Path) -> Element:
        """Return the root element of a file. Raise ModelFileError if it is not XML, or if there are too many files."""
        if here not in self.tops:
            if len(self.tops) > MAX_INCLUDES:
                self.stop(f"it includes or attaches more than {MAX_INCLUDES} files")
            try:
                self.tops[here] = parse_xml(read_bounded(here, MAX_BYTES), depth=MAX_DEPTH, elements=MAX_ELEMENTS)
            except UsageError as error:
                raise ModelFileError(str(self.path), [Fault(str(here), str(error).rstrip("."), "")]) from None
        return self.tops[here]

    def stop(self, what: str) -> None:
        """Raise ModelFileError for the whole file, with the faults so far."""
        raise ModelFileError(str(self.path), [*self.faults, Fault("the whole file", what, "")])


def check_file(path: Path, folder: Path | None) -> int:
    """Return how many bodies MuJoCo will make of a file, repetitions and copies included.

    Raise ModelFileError, with all of them, for files outside of a folder (by default that of the file) and for large counts.

    Raise UsageError if there is no such file.
    """
    read_bounded(path, MAX_BYTES)
    check = Check(path.resolve(), (path.parent if folder is None else folder).resolve())
    if check.top(check.path).tag == "mujocoinclude":
        check.stop("its root is <mujocoinclude>: it is a part of a model. Read the file that includes it")
    made = _model(check, check.path)
    if check.faults:
        raise ModelFileError(str(path), check.faults)
    return int(made.bodies)


def _model(check: Check, path: Path) -> Made:
    """Check a model with the files that it includes and attaches, and return what it becomes."""
    if path in check.made:
        return check.made[path]
    if path in check.active:
        check.stop(f"{path.name} attaches itself, through {' and '.join(x.name for x in check.active)}")
    check.active.append(path)
    files = _included(check, path)
    elements = [(here, element) for here in files for element in check.top(here).below()]
    everywhere = (path.parent, *(path.parent / x for x in _folders(elements)))
    models: dict[str, Made] = {}
    for here, element in elements:
        if element.tag == "model" and "file" in element.attributes:
            inside = next((x for x in _named(check, element, "file", here, (path.parent,)) if x.is_file()), None)
            if inside is not None:  # MuJoCo says that a file is not there
                models[element.attributes.get("name") or _model_name(check, inside)] = _model(check, inside)
        elif not _is_include(element):
            _check_names(check, element, here, everywhere)
        if element.tag in FLEXIBLE:
            check.fault(here, element, "deformable bodies cannot be read", "Remove it.")
        _check_numbers(check, element, here)
    for here in files:
        _check_counts(check, check.top(here), here)
    if check.faults:
        raise ModelFileError(str(check.path), check.faults)
    for tag, most, word in (("default", MAX_CLASSES, "classes of defaults"), ("key", MAX_KEYS, "keyframes")):
        count = sum(element.tag == tag for _, element in elements)
        if count > most:
            check.stop(f"{path.name} has {count} {word}, more than {most}")
    check.made[path] = _expanded(check, path, files, models)
    check.active.pop()
    return check.made[path]


def _is_include(element: Element) -> bool:
    """Return whether an element includes a file: MuJoCo takes this name in letters of any case."""
    return element.tag.lower() == "include"


def _included(check: Check, path: Path) -> list[Path]:
    """Return a file and all that it includes. A fault for a file that is included twice, which MuJoCo refuses."""
    files, waiting = [path], [path]
    while waiting:
        here = waiting.pop()
        for element in check.top(here).below():
            if not _is_include(element) or "file" not in element.attributes:
                continue
            for inside in _named(check, element, "file", here, (path.parent, here.parent)):
                if inside.is_file() and inside not in files:
                    files.append(inside)
                    waiting.append(inside)
    return files


def _folders(elements: list[tuple[Path, Element]]) -> list[str]:
    """Return the folders that compilers name."""
    return [x for _, element in elements if element.tag == "compiler" for x in map(element.attributes.get, FOLDERS) if x]


def _model_name(check: Check, path: Path) -> str:
    """Return the name that a model gives itself, by which it is attached."""
    return check.top(path).attributes.get("model", "MuJoCo Model")


def _check_names(check: Check, element: Element, here: Path, everywhere: tuple[Path, ...]) -> None:
    """Check the files that an element names: their places and their sizes."""
    for key in element.attributes:
        names = key.startswith("file") or (key in FOLDERS and element.tag == "compiler")
        config = element.tag == "config" and key == "value" and "file" in element.attributes.get("key", "").lower()
        if not (names or config):
            continue
        for inside in _named(check, element, key, here, everywhere):
            if inside.is_file():
                _weigh(check, element, here, inside)
                break


def _weigh(check: Check, element: Element, here: Path, path: Path) -> None:
    """Add the size of a file, and of the image in it. Raise ModelFileError if all are too large."""
    check.assets += path.stat().st_size
    with path.open("rb") as file:
        head = file.read(24)
    if head.startswith(PNG) and len(head) == 24:
        check.pixels += int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
    where = f"{here.name}, line {element.line}, <{element.tag}>"
    if check.assets > MAX_ASSETS:
        check.stop(f"with {where} its files have more than {MAX_ASSETS / 2**20:g} MiB")
    if check.pixels > MAX_PIXELS:
        check.stop(f"with {where} its images have {check.pixels} pixels, more than {MAX_PIXELS}")


def _named(check: Check, element: Element, key: str, here: Path, places: tuple[Path, ...]) -> list[Path]:
    """Return the paths of a file that an element names, from all places; a fault if one of them is outside of the folder."""
    name = element.attributes[key]
    paths = {folder: _inside(folder, name, check.root) for folder in dict.fromkeys(places)}
    inside = [path for path in paths.values() if path is not None]
    if len(inside) < len(paths):
        what = f"it names {name!r:.120}, outside of the folder"
        remedy = f"Files must be in {str(check.root)!r} or below it: move them there, or give folder=."
        check.fault(here, element, what, remedy)
        return []
    return list(dict.fromkeys(inside))


def _inside(folder: Path, name: str, root: Path) -> Path | None:
    """Return the path of a named file; None if it is outside of the root folder, as the system finds it, or as its text says.

    MuJoCo shortens a/../b to b whatever a is, and takes a backslash for a slash.
    """
    first = None
    for text in (name, name.replace("\\", "/")):
        try:
            path = (folder / text).resolve()
            plain = Path(os.path.normpath(folder.resolve() / text))
        except (OSError, ValueError, RuntimeError):
            return None
        if not (path.is_relative_to(root) and plain.is_relative_to(root)):
            return None
        first = first or path
    return first


def _check_counts(check: Check, top: Element, here: Path) -> None:
    """Append a fault for each element that is repeated too often, or is too large."""
    stack = [(top, 1.0)]
    while stack:
        element, times = stack.pop()
        times = _counted(check, element, times, here)
        stack += [(child, times) for child in element.children]


def _counted(check: Check, element: Element, times: float, here: Path) -> float:
    """Return how often what is inside an element is repeated; faults for numbers that are too large."""
    keys = COUNTS.get(element.tag, ())
    count = _product(element, keys) * (1.0 if element.tag in CELLS else times)
    most, word = (MAX_CELLS, "cells") if element.tag in CELLS else (MAX_COUNT, "repetitions")
    if keys and not abs(count) <= most:
        check.fault(here, element, f"it makes {count:g} {word}", f"Give at most {most}.")
    return count if element.tag == "replicate" else times


def _product(element: Element, keys: tuple[str, ...]) -> float:
    """Return the product of the numbers of attributes."""
    return prod(x for key in keys for x in _numbers(element.attributes.get(key, "1")))


def _check_numbers(check: Check, element: Element, here: Path) -> None:
    """Append a fault for each number that asks for too much memory, or for too many steps."""
    if element.tag == "size" and _bytes(element.attributes.get("memory", "0")) > MAX_MEMORY:
        what = f"it asks for {element.attributes['memory']!r:.40} of memory"
        check.fault(here, element, what, "Leave memory out: it grows as needed.")
    for key, text in element.attributes.items():
        most = NUMBERS.get((element.tag, key), MAX_PER_ELEMENT if key.startswith(PER_ELEMENT) else None)
        if most is not None and any(x > most for x in _numbers(text)):
            check.fault(here, element, f"its {key} is {text[:40]!r}", f"Give at most {most}.")
    if element.tag == "lengthrange":
        total, step = (_numbers(element.attributes.get(key, x))[0] for key, x in (("inttotal", "10"), ("timestep", "0.01")))
        if not abs(total) <= MAX_STEPS * abs(step):
            what = f"inttotal {total:g} and timestep {step:g} make more than {MAX_STEPS:g} steps for each actuator"
            check.fault(here, element, what, "Give a larger timestep.")


@dataclass
class Open:
    """An element that is being counted: its children that are left, what those before became, and the file that it is in."""

    element: Element
    here: Path
    children: list[Element]
    made: Made = Made()


def _expanded(check: Check, path: Path, files: list[Path], models: dict[str, Made]) -> Made:
    """Return what a model becomes, included files, copies and attached models with it. Raise ModelFileError if it is too large."""
    parts: dict[str, Made] = {}
    used: set[Path] = {path}
    stack = [Open(check.top(path), path, check.top(path).children[::-1])]

    total = Made()  # of all that is open: the sum over the stack
    while True:
        here = stack[-1]
        if here.children:
            child = here.children.pop()
            file = _file_of(child, (here.here.parent, path.parent), files) if _is_include(child) else None
            if file is not None and file in used:
                check.stop(f"{here.here.name}, line {child.line}: {file.name} is included twice, or includes itself")
            inside = check.top(file).children if file is not None else child.children
            if file is not None:
                used.add(file)
            stack.append(Open(child, file or here.here, inside[::-1]))
            continue
        done = stack.pop()
        made = _own(done, models, parts, total)
        total = total + made + done.made.times(-1.0)
        if name := done.element.attributes.get("name"):
            parts[name] = max(made, parts.get(name, Made()))
        if not stack:
            return made
        for n, most, word in ((total.elements, MAX_ELEMENTS, "elements"), (total.bodies, MAX_BODIES, "bodies")):
            if not n <= most:
                where = f"{done.here.name}, line {done.element.line}, <{done.element.tag}>"
                check.stop(f"with {where} it makes {n:g} {word}, repetitions and copies included; {most} are read")
        stack[-1].made += made


def _file_of(element: Element, places: tuple[Path, ...], files: list[Path]) -> Path | None:
    """Return the file, of those that were found, that an include reads; None if there is none, which MuJoCo refuses."""
    name = element.attributes.get("file", "").replace("\\", "/")
    by_path = {file.resolve(): file for file in files}
    return next((by_path[x] for x in ((folder / name).resolve() for folder in places) if x in by_path), None)


def _own(done: Open, models: dict[str, Made], parts: dict[str, Made], total: Made) -> Made:
    """Return what an element becomes, from what its children became; total: what has been counted before."""
    element, tag = done.element, done.element.tag
    if tag == "replicate":
        return done.made.times(max(1.0, _product(element, ("count",)))) + Made(1.0)
    if tag in BODIES:
        count = max(1.0, _product(element, ("count",)))
        return (done.made + Made(1.0, 1.0)).times(count)
    if tag == "attach":
        copied = models.get(element.attributes["model"]) if "model" in element.attributes else None
        if "model" not in element.attributes:  # a copy of a part of this model; of all of it, where the part is not known
            copied = parts.get(element.attributes.get("body", element.attributes.get("frame", "")))
        return Made(1.0) + (total if copied is None else copied)
    return done.made + Made(1.0, float(tag == "body"))


def _numbers(text: str) -> list[float]:
    """Return the numbers of an attribute; infinity for what is none, or is no number that a model can have."""
    values = []
    for word in text.split():
        try:
            x = number(word)
        except ValueError:
            x = float("inf")
        values.append(x if isfinite(x) else float("inf"))
    return values or [1.0]


def _bytes(text: str) -> float:
    """Return a size such as 100M in bytes; infinity for a text that is not a size."""
    match = SIZED.fullmatch(text.strip())
    if match is None or match.group(1).upper() not in ("", *UNITS):
        return float("inf")
    try:
        return number(text.strip().rstrip("".join(UNITS) + "".join(UNITS).lower()).strip()) * UNITS.get(match.group(1).upper(), 1.0)
    except ValueError:
        return float("inf")
