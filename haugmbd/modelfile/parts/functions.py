r"""Functions in a model file: of time as numbers, expressions and splines; of the state as names of Python functions.

3.0                                         a constant
"0.2 * sin(3 * t)"                          an expression in t and the parameters; of a force along a joint, a spring, in q and qd, l and
                                            l_dot, or theta and theta_dot, too: "-3 * q"
{"spline": {"t": [...], "f": [...]}}        a quintic spline
{"function": "module:function"}             a Python function, imported only with allow_code=True
{"functions": ["module:f", ...]}            f, f' and f'' as Python functions, likewise
{"output": "controller.out"}                an output of a block
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from haugmbd.control.output import BlockOutput
from haugmbd.drivers import Constant, Driver, Expression, Functions, QuinticSpline, as_driver
from haugmbd.drivers.expression import ExpressionLaw
from haugmbd.drivers.expression_grammar import MAX_LENGTH
from haugmbd.drivers.functions import TimeFunction
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.user_function import Component, PartByPart, Value
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.modelfile.values import Array, Field, Flag, Kind, ListOf, Number, Record, Text, finite

CODE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
WORD = re.compile(r"(?<![0-9.])\b[A-Za-z_][A-Za-z0-9_]*")
"""A name in an expression; the e of 1e-3 is not one."""
LAW_ARGUMENTS = {"q", "qd", "l", "l_dot", "theta", "theta_dot"}
"""What an expression of a force element may read besides t: the coordinate of a joint, a length or an angle, and its rate."""
TRUST = "If you trust the file, and its module can be imported, pass allow_code=True; otherwise write an expression."
REMEDY = (
    'Write a function of time as mbd.Expression("0.2 * sin(3 * t)"), or with def at the top of a module that can be imported; '
    "a file holds its name."
)
REMEDY_FOR_CLASSES = (
    "Write the class in a module that can be imported, and let its constructor keep each argument, a number, array, text, part or named "
    "function, under its own name; a file holds the name of the class and the arguments."
)


@dataclass(frozen=True)
class CodeName(Kind):
    """A text "module:function"; the function is imported if code is allowed."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not (isinstance(given, str) and CODE.fullmatch(given)):
            return reading.fault(path, f"it is {shown(given)}", 'Give "module:function".')
        if not reading.allow_code:
            return reading.fault(path, f"it calls the Python function {given!r}, and code is not allowed", TRUST)
        return imported(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^{CODE.pattern}$", "description": "module:function; needs allow_code=True"}


CODE_RECORD = Record((Field("function", CodeName()),), "a Python function")
CODES_RECORD = Record((Field("functions", ListOf(CodeName(), 3, 3)),), "f, f' and f'' as Python functions")
OUTPUT_RECORD = Record(
    (Field("output", Text(), says="block.output"), Field("component", Number(), False, "number of a vector, from 0")),
    "an output of a block",
)
SPLINE = Record(
    (
        Field("t", ListOf(Number("s"), 1), says="times, increasing"),
        Field("f", ListOf(Number(), 1), says="values"),
        Field("start", Array(((2,),)), False, "f' and f'' at the first time"),
        Field("end", Array(((2,),)), False, "f' and f'' at the last time"),
        Field("periodic", Flag(), False),
    ),
    "a quintic spline",
)
SPLINE_RECORD = Record((Field("spline", SPLINE),), "a quintic spline through a table")


@dataclass(frozen=True)
class Code(Kind):
    """A Python function, as {"function": "module:function"}."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        found = CODE_RECORD.read(given, path, reading)
        return BAD if found is BAD else found["function"]

    def schema(self) -> dict[str, Any]:
        return CODE_RECORD.schema()


@dataclass(frozen=True)
class TimeValue(Kind):
    """A function of time: a number, an expression, a spline, or a Python function; of the state, too, where an element allows it."""

    unit: str = ""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        remedy = f"Give a number{f' [{self.unit}]' if self.unit else ''}, an expression as text, a spline, or a function by name."
        if isinstance(given, str):
            return _expression(given, path, reading, remedy)
        if isinstance(given, dict) and "output" in given:
            return _output(given, path, reading)
        if isinstance(given, dict):
            forms = {"spline": SPLINE_RECORD, "functions": CODES_RECORD}
            record = next((form for key, form in forms.items() if key in given), CODE_RECORD)
            found = record.read(given, path, reading)
            return BAD if found is BAD else made_function(found)
        number = finite(given)
        return reading.fault(path, f"it is {shown(given)}, not a function of time", remedy) if number is None else number

    def schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/function"} | ({"description": f"[{self.unit}]"} if self.unit else {})


@dataclass(frozen=True)
class CodeOrOutput(Kind):
    """A Python function, or an output of a block."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if isinstance(given, dict) and "output" in given:
            return _output(given, path, reading)
        return Code().read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [CODE_RECORD.schema(), OUTPUT_RECORD.schema()]}


