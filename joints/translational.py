r"""TJ, translational joint: body j slides along an axis of body i and does not turn.

    Phi = ( CJ, DP1(a_i, a_j, const) )              a_i, b_i across the axis, c_j along it, a_j across it and not along a_i

Source: Haug sec. 9.4.3; seed 004 (High Level GCon TJ).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import H_I, slide
from joints.geometry import along_axis, along_vectors
from joints.locked import Locked


class TJ(Locked):
    """Translational joint: removes 5 degrees of freedom; body j slides along an axis of body i.

    point: on the axis, global [m], (3,);  axis: global, (3,), any length; both at the modelled pose.
    """

    freedoms = (slide(H_I),)

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

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
        """The rows: perp-1, perp-2, DP1."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            *perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j),
            self.lock(),
        )
