r"""Force elements of the library in a model file, as the signatures of their constructors say: their keys, their reader and their writer.

    name of an argument      i, j, body, bodies, joint, point, shape, jacobian, ...     `ARGUMENTS`
    its annotation           float, bool, str                                           `ANNOTATED`;  any other is a function of time
    its default              a key with a default may be left out
    its description          the first sentence in the docstring, with the unit

An argument is written from the attribute of its name; i, j, point_i and point_j also from frame_i and frame_j, which elements between two
points keep.  A class whose file needs other forms, such as body-frame points, has an entry of its
own in `schema`, `build` and `write`; a new class with the usual arguments needs none.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.shapes import Shape
from haugmbd.constraints.joint import Joint
from haugmbd.forces.base import ForceElement
from haugmbd.forces.jacobian import Jacobian
from haugmbd.forces.user_function import Value
from haugmbd.modelfile.parts.functions import Code, TimeValue, Unwritable, code_name, value_text
from haugmbd.modelfile.parts.shapes import ShapeValue, shape_text
from haugmbd.modelfile.values import Array, Field, Flag, Kind, ListOf, Number, Record, Reference, Text
from haugmbd.text_table import first_line

Parameters = Mapping[str, float]
VECTOR = ((3,),)
ARGUMENTS: dict[str, Callable[[str], Kind]] = {
    "i": lambda unit: Reference("body"),
    "j": lambda unit: Reference("body"),
    "body": lambda unit: Reference("body"),
    "bodies": lambda unit: ListOf(Reference("body"), 1),
    "joint": lambda unit: Reference("joint"),
    "shape": lambda unit: ShapeValue(),
    "jacobian": lambda unit: Code(),
} | dict.fromkeys(
    ("point", "point_i", "point_j", "axis", "normal", "direction", "flow", "gravity"), lambda unit: Array(VECTOR, unit)
)
"""Kinds of arguments with a name of their own, from the unit."""
ANNOTATED: dict[str, Callable[[str], Kind]] = {
    "float": Number,
    "float | None": Number,
    "bool": lambda unit: Flag(),
    "str": lambda unit: Text(),
    "Any": TimeValue,
}
UNIT = re.compile(r"\[([^\]]+)\]")


def signature_record(kind: type[ForceElement]) -> Record:
    """Return the keys of an element, type and name among them."""
    said = described(kind)
    fields = [Field("type", Text((kind.__name__,))), Field("name", Text())]
    for name, parameter in _arguments(kind).items():
        text, unit = said.get(name, ("", ""))
        make = ARGUMENTS.get(name) or ANNOTATED.get(str(parameter.annotation))
        if make is None:
            raise TypeError(f"{kind.__name__}.{name}: {parameter.annotation}: no kind of value in a model file is known for it")
        of_value = make(unit)
        fields.append(Field(name, of_value, parameter.default is parameter.empty, "" if isinstance(of_value, Reference) else text))
    return Record(tuple(fields), first_line(kind))


def _arguments(kind: type[ForceElement]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a constructor, without the name."""
    return {name: each for name, each in inspect.signature(kind).parameters.items() if name != "name"}


def described(kind: type[Any]) -> dict[str, tuple[str, str]]:
    """Return text and unit of each parameter that the docstring of a class describes; {} where Python runs without docstrings."""
    doc = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    found: dict[str, tuple[str, str]] = {}
    for match in re.finditer(r"^([\w, ]+) : .*\n((?:    .*\n?|\n(?=    ))+)", doc, re.MULTILINE):
        text = " ".join(match[2].split())
        unit = UNIT.search(text)
        says = UNIT.sub("", text.partition(". ")[0].partition(":")[0]).strip(" .,;")
        found |= {name.strip(): (" ".join(says.split()), unit[1] if unit else "") for name in match[1].split(",")}
    return found


def made_by_signature(
    kind: type[ForceElement], values: Mapping[str, Any], body: Callable[[str], Body], joint: Callable[[str], Joint]
) -> ForceElement:
    """Return the element of a file's values, with name;  body, joint: return the parts of these names."""
    given = dict(values)
    for name in given.keys() & {"i", "j", "body"}:
        given[name] = body(given[name])
    if "bodies" in given:
        given["bodies"] = [body(name) for name in given["bodies"]]
    if "joint" in given:
        given["joint"] = joint(given["joint"])
    return kind(**given)


def text_by_signature(load: ForceElement, parameters: Parameters) -> dict[str, Any]:
    """Return the values of an element for a file, besides type and name; arguments that are None are left out."""
    found = {name: _argument(load, name) for name in _arguments(type(load))}
    return {name: _text(name, value, parameters) for name, value in found.items() if value is not None}


def _argument(load: ForceElement, name: str) -> Any:
    """Return the value of an argument, as the element keeps it. Raise Unwritable if it does not."""
    if hasattr(load, name):
        return getattr(load, name)
    frame = getattr(load, f"frame_{name[-1]}", None) if name in ("i", "j", "point_i", "point_j") else None
    if not isinstance(frame, Frame):
        raise Unwritable(f"its argument {name!r} is not kept: write self.{name} = {name} in __init__")
    return frame.body if len(name) == 1 else frame.point


def _text(name: str, value: Any, parameters: Parameters) -> Any:
    """Return an argument as a value of a file."""
    if isinstance(value, Value):
        return value_text(value, parameters)
    if isinstance(value, Jacobian):
        return code_name(value.function)
    if isinstance(value, Body | Joint):
        return value.name
    if isinstance(value, Shape):
        return shape_text(value)
    if isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise Unwritable(f"its {name} is a {type(value).__name__}, which a file cannot hold yet")
