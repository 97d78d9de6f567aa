r"""What a joint carries: the wrench on body j at its point, and the normal force N that rubs, with its derivative.

    F = -sum lam Phi_r,   n_bar = -sum lam PiBar,   M = A n_bar - s x F                 over the joint's own rows, s: lever of P_j

Source: Haug (2021), reactions; `forces.joint_friction` has the formulas of N.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.forces.joint_friction import CYLINDRICAL, PLANAR, POINT_ON_LINE, REVOLUTE, SPHERICAL, TRANSLATIONAL
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, sub, to_global
from haugmbd.model.friction.columns import AXIS, BODY_J, KIND, LENGTH, LEVER, N_SLOTS, RADIUS, SIDE_J, SLOTS


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
def size(a: Vec) -> float:
    """Return |a|."""
    return sqrt(dot(a, a))


@kernel
def size_rate(a: Vec, da: Vec) -> float:
    """Return d|a|, 0 where a is 0."""
    length = size(a)
    return dot(a, da) / length if length > 0.0 else 0.0


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
    F_p = across(h, F)
    if length > 0.0:
        half, c = scale(0.5, F_p), scale(1.0 / length, cross(M, h))
        N = size(add(half, c)) + size(sub(half, c))
    else:
        N = size(F_p)
    if kind == TRANSLATIONAL and radius > 0.0:
        N += abs(dot(M, h)) / radius
    return N


@kernel
def normal_rate(ints: Ints, reals: Array, terms: Array, k: int, F: Vec, M: Vec, dF: Vec, dM: Vec) -> float:
    """Return dN for the change (dF, dM) of the wrench (F, M)."""
    kind, h = ints[k, KIND], load(terms, k, AXIS)
    radius, length = reals[k, RADIUS], reals[k, LENGTH]
    if kind == SPHERICAL:
        return size_rate(F, dF)
    if kind == POINT_ON_LINE:
        return size_rate(across(h, F), across(h, dF))
    if kind == PLANAR:
        M_p, N = across(h, M), dot(F, h)
        if length > 0.0 and 2.0 * size(M_p) / length > abs(N):
            return 2.0 * size_rate(M_p, across(h, dM)) / length  # type: ignore[no-any-return]
        return dot(dF, h) if N >= 0.0 else -dot(dF, h)
    F_p, dF_p = across(h, F), across(h, dF)
    if length > 0.0:
        half, c = scale(0.5, F_p), scale(1.0 / length, cross(M, h))
        dhalf, dc = scale(0.5, dF_p), scale(1.0 / length, cross(dM, h))
        dN = size_rate(add(half, c), add(dhalf, dc)) + size_rate(sub(half, c), sub(dhalf, dc))
    else:
        dN = size_rate(F_p, dF_p)
    if kind == TRANSLATIONAL and radius > 0.0:
        dN += (dot(dM, h) if dot(M, h) >= 0.0 else -dot(dM, h)) / radius
    return dN


@kernel
def thrust(ints: Ints, terms: Array, k: int, F: Vec) -> float:
    """Return the force along the axis of a revolute joint, 0 for others."""
    return dot(F, load(terms, k, AXIS)) if ints[k, KIND] == REVOLUTE else 0.0


@kernel
def is_bearing(kind: int) -> bool:
    """Return whether the joint turns in a bearing: its friction is a torque."""
    return kind in (REVOLUTE, SPHERICAL, CYLINDRICAL)
