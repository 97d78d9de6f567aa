r"""Kinds of values in a model file: each reads a value, and describes itself as JSON Schema. One source for both.

A number may be written as an expression over the file's parameters: "mass": "density * length".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from haugmbd.drivers.expression_grammar import evaluate_number, parse, variables
from haugmbd.errors import UsageError
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.tolerances import check_tolerance

COMMENT = "comment"
"""Key that every table may have: its text is for people, and is not kept."""


class Kind(ABC):
    """A kind of value."""

    @abstractmethod
    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        """Return the value; BAD, with a fault in `reading`, if it is not one."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the kind as JSON Schema."""


@dataclass(frozen=True)
class Number(Kind):
    """A finite number, or an expression over the parameters."""

    unit: str = ""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        remedy = f"Give one finite number{f' [{self.unit}]' if self.unit else ''}, or an expression over the parameters as text."
        if isinstance(given, str):
            try:
                if reading.failed.intersection(variables(parse(given))):
                    return BAD
                return evaluate_number(given, reading.parameters)
            except UsageError as error:
                return reading.fault(path, str(error).rstrip("."), remedy)
        number = finite(given)
        return reading.fault(path, f"it is {shown(given)}, not a finite number", remedy) if number is None else number

    def schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/number"} | ({"description": f"[{self.unit}]"} if self.unit else {})


@dataclass(frozen=True)
class Tolerance(Number):
    """A tolerance of redundant rows, in its range."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        number = super().read(given, path, reading)
        if number is BAD:
            return BAD
        try:
            check_tolerance(number)
        except UsageError as error:
            return reading.fault(path, str(error).split(" (rounding")[0], "Leave it out for the default.")
        return number


@dataclass(frozen=True)
class Array(Kind):
    """An array of numbers of one of some shapes; () is that of a number."""

    shapes: tuple[tuple[int, ...], ...]
    unit: str = ""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        shape = _shape(given)
        if shape not in self.shapes:
            what = f"it is {shown(given)}" if shape is None else f"it has the shape {shape}"
            return reading.fault(path, what, self._remedy())
        number = Number(self.unit)

        def part(value: Any, at: Path) -> Any:
            if isinstance(value, list):
                return [part(each, (*at, k)) for k, each in enumerate(value)]
            return number.read(value, at, reading)

        values = part(given, path)
        return BAD if _has_bad(values) else values

    def _remedy(self) -> str:
        shapes = " or ".join(str(shape) for shape in self.shapes)
        return f"Give numbers{f' [{self.unit}]' if self.unit else ''} of shape {shapes}."

    def schema(self) -> dict[str, Any]:
        choices = [_array_schema(shape) for shape in self.shapes]
        found = choices[0] if len(choices) == 1 else {"anyOf": choices}
        return found | ({"description": f"[{self.unit}]"} if self.unit else {})


@dataclass(frozen=True)
class Text(Kind):
    """A text that is not empty; one of `choices` if there are any."""

    choices: tuple[str, ...] = ()

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not self.choices and isinstance(given, str) and given.strip():
            return given
        if self.choices and isinstance(given, str) and given in self.choices:
            return given
        if not self.choices:
            return reading.fault(path, f"it is {shown(given)}, not a string", "Give a string that is not empty.")
        hint = reading.near(given, self.choices) if isinstance(given, str) else ""
        return reading.fault(path, f"it is {shown(given)}{hint}", f"Give one of {', '.join(map(repr, self.choices))}.")

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)} if self.choices else {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class Flag(Kind):
    """true or false."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        return given if isinstance(given, bool) else reading.fault(path, f"it is {shown(given)}", "Give true or false.")

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Reference(Kind):
    """The name of a body or of a joint of the file."""

    kind: str

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        return reading.refers(path, self.kind, given)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": f"name of a {self.kind}"}


