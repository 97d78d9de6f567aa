r"""Articulated inertia, twists and wrenches as records, for use inside kernels: the algebra of the recursions.

    I^A = [M H; H^T J]       (f, n) = I^A (a, alpha):     f = M a + H alpha      n = H^T a + J alpha          M, J symmetric
    + a rigid body           M + m 1       H - m c~       J + J_C - m c~ c~                                   c: handle to centre of mass
    - U U^T / D              after elimination of a freedom with U = I^A s, D = s^T U
    shift by d               H - M d~      J - H^T d~ + d~ (H - M d~)                                         to the handle d farther in

Twists and wrenches are taken at a body's handle, in global axes, linear part first.
Source: Featherstone 2008, ch. 7 (articulated bodies), sec. 2.13 (spatial inertia).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from haugmbd.compiled.jit import inlined_kernel, kernel
from haugmbd.math.vec3 import Vec, add, cross, dot, scale

Six: TypeAlias = tuple[float, float, float, float, float, float]
Nine: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]


class ArticulatedInertia(NamedTuple):
    """[M H; H^T J] about a handle;  M, J: xx, xy, xz, yy, yz, zz;  H: row by row."""

    M: Six
    H: Nine
    J: Six


class Twist(NamedTuple):
    """A velocity or a spatial acceleration at a handle."""

    linear: Vec
    angular: Vec


class Wrench(NamedTuple):
    """A force and its moment, or an impulse and its moment, about a handle."""

    force: Vec
    moment: Vec


ZERO: Vec = (0.0, 0.0, 0.0)
NO_INERTIA = ArticulatedInertia((0.0,) * 6, (0.0,) * 9, (0.0,) * 6)
NO_TWIST = Twist(ZERO, ZERO)
NO_WRENCH = Wrench(ZERO, ZERO)


@kernel
def times_symmetric(M: Six, x: Vec) -> Vec:
    """Return M x."""
    return (
        M[0] * x[0] + M[1] * x[1] + M[2] * x[2],
        M[1] * x[0] + M[3] * x[1] + M[4] * x[2],
        M[2] * x[0] + M[4] * x[1] + M[5] * x[2],
    )


@kernel
def quadratic_form(M: Six, x: Vec) -> float:
    """Return x^T M x."""
    diagonal = M[0] * (x[0] * x[0]) + M[3] * (x[1] * x[1]) + M[5] * (x[2] * x[2])
    return diagonal + 2.0 * (M[1] * (x[0] * x[1]) + M[2] * (x[0] * x[2]) + M[4] * (x[1] * x[2]))


@kernel
def times_full(H: Nine, x: Vec) -> Vec:
    """Return H x."""
    return (
        H[0] * x[0] + H[1] * x[1] + H[2] * x[2],
        H[3] * x[0] + H[4] * x[1] + H[5] * x[2],
        H[6] * x[0] + H[7] * x[1] + H[8] * x[2],
    )


@kernel
def times_full_transposed(H: Nine, x: Vec) -> Vec:
    """Return H^T x."""
    return (
        H[0] * x[0] + H[3] * x[1] + H[6] * x[2],
        H[1] * x[0] + H[4] * x[1] + H[7] * x[2],
        H[2] * x[0] + H[5] * x[1] + H[8] * x[2],
    )


@inlined_kernel
def times_twist(I: ArticulatedInertia, a: Twist) -> Wrench:
    """Return I^A a."""
    return Wrench(
        add(times_symmetric(I.M, a.linear), times_full(I.H, a.angular)),
        add(times_full_transposed(I.H, a.linear), times_symmetric(I.J, a.angular)),
    )


@kernel
def add_inertias(I: ArticulatedInertia, K: ArticulatedInertia) -> ArticulatedInertia:
    """Return I + K."""
    A, B = I.H, K.H
    H = (A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5], A[6] + B[6], A[7] + B[7], A[8] + B[8])
    return ArticulatedInertia(add_six(I.M, K.M), H, add_six(I.J, K.J))


@kernel
def add_six(A: Six, B: Six) -> Six:
    """Return A + B."""
    return (A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5])


@kernel
def add_rigid_body(I: ArticulatedInertia, m: float, c: Vec, G: Six) -> ArticulatedInertia:
    """Return I^A with the inertia of a rigid body: mass m, centre of mass c from the handle, G about the centre of mass."""
    M, H = I.M, I.H
    x, y, z = m * c[0], m * c[1], m * c[2]
    return ArticulatedInertia(
        (M[0] + m, M[1], M[2], M[3] + m, M[4], M[5] + m),
        (H[0], H[1] + z, H[2] - y, H[3] - z, H[4], H[5] + x, H[6] + y, H[7] - x, H[8]),
        add_rigid_rotation(I.J, m, c, G),
    )


@kernel
def add_rigid_rotation(J: Six, m: float, c: Vec, G: Six) -> Six:
    """Return J + G - m c~ c~."""
    x, y, z = c
    return (
        J[0] + G[0] + m * (y * y + z * z),
        J[1] + G[1] - m * x * y,
        J[2] + G[2] - m * x * z,
        J[3] + G[3] + m * (x * x + z * z),
        J[4] + G[4] - m * y * z,
        J[5] + G[5] + m * (x * x + y * y),
    )


@kernel
def symmetric_downdate(M: Six, k: float, a: Vec) -> Six:
    """Return M - k a a^T."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (M[0] - x * a[0], M[1] - x * a[1], M[2] - x * a[2], M[3] - y * a[1], M[4] - y * a[2], M[5] - z * a[2])


