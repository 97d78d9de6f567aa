"""Small motions against closed forms, against the accelerations' own differences, and against zero crossings of simulated runs."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh

import haugmbd as mbd
import haugmbd.analysis.equilibrium.small_motions.linearize as linearize_module
from haugmbd.analysis.equilibrium.small_motions.stages import STAGES
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.math import euler_parameters
from haugmbd.simulation.stepping.progress import Progress
from joints import RJ, SJ, TJ, RotationDriver
from tests.support.machines import chain_of_masses, g, governor, pendulum, rotor
from tests.support.swinging_loops import loops

CLOSED_FORM = 1e-10  # differences of sixth order leave 1e-12
CROSSINGS = 2e-6  # the amplitude of 1e-3 rad changes a period by a^2 / 16


def test_compound_pendulum():
    found = mbd.linearize(pendulum(mass=3.0, length=1.2, J=0.7))
    np.testing.assert_allclose(found.omega, [sqrt(3 * g * 1.2 / (0.7 + 3 * 1.44))], rtol=CLOSED_FORM)
    np.testing.assert_allclose(found.frequencies, found.omega / (2 * pi), rtol=1e-15)
    assert found.stable
    assert found.modes[0].zeta == 0.0
    assert str(found.modes[0]).startswith("mode 1: 0.4221 Hz (2.652 rad/s), zeta 0: 'bar' turns 1.00 about y")


def test_upside_down_it_grows_and_decays():
    found = mbd.linearize(pendulum(pi))
    rate = sqrt(3 * g * 1.2 / (0.7 + 3 * 1.44))
    np.testing.assert_allclose(sorted(found.eigenvalues.real), [-rate, rate], rtol=CLOSED_FORM)
    assert not found.stable
    assert "grows at 2.652 1/s" in str(found)
    assert "decays at 2.652 1/s" in str(found)


@pytest.mark.parametrize("c", [0.5, 3.0, 60.0])
def test_damped_pendulum(c):
    """J theta'' + c theta' + (k + m g L) theta = 0: below and above critical damping."""
    J, k = 0.7 + 3 * 1.44, 10.0 + 3 * g * 1.2
    found = mbd.linearize(pendulum(k=10.0, c=c))
    roots = np.roots([J, c, k])
    expected = roots[roots.imag >= 0]
    np.testing.assert_allclose(np.sort_complex(found.eigenvalues), np.sort_complex(expected), rtol=CLOSED_FORM)
    if c < 2 * sqrt(J * k):
        np.testing.assert_allclose(found.zeta, c / (2 * sqrt(J * k)), rtol=1e-9)
    for matrix, value in ((found.M, J), (found.C, c), (found.K, k)):
        scale = found.basis[0, 1, 4] ** 2  # the coordinate may be the displacement of the centre of mass
        np.testing.assert_allclose(matrix / scale, [[value]], rtol=CLOSED_FORM)


@pytest.mark.parametrize("omega", [1e-4, 1.0, 1e4, 1e7])
@pytest.mark.parametrize("zeta", [1e-6, 1e-2])
def test_damping_of_fast_and_slow_oscillators(omega, zeta):
    """A resonator of 1e7 rad/s had the damping ratio 5e-7 of rounding: velocities were measured by 1 rad/s."""
    system = mbd.System("resonator", gravity=(0, 0, 0))
    mass = system.add(mbd.Body("mass", 2.0, (0.1, 0.1, 0.1), r=(1.0, 0, 0)))
    system.add(TJ("slide", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    ends = {"point_i": (0, 0, 0), "point_j": (1.0, 0, 0)}
    system.add(mbd.TSDA("beam", system.ground, mass, **ends, k=2.0 * omega**2, c=4.0 * zeta * omega, l0=1.0))
    found = mbd.linearize(system)
    np.testing.assert_allclose(found.eigenvalues.imag, [omega * sqrt(1.0 - zeta**2)], rtol=CLOSED_FORM)
    np.testing.assert_allclose(found.zeta, [zeta], rtol=1e-5)  # the rounding of C is 1e-13 of the spring's forces


def test_double_pendulum():
    found = mbd.linearize(mbd.equilibrium(double_pendulum()))
    J1, J2 = 78 * (4**2 + 0.05**2) / 12, 39 * (2**2 + 0.05**2) / 12
    M = np.array([[J1 + 78 * 4 + 39 * 16, 39 * 4], [39 * 4, J2 + 39]])
    K = np.diag([78 * g * 2 + 39 * g * 4, 39 * g])
    squares, shapes = eigh(K, M)
    np.testing.assert_allclose(found.omega, np.sqrt(squares), rtol=1e-8)
    for mode, shape in zip(found.modes, shapes.T, strict=True):
        turns = mode.shape[1:, 3].real
        np.testing.assert_allclose(turns / turns[0], shape / shape[0], rtol=1e-8)
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(found.A)))[::2], np.sqrt(squares), rtol=1e-10)


