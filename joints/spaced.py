r"""The row that keeps two points at a distance, in Distance, RevoluteSpherical and UniversalSpherical.

    D(f) = d_ij . d_ij - f^2                        f > 0 the distance, by default the modelled one

Source: Haug (2021), spatial kinematics: distance constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.part import changed
from haugmbd.constraints import D, Primitive
from haugmbd.drivers import Driver, as_driver

from .base import Composed, Place, pose_in
from .spacing import modelled_distance


class Spaced(Composed):
    """A joint with the row D(f). f is the distance [m], a number or a driver; None for the modelled distance."""

    f: Driver

    def __init__(self, name: str, place: Place, f: Any) -> None:
        super().__init__(name, place)
        self.f = as_driver(modelled_distance(place) if f is None else f)

    @classmethod
    def _spaced(cls, name: str, place: Place, f: Any) -> Self:
        """Return the joint with these frames and vectors, without calling the constructor."""
        joint = cls.__new__(cls)
        Spaced.__init__(joint, name, place, f)
        return joint

    def numbers_here(self, states: Mapping[Body, Any], angle: Any) -> tuple[float, ...]:
        """Return the distance of the points now. Raise UsageError for a joint with more rows than this one."""
        if self.rows > 1:
            return super().numbers_here(states, angle)
        (r_i, A_i), (r_j, A_j) = pose_in(states, self.i), pose_in(states, self.j)
        return (float(np.linalg.norm(r_j + A_j @ self.vectors.s_bar_j - r_i - A_i @ self.vectors.s_bar_i)),)

    def held_at(self, numbers: Sequence[float]) -> Self:
        return changed(self, f=as_driver(float(numbers[0])))

    def spacing(self) -> Primitive:
        """Return the row that keeps the distance."""
        return D(self.i, self.vectors.s_bar_i, self.j, self.vectors.s_bar_j, self.f)
