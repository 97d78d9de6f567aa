"""No circle of imports at any level: of modules, and of the parts of every package; imports inside functions count."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import haugmbd
from tests.support.statements import parsed, statements

PACKAGE = Path(haugmbd.__file__).parent


def dotted(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Pairs (module, module that it imports)."""
    files = {dotted(file): file for file in PACKAGE.rglob("*.py")}
    pairs = set()
    for name, file in files.items():
        for node in statements(parsed(file)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "haugmbd":
                pairs |= {
                    (name, f"{node.module}.{a.name}" if f"{node.module}.{a.name}" in files else node.module) for a in node.names
                }
            elif isinstance(node, ast.Import):
                pairs |= {(name, a.name) for a in node.names if a.name in files}
    # The public table imports everything when it is asked to.
    return frozenset((a, b) for a, b in pairs if a != b and a != "haugmbd")


@pytest.mark.slow
def test_no_circle_of_modules():
    graph: dict[str, set[str]] = {}
    for a, b in imports():
        graph.setdefault(a, set()).add(b)
    TopologicalSorter(graph).prepare()  # raises CycleError with the circle


@pytest.mark.slow
def test_no_circle_between_the_parts_of_any_package():
    pairs = imports()
    packages = {dotted(file) for file in PACKAGE.rglob("__init__.py")}
    for package in packages:
        depth = package.count(".") + 2
        graph: dict[str, set[str]] = {}
        for a, b in pairs:
            if a.startswith(package + ".") and b.startswith(package + "."):
                x, y = (".".join(name.split(".")[:depth]) for name in (a, b))
                if x != y:
                    graph.setdefault(x, set()).add(y)
        TopologicalSorter(graph).prepare()


def test_joints_do_not_import_the_whole_package():
    folder = PACKAGE.parent / "joints"
    for file in folder.glob("*.py"):
        for node in ast.walk(parsed(file)):
            names = (
                [node.module]
                if isinstance(node, ast.ImportFrom)
                else [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            assert "haugmbd" not in names, file.name


def test_every_package_has_a_map_of_its_files():
    for init in PACKAGE.rglob("__init__.py"):
        if init.parent == PACKAGE or init.parent.name in ("plotting", "viewer"):
            continue
        text = ast.get_docstring(parsed(init), clean=False) or ""
        listed = set(re.findall(r"[a-z_0-9]+", text))
        there = {p.stem for p in init.parent.iterdir() if (p.suffix == ".py" or (p / "__init__.py").exists())} - {
            "__init__",
            "__main__",
        }
        assert there <= listed, (init.parent.name, there - listed)
