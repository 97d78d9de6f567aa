"""Members whose runs are made in one call of compiled code: the bits, counters and words of single runs, and roads apart for the others."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.batches.short_members import ShortMembers
from joints import RJ

COUNTERS = ("steps", "rejected", "evaluations", "factorizations", "projections", "max_euler_drift", "euler_sum")


def damped() -> mbd.System:
    """A pendulum on a spring with a damper, so that its steps are watched for stiffness."""
    system = mbd.System("damped", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (1e-3, 0.2, 0.2), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.TSDA("coil", system.ground, bar, point_i=(0, 0, 1), point_j=(1, 0, 0), k=3.0, c=0.2, l0=0.5))
    return system


def need_same(one: mbd.Result, other: mbd.Result) -> None:
    """Raise AssertionError where two results differ in a bit or a word."""
    np.testing.assert_array_equal(one.t, other.t)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.lam, other.lam)
    assert (one.status, one.message, one.warnings) == (other.status, other.message, other.warnings)
    assert [getattr(one.counters, name) for name in COUNTERS] == [getattr(other.counters, name) for name in COUNTERS]


@pytest.mark.parametrize("build", [damped, gallery.double_pendulum, gallery.slider_crank, gallery.four_bar])
@pytest.mark.parametrize(("t_end", "options"), [(0.02, {"h": 2e-3}), (0.0237, {"integrator": mbd.Heun(h=2e-3)})])
@pytest.mark.slow
def test_members_have_the_bits_and_the_words_of_single_runs(build, t_end, options):
    model = build().compile()
    states = np.tile(model.y0, (5, 1))
    states[1, 13 + 7] += 0.3  # a velocity that the joints do not allow
    states[2, 13] = np.nan
    states[3, 13 + 3 :][:4] *= 2.0
    found = mbd.batch(model, states, threads=2).simulate(t_end, **options)
    for k in range(len(states)):
        if k in (0, 4):
            need_same(found[k], mbd.simulate(model, t_end, state=mbd.State.from_y(0.0, states[k], model.nb + 1), **options))
            continue
        with pytest.raises(mbd.HaugmbdError) as told:
            mbd.simulate(model, t_end, state=mbd.State.from_y(0.0, states[k], model.nb + 1), **options)
        assert found.failures[k].endswith(str(told.value))


@pytest.mark.slow
def test_loads_and_gravity_of_members_have_the_bits_of_their_own_models(rng):
    model = damped().compile()
    k, gravity = rng.uniform(1.0, 9.0, 3), rng.normal(size=(3, 3))
    batch = mbd.batch(model, parameters={"coil.k": k, "gravity": gravity}, threads=1)
    found = batch.simulate(0.05, h=1e-3)
    for member in range(3):
        need_same(found[member], mbd.simulate(batch.member_model(member), 0.05, h=1e-3))


@pytest.mark.slow
def test_a_member_with_a_warning_is_made_alone_and_has_its_words():
    system = mbd.System("fast")
    system.add(mbd.Body("top", 1.0, (1.0, 1.0, 2.0), omega_bar=(0.0, 0.0, 1.0)))
    model = system.compile()
    states = np.tile(model.y0, (2, 1))
    states[1, 13 + 12] = 900.0
    found = mbd.batch(model, states).simulate(0.02, h=2e-3)
    assert list(found.warnings) == [1]
    with pytest.warns(mbd.RunWarning, match="turns by more than"):
        single = mbd.simulate(model, 0.02, h=2e-3, state=mbd.State.from_y(0.0, states[1], 2))
    assert found.warnings[1] == single.warnings


def test_runs_that_need_more_than_steps_are_made_one_by_one():
    model, method = damped().compile(), mbd.RK4(h=1e-3)
    assert ShortMembers.of(model, method, np.zeros(2), 0.1) is not None
    assert ShortMembers.of(model, method, np.array([0.0, 0.01]), 0.1) is None
    assert ShortMembers.of(model, method, np.zeros(2), 5.0) is None
    assert ShortMembers.of(model, mbd.DormandPrince(), np.zeros(2), 0.1) is None
