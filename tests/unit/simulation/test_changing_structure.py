"""Mechanisms whose structure changes while they move: joints, loads, couplings and drivers go on and off by events, in one Result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import haugmbd as mbd
from joints import RJ, SJ, Fixed, Gear, RotationDriver

G, FINE = 9.81, {"rtol": 1e-10, "atol": 1e-12}


def at(name, time, **changes):
    """A switch at a time [s]."""
    return mbd.Event(name, lambda t, state: t - time).then(**changes)


def bar():
    system = mbd.System("bar", gravity=(0, 0, -G))
    body = system.add(mbd.Body("bar", 2.0, (1e-3, 2 / 12, 2 / 12), r=(0.5, 0, 0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def two_bodies():
    """Two free bodies, a grip and a spring between them, both off."""
    system = mbd.System("dock")
    a = system.add(mbd.Body("a", 2.0, (0.1, 0.2, 0.3), v=(1, 0, 0), omega_bar=(0, 0, 0.5)))
    b = system.add(mbd.Body("b", 3.0, (0.3, 0.2, 0.1), r=(2, 0.5, 0)))
    system.add(Fixed("grip", a, b, active=False))
    system.add(mbd.TSDA("spring", a, b, point_i=a.r, point_j=b.r, k=5.0, l0=1.0), active=False)
    return system, a, b


def clutch():
    system = mbd.System("clutch")
    a = system.add(mbd.Body("a", 1.0, (2, 2, 2), omega_bar=(0, 0, 20)))
    b = system.add(mbd.Body("b", 1.0, (1, 1, 1)))
    first = system.add(RJ("A", system.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    second = system.add(RJ("B", system.ground, b, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(Gear("clutch", first, second, ratio=1.0), active=False)
    system.add(RotationDriver("brake", second, 0.0), active=False)
    return system


def broken(end=0.4, **more):
    """The bar whose pin breaks at twice its weight, and the closed form: time, place 0.4 s later, turning rate."""
    limit = 2.0 * 2.0 * G
    drop = brentq(lambda x: 2.0 * G * np.hypot(2.5 * np.sin(x), np.cos(x) / 4) - limit, 0.01, 1.5)
    event = lambda t, y: y[0] - drop  # noqa: E731
    found = solve_ivp(lambda t, y: [y[1], 1.5 * G * np.cos(y[0])], (0, 3), [0, 0], events=event, rtol=1e-12, atol=1e-13)
    when, rate = found.t_events[0][0], found.y_events[0][0][1]
    r0, v0 = 0.5 * np.array([np.cos(drop), -np.sin(drop)]), -0.5 * rate * np.array([np.sin(drop), np.cos(drop)])
    place = r0 + v0 * end + np.array([0, -G * end**2 / 2])
    system = bar()
    model = system.compile()

    def load(t, state):
        return np.linalg.norm(2.0 * (mbd.accelerations(model, state).v_dot[1] + [0, 0, G])) - limit

    result = mbd.simulate(model, when + end, events=[mbd.Event("breaks", load).then(release="pin")], **(FINE | more))
    return model, result, (when, place, rate)


@pytest.mark.slow
def test_a_pin_that_breaks_is_one_result_with_a_free_flight():
    _, result, (when, place, rate) = broken()
    assert result.status is mbd.RunStatus.COMPLETED
    (switch,) = result.switches
    assert abs(switch.t - when) < 1e-8
    assert switch.released == ("pin",)
    assert switch.kinetic == 0.0
    assert np.abs(result["bar"].r[-1, [0, 2]] - place).max() < 1e-9
    assert abs(result["bar"].omega[-1, 1] - rate) < 1e-9
    force = np.linalg.norm(result.reaction("pin").force, axis=1)
    k = len(result.segments[0])
    assert abs(force[k - 1] - 4.0 * G) < 1e-7
    assert (force[k:] == 0.0).all()
    assert (result.lam[k:] == 0.0).all()
    assert np.isnan(result.joint("pin").angle[k:]).all()
    assert np.isfinite(result.joint("pin").angle[:k]).all()
    assert np.abs(result.energy().drift).max() < 1e-8
    assert result.violation().max() < 1e-12
    assert result.at(switch.t, before=True).structure is None
    assert result.at(switch.t).structure.off == {"pin"}
    assert [len(part.model.joints) for part in result.segments] == [1, 0]


@pytest.mark.slow
def test_it_is_saved_loaded_and_continued_in_each_structure(tmp_path):
    model, result, (when, _, _) = broken()
    loaded = mbd.load(result.save(tmp_path / "broken.npz"))
    assert np.array_equal(loaded.y, result.y)
    assert [one.names for one in loaded.switches] == [("breaks",)]
    assert np.array_equal(loaded.reaction("pin").force, result.reaction("pin").force)
    assert np.array_equal(loaded.energy().total, result.energy().total)
    more = mbd.simulate(model, when + 0.6, state=loaded.state(), **FINE)
    assert len(more.segments[0].model.joints) == 0
    whole = result.join(more)
    assert whole.t[-1] == when + 0.6
    assert np.abs(whole.energy().drift).max() < 1e-8
    assert whole.state().structure.off == {"pin"}
    frame = result.to_pandas()
    assert len(frame) == len(result)
    assert result.plot.energy() is not None
    assert result.plot.reactions("pin") is not None
    assert result.plot.violation() is not None
    assert result.animate(tmp_path / "broken.html") is not None


@pytest.mark.slow
def test_states_at_given_times_are_those_of_all_steps():
    _, result, (when, _, _) = broken()
    times = np.linspace(0.0, when + 0.4, 9)
    _, sparse, _ = broken(t_eval=times)
    assert np.array_equal(sparse.t, times)
    assert max(np.abs(sparse.y[k, 13:] - result.at(t).y[13:]).max() for k, t in enumerate(times)) < 1e-8
    assert np.abs(sparse.energy().drift).max() < 1e-8


@pytest.mark.slow
def test_grips_releases_springs_and_kicks_keep_momentum_and_the_ledger(tmp_path):
    system, a, _ = two_bodies()
    kick = mbd.PointImpulse("kick", a, impulse=(0, 1.0, 0))
    events = [
        at("grips", 0.5, grip="grip"),
        at("lets go", 1.0, release="grip"),
        at("pulls", 1.25, lock="spring"),
        at("grips again", 1.5, grip="grip", release="spring"),
        at("struck", 1.75, kick=kick),
    ]
    result = mbd.simulate(system, 2.0, events=events, **FINE)
    momentum, before = result.momentum(), result.t < 1.75
    assert np.abs(momentum.linear[before] - momentum.linear[0]).max() < 1e-10
    assert np.abs(momentum.angular[before] - momentum.angular[0]).max() < 1e-9
    assert np.abs(momentum.linear[-1] - momentum.linear[0] - [0, 1, 0]).max() < 1e-10
    told = sum(one.kinetic + one.potential for one in result.switches)
    assert abs(result.energy().drift[-1] - told) < 1e-9
    first = result.impacts[0]
    assert first.energy_after < first.energy_before
    assert result.switches[0].kinetic == first.energy_after - first.energy_before
    loaded = mbd.load(result.save(tmp_path / "dock.npz"))
    assert np.array_equal(loaded.reaction("grip").force, result.reaction("grip").force)
    assert loaded.impacts[0].impulse.joint("grip").force == pytest.approx(first.impulse.joint("grip").force, rel=1e-12)
    system.save(tmp_path / "dock.json")
    again = mbd.load_model(tmp_path / "dock.json")
    assert [part.name for part in again.inactive] == ["grip", "spring"]
    kick = mbd.PointImpulse("kick", again["a"], impulse=(0, 1.0, 0))
    other = mbd.simulate(again, 2.0, events=[*events[:4], at("struck", 1.75, kick=kick)], **FINE)
    assert np.array_equal(other.y, result.y)


@pytest.mark.slow
def test_a_clutch_and_a_brake_grip_at_the_angle_of_the_moment():
    events = [at("on", 0.3, grip="clutch"), at("off", 0.6, release="clutch"), at("holds", 0.8, grip="brake")]
    result = mbd.simulate(clutch(), 1.0, events=events, **FINE)
    common = 2 * 20 / 3
    assert result["a"].omega[-1, 2] == pytest.approx(common, rel=1e-10)
    assert abs(result["b"].omega[-1, 2]) < 1e-10
    assert [one.kinetic for one in result.switches] == pytest.approx([-0.5 * 2 / 3 * 400, 0.0, -0.5 * common**2], abs=1e-7)
    assert result.joint("A").angle[-1] == pytest.approx(0.3 * 20 + 0.7 * common, rel=1e-9)
    assert result.joint("B").angle[-1] == pytest.approx(0.5 * common, rel=1e-9)


@pytest.mark.slow
def test_a_structure_is_compiled_once(monkeypatch):
    from haugmbd.system import structures as module

    system, _, _ = two_bodies()
    model, built = system.compile(), []
    make = module.build_model
    monkeypatch.setattr(module, "build_model", lambda *given, **more: built.append(1) or make(*given, **more))
    events = [mbd.Event("on", lambda t, state: np.sin(40 * t), direction=1).then(lock="spring")]
    events += [mbd.Event("off", lambda t, state: np.sin(40 * t), direction=-1).then(release="spring")]
    result = mbd.simulate(model, 1.0, events=events, **FINE)
    assert len(result.switches) > 8
    assert len(built) == 1
    mbd.simulate(model, 1.0, events=events, **FINE)
    assert len(built) == 1


@pytest.mark.slow
def test_a_joint_that_breaks_may_break_the_next():
    system = mbd.System("sign", gravity=(0, 0, -G))
    body = system.add(mbd.Body("sign", 1.0, (0.1, 0.1, 0.1)))
    for name, x in (("left", -1.0), ("right", 1.0)):
        system.add(mbd.TSDA(name, system.ground, body, point_i=(x, 0, 1), point_j=(x, 0, 0), k=1e3, l0=1.0 - G / 2e3))

    def over(name):
        return lambda t, state: 1.0 * (t - 0.1) if name == "left" else state.r[1, 2] + 0.01

    events = [mbd.Event(name, over(name)).then(release=name) for name in ("left", "right")]
    result = mbd.simulate(system, 0.5, events=events, **FINE)
    assert [one.released for one in result.switches] == [("left",), ("right",)]
    assert result["sign"].a[-1, 2] == pytest.approx(-G)


WRONG = [
    ({"lock": "grp"}, mbd.UsageError, ("'grp'", "did you mean 'grip'")),
    ({"grip": "spring"}, mbd.UsageError, ("'spring'", "no joint")),
    ({"lock": "grip"}, mbd.ModelError, ("'grip'", "apart", "switch 'x' at t = 0.5 s", "pull=True")),
    ({"set": {"block": 1.0}}, mbd.UsageError, ("'block'",)),
    ({"set": lambda state: 3}, mbd.UsageError, ("must return a State",)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "kind", "words"), WRONG, ids=[str(one[2][0]) for one in WRONG])
def test_a_switch_that_cannot_be_is_told_by_name(changes, kind, words):
    system, _, _ = two_bodies()
    with pytest.raises(kind) as told:
        mbd.simulate(system, 1.0, events=[at("x", 0.5, **changes)], **FINE)
    assert all(word in str(told.value) for word in words)


@pytest.mark.slow
def test_two_switches_at_one_instant_are_refused_where_their_order_matters():
    system, a, _ = two_bodies()
    kick = mbd.PointImpulse("kick", a, impulse=(0, 1.0, 0))
    both = [at("x", 0.5, grip="grip"), at("y", 0.5, kick=kick)]
    one = [at("x", 0.5, grip="grip", kick=kick)]
    runs = [mbd.simulate(system, 1.0, events=events, **FINE) for events in (both, one)]
    assert np.abs(runs[0].y[-1] - runs[1].y[-1]).max() < 1e-12
    assert runs[0].switches[0].names == ("x", "y")
    events = [at("x", 0.5, grip="grip"), at("z", 0.7, release="grip"), at("y", 0.7, kick=kick)]
    with pytest.raises(mbd.SimulationError, match=r"'z' and 'y'.*order matters") as told:
        mbd.simulate(system, 1.0, events=events, **FINE)
    assert told.value.result.t[-1] == pytest.approx(0.7)
    events = [at("x", 0.5, set=lambda state: state), at("y", 0.5, set=lambda state: state)]
    with pytest.raises(mbd.SimulationError, match=r"'x' and 'y'.*order matters: what 'x' sets is of the state before the other"):
        mbd.simulate(system, 1.0, events=events, **FINE)


LATER = 2e-11
"""[s]: within 1e-10 (|t| + 1 s) two events are of one instant."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"grip": "grip"}, {"release": "grip"}),
        ({"lock": "spring"}, {"release": "spring"}),
        ({"release": "pin"}, {"lock": "pin"}),
        ({"release": "pin"}, {"grip": "pin"}),
        ({"grip": "grip"}, {"lock": "grip"}),
    ],
)
@pytest.mark.parametrize("apart", [0.0, LATER, -LATER])
def test_two_switches_of_one_part_at_one_instant_are_refused(first, second, apart):
    """One of them changes nothing before the other one has: the last of them would decide whether the part is on."""
    system, _, b = two_bodies()
    system.add(Fixed("pin", system.ground, b))
    events = [at("x", 0.5, **first), at("y", 0.5 + apart, **second)]
    with pytest.raises(mbd.SimulationError, match=r"'[xy]' and '[xy]' occur at one instant.*order matters") as told:
        mbd.simulate(system, 0.6, events=events, **FINE)
    assert told.value.result.t[-1] == pytest.approx(0.5)
    assert not told.value.result.events or {one.name for one in told.value.result.events} <= {"x", "y"}


