"""Stick and slip where joints hardly load each other: dead centres, joints that never move, slips in less than a rounding of time."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd.gallery import gyroscope, planar_slider_crank, universal_shaft
from joints import RJ, TJ, Cam, Planar, PointOnLine, RotationDriver
from tests.support.models import model_of

LAW = mbd.Coulomb(0.12, 0.1)
SAME = 1e-9
"""[m, rad] Steps of 2e-4 s that end on other events differ by less."""
SMOOTHED = 3e-5
"""[rad/s] What a width of 1e-6 m/s of the smooth law changes: 1.4e-5, and ten times as much at 1e-5 m/s."""
FOLLOWS = 1e-6
"""[m] Of a stiff contact at rtol = 1e-8 from steps of 5e-5 s, which differ from those of 1e-5 s by 1e-12 m."""

ALIKE = 1e-6
"""Of a way of 1.6 lengths: a fixed step has the same error in all units; error control one of 1e-7."""

IN_TIME = 1e-11
"""Of the time unit: a slip is located 1e-12 of the limit, and of loads of that size, late."""
UNITS = ((1.0, 1e-3, 1.0), (1.0, 1e-6, 1.0), (1e-6, 1e-6, 1e-12), (1e-3, 1.0, 1e-12), (1.0, 1e6, 1e-3))
"""[m, s, kg]"""
SWINGS = 1e-6
"""Of length and time: what the steps of these methods leave, from the absolute tolerance of error control."""


def with_friction(make: Any, *without: str) -> mbd.System:
    """A mechanism with exact friction in all joints but some."""
    system = make()
    for joint in list(system.joints):
        if joint.name not in without:
            rotates = type(joint).__name__ in ("RJ", "Revolute")
            system.add(mbd.JointFriction(f"rub {joint.name}", joint, LAW, **({"radius": 0.01} if rotates else {})))
    return system


@pytest.mark.slow
def test_a_joint_that_never_moves_has_no_friction():
    """Joint C leaves the rod a slide out of the plane of motion. Rounding was taken for one, and rubbed with all that C carries."""
    result = mbd.simulate(with_friction(planar_slider_crank), 0.05, h=2e-4)
    without = mbd.simulate(with_friction(planar_slider_crank, "C"), 0.05, h=2e-4)
    np.testing.assert_array_equal(result.load("rub C").force, 0.0)
    np.testing.assert_allclose(result["slider"].r[-1], without["slider"].r[-1], rtol=0.0, atol=SAME)
    (stop,), (same,) = result.events, without.events  # the slider turns at its dead centre, and no friction can hold it there
    assert stop.name == same.name == "rub T stops"
    assert stop.t == pytest.approx(same.t, abs=SAME)


def test_a_joint_that_never_moves_has_no_friction_where_its_bodies_hardly_accelerate():
    """The output shaft turns evenly; its guide, along the shaft, carries 1e-4 N."""
    result = mbd.simulate(with_friction(universal_shaft, "Hooke"), 0.05, h=2e-4)
    np.testing.assert_array_equal(result.load("rub output bearing").force, 0.0)
    assert np.abs(result.energy().drift).max() < SAME


def test_a_joint_without_load_slips_at_once_where_its_need_grows_before_its_limit():
    """The vertical gimbal is loaded along its axis alone. It stuck and slipped in no time, without end."""
    result = mbd.simulate(with_friction(gyroscope), 0.05, h=2e-4)
    assert [event.name for event in result.events][0] == "rub vertical slips"
    assert [event.name for event in result.events].count("rub vertical slips") == 1
    smooth = gyroscope()
    for joint in list(smooth.joints):
        smooth.add(mbd.JointFriction(f"rub {joint.name}", joint, mbd.Coulomb(0.1, velocity=1e-6), radius=0.01))
    other = mbd.simulate(smooth, 0.05, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(result["rotor"].omega[-1], other["rotor"].omega[-1], rtol=0.0, atol=SMOOTHED)


@cache
def bumped(speed: float, restitution: float) -> tuple[mbd.Model, mbd.Result]:
    """A cart that bumps into a body with friction, until it has left it; and the motion in short steps."""
    system = mbd.System("hit", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    rail = system.add(TJ("rail", system.ground, body, point=(0.5, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.2)))
    cart = system.add(mbd.Body("cart", 2.0, (0.1, 0.1, 0.1), v=(speed, 0, 0)))
    system.add(TJ("track", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    balls = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Sphere(0.1)}
    law = mbd.HuntCrossley(exponent=1.0)
    system.add(mbd.ContactForce("bumper", cart, body, **balls, K=1e4, restitution=restitution, model=law))
    model = system.compile()
    return model, mbd.simulate(model, 0.9 / speed, h=5e-5, store_every=10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [{"rtol": 1e-8, "atol": 1e-10}, {"rtol": 1e-6}, {"integrator": mbd.DOP853(rtol=1e-9, atol=1e-11)}]
)
@pytest.mark.parametrize(("speed", "restitution"), [(3.0, 1.0), (1.0, 0.9)])
def test_a_stiff_contact_pushes_a_body_off(given: dict[str, Any], speed: float, restitution: float):
    """Its force grows past the limit of friction by 1e-9 N within the rounding of time: the body slips once, and for good."""
    model, fine = bumped(speed, restitution)
    result = mbd.simulate(model, 0.9 / speed, **given)
    assert [event.name for event in result.events if event.name.startswith("rub")] == [
        event.name for event in fine.events if event.name.startswith("rub")
    ]
    assert [event.name for event in result.events].count("rub slips") == 1
    atol = FOLLOWS * (100.0 if given.get("rtol") == 1e-6 else 1.0)
    np.testing.assert_allclose(result["body"].r[-1], fine["body"].r[-1], rtol=0.0, atol=atol)


@pytest.mark.parametrize("given", [{"h": 1e-3}, {"rtol": 1e-8}])
def test_a_joint_at_rest_in_a_forest_of_revolute_joints_does_not_turn(given: dict[str, Any]):
    """There friction is found by sweeps; what was left of the rate where the stop was located, 1e-12 m/s over the lever, stayed."""
    system = mbd.System("disc on a thrust bearing", gravity=(0, 0, -9.81))
    disc = system.add(mbd.Body("disc", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 1.0)))
    bearing = system.add(RJ("bearing", system.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointFriction("rub", bearing, mbd.Coulomb(0.3), radius=0.05, thrust_radius=0.1))
    result = mbd.simulate(system, 1.0, **given)
    (stop,) = result.events
    assert stop.t == pytest.approx(0.1 / (0.3 * 9.81 * 0.1), abs=SAME)
    np.testing.assert_allclose(result.joint("bearing").rate[result.t > stop.t + 1e-9], 0.0, atol=1e-20)


def sledge(length: float, time: float) -> mbd.System:
    """A load that slides in a curve on a base in units of length and time; a wind turns it, and the base is held by a brake."""
    L, a = length, length / time**2
    system = mbd.System("sledge", gravity=(0, 0, -9.81 * a))
    base = system.add(mbd.Body("base", 2.0, 0.1 * L**2 * np.ones(3)))
    start = {"r": (0, 0, 0.1 * L), "v": (0.6 * L / time, 0.3 * L / time, 0)}
    load = system.add(mbd.Body("load", 1.0, 0.02 * L**2 * np.ones(3), **start))
    rail = system.add(TJ("rail", system.ground, base, point=(0, 0, 0), axis=(0.6, 0.8, 0)))
    system.add(mbd.JointFriction("brake", rail, mbd.Coulomb(0.5, 0.4), preload=100.0 * a))
    plate = system.add(Planar("plate", base, load, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("friction", plate, mbd.Coulomb(0.3, 0.25)))
    wind = (0, lambda t: 1.5 * a * (1.0 + 3.0 * (t / time) ** 2), 0)
    system.add(mbd.PointForce("wind", load, point=(0, 0, 0.1 * L), force=wind))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("length", "time"), [(1e-3, 1e3), (1e-6, 1.0), (1e3, 1e3), (1e6, 1e3)])
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed steps", "error control"])
def test_sliding_in_a_curve_does_not_depend_on_the_units(length: float, time: float, fixed: bool):
    """At 1e-6 m/s joints kept the direction of their first motion, and stopped where they turned."""
    ends = []
    for L, T in ((1.0, 1.0), (length, time)):
        result = mbd.simulate(sledge(L, T), 1.5 * T, **({"h": 2e-3 * T} if fixed else {"rtol": 1e-8}))
        assert not result.events
        ends.append(result["load"].r[-1] / L)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1e-2, 5e-6, 1e-7])
def test_a_driven_block_slides_on_a_circle_however_slowly(speed: float):
    """At 5e-6 m/s it stopped after a quarter of a turn, by the direction in which it had begun."""
    R, w = 0.1, speed / 0.1
    system = mbd.System("table", gravity=(0, 0, -9.81))
    arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, w)))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), r=(R, 0, 0), v=(0, speed, 0), omega_bar=(0, 0, w)))
    axis = system.add(RJ("axis", system.ground, arm, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(RotationDriver("drive", axis, lambda t: w * t))
    system.add(PointOnLine("pin", arm, block, point=(R, 0, 0), axis=(0, 0, 1)))
    plate = system.add(Planar("plate", system.ground, block, point=(R, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("friction", plate, mbd.Coulomb(0.3, 0.25)))
    t_end = 2.9 / w
    result = mbd.simulate(system, t_end, h=t_end / 200)
    assert not result.events
    assert result.energy().dissipated_work[-1] == pytest.approx(0.25 * 9.81 * speed * t_end, rel=1e-9)
    torque = result.reaction("drive").torque[:, 2]
    np.testing.assert_allclose(torque, 0.25 * 9.81 * R, rtol=1e-9)


def swinging(L: float, T: float, M: float) -> mbd.System:
    """A pendulum that starts level, and whose pin rubs."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81 * L / T**2))
    body = system.add(mbd.Body("body", M, 0.1 * M * L**2 * np.ones(3), r=(L, 0, 0)))
    pin = system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointFriction("rub", pin, mbd.Coulomb(0.4, 0.3), radius=0.05 * L))
    return system


