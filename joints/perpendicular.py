r"""Perpendicular: an axis of body j stays perpendicular to an axis of body i.

    Phi = DP1(a_i, a_j, 0)

Source: Haug (2021), spatial kinematics: orthogonality of two body-fixed vectors (dot-product constraint).
"""

from __future__ import annotations

from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.constraints import DP1, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, G_J, H_I, slide, turn

from .base import Composed
from .crossing import crossed, crossed_vectors
from .geometry import at_middle, middle


class Perpendicular(Composed):
    """Perpendicular axes: an axis of body j stays perpendicular to an axis of body i. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two bodies, or the ground.
    axis_i, axis_j : array_like, (3,)
        The axes of body i and of body j, perpendicular at the modelled pose, global frame; their lengths do not matter.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Two rotations and three displacements remain: body j turns about f_i = axis_i and about g_j = axis_j, positive by the
    right-hand rule; both angles are 0 at the modelled pose. The displacements [m] are f_i . d_ij, g_i . d_ij and h_i . d_ij, 0 at the
    modelled pose. The constraint moment is along h = f x g.
    The frames are at the centre of mass of body j (of body i if j is the ground). The position of the axes does not matter.
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(F_I), turn(G_J))

    def __init__(self, name: str, i: Body, j: Body, *, axis_i: Any, axis_j: Any) -> None:
        super().__init__(name, crossed(name, i, j, middle(i, j), axis_i, axis_j))

    @classmethod
    def from_vectors(cls, name: str, i: Body, a_bar_i: Any, j: Body, a_bar_j: Any) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two bodies, or the ground.
        a_bar_i, a_bar_j : array_like, (3,)
            The axis on body i and on body j, body frames.

        Returns
        -------
        Perpendicular
            The joint.
        """
        s_bar_i, s_bar_j = at_middle(i, j)
        return cls._at(name, crossed_vectors(name, i, s_bar_i, a_bar_i, j, s_bar_j, a_bar_j))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DP1."""
        return (DP1(self.i, self.vectors.a_bar_i, self.j, self.vectors.a_bar_j),)
