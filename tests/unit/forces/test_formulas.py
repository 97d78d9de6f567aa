"""Every force element against its formula, written here with SciPy's rotations and NumPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from haugmbd import RSDA, TSDA, PointForce, StateForce, Torque

ROUNDING = 1e-13  # a sum of a few terms of order ten
STATES = 20


def parts(y, k):
    """r, A, v, omega_bar of body k."""
    row = y[13 * k :][:13]
    return row[0:3], Rotation.from_quat(np.roll(row[3:7], -1)).as_matrix(), row[7:10], row[10:13]


def point(body, x):
    return body.A.T @ (np.asarray(x) - body.r)


def applied(A, s_bar, F):
    """(F, n_bar) of a global force at a point."""
    return np.concatenate([F, A.T @ np.cross(A @ s_bar, F)])


@pytest.mark.parametrize("frame", ["global", "body"])
def test_point_force(rig, random_state, forces, frame):
    rig.system.add(PointForce("push", rig.b, point=(1.0, 1.0, 0.0), force=(1.0, -2.0, 3.0), frame=frame))
    model = rig.system.compile()
    for _ in range(STATES):
        y = random_state(model)
        _, A, _, _ = parts(y, 2)
        F = np.array([1.0, -2.0, 3.0])
        expected = applied(A, point(rig.b, (1.0, 1.0, 0.0)), A @ F if frame == "body" else F)
        Q = forces(model, 0.0, y)
        np.testing.assert_allclose(Q[2], expected, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(Q[:2], 0.0, rtol=0, atol=ROUNDING)


def test_a_force_without_a_point_acts_at_the_centre_of_mass(rig, random_state, forces):
    rig.system.add(PointForce("push", rig.a, force=(1.0, -2.0, 3.0)))
    model = rig.system.compile()
    Q = forces(model, 0.0, random_state(model))
    np.testing.assert_allclose(Q[1], [1.0, -2.0, 3.0, 0.0, 0.0, 0.0], rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("frame", ["global", "body"])
def test_torque(rig, random_state, forces, frame):
    rig.system.add(Torque("turn", rig.a, torque=(1.0, -2.0, 3.0), frame=frame))
    model = rig.system.compile()
    for _ in range(STATES):
        y = random_state(model)
        _, A, _, _ = parts(y, 1)
        n = np.array([1.0, -2.0, 3.0])
        expected = np.concatenate([np.zeros(3), n if frame == "body" else A.T @ n])
        np.testing.assert_allclose(forces(model, 0.0, y)[1], expected, rtol=0, atol=ROUNDING)


def add_spring(rig, **options):
    return rig.system.add(TSDA("spring", rig.a, rig.b, point_i=(0.0, 0.3, 0.1), point_j=(1.0, 1.0, 0.0), **options))


def test_tsda(rig, random_state, forces):
    add_spring(rig, k=7.0, c=0.5, l0=0.8, actuator=1.5)
    model = rig.system.compile()
    s_i, s_j = point(rig.a, (0.0, 0.3, 0.1)), point(rig.b, (1.0, 1.0, 0.0))
    for _ in range(STATES):
        y = random_state(model)
        (r_i, A_i, v_i, w_i), (r_j, A_j, v_j, w_j) = parts(y, 1), parts(y, 2)
        d = r_j + A_j @ s_j - r_i - A_i @ s_i
        d_dot = v_j + A_j @ np.cross(w_j, s_j) - v_i - A_i @ np.cross(w_i, s_i)
        length = np.linalg.norm(d)
        f = 7.0 * (length - 0.8) + 0.5 * (d @ d_dot) / length + 1.5
        Q = forces(model, 0.0, y)
        np.testing.assert_allclose(Q[1], applied(A_i, s_i, f * d / length), rtol=0, atol=10 * ROUNDING)
        np.testing.assert_allclose(Q[2], applied(A_j, s_j, -f * d / length), rtol=0, atol=10 * ROUNDING)


def test_rsda(rig, random_state, forces):
    rig.system.add(RSDA("torsion", rig.hinge, k=7.0, c=0.5, theta0=0.3, actuator=1.5))
    model = rig.system.compile()
    i, j = rig.hinge.frame_i, rig.hinge.frame_j
    for _ in range(STATES):
        y = random_state(model)
        (_, A_i, _, w_i), (_, A_j, _, w_j) = parts(y, 1), parts(y, 2)
        f_j = A_j @ j.f
        theta = np.angle(complex(A_i @ i.f @ f_j, A_i @ i.g @ f_j))
        theta += 2.0 * np.pi * np.rint((y[-1] - theta) / (2.0 * np.pi))
        h = A_i @ i.h
        n = 7.0 * (theta - 0.3) + 0.5 * h @ (A_j @ w_j - A_i @ w_i) + 1.5
        Q = forces(model, 0.0, y)
        np.testing.assert_allclose(Q[1], np.concatenate([np.zeros(3), A_i.T @ (n * h)]), rtol=0, atol=10 * ROUNDING)
        np.testing.assert_allclose(Q[2], np.concatenate([np.zeros(3), -A_j.T @ (n * h)]), rtol=0, atol=10 * ROUNDING)


def test_state_force(rig, random_state, forces):
    def attraction(t, r, p, v, omega_bar):
        d = r[1] - r[0]
        rows = np.zeros((2, 6))
        rows[0, :3], rows[1, :3] = d, -d
        rows[:, 3:] = omega_bar
        return rows

    rig.system.add(StateForce("gravity", [rig.b, rig.a], force=attraction))
    model = rig.system.compile()
    y = random_state(model)
    (r_a, _, _, w_a), (r_b, _, _, w_b) = parts(y, 1), parts(y, 2)
    Q = forces(model, 0.0, y)
    np.testing.assert_allclose(Q[1:], [[*(r_b - r_a), *w_a], [*(r_a - r_b), *w_b]], rtol=0, atol=ROUNDING)


def test_no_net_force_and_no_net_moment(rig, random_state, forces):
    add_spring(rig, k=7.0, c=0.5, l0=0.8, actuator=1.5)
    rig.system.add(RSDA("torsion", rig.hinge, k=7.0, c=0.5, theta0=0.3, actuator=1.5))
    model = rig.system.compile()
    for _ in range(STATES):
        y = random_state(model)
        Q = forces(model, 0.0, y)
        moment = sum(np.cross(parts(y, k)[0], Q[k, :3]) + parts(y, k)[1] @ Q[k, 3:] for k in (1, 2))
        np.testing.assert_allclose(Q[:, :3].sum(axis=0), 0.0, rtol=0, atol=10 * ROUNDING)
        np.testing.assert_allclose(moment, 0.0, rtol=0, atol=100 * ROUNDING)


def test_ends_that_meet(rig, forces):
    """A spring of free length 0 passes through length 0 smoothly: k d + c d' without a division."""
    at = rig.a.r  # both ends are there without rounding
    rig.system.add(TSDA("spring", rig.system.ground, rig.a, point_i=at, point_j=at, k=7.0, c=0.5, l0=0.0))
    model = rig.system.compile()
    y = model.y0.copy()
    assert np.all(forces(model, 0.0, y) == 0.0)
    y[13 + 7 : 13 + 10] = 0.0, 2.0, 0.0
    np.testing.assert_allclose(forces(model, 0.0, y)[1, :3], [0.0, -1.0, 0.0], rtol=0, atol=ROUNDING)
