r"""Planar joint: a plane of body j slides and turns on a plane of body i.

    Phi = ( perp-1(a_i, b_i, c_j), DP2(a_i x b_i, d_ij, 0) )        a_i, b_i span the plane of body i, c_j is normal to body j's

Source: Haug sec. 9.4 (perp-1 and DP2), composed here.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive, perpendicular_1
from haugmbd.constraints.freedoms import F_I, G_I, H_J, slide, turn
from joints.base import Composed
from joints.geometry import along_axis, along_vectors


class Planar(Composed):
    """Planar joint: removes 3 degrees of freedom; body j slides on a plane of body i and turns about its normal.

    point: on the plane, global [m], (3,);  normal: global, (3,), any length; both at the modelled pose.
    """

    freedoms = (slide(F_I), slide(G_I), turn(H_J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, normal: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, normal, "normal"))

    @classmethod
    def from_vectors(
        cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any, c_bar_j: Any
    ) -> Self:
        """From points s_bar [m], a_bar_i and b_bar_i that span the plane, and c_bar_j normal to it, body frames."""
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: perp-1, DP2."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            DP2(self.i, np.cross(v.a_bar_i, v.b_bar_i), v.s_bar_i, self.j, v.s_bar_j),
        )
