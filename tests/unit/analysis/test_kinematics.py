"""Driven mechanisms against closed forms, without integration; singular positions passed where the motion is determined, or named."""

from __future__ import annotations

from math import hypot, pi, sqrt

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.analysis.kinematics import path_following
from haugmbd.gallery import double_pendulum, pendulum, slider_crank
from haugmbd.gallery.spatial_linkages import crank_angle
from haugmbd.math.euler_parameters import conjugate, product, rotation_matrix
from haugmbd.simulation.stepping.progress import Progress
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Parallel, RackPinion, RollingDisc, RotationDriver, TranslationDriver
from tests.support.redundant_loops import bennett, loop

Z = np.array([0.0, 0.0, 1.0])
CLOSED_FORM = 1e-11  # the goal; projected positions reach 1e-13, velocities 1e-12
FURTHEST_X = sqrt(0.3**2 - (hypot(0.1, 0.12) - 0.08) ** 2)  # of the slider: rod and crank in line


def turned_about(result, body, axis):
    """The angle of a body about a fixed axis [rad], through all turns, 0 at p = (1, 0, 0, 0)."""
    p = result[body].p
    return np.unwrap(2.0 * np.arctan2(p[:, 1:] @ axis, p[:, 0]), period=2.0 * pi)


def rotation(axis, angle):
    """The matrix of a turn about a coordinate axis by degrees."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]] if axis == "x" else [[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.slow
@pytest.mark.parametrize("beta_deg", [10, 45, 60])
def test_hooke_joint(table, beta_deg):
    reference = table("hooke_joint")
    reference = reference[reference["beta_deg"] == beta_deg]
    beta = np.deg2rad(beta_deg)
    z_out = np.array([0.0, -np.sin(beta), np.cos(beta)])
    system = mbd.System("Hooke joint")
    first, second = (system.add(mbd.Body(name, 1.0, (0.1, 0.2, 0.25))) for name in ("first", "second"))
    bearing = system.add(RJ("bearing", system.ground, first, point=(0, 0, 0), axis=Z))
    system.add(UJ("cross", first, second, point=(0, 0, 0), axis_i=(0, 1, 0), axis_j=(1, 0, 0)))
    system.add(Parallel("holder", system.ground, second, axis=z_out))
    system.add(RotationDriver("drive", bearing, lambda t: 1.0 * t))
    result = mbd.kinematics(system, np.deg2rad(reference["input_deg"]))
    out = turned_about(result, "second", z_out)
    np.testing.assert_allclose(out, np.deg2rad(reference["output_deg"]), rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(result["second"].omega_bar @ z_out, reference["w_out/w_in"], rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(result.omega_bar_dot[:, 2] @ z_out, reference["alpha_out/w_in^2"], rtol=0.0, atol=CLOSED_FORM)


@pytest.mark.slow
@pytest.mark.parametrize("branch", [1, 2])
def test_rssr(table, parameters, branch):
    reference, given = table("rssr"), parameters("spatial_analytic")["rssr"]
    C, tilt = np.array(given["C"]), np.deg2rad(70.0)
    ex, ey = np.array([1.0, 0.0, 0.0]), np.array([0.0, np.cos(tilt), np.sin(tilt)])
    axis = np.cross(ex, ey)
    psi = np.unwrap(np.deg2rad(reference[f"psi{branch}_deg"]))
    system = mbd.System("RSSR")
    a, b = system.add(mbd.Body("input", 1.0, (0.1, 0.2, 0.25))), system.add(mbd.Body("output", 1.0, (0.1, 0.2, 0.25), r=C))
    bearing = system.add(RJ("A", system.ground, a, point=(0, 0, 0), axis=Z))
    system.add(RJ("B", system.ground, b, point=C, axis=axis))
    pin = C + given["r3"] * (np.cos(psi[0]) * ex + np.sin(psi[0]) * ey)
    system.add(Distance("coupler", a, b, point_i=(given["r1"], 0, 0), point_j=pin, distance=given["l"]))
    system.add(RotationDriver("drive", bearing, lambda t: 1.0 * t))
    result = mbd.kinematics(system, np.deg2rad(reference["theta_deg"]))
    np.testing.assert_allclose(turned_about(result, "output", axis), psi - psi[0], rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(result["output"].omega_bar @ axis, reference[f"dpsi{branch}/dtheta"], rtol=0.0, atol=CLOSED_FORM)


@pytest.mark.slow
@pytest.mark.parametrize("branch", [1, 2])
def test_spherical_four_bar(table, branch):
    """Four revolutes through one point: 20 rows and the drive, rank 18."""
    reference = table("spherical4R")
    psi = np.unwrap(np.deg2rad(reference[f"psi{branch}_deg"]))
    tilt = rotation("x", 70)
    start, out = np.deg2rad(reference["theta_deg"][0]), tilt @ Z
    assert start == 0.0
    axes = [Z, rotation("x", 30) @ Z, tilt @ rotation("z", np.rad2deg(psi[0])) @ rotation("x", 60) @ Z, out]
    assert abs(axes[1] @ axes[2] - np.cos(np.deg2rad(55))) < 1e-12
    system = loop([np.zeros(3)] * 4, axes)
    system.add(RotationDriver("drive", system["hinge 0"], lambda t: 1.0 * t))
    result = mbd.kinematics(system, np.deg2rad(reference["theta_deg"]))
    np.testing.assert_allclose(turned_about(result, "link 2", out), psi - psi[0], rtol=0.0, atol=CLOSED_FORM)
    assert result.model.nc == 21


def test_bennett_relation():
    """tan(t1/2) tan(t2/2) = sin((b + a)/2) / sin((b - a)/2), t3 = -t1, t4 = -t2."""
    alpha, beta, first = pi / 6, 5 * pi / 12, 0.8
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(first / 2))
    system = bennett(first, alpha=alpha, beta=beta)
    system.add(RotationDriver("drive", system["hinge 0"], lambda t: 0.5 * np.sin(t)))
    result = mbd.kinematics(system, np.linspace(0.0, 6.0, 13))
    angle = [relative_angle(result, f"hinge {k}") for k in range(4)]
    np.testing.assert_allclose(np.tan((first + angle[0]) / 2) * np.tan((second + angle[1]) / 2), ratio, rtol=CLOSED_FORM)
    np.testing.assert_allclose(angle[2], -angle[0], rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(angle[3], -angle[1], rtol=0.0, atol=CLOSED_FORM)
    assert np.abs(angle[0]).max() > 0.49


def relative_angle(result, joint):
    """The angle of a revolute [rad], 0 at the modelled pose with bodies in global axes."""
    e = result.model.joints[joint]
    p = product(conjugate(result.p[:, e.i]), result.p[:, e.j])
    return 2.0 * np.arctan2(p[:, 1:] @ e.A_bar_i[:, 2], p[:, 0])


@pytest.mark.slow
def test_me751_driven_pendulum(table):
    """A6: positions, velocities, accelerations, and T(0)."""
    reference = table("me751_driven_pendulum")
    result = mbd.kinematics(pendulum(driven=True), reference["t"])
    bar = result["bar"]
    np.testing.assert_allclose(bar.r[:, 1:], np.column_stack([reference["y"], reference["z"]]), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(bar.v[:, 1:], np.column_stack([reference["vy"], reference["vz"]]), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(result.v_dot[:, 1, 1:], np.column_stack([reference["ay"], reference["az"]]), rtol=0.0, atol=1e-11)
    torque = result.reaction("drive").torque[:, 0]
    np.testing.assert_allclose(torque, reference["drive_torque_x"], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(torque[0], -224.8256611173299, rtol=0.0, atol=1e-10)


@pytest.mark.slow
def test_driven_slider_crank(table):
    """Every time is exact by itself: two of them far apart are as good as all."""
    reference = table("slidercrank3d_driven_crankCOMatA")
    result = mbd.kinematics(slider_crank(driven=True), reference["t"])
    np.testing.assert_allclose(crank_angle(result), reference["theta"], rtol=0.0, atol=1e-12)
    for found, name in ((result["slider"].r, "x_slider"), (result["slider"].v, "x_dot"), (result.v_dot[:, 3], "x_ddot")):
        np.testing.assert_allclose(found[:, 0], reference[name], rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(result.reaction("drive").torque[:, 0], reference["driving_torque_x"], rtol=0.0, atol=CLOSED_FORM)
    few = mbd.kinematics(slider_crank(driven=True), reference["t"][[9, 20]])
    np.testing.assert_allclose(few.r, result.r[[9, 20]], rtol=0.0, atol=1e-12)


@pytest.mark.slow
def test_times_before_the_state_are_followed_backwards():
    system = slider_crank(driven=True)
    result = mbd.kinematics(system, [-0.5, -0.2, 0.3])
    forward = mbd.kinematics(system, [0.5, 0.8, 1.3])  # one turn a second
    np.testing.assert_allclose(result.r, forward.r, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(result.v, forward.v, rtol=0.0, atol=1e-11)


def pushed(f):
    """The slider-crank driven by its slider, whose displacement is f(t)."""
    system = slider_crank()
    system.add(TranslationDriver("push", system["T"], f))
    return system


def test_a_slider_that_is_driven_too_far_stops_with_the_reason():
    with pytest.raises(mbd.SimulationError) as caught:
        mbd.kinematics(pushed(lambda t: 0.2 * t), np.linspace(0.0, 2.0, 41))
    text, result = str(caught.value), caught.value.result
    end = float(text.split("t = ")[1].split(" s")[0])
    np.testing.assert_allclose(0.2 + 0.2 * end, FURTHEST_X, rtol=1e-8)
    assert "'push'" in text
    assert "rank 17 of 18" in text
    assert len(result) == 10
    assert np.abs(result.violation()).max() < 1e-12


def test_a_slider_that_touches_the_dead_centre_carries_the_crank_through():
    """x comes to its furthest as a parabola: the crank turns on, smoothly, and not back."""
    reach = FURTHEST_X - 0.2
    result = mbd.kinematics(pushed(lambda t: reach - reach * (t - 1.0) ** 2), np.linspace(0.0, 2.0, 21))
    theta = crank_angle(result)
    assert np.diff(theta).min() > 0.15
    y, z = 0.1 - 0.08 * np.sin(theta), 0.12 + 0.08 * np.cos(theta)
    np.testing.assert_allclose(result["slider"].r[:, 0], np.sqrt(0.09 - y**2 - z**2), rtol=0.0, atol=1e-12)
    speed = sqrt(2.0 * reach * FURTHEST_X / (0.08 * hypot(0.1, 0.12)))  # x'' = -0.08 |A| theta'^2 / x there
    np.testing.assert_allclose(result["crank"].omega_bar[10, 0], speed, rtol=1e-9)
    np.testing.assert_allclose(theta[10], pi - np.arctan2(0.1, 0.12), rtol=0.0, atol=1e-10)
    (passed,) = result.singular_crossings
    assert passed.t == pytest.approx(1.0, abs=1e-6)
    assert "push" in passed.joints


def test_the_force_of_a_push_balances_the_power():
    """dE/dt = F x', E by central differences."""
    h = 1e-4
    result = mbd.kinematics(pushed(lambda t: 0.03 * np.sin(t)), np.array([-h, 0.0, h]))
    energy = result.energy()
    total = energy.kinetic + energy.potential
    force = (total[2] - total[0]) / (2.0 * h) / result["slider"].v[1, 0]
    np.testing.assert_allclose(result.reaction("push").force[1, 0], force, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("redundant", [False, True])
def test_a_parallelogram_passes_its_flat_pose(redundant):
    """The crank driven through two flat poses, each exactly at a wanted time: rocker as crank, coupler does not turn."""
    system = mbd.System("parallelogram")
    points = [np.array(x, dtype=float) for x in ((0, 0, 0), (0, 1, 0), (2, 1, 0), (2, 0, 0))]
    crank, coupler, rocker = (
        system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(points[k] + points[k + 1]) / 2))
        for k, name in enumerate(("crank", "coupler", "rocker"))
    )
    pin = system.add(RJ("A", system.ground, crank, point=points[0], axis=Z))
    system.add(RJ("B", crank, coupler, point=points[1], axis=Z))
    if redundant:
        system.add(RJ("C", coupler, rocker, point=points[2], axis=Z))
        system.add(RJ("D", system.ground, rocker, point=points[3], axis=Z))
    else:
        system.add(SJ("C", coupler, rocker, point=points[2]))
        system.add(CJ("D", system.ground, rocker, point=points[3], axis=Z))
    system.add(RotationDriver("drive", pin, lambda t: 1.0 * t))
    t = np.linspace(0.0, 2.0 * pi, 25)
    result = mbd.kinematics(system, t)
    np.testing.assert_allclose([p.t for p in result.singular_crossings], [pi / 2, 3 * pi / 2], atol=1e-8)
    assert set(result.singular_crossings[0].joints) == set("ABCD")
    np.testing.assert_allclose(turned_about(result, "rocker", Z), t, rtol=0.0, atol=CLOSED_FORM)
    np.testing.assert_allclose(result["rocker"].omega_bar[:, 2], 1.0, rtol=0.0, atol=1e-9)
    assert np.abs(result["coupler"].omega_bar).max() < 1e-9
    assert np.abs(result.violation()).max() < 1e-12


