"""Mechanisms of the gallery against the geometry or mechanics that they are known for."""

from __future__ import annotations

import sys
from math import pi, sin, sqrt, tan

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.gallery import bouncing_toy, differential, indexing_cam, planar_slider_crank, planetary_gear, rolling_disc
from haugmbd.gallery.gears_and_cams import AREA, ATMOSPHERE, CLEARANCE, CRANK, GAMMA, ROD
from haugmbd.gallery.planar_linkages import BAR, LINE
from haugmbd.gallery.robots import digging
from haugmbd.gallery.spatial_linkages import ARM, CUBE
from haugmbd.gallery.spinning_bodies import PERIOD
from haugmbd.math.euler_parameters import rotation_matrix

GEOMETRY = 1e-8
"""[m, rad] Of runs whose projection leaves 1e-10 in a joint, times the leverage of the linkage."""

STEADY = 1e-7
"""[m] A steady motion that is integrated for some turns: a hundred times what the tolerance lets through."""


def points_of(result, body, point):
    """The path (nt, 3) of a point of a body that stands at `point` (3,) in the modelled pose."""
    history, start = result[body], result.model.bodies[result.model.body(body)]
    s_bar = rotation_matrix(start.p).T @ (np.asarray(point) - start.r)
    return history.r + np.array([rotation_matrix(p) @ s_bar for p in history.p])


def test_peaucelliers_point_moves_on_a_straight_line():
    system = gallery.peaucellier()
    result = mbd.simulate(system, 0.4, rtol=1e-9)
    joint = next(joint for joint in system.joints if joint.name == "Q")
    q = points_of(result, "QA", joint.frame_i.body.r + joint.frame_i.s_bar)
    np.testing.assert_allclose(q[:, 0], LINE, atol=GEOMETRY)
    assert np.ptp(q[:, 2]) > 0.1


@pytest.mark.slow
def test_jansens_foot_is_where_the_compass_puts_it():
    speed = 2.0 * pi
    result = mbd.kinematics(gallery.jansen_leg(drive=lambda t: -speed * t), np.linspace(0.0, 1.0, 9))
    for k, t in enumerate(result.t[:-1]):
        drawn = gallery.jansen_leg(theta=speed * t)
        for name in ("foot", "upper triangle", "link"):
            body = next(body for body in drawn.bodies if body.name == name)
            np.testing.assert_allclose(result[name].r[k], body.r, atol=GEOMETRY)


@pytest.mark.parametrize("stages", [1, 3])
def test_a_scissor_lift_stays_level_and_rises_with_the_sine(stages):
    system = gallery.scissor_lift(stages, angle=0.9)
    result = mbd.simulate(system, 0.2, rtol=1e-9)
    p = result["rising 0"].p
    angle = 0.9 - 2.0 * np.arctan2(p[:, 2], p[:, 0])
    np.testing.assert_allclose(result["platform"].r[:, 2], stages * BAR * np.sin(angle), atol=GEOMETRY)
    np.testing.assert_allclose(result["platform"].p[:, 1:], 0.0, atol=GEOMETRY)
    assert angle[-1] < 0.85


@pytest.mark.slow
def test_hobermans_ring_stays_round():
    n = 8
    result = mbd.simulate(gallery.hoberman_ring(n), 0.3, rtol=1e-9)
    step, arm = 2.0 * pi / n, ARM
    start = 0.8 * arm / sin(step / 2.0)
    pivots = [points_of(result, f"inward {k}", start * np.array([np.cos(k * step), 0.0, np.sin(k * step)])) for k in range(n)]
    radii = np.linalg.norm(pivots, axis=2)
    np.testing.assert_allclose(radii, radii[:1].repeat(n, axis=0), atol=GEOMETRY)
    assert np.ptp(radii[0]) > 0.05
    outer = start * np.cos(step / 2.0) + sqrt(arm**2 - (start * sin(step / 2.0)) ** 2)
    end = points_of(result, "outward 0", outer * np.array([np.cos(step / 2.0), 0.0, np.sin(step / 2.0)]))
    r = radii[0]
    np.testing.assert_allclose(
        np.linalg.norm(end, axis=1), r * np.cos(step / 2.0) + np.sqrt(arm**2 - (r * sin(step / 2.0)) ** 2), atol=GEOMETRY
    )