@dataclass(frozen=True)
class CoordinateReference(Kind):
    """A coordinate of a joint: the name of a joint of one freedom, or a table with joint, coordinate and number."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(given, dict):
            return Reference("joint").read(given, path, reading)
        return self._record().read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Reference("joint").schema(), self._record().schema()]}

    @staticmethod
    def _record() -> Record:
        ways = Field("coordinate", Text(("angle", "displacement")))
        return Record((Field("joint", Reference("joint")), ways, Field("number", Number(), False, "which one of several, from 1")))


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of values of one kind."""

    kind: Kind
    least: int = 0
    most: int = 100_000

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(given, list):
            return reading.fault(path, f"it is {shown(given)}, not a list", "Give a list.")
        if not self.least <= len(given) <= self.most:
            return reading.fault(path, f"it has {len(given)} entries", f"Give {self.least} to {self.most} entries.")
        values = [self.kind.read(value, (*path, k), reading) for k, value in enumerate(given)]
        return BAD if _has_bad(values) else values

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.kind.schema(), "minItems": self.least}


@dataclass(frozen=True)
class Field:
    """A key of a table: its kind, and whether it must be there."""

    name: str
    kind: Kind
    required: bool = True
    says: str = ""


@dataclass(frozen=True)
class Record(Kind):
    """A table with known keys; `says` is its description. A key that is not known is a fault."""

    fields: tuple[Field, ...]
    says: str = ""
    named: dict[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {each.name: each for each in self.fields})

    def misfit(self, given: dict[str, Any]) -> int:
        """Return the number of keys that are unknown or missing."""
        unknown = sum(key not in self.named and key != COMMENT for key in given)
        return unknown + sum(each.required and each.name not in given for each in self.fields)

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(given, dict):
            return reading.fault(path, f"it is {shown(given)}, not a table", "Give a table: keys with values.")
        values: dict[str, Any] = {}
        for key, value in given.items():
            if key in self.named:
                values[key] = self.named[key].kind.read(value, (*path, key), reading)
            elif key != COMMENT:
                what = f"the key {key!r:.60} is not known here{reading.near(key, self.named)}"
                values[key] = reading.fault((*path, key), what, f"Known are {', '.join(self.named)}.")
        for each in self.fields:
            if each.required and each.name not in given:
                known = f" ({each.says})" if each.says else ""
                values[each.name] = reading.fault(path, f"the key {each.name!r} is missing", f"Give {each.name!r}{known}.")
        return BAD if _has_bad(list(values.values())) else values

    def schema(self) -> dict[str, Any]:
        properties: dict[str, Any] = {COMMENT: {"type": "string", "description": "for people; it is not kept"}}
        for each in self.fields:
            note = each.kind.schema()
            words = " ".join(text for text in (each.says, note.get("description", "")) if text)
            properties[each.name] = note | ({"description": words} if words else {})
        required = [each.name for each in self.fields if each.required]
        found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        return found | ({"required": required} if required else {}) | ({"description": self.says} if self.says else {})


@dataclass(frozen=True)
class OneOf(Kind):
    """A table that has one of several forms: the one whose keys fit best is read."""

    forms: tuple[Record, ...]

    def form(self, given: dict[str, Any]) -> Record:
        """Return the form whose keys fit best; the first of equals."""
        return min(self.forms, key=lambda form: form.misfit(given))

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        form = self.form(given) if isinstance(given, dict) else self.forms[0]
        return form.read(given, path, reading)

    def schema(self) -> dict[str, Any]:
        return self.forms[0].schema() if len(self.forms) == 1 else {"anyOf": [form.schema() for form in self.forms]}


def finite(given: Any) -> float | None:
    """Return a number of a file as a finite float; None if it is not one."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _has_bad(values: Any) -> bool:
    return any(map(_has_bad, values)) if isinstance(values, list) else values is BAD


def _shape(given: Any) -> tuple[int, ...] | None:
    """Return the shape of nested lists; None for lists of different lengths, or of things that are not numbers."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | list):
        return None
    if not isinstance(given, list):
        return ()
    shapes = {_shape(part) for part in given}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(given), *inner)


def _array_schema(shape: tuple[int, ...]) -> dict[str, Any]:
    if not shape:
        return {"$ref": "#/$defs/number"}
    items: dict[str, Any] = {"$ref": "#/$defs/number"} if len(shape) == 1 else _array_schema(shape[1:])
    return {"type": "array", "items": items, "minItems": shape[0], "maxItems": shape[0]}