def test_too_few_drivers_are_counted_and_what_is_free_is_named():
    with pytest.raises(
        mbd.UsageError, match=r"17 independent rows for 18.*1 degree of freedom is free: .*'slider' moves 0.04 along x"
    ):
        mbd.kinematics(slider_crank(), [0.0, 1.0])
    with pytest.raises(
        mbd.UsageError,
        match=r"2 degrees of freedom are free: by 'pin 1' 'bar 1' turns 1 .*, or by 'pin 2' 'bar 2' turns 1 .* Add 2 drivers",
    ):
        mbd.kinematics(double_pendulum(), [0.0, 1.0])


def doubled(second):
    """A pin with two drivers."""
    system = pendulum()
    system.add(RotationDriver("one", system["pin"], lambda t: 0.3 * t))
    system.add(RotationDriver("two", system["pin"], second))
    return system


def test_two_drivers_of_one_motion():
    """Those that agree are redundant; those that part later are named."""
    result = mbd.kinematics(doubled(lambda t: 0.3 * t), [0.0, 1.0])
    assert np.abs(result.violation()).max() < 1e-12
    with pytest.raises(mbd.AssemblyError, match="no velocities fit"):
        mbd.kinematics(doubled(lambda t: 0.4 * t), [0.0, 1.0])
    with pytest.raises(mbd.SimulationError, match="'two'"):
        mbd.kinematics(doubled(lambda t: 0.3 * t + 0.1 * t**2), [0.0, 1.0])


