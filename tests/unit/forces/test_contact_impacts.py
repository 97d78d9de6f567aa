"""The record of each impact of a compliant contact: SciPy, balances of energy and momentum, runs that store few states, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import TJ
from tests.support.contacts import SPEED, G, ball_on_floor

TIGHT = {"rtol": 1e-12, "atol": 1e-14}
CLOSE = 2e-9
"""Of speeds, lengths, impulses and energies of size 1 with these tolerances; seen 5e-10."""

pytestmark = pytest.mark.slow


def by_scipy(e, K=1e6):
    """Speed at release, largest indentation, impulse and lost energy of one impact of 1 kg under gravity."""
    c = 1.5 * (1.0 - e)

    def rates(t, x):
        elastic = K * max(x[0], 0.0) ** 1.5
        damping = elastic * c * x[1] / SPEED
        return [x[1], G - elastic - damping, elastic + damping, damping * x[1]]

    def release(t, x):
        return x[0]

    def turn(t, x):
        return x[1]

    release.terminal, release.direction, turn.direction = True, -1, -1
    found = solve_ivp(rates, (0.0, 0.1), [0.0, SPEED, 0, 0], method="DOP853", rtol=1e-13, atol=1e-16, events=[release, turn])
    return -found.y[1, -1], found.y_events[1][0][0], found.y[2, -1], found.y[3, -1]


@pytest.mark.parametrize("options", [{}, {"t_eval": [0.0, 0.5]}, {"store_every": 7}])
def test_an_impact_against_scipy(options):
    system, floor = ball_on_floor(0.5, e=0.8)
    result = mbd.simulate(system, 0.5, **TIGHT, **options)
    (hit,) = result.contact("floor").impacts
    release, deepest, impulse, lost = by_scipy(0.8)
    assert (hit.contact, hit.point) == ("floor", 0)
    assert hit.touch == pytest.approx(np.sqrt(1.0 / G), abs=CLOSE)
    assert hit.touch_speed == pytest.approx(SPEED, abs=CLOSE)
    assert hit.release_speed == pytest.approx(release, abs=CLOSE)
    assert hit.restitution == pytest.approx(0.8286491072, abs=CLOSE)
    assert hit.indentation == pytest.approx(deepest, abs=CLOSE)
    assert hit.impulse == pytest.approx(impulse, abs=CLOSE)
    assert hit.energy_lost == pytest.approx(lost, abs=CLOSE)
    assert hit.energy_lost == pytest.approx(0.5 * SPEED**2 * (1.0 - hit.restitution**2), abs=CLOSE)
    events = {event.name: event.t for event in result.events}
    assert (events["floor: touch"], events["floor: release"]) == (hit.touch, hit.release)


@pytest.mark.parametrize("options", [{}, {"t_eval": np.linspace(0.0, 0.4, 5)}])
def test_friction_takes_what_the_energy_loses(options):
    """A ball with spin: the energy of the run falls by the works of damping and friction, the momentum along rises by its impulse."""
    system, floor = ball_on_floor(0.0, e=0.7, mu=0.2, along=0.5)
    result = mbd.simulate(system, 0.4, **TIGHT, **options)
    (hit,) = result.contact("floor").impacts
    energy = result.energy()
    before, after = (energy.kinetic + energy.potential)[[0, -1]]
    assert hit.touch == 0.0
    assert hit.friction_work > 0.0
    assert before - after == pytest.approx(hit.energy_lost, abs=1e-8)
    assert hit.impulse == pytest.approx(hit.touch_speed + hit.release_speed + G * hit.duration, abs=CLOSE)


def test_a_part_a_file_a_pickle_and_other_times_keep_the_impacts(tmp_path):
    system, floor = ball_on_floor(0.5, e=0.8)
    for options in ({}, {"t_eval": np.linspace(0.0, 1.5, 16)}):
        result = mbd.simulate(system, 1.5, **TIGHT, **options)
        impacts = result.contact("floor").impacts
        assert len(impacts) == 3
        loaded = mbd.load(result.save(tmp_path / "run.npz"))
        for again in (loaded, pickle.loads(pickle.dumps(result))):
            assert again.contact("floor").impacts == impacts
        assert result[0.5:1.2].contact("floor").impacts == impacts[1:2]
        if not options:
            assert result.resample([0.1, 1.2]).contact("floor").impacts == impacts


def test_contacts_that_begin_and_end_inside():
    system, floor = ball_on_floor(0.0, e=0.8)
    whole = mbd.simulate(system, 0.02, **TIGHT)
    (hit,) = whole.contact("floor").impacts
    inside = mbd.simulate(system, 0.004, **TIGHT)
    rest = mbd.simulate(system, 0.02, state=inside.state(), **TIGHT)
    (first,), (last,) = inside.contact("floor").impacts, rest.contact("floor").impacts
    assert np.isnan([first.release, first.release_speed, first.restitution, last.touch, last.touch_speed, last.restitution]).all()
    both = first.followed_by(last)
    assert both.restitution == pytest.approx(hit.restitution, abs=CLOSE)
    assert both.indentation == pytest.approx(hit.indentation, abs=CLOSE)
    assert both.energy_lost == pytest.approx(hit.energy_lost, abs=CLOSE)


def test_the_corners_of_a_box_have_an_impact_each():
    system = mbd.System("box", gravity=(0, 0, -G))
    box = system.add(mbd.Body("box", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.15)))
    shapes = {"shape_i": mbd.Box((0.2, 0.2, 0.2)), "shape_j": mbd.Plane()}
    system.add(mbd.ContactForce("floor", box, system.ground, **shapes, K=1e5, restitution=0.6))
    result = mbd.simulate(system, 0.2, rtol=1e-10, atol=1e-12)
    impacts = result.contact("floor").impacts
    assert len(impacts) == len({hit.point for hit in impacts}) == 4
    total = sum(hit.impulse for hit in impacts)
    assert total == pytest.approx(impacts[0].touch_speed + impacts[0].release_speed + G * impacts[0].duration, abs=1e-8)


@pytest.mark.parametrize("options", [{"rtol": 1e-10}, {"rtol": 1e-10, "t_eval": [0.0, 0.02]}])
def test_a_rigid_hit_inside_a_contact_does_not_split_it(options, tmp_path):
    """The ball hangs from nothing, a sled hits its stop while the ball is inside the floor."""
    system, floor = ball_on_floor(0.0, e=0.8)
    alone = mbd.simulate(system, 0.02, rtol=1e-10).contact("floor").impacts[0]
    sled = system.add(mbd.Body("sled", 1.0, (0.1, 0.1, 0.1), r=(0, 3, 0), v=(1, 0, 0)))
    rail = system.add(TJ("rail", system.ground, sled, point=(0, 3, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, upper=0.004, restitution=0.5))
    result = mbd.simulate(system, 0.02, **options)
    assert [hit.t for hit in result.impacts] == pytest.approx([0.004], abs=1e-9)
    for one in (result, mbd.load(result.save(tmp_path / "run.npz"))):
        (hit,) = one.contact("floor").impacts
        for name in ("touch", "release", "restitution", "indentation", "impulse", "energy_lost"):
            assert getattr(hit, name) == pytest.approx(getattr(alone, name), abs=1e-7)
    assert result.contact("stop upper").gap[0] == pytest.approx(0.004)
    with pytest.raises(mbd.UsageError, match="no contact is called 'flor'"):
        result.contact("flor")


def test_an_unknown_contact_is_named():
    system, floor = ball_on_floor(0.5)
    with pytest.raises(mbd.UsageError, match="no contact is called 'flor'"):
        mbd.simulate(system, 0.1, h=1e-2).contact("flor")
