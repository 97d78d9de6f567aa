r"""Universal-spherical: a massless rod with a universal joint on body i and a spherical joint on body j.

    Phi = D(f)                                      f > 0 the length of the rod

The massless rod is eliminated: 6 - 4 (its UJ) - 3 (its SJ) = -1, hence ONE row, the same as `Distance`. The universal joint only
determines how the rod spins about itself. A massless rod carries no moment, so its universal joint transmits none. The axis is kept
for the frames. The rod must not lie along the axis: its spin would be undetermined. A rod with mass is a Body with a UJ and an SJ.
Source: Haug (2021), spatial kinematics: composite joints; the number of rows is derived here.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive
from haugmbd.constraints.freedoms import F_I, G_I, H_I, Side, ball, turn

from .spaced import Spaced
from .spacing import apart, apart_vectors


class UniversalSpherical(Spaced):
    """Universal-spherical joint: two points keep their distance, as in `Distance`. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point_i, point_j : array_like, (3,)
        The ends of the rod on body i and on body j at the modelled pose, global frame [m].
    axis : array_like, (3,)
        The arm of the cross on body i, not along the rod, at the modelled pose, global frame; its length does not matter.
    distance : float, callable or Driver, optional
        Length f(t) of the rod [m], positive; by default the modelled length.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Five rotations remain: two of the rod and three of body j. They are positive by the right-hand rule about the axes of the frames, and
    0 at the modelled pose. The length of the rod is positive. Results have the rotation vector [rad] of body j in the frame on body i.
    """

    freedoms = (
        turn(F_I),
        turn(G_I),
        turn(H_I),
        *ball(Side.J),
    )  # 5 of these 6 are independent: the rotation about d_ij occurs twice

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
            The ends of the rod on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i : array_like, (3,)
            The arm of the cross on body i, body frame.
        f : float, callable or Driver, optional
            Length f(t) of the rod [m], positive; by default the modelled length.

        Returns
        -------
        UniversalSpherical
            The joint.
        """
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j, a_bar_i, has_axis=True, given=f is not None), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: D."""
        return (self.spacing(),)
