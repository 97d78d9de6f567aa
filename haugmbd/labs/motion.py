r"""Exercises of labs 1, 3, 9 and 12: motion, reactions, drives, impulses, statistics.

A bar of length L on a pin, theta from the downward vertical, J = m L^2 / 3 (+ the thickness):
    released from horizontal                 force on the bar at once  m g / 4,      at the bottom  5 m g / 2
    driven with theta(t)                     torque  J theta'' + m g (L / 2) sin(theta)
    struck at a distance d from the pin      impulse of the pin  S (3 d / (2 L) - 1) along the blow
    released from theta_0, at the bottom     force  m g (1 + 3 (1 - cos(theta_0)) / 2)      slender
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.compiled.array_types import Array
from haugmbd.drivers import as_driver
from haugmbd.drivers.driver import Driver
from haugmbd.formulations.accelerations import accelerations
from haugmbd.gallery import double_pendulum
from haugmbd.labs.answers import Exercise, G, array, number, short
from haugmbd.study.sweeps.cells import RandomCells
from haugmbd.system.system import System

MASS, LENGTH, J_PIN = 78.0, 4.0, 104.01625 + 78.0 * 2.0**2
"""The bar of labs 1 and 3 [kg, m, kg m2]."""

POSE_TOL = 1e-9
"""Of accelerations of the same mechanism in two hands, relative to g."""
DRIVE_TOL = 1e-6
"""Of the values of a driver [rad, rad/s, rad/s2]."""


def elbow_force() -> float:
    """Return the force [N] in the second pin of the double pendulum at its release: bar 1 is level, bar 2 hangs and does not turn."""
    m2 = 39.0
    alpha = (MASS * G * LENGTH / 2.0 + m2 * G * LENGTH) / (J_PIN + m2 * LENGTH**2)
    return float(abs(m2 * (G - alpha * LENGTH)))


def judge_double_pendulum(given: Any) -> str:
    """Compare a system with the double pendulum, by its accelerations."""
    if not isinstance(given, System):
        return f"give a System, not {short(given)}"
    if len(given.bodies) != 3:
        return f"it has {len(given.bodies) - 1} bodies besides the ground, and two are asked for"
    freedom = mobility(given).degrees_of_freedom
    if freedom != 2:
        return f"it has {freedom} degrees of freedom, and two are asked for: print(mbd.mobility(system))"
    wanted = accelerations(double_pendulum().compile()).v_dot
    found = accelerations(given.compile()).v_dot
    if np.abs(found - wanted).max() <= POSE_TOL * G:
        return ""
    worst = int(np.abs(found - wanted).max(axis=1).argmax())
    return (
        f"its bodies begin to move otherwise: {given.bodies[worst].name!r} with {np.array2string(found[worst], precision=3)} m/s2. "
        "Compare masses, inertias, places and pins with the text"
    )


def drive_torque(t: Array) -> Array:
    """Return the torque [N m] that drives the bar as theta = pi / 4 cos(2 t)."""
    theta, theta_ddot = np.pi / 4.0 * np.cos(2.0 * t), -np.pi * np.cos(2.0 * t)
    torque: Array = J_PIN * theta_ddot + MASS * G * LENGTH / 2.0 * np.sin(theta)
    return torque


def largest_power() -> float:
    """Return the largest power of the drive [W]."""
    t = np.linspace(0.0, np.pi, 20001)
    return float(np.abs(drive_torque(t) * -np.pi / 2.0 * np.sin(2.0 * t)).max())


def judge_swing(given: Any) -> str:
    """Judge a drive that swings the bar by -pi / 2 in 2 s, with rest at both ends."""
    driver = given if isinstance(given, Driver) else as_driver(given)
    if driver.faults():
        return str(driver.faults()[0])
    wanted = np.array([[0.0, 0.0, 0.0], [-np.pi / 2.0, 0.0, 0.0]])
    found = driver.values(np.array([0.0, 2.0]))
    for k, t in enumerate((0.0, 2.0)):
        for name, x, right in zip(("f", "f'", "f''"), found[k], wanted[k], strict=True):
            if not abs(x - right) <= DRIVE_TOL:
                return f"{name}({t:g} s) is {x:.6g}, and it should be {right:.6g}"
    return ""


def elbow_impulse() -> float:
    """Return the impulse [N s] of the elbow of two rods (1 kg, 1 m, on a pin) on the lower one, when the tip is struck by 1 N s."""
    M = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]])  # of the absolute rates of straight rods
    first, second = np.linalg.solve(M, [-1.0, -1.0])
    return float(first + second / 2.0 + 1.0)  # m v2 = S + blow


def pin_ratios(theta: Array) -> Array:
    """Return the force at the bottom over the weight, for slender bars released at angles theta [rad]."""
    ratios: Array = 1.0 + 1.5 * (1.0 - np.cos(theta))
    return ratios


def released() -> Array:
    """Return the angles of lab 12 [rad]."""
    return np.array([cell["theta"] for cell in RandomCells({"theta": (0.2, 1.5)}, n=24, seed=1).cells()])


LAB1 = {
    "release": Exercise(
        "vertical force of the pin on the bar right after the release [N]",
        number(lambda: MASS * G / 4.0, 1e-3, "result.reaction('pin').force[0] is the force of the ground on the bar, global."),
    ),
    "largest": Exercise(
        "largest magnitude of the pin force during the swing [N]",
        number(lambda: 2.5 * MASS * G, 1e-3, "Take the norm of each row of the force, then the largest."),
    ),
    "system": Exercise("the double pendulum of the text, a System", judge_double_pendulum),
    "elbow": Exercise(
        "magnitude of the force in the second pin at the release [N]",
        number(elbow_force, 1e-3, "Bar 2 does not turn at first: its weight less mass times acceleration is what the pin carries."),
    ),
}

LAB3 = {
    "torque": Exercise(
        "torque of the drive at t = 0 [N m], positive along the coordinate",
        number(lambda: float(drive_torque(np.array(0.0))), 1e-6, "J is about the pin: J_C + m (L/2)^2."),
    ),
    "power": Exercise(
        "largest magnitude of the power of the drive [W]",
        number(largest_power, 2e-3, "Power is torque times rate; look at more instants than the ends of the swing."),
    ),
    "driver": Exercise("a function f(t) that turns the bar by -pi/2 in 2 s, with f' = f'' = 0 at both ends", judge_swing),
}

LAB9 = {
    "sweet spot": Exercise(
        "distance from the pin [m] at which a blow on the rod of 1 m leaves the pin without impulse",
        number(lambda: 2.0 / 3.0, 2e-3, "The impulse of the pin is linear in the distance: find where it changes its sign."),
    ),
    "elbow": Exercise(
        "impulse of the elbow on the lower rod along y [N s]",
        number(elbow_impulse, 1e-3, "struck.joint('hinge 2').force is the impulse on the second body of the joint."),
    ),
    "rest": Exercise(
        "time until the ball lies still [s]",
        number(
            lambda: float(np.sqrt(2.0 / G) * 1.7 / 0.3),
            1e-3,
            "The first fall, then flights whose durations are a geometric series.",
        ),
    ),
}

LAB12 = {
    "mean": Exercise(
        "mean of the ratio over the 24 cells",
        number(lambda: float(pin_ratios(released()).mean()), 1e-4, "Take table['ratio'] of all cells."),
    ),
    "spread": Exercise(
        "standard deviation of the ratio, with n - 1",
        number(lambda: float(pin_ratios(released()).std(ddof=1)), 1e-3, "np.std divides by n unless ddof=1 is given."),
    ),
    "ratios": Exercise(
        "the ratios of the grid theta = 0.5, 1.0, 1.5 rad, in this order",
        array(lambda: pin_ratios(np.array([0.5, 1.0, 1.5])), 1e-4, "Angles are from the downward vertical."),
    ),
}
