r"""Point on line: a point of body j stays on a line of body i.

    Phi = perp-2(a_i, b_i, d_ij)                    a_i, b_i across the line

Source: Haug sec. 9.4; seed 004 (Intermediate GCon perp-2).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_2
from haugmbd.constraints.freedoms import H_I, Side, ball, slide
from joints.base import Composed
from joints.geometry import along_axis, along_vectors


class PointOnLine(Composed):
    """Point on a line: removes 2 degrees of freedom; a point of body j slides along a line of body i.

    point: that point of body j, global [m], (3,);  axis: of the line through it, global, (3,); both at the modelled pose.
    """

    freedoms = (slide(H_I), *ball(Side.J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """From the points s_bar [m], and a_bar_i and b_bar_i across the line through s_bar_i, body frames."""
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: perp-2."""
        v = self.vectors
        return perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j)
