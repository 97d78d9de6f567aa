r"""Expressions of a student: text is read by its syntax tree, never executed; it is compared with the model's at random states.

text        numbers, names of the model, + - * / ** @, [k], .T, and functions: dot cross tilde T norm sin cos tan sqrt exp log atan2 abs
right       the same numbers at every state, up to rounding; a row Phi may have a constant factor, which is told
wrong       the first term of the text that, with another factor, would make the row right; else the first term of the model that is
missing; else the first term of the student's sum that the model's does not have
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.deprecated import did_you_mean
from haugmbd.equations.derivation import random_state
from haugmbd.equations.rows import cross, tilde
from haugmbd.errors import UsageError

SAME_TOL = 1e-9
"""Relative difference of two expressions that are equal: rounding of some hundred products, and of differences of large terms."""
N_STATES = 4
SEED = 17
MAX_LENGTH = 5000
"""Characters of an expression: more than a row that a person writes."""
MAX_NODES = 3000
LARGEST_POWER = 8
"""Largest exponent: no row of a mechanism has a larger one."""
QUANTITIES = ("Phi", "nu", "gamma")


class RowCheck(NamedTuple):
    """What was found of a row.

    row: its number in the model;  ok: whether it is right;  message: a sentence;  term: the first wrong or missing term, "" if none
    factor: of Phi in units of the model's, 1.0 where they are equal
    """

    joint: str
    row: int
    kind: str
    ok: bool
    message: str
    term: str = ""
    factor: float = 1.0


class Check(NamedTuple):
    """What was found of a student's expressions; print it."""

    rows: tuple[RowCheck, ...]

    @property
    def ok(self) -> bool:
        """Return whether all rows are right."""
        return all(row.ok for row in self.rows)

    @property
    def first_wrong(self) -> RowCheck | None:
        """Return the first row that is wrong; None if all are right."""
        return next((row for row in self.rows if not row.ok), None)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(f"{row.joint!r} row {row.row} {row.kind}: {row.message}" for row in self.rows)


def check_expressions(eq: Any, expressions: Any, joint: str | None, quantity: str) -> Check:
    """Compare expressions with the rows of a joint, or with all rows."""
    if not is_one_of(quantity, QUANTITIES):
        raise UsageError(f"quantity is {quantity!r}{did_you_mean(str(quantity), QUANTITIES)}: give one of {', '.join(QUANTITIES)}.")
    rows = eq.rows if joint is None else eq.rows_of(joint)
    of = f"joint {joint!r}" if joint is not None else f"model {eq.model.name!r}"
    several = isinstance(expressions, list | tuple)
    entries: list[tuple[Any, list[Any]]] = []
    for expression in expressions if several else [expressions]:
        entries.extend(_rows_of(eq, expression))
    if len(entries) != len(rows):
        kinds = ", ".join(row.kind for row in rows)
        raise UsageError(f"{len(entries)} row{'s' * (len(entries) != 1)} given, and {of} has {len(rows)}: {kinds}.")
    states = [eq.values_of_rows(random_state(eq, np.random.default_rng(SEED + k), t=0.1 + 0.37 * k)) for k in range(N_STATES)]
    return Check(
        tuple(_compared(eq, row, entry, terms, states, quantity) for row, (entry, terms) in zip(rows, entries, strict=True))
    )


def _rows_of(eq: Any, expression: Any) -> list[tuple[Any, list[Any]]]:
    """Return the scalar rows of an expression, each with the terms of the text."""
    sp = eq.sp
    if isinstance(expression, str):
        value, terms = read_text(eq, expression)
    else:
        try:
            value = (
                sp.Matrix(expression) if isinstance(expression, np.ndarray | sp.MatrixBase) else sp.sympify(expression, strict=True)
            )
        except (sp.SympifyError, TypeError, NotImplementedError) as error:  # the last one for an array of other dimensions
            raise UsageError(
                f"an expression is text or a SymPy object, got {expression!r:.60} ({type(expression).__name__})."
            ) from error
        symbols = {str(s): s for s in eq.values()}
        for symbol in value.free_symbols:
            if str(symbol) not in symbols:
                raise UsageError(f"there is no symbol {str(symbol)!r}{did_you_mean(str(symbol), symbols)}.")
        value = value.xreplace({symbol: symbols[str(symbol)] for symbol in value.free_symbols})
        terms = [(str(term), term) for term in sp.Add.make_args(value)] if not isinstance(value, sp.MatrixBase) else [("", value)]
    if not isinstance(value, sp.MatrixBase):
        return [(value, terms)]
    if 1 not in value.shape:
        raise UsageError(f"an expression is a matrix of shape {value.shape}, and rows are numbers or vectors.")
    return [(x, [(text, term[k]) for text, term in terms if isinstance(term, sp.MatrixBase)]) for k, x in enumerate(value)]


