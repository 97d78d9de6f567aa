r"""What a program without Python asks of a state: the reaction of a joint, and a coordinate of a joint, as entries like all others.

    reaction      (F, n_bar) = -Phi_q^T lam  over the rows of a joint,    F on the body, global;    T = A n_bar - s x F,  s = A s_bar
    turn about h  theta = atan2(g_i . f_j, f_i . f_j)     theta' = h_i . (omega_j - omega_i)
    slide along e x = e . d,  d = P_j - P_i               x' = e . d' + (omega x e) . d,     e fixed on body i or j

The steps themselves need no door of their own: every entry has one that takes its arguments as words, see `collect`.
Source: Haug (2021), equations of motion with Lagrange multipliers: reactions in joints; spatial kinematics: relative coordinates.
"""

from __future__ import annotations

from math import atan2, floor, pi
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.function_pointers import F1, F2, F3, I1, types
from haugmbd.compiled.jit import entry, kernel
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.math.vec3 import Vec, add, cross, dot, load, sub, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import PACK_TYPE, Pack

TURN, SLIDE_I, SLIDE_J = 0, 1, 2
"""Kinds of a coordinate: about h, along an axis of the frame on body i, or of that on body j."""


@entry
def reaction(P: Pack, t: float, y: Array, slots: Ints, side: int, s_bar: Array, A: Array, out: Array) -> int:
    """Write force [N] and torque [N m] of a joint on one of its bodies, global, about the joint's point there; return the status.

    slots: (k,) of the joint's rows;  side: of the body in their edge;  s_bar: (1, 3) the joint's point;  A: (1, 3, 3) room;  out: (6,)
    """
    code = accelerate(P, t, y)
    if code != 0:
        return code
    x, J, n = ws.solution(P), ws.jacobian(P), ws.n_bodies(P)
    body = ws.edges(P)[slots[0] // 6, side]
    for a in range(6):
        out[a] = 0.0
    for row in range(slots.shape[0]):
        edge, slot = slots[row] // 6, slots[row]
        for a in range(6):
            out[a] -= J[slot, side, a] * x[n + edge, slot - 6 * edge]
    first = WIDTH * body
    put_rotation(A, 0, y[first + EULER], y[first + EULER + 1], y[first + EULER + 2], y[first + EULER + 3])
    # T = A n_bar - s x F
    s, n_bar, force = to_global(A, 0, load(s_bar, 0, 0)), (out[3], out[4], out[5]), (out[0], out[1], out[2])
    torque = sub(to_global(A, 0, n_bar), cross(s, force))
    out[3], out[4], out[5] = torque
    return 0


@kernel
def point_motion(y: Array, body: int, A: Array, k: int, s_bar: Vec) -> tuple[Vec, Vec, Vec]:
    """Return place and velocity of a point of a body, and its angular velocity, global; write A_k."""
    first = WIDTH * body
    put_rotation(A, k, y[first + EULER], y[first + EULER + 1], y[first + EULER + 2], y[first + EULER + 3])
    s, r = to_global(A, k, s_bar), (y[first], y[first + 1], y[first + 2])
    omega = to_global(A, k, (y[first + OMEGA_BAR], y[first + OMEGA_BAR + 1], y[first + OMEGA_BAR + 2]))
    v = (y[first + VELOCITY], y[first + VELOCITY + 1], y[first + VELOCITY + 2])
    return add(r, s), add(v, cross(omega, s)), omega


@entry
def coordinate(y: Array, ints: Ints, points: Array, axes: Array, zero: float, A: Array, out: Array) -> None:
    """Write a coordinate of a joint [rad or m], and its rate; an angle is the nearest one to that in `out` before.

    ints: kind, axis, bodies i and j;  points: (2, 3) the joint's points on them;  axes: (6, 3) f, g, h on i and on j, body frames
    zero: what is taken off;  A: (2, 3, 3) room;  out: (2,)
    """
    P_i, v_i, omega_i = point_motion(y, ints[2], A, 0, load(points, 0, 0))
    P_j, v_j, omega_j = point_motion(y, ints[3], A, 1, load(points, 1, 0))
    if ints[0] == TURN:
        f_i, g_i, h_i = to_global(A, 0, load(axes, 0, 0)), to_global(A, 0, load(axes, 1, 0)), to_global(A, 0, load(axes, 2, 0))
        f_j = to_global(A, 1, load(axes, 3, 0))
        angle = atan2(dot(g_i, f_j), dot(f_i, f_j)) - zero
        out[0] = angle + 2.0 * pi * floor((out[0] - angle) / (2.0 * pi) + 0.5)
        out[1] = dot(h_i, sub(omega_j, omega_i))
        return
    on_j = ints[0] == SLIDE_J
    e = to_global(A, 1, load(axes, 3 + ints[1], 0)) if on_j else to_global(A, 0, load(axes, ints[1], 0))
    omega = omega_j if on_j else omega_i
    d = sub(P_j, P_i)
    out[0] = dot(e, d) - zero
    out[1] = dot(e, sub(v_j, v_i)) + dot(cross(omega, e), d)


def compile_doors() -> None:
    """Compile the entries of this file."""
    reals, room = types.float64, F3
    for function, arguments in (
        (reaction, (PACK_TYPE, reals, F1, I1, types.int64, F2, room, F1)),
        (coordinate, (F1, I1, F2, F2, reals, room, F1)),
    ):
        compiled: Any = function
        compiled.compile(arguments)
