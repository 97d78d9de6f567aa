r"""The slopes of revolute joints of a forest, each through its own friction: bounds, and their values.

        Y     = X Omega_i X^T            compliance of the parent at the handle;  Omega: acceleration of a body by a wrench on it
        W     = s I^A (beta h - y / D)   y = Y U,   beta = (1 + U^T y / D) / D
        Omega = (1 - h U^T / D) Y (1 - U h^T / D) + h h^T / D

W: wrench of the joint by unit friction of its own, see `sweeps`.
Source: Rodriguez, Jain, Kreutz-Delgado, Spatial operator algebra for multibody system dynamics, J. Astronaut. Sci. 40 (1992).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.friction import columns as at
from haugmbd.friction.columns import BODY, FRICTION_OF, IS_CHAIN, PARENT
from haugmbd.friction.sweep_lanes import (
    ACCELERATION,
    COMPLIANCE,
    D_INV,
    HAS_FRICTION,
    LANES,
    NORMAL,
    TORQUE,
    in_fours,
    put,
    put_inertia,
    put_own_slopes,
    put_own_slopes_of_forces,
)
from haugmbd.kkt.tree_arrays import ARM as TREE_ARM
from haugmbd.kkt.tree_arrays import AXIS as TREE_AXIS
from haugmbd.kkt.tree_arrays import U_FORCE, U_MOMENT, TreeArrays, tree_arrays
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    ArticulatedInertia,
    Twist,
    Wrench,
    full_downdate,
    power,
    shift_inertia,
    times_twist,
)
from haugmbd.math.larger import larger
from haugmbd.math.vec3 import Vec, load, scale, sub
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

NO_FRICTION = -1
NO_BOUND = 1e100
"""In place of `least_inertia`, of the ground."""


@inlined
def lost_wrench(t: TreeArrays, k: int) -> Wrench:
    """Return U of the joint that carries body k."""
    return Wrench(load(t.joint, k, U_FORCE), load(t.joint, k, U_MOMENT))


@inlined
def is_below_one(terms: Array, f: int, length: float, I: ArticulatedInertia, b_i: float, b_j: float) -> bool:
    """Return whether friction f changes by less than itself through its own joint, by a bound, see `contraction`.

    I: of the body that the joint carries;  b_i, b_j: `least_inertia` of both bodies
    """
    force, moment = I.M[0] + I.M[3] + I.M[5], 0.0
    if length > 0.0:
        moment = 4.0 * (I.J[0] + I.J[3] + I.J[5]) / (length * length)
    c_1, c_2, D = terms[f, at.C_1], terms[f, at.C_2], terms[f, at.DIRECTION]
    a = 2.0 * (c_1 * c_1 * (force + moment) + c_2 * c_2 * force)
    return min(b_i, b_j) > 0.0 and a * D * D * (b_i + b_j) < b_i * b_j


@inlined
def least_inertia(J: Array, body: int) -> float:
    """Return a lower bound of 1 / (h^T J_bar^-1 h) for unit vectors h; J: (nb + 1, 10).

    Source: Gershgorin (1931), eigenvalues in discs.
    """
    xy, xz, yz = abs(J[body, 2]), abs(J[body, 3]), abs(J[body, 6])
    return min(J[body, 1] - xy - xz, J[body, 5] - xy - yz, J[body, 9] - xz - yz)  # type: ignore[no-any-return]


@kernel
def largest_own_slope(P: Pack) -> float:
    """Return the largest slope C(W) - C_0 of a joint through its own friction, of which W is the wrench by unit friction."""
    paths, lanes, worst = ws.friction_paths(P), ws.friction_sweeps(P), 0.0
    put_own_accelerations(P)
    for b in range(lanes.shape[0]):
        z, m = lanes[b], min(LANES, paths.shape[0] - b * LANES)
        if z[HAS_FRICTION, 1] > 0.0:
            put_own_slopes(z, in_fours(m))
        elif z[HAS_FRICTION, 0] > 0.0:
            put_own_slopes_of_forces(z, in_fours(m))
        for r in range(m):
            if paths[b * LANES + r, FRICTION_OF] != NO_FRICTION:
                worst = larger(worst, z[NORMAL, r])
    return worst


@inlined
def put_own_accelerations(P: Pack) -> None:
    """Write s (beta h - y / D), how unit friction of its joint accelerates each body, in place of accelerations."""
    t, paths, lanes, Omega = tree_arrays(P), ws.friction_paths(P), ws.friction_sweeps(P), NO_INERTIA  # type: ignore[arg-type]
    for n in range(paths.shape[0]):
        k, parent, z, r = paths[n, BODY], paths[n, PARENT], lanes[n // LANES], n % LANES
        h, D_inv, lost, Y, s = load(t.joint, k, TREE_AXIS), z[D_INV, r], lost_wrench(t, k), NO_INERTIA, z[TORQUE, r]
        if parent >= 0:
            if parent != n - 1:
                Omega = take_inertia(lanes[parent // LANES], parent % LANES)
            Y = shift_inertia(Omega, scale(-1.0, load(t.joint, k, TREE_ARM)))
        turned = times_twist(Y, Twist(lost.moment, lost.force))
        y = Twist(scale(D_inv, turned.moment), scale(D_inv, turned.force))
        beta = D_inv * (1.0 + power(lost, y))
        put(z, ACCELERATION, r, scale(-s, y.linear))
        put(z, ACCELERATION + 3, r, sub(scale(s * beta, h), scale(s, y.angular)))
        Omega = compliance_outward(Y, h, y.angular, y.linear, beta)
        if paths[n, IS_CHAIN] == 0:
            put_inertia(z, COMPLIANCE, r, Omega, True)


@inlined
def take_inertia(z: Array, r: int) -> ArticulatedInertia:
    """Return the compliance of the body of lane r."""
    c, H, J = COMPLIANCE, COMPLIANCE + 6, COMPLIANCE + 15
    return ArticulatedInertia(
        (z[c, r], z[c + 1, r], z[c + 2, r], z[c + 3, r], z[c + 4, r], z[c + 5, r]),
        (z[H, r], z[H + 1, r], z[H + 2, r], z[H + 3, r], z[H + 4, r], z[H + 5, r], z[H + 6, r], z[H + 7, r], z[H + 8, r]),
        (z[J, r], z[J + 1, r], z[J + 2, r], z[J + 3, r], z[J + 4, r], z[J + 5, r]),
    )


@inlined
def compliance_outward(Y: ArticulatedInertia, h: Vec, y_turn: Vec, y: Vec, beta: float) -> ArticulatedInertia:
    """Return Y + beta h h^T - h (y_turn, y)^T - (y_turn, y) h^T: angular part first, which h belongs to."""
    M, b = Y.M, scale(beta, h)
    return ArticulatedInertia(
        (
            M[0] + h[0] * (b[0] - 2.0 * y_turn[0]),
            M[1] + h[0] * (b[1] - y_turn[1]) - h[1] * y_turn[0],
            M[2] + h[0] * (b[2] - y_turn[2]) - h[2] * y_turn[0],
            M[3] + h[1] * (b[1] - 2.0 * y_turn[1]),
            M[4] + h[1] * (b[2] - y_turn[2]) - h[2] * y_turn[1],
            M[5] + h[2] * (b[2] - 2.0 * y_turn[2]),
        ),
        full_downdate(Y.H, 1.0, h, y),
        Y.J,
    )
