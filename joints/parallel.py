r"""Parallel: an axis of body j stays parallel to an axis of body i.

    Phi = perp-1(a_i, b_i, c_j)                     a_i, b_i normal to the axis of body i, c_j the axis of body j

Source: Haug (2021), spatial kinematics: parallel-1 constraint.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1
from haugmbd.constraints.freedoms import F_I, G_I, H_I, H_J, slide, turn

from .base import Composed
from .geometry import along_axis, along_vectors, at_middle, middle


class Parallel(Composed):
    """Parallel axes: an axis of body j stays parallel to an axis of body i. Removes 2 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    axis : array_like, (3,)
        Direction h of both axes at the modelled pose, global frame; its length does not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    One angle and three displacements remain.
    The displacements [m] are f_i . d_ij, g_i . d_ij and h_i . d_ij, positive along these axes and 0 at the modelled pose.
    theta [rad] is the angle from f_i to f_j, positive about +h_i by the right-hand rule; theta = 0 at the modelled pose.
    The frames are at the centre of mass of body j (of body i if j is the ground). The position of the axes does not matter.
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(H_J))

    def __init__(self, name: str, i: Body, j: Body, *, axis: Any) -> None:
        super().__init__(name, along_axis(name, i, j, middle(i, j), axis))

    @classmethod
    def from_vectors(cls, name: str, i: Body, a_bar_i: Any, b_bar_i: Any, j: Body, c_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        a_bar_i, b_bar_i : array_like, (3,)
            Two vectors normal to the axis, body frame of i.
        c_bar_j : array_like, (3,)
            Direction of the axis, body frame of j.

        Returns
        -------
        Parallel
            The joint.
        """
        s_bar_i, s_bar_j = at_middle(i, j)
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: perp-1."""
        v = self.vectors
        return perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j)
