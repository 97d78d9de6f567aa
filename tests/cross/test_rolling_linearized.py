"""Small motions about rolling: the bicycle of Meijaard et al. (2007), discs in closed form, and differences of the nonlinear motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import haugmbd as mbd
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from joints import RJ, TJ, KnifeEdge, Planar, RollingDisc, RollingSphere
from tests.support import bicycle
from tests.support.bicycle import straight_ahead

PRINTED = 1e-13
"""Relative error of the printed matrices, which have 14 digits."""
LINEAR = 1e-9
"""Relative error of eigenvalues: K by differences has about 1e-10, eigenvalues near zero some 1e2 times that."""
SMALL = 1e-5
"""Size of a lean rate [rad/s]: terms of second order are 1e-5 of the linear ones."""

G, RADIUS, MASS = 9.81, 0.2, 1.0
ACROSS, ABOUT = MASS * RADIUS**2 / 4.0, MASS * RADIUS**2 / 2.0


def test_the_formulas_of_the_paper_give_its_matrices():
    for name, matrix in bicycle.linear_equations().items():
        np.testing.assert_allclose(matrix, bicycle.PUBLISHED[name], rtol=PRINTED, atol=1e-13, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("v", [0.0, 2.0, 4.6, 8.0])
def test_a_bicycle_has_the_published_eigenvalues(v):
    found = mbd.linearize(bicycle.bicycle(v), steady=straight_ahead(v) if v else None)
    wanted = np.linalg.eigvals(bicycle.state_matrix(v))
    wanted = np.sort_complex(wanted[wanted.imag >= 0.0])
    moving = np.sort_complex(found.eigenvalues[np.abs(found.eigenvalues) > 0.0])
    np.testing.assert_allclose(moving, wanted, rtol=LINEAR, atol=LINEAR)
    assert found.dof == 3
    assert found.stable == bool((wanted.real < 0.0).all())
    if v:
        steady = mbd.equilibrium(bicycle.bicycle(v), steady=straight_ahead(v))
        assert (steady.stability is mbd.Stability.UNSTABLE) is not found.stable
        np.testing.assert_allclose(steady.eigenvalues, found.eigenvalues, rtol=LINEAR, atol=LINEAR)
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(found.A)))[-1], np.abs(wanted).max(), rtol=LINEAR)


@pytest.mark.slow
def test_a_bicycle_moves_by_the_linear_equations_if_it_is_pushed_a_little():
    v, end = 5.0, 1.0
    result = mbd.simulate(bicycle.bicycle(v, lean_rate=SMALL), end, h=2e-3, project_velocity=True)
    A = result["frame"].A
    lean, steer = np.arcsin(-A[:, 1, 2]), result.joint("steering").angle
    rate = np.array([result["frame"].omega[0, 0], result.joint("steering").rate[0]])  # after the projection of the push on the rows
    x = np.array([expm(bicycle.state_matrix(v) * t) @ (0.0, 0.0, *rate) for t in result.t])
    assert np.abs(x[:, 0]).max() > 0.1 * SMALL
    np.testing.assert_allclose(lean, x[:, 0], atol=1e-3 * np.abs(x[:, 0]).max())
    np.testing.assert_allclose(steer, x[:, 1], atol=1e-3 * np.abs(x[:, 1]).max())


def upright(v):
    """A thin disc that rolls along x."""
    system = mbd.System("disc", gravity=(0, 0, -G))
    body = mbd.Body("disc", MASS, (ACROSS, ABOUT, ACROSS), r=(0, 0, RADIUS), v=(v, 0, 0), omega_bar=(0, v / RADIUS, 0))
    system.add(RollingDisc("roll", system.add(body), center=(0, 0, RADIUS), axis=(0, 1, 0), radius=RADIUS))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.5, 0.9, 1.2, 3.0])
def test_a_disc_that_rolls_upright_falls_below_the_speed_of_routh(part):
    critical = np.sqrt(G * RADIUS / 3.0)
    v = part * critical
    found = mbd.linearize(upright(v), steady=[mbd.UniformTranslation((v, 0, 0)), mbd.RotorSpin("disc", (0, v / RADIUS, 0))])
    square = MASS * G * RADIUS * ACROSS - ABOUT * (ABOUT + MASS * RADIUS**2) * (v / RADIUS) ** 2
    square /= ACROSS * (ACROSS + MASS * RADIUS**2)  # Routh (1884): lean'' = square * lean
    moving = found.eigenvalues[np.abs(found.eigenvalues) > 0.0]
    wanted = [np.sqrt(square), -np.sqrt(square)] if square > 0.0 else [1j * np.sqrt(-square)]
    np.testing.assert_allclose(np.sort_complex(moving), np.sort_complex(np.array(wanted, dtype=complex)), rtol=LINEAR, atol=LINEAR)
    assert found.stable == (part > 1.0)


def leaning(lean, omega):
    """A thin disc that heads along x with its contact point at the origin, leaning about x, with an angular velocity (global)."""
    p = from_axis_angle(np.array([1.0, 0.0, 0.0]), lean)
    A = rotation_matrix(p)
    centre = A @ (0, 0, RADIUS)
    system = mbd.System("disc", gravity=(0, 0, -G))
    v = np.cross(omega, centre)
    body = mbd.Body("disc", MASS, (ACROSS, ABOUT, ACROSS), r=centre, p=p, v=v, omega_bar=A.T @ omega)
    system.add(RollingDisc("roll", system.add(body), center=centre, axis=A[:, 1], radius=RADIUS))
    return system, A, centre, v


def rates(x):
    """The rates of (lean, its rate, turn about z, spin) by the accelerations of the nonlinear model."""
    lean, lean_dot, turn, spin = x
    z, e, a = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, np.cos(lean), np.sin(lean)])
    omega = turn * z + lean_dot * e + spin * a
    system, A, _, _ = leaning(lean, omega)
    omega_dot = A @ mbd.accelerations(system.compile()).omega_bar_dot[1]
    moving = lean_dot * turn * np.cross(z, e) + spin * np.cross(turn * z + lean_dot * e, a)
    second = np.linalg.solve(np.stack([e, z, a], axis=1), omega_dot - moving)
    return np.array([lean_dot, *second])


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "turn", "stable"), [(0.25, 3.0, False), (0.2, 1.0, True)])
def test_a_disc_in_a_steady_circle_has_the_eigenvalues_of_the_differences_of_its_nonlinear_motion(lean, turn, stable):
    wanted = brentq(lambda spin: rates((lean, 0.0, turn, spin))[1], -60.0, 60.0, xtol=1e-13)
    omega = np.array([0.0, wanted * np.cos(lean), turn + wanted * np.sin(lean)])
    system, _, centre, v = leaning(lean, omega)
    middle = centre + np.cross((0, 0, 1), v) / turn
    found = mbd.linearize(system, steady=[mbd.UniformRotation((0, 0, turn), point=middle), mbd.RotorSpin("disc", (0, wanted, 0))])
    h, x = 1e-4, np.array([lean, 0.0, turn, wanted])
    J = np.array([(rates(x + h * e) - rates(x - h * e)) / (2.0 * h) for e in np.eye(4)]).T
    differences = np.linalg.eigvals(J)
    differences = np.sort_complex(differences[(np.abs(differences) > 1e-3) & (differences.imag >= 0.0)])
    moving = np.sort_complex([one for one in found.eigenvalues if min(abs(one), abs(one - 1j * turn)) > 1e-3])
    np.testing.assert_allclose(moving, differences, atol=1e-5)  # i turn is another circle, seen from this one
    assert found.stable == stable == bool(len(moving) == 1)


@pytest.mark.slow
def test_a_ball_in_a_bowl_of_springs_swings_with_seven_fifths_of_its_mass():
    system = mbd.System("ball", gravity=(0, 0, -G))
    J = 0.4 * MASS * RADIUS**2
    ball = system.add(mbd.Body("ball", MASS, (J, J, J), r=(0, 0, RADIUS)))
    system.add(RollingSphere("roll", ball, center=(0, 0, RADIUS), radius=RADIUS))
    for k, direction in enumerate(((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))):
        end = 5.0 * np.array(direction) + (0, 0, RADIUS)
        system.add(mbd.TSDA(f"spring {k}", system.ground, ball, point_i=end, point_j=(0, 0, RADIUS), k=30.0, l0=5.0))
    found = mbd.linearize(system)
    moving = found.eigenvalues[np.abs(found.eigenvalues) > 0.0]
    np.testing.assert_allclose(moving, [1j * np.sqrt(60.0 / (1.4 * MASS))] * 2, rtol=LINEAR)


def test_a_train_of_translation_without_velocity_rows_is_that_of_a_state_at_rest():
    """A pendulum on a carriage that moves uniformly swings as one that hangs at rest."""
    system = mbd.System("carriage", gravity=(0, 0, -G))
    cart = system.add(mbd.Body("cart", 2.0, (1, 1, 1)))
    bob = system.add(mbd.Body("bob", 1.0, (0.1, 0.1, 0.1), r=(0, 0, -0.5)))
    system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("pin", cart, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    rest = mbd.linearize(system)
    found = mbd.linearize(system, steady=mbd.UniformTranslation((3.0, 0, 0)))
    np.testing.assert_allclose(found.eigenvalues, rest.eigenvalues, rtol=LINEAR, atol=1e-9)
    assert mbd.equilibrium(system, steady=mbd.UniformTranslation((3.0, 0, 0))).state.v[1, 0] == pytest.approx(3.0)


@pytest.mark.slow
def test_wrong_steady_motions_are_refused_with_the_reason():
    system = upright(1.0)
    with pytest.raises(mbd.UsageError, match="does not fit joint 'roll'"):
        mbd.linearize(
            system,
            state=system.compile().state().replace(v=np.zeros((2, 3)), omega_bar=np.zeros((2, 3))),
            steady=[mbd.UniformTranslation((1.0, 0, 0))],
        )
    with pytest.raises(mbd.UsageError, match="1 UniformTranslation and 1 UniformRotation: the mechanism can turn"):
        mbd.linearize(system, steady=[mbd.UniformTranslation((1.0, 0, 0)), mbd.UniformRotation((0, 0, 1.0))])
    with pytest.raises(mbd.UsageError, match="velocity = .* must be three finite numbers"):
        mbd.linearize(system, steady=mbd.UniformTranslation((1.0, np.nan, 0)))


@pytest.mark.parametrize("v", [1.5, -1.5])
def test_a_sledge_is_unstable_where_its_centre_of_mass_trails_the_blade(v):
    """Chaplygin's sledge: (J + m a^2) omega' = -m a v omega, with the blade a behind the centre of mass."""
    m, J, a = 2.0, 0.3, 0.25
    system = mbd.System("sledge", gravity=(0, 0, -G))
    body = system.add(mbd.Body("sledge", m, (0.1, 0.2, J), v=(v, 0, 0)))
    system.add(Planar("ice", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(KnifeEdge("blade", body, point=(-a, 0, 0), direction=(1, 0, 0)))
    found = mbd.equilibrium(system, steady=mbd.UniformTranslation((v, 0, 0)))
    rate = -m * a * v / (J + m * a**2)
    np.testing.assert_allclose(found.eigenvalues[np.abs(found.eigenvalues) > 0.0], [rate], rtol=LINEAR)
    assert found.stability is (mbd.Stability.UNSTABLE if rate > 0.0 else mbd.Stability.INDIFFERENT)
    assert "of all small motions: eigenvalues" in str(found)


def test_a_skate_that_a_spring_holds_on_a_slope_keeps_its_heading():
    """The position along the blade is that of a scalar equation; no force turns the skate, and none stops it from being turned."""
    m, k, slope, heading = 2.0, 30.0, 0.3, 0.5
    along, end = np.array([np.cos(heading), np.sin(heading), 0.0]), np.array([-1.0, 0.0, 0.0])
    system = mbd.System("skate", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    body = system.add(mbd.Body("skate", m, (0.1, 0.1, 0.1)))
    system.add(Planar("ice", system.ground, body, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(KnifeEdge("blade", body, point=(0, 0, 0), direction=along))
    system.add(mbd.TSDA("spring", system.ground, body, point_i=end, point_j=(0, 0, 0), k=k, l0=1.0))

    def pull(s):
        d = s * along - end
        return m * G * np.sin(slope) * along[0] - k * (np.linalg.norm(d) - 1.0) * (d @ along) / np.linalg.norm(d)

    place = brentq(pull, 0.0, 1.0, xtol=1e-15)
    found = mbd.equilibrium(system)
    np.testing.assert_allclose(found.state.r[1], place * along, atol=1e-10)
    np.testing.assert_allclose(found.state.p[1], (1, 0, 0, 0), atol=1e-12)
    h = 1e-5
    stiffness = -(pull(place + h) - pull(place - h)) / (2.0 * h)
    assert np.abs(found.eigenvalues).max() == pytest.approx(np.sqrt(stiffness / m), rel=1e-7)
    assert found.stability is mbd.Stability.INDIFFERENT


@pytest.mark.parametrize("held_by", ["spring", "controller"])
def test_a_wheel_rolls_far_to_its_balance_on_a_slope(held_by):
    """A spring of 0.3 N m / rad in its axle, or an integral, holds wheel and carriage after nearly a turn; no force turns them."""
    radius, slope, k = 0.2, 0.3, 0.3
    system = mbd.System("cart", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    carriage = system.add(mbd.Body("carriage", 2.0, (0.1, 0.1, 0.1), r=(0, 0, radius)))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.01, 0.02, 0.01), r=(0, 0, radius)))
    system.add(Planar("plane", system.ground, carriage, point=(0, 0, radius), normal=(0, 0, 1)))
    axle = system.add(RJ("axle", carriage, wheel, point=(0, 0, radius), axis=(0, 1, 0)))
    system.add(RollingDisc("tyre", wheel, center=(0, 0, radius), axis=(0, 1, 0), radius=radius))
    torque = 3.0 * G * np.sin(slope) * radius
    if held_by == "spring":
        system.add(mbd.JointSpring("spring", axle, k=k))
    else:
        pid = system.add(mbd.PID("pid", "axle.angle", torque / k, kp=20.0, ki=10.0, kd=5.0, tau=0.01))
        system.add(mbd.Motor("motor", axle, torque=pid["out"]))
    found = mbd.equilibrium(system)
    np.testing.assert_allclose(found.state.r[1, :2], (radius * torque / k, 0.0), atol=1e-8)
    np.testing.assert_allclose(found.state.p[1], (1, 0, 0, 0), atol=1e-8)
    assert found.stability is mbd.Stability.INDIFFERENT
