r"""TJ, translational joint: body j slides along an axis of body i and does not turn.

    Phi = ( CJ, DP1(a_i, a_j, const) )              a_i, b_i normal to the axis, c_j along it, a_j normal to it and not along a_i

Source: Haug (2021), spatial kinematics: translational joint.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import Primitive, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import H_I, slide

from .base import AXIS, POINT
from .geometry import along_axis, along_vectors, starting_at
from .locked import Locked


class TJ(Locked):
    """Translational joint: body j slides along an axis of body i and does not turn. Removes 5 degrees of freedom.

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
    q0 : float
        Value of the coordinate s at the modelled pose [m].

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The coordinate is s.
    s [m] is h_i . d_ij, positive along +h_i; s = q0 at the modelled pose if the joint is made from global geometry.
    """

    freedoms = (slide(H_I),)
    variable = MappingProxyType(POINT | AXIS)

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis: Any, q0: float = 0.0) -> None:
        place, start = starting_at(along_axis(name, i, j, point, axis), name, q0, "m")
        super().__init__(name, place)
        self.q0 = start

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
            A point of the axis on body i and on body j [m], body frames, from the centre of mass.
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
        TJ
            The joint, with h_j along c_bar_j.
        """
        return cls._locked(name, along_vectors(name, i, s_bar_i, a_bar_i, b_bar_i, j, s_bar_j, c_bar_j, a_bar_j), f)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: perp-1, perp-2, DP1."""
        v = self.vectors
        return (
            *perpendicular_1(self.i, v.a_bar_i, v.b_bar_i, self.j, v.c_bar_j),
            *perpendicular_2(self.i, v.a_bar_i, v.b_bar_i, v.s_bar_i, self.j, v.s_bar_j),
            self.lock(),
        )
