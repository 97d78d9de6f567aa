"""Plane: the flat boundary of a body, for contact. The body is on the side n . (x - point) <= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from haugmbd.bodies.validation import FloatArray, frozen, read_array
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError


@public_class
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Plane:
    """An unlimited plane on a body, which other shapes touch.

    Parameters
    ----------
    point : array_like, (3,)
        A point of the plane, from the centre of mass, body frame; of the ground: global frame [m].
    normal : array_like, (3,)
        Direction out of the body, body frame; it is normalised.

    Raises
    ------
    UsageError
        If a value is not valid.

    Notes
    -----
    A plane has no edges and is not drawn.
    """

    kind: ClassVar[str] = "plane"

    point: FloatArray
    normal: FloatArray

    def __init__(self, *, point: Any = (0.0, 0.0, 0.0), normal: Any = (0.0, 0.0, 1.0)) -> None:
        faults: list[Fault] = []
        at = read_array(faults, "Plane", "point", point, (3,), unit="m")
        n = read_array(faults, "Plane", "normal", normal, (3,))
        if not faults and not np.any(n):
            faults.append(Fault("Plane", f"normal is {n.tolist()}", "Give three numbers, not all zero."))
        if faults:
            raise UsageError("\n".join(map(str, faults)))
        object.__setattr__(self, "point", at)
        object.__setattr__(self, "normal", frozen(unit(n)))

    def __repr__(self) -> str:
        return f"Plane(point={self.point.tolist()}, normal={self.normal.tolist()})"


def unit(n: FloatArray) -> FloatArray:
    """Return n / |n|; a unit vector is kept bit by bit."""
    if abs(float(n @ n) - 1.0) <= np.finfo(float).eps:
        return n
    scaled = n / np.abs(n).max()
    found: FloatArray = scaled / np.linalg.norm(scaled)
    return found
