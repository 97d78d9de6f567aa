"""Wheels on plane curves against ODEs of their own, and against rolling on cylinders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.viewer.mechanism import of_system
from haugmbd.viewer.scene import size_of
from haugmbd.viewer.shapes import shapes_of, triangles_of
from joints import RJ, RollingOnCurve, RollingOnCylinder

G, R, M, J = 9.81, 0.1, 2.0, 0.012
ACROSS = np.array([0.0, -1.0, 0.0])


def track(x):
    return np.array([x, 0.0, 0.3 * np.cos(2.0 * x)])


def contact(x, side):
    """Return |c'|, t, n towards the wheel and kappa of the track at x."""
    slope, bend = np.array([1.0, 0.0, -0.6 * np.sin(2.0 * x)]), np.array([0.0, 0.0, -1.2 * np.cos(2.0 * x)])
    size = np.linalg.norm(slope)
    n = side * np.cross(ACROSS, slope / size)
    return size, slope / size, n, side * ACROSS @ np.cross(slope, bend) / size**3


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("given", ["points", "function"])
def test_a_wheel_on_waves_moves_by_its_own_equation(side, given):
    """(m + J / R^2) v' = -m g . t, v the speed of the centre along its parallel curve: v = |c'| (1 - kappa R) x'."""

    def rates(_, y):
        size, t, _, kappa = contact(y[0], side)
        return [y[1] / (size * (1.0 - kappa * R)), -M * G * t[2] / (M + J / R**2)]

    x0, v0 = 0.2, 0.3
    x, v = solve_ivp(rates, (0.0, 1.0), [x0, v0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    _, t, n, _ = contact(x0, side)
    system = mbd.System("waves", gravity=(0, 0, -G))
    place, spin = track(x0) + R * n, -side * v0 / R * ACROSS
    wheel = system.add(mbd.Body("wheel", M, (J / 2, J, J / 2), r=place, v=v0 * t, omega_bar=spin))
    curve = {"curve": track, "span": (-1.0, 5.0)} if given == "function" else {"curve": [track(x) for x in np.linspace(-1, 5, 121)]}
    system.add(RollingOnCurve("roll", wheel, center=place, radius=R, axis=ACROSS, **curve))
    assert mbd.mobility(system).degrees_of_freedom == 3  # along it, across it, and the spin of a ball
    result = mbd.simulate(system, 1.0, rtol=1e-9)
    assert result["wheel"].r[-1] == pytest.approx(track(x) + R * contact(x, side)[2], abs=1e-7)
    assert result["wheel"].omega[-1] == pytest.approx(-side * v / R * ACROSS, abs=1e-6)
    assert abs(result.energy().drift).max() < 1e-8


@pytest.mark.parametrize("inside", [True, False])
def test_on_a_circle_of_a_free_drum_it_is_rolling_on_a_cylinder(inside, tmp_path):
    big, small, angle = 1.0, 0.2, np.linspace(0.0, 2.0 * np.pi, 81)[:-1]
    place = (big - small if inside else big + small) * np.array([np.sin(0.9), 0.0, -np.cos(0.9)])
    made = []
    for kind in (RollingOnCylinder, RollingOnCurve):
        system = mbd.System("drum", gravity=(0, 0, -G))
        drum = system.add(mbd.Body("drum", 3.0, (0.3, 0.3, 0.3), omega_bar=(0, 0.5, 0)))
        ball = system.add(mbd.Body("ball", 0.5, (0.008,) * 3, r=place, v=(0, 0.3, 0)))
        system.add(RJ("axle", system.ground, drum, point=(0, 0, 0), axis=(0, 1, 0)))
        circle = big * np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
        of = {"curve": circle, "closed": True}
        if kind is RollingOnCylinder:
            of = {"point": (0, 0, 0), "cylinder_radius": big, "inside": inside}
        system.add(kind("roll", ball, center=place, radius=small, axis=(0, 1, 0), surface_body=drum, **of))
        made.append(mbd.simulate(system, 0.5, h=2e-3, project_velocity=True))
    round_one, curved = made
    assert np.abs(curved["ball"].r - round_one["ball"].r).max() < 1e-8
    assert np.abs(curved["ball"].omega - round_one["ball"].omega).max() < 1e-7
    forces = [result.reaction("roll", on="ball").force for result in made]
    assert np.abs(forces[1] - forces[0]).max() < 1e-5
    again = mbd.simulate(mbd.load_model(system.save(tmp_path / "drum.json")), 0.1, h=2e-3, project_velocity=True)
    assert np.array_equal(again.y, curved.y[: len(again.t)])
    mirrored = mbd.System("mirrored", gravity=(0, 0, -G))
    mirrored.add(system, mirror="yz")
    image = mbd.simulate(mirrored, 0.1, h=2e-3, project_velocity=True)
    assert np.abs(image["ball"].r - again["ball"].r * [-1, 1, 1]).max() < 1e-12


def test_its_equations_in_symbols_are_those_of_the_kernel():
    pytest.importorskip("sympy")
    system = mbd.System("hollow", gravity=(0, 0, -G))
    x = np.linspace(-1.0, 1.0, 9)
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.3), v=(0.3, 0.1, 0), omega_bar=(-0.2, 1.0, 0.4)))
    curve = np.stack([x, 0.0 * x, 0.3 * x**2], axis=1)
    system.add(RollingOnCurve("roll", ball, center=ball.r, radius=0.3, axis=(0, 1, 0), curve=curve))
    rows, numbers = mbd.evaluate(system), mbd.equations(system).lambdify()()
    for what in ("Phi", "Phi_q", "nu", "gamma"):
        own = getattr(rows, what)
        own = own.toarray() if what == "Phi_q" else own
        assert np.reshape(getattr(numbers, what), own.shape) == pytest.approx(own, abs=1e-12)


