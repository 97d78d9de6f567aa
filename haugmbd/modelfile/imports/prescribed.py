r"""The prescribed value f(t) of an equation of simEngine3D: a number, or a formula as Python text, which is parsed and never executed.

The engines evaluate three texts, f, f_dot and f_ddot. Here f is differentiated exactly; where the texts disagree, the report warns.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from haugmbd.drivers.expression import Expression
from haugmbd.drivers.expression_grammar import evaluate_number, parse, variables
from haugmbd.errors import UsageError
from haugmbd.modelfile.reading import Path, Reading, shown
from haugmbd.modelfile.values import finite

MODULE = re.compile(r"\b(?:np|numpy|math)\.")
SHORT = re.compile(r"\ba(sin|cos|tan|tan2|sinh|cosh|tanh)\b")
"""Names of Python's module math, which NumPy calls arcsin and so on."""
TIMES = (0.0, 0.3, 0.7)
"""Where derivatives are compared [s]."""
AGREE = 1e-6
"""Relative difference of derivatives that typed digits do not make."""
SQUARED = "D"
"""The equation whose f is a square."""


class Prescribed(NamedTuple):
    """The equation: its name, its kind, and its path in the file."""

    name: str
    kind: str
    path: Path


def prescribed_value(equation: Prescribed, given: tuple[Any, Any, Any], reading: Reading, warnings: list[str]) -> Any:
    """Return f as a number or an Expression; BAD, with a fault, if it is neither. `given` are f, f' and f'' of the file."""
    path = (*equation.path, "f")
    try:
        number, text = _parsed(given[0])
    except UsageError as error:
        return reading.fault(path, str(error).rstrip("."), "Give a number, or a formula in t as text.")
    if number is not None:
        return _constant(equation, number, path, reading)
    for order, derivative in enumerate(given[1:], start=1):
        if derivative is not None:
            warnings.extend(_disagreement(equation, text, order, derivative))
    return Expression(f"sqrt({text})" if equation.kind == SQUARED else text)


def _parsed(given: Any) -> tuple[float | None, str]:
    """Return a number, or None and the text of an expression in t. Raise UsageError for anything else."""
    number = finite(given)
    if number is not None:
        return number, ""
    if not isinstance(given, str):
        raise UsageError(f"it is {shown(given)}, not a function of time")
    text = SHORT.sub(r"arc\1", MODULE.sub("", given)).strip()
    names = variables(parse(text))
    if not names:
        return evaluate_number(text, {}), ""
    unknown = [name for name in names if name != "t"]
    if unknown:
        raise UsageError(f"it reads {unknown[0]!r}, which is not t")
    faults = Expression(text).faults()
    if faults:
        raise UsageError(faults[0].what)
    return None, text


def _constant(equation: Prescribed, number: float, path: Path, reading: Reading) -> Any:
    """Return a constant; of D the distance."""
    if equation.kind != SQUARED:
        return number
    if number <= 0.0:
        what = f"f of D {equation.name!r} is {number:g}; it is the square of the distance"
        return reading.fault(path, what, "Give a positive number [m2], or three CD for points that coincide.")
    return float(np.sqrt(number))


def _disagreement(equation: Prescribed, text: str, order: int, derivative: Any) -> list[str]:
    """Return a warning if a derivative of the file is not that of f."""
    name = ("f_dot", "f_ddot")[order - 1]
    where = f"{equation.kind} {equation.name!r}: {name}"
    try:
        number, other = _parsed(derivative)
    except UsageError as error:
        return [f"{where} cannot be read ({str(error).rstrip('.')}); the exact derivative of f is used"]
    f = Expression(text)
    for t in TIMES:
        exact = float(f.values(t)[order])
        typed = number if number is not None else float(Expression(other).values(t)[0])
        if not abs(typed - exact) <= AGREE * (1.0 + abs(exact)):
            return [f"{where} is {typed:.6g} at t = {t:g} s, but the derivative of f is {exact:.6g}, which is used"]
    return []
