r"""SJ, spherical joint: a point of body i and a point of body j are one.

    Phi = ( CD(x), CD(y), CD(z) )                   x, y, z the global axes

Source: Haug sec. 9.4.3; seed 004 (High Level GCon SJ).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, coincident
from haugmbd.constraints.freedoms import Side, ball
from joints.base import Composed
from joints.geometry import along_axis, along_normal, global_z


class SJ(Composed):
    """Spherical joint: removes 3 degrees of freedom; body j turns freely about a point of body i.

    point: global [m], (3,), at the modelled pose.  The frames have the global axes at the modelled pose.
    """

    freedoms = ball(Side.J)

    def __init__(self, name: str, i: Body, j: Body, *, point: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, (0.0, 0.0, 1.0)))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """From the points s_bar_i and s_bar_j, (3,) [m], body frames."""
        return cls._at(name, along_normal(name, i, s_bar_i, global_z(i), j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: CD along x, y, z."""
        v = self.vectors
        return coincident(self.i, v.s_bar_i, self.j, v.s_bar_j)