@dataclass(frozen=True)
class Moments(Kind):
    """Inertia: three principal values, a matrix, or three functions of time."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if isinstance(given, list) and any(isinstance(x, str | dict) for x in given):
            return ListOf(TimeValue("kg m2"), 3, 3).read(given, path, reading)
        return Array(((3,), (3, 3)), "kg m2").read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        three = {"type": "array", "items": {"$ref": "#/$defs/function"}, "minItems": 3, "maxItems": 3}
        return {"anyOf": [Array(((3,), (3, 3)), "kg m2").schema(), three]}


@dataclass(frozen=True)
class VectorValue(Kind):
    """Three functions of time, or one Python function or output of a block that returns three numbers."""

    unit: str = ""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if isinstance(given, dict):
            return CodeOrOutput().read(given, path, reading)
        return ListOf(TimeValue(self.unit), 3, 3).read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        three = {"type": "array", "items": {"$ref": "#/$defs/function"}, "minItems": 3, "maxItems": 3}
        return {"anyOf": [three, *CodeOrOutput().schema()["anyOf"]]} | ({"description": f"[{self.unit}]"} if self.unit else {})


def function_schema() -> dict[str, Any]:
    """Return a function of time as JSON Schema."""
    simple = [{"type": "number"}, {"type": "string", "description": "an expression in t and the parameters"}]
    return {"anyOf": [*simple, SPLINE_RECORD.schema(), CODE_RECORD.schema(), CODES_RECORD.schema(), OUTPUT_RECORD.schema()]}


def _expression(text: str, path: Path, reading: Reading, remedy: str) -> Any:
    """Return the expression with the parameters of the file; a fault if it cannot be read or evaluated."""
    try:
        found = Expression(text)
        if reading.failed.intersection(found.names):
            return BAD
        laws = LAW_ARGUMENTS & set(found.names) - set(reading.parameters)
        for name in found.names:
            if name not in reading.parameters and name not in laws:
                what = (
                    f"the expression {text!r:.200} reads {name!r}, which is not a parameter{reading.near(name, reading.parameters)}"
                )
                return reading.fault(path, what, "Add it to the parameters of the file.")
        if laws:  # the force element says whether it has such arguments
            found.known = dict(reading.parameters)
            return found
        if found.names:
            found.bind(reading.parameters, "the file")
    except UsageError as error:
        return reading.fault(path, str(error).rstrip("."), remedy)
    for fault in found.faults():
        reading.fault(path, fault.what, fault.remedy)
    return BAD if found.faults() else found


def _output(given: dict[str, Any], path: Path, reading: Reading) -> Any:
    """Return an output of a block of the file."""
    found = OUTPUT_RECORD.read(given, path, reading)
    if found is BAD:
        return BAD
    name, _, output = found["output"].rpartition(".")
    if reading.refers(path, "block", name) is BAD or name not in reading.blocks:
        return BAD
    try:
        component = found.get("component")
        return reading.blocks[name][output if component is None else (output, int(component))]
    except UsageError as error:
        return reading.fault(path, str(error).rstrip("."), "Give block.output.")


def made_function(found: dict[str, Any]) -> Any:
    """Return a spline, or functions."""
    if "spline" in found:
        table = found["spline"]
        ends = {key: tuple(table[key]) for key in ("start", "end") if key in table}
        return QuinticSpline(table["t"], table["f"], periodic=table.get("periodic", False), **ends)
    return tuple(found["functions"]) if "functions" in found else found["function"]


def imported(name: str, path: Path, reading: Reading) -> Any:
    """Return the function of this name."""
    kept = kept_functions.get(name)
    if kept is not None:
        return kept
    module, qualified = name.split(":")
    try:
        found: Any = importlib.import_module(module)
        for part in qualified.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001  importing runs code of the user
        why = f"{type(error).__name__}: {error}"
        return reading.fault(path, f"the function {name!r} cannot be imported ({why})", "Put the module where Python finds it.")
    if not callable(found):
        return reading.fault(path, f"{name!r} is {shown(found)}, not a function", "Give the name of a function.")
    return found


class _KeptFunctions:
    """Functions and classes that pass through a document of this process as they are: no file is written of it."""

    MODULE = "kept_functions"

    def __init__(self) -> None:
        self._kept: ContextVar[list[Any] | None] = ContextVar("kept functions", default=None)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep functions in the documents of this block."""
        token = self._kept.set([])
        try:
            yield
        finally:
            self._kept.reset(token)

    def put(self, function: Any) -> dict[str, Any] | None:
        """Return the name of a function in the document; None where none are kept."""
        kept = self._kept.get()
        if kept is None:
            return None
        kept.append(function)
        return {"function": f"{self.MODULE}:f{len(kept) - 1}"}

    def get(self, name: str) -> Any:
        """Return the function of a name; None if it is not one of these."""
        kept, (module, _, number) = self._kept.get(), name.partition(":f")
        return kept[int(number)] if kept is not None and module == self.MODULE else None

    def changed(self, value: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the name of another function in place of that of `value`."""
        found = self.put(change(self.get(value["function"])))
        assert found is not None
        return found


kept_functions = _KeptFunctions()


class Unwritable(UsageError):
    """A function that a file cannot hold; the text says why."""


def code_name(function: Callable[..., Any], what: str = "function") -> dict[str, Any]:
    """Return {"function": "module:function"}. Raise Unwritable unless importing that name gives this function, or class, again."""
    kept = kept_functions.put(function)
    if kept is not None:
        return kept
    plain: Any = getattr(function, "py_func", function)
    module, qualified = getattr(plain, "__module__", None), getattr(plain, "__qualname__", getattr(plain, "__name__", None))
    if isinstance(function, type(sys.modules["numpy"].sin)):
        module, qualified = "numpy", plain.__name__
    note = f"{module}:{qualified}"
    if qualified is None or "<" in note:
        kind = "a lambda" if "<lambda>" in note else f"a {what} inside a function" if "<" in note else repr(function)[:60]
        kind = "a function inside another one" if kind == "a function inside a function" else kind
        raise Unwritable(f"its {what} is {kind}, which has no name that a file could hold")
    if module == "__main__":
        raise Unwritable(f"its {what} {qualified} is defined in the program that runs, which cannot be imported by its name")
    found: Any = sys.modules.get(str(module))
    for part in str(qualified).split("."):
        found = getattr(found, part, None)
    if found is not function or not CODE.fullmatch(note):
        raise Unwritable(f"its {what} {note!r} cannot be found again by that name")
    return {"function": note}


def driver_text(driver: Driver, parameters: Mapping[str, float]) -> Any:
    """Return a driver as a value of a file with these parameters. Raise Unwritable if a file cannot hold it."""
    if isinstance(driver, Constant):
        return driver.value
    if isinstance(driver, Expression):
        return expression_text(driver, parameters)
    if isinstance(driver, QuinticSpline):
        table: dict[str, Any] = {"t": driver.t.tolist(), "f": driver.f.tolist()}
        ends = {"start": driver.start, "end": driver.end}
        table |= {key: [float(x) for x in pair] for key, pair in ends.items() if pair is not None}
        return {"spline": table | ({"periodic": True} if driver.periodic else {})}
    if isinstance(driver, Functions):
        return {"functions": [code_name(f)["function"] for f in (driver.f, driver.f_dot, driver.f_ddot)]}
    if isinstance(driver, TimeFunction):
        return code_name(driver.fn)
    if isinstance(driver, BlockOutput):
        return {"output": driver.label} | ({} if driver.component is None else {"component": driver.component})
    raise Unwritable(f"its driver is a {type(driver).__name__}, which a file cannot hold")


def expression_text(expression: Expression, parameters: Mapping[str, float]) -> str:
    """Return the text of an expression; parameters that the file does not have, or has with other values, are written as numbers."""
    own = {name: x for name, x in expression.parameters.items() if name not in parameters or parameters[name] != x}
    if not own:
        return expression.text

    def number(found: re.Match[str]) -> str:
        name = found.group()
        return name if name not in own else f"({own[name]!r})" if own[name] < 0.0 else repr(own[name])

    text = WORD.sub(number, expression.text)
    if len(text) > MAX_LENGTH:
        raise Unwritable(f"its expression {expression.text[:40]!r} ... is too long with its own parameters as numbers")
    return text


def value_text(value: Value, parameters: Mapping[str, float]) -> Any:
    """Return the value of a force element: of one driver, of three, or a function. Raise Unwritable if a file cannot hold it."""
    if value.user_function is not None:
        function = value.user_function.function
        if isinstance(function, PartByPart):
            return [code_name(part) if callable(part) else driver_text(as_driver(part), parameters) for part in function.parts]
        if isinstance(function, ExpressionLaw):
            own = {name: x for name, x in function.parameters.items() if name not in parameters or parameters[name] != x}
            return WORD.sub(lambda word: f"({own[word.group()]!r})" if word.group() in own else word.group(), function.text)
        return code_name(function)
    functions = [driver.fn if isinstance(driver, TimeFunction) else None for driver in value.drivers]
    if functions and all(isinstance(function, Component) for function in functions):
        return code_name(functions[0].f)  # type: ignore[union-attr]
    texts = [driver_text(driver, parameters) for driver in value.drivers]
    return texts[0] if len(texts) == 1 else texts


def unwritable(where: str, error: Unwritable) -> Fault:
    """Return the fault of a part that a file cannot hold."""
    of_class = str(error).startswith(("its class", "its argument", "its constructor"))
    return Fault(where, str(error), REMEDY_FOR_CLASSES if of_class else REMEDY)
