"""Spatial acceleration, inertia, equations of motion and linked bodies: every identity of seed 001, rates by differences."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.math import spatial
from haugmbd.math.euler_parameters import skew
from tests.support.differences import slope
from tests.support.spatial_samples import DIFFERENCE_TOL, ONE, ROUNDING, ZERO, Chain, Motion, Moving, near

# --- acceleration ------------------------------------------------------------------------------------------------------------


def test_spatial_acceleration_is_the_rate_of_the_twist_and_not_that_of_a_particle(motion, rng):
    t = 0.25
    a, v = slope(lambda s: motion.twist(t + s)), motion.twist(t)
    classical = np.concatenate([motion.a0, motion.omega_dot(t)])
    assert near(spatial.spatial_acceleration(classical, v, motion.r(t)), a, DIFFERENCE_TOL)
    assert near(spatial.classical_acceleration(a, v, motion.r(t)), classical, DIFFERENCE_TOL)
    # any other body-fixed point, by differences of its path
    s_bar = rng.normal(size=3)
    path = lambda s: motion.r(t + s) + motion.A(t + s) @ s_bar  # noqa: E731
    P_ddot = slope(lambda s: slope(lambda u: path(s + u)))
    assert near(spatial.classical_acceleration(a, v, path(0.0))[:3], P_ddot, 1e-8)  # a difference of differences: 1e-12 / 0.005


def test_the_box_of_the_seed_where_the_point_is_at_O(motion):
    """a_O = (omega_dot, r_ddot - omega x r_dot) for the body-fixed point that is at O."""
    motion.r0 = np.zeros(3)
    a, v = slope(motion.twist), motion.twist(0.0)
    seed = np.concatenate([motion.omega_dot(0.0), motion.a0 - np.cross(motion.omega(0.0), motion.v0)])
    assert near(spatial.motion_to_pluecker(a), seed, DIFFERENCE_TOL)
    classical = np.concatenate([motion.a0, motion.omega_dot(0.0)])
    assert near(spatial.spatial_acceleration(classical, v), spatial.motion_from_pluecker(seed))
    assert near(spatial.classical_acceleration(spatial.motion_from_pluecker(seed), v), classical)


def test_spatial_accelerations_are_true_vectors(rng, R, r):
    """a_rel = a_2 - a_1 is the rate of v_2 - v_1, and a changes frame (a fixed one) with X alone; classical accelerations do not."""
    one, two, t = Motion(rng), Motion(rng), 0.15
    a_1, a_2 = (slope(lambda s, k=k: k.twist(t + s)) for k in (one, two))
    assert near(slope(lambda s: two.twist(t + s) - one.twist(t + s)), a_2 - a_1, DIFFERENCE_TOL)
    X = spatial.motion_transform(R, r)
    assert near(slope(lambda s: X @ one.twist(t + s)), X @ a_1, DIFFERENCE_TOL)
    classical = spatial.classical_acceleration(a_1, one.twist(t))
    in_B = spatial.classical_acceleration(X @ a_1, X @ one.twist(t))
    assert not near(X @ classical, in_B, 1e-3)


# --- inertia -----------------------------------------------------------------------------------------------------------------


def test_momentum_about_C_and_about_O(body, twist):
    v_C = spatial.motion_transform(ONE, body.c) @ twist
    h, h_C = body.m * v_C[:3], body.J @ v_C[3:]
    I_C = spatial.spatial_inertia(body.m, body.J, np.zeros(3))
    assert near(spatial.matrix_to_pluecker(I_C), np.block([[body.J, ZERO], [ZERO, body.m * ONE]]), 0.0)
    assert near(spatial.spatial_momentum(I_C, v_C), [*h, *h_C])
    assert near(spatial.spatial_momentum(body.I, twist), [*h, *(h_C + np.cross(body.c, h))])
    seed = np.block([[ONE, skew(body.c)], [ZERO, ONE]]) @ [*h_C, *h]
    assert near(spatial.force_to_pluecker(body.I @ twist), seed)


def test_inertia_about_O_is_that_of_both_seeds(body):
    c = skew(body.c)
    seed_1 = np.block([[body.J + body.m * c @ c.T, body.m * c], [body.m * c.T, body.m * ONE]])
    seed_0 = np.block([[body.m * ONE, -body.m * c], [body.m * c, body.J - body.m * c @ c]])  # (9)
    assert near(spatial.matrix_to_pluecker(body.I), seed_1)
    assert near(body.I, seed_0)
    shift = np.block([[ONE, c], [ZERO, ONE]])
    I_C = np.block([[body.J, ZERO], [ZERO, body.m * ONE]])
    assert near(spatial.matrix_to_pluecker(body.I), shift @ I_C @ shift.T)
    assert near(body.I, body.I.T, 0.0)


def test_inertia_is_the_sum_over_particles(rng, twist):
    points, masses = rng.normal(size=(7, 3)), rng.uniform(1.0, 2.0, size=7)
    c = masses @ points / masses.sum()
    J = sum(m * skew(x - c) @ skew(x - c).T for m, x in zip(masses, points, strict=True))
    inertia = spatial.spatial_inertia(masses.sum(), J, c)
    assert near(inertia, spatial.spatial_inertia(masses, np.zeros((3, 3)), points).sum(axis=0))
    speeds = twist[:3] + np.cross(twist[3:], points)
    assert spatial.kinetic_energy(inertia, twist) == pytest.approx(0.5 * masses @ (speeds**2).sum(axis=1), rel=ROUNDING)


def test_momentum_energy_and_inertia_change_frame(R, r, body, twist):
    X, X_star = spatial.motion_transform(R, r), spatial.force_transform(R, r)
    B_I = spatial.transformed_inertia(body.I, R, r)
    assert near(B_I, X_star @ body.I @ np.linalg.inv(X))
    assert near(B_I, spatial.spatial_inertia(body.m, R @ body.J @ R.T, R @ (body.c - r)))
    assert near(B_I @ X @ twist, X_star @ body.I @ twist)
    T, T_B = spatial.kinetic_energy(body.I, twist), spatial.kinetic_energy(B_I, X @ twist)
    h = spatial.spatial_momentum(body.I, twist)
    assert T == pytest.approx(0.5 * h @ twist, rel=ROUNDING)
    assert T == pytest.approx(T_B, rel=ROUNDING)


def test_inertia_is_a_dyadic_whose_factors_move_along(body, motion):
    """I = sum g_k g_k^T, g_k_dot = v x* g_k, hence I_dot = v x* I - I v x."""
    t, moving = 0.35, Moving(body, motion)
    v, inertia = motion.twist(t), moving.inertia(t)
    g = np.linalg.cholesky(inertia).T  # rows
    assert near(sum(np.outer(x, x) for x in g), inertia)
    g_dot = spatial.motion_cross_force(v, g)
    by_factors = sum(np.outer(y, x) + np.outer(x, y) for x, y in zip(g, g_dot, strict=True))
    assert near(spatial.inertia_rate(inertia, v), by_factors)
    assert near(spatial.inertia_rate(inertia, v), slope(lambda s: moving.inertia(t + s)), DIFFERENCE_TOL)


def test_equation_of_motion_is_the_rate_of_momentum(body, motion):
    t, moving = 0.35, Moving(body, motion)
    v, a, inertia = motion.twist(t), slope(lambda s: motion.twist(t + s)), moving.inertia(t)
    f = slope(lambda s: moving.momentum(t + s))
    assert near(spatial.wrench_from_acceleration(inertia, v, a), f, DIFFERENCE_TOL)
    assert near(inertia @ a + spatial.inertia_rate(inertia, v) @ v, f, DIFFERENCE_TOL)
    assert near(spatial.bias_wrench(inertia, v), spatial.cross_force(v) @ inertia @ v)
    assert near(spatial.acceleration_from_wrench(inertia, v, f), a, 100 * DIFFERENCE_TOL)
    assert near(spatial.acceleration_from_wrench(inertia, v, spatial.wrench_from_acceleration(inertia, v, a)), a, 1e-12)
    # Newton and Euler about the centre of mass
    C_ddot = spatial.classical_acceleration(a, v, motion.r(t) + motion.A(t) @ body.c)[:3]
    assert near(f[:3], body.m * C_ddot, DIFFERENCE_TOL)


def test_momentum_in_body_coordinates_needs_the_term_of_the_moving_frame(body, motion):
    """dh/dt = v x* h + I a in the coordinates of the fixed frame that coincides with the body's."""
    t, moving = 0.2, Moving(body, motion)
    X, X_star = motion.X(t), motion.X_star(t)
    v, a = X @ motion.twist(t), X @ slope(lambda s: motion.twist(t + s))
    inertia = spatial.transformed_inertia(moving.inertia(t), motion.A(t).T, motion.r(t))
    assert near(inertia, body.I)  # constant in the body's frame
    rate = X_star @ slope(lambda s: moving.momentum(t + s))
    assert near(rate, spatial.motion_cross_force(v, inertia @ v) + inertia @ a, DIFFERENCE_TOL)