def test_the_second_shaft_turns_as_hookes_joint_says():
    beta = 0.5
    result = mbd.simulate(gallery.universal_shaft(beta), 1.0, rtol=1e-9)
    first, second = result["input"].p, result["output"].p
    u = 2.0 * np.arctan2(first[:, 1], first[:, 0])
    along = np.array([np.cos(beta), np.sin(beta), 0.0])
    side = np.array([-np.sin(beta), np.cos(beta), 0.0])
    fork = np.array([rotation_matrix(p)[:, 2] for p in second])
    out = np.arctan2(-fork @ side, fork[:, 2])
    np.testing.assert_allclose(np.sin(out) * np.cos(u), np.sin(u) * np.cos(out) / np.cos(beta), atol=GEOMETRY)
    np.testing.assert_allclose(np.array([rotation_matrix(p)[:, 0] for p in second]), np.tile(along, (len(u), 1)), atol=GEOMETRY)


def test_the_free_body_turns_over_with_the_period_of_the_elliptic_functions():
    result = mbd.simulate(gallery.dzhanibekov(), PERIOD, rtol=1e-11, atol=1e-12)
    omega_bar = result["wing nut"].omega_bar
    np.testing.assert_allclose(omega_bar[-1], omega_bar[0], atol=1e-7)
    assert omega_bar[:, 1].min() < -4.9


def test_the_gyroscope_precesses_as_fast_as_its_weight_says():
    spin = 400.0
    result = mbd.simulate(gallery.gyroscope(spin), 1.0, rtol=1e-9)
    precession = result.joint("vertical").angle[-1] / result.t[-1]
    J = 0.5 * 1.0 * 0.08**2
    assert abs(precession) == pytest.approx(
        0.1 * 9.81 * 0.1 / (J * spin), rel=0.02
    )  # slow precession; nutation is of the order 1 / spin^2
    assert abs(result.joint("horizontal").angle).max() < 0.01


@pytest.mark.slow
def test_the_engines_gas_gives_back_what_it_took():
    result = mbd.simulate(gallery.piston_engine(), 0.1, rtol=1e-10)
    z = result["piston"].r[:, 2]
    top = CRANK + ROD + CLEARANCE
    volume = (top - z) * AREA
    largest = (2.0 * CRANK + CLEARANCE) * AREA
    gas = ATMOSPHERE * largest**GAMMA * volume ** (1.0 - GAMMA) / (GAMMA - 1.0)
    stored = gas + ATMOSPHERE * volume
    energy = result.energy()
    total = energy.kinetic + energy.potential + stored
    assert np.ptp(total) <= 1e-6 * np.ptp(stored)
    assert np.ptp(z) > 1.9 * CRANK


def test_bennetts_angles_keep_their_relation():
    result = mbd.simulate(gallery.bennett(0.8), 0.5, rtol=1e-9)
    alpha, beta = pi / 6.0, 5.0 * pi / 12.0
    ratio = sin((beta + alpha) / 2.0) / sin((beta - alpha) / 2.0)
    first = 0.8
    second = 2.0 * np.arctan(ratio / tan(first / 2.0))
    turned = [result.joint(f"hinge {k}").angle for k in range(4)]
    signs = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    gaps = [np.abs(np.tan((first + a * turned[0]) / 2.0) * np.tan((second + b * turned[1]) / 2.0) - ratio).max() for a, b in signs]
    assert min(gaps) <= 1e-7
    assert np.ptp(turned[0]) > 0.05


def test_the_delta_robots_plate_does_not_turn():
    result = mbd.simulate(gallery.delta_robot(), 0.2, rtol=1e-9)
    np.testing.assert_allclose(result["plate"].p, np.tile([1.0, 0.0, 0.0, 0.0], (len(result.t), 1)), atol=GEOMETRY)
    assert np.ptp(result["plate"].r[:, 2]) > 0.05


def test_the_wheel_comes_to_rest_where_the_strut_carries_it():
    system = gallery.double_wishbone()
    balanced = mbd.equilibrium(system).state
    result = mbd.simulate(system, 3.0, rtol=1e-8)
    np.testing.assert_allclose(result.state().r, balanced.r, atol=1e-6)


