r"""Fixed joint: body j does not move relative to body i.

    Phi = ( SJ, perp-1(a_i, b_i, c_j), DP1(a_i, a_j, const) )       an RJ with a locked angle, as TJ is a CJ with a locked angle

Source: Haug (2021), spatial kinematics: the translational joint, composed here in the same way.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, coincident, perpendicular_1

from .base import POINT
from .geometry import along_axis, along_vectors, middle
from .locked import Locked


class Fixed(Locked):
    """Fixed joint: body j does not move relative to body i. Removes 6 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,), optional
        Where reactions are reported, at the modelled pose, global frame [m]; by default the centre of mass of body j,
        or of body i if j is the ground.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The joint has no coordinate. The relative pose of the bodies is that of the modelled pose.
    The axes of the frames are the global axes at the modelled pose.
    """

    freedoms = ()
    variable = MappingProxyType(POINT)

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
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The common point on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, b_bar_i : array_like, (3,)
            Two vectors normal to the axis, body frame of i.
        c_bar_j : array_like, (3,)
            Direction of the axis, body frame of j.
        a_bar_j : array_like, (3,), optional
            Vector of body j normal to the axis; by default the one that is perpendicular to a_bar_i at the modelled pose.
        f : float, optional
            The value of a_i . a_j that is kept; by default the modelled value.

        Returns
        -------
        Fixed
            The joint.
        """
        return cls._locked(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j, a_bar_j), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: SJ, perp-1, DP1, which are 3 + 2 + 1 equations."""
        v = self.vectors
        return (
            *coincident(self.i, v.s_bar_i, self.j, v.s_bar_j),
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            self.lock(),
        )
