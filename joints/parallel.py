r"""Parallel: an axis of body j stays parallel to an axis of body i.

    Phi = perp-1(a_i, b_i, c_j)                     a_i, b_i across the axis of body i, c_j the axis of body j

Source: Haug sec. 9.4; seed 004 (Intermediate GCon perp-1).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1
from haugmbd.constraints.freedoms import F_I, G_I, H_I, H_J, slide, turn
from joints.base import Composed
from joints.geometry import along_axis, along_vectors, at_middle, middle


class Parallel(Composed):
    """Parallel axes: removes 2 degrees of freedom; body j keeps an axis parallel to one of body i.

    axis: of both bodies, global, (3,), any length, at the modelled pose.  Where the axes are does not matter; the frames are at the
    centre of mass of body j (of body i if j is the ground).
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(H_J))

    def __init__(self, name: str, i: Body, j: Body, *, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, middle(i, j), axis))

    @classmethod
    def from_vectors(cls, name: str, i: Body, a_bar_i: Any, b_bar_i: Any, j: Body, c_bar_j: Any) -> Self:
        """From a_bar_i and b_bar_i across the axis, and c_bar_j along it, body frames."""
        s_bar_i, s_bar_j = at_middle(i, j)
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: perp-1."""
        v = self.vectors
        return perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j)