def test_the_bucket_comes_back_and_its_cylinders_have_their_strokes():
    system = gallery.excavator(strokes={name: digging(name) for name in ("boom", "stick", "bucket")})
    result = mbd.kinematics(system, np.linspace(0.0, 6.0, 13))
    np.testing.assert_allclose(result["bucket"].r[-1], result["bucket"].r[0], atol=GEOMETRY)
    assert np.ptp(result["bucket"].r[:, 0]) > 1.0
    for name in ("boom", "stick", "bucket"):
        stroke = [digging(name)(t) for t in result.t]
        apart = np.linalg.norm(result[f"{name} piston"].r - result[f"{name} cylinder"].r, axis=1)
        np.testing.assert_allclose(apart - apart[0], stroke, atol=GEOMETRY)


@pytest.mark.slow
def test_the_plate_of_the_platform_stands_where_six_springs_hold_it():
    """Six equal legs under the weight of plate and pistons, and one with 1000 N more: equilibrium of forces on the plate's side."""
    system = gallery.stewart_platform()
    balanced = mbd.equilibrium(system)
    rows = mbd.evaluate(system.compile(), balanced.state)
    assert abs(rows.Phi).max() <= 1e-9
    assert balanced.state.r[1, 2] > 1.0  # the stronger leg lifts it


def test_the_stone_of_the_trebuchet_flies_faster_than_its_weight_falls():
    result = mbd.simulate(gallery.trebuchet(), 1.2, rtol=1e-8)
    speed = np.linalg.norm(result["sling"].v, axis=1).max()
    fall = np.linalg.norm(result["counterweight"].v, axis=1).max()
    assert speed > 4.0 * fall


@pytest.mark.slow
def test_the_nets_meshes_keep_their_length():
    result = mbd.simulate(gallery.net(4), 0.3, rtol=1e-8)
    r = {(i, j): result[f"ball {i} {j}"].r for i in range(4) for j in range(4)}
    for i in range(3):
        for j in range(3):
            for near in ((i + 1, j), (i, j + 1)):
                np.testing.assert_allclose(np.linalg.norm(r[near] - r[i, j], axis=1), 0.2, atol=GEOMETRY)
    np.testing.assert_allclose(
        r[0, 3][:, 2], r[3, 0][:, 2], atol=GEOMETRY
    )  # the net is symmetric about the line between its corners


@pytest.mark.slow
def test_the_planar_slider_crank_meets_its_coordinate_and_its_reference():
    module = sys.modules[planar_slider_crank.__module__]
    result = mbd.simulate(gallery.planar_slider_crank(), 0.5, rtol=1e-10, atol=1e-12)
    theta = module.START_ANGLE - result.joint("A").angle  # the joint turns about +y, theta from x to z
    along = module.CRANK_ARM * np.cos(theta) + np.sqrt(module.ROD**2 - (module.CRANK_ARM * np.sin(theta)) ** 2)
    np.testing.assert_allclose(result["slider"].r[:, 0], along, atol=GEOMETRY)
    found = {"crank angle theta": theta, "slider position x": result["slider"].r[:, 0]}
    for known in module.FREE:
        assert found[known.quantity][-1] == pytest.approx(known.value, abs=known.tol)


@pytest.mark.slow
def test_bricards_cube_is_where_others_have_it_after_ten_seconds():
    result = mbd.simulate(gallery.bricard_cube(), 10.0, rtol=1e-10, atol=1e-11)
    for known, x in zip(CUBE, result["link 2"].r[-1], strict=True):
        assert x == pytest.approx(known.value, abs=known.tol)


def test_the_planetary_set_turns_as_willis_says_and_speeds_up_as_its_inertia_says():
    module = sys.modules[planetary_gear.__module__]
    system = gallery.planetary_gear()
    result = mbd.simulate(system, 1.0, rtol=1e-9)
    ratio, spin = 1.0 + module.RING / module.SUN, -module.RING / module.PLANET
    sun, carrier, pin = (result.joint(name).angle for name in ("sun axis", "carrier axis", "pin 0"))
    np.testing.assert_allclose(sun, ratio * carrier, atol=GEOMETRY)
    np.testing.assert_allclose(pin, spin * carrier, atol=GEOMETRY)
    body = {one.name: one for one in system.bodies}
    arm, planet = np.linalg.norm(body["planet 0"].r), body["planet 0"]
    inertia = body["sun"].J_bar[2, 2] * ratio**2 + body["carrier"].J_bar[2, 2]
    inertia += 3.0 * (planet.mass * arm**2 + planet.J_bar[2, 2] * (1.0 + spin) ** 2)
    np.testing.assert_allclose(carrier[-1], module.SUN_TORQUE * ratio / inertia / 2.0, rtol=1e-8)  # constant acceleration for 1 s


