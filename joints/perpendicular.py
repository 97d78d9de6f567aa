r"""Perpendicular: an axis of body j stays perpendicular to an axis of body i.

    Phi = DP1(a_i, a_j, 0)

Source: Haug sec. 9.4; seed 004 (Basic GCon DP1).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP1, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, G_J, H_I, slide, turn
from joints.base import Composed
from joints.crossing import crossed, crossed_vectors
from joints.geometry import at_middle, middle


class Perpendicular(Composed):
    """Perpendicular axes: removes 1 degree of freedom.

    axis_i, axis_j: of body i and of body j, global, (3,), perpendicular at the modelled pose.  Where they are does not matter; the
    frames are at the centre of mass of body j (of body i if j is the ground), f and g along the axes, and h carries the torque.
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(F_I), turn(G_J))

    def __init__(self, name: str, i: Body, j: Body, *, axis_i: Any, axis_j: Any) -> None:
        super().__init__(name, crossed(name, i, j, middle(i, j), axis_i, axis_j))

    @classmethod
    def from_vectors(cls, name: str, i: Body, a_bar_i: Any, j: Body, a_bar_j: Any) -> Self:
        """From the axes a_bar, (3,), body frames."""
        s_bar_i, s_bar_j = at_middle(i, j)
        return cls._at(name, crossed_vectors(name, i, s_bar_i, a_bar_i, j, s_bar_j, a_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: DP1."""
        return (DP1(self.i, self.vectors.a_bar_i, self.j, self.vectors.a_bar_j),)
