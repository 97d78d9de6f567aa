"""Many bodies and contacts: each moves as if it were alone, and only contacts that are near are evaluated one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.contact.gap import PlacedContacts
from haugmbd.impacts.auxiliary_rows import AuxiliaryRows
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.integrators.event_location import EventLocator
from haugmbd.simulation.hybrid import contact_events
from joints import RJ
from tests.support.bouncing import DOWN, METHODS
from tests.support.random_trees import random_tree
from tests.support.with_contacts import simulate_with

HEIGHTS = (0.2, 0.31, 0.43, 0.56, 0.7, 0.85, 1.01, 1.18)
RESTITUTIONS = (0.8, 0.0, 0.5, 0.3)
AS_ALONE = {"rtol": 1e-9, "atol": 1e-9}
"""[s, m] Another body's impacts end steps elsewhere: rounding, and the tolerance of the adaptive method, of some bounces."""


def balls(numbers):
    """Balls over a floor, each with its own contact, beside one another."""
    system, contacts = mbd.System("balls", gravity=DOWN), []
    for k in numbers:
        ball = system.add(mbd.Body(f"ball {k}", 2.0, (0.008, 0.008, 0.008), r=(k, 0.0, 0.1 + HEIGHTS[k])))
        floor = {"point": ball.r, "normal": (0, 0, 1), "plane_point": (k, 0, 0), "radius": 0.1}
        contacts.append(mbd.Contact(f"floor {k}", system.ground, ball, restitution=RESTITUTIONS[k % 4], **floor))
    return system, contacts


@pytest.mark.slow
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_each_ball_bounces_as_if_it_were_alone(options):
    system, contacts = balls(range(8))
    together = simulate_with(system, 0.6, contacts=contacts, **options)
    for k in range(8):
        system, contacts = balls([k])
        alone = simulate_with(system, 0.6, contacts=contacts, **options)
        strikes = [impact.t for impact in together.impacts if f"floor {k}" in impact.contacts]
        np.testing.assert_allclose(strikes, [impact.t for impact in alone.impacts], **AS_ALONE)
        np.testing.assert_allclose(together[f"ball {k}"].r[-1], alone[f"ball {k}"].r[-1], **AS_ALONE)
    assert len(together.impacts) > 10


def test_only_contacts_that_are_near_are_evaluated_one_by_one(monkeypatch):
    """In 0.25 s balls 0 (0.8) and 1 (at rest) have met the floor; the gap of no other is ever evaluated by itself.

    A budget keeps the run in the loop in Python: flights are searched in compiled code.
    """
    asked: Counter[str] = Counter()
    gap_at = contact_events.Gaps.at
    monkeypatch.setattr(contact_events.Gaps, "at", lambda self, k, state: asked.update([f"floor {k}"]) or gap_at(self, k, state))
    system, contacts = balls(range(8))
    result = simulate_with(system, 0.26, contacts=contacts, h=1e-3, budget=1e3)
    assert [impact.contacts for impact in result.impacts] == [("floor 0",), ("floor 1",)]
    assert set(asked) == {"floor 0", "floor 1"}
    assert max(asked.values()) < 60


@pytest.mark.slow
def test_of_events_in_one_step_those_after_the_first_that_ends_the_run_are_not_located(monkeypatch):
    """Steps of 50 ms, in which several balls fall through the floor: the run ends at each impact in its turn."""
    located = []
    locate = EventLocator._locate
    monkeypatch.setattr(
        EventLocator, "_locate", lambda self, event, *rest: located.append(event.name) or locate(self, event, *rest)
    )
    system, contacts = balls(range(8))
    few = simulate_with(system, 0.5, contacts=contacts, h=5e-2, budget=1e3)  # by the loop in Python
    times = [impact.t for impact in few.impacts]
    assert times == sorted(times)
    exact = sorted(t for k, h in enumerate(HEIGHTS) for t in bounces(h, RESTITUTIONS[k % 4]) if t < 0.5)
    np.testing.assert_allclose(times, exact, **AS_ALONE)
    assert len(times) <= len(located) <= len(times) + 2  # the straight line between values tells nearly always which is first


