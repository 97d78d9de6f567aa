"""Runs with rigid stops: wanted times, the user's events, sticks and touches, blocks with states; against SciPy and closed forms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from joints import RJ, TJ, TranslationDriver
from tests.support.with_contacts import simulate_with

LOCATED = 1e-9
"""Accuracy of the times of impacts [s]."""
SAME = 1e-13
"""Rounding of states of size 1: dense output of the same steps."""


def falling(restitution=0.5):
    """A mass on a rail falls from q = 1 to the lower limit 0; g = 10."""
    system = mbd.System("fall", gravity=(-10.0, 0, 0))
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1), r=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0), q0=1.0))
    system.add(mbd.JointLimit("floor", rail, lower=0.0, restitution=restitution))
    return system


def height(t, state):
    return state.r[1, 0]


def speed(t, state):
    return state.v[1, 0]


def times(result, name):
    return [event.t for event in result.events if event.name == name]


@pytest.mark.slow
def test_wanted_times_are_those_of_the_result_and_lie_on_the_same_motion():
    system, wanted = falling(), np.linspace(0.0, 2.0, 21)
    result, full = mbd.simulate(system, 2.0, h=1e-3, t_eval=wanted), mbd.simulate(system, 2.0, h=1e-3)
    np.testing.assert_array_equal(result.t, wanted)
    np.testing.assert_allclose(result.y, [full.at(t).y for t in wanted], rtol=0.0, atol=SAME)
    hits = times(full, "floor lower meets")
    np.testing.assert_allclose(result.energy().total, 2.0 * 10.0 * 0.25 ** np.searchsorted(hits, wanted), atol=1e-9)
    np.testing.assert_allclose(result.at(0.33).y, full.at(0.33).y, rtol=0.0, atol=SAME)
    part = result[0.3:1.0]
    np.testing.assert_array_equal(part.t, wanted[3:11])
    np.testing.assert_array_equal(part.energy().kinetic, result.energy().kinetic[3:11])


@pytest.mark.slow
def test_a_wanted_time_at_an_impact_has_the_state_after_it():
    t1 = [hit.t for hit in mbd.simulate(falling(), 0.5, h=1e-3).impacts][0]
    result = mbd.simulate(falling(), 0.5, h=1e-3, t_eval=[0.1, t1, 0.5])
    np.testing.assert_array_equal(result.t, [0.1, t1, 0.5])
    assert result["block"].v[1, 0] == pytest.approx(0.5 * np.sqrt(20.0), rel=1e-9)
    at_end = mbd.simulate(falling(), t1, h=1e-3, t_eval=[0.1, t1])
    np.testing.assert_allclose(at_end.t, [0.1, t1], rtol=0.0, atol=1e-11)


def test_turns_are_counted_between_sparse_times():
    """A wheel of 10 rad/s hits its stop after two turns; only three states are kept."""
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.2), omega_bar=(0, 0, 10.0)))
    shaft = system.add(RJ("shaft", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    other = system.add(mbd.Body("other", 1.0, (0.1, 0.1, 0.2), r=(1, 0, 0), omega_bar=(0, 0, 30.0)))
    system.add(RJ("free", system.ground, other, point=(1, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("end", shaft, upper=4.0 * np.pi, restitution=0.5))
    result = mbd.simulate(system, 2.0, h=1e-2, t_eval=[0.0, 1.0, 2.0])
    back = 4.0 * np.pi - 5.0 * (2.0 - 0.4 * np.pi)
    np.testing.assert_allclose(result.joint("shaft").angle, [0.0, 10.0, back], rtol=0.0, atol=1e-5)  # RK4, 0.1 rad a step
    np.testing.assert_allclose(result.joint("free").angle, [0.0, 30.0, 60.0], rtol=0.0, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"h": 1e-3}, {"rtol": 1e-9}])
def test_events_inside_and_at_impacts(options):
    """The gap reaches zero at each hit, which is one event; the velocity jumps across zero there, and passes it at each top."""
    events = [
        mbd.Event("half", lambda t, state: state.r[1, 0] - 0.5),
        mbd.Event("ground", height),
        mbd.Event("down", height, direction=-1),
        mbd.Event("up", height, direction=1),
        mbd.Event("turn", speed),
    ]
    result = mbd.simulate(falling(), 2.0, events=events, **options)
    hits = [hit.t for hit in result.impacts]
    assert times(result, "half") == pytest.approx([np.sqrt(0.1)], abs=LOCATED)
    for name in ("ground", "down"):
        np.testing.assert_allclose(times(result, name), hits, rtol=0.0, atol=LOCATED)
    assert times(result, "up") == []
    jumps = [event for event in result.events if event.name == "turn" and event.jump]
    np.testing.assert_allclose([one.t for one in jumps], hits, rtol=0.0, atol=0.0)
    np.testing.assert_allclose([one.jump for one in jumps[:5]], 1.5 * np.sqrt(20.0) * 0.5 ** np.arange(5), rtol=1e-8)
    tops = [event.t for event in result.events if event.name == "turn" and not event.jump]
    middles = 0.5 * (np.array(hits[:5]) + hits[1:6])
    np.testing.assert_allclose(tops[:5], middles, rtol=0.0, atol=LOCATED)
    assert np.all(np.diff([event.t for event in result.events]) >= -LOCATED)


@pytest.mark.slow
@pytest.mark.parametrize(("event", "speed_there"), [("ground", -np.sqrt(20.0)), ("turn", 0.5 * np.sqrt(20.0)), ("top", 0.0)])
@pytest.mark.parametrize("t_eval", [None, [0.1, 2.0]])
def test_a_terminal_event_ends_the_motion_where_it_is(event, speed_there, t_eval):
    functions = {"ground": height, "turn": speed, "top": speed}
    events = [mbd.Event(event, functions[event], direction={"top": -1}.get(event, 0), terminal=True)]
    result = mbd.simulate(falling(), 2.0, h=1e-3, events=events, t_eval=t_eval)
    assert result.status is mbd.RunStatus.TERMINAL_EVENT
    assert repr(event) in result.message
    last = result.events[-1]
    assert last.name == event
    assert last.state.v[1, 0] == pytest.approx(speed_there, abs=1e-9)
    if t_eval is None:
        np.testing.assert_array_equal(result.state().v, last.state.v)
    else:
        np.testing.assert_array_equal(result.t, [0.1])


@pytest.mark.slow
def test_a_mass_that_lies_on_its_stop_has_no_events_of_rounding():
    result = mbd.simulate(falling(0.0), 2.0, h=1e-3, events=[mbd.Event("ground", height)])
    assert times(result, "ground") == pytest.approx([np.sqrt(0.2)], abs=LOCATED)
    assert result.contact("floor lower").closed[-1]


def controlled(**options):
    """A mass on a rail, a spring that pulls it through its filtered position, a stop; a counter that is called every 0.1 s."""
    system = mbd.System("controlled")
    mass = system.add(mbd.Body("mass", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    slow = system.add(mbd.LowPass("slow", "rail.displacement", 0.05))
    pull = system.add(mbd.Block("pull", outputs={"force": lambda t, x, signals: -80.0 * signals["slow.out"]}))
    system.add(mbd.JointForce("spring", [rail], pull["force"]))
    system.add(mbd.JointLimit("stop", rail, upper=0.1, restitution=0.6))
    return system, slow


def reference(t_end):
    """Return hits and the last state (q, q', x) of the same by SciPy."""

    def rates(t, y):
        return [y[1], -40.0 * y[2], (y[0] - y[2]) / 0.05]

    def stop(t, y):
        return 0.1 - y[0] if t > start + 1e-9 else 1.0

    stop.terminal, stop.direction = True, -1
    start, y, hits = 0.0, np.array([0.0, 1.0, 0.0]), []
    while start < t_end:
        found = solve_ivp(rates, (start, t_end), y, events=stop, rtol=1e-12, atol=1e-14, method="DOP853")
        start, y = found.t[-1], found.y[:, -1].copy()
        if start < t_end:
            hits.append(start)
            y[1] *= -0.6
    return hits, y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "tolerance"),
    [({"h": 2e-3}, 1e-8), ({"rtol": 1e-10, "atol": 1e-12}, 1e-8), ({"h": 2e-3, "integrator": "HHT"}, 1e-3)],
)
def test_states_of_blocks_go_on_behind_impacts_as_by_scipy(options, tolerance, tmp_path):
    if "integrator" in options:
        options = {"h": options["h"], "integrator": mbd.HHT(alpha=-0.05)}
    system, _ = controlled()
    result = mbd.simulate(system, 0.9, **options)
    hits, (q, v, x) = reference(0.9)
    assert len(hits) >= 2
    np.testing.assert_allclose([hit.t for hit in result.impacts], hits, rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(
        [result["mass"].r[-1, 0], result["mass"].v[-1, 0], result.block("slow").x[-1, 0]], [q, v, x], rtol=0.0, atol=5.0 * tolerance
    )
    again = mbd.load(result.save(tmp_path / "run.npz"), model=system.compile())
    np.testing.assert_array_equal(again.block("slow").x, result.block("slow").x)
    np.testing.assert_array_equal(again.block("pull").outputs["force"], result.block("pull").outputs["force"])


@pytest.mark.slow
def test_tables_have_the_blocks_over_all_segments():
    system, _ = controlled()
    result = mbd.simulate(system, 0.3, h=1e-2)
    assert len(result.impacts) >= 1
    np.testing.assert_array_equal(result.to_pandas()["block.slow.out"], result.block("slow").outputs["out"])


@pytest.mark.slow
def test_a_sampled_block_is_called_once_at_each_of_its_times_also_where_an_impact_is():
    """The mass of constant speed hits the stop at 0.1 s exactly, one of the times of the counter."""
    calls = []
    system = mbd.System("counted")
    mass = system.add(mbd.Body("mass", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    rail = system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, upper=0.1, restitution=0.5))
    system.add(mbd.Sampled("count", 0.05, lambda t, x, signals: calls.append(t) or x + 1.0))
    result = mbd.simulate(system, 0.3, h=1e-2)
    assert len(result.impacts) == 1
    np.testing.assert_allclose(calls, 0.05 * np.arange(6), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(result.block("count").x[-1], 6.0)


@pytest.mark.slow
def test_sticks_and_touches_are_events_beside_hits(tmp_path):
    """Three independent parts: a mass between stops, a mass that slides to rest, and a ball that bounces on a compliant plane."""
    system = mbd.System("three", gravity=(0, 0, -9.81))
    one = system.add(mbd.Body("one", 1.0, (0.1, 0.1, 0.1), v=(1, 0, 0)))
    rail = system.add(TJ("rail", system.ground, one, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, lower=-0.1, upper=0.1, restitution=0.9))
    two = system.add(mbd.Body("two", 1.0, (0.1, 0.1, 0.1), r=(0, 2, 0), v=(1, 0, 0)))
    track = system.add(TJ("track", system.ground, two, point=(0, 2, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("friction", track, mbd.Coulomb(0.3, 0.3), stick=True))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 5, 0.3)))
    plane, sphere = mbd.Plane(point=(0, 0, 0), normal=(0, 0, 1)), mbd.Sphere(0.1)
    system.add(mbd.ContactForce("hit", system.ground, ball, shape_i=plane, shape_j=sphere, K=1e6, restitution=0.8))
    alone = mbd.System("alone", gravity=(0, 0, -9.81))
    same = alone.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0, 5, 0.3)))
    alone.add(mbd.ContactForce("hit", alone.ground, same, shape_i=plane, shape_j=sphere, K=1e6, restitution=0.8))
    wanted = np.linspace(0.0, 0.5, 11)
    result = mbd.simulate(system, 0.5, h=5e-4, t_eval=wanted)
    assert len(result.impacts) == 2
    assert times(result, "friction stops") == pytest.approx([1.0 / (0.3 * 9.81)], abs=1e-9)
    apart = mbd.simulate(alone, 0.5, h=5e-4)
    for what in ("hit: touch", "hit: release"):
        np.testing.assert_allclose(times(result, what), times(apart, what), rtol=0.0, atol=1e-8)  # other steps inside the contact
    for again in (mbd.load(result.save(tmp_path / "run.npz")), pickle.loads(pickle.dumps(result))):
        np.testing.assert_array_equal(again.y, result.y)
        assert [(one.name, one.t, one.jump) for one in again.events] == [(one.name, one.t, one.jump) for one in result.events]
        np.testing.assert_array_equal(again.energy().total, result.energy().total)