def read_text(eq: Any, text: str) -> tuple[Any, list[tuple[str, Any]]]:
    """Return the SymPy object of a text, and its terms with their own text. Raise UsageError if it is no expression."""
    if len(text) > MAX_LENGTH:
        raise UsageError(f"an expression has at most {MAX_LENGTH} characters, got {len(text)}.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", column {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise UsageError(
            f"the expression {text[:60]!r} cannot be read{where}: it is not complete, or a sign is not expected there."
        ) from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise UsageError(f"the expression {text[:40]!r} ... has more than {MAX_NODES} parts.")
    reader = _Reader(eq, text)
    try:
        return reader.value(tree), [(piece, reader.value(part) * sign) for piece, part, sign in reader.terms(tree, 1)]
    except RecursionError as error:
        raise UsageError(f"the expression {text[:40]!r} ... is nested too deeply.") from error


class _Reader:
    """Makes SymPy objects of the nodes of a syntax tree; every node that is not listed here is refused."""

    def __init__(self, eq: Any, text: str) -> None:
        self.eq, self.sp, self.text = eq, eq.sp, text
        sp = eq.sp
        self.names: dict[str, Any] = {str(symbol): symbol for symbol in eq.values() if isinstance(symbol, sp.Symbol)}
        self.names |= eq.symbols.vectors | {"t": eq.symbols.t, "pi": sp.pi}
        for body in eq.symbols.bodies[1:]:
            if eq.planar is None:
                self.names |= {str(x): x for x in eq.symbols.body(body).p}
        for name, parts in eq.symbols.vectors.items():  # components that are 0, 1 or -1 have no symbol, and may be written, too
            if parts.shape == (3, 1):
                for axis, x in zip("xyz", parts, strict=True):
                    self.names.setdefault(f"{name}_{axis}", x)
        self.functions: dict[str, tuple[Callable[..., Any], int]] = {
            "dot": (lambda a, b: (self.column(a).T * self.column(b))[0], 2),
            "cross": (lambda a, b: cross(sp, self.column(a), self.column(b)), 2),
            "tilde": (lambda a: tilde(sp, self.column(a)), 1),
            "T": (lambda a: a.T if isinstance(a, sp.MatrixBase) else a, 1),
            "norm": (lambda a: sp.sqrt((self.column(a).T * self.column(a))[0]), 1),
            **{name: (getattr(sp, name), 1) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "asin", "acos", "atan")},
            "abs": (sp.Abs, 1),
            "atan2": (sp.atan2, 2),
        }
        for atom in eq.symbols.atoms.of:
            if isinstance(atom, sp.Function):
                name = str(atom.func)
                self.functions.setdefault(name, (lambda *arguments, atom=atom: atom, len(atom.args)))
                if len(atom.args) == 1:
                    self.functions.setdefault(f"{name}_dot", (lambda x, atom=atom: sp.Derivative(atom, atom.args[0]), 1))
                    self.functions.setdefault(f"{name}_ddot", (lambda x, atom=atom: sp.Derivative(atom, (atom.args[0], 2)), 1))

    def column(self, a: Any) -> Any:
        """Return a vector of three numbers. Raise UsageError for anything else."""
        if isinstance(a, self.sp.MatrixBase) and sorted(a.shape) == [1, 3]:
            return self.sp.Matrix(list(a))
        self.fail("dot, cross, tilde and norm take vectors of three numbers")
        return None

    def fail(self, why: str) -> None:
        """Raise UsageError."""
        raise UsageError(f"the expression {self.text[:60]!r} cannot be read: {why}{'' if why.endswith('?') else '.'}")

    def terms(self, node: ast.AST, sign: int) -> list[tuple[str, ast.AST, int]]:
        """Return the terms of a sum as they are written."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return [*self.terms(node.left, sign), *self.terms(node.right, sign if isinstance(node.op, ast.Add) else -sign)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.terms(node.operand, -sign)
        return [(("-" if sign < 0 else "") + ast.unparse(node), node, sign)]

    def value(self, node: Any) -> Any:
        """Return the object of a node."""
        sp = self.sp
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            if not np.isfinite(float(node.value)) or abs(node.value) > 1e100:
                self.fail(f"{node.value!r:.30} is too large")
            return sp.Integer(node.value) if isinstance(node.value, int) else sp.Float(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id]
            if node.id in self.functions:
                self.fail(f"{node.id} is a function: write {node.id}(...)")
            self.fail(f"there is no symbol {node.id!r}{did_you_mean(node.id, self.names)}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            x = self.value(node.operand)
            return -x if isinstance(node.op, ast.USub) else x
        if isinstance(node, ast.BinOp):
            return self.operation(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.call(node.func.id, [self.value(each) for each in node.args])
        if isinstance(node, ast.Attribute) and node.attr == "T":
            x = self.value(node.value)
            return x.T if isinstance(x, sp.MatrixBase) else x
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Tuple):
            return self.entry(node)
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            parts = [self.value(each) for each in node.elts]
            if not any(isinstance(part, sp.MatrixBase) for part in parts):
                return sp.Matrix(parts)
        self.fail(f"{ast.unparse(node)[:40]!r} has no meaning here")
        return None

    def entry(self, node: Any) -> Any:
        """Return an entry of a vector or matrix."""
        x = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        numbers = [each.value for each in indices if isinstance(each, ast.Constant) and type(each.value) is int]
        try:
            return x[tuple(numbers)] if len(numbers) == len(indices) == 2 else x[numbers[0]]
        except (IndexError, TypeError):
            self.fail(f"{ast.unparse(node)!r} is no entry of a vector or matrix")
        return None

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Return the value of a function."""
        if name not in self.functions:
            self.fail(f"there is no function {name!r}{did_you_mean(name, self.functions)}")
        function, wanted = self.functions[name]
        if len(arguments) != wanted:
            self.fail(f"{name} takes {wanted} argument{'s' * (wanted != 1)}, got {len(arguments)}")
        if name not in ("dot", "cross", "tilde", "T", "norm") and any(isinstance(a, self.sp.MatrixBase) for a in arguments):
            self.fail(f"{name} takes numbers, got a vector")
        return function(*arguments)

    def operation(self, node: ast.BinOp) -> Any:
        """Return a sum, product, quotient or power; shapes must fit."""
        sp, a, b = self.sp, self.value(node.left), self.value(node.right)
        matrices = [isinstance(x, sp.MatrixBase) for x in (a, b)]
        shapes = f"{getattr(a, 'shape', 'a number')} and {getattr(b, 'shape', 'a number')}"
        if isinstance(node.op, ast.Add | ast.Sub):
            if matrices[0] != matrices[1] or (all(matrices) and a.shape != b.shape):
                self.fail(f"{ast.unparse(node)[:40]!r} adds {shapes}")
            return a + b if isinstance(node.op, ast.Add) else a - b
        if isinstance(node.op, ast.Mult | ast.MatMult):
            if all(matrices):
                if a.shape[1] != b.shape[0]:
                    self.fail(f"{ast.unparse(node)[:40]!r} multiplies {shapes}: dot(a, b) or a.T @ b is the scalar product")
                product = a * b
                return product[0] if product.shape == (1, 1) else product
            return a * b
        if isinstance(node.op, ast.Div):
            if matrices[1] or b == 0:
                self.fail(f"{ast.unparse(node)[:40]!r} divides by {'a vector' if matrices[1] else 'zero'}")
            return a / b
        if isinstance(node.op, ast.Pow) and not any(matrices):
            if not b.is_number or abs(float(b)) > LARGEST_POWER:
                self.fail(f"the exponent {ast.unparse(node.right)[:30]!r} is no number up to {LARGEST_POWER}")
            return a**b
        self.fail(
            f"{ast.unparse(node)[:40]!r} has no meaning here" + (": ^ is written **" if isinstance(node.op, ast.BitXor) else "")
        )
        return None


def _numbers(eq: Any, expressions: list[Any], states: list[dict[Any, float]]) -> Any:
    """Return the numbers of expressions at the states, (n, states)."""
    names = [each for each in states[0]]
    inside: set[Any] = set()
    for x in expressions:
        inside |= x.free_symbols | x.atoms(eq.sp.Function, eq.sp.Derivative)
    used = [each for each in names if each in inside]
    f = eq.sp.lambdify(used, expressions, modules="numpy", cse=True)
    with np.errstate(all="ignore"):
        return np.array([[complex(x) for x in f(*(state[each] for each in used))] for state in states]).T


def _compared(eq: Any, row: Any, expression: Any, terms: list[Any], states: list[dict[Any, float]], quantity: str) -> RowCheck:
    sp, name = eq.sp, row.joint.name
    right = sp.sympify(getattr(row, quantity))
    expression = sp.sympify(expression)
    texts, parts = [text for text, _ in terms], [sp.sympify(part) for _, part in terms]
    terms_of_model = list(sp.Add.make_args(sp.expand(right)))
    numbers = _numbers(eq, [expression, right, *parts, *terms_of_model], states)
    theirs, wanted, of_terms, of_own = numbers[0], numbers[1], numbers[2 : 2 + len(parts)], numbers[2 + len(parts) :]
    size = max(1.0, float(np.abs(np.vstack([of_terms, of_own])).max(initial=0.0)))
    check = RowCheck(name, row.number, row.kind, True, "right")
    if not np.isfinite(theirs).all():
        return check._replace(
            ok=False, message="has no finite value at a random state: a division by zero, or a root of a negative number"
        )
    left = wanted - theirs
    if np.abs(left).max() <= SAME_TOL * size:
        return check
    if np.abs(theirs).max() == 0.0:
        return check._replace(ok=False, message="not yet: it is zero at every state, and the row of the model is not")
    factor = _ratio(theirs, wanted, size)
    if factor is not None and np.abs(theirs - factor * wanted).max() > SAME_TOL * abs(factor) * size:
        factor = None  # a small expression, which is small against the row whatever it says
    if factor is not None and quantity == "Phi":
        return check._replace(
            message=f"right; it is {factor:g} times the row of the model, so its gamma and its multiplier have that factor, too",
            factor=factor,
        )
    if factor is not None:
        hint = "the sign is wrong" if factor == -1.0 else f"it is {factor:g} times what it must be"
        return check._replace(ok=False, message=f"not yet: {hint}", factor=factor, term=texts[0] if texts else "")
    for text, part in zip(texts, of_terms, strict=True):
        change = _ratio(left, part, size)
        if change is not None:
            must = 1.0 + change
            told = "has the wrong sign" if must == -1.0 else "is too much" if must == 0.0 else f"must have the factor {must:g}"
            return check._replace(ok=False, message=f"not yet: the term {text} {told}", term=text)
    for term, part in zip(terms_of_model, of_own, strict=True):
        if _ratio(left, part, size) == 1.0:
            return check._replace(ok=False, message=f"not yet: the term {term} is missing", term=str(term))
    return check._replace(ok=False, **_of_terms(sp, expression, terms_of_model))


def _of_terms(sp: Any, expression: Any, terms_of_model: list[Any]) -> dict[str, Any]:
    """Return the message, and the term, of a row that differs from the model's in more than one term.

    The row is held against the model's with the sign under which more of its terms are right: rows of either sign say the same.
    """
    mine = set(terms_of_model)
    signed = {sign: list(sp.Add.make_args(sp.expand(sign * expression))) for sign in (1, -1)}
    sign = max(signed, key=lambda each: len(mine & set(signed[each])))
    theirs = signed[sign]
    odd = next((sign * term for term in theirs if term not in mine), None)
    missing = [sign * term for term in terms_of_model if term not in set(theirs)]
    if odd is None:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        return {"message": f"not yet: what is there is right, and the term {missing[0]} is missing{more}", "term": str(missing[0])}
    more = f"; the model has {missing[0]}, which is not there" if missing else ""
    return {"message": f"not yet: the first term that the model does not have is {odd}{more}", "term": str(odd)}


def _ratio(a: Any, b: Any, size: float) -> float | None:
    """Return the constant c with a = c b at all states; None if there is none."""
    scale = float(np.abs(b).max())
    if scale <= SAME_TOL * size or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    c = (np.vdot(b, a) / np.vdot(b, b)).real
    if np.abs(a - c * b).max() > SAME_TOL * size:
        return None
    whole = round(12 * c) / 12
    return float(whole) if abs(whole - c) < 1e-7 * abs(c) else float(c)
