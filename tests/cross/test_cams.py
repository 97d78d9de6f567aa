"""Cams and functions of joint coordinates against closed forms, scalar equations of motion, and splines against functions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import CJ, RJ, TJ, Cam, CoordinateFunction, RotationDriver, TranslationDriver

G, MASS, J, ECCENTRICITY = 9.81, 0.8, 0.05, 0.03
Z, Y = (0, 0, 1), (0, 1, 0)
ROUNDING = 1e-9
"""Relative error of accelerations and reactions of closed forms: augmented matrices of condition 1e4."""


def eccentric(angle):
    """The rise of a flat follower on an eccentric disc."""
    return ECCENTRICITY * (1.0 - np.cos(angle))


def dwell(angle):
    """A dwell, a rise and a return, each a third of the first turn, with cycloidal slopes; meant for one turn only."""
    x = 3.0 * angle / (2.0 * np.pi)
    up, down = x - 1.0, x - 2.0
    rise = up - np.sin(2.0 * np.pi * up) / (2.0 * np.pi)
    back = 1.0 - down + np.sin(2.0 * np.pi * down) / (2.0 * np.pi)
    return 0.02 * np.where(x < 1.0, 0.0 * x, np.where(x < 2.0, rise, back))


def cam(profile=eccentric, *, kind=Cam, speed=None, q0=0.0, lift=0.0):
    """A cam about z and a follower along y, with gravity against it; driven with a speed or free."""
    system = mbd.System("cam", gravity=(0, -G, 0))
    disc = system.add(mbd.Body("disc", 1.0, (J, J, J)))
    follower = system.add(mbd.Body("follower", MASS, (0.01, 0.01, 0.01), r=(0, 0.1, 0)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=Z, q0=q0))
    guide = system.add(TJ("guide", system.ground, follower, point=(0, 0.1, 0), axis=Y, q0=lift))
    system.add(kind("cam", axle, guide, profile))
    if speed is not None:
        system.add(RotationDriver("drive", axle, lambda t: q0 + speed * t))
    return system


def test_a_driven_eccentric_moves_and_loads_its_follower_as_the_closed_form_says():
    speed = 7.0
    result = mbd.kinematics(cam(speed=speed), np.linspace(0.0, 2.0, 41))
    angle = speed * result.t
    np.testing.assert_allclose(result.joint("guide").displacement, eccentric(angle), atol=1e-12)
    np.testing.assert_allclose(result["follower"].v[:, 1], ECCENTRICITY * speed * np.sin(angle), atol=1e-10)
    np.testing.assert_allclose(result["follower"].a[:, 1], ECCENTRICITY * speed**2 * np.cos(angle), atol=1e-9)
    push = MASS * (G + ECCENTRICITY * speed**2 * np.cos(angle))
    on_follower, on_disc = result.reaction("cam", on="follower"), result.reaction("cam", on="disc")
    np.testing.assert_allclose(on_follower.force[:, 1], push, rtol=ROUNDING)
    # the power of the torque on the cam is that of the force on the follower, turned round
    np.testing.assert_allclose(on_disc.torque[:, 2], -push * ECCENTRICITY * np.sin(angle), atol=ROUNDING * push.max())
    np.testing.assert_allclose(on_disc.force, 0.0, atol=ROUNDING * push.max())


def scalar_motion(f, t, y0):
    """(J + m f'^2) q'' + m f' f'' q'^2 = -m g f', integrated by SciPy; f returns f, f', f''."""

    def rate(_, y):
        _, f1, f2 = f(y[0])
        return y[1], -(MASS * f1 * f2 * y[1] ** 2 + MASS * G * f1) / (J + MASS * f1**2)

    return solve_ivp(rate, (0.0, t[-1]), y0, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=t).y


def eccentric_jet(q):
    return eccentric(q), ECCENTRICITY * np.sin(q), ECCENTRICITY * np.cos(q)


@pytest.mark.slow
@pytest.mark.parametrize(
    "profile", [eccentric, (eccentric, lambda q: ECCENTRICITY * np.sin(q), lambda q: ECCENTRICITY * np.cos(q))]
)
def test_a_free_cam_moves_as_its_equation_in_one_coordinate(profile):
    system = cam(profile)
    model = system.compile()
    start = model.state().replace(omega_bar=np.array([[0, 0, 0], [0, 0, 6.0], [0, 0, 0]]))
    result = mbd.simulate(model, 3.0, state=start, h=2e-3)
    angle, rate = scalar_motion(eccentric_jet, result.t, (0.0, 6.0))
    assert angle[-1] > 2.0 * np.pi
    np.testing.assert_allclose(result.joint("axle").angle, angle, atol=1e-8)
    np.testing.assert_allclose(result["disc"].omega[:, 2], rate, atol=1e-8)
    assert np.abs(result.energy().drift).max() < 1e-8


def table(n=721):
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    return angle, eccentric(angle)


@pytest.mark.slow
def test_a_closed_table_is_periodic_and_as_smooth_as_its_function():
    for spline in (mbd.QuinticSpline(*table()), mbd.QuinticSpline(*table(), periodic=True)):
        system = cam(spline, speed=9.0)
        one, two = (mbd.kinematics(s, np.linspace(0.0, 3.0, 31)) for s in (system, cam(speed=9.0)))
        np.testing.assert_allclose(one["follower"].r, two["follower"].r, atol=1e-11)
        np.testing.assert_allclose(one["follower"].a, two["follower"].a, atol=1e-5)


@pytest.mark.slow
def test_a_function_that_is_meant_for_one_turn_repeats():
    result = mbd.kinematics(cam(dwell, speed=2.0 * np.pi), np.array([0.2, 0.5, 0.9, 1.2, 1.5, 1.9, 7.2, 7.5, 7.9]))
    rise = result.joint("guide").displacement.reshape(3, 3)
    np.testing.assert_allclose(rise, np.tile(dwell(2.0 * np.pi * np.array([0.2, 0.5, 0.9])), (3, 1)), atol=1e-10)
    assert rise[0, 1] == pytest.approx(0.01)


def test_an_open_profile_is_used_as_it_stands():
    result = mbd.kinematics(cam(lambda q: 0.01 * q, speed=2.0), np.array([0.0, 5.0]))
    assert result.joint("guide").displacement[-1] == pytest.approx(0.1, abs=1e-12)


def test_turns_are_counted_from_q0():
    q0 = 2.0
    lift = float(eccentric(q0))
    result = mbd.kinematics(cam(speed=3.0, q0=q0, lift=lift), np.linspace(0.0, 4.0, 9))
    np.testing.assert_allclose(result.joint("guide").displacement, eccentric(q0 + 3.0 * result.t), atol=1e-12)


@pytest.mark.slow
def test_a_wedge_and_a_rocker_are_functions_of_a_displacement():
    system = mbd.System("wedge", gravity=(0, -G, 0))
    slide = system.add(mbd.Body("slide", 1.0, (0.1, 0.1, 0.1)))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), r=(0, 0.5, 0)))
    rail = system.add(TJ("rail", system.ground, slide, point=(0, 0, 0), axis=(1, 0, 0)))
    pivot = system.add(RJ("pivot", system.ground, arm, point=(0, 0.5, 0), axis=Z))
    system.add(Cam("cam", rail, pivot, lambda x: np.arctan(x) + 0.3 * x**2))
    system.add(TranslationDriver("drive", rail, lambda t: 0.4 * np.sin(3.0 * t)))
    t = np.linspace(0.0, 2.0, 11)
    x = 0.4 * np.sin(3.0 * t)
    np.testing.assert_allclose(mbd.kinematics(system, t).joint("pivot").angle, np.arctan(x) + 0.3 * x**2, atol=1e-12)


