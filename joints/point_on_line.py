r"""Point on line: a point of body j stays on a line of body i.

    Phi = perp-2(a_i, b_i, d_ij)                    a_i, b_i normal to the line

Source: Haug (2021), spatial kinematics: parallel-2 constraint.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_2
from haugmbd.constraints.freedoms import H_I, Side, ball, slide

from .base import AXIS, POINT, Composed
from .geometry import along_axis, along_vectors


class PointOnLine(Composed):
    """Point on a line: a point of body j slides along a line of body i. Removes 2 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        The point of body j at the modelled pose, global frame [m].
    axis : array_like, (3,)
        Direction h of the line through the point at the modelled pose, global frame; its length does not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    One displacement and three rotations remain.
    s [m] is h_i . d_ij, positive along +h_i; s and the rotations are 0 at the modelled pose if the joint is made from global geometry.
    The rotations are a rotation vector [rad] of body j in the frame on body i, positive by the right-hand rule.
    """

    freedoms = (slide(H_I), *ball(Side.J))
    variable = MappingProxyType(POINT | AXIS)

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            A point of the line, and the point on it, on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, b_bar_i : array_like, (3,)
            Two vectors normal to the line, body frame of i.

        Returns
        -------
        PointOnLine
            The joint.
        """
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: perp-2."""
        v = self.vectors
        return perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j)