@kernel
def full_downdate(H: Nine, k: float, a: Vec, b: Vec) -> Nine:
    """Return H - k a b^T."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (
        H[0] - x * b[0], H[1] - x * b[1], H[2] - x * b[2],
        H[3] - y * b[0], H[4] - y * b[1], H[5] - y * b[2],
        H[6] - z * b[0], H[7] - z * b[1], H[8] - z * b[2],
    )  # fmt: skip


@inlined_kernel
def rank_one_downdate(I: ArticulatedInertia, D_inv: float, U: Wrench) -> ArticulatedInertia:
    """Return I^A - U U^T / D."""
    return ArticulatedInertia(
        symmetric_downdate(I.M, D_inv, U.force),
        full_downdate(I.H, D_inv, U.force, U.moment),
        symmetric_downdate(I.J, D_inv, U.moment),
    )


@inlined_kernel
def shift_inertia(I: ArticulatedInertia, d: Vec) -> ArticulatedInertia:
    """Return I^A about the handle that is d farther in."""
    x, y, z = d
    M, H, J = I.M, I.H, I.J
    S = (
        H[0] - (M[1] * z - M[2] * y), H[1] - (M[2] * x - M[0] * z), H[2] - (M[0] * y - M[1] * x),
        H[3] - (M[3] * z - M[4] * y), H[4] - (M[4] * x - M[1] * z), H[5] - (M[1] * y - M[3] * x),
        H[6] - (M[4] * z - M[5] * y), H[7] - (M[5] * x - M[2] * z), H[8] - (M[2] * y - M[4] * x),
    )  # fmt: skip
    shifted = (
        J[0] - (H[3] * z - H[6] * y) + (y * S[6] - z * S[3]),
        J[1] - (H[6] * x - H[0] * z) + (y * S[7] - z * S[4]),
        J[2] - (H[0] * y - H[3] * x) + (y * S[8] - z * S[5]),
        J[3] - (H[7] * x - H[1] * z) + (z * S[1] - x * S[7]),
        J[4] - (H[1] * y - H[4] * x) + (z * S[2] - x * S[8]),
        J[5] - (H[2] * y - H[5] * x) + (x * S[5] - y * S[2]),
    )
    return ArticulatedInertia(M, S, shifted)


@kernel
def shift_wrench(w: Wrench, d: Vec) -> Wrench:
    """Return a wrench about the handle that is d farther in."""
    return Wrench(w.force, add(w.moment, cross(d, w.force)))


@kernel
def shift_twist(v: Twist, d: Vec) -> Twist:
    """Return a twist at the handle that is d farther out."""
    return Twist(add(v.linear, cross(v.angular, d)), v.angular)


@kernel
def add_wrenches(a: Wrench, b: Wrench) -> Wrench:
    """Return a + b."""
    return Wrench(add(a.force, b.force), add(a.moment, b.moment))


@kernel
def scale_wrench(x: float, w: Wrench) -> Wrench:
    """Return x w."""
    return Wrench(scale(x, w.force), scale(x, w.moment))


@kernel
def add_twists(a: Twist, b: Twist) -> Twist:
    """Return a + b."""
    return Twist(add(a.linear, b.linear), add(a.angular, b.angular))


@kernel
def power(w: Wrench, v: Twist) -> float:
    """Return w^T v."""
    return dot(w.force, v.linear) + dot(w.moment, v.angular)
