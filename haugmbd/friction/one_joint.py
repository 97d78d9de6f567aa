r"""The friction of a revolute joint that is the only one: a scalar equation, as its wrench is linear in its friction.

    x = C(x)        C(x) = C_0 + C_1 (|u + x du| + |v + x dv|) + C_2 |p + x dp|
    A = C_1 (|du| + |dv|) + C_2 |dp| < 1                                                the slope of C at most: then x is the only one

u, v: the forces of both bearings, p: the thrust; without a length all of the force is u.  Changes by unit friction are du, dv and dp.
C is convex: Newton's iteration converges from either side.  It starts without friction.
Source: `forces.joint_friction` has the formulas; `sliding` what happens where A is 1 or more.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, inlined_kernel
from haugmbd.friction.sweep_lanes import (
    C_0,
    C_1,
    C_2,
    DIRECTION,
    NORMAL,
    PER_LENGTH,
    PUSH,
    force_of_lane,
    moment_of_lane,
    norm,
    take,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub

MOST = 40
"""Newton steps."""
TOL = 1e-13
"""Relative to the friction without the loop: what the last step may leave."""
TINY = 1e-100
"""[N] In place of forces that are zero."""
FAILED = -1.0
"""In place of a friction."""


class Parts(NamedTuple):
    """The forces that press the joint: those of two bearings, and the thrust."""

    u: Vec
    v: Vec
    push: float


@inlined
def parts_of_lane(z: Array, r: int) -> Parts:
    """Return the parts of the wrench of lane r at its acceleration."""
    return parts_of(z, r, force_of_lane(z, r), moment_of_lane(z, r))


@inlined_kernel
def parts_of(z: Array, r: int, F: Vec, M: Vec) -> Parts:
    """Return the parts of a wrench of the joint of lane r; the moment is not read where it does not press."""
    h, per_length = take(z, DIRECTION, r), z[PER_LENGTH, r]
    push = dot(F, h)
    F_p = sub(F, scale(push, h))
    if not per_length > 0.0:
        return Parts(F_p, scale(0.0, F_p), push)
    half, c = scale(0.5, F_p), scale(per_length, cross(M, h))
    return Parts(add(half, c), sub(half, c), push)


@inlined
def change_of(before: Parts, after: Parts) -> Parts:
    """Return the difference."""
    return Parts(sub(after.u, before.u), sub(after.v, before.v), after.push - before.push)


@inlined
def limit_of_parts(z: Array, r: int, a: Parts) -> float:
    """Return C; write N and the size of the thrust to lane r."""
    z[NORMAL, r], z[PUSH, r] = norm(a.u) + norm(a.v), abs(a.push)
    return z[C_0, r] + z[C_1, r] * z[NORMAL, r] + z[C_2, r] * z[PUSH, r]  # type: ignore[no-any-return]


@inlined_kernel
def solve_lane(z: Array, r: int, before: Parts, d: Parts, f: float) -> float:
    """Return the friction, from the parts without it and their change by unit friction; FAILED if it is not known to be the only one.

    f: C of the parts without friction.  N and the thrust of lane r are those with the friction found.  The last step leaves less than
    TOL, by the second derivative of C, and where the thrust keeps its sign.
    """
    c_1, c_2, x, limit, a = z[C_1, r], z[C_2, r], 0.0, f, before
    if not c_1 * (norm(d.u) + norm(d.v)) + c_2 * abs(d.push) < 1.0 or not f < 1e200:  # noqa: PLR2004  not finite: the columns tell why
        return FAILED
    for _ in range(MOST):
        n_u, n_v = max(norm(a.u), TINY), max(norm(a.v), TINY)
        n, slope = n_u * n_v, dot(a.u, d.u) * n_v + dot(a.v, d.v) * n_u  # times n
        bend = dot(d.u, d.u) * n_v + dot(d.v, d.v) * n_u  # times n: a bound
        dx = (limit - x) * n / (n - c_1 * slope - c_2 * n * (d.push if a.push >= 0.0 else -d.push))
        x += dx
        turned = max(0.0, abs(dx * d.push) - abs(a.push))
        if c_1 * bend * dx * dx + c_2 * turned * n <= TOL * f * n:
            z[NORMAL, r], z[PUSH, r] = z[NORMAL, r] + dx * slope / n, abs(a.push + dx * d.push)
            return x  # type: ignore[no-any-return]
        a = Parts(add(before.u, scale(x, d.u)), add(before.v, scale(x, d.v)), before.push + x * d.push)
        limit = limit_of_parts(z, r, a)
    return FAILED
