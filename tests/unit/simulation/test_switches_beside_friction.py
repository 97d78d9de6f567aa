"""Switches in runs with rigid contacts that have dry friction: a hand takes a box from a rough floor, and sets it down; closed forms."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import TJ, Fixed, TranslationDriver

G, MU = 9.81, 0.4
METHODS = {"adaptive": {"rtol": 1e-8}, "RK4": {"h": 2e-2}}


def at(name, time, **changes):
    """A switch at a time [s]."""
    return mbd.Event(name, lambda t, state: t - time).then(**changes)


def box_on_floor(*, v=0.0, tilt=0.0):
    system = mbd.System("floor", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    box = system.add(mbd.Body("box", 1.5, (0.01, 0.01, 0.01), r=(0, 0, 0.05), v=(v, 0, 0)))
    shapes = {"shape_i": mbd.Plane(), "shape_j": mbd.Box((0.2, 0.2, 0.1))}
    system.add(mbd.Contact("floor", system.ground, box, **shapes, mu=MU))
    return system, box


def lift(t):
    u = np.clip((t - 0.2) / 0.4, 0, 1)
    return 0.1 * u**3 * (10 - 15 * u + 6 * u**2)


def along(t):
    return 0.4 * np.maximum((t - 0.5) / 0.5, 0) ** 3


def gantry():
    """A hand on two rails that move as given, above a box."""
    system, box = box_on_floor()
    carriage = system.add(mbd.Body("carriage", 5.0, (0.1, 0.1, 0.1), r=(0, 0, 0.6)))
    hand = system.add(mbd.Body("hand", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 0.3)))
    rails = [
        system.add(TJ("rail", system.ground, carriage, point=carriage.r, axis=(1, 0, 0))),
        system.add(TJ("lift", carriage, hand, point=hand.r, axis=(0, 0, 1))),
    ]
    system.add(TranslationDriver("forward", rails[0], along))
    system.add(TranslationDriver("up", rails[1], lift))
    system.add(Fixed("grip", hand, box), active=False)
    return system


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_hand_takes_a_box_from_the_floor_and_drops_it(method):
    """While it holds the box on the floor the joints carry any part of the load: the contact none."""
    system, settings = gantry(), METHODS[method]
    take, drop = at("take", 0.15, grip="grip"), at("drop", 0.9, release="grip")
    result = mbd.simulate(system, 1.3, events=[take, drop], **settings)
    v, down = 1.2 * 0.8**2 / 0.5, np.sqrt(2 * G * 0.1)
    slow = v - MU * down  # the impact takes mu of its normal impulse
    place = 0.4 * 0.8**3 + v * down / G + slow**2 / (2 * MU * G)
    assert result["box"].r[-1] == pytest.approx([place, 0, 0.05], abs=1e-9)
    assert [one.name for one in result.events] == ["take", "floor: opens", "drop", "floor: touch", "floor: sticks"]
    assert result.check_contacts().worst < 1e-10
    floor = result.contact("floor")
    assert floor.normal_force[[0, -1]].sum(axis=1) == pytest.approx(1.5 * G)
    held = (result.t > 0.16) & (result.t < 0.19)
    assert np.abs(floor.normal_force[held]).max() < 1e-9


@pytest.mark.slow
def test_it_is_saved_and_goes_on_in_each_structure(tmp_path):
    system, box = box_on_floor(v=1.0)
    hand = system.add(mbd.Body("hand", 1.0, (0.01, 0.01, 0.01), r=(0.5, 0, 0.05)))
    system.add(Fixed("grip", box, hand), active=False)
    system.add(mbd.PointForce("hangs", hand, point=hand.r, force=(0, 0, G)))
    events = [at("take", 0.1, grip="grip"), at("drop", 0.2, release="grip")]
    result = mbd.simulate(system, 0.3, events=events, h=0.02)
    model = system.compile()
    loaded = mbd.load(result.save(tmp_path / "run.npz"), model=model)
    for name in ("gap", "normal_force", "friction_force", "state"):
        assert np.array_equal(getattr(loaded.contact("floor"), name), getattr(result.contact("floor"), name))
    assert np.array_equal(loaded.energy().drift, result.energy().drift)
    assert result.energy().drift[-1] == pytest.approx(result.switches[0].kinetic, abs=1e-9)  # friction is in the ledger
    for t in (0.06, 0.16, 0.26):
        more = mbd.simulate(model, 0.3, state=loaded.at(t), events=events, h=0.02)
        assert more.y[-1] == pytest.approx(result.y[-1], abs=1e-11)
        assert loaded.at(t).structure == more.at(t).structure


@pytest.mark.slow
def test_a_box_that_is_let_go_slides_and_one_that_is_kicked_comes_to_rest():
    system, _ = box_on_floor(tilt=0.6)
    hold = Fixed("hold", system.ground, system["box"])
    system.add(hold)
    a = G * (np.sin(0.6) - MU * np.cos(0.6))
    with pytest.warns(mbd.LockedModelWarning):
        result = mbd.simulate(system, 0.6, events=[at("go", 0.2, release="hold")], **METHODS["adaptive"])
    assert result["box"].r[-1, 0] == pytest.approx(0.5 * a * 0.4**2, abs=1e-10)

    for into in (0.0, -0.6):  # N s into the floor: friction takes mu of it
        system, box = box_on_floor()
        kick = mbd.PointImpulse("kick", box, impulse=(1.5, 0, into))
        result = mbd.simulate(system, 1.0, events=[at("kick", 0.2, kick=kick)], **METHODS["adaptive"])
        v = 1.0 + MU * into / 1.5
        assert result["box"].r[-1, 0] == pytest.approx(v**2 / (2 * MU * G), abs=1e-10)
        assert result.events[-1].name == "floor: sticks"
        assert result.events[-1].t == pytest.approx(0.2 + v / (MU * G), abs=1e-9)
        assert result.energy().drift[-1] == pytest.approx(result.switches[0].kinetic, abs=1e-10)


@pytest.mark.slow
def test_a_floor_that_is_taken_away_acts_no_more():
    system, _ = box_on_floor(v=1.0)
    result = mbd.simulate(system, 0.4, events=[at("gone", 0.2, release="floor")], **METHODS["adaptive"])
    v, x = 1.0 - MU * G * 0.2, 0.2 - MU * G * 0.02
    assert result["box"].r[-1, [0, 2]] == pytest.approx([x + v * 0.2, 0.05 - G * 0.02], abs=1e-10)
    floor = result.contact("floor")
    assert floor.normal_force[-1].tolist() == [0.0] * 4
    assert np.isnan(floor.gap[-1]).all()
    assert result.check_contacts().worst < 1e-10
    never = mbd.simulate(system, 0.2, events=[at("later", 9.0, release="floor")], **METHODS["adaptive"])
    assert list(never.contacts) == ["floor"]
    assert never.check_contacts().worst < 1e-10


def test_time_stepping_with_switches_is_refused_by_the_contact():
    system, _ = box_on_floor()
    with pytest.raises(mbd.UsageError, match=r"'floor'.*explicit method"):
        mbd.simulate(system, 0.1, events=[at("gone", 0.05, release="floor")], integrator=mbd.MoreauJean(h=0.01))
