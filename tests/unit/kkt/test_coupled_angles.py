"""The angles that couplings of a forest read, against differences of the arctangent along rotations at constant speed."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from haugmbd.constraints.coordinate import angle_of_rotations

STEP = 1e-3
"""Of the differences [s]: their error is STEP^4 / 90 times the sixth derivative, and rounding is 1e-16 / STEP^2."""

DIFFERENCES = 1e-7
"""Of q'' and of the gradient: 1e-9 is seen, with sixth derivatives of up to 1e4."""


def angle(e: np.ndarray, n: np.ndarray, v: np.ndarray) -> float:
    """Return alpha = atan2(n . v, e . v)."""
    return float(np.arctan2(n @ v, e @ v))


@pytest.mark.slow
@pytest.mark.parametrize("drift", [0.0, 0.1, 0.5])
def test_angles_are_those_of_the_arctangent(drift, rng):
    """Near to a joint and far from it; e and n need not be orthonormal, nor v a unit vector."""
    for _ in range(20):
        frame = Rotation.random(random_state=rng).as_matrix()
        e, n = frame[0] + drift * rng.normal(size=3), frame[1] + drift * rng.normal(size=3)
        turn = rng.uniform(-2.5, 2.5)
        v = np.cos(turn) * frame[0] + np.sin(turn) * frame[1] + drift * rng.normal(size=3)
        if np.hypot(e @ v, n @ v) < 0.3 or abs(angle(e, n, v)) > 3.0:
            continue  # the cut of the arctangent, and its singular point
        w_a, w_b = rng.normal(size=(2, 3))

        def at(t: float, w_b: np.ndarray = w_b, w_a: np.ndarray = w_a, e=e, n=n, v=v) -> float:
            a, b = Rotation.from_rotvec(w_a * t), Rotation.from_rotvec(w_b * t)
            return angle(a.apply(e), a.apply(n), b.apply(v))

        found = angle_of_rotations(tuple(e), tuple(n), tuple(v), tuple(w_a), tuple(w_b))
        q = [at(k * STEP) for k in (-2, -1, 0, 1, 2)]
        np.testing.assert_allclose([found.c, found.s], [e @ v, n @ v], rtol=1e-14, atol=1e-15)
        q_dot, q_ddot = np.dot([1, -8, 0, 8, -1], q) / (12 * STEP), np.dot([-1, 16, -30, 16, -1], q) / (12 * STEP**2)
        np.testing.assert_allclose(np.dot(found.moment, w_b - w_a), q_dot, rtol=0.0, atol=DIFFERENCES)
        np.testing.assert_allclose(found.q_ddot, q_ddot, rtol=0.0, atol=DIFFERENCES)
