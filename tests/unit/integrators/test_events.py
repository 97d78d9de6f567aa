"""Events: located on the numerical solution, in closed form where there is one; direction, end of the run, and functions that fail."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

import haugmbd as mbd
from haugmbd import StateForce
from haugmbd.integrators.event_location import Bracket, brents_zero
from haugmbd.integrators.leaps import turn_of_values
from joints import RJ, TJ
from tests.support.models import model_of

G = 9.81
METHODS = {
    "RK4": {"h": 1e-2},
    "DormandPrince": {"rtol": 1e-10, "atol": 1e-12},
    "DOP853": {"integrator": mbd.SciPySolver("DOP853", rtol=1e-10, atol=1e-12)},
    "RK45": {"integrator": mbd.SciPySolver("RK45", rtol=1e-10, atol=1e-12)},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-2)},
    "GeneralizedAlphaR7": {"integrator": mbd.GeneralizedAlphaR7(h=1e-2)},
    "LSODA": {"integrator": mbd.SciPySolver("LSODA", rtol=1e-11, atol=1e-12), "stabilization": None},
}


def thrown(v=(0.0, 0.0, 0.0), z=0.0) -> mbd.System:
    """A free body in gravity."""
    system = mbd.System("thrown", gravity=(0.0, 0.0, -G))
    system.add(mbd.Body("ball", 2.0, (1.0, 1.0, 1.0), r=(0.0, 0.0, z), v=v))
    return system


def rising() -> mbd.System:
    """A free body, thrown up with 5 m/s."""
    return thrown(v=(0.0, 0.0, 5.0))


def pendulum() -> mbd.System:
    """A bar of mass 2 kg and length 1 m, held level."""
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -G))
    bar = system.add(mbd.Body("bar", 2.0, (1e-3, 2.0 / 12.0, 2.0 / 12.0), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def height(z):
    return lambda t, state: state.r[1, 2] - z


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_fall_through_heights(options):
    """r = -g t^2 / 2 is a parabola: every method is exact, and the times are rounded in the root only."""
    heights = (-0.5, -1.0, -3.0)
    result = mbd.simulate(model_of(thrown), 1.0, events=[mbd.Event(f"at {z}", height(z)) for z in heights], **options)
    assert [e.name for e in result.events] == [f"at {z}" for z in heights]
    for record, z in zip(result.events, heights, strict=True):
        assert record.t == pytest.approx(np.sqrt(-2.0 * z / G), rel=0.0, abs=1e-10)
        assert record.t == record.state.t
        assert record.state.r[1, 2] == pytest.approx(z, rel=0.0, abs=1e-11)
        assert record.state.v[1, 2] == pytest.approx(-np.sqrt(-2.0 * G * z), rel=0.0, abs=1e-9)
    assert result.t[-1] == 1.0  # none of them ends the run


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"h": 2e-4}, {"rtol": 1e-12, "atol": 1e-13}], ids=["RK4", "DormandPrince"])
def test_the_period_of_a_pendulum(options):
    """Released at 90 degrees from below: T = 4 K(m) sqrt(I / m g s), m = sin^2(90 / 2)."""
    period = 4.0 * ellipk(0.5) * np.sqrt((2.0 / 3.0) / (2.0 * G * 0.5))
    down = mbd.Event("down", lambda t, state: state.r[1, 0], direction=-1)
    result = mbd.simulate(model_of(pendulum), 3.2, events=[down], **options)
    times = np.array([e.t for e in result.events])
    np.testing.assert_allclose(times, period * (0.25 + np.arange(len(times))), rtol=0.0, atol=1e-9)
    assert len(times) == 2
    model = result.model
    for e in result.events:  # on the constraints, as every state
        assert abs(mbd.evaluate(model, e.state).Phi).max() <= 1e-12


@pytest.mark.parametrize(("direction", "expected"), [(1, [0]), (-1, [1]), (0, [0, 1]), (2.5, [0])])
def test_direction(direction, expected):
    """Thrown up with 5 m/s: through 1 m on the way up, and on the way down."""
    both = (5.0 + np.array([-1.0, 1.0]) * np.sqrt(25.0 - 2.0 * G)) / G
    result = mbd.simulate(thrown(v=(0, 0, 5.0)), 1.0, h=1e-2, events=[mbd.Event("1 m", height(1.0), direction=direction)])
    np.testing.assert_allclose([e.t for e in result.events], both[expected], rtol=0.0, atol=1e-11)


def test_two_zeros_in_one_step_are_seen():
    """Thrown up with 5 m/s, steps of 0.5 s: the top, at 0.51 s and 1.274 m, is inside the second step."""
    both = (5.0 + np.array([-1.0, 1.0]) * np.sqrt(25.0 - 2.0 * G * 1.25)) / G
    assert 0.5 > both[0] > 0.4  # so cut the first step off
    result = mbd.simulate(thrown(v=(0, 0, 5.0)), 1.2, integrator=mbd.RK4(h=0.4, h_first=0.3), events=[mbd.Event("h", height(1.25))])
    np.testing.assert_allclose([e.t for e in result.events], both, rtol=0.0, atol=1e-11)


LEAPT = {
    "RK4": ({"h": 0.4}, 1e-11),
    "DormandPrince": ({"rtol": 1e-8}, 1e-11),
    "DOP853": ({"integrator": mbd.DOP853()}, 1e-11),
    "RadauIIA": ({"integrator": mbd.RadauIIA()}, 1e-11),
    "GeneralizedAlpha": ({"integrator": mbd.GeneralizedAlpha(h=0.3)}, 1e-11),
    "BDF": ({"integrator": mbd.BDF()}, 1e-7),  # of its error control, over the speed of 0.14 m/s at which the height is passed
}
"""Methods, and the error of their events [s]; a parabola is exact in the others."""


@pytest.mark.parametrize(("options", "error"), LEAPT.values(), ids=LEAPT)
def test_two_zeros_between_values_that_do_not_show_them_are_seen(options, error):
    """Thrown up with 5 m/s, through a height 1 mm below its top: twice in 29 ms, in which no method looks by itself."""
    top = 25.0 / (2.0 * G)
    both = (5.0 + np.array([-1.0, 1.0]) * np.sqrt(2.0 * G * 1e-3)) / G
    for below, expected in ((1e-3, both), (-1e-3, ())):
        event = mbd.Event("h", height(top - below))
        result = mbd.simulate(model_of(rising), 1.2, events=[event], **options)
        np.testing.assert_allclose([e.t for e in result.events], expected, rtol=0.0, atol=error)
    ends = mbd.simulate(model_of(rising), 1.2, events=[mbd.Event("h", height(top - 1e-3), direction=-1, terminal=True)], **options)
    assert ends.t[-1] == pytest.approx(both[1], rel=0.0, abs=error)


def test_a_turn_is_sought_where_values_turn_towards_zero_only():
    """Of smooth functions, those that pass zero and return are found, and no other costs many values."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        speed, phase, sign = rng.uniform(0.3, 1.0), rng.uniform(0.1, 0.9), rng.choice([-1.0, 1.0])
        depth = 10.0 ** rng.uniform(-9.0, -3.0)
        for zero in (depth, -depth):
            calls = []

            def g(t, speed=speed, phase=phase, zero=zero, sign=sign, calls=calls):
                calls.append(t)
                x = speed * (t - phase)
                return sign * (1.0 - np.cos(x) + 0.05 * np.sin(x) ** 3 - zero)

            values = [g(t) for t in (0.0, 0.5, 1.0)]
            found = turn_of_values(g, (0.0, 0.5, 1.0), values)
            if min(values) * max(values) <= 0.0:  # seen without a search
                continue
            assert (found is not None) == (zero > 0.0)
            assert found is None or (0.0 < found < 1.0 and sign * g(found) < 0.0)
            assert len(calls) < 20
    straight = (3.0, 2.0, 1.0)
    assert turn_of_values(lambda t: pytest.fail("a straight line does not turn"), (0.0, 0.5, 1.0), straight) is None


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_terminal_event_is_the_end(options):
    t_floor = np.sqrt(2.0 / G)
    events = [
        mbd.Event("floor", height(-1.0), terminal=True),
        mbd.Event("half", height(-0.5)),
        mbd.Event("below", height(-1.0 - 1e-9)),
    ]
    result = mbd.simulate(model_of(thrown), 5.0, events=events, **options)
    assert [e.name for e in result.events] == ["half", "floor"]
    assert result.t[-1] == result.events[-1].t == pytest.approx(t_floor, rel=0.0, abs=1e-10)
    np.testing.assert_array_equal(result.y[-1], result.events[-1].state.y)
    assert len(result.t) == result.counters.steps + 1
    assert (np.diff(result.t) > 0.0).all()
    np.testing.assert_allclose(result["ball"].r[:, 2], -0.5 * G * result.t**2, rtol=0.0, atol=1e-10)


