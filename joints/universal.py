r"""UJ, universal joint (Hooke, Cardan): a common point, and an axis of each body that stay perpendicular.

    Phi = ( SJ, DP1(a_i, a_j, 0) )                  a_i, a_j the axes of the cross

Source: Haug (2021), spatial kinematics: universal joint.
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP1, Primitive, coincident
from haugmbd.constraints.freedoms import F_I, G_J, turn

from .base import Composed
from .crossing import crossed, crossed_vectors


class UJ(Composed):
    """Universal joint: body j turns about two perpendicular axes through a common point. Removes 4 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    point : array_like, (3,)
        The centre of the cross at the modelled pose, global frame [m].
    axis_i, axis_j : array_like, (3,)
        The arms of the cross on body i and on body j, perpendicular at the modelled pose, global frame; their lengths do not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The coordinates are two angles [rad]: about f_i = axis_i, then about g_j = axis_j.
    Both are positive by the right-hand rule, and 0 at the modelled pose. The constraint moment is along h = f x g.
    """

    freedoms = (turn(F_I), turn(G_J))
    uniform_rows = True

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis_i: Any, axis_j: Any) -> None:
        super().__init__(name, crossed(name, i, j, point, axis_i, axis_j))

    @classmethod
    def from_vectors(cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, a_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The centre of the cross on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, a_bar_j : array_like, (3,)
            The arm of the cross on body i and on body j, body frames.

        Returns
        -------
        UJ
            The joint.
        """
        return cls._at(name, crossed_vectors(name, i, s_bar_i, a_bar_i, j, s_bar_j, a_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: SJ, DP1."""
        v = self.vectors
        return (*coincident(self.i, v.s_bar_i, self.j, v.s_bar_j), DP1(self.i, v.a_bar_i, self.j, v.a_bar_j))
