r"""Point in plane: a point of body j stays in a plane of body i.

    Phi = DP2(a_i, d_ij, 0)                         a_i normal to the plane

Source: Haug (2021), spatial kinematics: dot-product constraint of a body-fixed vector and d_ij.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, Side, ball, slide

from .base import Composed
from .geometry import along_axis, along_normal


class PointInPlane(Composed):
    """Point in a plane: a point of body j slides in a plane of body i. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        The point of body j at the modelled pose, global frame [m].
    normal : array_like, (3,)
        Normal h of the plane through the point at the modelled pose, global frame; its length does not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Two displacements and three rotations remain.
    The displacements [m] are f_i . d_ij and g_i . d_ij, positive along +f_i and +g_i; they and the rotations are 0 at the modelled pose
    if the joint is made from global geometry. The rotations are a rotation vector [rad] of body j in the frame on body i, positive by
    the right-hand rule.
    """

    freedoms = (slide(F_I), slide(G_I), *ball(Side.J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, normal: Any) -> None:
        place = along_axis(name, i, j, point, normal, "normal")
        super().__init__(name, place._replace(vectors=place.vectors._replace(a_bar_i=place.frame_i.h)))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            A point of the plane, and the point in it, on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i : array_like, (3,)
            Normal of the plane through s_bar_i, body frame of i.

        Returns
        -------
        PointInPlane
            The joint.
        """
        return cls._at(name, along_normal(name, i, s_bar_i, a_bar_i, j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DP2."""
        v = self.vectors
        return (DP2(self.i, v.a_bar_i, v.s_bar_i, self.j, v.s_bar_j),)