def test_a_screw_with_a_variable_pitch_couples_both_coordinates_of_one_joint():
    system = mbd.System("screw")
    nut = system.add(mbd.Body("nut", 2.0, (0.1, 0.1, 0.02)))
    spindle = system.add(CJ("spindle", system.ground, nut, point=(0, 0, 0), axis=Z))
    angle, slide = spindle.coordinate("angle"), spindle.coordinate("displacement")
    system.add(CoordinateFunction("thread", angle, slide, lambda q: 0.02 * q + 0.004 * q**2))
    system.add(mbd.Torque("drive", nut, torque=(0, 0, 0.3)))
    found = mbd.accelerations(system.compile())
    assert found.omega_bar_dot[1, 2] == pytest.approx(0.3 / (0.02 + 2.0 * 0.02**2), rel=ROUNDING)
    result = mbd.simulate(system, 2.0, h=1e-3)
    q = result.joint("spindle").angle
    np.testing.assert_allclose(result["nut"].r[:, 2], 0.02 * q + 0.004 * q**2, atol=1e-10)
    assert q[-1] > 2.0 * np.pi


@pytest.mark.slow
def test_a_motion_that_leaves_its_table_is_an_error_with_the_range():
    angle = np.linspace(-0.5, 1.0, 20)
    with pytest.raises(
        mbd.SimulationError, match=r"'cam'.*axle.angle = 1\.\d+ rad leaves the table of the function, -0.5 .. 1 rad"
    ):
        mbd.simulate(cam(mbd.QuinticSpline(angle, eccentric(angle)), speed=2.0), 1.0, h=1e-2, project_velocity=True)
    mbd.simulate(cam(mbd.QuinticSpline(angle, eccentric(angle)), speed=2.0), 0.5, h=1e-2, project_velocity=True)
    with pytest.raises(mbd.SimulationError, match=r"axle.angle = 1\.2 rad leaves the table"):
        mbd.kinematics(cam(mbd.QuinticSpline(angle, eccentric(angle)), speed=2.0), np.linspace(0.0, 1.0, 11))
    below = mbd.System("heavy", gravity=(0, -G, 0))
    disc = below.add(mbd.Body("disc", 1.0, (J, J, J), r=(0.5, 0, 0)))
    slide = below.add(mbd.Body("slide", 0.1, (0.1, 0.1, 0.1), r=(2, 0, 0)))
    axle = below.add(RJ("axle", below.ground, disc, point=(0, 0, 0), axis=Z))
    rail = below.add(TJ("rail", below.ground, slide, point=(2, 0, 0), axis=(1, 0, 0)))
    below.add(CoordinateFunction("link", axle, rail, mbd.QuinticSpline(angle, 0.1 * angle)))
    with pytest.raises(mbd.ModelError, match=r"axle.angle = -1\.57\d* rad leaves the table of the function, -0.5 .. 1 rad"):
        mbd.equilibrium(below)