@pytest.mark.slow
def test_the_work_of_a_driver_between_wanted_times_is_whole():
    def build():
        system = falling()
        sled = system.add(mbd.Body("sled", 1.0, (0.1, 0.1, 0.1), r=(0, 3, 0)))
        track = system.add(TJ("track", system.ground, sled, point=(0, 3, 0), axis=(1, 0, 0)))
        system.add(TranslationDriver("drive", track, lambda t: t * t))
        return system

    result = mbd.simulate(build(), 1.5, h=1e-2, t_eval=[0.5, 1.5])
    t = np.array([0.5, 1.5])
    np.testing.assert_allclose(
        result.driver("drive").work[1] - result.driver("drive").work[0], np.diff(2.0 * t**2 + 10.0 * t**2)[0]
    )
    done = 2.0 * t**2 + 10.0 * t**2
    np.testing.assert_allclose(
        result.energy().applied_work, done - done[0], rtol=1e-9
    )  # since the first state, as of other results
    np.testing.assert_allclose(
        mbd.simulate(build(), 1.5, h=1e-2, t_eval=[0.0, 0.5, 1.5]).energy().applied_work[1:], done, rtol=1e-9
    )


def test_a_delay_is_refused_by_name():
    system, _ = controlled()
    system.add(mbd.DelayLine("late", "rail.displacement", 0.1))
    with pytest.raises(mbd.UsageError, match="does not take DelayLine 'late'"):
        mbd.simulate(system, 0.2, h=1e-2)


