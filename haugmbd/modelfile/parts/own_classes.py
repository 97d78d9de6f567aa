r"""Force elements of a user's own class in a model file: the class by its name, and the arguments of its constructor.

    {"type": "module:Class", "name": "gust", "arguments": {"body": {"body": "rod"}, "c": 0.3, "speed": {"value": "5 * sin(t)"}}}

    3.0, true, "text", null        itself                                    [1, 2, 3]                  a tuple
    {"array": [[1, 2], [3, 4]]}    an array                                  {"body": "rod"}, {"joint": "pin"}      a part of the file
    {"value": ...}                 a driver, or a function of time           {"shape": {...}}           a shape
    {"function": "module:f"}       a Python function

A class is code: it is imported only with allow_code=True, as functions are.  An argument is read back from the attribute of its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Plane, Shape
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Driver
from haugmbd.forces.base import ForceElement
from haugmbd.modelfile.parts.functions import CODE, TRUST, Code, TimeValue, Unwritable, code_name, driver_text, imported
from haugmbd.modelfile.parts.shapes import ShapeValue, shape_text
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.modelfile.values import Field, Kind, Record, Reference, Text, finite

Parameters = Mapping[str, float]
LIBRARY = ("haugmbd.forces.", "haugmbd.modelfile.mjcf.")
"""Modules whose classes are no code of strangers."""
LEFT_OUT = object()
"""In the place of an argument that has the value of its default."""


def names_a_class(kind: Any) -> bool:
    """Return whether the type of a part is "module:Class"."""
    return isinstance(kind, str) and ":" in kind


class Argument(Kind):
    """An argument of a constructor of the user: a value of JSON, or a table with one key that says what it is."""

    def __init__(self) -> None:
        self.forms: dict[str, Kind] = {
            "body": Reference("body"),
            "joint": Reference("joint"),
            "value": TimeValue(),
            "shape": ShapeValue(),
            "function": Code(),
            "array": self,
        }

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        """Return (key, value) for a table, and ("", value) for any other value; BAD with a fault in `reading`."""
        if isinstance(given, list):
            parts = [self.read(part, (*path, k), reading) for k, part in enumerate(given)]
            return BAD if any(part is BAD for part in parts) else ("list", parts)
        if given is None or isinstance(given, bool | str):
            return ("", given)
        if isinstance(given, dict):
            return self._tagged(given, path, reading)
        number = finite(given)
        if number is None:
            return reading.fault(path, f"it is {shown(given)}", "Give a finite number, a text, a list, or a table.")
        return ("", given if isinstance(given, int) else number)

    def _tagged(self, given: dict[str, Any], path: Path, reading: Reading) -> Any:
        """Return (key, value) of a table."""
        if len(given) != 1 or next(iter(given)) not in self.forms:
            return reading.fault(path, f"it is {shown(given)}", f"Give a table with one key of {', '.join(self.forms)}.")
        ((key, value),) = given.items()
        if key == "function":  # the kind reads the whole table
            read = self.forms[key].read(given, path, reading)
        else:
            read = self.forms[key].read(value, (*path, key), reading)
        return BAD if read is BAD else (key, read)

    def schema(self) -> dict[str, Any]:
        return {"description": "a value, or a table with one key: body, joint, value, shape, function or array"}


@dataclass(frozen=True)
class ClassName(Kind):
    """A text "module:Class"; the class is imported if code is allowed."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not CODE.fullmatch(given):
            return reading.fault(path, f"it is {shown(given)}", 'Give "module:Class".')
        if not (reading.allow_code or given.startswith(LIBRARY)):
            return reading.fault(path, f"it is the class {given!r}, and code is not allowed", TRUST)
        kind = imported(given, path, reading)
        if kind is not BAD and not (isinstance(kind, type) and issubclass(kind, ForceElement)):
            return reading.fault(
                path, f"{given!r} is {shown(kind)}, not a class of force elements", "Derive it from mbd.ForceElement."
            )
        return kind

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^{CODE.pattern}$", "description": "module:Class; needs allow_code=True"}


class Arguments(Kind):
    """The arguments of a constructor by their names."""

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if not isinstance(given, dict):
            return reading.fault(
                path, f"it is {shown(given)}, not a table", "Give the arguments of the constructor by their names."
            )
        values = {key: Argument().read(value, (*path, key), reading) for key, value in given.items()}
        return BAD if any(value is BAD for value in values.values()) else values

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": Argument().schema()}


OWN_CLASS = Record(
    (
        Field("type", ClassName()),
        Field("name", Text()),
        Field("arguments", Arguments(), False, "of its constructor, by their names"),
    ),
    "a force element of a class of the user",
)


def make_own(values: dict[str, Any], body: Callable[[str], Body], joint: Callable[[str], Joint]) -> ForceElement:
    """Return the element;  body, joint: return the parts of these names. An error of the constructor is raised."""

    def made(argument: Any) -> Any:
        key, value = argument
        if key == "list":
            return tuple(map(made, value))
        if key == "array":
            return np.array(_plain(value))
        return body(value) if key == "body" else joint(value) if key == "joint" else value

    given = {name: made(argument) for name, argument in values.get("arguments", {}).items()}
    own: ForceElement = values["type"](values["name"], **given)
    return own


def _plain(argument: Any) -> Any:
    """Return nested lists of what `Argument` has read."""
    key, value = argument
    return [_plain(part) for part in value] if key == "list" else value


def own_text(load: ForceElement, parameters: Parameters) -> dict[str, Any]:
    """Return an element of a class of the user. Raise Unwritable if its class has no name, or an argument is not kept or has no text."""
    kind = type(load)
    name = code_name(kind, "class")["function"]
    signature = inspect.signature(kind)
    arguments: dict[str, Any] = {}
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise Unwritable(f"its constructor takes {parameter}, which a file cannot name")
        if not hasattr(load, parameter.name):
            raise Unwritable(
                f"its argument {parameter.name!r} is not kept: write self.{parameter.name} = {parameter.name} in __init__"
            )
        arguments[parameter.name] = _argument_text(getattr(load, parameter.name), parameter.name, parameters)
    return {"type": name, "name": load.name} | ({"arguments": arguments} if arguments else {})


def _argument_text(value: Any, name: str, parameters: Parameters) -> Any:
    """Return one argument as a value of a file."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        plain = value.item() if isinstance(value, np.generic) else value
        if not np.isfinite(plain):
            raise Unwritable(f"its argument {name!r} is {value}, which a file cannot hold")
        return plain
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and np.isfinite(value).all():
        return {"array": value.tolist()}
    if isinstance(value, tuple | list):
        return [_argument_text(part, name, parameters) for part in value]
    if isinstance(value, Body | Joint):
        return {"body" if isinstance(value, Body) else "joint": value.name}
    if isinstance(value, Driver):
        return {"value": driver_text(value, parameters)}
    if isinstance(value, Shape | Plane):
        return {"shape": shape_text(value)}
    if callable(value):
        return code_name(value)
    raise Unwritable(f"its argument {name!r} is a {type(value).__name__}, which a file cannot hold")
