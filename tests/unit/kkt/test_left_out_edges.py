"""Couplings of which no row is kept, which blocks leave out, and couplings that follow a joint of their own: trains of wheels."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.bodies import inertia
from joints import RJ, Coupling, RotationDriver

AS_OTHERS = {"rtol": 1e-9, "atol": 1e-11}


def wheels(rng, n):
    """Wheels on pins of a carrier, or of the ground, whose angles are coupled, some couplings twice: their rows depend on others."""
    system = mbd.System("wheels", gravity=(0.3, -9.81, 0.0))
    axis = {"axis": (0.0, 0.0, 1.0)}
    carrier = system.add(mbd.Body("carrier", *inertia.box((1.0, 0.3, 0.1), mass=2.0)))
    pins = [system.add(RJ("main", system.ground, carrier, point=(0.0, 0.0, 0.0), **axis))]
    for k in range(n):
        r = (*rng.uniform(-1.0, 1.0, 2), 0.1)
        wheel = system.add(mbd.Body(f"wheel {k}", 1.0 + rng.random(), (0.02, 0.02, 0.04), r=r, omega_bar=(0.0, 0.0, 0.0)))
        holder = carrier if rng.random() < 0.7 else system.ground
        pins.append(system.add(RJ(f"pin {k}", holder, wheel, point=r, **axis)))
    hub = system.add(RJ("hub", system.ground, system.add(mbd.Body("hub", 1.0, (0.05, 0.05, 0.1))), point=(0.0, 0.0, 0.0), **axis))
    rows = [{hub: 1.0, pins[0]: -1.0, pin: rng.uniform(0.5, 2.0)} for pin in pins[1:]]
    for k, row in enumerate(rows):
        system.add(Coupling(f"mesh {k}", row))
    for k in rng.choice(n, n // 2, replace=False):  # follows from the others
        factor = rng.uniform(0.5, 2.0)
        system.add(Coupling(f"again {k}", {joint: factor * c for joint, c in rows[k].items()}))
    system.add(mbd.Torque("drive", hub.j, torque=(0.0, 0.0, 0.5)))
    return system


@pytest.mark.parametrize("seed", range(3))
def test_wheels_move_as_by_fronts(seed):
    system = wheels(np.random.default_rng(seed), 3 + 3 * seed)
    blocks, fronts = (system.compile(solver=solver) for solver in ("block LDL^T", "multifrontal"))
    assert len(blocks.redundancy.dropped) > 0
    state = blocks.state()
    for rule in (mbd.DropDependentRows(), mbd.MinimumNorm()):
        one, other = (mbd.accelerations(model, state, redundancy=rule) for model in (blocks, fronts))
        np.testing.assert_allclose(one.v_dot, other.v_dot, **AS_OTHERS)
        np.testing.assert_allclose(one.omega_bar_dot, other.omega_bar_dot, **AS_OTHERS)
        np.testing.assert_allclose(one.lam, other.lam, rtol=1e-8, atol=1e-9)
    runs = [mbd.simulate(model, 0.05, h=1e-3) for model in (blocks, fronts)]
    np.testing.assert_allclose(runs[0].y, runs[1].y, rtol=0.0, atol=1e-10)


def test_wheels_of_which_some_are_driven_move_as_by_fronts():
    """A driven pin has no free angle, after which a coupling that reads it could follow."""
    system = wheels(np.random.default_rng(5), 6)
    pin = next(joint for joint in system.joints if joint.name == "pin 2")
    system.add(RotationDriver("motor", pin, lambda t: 2.0 * t * t))
    runs = [mbd.simulate(system.compile(solver=solver), 0.1, h=1e-3) for solver in ("block LDL^T", "multifrontal")]
    np.testing.assert_allclose(runs[0].y, runs[1].y, rtol=0.0, atol=1e-9)


def test_planets_cost_time_in_proportion_to_their_number():
    fill = [len(gallery.planetary_gear(n).compile(solver="block LDL^T").tables["FILL_UPDATES"]) for n in (10, 20)]
    assert fill[1] <= 2.1 * fill[0]


def test_analyses_of_other_poses_see_the_rows_that_are_left_out():
    system = gallery.planetary_gear(5)
    model = system.compile()
    assert len(model.redundancy.dropped) == 4  # noqa: PLR2004
    turned = mbd.assemble(model, model.state()).state
    there = mbd.simulate(model, 0.2, h=1e-2).state()
    assert mbd.mobility(model, there).degrees_of_freedom == mbd.mobility(model, turned).degrees_of_freedom == 1
    least = mbd.accelerations(model, there, redundancy=mbd.MinimumNorm())
    drop = mbd.accelerations(model, there)
    np.testing.assert_allclose(least.v_dot, drop.v_dot, **AS_OTHERS)
    assert np.linalg.norm(least.lam) <= np.linalg.norm(drop.lam) * (1.0 + 1e-9)