@cache
def swung(units: tuple[float, float, float], fixed: bool) -> tuple[np.ndarray, list[float]]:
    """The last place of a pendulum, and the times of its events, in these units."""
    result = mbd.simulate(swinging(*units), 6.0 * units[1], **({"h": 2e-3 * units[1]} if fixed else {"rtol": 1e-8}))
    assert np.abs(result.energy().drift).max() < 1e-5 * units[2] * 9.81 * (units[0] / units[1]) ** 2
    return result["body"].r[-1] / units[0], [event.t / units[1] for event in result.events]


@pytest.mark.slow
@pytest.mark.parametrize(("L", "T", "M"), UNITS)
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed steps", "error control"])
def test_a_pendulum_stops_and_turns_in_any_units(L: float, T: float, M: float, fixed: bool):
    """Motions of a millisecond were refused: they stopped, beyond what speeds of 1e-12 m/s tell, and slipped without end."""
    runs = [swung((1.0, 1.0, 1.0), fixed), swung((L, T, M), fixed)]
    np.testing.assert_allclose(runs[1][0], runs[0][0], rtol=0.0, atol=SWINGS)
    assert len(runs[0][1]) == 5  # it comes to rest for an instant, five times
    np.testing.assert_allclose(runs[1][1], runs[0][1], rtol=0.0, atol=SWINGS)