@pytest.mark.slow
def test_a_switch_that_changes_nothing_leaves_no_trace():
    system, _, _ = two_bodies()
    idle = [at("before", 0.2, release="grip"), mbd.Event("not yet", lambda t, state: {}["grip"]).then(release="spring")]
    alone, beside = (mbd.simulate(system, 0.6, events=[at("x", 0.5, grip="grip"), *more], **FINE) for more in ([], idle))
    assert [one.name for one in beside.events] == ["x"]
    assert np.array_equal(alone.y, beside.y)
    twice = mbd.simulate(system, 0.6, events=[at("x", 0.5, lock="spring"), at("y", 0.5, lock="spring")], **FINE)
    assert (twice.switches[0].names, twice.switches[0].locked) == (("x", "y"), ("spring",))


LAST_STEP = [{"h": 0.01}, {"h": 0.01, "store_every": 3}, {"h": 0.01, "t_eval": [0.0, 0.1, 0.3]}] + [
    {"integrator": kind(h=0.01)} for kind in (mbd.HHT, mbd.BDF, mbd.RadauIIA, mbd.SemiImplicitEuler, mbd.RATTLE, mbd.HEM4)
]


@pytest.mark.slow
@pytest.mark.parametrize("method", LAST_STEP, ids=repr)
@pytest.mark.parametrize("left", [3e-3, 1e-7, 1e-13])
def test_a_switch_may_be_in_the_last_step_of_a_run(method, left):
    result = mbd.simulate(bar(), 0.3, events=[at("late", 0.3 - left, release="pin")], **method)
    assert len(result.switches) == 1
    assert result.t[-1] == pytest.approx(0.3, abs=1e-12)
    assert result.status is mbd.RunStatus.COMPLETED
    with pytest.raises(mbd.UsageError, match="larger than the interval"):
        mbd.simulate(bar(), 0.005, events=[at("late", 0.004, release="pin")], **{k: v for k, v in method.items() if k != "t_eval"})


