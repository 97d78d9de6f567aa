"""Angles of joints against closed forms, and what limits them: the formula of the angle, the solved positions, or the integration.

Three sources of the same motion: poses of the closed form itself (the error of the angle alone), kinematics (positions solved to
rounding), and simulate (the error of the integrator). Ten turns of a crank, of a Hooke joint, and of a planar four-bar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import exponential
from joints import RJ, SJ, UJ, Parallel, RotationDriver

ANGLE = 1e-12
"""[rad] Of all angles through ten turns: 20 pi is rounded by 7e-15, and positions of size 1 are solved to some 1e-14."""
U = np.linspace(0.0, 20.0 * np.pi, 601)
"""[rad] Angles of the input; its speed is 1 rad/s."""

Curve = Callable[[np.ndarray], np.ndarray]
X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass
class Motion:
    """A mechanism with a drive u = t; angles of joints and poses of bodies (axis, angle, centre of mass) as functions of u."""

    system: mbd.System
    angles: dict[str, Curve]
    poses: dict[str, tuple[np.ndarray, Curve, Curve]]

    def states(self, t):
        """The result whose poses are those of the closed form; velocities by differences, only good enough to count turns."""
        model = self.system.compile()
        start = model.state()
        r, p = np.tile(start.r, (len(t), 1, 1)), np.tile(start.p, (len(t), 1, 1))
        omega_bar = np.zeros_like(r)
        for k, name in enumerate(model.body_names[1:], start=1):
            axis, angle, place = self.poses[name]
            p[:, k], r[:, k] = exponential(angle(t)[:, None] * axis), place(t)
            omega_bar[:, k] = np.gradient(angle(t), t)[:, None] * axis
        y = np.concatenate([r, p, np.zeros_like(r), omega_bar], axis=2).reshape(len(t), -1)
        return mbd.Result(model, t, y)


def crank():
    system = mbd.System("crank")
    body = system.add(mbd.Body("crank", 1.0, (0.1, 0.2, 0.2), r=(0.1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=Z))
    system.add(RotationDriver("drive", pin, lambda t: t))
    place = lambda u: 0.1 * np.stack([np.cos(u), np.sin(u), 0.0 * u], axis=1)  # noqa: E731
    return Motion(system, {"pin": lambda u: u}, {"crank": (Z, lambda u: u, place)})


def hooke():
    """Input about x, output about an axis that is inclined by beta: tan v = tan u cos beta, with the input's arm along z as modelled."""
    beta = 0.5
    out, across = np.array([np.cos(beta), np.sin(beta), 0.0]), np.array([-np.sin(beta), np.cos(beta), 0.0])
    system = mbd.System("hooke")
    bodies = [system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1))) for name in ("in", "out")]
    pin = system.add(RJ("in pin", system.ground, bodies[0], point=(0, 0, 0), axis=X))
    system.add(UJ("cross", *bodies, point=(0, 0, 0), axis_i=Z, axis_j=across))
    system.add(Parallel("bearing", system.ground, bodies[1], axis=out))
    system.add(RotationDriver("drive", pin, lambda t: t))

    def output(u):
        v = np.arctan2(np.sin(u) * np.cos(beta), np.cos(u))
        return v + 2.0 * np.pi * np.round((u - v) / (2.0 * np.pi))  # never a quarter of a turn from the input

    def about_arm(u):
        """Of the cross, about the input's arm: it goes to and fro."""
        return np.arctan2(np.sin(beta) * np.cos(u), np.cos(beta)) - beta

    still = lambda u: np.zeros((len(u), 3))  # noqa: E731
    return Motion(system, {"in pin": lambda u: u, "cross": about_arm}, {"in": (X, lambda u: u, still), "out": (out, output, still)})


