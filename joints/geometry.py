r"""Frames and vectors of a joint from global geometry at the modelled pose, or from vectors in body frames.

    s_bar = A^T (point - r)      a_bar = A^T axis            at the modelled pose of each body
    from global geometry      the frames of both bodies have the same axes at the modelled pose: the joint's angle is zero
    from body-frame vectors   h_i = a_i x b_i,  h_j along c_j,  f_j the image of f_i on body j

These functions do not raise for a bad value: they collect a fault that names the joint.
Source: Haug (2021), spatial kinematics: joint definition frames.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, body_vector, triad
from haugmbd.bodies.validation import FloatArray, frozen, read_array, read_number, shared
from haugmbd.errors import Fault, UsageError

from .base import Place, Vectors, posed

PARALLEL_TOL = 1e-6
"""Least sine of the angle between two directions that must differ. Below it the gradient of a row is too small to be used."""

AGAINST = 0.01
"""Sine of the angle between an axis and the opposite of the other, below which they are modelled against each other."""

Z = (0.0, 0.0, 1.0)
MODELLED: Any = object()
"""Default of an optional direction. None would hide a mistake of the caller."""
DIRECTION = "Give a direction: three numbers, not all zero; the length does not matter."


class Reader:
    """Reader of the points and directions of one joint; it collects their faults."""

    def __init__(self, name: str, i: Body, j: Body) -> None:
        self.where = f"joint {name!r}"
        self.faults: list[Fault] = []
        need_bodies(i, j)
        self.posed = posed(i) and posed(j)

    def point(self, label: str, value: Any) -> FloatArray:
        """Return a point [m], (3,)."""
        return read_array(self.faults, self.where, label, value, (3,), unit="m")

    def direction(self, label: str, value: Any) -> FloatArray:
        """Return a direction, (3,), not zero."""
        vector = read_array(self.faults, self.where, label, value, (3,), remedy=DIRECTION)
        if not vector.any():
            self.fault(f"{label} is (0, 0, 0)", DIRECTION)
        return vector

    def fault(self, what: str, remedy: str) -> None:
        """Append one fault."""
        self.faults.append(Fault(self.where, what, remedy))

    def place(self, frame_i: Frame, frame_j: Frame, vectors: Vectors | None = None) -> Place:
        """Return the place; by default the rows use the axes of the frames: a, b = f, g of body i;  a, c = g, h of body j."""
        i, j = frame_i, frame_j
        usual = vectors or Vectors(i.s_bar, shared(i.f), shared(i.g), j.s_bar, shared(j.g), shared(j.h))
        return Place(i, j, usual, tuple(self.faults))


def need_bodies(i: Body, j: Body) -> None:
    """Raise UsageError if i or j is not a Body, such as a name."""
    for body in (i, j):
        if not isinstance(body, Body):
            what = f"a joint needs two bodies, got {body!r}"
            raise UsageError(f"{what}. Give the object that system.add(...) returned, or system.ground.")


def along_axis(name: str, i: Body, j: Body, point: Any, axis: Any, label: str = "axis") -> Place:
    """Return both frames at a global point [m], with h along a global axis."""
    read = Reader(name, i, j)
    P, h = read.point("point", point), read.direction(label, axis)
    return read.place(Frame.from_global(i, P, h), Frame.from_global(j, P, h))


def starting_at(place: Place, name: str, q0: Any, unit: str) -> tuple[Place, float]:
    """Return the place with the faults of q0, and q0: the value of the joint's coordinate at the modelled pose."""
    faults = list(place.faults)
    start = read_number(faults, f"joint {name!r}", "q0", q0, unit=unit)
    return place._replace(faults=tuple(faults)), start


