r"""CJ, cylindrical joint: body j turns about an axis of body i and slides along it.

    Phi = ( perp-1(a_i, b_i, c_j), perp-2(a_i, b_i, d_ij) )         a_i, b_i across the axis, c_j along it

Source: Haug sec. 9.4.3; seed 004 (High Level GCon CJ).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import H_I, H_J, slide, turn
from joints.base import Composed
from joints.geometry import along_axis, along_vectors


class CJ(Composed):
    """Cylindrical joint: removes 4 degrees of freedom; body j turns about an axis of body i and slides along it.

    point: on the axis, global [m], (3,);  axis: global, (3,), any length; both at the modelled pose.
    """

    freedoms = (slide(H_I), turn(H_J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

    @classmethod
    def from_vectors(
        cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any, c_bar_j: Any
    ) -> Self:
        """From points s_bar [m], a_bar_i and b_bar_i that span the plane across the axis, and c_bar_j along it, body frames."""
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: perp-1, perp-2."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            *perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j),
        )
