r"""The grammar of expressions: a formula as text, translated into postfix operations; nothing of the text is executed as Python.

    comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]          only as the first argument of where(...)
    sum        = product {("+" | "-") product}
    product    = sign {("*" | "/" | "%") sign}
    sign       = {"+" | "-"} power
    power      = atom ["**" sign]                                            binds to the right: a ** b ** c = a ** (b ** c)
    atom       = number | name | name "(" comparison {"," comparison} ")" | "(" comparison ")"

Functions and constants have the names of NumPy; any other name is a variable. Length and nesting are bounded, and the postfix form
is evaluated with a stack, so that no text can exhaust memory or recursion.
Source: Aho, Lam, Sethi, Ullman (2007), Compilers, sec. 2.4: predictive parsing; sec. 2.3: translation to postfix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError

MAX_LENGTH = 4000
"""Characters of an expression: more than the tables of ramps that programs write."""
MAX_DEPTH = 40
"""Nested parentheses, calls and signs."""

FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{
        name: (getattr(np, name), 1)
        for name in (
            *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
            *("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "square", "abs", "sign", "floor", "ceil"),
            *("radians", "degrees"),
        )
    },
    **{name: (getattr(np, name), 2) for name in ("arctan2", "hypot", "minimum", "maximum", "heaviside")},
    "where": (np.where, 3),
}
"""NumPy's functions by name, with the number of their arguments."""
CONSTANTS = {"pi": np.pi, "e": np.e}
TIME = "t"
RESERVED = frozenset((*FUNCTIONS, *CONSTANTS, TIME))
"""Names that no parameter may have."""

COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
SUMS = {"+": np.add, "-": np.subtract}
PRODUCTS = {"*": np.multiply, "/": np.divide, "%": np.remainder}

TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/%(),<>]))"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
USED_FOR = {
    "^": "write ** for a power",
    "=": "write == to compare",
    "[": "write round parentheses",
    ".": "names have no points: write sin(t), not np.sin(t)",
}


class Step(NamedTuple):
    """One operation in postfix order: a number, a variable, or a function of the last `arguments` values."""

    number: float = 0.0
    variable: str = ""
    function: Callable[..., Any] | None = None
    arguments: int = 0


Program = tuple[Step, ...]


def parse(text: Any) -> Program:
    """Return the postfix program of an expression. Raise UsageError, with the column, if the text is not one."""
    if not isinstance(text, str):
        raise UsageError(f"an expression is a string such as '0.2 * sin(3 * t)', got {text!r:.60}.")
    if len(text) > MAX_LENGTH:
        raise UsageError(f"an expression has at most {MAX_LENGTH} characters, got {len(text)}: {text[:40]!r} ...")
    return _Parser(text).program()


def variables(program: Program) -> tuple[str, ...]:
    """Return the names of the variables, each once, in the order of the text."""
    return tuple(dict.fromkeys(step.variable for step in program if step.variable))


def evaluate(program: Program, values: Mapping[str, Any]) -> Any:
    """Return the value for these values of its variables: numbers, or objects that NumPy's functions know."""
    stack: list[Any] = []
    for step in program:
        if step.function is not None:
            arguments = stack[-step.arguments :]
            del stack[-step.arguments :]
            stack.append(step.function(*arguments))
        else:
            stack.append(values[step.variable] if step.variable else np.float64(step.number))
    return stack[0]


def evaluate_number(text: str, values: Mapping[str, float]) -> float:
    """Return the value of an expression without t. Raise UsageError for an unknown name, or a value that is not finite."""
    program = parse(text)
    needed = variables(program)
    for name in needed:
        if name not in values:
            what = "depends on t, and must be a number here" if name == TIME else f"reads {name!r}, which is not a parameter"
            hint = did_you_mean(name, values)
            raise UsageError(f"the expression {text!r} {what}{hint}.")
    with np.errstate(all="ignore"):
        value = float(evaluate(program, {name: np.float64(values[name]) for name in needed}))
    if not np.isfinite(value):
        raise UsageError(f"the expression {text!r} is {value}, must be a finite number.")
    return value


