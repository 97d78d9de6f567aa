r"""Shapes of bodies in a model file: what is drawn of them; "default" stands for what is drawn of a body by itself.

A mesh is written with its vertices and triangles, so that a model file needs no other file.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.bodies.shapes import SOLIDS, Box, Ellipsoid, Mesh, Plane, Shape
from haugmbd.bodies.validation import frozen
from haugmbd.errors import UsageError
from haugmbd.modelfile.reading import Path, Reading, shown
from haugmbd.modelfile.values import Array, Field, Kind, ListOf, Number, Record, Text

DEFAULT = "default"
VECTOR, POINT, LENGTH = Array(((3,),)), Array(((3,),), "m"), Number("m")
MOST = 1_000_000
"""Vertices or triangles of a mesh."""

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*SOLIDS, Mesh)}
_PLACE = (
    Field("center", POINT, False, "the middle, from the centre of mass, body frame"),
    Field("p", Array(((4,),)), False, "Euler parameters of its axes in the body frame"),
    Field("color", Text(), False, "#rrggbb"),
)
_AXIS = Field("axis", VECTOR, False, "direction of its axis, body frame, in place of p")
PLACE = ("center", "p", "color")
TURNED = (Box, Ellipsoid)
"""Solids whose constructor takes p; others take an axis."""


def _sizes(kind: type[Any]) -> tuple[Field, ...]:
    """Return the keys of the arguments of a solid, but for its place: numbers are lengths, others have three components."""
    given = [x for x in inspect.signature(kind).parameters.values() if x.name not in PLACE]
    return tuple(
        _AXIS if x.name == "axis" else Field(x.name, LENGTH if x.annotation == "float" else POINT, x.default is x.empty)
        for x in given
    )


_OWN: dict[str, tuple[Field, ...]] = {kind.__name__: _sizes(kind) for kind in SOLIDS} | {
    "Mesh": (
        Field("vertices", ListOf(VECTOR, 3, MOST)),
        Field("triangles", ListOf(VECTOR, 1, MOST), says="numbers of the corners"),
        Field("scale", Number(), False),
    ),
}
RECORDS = {name: Record((Field("type", Text((name,))), *own, *_PLACE), "what is drawn of a body") for name, own in _OWN.items()}


_PLANE = Record(
    (
        Field("type", Text(("Plane",))),
        Field("point", POINT, False, "a point of it, body frame"),
        Field("normal", VECTOR, False, "out of the body, body frame"),
    ),
    "a plane that other shapes touch",
)
TOUCHING = {name: RECORDS[name] for name in ("Box", "Sphere", "Cylinder")} | {"Plane": _PLANE}
"""Shapes of contact forces."""
RIGID = RECORDS | {"Plane": _PLANE}
"""Shapes of rigid contacts."""


@dataclass(frozen=True)
class ShapeValue(Kind):
    """A shape of a body, or "default"; with `contact` a shape of a contact force, with `rigid` one of a rigid contact."""

    contact: bool = False
    rigid: bool = False

    @property
    def _records(self) -> dict[str, Record]:
        return RIGID if self.rigid else TOUCHING if self.contact else RECORDS

    def read(self, given: Any, path: Path, reading: Reading) -> Any:
        if given == DEFAULT and not self.contact:
            return ...
        name = given.get("type") if isinstance(given, dict) else None
        if not (isinstance(name, str) and name in self._records):
            wanted = f"a table whose type is one of {', '.join(self._records)}."
            wanted = f"Give {wanted}" if self.contact else f'Give "{DEFAULT}", or {wanted}'
            return reading.fault(path, f"it is {shown(given)}, not a shape", wanted)
        values = self._records[name].read(given, path, reading)
        if not isinstance(values, dict):
            return values
        try:
            return _shape(values)
        except UsageError as error:
            return reading.fault(path, str(error).rstrip("."), "")

    def schema(self) -> dict[str, Any]:
        default = [] if self.contact else [{"enum": [DEFAULT]}]
        return {"anyOf": [*default, *(record.schema() for record in self._records.values())]}


def _shape(values: dict[str, Any]) -> Shape | Plane:
    """Return a shape; normalized Euler parameters are kept bit by bit."""
    values = dict(values)
    if values["type"] == "Plane":
        return Plane(**{key: x for key, x in values.items() if key != "type"})
    kind = KINDS[values.pop("type")]
    p = values.get("p")
    if kind is Mesh:
        corners = np.array(values.pop("triangles"))
        if not np.array_equal(corners, corners.astype(np.int64)):
            raise UsageError("the numbers of corners of a triangle must be whole")
        made: Any = Mesh.from_arrays(values.pop("vertices"), corners.astype(np.int64), **values)
    else:
        made = kind(**{key: x for key, x in values.items() if key != "p" or kind in TURNED})
    if p is not None and abs(float(np.linalg.norm(p)) - 1.0) <= 1e-15:
        made._fill([], p=frozen(np.array(p)))
    elif p is not None and kind not in (*TURNED, Mesh):
        made._fill([], p=Box((0.0, 0.0, 0.0), p=p).p)
    return made  # type: ignore[no-any-return]


def shape_text(shape: Any) -> Any:
    """Return a shape as a value of a file."""
    if shape is ...:
        return DEFAULT
    name = type(shape).__name__
    if isinstance(shape, Plane):
        return {"type": name, "point": shape.point.tolist(), "normal": shape.normal.tolist()}
    text: dict[str, Any] = {"type": name}
    for field in _OWN[name]:
        if field.name == "axis":
            continue
        value = shape.data.vertices if field.name == "vertices" else getattr(shape, field.name)
        text[field.name] = np.asarray(value).tolist()
    text |= {"center": shape.center.tolist(), "p": shape.p.tolist()}
    return text | ({"color": shape.color} if shape.color is not None else {})


SHAPES = ListOf(ShapeValue())


def shapes_of(given: Any) -> tuple[Any, ...]:
    """Return the shapes that `shape_text` wrote. Raise UsageError, with the first fault, if they are not shapes."""
    reading = Reading()
    found = SHAPES.read(given, ("shape",), reading)
    if reading.problems:
        raise UsageError(f"a shape cannot be read: {reading.problems[0].what}")
    return tuple(found)