def four_bar():
    """Crank 1 m, coupler 2.5 m, rocker 2 m, ground 2.4 m: the loop closes at the intersection of two circles (Freudenstein)."""
    a, b, c, d, first = 1.0, 2.5, 2.0, 2.4, 1.1
    foot = np.array([d, 0.0])

    def points(u):
        P = a * np.stack([np.cos(first + u), np.sin(first + u)], axis=-1)
        gap = foot - P
        reach = np.hypot(*gap.T)
        v = np.arctan2(gap[..., 1], gap[..., 0]) + np.pi - np.arccos((reach**2 + c**2 - b**2) / (2.0 * reach * c))
        return P, foot + c * np.stack([np.cos(v), np.sin(v)], axis=-1)

    def turn(start, end):
        """The angle of a link from its modelled pose; coupler and rocker rock by less than a turn."""
        along, before = end - start, (end - start)[0]
        return np.arctan2(before[0] * along[:, 1] - before[1] * along[:, 0], along @ before)

    def coupler(u):
        P, Q = points(np.append(0.0, u))
        return turn(P, Q)[1:]

    def rocker(u):
        _, Q = points(np.append(0.0, u))
        return turn(foot, Q)[1:]

    def middle(pick):
        def place(u):
            start, end = pick(*points(u))
            return np.concatenate([0.5 * (start + end), np.zeros((len(u), 1))], axis=1)

        return place

    P, Q = points(np.zeros(1))
    system = mbd.System("four-bar")
    ends = {"crank": lambda P, Q: (0.0 * P, P), "coupler": lambda P, Q: (P, Q), "rocker": lambda P, Q: (Q, foot + 0.0 * Q)}
    body = {name: system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=middle(pick)(np.zeros(1))[0])) for name, pick in ends.items()}
    pin = system.add(RJ("A", system.ground, body["crank"], point=(0, 0, 0), axis=Z))
    system.add(RJ("B", body["crank"], body["coupler"], point=(*P[0], 0), axis=Z))
    system.add(SJ("C", body["coupler"], body["rocker"], point=(*Q[0], 0)))
    system.add(RJ("D", system.ground, body["rocker"], point=(*foot, 0), axis=Z))
    system.add(RotationDriver("drive", pin, lambda t: t))
    angles = {"A": lambda u: u, "B": lambda u: coupler(u) - u, "D": rocker}
    turned = {"crank": lambda u: u, "coupler": coupler, "rocker": rocker}
    return Motion(system, angles, {name: (Z, turned[name], middle(pick)) for name, pick in ends.items()})


MECHANISMS = [crank, hooke, four_bar]


def errors(motion, result):
    """The largest error of each angle [rad]; of a universal joint that about its first arm."""
    found = {name: result.joint(name).angle for name in motion.angles}
    return {
        name: np.abs((angle if angle.ndim == 1 else angle[:, 0]) - motion.angles[name](result.t)).max()
        for name, angle in found.items()
    }


@pytest.mark.parametrize("make", MECHANISMS)
def test_the_angle_of_exact_poses_is_exact(make):
    motion = make()
    worst = errors(motion, motion.states(U))
    assert max(worst.values()) < ANGLE, worst


@pytest.mark.slow
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("t", [U, U[::90]], ids=["dense", "three times a turn at most"])
def test_kinematics_has_the_angles_of_ten_turns_at_any_times(make, t):
    motion = make()
    worst = errors(motion, mbd.kinematics(motion.system, t))
    assert max(worst.values()) < ANGLE, worst


@pytest.mark.slow
def test_kinematics_counts_turns_backwards_and_from_afar():
    motion = four_bar()
    for t in (np.array([-31.0, -17.0, -3.0, 4.0, 29.0]), np.array([40.0, 60.0]), np.array([-50.0])):
        worst = errors(motion, mbd.kinematics(motion.system, t))
        assert max(worst.values()) < ANGLE, worst


def test_what_limits_a_run_is_its_integrator():
    """A wheel with a torque, 9 t - sin t: the error falls with the tolerance, while the angle is that of its Euler parameters."""
    system = mbd.System("rotor")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 8.0)))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=Z))
    system.add(mbd.Torque("motor", wheel, torque=lambda t: (0.0, 0.0, 0.2 * np.sin(t))))
    found = []
    for tol in (1e-6, 1e-9):
        result = mbd.simulate(system, 7.0, rtol=tol, atol=tol)
        angle = result.joint("pin").angle
        found.append(np.abs(angle - (9.0 * result.t - np.sin(result.t))).max())
        p = result["wheel"].p
        own = np.unwrap(2.0 * np.arctan2(p[:, 3], p[:, 0]), period=2.0 * np.pi)
        np.testing.assert_allclose(angle, own, rtol=0.0, atol=ANGLE)
    assert ANGLE < found[1] < 0.1 * found[0]
