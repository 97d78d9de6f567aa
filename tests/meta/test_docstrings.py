"""Docstrings of public names have numpydoc sections: every parameter is described, what is returned, what is raised."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import haugmbd as mbd
import joints
from haugmbd.public_names import MODULES
from haugmbd.public_names import PUBLIC as PUBLIC_NAMES
from tests.support.statements import parsed, statements

PUBLIC = {
    **{f"mbd.faults.{name}": getattr(mbd.faults, name) for name in mbd.faults.__all__ if callable(getattr(mbd.faults, name))},
    **{f"mbd.inertia.{name}": getattr(mbd.inertia, name) for name in mbd.inertia.__all__},
    **{f"mbd.{name}": getattr(mbd, name) for name, one in PUBLIC_NAMES.items() if one.topic != MODULES},
    **{f"joints.{kind.__name__}": kind for kind in joints.CATALOGUE},
}
SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """The numpydoc sections of a docstring, by name."""
    parts = SECTION.split(inspect.cleandoc(text))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section: str) -> set[str]:
    """The names that stand at the margin of a section: `name : type` or `name, other`."""
    heads = [line.split(" :")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(thing: object) -> list[str]:
    """What a caller may give."""
    try:
        given = inspect.signature(thing).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    return [name for name, p in given.items() if name not in ("self", "cls") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def made_by_users(thing: object) -> bool:
    """Whether users call it: functions, and classes that are not results, errors or enumerations."""
    if not inspect.isclass(thing):
        return callable(thing)
    return "Attributes" not in sections(thing.__doc__ or "") and not issubclass(thing, BaseException) and bool(parameters(thing))


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_the_docstring_has_a_summary_and_sections(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    assert text.strip(), name
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return
    found = sections(text)
    if made_by_users(thing):
        missing = set(parameters(thing)) - described(found.get("Parameters", ""))
        assert missing == set(), f"{name}: not in Parameters: {sorted(missing)}"
    if inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in (None, "None"):
        assert "Returns" in found, f"{name}: no Returns"
    if inspect.isfunction(thing):
        assert "Raises" in found or "error" not in text.lower(), f"{name}: errors stand outside Raises"


NO_VERBS = {"A", "An", "How", "The", "What", "Where", "Whether", "Which", "Why"}
"""Words that a description of a function does not begin with: it begins with what the function does."""


def is_property(function: ast.FunctionDef) -> bool:
    """Whether a decorator makes it an attribute, which a noun describes."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


@pytest.mark.slow
def test_the_docstring_of_a_function_begins_with_a_verb():
    found, nouns = [], [[word] for word in NO_VERBS]
    for file in [*Path(mbd.__file__).parent.rglob("*.py"), *Path(joints.__file__).parent.rglob("*.py")]:
        functions = [one for one in statements(parsed(file)) if isinstance(one, ast.FunctionDef)]
        found += [
            f"{file.name}: {one.name}"
            for one in functions
            if (ast.get_docstring(one, clean=False) or "").split(maxsplit=1)[:1] in nouns and not is_property(one)
        ]
    assert found == []
