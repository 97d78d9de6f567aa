"""What is looked at behind a run: jumps at which no step ends, and the energy ledger: a run is accurate, or a note says why not."""

from __future__ import annotations

import bisect
import math

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import piston_engine
from haugmbd.simulation.stepping import crossed_jumps
from joints import RJ, TJ, TranslationDriver

TIMES, VALUES = [0.0, 0.333, 0.71], [1.0, 5.0, -2.0]
HIDDEN = {
    "math": lambda t: 5.0 * (math.sin(9.0 * t) > 0.0),
    "table": lambda t: VALUES[bisect.bisect_right(TIMES, float(t)) - 1],
    "pulse": lambda t: 1.0 + 500.0 * (abs(float(t) - 0.5123) < 0.004),
}
"""Functions of time that make plain floats, in which nobody sees where they jump."""
SHOWN = {
    "where": lambda t: 5.0 * np.where(t < 0.333, 1.0, 2.0),
    "if": lambda t: 5.0 if t > 0.333 else 1.0,
    "at the end of a step": lambda t: 5.0 if t >= 0.5 else 1.0,
}
SMOOTH = {
    "math": lambda t: math.sin(3.0 * t),
    "steep": lambda t: math.tanh((t - 0.5) / 1e-3),
    "kinks": lambda t: np.interp(t, [0.0, 0.3, 1.0], [0.0, 5.0, 1.0]),
    "kinks that hide": lambda t: float(np.interp(float(t), [0.0, 0.3, 1.0], [0.0, 5.0, 1.0])),
    "constant": lambda t: 5.0,
}
FIRST = {"math": math.pi / 9.0, "table": 0.333, "pulse": 0.5083, "where": 0.333, "if": 0.333, "at the end of a step": 0.5}
FIXED = ({"h": 1e-2}, {"h": 1e-2, "integrator": mbd.GeneralizedAlpha()})
ADAPTIVE = (
    {"rtol": 1e-8, "atol": 1e-10},
    {"rtol": 1e-6, "integrator": mbd.BDF()},
    {"rtol": 1e-6, "integrator": mbd.GeneralizedAlpha()},
)


def pushed(f):
    """A body under a force along z."""
    system = mbd.System("pushed")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("push", body, point=(0, 0, 0), force=lambda t: (0.0, 0.0, f(t))))
    return system


def noted(result):
    """The notes on jumps of a run."""
    return [note for note in result.outcome.notes if note.kind == "jump"]


@pytest.mark.parametrize("function", HIDDEN)
@pytest.mark.parametrize("options", [*FIXED, *ADAPTIVE], ids=repr)
def test_a_jump_that_hides_is_told_or_costs_less_than_the_tolerance(function, options):
    f, fine = HIDDEN[function], np.linspace(0.0, 1.0, 200_001)
    whole = float(np.mean([f(t) for t in 0.5 * (fine[1:] + fine[:-1])]))
    result = mbd.simulate(pushed(f), 1.0, **options)
    error = abs(result.v[-1, 1, 2] - whole)
    notes = noted(result)
    assert notes or error < 100.0 * options["rtol"]
    if notes:
        assert "'push'" in notes[0].text
        assert f"t = {FIRST[function]:.6g} s" in notes[0].text
        assert not notes[0].doubtful
    assert notes or "h" not in options


@pytest.mark.parametrize("function", SHOWN)
def test_fixed_steps_tell_the_jumps_that_they_cross_and_others_end_there(function):
    for options in FIXED:
        (note,) = noted(mbd.simulate(pushed(SHOWN[function]), 1.0, **options))
        assert f"t = {FIRST[function]:.6g} s" in note.text
        assert "rtol=" in note.text
    for options in ADAPTIVE[:2]:
        assert noted(mbd.simulate(pushed(SHOWN[function]), 1.0, **options)) == []


@pytest.mark.parametrize("function", SMOOTH)
def test_a_function_without_jumps_has_no_note(function):
    for options in (*FIXED, *ADAPTIVE[:1]):
        assert noted(mbd.simulate(pushed(SMOOTH[function]), 1.0, **options)) == []


