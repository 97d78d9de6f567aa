"""Contact forces that share a load in many ways: their mark, and the choice of least norm."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.impacts.shared_forces import least_norm
from tests.support.seeds import seeds
from tests.support.with_contacts import simulate_with

G = 9.81


def table(feet, centre, mass=2.0):
    """A table whose centre of mass is above a point of the floor, on feet at (x, y)."""
    system = mbd.System("table", gravity=(0.0, 0.0, -G))
    top = system.add(mbd.Body("top", mass, (0.1, 0.1, 0.1), r=(*centre, 0.5)))
    contacts = [
        mbd.Contact(f"foot {k}", system.ground, top, point=(*foot, 0.0), normal=(0, 0, 1), plane_point=(0, 0, 0))
        for k, foot in enumerate(feet)
    ]
    return system, contacts


def circle(n):
    angle = 2.0 * np.pi * np.arange(n) / n + 0.3
    return 0.5 * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_the_feet_of_a_table(n, tmp_path):
    """Three feet are determined; of more the forces of least norm are those of `mbd.impulse`, that grow linearly over the table."""
    feet, centre = circle(n), (0.08, 0.03)
    system, contacts = table(feet, centre)
    result = simulate_with(system, 0.02, contacts=contacts, h=5e-3)
    for one in (result, mbd.load(result.save(tmp_path / "table.npz"))):
        histories = [one.contact(f"foot {k}") for k in range(n)]
        assert all(history.closed.all() for history in histories)
        assert all((history.unique == (n == 3)).all() for history in histories)
        force = np.stack([history.force for history in histories])
        A = np.vstack([np.ones(n), feet.T])
        load = 2.0 * G * np.array([1.0, *centre])
        np.testing.assert_allclose(force, np.tile(np.linalg.pinv(A) @ load, (force.shape[1], 1)).T, rtol=1e-8)
    model = system.compile()
    falling = model.state().replace(v=[(0, 0, 0), (0, 0, -1.0)])
    blow = mbd.impulse(model, falling, contacts=contacts)
    np.testing.assert_allclose(list(blow.normal.values()), force[:, 0] / G, rtol=1e-8)


def test_forces_of_least_norm_do_not_pull():
    """Against non-negative least squares, with the load as a heavy weight."""
    from scipy.optimize import nnls  # noqa: PLC0415

    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 9))
        C = np.vstack([np.ones(n), rng.uniform(-1.0, 1.0, (2, n))])
        N = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.6)
        found = least_norm(C, N)
        expected = nnls(np.vstack([1e6 * C, np.eye(n)]), np.r_[1e6 * C @ N, np.zeros(n)])[0]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(C @ found, C @ N, rtol=0.0, atol=1e-12)


@pytest.mark.slow
def test_feet_that_a_load_lifts_are_unique_again():
    """A torque tips the table over the edge of two feet, which carry it then."""
    feet = [(x, y) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    system, contacts = table(feet, (0.0, 0.0))
    system.add(mbd.Torque("tip", system["top"], torque=lambda t: (0.0, 40.0 * t, 0.0)))
    tips = 2.0 * G * 0.3 / 40.0
    result = simulate_with(system, tips + 0.03, contacts=contacts, h=5e-3)
    lifted = [result.contact(f"foot {k}") for k in (0, 1)]
    carry = [result.contact(f"foot {k}") for k in (2, 3)]
    assert not any(history.closed[-1] or history.force[-1] for history in lifted)
    assert all(history.closed[-1] and history.unique[-1] and not history.unique[0] for history in carry)
    assert sorted(event.name for event in result.events) == ["foot 0 opens", "foot 1 opens"]
    np.testing.assert_allclose([event.t for event in result.events], tips, atol=1e-9)
