r"""The friction of a revolute joint that is the only one: a scalar equation, as its wrench is linear in its friction.

    x f = C(x)      C(x) = C_0 + C_1 (|u + x du| + |v + x dv|) + C_2 |p + x dp|         friction x f;  f: a first guess
    A = (C_1 (|du| + |dv|) + C_2 |dp|) / f < 1                                          the slope of C at most: then x is the only one

u, v: the forces of both bearings, p: the thrust; without a length all of the force is u.  Changes by friction f are du, dv and dp.
C is convex: Newton's iteration converges from either side.
Source: `forces.joint_friction` has the formulas; `uniqueness` what happens where A is 1 or more.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub
from haugmbd.model.friction.loop.recursion.sweep_lanes import (
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
from haugmbd.model.friction.loop.sliding import ROUNDING, TOL

MOST = 40
"""Newton steps."""
FAILED = -1.0
"""In place of a friction."""


class Parts(NamedTuple):
    """What presses: the forces of two bearings, and the thrust."""

    u: Vec
    v: Vec
    push: float


@inlined
def parts_of_lane(z: Array, r: int) -> Parts:
    """Return the parts of the wrench of lane r at its acceleration."""
    return parts_of(z, r, force_of_lane(z, r), moment_of_lane(z, r))


@kernel
def parts_of(z: Array, r: int, F: Vec, M: Vec) -> Parts:
    """Return the parts of a wrench of the joint of lane r; the moment is not read where it does not press."""
    h, per_length = take(z, DIRECTION, r), z[PER_LENGTH, r]
    push = dot(F, h)
    F_p = sub(F, scale(push, h))
    if not per_length > 0.0:
        return Parts(F_p, (0.0, 0.0, 0.0), push)
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


@inlined
def slope_of_norm(a: Vec, d: Vec) -> float:
    """Return the derivative of |a| along d."""
    size = norm(a)
    return dot(a, d) / size if size > 0.0 else 0.0


@kernel
def solve_lane(z: Array, r: int, before: Parts, d: Parts, f: float) -> float:
    """Return the friction, from the parts without it and their change by friction f; FAILED if it is not known to be the only one.

    N and the thrust of lane r are those with the friction found.
    """
    c_1, c_2, left_before, x = z[C_1, r], z[C_2, r], 1e300, 1.0
    if not c_1 * (norm(d.u) + norm(d.v)) + c_2 * abs(d.push) < f < 1e200:  # noqa: PLR2004  not finite: the columns tell why
        return 0.0 if f == 0.0 else FAILED
    for _ in range(MOST):
        a = Parts(add(before.u, scale(x, d.u)), add(before.v, scale(x, d.v)), before.push + x * d.push)
        residual, size = limit_of_parts(z, r, a) - x * f, max(f, x * f)
        left = abs(residual)
        if left <= TOL * size or (left <= ROUNDING * size and left >= 0.5 * left_before):
            return x * f
        thrust = d.push if a.push >= 0.0 else -d.push
        x += residual / (f - c_1 * (slope_of_norm(a.u, d.u) + slope_of_norm(a.v, d.v)) - c_2 * thrust)
        left_before = left
    return FAILED
