r"""UJ, universal joint (Hooke, Cardan): a common point, and an axis of each body that stay perpendicular.

    Phi = ( SJ, DP1(a_i, a_j, 0) )                  a_i, a_j the axes of the cross

Source: Haug sec. 9.4.3; seed 004 (High Level GCon UJ).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP1, Primitive, coincident
from haugmbd.constraints.freedoms import F_I, G_J, turn
from joints.base import Composed
from joints.crossing import crossed, crossed_vectors


class UJ(Composed):
    """Universal joint: removes 4 degrees of freedom; body j turns about two axes that cross at right angles.

    point: the centre of the cross, global [m], (3,);  axis_i, axis_j: its arms on body i and on body j, global, (3,), at right
    angles; all at the modelled pose.  In the frames f is the arm of body i, g that of body j, and h carries the torque.
    """

    freedoms = (turn(F_I), turn(G_J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis_i: Any, axis_j: Any) -> None:
        super().__init__(name, crossed(name, i, j, point, axis_i, axis_j))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, a_bar_j: Any) -> Self:
        """From the points s_bar [m] and the arms a_bar, (3,) each, body frames."""
        return cls._at(name, crossed_vectors(name, i, s_bar_i, a_bar_i, j, s_bar_j, a_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: SJ, DP1."""
        v = self.vectors
        return (*coincident(self.i, v.s_bar_i, self.j, v.s_bar_j), DP1(self.i, v.a_bar_i, self.j, v.a_bar_j))