@pytest.mark.slow
@pytest.mark.parametrize(("L", "T", "M"), [(1.0, 1.0, 1.0), (1e-3, 1.0, 1e-9), (1.0, 1e6, 1e-3), (1e-6, 1e-6, 1e-12)])
@pytest.mark.parametrize("kind", [TJ, Planar])
def test_the_slip_of_a_body_of_any_mass_is_located(L: float, T: float, M: float, kind: Any):
    """A slip was located 1e-12 N late: a grain of 1e-9 kg that weighs 1e-11 N slipped 20 % late, and a lighter one never."""
    system = mbd.System("block", gravity=(0, 0, -9.81 * L / T**2))
    block = system.add(mbd.Body("block", M, 0.1 * M * L**2 * np.ones(3)))
    along = {"axis": (1, 0, 0)} if kind is TJ else {"normal": (0, 0, 1)}
    joint = system.add(kind("joint", system.ground, block, point=(0, 0, 0), **along))
    system.add(mbd.JointFriction("rub", joint, mbd.Coulomb(0.4, 0.3)))
    system.add(mbd.PointForce("push", block, force=(lambda t: 5.0 * M * L / T**2 * (t / T), 0, 0)))
    result = mbd.simulate(system, 1.5 * T, rtol=1e-9)
    (slip,) = result.events
    start = 0.4 * 9.81 / 5.0
    assert slip.t / T == pytest.approx(start, abs=IN_TIME)
    d = 1.5 - start
    way = 5.0 * start * d**2 / 2 + 5.0 * d**3 / 6 - 0.3 * 9.81 * d**2 / 2
    assert result["block"].r[-1, 0] / L == pytest.approx(way, abs=1e-9)