def test_chain_of_masses_and_dampers():
    m, k, c = [2.0, 1.0, 3.0], [500.0, 300.0, 200.0], [1.0, 0.0, 4.0]
    found = mbd.linearize(chain_of_masses(m, k, c))

    def tridiagonal(x):
        return np.array([[x[0] + x[1], -x[1], 0], [-x[1], x[1] + x[2], -x[2]], [0, -x[2], x[2]]])

    A = np.block(
        [[np.zeros((3, 3)), np.eye(3)], [-np.diag(1 / np.array(m)) @ tridiagonal(k), -np.diag(1 / np.array(m)) @ tridiagonal(c)]]
    )
    expected = np.linalg.eigvals(A)
    expected = expected[expected.imag > 0]
    np.testing.assert_allclose(found.eigenvalues, expected[np.argsort(np.abs(expected))], rtol=1e-9)
    assert found.coordinates == tuple(f"'m{n}' moves along x [m]" for n in (1, 2, 3))
    for matrix, closed in ((found.M, np.diag(m)), (found.C, tridiagonal(c)), (found.K, tridiagonal(k))):
        np.testing.assert_allclose(matrix, closed, atol=1e-9 * np.abs(closed).max())
    np.testing.assert_allclose(found.A, A, atol=1e-9 * np.abs(A).max())


@pytest.mark.slow
@pytest.mark.parametrize("spin", [0.0, 3.0, 20.0, 200.0])
def test_gyroscopic_modes_of_a_rotor(spin):
    """J a'' - i Jp spin a' + k a = 0 for a = turn about x + i turn about y: one whirl forward, one backward, and the free spin."""
    system, disk, k = rotor(spin)
    found = mbd.linearize(system, steady=mbd.RotorSpin(disk, (0, 0, spin)))
    J, Jp = 0.2, 0.3
    root = sqrt((Jp * spin) ** 2 + 4 * J * k)
    np.testing.assert_allclose(found.omega, [0.0, (root - Jp * spin) / (2 * J), (root + Jp * spin) / (2 * J)], rtol=1e-9)
    assert np.abs(found.eigenvalues.real).max() < 1e-9 * found.omega.max()
    assert str(found.modes[0]) == "mode 1: moves freely: 'disk' turns 1.00 about z"
    if spin:
        for mode, sense in zip(found.modes[1:], (-1, 1), strict=True):  # y leads or follows x by a quarter of a period
            assert abs(mode.shape[1, 4] - -1j * sense * mode.shape[1, 3]) < 1e-6
            assert "a quarter of a period later" in str(mode)


@pytest.mark.slow
def test_a_rotor_seen_from_a_frame_that_turns_with_it():
    """The same motion by another description: whirl frequencies are shifted by the speed of the frame."""
    spin = 3.0
    system, disk, _ = rotor(spin, k=0.0)
    still = mbd.linearize(system, steady=mbd.RotorSpin(disk, (0, 0, spin))).omega
    turning = mbd.linearize(system, steady=mbd.UniformRotation((0, 0, spin))).omega
    assert abs(still.max() - 0.3 / 0.2 * spin) < 1e-9  # Euler's nutation, from outside
    assert abs(turning.max() - (0.3 / 0.2 - 1.0) * spin) < 1e-9 or abs(turning.max() - spin) < 1e-9


@pytest.mark.slow
def test_a_top_that_sleeps():
    """Lagrange's top upright is stable where (Jp spin)^2 > 4 J m g L, J about the tip."""
    m, L, J, Jp = 0.5, 0.1, 0.002, 0.0015
    critical = sqrt(4 * (J + m * L * L) * m * g * L) / Jp
    for spin, stable in ((0.9 * critical, False), (1.1 * critical, True)):
        system = mbd.System("top", gravity=(0, 0, -g))
        top = system.add(mbd.Body("top", m, (J, J, Jp), r=(0, 0, L)))
        system.add(SJ("tip", system.ground, top, point=(0, 0, 0)))
        found = mbd.linearize(system, steady=mbd.RotorSpin(top, (0, 0, spin)))
        assert found.stable is stable
        assert mbd.equilibrium(system, steady=mbd.RotorSpin(top, (0, 0, spin))).stability is mbd.Stability.UNSTABLE