def corner(q):
    return 0.01 * q * (2.0 * np.pi - q)


def lift_off(speed):
    """Where the eccentric must pull its follower: g + e w^2 cos(w t) < 0."""
    angle = np.arccos(-G / (ECCENTRICITY * speed**2))
    return angle / speed, (2.0 * np.pi - angle) / speed


def resting(profile=eccentric):
    """A cam on which the follower only rests."""
    system = cam(profile, kind=lambda *given: Cam(*given, unilateral=True), speed=20.0)
    return system


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
@pytest.mark.parametrize("how", [{"h": 2e-3}, {"rtol": 1e-9, "atol": 1e-11}, {"integrator": mbd.RadauIIA(h=2e-3)}])
def test_lift_off_and_return_of_a_resting_follower_are_located_and_told(how):
    off, back = lift_off(20.0)
    result = mbd.simulate(resting(), 0.3, project_velocity=True, **how)
    assert [one.name for one in result.events] == ["cam: lift-off", "cam: return"]
    np.testing.assert_allclose([one.t for one in result.events], [off, back], atol=1e-7)
    (text,) = [text for text in result.warnings if "would have to pull" in text]
    assert f"'cam' can only push, and would have to pull: lift-off at t = {off:.5g}"[:-1] in text
    assert "it is held closed" in text


@pytest.mark.slow
def test_lift_off_is_told_by_a_warning_and_by_kinematics():
    with pytest.warns(mbd.RunWarning, match="'cam' can only push"):
        mbd.simulate(resting(), 0.3, h=2e-3, project_velocity=True)
    off, _ = lift_off(20.0)
    with pytest.warns(mbd.RunWarning, match="'cam' can only push"):
        result = mbd.kinematics(resting(), np.linspace(0.0, 0.3, 1501))
    (text,) = result.warnings
    told = float(text.split("lift-off at about t = ")[1].split(" s")[0])
    assert told == pytest.approx(off, abs=1e-5)


