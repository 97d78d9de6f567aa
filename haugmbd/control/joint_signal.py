r"""Angle, displacement and rate of a joint, from the flat state, as `constraints.coordinate` defines them.

    angle          e, n on body a, v on body b         alpha = atan2(n . v, e . v)        q = alpha - alpha_0 + q_0 + 2 pi k
    displacement   h on one of them, P on a, Q on b    q = h . d - (h . d)_0 + q_0,       d = r_b + Q - r_a - P

The function is plain Python on numbers, which Numba compiles as it is.
Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, floor, pi
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.math.body_columns import VELOCITY
from haugmbd.workspace.layout import WIDTH


class JointPlaces(NamedTuple):
    """A coordinate as numbers.

    bodies: (4,) 1 for an angle, and the bodies of the three vectors;  x_bar: (9,) the vectors, one after the other
    offset: alpha_0 - q_0 or (h . d)_0 - q_0
    """

    bodies: Ints
    x_bar: Array
    offset: float


def places_of(coordinate: Coordinate, number: Mapping[Body, int]) -> JointPlaces:
    """Return the numbers of a coordinate."""
    markers = coordinate.markers()
    bodies = np.array([int(coordinate.turns), *(number[body] for body, _ in markers)], dtype=np.int64)
    x_bar = np.concatenate([x for _, x in markers]).astype(np.float64)
    return JointPlaces(bodies, x_bar, coordinate.modelled() - coordinate.q0)


def measure_joint(y: Array, places: JointPlaces, near: float) -> tuple[float, float]:
    """Return a coordinate and its rate at the flat state y, in plain Python; an angle with the turns nearest to `near`.

    The cost does not depend on the number of bodies: the states of three bodies are taken, one for each vector.
    """
    states = [number for body in places.bodies[1:].tolist() for number in y[WIDTH * body : WIDTH * (body + 1)].tolist()]
    return measure_with([0.0] * 18, states, (int(places.bodies[0]), 0, 1, 2), places.x_bar.tolist(), places.offset, near)


def measure_with(X: Any, y: Any, bodies: Any, x_bar: Any, offset: float, near: float) -> tuple[float, float]:
    """Return what `measure_joint` returns;  X: 18 numbers for the vectors and their rates."""
    for m in range(3):
        b = WIDTH * bodies[1 + m]
        e0, e1, e2, e3 = y[b + 3], y[b + 4], y[b + 5], y[b + 6]
        w1, w2, w3 = y[b + 10], y[b + 11], y[b + 12]
        s = e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
        d, c = (e0 * e0 - e1 * e1 - e2 * e2 - e3 * e3) / s, 2.0 * e0 / s
        x1, x2, x3 = x_bar[3 * m], x_bar[3 * m + 1], x_bar[3 * m + 2]
        for part in range(2):
            if part == 1:
                x1, x2, x3 = w2 * x3 - w3 * x2, w3 * x1 - w1 * x3, w1 * x2 - w2 * x1
            along = 2.0 * (e1 * x1 + e2 * x2 + e3 * x3) / s
            X[6 * m + 3 * part] = d * x1 + along * e1 + c * (e2 * x3 - e3 * x2)
            X[6 * m + 3 * part + 1] = d * x2 + along * e2 + c * (e3 * x1 - e1 * x3)
            X[6 * m + 3 * part + 2] = d * x3 + along * e3 + c * (e1 * x2 - e2 * x1)
    if bodies[0] == 0:
        p, q = WIDTH * bodies[2], WIDTH * bodies[3]
        value, rate = -offset, 0.0
        for a in range(3):
            d = y[q + a] + X[12 + a] - y[p + a] - X[6 + a]
            d_dot = y[q + VELOCITY + a] + X[15 + a] - y[p + VELOCITY + a] - X[9 + a]
            value += X[a] * d
            rate += X[3 + a] * d + X[a] * d_dot
        return value, rate
    cosine = sine = cosine_dot = sine_dot = 0.0
    for a in range(3):
        cosine += X[a] * X[12 + a]
        sine += X[6 + a] * X[12 + a]
        cosine_dot += X[3 + a] * X[12 + a] + X[a] * X[15 + a]
        sine_dot += X[9 + a] * X[12 + a] + X[6 + a] * X[15 + a]
    angle = atan2(sine, cosine) - offset
    angle += 2.0 * pi * floor((near - angle) / (2.0 * pi) + 0.5)
    return angle, (cosine * sine_dot - sine * cosine_dot) / (cosine * cosine + sine * sine)
