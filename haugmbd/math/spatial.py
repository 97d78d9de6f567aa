"""Spatial algebra, linear part first: twists (v, omega) and wrenches (F, N), their transforms, inertia, and motion subspaces.

    twist   (v, omega)   v the velocity [m/s] of the body-fixed point at the reference point O, omega the angular velocity [rad/s]
    wrench  (F, N)       F the force [N], N the moment [N m] about O                  twist . wrench = v.F + omega.N, the power [W]

    B_X_A  = diag(R, R) [1 -r~; 0 1]      twists  from A to B:   v_P = v_O + omega x r          r from O to P, in A
    B_X_A* = diag(R, R) [1 0; -r~ 1]      wrenches from A to B:  N_P = N_O - r x F              R turns A components into B's
    A_X_B  = (B_X_A*)^T                   A_X_B* = (B_X_A)^T                                    twist . wrench does not change

    v x    = [omega~ v~; 0 omega~]        rate of a motion vector that moves with the twist v
    v x*   = [omega~ 0; v~ omega~] = -(v x)^T      rate of a force vector that moves with it

Pluecker order is angular part first, (omega, v) and (N, F): the two halves change places, `..._to_pluecker`, `..._from_pluecker`.
Every function is vectorised over the leading axes.

Inertia: momentum, energy, and the equation of motion of one body about any fixed point O.

    I     = [m 1, -m c~; m c~, J + m c~ c~^T]       c from O to the centre of mass, J the inertia about the centre of mass
    h     = I v                                     (linear momentum, angular momentum about O)
    T     = v . I v / 2
    I_dot = v x* I - I v x                          the body moves, the axes and O do not
    f     = d/dt (I v) = I a + v x* I v             a = v_dot, the spatial acceleration
    B_I   = B_X_A* I A_X_B

The spatial acceleration is the rate of the flow through O, not that of a particle: for the body-fixed point at O, with velocity v,
    a = (r_ddot - omega x v, omega_dot)             r_ddot its classical acceleration

Motion subspaces of one body: its apparent inverse inertia, and what of a wrench accelerates it.

    S            (6, k) basis of the twists that a joint allows          S^T f_c = 0 for what the joint opposes
    inverse      S (S^T I S)^-1 S^T                                       apparent inverse inertia: a = inverse f
    f            = f_a + f_c        f_a = I inverse f                     F^6 = I S + S-perp: f_a accelerates, -f_c is the reaction
    m            = S_1 alpha_1 + S_2 alpha_2                              (alpha_1, alpha_2) = [S_1 S_2]^-1 m
Source: Featherstone 2008, ch. 2 (R is his E); there the angular part is first; Featherstone 2008, ch. 2 (spatial inertia, eq. 2.63;
equation of motion, eq. 2.72); there the angular part is first; Featherstone 2008, ch. 2 and 3 (vector subspaces, constrained bodies);
here the linear part is first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, skew

FloatArray = npt.NDArray[np.float64]


def read(label: str, value: npt.ArrayLike, *tail: int | None) -> FloatArray:
    """Return `value` as floats whose last axes are `tail` (None: any length); a UsageError where they are not."""
    wanted = ", ".join(["...", *("k" if n is None else str(n) for n in tail)])
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{label} is {value!r}. Give real numbers of shape ({wanted}).") from None
    shape = array.shape[max(0, array.ndim - len(tail)) :]
    if len(shape) < len(tail) or any(n is not None and n != m for n, m in zip(tail, shape, strict=True)):
        raise UsageError(f"{label} has shape {array.shape}. Give shape ({wanted}).")
    return array


def times(M: FloatArray, x: FloatArray) -> FloatArray:
    """Return M x, (..., m, n) times (..., n)."""
    product: FloatArray = np.einsum("...ij,...j->...i", M, x)
    return product


def transposed(M: FloatArray) -> FloatArray:
    """Return the transposes of matrices, (..., m, n) to (..., n, m)."""
    return np.swapaxes(M, -1, -2)


def blocks(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Return [a b; c d], four (..., 3, 3) to (..., 6, 6)."""
    a, b, c, d = np.broadcast_arrays(a, b, c, d)
    return np.concatenate((np.concatenate((a, b), axis=-1), np.concatenate((c, d), axis=-1)), axis=-2)