# --- linked bodies -----------------------------------------------------------------------------------------------------------


def test_velocities_and_accelerations_of_linked_bodies(rng):
    chain, t, n = Chain(rng, 4), 0.1, 4
    s, q_dot, q_ddot = chain.screws(t), chain.q_dot(t), 2.0 * chain.q2
    v_0, a_0 = chain.base.twist(t), slope(lambda u: chain.base.twist(t + u))
    v, a = chain.twists(t), slope(lambda u: chain.twists(t + u))
    for i in range(n):  # v_i from the motion of the frames themselves
        G, G_dot = chain.placed(t)[i + 1], slope(lambda u, i=i: chain.placed(t + u)[i + 1])
        assert near(G_dot @ np.linalg.inv(G), spatial.cross_motion(v[i]), DIFFERENCE_TOL)
    # s_dot = v_i x s_i
    assert near(slope(lambda u: chain.screws(t + u)), spatial.motion_cross_motion(v, s), DIFFERENCE_TOL)
    # a_i = a_0 + sum (s_j q_ddot_j + v_j x s_j q_dot_j)
    steps = s * q_ddot[:, None] + spatial.motion_cross_motion(v, s) * q_dot[:, None]
    assert near(a, a_0 + np.cumsum(steps, axis=0), DIFFERENCE_TOL)
    # the double sum, with the part that the base drives
    for i in range(n):
        J = s[: i + 1].T
        pairs = sum(
            (spatial.motion_cross_motion(s[k], s[j]) * q_dot[k] * q_dot[j] for j in range(i + 1) for k in range(j)), np.zeros(6)
        )
        driven = spatial.motion_cross_motion(v_0, J @ q_dot[: i + 1])
        assert near(v[i], v_0 + J @ q_dot[: i + 1])
        assert near(a[i], a_0 + J @ q_ddot[: i + 1] + pairs + driven, DIFFERENCE_TOL)


