"""Runs that follow on one another as one result, against one run over the whole time; and runs that do not."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from haugmbd.workspace.layout import WIDTH
from joints import RJ
from tests.support.bouncing import ball
from tests.support.with_contacts import simulate_with

H = 1e-2
ROUNDING = 1e-12
"""Relative: sums of steps from another start."""


@pytest.fixture(scope="module")
def model():
    return slider_crank().compile()


@pytest.fixture(scope="module")
def runs(model):
    """Two runs, the second of which continues the first, and one over the whole time; the crank turns more than three times."""
    first = mbd.simulate(model, 1.0, h=H)
    return first, mbd.simulate(model, 2.0, h=H, state=first.state()), mbd.simulate(model, 2.0, h=H)


def test_two_runs_are_one(runs):
    first, second, whole = runs
    joined = first.join(second)
    np.testing.assert_allclose(joined.t, whole.t, rtol=ROUNDING)
    np.testing.assert_allclose(joined.y, whole.y, rtol=0.0, atol=ROUNDING)
    assert whole.joint("R").angle[-1] > 6.0 * np.pi  # the second run counts from its start
    np.testing.assert_allclose(joined.joint("R").angle, whole.joint("R").angle, rtol=ROUNDING)
    np.testing.assert_allclose(joined.lam, whole.lam, rtol=0.0, atol=1e-9 * np.abs(whole.lam).max())
    np.testing.assert_allclose(joined.energy().total, whole.energy().total, rtol=ROUNDING)
    np.testing.assert_allclose(joined.at(1.0037).y, whole.at(1.0037).y, rtol=0.0, atol=ROUNDING)
    assert joined.counters.steps == first.counters.steps + second.counters.steps == whole.counters.steps
    assert joined.settings == whole.settings
    assert joined.status is mbd.RunStatus.COMPLETED
    assert len(first) == 101  # the first one is unchanged


def test_a_joined_result_is_saved_and_loaded(runs, tmp_path):
    first, second, _ = runs
    joined = first.join(second)
    loaded = mbd.load(joined.save(tmp_path / "joined.npz"))
    np.testing.assert_array_equal(loaded.y, joined.y)
    np.testing.assert_array_equal(loaded.joint("R").angle, joined.joint("R").angle)
    parts = [mbd.load(one.save(tmp_path / "part.npz")) for one in (first, second)]
    np.testing.assert_array_equal(parts[0].join(parts[1]).joint("R").angle, joined.joint("R").angle)


def test_runs_of_several_methods_keep_what_each_has_recorded(model):
    event = mbd.Event("middle", lambda t, state: state.v[3, 0])
    sensor = mbd.Sensor("x", lambda t, state: state.r[3, 0])
    first = mbd.simulate(model, 0.2, h=H, events=[event], sensors=[sensor])
    second = mbd.simulate(model, 0.4, integrator=mbd.BDF(rtol=1e-6), state=first.state(), events=[event], sensors=[sensor])
    third = mbd.simulate(model, 0.8, rtol=1e-6, state=second.state(), events=[event], sensors=[sensor])
    joined = first.join(second, third)
    n, m = len(first), len(second)
    assert len(joined) == n + m + len(third) - 2
    assert (np.diff(joined.t) > 0.0).all()
    assert joined.events == (*first.events, *second.events, *third.events)
    assert joined.events
    np.testing.assert_array_equal(joined.sensor("x").value, joined.r[:, 3, 0])
    assert np.isnan(joined.lam_of_method[1:n]).all()  # the start has those of the accelerations
    np.testing.assert_array_equal(joined.lam_of_method[n : n + m - 1], second.lam_of_method[1:])
    assert np.isnan(joined.lam_of_method[n + m - 1 :]).all()
    assert joined.settings["integrator"] == ", then ".join(one.settings["integrator"] for one in (first, second, third))
    assert set(joined.warnings) == {*first.warnings, *second.warnings, *third.warnings}


@pytest.mark.parametrize("method", [mbd.HHT(), mbd.GeneralizedAlpha()], ids=["HHT", "GeneralizedAlpha"])
def test_runs_of_methods_that_leave_velocities_across_the_constraints_are_joined(method):
    """The second run projects the state at which the first ended, by 5e-6 m/s, and the runs were said not to follow."""
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model = system.compile()
    first = mbd.simulate(model, 0.03, h=1e-3, integrator=method)
    second = mbd.simulate(model, 0.06, h=1e-3, integrator=method, state=first.state())
    gap = np.abs(second.y[0] - first.y[-1]).max()
    assert 1e-8 < gap < 1e-5
    joined = first.join(second)
    assert len(joined) == len(first) + len(second) - 1
    whole = mbd.simulate(model, 0.06, h=1e-3, integrator=method)
    np.testing.assert_allclose(joined.y[-1], whole.y[-1], rtol=0.0, atol=10.0 * gap)
    moved = second.y.copy()
    moved[0] += 1e-4
    with pytest.raises(mbd.UsageError, match="starts from another state"):
        first.join(mbd.Result(model, second.t, moved))


def test_states_of_blocks_and_springs_go_on():
    def build():
        system = mbd.System("wound", gravity=(0, 0, 0))
        wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 20.0)))
        pin = system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
        system.add(mbd.RSDA("spring", pin, k=0.5, c=0.0))
        rate, out = lambda t, x, s: s["pin.rate"] - x[0], lambda t, x, s: x[0]
        lag = system.add(mbd.Block("lag", 0.0, derivative=rate, outputs={"out": out}))
        system.add(mbd.Motor("motor", pin, torque=lag["out"]))
        return system.compile()

    model = build()
    first = mbd.simulate(model, 0.5, h=H)
    joined = first.join(mbd.simulate(model, 1.0, h=H, state=first.state()))
    whole = mbd.simulate(model, 1.0, h=H)
    assert whole.joint("pin").angle[-1] > 2.0 * np.pi
    np.testing.assert_allclose(joined.joint("pin").angle, whole.joint("pin").angle, rtol=1e-10)
    np.testing.assert_allclose(joined.block("lag")["out"], whole.block("lag")["out"], rtol=1e-10)
    np.testing.assert_allclose(joined.energy().drift, whole.energy().drift, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("stop", [False, True], ids=["smooth", "impacts"])
def test_runs_are_joined_where_a_sampled_block_is_called(stop):
    """A run does not call at its end, and the one that goes on does: the held value was said to be another state."""
    system = mbd.System("sampled", gravity=(0, 0, 0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 2.0)))
    pin = system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    law = system.add(mbd.Sampled("law", 0.1, lambda t, s: np.sin(5.0 * t) - s["pin.rate"]))
    system.add(mbd.Motor("motor", pin, torque=law["out"]))
    if stop:
        system.add(mbd.JointLimit("stop", pin, lower=-1.0, upper=0.3, restitution=0.5))
    model = system.compile()
    sensor = mbd.Sensor("held", lambda t, state: float(state.angles[-1]))
    parts, state = [], model.state()
    for t_end in (0.2, 0.5, 0.6):
        parts.append(mbd.simulate(model, t_end, h=H, state=state, sensors=[sensor]))
        state = parts[-1].state()
    joined, whole = parts[0].join(*parts[1:]), mbd.simulate(model, 0.6, h=H, sensors=[sensor])
    same = [np.searchsorted(result.t, t - 1e-9) for result in (joined, whole) for t in (0.2, 0.35, 0.5, 0.55)]
    one, other = (result.block("law")["out"][same[k : k + 4]] for k, result in ((0, joined), (4, whole)))
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)
    if not stop:  # the steps of both runs are the same
        np.testing.assert_allclose(joined.y, whole.y, rtol=0.0, atol=ROUNDING)
        np.testing.assert_allclose(joined.sensor("held").value, whole.sensor("held").value, rtol=0.0, atol=ROUNDING)
        assert parts[0].y[-1, -1] != joined.y[len(parts[0]) - 1, -1]  # the first result is unchanged
        moved = parts[1].y.copy()
        moved[0, WIDTH] += 1e-3
        with pytest.raises(mbd.UsageError, match="starts from another state"):
            parts[0].join(mbd.Result(model, parts[1].t, moved))


@pytest.mark.parametrize("stored", [False, True], ids=["every step", "t_eval"])
def test_motions_with_impacts_are_joined(stored, tmp_path):
    system, contacts = ball(0.5, z=0.3)

    def run(first, last, **more):
        given = {"t_eval": np.linspace(first, last, 6)} if stored else {}
        return simulate_with(system, last, contacts=contacts, h=H, **given, **more)

    one = run(0.0, 0.3)
    two, whole = run(0.3, 0.6, state=one.state()), run(0.0, 0.6)
    joined = one.join(two)
    assert [impact.t for impact in joined.impacts] == pytest.approx([impact.t for impact in whole.impacts], abs=1e-9)
    assert len(joined) == len(one) + len(two) - 1
    assert (np.diff(joined.t) >= 0.0).all()
    times = (0.1, 0.3, 0.3037, 0.5)
    for result in (joined, mbd.load(joined.save(tmp_path / "joined.npz"))):
        for t in times:
            np.testing.assert_allclose(result.at(t).y, whole.at(t).y, rtol=0.0, atol=1e-9)
        assert result.energy().total[-1] == pytest.approx(whole.energy().total[-1], rel=1e-9)
        assert len(result.contact("floor").force) == len(result)
    other_floor = ball(0.6, z=0.3)
    other = simulate_with(other_floor[0], 0.6, contacts=other_floor[1], h=H, state=one.state())
    with pytest.raises(mbd.UsageError, match="other contacts: restitution {'floor': 0.5} and {'floor': 0.6}"):
        one.join(other)


def test_turns_go_on_through_impacts():
    """A wheel whose arm bounces off a stop is counted by the run from its own start."""
    system = mbd.System("stop", gravity=(0, 0, 0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 10.0)))
    pin = system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", pin, lower=-1.0, upper=9.0, restitution=0.5))
    model = system.compile()
    one = mbd.simulate(model, 0.8, h=H)
    joined, whole = one.join(mbd.simulate(model, 1.2, h=H, state=one.state())), mbd.simulate(model, 1.2, h=H)
    assert len(joined.impacts) == len(whole.impacts) == 1
    at = [result.joint("pin").angle[np.searchsorted(result.t, 1.15)] for result in (joined, whole)]
    assert at[0] == pytest.approx(at[1], abs=1e-9)
    assert at[0] > 2.0 * np.pi


def test_chains_are_joined(tmp_path):
    chain = mbd.random_chain(3, 1)
    tau = lambda t, q, qd: np.sin(t) * np.ones(chain.nv)  # noqa: E731
    first = mbd.simulate(chain, 0.2, h=H, tau=tau)
    second, whole = mbd.simulate(chain, 0.4, h=H, tau=tau, state=first.state()), mbd.simulate(chain, 0.4, h=H, tau=tau)
    joined = first.join(second)
    np.testing.assert_allclose(joined.q, whole.q, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(joined.qdd, whole.qdd, rtol=0.0, atol=1e-9)
    parts = [mbd.load(one.save(tmp_path / "part.npz")) for one in (first, second)]
    np.testing.assert_allclose(parts[0].join(parts[1]).tau, whole.tau, rtol=0.0, atol=ROUNDING)
    for other, words in (
        (mbd.simulate(chain, 0.4, h=H, state=first.state()), "another tau"),
        (mbd.simulate(mbd.random_chain(3, 2), 0.4, h=H), "another chain"),
        (whole, "starts at t = 0 s, and this one ends at t = 0.2 s"),
        (3, "is not a Result of a chain"),
    ):
        with pytest.raises(mbd.UsageError, match=words):
            first.join(other)


def test_runs_that_do_not_follow_are_refused_with_the_numbers(runs, model):
    first, second, whole = runs
    last = first.state()
    v = last.v.copy()
    v[1, 0] += 1e-3
    jumped = mbd.Result(second.model, second.t, np.vstack([last.replace(v=v).y, second.y[1:]]))
    for other, words in (
        (whole, r"starts at t = 0 s, and this one ends at t = 1 s\. Continue from the last state: simulate"),
        (second[1.5:], "starts at t = 1.5 s, and this one ends at t = 1 s"),
        (jumped, r"the velocities jump .*: at t = 1 s v of body 'crank' is \(.*\) m/s, and \(.*\) m/s at the end of this one"),
        (mbd.Result(model, second.t[:0], second.y[:0]), "the next run has no states"),
        (3, "join: 3 is not a Result"),
    ):
        with pytest.raises(mbd.UsageError, match=words):
            first.join(other)
    with pytest.raises(mbd.UsageError, match=r"Of runs that overlap, take a part: result\[:0\.5\]"):
        first.join(whole[0.5:])
    np.testing.assert_array_equal(whole[:1.0].join(whole[1.0:]).y, whole.y)


def falling(mass):
    system = mbd.System("falling", gravity=(0, 0, -9.81))
    system.add(mbd.Body("ball", mass, (0.1, 0.1, 0.1)))
    return system


def test_runs_of_other_models_and_sensors_are_refused(runs):
    first = runs[0]
    light, heavy = (mbd.simulate(falling(mass), 0.1, h=H) for mass in (1.0, 2.0))
    with pytest.raises(
        mbd.UsageError, match="model: its inertias differ, mass of body 'ball': 1.0 in this run, 2.0 in the next. Runs of one model"
    ):
        light.join(heavy)
    with pytest.raises(mbd.UsageError, match="another model: its bodies differ"):
        first.join(light)
    sensor = mbd.Sensor("x", lambda t, state: state.r[3, 0])
    seen = mbd.simulate(first.model, 1.1, h=H, state=first.state(), sensors=[sensor])
    with pytest.raises(mbd.UsageError, match="this run recorded no sensor, and the next sensors 'x'"):
        first.join(seen)