@pytest.mark.slow
def test_joints_that_are_apart_are_pulled_together_on_request():
    system = mbd.System("pull")
    a, b = (
        system.add(mbd.Body(name, m, (0.1, 0.1, 0.1), r=(x, 0, 0), v=(v, 0, 0)))
        for name, m, x, v in (("a", 1, 0, 1), ("b", 3, 1, 0))
    )
    system.add(SJ("hook", a, b, point=(0.5, 0, 0)), active=False)
    result = mbd.simulate(system, 1.0, events=[at("hooks", 0.1, lock="hook", pull=True)], **FINE)
    assert result.violation().size == 0
    assert np.abs(result.segments[-1].violation()).max() < 1e-12
    assert result.momentum().linear[-1] == pytest.approx([1, 0, 0])
    assert result.v[-1, 1:, 0] == pytest.approx([0.25, 0.25])


def test_what_a_switch_may_not_be():
    event = mbd.Event("x", lambda t, state: t - 0.5)
    for changes, word in (
        ({}, "changes nothing"),
        ({"lock": "a", "release": ["a"]}, "more than once"),
        ({"lock": 3}, "parts or their names"),
    ):
        with pytest.raises(mbd.UsageError, match=word):
            event.then(**changes)
    with pytest.raises(mbd.UsageError, match="active"):
        RJ("pin", mbd.Body.ground(), mbd.Body("b", 1, (1, 1, 1)), point=(0, 0, 0), axis=(0, 0, 1), active="no")
    with pytest.raises(mbd.UsageError, match="cannot be off"):
        mbd.System("s").add(mbd.Body("b", 1, (1, 1, 1)), active=False)


