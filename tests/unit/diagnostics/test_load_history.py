"""Quantities of force elements over time: closed forms, power against compiled accelerations, sums against the energy."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import ForceElement
from haugmbd.forces import KINDS
from haugmbd.model.inspection.pressed_stops import Stops
from joints import RJ

EXACT = 1e-12  # a few roundings of numbers of size 1 to 100


def spin(t, r, p, v, omega_bar):
    return np.array([[1.0 + t, 0.2, -0.3, 0.5, 0.1, -0.4], [0.3, -1.0, 0.2, 0.1, 0.6, 0.3]]) + 0.1 * np.hstack([v, omega_bar])


SAMPLES = {
    "TSDA": lambda i, j, pin: mbd.TSDA(
        "load", i, j, point_i=(0.1, 0, 0.2), point_j=(1.3, 0.2, 0.1), k=20.0, c=3.0, l0=1.0, actuator=lambda t: 2.0 + np.sin(t)
    ),
    "RSDA": lambda i, j, pin: mbd.RSDA("load", pin, k=2.0, c=0.3, theta0=0.4, actuator=lambda t: 0.2 + t),
    "PointForce": lambda i, j, pin: mbd.PointForce("load", j, point=(1.3, 0.2, 0.1), force=lambda t: (1.0, t, 0.3), frame="body"),
    "Torque": lambda i, j, pin: mbd.Torque("load", j, torque=lambda t, r, p, v, omega_bar: 0.3 * omega_bar + t),
    "StateForce": lambda i, j, pin: mbd.StateForce("load", [i, j], force=spin),
    "LinearActuator": lambda i, j, pin: mbd.LinearActuator(
        "load", i, j, point_i=(0.1, 0, 0.2), point_j=(1.3, 0.2, 0.1), force=lambda t, l, l_dot: 2.0 + t - l * l_dot
    ),
    "Bushing": lambda i, j, pin: mbd.Bushing("load", i, j, point=(0.5, 0, 0), K=(20, 30, 40, 5, 6, 7), C=(1, 1, 1, 0.2, 0.1, 0.3)),
    "Drag": lambda i, j, pin: mbd.Drag(
        "load", j, mbd.Box((1, 2, 3), center=(0.1, 0, 0)), density=2.0, coefficient=1.2, flow=(1, 0, 0)
    ),
    "Buoyancy": lambda i, j, pin: mbd.Buoyancy("load", j, mbd.Cone(1.0, 2.0), density=2.0, gravity=(0, 1, -9.81)),
    "JointSpring": lambda i, j, pin: mbd.JointSpring("load", pin, k=2.0, c=0.3, free=0.4),
    "JointLimit": lambda i, j, pin: mbd.JointLimit("load", pin, lower=-1e-4, upper=1e-4, k=2e3, c=3.0),
    "Motor": lambda i, j, pin: mbd.Motor("load", pin, torque=lambda t, angle, speed: 0.5 + t - 0.1 * speed, ratio=3.0),
    "JointFriction": lambda i, j, pin: mbd.JointFriction("load", pin, mbd.BrownMcPhee(0.4, 0.3, 0.02), radius=0.3, preload=15.0),
    "JointForce": lambda i, j, pin: mbd.JointForce("load", [pin], lambda t, q, qd: [1.0 + t - q[0] * qd[0]]),
    "ContactForce": lambda i, j, pin: mbd.ContactForce(
        "load", i, j, shape_i=mbd.Sphere(0.8), shape_j=mbd.Sphere(0.7), K=30.0, restitution=0.6, mu=0.3, creep=0.5, floor_speed=2.0
    ),
}
USUAL = {"point": (1.3, 0.2, 0.1), "point_i": (0.1, 0, 0.2), "point_j": (1.3, 0.2, 0.1)}


def by_signature(kind):
    """A sample of a class with the usual arguments: those without a default are bodies, joints, points, numbers and functions of time."""
    needed = [x for x in list(inspect.signature(kind).parameters.values())[1:] if x.default is x.empty]

    def make(i, j, pin):
        known = {"i": i, "j": j, "body": j, "bodies": [i, j], "joint": pin, **USUAL}
        return kind(
            "load", **{x.name: known.get(x.name, 2.0 if x.annotation == "float" else lambda t: 2.0 + np.sin(t)) for x in needed}
        )

    return make


for _kind in KINDS:
    SAMPLES.setdefault(_kind.__name__, by_signature(_kind))
AT_A_JOINT = ("RSDA", "JointSpring", "JointLimit", "Motor", "JointForce", "JointFriction")


def two_bodies(kind):
    rng = np.random.default_rng(20261122)
    system = mbd.System("two", gravity=(0, 0, 0))
    i = system.add(mbd.Body("i", 2.0, (0.2, 0.3, 0.4), v=rng.normal(size=3), omega_bar=rng.normal(size=3)))
    j = system.add(mbd.Body("j", 1.0, (0.1, 0.12, 0.15), r=(1, 0, 0), v=rng.normal(size=3), omega_bar=rng.normal(size=3)))
    pin = None
    if kind in AT_A_JOINT:
        pin = system.add(RJ("pin", i, j, point=(0.5, 0, 0), axis=(0, 0, 1)))
    system.add(SAMPLES[kind](i, j, pin))
    return system


def test_every_class_has_a_sample():
    assert set(SAMPLES) == {kind.__name__ for kind in KINDS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ContactForce .* deep")  # the sample is 0.5 m deep, so that its force is not zero
@pytest.mark.filterwarnings("ignore:an impact of load")  # the stop of the sample is hit for two steps
@pytest.mark.filterwarnings("ignore:the step h = 0.01 s is too large for JointFriction")  # steps are compared, not the motion
@pytest.mark.parametrize("kind", SAMPLES)
def test_power_is_that_of_the_compiled_forces(kind):
    """With no other force, M u_dot . u is the power of the element; joints do no work."""
    result = mbd.simulate(two_bodies(kind), 0.3, h=1e-2, project_velocity=True)
    load, model = result.load("load"), result.model
    power = np.einsum("k,tka,tka->t", model.mass, result.v_dot, result.v)
    power += np.einsum("tka,kab,tkb->t", result.omega_bar, model.J_bar, result.omega_bar_dot)
    np.testing.assert_allclose(load.power, power, rtol=0.0, atol=EXACT * 100)
    assert abs(load.power).max() > 0.1
    assert load.kind == kind


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAMPLES)
def test_every_element_is_verified(kind):
    """Power of the compiled force against the energy of its ledger, along motions that violate the joints."""
    assert mbd.verify(two_bodies(kind).loads[0]).ok


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ContactForce .* deep")  # the sample is 0.5 m deep, so that its force is not zero
@pytest.mark.filterwarnings("ignore:an impact of load")  # the stop of the sample is hit for two steps
@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind != "JointFriction"])  # its power depends on the multipliers
def test_an_element_without_quantities_of_its_own_has_the_power_of_its_ledger(kind):
    result = mbd.simulate(two_bodies(kind), 0.1, h=1e-2, project_velocity=True)
    (entry,) = result.model.loads
    n = result.model.nb + 1
    bodies = np.swapaxes(result.y[:, : 13 * n].reshape(len(result), n, 13), 0, 1)[list(entry.bodies)]
    angle = entry.own_angles(result.angles)
    found = ForceElement.quantities(entry.load, result.t, bodies, angle)
    smooth = np.ones(len(result), dtype=bool)
    for side in Stops(result.model).sides:  # V'' jumps at a limit, and differences across it are of first order
        smooth &= np.abs(entry.load.motion(bodies, angle)[0][:, 0] - side.limit) > 1e-9
    assert smooth.sum() > 5
    power = result.load("load").power[smooth]
    np.testing.assert_allclose(found.power[smooth], power, rtol=0.0, atol=1e-7)  # a difference of rounding ** (2 / 3)
    assert found.values == {}


def test_a_strut_against_its_closed_form():
    """A mass on a spring: length 1 + 0.1 cos(w t), positive force where it is longer than free."""
    k, m = 40.0, 2.5
    w = np.sqrt(k / m)
    system = mbd.System("strut", gravity=(0, 0, 0))
    mass = system.add(mbd.Body("mass", m, (1, 1, 1), r=(1.1, 0, 0)))
    system.add(mbd.TSDA("strut", system.ground, mass, point_i=(0, 0, 0), point_j=(1.1, 0, 0), k=k, l0=1.0))
    result = mbd.simulate(system, 2.0, h=1e-3)
    strut, x = result.load("strut"), 0.1 * np.cos(w * result.t)
    accuracy = 1e-10  # of RK4 with this step
    np.testing.assert_allclose(strut.length, 1.0 + x, rtol=0.0, atol=accuracy)
    np.testing.assert_allclose(strut.rate, -0.1 * w * np.sin(w * result.t), rtol=0.0, atol=10 * accuracy)
    np.testing.assert_allclose(strut.force, k * x, rtol=0.0, atol=100 * accuracy)
    np.testing.assert_allclose(strut.energy, 0.5 * k * x**2, rtol=0.0, atol=100 * accuracy)
    np.testing.assert_allclose(strut.power, -strut.force * strut.rate, rtol=0.0, atol=EXACT)
    assert strut.stroke == pytest.approx(0.2, abs=1e-5)  # the extreme lies between two stored states
    assert strut.force[0] > 0.0 > result.v_dot[0, 1, 0]  # it pulls the mass back
    assert strut.unit("rate") == "m/s"
    assert "force" in repr(strut)


def test_a_torsion_spring_is_counted_through_its_turns():
    system = mbd.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mbd.Body("rotor", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 20.0)))
    pin = system.add(RJ("pin", system.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", pin, k=1e-3))
    result = mbd.simulate(system, 2.0, h=1e-3)
    spring = result.load("spring")
    assert spring.angle[-1] > 12.0 * np.pi
    np.testing.assert_allclose(spring.angle, result.joint("pin").angle, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(spring.torque, 1e-3 * spring.angle, rtol=0.0, atol=EXACT)
    assert spring.stroke == np.ptp(spring.angle)
    assert spring.unit("rate") == "rad/s"


def test_what_an_element_does_not_have():
    result = mbd.simulate(two_bodies("Torque"), 0.01, h=1e-3)
    with pytest.raises(mbd.UsageError, match=r"load 'load' \(Torque\) has no length: it has \.torque, \.power, \.energy"):
        _ = result.load("load").length
    with pytest.raises(mbd.UsageError, match=r"no load is called 'laod'; the loads are 'load' \(did you mean 'load'"):
        result.load("laod")


def test_states_that_are_not_finite_give_nan():
    from dataclasses import replace  # noqa: PLC0415

    result = mbd.simulate(two_bodies("TSDA"), 0.05, h=1e-2)
    y = result.y.copy()
    y[3, 15] = np.nan
    broken = replace(result, y=y)
    for values in (broken.load("load").force, broken.load("load").power, broken.v_dot[:, 1, 0]):
        assert np.isnan(values[3]).all()
        assert np.isfinite(np.delete(values, 3)).all()
    np.testing.assert_array_equal(np.delete(broken.load("load").force, 3), np.delete(result.load("load").force, 3))
