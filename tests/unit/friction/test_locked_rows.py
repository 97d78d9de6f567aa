"""Joints of one rate that stick are locked by rows in the blocks of a tree: against the dense system of their columns."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations.accelerations import accelerate_entry
from haugmbd.friction import columns as at
from haugmbd.friction.tables import by_columns_alone
from haugmbd.integrators.initial_state import projected
from haugmbd.workspace.layout import workspace_array
from joints import RJ, TJ


def tree(rng, coefficients=(0.02, 0.3, 0.9)):
    """A tree of hinges and slides with dry friction in most of them, of bodies with and without massless axes."""
    system = mbd.System("tree", gravity=(0.0, 0.0, -9.81))
    bodies = [system.ground]
    for k in range(int(rng.integers(8, 13))):
        parent = bodies[int(rng.integers(0, len(bodies)))]
        point = np.asarray(parent.r) + 0.3 * rng.normal(size=3)
        inertia = np.array([1.0, 1.0, rng.choice([0.0, 0.7])]) * 10.0 ** rng.uniform(-3.0, 0.0)
        turned = rng.normal(size=4)
        mass, r = 10.0 ** rng.uniform(-1.0, 1.0), point + 0.4 * rng.normal(size=3)
        body = system.add(mbd.Body(f"b{k}", mass, inertia, r=r, p=turned / np.linalg.norm(turned)))
        kind, pair = (RJ, TJ)[int(rng.integers(2))], (parent, body) if rng.random() < 0.7 else (body, parent)
        joint = system.add(kind(f"j{k}", *pair, point=point, axis=rng.normal(size=3)))
        if rng.random() < 0.8:
            mu, lever = rng.choice(coefficients), {"radius": 0.1} if kind is RJ else {}
            law, load = mbd.Coulomb(mu * rng.choice([1.0, 1.3]), mu), rng.choice([0.0, 10.0, 100.0, 1000.0])
            system.add(mbd.JointFriction(f"f{k}", joint, law, preload=load, **lever))
        bodies.append(body)
    return system


def both(model, y, modes):
    """The solution and the terms of friction at a state, with locked rows and by columns."""
    found = []
    for columns in (False, True):
        pack = model.pack()
        pack = pack._replace(ints=by_columns_alone(pack.ints)) if columns else pack
        workspace_array(pack, "FRICTION_MODES")[: len(modes), at.MODE] = modes
        assert accelerate_entry(pack, 0.0, y.copy()) == 0
        np.testing.assert_array_equal(pack.reals, model.tables.reals)  # the rows that lock joints are taken out again
        x = workspace_array(pack, "SOLUTION")
        found.append((np.where(np.arange(len(x))[:, None] > 0, x, 0.0), workspace_array(pack, "FRICTION_TERMS").copy()))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_locked_rows_give_the_friction_of_the_dense_system(seed):
    rng = np.random.default_rng(seed)
    model = tree(rng).compile()
    n = len(model.tables["FRICTION_INTS"])
    for y, modes in ((model.y0, np.zeros(n)), (model.y0, np.full(n, at.STICKS)), (model.y0, rng.choice([at.FREE, at.STICKS], n))):
        (x, terms), (x_dense, dense) = both(model, y, modes)
        np.testing.assert_allclose(x, x_dense, atol=1e-10 * max(1.0, np.abs(x_dense).max()))
        np.testing.assert_array_equal(terms[:, at.STATE], dense[:, at.STATE])
        force = max(1.0, np.abs(dense[:, at.LIMIT]).max(initial=0.0))
        for column in (at.FRICTION, at.NORMAL, at.LIMIT, at.MARGIN):
            np.testing.assert_allclose(terms[:, column], dense[:, column], atol=1e-10 * force)


def test_joints_that_stick_take_part_beside_those_that_slide():
    rng = np.random.default_rng(3)
    for _ in range(3):
        model = tree(rng, (0.02, 0.05)).compile()  # none that jams
        u = rng.normal(size=(model.nb + 1, 6))
        u[0] = 0.0
        state = projected(model, model.pack(), model.state().replace(v=u[:, :3], omega_bar=u[:, 3:]))
        modes = rng.choice([at.FREE, at.STICKS], len(model.tables["FRICTION_INTS"]))
        (x, terms), (x_dense, dense) = both(model, state.y, modes)
        np.testing.assert_allclose(x, x_dense, atol=1e-10 * max(1.0, np.abs(x_dense).max()))
        np.testing.assert_array_equal(terms[:, at.STATE], dense[:, at.STATE])


def test_a_long_chain_of_rods_at_rest_holds_and_moves_nothing():
    system = mbd.System("held", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k in range(30):
        rod = system.add(mbd.Body(f"rod {k}", 1.0, (1 / 12, 1 / 12, 0.0), r=(0.05 * k, 0.0, -k - 0.5)))
        pin = system.add(RJ(f"pin {k}", before, rod, point=(0.05 * k, 0.0, -float(k)), axis=(0, 1, 0)))
        system.add(mbd.JointFriction(f"friction {k}", pin, mbd.Coulomb(0.9, 0.9), radius=2.0))
        before = rod
    result = mbd.simulate(system, 0.02, h=1e-3)
    assert not result.events
    np.testing.assert_allclose(result.y, np.broadcast_to(result.y[0], result.y.shape), atol=1e-12)