def on_a_rail(mu: float) -> tuple[mbd.System, mbd.Body, TJ]:
    """A block on a horizontal rail."""
    system = mbd.System("block", gravity=(0, 0, -9.81))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(1.25 * mu, mu), length=1.0))
    return system, block, rail


def with_relay() -> mbd.System:
    """A force that always pushes against the motion, and is larger than friction at rest: the block stops and slips without end."""
    system, _, rail = on_a_rail(0.4)
    system.add(mbd.JointForce("relay", [rail], lambda t, q, qd: (100.0 if qd[0] <= 0.0 else -100.0,)))
    return system


@pytest.mark.slow
def test_a_relay_that_turns_at_each_stop_is_refused():
    with pytest.raises(mbd.SimulationError, match="friction 'rub' stops and slips without end at t = .* a smaller h than 0.001 s"):
        mbd.simulate(with_relay(), 1.0, h=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [mbd.DormandPrince(), mbd.DOP853()], ids=["DormandPrince", "DOP853"])
@pytest.mark.parametrize(
    "tolerances", [{"rtol": 1e-8}, {"rtol": 1e-3}, {"rtol": 1e-8, "atol": 1e-6}], ids=["default", "coarse", "atol"]
)
def test_error_control_refuses_a_relay(integrator: Any, tolerances: dict[str, float]):
    """It went on by 4e-10 s from stop to stop, without end: its steps were as long as their error allowed."""
    with pytest.raises(mbd.SimulationError, match=r"friction 'rub' stops and slips without end at t = \S+ s. Give a smooth law"):
        mbd.simulate(with_relay(), 1.0, integrator=integrator, budget=20.0, **tolerances)


@pytest.mark.slow
@pytest.mark.parametrize(("frequency", "t_end"), [(1e3, 0.05), (1e6, 5e-5)])
def test_fast_stops_are_no_stops_without_end(frequency: float, t_end: float):
    """A shaken block stops twice in each period, and each time moves on at once."""
    system, block, _ = on_a_rail(0.1)
    omega = 2.0 * np.pi * frequency
    system.add(mbd.PointForce("shake", block, force=(lambda t: 10.0 * np.sin(omega * t), 0, 0)))
    result = mbd.simulate(system, t_end, rtol=1e-8)
    assert result.success
    stops = [event.t for event in result.events if event.name == "rub stops"]
    assert len(stops) == pytest.approx(2.0 * frequency * t_end, abs=2.0)


