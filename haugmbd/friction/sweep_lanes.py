r"""What sweeps need of each body of FRICTION_PATHS, in lanes of eight bodies; and the normal force of their joints, in vector units.

    W = I^A a - p_0 - dp                        wrench of the joint on the body
    N = |F_p|                                   F_p = F - (F . h) h
    N = |F_p / 2 + c| + |F_p / 2 - c|           with a length:  c = M x h / length
    C = C_0 + C_1 N + C_2 |F . h|

Accelerations wait for one another, and normal forces do not: these are computed for eight joints at once.
Source: `forces.joint_friction` has the formulas of N.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.friction.columns import IS_CHAIN
from haugmbd.math.articulated_inertia import NO_TWIST, ArticulatedInertia, Twist
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub

LANES = 8
"""As `workspace.accessors.friction_sweeps` has them."""
CHANGE, LOST, D_INV, FREE, TORQUE, MOVE, ACCELERATION = 0, 6, 12, 13, 14, 15, 16
"""Where the numbers of a body start: dp; X^T U / D; 1 / D; (u_0 - U . g) / D; s; v; a; see `sweeps`."""
LINEAR, MIXED, ANGULAR, FORCES, DIRECTION = 22, 28, 37, 43, 49
"""M, H and J of I^A; p_0; the axis h of the friction."""
C_0, C_1, C_2, PER_LENGTH, NORMAL, PUSH = 52, 53, 54, 55, 57, 58
"""As in `columns`;  1 / length, 0 without;  N;  |F . h|."""
HAS_FRICTION = 59
"""Of all lanes: 1 if a joint has friction; 1 if the length of one presses; 1 if dp of one is a sum."""
COMPLIANCE = 60
"""Omega, see `own_slopes`."""
COUPLING, AHEAD = 81, 82
"""h of the parent . X^T U / D;  the moment of this about the handle of the parent's parent: see `sweeps`."""
SWEEP_COLUMNS = 85


@inlined
def in_fours(n: int) -> int:
    """Return n, rounded up to a multiple of four."""
    return (n + 3) // 4 * 4


@inlined
def take(z: Array, c: int, r: int) -> Vec:
    """Return three numbers of lane r, from column c on."""
    return (z[c, r], z[c + 1, r], z[c + 2, r])


@inlined
def put(z: Array, c: int, r: int, a: Vec) -> None:
    """Write three numbers of lane r, from column c on."""
    z[c, r], z[c + 1, r], z[c + 2, r] = a


@inlined
def add_to(z: Array, c: int, r: int, a: Vec) -> None:
    """Add to three numbers of lane r, from column c on."""
    put(z, c, r, add(take(z, c, r), a))


