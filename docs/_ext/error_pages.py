"""The catalogue of errors and warnings: every text in the code, with its cause and remedy, by class and by place.

The code is read, not run: each `raise X(...)`, each `Fault(where, what, remedy)` and each `warn_user(...)` is found in its syntax tree.
What is put into a text when it is raised stands in angle brackets, as the expression that gives it.
"""

from __future__ import annotations

import ast
import html
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haugmbd import errors
from haugmbd.study.sweeps.executors import BrokenSweepError
from haugmbd.viewer.chromium import BrowserError

CLASSES = {
    name: thing for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, Exception | Warning)
} | {thing.__name__: thing for thing in (BrokenSweepError, BrowserError)}
ORDER = ("Fault", *CLASSES)

CONSTANTS: dict[str, ast.expr] = {}
"""Texts that modules keep in constants, by their names."""
TABLES: dict[str, list[str]] = {}
"""Functions that modules keep in tables, by the names of the tables."""

REMEDY = re.compile(
    r"(?<=[.:;,]) (?=(?:Give|Use|Pass|Call|Add|Leave|Choose|Set|Make|Check|Take|Install|Turn|Put|Name|Write|Keep|Start|Try|Remove|Reduce|"
    r"Rename|Run|Move|Start|Shorten|Begin|Raise|Lower|Compile|Build|Assemble|Hold|Drive|Model|Simulate|Drop|Ask|Declare|Let)\b)",
    flags=re.IGNORECASE,
)
"""Where the remedy begins: at an order."""


@dataclass
class Said:
    """One text: its class, what it says, its remedy, and where it is raised."""

    kind: str
    what: str
    remedy: str
    module: str
    function: str
    when: str


@dataclass
class Module:
    """A module: its syntax tree, and the texts that its functions return, by their names."""

    name: str
    tree: ast.Module
    returned: dict[str, list[str]] = field(default_factory=dict)


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the page of all texts."""
    said = texts(root)
    by_kind: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        by_kind[one.kind].append(one)
    head = f"""# Errors: every text

{len(said)} texts of the {len(by_kind)} classes below, read from the code when this page is built. ⟨Angle brackets⟩ hold what a text
names when it is raised: a joint, a number, a file. The [page on errors](../errors.md) says what the classes mean and how to read a
message. Search this page for words of the message that you see.

"""
    order = sorted(by_kind, key=lambda kind: ORDER.index(kind) if kind in ORDER else 99)
    return {"error_texts.md": head + "\n".join(section(kind, by_kind[kind]) for kind in order)}


def section(kind: str, said: list[Said]) -> str:
    """Return the section of one class, by package."""
    says = (
        (CLASSES[kind].__doc__ or "").strip().splitlines()[0]
        if kind in CLASSES
        else "One fault of a model: place, defect and remedy."
    )
    parts = [f"## Texts of {kind}\n", f"{says}\n"]
    by_package: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        by_package[".".join(one.module.split(".")[:2])].append(one)
    for package, members in sorted(by_package.items()):
        parts += [f"### {kind}: {package}\n", "| text | remedy | raised where |", "|---|---|---|"]
        seen = set()
        for one in members:
            line = f"| {cell(one.what)} | {cell(one.remedy)} | `{one.function}`: {cell(one.when)} |"
            if line not in seen:
                seen.add(line)
                parts.append(line)
        parts.append("")
    return "\n".join(parts)


def cell(text: str) -> str:
    """Return a text for a cell of a table: nothing in it is markup."""
    flat = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\|*_`\[\]$~#])", r"\\\1", flat)


def texts(root: Path) -> list[Said]:
    """Return all texts of the package and of the joints."""
    modules = [read(path, root) for package in ("haugmbd", "joints") for path in sorted((root / package).rglob("*.py"))]
    returned: dict[str, list[str]] = {}
    for module in modules:
        tops = local_texts(module.tree, deep=False)
        CONSTANTS.update({name: value for name, value in tops.items() if name.isupper() and literal(value, tops, {})})
        TABLES.update(tables_of(module.tree))
    for module in modules:
        for name, found in module.returned.items():
            returned.setdefault(name, []).extend(found)
    return [one for module in modules for one in said_in(module, returned)]


def read(path: Path, root: Path) -> Module:
    """Return a module with the texts that its functions return."""
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    module = Module(name, ast.parse(path.read_text()))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            values = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
            found = [text for value in values for text in literal(value, local_texts(node), {}) if has_words(text)]
            if found:
                module.returned[node.name] = found
    return module


def local_texts(function: ast.AST, *, deep: bool = True) -> dict[str, ast.expr]:
    """Return the expressions that are assigned to names in a function, or at the top of a module."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(function) if deep else ast.iter_child_nodes(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, node.value)
    return found


