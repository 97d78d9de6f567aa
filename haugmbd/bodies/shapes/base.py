r"""A shape: where it is on its body, and its colour.

P = r + A (center + A(p) x)           x: a point of the shape in its own axes;  center, p: on the body, body frame
placed by (d, A_1):                   center' = d + A_1 center          A(p') = A_1 A(p)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.bodies.shapes.files import Triangles
from haugmbd.bodies.validation import FloatArray, frozen, read_array, read_number
from haugmbd.errors import Fault, UsageError
from haugmbd.math.euler_parameters import from_rotation_matrix, rotation_matrix

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
UNIT_TOL = 1e-4
"""How far |p| may be from 1: rounding of four decimals, which is normalised away."""

GIVEN_COLOR = 'Give "#rrggbb", such as "#d55e00", or leave it out for the colour of the body.'

Drawn = tuple["Shape | EllipsisType", ...]
"""What is drawn of a body; `...` stands for what is drawn by default."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Shape:
    """Base class of shapes: Box, Sphere, Ellipsoid, Cylinder, Capsule, Cone and Mesh.

    A new shape is a frozen dataclass like `Cone`: its constructor reads sizes and place, and keeps each argument under its own name, as
    model files write it; `size` is the box around it; `mesh` gives its triangles, unless the viewer draws its `kind` by itself.

    Attributes
    ----------
    center : ndarray, (3,)
        Where the middle of the shape is, from the centre of mass, body frame [m].
    p : ndarray, (4,)
        Euler parameters of the shape's axes in the body frame, scalar first.
    color : str or None
        Colour, "#rrggbb"; None for the colour of the body.
    """

    kind: ClassVar[str] = "shape"
    center: FloatArray
    p: FloatArray
    color: str | None

    def __init__(self) -> None:
        raise UsageError(
            f"{type(self).__name__} has no size of its own. Use Box, Sphere, Ellipsoid, Cylinder, Capsule, Cone or Mesh."
        )

    @property
    def size(self) -> FloatArray:
        """Return the edges of the box around the shape, along its own axes [m], (3,)."""
        raise NotImplementedError

    def mesh(self) -> tuple[Triangles, float] | None:
        """Return its triangles, in its own axes, and the length of their unit [m].

        None of a kind that the viewer draws by itself: box, sphere, ellipsoid, cylinder, cone.
        """
        return None

    def placed(self, center: Any = (0.0, 0.0, 0.0), A: Any = None) -> Self:
        """Return the same shape, turned by the rotation matrix A (3, 3) about the origin and then shifted by `center` [m], (3,)."""
        turn = np.eye(3) if A is None else np.asarray(A, dtype=np.float64)
        p = from_rotation_matrix(turn @ rotation_matrix(self.p))
        moved = copy(self)
        moved._fill([], center=frozen(np.asarray(center, dtype=np.float64) + turn @ self.center), p=frozen(p))
        return moved

    def _fill(self, faults: list[Fault], **values: Any) -> None:
        """Set fields. Raise UsageError with all faults, if there are any."""
        if faults:
            raise UsageError("\n".join(map(str, faults)))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size.tolist()}, center={self.center.tolist()})"


def read_place(what: str, faults: list[Fault], center: Any, p: Any, color: Any) -> dict[str, Any]:
    """Return center, p and color of a shape; bad ones are faults."""
    unit = read_array(faults, what, "p", p, (4,), remedy="Give p as 4 numbers, scalar first.")
    length = float(np.linalg.norm(unit))
    if abs(length - 1.0) > UNIT_TOL:
        faults.append(
            Fault(what, f"p is {unit.tolist()}, of length {length:.6g}", "Euler parameters have length 1: divide p by |p|.")
        )
    if color is not None and not (isinstance(color, str) and COLOR.fullmatch(color)):
        faults.append(Fault(what, f"color is {color!r}", GIVEN_COLOR))
    with np.errstate(invalid="ignore", divide="ignore"):
        turn = frozen(unit / length)
    return {"center": read_array(faults, what, "center", center, (3,), unit="m"), "p": turn, "color": color}


def read_axis(what: str, faults: list[Fault], axis: Any) -> FloatArray:
    """Return the Euler parameters (4,) that turn z to `axis`; a bad axis is a fault."""
    a = read_array(faults, what, "axis", axis, (3,))
    if np.isfinite(a).all() and not np.any(a):
        faults.append(Fault(what, f"axis is {a.tolist()}", "Give three numbers, not all zero."))
        return frozen(np.array([1.0, 0.0, 0.0, 0.0]))
    return frozen(turn_of_z(a))


def turn_of_z(axis: FloatArray) -> FloatArray:
    """Return Euler parameters of the shortest rotation that takes z to `axis`, (4,)."""
    h = axis / np.abs(axis).max()
    h = h / np.linalg.norm(h)
    if h[2] < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    p = np.array([1.0 + h[2], -h[1], h[0], 0.0])
    turn: FloatArray = p / np.linalg.norm(p)
    return turn


def read_length(what: str, faults: list[Fault], label: str, value: Any) -> float:
    """Return a length [m] of at least 0; NaN and a fault for another value."""
    length = read_number(faults, what, label, value, unit="m")
    if length < 0.0:
        faults.append(Fault(what, f"{label} is {length:g} m", "Give a length [m] of 0 or more."))
    return length


BY_DEFAULT: Drawn = (...,)


def read_shapes(faults: list[Fault], where: str, given: Any) -> Drawn:
    """Return what is drawn of a body: a shape, or several; `...` is what is drawn by default. Others are faults."""
    if given is ...:
        return BY_DEFAULT
    several = given if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)
    drawn = tuple(several)
    for one in drawn:
        if one is not ... and not isinstance(one, Shape):
            remedy = "Give a shape, such as mbd.Box or mbd.Mesh, or a list of them; ... stands for what is drawn by default."
            faults.append(Fault(where, f"shape has {one!r:.60}, which is not a shape", remedy))
    return tuple(one for one in drawn if one is ... or isinstance(one, Shape))