def swing(found, mode, amplitude, t_end):
    """A run from a pose of balance with the velocities of a mode."""
    u = amplitude * mode.omega * mode.shape.real
    start = found.state.replace(v=found.state.v + u[:, :3], omega_bar=found.state.omega_bar + u[:, 3:])
    return mbd.simulate(
        found.model, t_end, rtol=1e-12, atol=1e-14, t_eval=np.linspace(0, t_end, 4001), state=start, project_velocity=True
    )


def period(t, x):
    """The mean distance of upward zeros, by cubic interpolation."""
    zeros = CubicSpline(t, x).roots(extrapolate=False)
    return 2.0 * (zeros[-1] - zeros[0]) / (len(zeros) - 1)


def sprung_four_bar(c=0.0):
    """A four-bar with a spring across and a spring on its crank."""
    system = four_bar()
    system.add(mbd.RSDA("on the crank", system["A"], k=20.0, c=c, theta0=0.4))
    system.add(mbd.TSDA("across", system["crank"], system["rocker"], point_i=(0, 0, 0.4), point_j=(3.5, 0, 1), k=30.0, c=c, l0=2.0))
    return system


@pytest.mark.slow
def test_frequency_of_a_four_bar_is_that_of_its_simulated_swing():
    found = mbd.linearize(mbd.equilibrium(sprung_four_bar()))
    (mode,) = found.modes
    T = 2 * pi / mode.omega
    run = swing(found, mode, 1e-4, 10.25 * T)
    measured = period(run.t, run["crank"].omega_bar[:, 1])
    assert abs(measured / T - 1.0) < CROSSINGS


@pytest.mark.slow
def test_damping_of_a_four_bar_is_that_of_its_simulated_swing():
    found = mbd.linearize(mbd.equilibrium(sprung_four_bar(c=1.0)))
    (mode,) = found.modes
    assert 0.01 < mode.zeta < 0.5
    omega_d = mode.eigenvalue.imag
    T = 2 * pi / omega_d
    run = swing(found, mode, 1e-4, 4.25 * T)
    speed = run["crank"].omega_bar[:, 1]
    assert abs(period(run.t, speed) / T - 1.0) < 1e-4
    at = np.interp([0.0, 3 * T], run.t, speed)
    assert abs(np.log(at[0] / at[1]) / (3 * T) + mode.eigenvalue.real) < 1e-3 * abs(mode.eigenvalue.real)


@pytest.mark.slow
def test_frequencies_of_a_double_pendulum_are_those_of_its_simulated_swings():
    found = mbd.linearize(mbd.equilibrium(double_pendulum()))
    for mode in found.modes:
        T = 2 * pi / mode.omega
        run = swing(found, mode, 1e-4, 10.25 * T)
        assert abs(period(run.t, run["bar 2"].omega_bar[:, 0]) / T - 1.0) < CROSSINGS


@pytest.mark.slow
def test_a_whirl_is_that_of_a_simulated_rotor():
    spin = 20.0
    system, disk, _ = rotor(spin)
    found = mbd.linearize(system, steady=mbd.RotorSpin(disk, (0, 0, spin)))
    mode = found.modes[1]
    u = 1e-5 * (1j * mode.omega * mode.shape)
    start = found.state.replace(omega_bar=found.state.omega_bar + u.real[:, 3:], p=tilted(1e-5 * mode.shape.real[1, 3:]))
    T = 2 * pi / mode.omega
    run = mbd.simulate(found.model, 3.25 * T, rtol=1e-12, atol=1e-14, t_eval=np.linspace(0, 3.25 * T, 6001), state=start)
    p = run["disk"].p
    axle_x = 2 * (p[:, 1] * p[:, 3] + p[:, 0] * p[:, 2])
    assert abs(period(run.t, axle_x) / T - 1.0) < CROSSINGS


def tilted(theta):
    return np.array([[1.0, 0, 0, 0], euler_parameters.exponential(theta)])