@pytest.mark.filterwarnings("error::haugmbd.errors.RunWarning")
def test_inverse_dynamics_tells_where_its_forces_need_a_follower_that_pulls():
    """From times, and from states; nothing is told of a part of the motion in which the cam pushes."""
    off, back = lift_off(20.0)
    through, before = np.linspace(0.0, 0.3, 301), np.linspace(0.0, 0.9 * off, 21)
    with pytest.warns(mbd.RunWarning, match="'cam' can only push, and would have to pull: lift-off at about t = "):
        mbd.inverse_dynamics(resting(), through)
    motion = mbd.kinematics(resting(), before)
    mbd.inverse_dynamics(resting(), before)
    mbd.inverse_dynamics(resting(), motion)
    with pytest.warns(mbd.RunWarning, match="'cam' can only push"):
        inside = mbd.kinematics(resting(), [0.0, 0.5 * (off + back)])
    with pytest.warns(mbd.RunWarning, match="'cam' can only push"):
        mbd.inverse_dynamics(resting(), inside.state(1))


@pytest.mark.slow
def test_a_run_with_impacts_tells_lift_off_as_well():
    system = resting()
    loose = system.add(mbd.Body("loose", 1.0, (1, 1, 1), r=(3, 0, 0), v=(0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, loose, point=(3, 0, 0), axis=Y))
    system.add(mbd.JointLimit("stop", rail, lower=-0.1, restitution=0.5))
    with pytest.warns(mbd.RunWarning, match="'cam' can only push"):
        result = mbd.simulate(system, 0.3, h=2e-3, project_velocity=True)
    assert len(result.impacts) > 0
    told = float(next(text for text in result.warnings if "pull" in text).split("at t = ")[1].split(" s")[0])
    assert told == pytest.approx(lift_off(20.0)[0], abs=1e-7)  # located, not interpolated between states


@pytest.mark.slow
def test_a_follower_that_stays_on_its_cam_is_not_told():
    system = cam(kind=lambda *given: Cam(*given, unilateral=True), speed=10.0)
    result = mbd.simulate(system, 1.0, h=2e-3, project_velocity=True)
    assert result.events == ()
    assert not any("pull" in text for text in result.warnings)


@pytest.mark.filterwarnings("ignore::haugmbd.errors.RunWarning")
@pytest.mark.parametrize(("stop", "pulls"), [(1.0, True), (4.0, False)])
def test_an_impact_that_pulls_at_a_resting_follower_is_a_lift_off(stop, pulls):
    """A stop turns the cam back at half its speed: a follower that rises would fly on, one that falls is pushed."""
    system = cam(kind=lambda *given: Cam(*given, unilateral=True))
    system.gravity = (0, 0, 0)
    system.add(mbd.JointSpring("spring", system["guide"], k=40.0, free=-0.1))
    system.add(mbd.JointLimit("stop", system["axle"], upper=stop, restitution=0.5))
    model = system.compile()
    start = model.state()
    omega_bar = start.omega_bar.copy()
    omega_bar[1, 2] = 12.0
    result = mbd.simulate(model, 0.5, h=2e-3, state=start.replace(omega_bar=omega_bar))
    hit = result.impacts[0]
    wanted = -1.5 * MASS * ECCENTRICITY * np.sin(stop) * hit.before.omega_bar[1, 2]
    assert hit.impulse.joint("cam", on="j").force[1] == pytest.approx(wanted, rel=ROUNDING)
    assert [one.t for one in result.events if one.name == "cam: lift-off"] == ([hit.t] if pulls else [])
    assert any(f"'cam' can only push, and would have to pull: lift-off at t = {hit.t:.9g} s" in x for x in result.warnings) is pulls
    again = mbd.impulse(model, hit.before, contacts=[])
    assert again.messages == ()
    struck = hit.impulse.messages
    assert struck == (
        (f"joint 'cam' can only push, and its impulse pulls with {-wanted:.6g} N s: its bodies would part, and are held together",)
        if pulls
        else ()
    )


FAULTS = {
    r"= 0.0158.* m at axle.angle = 0 rad, but guide.displacement is 0 m .*give joint 'guide' q0=0.0158": lambda q: eccentric(
        q + 1.08
    ),
    "closes after a turn, but its slope jumps there by -0.12": corner,
    "profile is the number 0, not a function": 0.0,
    "cannot be compiled: it branches": lambda q: eccentric(q) if q < 7.0 else 0.0 * q,
    "a period of 360 rad": mbd.QuinticSpline(np.linspace(0.0, 360.0, 9), np.zeros(9), periodic=True),
    r"profile: \(f, f', f''\) is \(nan": lambda q: np.nan * q,
    "is not a function of time": "fast",
    "is given for axle.angle = 1 .. 5 rad, which is 0": mbd.QuinticSpline(np.linspace(1.0, 5.0, 9), np.zeros(9)),
    "profile: f_dot is .* at axle.angle = .* rad, and differences of f give": (eccentric, np.sin, np.cos),
    "profile: f_ddot is .* at axle.angle = .* rad, and differences of f_dot give": (
        eccentric,
        lambda q: ECCENTRICITY * np.sin(q),
        np.cos,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FAULTS)
def test_bad_profiles_are_faults_with_names_and_numbers(text):
    with pytest.raises(mbd.ModelError, match=f"(?is){text}"):
        cam(FAULTS[text]).compile()


@pytest.mark.parametrize("f", [np.log, (np.log, lambda q: 1.0 / q, lambda q: -1.0 / q**2)])
def test_a_function_need_not_be_finite_at_zero(f):
    """It is evaluated at the modelled coordinate, here 1 rad, and not where no motion goes."""
    state = mbd.accelerations(cam(f, kind=CoordinateFunction, q0=1.0))
    rise = state.v_dot[2, 1]
    assert rise == pytest.approx(-MASS * G / (MASS + J), rel=ROUNDING)  # f' = 1
    assert state.omega_bar_dot[1, 2] == pytest.approx(rise, rel=ROUNDING)


def test_what_is_no_joint_is_refused_at_once():
    system = cam()
    axle, guide = system.joints[:2]
    for wrong in (lambda: Cam("c", axle, "guide", eccentric), lambda: Cam("c", axle, axle, eccentric)):
        with pytest.raises(mbd.UsageError):
            wrong()
    del guide


@pytest.mark.parametrize(("gap", "doubtful"), [(1e-4, True), (2e-3, True), (4e-3, False), (0.0, False)])
def test_a_table_over_a_turn_that_nearly_closes_is_a_sector_cam_with_a_warning(gap, doubtful):
    system = mbd.System("cam")
    disc = system.add(mbd.Body("disc", 1.0, (0.01, 0.01, 0.02)))
    follower = system.add(mbd.Body("follower", 0.5, (0.01, 0.01, 0.01), r=(0, 0.1, 0)))
    axle = system.add(RJ("axle", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", system.ground, follower, point=(0, 0.1, 0), axis=(0, 1, 0)))
    angle = np.linspace(0.0, 2.0 * np.pi, 25)
    rise = 0.03 * (1.0 - np.cos(angle))  # its range is 0.06 m, of which 5 % are 0.003 m
    rise[-1] = gap
    system.add(Cam("cam", axle, guide, mbd.QuinticSpline(angle, rise)))
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model = system.compile()
    assert len(model.warnings) == len(issued) == doubtful
    if doubtful:
        assert f"joint 'cam': profile is a table over a turn whose ends differ by {gap:.6g}" in model.warnings[0]
        assert issued[0].category is UserWarning


def test_an_expression_without_its_parameters_says_where_they_go():
    """The profile is read where the cam is made: parameters of the system come too late."""
    with pytest.raises(mbd.ModelError, match=r"reads 'rise', and no parameters are given\. Give them to the expression"):
        cam(mbd.Expression("rise * (1 - cos(t))")).compile()
    cam(mbd.Expression("rise * (1 - cos(t))", parameters={"rise": 0.03})).compile()
