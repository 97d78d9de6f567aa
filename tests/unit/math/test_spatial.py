"""Spatial vectors: every identity of seed 001, in our order (linear part first) and, through the converters, in Pluecker order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import haugmbd as mbd
from haugmbd import UsageError
from haugmbd.math import euler_parameters, spatial
from haugmbd.math.euler_parameters import skew
from tests.support.differences import slope
from tests.support.spatial_samples import DIFFERENCE_TOL, ONE, ROUNDING, ZERO, Motion, near, rotation

# --- vectors and transforms --------------------------------------------------------------------------------------------------


def test_motion_and_force_vectors_in_pluecker_order(twist, wrench):
    assert near(spatial.motion_to_pluecker(twist), [*twist[3:], *twist[:3]], 0.0)
    assert near(spatial.force_to_pluecker(wrench), [*wrench[3:], *wrench[:3]], 0.0)
    assert near(spatial.motion_from_pluecker(spatial.motion_to_pluecker(twist)), twist, 0.0)
    assert near(spatial.force_from_pluecker(spatial.force_to_pluecker(wrench)), wrench, 0.0)
    assert twist @ wrench == pytest.approx(spatial.motion_to_pluecker(twist) @ spatial.force_to_pluecker(wrench), rel=ROUNDING)


def test_matrices_in_pluecker_order_act_on_vectors_in_that_order(rng, R, r, twist, body):
    X = spatial.motion_transform(R, r)
    for M, convert, back in (
        (X, spatial.motion_to_pluecker, spatial.motion_from_pluecker),
        (body.I, spatial.motion_to_pluecker, spatial.force_from_pluecker),
    ):
        assert near(back(spatial.matrix_to_pluecker(M) @ convert(twist)), M @ twist)
        assert near(spatial.matrix_from_pluecker(spatial.matrix_to_pluecker(M)), M, 0.0)
    swap = np.eye(6)[[3, 4, 5, 0, 1, 2]]
    assert near(spatial.matrix_to_pluecker(X), swap @ X @ swap, 0.0)


def test_a_rotation_turns_components_of_A_into_components_of_B(rng, R):
    """Column k of R is the k-th unit vector of A, written in B; v_x^B = sum (e_x^B . e_k^A) v_k^A."""
    e_A, e_B = np.eye(3), R  # rows: the unit vectors of A and of B, written in A
    v = rng.normal(size=3)
    assert near(R @ v, [sum((e_B[x] @ e_A[k]) * v[k] for k in range(3)) for x in range(3)])
    for transform in (spatial.motion_transform, spatial.force_transform):
        assert near(transform(R, np.zeros(3)), np.block([[R, ZERO], [ZERO, R]]), 0.0)


def test_a_translation_keeps_the_free_part_and_shifts_the_moment(r, twist, wrench):
    (v, omega), (F, N) = np.split(twist, 2), np.split(wrench, 2)
    assert near(spatial.motion_transform(ONE, r) @ twist, [*(v + np.cross(omega, r)), *omega])
    assert near(spatial.force_transform(ONE, r) @ wrench, [*F, *(N - np.cross(r, F))])
    assert near(spatial.matrix_to_pluecker(spatial.motion_transform(ONE, r)), np.block([[ONE, ZERO], [-skew(r), ONE]]))
    assert near(spatial.matrix_to_pluecker(spatial.force_transform(ONE, r)), np.block([[ONE, -skew(r)], [ZERO, ONE]]))
    assert near(skew(r).T, -skew(r), 0.0)


def test_in_general_translate_then_rotate(R, r):
    turn = np.block([[R, ZERO], [ZERO, R]])
    X = spatial.matrix_to_pluecker(spatial.motion_transform(R, r))
    X_star = spatial.matrix_to_pluecker(spatial.force_transform(R, r))
    assert near(X, turn @ np.block([[ONE, ZERO], [-skew(r), ONE]]))
    assert near(X_star, turn @ np.block([[ONE, -skew(r)], [ZERO, ONE]]))


def test_inverses_are_the_transposes_of_the_other_transform(R, r):
    """A_X_B = (B_X_A*)^T and A_X_B* = (B_X_A)^T; seed 001 prints (B_X_A)^T for both."""
    X, X_star = spatial.motion_transform(R, r), spatial.force_transform(R, r)
    inverse, inverse_star = spatial.inverse_motion_transform(R, r), spatial.inverse_force_transform(R, r)
    assert near(inverse, np.linalg.inv(X))
    assert near(inverse_star, np.linalg.inv(X_star))
    assert near(inverse, X_star.T, 0.0)
    assert near(inverse_star, X.T, 0.0)
    assert near(spatial.inverse_transform(X), inverse, 0.0)
    assert near(spatial.inverse_transform(X_star), inverse_star, 0.0)
    assert near(spatial.dual_transform(X), X_star, 0.0)
    assert near(spatial.dual_transform(X_star), X, 0.0)
    back = np.block([[R.T, ZERO], [ZERO, R.T]])
    assert near(spatial.matrix_to_pluecker(inverse), np.block([[ONE, ZERO], [skew(r), ONE]]) @ back)
    assert near(spatial.matrix_to_pluecker(inverse_star), np.block([[ONE, skew(r)], [ZERO, ONE]]) @ back)
    assert not near(X.T, inverse)


finite = st.floats(-10.0, 10.0)
vector = st.lists(finite, min_size=3, max_size=3).map(np.array)
six = st.lists(finite, min_size=6, max_size=6).map(np.array)


@pytest.mark.slow
@given(vector, vector, vector, six, six)
def test_transforms_compose_and_keep_the_power(theta, r_1, r_2, m, f):
    R = euler_parameters.rotation_matrix(euler_parameters.exponential(theta))
    X, X_star = spatial.motion_transform(R, r_1), spatial.force_transform(R, r_1)
    assert (X @ m) @ (X_star @ f) == pytest.approx(m @ f, rel=1e-11, abs=1e-8)  # terms up to 1e4 that cancel
    whole = spatial.motion_transform(R @ R, r_1 + R.T @ r_2)
    assert near(spatial.motion_transform(R, r_2) @ X, whole, 1e-12)
    assert near(spatial.inverse_transform(X) @ X, np.eye(6), 1e-11)


# --- cross products and rates ------------------------------------------------------------------------------------------------


def test_cross_products_are_the_matrices_of_the_seed(twist, wrench, rng):
    m = rng.normal(size=6)
    (v, w), (m_O, m_w), (F, N) = np.split(twist, 2), np.split(m, 2), np.split(wrench, 2)
    vx, vxx = spatial.cross_motion(twist), spatial.cross_force(twist)
    assert near(spatial.matrix_to_pluecker(vx), np.block([[skew(w), ZERO], [skew(v), skew(w)]]), 0.0)
    assert near(spatial.matrix_to_pluecker(vxx), np.block([[skew(w), skew(v)], [ZERO, skew(w)]]), 0.0)
    assert near(vxx, -vx.T, 0.0)
    seed_m = [*np.cross(w, m_w), *(np.cross(v, m_w) + np.cross(w, m_O))]
    seed_f = [*(np.cross(w, N) + np.cross(v, F)), *np.cross(w, F)]
    assert near(spatial.motion_to_pluecker(vx @ m), seed_m)
    assert near(spatial.force_to_pluecker(vxx @ wrench), seed_f)
    assert near(spatial.motion_cross_motion(twist, m), vx @ m)
    assert near(spatial.motion_cross_force(twist, wrench), vxx @ wrench)
    assert near(spatial.motion_cross_motion(twist, twist), np.zeros(6))


def test_cross_products_do_not_depend_on_the_frame(R, r, twist, wrench, rng):
    X, X_star = spatial.motion_transform(R, r), spatial.force_transform(R, r)
    m = rng.normal(size=6)
    assert near(X_star @ spatial.motion_cross_force(twist, wrench), spatial.motion_cross_force(X @ twist, X_star @ wrench))
    assert near(X @ spatial.motion_cross_motion(twist, m), spatial.motion_cross_motion(X @ twist, X @ m))
    assert near(X_star @ spatial.cross_force(twist) @ np.linalg.inv(X_star), spatial.cross_force(X @ twist))
    assert near(X @ spatial.cross_motion(twist) @ np.linalg.inv(X), spatial.cross_motion(X @ twist))


def test_vectors_that_move_along_have_their_cross_product_as_rate(motion, twist, wrench):
    """m fixed in the frame of A: its components at the world origin are X^-1 m, and their rate is v x that."""
    t = 0.3
    m = lambda s: np.linalg.inv(motion.X(s)) @ twist  # noqa: E731
    f = lambda s: np.linalg.inv(motion.X_star(s)) @ wrench  # noqa: E731
    v = motion.twist(t)
    assert near(slope(lambda s: m(t + s)), spatial.motion_cross_motion(v, m(t)), DIFFERENCE_TOL)
    assert near(slope(lambda s: f(t + s)), spatial.motion_cross_force(v, f(t)), DIFFERENCE_TOL)


def test_differentiation_in_moving_coordinates(motion, rng):
    """A(dm/dt) = d(A m)/dt + A v_A x A m, and with x* for forces."""
    t, a, b = 0.2, *rng.normal(size=(2, 6))
    m = lambda s: a + b * s + a * b * s * s  # noqa: E731
    X, X_star, v = motion.X(t), motion.X_star(t), motion.X(t) @ motion.twist(t)
    rate = slope(lambda s: m(t + s))
    componentwise = slope(lambda s: motion.X(t + s) @ m(t + s))
    assert near(X @ rate, componentwise + spatial.motion_cross_motion(v, X @ m(t)), DIFFERENCE_TOL)
    componentwise = slope(lambda s: motion.X_star(t + s) @ m(t + s))
    assert near(X_star @ rate, componentwise + spatial.motion_cross_force(v, X_star @ m(t)), DIFFERENCE_TOL)


def test_rate_of_a_transform_between_moving_frames(rng):
    """d/dt B_X_A = B(v_A - v_B) x B_X_A; it is zero for two frames of one motion."""
    A, B, t = Motion(rng), Motion(rng), 0.1
    B_X_A = lambda s: B.X(s) @ np.linalg.inv(A.X(s))  # noqa: E731
    relative = B.X(t) @ (A.twist(t) - B.twist(t))
    assert near(slope(lambda s: B_X_A(t + s)), spatial.cross_motion(relative) @ B_X_A(t), DIFFERENCE_TOL)
    fixed = spatial.motion_transform(rotation(rng), rng.normal(size=3))
    K_X_J = lambda s: (fixed @ A.X(s)) @ np.linalg.inv(A.X(s))  # noqa: E731
    assert near(slope(lambda s: K_X_J(t + s)), np.zeros((6, 6)), DIFFERENCE_TOL)


def test_the_transform_to_a_fixed_frame_that_coincides_is_one_and_has_a_rate(motion):
    """b_X_bi = 1, d/dt b_X_bi = -v_b x: the frame bi is fixed, b moves and coincides with it at t."""
    t = 0.4
    to_b = lambda s: motion.X(t + s) @ np.linalg.inv(motion.X(t))  # noqa: E731
    v_b = motion.X(t) @ motion.twist(t)
    assert near(to_b(0.0), np.eye(6))
    assert near(slope(to_b), -spatial.cross_motion(v_b), DIFFERENCE_TOL)


# --- many at once, and bad input ---------------------------------------------------------------------------------------------


def test_every_function_is_vectorised(rng):
    n = (4, 3)
    R, r, v, m, f = rotation(rng, *n), *(rng.normal(size=(*n, k)) for k in (3, 6, 6, 6))
    mass, J, S = rng.uniform(1, 2, size=n), np.zeros((*n, 3, 3)) + np.diag([1.0, 2.0, 2.5]), rng.normal(size=(*n, 6, 2))
    I_O = spatial.spatial_inertia(mass, J, r)
    calls = {
        spatial.motion_transform: (R, r), spatial.force_transform: (R, r), spatial.inverse_motion_transform: (R, r),
        spatial.inverse_force_transform: (R, r), spatial.inverse_transform: (I_O,), spatial.dual_transform: (I_O,),
        spatial.cross_motion: (v,), spatial.cross_force: (v,), spatial.motion_cross_motion: (v, m),
        spatial.motion_cross_force: (v, f), spatial.motion_to_pluecker: (v,), spatial.motion_from_pluecker: (v,),
        spatial.force_to_pluecker: (f,), spatial.force_from_pluecker: (f,), spatial.matrix_to_pluecker: (I_O,),
        spatial.matrix_from_pluecker: (I_O,), spatial.spatial_inertia: (mass, J, r), spatial.inertia_rate: (I_O, v),
        spatial.transformed_inertia: (I_O, R, r), spatial.spatial_momentum: (I_O, v), spatial.kinetic_energy: (I_O, v),
        spatial.bias_wrench: (I_O, v), spatial.wrench_from_acceleration: (I_O, v, m), spatial.acceleration_from_wrench: (I_O, v, f),
        spatial.spatial_acceleration: (m, v, r), spatial.classical_acceleration: (m, v, r),
        spatial.apparent_inverse_inertia: (I_O, S), spatial.split_wrench: (I_O, S, f),
        spatial.along_subspaces: (S, rng.normal(size=(*n, 6, 4)), m),
    }  # fmt: skip
    public = {getattr(spatial, name) for name in spatial.__all__} - {spatial.SplitWrench, spatial.Components}
    assert set(calls) == public
    for call, arguments in calls.items():
        whole, single = call(*arguments), call(*(x[2, 1] for x in arguments))
        parts = zip(whole, single, strict=True) if isinstance(whole, tuple) else [(whole, single)]
        for many, one in parts:
            assert near(many[2, 1], one, 1e-11), call.__name__


def test_inverse_and_dual_undo_themselves(rng):
    X = rng.normal(size=(6, 6))
    assert near(spatial.inverse_transform(spatial.inverse_transform(X)), X, 0.0)
    assert near(spatial.dual_transform(spatial.dual_transform(X)), X, 0.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: spatial.cross_motion(np.zeros(5)), r"twist has shape \(5,\). Give shape \(..., 6\)"),
        (lambda: spatial.cross_motion(1.0), r"twist has shape \(\)"),
        (lambda: spatial.cross_motion("fast"), "twist is 'fast'. Give real numbers"),
        (lambda: spatial.motion_transform(np.eye(4), np.zeros(3)), r"R has shape \(4, 4\). Give shape \(..., 3, 3\)"),
        (lambda: spatial.spatial_inertia(1.0, (1, 2, 3), np.zeros(3)), r"J has shape \(3,\)"),
        (lambda: mbd.split_wrench(np.eye(6), np.zeros(6), np.zeros(6)), r"S has shape \(6,\). Give shape \(..., 6, k\)"),
        (lambda: mbd.split_wrench(np.eye(6), np.eye(6)[:, [0, 0]], np.zeros(6)), r"S\^T I S \(2 x 2\).* is singular"),
        (lambda: mbd.apparent_inverse_inertia(np.eye(6), np.full((6, 1), np.nan)), "smallest singular value is nan"),
        (lambda: spatial.along_subspaces(np.eye(6)[:, :2], np.eye(6)[:, :3], np.zeros(6)), "S_1 has 2 columns and S_2 has 3"),
        (lambda: spatial.along_subspaces(np.eye(6)[:, :2], np.eye(6)[:, 1:5], np.zeros(6)), "S_1 and S_2 share a direction"),
    ],
)
def test_bad_arguments_are_named(call, text):
    with pytest.raises(UsageError, match=text):
        call()
