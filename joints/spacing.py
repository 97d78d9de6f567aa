r"""Frames of the joints with two separate points: Distance, RevoluteSpherical and UniversalSpherical.

    h along the axis of body i (along d_ij if there is no axis), f towards the other point; the same axes at both points

Source: Haug (2021), spatial kinematics: composite joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, body_vector, triad
from haugmbd.bodies.validation import FloatArray, frozen

from .base import Place, Vectors
from .geometry import PARALLEL_TOL, Reader, Z, sine, unit

COINCIDENT_TOL = 1e-12
"""Two points coincide if their distance, relative to their distance from the origin, is below this: rounding of one point that is
given on two bodies."""


def apart(
    name: str, i: Body, j: Body, point_i: Any, point_j: Any, axis: Any = None, *, has_axis: bool = False, given: bool = False
) -> Place:
    """Return frames at two global points [m]: h along a global axis of body i, f towards the other point; without axis h towards it."""
    read = Reader(name, i, j)
    P, Q = read.point("point_i", point_i), read.point("point_j", point_j)
    a_i = frozen(body_vector(i, unit(read.direction("axis", axis)))) if has_axis else None
    return _apart(read, i, j, body_point(i, P), body_point(j, Q), a_i, given)


def apart_vectors(
    name: str, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any, a_bar_i: Any = None, *, has_axis: bool = False, given: bool = False
) -> Place:
    """Return frames at two points from body-frame vectors."""
    read = Reader(name, i, j)
    s_i, s_j = read.point("s_bar_i", s_bar_i), read.point("s_bar_j", s_bar_j)
    a_i = read.direction("a_bar_i", a_bar_i) if has_axis else None
    return _apart(read, i, j, s_i, s_j, a_i, given)


def _apart(read: Reader, i: Body, j: Body, s_i: FloatArray, s_j: FloatArray, a_i: FloatArray | None, given: bool) -> Place:
    """Return frames with the same axes at both points, from the axis of body i and the modelled d_ij.

    given: whether the distance is; the pose need not fit then, and where it has no d_ij off the axis any direction is as good
    """
    P, Q = i.r + i.A @ s_i, j.r + j.A @ s_j
    d_ij = Q - P
    length = np.linalg.norm(d_ij)
    sound = read.posed and not read.faults
    together = sound and length <= COINCIDENT_TOL * max(np.linalg.norm(P), np.linalg.norm(Q))
    if given and sound and (together or (a_i is not None and sine(i.A @ a_i, d_ij) <= PARALLEL_TOL)):
        d_ij = np.array(Z) if a_i is None else triad(unit(i.A @ a_i))[:, 0]
    elif together:
        at = f"({P[0]:.6g}, {P[1]:.6g}, {P[2]:.6g})"
        what = f"its two points coincide at {at}, {length:.2g} m apart: a distance of 0 has no direction"
        read.fault(what, "Use a spherical joint (SJ), or give two different points.")
    elif sound and a_i is not None and sine(i.A @ a_i, d_ij) <= PARALLEL_TOL:
        what = f"the line between its points is parallel to the axis on body {i.name!r}"
        read.fault(what, "Give a point_j off the axis: the arm turns about the axis of body i.")
    h = d_ij if a_i is None else i.A @ a_i
    axes = triad(h) if a_i is None else np.column_stack((np.cross(np.cross(h, d_ij), h), np.cross(h, d_ij), h))
    frames = [Frame.from_axes(b, s, b.A.T @ axes[:, 0], b.A.T @ axes[:, 1]) for b, s in ((i, s_i), (j, s_j))]
    vectors = Vectors(s_i, frozen(frames[0].h if a_i is None else a_i), frames[0].g, s_j, frames[1].g, frames[1].h)
    return read.place(frames[0], frames[1], vectors)


def modelled_distance(place: Place) -> float:
    """Return the distance [m] of the two points at the modelled pose."""
    return float(np.linalg.norm(place.frame_j.point - place.frame_i.point))