@pytest.mark.slow
def test_A_is_the_derivative_of_the_simulated_state():
    """A x against differences of the accelerations themselves, for a governor that spins freely: Coriolis, dampers, springs."""
    found = mbd.linearize(mbd.equilibrium(governor(driven=False), steady=mbd.UniformRotation((0, 0, 2 * pi))))
    model, state, h = found.model, found.state, 1e-6
    n = found.dof
    base = mbd.accelerations(model, state)
    for k in range(n):  # velocities relative to the turning frame: C
        u = h * found.basis[k]
        ahead, behind = (
            mbd.accelerations(model, state.replace(v=state.v + s * u[:, :3], omega_bar=state.omega_bar + s * u[:, 3:]))
            for s in (1, -1)
        )
        change = (np.hstack([ahead.v_dot, ahead.omega_bar_dot]) - np.hstack([behind.v_dot, behind.omega_bar_dot])) / (2 * h)
        Omega = np.array([0, 0, 2 * pi])
        turning = np.array([rotation.T @ Omega for rotation in euler_parameters.rotation_matrix(state.p)])
        twist = found.basis[k]
        coriolis = np.hstack([2 * np.cross(Omega, twist[:, :3]), -np.cross(twist[:, 3:], turning)])
        wanted = np.tensordot(found.A[n:, n + k], found.basis, axes=1) + coriolis
        assert np.abs(change - wanted)[1:].max() < 1e-5 * max(np.abs(wanted).max(), 1.0)
    assert np.abs(base.omega_bar_dot).max() < 1e-8


@pytest.mark.slow
def test_governor_oscillates_as_it_is_simulated():
    """The slow mode of the governor at constant speed, from zeros of a simulated run; the springs' dampers have died out by then."""
    found = mbd.linearize(mbd.equilibrium(governor(), steady=mbd.UniformRotation((0, 0, 2 * pi))))
    slow = found.modes[0]
    assert slow.oscillates
    T = 2 * pi / slow.omega
    u = 1e-4 * slow.omega * slow.shape.real
    start = found.state.replace(v=found.state.v + u[:, :3], omega_bar=found.state.omega_bar + u[:, 3:])
    run = mbd.simulate(found.model, 1.9 * T, h=2e-4, state=start, project_velocity=True, store_every=20)
    height = run["slider"].r[:, 2] - found.state.r[found.model.body("slider"), 2]
    late = run.t > 0.4 * T
    assert abs(period(run.t[late], height[late]) / T - 1.0) < 1e-5


@pytest.mark.slow
def test_redundant_rows_do_no_harm():
    full, minimal = (mbd.linearize(found) for found in loops())
    np.testing.assert_allclose(full.omega, minimal.omega, rtol=1e-9)


def test_free_bodies_move_freely():
    system = mbd.System("free")
    system.add(mbd.Body("ball", 2.0, (1, 1, 1)))
    found = mbd.linearize(system)
    assert found.dof == 6
    assert not found.omega.any()
    assert str(found).count("moves freely") == 6


def test_nothing_moves():
    system = pendulum()
    system.add(RotationDriver("lock", system["pin"], 0.0))
    found = mbd.linearize(system)
    assert found.dof == 0
    assert found.modes == ()
    assert found.stable
    assert mbd.equilibrium(system).stable


def test_a_state_that_is_no_equilibrium_is_refused_with_what_is_left_over():
    with pytest.raises(
        mbd.UsageError, match=r"not an equilibrium: .* left over .*'bar' force .* N, torque .* N m.*mbd.equilibrium"
    ) as e:
        mbd.linearize(pendulum(0.3))
    assert "(0, " in str(e.value)


def test_the_residual_is_the_force_that_accelerates():
    """A free body: everything is left over."""
    system = mbd.System("ball", gravity=(0, 0, -g))
    system.add(mbd.Body("ball", 2.0, (1, 1, 1)))
    with pytest.raises(
        mbd.UsageError, match=r"1 of the forces at work is left over .*'ball' force \(0, 0, -19.62\) N, torque \(0, 0, 0\) N m"
    ):
        mbd.linearize(system)


def test_a_state_that_moves_is_refused():
    model = pendulum().compile()
    moving = model.state().replace(omega_bar=[[0, 0, 0], [0, 0.5, 0]], v=[[0, 0, 0], [-0.6, 0, 0]])
    with pytest.raises(mbd.UsageError, match="the state moves and is not an equilibrium .*'bar' turns 0.50 about y"):
        mbd.linearize(model, moving)
    system, disk, _ = rotor(20.0)
    with pytest.raises(mbd.UsageError, match="otherwise than in the steady motion"):
        mbd.linearize(system, steady=mbd.RotorSpin(disk, (0, 0, 19.0)))


