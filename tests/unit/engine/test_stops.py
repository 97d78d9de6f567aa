"""Stops and compliant contacts as a blob has them: steps in compiled code alone, with the states of a Stepper; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.engine.blob import blob, first_call
from haugmbd.engine.stops import make_steps
from joints import RJ, TJ

SAME = 1e-12
"""Of the size of the states: the error of located times."""


def swing(**limit):
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mbd.JointLimit("stop", pin, **limit))
    return system


def slider(rng):
    """A block between two stops of its own, thrown at them."""
    system = mbd.System("slider", gravity=(0.0, 0.0, 0.0))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), v=(float(rng.uniform(-3, 3)), 0.0, 0.0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    lower, upper = -rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2)
    system.add(mbd.JointLimit("stop", rail, lower=lower, upper=upper, k=rng.uniform(1e2, 1e5), c=rng.choice([0.0, 5.0, 60.0])))
    return system


def ball(mu=0.0, height=0.105, **more):
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0.0, 0.0, height), v=(0.4, 0.0, 0.0)))
    shapes = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.1)}
    system.add(mbd.ContactForce("floor", system.ground, part, mu=mu, K=1e5, restitution=0.5, **shapes, **more))
    return system


def box():
    """Four corners that touch at one instant, and a wall."""
    system = mbd.System("box", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("box", 1.0, (0.01,) * 3, r=(0.0, 0.0, 0.11), v=(0.5, 0.0, 0.0), omega_bar=(0.0, 0.3, 0.0)))
    for k, at in enumerate([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]):
        shapes = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.01, center=(*at, -0.1))}
        system.add(mbd.ContactForce(f"corner {k}", system.ground, part, K=1e5, restitution=0.6, mu=0.2, **shapes))
    return system


CASES = {
    "a stop": lambda: swing(lower=-0.1, upper=0.4, k=1e4),
    "a stop with damping": lambda: swing(lower=-0.1, upper=0.4, k=1e4, c=30.0),
    "at the stop at the start": lambda: swing(lower=-1.0, upper=0.0, k=1e3, c=10.0),
    "a ball": ball,
    "a ball that slides": lambda: ball(mu=0.3),
    "a ball that rests": lambda: ball(height=0.1),
    "a box": box,
    **{f"slider {seed}": lambda seed=seed: slider(np.random.default_rng(seed)) for seed in range(4)},
}


def by_the_engine(system, h, n):
    model, method = system.compile(), mbd.RK4(h=h)
    call = first_call(model, method, {"stabilization": mbd.Projection()})
    return make_steps(model, call.problem, method.tableau, call.t, h, call.k1, n)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_states_are_those_of_a_stepper(name):
    h, n = 5e-4, 400
    code, steps = by_the_engine(CASES[name](), h, n)
    assert code == 0
    assert len(steps.t) == n
    stepper = mbd.Stepper(CASES[name](), h=h)
    right = []
    for _ in range(n):
        stepper.step()
        right.append(stepper.state.y)
    right = np.array(right)
    ny = right.shape[1]
    assert np.abs(steps.y[:, :ny] - right).max() <= SAME * np.abs(right).max()


@pytest.mark.slow
def test_the_energy_of_a_stop_without_damping_comes_back():
    code, steps = by_the_engine(swing(upper=0.4, k=1e4), 2e-4, 10_000)
    assert code == 0
    rate = np.abs(steps.y[:, 13 + 10 : 13 + 13]).max(axis=1)
    angle = 2.0 * np.arctan2(steps.y[:, 13 + 5], steps.y[:, 13 + 3])
    energy = 0.5 * 0.35 * rate**2 - 9.81 * 0.5 * np.sin(angle) + 0.5 * 1e4 * np.maximum(angle - 0.4, 0.0) ** 2
    assert np.count_nonzero(np.diff(angle > 0.4)) > 4
    assert np.ptp(energy) < 1e-6 * 9.81 * 0.5


def test_a_blob_holds_stops_and_compliant_contacts():
    assert b"haugmbd.engine.stops.run_entry" in blob(swing(upper=0.4, k=1e3), h=1e-3)
    assert b"haugmbd.engine.stops.run_entry" in blob(ball(mu=0.3), h=1e-3)
    assert b"engine.stops" not in blob(mbd.gallery.pendulum(), h=1e-3)


@pytest.mark.parametrize("limit", [{"restitution": 0.5}, {"restitution": 0.0}])
def test_rigid_stops_are_refused_by_name(limit):
    with pytest.raises(mbd.UsageError, match="stop"):
        blob(swing(upper=0.4, **limit), h=1e-3)


def test_numbers_that_places_keep_are_no_parameters():
    from haugmbd.engine.stops import need_same_places

    one, other = swing(upper=0.4, k=1e3, c=1.0).compile(), swing(upper=0.5, k=1e3, c=1.0).compile()
    assert need_same_places(one, swing(upper=0.4, k=2e3, c=2.0).compile(), "live") is not one
    with pytest.raises(mbd.UsageError, match="live.*'stop upper'"):
        need_same_places(one, other, "live")
