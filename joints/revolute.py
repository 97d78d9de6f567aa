r"""RJ, revolute joint: body j turns about an axis of body i.

    Phi = ( SJ, perp-1(a_i, b_i, c_j) )             a_i, b_i across the axis, c_j along it

Source: Haug sec. 9.4.3; seed 004 (High Level GCon RJ).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, coincident, perpendicular_1
from haugmbd.constraints.freedoms import H_I, turn
from joints.base import Composed
from joints.geometry import along_axis, along_vectors


class RJ(Composed):
    """Revolute joint: removes 5 degrees of freedom; body j turns about an axis of body i.

    point: on the axis, global [m], (3,);  axis: global, (3,), any length; both at the modelled pose.
    """

    freedoms = (turn(H_I),)

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

    @classmethod
    def from_vectors(
        cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any, c_bar_j: Any
    ) -> Self:
        """From points s_bar [m], a_bar_i and b_bar_i that span the plane across the axis, and c_bar_j along it, body frames."""
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: SJ, perp-1."""
        v = self.vectors
        return (
            *coincident(self.i, v.s_bar_i, self.j, v.s_bar_j),
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
        )