def test_a_system_in_which_all_is_on_has_the_model_it_had():
    model = bar().compile()
    assert model.parts is None
    assert model.layout is None
    assert model.state().structure is None


OF_A_STATE = {
    "accelerations": mbd.accelerations,
    "reaction": lambda model, state: mbd.reaction(model, state, "pin"),
    "reactions": mbd.reactions,
    "impulse": lambda model, state: mbd.impulse(
        model, state, applied=[mbd.PointImpulse("blow", model.bodies[1], impulse=(0, 0, 1))]
    ),
    "linearize": mbd.linearize,
    "mobility": mbd.mobility,
    "motion_subspace": lambda model, state: mbd.motion_subspace(model, state, "pin"),
    "constraint_wrenches": lambda model, state: mbd.constraint_wrenches(model, state, "pin"),
}


@pytest.mark.parametrize("name", OF_A_STATE)
def test_a_state_of_another_structure_is_refused_with_the_part(name):
    """The reaction of a pin that is off was that of one that is on, without a word."""
    model = bar().compile()
    end = mbd.simulate(model, 0.02, h=1e-3, events=[at("drop", 0.01, release="pin")]).state()
    with pytest.raises(mbd.HaugmbdError, match="another structure.*'pin'"):
        OF_A_STATE[name](model, end)
