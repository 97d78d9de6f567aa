"""Contacts: gap, rate and row against the DP2 of the engine; bad values by name."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.contact.gap import PlacedContacts
from tests.support.random_trees import random_tree

CLOSE = {"rtol": 1e-13, "atol": 1e-14}


def moving(rng, model):
    """A state of the model with random velocities, and another pose."""
    state = model.state()
    v, omega_bar, r, p = state.v.copy(), state.omega_bar.copy(), state.r.copy(), state.p.copy()
    v[1:], omega_bar[1:] = rng.normal(size=(2, model.nb, 3))
    r[1:] += rng.normal(size=(model.nb, 3))
    p[1:] = rng.normal(size=(model.nb, 4))
    p[1:] /= np.linalg.norm(p[1:], axis=1, keepdims=True)
    return state.replace(v=v, omega_bar=omega_bar, r=r, p=p)


@pytest.mark.parametrize("on_ground", [True, False])
def test_gap_and_row_are_those_of_the_primitive(rng, tree, on_ground):
    i, j = (tree.ground if on_ground else tree.bodies[2]), tree.bodies[4]
    contact = mbd.Contact(
        "c", i, j, point=rng.normal(size=3), normal=rng.normal(size=3), plane_point=rng.normal(size=3), radius=0.3
    )
    bodies, model = mbd.System("pair"), tree.compile()
    bodies.ground, bodies.bodies = tree.ground, list(tree.bodies)
    bodies.add(contact.primitive())
    state = moving(rng, model)
    rows = mbd.evaluate(bodies.compile(check_pose=False), state)
    C, u = PlacedContacts.of([contact.placed(model)]).rows(state.y)[0], np.hstack([state.v, state.omega_bar])
    assert contact.gap(model, state) == pytest.approx(rows.Phi[0], rel=1e-13)
    np.testing.assert_allclose(C, np.concatenate([rows.Phi_r[0], rows.PiBar[0]], axis=1), **CLOSE)
    rate = contact.gap_rate(model, state)
    assert rate == pytest.approx(float(np.sum(C * u[rows.bodies[0]])), rel=1e-12)
    if on_ground:
        assert rows.bodies[0, 0] == 0
        assert not u[0].any()


def test_the_rate_is_the_derivative_of_the_gap_along_a_run(tree):
    contact = mbd.Contact("c", tree.bodies[1], tree.bodies[5], point=(1, 2, 0), normal=(1, 1, 3), radius=0.1)
    result = mbd.simulate(with_gravity(tree), 0.02, h=1e-3)
    placed = PlacedContacts.of([contact.placed(result.model)])
    gap, rate = placed.gaps(result.y)[:, 0], placed.gap_rates(result.y)[:, 0]
    seen = (gap[:-4] - 8 * gap[1:-3] + 8 * gap[3:-1] - gap[4:]) / 12e-3
    assert np.abs(rate).max() > 1e-3
    np.testing.assert_allclose(rate[2:-2], seen, atol=1e-8 * np.abs(rate).max())


def with_gravity(system):
    system.gravity = (0.0, 3.0, -9.81)
    return system


def test_by_default_it_touches_at_the_modelled_pose(tree):
    model = tree.compile()
    for radius in (0.0, 0.4):
        contact = mbd.Contact("floor", tree.ground, tree.bodies[3], point=(1, 2, 3), normal=(0, 3, 4), radius=radius)
        assert abs(contact.gap(model)) <= 1e-15
        np.testing.assert_allclose(contact.frame_i.point, np.array([1, 2, 3]) - radius * np.array([0, 0.6, 0.8]), atol=1e-15)
    lifted = mbd.Contact("floor", tree.ground, tree.bodies[3], point=(1, 2, 3), normal=(0, 0, 9), plane_point=(7, 7, 1), radius=0.5)
    assert lifted.gap(model) == pytest.approx(1.5, rel=1e-15)


BAD = [
    ({"restitution": 1.2}, "restitution is 1.2, must be between 0 and 1"),
    ({"restitution": -0.1}, "restitution is -0.1"),
    ({"restitution": np.nan}, "restitution is nan, not finite"),
    ({"restitution": "hard"}, "restitution is 'hard', not a number"),
    ({"normal": (0, 0, 0)}, r"normal is \(0, 0, 0\)"),
    ({"normal": (0, 1)}, "normal has shape"),
    ({"point": (0, np.inf, 0)}, "point = .* is not finite"),
    ({"plane_point": "there"}, "plane_point is 'there'"),
    ({"radius": -1.0}, "radius is -1 m, must not be negative"),
]


@pytest.mark.parametrize(("change", "what"), BAD)
def test_bad_values_become_faults_by_name(tree, change, what):
    contact = mbd.Contact("floor", tree.ground, tree.bodies[1], **{"point": (0, 0, 0), "normal": (0, 0, 1), **change})
    assert len(contact.faults()) == 1
    with pytest.raises(mbd.ModelError, match="contact 'floor': " + what):
        contact.gap(tree.compile())


def test_wrong_bodies(rng, tree):
    model, body = tree.compile(), tree.bodies[1]
    with pytest.raises(mbd.UsageError, match="contact 'floor' needs two bodies, got 'b0'"):
        mbd.Contact("floor", tree.ground, "b0", point=(0, 0, 0), normal=(0, 0, 1))
    alone = mbd.Contact("floor", body, body, point=(0, 0, 0), normal=(0, 0, 1))
    assert "both of its sides are on body" in str(alone.faults()[0])
    other = random_tree(rng, 8).bodies[8]
    with pytest.raises(mbd.ModelError, match="contact 'floor': body 'b7' is not in model 'tree'"):
        mbd.Contact("floor", tree.ground, other, point=(0, 0, 0), normal=(0, 0, 1)).gap(model)


def test_it_is_frozen(tree):
    contact = mbd.Contact("floor", tree.ground, tree.bodies[1], point=(0, 0, 0), normal=(0, 0, 1))
    with pytest.raises(AttributeError, match="a Contact is frozen"):
        contact.restitution = 1.0


def test_gaps_are_asked_of_a_model_and_its_states(tree):
    contact, model = mbd.Contact("floor", tree.ground, tree.bodies[1], point=(0, 0, 0), normal=(0, 0, 1)), tree.compile()
    for thing in (tree, None):
        with pytest.raises(mbd.UsageError, match="contact 'floor' needs a compiled model"):
            contact.gap(thing)
    for state in ("now", mbd.ChainState([0.0], [0.0])):
        with pytest.raises(mbd.UsageError, match="needs a State of it, got"):
            contact.gap_rate(model, state)


@pytest.mark.parametrize("length", [1e-300, 1e300])
def test_the_length_of_the_normal_does_not_matter(tree, length):
    contact = mbd.Contact("floor", tree.ground, tree.bodies[1], point=(1, 2, 3), normal=(0, 0, length), plane_point=(0, 0, 0))
    assert contact.gap(tree.compile()) == pytest.approx(3.0, rel=1e-13)
