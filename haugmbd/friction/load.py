r"""What a joint carries: the wrench on body j at its point, and the normal force N of its friction, with its derivative.

    F = -sum lam Phi_r,   n_bar = -sum lam PiBar,   M = A n_bar - s x F                 over the joint's own rows, s: lever of P_j

Source: Haug (2021), reactions; `forces.joint_friction` has the formulas of N.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.forces.joint_friction import (
    CYLINDRICAL,
    MESH_SLIDE,
    MESH_TURN,
    PLANAR,
    POINT_ON_LINE,
    REVOLUTE,
    SPHERICAL,
    THREAD,
    TRANSLATIONAL,
)
from haugmbd.friction.columns import AXIS, BODY_J, KIND, LEAD, LENGTH, LEVER, N_SLOTS, RADIUS, SIDE_J, SLOTS
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global


@kernel
def wrench_of(ints: Ints, terms: Array, k: int, J: Array, A: Array, lam: Array, first: int) -> tuple[Vec, Vec]:
    """Return force and moment at P_j on body j, global, of the multipliers lam[first + slot // 6, slot % 6]."""
    F1 = F2 = F3 = n1 = n2 = n3 = 0.0
    side = ints[k, SIDE_J]
    for c in range(ints[k, N_SLOTS]):
        slot = ints[k, SLOTS + c]
        x = -lam[first + slot // 6, slot % 6]
        F1 += x * J[slot, side, 0]
        F2 += x * J[slot, side, 1]
        F3 += x * J[slot, side, 2]
        n1 += x * J[slot, side, 3]
        n2 += x * J[slot, side, 4]
        n3 += x * J[slot, side, 5]
    F = (F1, F2, F3)
    return F, sub(to_global(A, ints[k, BODY_J], (n1, n2, n3)), cross(load(terms, k, LEVER), F))


@kernel
def force_of(ints: Ints, k: int, J: Array, lam: Array, first: int) -> Vec:
    """Return the force at P_j on body j, global, of the multipliers lam[first + slot // 6, slot % 6]."""
    F1 = F2 = F3 = 0.0
    side = ints[k, SIDE_J]
    for c in range(ints[k, N_SLOTS]):
        slot = ints[k, SLOTS + c]
        x = -lam[first + slot // 6, slot % 6]
        F1 += x * J[slot, side, 0]
        F2 += x * J[slot, side, 1]
        F3 += x * J[slot, side, 2]
    return F1, F2, F3


@kernel
def moments_press(ints: Ints, reals: Array, k: int) -> bool:
    """Return whether the normal force of joint k depends on the moment that it carries."""
    return (
        ints[k, KIND] == MESH_TURN
        or ints[k, KIND] not in (SPHERICAL, POINT_ON_LINE)
        and (reals[k, LENGTH] > 0.0 or (ints[k, KIND] == TRANSLATIONAL and reals[k, RADIUS] > 0.0))
    )


@kernel
def size(a: Vec) -> float:
    """Return |a|."""
    return sqrt(dot(a, a))


@kernel
def direction(a: Vec) -> Vec:
    """Return a / |a|, which is the gradient of |a|; 0 where a is 0."""
    length = size(a)
    return scale(1.0 / length, a) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def across(h: Vec, a: Vec) -> Vec:
    """Return the part of a normal to h."""
    return sub(a, scale(dot(a, h), h))


@kernel
def normal_force(ints: Ints, reals: Array, terms: Array, k: int, F: Vec, M: Vec) -> float:
    """Return N of the wrench (F, M), without preload [N]."""
    kind, h = ints[k, KIND], load(terms, k, AXIS)
    radius, length = reals[k, RADIUS], reals[k, LENGTH]
    if kind == SPHERICAL:
        return size(F)
    if kind == POINT_ON_LINE:
        return size(across(h, F))
    if kind == PLANAR:
        couple = 2.0 * size(across(h, M)) / length if length > 0.0 else 0.0
        return max(abs(dot(F, h)), couple)
    if kind == MESH_TURN:
        torque: float = abs(dot(M, h))
        return torque / radius
    if kind == MESH_SLIDE:
        return abs(dot(F, h))
    F_p = across(h, F)
    if length > 0.0:
        half, c = scale(0.5, F_p), scale(1.0 / length, cross(M, h))
        N = size(add(half, c)) + size(sub(half, c))
    else:
        N = size(F_p)
    if kind == TRANSLATIONAL and radius > 0.0:
        N += abs(dot(M, h)) / radius
    if kind == THREAD:  # F . h is that of the screw, which presses across the helix: N cos beta = |F . h|
        N += abs(dot(F, h)) * sqrt(1.0 + (reals[k, LEAD] / radius) ** 2)
    return N


@kernel
def normal_gradient(ints: Ints, reals: Array, terms: Array, k: int, F: Vec, M: Vec) -> tuple[Vec, Vec]:
    """Return (g, m) with dN = g . dF + m . dM at the wrench (F, M)."""
    kind, h, none = ints[k, KIND], load(terms, k, AXIS), (0.0, 0.0, 0.0)
    radius, length = reals[k, RADIUS], reals[k, LENGTH]
    if kind == SPHERICAL:
        return direction(F), none
    if kind == POINT_ON_LINE:
        return direction(across(h, F)), none
    if kind == PLANAR:
        M_p, N = across(h, M), dot(F, h)
        if length > 0.0 and 2.0 * size(M_p) / length > abs(N):
            return none, scale(2.0 / length, direction(M_p))
        return scale(1.0 if N >= 0.0 else -1.0, h), none
    if kind == MESH_TURN:
        return none, scale((1.0 if dot(M, h) >= 0.0 else -1.0) / radius, h)
    if kind == MESH_SLIDE:
        return scale(1.0 if dot(F, h) >= 0.0 else -1.0, h), none
    F_p, m = across(h, F), none
    if length > 0.0:
        half, c = scale(0.5, F_p), scale(1.0 / length, cross(M, h))
        front, back = direction(add(half, c)), direction(sub(half, c))
        g, m = scale(0.5, add(front, back)), scale(1.0 / length, cross(h, sub(front, back)))
    else:
        g = direction(F_p)
    if kind == TRANSLATIONAL and radius > 0.0:
        m = add(m, scale((1.0 if dot(M, h) >= 0.0 else -1.0) / radius, h))
    if kind == THREAD:
        g = add(g, scale((1.0 if dot(F, h) >= 0.0 else -1.0) * sqrt(1.0 + (reals[k, LEAD] / radius) ** 2), h))
    return g, m


@kernel
def thrust(ints: Ints, terms: Array, k: int, F: Vec) -> float:
    """Return the force along the axis of a revolute joint, 0 for others."""
    return dot(F, load(terms, k, AXIS)) if ints[k, KIND] == REVOLUTE else 0.0


@kernel
def is_bearing(kind: int) -> bool:
    """Return whether the joint turns in a bearing: its friction is a torque."""
    return kind in (REVOLUTE, SPHERICAL, CYLINDRICAL, MESH_TURN)
