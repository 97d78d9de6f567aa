r"""Spatial vectors, linear part first: twists (v, omega), wrenches (F, N), their transforms and their cross products.

    twist   (v, omega)   v the velocity [m/s] of the body-fixed point at the reference point O, omega the angular velocity [rad/s]
    wrench  (F, N)       F the force [N], N the moment [N m] about O                  twist . wrench = v.F + omega.N, the power [W]

    B_X_A  = diag(R, R) [1 -r~; 0 1]      twists  from A to B:   v_P = v_O + omega x r          r from O to P, in A
    B_X_A* = diag(R, R) [1 0; -r~ 1]      wrenches from A to B:  N_P = N_O - r x F              R turns A components into B's
    A_X_B  = (B_X_A*)^T                   A_X_B* = (B_X_A)^T                                    twist . wrench does not change

    v x    = [omega~ v~; 0 omega~]        rate of a motion vector that moves with the twist v
    v x*   = [omega~ 0; v~ omega~] = -(v x)^T      rate of a force vector that moves with it

Pluecker order is angular part first, (omega, v) and (N, F): the two halves change places, `..._to_pluecker`, `..._from_pluecker`.
Every function is vectorised over the leading axes.
Source: Featherstone 2008, ch. 2 (R is his E); there the angular part is first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
