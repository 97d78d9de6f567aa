"""Rolling on and in cylinders and spheres: closed forms, own equations of a marble, the golfer's dilemma, files, mirrors, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, Planar, RollingOnCylinder, RollingOnSphere, RotationDriver

G, M, R = 9.81, 0.7, 0.1
J = 0.4 * M * R**2
FINE = {"rtol": 1e-11, "atol": 1e-13}
OWN = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
RADIUS = 0.9


def ball(center, **motion):
    """A ball of radius R."""
    system = mbd.System("ball", gravity=(0, 0, -G))
    return system, system.add(mbd.Body("ball", M, (J, J, J), r=center, **motion))


def in_pipe(theta, *, inside=True, axis=(0, 1, 0), surface="cylinder"):
    """A ball at an angle from the vertical, on top of or at the bottom of a cylinder along y, or a sphere."""
    rho = RADIUS - R if inside else RADIUS + R
    center = rho * np.array([np.sin(theta), 0, -np.cos(theta) if inside else np.cos(theta)])
    system, marble = ball(center)
    if surface == "cylinder":
        how = {"point": (0, 0.3, 0), "axis": axis, "cylinder_radius": RADIUS}
        system.add(RollingOnCylinder("rolls", marble, center=center, radius=R, inside=inside, **how))
    else:
        how = {"sphere_center": (0, 0, 0), "sphere_radius": RADIUS}
        system.add(RollingOnSphere("rolls", marble, center=center, radius=R, inside=inside, **how))
    return system, rho


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["cylinder", "sphere"])
@pytest.mark.parametrize("theta", [1e-3, 1.2])
def test_a_ball_in_a_pipe_or_bowl_swings_as_a_pendulum_of_seven_fifths(surface, theta):
    system, rho = in_pipe(theta, surface=surface)
    result = mbd.simulate(system, 2.0, **FINE)
    own = solve_ivp(lambda t, y: [y[1], -5 * G / (7 * rho) * np.sin(y[0])], (0, 2), [theta, 0.0], **OWN)
    angle = np.arctan2(result["ball"].r[-1, 0], -result["ball"].r[-1, 2])
    assert angle == pytest.approx(own.y[0, -1], abs=1e-9)
    spin = (rho / R) * own.y[1, -1]
    assert abs(result["ball"].omega[-1, 1]) == pytest.approx(abs(spin), abs=1e-7)
    assert np.abs(result.energy().drift).max() < 1e-9
    if theta < 0.01:
        frequency = np.sqrt(5 * G / (7 * rho))
        assert angle == pytest.approx(theta * np.cos(2.0 * frequency), abs=1e-3 * theta)


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["cylinder", "sphere"])
def test_a_ball_that_rolls_off_presses_by_the_law_of_seventeen_and_ten(surface):
    system, _ = in_pipe(0.2, inside=False, surface=surface)
    result = mbd.simulate(system, 0.7, **FINE)
    r = result["ball"].r
    cosine = r[:, 2] / np.hypot(r[:, 0], r[:, 2])
    normal = np.sum(result.reaction("rolls").force * r, axis=1) / np.linalg.norm(r, axis=1)
    # energy: 7/10 v^2 = g rho (cos 0.2 - cos theta)
    assert normal == pytest.approx(M * G * (17.0 * cosine - 10.0 * np.cos(0.2)) / 7.0, abs=1e-6)
    assert cosine.min() < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("start", [(0.5, 1.0, 3.0), (1.4, -0.4, -20.0)])
def test_a_marble_in_a_bowl_moves_by_its_own_equations(start):
    """n' = (r / rho) n x w;  w' = 5 / (2 m r) n x F,  F = 2/7 m P (r n' x w + g e_z), P across n; over the places where tangents change."""
    theta, rate, spin = start
    rho, e = RADIUS - R, np.array([0.0, 0.0, 1.0])
    n = np.array([np.sin(theta), 0.0, -np.cos(theta)])
    v = rho * rate * np.array([0.0, 1.0, 0.0])
    w = np.cross(v, n) / R + spin * n  # v = r n x w
    system, marble = ball(rho * n, v=v, omega_bar=w)
    how = {"sphere_center": (0, 0, 0), "sphere_radius": RADIUS, "inside": True}
    system.add(RollingOnSphere("bowl", marble, center=rho * n, radius=R, **how))
    result = mbd.simulate(system, 3.0, **FINE)

    def rates(t, y):
        n, w = y[:3], y[3:]
        n_dot = R / rho * np.cross(n, w)
        a = R * np.cross(n_dot, w) + G * e
        F = 2.0 / 7.0 * M * (a - (n @ a) * n)
        return [*n_dot, *(5.0 / (2.0 * M * R) * np.cross(n, F))]

    own = solve_ivp(rates, (0, 3), [*n, *w], **OWN)
    assert result["ball"].r[-1] == pytest.approx(rho * own.y[:3, -1], abs=1e-8)
    assert result["ball"].omega[-1] == pytest.approx(own.y[3:, -1], abs=1e-6)
    assert np.abs(result.violation("velocity")).max() < 1e-9
    turned = {int(np.argmin(np.abs(r))) for r in result["ball"].r}
    assert len(turned) > 1  # another tangent


@pytest.mark.slow
def test_a_ball_in_a_vertical_pipe_comes_up_again():
    """The golfer's dilemma: it circles at the rate f, and rises and falls with the frequency f sqrt(2/7)."""
    rho, f = RADIUS - R, 6.0
    system, marble = ball((rho, 0, 0), v=(0, rho * f, 0), omega_bar=(0, 0, -rho * f / R))
    system.add(
        RollingOnCylinder(
            "pipe", marble, center=(rho, 0, 0), radius=R, point=(0, 0, 0), axis=(0, 0, 1), cylinder_radius=RADIUS, inside=True
        )
    )
    result = mbd.simulate(system, 3.0, **FINE)
    q = f * np.sqrt(2.0 / 7.0)
    z = -5.0 * G / (7.0 * q**2) * (1.0 - np.cos(q * result.t))
    assert result["ball"].r[:, 2] == pytest.approx(z, abs=1e-7)
    assert np.arctan2(result["ball"].r[-1, 1], result["ball"].r[-1, 0]) == pytest.approx(
        (3.0 * f + np.pi) % (2 * np.pi) - np.pi, abs=1e-7
    )


@pytest.mark.slow
def test_a_roller_in_a_drum_that_turns_stays_where_the_load_of_friction_is_none():
    """A roller guided in the plane, in a drum that speeds up by a: it stays at sin theta with m g sin theta = F, F r = J a rho_d / r."""
    rho, a = RADIUS - R, 2.0
    inertia = 0.5 * M * R**2
    # at rest in space: the roller turns with the rim, r w' = RADIUS a, and the rim's friction F = J w' / r holds it
    sine = inertia * RADIUS * a / R**2 / (M * G)
    center = rho * np.array([sine, 0, -np.sqrt(1 - sine**2)])
    system = mbd.System("drum", gravity=(0, 0, -G))
    drum = system.add(mbd.Body("drum", 5.0, (3, 3, 3)))
    axle = system.add(RJ("axle", system.ground, drum, point=(0, 0, 0), axis=(0, -1, 0)))
    system.add(RotationDriver("speed", axle, mbd.Expression("0.5 * 2 * t * t")))
    roller = system.add(mbd.Body("roller", M, (inertia, inertia, inertia), r=center))
    system.add(Planar("plane", system.ground, roller, point=center, normal=(0, 1, 0)))
    inside = {"point": (0, 0, 0), "axis": (0, 1, 0), "cylinder_radius": RADIUS, "inside": True}
    system.add(RollingOnCylinder("rolls", roller, center=center, radius=R, **inside, surface_body=drum))
    assert mbd.mobility(system).degrees_of_freedom == 1
    result = mbd.simulate(system, 1.0, **FINE)
    assert result["roller"].r == pytest.approx(np.tile(center, (len(result.t), 1)), abs=1e-8)
    assert abs(result["roller"].omega[-1, 1]) == pytest.approx(RADIUS * a / R, rel=1e-8)


def test_two_free_balls_keep_momentum_and_energy_and_files_keep_all(tmp_path):
    system = mbd.System("balls")
    a = system.add(mbd.Body("a", 2.0, (0.3, 0.3, 0.3), omega_bar=(0.5, 0, 1.0)))
    b = system.add(mbd.Body("b", M, (J, J, J), r=(0, 0, RADIUS + R), v=(0.3, 0.2, 0), omega_bar=(1, -2, 3)))
    joint = RollingOnSphere("rolls", b, center=b.r, radius=R, sphere_center=(0, 0, 0), sphere_radius=RADIUS, surface_body=a)
    system.add(joint)
    result = mbd.simulate(system, 1.0, h=1e-2, project_velocity=True)
    momentum = result.momentum()
    assert np.abs(momentum.linear - momentum.linear[0]).max() < 1e-12
    assert np.abs(momentum.angular - momentum.angular[0]).max() < 1e-7
    assert np.abs(result.energy().drift).max() < 1e-7
    read = mbd.load_model(system.save(tmp_path / "balls.json"))
    again = mbd.simulate(read, 1.0, h=1e-2, project_velocity=True)
    assert np.array_equal(again.y, result.y)


def test_bad_input_is_told_by_name():
    good = {
        "center": (RADIUS - R, 0, 0),
        "radius": R,
        "point": (0, 0, 0),
        "axis": (0, 1, 0),
        "cylinder_radius": RADIUS,
        "inside": True,
    }
    for change, words in (
        ({"radius": -R}, "radius"),
        ({"radius": 2.0}, "does not roll inside"),
        ({"axis": (0, 0, 0)}, "axis"),
        ({"center": (0, 0.2, 0)}, "middle of the surface"),
        ({"cylinder_radius": 1.5}, "'rolls'"),
        ({"inside": 1}, "inside"),
    ):
        system, marble = ball((RADIUS - R, 0, 0))
        system.add(RollingOnCylinder("rolls", marble, **(good | change)))
        with pytest.raises(mbd.ModelError, match="rolls") as raised:
            system.compile()
        assert words in str(raised.value)
    with pytest.raises(mbd.UsageError, match="surface_body"):
        RollingOnCylinder("rolls", marble, **good, surface_body="drum")
