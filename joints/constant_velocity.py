r"""ConstantVelocity (Rzeppa, tripod, double Cardan): a common point, and no twist between two shafts; they turn at the same rate.

    Phi = ( SJ, ConstantVelocityRow )

Source: Haug (2021), spatial kinematics: composite constraints.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, triad
from haugmbd.bodies.validation import FloatArray, frozen
from haugmbd.constraints import ConstantVelocityRow, Primitive, coincident

from .base import Composed, Place, Vectors
from .geometry import PARALLEL_TOL, Reader, sine, unit

MOST_BENT = 120.0
"""Largest bend [degrees] at the modelled pose. No such joint reaches it: axes that are bent further point against each other by mistake."""


class ConstantVelocity(Composed):
    """Constant-velocity joint: a common point, and no twist between two shafts, however they are bent. Removes 4 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The two shafts, or the ground.
    point : array_like, (3,)
        The centre of the joint at the modelled pose, global frame [m].
    axis_i, axis_j : array_like, (3,)
        Axes of the shafts at the modelled pose, global frame, both in the direction of the power: the same if the joint is straight.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    Shafts whose axes rest in space turn at the same rate at every angle between them; those of a universal joint do not. Two bends
    remain, about axes that are fixed on neither body: results have no coordinates of the joint. The frames of both bodies have h along
    axis_i at the modelled pose. The constraint moment is along the bisector of the axes.
    """

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, axis_i: Any, axis_j: Any) -> None:
        super().__init__(name, _bent(name, i, j, point, axis_i, axis_j))

    @classmethod
    def from_vectors(
        cls, name: str, i: Body, s_bar_i: Any, a_bar_i: Any, b_bar_i: Any, j: Body, s_bar_j: Any, a_bar_j: Any, c_bar_j: Any
    ) -> Self:
        """Return the joint made from vectors in body frames.

        Parameters
        ----------
        name : str
            Name of the joint in messages and results.
        i, j : Body
            The two shafts, or the ground.
        s_bar_i, s_bar_j : array_like, (3,)
            The centre on body i and on body j [m], body frames, from the centre of mass.
        a_bar_i, b_bar_i : array_like, (3,)
            Two orthonormal vectors across the shaft of body i, body frame.
        a_bar_j, c_bar_j : array_like, (3,)
            The vectors across the shaft of body j that coincide with these where the shafts are straight, body frame.

        Returns
        -------
        ConstantVelocity
            The joint.
        """
        read = Reader(name, i, j)
        s_i, a_i, b_i = read.point("s_bar_i", s_bar_i), read.direction("a_bar_i", a_bar_i), read.direction("b_bar_i", b_bar_i)
        s_j, a_j, c_j = read.point("s_bar_j", s_bar_j), read.direction("a_bar_j", a_bar_j), read.direction("c_bar_j", c_bar_j)
        for body, names, pair in ((i, "a_bar_i and b_bar_i", (a_i, b_i)), (j, "a_bar_j and c_bar_j", (a_j, c_j))):
            if not read.faults and sine(*pair) <= PARALLEL_TOL:
                read.fault(
                    f"{names} are parallel (on body {body.name!r})", "Give two vectors that span the plane across the shaft."
                )
        return cls._at(name, _placed(read, i, j, Vectors(s_i, a_i, b_i, s_j, a_j, c_j)))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: SJ, ConstantVelocityRow."""
        v = self.vectors
        row = ConstantVelocityRow(self.i, v.a_bar_i, v.b_bar_i, self.j, v.a_bar_j, v.c_bar_j)
        return (*coincident(self.i, v.s_bar_i, self.j, v.s_bar_j), row)


def _placed(read: Reader, i: Body, j: Body, vectors: Vectors) -> Place:
    """Return the place: both frames along a_i and b_i at the modelled pose."""
    f, g = i.A @ vectors.a_bar_i, i.A @ vectors.b_bar_i
    frame_i = Frame.from_axes(i, vectors.s_bar_i, i.A.T @ f, i.A.T @ g)
    frame_j = Frame.from_axes(j, vectors.s_bar_j, j.A.T @ f, j.A.T @ g)
    return read.place(frame_i, frame_j, vectors)


def _bent(name: str, i: Body, j: Body, point: Any, axis_i: Any, axis_j: Any) -> Place:
    """Return the place of a joint that is bent at the modelled pose: the vectors of body j are those of body i, swung with the shaft."""
    read = Reader(name, i, j)
    P = read.point("point", point)
    h_i, h_j = unit(read.direction("axis_i", axis_i)), unit(read.direction("axis_j", axis_j))
    if read.posed and not read.faults:
        bend = float(np.degrees(np.arctan2(np.linalg.norm(np.cross(h_i, h_j)), h_i @ h_j)))
        if bend > MOST_BENT:
            read.fault(
                f"axis_i and axis_j are bent by {bend:.3g} degrees",
                "Give both axes in the direction of the power, not towards the joint.",
            )
            h_j = h_i
    T = triad(h_i)
    a_i, b_i = (frozen(i.A.T @ T[:, k]) for k in range(2))
    a_j, b_j = (frozen(j.A.T @ _swing(T[:, k], h_i, h_j)) for k in range(2))
    return _placed(read, i, j, Vectors(body_point(i, P), a_i, b_i, body_point(j, P), a_j, b_j))


def _swing(x: FloatArray, h: FloatArray, to: FloatArray) -> FloatArray:
    """Return x turned by the shortest turn from the unit vector h to the unit vector `to`."""
    k = np.cross(h, to)
    turned: FloatArray = x + np.cross(k, x) + np.cross(k, np.cross(k, x)) / (1.0 + h @ to)
    return turned
