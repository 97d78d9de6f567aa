"""Bodies whose pose is given in time, against paths by hand and equations of their own integrated by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import Body, System
from haugmbd.math.euler_parameters import rotation_matrix
from joints import RJ, PoseDriver

G = 9.81
FINE = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
AGREE = 1e-8
"""Difference from an integration of its own [m]."""
EXACT = 1e-9
"""Difference of a driven pose from its functions: the tolerance of the projection, and rounding."""


def A_of(roll, pitch, yaw):
    c, s = np.cos, np.sin
    A_x = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    A_y = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    A_z = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    return A_z @ A_y @ A_x


def test_a_pendulum_on_a_ship():
    heave, sway, roll = (lambda t: 0.5 * np.sin(1.3 * t)), (lambda t: 0.3 * np.sin(0.9 * t)), (lambda t: 0.35 * np.sin(1.1 * t))
    h, l, m, J = 1.2, 0.8, 2.0, 0.05  # noqa: E741

    def rates(t, y):
        a, A, w = roll(t), 0.35, 1.1
        d, dd = A * w * np.cos(w * t), -A * w * w * np.sin(w * t)
        a_y = -0.3 * 0.81 * np.sin(0.9 * t) + h * (-dd * np.cos(a) + d**2 * np.sin(a))
        a_z = -0.5 * 1.69 * np.sin(1.3 * t) + h * (-dd * np.sin(a) - d**2 * np.cos(a))
        return [y[1], -m * l * ((a_z + G) * np.sin(y[0]) + a_y * np.cos(y[0])) / (J + m * l * l)]

    t = np.linspace(0, 4, 21)
    system = System("ship", gravity=(0, 0, -G))
    hull = system.add(Body("hull", 1e4, (1e4,) * 3))
    bob = system.add(Body("bob", m, (J, J, J), r=(0, l * np.sin(0.2), h - l * np.cos(0.2))))
    system.add(RJ("pin", hull, bob, point=(0, 0, h), axis=(1, 0, 0)))
    system.add(PoseDriver("sea", hull, r=(0.0, sway, heave), orientation=(roll, 0.0, 0.0)))
    model = system.compile()
    result = mbd.simulate(model, 4.0, t_eval=t, integrator=mbd.DOP853(rtol=1e-11, atol=1e-12), project_velocity=True)
    y = solve_ivp(rates, (0, 4), [0.2, result["bob"].omega_bar[0, 0]], t_eval=t, **FINE).y
    pivot = np.stack([sway(t) - h * np.sin(roll(t)), heave(t) + h * np.cos(roll(t))], -1)
    assert np.abs(result["bob"].r[:, 1:] - pivot - l * np.stack([np.sin(y[0]), -np.cos(y[0])], 1)).max() < AGREE


ANGLES = (lambda t: 0.3 * np.sin(1.1 * t), lambda t: 0.4 * np.sin(0.7 * t), lambda t: 2.0 * t)
PLACES = (np.sin, lambda t: 0.3 * t**2, lambda t: 0.1 * np.cos(2 * t) - 0.1)


def forms():
    """The same six motions, in every form."""
    t = np.linspace(-0.2, 4.2, 300)
    angles, places = np.stack([f(t) for f in ANGLES], 1), np.stack([f(t) for f in PLACES], 1)

    def parameters(s):
        c, d = [np.cos(0.5 * f(s)) for f in ANGLES], [np.sin(0.5 * f(s)) for f in ANGLES]
        (c1, c2, c3), (s1, s2, s3) = c, d
        return (
            c1 * c2 * c3 + s1 * s2 * s3,
            s1 * c2 * c3 - c1 * s2 * s3,
            c1 * s2 * c3 + s1 * c2 * s3,
            c1 * c2 * s3 - s1 * s2 * c3,
        )

    p = np.stack(parameters(t), 1)
    return {
        "three functions": {"r": PLACES, "orientation": ANGLES},
        "one function": {"r": lambda s: tuple(f(s) for f in PLACES), "orientation": lambda s: tuple(f(s) for f in ANGLES)},
        "Euler parameters": {"r": PLACES, "orientation": parameters},
        "of any length": {"r": PLACES, "orientation": lambda s: tuple((2.0 + np.sin(s)) * x for x in parameters(s))},
        "record of angles": {"r": (t, places), "orientation": (t, angles)},
        "record of parameters": {"r": (t, places), "orientation": (t, p * np.sign(np.sin(9.0 * t) + 0.3)[:, None])},
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", list(forms()))
def test_every_form_gives_the_pose_and_its_rates_through_whole_turns(form):
    system = System("flight")
    body = system.add(Body("body", 2.0, (0.1, 0.2, 0.25)))
    system.add(PoseDriver("record", body, **forms()[form]))
    allowed = 1e-6 if form.startswith("record") else EXACT  # the spline through three hundred points
    result = mbd.simulate(system, 4.0, h=1e-2, project_velocity=True)
    for k in (0, 150, 400):
        t = result.t[k]
        assert np.abs(result["body"].r[k] - [f(t) for f in PLACES]).max() < allowed
        assert np.abs(rotation_matrix(result["body"].p[k]) - A_of(*(f(t) for f in ANGLES))).max() < 10 * allowed
        e = 1e-5
        A, D = A_of(*(f(t) for f in ANGLES)), (A_of(*(f(t + e) for f in ANGLES)) - A_of(*(f(t - e) for f in ANGLES))) / (2 * e)
        W = A.T @ D
        assert np.abs(result["body"].omega_bar[k] - [W[2, 1], W[0, 2], W[1, 0]]).max() < (
            1e-4 if form.startswith("record") else 1e-8
        )


def test_a_point_off_the_centre_and_the_force_of_a_shake_table():
    """m r'' of the centre of mass is what the driver gives."""
    system = System("table", gravity=(0, 0, -G))
    table = system.add(Body("table", 5.0, (1.0, 1.0, 1.0), r=(0.2, 0, 0.1)))
    system.add(PoseDriver("shaker", table, r=(lambda t: 0.01 * np.sin(20.0 * t), 0.0, 0.0), point=(0, 0, 0)))
    result = mbd.simulate(system, 0.5, h=1e-3, project_velocity=True)
    force = result.reaction("shaker", on="table").force
    assert force[:, 0] == pytest.approx(-5.0 * 0.01 * 400.0 * np.sin(20.0 * result.t), abs=1e-6)
    assert force[:, 2] == pytest.approx(5.0 * G, rel=1e-9)
    assert result["table"].r[-1] == pytest.approx([0.2 + 0.01 * np.sin(10.0), 0, 0.1], abs=1e-9)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"r": 3.0}, "r is 3.0"),
        ({"r": (1.0, 2.0)}, "r is"),
        ({"orientation": "up"}, "orientation is 'up'"),
        ({"orientation": lambda t: (1.0, 0.0)}, "orientation is"),
        ({"orientation": lambda t: 1 / 0}, "ZeroDivisionError"),
        ({"orientation": (0.0, 0.0, 0.0, 0.0)}, "all zero"),
        ({"r": ((0.0, 1.0, 0.5), np.zeros((3, 3)))}, "increas"),
        ({"r": (1.0, 0.0, 0.0)}, "1 m"),
        ({"orientation": (0.5, 0.0, 0.0)}, "sea"),
    ],
)
def test_what_is_no_pose_or_another_one_than_modelled_is_refused(how, words):
    system = System("ship")
    hull = system.add(Body("hull", 1.0, (1, 1, 1)))
    system.add(PoseDriver("sea", hull, **how))
    found = [f"{fault.where}: {fault.what} {fault.remedy}" for fault in system.faults()]
    assert found
    assert words in " ".join(found)