# --- transforms --------------------------------------------------------------------------------------------------------------


def motion_transform(R: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Return B_X_A for twists, (..., 6, 6): first to the point r, then into the axes of B.

    R: turns components in A into components in B, (..., 3, 3);  r: from the origin of A to that of B, in A [m], (..., 3)
    """
    R, r = read("R", R, 3, 3), read("r", r, 3)
    return blocks(R, -R @ skew(r), np.zeros((3, 3)), R)


def force_transform(R: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Return B_X_A* for wrenches, (..., 6, 6), with R and r of `motion_transform`."""
    R, r = read("R", R, 3, 3), read("r", r, 3)
    return blocks(R, np.zeros((3, 3)), -R @ skew(r), R)


def inverse_motion_transform(R: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Return A_X_B = (B_X_A*)^T for twists, (..., 6, 6), with R and r of B_X_A."""
    return transposed(force_transform(R, r))


def inverse_force_transform(R: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Return A_X_B* = (B_X_A)^T for wrenches, (..., 6, 6), with R and r of B_X_A."""
    return transposed(motion_transform(R, r))


def inverse_transform(X: npt.ArrayLike) -> FloatArray:
    """Return the inverse of a transform of twists or of wrenches, (..., 6, 6): each 3x3 block is transposed where it stands."""
    X = read("X", X, 6, 6)
    return blocks(*(transposed(X[..., m : m + 3, n : n + 3]) for m, n in ((0, 0), (0, 3), (3, 0), (3, 3))))


def dual_transform(X: npt.ArrayLike) -> FloatArray:
    """Return X* for X, or X for X*, (..., 6, 6): the blocks off the diagonal change places."""
    X = read("X", X, 6, 6)
    return blocks(X[..., :3, :3], X[..., 3:, :3], X[..., :3, 3:], X[..., 3:, 3:])


# --- cross products ----------------------------------------------------------------------------------------------------------


def cross_motion(twist: npt.ArrayLike) -> FloatArray:
    """Return the matrix of v x, (..., 6) to (..., 6, 6): what it makes of a motion vector is the rate of one that moves along."""
    v, omega = _halves(read("twist", twist, 6))
    return blocks(skew(omega), skew(v), np.zeros((3, 3)), skew(omega))


def cross_force(twist: npt.ArrayLike) -> FloatArray:
    """Return the matrix of v x* = -(v x)^T, (..., 6) to (..., 6, 6), for force vectors."""
    return -transposed(cross_motion(twist))


def motion_cross_motion(twist: npt.ArrayLike, m: npt.ArrayLike) -> FloatArray:
    """Return v x m = (v x m_omega + omega x m_v, omega x m_omega), (..., 6)."""
    (v, omega), (m_v, m_omega) = _halves(read("twist", twist, 6)), _halves(read("m", m, 6))
    return _joined(cross(v, m_omega) + cross(omega, m_v), cross(omega, m_omega))


def motion_cross_force(twist: npt.ArrayLike, wrench: npt.ArrayLike) -> FloatArray:
    """Return v x* f = (omega x F, omega x N + v x F), (..., 6)."""
    (v, omega), (F, N) = _halves(read("twist", twist, 6)), _halves(read("wrench", wrench, 6))
    return _joined(cross(omega, F), cross(omega, N) + cross(v, F))


# --- Pluecker order ----------------------------------------------------------------------------------------------------------


def motion_to_pluecker(twist: npt.ArrayLike) -> FloatArray:
    """Return (omega, v) of (v, omega), (..., 6)."""
    return _joined(*_halves(read("twist", twist, 6))[::-1])


def motion_from_pluecker(twist: npt.ArrayLike) -> FloatArray:
    """Return (v, omega) of (omega, v), (..., 6)."""
    return motion_to_pluecker(twist)


def force_to_pluecker(wrench: npt.ArrayLike) -> FloatArray:
    """Return (N, F) of (F, N), (..., 6)."""
    return _joined(*_halves(read("wrench", wrench, 6))[::-1])


def force_from_pluecker(wrench: npt.ArrayLike) -> FloatArray:
    """Return (F, N) of (N, F), (..., 6)."""
    return force_to_pluecker(wrench)


def matrix_to_pluecker(M: npt.ArrayLike) -> FloatArray:
    """Return a transform, an inertia or a cross-product matrix in angular-first order, (..., 6, 6)."""
    M = read("M", M, 6, 6)
    return blocks(M[..., 3:, 3:], M[..., 3:, :3], M[..., :3, 3:], M[..., :3, :3])


def matrix_from_pluecker(M: npt.ArrayLike) -> FloatArray:
    """Return a transform, an inertia or a cross-product matrix in linear-first order, (..., 6, 6)."""
    return matrix_to_pluecker(M)


def _halves(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first three and the last three numbers."""
    return x[..., :3], x[..., 3:]


def _joined(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (a, b) as six numbers."""
    return np.concatenate(np.broadcast_arrays(a, b), axis=-1)


SINGULAR_TOL = 1e-12
"""Smallest over largest singular value, of a matrix scaled to a unit diagonal or to unit columns, below which it is singular:
rounding makes 1e-16 times some dozen; the worst joint of a sensible mechanism has above 1e-6."""

ORIGIN = (0.0, 0.0, 0.0)
"""The reference point."""


def spatial_inertia(mass: npt.ArrayLike, J: npt.ArrayLike, c: npt.ArrayLike) -> FloatArray:
    """Return the spatial inertia about O, (..., 6, 6), symmetric.

    mass: [kg], (...);  J: about the centre of mass, in the axes of O [kg m2], (..., 3, 3);  c: from O to the centre of mass [m],
    (..., 3)
    """
    mass, J, c = read("mass", mass)[..., None, None], read("J", J, 3, 3), skew(read("c", c, 3))
    return blocks(mass * np.eye(3), -mass * c, mass * c, J + mass * (c @ transposed(c)))


def inertia_rate(inertia: npt.ArrayLike, twist: npt.ArrayLike) -> FloatArray:
    """Return I_dot = v x* I - I v x, (..., 6, 6), of a body that moves with `twist`."""
    inertia = read("inertia", inertia, 6, 6)
    return cross_force(twist) @ inertia - inertia @ cross_motion(twist)


def transformed_inertia(inertia: npt.ArrayLike, R: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Return B_I = B_X_A* I A_X_B, (..., 6, 6), with R and r of `motion_transform`."""
    return force_transform(R, r) @ read("inertia", inertia, 6, 6) @ inverse_motion_transform(R, r)


def spatial_momentum(inertia: npt.ArrayLike, twist: npt.ArrayLike) -> FloatArray:
    """Return h = I v, (..., 6): linear momentum [N s], angular momentum about O [N m s]."""
    return times(read("inertia", inertia, 6, 6), read("twist", twist, 6))


def kinetic_energy(inertia: npt.ArrayLike, twist: npt.ArrayLike) -> FloatArray:
    """Return T = v . I v / 2 [J], (...)."""
    energy: FloatArray = 0.5 * np.sum(np.asarray(twist, dtype=np.float64) * spatial_momentum(inertia, twist), axis=-1)
    return energy


def bias_wrench(inertia: npt.ArrayLike, twist: npt.ArrayLike) -> FloatArray:
    """Return v x* I v, (..., 6): the wrench that keeps the twist constant."""
    return motion_cross_force(twist, spatial_momentum(inertia, twist))


def wrench_from_acceleration(inertia: npt.ArrayLike, twist: npt.ArrayLike, acceleration: npt.ArrayLike) -> FloatArray:
    """Return f = I a + v x* I v, (..., 6), of a spatial acceleration."""
    return times(read("inertia", inertia, 6, 6), read("acceleration", acceleration, 6)) + bias_wrench(inertia, twist)


def acceleration_from_wrench(inertia: npt.ArrayLike, twist: npt.ArrayLike, wrench: npt.ArrayLike) -> FloatArray:
    """Return the spatial acceleration a = I^-1 (f - v x* I v), (..., 6), of a free body. Raise UsageError for a singular inertia."""
    f = read("wrench", wrench, 6) - bias_wrench(inertia, twist)
    remedy = "A free body needs mass, and inertia about every axis."
    return solved("the spatial inertia", read("inertia", inertia, 6, 6), f[..., None], remedy)[..., 0]


def spatial_acceleration(classical: npt.ArrayLike, twist: npt.ArrayLike, r: npt.ArrayLike = ORIGIN) -> FloatArray:
    """Return the spatial acceleration at O, (..., 6), from the classical one (r_ddot, omega_dot) of the body-fixed point at r [m].

    twist: at O, (..., 6).
    """
    classical, r = read("classical", classical, 6), read("r", r, 3)
    return times(inverse_motion_transform(np.eye(3), r), classical - _turning(twist, r))


def classical_acceleration(acceleration: npt.ArrayLike, twist: npt.ArrayLike, r: npt.ArrayLike = ORIGIN) -> FloatArray:
    """Return (r_ddot, omega_dot), (..., 6), of the body-fixed point at r [m], from the spatial acceleration and the twist at O."""
    acceleration, r = read("acceleration", acceleration, 6), read("r", r, 3)
    return times(motion_transform(np.eye(3), r), acceleration) + _turning(twist, r)


def _turning(twist: npt.ArrayLike, r: FloatArray) -> FloatArray:
    """Return (omega x v_P, 0): the difference of the classical and the spatial acceleration of the point at r."""
    at_P = times(motion_transform(np.eye(3), r), read("twist", twist, 6))
    turning = cross(at_P[..., 3:], at_P[..., :3])
    return np.concatenate((turning, np.zeros_like(turning)), axis=-1)


def solved(label: str, M: FloatArray, b: FloatArray, remedy: str) -> FloatArray:
    """Return M^-1 b of a symmetric M (..., k, k). Raise UsageError, with `label` and `remedy`, if M is singular."""
    size = safe(np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1))))
    ratio = smallest_over_largest(M / (size[..., :, None] * size[..., None, :]))
    if not ratio > SINGULAR_TOL:
        k = M.shape[-1]
        what = f"{label} ({k} x {k}), scaled to a unit diagonal, is singular: its smallest singular value is {ratio:.3g} of the largest"
        raise UsageError(f"{what}. {remedy}")
    return np.asarray(np.linalg.solve(M, b), dtype=np.float64)


def smallest_over_largest(M: FloatArray) -> float:
    """Return the worst ratio of singular values; NaN if M is not finite, 1 for a matrix without columns."""
    if not M.size:
        return 1.0
    if not np.isfinite(M).all():
        return float("nan")
    size = np.asarray(np.linalg.svd(M, compute_uv=False), dtype=np.float64)
    return float((size[..., -1] / safe(size[..., 0])).min())


def safe(x: FloatArray) -> FloatArray:
    """Return the numbers, 1 for zero: to divide by."""
    return np.where(x > 0.0, x, 1.0)


class SplitWrench(NamedTuple):
    """A wrench in two parts.

    Attributes
    ----------
    f_a : ndarray, (..., 6)
        Part that accelerates the body.
    f_c : ndarray, (..., 6)
        Part that the joint opposes; the wrench of the joint is -f_c.
    """

    f_a: FloatArray
    f_c: FloatArray


class Components(NamedTuple):
    """Coordinates of a vector along two complementary subspaces: alpha_1 (..., k_1) and alpha_2 (..., k_2)."""

    alpha_1: FloatArray
    alpha_2: FloatArray


@check_keywords
def apparent_inverse_inertia(inertia: npt.ArrayLike, S: npt.ArrayLike) -> FloatArray:
    """Return the inverse inertia S (S^T I S)^-1 S^T of a body that moves only along the columns of S.

    Parameters
    ----------
    inertia : array_like, (..., 6, 6)
        Spatial inertia of the body.
    S : array_like, (..., 6, k)
        Motion subspace.

    Returns
    -------
    ndarray, (..., 6, 6)
        Apparent inverse inertia: acceleration = inverse * wrench.

    Raises
    ------
    UsageError
        If S^T I S is singular: the columns are dependent, or a motion has no inertia.

    Notes
    -----
    Source: Featherstone 2008, ch. 3.
    """
    inertia, S = read("inertia", inertia, 6, 6), read("S", S, 6, None)
    return S @ _coefficients(inertia, S)


@check_keywords
def split_wrench(inertia: npt.ArrayLike, S: npt.ArrayLike, wrench: npt.ArrayLike) -> SplitWrench:
    """Return the parts of a wrench on a body that moves only along the columns of S.

    Parameters
    ----------
    inertia : array_like, (..., 6, 6)
        Spatial inertia of the body.
    S : array_like, (..., 6, k)
        Motion subspace.
    wrench : array_like, (..., 6)
        Force [N] and moment [N m].

    Returns
    -------
    SplitWrench
        f_a = I S (S^T I S)^-1 S^T f, in the range of I S, and f_c = f - f_a, with S^T f_c = 0.

    Raises
    ------
    UsageError
        If S^T I S is singular.

    Notes
    -----
    Source: Featherstone 2008, ch. 3.
    """
    inertia, S, f = read("inertia", inertia, 6, 6), read("S", S, 6, None), read("wrench", wrench, 6)
    f_a = times(inertia @ S @ _coefficients(inertia, S), f)
    return SplitWrench(f_a, f - f_a)


def along_subspaces(S_1: npt.ArrayLike, S_2: npt.ArrayLike, m: npt.ArrayLike) -> Components:
    """Return the coordinates of m (..., 6) along the columns of S_1 (6, k) and S_2 (6, 6 - k): m = S_1 alpha_1 + S_2 alpha_2.

    Raises UsageError if the subspaces do not span the whole space.
    """
    S_1, S_2, m = read("S_1", S_1, 6, None), read("S_2", S_2, 6, None), read("m", m, 6)
    k_1, k_2 = S_1.shape[-1], S_2.shape[-1]
    if k_1 + k_2 != 6:
        raise UsageError(f"S_1 has {k_1} columns and S_2 has {k_2}: complementary subspaces have 6 together.")
    basis = np.concatenate((S_1, S_2), axis=-1)
    ratio = smallest_over_largest(basis / safe(np.linalg.norm(basis, axis=-2, keepdims=True)))
    if not ratio > SINGULAR_TOL:
        what = f"S_1 and S_2 share a direction: the smallest singular value of their unit columns is {ratio:.3g} of the largest"
        raise UsageError(f"{what}. Give two subspaces that have only zero in common.")
    alpha = np.asarray(np.linalg.solve(basis, m[..., None])[..., 0], dtype=np.float64)
    return Components(alpha[..., :k_1], alpha[..., k_1:])


def _coefficients(inertia: FloatArray, S: FloatArray) -> FloatArray:
    """Return (S^T I S)^-1 S^T, (..., k, 6): its product with a wrench is the acceleration along the columns of S."""
    remedy = "Give independent columns S, and inertia about every axis that the joint leaves free."
    return solved("S^T I S", transposed(S) @ inertia @ S, transposed(S), remedy)


__all__ = [
    "Components",
    "SplitWrench",
    "acceleration_from_wrench",
    "along_subspaces",
    "apparent_inverse_inertia",
    "bias_wrench",
    "classical_acceleration",
    "cross_force",
    "cross_motion",
    "dual_transform",
    "force_from_pluecker",
    "force_to_pluecker",
    "force_transform",
    "inertia_rate",
    "inverse_force_transform",
    "inverse_motion_transform",
    "inverse_transform",
    "kinetic_energy",
    "matrix_from_pluecker",
    "matrix_to_pluecker",
    "motion_cross_force",
    "motion_cross_motion",
    "motion_from_pluecker",
    "motion_to_pluecker",
    "motion_transform",
    "spatial_acceleration",
    "spatial_inertia",
    "spatial_momentum",
    "split_wrench",
    "transformed_inertia",
    "wrench_from_acceleration",
]