@pytest.mark.slow
def test_a_driver_that_ends_is_named():
    system = pendulum()
    system.add(RotationDriver("root", system["pin"], lambda t: np.sqrt(123.5 - t) - np.sqrt(123.5)))
    message = r"the motion ends at t = 123\.[45].*All three must be finite"
    with pytest.raises(mbd.SimulationError, match=message), np.errstate(invalid="ignore", divide="ignore"):
        mbd.kinematics(system, np.linspace(0.0, 200.0, 5))
    spline = pendulum()
    spline.add(RotationDriver("table", spline["pin"], mbd.QuinticSpline(np.linspace(0, 1, 9), np.linspace(0, 1, 9) ** 2)))
    with pytest.raises(mbd.ModelError, match="is given for t = 0 .. 1 s"):
        mbd.kinematics(spline, [0.0, 2.0])


@pytest.mark.parametrize("t", [[], [0.0, 0.0], [1.0, 0.5], [0.0, np.nan], [[0.0, 1.0], [2.0, 3.0]]])
def test_bad_times(t):
    with pytest.raises(mbd.UsageError, match="t must be"):
        mbd.kinematics(pendulum(driven=True), t)


def test_a_spring_counts_its_turns():
    """An RSDA on the driven pin: its integrated angle follows through several turns, and its torque is on the driver."""
    system = mbd.System("wound")
    disc = system.add(mbd.Body("disc", 1.0, (1.0, 1.0, 1.0)))
    pin = system.add(RJ("pin", system.ground, disc, point=(0, 0, 0), axis=Z))
    system.add(RotationDriver("drive", pin, lambda t: 2.0 * t))
    system.add(mbd.RSDA("spring", pin, k=3.0))
    t = np.linspace(0.0, 10.0, 41)
    result = mbd.kinematics(system, t)
    np.testing.assert_allclose(result.angles[:, 0], 2.0 * t, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.reaction("drive").torque[:, 2], 6.0 * t, rtol=0.0, atol=1e-10)
    assert rotation_matrix(result.p[-1, 1]).shape == (3, 3)