@pytest.mark.parametrize("given", [{"h": 1e-3}, {"rtol": 1e-9, "atol": 1e-11}], ids=["fixed step", "error control"])
@pytest.mark.parametrize("speed", [None, 1.0], ids=["on the ground", "on a carriage"])
def test_the_friction_of_a_follower_does_not_stop_its_cam_at_a_dead_centre(speed: float | None, given: dict[str, Any]):
    """On a carriage the impulse that stops the follower, which its cam holds there, was rounding over rounding: 1e7 m/s."""
    m, J, g, rub, rise, start = 0.5, 0.02, 9.81, 0.15 * 2.0, 0.03, 10.0
    system = mbd.System("cam", gravity=(0, -g, 0))
    carrier, v = system.ground, (0.0 if speed is None else speed, 0, 0)
    if speed is not None:
        carrier = system.add(mbd.Body("carriage", 4.0, (0.1, 0.1, 0.1), v=v))
        system.add(TJ("track", system.ground, carrier, point=(0, 0, 0), axis=(1, 0, 0)))
    disc = system.add(mbd.Body("disc", 1.0, (0.01, 0.01, J), r=(0.1, 0.2, 0), v=v, omega_bar=(0, 0, start)))
    follower = system.add(mbd.Body("follower", m, (0.01, 0.01, 0.01), r=(0.1, 0.4, 0), v=v))
    axle = system.add(RJ("axle", carrier, disc, point=(0.1, 0.2, 0), axis=(0, 0, 1)))
    guide = system.add(TJ("guide", carrier, follower, point=(0.1, 0.4, 0), axis=(0, 1, 0)))
    system.add(Cam("cam", axle, guide, lambda angle: rise * (1.0 - np.cos(angle))))
    system.add(mbd.JointFriction("rub", guide, mbd.Coulomb(0.2, 0.15), preload=2.0))
    result = mbd.simulate(system, 0.8, **given)

    t, y, tops = 0.0, np.array([0.0, start]), []
    while t < 0.8:
        way = 1.0 if int(y[0] / np.pi) % 2 == 0 else -1.0  # the follower rises in every second half of a turn

        def rates(_: float, x: Any, way: float = way) -> list[float]:
            slope, bend = rise * np.sin(x[0]), rise * np.cos(x[0])
            return [x[1], -slope * (m * (g + bend * x[1] ** 2) + rub * way) / (J + m * slope**2)]

        half = np.pi * (int(y[0] / np.pi) + 1)
        turn = partial(lambda half, _, x: x[0] - half, half)
        turn.terminal = True  # type: ignore[attr-defined]
        part = solve_ivp(rates, (t, 0.8), y, method="DOP853", rtol=1e-12, atol=1e-13, events=turn)
        t, y = float(part.t[-1]), part.y[:, -1]
        if part.status == 1:
            tops.append(t)
            y[0] = half + 1e-15 * half
    np.testing.assert_allclose([event.t for event in result.events], tops, atol=1e-8)
    assert [event.name for event in result.events] == ["rub stops"] * len(tops)
    np.testing.assert_allclose((result.joint("axle").angle[-1], result.joint("axle").rate[-1]), y, atol=1e-7)


ENDS_AT, LIKE_OTHERS = -0.1776, 1e-4
"""[rad/s] Where the slip ends that steps of 1e-3 to 3e-3 s found; they differ by 1e-5."""
LEVEL, LOCATED = -0.4, 1e-9
"""[rad/s] A rate of the first link that it has behind the slip, and of a located event."""
SHORT_STOP = 5e-6
"""[s, m] Of the events of a tolerance of 1e-6, and of the way."""


def halting() -> mbd.System:
    """A block of 1 kg that is pulled by its friction, 0.1 N, and cos(2 pi t) N: it comes to rest from 0.1575 m/s shortly before 0.75 s."""
    system = mbd.System("halting")
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), v=(0.99 / (2.0 * np.pi), 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("rub", rail, mbd.Coulomb(0.1), preload=1.0))
    system.add(mbd.PointForce("pull", block, point=(0, 0, 0), force=(lambda t: 0.1 + np.cos(2.0 * np.pi * t), 0.0, 0.0)))
    return system