def test_a_driver_that_moves_is_refused():
    system = pendulum()
    system.add(RotationDriver("motor", system["pin"], lambda t: 0.3 * np.sin(2.0 * t)))
    with pytest.raises(mbd.UsageError, match=r"driver of joint 'motor' moves at t = 0 s \(f' = 0.6, f'' = 0\)"):
        mbd.linearize(system)
    system = pendulum()
    system.add(RotationDriver("motor", system["pin"], lambda t: 0.3 * np.cos(2.0 * t) - 0.3))
    with pytest.raises(mbd.UsageError, match=r"\(f' = -?0, f'' = -1.2\)"):
        mbd.linearize(system)


@pytest.mark.slow
def test_a_rotor_that_is_not_round_is_refused():
    system, disk, _ = rotor(20.0, J=(0.2, 0.25, 0.3))
    with pytest.raises(mbd.UsageError, match="not steady|does not fit"):
        mbd.linearize(eccentric(), steady=mbd.RotorSpin("disk", (0, 0, 20.0)))
    assert mbd.linearize(system, steady=mbd.UniformRotation((0, 0, 20.0))) is not None


def eccentric():
    """A disk on an axle that is not through its centre."""
    system = mbd.System("eccentric")
    disk = system.add(mbd.Body("disk", 2.0, (0.2, 0.2, 0.3), r=(0.01, 0, 0)))
    system.add(RJ("axle", system.ground, disk, point=(0, 0, 0), axis=(0, 0, 1)))
    return system


def test_an_equilibrium_brings_its_own_state():
    found = mbd.equilibrium(pendulum(0.3))
    with pytest.raises(mbd.UsageError, match="has its own state"):
        mbd.linearize(found, found.state)


def test_modes_are_told_in_one_line_each():
    text = str(mbd.linearize(mbd.equilibrium(double_pendulum())))
    lines = text.splitlines()
    assert lines[0] == "'double pendulum' about an equilibrium at t = 0 s, degrees of freedom: 2"
    assert lines[1].startswith("mode 1: 0.2472 Hz (1.553 rad/s), zeta 0: 'bar 2' turns 1.00 about x")
    assert len(lines) == 3


def test_directions_are_told_without_rounding():
    """Masses on slides that lean in the plane y = 0: the text had components of 1e-17."""
    system = mbd.System("leaning", gravity=(0, 0, 0))
    mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), r=(0.6, 0, 0.8), v=(0, 0, 0)))
    system.add(TJ("slide", system.ground, mass, point=(0, 0, 0), axis=(0.6, 1e-9, 0.8)))
    system.add(mbd.TSDA("spring", system.ground, mass, point_i=(0, 0, 0), point_j=(0.6, 0, 0.8), k=100.0, l0=1.0))
    assert "'mass' moves 1.00 along (0.6, 0, 0.8)" in str(mbd.linearize(system))


@pytest.mark.slow
def test_a_mode_is_a_motion_that_the_constraints_allow():
    found = mbd.linearize(mbd.equilibrium(sprung_four_bar(c=1.0)))
    Phi_q = mbd.evaluate(found.model, found.state).Phi_q
    for mode in found.modes:
        assert np.abs(Phi_q @ mode.shape[1:].ravel()).max() < 1e-12
    for motion in found.basis:
        assert np.abs(Phi_q @ motion[1:].ravel()).max() < 1e-12


@pytest.mark.slow
def test_angle_of_a_spring_beyond_half_a_turn():
    """A spring wound up by 20 rad is as stiff as ever."""
    system = mbd.System("wound up")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", axle, k=2.0))
    system.add(mbd.Torque("crank", wheel, torque=(0, 0, 40.0)))
    np.testing.assert_allclose(mbd.linearize(mbd.equilibrium(system)).omega, [sqrt(20.0)], rtol=1e-9)


def test_geometry_of_a_tense_string():
    """A mass between two stretched springs: k along, and T / l across."""
    system = mbd.System("string")
    bead = system.add(mbd.Body("bead", 0.5, (1.0, 1.0, 1.0)))
    for side in (-1, 1):
        system.add(mbd.TSDA(f"{side}", system.ground, bead, point_i=(2.0 * side, 0, 0), point_j=(0, 0, 0), k=100.0, l0=1.5))
    found = mbd.linearize(system)
    across = sqrt(2 * 100.0 * 0.5 / 2.0 / 0.5)
    np.testing.assert_allclose(found.omega, [0, 0, 0, across, across, sqrt(2 * 100 / 0.5)], rtol=1e-9)