def driven_pendulum(torque):
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    link = system.add(mbd.Body("link", 1.0, (0.01, 0.1, 0.1), r=(1, 0, 0)))
    pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.Motor("motor", pin, torque=torque))
    return system


STATE = {
    "shown": lambda t, q, qd: 3.0 if q > 0.3 else -1.0,
    "hidden": lambda t, q, qd: -2.0 * math.copysign(1.0, qd - 1.0),
    "smooth": lambda t, q, qd: -0.3 * qd,
    "steep": lambda t, q, qd: -2.0 * math.tanh((qd - 1.0) / 1e-2),
}
"""Laws of the state, and whether somebody sees their jumps."""


@pytest.mark.parametrize("law", STATE)
def test_jumps_with_the_state_are_told_where_steps_do_not_end_at_them(law):
    told = {
        "fixed": noted(mbd.simulate(driven_pendulum(STATE[law]), 0.5, h=1e-2)),
        "adaptive": noted(mbd.simulate(driven_pendulum(STATE[law]), 0.5, rtol=1e-8)),
        "implicit": noted(mbd.simulate(driven_pendulum(STATE[law]), 0.5, rtol=1e-6, integrator=mbd.GeneralizedAlpha())),
    }
    expected = {"shown": {"fixed", "implicit"}, "hidden": {"fixed", "adaptive", "implicit"}}.get(law, set())
    assert {how for how, notes in told.items() if notes} == expected
    assert all("'motor'" in note.text for notes in told.values() for note in notes)


@pytest.mark.parametrize("options", [{"h": 1e-2}, {"rtol": 1e-9, "atol": 1e-9}], ids=repr)
def test_a_jump_of_tau_is_told(options):
    chain = mbd.SerialChain([mbd.Link.revolute("link", 1.0, (0.1, 0.1, 0.1), axis=(0, 1, 0), c=(0.5, 0, 0))], name="arm")
    jumps = mbd.simulate(chain, 0.5, tau=lambda t, q, qd: [3.0 if t > 0.233 else 1.0], **options)
    (note,) = noted(jumps)
    assert "'arm'" in note.text
    assert "t = 0.233 s" in note.text
    assert noted(mbd.simulate(chain, 0.5, tau=lambda t, q, qd: -0.1 * qd, **options)) == []