def test_wrong_times_and_events_are_refused():
    with pytest.raises(mbd.UsageError, match="t_eval runs from 0 to 3 s"):
        mbd.simulate(falling(), 2.0, h=1e-2, t_eval=[0.0, 3.0])
    with pytest.raises(mbd.UsageError, match="which is not an Event"):
        mbd.simulate(falling(), 2.0, h=1e-2, events=[height])


@pytest.mark.parametrize(
    ("study", "options"),
    [
        ("compare", {"methods": [mbd.Method()]}),
        ("convergence", {"methods": [mbd.Method(integrator=mbd.RK4())], "h": [0.1, 0.05, 0.025]}),
        ("work_precision", {"methods": [mbd.Method()]}),
        ("gain_map", {"alpha": [1.0], "beta": [1.0], "h": 1e-2}),
    ],
)
def test_studies_of_methods_refuse_stops(study, options):
    with pytest.raises(mbd.UsageError, match=f"{study} needs a smooth motion, and JointLimit 'floor' is rigid"):
        getattr(mbd, study)(falling(), t_end=1.0, **options)


def against_a_stop(v=2.5):
    """A mass of 1 kg on a rail, whose rigid stop at 0.1 m does not bounce."""
    system = mbd.System("slide")
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), v=(v, 0, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointLimit("stop", rail, upper=0.1, restitution=0.0))
    return system, rail


