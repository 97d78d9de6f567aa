"""Methods as text, for the command line: "RK4(h=1e-3)", "NullSpace + RK4 + Baumgarte(5, 5)", "BDF(constraint_form=Index2)".

The parts are joined by +, in any order; None stands for stabilization=None. A part is a name, or a name with numbers, texts and other
names as arguments, as in Python; nothing else is evaluated.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

from haugmbd import formulations, integrators
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators import Baumgarte
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.study.method import Method

LEFT_OUT = ("Accelerations", "Event", "EventRecord", "Formulation", "Unstabilized")
"""Public names of the two packages that are not parts of a method."""
CHOICES = {"Baumgarte.scaled": Baumgarte.scaled, "Baumgarte.critical": Baumgarte.critical}
PARTS: dict[str, type[Any]] = {"formulation": Formulation, "integrator": Integrator, "stabilization": Stabilization}


@cache
def names() -> dict[str, Any]:
    """Return the names that a text may contain."""
    found = {name: getattr(package, name) for package in (formulations, integrators) for name in package.__all__}
    return {name: kind for name, kind in found.items() if isinstance(kind, type) and name not in LEFT_OUT} | CHOICES


def method_from(text: str) -> Method:
    """Return the method that a text describes. Raise UsageError, with the text, if it does not describe one."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        hint = _hint(text)
        raise UsageError(
            f"method {text!r} cannot be read{hint}: write parts joined by +, such as 'NullSpace + RK4(h=1e-3)'."
        ) from None
    parts: dict[str, Any] = {}
    for node in _summands(tree):
        part = _value(node, text)
        kinds = ["stabilization"] if part is None else [name for name, kind in PARTS.items() if isinstance(part, kind)]
        if not kinds:
            raise UsageError(f"method {text!r}: {ast.unparse(node)} is not a formulation, integrator or stabilization.")
        if kinds[0] in parts:
            raise UsageError(f"method {text!r} has two parts of one kind ({kinds[0]}).")
        parts[kinds[0]] = part
    try:
        return Method(**parts)
    except HaugmbdError as error:
        raise UsageError(f"method {text!r}: {error}") from error


def _hint(text: str) -> str:
    """Return a suggestion for the first part of a text that begins with no name of a part."""
    begun = (part.split("(")[0].strip() for part in text.split("+"))
    return next((did_you_mean(name, names()) for name in begun if name and name not in names()), "")


def _summands(node: ast.expr) -> list[ast.expr]:
    """Return the parts that are joined by +."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_summands(node.left), *_summands(node.right)]
    return [node]


def _value(node: ast.expr, text: str) -> Any:
    """Return the value of a name, a call or a literal."""
    if isinstance(node, ast.Call):
        made, args = _named(node.func, text), [_value(each, text) for each in node.args]
        if any(each.arg is None for each in node.keywords):
            raise UsageError(f"method {text!r}: {ast.unparse(node)} cannot be read.")
        named = {str(each.arg): _value(each.value, text) for each in node.keywords}
        try:
            return made(*args, **named)
        except (TypeError, HaugmbdError) as error:
            raise UsageError(f"method {text!r}: {error}") from None
    if isinstance(node, ast.Name | ast.Attribute):
        try:
            return _named(node, text)()
        except TypeError as error:
            raise UsageError(f"method {text!r}: {ast.unparse(node)} needs arguments: {error}") from None
    if isinstance(node, ast.Tuple):
        remedy = "Write parts joined by +, such as 'NullSpace + RK4(h=1e-3)', and each of several methods as a text of its own."
        raise UsageError(f"method {text!r} cannot be read: a comma stands between parts or methods. {remedy}")
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise UsageError(f"method {text!r}: {ast.unparse(node)} is not a name, number or text{_hint(text)}.") from None


def _named(node: ast.expr, text: str) -> Any:
    """Return the class or function of a name."""
    name = ast.unparse(node)
    if name not in names():
        raise UsageError(f"method {text!r}: there is no {name!r}{did_you_mean(name, names())}.")
    return names()[name]