@inlined
def acceleration_of(lanes: Array, line: int) -> Twist:
    """Return the acceleration of the body of a line; -1: of the ground."""
    if line < 0:
        return NO_TWIST
    z, r = lanes[line // LANES], line % LANES
    return Twist(take(z, ACCELERATION, r), take(z, ACCELERATION + 3, r))


@inlined
def clear_sums(paths: Ints, lanes: Array) -> None:
    """Clear dp of the bodies on which it is a sum."""
    for b in range(lanes.shape[0]):
        if lanes[b, HAS_FRICTION, 2] > 0.0:
            for r in range(min(LANES, paths.shape[0] - b * LANES)):
                if paths[b * LANES + r, IS_CHAIN] == 0:
                    put(lanes[b], CHANGE, r, (0.0, 0.0, 0.0))
                    put(lanes[b], CHANGE + 3, r, (0.0, 0.0, 0.0))


@inlined
def put_inertia(z: Array, c: int, r: int, I: ArticulatedInertia, moments: bool) -> None:
    """Write M and H of lane r, from column c on; and J, where moments press."""
    H, J = c + 6, c + 15
    z[c, r], z[c + 1, r], z[c + 2, r], z[c + 3, r], z[c + 4, r], z[c + 5, r] = I.M
    z[H, r], z[H + 1, r], z[H + 2, r], z[H + 3, r], z[H + 4, r], z[H + 5, r], z[H + 6, r], z[H + 7, r], z[H + 8, r] = I.H
    if moments:
        z[J, r], z[J + 1, r], z[J + 2, r], z[J + 3, r], z[J + 4, r], z[J + 5, r] = I.J


@inlined
def put_loads(z: Array, m: int, moments: bool, out: Array) -> None:
    """Write N and |F . h| of the first m lanes z (., LANES), at their accelerations, and C to out (m,).

    m: a multiple of four, which vector units take without a remainder;  moments: whether one of the joints has a length
    """
    if moments:
        put_loads_with_moments(z, m, out)
    else:
        put_loads_of_forces(z, m, out)


@inlined
def put_loads_of_forces(z: Array, m: int, out: Array) -> None:
    """Do what `put_loads` does if no joint has a length; m is not a compile-time constant, so that LLVM keeps one vectorised loop."""
    for r in range(m):
        F, h = force_of_lane(z, r), take(z, DIRECTION, r)
        push = dot(F, h)
        out[r] = put_limit(z, r, norm(sub(F, scale(push, h))), abs(push))


@inlined
def put_loads_with_moments(z: Array, m: int, out: Array) -> None:
    """Do what `put_loads` does if a joint has a length."""
    for r in range(m):
        F, h = force_of_lane(z, r), take(z, DIRECTION, r)
        M, per_length = moment_of_lane(z, r), z[PER_LENGTH, r]
        push, x = dot(F, h), cross(M, h)
        half = scale(0.5, sub(F, scale(push, h)))
        c = scale(per_length, x) if per_length > 0.0 else (0.0, 0.0, 0.0)
        out[r] = put_limit(z, r, norm(add(half, c)) + norm(sub(half, c)), abs(push))


@inlined
def put_own_slopes(z: Array, m: int) -> None:
    """Write C_1 N + C_2 |F . h| of the first m lanes to the place of N, at W = I^A a."""
    for r in range(m):
        F, M, h, per_length = inertia_force(z, r), inertia_moment(z, r), take(z, DIRECTION, r), z[PER_LENGTH, r]
        push = dot(F, h)
        half, x = scale(0.5, sub(F, scale(push, h))), cross(M, h)
        c = scale(per_length, x) if per_length > 0.0 else (0.0, 0.0, 0.0)
        z[NORMAL, r] = z[C_1, r] * (norm(add(half, c)) + norm(sub(half, c))) + z[C_2, r] * abs(push)


@inlined
def put_own_slopes_of_forces(z: Array, m: int) -> None:
    """Do what `put_own_slopes` does if no joint has a length."""
    for r in range(m):
        F, h = inertia_force(z, r), take(z, DIRECTION, r)
        push = dot(F, h)
        z[NORMAL, r] = z[C_1, r] * norm(sub(F, scale(push, h))) + z[C_2, r] * abs(push)


@inlined
def force_of_lane(z: Array, r: int) -> Vec:
    """Return the force of W."""
    return sub(sub(inertia_force(z, r), take(z, FORCES, r)), take(z, CHANGE, r))


@inlined
def moment_of_lane(z: Array, r: int) -> Vec:
    """Return the moment of W."""
    return sub(sub(inertia_moment(z, r), take(z, FORCES + 3, r)), take(z, CHANGE + 3, r))


@inlined
def inertia_force(z: Array, r: int) -> Vec:
    """Return the force of I^A a."""
    a, w, M, H = take(z, ACCELERATION, r), take(z, ACCELERATION + 3, r), LINEAR, MIXED
    return (
        z[M, r] * a[0] + z[M + 1, r] * a[1] + z[M + 2, r] * a[2]
        + z[H, r] * w[0] + z[H + 1, r] * w[1] + z[H + 2, r] * w[2],
        z[M + 1, r] * a[0] + z[M + 3, r] * a[1] + z[M + 4, r] * a[2]
        + z[H + 3, r] * w[0] + z[H + 4, r] * w[1] + z[H + 5, r] * w[2],
        z[M + 2, r] * a[0] + z[M + 4, r] * a[1] + z[M + 5, r] * a[2]
        + z[H + 6, r] * w[0] + z[H + 7, r] * w[1] + z[H + 8, r] * w[2],
    )  # fmt: skip


@inlined
def inertia_moment(z: Array, r: int) -> Vec:
    """Return the moment of I^A a."""
    a, w, H, J = take(z, ACCELERATION, r), take(z, ACCELERATION + 3, r), MIXED, ANGULAR
    return (
        z[H, r] * a[0] + z[H + 3, r] * a[1] + z[H + 6, r] * a[2]
        + z[J, r] * w[0] + z[J + 1, r] * w[1] + z[J + 2, r] * w[2],
        z[H + 1, r] * a[0] + z[H + 4, r] * a[1] + z[H + 7, r] * a[2]
        + z[J + 1, r] * w[0] + z[J + 3, r] * w[1] + z[J + 4, r] * w[2],
        z[H + 2, r] * a[0] + z[H + 5, r] * a[1] + z[H + 8, r] * a[2]
        + z[J + 2, r] * w[0] + z[J + 4, r] * w[1] + z[J + 5, r] * w[2],
    )  # fmt: skip


@inlined
def put_limit(z: Array, r: int, N: float, push: float) -> float:
    """Write N and |F . h| of lane r; return C, 0 for a joint without friction."""
    z[NORMAL, r], z[PUSH, r] = N, push
    return z[C_0, r] + z[C_1, r] * N + z[C_2, r] * push  # type: ignore[no-any-return]


@inlined
def norm(a: Vec) -> float:
    """Return |a|."""
    return sqrt(dot(a, a))
