"""Short runs, made in a workspace that is used again, are those of the loop: bits, counters, notes and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import GALLERY, four_bar, governor, pendulum, slider_crank
from joints import RJ, Gear

H = 1e-3
LONG = 1e6
"""[s] a budget that no run uses up: with a budget the loop makes the run."""


def both(model, t_end, h=H, **given):
    """The same run made shortly, and by the loop."""
    return mbd.simulate(model, t_end, h=h, **given), mbd.simulate(model, t_end, h=h, budget=LONG, **given)


def need_equal(one, two):
    assert np.array_equal(one.t, two.t)
    assert np.array_equal(one.y, two.y)
    assert replace(one.counters, cpu=0.0) == replace(two.counters, cpu=0.0)
    assert (one.status, one.message, one.warnings, one.settings) == (two.status, two.message, two.warnings, two.settings)
    assert [(each.name, each.t, each.jump) for each in one.events] == [(each.name, each.t, each.jump) for each in two.events]
    for each, other in zip(one.events, two.events, strict=True):
        assert np.array_equal(each.state.y, other.state.y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
@pytest.mark.parametrize("make", [make for make in GALLERY if make is not governor], ids=lambda make: make.__name__)
def test_short_runs_are_those_of_the_loop(make):
    need_equal(*both(make().compile(), 25 * H))


@pytest.mark.parametrize("method", [mbd.RK3(), mbd.RKMK4(), mbd.SemiImplicitEuler()], ids=repr)
def test_methods_of_fixed_step(method):
    need_equal(*both(slider_crank().compile(), 15 * H, integrator=method))


def test_runs_in_one_workspace_do_not_know_each_other():
    model = four_bar().compile()
    start = mbd.simulate(model, 0.3, h=H).state()
    first = mbd.simulate(model, 0.02, h=H)
    mbd.simulate(model, 0.4, h=H, state=start)
    need_equal(first, mbd.simulate(model, 0.02, h=H))
    need_equal(*both(model, 0.35, state=start))


def test_a_last_step_that_is_shorter():
    need_equal(*both(pendulum().compile(), 0.0205))


@pytest.mark.filterwarnings("ignore::haugmbd.RunWarning")
def test_notes_are_those_of_the_loop():
    """A body that turns by more than a radian in a step, and positions that are not projected."""
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 30.0)))
    system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    one, two = both(system.compile(), 1.0, h=0.05)
    need_equal(one, two)
    assert one.warnings


def geared_wheels():
    system = mbd.System("gears")
    a, b = (system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0)))
    pins = [system.add(RJ(f"pin {k}", system.ground, body, point=(k, 0, 0), axis=(0, 0, 1))) for k, body in enumerate((a, b))]
    system.add(Gear("gear", *pins, ratio=-1.0))
    system.add(mbd.Torque("drive", a, torque=(0, 0, 4.0)))
    return system


def test_counted_turns_are_those_of_the_loop():
    need_equal(*both(geared_wheels().compile(), 0.8))


def test_errors_are_those_of_the_loop():
    system = mbd.System("strong")
    body = system.add(mbd.Body("body", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    system.add(mbd.TSDA("damper", system.ground, body, point_i=(-1.0, 0, 0), point_j=(0, 0, 0), k=0.0, c=1e6))
    model, caught = system.compile(), []
    for budget in (None, LONG):
        with pytest.raises(mbd.SimulationError) as error:
            mbd.simulate(model, 0.5, h=1e-2, budget=budget)
        caught.append(error.value)
    assert str(caught[0]) == str(caught[1])
    assert np.array_equal(caught[0].result.y, caught[1].result.y)