def test_a_small_machine_far_from_anything():
    """A body of a milligram between springs of half a millimetre: no length of the model is near 1 m."""
    system = mbd.System("small")
    bead = system.add(mbd.Body("bead", 1e-6, (1e-15, 1e-15, 1e-15)))
    for side in (-1, 1):
        system.add(mbd.TSDA(f"{side}", system.ground, bead, point_i=(5e-4 * side, 0, 0), point_j=(0, 0, 0), k=1.0, l0=4e-4))
    across = sqrt(2 * 1.0 * 1e-4 / 5e-4 / 1e-6)
    np.testing.assert_allclose(mbd.linearize(system).omega[3:], [across, across, sqrt(2 * 1.0 / 1e-6)], rtol=1e-9)


def test_a_rotor_with_a_motor_against_a_damper():
    """Torque c spin holds the speed; the perturbation of the speed decays with c / J."""
    spin, c = 30.0, 0.02
    system = mbd.System("motor")
    wheel = system.add(mbd.Body("wheel", 2.0, (0.1, 0.1, 0.15)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("bearing", axle, c=c))
    system.add(mbd.Torque("motor", wheel, torque=(0, 0, c * spin)))
    found = mbd.linearize(system, steady=mbd.RotorSpin(wheel, (0, 0, spin)))
    np.testing.assert_allclose(found.eigenvalues, [0.0, -c / 0.15], rtol=1e-9, atol=1e-12)
    assert "decays at 0.1333 1/s: 'wheel' turns 1.00 about z" in str(found)
    with pytest.raises(mbd.UsageError, match="not an equilibrium"):
        mbd.linearize(system, steady=mbd.RotorSpin(wheel, (0, 0, 1.1 * spin)))


def test_results_are_shown_as_their_text():
    found = mbd.equilibrium(pendulum())
    small = mbd.linearize(found)
    for thing in (found, small, small.modes[0]):
        assert repr(thing) == str(thing)


def two_pendulums(up=False):
    """A pendulum that hangs, beside a shorter one that hangs or stands."""
    system = pendulum()
    other = system.add(mbd.Body("short", 1.0, (0.1, 0.1, 0.1), r=(0, 5, 0.3 if up else -0.3)))
    system.add(RJ("short pin", system.ground, other, point=(0, 5, 0), axis=(0, 1, 0)))
    return system


def test_the_slowest_modes_are_kept_and_all_that_grow():
    every, slowest = (mbd.linearize(two_pendulums(), modes=count) for count in (None, 1))
    assert [mode.eigenvalue for mode in slowest.modes] == [every.modes[0].eigenvalue]
    np.testing.assert_array_equal(slowest.K, every.K)
    standing = mbd.linearize(two_pendulums(up=True), modes=1)
    assert [mode.number for mode in standing.modes] == [1, 2]
    assert standing.modes[1].eigenvalue.real > standing.modes[0].omega
    assert not standing.stable
    for wrong in (0, 1.5, True, "two"):
        with pytest.raises(mbd.UsageError, match=r"modes = .* must be a whole number of 1 or more"):
            mbd.linearize(pendulum(), modes=wrong)


def test_progress_is_shown_in_stages(monkeypatch):
    shown, words = [], []
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append(now))
    monkeypatch.setattr(Progress, "note", lambda self, text: words.append(text))
    assert mbd.linearize(two_pendulums(), progress=True).stable
    assert shown == sorted(shown)
    assert shown[-1] == len(STAGES)
    assert words == ["the stiffness", "the damping", "the eigenvalues", "the words of the modes"]
    with pytest.raises(mbd.UsageError, match="must be True or False"):
        mbd.linearize(pendulum(), progress=1)


def test_after_ctrl_c_the_stage_is_told_and_the_state_kept(monkeypatch):
    found = mbd.equilibrium(pendulum())

    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(linearize_module, "damping", interrupt)
    with pytest.raises(KeyboardInterrupt, match="linearize was interrupted by Ctrl-C, at the damping") as caught:
        mbd.linearize(found)
    np.testing.assert_array_equal(caught.value.result.y, found.state.y)
