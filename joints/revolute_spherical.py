r"""Revolute-spherical: a massless arm with a revolute joint on body i and a spherical joint on body j.

    Phi = ( DP2(a_i, d_ij, 0), D(f) )               a_i the axis, d_ij the arm, perpendicular to it, f > 0 its length

The massless arm is eliminated: 6 - 5 (its RJ) - 3 (its SJ) = -2, hence two rows. The arm starts at point_i and is perpendicular to
the axis; if point_i is elsewhere on the axis, the first row does not hold and the model reports it.
Source: Haug (2021), spatial kinematics: composite joints.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP2, Primitive
from haugmbd.constraints.freedoms import H_I, Side, ball, turn

from .spaced import Spaced
from .spacing import apart, apart_vectors


class RevoluteSpherical(Spaced):
    """Revolute-spherical joint: a point of body j stays on a circle about an axis of body i. Removes 2 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point_i : array_like, (3,)
        Centre of the circle at the modelled pose, global frame [m].
    point_j : array_like, (3,)
        The point of body j at the modelled pose, global frame [m].
    axis : array_like, (3,)
        Axis h of body i, perpendicular to the arm at the modelled pose, global frame; its length does not matter.
    distance : float, callable or Driver, optional
        Length f(t) of the arm [m], positive; by default the modelled length.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    One rotation of the arm and three rotations of body j remain.
    The angle of the arm is positive about +h_i by the right-hand rule; it is 0 at the modelled pose, where f points along the arm.
    The rotations of body j are a rotation vector [rad] in the frame on body i, positive by the right-hand rule and 0 at the modelled pose.
    """

    freedoms = (turn(H_I), *ball(Side.J))

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, axis: Any, distance: Any = None) -> None:
        super().__init__(name, apart(name, i, j, point_i, point_j, axis, has_axis=True, given=distance is not None), distance)

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, f: Any = None) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The ends of the arm on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i : array_like, (3,)
            Direction of the axis, body frame of i.
        f : float, callable or Driver, optional
            Length f(t) of the arm [m], positive; by default the modelled length.

        Returns
        -------
        RevoluteSpherical
            The joint.
        """
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j, a_bar_i, has_axis=True, given=f is not None), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DP2, D."""
        v = self.vectors
        return (
            DP2(self.i, v.a_bar_i, v.s_bar_i, self.j, v.s_bar_j),
            self.spacing(),
        )
