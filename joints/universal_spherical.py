r"""Universal-spherical: a massless rod with a universal joint on body i and a spherical joint on body j.

    Phi = D(f)                                      f > 0 the length of the rod

The rod is a body less: 6 - 4 (its UJ) - 3 (its SJ) = -1, hence ONE row, the same as `Distance`: the universal joint only says how
the rod spins, and a massless rod does not care (it carries no moment, so the universal joint transmits none).  The axis is kept for
the frames, and because the rod must not lie along it: there its spin is free.  A rod with mass is a Body with a UJ and an SJ.
Source: Haug sec. 9.4.4 (composite joints); the count derived here.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive
from haugmbd.constraints.freedoms import F_I, G_I, H_I, Side, ball, turn
from joints.spaced import Spaced
from joints.spacing import apart, apart_vectors


class UniversalSpherical(Spaced):
    """Universal-spherical joint: removes 1 degree of freedom, with the row of Distance.

    point_i, point_j: the ends of the rod, global [m], (3,);  axis: the arm of the cross on body i, global, (3,), not along the
    rod; all at the modelled pose.  distance: the rod's length [m], a number or a driver, by default the modelled one.
    """

    freedoms = (turn(F_I), turn(G_I), turn(H_I), *ball(Side.J))  # 5 independent: the turn about d_ij comes twice

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, axis: Any, distance: Any = None) -> None:
        super().__init__(name, apart(name, i, j, point_i, point_j, axis, has_axis=True), distance)

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, f: Any = None) -> Self:
        """From the points s_bar [m], the arm a_bar_i, body frames, and the length f [m], by default the modelled one."""
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j, a_bar_i, has_axis=True), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: D."""
        return (self.spacing(),)
