r"""Point in plane: a point of body j stays in a plane of body i.

    Phi = DP2(a_i, d_ij, 0)                         a_i normal to the plane

Source: Haug sec. 9.4; seed 004 (Basic GCon DP2).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, Side, ball, slide
from joints.base import Composed
from joints.geometry import along_axis, along_normal


class PointInPlane(Composed):
    """Point in a plane: removes 1 degree of freedom; a point of body j slides in a plane of body i.

    point: that point of body j, global [m], (3,);  normal: of the plane through it, global, (3,); both at the modelled pose.
    """

    freedoms = (slide(F_I), slide(G_I), *ball(Side.J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, normal: Any) -> None:
        place = along_axis(name, i, j, point, normal, "normal")
        super().__init__(name, place._replace(vectors=place.vectors._replace(a_bar_i=place.frame_i.h)))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """From the points s_bar [m], and a_bar_i normal to the plane through s_bar_i, body frames."""
        return cls._at(name, along_normal(name, i, s_bar_i, a_bar_i, j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: DP2."""
        v = self.vectors
        return (DP2(self.i, v.a_bar_i, v.s_bar_i, self.j, v.s_bar_j),)
