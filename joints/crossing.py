r"""Frames of the joints with two crossed axes: UJ and Perpendicular.

    f along a_i, g along a_j, h = f x g normal to both      each frame made orthogonal with the modelled direction of the other axis

Source: Haug (2021), spatial kinematics: universal joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, body_vector, triad
from haugmbd.bodies.validation import FloatArray, frozen

from .base import Place, Vectors
from .geometry import PARALLEL_TOL, Reader, sine, unit


def crossed(name: str, i: Body, j: Body, point: Any, axis_i: Any, axis_j: Any) -> Place:
    """Return both frames at a global point [m]: f along axis_i, g along axis_j, h normal to both."""
    read = Reader(name, i, j)
    P = read.point("point", point)
    a_i, a_j = unit(read.direction("axis_i", axis_i)), unit(read.direction("axis_j", axis_j))
    if read.posed and not read.faults and sine(a_i, a_j) <= PARALLEL_TOL:
        angle = np.degrees(np.arcsin(sine(a_i, a_j)))
        what = f"axis_i (on {i.name!r}) and axis_j (on {j.name!r}) are parallel, {angle:.2g} degrees apart"
        read.fault(what, "They must be perpendicular: a row a_i . a_j = 0 is singular where they align.")
    return _crossed(read, i, j, body_point(i, P), body_vector(i, a_i), body_point(j, P), body_vector(j, a_j))


def crossed_vectors(name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any, a_bar_j: Any) -> Place:
    """Return both frames from body-frame vectors."""
    read = Reader(name, i, j)
    s_i, a_i = read.point("s_bar_i", s_bar_i), read.direction("a_bar_i", a_bar_i)
    s_j, a_j = read.point("s_bar_j", s_bar_j), read.direction("a_bar_j", a_bar_j)
    return _crossed(read, i, j, s_i, a_i, s_j, a_j)


def _crossed(read: Reader, i: Body, j: Body, s_i: FloatArray, a_i: FloatArray, s_j: FloatArray, a_j: FloatArray) -> Place:
    """Return frames with f along a_i and g along a_j, each made orthogonal with the modelled direction of the other.

    Vectors in body frames may be parallel at a pose that does not fit: any direction across is as good then.
    """
    a_j_in_i, a_i_in_j = i.A.T @ j.A @ a_j, j.A.T @ i.A @ a_i
    if read.posed and not read.faults and sine(a_i, a_j_in_i) <= PARALLEL_TOL:
        across = triad(unit(a_i))[:, 0]
        a_j_in_i, a_i_in_j = across, triad(unit(a_j))[:, 0]
    frame_i = Frame.from_axes(i, s_i, a_i, a_j_in_i)
    f_j = np.cross(np.cross(a_j, a_i_in_j), a_j)
    frame_j = Frame.from_axes(j, s_j, f_j, a_j)
    return read.place(frame_i, frame_j, Vectors(s_i, frozen(a_i), frame_i.g, s_j, frozen(a_j), frame_j.h))
