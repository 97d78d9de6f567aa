"""The ledger: forces are minus the gradient of the potential; power is Q . u; both found a second way."""

import numpy as np
import pytest

from haugmbd import RSDA, TSDA, PointForce, StateForce, Torque
from haugmbd.diagnostics.work import load_ledger
from haugmbd.math import euler_parameters

STEP = 1e-5  # central differences of order two: truncation 1e-10, rounding 1e-11
DIFFERENCE_TOL = 1e-8


def spring(rig, **options):
    return TSDA("element", rig.a, rig.b, point_i=(0.0, 0.3, 0.1), point_j=(1.0, 1.0, 0.0), **options)


def torsion(rig, **options):
    return RSDA("element", rig.hinge, **options)


def moved(y, k, direction, step):
    """y with body k moved by a small step along one of its six directions (dr, dpi_bar)."""
    y = y.copy()
    row = y[13 * k :][:13]
    if direction < 3:
        row[direction] += step
    else:
        row[3:7] = euler_parameters.product(row[3:7], euler_parameters.exponential(step * np.eye(3)[direction - 3]))
    return y


@pytest.mark.slow
@pytest.mark.parametrize("element", [lambda rig: spring(rig, k=7.0, l0=0.8), lambda rig: torsion(rig, k=7.0, theta0=0.3)])
def test_forces_are_minus_the_gradient_of_the_potential(rig, random_state, forces, element):
    load = rig.system.add(element(rig))
    model = rig.system.compile()
    for _ in range(10):
        y = random_state(model)
        if load.angles:  # the angle's gradient is exact only about the axis that both bodies share
            y[: 13 * 3] = model.y0[: 13 * 3]
        Q = forces(model, 0.0, y)
        h = rig.hinge.frame_i.h, rig.hinge.frame_j.h
        for k in (1, 2):
            gradient = np.array(
                [
                    (potential(model, moved(y, k, a, STEP)) - potential(model, moved(y, k, a, -STEP))) / (2.0 * STEP)
                    for a in range(6)
                ]
            )
            if load.angles:
                gradient = np.concatenate([gradient[:3], (gradient[3:] @ h[k - 1]) * h[k - 1]])
            np.testing.assert_allclose(Q[k], -gradient, rtol=0, atol=DIFFERENCE_TOL * max(1.0, np.abs(Q).max()))


def potential(model, y):
    return load_ledger(model, [0.0], [y])["element"].potential[0]


def push(t, r, p, v, omega_bar):
    return np.array([r[0] * v[1], t, omega_bar[2]])


ELEMENTS = {
    "spring": lambda rig: spring(rig, k=7.0, c=0.5, l0=0.8, actuator=lambda t, l, l_dot: l * l_dot + t),
    "torsion": lambda rig: torsion(rig, k=7.0, c=0.5, theta0=0.3, actuator=np.sin),
    "force": lambda rig: PointForce("element", rig.a, point=(1, 0, 0), force=push),
    "body force": lambda rig: PointForce("element", rig.a, point=(1, 0, 0), force=(1, 2, 3), frame="body"),
    "torque": lambda rig: Torque("element", rig.a, torque=lambda t: (t, 1.0, np.cos(t))),
    "body torque": lambda rig: Torque("element", rig.a, torque=push, frame="body"),
    "state force": lambda rig: StateForce("element", [rig.a, rig.b], force=lambda t, r, p, v, w: np.hstack([t * r, v + w])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTS)
def test_power_is_Q_u(rig, random_state, forces, name):
    """applied - dissipated - d(potential)/dt = Q . u."""
    rig.system.add(ELEMENTS[name](rig))
    model = rig.system.compile()
    load = model.loads[0].load
    for t in np.linspace(0.0, 3.0, 10):
        y = random_state(model)
        book = load_ledger(model, [t], [y])["element"]
        u = y[: 13 * 3].reshape(3, 13)[:, 7:13]
        stored = 0.0
        if name in ("spring", "torsion"):
            x, x_dot = load.arguments(np.array([y[13 * k :][:13][None, :] for k in (1, 2)]), y[-1:])
            stored = 7.0 * (x[0] - (0.8 if name == "spring" else 0.3)) * x_dot[0]
        power = np.sum(forces(model, t, y) * u)
        expected = book.applied[0] - book.dissipated[0] - stored
        assert power == pytest.approx(expected, rel=1e-12, abs=1e-12)  # rounding of a sum of terms of order ten
        assert book.dissipated[0] >= 0.0


def test_a_trajectory_has_one_entry_an_element(rig, random_state):
    rig.system.add(PointForce("one", rig.a, force=(1, 2, 3)))
    rig.system.add(RSDA("two", rig.hinge, k=1.0))
    model = rig.system.compile()
    y = np.array([random_state(model) for _ in range(4)])
    book = load_ledger(model, np.arange(4.0), y)
    assert list(book) == ["one", "two"]
    assert all(column.shape == (4,) for ledger in book.values() for column in ledger)