def test_the_differential_halves_its_torque_and_averages_its_speeds():
    module = sys.modules[differential.__module__]
    system = gallery.differential()
    body = {one.name: one for one in system.bodies}
    pinion = body["upper pinion"]
    cage = body["cage"].J_bar[1, 1] + 2.0 * (pinion.J_bar[1, 1] + pinion.mass * module.HEIGHT**2)
    wheel, turned = body["left wheel"].J_bar[1, 1], 2.0 * pinion.J_bar[2, 2] * (module.SIDE / module.PINION) ** 2
    M = np.array([[wheel + (cage + turned) / 4.0, (cage - turned) / 4.0], [(cage - turned) / 4.0, wheel + (cage + turned) / 4.0]])
    left, right = np.linalg.solve(M, [module.DRIVE / 2.0, module.DRIVE / 2.0 - module.ROAD])
    result = mbd.simulate(system, 1.0, rtol=1e-9)
    turns = {name: result.joint(f"{name} axis").angle for name in ("left", "right", "cage")}
    np.testing.assert_allclose(turns["left"] + turns["right"], 2.0 * turns["cage"], atol=GEOMETRY)
    np.testing.assert_allclose([turns["left"][-1], turns["right"][-1]], [left / 2.0, right / 2.0], rtol=1e-8)


def test_the_disc_rolls_in_its_circle_and_keeps_its_lean():
    module = sys.modules[rolling_disc.__module__]
    result = mbd.simulate(gallery.rolling_disc(), 2.0, rtol=1e-10, atol=1e-12)
    r, around = result["disc"].r, module.speed_around(np.radians(20.0))
    np.testing.assert_allclose(r[:, 2], module.RADIUS * np.cos(np.radians(20.0)), atol=STEADY)
    angle = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
    np.testing.assert_allclose(np.hypot(r[:, 0], r[:, 1]), module.CIRCLE, atol=STEADY)
    np.testing.assert_allclose(angle, around * result.t, atol=10.0 * STEADY)


@pytest.mark.slow
def test_the_toy_hops_on_parabolas_and_loses_nothing():
    module = sys.modules[bouncing_toy.__module__]
    result = mbd.simulate(gallery.bouncing_toy(), 1.0, rtol=1e-9, atol=1e-11)
    foot, energy = result["foot"].r[:, 2], result.energy()
    stored = 0.5 * module.FLOOR * np.maximum(0.0, module.SOLE - foot) ** 2
    total = energy.kinetic + energy.potential + stored
    assert np.ptp(total) <= 1e-6 * np.ptp(energy.kinetic)
    assert foot.max() > 0.05
    mass = module.FOOT + module.HEAD
    speed = (module.FOOT * result["foot"].v[:, 2] + module.HEAD * result["head"].v[:, 2]) / mass + module.TOY_GRAVITY * result.t
    flying = (foot[1:] > module.SOLE) & (foot[:-1] > module.SOLE)
    assert flying.sum() > 20
    np.testing.assert_allclose(np.diff(speed)[flying], 0.0, atol=1e-7)


def test_the_turret_stands_and_steps_as_its_cam_says_and_the_cam_slows_while_it_carries_it():
    module = sys.modules[indexing_cam.__module__]
    system = gallery.indexing_cam()
    result = mbd.simulate(system, 4.0, rtol=1e-10, atol=1e-12)
    cam, turret = result.joint("cam axis"), result.joint("turret axis")
    np.testing.assert_allclose(turret.angle, module.stations(cam.angle), atol=GEOMETRY)
    s = np.minimum(np.mod(cam.angle, 2.0 * pi) / module.STEP, 1.0)
    slope = 2.0 * pi / module.STATIONS / module.STEP * (1.0 - np.cos(2.0 * pi * s))
    body = {one.name: one for one in system.bodies}
    J_cam, J_turret = (body[name].J_bar[2, 2] for name in ("cam", "turret"))
    np.testing.assert_allclose(cam.rate, module.SPEED / np.sqrt(1.0 + J_turret / J_cam * slope**2), rtol=1e-6)  # energy
    assert turret.angle[-1] > 3.0