class _Parser:
    """A predictive parser: one method for each rule of the grammar; it appends to `steps`, and returns whether the value is a truth."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps: list[Step] = []
        self.depth = 0
        self.end = 0
        self.kind, self.token, self.start = "", "", 0
        self.advance()

    def program(self) -> Program:
        """Return the program of the whole text."""
        truth = self.comparison()
        if self.kind != "end":
            self.fail(f"{self.token!r} is not expected here")
        if truth:
            self.fail("a comparison is not a number: write where(condition, value, otherwise)", 0)
        return tuple(self.steps)

    def fail(self, why: str, start: int | None = None) -> None:
        """Raise UsageError with the column."""
        column = (self.start if start is None else start) + 1
        raise UsageError(f"the expression {self.text!r} cannot be read, column {column}: {why}{'' if why.endswith('?') else '.'}")

    def advance(self) -> None:
        """Read the next token."""
        found = TOKEN.match(self.text, self.end)
        if found is not None:
            self.kind, self.end = str(found.lastgroup), found.end()
            self.token, self.start = found.group(self.kind), found.start(self.kind)
            return
        rest = self.text[self.end :].lstrip(" \t\r\n")
        self.start = len(self.text) - len(rest)
        if rest:
            self.fail(USED_FOR.get(rest[0], f"{rest[0]!r} has no meaning in an expression"))
        self.kind, self.token = "end", "the end"

    def take(self, sign: str) -> None:
        """Pass over a sign that must be here."""
        if self.token != sign:
            self.fail(f"{sign!r} is expected, found {self.token if self.kind == 'end' else repr(self.token)}")
        self.advance()

    def push(self, function: Callable[..., Any], arguments: int) -> None:
        """Append an operation."""
        self.steps.append(Step(function=function, arguments=arguments))

    def comparison(self) -> bool:
        """Read a comparison, or a sum."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels are nested")
        truth = self.sum()
        if self.kind == "sign" and self.token in COMPARISONS:
            self.number(truth)
            function = COMPARISONS[self.token]
            self.advance()
            self.number(self.sum())
            self.push(function, 2)
            truth = True
        self.depth -= 1
        return truth

    def number(self, truth: bool) -> None:
        """Raise UsageError if the value that was read is a truth."""
        if truth:
            self.fail("a comparison is not a number")

    def sum(self) -> bool:
        """Read a sum."""
        return self.chain(self.product, SUMS)

    def product(self) -> bool:
        """Read a product."""
        return self.chain(self.signed, PRODUCTS)

    def chain(self, part: Callable[[], bool], operators: Mapping[str, Callable[..., Any]]) -> bool:
        """Read parts with operators between them, from left to right."""
        truth = part()
        while self.kind == "sign" and self.token in operators:
            self.number(truth)
            function = operators[self.token]
            self.advance()
            self.number(part())
            self.push(function, 2)
        return truth

    def signed(self) -> bool:
        """Read a power with its signs."""
        signs, negative = 0, False
        while self.kind == "sign" and self.token in "+-":
            signs, negative = signs + 1, negative ^ (self.token == "-")
            self.advance()
        truth = self.power()
        if signs:
            self.number(truth)
        if negative:
            self.push(np.negative, 1)
        return truth

    def power(self) -> bool:
        """Read an atom with its exponent."""
        truth = self.atom()
        if self.token == "**" and self.kind == "sign":
            self.number(truth)
            self.advance()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"more than {MAX_DEPTH} levels are nested")
            self.number(self.signed())
            self.depth -= 1
            self.push(np.power, 2)
        return truth

    def atom(self) -> bool:
        """Read a number, a name, a call, or an expression in parentheses."""
        kind, token, start = self.kind, self.token, self.start
        if kind == "number":
            self.advance()
            value = float(token)
            if not np.isfinite(value):
                self.fail(f"{token} is too large", start)
            self.steps.append(Step(number=value))
            return False
        if kind == "name":
            self.advance()
            return self.call(token, start) if self.token == "(" else self.name(token, start)
        if token == "(":
            self.advance()
            truth = self.comparison()
            self.take(")")
            return truth
        self.fail(f"a number, a name or '(' is expected, found {token if kind == 'end' else repr(token)}")
        return False

    def name(self, name: str, start: int) -> bool:
        """Append a constant or a variable."""
        if name in FUNCTIONS:
            self.fail(f"{name} is a function: write {name}(...)", start)
        self.steps.append(Step(number=CONSTANTS[name]) if name in CONSTANTS else Step(variable=name))
        return False

    def call(self, name: str, start: int) -> bool:
        """Read the arguments of a function."""
        if name not in FUNCTIONS:
            self.fail(f"there is no function {name!r}{did_you_mean(name, FUNCTIONS)}", start)
        function, wanted = FUNCTIONS[name]
        truths = []
        self.take("(")
        while True:
            truths.append(self.comparison())
            if self.token != ",":
                break
            self.advance()
        self.take(")")
        if len(truths) != wanted:
            self.fail(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, got {len(truths)}", start)
        if truths != [name == "where", False, False][:wanted]:
            self.fail(f"{name} takes {'a comparison and two numbers' if name == 'where' else 'numbers'}", start)
        self.push(function, wanted)
        return False