def test_a_function_that_stores_what_it_is_called_with_is_not_called_behind_the_run():
    calls = []

    def push(t):
        calls.append(t)
        return 5.0 * (math.sin(9.0 * t) > 0.0)

    result = mbd.simulate(pushed(push), 1.0, h=1e-2)
    assert calls[-1] == 1.0
    assert noted(result) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_law_that_reverses_as_a_rate_passes_a_value_is_followed(seed):
    """The rate rises through the value on both sides of the jump; dense output across it is off by more than the step that remains."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        value, torque = rng.uniform(0.3, 1.5), rng.uniform(0.5, 6.0)
        system = driven_pendulum(lambda t, q, qd, w=value, m=torque: -m * np.sign(qd - w))
        result = mbd.simulate(system, 0.3, rtol=1e-9, atol=1e-11)
        rate = result.joint("pin").rate
        before, after = ((9.81 * np.cos(result.joint("pin").angle) + s * torque) / 1.1 for s in (1.0, -1.0))
        k = int(np.searchsorted(rate, value))
        t = result.t[: k + 1]
        gained = np.trapezoid(before[: k + 1], t) + np.trapezoid(after[k:], result.t[k:])
        assert abs(gained - rate[-1]) < 1e-3 * rate[-1]
        assert np.abs(result.energy().drift).max() < 1e-7


@pytest.mark.slow
def test_the_ledger_of_driven_runs_is_looked_at():
    """Coarse steps of an engine lose a joule of the hundred that its gas gives, which no load that depends on velocities explains."""
    notes = {
        h: [note for note in mbd.simulate(piston_engine(), 0.2, h=h).outcome.notes if note.kind == "energy"] for h in (2e-3, 5e-4)
    }
    assert len(notes[2e-3]) == 1
    assert "1.13 J" in notes[2e-3][0].text
    assert notes[5e-4] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
def test_the_ledger_of_a_long_run_is_looked_at_in_windows():
    """A rod is turned by a driver, and a spring is pulled to and fro: a fifth of its energy is lost with 9 steps a swing, none with 40."""
    found = {}
    for steps in (9, 40):
        system = mbd.System("shaker")
        table = system.add(mbd.Body("table", 1.0, (0.1, 0.1, 0.1)))
        mass = system.add(mbd.Body("mass", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
        slide = system.add(TJ("slide", system.ground, table, point=(0, 0, 0), axis=(1, 0, 0)))
        system.add(TJ("rail", system.ground, mass, point=(1, 0, 0), axis=(1, 0, 0)))
        system.add(TranslationDriver("shake", slide, lambda t: 0.1 * np.sin(2.0 * np.pi * t) ** 2))
        system.add(mbd.TSDA("spring", table, mass, point_i=(0, 0, 0), point_j=(1, 0, 0), k=400.0, c=0.0, l0=1.0))
        result = mbd.simulate(system, 40.0, h=2.0 * np.pi / 20.0 / steps, project_velocity=True)
        found[steps] = [note.kind for note in result.outcome.notes if note.kind == "energy"]
    assert found == {9: ["energy"], 40: []}


def test_what_resolves_its_motion_is_not_integrated_again(monkeypatch):
    """Neither the ledger of a run that misses no equation, nor a law without branches, behind a second run of a model."""
    models = [piston_engine().compile(), driven_pendulum(lambda t, q, qd: -0.1 * qd).compile()]
    before = [mbd.simulate(model, 0.01, h=1e-4) for model in models]

    def refuse(*_):
        raise AssertionError("asked again")

    monkeypatch.setattr(mbd.Result, "energy", refuse)
    monkeypatch.setattr(crossed_jumps, "hides_branches", refuse)
    for model, first in zip(models, before, strict=True):
        again = mbd.simulate(model, 0.01, h=1e-4)
        assert again.outcome.notes == first.outcome.notes == ()
        assert np.array_equal(again.y, first.y)


@pytest.mark.parametrize("given", ["RK4", "rk-4", mbd.RK4])
def test_a_reference_that_is_no_method_has_a_suggestion(given):
    with pytest.raises(mbd.UsageError, match=r"RK4\(\)"):
        mbd.compare(driven_pendulum(lambda t: 0.0), [mbd.Method(label="own")], 0.1, h=1e-2, reference=given)


GAIN, TABLE = 3.0, [1.0, 2.0]
CONTINUOUS = {
    "math": lambda t: (0.0, 0.0, math.sin(float(t))),
    "global": lambda t: GAIN * math.sin(t) / GAIN,
    "default": lambda t, q, w, T=2.0: -T * np.tanh(w / T) + q**2,
}
"""Functions that hide their branches, or have none."""
JUMPING = {
    "comparison": lambda t: 5.0 * (math.sin(9.0 * t) > 0.0),
    "if": lambda t: 3.0 if t > 1.0 else 2.0,
    "table": lambda t: TABLE[int(t)],
    "int": lambda t: 2.0 * int(t),
    "floor": lambda t: 2.0 * math.floor(t),
    "//": lambda t: math.sin(t) // 1.0,
    "%": lambda t: t % 1.0,
    "copysign": lambda t: math.copysign(1.0, t),
    "round": lambda t: 2.0 * round(t),
    "pole": lambda t: math.atan(1.0 / (t - 0.5)),
    "pole of a power": lambda t: math.atan((t - 0.5) ** -1),
    "attribute": lambda t: t.__floor__(),
    "bisect": lambda t: 2.0 * bisect.bisect(TIMES, t),
    "called": lambda t: -GAIN * JUMPS(t),
    "loop": lambda t: sum(1.0 for x in TIMES if x < t),
}


def JUMPS(t):  # noqa: N802  read by a law above
    return 1.0 if t > 0.3 else 0.0


@pytest.mark.parametrize("law", [*CONTINUOUS, *JUMPING])
def test_only_code_that_cannot_jump_is_never_called_behind_runs(law):
    function = CONTINUOUS.get(law) or JUMPING[law]
    assert crossed_jumps.is_continuous(function) == (law in CONTINUOUS)
