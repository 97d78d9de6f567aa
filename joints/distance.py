r"""Distance: two points keep their distance (a massless rod with two spherical joints, SS).

    Phi = D(f)                                      f > 0 the distance, a number or a driver

Source: Haug (2021), spatial kinematics: spherical-spherical joint.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive
from haugmbd.constraints.freedoms import F_I, G_I, H_I, Side, ball, turn
from haugmbd.errors import Fault

from .spaced import Spaced
from .spacing import apart, apart_vectors


class Distance(Spaced):
    """Distance (spherical-spherical) joint: two points keep their distance. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point_i, point_j : array_like, (3,)
        The points of body i and of body j at the modelled pose, global frame [m].
    distance : float, callable or Driver, optional
        The distance f(t) [m], positive; by default the modelled distance.
    f : float, callable or Driver, optional
        Another name of `distance`, for a driver of the length.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The joint has no coordinate of its own: it leaves five freedoms. h points from point_i to point_j at the modelled pose.
    The distance is positive. All rotations of body j relative to body i are 0 at the modelled pose. Results have them as a rotation
    vector [rad] in the frame on body i, positive by the right-hand rule.
    """

    freedoms = (
        turn(F_I),
        turn(G_I),
        turn(H_I),
        *ball(Side.J),
    )  # 5 of these 6 are independent: the rotation about d_ij occurs twice

    def __init__(self, name: str, i: Body, j: Body, *, point_i: Any, point_j: Any, distance: Any = None, f: Any = None) -> None:
        place = apart(name, i, j, point_i, point_j, given=distance is not None or f is not None)
        if distance is not None and f is not None:
            both = Fault(f"joint {name!r}", "distance and f are two names of one number, and both are given", "Give one of them.")
            place = place._replace(faults=(*place.faults, both))
        super().__init__(name, place, f if distance is None else distance)

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any, f: Any = None) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The points on body i and on body j [m], body frames, from the centre of mass.
        f : float, callable or Driver, optional
            The distance f(t) [m], positive; by default the modelled distance.

        Returns
        -------
        Distance
            The joint.
        """
        return cls._spaced(name, apart_vectors(name, i, s_bar_i, j, s_bar_j, given=f is not None), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: D."""
        return (self.spacing(),)
