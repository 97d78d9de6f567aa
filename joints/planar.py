r"""Planar joint: a plane of body j slides and turns on a plane of body i.

    Phi = ( perp-1(a_i, b_i, c_j), DP2(a_i x b_i, d_ij, 0) )        a_i, b_i span the plane of body i, c_j is normal to body j's

Source: composed here of perp-1 and DP2; Haug (2021), spatial kinematics.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive, perpendicular_1
from haugmbd.constraints.freedoms import F_I, G_I, H_J, slide, turn

from .base import Composed
from .geometry import along_axis, along_vectors


class Planar(Composed):
    """Planar joint: body j slides on a plane of body i and turns about its normal. Removes 3 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        A point of the plane at the modelled pose, global frame [m].
    normal : array_like, (3,)
        Normal h of the plane at the modelled pose, global frame; its length does not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The coordinates are two displacements and theta.
    The displacements [m] are f_i . d_ij and g_i . d_ij, positive along +f_i and +g_i; both are 0 at the modelled pose if the joint is
    made from global geometry.
    theta [rad] is the angle from f_i to f_j, positive about +h_i by the right-hand rule; theta = 0 at the modelled pose.
    """

    freedoms = (slide(F_I), slide(G_I), turn(H_J))

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, normal: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, normal, "normal"))

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
            A point of the plane on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, b_bar_i : array_like, (3,)
            Two vectors that span the plane, body frame of i.
        c_bar_j : array_like, (3,)
            Normal of the plane, body frame of j.

        Returns
        -------
        Planar
            The joint.
        """
        return cls._at(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: perp-1, DP2."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            DP2(self.i, np.cross(v.a_bar_i, v.b_bar_i), v.s_bar_i, self.j, v.s_bar_j),
        )