def test_positions_that_follow_from_rolling_are_integrated_not_solved_for():
    """A wheel on a carriage that a driver pulls along x = 0.3 t^2 + 0.1 sin 4t: its angle is x / R by the history alone."""
    radius, J = 0.2, 0.02
    system = mbd.System("carriage", gravity=(0, 0, -9.81))
    carriage = system.add(mbd.Body("carriage", 2.0, (0.1, 0.1, 0.1), r=(0, 0, radius), v=(0.4, 0, 0)))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.01, J, 0.01), r=(0, 0, radius), v=(0.4, 0, 0), omega_bar=(0, 0.4 / radius, 0)))
    rail = system.add(TJ("rail", system.ground, carriage, point=(0, 0, radius), axis=(1, 0, 0)))
    system.add(RJ("axle", carriage, wheel, point=(0, 0, radius), axis=(0, 1, 0)))
    system.add(RollingDisc("tyre", wheel, center=(0, 0, radius), axis=(0, 1, 0), radius=radius))
    system.add(TranslationDriver("pull", rail, lambda t: 0.3 * t * t + 0.1 * np.sin(4.0 * t)))
    times = np.linspace(0.0, 1.0, 11)
    for solve in (mbd.kinematics, mbd.inverse_dynamics):
        with pytest.raises(mbd.UsageError, match=r"'tyre' restrict velocities only: 1 coordinate of position .*simulate\(system"):
            solve(system, times)
    result = mbd.simulate(system, 1.0, rtol=1e-10, atol=1e-12)
    t = result.t
    np.testing.assert_allclose(result.joint("axle").angle, (0.3 * t * t + 0.1 * np.sin(4.0 * t)) / radius, atol=1e-8)
    force = mbd.inverse_dynamics(system, result)["pull"]
    np.testing.assert_allclose(force, (3.0 + J / radius**2) * (0.6 - 1.6 * np.sin(4.0 * t)), atol=1e-9)


