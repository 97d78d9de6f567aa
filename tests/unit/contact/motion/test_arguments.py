"""What a run with contacts is asked with, how it starts, and how it ends before its time; its older name."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import PointForce
from joints import TJ, TranslationDriver
from tests.support.bouncing import DOWN, METHODS, G, ball, box
from tests.support.with_contacts import simulate_with


def contact(system, name="floor", **changes):
    body = system["ball"]
    options = {"point": body.r, "normal": (0, 0, 1), "plane_point": (0, 0, 0), "radius": 0.1} | changes
    return mbd.Contact(name, system.ground, body, **options)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"contacts": []}, "contacts is empty"),
        ({"contacts": None}, "must be a list of Contact"),
        ({"contacts": ["floor"]}, "'floor', which is not a Contact"),
        ({"system": "ball"}, "needs a System"),
        ({"h": 1e-2, "rtol": 1e-6}, "give one of them"),
        ({"h": "fast"}, "h = 'fast' must be a number"),
        ({"h": 1e-2, "t_end": 0.0}, "t_end = 0.0 s must be a finite time after the start"),
        ({"h": 1e-2, "most_per_second": 0}, "most_per_second = 0 must be a number"),
        ({"h": 1e-2, "most_per_second": None}, "most_per_second = None must be a number"),
        ({"h": 1e-2, "formulation": "fast"}, "formulation = 'fast' must be an object, such as NewtonEuler"),
        ({"integrator": "fast"}, "integrator = 'fast' must be an object"),
        ({"h": 1e-2, "state": 3}, "state = 3 must be a State"),
    ],
)
def test_wrong_arguments(changes, text):
    system, contacts = ball(0.5)
    arguments = {"system": system, "t_end": 1.0, "contacts": contacts} | changes
    with pytest.raises(mbd.UsageError, match=text), pytest.warns(DeprecationWarning, match="system.add"):
        mbd.simulate_impacts(arguments.pop("system"), arguments.pop("t_end"), **arguments)


def test_the_older_name_gives_the_same_run_with_a_warning():
    system, contacts = ball(0.5)
    with pytest.warns(DeprecationWarning, match=r"simulate_impacts.*system\.add"):
        older = mbd.simulate_impacts(system, 0.6, contacts=contacts, h=1e-2)
    assert not system.contacts
    system.add(contacts[0])
    for whole in (system, system.compile()):
        result = mbd.simulate(whole, 0.6, h=1e-2)
        assert type(result) is type(older) is mbd.Result
        np.testing.assert_array_equal(result.y, older.y)
    with pytest.warns(DeprecationWarning, match="Result"):
        assert mbd.ImpactResult is mbd.Result


def test_all_faults_of_contacts_at_once():
    system, _ = ball(0.5)
    slide = system.add(TJ("guide", system.ground, system["ball"], point=(0, 0, 0), axis=(0, 0, 1)))
    wrong = [
        contact(system, slide.name),
        contact(system, "bad e", restitution=1.5),
        contact(system),
        contact(system),
        contact(system, ""),
    ]
    with pytest.raises(mbd.ModelError) as caught:
        simulate_with(system, 1.0, contacts=wrong, h=1e-2)
    text = str(caught.value)
    for part in (
        "contact 'guide': a joint has this name",
        "'bad e': restitution is 1.5",
        "contact 'floor': the name is used 2 times",
        "the name is empty",
    ):
        assert part in text


def test_a_start_inside_the_floor_is_refused_with_the_gap():
    system, contacts = ball(0.5, z=-0.01)
    with pytest.raises(mbd.ModelError, match=r"contact 'floor': its gap is -0\.01 m at the start"):
        simulate_with(system, 1.0, contacts=contacts, h=1e-2)


def test_a_start_that_touches_and_approaches_is_an_impact_at_once():
    system, contacts = ball(0.5, z=0.0, v=(0.0, 0.0, -2.0))
    result = simulate_with(system, 0.1, contacts=contacts, h=1e-2)
    assert [i.t for i in result.impacts] == [0.0]
    assert result.impacts[0].normal == {"floor": pytest.approx(2.0 * 2.0 * 1.5, rel=1e-12)}
    assert result["ball"].v[0, 2] == pytest.approx(1.0, rel=1e-12)


def test_a_start_at_rest_on_the_floor_is_closed_from_the_beginning():
    system, contacts = ball(0.9, z=0.0)
    result = simulate_with(system, 1.0, contacts=contacts, h=1e-2)
    floor = result.contact("floor")
    assert floor.closed.all()
    assert result.impacts == ()
    np.testing.assert_allclose(floor.force, 2.0 * G, rtol=1e-12)


def test_an_end_at_the_very_impact():
    system, contacts = ball(0.5)
    t_1 = simulate_with(system, 0.6, contacts=contacts, rtol=1e-9).impacts[0].t
    for options in METHODS.values():
        result = simulate_with(system, t_1, contacts=contacts, **options)
        assert result.t[-1] == pytest.approx(t_1, rel=0.0, abs=1e-12)
        assert result["ball"].v[-1, 2] == pytest.approx(-G * t_1, rel=1e-9)  # before the jump


def test_unknown_names():
    system, contacts = ball(0.5)
    result = simulate_with(system, 0.6, contacts=contacts, h=1e-2)
    with pytest.raises(mbd.UsageError, match="no contact is called 'wall'; the contacts are 'floor'"):
        result.contact("wall")
    with pytest.raises(mbd.UsageError, match="no joint is called 'floor'"):
        result.reaction("floor")
    assert "2 impacts" not in repr(result)
    assert repr(result).startswith("Result('ball', ")
    assert repr(result.impacts[0]).startswith("Impact at t = 0.451524 s: 'floor' ")
    assert result.state().t == 0.6


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"integrator": mbd.DormandPrince(h_max=0.02)}], ids=METHODS)
def test_ctrl_c_leaves_what_there_is(options):
    system, contacts = ball(0.5)

    def force(t):
        if t > 1.0:
            raise KeyboardInterrupt
        return (0.0, 0.0, 0.0)

    system.add(PointForce("mine", system["ball"], point=system["ball"].r, force=force))
    result = simulate_with(system, 2.0, contacts=contacts, **options)
    assert result.interrupted
    assert 0.4 < result.t[-1] <= 1.0
    assert all(i.t <= result.t[-1] for i in result.impacts)
    assert np.isfinite(result.y).all()


def test_an_error_of_the_user_keeps_what_there_is():
    system, contacts = ball(0.5)

    def force(t):
        if t > 1.0:
            raise ZeroDivisionError("my own mistake")
        return (0.0, 0.0, 0.0)

    system.add(PointForce("mine", system["ball"], point=system["ball"].r, force=force))
    with pytest.raises(ZeroDivisionError, match="my own mistake") as caught:
        simulate_with(system, 2.0, contacts=contacts, h=1e-2)
    result = caught.value.result
    assert isinstance(result, mbd.Result)
    assert len(result.impacts) == 2
    assert 0.9 < result.t[-1] <= 1.0


@pytest.mark.slow
def test_progress_is_of_the_whole(caplog, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    system, contacts = ball(0.5)
    with caplog.at_level(logging.WARNING, logger="haugmbd"):
        simulate_with(system, 2.0, contacts=contacts, h=1e-2, progress=True)
    said = [int(record.message.split()[0]) for record in caplog.records]
    assert said == sorted(set(said))
    assert said[-1] == 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"h": 2e-3, "stabilization": None},
        {"h": 2e-3, "stabilization": mbd.Baumgarte(5.0, 5.0)},
        {"integrator": mbd.SciPySolver("DOP853", rtol=1e-9, atol=1e-10)},
        {"integrator": mbd.SciPySolver("LSODA", rtol=1e-9, atol=1e-10), "stabilization": None},
        {"integrator": mbd.GeneralizedAlpha(h=5e-3)},
    ],
    ids=["none", "baumgarte", "DOP853", "LSODA", "alpha"],
)
def test_every_integrator_and_stabilization(options):
    """A box on its edge rattles until it lies flat."""
    system, contacts = box(0.3, z=0.2, turned=0.2)
    result = simulate_with(system, 1.5, contacts=contacts, **options)
    assert sum(result.contact(name).force[-1] for name in "abcd") == pytest.approx(3.0 * G, rel=1e-9)
    assert np.diff(result.energy().total).max() <= (1e-8 if "alpha" not in repr(options).lower() else 1e-3)  # of order two
    assert result.r[-1, 1, 2] == pytest.approx(0.1, rel=0.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"h": 1e-3}, {"rtol": 1e-9, "atol": 1e-10}], ids=METHODS)
def test_a_ball_on_a_shaken_plate(options):
    """The plate moves as A sin(w t): the ball on it is carried with m (g + z''), and leaves where A w^2 sin(w t) = g."""
    A, w, m = 0.05, 20.0, 1.0
    system = mbd.System("shaken", gravity=DOWN)
    plate = system.add(mbd.Body("plate", 5.0, (1.0, 1.0, 1.0), v=(0, 0, A * w)))
    body = system.add(mbd.Body("ball", m, (0.1, 0.1, 0.1), r=(0, 0, 0.1), v=(0, 0, A * w)))
    guide = system.add(TJ("guide", system.ground, plate, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(TranslationDriver("drive", guide, lambda t: A * np.sin(w * t)))
    contacts = [mbd.Contact("c", plate, body, point=body.r, normal=(0, 0, 1), radius=0.1, restitution=0.3)]
    result = simulate_with(system, 0.3, contacts=contacts, **options)
    leaves = np.arcsin(G / (A * w**2)) / w
    assert result.segments[0].t[-1] == pytest.approx(leaves, rel=0.0, abs=1e-10)
    history = result.contact("c")
    carried = m * (G - A * w**2 * np.sin(w * history.t))
    np.testing.assert_allclose(history.force[history.closed], carried[history.closed], rtol=0.0, atol=1e-9)
    thrown = A * np.sin(w * leaves) + A * w * np.cos(w * leaves) * (result.t - leaves) - 0.5 * G * (result.t - leaves) ** 2
    flight = (result.t > leaves) & (result.t <= result.impacts[0].t)
    np.testing.assert_allclose(result["ball"].r[flight, 2], 0.1 + thrown[flight], rtol=0.0, atol=1e-9)
    assert history.gap.min() >= -1e-11


def test_one_contact_may_stand_alone():
    system = mbd.System("drop", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.01, 0.01, 0.01), r=(0, 0, 1)))
    floor = mbd.Contact("floor", system.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.5)
    alone, listed = (simulate_with(system, 0.6, contacts=given, h=1e-2) for given in (floor, [floor]))
    assert [impact.t for impact in alone.impacts] == [impact.t for impact in listed.impacts]
    assert len(alone.impacts) == 1
