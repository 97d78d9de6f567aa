"""A page for each public name, and a table of them for each topic: the topics of `haugmbd/__init__.pyi`, the joints, and others.

Above the docstring stand the formulas of the file that defines the name, typeset where `formulas` can read them, else as they are.
The pages of names are not in the contents at the side, which every page repeats: tables and the search lead to them.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import formulas
from docstrings import LITERAL

import haugmbd as mbd
import joints
from haugmbd.public_names import MODULES, PUBLIC

INDEX = """Public names by topic
=====================

``import haugmbd as mbd``: all names of these pages, but the joints, are ``mbd.NAME``; joints are imported from ``joints``.

"""


def groups() -> dict[str, list[str]]:
    """Return the public names by topic."""
    found: dict[str, list[str]] = {}
    for one in PUBLIC.values():
        if one.topic != MODULES:
            found.setdefault(one.topic, []).append(one.public)
    return found


MORE_LABS = ("check", "mystery", "write", "grade", "add", "number", "array", "word", "LabReport", "Grades")
"""Names of `mbd.labs`."""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return a page for each topic and each name, and their index."""
    more = (*joints.COUPLINGS, *joints.FREEWHEELS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES, *joints.MOTIONS)
    kinds = [kind.__name__ for kind in (*joints.CATALOGUE, *more)]
    topics = {group.capitalize(): [f"haugmbd.{name}" for name in names if name not in kinds] for group, names in groups().items()}
    topics["Joints"] = [f"joints.{name}" for name in kinds]
    topics["Labs"] = [f"haugmbd.labs.{name}" for name in MORE_LABS]
    topics["Faults for teaching"] = [f"haugmbd.faults.{name}" for name in mbd.faults.__all__ if name[0].islower()]
    topics["Mass and inertia of solids"] = [f"haugmbd.inertia.{name}" for name in mbd.inertia.__all__]
    made = {}
    for title, names in topics.items():
        things = {name: thing for name in names if callable(thing := named(name))}
        file = FILES.get(title, slug(title))
        made[f"api/{file}.rst"] = "\n".join([title, "=" * len(title), "", *overview(things)])
        for name, thing in things.items():
            made[f"api/names/{file_of(name)}.rst"] = page(name, thing, title, file)
    titles = "\n   ".join(sorted(FILES.get(title, slug(title)) for title in topics))
    made["api/index.rst"] = INDEX + f".. toctree::\n   :maxdepth: 1\n\n   {titles}\n"
    return made


FILES = {"Faults for teaching": "faults", "Mass and inertia of solids": "inertia"}
"""Files of topics that are not called like their titles."""


def slug(group: str) -> str:
    """Return the file name of a group."""
    return re.sub(r"\W+", "-", group.lower()).strip("-")


def file_of(name: str) -> str:
    """Return the file of a name. `batch` and `Batch` differ where a disk does not tell small letters from capitals, too."""
    return name if name.rsplit(".", 1)[1][0].isupper() else f"{name}-function"


def page(name: str, thing: Any, topic: str, file: str) -> str:
    """Return the page of one public name."""
    title = name.rsplit(".", 1)[1]
    kind = "class" if inspect.isclass(thing) else "function"
    lines = [
        ":orphan:",
        "",
        title,
        "=" * len(title),
        "",
        f":doc:`Public names </generated/api/index>` / :doc:`{topic} <../{file}>`",
        "",
    ]
    lines += [*mathematics(thing), f".. auto{kind}:: {name}", ""]
    return "\n".join(lines)


def mathematics(thing: Any) -> list[str]:
    """Return the formulas at the head of the file that defines a class or function; none if it has none."""
    head = inspect.cleandoc(sys.modules[thing.__module__].__doc__ or "")
    blocks = [block.strip("\n").split("\n") for block in BLOCK.findall(head)]
    blocks = [block for block in blocks if not block[0].lstrip().startswith(">>>")]
    lines: list[str] = []
    for block in blocks:
        typeset = formulas.block(block)
        shown = typeset.split("\n") if typeset else textwrap.dedent("\n".join(block)).split("\n")
        lines += [".. math::" if typeset else ".. code-block:: text", "", *(f"   {line}" for line in shown), ""]
    return lines


BLOCK = re.compile(r"(?:^ {4,}\S.*(?:\n|\Z))+", flags=re.MULTILINE)
"""Lines of a head that are indented."""


def named(name: str) -> Any:
    """Return what a full name stands for."""
    first, *rest = name.split(".")
    thing: Any = {"haugmbd": mbd, "joints": joints}[first]
    for part in rest:
        thing = getattr(thing, part)
    return thing


def overview(things: dict[str, Any]) -> list[str]:
    """Return a table of names with the first sentence of their docstrings, which links to them."""
    lines = [".. list-table::", "   :widths: 30 70", "   :class: api-overview", ""]
    for name, thing in things.items():
        role = "class" if inspect.isclass(thing) else "func"
        first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
        lines += [f"   * - :py:{role}:`~{name}`", f"     - {plain(first)}"]
    return [*lines, ""]


def plain(text: str) -> str:
    """Return a text in which nothing is markup, but for names in backquotes."""
    return "".join(
        f"``{part.strip('`')}``" if part.startswith("`") else re.sub(r"([*|\\_])", r"\\\1", part) for part in LITERAL.split(text)
    )
