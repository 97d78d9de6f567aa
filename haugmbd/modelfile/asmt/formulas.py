r"""Formulas of motions: the solver's functions of `time`, as expressions in t.

x^2  ->  x**2        asin  ->  arcsin        1d-3  ->  1e-3        2.0d  ->  2.0        <n> is a line break

A text in double quotes is a comment, and numbers with a d are those of double precision, as in Smalltalk, in which the first programs of
these files were written.
"""

from __future__ import annotations

import re

from haugmbd.drivers.expression import Expression
from haugmbd.drivers.expression_grammar import parse, variables
from haugmbd.errors import UsageError

WORD = re.compile(r"[A-Za-z_]\w*")
WORDS = {
    "time": "t",
    "asin": "arcsin",
    "pi": "pi",
    "abs": "abs",
    "arcsin": "arcsin",
    "arctan": "arctan",
    "cos": "cos",
    "sin": "sin",
}
"""Names of a formula: those of the solver that stand for one of ours."""
DOUBLE = re.compile(r"(?<![\w.])([0-9]+\.?[0-9]*|\.[0-9]+)[dD](?:([-+]?[0-9]+)(?![\w.])|(?![\w.]))")
"""A number of double precision, with or without an exponent."""
COMMENT = re.compile(r'"[^"]*"')
LINE_BREAK = "<n>"


def plain_numbers(text: str) -> str:
    """Return a text whose numbers of double precision, 1d-3 or 2.0d, are written as 1e-3 and 2.0."""
    return DOUBLE.sub(lambda found: found.group(1) + (f"e{found.group(2)}" if found.group(2) else ""), text)


def expression_of(text: str, factor: float = 1.0) -> Expression:
    """Return a formula, times a factor. Raise UsageError for one that is not understood."""
    plain = plain_numbers(COMMENT.sub(" ", text.replace(LINE_BREAK, " "))).strip()
    unknown = [word for word in WORD.findall(re.sub(r"(?<=[0-9.])e(?=[-+0-9])", "", plain)) if word not in WORDS]
    if unknown:
        raise UsageError(f"the formula {text!r:.80} has {unknown[0]!r}; known are {', '.join(WORDS)}")
    ours = WORD.sub(lambda found: WORDS.get(found.group(), found.group()), plain).replace("^", "**")
    if factor != 1.0:
        ours = f"{factor!r} * ({ours})"
    extra = [name for name in variables(parse(ours)) if name != "t"]
    if extra:
        raise UsageError(f"the formula {text!r:.80} has {extra[0]!r}, which is not time")
    made = Expression(ours)
    for fault in made.faults():
        raise UsageError(fault.what)
    return made