def tables_of(tree: ast.Module) -> dict[str, list[str]]:
    """Return the names of the functions in each table at the top of a module."""
    tables = [
        (node.target, node.value) for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    ]
    return {
        ast.unparse(target): [one.id for one in value.values if isinstance(one, ast.Name)]
        for target, value in tables
        if isinstance(value, ast.Dict)
    }


def literal(node: ast.expr, local: dict[str, ast.expr], returned: dict[str, list[str]], depth: int = 0) -> list[str]:
    """Return the texts that an expression may be, () if it is not made of text."""
    if depth > 4:
        return []
    deeper: Any = (local, returned, depth + 1)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else slot(part) for part in node.values)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left, *deeper), literal(node.right, *deeper)
        return (
            [a + b for a in left or [f"⟨{ast.unparse(node.left)}⟩"] for b in right or [f"⟨{ast.unparse(node.right)}⟩"]]
            if left or right
            else []
        )
    if isinstance(node, ast.IfExp):
        return [*literal(node.body, *deeper), *literal(node.orelse, *deeper)]
    if isinstance(node, ast.Name) and node.id in {**CONSTANTS, **local}:
        return literal({**CONSTANTS, **local}[node.id], *deeper)
    if isinstance(node, ast.Call):
        return [text for name in called(node.func) for text in returned.get(name, [])]
    return []


def called(function: ast.expr) -> list[str]:
    """Return the names of the functions that a call may mean: one, or those of a table."""
    if isinstance(function, ast.Subscript):
        return list(dict.fromkeys(TABLES.get(ast.unparse(function.value), [])))
    return [function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""]


def has_words(text: str) -> bool:
    """Return whether a text says something besides what is put into it: one that is only passed on stands elsewhere."""
    return bool(re.search(r"[A-Za-z]{2}", re.sub("⟨.*?⟩", "", text)))


def slot(part: ast.expr) -> str:
    """Return what stands in braces of an f-string, in angle brackets."""
    shown = part.value if isinstance(part, ast.FormattedValue) else part
    text = ast.unparse(shown)
    return f"⟨{text if len(text) <= 40 else text[:37] + '...'}⟩"


def said_in(module: Module, returned: dict[str, list[str]]) -> Iterator[Said]:
    """Yield the texts of a module."""
    for function, node in calls_of(module.tree):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        local = local_texts(function) if function is not None else {}
        where = (module.name, function.name if function is not None else module.name.split(".")[-1], first_line(function))
        if name == "Fault" and len(node.args) == 3:
            whats, remedies = (literal(node.args[k], local, returned) or [f"⟨{ast.unparse(node.args[k])}⟩"] for k in (1, 2))
            for what in filter(has_words, whats):
                yield Said("Fault", what, " / ".join(remedies), *where)
        elif name == "warn_user" and node.args:
            kind = ast.unparse(node.args[1]) if len(node.args) > 1 else "UserWarning"
            yield from split(kind, literal(node.args[0], local, returned), where)
        elif name in CLASSES and node.args and issubclass(CLASSES[name], errors.HaugmbdError):
            yield from split(name, [text for given in node.args[:3] for text in literal(given, local, returned)], where)


def split(kind: str, found: list[str], where: tuple[str, str, str]) -> Iterator[Said]:
    """Yield texts, each parted into what it says and its remedy."""
    for text in filter(has_words, found):
        parts = REMEDY.split(text, maxsplit=1)
        yield Said(kind, parts[0], parts[1] if len(parts) > 1 else "", *where)


def calls_of(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    """Yield every call with the function that it stands in."""

    def walk(node: ast.AST, function: ast.FunctionDef | None) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield function, child
            yield from walk(child, child if isinstance(child, ast.FunctionDef) else function)

    return walk(tree, None)


def first_line(function: ast.FunctionDef | None) -> str:
    """Return the first line of a docstring."""
    text = ast.get_docstring(function) if function is not None else None
    return text.splitlines()[0] if text else ""
