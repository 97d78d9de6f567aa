r"""SJ, spherical joint: a point of body i and a point of body j coincide.

    Phi = ( CD(x), CD(y), CD(z) )                   x, y, z the global axes

Source: Haug (2021), spatial kinematics: spherical joint.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, coincident
from haugmbd.constraints.freedoms import Side, ball

from .base import POINT, Composed
from .geometry import along_axis, along_normal, global_z


class SJ(Composed):
    """Spherical joint: body j turns freely about a point of body i. Removes 3 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        The common point at the modelled pose, global frame [m].

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Three rotations of body j relative to body i remain, positive by the right-hand rule; they are 0 at the modelled pose. Results have
    them as one rotation vector `.rotation` [rad] in the frame on body i, shorter than pi.
    The axes of the frames are the global axes at the modelled pose.
    """

    freedoms = ball(Side.J)
    variable = MappingProxyType(POINT)
    uniform_rows = True

    def __init__(self, name: str, i: Body, j: Body, *, point: Any) -> None:
        super().__init__(name, along_axis(name, i, j, point, (0.0, 0.0, 1.0)))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The common point on body i and on body j [m], body frames, from the centre of mass.

        Returns
        -------
        SJ
            The joint.
        """
        return cls._at(name, along_normal(name, i, s_bar_i, global_z(i), j, s_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: CD along x, y, z."""
        v = self.vectors
        return coincident(self.i, v.s_bar_i, self.j, v.s_bar_j)
