r"""Spatial inertia, linear part first: momentum, energy, and the equation of motion of one body about any fixed point O.

    I     = [m 1, -m c~; m c~, J + m c~ c~^T]       c from O to the centre of mass, J the inertia about the centre of mass
    h     = I v                                     (linear momentum, angular momentum about O)
    T     = v . I v / 2
    I_dot = v x* I - I v x                          the body moves, the axes and O do not
    f     = d/dt (I v) = I a + v x* I v             a = v_dot, the spatial acceleration
    B_I   = B_X_A* I A_X_B

The spatial acceleration is the rate of the flow through O, not that of a particle: for the body-fixed point at O, with velocity v,
    a = (r_ddot - omega x v, omega_dot)             r_ddot its classical acceleration
Source: Featherstone 2008, ch. 2 (spatial inertia, eq. 2.63; equation of motion, eq. 2.72); there the angular part is first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, skew
from haugmbd.math.spatial_vectors import (
    FloatArray,
    blocks,
    cross_force,
    cross_motion,
    force_transform,
    inverse_motion_transform,
    motion_cross_force,
    motion_transform,
    read,
    times,
    transposed,
)

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