def test_the_end_with_wanted_times_and_with_every_tenth_step():
    """t_eval gives the wanted times up to the end, and no other; store_every keeps the end as it always does."""
    floor, t_floor = mbd.Event("floor", height(-1.0), terminal=True), np.sqrt(2.0 / G)
    wanted = np.linspace(0.0, 1.0, 101)
    result = mbd.simulate(model_of(thrown), 1.0, h=1e-2, t_eval=wanted, events=[floor])
    np.testing.assert_array_equal(result.t, wanted[wanted <= t_floor])
    assert result.events[0].t == pytest.approx(t_floor, rel=0.0, abs=1e-12)
    thinned = mbd.simulate(model_of(thrown), 1.0, h=1e-2, store_every=10, events=[floor])
    np.testing.assert_allclose(thinned.t, [0.0, 0.1, 0.2, 0.3, 0.4, t_floor], rtol=0.0, atol=1e-12)


def test_a_start_at_zero_is_no_event_and_an_end_at_zero_is_one():
    result = mbd.simulate(model_of(thrown), 0.5, h=0.25, events=[mbd.Event("start", height(0.0))])
    assert result.events == ()
    clock = mbd.simulate(model_of(thrown), 0.5, h=0.25, events=[mbd.Event("noon", lambda t, state: t - 0.5, terminal=True)])
    assert [e.t for e in clock.events] == [0.5]
    assert clock.t[-1] == 0.5


