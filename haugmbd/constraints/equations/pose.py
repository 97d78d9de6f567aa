r"""PoseRow: an axis of body j stays at a right angle to one of an orientation that is given in time. Three of them give its orientation.

    Phi_k = b . a        b = A_i A_0(t) e_m        a = A_j e_n        (m, n) = (y, z), (z, x), (x, y) for k = 0, 1, 2
    nu    = - b_t . a    gamma = -( b'' . a + 2 b' . a' + b . a'' )   at u' = 0;  b_t is the rate of b by the time alone

    A_0 of three angles      A_z(yaw) A_y(pitch) A_x(roll)
    A_0 of four numbers      of the Euler parameters p(t) / |p(t)|

A_0 and its two rates follow from those of the functions, by the rules of sums and products. Where the rows hold, Phi_k has the gradient 1
by rotations about axis k. They also hold at three other orientations, half a turn away, which a step can only reach by a jump.
Source: Haug (2021), kinematics: driving constraints; orientation by Euler parameters: ch. 3. Derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel, routine
from haugmbd.constraints.base import (
    DRIVER,
    FIRST_MARKER,
    SLOT,
    Motion,
    Primitive,
    RowTable,
    as_vector,
    centripetal,
    put_level,
    put_row,
)
from haugmbd.constraints.base import rate as rate_of
from haugmbd.constraints.base import value as value_of
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver, as_driver
from haugmbd.math.vec3 import Vec, add, cross, dot, scale

A_MARKER, FURTHER, NUMBER = FIRST_MARKER + 3, FIRST_MARKER + 4, FIRST_MARKER + 7
"""Columns after the axes of body i: the axis of body j; the further drivers, -1 for none of the fourth; the number k of the row."""
NO_DRIVER = -1
PAIRS = ((1, 2), (2, 0), (0, 1))
"""Axes (m, n) of the orientation and of the body, by row."""


@public_class
class PoseRow(Primitive):
    """One of three rows that prescribe the orientation of body j on body i. Removes 1 degree of freedom.

    Parameters
    ----------
    i, j : Body
        The base, or the ground; the body.
    functions : sequence of three or four float, callable or Driver
        Roll, pitch and yaw [rad]; or Euler parameters, scalar first, of any length but 0.
    k : int
        Which of the three rows, from 0.

    Notes
    -----
    `joints.PoseDriver` makes them.
    Source: Haug (2021), driving constraints; derived here.
    """

    kind = "Pose"
    unit = "1"
    symbols = "Phi = (A_i A_0(t) e_m) . (A_j e_n),  A_0 the prescribed orientation"

    def __init__(self, i: Body, j: Body, functions: Sequence[Any], k: int) -> None:
        self.functions: tuple[Driver, ...] = tuple(as_driver(f) for f in functions)
        self.k = int(k)
        super().__init__(i, j, self.functions[self.k])

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        axes = np.eye(3)
        return (*((self.i, as_vector(axis)) for axis in axes), (self.j, as_vector(axes[PAIRS[self.k][1]])))

    def prescribed(self) -> tuple[Driver, ...]:
        return self.functions

    def given(self) -> dict[str, Array]:
        return {}

    def words(self) -> str:
        return f"{self.j.name} has the orientation that is given in time, about its axis {'xyz'[self.k]}"

    def line(self, slot: int, side: int, markers: list[int], drivers: Sequence[int]) -> tuple[list[int], tuple[float, ...]]:
        """Return the line of the row;  drivers: the numbers of its functions."""
        further = [*drivers[1:], NO_DRIVER][:3]
        return [slot, side, drivers[0], *markers, *further, self.k], ()


@kernel
def product(a: Vec, b: Vec) -> Vec:
    """Return a b with two rates, of numbers with two rates."""
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]


@kernel
def cosine(a: Vec) -> Vec:
    """Return cos a with two rates."""
    c, s = cos(a[0]), sin(a[0])
    return c, -s * a[1], -s * a[2] - c * a[1] * a[1]


@kernel
def sine(a: Vec) -> Vec:
    """Return sin a with two rates."""
    c, s = cos(a[0]), sin(a[0])
    return s, c * a[1], c * a[2] - s * a[1] * a[1]


@kernel
def inverse(a: Vec) -> Vec:
    """Return 1 / a with two rates."""
    u = 1.0 / a[0]
    return u, -u * u * a[1], 2.0 * u * u * u * a[1] * a[1] - u * u * a[2]


@kernel
def less(a: Vec, b: Vec) -> Vec:
    """Return a - b."""
    return add(a, scale(-1.0, b))


@kernel
def column_of_angles(roll: Vec, pitch: Vec, yaw: Vec, m: int) -> tuple[Vec, Vec, Vec]:
    """Return column m of A_z(yaw) A_y(pitch) A_x(roll), each component with two rates."""
    c_y, s_y, c_p, s_p = cosine(yaw), sine(yaw), cosine(pitch), sine(pitch)
    if m == 0:
        return product(c_y, c_p), product(s_y, c_p), scale(-1.0, s_p)
    c_r, s_r = cosine(roll), sine(roll)
    along, across = (s_r, c_r) if m == 1 else (c_r, scale(-1.0, s_r))
    x = less(product(product(c_y, s_p), along), product(s_y, across))
    y = add(product(product(s_y, s_p), along), product(c_y, across))
    return x, y, product(c_p, along)


@kernel
def column_of_parameters(e0: Vec, e1: Vec, e2: Vec, e3: Vec, m: int) -> tuple[Vec, Vec, Vec]:
    """Return column m of the rotation matrix of e / |e|, each component with two rates."""
    square = add(add(product(e0, e0), product(e1, e1)), add(product(e2, e2), product(e3, e3)))
    w = scale(2.0, inverse(square))
    one = (1.0 + 0.0 * e0[0], 0.0 * e0[0], 0.0 * e0[0])
    if m == 0:
        x, y, z = (
            add(product(e2, e2), product(e3, e3)),
            add(product(e1, e2), product(e0, e3)),
            less(product(e1, e3), product(e0, e2)),
        )
        return less(one, product(w, x)), product(w, y), product(w, z)
    if m == 1:
        x, y, z = (
            less(product(e1, e2), product(e0, e3)),
            add(product(e1, e1), product(e3, e3)),
            add(product(e2, e3), product(e0, e1)),
        )
        return product(w, x), less(one, product(w, y)), product(w, z)
    x, y, z = add(product(e1, e3), product(e0, e2)), less(product(e2, e3), product(e0, e1)), add(product(e1, e1), product(e2, e2))
    return product(w, x), product(w, y), less(one, product(w, z))


@kernel
def driver_at(m: Motion, driver: int) -> Vec:
    """Return f, f' and f'' of a driver."""
    return m.F[driver, 0], m.F[driver, 1], m.F[driver, 2]


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all orientations that are given in time."""
    for row in range(ints.shape[0]):
        k, a_marker = ints[row, NUMBER], ints[row, A_MARKER]
        first, second, third = (
            driver_at(m, ints[row, DRIVER]),
            driver_at(m, ints[row, FURTHER]),
            driver_at(m, ints[row, FURTHER + 1]),
        )
        column = 1 if k == 0 else 2 if k == 1 else 0
        if ints[row, FURTHER + 2] < 0:
            x, y, z = column_of_angles(first, second, third, column)
        else:
            x, y, z = column_of_parameters(first, second, third, driver_at(m, ints[row, FURTHER + 2]), column)
        e, g, h = ints[row, FIRST_MARKER], ints[row, FIRST_MARKER + 1], ints[row, FIRST_MARKER + 2]
        # b = A_i u with u = (x, y, z);  b_t = A_i u',  b' = b_t + (A_i)' u,  b'' = A_i u'' + 2 (A_i)' u' + (A_i)'' u
        b = add(add(scale(x[0], value_of(m, e)), scale(y[0], value_of(m, g))), scale(z[0], value_of(m, h)))
        b_t = add(add(scale(x[1], value_of(m, e)), scale(y[1], value_of(m, g))), scale(z[1], value_of(m, h)))
        b_dot = add(b_t, add(add(scale(x[0], rate_of(m, e)), scale(y[0], rate_of(m, g))), scale(z[0], rate_of(m, h))))
        b_tt = add(add(scale(x[2], value_of(m, e)), scale(y[2], value_of(m, g))), scale(z[2], value_of(m, h)))
        mixed = add(add(scale(x[1], rate_of(m, e)), scale(y[1], rate_of(m, g))), scale(z[1], rate_of(m, h)))
        turned = add(add(scale(x[0], centripetal(m, e)), scale(y[0], centripetal(m, g))), scale(z[0], centripetal(m, h)))
        b_ddot = add(b_tt, add(scale(2.0, mixed), turned))
        a = value_of(m, a_marker)
        moment = cross(b, a)
        put_row(rows, m, ints, row, m.body_of[e], m.body_of[a_marker], scale(0.0, moment), moment, scale(-1.0, moment))
        gamma = -dot(b_ddot, a) - 2.0 * dot(b_dot, rate_of(m, a_marker)) - dot(b, centripetal(m, a_marker))
        put_level(rows, ints[row, SLOT], dot(b, a), -dot(b_t, a), gamma)
