"""Machines of several elements against closed forms: a screw jack that holds itself, a crane on a hydraulic cylinder."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, PointInPlane, Screw

G = 9.81
PITCH, LOAD, NUT, ARM, INERTIA, KEY = 0.01, 200.0, 2.0, 0.03, 0.01, 0.1


def screw_jack(mu):
    """A nut on a thrust bearing, with friction; a spindle that does not turn, and carries the load."""
    system = mbd.System("screw jack", gravity=(0, 0, -G))
    nut = system.add(mbd.Body("nut", NUT, (INERTIA,) * 3))
    spindle = system.add(mbd.Body("spindle", LOAD, (1.0, 1.0, 1.0), r=(0, 0, 0.5)))
    bearing = system.add(RJ("bearing", system.ground, nut, point=(0, 0, 0), axis=(0, 0, 1)))
    thread = system.add(CJ("thread", nut, spindle, point=(0, 0, 0), axis=(0, 0, 1)))  # between them: the nut carries the load
    system.add(PointInPlane("key", system.ground, spindle, point=(KEY, 0, 0.5), normal=(0, 1, 0)))
    system.add(Screw("screw", thread, pitch=PITCH))
    system.add(mbd.JointFriction("rub", bearing, mbd.Coulomb(1.1 * mu, mu), radius=ARM, thrust_radius=ARM))
    return system


def test_a_screw_jack_holds_itself_or_runs_down():
    """It holds where m g p / 2 pi is below mu_s N r, N the weights of load and nut. The key presses the bearing to the side, too."""
    per_turn = PITCH / (2.0 * np.pi)
    weight, holds = LOAD * G * per_turn, (LOAD + NUT) * G * ARM
    limit = weight / holds  # 0.0525
    held = mbd.simulate(screw_jack(limit), 0.5, h=1e-2)  # mu_s is a tenth above
    assert abs(held["spindle"].r[:, 2] - 0.5).max() < 1e-12
    np.testing.assert_allclose(np.abs(held.load("rub").torque), weight, rtol=1e-9)

    mu, t = 0.4 * limit, 0.5
    c = per_turn - mu * ARM * (1.0 + per_turn / KEY)  # torque on the nut for each newton of thrust
    a = (LOAD * G * c - mu * ARM * NUT * G) / (INERTIA / per_turn + LOAD * c)
    falls = mbd.simulate(screw_jack(mu), t, rtol=1e-11, atol=1e-13)  # the nut makes 3.6 turns
    assert 0.5 - falls["spindle"].r[-1, 2] == pytest.approx(0.5 * a * t**2, rel=1e-8)
    np.testing.assert_allclose(falls.reaction("bearing", on="j").force[-1, 2], LOAD * (G - a) + NUT * G, rtol=1e-9)


AREA, ROD, BULK, LEAK, GAIN, PUMP = 5e-3, 3e-3, 1.4e9, 2e-11, 5e-3, 2e7
FOOT, EYE, MASS, REACH = np.array([0.3, 0.0, -0.5]), np.array([1.0, 0.0, 0.5]), 500.0, 1.5
LENGTH = float(np.linalg.norm(EYE - FOOT))


def crane(target):
    """A boom on a hydraulic cylinder, whose valve follows the length of the cylinder; states: two pressures [Pa], and the valve."""

    def rates(t, x, signals):
        out, speed = signals["cylinder.length"] - LENGTH, signals["cylinder.rate"]
        leak = LEAK * (x[0] - x[1])
        head, rod = GAIN * x[2] - AREA * speed - leak, -GAIN * ROD / AREA * x[2] + ROD * speed + leak - 1e-11 * (x[1] - 1e5)
        return BULK / (1e-3 + AREA * out) * head, BULK / (2e-3 - ROD * out) * rod, ((target - out) - x[2]) / 0.01

    system = mbd.System("crane", gravity=(0, 0, -G))
    boom = system.add(mbd.Body("boom", MASS, (10.0, 400.0, 400.0), r=(REACH, 0, 0.5)))
    system.add(RJ("foot", system.ground, boom, point=(0, 0, 0.5), axis=(0, -1, 0)))
    ends = {"point_i": FOOT, "point_j": EYE}
    system.add(mbd.TSDA("cylinder", system.ground, boom, **ends, c=2000.0, l0=LENGTH))
    push = mbd.Block(
        "hydraulics", (1e7, 1e6, 0.0), derivative=rates, outputs={"force": lambda t, x, signals: AREA * x[0] - ROD * x[1]}
    )
    system.add(mbd.LinearActuator("ram", system.ground, boom, **ends, force=system.add(push)["force"]))
    return system


@pytest.mark.slow
def test_a_crane_on_a_hydraulic_cylinder_rests_where_a_simulation_ends():
    """Pressures of 1e7 Pa beside lengths of 1 m; the balance is that of moments about the foot, and that of a run of 20 s."""
    system = crane(0.02)
    held = mbd.equilibrium(system)
    assert held.stable
    run = mbd.simulate(system, 20.0, rtol=1e-8)
    np.testing.assert_allclose(held.state.r[1], run["boom"].r[-1], atol=1e-6)
    np.testing.assert_allclose(held.state.angles[-3:], run.block("hydraulics").x[-1], rtol=1e-5, atol=1e-7)
    boom = held.state.r[1] - (0.0, 0.0, 0.5)
    angle = np.arctan2(boom[2], boom[0])
    eye = np.array([np.cos(angle), 0.0, 0.5 + np.sin(angle)])
    along = (eye - FOOT) / np.linalg.norm(eye - FOOT)
    force = AREA * held.state.angles[-3] - ROD * held.state.angles[-2]
    moment = np.cross(eye - (0.0, 0.0, 0.5), force * along)[1]
    assert moment == pytest.approx(-MASS * G * boom[0], rel=1e-9)
    slowest = max(held.eigenvalues.real)
    late = run.block("hydraulics")
    rest = np.abs(late.x[:, 0] - held.state.angles[-3])
    one, two = (int(np.searchsorted(run.t, t)) for t in (3.0, 5.0))
    rate = np.log(rest[two] / rest[one]) / (run.t[two] - run.t[one])
    assert rate == pytest.approx(slowest, rel=1e-3)