def test_a_stop_does_not_hold_what_friction_holds():
    """It comes to rest at the stop under a pull of 2 + 10 t: friction of 5 N holds it until 0.3 s; then x'' = -10 (t - 0.3)."""
    system, rail = against_a_stop()
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(0.5), preload=10.0))
    system.add(mbd.JointForce("pull", rail, lambda t, q, qd: -2.0 - 10.0 * t))
    result = mbd.simulate(system, 0.6, h=1e-2)
    assert times(result, "friction slips") == pytest.approx([0.3], abs=LOCATED)
    assert result.contact("stop upper").force.min() == 0.0
    at_rest = (result.t > 0.1) & (result.t < 0.3)
    np.testing.assert_allclose(result.load("friction").force[at_rest], 2.0 + 10.0 * result.t[at_rest], rtol=1e-9)
    assert result["block"].r[-1, 0] == pytest.approx(0.1 - 10.0 * 0.3**3 / 6.0, abs=LOCATED)


@pytest.mark.parametrize("way", [1.0, -1.0], ids=["pressed", "drawn off"])
def test_a_stop_is_pressed_or_left_by_the_friction_of_the_whole_load(way):
    """30 N press a sledge with a sliding block of 1 kg against a ceiling: its friction is 0.3 x 30 N.  In free flight it would be a third.

    The sledge is pushed by 5 N the other way, less than 9 N, and more than 3 N.
    """
    system = mbd.System("sledge")
    J = (0.1, 0.1, 0.1)
    speeds = {"lift": 0.0, "sledge": 0.0, "block": 10.0 * way}
    lift, sledge, block = (system.add(mbd.Body(name, 1.0, J, v=(v, 0, 0))) for name, v in speeds.items())
    system.add(TJ("mast", system.ground, lift, point=(0, 0, 0), axis=(0, 1, 0)))
    rail = system.add(TJ("rail", lift, sledge, point=(0, 0, 0), axis=(1, 0, 0)))
    slide = system.add(TJ("slide", sledge, block, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("friction", slide, mbd.Coulomb(0.3)))
    system.add(mbd.JointLimit("stop", rail, upper=0.0, restitution=0.0))
    system.add(mbd.PointForce("up", lift, point=(0, 0, 0), force=(0, 30.0, 0)))
    system.add(mbd.PointForce("push", sledge, point=(0, 0, 0), force=(-5.0 * way, 0, 0)))
    ceiling = mbd.Contact("ceiling", system.ground, block, point=(0, 0, 0), normal=(0, -1, 0))
    result = simulate_with(system, 0.1, contacts=[ceiling], h=1e-2)
    np.testing.assert_allclose(result.contact("ceiling").force, 30.0, rtol=1e-9)
    np.testing.assert_allclose(result.contact("stop upper").force, 9.0 - 5.0 if way > 0.0 else 0.0, rtol=1e-9)
    left = 0.0 if way > 0.0 else -0.5 * 4.0 * result.t**2
    np.testing.assert_allclose(result["sledge"].r[:, 0], left, rtol=0.0, atol=LOCATED)


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-8}], ids=["fixed", "adaptive"])
def test_a_stop_opens_where_a_call_reverses_the_force(options):
    """8 N until the call at 0.2 s, then -12 N: x = 0.1 - 6 (t - 0.2)^2.  The force of the stop is 8 N, and never a pull."""
    system, rail = against_a_stop()
    law = system.add(mbd.Sampled("law", 0.1, lambda t, signals: 8.0 if t < 0.15 else -12.0))
    system.add(mbd.Motor("drive", rail, force=law["out"]))
    result = mbd.simulate(system, 0.4, **options)
    stop = result.contact("stop upper")
    assert times(result, "stop upper opens") == [0.2]
    np.testing.assert_allclose(stop.force[stop.closed], 8.0, rtol=1e-9)
    np.testing.assert_allclose(np.unique(result.block("law").x), [-12.0, 8.0])
    assert result["block"].r[-1, 0] == pytest.approx(0.1 - 6.0 * 0.2**2, abs=LOCATED)