def test_a_jump_is_located_as_well():
    result = mbd.simulate(model_of(thrown), 0.5, h=0.01, events=[mbd.Event("jump", lambda t, state: 1.0 if t < 0.123456 else -1.0)])
    assert result.events[0].t == pytest.approx(0.123456, rel=0.0, abs=1e-12)


def test_the_work_in_vain_is_small():
    """The batch that an event ends is at most as long as what came before it."""
    plain = mbd.simulate(model_of(thrown), np.sqrt(2.0 / G), h=1e-3)
    ended = mbd.simulate(model_of(thrown), 50.0, h=1e-3, events=[mbd.Event("floor", height(-1.0), terminal=True)])
    assert ended.counters.steps == plain.counters.steps
    assert plain.counters.evaluations < ended.counters.evaluations <= 2.5 * plain.counters.evaluations


@pytest.mark.slow
def test_events_are_saved_and_read_back(tmp_path):
    result = mbd.simulate(model_of(thrown), 0.5, h=0.01, events=[mbd.Event("half", height(-0.5))])
    for ending in ("npz", "nc"):
        loaded = mbd.load(result.save(tmp_path / f"fall.{ending}"))
        assert [(e.name, e.t) for e in loaded.events] == [(e.name, e.t) for e in result.events]
        np.testing.assert_array_equal(loaded.events[0].state.y, result.events[0].state.y)