def test_rolling_that_a_driven_joint_repeats_leaves_nothing_to_integrate():
    """Both the carriage and the angle of its wheel are driven: the rows of rolling are dependent, and positions are solved for."""
    radius = 0.2
    system = mbd.System("carriage")
    carriage = system.add(mbd.Body("carriage", 2.0, (0.1, 0.1, 0.1), r=(0, 0, radius)))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.01, 0.02, 0.01), r=(0, 0, radius)))
    rail = system.add(TJ("rail", system.ground, carriage, point=(0, 0, radius), axis=(1, 0, 0)))
    axle = system.add(RJ("axle", carriage, wheel, point=(0, 0, radius), axis=(0, 1, 0)))
    system.add(RackPinion("chain", axle, rail, radius=radius))
    system.add(RollingDisc("tyre", wheel, center=(0, 0, radius), axis=(0, 1, 0), radius=radius))
    system.add(TranslationDriver("pull", rail, lambda t: 0.3 * t * t))
    result = mbd.kinematics(system, np.linspace(0.0, 1.0, 11))
    np.testing.assert_allclose(result.joint("axle").angle, 0.3 * result.t**2 / radius, atol=1e-12)


def rest_to_rest(start, duration, rise):
    """The polynomial 3-4-5: rest, a rise with its acceleration zero at both ends, and rest."""

    def f(t):
        x = np.clip((t - start) / duration, 0.0, 1.0)
        return rise * (10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5)

    return f


@pytest.mark.parametrize(("start", "duration"), [(0.0, 1.0), (0.25, 0.5), (0.31, 0.37)])
@pytest.mark.parametrize("n", [3, 12, 101])
def test_a_driver_that_leaves_rest_and_comes_to_rest_smoothly(start, duration, n):
    f = rest_to_rest(start, duration, 1.5)
    result = mbd.kinematics(driven_arm(f), np.linspace(0.0, 1.0, n))
    np.testing.assert_allclose(result.joint("pin").angle, [f(t) for t in result.t], atol=CLOSED_FORM)
    assert result.joint("pin").rate[0] == pytest.approx(0.0, abs=CLOSED_FORM)


@pytest.mark.parametrize("power", [3, 4, 6])
def test_a_driver_that_passes_through_rest(power):
    result = mbd.kinematics(
        driven_arm(lambda t: (2.0 * t - 0.9) ** power - 0.9**power * (-1.0) ** power), np.linspace(0.0, 1.0, 12)
    )
    t = result.t
    np.testing.assert_allclose(result.joint("pin").angle, (2.0 * t - 0.9) ** power - 0.9**power * (-1.0) ** power, atol=CLOSED_FORM)
    np.testing.assert_allclose(result.joint("pin").rate, 2.0 * power * (2.0 * t - 0.9) ** (power - 1), atol=CLOSED_FORM)


