"""Touch and release of compliant stops and one-sided springs: closed form of a damped oscillator that can only push."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, TJ

K, C, MASS, SPEED, GAP, T_END = 5e3, 60.0, 2.0, 1.0, 0.1, 0.3
DELTA = 0.5 * C / MASS
OMEGA = float(np.sqrt(K / MASS - DELTA**2))
CONTACT = float((np.pi - np.arctan2(2.0 * DELTA * OMEGA, OMEGA**2 - DELTA**2)) / OMEGA)
"""[s] m x'' = -k x - c x' from x = 0 until k x + c x' = 0."""
SPEED_OFF = float(SPEED * np.exp(-DELTA * CONTACT) * (np.cos(OMEGA * CONTACT) - DELTA / OMEGA * np.sin(OMEGA * CONTACT)))
DEPTH_OFF = float(SPEED / OMEGA * np.exp(-DELTA * CONTACT) * np.sin(OMEGA * CONTACT))
TOUCH, RELEASE = GAP / SPEED, GAP / SPEED + CONTACT
AT_END = GAP + DEPTH_OFF + SPEED_OFF * (T_END - RELEASE)
EDGE = 1e-11
"""[m] a stop is switched so far, at most, behind its edge: an error of the time of touch of this size over the speed, and of the motion."""
TIGHT = {"rtol": 1e-11, "atol": 1e-13}

STOPS = {
    "upper": lambda q, s: mbd.JointLimit("stop", q, upper=s * GAP, k=K, c=C),
    "two": lambda q, s: mbd.JointLimit("stop", q, lower=s * GAP - 3.0, upper=s * GAP, k=K, c=C),
    "above": lambda q, s: mbd.JointSpring("stop", q, free=s * GAP, k=K, c=C, side="above"),
}
MIRRORED = {
    "lower": lambda q: mbd.JointLimit("stop", q, lower=-GAP, k=K, c=C),
    "two": lambda q: mbd.JointLimit("stop", q, lower=-GAP, upper=3.0, k=K, c=C),
    "below": lambda q: mbd.JointSpring("stop", q, free=-GAP, k=K, c=C, side="below"),
}


def slider(stop, v=SPEED):
    """A mass on a rail along x, with a stop."""
    system = mbd.System("slider")
    block = system.add(mbd.Body("block", MASS, (0.1, 0.1, 0.1), v=(v, 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(stop(rail))
    return system


def wheel(stop, joint=RJ):
    """A wheel with the same numbers about z, which stands at four turns when it is modelled."""
    system = mbd.System("wheel")
    body = system.add(mbd.Body("wheel", 1.0, (MASS, MASS, MASS), omega_bar=(0.0, 0.0, SPEED)))
    turns = 8.0 * np.pi
    pin = system.add(joint("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1), **({"q0": turns} if joint is RJ else {})))
    q = pin if joint is RJ else pin.coordinate("angle")
    system.add(stop(q, turns / GAP + 1.0 if joint is RJ else 1.0))
    return system


def errors(system, sign=1.0, **options):
    """Return the errors of place and speed at the end, and the result."""
    result = mbd.simulate(system, T_END, **options)
    return np.array([result["block"].r[-1, 0] - sign * AT_END, result["block"].v[-1, 0] - sign * SPEED_OFF]), result


def test_the_closed_form_pushes_until_its_force_is_zero():
    assert pytest.approx(0.0, abs=1e-11) == K * DEPTH_OFF + C * SPEED_OFF  # of terms of size 27
    assert DEPTH_OFF > 0.0 > SPEED_OFF


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [mbd.RK4(), mbd.HEM4()], ids=lambda x: type(x).__name__)
def test_events_keep_the_order_four_across_touch_and_release(integrator):
    """Without them the jump of the damping at touch costs an error of first order."""
    found = [errors(slider(lambda q: STOPS["upper"](q, 1.0)), h=h, integrator=integrator)[0] for h in (4e-3, 2e-3, 1e-3)]
    orders = np.log2(np.abs(found[:-1]) / np.abs(found[1:]))
    assert np.all(orders > 3.8)  # seen 3.95 to 3.98
    assert np.abs(found[-1]).max() < 1e-7  # seen 6e-8


@pytest.mark.parametrize("stop", STOPS)
def test_upper_stops_against_the_closed_form(stop):
    found, result = errors(slider(lambda q: STOPS[stop](q, 1.0)), **TIGHT)
    assert np.abs(found).max() < 1e-10
    touch, release = result.events
    name = "stop" if stop == "above" else "stop upper"
    assert (touch.name, release.name) == (f"{name}: touch", f"{name}: release")
    assert touch.t == pytest.approx(TOUCH, abs=EDGE)
    assert release.t == pytest.approx(RELEASE, abs=EDGE)
    assert (result.load("stop").force <= 0.0).all()
    assert abs(result.energy().drift).max() < 1e-10  # of 0.8 J that are lost


@pytest.mark.parametrize("stop", MIRRORED)
def test_lower_stops_are_their_mirror_image(stop):
    found, result = errors(slider(MIRRORED[stop], v=-SPEED), -1.0, **TIGHT)
    assert np.abs(found).max() < 1e-10
    assert [event.name.split(": ")[1] for event in result.events] == ["touch", "release"]


@pytest.mark.parametrize("joint", [RJ, CJ])
def test_a_stop_of_an_angle_after_several_turns(joint):
    result = mbd.simulate(wheel(STOPS["upper"], joint), T_END, **TIGHT)
    start = 8.0 * np.pi if joint is RJ else 0.0
    assert result.load("stop").angle[-1] == pytest.approx(start + AT_END, abs=1e-9)
    assert result["wheel"].omega_bar[-1, 2] == pytest.approx(SPEED_OFF, abs=1e-9)
    assert [event.t for event in result.events] == pytest.approx([TOUCH, RELEASE], abs=1e-10)


METHODS = {
    "DormandPrince": {**TIGHT, "integrator": mbd.DormandPrince()},
    "DOP853": {**TIGHT, "integrator": mbd.DOP853()},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=1e-3)},
    "BDF": {"integrator": mbd.BDF(rtol=1e-9, atol=1e-11)},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(2e-5)},
    "Trapezoidal": {"integrator": mbd.Trapezoidal(2e-5)},
    "RATTLE": {"integrator": mbd.RATTLE(), "h": 5e-5},
    "SciPy": {**TIGHT, "integrator": mbd.SciPySolver("DOP853")},
    "EulerParameters": {**TIGHT, "formulation": mbd.EulerParameters()},
    "NullSpace": {**TIGHT, "formulation": mbd.NullSpace()},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_family_of_methods_holds_what_pushes(method):
    found, result = errors(slider(lambda q: STOPS["upper"](q, 1.0)), **METHODS[method])
    assert np.abs(found).max() < 2e-7
    assert [event.name for event in result.events] == ["stop upper: touch", "stop upper: release"]


def test_states_between_stored_ones_do_not_see_the_jump():
    """Free before the touch: the dense output of the last step there is a line; the damped oscillator behind it."""
    _, result = errors(slider(lambda q: STOPS["upper"](q, 1.0)), **TIGHT)
    before = TOUCH - np.array([3e-2, 1e-2, 1e-3, 1e-5])
    between = result.resample(np.sort(before))
    np.testing.assert_allclose(between["block"].r[:, 0], SPEED * np.sort(before), rtol=0.0, atol=EDGE)
    np.testing.assert_allclose(between["block"].v[:, 0], SPEED, rtol=0.0, atol=EDGE)
    t = np.linspace(0.1, 0.9, 9) * CONTACT
    x = SPEED / OMEGA * np.exp(-DELTA * t) * np.sin(OMEGA * t)
    np.testing.assert_allclose(result.resample(TOUCH + t)["block"].r[:, 0], GAP + x, rtol=0.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"t_eval": [0.0, 0.05, 0.12, 0.2, T_END]}, {"store_every": 7}])
def test_what_is_stored_does_not_change_the_motion(options):
    system = slider(lambda q: STOPS["upper"](q, 1.0))
    found, result = errors(system, h=1e-3, **options)
    every, _ = errors(system, h=1e-3)
    np.testing.assert_allclose(found, every, rtol=0.0, atol=1e-12)
    assert len(result.events) == 2


def test_a_start_inside_a_stop_and_a_run_that_goes_on_have_no_touch():
    system = slider(lambda q: STOPS["upper"](q, 1.0))
    whole = mbd.simulate(system, T_END, **TIGHT)
    first = mbd.simulate(system, TOUCH + 0.4 * CONTACT, **TIGHT)
    rest = mbd.simulate(system, T_END, state=first.at(first.t[-1]), **TIGHT)
    assert [event.name for event in rest.events] == ["stop upper: release"]
    assert rest["block"].r[-1, 0] == pytest.approx(whole["block"].r[-1, 0], abs=1e-10)


def test_a_run_leaves_nothing_behind_in_its_model():
    """What a run holds is its own: accelerations at any state go by the state."""
    model = slider(lambda q: STOPS["upper"](q, 1.0)).compile()
    mbd.simulate(model, TOUCH + 0.5 * CONTACT, **TIGHT)
    state = model.state()
    assert mbd.accelerations(model, state).v_dot[1, 0] == 0.0
    r = state.r.copy()
    r[1, 0] = GAP + 0.01
    inside = mbd.State(state.t, r, state.p, state.v, state.omega_bar, state.angles)
    assert mbd.accelerations(model, inside).v_dot[1, 0] == pytest.approx(-(K * 0.01 + C * SPEED) / MASS, rel=1e-12)


def test_an_edge_at_the_end_of_a_step_makes_no_step_without_length():
    """The mass leaves the stop c / k = 12 h after its release."""
    _, result = errors(slider(lambda q: STOPS["upper"](q, 1.0)), h=1e-3)
    assert np.diff(result.t).min() > 0.0


def test_a_mass_that_is_pressed_on_a_damped_stop_comes_to_rest_there():
    """Bounces become lower and end: at rest k x = F."""
    system = slider(lambda q: STOPS["upper"](q, 1.0))
    system.add(mbd.PointForce("weight", system.bodies[1], point=(0, 0, 0), force=(20.0, 0.0, 0.0)))
    result = mbd.simulate(system, 3.0, rtol=1e-9, atol=1e-11)
    assert result["block"].r[-1, 0] == pytest.approx(GAP + 20.0 / K, abs=1e-9)
    names = [event.name for event in result.events]
    assert names[-1] == "stop upper: touch"
    assert names[:-1:2] == ["stop upper: touch"] * len(names[:-1:2])
    assert abs(result.energy().drift).max() < 1e-7


def test_a_mass_at_rest_on_its_limit_has_no_event():
    """c = 0, and no load: it neither touches nor leaves."""
    for c in (0.0, C):
        system = slider(lambda q, c=c: mbd.JointLimit("stop", q, upper=0.0, k=K, c=c), v=0.0)
        result = mbd.simulate(system, 0.1, h=1e-2)
        assert result.events == ()
        assert not result["block"].r.any()


def test_two_stops_that_touch_at_the_same_instant():
    """Halves of a stop on one coordinate are the whole."""
    system = slider(lambda q: mbd.JointLimit("stop", q, upper=GAP, k=0.5 * K, c=0.5 * C))
    (rail,) = system.joints
    system.add(mbd.JointSpring("other", rail, free=GAP, k=0.5 * K, c=0.5 * C, side="above"))
    found, result = errors(system, **TIGHT)
    assert np.abs(found).max() < 1e-10
    assert sorted(event.name for event in result.events) == [
        "other: release",
        "other: touch",
        "stop upper: release",
        "stop upper: touch",
    ]
