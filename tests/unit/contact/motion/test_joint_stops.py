"""Impulsive limits of joints: bounces, rests and many turns against closed forms, conservation across a hit, files, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

import haugmbd as mbd
from joints import RJ, TJ, Gear, TranslationDriver
from tests.support.with_contacts import simulate_with

ROOT = 1e-9
"""Accuracy of the times of impacts [s], and what follows from it: events are located to rounding, RK4 steps of 1e-3 are exact here."""


def falling(restitution, **options):
    """A mass on a rail falls from q = 1 to the lower limit 0; g = 10."""
    system = mbd.System("fall", gravity=(-10.0, 0, 0))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), r=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0), q0=1.0))
    system.add(mbd.JointLimit("floor", rail, lower=0.0, restitution=restitution, **options))
    return system


@pytest.mark.slow
def test_bounces_follow_the_geometric_series_and_the_last_one_stays_closed():
    """Hits at t1, t1 (1 + 2 e), ...; at rest from t1 (1 + e) / (1 - e) on, with the weight as the force of the stop."""
    e, t1 = 0.5, np.sqrt(0.2)
    result = mbd.simulate(falling(e), 2.0, h=1e-3)
    wanted = t1 * (1.0 + 2.0 * np.cumsum([0.0, *(e**k for k in range(1, 6))]))
    np.testing.assert_allclose([hit.t for hit in result.impacts[:6]], wanted, rtol=0.0, atol=ROOT)
    speeds = np.sqrt(20.0) * e ** np.arange(6)
    np.testing.assert_allclose([hit.normal["floor lower"] for hit in result.impacts[:6]], 2.0 * 1.5 * speeds, rtol=1e-8)
    floor, rail = result.contact("floor lower"), result.joint("rail").displacement
    rest = result.t > t1 * (1.0 + e) / (1.0 - e) + 1e-6
    np.testing.assert_allclose(rail[rest], 0.0, atol=ROOT)
    np.testing.assert_allclose(floor.force[rest], 20.0, rtol=1e-9)
    assert floor.closed[rest].all()
    assert rail.min() > -ROOT
    np.testing.assert_array_equal(result.load("floor").force, 0.0)


@pytest.mark.slow
def test_an_elastic_pendulum_keeps_its_energy_between_two_stops():
    system = mbd.System("pendulum", gravity=(0, -10.0, 0))
    bob = system.add(mbd.Body("bob", 2.0, (0.2, 0.2, 0.3), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=(0, 0, 1), q0=0.3))
    system.add(mbd.JointLimit("stop", pin, lower=-1.0, upper=0.5, restitution=1.0))
    result = mbd.simulate(system, 4.0, rtol=1e-10, atol=1e-12)
    assert len(result.impacts) >= 4
    total = result.energy().kinetic + result.energy().potential
    np.testing.assert_allclose(total, total[0], rtol=0.0, atol=1e-7)
    angle = result.joint("pin").angle
    assert angle.min() > -1.0 - ROOT
    assert angle.max() < 0.5 + ROOT
    hit = result.impacts[0]
    w = hit.before.omega_bar[1, 2]
    assert hit.normal["stop lower"] == pytest.approx(2.0 * 2.3 * abs(w), rel=1e-10)  # (1 + e) (J + m) |w|
    assert w**2 == pytest.approx(2.0 * 20.0 * np.sin(1.3) / 2.3, rel=1e-8)  # fallen by 1.3 rad from the horizontal
    assert "N m s" in repr(hit)


def test_a_stop_counts_turns():
    """A flywheel at 10 rad/s reaches the limit of 5 turns after pi seconds, and comes back with 0.8 of its speed."""
    system = mbd.System("reel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 10.0)))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("end", shaft, upper=10.0 * np.pi, restitution=0.8))
    result = mbd.simulate(system, 5.0, h=1e-2)
    (hit,) = result.impacts
    assert hit.t == pytest.approx(np.pi, abs=1e-6)  # RK4: the wheel turns by 0.1 rad in a step
    angle = result.joint("shaft").angle
    assert angle.max() == pytest.approx(10.0 * np.pi, abs=1e-9)
    assert angle[-1] == pytest.approx(10.0 * np.pi - 8.0 * (5.0 - np.pi), abs=1e-4)


def test_a_hit_between_free_bodies_keeps_momentum_and_turns_the_relative_speed():
    """Two free bodies on a hinge in space: v_rel+ = -e v_rel-, linear and angular momentum as before, impulse of the hinge known."""
    rng = np.random.default_rng(15)
    system = mbd.System("free")
    a = system.add(mbd.Body("a", 2.0, (0.4, 0.5, 0.6), v=rng.normal(size=3), omega_bar=(0.3, -0.2, 0.0)))
    b = system.add(mbd.Body("b", 1.0, (0.2, 0.3, 0.25), r=(1, 0.2, 0), omega_bar=(0.3, -0.2, 3.0)))
    pin = system.add(RJ("pin", a, b, point=(0.5, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", pin, upper=0.4, restitution=0.6))
    result = mbd.simulate(system, 0.5, rtol=1e-10, project_velocity=True)
    hit = result.impacts[0]

    def momenta(state):
        A = np.array([mbd.Body("x", 1.0, (1, 1, 1), p=p).A for p in state.p])
        m, J = result.model.mass, result.model.J_bar
        P = m[:, None] * state.v
        L = np.cross(state.r, P) + np.einsum("kab,kbc,kc->ka", A, J, state.omega_bar)
        relative = A[2] @ state.omega_bar[2] - A[1] @ state.omega_bar[1]
        return P.sum(axis=0), L.sum(axis=0), relative @ A[1][:, 2]

    before, after = momenta(hit.before), momenta(hit.after)
    np.testing.assert_allclose(after[0], before[0], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(after[1], before[1], rtol=0.0, atol=1e-12)
    assert after[2] == pytest.approx(-0.6 * before[2], rel=1e-11)
    assert before[2] > 0.5


@pytest.mark.slow
def test_a_closed_stop_beside_a_gear_keeps_the_numbers_of_the_angles():
    """A weight drives a gear pair into the stop of the second wheel; there it rests, with the torque that the gear transmits."""
    system = mbd.System("train", gravity=(0, -10.0, 0))
    one = system.add(mbd.Body("one", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    two = system.add(mbd.Body("two", 1.0, (0.1, 0.1, 0.1), r=(3, 0, 0)))
    a = system.add(RJ("a", system.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    b = system.add(RJ("b", system.ground, two, point=(3, 0, 0), axis=(0, 0, 1)))
    system.add(Gear("gear", a, b, ratio=-2.0))
    system.add(mbd.JointLimit("stop", b, upper=1.0, restitution=0.0))
    result = mbd.simulate(system, 2.0, h=1e-3)
    assert len(result.impacts) == 1
    assert result.joint("b").angle[-1] == pytest.approx(1.0, abs=1e-10)
    assert result.joint("a").angle[-1] == pytest.approx(-0.5, abs=1e-10)
    assert result.contact("stop upper").force[-1] == pytest.approx(10.0 * 0.5 * np.cos(0.5) / 2.0, rel=1e-9)


@pytest.mark.slow
def test_stops_act_with_contacts_and_survive_files_and_pickles(tmp_path):
    system = falling(0.5)
    block = system.bodies[1]
    floor = mbd.Contact(
        "ceiling", system.ground, block, point=(1.0, 0, 0), normal=(-1, 0, 0), plane_point=(1.5, 0, 0), restitution=0.9
    )
    state = system.compile().state()
    v = state.v.copy()
    v[1, 0] = 5.0
    result = simulate_with(system, 1.0, contacts=floor, h=1e-3, state=state.replace(v=v))
    assert [hit.contacts for hit in result.impacts[:2]] == [("ceiling",), ("floor lower",)]
    path = result.save(tmp_path / "run.npz")
    again = mbd.load(path)
    np.testing.assert_array_equal(again.y, result.y)
    assert again.contacts.keys() == result.contacts.keys()
    np.testing.assert_array_equal(again.contact("floor lower").gap, result.contact("floor lower").gap)
    model = system.save(tmp_path / "model.json")
    plain = mbd.simulate(system, 0.7, h=1e-3)
    for other in (mbd.load_model(model), pickle.loads(pickle.dumps(system)), system.compile()):
        np.testing.assert_array_equal(mbd.simulate(other, 0.7, h=1e-3).y, plain.y)
    assert plain.load("floor").power.max() == 0.0


def test_a_driver_that_runs_into_a_stop_is_named():
    system = falling(0.5)
    (rail,) = system.joints
    system.add(TranslationDriver("crank", rail, lambda t: 1.0 - 4.0 * t**2))
    with pytest.raises(mbd.SimulationError, match=r"t = 0\.5 s has no solution: .*'floor lower'.* prescribed here by 'crank': let"):
        mbd.simulate(system, 1.0, h=1e-2)


def test_a_run_with_impacts_takes_what_a_smooth_one_takes():
    system = falling(0.5)
    plain = mbd.simulate(system, 1.0, h=1e-2)
    other = mbd.simulate(
        system,
        1.0,
        h=1e-2,
        redundancy=mbd.MinimumNorm(),
        budget=100.0,
        tolerance=1e-3,
        formulation=mbd.NullSpace(),
        record_method=True,
    )
    np.testing.assert_allclose(other.y, plain.y, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(other.lam_of_method, plain.lam, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(other.accelerations_of_method[..., :3], plain.v_dot, rtol=0.0, atol=1e-6)


def test_a_start_beyond_a_stop_is_refused():
    system = falling(0.5)
    state = system.compile().state()
    r = state.r.copy()
    r[1, 0] = -0.25
    with pytest.raises(mbd.ModelError, match=r"rail.displacement is 0.25 m beyond its limit 0 m at the start"):
        mbd.simulate(system, 1.0, h=1e-2, state=state.replace(r=r))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 10.0}, "it has k or c, and a restitution"),
        ({"upper": 0.5}, "q = 1 m is 0.5 m beyond upper = 0.5 m"),
    ],
)
def test_faults_of_an_impulsive_limit(options, words):
    with pytest.raises(mbd.ModelError, match=words):
        mbd.simulate(falling(0.5, **options), 1.0, h=1e-2)
    with pytest.raises(mbd.ModelError, match="restitution is 1.5, must be between 0 and 1"):
        mbd.simulate(falling(1.5), 1.0, h=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [{"rtol": 1e-9}, {"h": 1e-3}, {"integrator": mbd.DOP853(rtol=1e-9)}], ids=["adaptive", "RK4", "DOP853"]
)
def test_a_block_with_dry_friction_sticks_at_its_stop_until_the_load_pulls_it_off(method):
    """F = 12 cos 3t on 2 kg with the limit 6 N: pressed to F = 0, held by friction to F = -6, then back: all by hand."""
    system = mbd.System("sticks", gravity=(0, 0, -10.0))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), v=(1, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, upper=0.2, restitution=0.0))
    system.add(mbd.JointFriction("rubs", rail, mbd.Coulomb(0.3)))
    system.add(mbd.PointForce("F", block, force=lambda t: (12.0 * np.cos(3.0 * t), 0, 0)))
    result = mbd.simulate(system, 1.5, **method)
    opens, slips = np.pi / 6.0, 2.0 * np.pi / 9.0
    meets = brentq(lambda t: t + 6.0 / 9.0 * (1.0 - np.cos(3.0 * t)) - 1.5 * t**2 - 0.2, 0.1, 0.2)
    names = ["stop upper meets", "stop upper opens", "rubs slips"]
    assert [one.name for one in result.events] == names
    assert [one.t for one in result.events] == pytest.approx([meets, opens, slips], abs=1e-7)
    assert np.abs(result["block"].r[(result.t > meets) & (result.t < slips), 0] - 0.2).max() < ROOT
    tau = 1.5 - slips
    back = 0.2 - 6.0 / 9.0 * (np.cos(4.5) - np.cos(3.0 * slips)) - 2.0 * np.sin(3.0 * slips) * tau + 1.5 * tau**2
    assert result["block"].r[-1, 0] == pytest.approx(back, abs=1e-7)
