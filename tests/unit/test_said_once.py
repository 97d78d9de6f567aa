"""What a user says is used or refused: numbers in two places, masked values, no times at all; what a run leaves cannot be changed."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import steiner
from haugmbd.integrators.base import methods_below
from joints import RJ
from tests.support.with_contacts import simulate_with

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
ADAPTIVE = [kind for kind in methods_below() if kind.takes_tolerances]
FIXED = [kind for kind in methods_below() if kind.takes_step]


def pendulum() -> mbd.System:
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.2, 0.2), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


@pytest.mark.parametrize("kind", FIXED, ids=lambda kind: kind.__name__)
def test_a_step_that_is_said_twice(kind):
    """The same number twice is no contradiction."""
    assert kind(h=1e-3).with_arguments(1e-3, None, None).step == 1e-3
    assert kind().with_arguments(1e-2, None, None).step == 1e-2
    with pytest.raises(mbd.UsageError, match=rf"h is given twice: {kind.__name__}\(h=0.001\) and simulate\(..., h=0.01\)"):
        kind(h=1e-3).with_arguments(1e-2, None, None)


@pytest.mark.parametrize("kind", ADAPTIVE, ids=lambda kind: kind.__name__)
def test_a_tolerance_that_is_said_twice(kind):
    """Defaults are not said; a number that equals the default is."""
    told = kind().with_arguments(None, 1e-5, 1e-6)
    assert (told.rtol, told.atol) == (1e-5, 1e-6)
    same = kind(rtol=1e-5).with_arguments(None, 1e-5, 1e-6)
    assert (same.rtol, same.atol) == (1e-5, 1e-6)
    for name in ("rtol", "atol"):
        for own in (1e-4, 1e-8, 1e-10):
            given = {"rtol": None, "atol": None, name: 1e-6}
            with pytest.raises(mbd.UsageError, match=rf"{name} is given twice: {kind.__name__}\({name}="):
                kind(**{name: own}).with_arguments(None, given["rtol"], given["atol"])


def test_a_step_and_a_tolerance_in_two_places():
    for options in ({"h": 1e-2, "integrator": mbd.RK4(1e-3)}, {"rtol": 1e-6, "integrator": mbd.DOP853(rtol=1e-8)}):
        with pytest.raises(mbd.UsageError, match="is given twice"):
            mbd.simulate(pendulum(), 0.1, **options)


def with_state(**arrays):
    model = pendulum().compile()
    return mbd.simulate(model, 0.1, h=1e-2, state=model.state().replace(**arrays))


def compiled(**options):
    system = pendulum()
    system.add(mbd.PointForce("push", system["bar"], **options))
    return system.compile()


def gravity():
    system = pendulum()
    system.gravity = MASKED
    return system.compile()


def body(**options):
    system = mbd.System("one")
    system.add(mbd.Body("ball", **({"mass": 1.0, "J_bar": (1.0, 1.0, 1.0)} | options)))
    return system.compile()


MASKS = {
    "r": lambda: body(r=MASKED),
    "v": lambda: body(v=MASKED),
    "p": lambda: body(p=np.ma.array([1.0, 0, 0, 0], mask=[0, 1, 0, 0])),
    "J_bar": lambda: body(J_bar=MASKED),
    "mass": lambda: body(mass=np.ma.masked),
    "gravity": gravity,
    "point": lambda: compiled(point=MASKED, force=(0, 0, 1.0)),
    "force": lambda: compiled(force=MASKED),
    "what a force returns": lambda: compiled(force=lambda t, r, p, v, w: MASKED),
    "what a force of time returns": lambda: compiled(force=lambda t: MASKED),
    "rows of a list": lambda: body(J_bar=[MASKED, [0, 1, 0], [0, 0, 1]]),
    "state": lambda: with_state(v=np.ma.array(np.zeros((2, 3)), mask=[[0, 0, 0], [0, 1, 0]])),
    "t_eval": lambda: mbd.simulate(pendulum(), 5.0, h=1e-2, t_eval=MASKED),
    "kinematics": lambda: mbd.kinematics(pendulum(), MASKED),
    "resample": lambda: mbd.simulate(pendulum(), 5.0, h=1e-2).resample(MASKED),
    "impulse": lambda: mbd.impulse((s := pendulum()).compile(), applied=mbd.PointImpulse("blow", s["bar"], impulse=MASKED)),
    "contact": lambda: mbd.Contact("c", (s := pendulum()).ground, s["bar"], point=MASKED, normal=(0, 0, 1)).gap(s.compile()),
    "spline": lambda: compiled(force=(mbd.QuinticSpline(np.arange(8.0), np.ma.masked_equal(np.arange(8.0), 3.0)), 0.0, 0.0)),
    "primitive": lambda: added(mbd.CD((1, 0, 0), (s := pendulum()).ground, MASKED, s["bar"], (0, 0, 0)), s),
    "solid": lambda: steiner(1.0, MASKED),
    "chain": lambda: mbd.ChainState(MASKED, (0.0, 0.0, 0.0)),
}


def added(part, system):
    system.add(part)
    return system.compile()


@pytest.mark.slow
@pytest.mark.parametrize("use", MASKS.values(), ids=MASKS)
def test_masked_values_are_refused_at_the_door(use):
    with pytest.raises((mbd.UsageError, mbd.ModelError, mbd.SimulationError), match="masked|--|nan, nan, nan"):
        use()


def test_a_mask_that_hides_nothing_is_no_matter():
    plain = np.ma.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(mbd.Body("ball", 1.0, (1, 1, 1), r=plain).r, [1.0, 2.0, 3.0])


def test_no_times_at_all():
    with pytest.raises(mbd.UsageError, match="t_eval is empty"):
        mbd.simulate(pendulum(), 1.0, h=1e-2, t_eval=[])


def results():
    yield mbd.simulate(pendulum(), 0.1, h=1e-2)
    yield mbd.simulate(pendulum(), 0.1, t_eval=[0.05, 0.1])
    yield mbd.simulate(pendulum(), 0.1, integrator=mbd.GeneralizedAlpha(h=1e-2))
    system = pendulum()
    floor = mbd.Contact("floor", system.ground, system["bar"], point=(1, 0, 0), normal=(0, 0, 1), plane_point=(0, 0, -0.1))
    yield simulate_with(system, 0.3, h=1e-2, contacts=floor)
    yield mbd.simulate(mbd.random_chain(3, seed=1), 0.1, h=1e-2)


def test_what_a_run_leaves_is_read_only():
    """Everything else is computed from the states: whoever changes them would change energies and reactions unseen."""
    for result in results():
        for name in ("t", "y", "r", "p", "v", "omega_bar", "v_dot", "lam", "lam_of_method", "angles", "q", "qd", "qdd", "tau"):
            if name == "lam_of_method" and not getattr(result, "has_lam_of_method", False):
                continue
            array = getattr(result, name, None)
            assert array is None or not array.flags.writeable, (type(result).__name__, name)
        again = result.t.copy()
        again[0] = 1.0