def driven_arm(f):
    """An arm on a pin with a driver."""
    system = mbd.System("arm", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 2.0, (0.1, 0.1, 0.1), r=(0.3, 0, 0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("drive", pin, f))
    return system


def test_a_closed_loop_dwells():
    """A parallelogram whose crank rests, turns by 2 rad through its upright pose, and rests: the coupler never turns."""
    L, B = 0.2, 0.5
    P = np.array([L * np.cos(0.3), L * np.sin(0.3), 0.0])
    system = mbd.System("parallelogram")
    places = {"crank": P / 2.0, "coupler": P + (B / 2.0, 0, 0), "rocker": P / 2.0 + (B, 0, 0)}
    crank, coupler, rocker = (system.add(mbd.Body(name, 1.0, (0.01, 0.01, 0.01), r=r)) for name, r in places.items())
    first = system.add(RJ("first", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RJ("second", crank, coupler, point=P, axis=(0, 0, 1)))
    system.add(RJ("third", coupler, rocker, point=P + (B, 0, 0), axis=(0, 0, 1)))
    system.add(RJ("fourth", system.ground, rocker, point=(B, 0, 0), axis=(0, 0, 1)))
    f = rest_to_rest(0.2, 0.5, 2.0)
    system.add(RotationDriver("drive", first, f))
    result = mbd.kinematics(system, np.linspace(0.0, 1.0, 12))
    angle = 0.3 + np.array([f(t) for t in result.t])
    place = L * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1) + (B / 2.0, 0, 0)
    np.testing.assert_allclose(result["coupler"].r, place, atol=CLOSED_FORM)
    np.testing.assert_allclose(result["coupler"].A, np.broadcast_to(np.eye(3), (12, 3, 3)), atol=CLOSED_FORM)


def test_a_driver_without_a_finite_acceleration_is_not_called_singular():
    f = (lambda t: t**1.5, lambda t: 1.5 * t**0.5, lambda t: 0.75 / np.sqrt(t + 1e-60))
    with pytest.raises(
        mbd.SimulationError, match="ends at t = 0 s, at a pose that is not singular: no step of 1e-09 s .* without bound"
    ):
        mbd.kinematics(driven_arm(f), np.linspace(0.0, 1.0, 3))


def test_coordinates_count_from_the_modelled_pose_wherever_the_motion_starts():
    system = driven_arm(lambda t: 0.4 + 2.5 * t)  # it begins 0.4 rad away from its modelled pose
    system.add(mbd.RSDA("spring", system["pin"], k=1.0))
    whole = mbd.kinematics(system, np.linspace(0.0, 4.0, 9))
    wanted = 0.4 + 2.5 * whole.t
    part = mbd.kinematics(system, whole.t[4:], state=whole.state(4))
    for result, angle in ((whole, wanted), (part, wanted[4:])):
        np.testing.assert_allclose(result.joint("pin").angle, angle, atol=CLOSED_FORM)
        np.testing.assert_allclose(result.load("spring").angle, angle, atol=CLOSED_FORM)
        np.testing.assert_allclose(result.driver("drive").value, angle, atol=CLOSED_FORM)
    for motion in (whole, [whole.state(k) for k in range(4, 9)]):
        found = mbd.inverse_dynamics(system, motion).result
        np.testing.assert_allclose(found.joint("pin").angle, 0.4 + 2.5 * found.t, atol=CLOSED_FORM)


@pytest.mark.parametrize("n", [7, 41])
def test_a_slider_that_rests_beside_or_in_its_dead_centre(n):
    """Beside it the crank stays on its side, whatever the times; in it no velocity decides about the side on which it leaves."""
    R, L, start = 0.2, 0.5, 0.7
    P = np.array([R * np.cos(start), R * np.sin(start), 0.0])
    X = P[0] + sqrt(L**2 - P[1] ** 2)

    def slider(short):
        rise, back = (R + L - X - short), rest_to_rest(0.6, 0.3, 1.0)
        system = mbd.System("slider")
        crank = system.add(mbd.Body("crank", 1.0, (0.01, 0.01, 0.01), r=P / 2.0))
        rod = system.add(mbd.Body("rod", 1.0, (0.01, 0.01, 0.02), r=(P + (X, 0, 0)) / 2.0))
        block = system.add(mbd.Body("block", 1.0, (0.01, 0.01, 0.01), r=(X, 0, 0)))
        system.add(RJ("axle", system.ground, crank, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(RJ("pin", crank, rod, point=P, axis=(0, 0, 1)))
        system.add(SJ("wrist", rod, block, point=(X, 0, 0)))
        guide = system.add(TJ("guide", system.ground, block, point=(X, 0, 0), axis=(1, 0, 0)))
        there = rest_to_rest(0.1, 0.3, 1.0)
        system.add(TranslationDriver("drive", guide, lambda t: rise * (there(t) - back(t))))
        return system

    times = np.linspace(0.0, 1.0, n)
    result = mbd.kinematics(slider(1e-6), times)
    angle = start + result.joint("axle").angle
    x = result["block"].r[:, 0]
    np.testing.assert_allclose(np.cos(angle), (x**2 + R**2 - L**2) / (2.0 * R * x), atol=CLOSED_FORM)
    assert angle.min() > 2e-3
    assert angle[-1] == pytest.approx(start, abs=1e-9)
    half = mbd.kinematics(slider(1e-6), times[times <= 0.5])
    assert (start + half.joint("axle").angle[-1]) == pytest.approx(
        np.arccos((x.max() ** 2 + R**2 - L**2) / (2.0 * R * x.max())), rel=1e-6
    )
    with pytest.raises(mbd.SimulationError, match="at a singular position.* no driver decides how this continues"):
        mbd.kinematics(slider(0.0), times)


def strike(monkeypatch, calls):
    """Let Ctrl-C come in the step with this number, of one step in each call of compiled code."""
    followed_steps, left = path_following.followed_steps, [calls]

    def struck(*given):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return followed_steps(*given)

    monkeypatch.setattr(path_following, "AT_ONCE", 1)
    monkeypatch.setattr(path_following, "followed_steps", struck)


@pytest.mark.parametrize(("first", "reached", "last"), [(0.0, 4, 0.3), (-1.0, 3, -0.3), (-0.2, 4, 0.1)])
def test_after_ctrl_c_the_times_that_were_reached_are_returned(monkeypatch, first, reached, last):
    """The start is corrected by another name; forwards the point of t = 0 is the start, backwards it is not reached."""
    model, times = pendulum(driven=True).compile(), np.round(first + 0.1 * np.arange(11.0), 12)
    whole = mbd.kinematics(model, times)
    with monkeypatch.context() as patched:
        strike(patched, 4)
        result = mbd.kinematics(model, times)
        motion = mbd.kinematics(model, times)
    assert not whole.interrupted
    np.testing.assert_array_equal(motion.t, times)
    assert result.interrupted
    assert result.status is mbd.RunStatus.INTERRUPTED
    assert result.message == f"interrupted by Ctrl-C: {reached} of 11 times were reached, the last one t = {last:.9g} s"
    kept = np.isin(whole.t, result.t)
    assert kept.sum() == reached
    np.testing.assert_array_equal(result.y, whole.y[kept])
    np.testing.assert_array_equal(result.joint("pin").angle, whole.joint("pin").angle[kept])


def test_inverse_dynamics_keeps_the_times_before_ctrl_c(monkeypatch):
    model, times = pendulum(driven=True).compile(), np.linspace(0.0, 1.0, 11)
    whole = mbd.inverse_dynamics(model, times)
    strike(monkeypatch, 4)
    found = mbd.inverse_dynamics(model, times)
    assert found.interrupted
    assert not whole.interrupted
    np.testing.assert_array_equal(found.t, times[:4])
    np.testing.assert_array_equal(found["drive"], whole["drive"][:4])
    assert "4 states, interrupted by Ctrl-C: 4 of 11 times were reached, the last one t = 0.3 s" in str(found)


@pytest.mark.parametrize("analysis", [mbd.kinematics, mbd.inverse_dynamics])
def test_ctrl_c_before_the_first_time_leaves_nothing_to_return(monkeypatch, analysis):
    model = pendulum(driven=True).compile()
    strike(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        analysis(model, [0.1, 0.2])


@pytest.mark.parametrize("analysis", [mbd.kinematics, mbd.inverse_dynamics])
def test_progress_is_shown_to_the_last_time(monkeypatch, analysis):
    shown, reach = [], Progress.reach
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop)) or reach(self, now))
    analysis(pendulum(driven=True), np.linspace(-0.1, 0.2, 4), progress=True)
    assert shown[-4:] == [(1, 4), (2, 4), (3, 4), (4, 4)]  # behind the digits of the assembly
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        analysis(pendulum(driven=True), [0.0, 1.0], progress=1)