def along_vectors(
    name: str,
    i: Body,
    s_bar_i: Any,
    a_bar_i: Any,
    b_bar_i: Any,
    j: Body,
    s_bar_j: Any,
    c_bar_j: Any = MODELLED,
    a_bar_j: Any = None,
) -> Place:
    """Return both frames at the points s_bar.

    a_bar_i and b_bar_i span the plane normal to the axis, and c_bar_j is along it (by default the modelled h_i).
    """
    read = Reader(name, i, j)
    s_i, a_i, b_i = read.point("s_bar_i", s_bar_i), read.direction("a_bar_i", a_bar_i), read.direction("b_bar_i", b_bar_i)
    s_j = read.point("s_bar_j", s_bar_j)
    if not read.faults and sine(a_i, b_i) <= PARALLEL_TOL:
        what = f"a_bar_i = {a_i.tolist()} and b_bar_i = {b_i.tolist()} are parallel (on body {i.name!r})"
        read.fault(what, "Give two vectors that span the plane across the axis.")
    frame_i = Frame.from_axes(i, s_i, a_i, b_i)
    c_j = frozen(j.A.T @ i.A @ frame_i.h) if c_bar_j is MODELLED else read.direction("c_bar_j", c_bar_j)
    frame_j = following(frame_i, j, s_j, c_j)
    a_j = frame_j.g if a_bar_j is None else read.direction("a_bar_j", a_bar_j)
    return read.place(frame_i, frame_j, Vectors(s_i, a_i, b_i, s_j, a_j, c_j))


def along_normal(name: str, i: Body, s_bar_i: Any, a_bar_i: Any, j: Body, s_bar_j: Any) -> Place:
    """Return both frames at the points s_bar, with h along a_bar_i on both bodies at the modelled pose."""
    read = Reader(name, i, j)
    s_i, a_i, s_j = read.point("s_bar_i", s_bar_i), read.direction("a_bar_i", a_bar_i), read.point("s_bar_j", s_bar_j)
    T = triad(i.A @ a_i)
    frame_i, frame_j = (Frame.from_axes(b, s, b.A.T @ T[:, 0], b.A.T @ T[:, 1]) for b, s in ((i, s_i), (j, s_j)))
    return read.place(frame_i, frame_j, Vectors(s_i, a_i, frame_i.g, s_j, frame_j.g, frame_j.h))


def following(frame_i: Frame, j: Body, s_bar_j: FloatArray, c_bar_j: FloatArray) -> Frame:
    """Return the frame on body j with h along c_bar_j; f is the image of f_i at the modelled pose, where the joint's angle is zero.

    If c_bar_j is modelled against h_i, h is along h_i; at a pose that does not fit it is not known which way the joint will close.
    """
    f, _, h = (j.A.T @ frame_i.body.A @ frame_i.A_bar).T
    against = c_bar_j @ h < 0.0 and sine(c_bar_j, h) <= AGAINST
    T = triad(-c_bar_j) if against else triad(c_bar_j)
    across = f - (f @ T[:, 2]) * T[:, 2]
    if np.linalg.norm(across) <= PARALLEL_TOL:
        across = T[:, 0]
    return Frame.from_axes(j, s_bar_j, across, np.cross(T[:, 2], across))


def middle(i: Body, j: Body) -> FloatArray:
    """Return the global point [m] of a joint that needs no point: the centre of mass of body j (of body i if j is the ground)."""
    need_bodies(i, j)
    if not (posed(i) and posed(j)):
        return np.zeros(3)
    return i.r if j.is_ground else j.r


def global_z(body: Body) -> FloatArray:
    """Return the global z-axis at the modelled pose in the frame of `body`; (0, 0, 1) if that pose is not finite."""
    need_bodies(body, body)
    return body_vector(body, Z) if posed(body) else frozen(Z)


def at_middle(i: Body, j: Body) -> tuple[FloatArray, FloatArray]:
    """Return the point of `middle` in the frames of body i and of body j."""
    P = middle(i, j)
    s_bar_i, s_bar_j = (body_point(body, P) if posed(body) else P for body in (i, j))
    return s_bar_i, s_bar_j


def modelled_product(place: Place) -> float:
    """Return a_i . a_j at the modelled pose."""
    i, j = place.frame_i.body, place.frame_j.body
    return float((i.A @ place.vectors.a_bar_i) @ (j.A @ place.vectors.a_bar_j))


def unit(a: FloatArray) -> FloatArray:
    """Return a / |a|, or NaN for a zero vector."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return frozen(a / np.linalg.norm(a))


def sine(a: FloatArray, b: FloatArray) -> float:
    """Return the sine of the angle between two vectors, in [0, 1]."""
    return min(1.0, float(np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(a) * np.linalg.norm(b))))
