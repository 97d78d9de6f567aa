r"""Distance: a point of body i and a point of body j keep their distance (a massless rod with two spherical joints, SS).

    Phi = D(f)                                      f > 0 the distance, a number or a driver

Source: Haug sec. 9.4.3 (spherical-spherical joint); seed 004 (Basic GCon D).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive
from haugmbd.constraints.freedoms import F_I, G_I, H_I, Side, ball, turn
from joints.spaced import Spaced
from joints.spacing import apart, apart_vectors


class Distance(Spaced):
    """Distance (spherical-spherical) joint: removes 1 degree of freedom.

    point_i, point_j: global [m], (3,), at the modelled pose;  distance: [m], a number or a driver, by default the modelled one.
    In the frames h is along the modelled line from point_i to point_j.
    """

    freedoms = (turn(F_I), turn(G_I), turn(H_I), *ball(Side.J))  # 5 independent: the turn about d_ij comes twice

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, distance: Any = None) -> None:
        super().__init__(name, apart(name, i, j, point_i, point_j), distance)

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any, f: Any = None) -> Self:
        """From the points s_bar, (3,) [m], body frames, and the distance f [m], by default the modelled one."""
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: D."""
        return (self.spacing(),)