@pytest.mark.parametrize("method", [mbd.DOP853(rtol=1e-6), mbd.DormandPrince(rtol=1e-7)], ids=["DOP853", "DormandPrince"])
def test_a_stop_that_lasts_less_than_half_a_step_is_not_leapt_over(method):
    """v = (0.99 + sin 2 pi t) / 2 pi falls through zero at t1 for 45 ms; at rest from there to 0.75 s, then (1 + sin 2 pi t) / 2 pi."""
    w, rate = 2.0 * np.pi, 0.99
    t1, end = (np.pi + np.arcsin(rate)) / w, 1.5
    result = mbd.simulate(model_of(halting), end, integrator=method)
    assert [event.name for event in result.events] == ["rub stops", "rub slips"]
    np.testing.assert_allclose([event.t for event in result.events], [t1, 0.75], rtol=0.0, atol=SHORT_STOP)
    way = (rate * t1 + (1.0 - np.cos(w * t1)) / w + (end - 0.75) - np.cos(w * end) / w) / w
    assert result["block"].r[-1, 0] == pytest.approx(way, rel=0.0, abs=SHORT_STOP)


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-8}], ids=["fixed", "adaptive"])
def test_a_joint_slips_at_the_call_of_a_sampled_block(options):
    """At 0.1 s the force goes from 3 to 8 N, beyond mu_s N = 6 N: x'' = 8 - 5 for 0.1 s, then -5 for 0.06 s."""
    system = mbd.System("jump")
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(0.6, 0.5), preload=10.0))
    law = system.add(mbd.Sampled("law", 0.1, lambda t, signals: (3.0, 8.0, 0.0, 0.0)[round(10.0 * t)]))
    system.add(mbd.Motor("drive", rail, force=law["out"]))
    result = mbd.simulate(system, 0.35, **options)
    slips, stops = result.events
    assert (slips.name, slips.t, stops.name) == ("friction slips", 0.1, "friction stops")
    assert slips.jump == pytest.approx((6.0 - 8.0) - (6.0 - 3.0), rel=1e-12)
    assert stops.t == pytest.approx(0.26, abs=1e-9)
    assert result["block"].r[-1, 0] == pytest.approx(0.5 * 3.0 * 0.1**2 + 0.3**2 / 10.0, abs=1e-9)


def whipping() -> mbd.System:
    """An arm of three links with friction and soft stops, that is whipped: 'elbow' sticks from 1.1623 s on, and slips at 1.1774 s."""
    system = mbd.System("whip", gravity=(0, 0, -9.81))
    carrier = system.ground
    for k, name in enumerate(("shoulder", "elbow", "wrist")):
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.02, 0.08, 0.08), r=(0.25 + 0.5 * k, 0, 0)))
        joint = system.add(RJ(name, carrier, link, point=(0.5 * k, 0, 0), axis=(0.2 * k, 1, 0.1)))
        system.add(mbd.JointFriction(f"rub {name}", joint, mbd.Coulomb(0.5, 0.4), radius=0.1, preload=5.0))
        carrier = link
    system.add(mbd.JointLimit("stop 0", system["shoulder"], lower=-0.3, upper=0.5, k=500.0, c=10.0))
    system.add(mbd.JointLimit("stop 1", system["elbow"], lower=-0.3, upper=0.3, k=300.0, c=5.0))
    system.add(mbd.JointForce("whip", system["shoulder"], lambda t, q, qd: -30.0 * np.sin(4.0 * t)))
    return system


@cache
def about_to_slip() -> mbd.State:
    """The arm while its elbow sticks."""
    return mbd.simulate(model_of(whipping), 1.17, h=3e-3).state()


@pytest.mark.slow
def test_a_slip_is_not_lost_in_rounding():
    """Half of the runs found the slip, then that rounding leaves the joint within its limit, and held it for ever beyond it."""
    start, ends = about_to_slip(), []
    for h in np.linspace(1e-3, 2e-3, 6):
        result = mbd.simulate(model_of(whipping), 1.19, h=h, state=start)
        assert [event.name for event in result.events] == ["rub elbow slips"]
        ends.append(result.joint("elbow").rate[-1])
    np.testing.assert_allclose(ends, ENDS_AT, rtol=0.0, atol=LIKE_OTHERS)


def test_other_events_are_looked_for_where_a_joint_slips_and_sticks_in_no_time():
    """A step without any length between the two had no state in its middle: every third run ended with an event that is nan."""
    level = mbd.Event("level", lambda t, state: state.omega_bar[1, 1] - LEVEL)
    for h in np.linspace(7e-4, 9e-4, 4):
        result = mbd.simulate(model_of(whipping), 1.19, h=h, state=about_to_slip(), events=[level])
        assert [event.name for event in result.events] == ["rub elbow slips", "level"]
        assert result.events[1].state.omega_bar[1, 1] == pytest.approx(LEVEL, rel=0.0, abs=LOCATED)