def fails(t, state):
    if t > 0.25:
        raise ZeroDivisionError("my own mistake")
    return 1.0


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (fails, r"event 'mine' raises ZeroDivisionError: my own mistake \(at t = 0\.25"),
        (lambda t, state: np.nan if t > 0.25 else 1.0, r"event 'mine' gives nan at t = 0\.25"),
        (lambda t, state: None, r"event 'mine' raises TypeError"),
        (lambda t, state: state.r.fill(0.0), r"event 'mine' raises ValueError: assignment destination is read-only"),
        (
            lambda t, state: t > 0.25,
            r"event 'mine' gives False at t = 0 s, and a truth value has no zero to locate. Give a difference",
        ),
        (lambda t, state: state.r[1, 2] > -0.2, r"event 'mine' gives True at t = 0 s, and a truth value has no zero to locate"),
    ],
    ids=["raises", "nan", "none", "writes", "truth", "numpy's truth"],
)
def test_a_function_that_fails(function, text):
    with pytest.raises(mbd.SimulationError, match=text) as caught:
        mbd.simulate(model_of(thrown), 0.5, h=0.01, events=[mbd.Event("mine", function)])
    assert caught.value.result.t[0] == 0.0
    assert np.isfinite(caught.value.result.y).all()


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_a_random_function_is_told_and_loses_nothing(seed, options):
    """No answer of g can end the search in SciPy's words, or take the states before it away."""
    random = np.random.default_rng(seed)
    noise = [mbd.Event(f"noise {k}", lambda t, state: random.normal() if t > 0.25 else 1.0) for k in range(8)]
    with pytest.raises(
        mbd.SimulationError, match=r"event 'noise .' is not a function of \(t, state\): evaluated twice at t = "
    ) as caught:
        mbd.simulate(model_of(thrown), 0.5, events=noise, **options)
    result = caught.value.result
    assert result.t[0] == 0.0
    assert result.t[-1] >= 0.25
    np.testing.assert_allclose(result["ball"].r[:, 2], -0.5 * G * result.t**2, rtol=0.0, atol=1e-9)


def test_a_function_that_counts_is_told():
    calls = iter(range(10**6))
    with pytest.raises(mbd.SimulationError, match="is not a function of"):
        mbd.simulate(model_of(thrown), 0.5, h=0.01, events=[mbd.Event("count", lambda t, state: next(calls) - 30.5)])


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_sign_change_without_a_zero_says_so(options):
    """A jump, a pole, and a plain zero: only the zero has no jump."""
    events = [
        mbd.Event("jump", lambda t, state: np.sign(0.123456 - t)),
        mbd.Event("pole", lambda t, state: 1.0 / (0.234567 - t)),
        mbd.Event("zero", height(-0.5)),
        mbd.Event("steep", lambda t, state: 1e9 * (state.r[1, 2] + 0.7)),
    ]
    records = {e.name: e for e in mbd.simulate(model_of(thrown), 0.5, events=events, **options).events}
    assert records["jump"].t == pytest.approx(0.123456, rel=0.0, abs=1e-12)
    assert records["jump"].jump == -2.0
    assert records["pole"].t == pytest.approx(0.234567, rel=0.0, abs=1e-12)
    assert abs(records["pole"].jump) > 1e9
    assert records["zero"].jump == records["steep"].jump == 0.0


@pytest.mark.slow
def test_ctrl_c_in_an_event_function_leaves_the_result_so_far():
    def interrupts(t, state):
        if t > 3.0:
            raise KeyboardInterrupt
        return 1.0

    result = mbd.simulate(model_of(thrown), 5.0, h=1e-3, events=[mbd.Event("mine", interrupts)])
    assert result.interrupted
    assert 1.0 < result.t[-1] <= 3.0


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
def test_what_is_raised_beyond_a_terminal_event(stop):
    """An error there is of a motion that does not take place; Ctrl-C is heeded wherever it comes."""

    running = []

    def force(t, r, p, v, omega_bar):
        if running and t > 0.46:
            raise stop
        return np.zeros((1, 6))

    system = thrown()
    system.add(StateForce("mine", [system["ball"]], force=force))
    running.append(True)
    result = mbd.simulate(system, 5.0, h=1e-2, events=[mbd.Event("floor", height(-1.0), terminal=True)])
    assert result.t[-1] == result.events[0].t == pytest.approx(np.sqrt(2.0 / G), rel=0.0, abs=1e-10)
    assert result.interrupted is (stop is KeyboardInterrupt)