def test_generalized_inertia_is_the_sum_of_the_spatial_ones(rng):
    """T = q_dot^T H q_dot / 2 with H = sum J_i^T I_i J_i, for a base at rest."""
    chain = Chain(rng, 3)
    chain.base.w1 = chain.base.w2 = chain.base.v0 = chain.base.a0 = np.zeros(3)
    s, q_dot, H, T = chain.screws(0.0), chain.q_dot(0.0), np.zeros((3, 3)), 0.0
    for i, body in enumerate(chain.bodies):
        J = np.where(np.arange(3) <= i, s.T, 0.0)
        H += J.T @ body.I @ J
        T += spatial.kinetic_energy(body.I, chain.twists(0.0)[i])
    assert pytest.approx(T, rel=1e-12) == 0.5 * q_dot @ H @ q_dot


def test_relative_acceleration_across_a_joint_needs_the_cross_term(rng):
    """d/dt (j_X v_s) = X a_s + v_j x v_s: the joint's twist v_s, constant along the moving screw, changes with the body."""
    chain, t = Chain(rng, 2), 0.2
    relative = lambda u: chain.screws(t + u)[1] * chain.q_dot(t + u)[1]  # noqa: E731
    v, s = chain.twists(t)[1], chain.screws(t)[1]
    expected = s * 2.0 * chain.q2[1] + spatial.motion_cross_motion(v, relative(0.0))
    assert near(slope(relative), expected, DIFFERENCE_TOL)
