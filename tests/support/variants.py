"""A chain of three links with springs, and its variants: what a batch varies is what the builder takes."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from joints import RJ, SJ, TJ, Belt, Coupling, Gear, RackPinion, RotationDriver

J_ROD, J_BOX = (1e-3, 1 / 12, 1 / 12), (0.06, 0.07, 0.08)


def swinging(mass=1.0, J_bar=J_BOX, gravity=(0.0, 0.0, -9.81), k=3.0, point=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), stiffness=20.0):
    """Three links on revolute joints, a torsional spring on the second, a spring from the last to the ground."""
    system = mbd.System("swinging", gravity=gravity)
    links = [
        system.add(mbd.Body(f"link {n + 1}", mass if n == 1 else 1.5, J_bar if n == 2 else J_ROD, r=(n + 0.5, 0.0, 0.0)))
        for n in range(3)
    ]
    system.add(RJ("first", system.ground, links[0], point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    second = system.add(RJ("second", links[0], links[1], point=point, axis=axis))
    system.add(SJ("third", links[1], links[2], point=(2.0, 0.0, 0.0)))
    system.add(mbd.RSDA("coil", second, k=k, c=0.1, theta0=0.2))
    system.add(
        mbd.TSDA("spring", system.ground, links[2], point_i=(2.0, 0.0, 1.0), point_j=(3.0, 0.0, 0.0), k=stiffness, c=0.5, l0=0.8)
    )
    return system


def states_of(model, n, seed=5):
    """States (n, ny) on the way of a swing, in random order."""
    y = mbd.simulate(model, 1.0, h=1e-2).y
    return y[np.random.default_rng(seed).integers(0, len(y), n)]


def driven(length=1.0, speed=2.0):
    """A slide that a formula with two parameters of the system drives, and a bob on it."""
    system = mbd.System("driven", gravity=(0.0, 0.0, -9.81), parameters={"length": length, "speed": speed})
    slide = system.add(mbd.Body("slide", 2.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, slide, point=(0, 0, 0), axis=(1, 0, 0)))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -1)))
    pin = system.add(RJ("pin", slide, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.TSDA("spring", system.ground, slide, point_i=(-1, 0, 0), point_j=(0, 0, 0), k=10.0, l0=1.0))
    system.add(RotationDriver("turn", pin, mbd.Expression("length * (1 - cos(speed * t)) * 0.1")))
    assert rail.i is system.ground
    return system


def geared(k=2.0, upper=0.5):
    """A bar with a joint spring, a stop, and a motor with a rotor of its own."""
    system = mbd.System("geared", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mbd.JointSpring("spring", pin, k=k, c=0.1))
    system.add(mbd.JointLimit("stop", pin, upper=upper, k=100.0, c=1.0))
    system.add(mbd.Motor("motor", pin, torque=1.0, ratio=5.0, rotor_inertia=1e-3))
    return system


def trains(second_axis=(0, 0, 1), second_point=(0.3, 0, 0), guide_axis=(0, 1, 0)):
    """A pinion that turns a wheel, by teeth and by a belt to a third shaft, and moves a rack."""
    system = mbd.System("trains")
    bodies = [
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=r))
        for name, r in (("pinion", (0, 0, 0)), ("wheel", (0.3, 0, 0)), ("pulley", (0, 0, 1)), ("rack", (0.1, 0, 0)))
    ]
    first = system.add(RJ("first", system.ground, bodies[0], point=(0, 0, 0), axis=(0, 0, 1)))
    second = system.add(RJ("second", system.ground, bodies[1], point=second_point, axis=second_axis))
    third = system.add(RJ("third", system.ground, bodies[2], point=(0, 0, 1), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", system.ground, bodies[3], point=(0.1, 0, 0), axis=guide_axis))
    system.add(Gear("mesh", first, second, teeth=(20, 40), pitch_radius=(0.1, 0.2)))
    system.add(Belt("belt", second, third, radii=(0.1, 0.2)))
    system.add(RackPinion("teeth", first, guide, radius=0.1, pressure_angle=0.35))
    system.add(mbd.Torque("drive", bodies[0], torque=(0, 0, 1.0)))
    return system


def bouncing(mass=1.0, lower=-0.5):
    """A bar that falls on a rigid stop of its angle, and drives a slide by a coupling that reads the angle."""
    system = mbd.System("bouncing", gravity=(0.0, -9.81, 0.0))
    bar = system.add(mbd.Body("bar", mass, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    slide = system.add(mbd.Body("slide", 1.0, (0.1, 0.1, 0.1), r=(2.0, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    rail = system.add(TJ("rail", system.ground, slide, point=(2.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(Coupling("link", {pin: 0.3, rail: -1.0}))
    system.add(mbd.JointLimit("stop", pin, lower=lower, restitution=0.5))
    return system


def spinning_top():
    """A body on a ball joint at its centre of mass, at the origin."""
    system = mbd.System("top")
    top = system.add(mbd.Body("top", 1.0, J_BOX, omega_bar=(0.1, 5.0, 0.1)))
    system.add(SJ("ball", system.ground, top, point=(0.0, 0.0, 0.0)))
    return system


def controlled(mass=1.0, k=2.0, axis=(0.0, 1.0, 0.0), sensor=False):
    """A bar that a PID controller holds, whose set point depends on the torque of a spring."""
    system = mbd.System("controlled", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", mass, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=axis))
    system.add(mbd.RSDA("coil", pin, k=k, theta0=0.3))
    system.add(mbd.PID("controller", "pin.angle", 0.5, kp=20.0, ki=5.0, kd=3.0, tau=0.01))
    lag = system.add(
        mbd.Block("lag", 0.0, derivative=_lag, outputs={"torque": lambda t, x, signals: -x[0] + 0.1 * signals["coil.torque"]})
    )
    system.add(mbd.RSDA("drive", pin, actuator=lag["torque"]))
    if sensor:
        system.add(mbd.Sensor("height", lambda t, state: state.r[1, 2]))
    return system


def _lag(t, x, signals):
    """A first order lag of the controller's output."""
    return (signals["controller.out"] - x[0]) / 0.05