def bounces(height, e):
    """The first times [s] at which a ball strikes the floor."""
    fall = np.sqrt(2.0 * height / 9.81)
    return [fall * (1.0 + 2.0 * sum(e**i for i in range(1, n + 1))) for n in range(3 if e else 1)]


def test_gaps_rates_and_rows_of_many_contacts_are_those_of_each(rng):
    system = random_tree(rng, 5)
    bodies, model = system.bodies, system.compile()
    contacts = [
        mbd.Contact(f"c{k}", bodies[i], bodies[j], point=rng.normal(size=3), normal=rng.normal(size=3), radius=0.1 * k)
        for k, (i, j) in enumerate([(0, 1), (2, 4), (5, 3), (1, 0)])
    ]
    placed = [contact.placed(model) for contact in contacts]
    y = mbd.simulate(system, 0.05, h=1e-2).y
    many = PlacedContacts.of(placed)
    assert many.gaps(y).shape == many.gap_rates(y).shape == (6, 4)
    for k, one in enumerate(placed):
        alone = PlacedContacts.of([one])
        np.testing.assert_array_equal(many.gaps(y)[:, k], alone.gaps(y)[:, 0])
        np.testing.assert_array_equal(many.gap_rates(y)[:, k], alone.gap_rates(y)[:, 0])
        np.testing.assert_array_equal(many.rows(y[3])[k], alone.rows(y[3])[0])


def test_rows_on_separate_parts_share_a_back_substitution_and_find_the_same(rng, monkeypatch):
    """Three double pendulums and a free body: contacts with the ground, and between two of them."""
    system = mbd.System("parts", gravity=DOWN)
    bodies = []
    for k in range(3):
        upper = system.add(mbd.Body(f"upper {k}", 1.0, (0.1, 0.2, 0.15), r=(k, 0, -0.5)))
        lower = system.add(mbd.Body(f"lower {k}", 1.0, (0.1, 0.2, 0.15), r=(k, 0.2, -1.5)))
        system.add(RJ(f"pin {k}", system.ground, upper, point=(k, 0, 0), axis=(0, 1, 0.2)))
        system.add(RJ(f"elbow {k}", upper, lower, point=(k, 0.1, -1), axis=(1, 1, 0)))
        bodies += [upper, lower]
    bodies.append(system.add(mbd.Body("free", 2.0, (0.1, 0.1, 0.1), r=(4, 0, 0))))
    pairs = [(None, 1), (None, 3), (1, 4), (None, 5), (None, 6), (0, None), (2, 6), (None, 3)]
    part = lambda k: system.ground if k is None else bodies[k]  # noqa: E731
    contacts = [
        mbd.Contact(f"c{n}", part(i), part(j), point=rng.normal(size=3), normal=rng.normal(size=3))
        for n, (i, j) in enumerate(pairs)
    ]
    model = system.compile()
    state = model.state()
    placed = PlacedContacts.of([contact.placed(model) for contact in contacts])
    rows = RowSet(placed.bodies, placed.rows(state.y), np.zeros(len(pairs)))
    factor, calls = FactoredSystem(model, state), []
    solve = FactoredSystem.solve
    monkeypatch.setattr(FactoredSystem, "solve", lambda self, *args: calls.append(1) or solve(self, *args))
    grouped = AuxiliaryRows.of(factor, rows)
    assert len(calls) == 3  # each part is moved by three rows at most
    for k in range(len(pairs)):
        du, Lam = solve(factor, rows.transposed(np.eye(len(pairs))[k], model.nb + 1))
        np.testing.assert_allclose(grouped.Z[k], du, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(grouped.Z_lam[k], Lam, rtol=1e-13, atol=1e-13)
