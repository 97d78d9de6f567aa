"""The pages of all public names, by topic: the topics of `haugmbd/__init__.pyi`, and the joints."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

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


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return a page for each topic, and one for the joints and the faults."""
    made = {}
    for group, names in groups().items():
        made[f"api/{slug(group)}.rst"] = page(group.capitalize(), [f"haugmbd.{name}" for name in names])
    kinds = [kind.__name__ for kind in (*joints.CATALOGUE, *joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES)]
    made["api/joints.rst"] = page("Joints", [f"joints.{name}" for name in kinds])
    made["api/labs.rst"] = page(
        "Labs",
        [f"haugmbd.labs.{name}" for name in ("check", "mystery", "grade", "add", "number", "array", "word", "LabReport", "Grades")],
    )
    made["api/faults.rst"] = page(
        "Faults for teaching", [f"haugmbd.faults.{name}" for name in mbd.faults.__all__ if name[0].islower()]
    )
    made["api/inertia.rst"] = page("Mass and inertia of solids", [f"haugmbd.inertia.{name}" for name in mbd.inertia.__all__])
    titles = "\n   ".join(sorted(name.split("/")[1].removesuffix(".rst") for name in made))
    made["api/index.rst"] = INDEX + f".. toctree::\n   :maxdepth: 1\n\n   {titles}\n"
    return made


def slug(group: str) -> str:
    """Return the file name of a group."""
    return re.sub(r"\W+", "-", group.lower()).strip("-")


def page(title: str, names: list[str]) -> str:
    """Return a page that documents names."""
    things = {name: named(name) for name in names}
    lines = [title, "=" * len(title), "", *overview({name: thing for name, thing in things.items() if callable(thing)})]
    for name, thing in things.items():
        if inspect.isclass(thing):
            lines += [f".. autoclass:: {name}", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {name}", ""]
    return "\n".join(lines)


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