@pytest.mark.slow
@pytest.mark.parametrize("h", [0.1, 0.07, 1e-3, 0.3])
def test_a_fixed_step_ends_at_the_end_exactly(h):
    for t_end in (0.3, 0.6, 0.7, 0.9999999999):
        result = mbd.simulate(model_of(thrown), t_end, h=h, store_every=1000)
        np.testing.assert_array_equal(result.t, [0.0, t_end])


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (mbd.Event("one", height(0.0)), "must be a list of Event"),
        (None, "must be a list of Event"),
        ([height(0.0)], "which is not an Event"),
        ([mbd.Event("", height(0.0))], "an event is called ''"),
        ([mbd.Event("one", 3.0)], "event 'one': function is 3.0"),
        ([mbd.Event("one", height(0.0), direction="up")], "event 'one': direction is 'up'"),
        ([mbd.Event("one", height(0.0), terminal=1)], "event 'one': terminal is 1"),
        ([mbd.Event("one", height(0.0)), mbd.Event("one", height(1.0))], "'one' names more than one event"),
    ],
)
def test_what_is_no_event_is_refused(events, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(model_of(thrown), 1.0, h=0.1, events=events)


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-8}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_function_that_jumps_at_a_call_of_a_sampled_block_is_recorded_there(options, terminal):
    """The acceleration goes from 1.5 to -2 m/s2 at 0.05 s, inside no step."""
    system = mbd.System("jump")
    block = system.add(mbd.Body("block", 2.0, (0.1, 0.1, 0.1)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(1, 0, 0)))
    law = system.add(mbd.Sampled("law", 0.05, lambda t, signals: 3.0 if t < 0.04 else -4.0))
    system.add(mbd.Motor("drive", rail, force=law["out"]))
    model = system.compile()
    turns = mbd.Event("turns", lambda t, state: mbd.accelerations(model, state).v_dot[1, 0], direction=-1, terminal=terminal)
    result = mbd.simulate(model, 0.12, events=[turns], **options)
    (found,) = result.events
    assert (found.name, found.t) == ("turns", 0.05)
    assert found.jump == pytest.approx(-3.5, rel=1e-12)
    assert result.t[-1] == (0.05 if terminal else 0.12)
    assert result.status is (mbd.RunStatus.TERMINAL_EVENT if terminal else mbd.RunStatus.COMPLETED)
    assert result.at(result.t[-1]).v[1, 0] == pytest.approx(0.075 if terminal else 0.075 - 2.0 * 0.07, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_brents_method_gives_the_numbers_of_scipy(seed):
    """To the bit: smooth, flat, steep and jumping functions, in brackets of any size and place."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        zero, size = rng.normal(), 10.0 ** rng.uniform(-9.0, 1.0)
        functions = (
            lambda x, zero=zero, size=size: float(np.tanh((x - zero) / size)),
            lambda x, zero=zero: float((x - zero) ** 3),
            lambda x, zero=zero, size=size: float(np.expm1((x - zero) / size * 0.5)),
            lambda x, zero=zero: 1.0 if x > zero else -3.0,
        )
        for g in functions:
            ends = zero - size * rng.uniform(0.01, 1.0), zero + size * rng.uniform(0.01, 1.0)
            bracket, near = Bracket(*ends, g(ends[0]), g(ends[1])), 10.0 ** rng.uniform(-15.0, -9.0)
            there, search = brentq(g, *ends, xtol=near, full_output=True, disp=False)
            assert brents_zero(g, bracket, near) == (there if search.converged else None)


def test_a_state_that_an_event_keeps_is_a_state_as_any_other():
    """Its arrays are made when they are asked for, and are those of its flat vector, read-only, also behind a copy by pickle."""
    kept = []
    event = mbd.Event("height", lambda t, state: kept.append(state) or 1.0)
    mbd.simulate(model_of(rising), 0.02, h=1e-2, events=[event])
    for state in kept:
        copy = pickle.loads(pickle.dumps(state))  # noqa: S301  of this test
        assert np.array_equal(copy.y, state.y)
        rows = state.y[: 13 * len(state.r)].reshape(-1, 13)
        assert np.array_equal(np.hstack([state.r, state.p, state.v, state.omega_bar]), rows)
        assert not any(part.flags.writeable for part in (state.r, state.p, state.v, state.omega_bar, state.angles))
        with pytest.raises(AttributeError, match="'position'"):
            _ = state.position
        with pytest.raises(AttributeError, match="frozen"):
            state.r = rows[:, :3]
