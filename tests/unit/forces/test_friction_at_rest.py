"""Joints that stick while their bodies move: they move as welds, and carry what welds carry."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ, TJ, UJ, Coupling, Fixed, Planar

AXIS = np.array([0.6, 0.48, 0.64])
SPIN, G = 6.0, 9.81
BRAKE = mbd.Coulomb(0.5, 0.4)
PRELOAD = 1e4
"""[N] More than any motion here needs."""
STILL = 1e-12
"""[m/s, rad/s] Rounding of rates of 6 rad/s."""
ALIKE = 1e-6
"""Of reactions of 60 N: the states of both runs differ by their own errors, up to 2e-9."""
WORKLESS = 1e-6
"""[J] Of 50 J at h = 2e-3: a joint that sticks does no work."""

STOPPED = 1e-6
"""[m] Of a way of 0.15 m at h = 2e-3: in the last step before it rests, a load loses up to 1e-7 m."""

COARSE = 1e-6
"""Of a speed, at steps in which the sun turns by 0.8 rad."""

JOINTS = {
    "revolute": lambda i, j: RJ("brake", i, j, point=(0.6, 0, 0), axis=AXIS),
    "translational": lambda i, j: TJ("brake", i, j, point=(0.6, 0, 0), axis=AXIS),
    "spherical": lambda i, j: SJ("brake", i, j, point=(0.6, 0, 0)),
    "weld": lambda i, j: Fixed("brake", i, j, point=(0.6, 0, 0)),
}


def arm(kind: str) -> mbd.System:
    """An arm that swings and turns in space, and a body on it that the friction of a joint holds, or a weld."""
    system = mbd.System("arm", gravity=(0, 0, -G))
    spin, r = np.array([0.0, 0.0, SPIN]), np.array([[0.3, 0, 0], [0.8, 0.1, 0.2]])
    moving = {"omega_bar": spin}
    first = system.add(mbd.Body("arm", 2.0, (0.05, 0.2, 0.2), r=r[0], v=np.cross(spin, r[0]), **moving))
    second = system.add(mbd.Body("load", 1.0, (0.02, 0.03, 0.04), r=r[1], v=np.cross(spin, r[1]), **moving))
    system.add(UJ("base", system.ground, first, point=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 1, 0)))
    joint = system.add(JOINTS[kind](first, second))
    if kind != "weld":
        size = {} if kind == "translational" else {"radius": 0.05}
        system.add(mbd.JointFriction("friction", joint, BRAKE, preload=PRELOAD, **size))
    return system


def forearm() -> mbd.System:
    """Three links in a row that turn about the vertical axis; tilted hinges with brakes hold them: an open chain of revolute joints."""
    system, before = mbd.System("forearm", gravity=(0, 0, -G)), None
    for k in range(3):
        r = np.array([k + 0.5, 0.0, 0.0])
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.002, 0.09, 0.09), r=r, v=np.cross((0, 0, SPIN), r), omega_bar=(0, 0, SPIN)))
        axis = (0, 0, 1) if k == 0 else (0, 0.6, 0.8)
        hinge = system.add(RJ(f"hinge {k}", before or system.ground, link, point=(k, 0, 0), axis=axis))
        if k > 0:
            system.add(mbd.JointFriction(f"brake {k}", hinge, BRAKE, radius=0.1, length=0.2, preload=PRELOAD))
        before = link
    return system


METHODS = {
    "projection": {"h": 2e-3},
    "error control": {"rtol": 1e-9, "atol": 1e-11},
    "seldom": {"h": 2e-3, "stabilization": mbd.Projection(every=7)},
    "positions": {"h": 2e-3, "stabilization": mbd.Projection(velocities=False)},
    "unweighted": {"h": 2e-3, "stabilization": mbd.UnweightedProjection()},
    "Baumgarte": {"h": 1e-3, "stabilization": mbd.Baumgarte(10.0, 10.0)},
    "no stabilization": {"h": 2e-3, "stabilization": None},
    "Lie group": {"integrator": mbd.RKMK4(2e-3)},
    "SciPy": {"integrator": mbd.SciPySolver("RK45", rtol=1e-9, atol=1e-11)},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_joint_that_sticks_is_a_weld_for_every_method(method: dict[str, object]):
    """A projection moved the joint along its rate; the states then said that it slides, and its reactions were those of sliding."""
    result, welded = (mbd.simulate(arm(kind), 0.5, **method) for kind in ("translational", "weld"))
    assert not result.events
    np.testing.assert_allclose(result.joint("brake").rate, 0.0, rtol=0.0, atol=STILL)
    exact = mbd.simulate(arm("weld"), 0.5, rtol=1e-11, atol=1e-12)
    error = np.abs(welded["load"].r[-1] - exact["load"].r[-1]).max()
    assert np.abs(result["load"].r[-1] - exact["load"].r[-1]).max() < 3.0 * error + STILL
    force, weld = result.reaction("brake").force[-1], exact.reaction("brake", on="j").force[-1]
    along = result["arm"].A[-1] @ AXIS
    friction = result.load("friction").force[-1] * along
    np.testing.assert_allclose(force + friction, weld, rtol=0.0, atol=1e3 * error + ALIKE * np.linalg.norm(weld))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["revolute", "translational", "spherical"])
@pytest.mark.parametrize("times", [None, np.linspace(0.0, 0.5, 6)], ids=["all steps", "six states"])
def test_a_joint_that_sticks_does_no_work_also_between_the_stored_states(kind: str, times: object):
    result = mbd.simulate(arm(kind), 0.5, rtol=1e-8, atol=1e-10, t_eval=times)
    assert np.abs(result.energy().drift).max() < WORKLESS
    assert np.abs(result.energy().dissipated_work).max() < WORKLESS
    part = mbd.evaluate(result.model, result.at(0.123))  # between stored states
    assert np.abs(part.Phi).max() < STILL


def test_brakes_in_an_open_chain_carry_the_weight_of_what_they_hold():
    """They said 4395 N m, the friction of sliding, for 2 kg at 0.6 g m each."""
    result = mbd.simulate(forearm(), 1.0, rtol=1e-8)
    for name, weight in (("brake 1", 2.0 * G * 1.0), ("brake 2", 1.0 * G * 0.5)):
        np.testing.assert_allclose(result.load(name).torque, -0.6 * weight, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(
        np.linalg.norm(result.reaction("hinge 1").force, axis=1), np.hypot(2.0 * G, 4.0 * SPIN**2), rtol=1e-7
    )


@pytest.mark.slow
def test_locks_in_the_recursion_and_columns_of_a_dense_matrix_hold_alike():
    recursion, dense = (mbd.simulate(forearm(), 0.5, h=1e-2, formulation=f) for f in (mbd.NewtonEuler(), mbd.RangeSpace()))
    for result in (recursion, dense):
        for hinge in ("hinge 1", "hinge 2"):
            np.testing.assert_allclose(result.joint(hinge).angle, 0.0, rtol=0.0, atol=STILL)
            np.testing.assert_allclose(result.joint(hinge).rate, 0.0, rtol=0.0, atol=STILL)
    np.testing.assert_allclose(recursion.v, dense.v, rtol=0.0, atol=1e-10)  # of 15 m/s


def sledge(holds: str) -> mbd.System:
    """A load that slides on a base in a curve until it rests; a brake holds the base, or a weld."""
    system = mbd.System("sledge", gravity=(0, 0, -G))
    base = system.add(mbd.Body("base", 2.0, (0.1, 0.1, 0.1)))
    load = system.add(mbd.Body("load", 1.0, (0.02, 0.02, 0.02), r=(0, 0, 0.1), v=(0.6, 0.3, 0)))
    if holds == "weld":
        system.add(Fixed("rail", system.ground, base, point=(0, 0, 0)))
    else:
        rail = system.add(TJ("rail", system.ground, base, point=(0, 0, 0), axis=(0.6, 0.8, 0)))
        system.add(mbd.JointFriction("brake", rail, BRAKE, preload=1e3))
    plate = system.add(Planar("plate", base, load, point=(0, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointFriction("friction", plate, mbd.Coulomb(0.3, 0.25)))
    system.add(mbd.PointForce("wind", load, point=(0, 0, 0.1), force=(0, 1.5, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("method", ["projection", "error control", "Baumgarte"])
def test_a_brake_holds_what_a_load_stops_on(method: str):
    """A fixed step stops a slow load by an impulse: the brake gave way to it, and slid and stopped again and again."""
    result, welded = (mbd.simulate(sledge(holds), 0.6, **METHODS[method]) for holds in ("brake", "weld"))
    assert [event.name for event in result.events] == [event.name for event in welded.events] == ["friction stops"]
    np.testing.assert_allclose(result.joint("rail").rate, 0.0, rtol=0.0, atol=STILL)
    np.testing.assert_allclose(result["load"].r[-1], welded["load"].r[-1], rtol=0.0, atol=STOPPED)


def gearbox(torque: object) -> mbd.System:
    """A planetary set whose ring a brake holds."""
    z_sun, z_planet, z_ring, turns = 20, 16, 52, {}
    system = mbd.System("gearbox")
    for name, J in (("sun", 0.02), ("carrier", 0.05), ("ring", 0.1)):
        body = system.add(mbd.Body(name, 1.0, (J, J, J)))
        turns[name] = system.add(RJ(f"{name} axis", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    planet = system.add(mbd.Body("planet", 0.4, (0.003, 0.003, 0.003), r=(0.18, 0, 0)))
    pin = system.add(RJ("pin", system["carrier"], planet, point=(0.18, 0, 0), axis=(0, 0, 1)))
    system.add(Coupling("sun mesh", {turns["sun"]: z_sun, turns["carrier"]: -z_sun, pin: z_planet}))
    system.add(Coupling("ring mesh", {turns["ring"]: z_ring, turns["carrier"]: -z_ring, pin: -z_planet}))
    system.add(mbd.Motor("engine", turns["sun"], torque=torque))
    system.add(mbd.JointFriction("brake", turns["ring"], BRAKE, radius=0.1, preload=200.0))
    return system


REDUCED = 0.02 * 3.6**2 + 0.05 + 0.4 * 0.18**2 + 0.003 * (1.0 - 52 / 16) ** 2
"""Inertia of the set at the carrier while the ring rests: the sun turns 1 + 52 / 20 times as fast (Willis)."""


def test_a_brake_holds_the_ring_of_a_planetary_set_in_place():
    """The position of the ring follows from no row: coarse steps of fast wheels are projected, and took the ring along."""
    result = mbd.simulate(gearbox(2.0), 1.0, h=1e-2)
    np.testing.assert_allclose(result.joint("ring axis").angle, 0.0, rtol=0.0, atol=STILL)
    np.testing.assert_allclose(result.joint("ring axis").rate, 0.0, rtol=0.0, atol=STILL)
    assert result["carrier"].omega[-1, 2] == pytest.approx(2.0 * 3.6 / REDUCED, rel=COARSE)


@pytest.mark.slow
def test_a_brake_slips_at_the_torque_that_willis_equations_give():
    """With s, r of sun and ring the carrier turns (20 s + 52 r) / 72: M (s'', r'') = (T, friction), and r'' = 0 until the limit."""
    M = np.zeros((2, 2))
    carrier = np.array([20.0, 52.0]) / 72.0
    planet = carrier + 52.0 / 16.0 * (np.array([0.0, 1.0]) - carrier)
    for weight, speed in ((0.02, (1, 0)), (0.1, (0, 1)), (0.05 + 0.4 * 0.18**2, carrier), (0.003, planet)):
        M += weight * np.outer(speed, speed)
    slip = 0.5 * 200.0 * 0.1 / abs(M[1, 0] / M[0, 0]) / 10.0
    result = mbd.simulate(gearbox(lambda t: 10.0 * t), slip + 0.2, rtol=1e-9)
    assert [event.name for event in result.events] == ["brake slips"]
    assert result.events[0].t == pytest.approx(slip, abs=1e-9)
    after = slip + 0.2
    friction = 0.4 * 200.0 * 0.1 * np.sign(M[1, 0])
    impulse = np.array([5.0 * (after**2 - slip**2), friction * 0.2])
    start = np.array([5.0 * slip**2 / M[0, 0], 0.0])
    sun, ring = start + np.linalg.solve(M, impulse)
    assert result["sun"].omega[-1, 2] == pytest.approx(sun, rel=1e-7)
    assert result["ring"].omega[-1, 2] == pytest.approx(ring, rel=1e-6)


@pytest.mark.slow
def test_steps_that_are_too_long_for_a_slip_are_told_with_their_turn():
    """The sun turns by 3.7 rad in a step: the turns of its couplings are lost before the friction would stop and slip without end."""
    with pytest.raises(mbd.SimulationError, match="the turn of sun axis.angle is not known any more .* give h .* or rtol="):
        mbd.simulate(gearbox(lambda t: 10.0 * t), 3.5, h=1e-2)
