r"""CJ, cylindrical joint: body j turns about an axis of body i and slides along it.

    Phi = ( perp-1(a_i, b_i, c_j), perp-2(a_i, b_i, d_ij) )         a_i, b_i normal to the axis, c_j along it

Source: Haug (2021), spatial kinematics: cylindrical joint.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import H_I, H_J, slide, turn

from .base import AXIS, POINT, Composed
from .geometry import along_axis, along_vectors


class CJ(Composed):
    """Cylindrical joint: body j turns about an axis of body i and slides along it. Removes 4 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        A point of the axis at the modelled pose, global frame [m].
    axis : array_like, (3,)
        Direction h of the axis at the modelled pose, global frame; its length does not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The coordinates are theta and s. Where both are columns, as in the rate of `result.joint(name)`, the displacement s is the first.
    theta [rad] is the angle from f_i to f_j, positive about +h_i by the right-hand rule; theta = 0 at the modelled pose.
    s [m] is h_i . d_ij, positive along +h_i; s = 0 at the modelled pose if the joint is made from global geometry.
    """

    freedoms = (slide(H_I), turn(H_J))
    variable = MappingProxyType(POINT | AXIS)
    uniform_rows = True

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, axis))

    @classmethod
    def from_vectors(
        cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any, c_bar_j: Any
    ) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            A point of the axis on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, b_bar_i : array_like, (3,)
            Two vectors that span the plane normal to the axis, body frame of i.
        c_bar_j : array_like, (3,)
            Direction of the axis, body frame of j.

        Returns
        -------
        CJ
            The joint, with h_j along c_bar_j.
        """
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: perp-1, perp-2."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            *perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j),
        )
