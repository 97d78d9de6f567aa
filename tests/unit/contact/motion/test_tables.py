"""Tables on more legs than three: which contacts are closed, and which lean on them, where nothing is symmetric."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.impacts.contact_modes import ContactModes
from haugmbd.simulation.hybrid.resting_contact import resting_contacts
from tests.support.with_contacts import simulate_with

G = 9.81


def table(seed, legs):
    """A plate on legs at random places, its centre of mass within them but anywhere; inertia that is not round."""
    rng = np.random.default_rng(seed)
    feet = rng.normal(size=(legs, 2)) * np.array([1.0, 0.3])
    share = rng.dirichlet(0.7 * np.ones(legs))
    feet -= share @ feet
    system = mbd.System("table", gravity=(0.0, 0.0, -G))
    mass, J = 10.0 ** rng.uniform(-2.0, 2.0), np.array([0.05, 0.4, 0.42]) * 10.0 ** rng.uniform(-1.0, 1.0)
    plate = system.add(mbd.Body("plate", mass, mass * J, r=(0, 0, 0.5)))
    contacts = [
        mbd.Contact(f"leg {k}", system.ground, plate, point=(x, y, 0.0), normal=(0, 0, 1), plane_point=(0, 0, 0))
        for k, (x, y) in enumerate(feet)
    ]
    return system, contacts, feet, mass


@pytest.mark.slow
@pytest.mark.parametrize("legs", [4, 5, 7])
@pytest.mark.parametrize("seed", range(20))
def test_three_legs_that_hold_the_plate_by_themselves(seed, legs):
    """As many are closed as are independent, and they carry the weight without pulling: the centre of mass is between them."""
    system, contacts, feet, mass = table(seed, legs)
    mechanism = ContactModes(system, contacts)
    names = list(mechanism.names)
    rest = resting_contacts(mechanism, mechanism.free.state(), names, frozenset())
    closed = [names.index(name) for name in rest.closed]
    assert rest.still == frozenset(names)
    assert len(closed) == 3
    N = np.linalg.solve(np.vstack([np.ones(3), feet[closed].T]), [mass * G, 0.0, 0.0])
    assert N.min() >= -1e-9 * mass * G, (closed, N)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_such_a_table_stands(seed):
    """Nothing opens or strikes, the plate stays, and the forces are the weight."""
    system, contacts, _, mass = table(seed, 6)
    result = simulate_with(system, 0.2, h=1e-2, contacts=contacts)
    assert len(result.segments) == 1
    np.testing.assert_allclose(result["plate"].r[-1], (0, 0, 0.5), atol=1e-12)
    forces = sum(result.contact(c.name).force[-1] for c in contacts)
    assert forces == pytest.approx(mass * G, rel=1e-9)
