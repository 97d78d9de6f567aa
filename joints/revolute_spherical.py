r"""Revolute-spherical: a massless arm that turns about an axis of body i and holds body j by a spherical joint.

    Phi = ( DP2(a_i, d_ij, 0), D(f) )               a_i the axis, d_ij the arm, perpendicular to it, f > 0 its length

The arm is a body less: 6 - 5 (its RJ) - 3 (its SJ) = -2, hence two rows.  point_i is where the arm meets the axis,
so that the arm is perpendicular to it; elsewhere on the axis the first row does not hold, and the model says so.
Source: Haug sec. 9.4.4 (composite joints).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive
from haugmbd.constraints.freedoms import H_I, Side, ball, turn
from joints.spaced import Spaced
from joints.spacing import apart, apart_vectors


class RevoluteSpherical(Spaced):
    """Revolute-spherical joint: removes 2 degrees of freedom; a point of body j stays on a circle about an axis of body i.

    point_i: the centre of the circle, point_j: the point of body j, global [m], (3,);  axis: of body i, global, (3,), perpendicular
    to the arm; all at the modelled pose.  distance: the arm's length [m], a number or a driver, by default the modelled one.
    In the frames h is the axis, f along the modelled arm.
    """

    freedoms = (turn(H_I), *ball(Side.J))

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, axis: Any, distance: Any = None) -> None:
        super().__init__(name, apart(name, i, j, point_i, point_j, axis, has_axis=True), distance)

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, f: Any = None) -> Self:
        """From the points s_bar [m], the axis a_bar_i, body frames, and the length f [m], by default the modelled one."""
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j, a_bar_i, has_axis=True), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: DP2, D."""
        v = self.vectors
        return (
            DP2(self.i, v.a_bar_i, v.s_bar_i, self.j, v.s_bar_j),
            self.spacing(),
        )
