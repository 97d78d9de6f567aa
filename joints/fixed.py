r"""Fixed joint: body j keeps its place on body i.

    Phi = ( SJ, perp-1(a_i, b_i, c_j), DP1(a_i, a_j, const) )       an RJ whose angle is locked, as TJ is a CJ whose angle is

Source: composed here as seed 004 composes TJ.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, coincident, perpendicular_1
from joints.geometry import along_axis, along_vectors, middle
from joints.locked import Locked


class Fixed(Locked):
    """Fixed joint: removes 6 degrees of freedom; body j keeps its place on body i.

    point: where the reaction is reported, global [m], (3,), at the modelled pose; by default the centre of mass of body j
    (of body i if j is the ground).  The frames have the global axes at the modelled pose.
    """

    freedoms = ()

    def __init__(self, name: str, i: Body, j: Body, *, point: Any = None) -> None:
        super().__init__(name, along_axis(name, i, j, middle(i, j) if point is None else point, (0.0, 0.0, 1.0)))

    @classmethod
    def from_vectors(
        cls,
        name: str,
        i: Body,
        s_bar_i: Any,
        a_bar_i: Any,
        b_bar_i: Any,
        j: Body,
        s_bar_j: Any,
        c_bar_j: Any,
        a_bar_j: Any = None,
        f: Any = None,
    ) -> Self:
        """From points s_bar [m], a_bar_i and b_bar_i across the axis, c_bar_j along it, and a_i . a_j = f (see Locked)."""
        return cls._locked(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j, a_bar_j), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: SJ, perp-1, DP1: 3 + 2 + 1."""
        v = self.vectors
        return (
            *coincident(self.i, v.s_bar_i, self.j, v.s_bar_j),
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            self.lock(),
        )