def test_the_strip_that_is_drawn_touches_the_wheel():
    system = mbd.System("hollow")
    x = np.linspace(-1.0, 1.0, 21)
    body = system.add(mbd.Body("tray", 1.0, (1, 1, 1), r=(0, 0.2, 0.1), p=(np.cos(0.3), 0, 0, np.sin(0.3)), shape=()))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0.5, 0.3)))
    curve = np.stack([x, 0.0 * x, 0.3 * x**2], axis=1)
    system.add(RollingOnCurve("roll", ball, center=ball.r, radius=0.3, axis=(0, 1, 0), curve=curve, surface_body=body))
    mechanism = of_system(system)
    (shape,) = shapes_of(mechanism, size_of(mechanism, mechanism.r, mechanism.p))[1]
    corners = mechanism.r[1] + triangles_of(shape).reshape(-1, 3) @ rotation_matrix(mechanism.p[1]).T
    assert np.abs(corners[:, 2] - 0.3 * corners[:, 0] ** 2).max() < 1e-3
    assert corners[:, 1].min() < 0.5 < corners[:, 1].max()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"radius": -1.0}, "radius = -1 m is not positive"),
        ({"axis": (1, 0, 0)}, "the curve is not in a plane normal to axis"),
        ({"curve": [1.0, 2.0]}, "curve is not a table of points"),
        ({"curve": lambda x: (x, 0.0, x)}, "curve is a function, and its span is None"),
        ({"span": (0, 1)}, "span is given without a function"),
        ({"bend": 10.0}, "does not fit into the curve, whose radius of curvature is 0.04"),
        ({"radius": 0.25}, "its points are 0.05 m apart"),
    ],
)
def test_what_cannot_roll_is_refused_by_name(wrong, words):
    x, wrong = np.linspace(-1.0, 1.0, 21), dict(wrong)
    curve = np.stack([x, 0.0 * x, wrong.pop("bend", 0.0) * x**2], axis=1)
    system = mbd.System("floor")
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    given = {"center": ball.r, "radius": 0.2, "axis": (0, 1, 0), "curve": curve} | wrong
    system.add(RollingOnCurve("roll", ball, **given))
    with pytest.raises(mbd.ModelError) as caught:
        system.compile()
    assert words in str(caught.value)
    assert "joint 'roll'" in str(caught.value)


def test_a_wheel_that_leaves_the_curve_ends_the_run():
    system, x = mbd.System("floor", gravity=(1, 0, -1)), np.linspace(-1.0, 1.0, 21)
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    system.add(RollingOnCurve("roll", ball, center=ball.r, radius=0.2, axis=(0, 1, 0), curve=np.stack([x, 0 * x, 0 * x], axis=1)))
    with pytest.raises(mbd.SimulationError, match="joint 'roll': the point leaves the curve"):
        mbd.simulate(system, 20.0, h=1e-2)
