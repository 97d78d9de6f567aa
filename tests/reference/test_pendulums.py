"""Pendulums against closed forms and minimal coordinates: A01, ME751 A6 to A8."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, pendulum
from joints import RJ, Distance

PERIOD = 2.3678419475762374


def point_pendulum(kind: str) -> mbd.System:
    """A01: a point mass on a distance row (its own small inertia is never turned), or with no inertia at all on a revolute joint."""
    system = mbd.System("A01", gravity=(0.0, -9.81, 0.0))
    J_bar = (0.0, 0.0, 0.0) if kind == "RJ" else (1e-3, 1e-3, 1e-3)
    mass = system.add(mbd.Body("mass", 1.0, J_bar, r=(1.0, 0.0, 0.0)))
    if kind == "RJ":
        system.add(RJ("bar", system.ground, mass, point=(0, 0, 0), axis=(0, 0, 1)))
    else:
        system.add(Distance("bar", system.ground, mass, point_i=(0, 0, 0), point_j=(1, 0, 0)))
    return system


def force_on_j(result: mbd.Result, joint: str) -> np.ndarray:
    """-Phi_r^T lam of a joint on its second body, state by state, from the rows themselves (nt, 3)."""
    mine = result.model.joints[joint].rows
    forces = []
    for k in range(len(result)):
        rows = mbd.evaluate(result.model, result.state(k))
        forces.append(-result.lam[k, mine] @ rows.Phi_r[mine, 1])
    return np.array(forces)


@pytest.mark.parametrize("kind", ["D", "RJ"])
def test_a01_point_pendulum(table, published, kind):
    reference = table("A01_pendulum")
    result = mbd.simulate(point_pendulum(kind), 10.0, rtol=1e-13, atol=1e-13, t_eval=reference["t"])
    found = np.column_stack([result["mass"].r[:, :2], result["mass"].v[:, :2]])
    expected = np.column_stack([reference[name] for name in ("x", "y", "vx", "vy")])
    problem = f"IFToMM A01, point pendulum on {'a distance' if kind == 'D' else 'a revolute joint'}, 10 s"
    published(problem, "place and velocity [m, m/s]", found, expected, 1e-9)
    published(problem, "tension [N]", np.linalg.norm(force_on_j(result, "bar"), axis=1), reference["tension"], 1e-9)


def test_a01_returns_after_a_period():
    result = mbd.simulate(point_pendulum("RJ"), PERIOD, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(result["mass"].r[-1], [1.0, 0.0, 0.0], atol=1e-10)


def test_me751_driven_pendulum(table, published):
    reference = table("me751_driven_pendulum")
    result = mbd.simulate(pendulum(driven=True), 10.0, h=0.01, store_every=20)
    np.testing.assert_allclose(result.t, reference["t"], atol=1e-13)
    bar = result["bar"]
    for found, names in ((bar.r, ("y", "z")), (bar.v, ("vy", "vz")), (result.v_dot[:, 1], ("ay", "az"))):
        expected = np.column_stack([reference[name] for name in names])
        np.testing.assert_allclose(found[:, 1:], expected, rtol=0.0, atol=1e-12 * max(1.0, np.abs(expected).max()))

    model = result.model
    torque = np.empty(len(result))
    for k in range(len(result)):
        row = model.joints["drive"].rows[0]
        rows = mbd.evaluate(model, result.state(k))
        A = mbd.Body("any", 1.0, (1, 1, 1), p=bar.p[k]).A
        torque[k] = (A @ (-rows.PiBar[row, 1] * result.lam[k, row]))[0]
    published(
        "ME751 A6 and A7, driven pendulum, 10 s", "torque of the drive [N m]", torque, reference["drive_torque_x"], 1e-10 * 225.0
    )
    np.testing.assert_allclose(np.abs(result.lam[:, model.joints["drive"].rows[0]]), np.abs(torque), rtol=1e-13)
    np.testing.assert_allclose(torque[0], -224.8256611173299, rtol=1e-12)
    expected = np.column_stack([0.0 * reference["t"], reference["reaction_y"], reference["reaction_z"]])
    np.testing.assert_allclose(force_on_j(result, "pin"), expected, rtol=0.0, atol=1e-10 * 1000.0)
    force = result.reaction("pin").force
    published("ME751 A6 and A7, driven pendulum, 10 s", "reaction of the pin [N]", force, expected, 1e-10 * 1000.0)


def test_me751_double_pendulum(table, published):
    reference = table("me751_double_pendulum")
    result = mbd.simulate(double_pendulum(), 10.0, rtol=1e-13, atol=1e-13, t_eval=reference["t"])
    early = reference["t"] <= 5.0
    found = np.column_stack([result["bar 1"].r[:, 1:], result["bar 2"].r[:, 1:]])
    expected = np.column_stack([reference[name] for name in ("y1", "z1", "y2", "z2")])
    problem = "ME751 A8, double pendulum"
    published(problem, "places to 5 s [m]", found[early], expected[early], 1e-8)
    published(problem, "places to 10 s, chaotic [m]", found, expected, 1e-6)
    rates = np.column_stack([result["bar 1"].omega_bar[:, 0], result["bar 2"].omega_bar[:, 0]])
    gap = np.abs(rates - np.column_stack([reference["w1"], reference["w2"]])).max(axis=1)
    assert gap[early].max() < 1e-8
    assert gap.max() < 2e-6
    for pin, names in (("pin 1", ("Fy_ground", "Fz_ground")), ("pin 2", ("Fy_pin", "Fz_pin"))):
        gap = np.abs(force_on_j(result, pin)[:, 1:] - np.column_stack([reference[name] for name in names])).max(axis=1)
        assert gap[early].max() < 1e-8 * 3000.0
        assert gap.max() < 1e-6 * 3000.0
