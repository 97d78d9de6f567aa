"""What must hold of every impulse: momentum balance, action and reaction, the energy of one contact, symmetry of several."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix
from joints import Distance
from tests.support.dense_impulse import consistent, rows_of, velocity
from tests.support.random_trees import random_blows, random_contacts, random_tree
from tests.support.seeds import seeds

EXACT = 1e-12
"""Relative: the issue's own figure."""


def momentum(model, state):
    """Linear momentum, and angular momentum about the origin, (6,)."""
    linear = model.mass[:, None] * state.v
    spin = np.einsum("kab,kbc,kc->ka", rotation_matrix(state.p), model.J_bar, state.omega_bar)
    return np.concatenate([linear.sum(0), (np.cross(state.r, linear) + spin).sum(0)])


def about_origin(point, force, torque=(0, 0, 0)):
    return np.concatenate([force, np.cross(point, force) + torque])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.EnergyWarning")
@pytest.mark.parametrize("seed", range(20))
def test_momentum_balance(seed):
    """Change = applied + contacts of the ground + joints on the ground, their points and moments counted; linear and angular."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 6, free=seed % 2 == 0)
    state, blows, contacts = consistent(system, rng), random_blows(rng, system), random_contacts(rng, system, 3)
    latch = Distance("latch", system.ground, system.bodies[4], point_i=rng.normal(size=3), point_j=rng.normal(size=3))
    model = system.compile()
    found = mbd.impulse(model, state, applied=blows, contacts=contacts, close=latch)
    outside = np.zeros(6)
    for blow in blows:
        S = blow.body.A @ blow.impulse if blow.in_body else blow.impulse
        at_point = isinstance(blow, mbd.PointImpulse)
        outside += about_origin(blow.frame.point, S) if at_point else about_origin(np.zeros(3), np.zeros(3), S)
    for c in contacts:
        for body, sign in ((c.i, -1.0), (c.j, 1.0)):
            if not body.is_ground:
                outside += about_origin(c.frame_j.point, sign * found.normal[c.name] * c.frame_i.A[:, 2])
    for name, e in (*model.joints.items(), ("latch", None)):
        if e is None or 0 in (e.i, e.j):
            on = found.joint(name, on="j" if e is None or e.i == 0 else "i")
            outside += about_origin(on.point, on.force, on.torque)
    change = momentum(model, found.state) - momentum(model, state)
    assert np.abs(change).max() > 0.1
    np.testing.assert_allclose(
        change, outside, rtol=0, atol=EXACT * max(np.abs(outside).max(), np.abs(momentum(model, state)).max())
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_every_body_balances(seed):
    """m (v+ - v) = all impulses on the body, from `joint` on both sides, in all three frames."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 5)
    state, blow = consistent(system, rng), mbd.PointImpulse("blow", system.bodies[5], point=(1, 2, 3), impulse=(1, -2, 0.5))
    model = system.compile()
    found = mbd.impulse(model, state, applied=blow)
    left = model.mass[:, None] * (found.v - state.v)
    left[5] -= blow.impulse
    for name, e in model.joints.items():
        for on, k in (("i", e.i), ("j", e.j)):
            ground, body, joint = (found.joint(name, on=on, frame=frame) for frame in ("ground", "body", "joint"))
            left[k] -= ground.force
            A, frame = rotation_matrix(state.p[k]), e.A_bar_i if on == "i" else e.A_bar_j
            np.testing.assert_allclose(A @ body.torque, ground.torque, atol=1e-12)
            np.testing.assert_allclose(A @ frame @ joint.force, ground.force, atol=1e-12)
            assert ground.body == model.body_names[k]
    np.testing.assert_allclose(left[1:], 0.0, atol=1e-12 * np.abs(found.Lam).max())


@pytest.mark.slow
def test_energy_of_one_contact():
    """Random mechanisms: change = -(1 - e^2) c^2 / (2 C K^-1 C^T) <= 0, and none at all for e = 1."""
    rng = np.random.default_rng(5)
    struck = 0
    for k in seeds(20):
        system = random_tree(rng, int(rng.integers(1, 7)), free=k % 2 == 0)
        model = system.compile()
        state, e = consistent(model, rng), (0.0, 1.0, rng.random())[k % 3]
        (contact,) = random_contacts(rng, system, 1, e=e)
        found = mbd.impulse(model, state, contacts=[contact])
        before, after = contact.gap_rate(model, state), contact.gap_rate(model, found.state)
        f = found.normal["c0"]
        if before >= 0.0:
            assert f == 0.0
            assert found.messages[0] == f"contact 'c0' separates at {after:.6g} m/s: no impulse"
            continue
        struck += 1
        assert f > 0.0
        assert found.energy_change <= EXACT * found.energy_before
        assert after == pytest.approx(-e * before, rel=1e-10, abs=1e-11 * np.abs(velocity(state)).max())
        assert found.energy_change == pytest.approx(0.5 * f * (1 - e) * before, rel=1e-9, abs=EXACT * found.energy_before)
        if e == 1.0:
            assert abs(found.energy_change) <= EXACT * found.energy_before
    assert struck > 6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_action_is_reaction(seed):
    """Where point and plane touch, it does not matter which of the bodies carries which, nor how a sphere is split."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 5)
    state, model, (P, n) = consistent(system, rng), system.compile(), rng.normal(size=(2, 3))
    a, b = system.bodies[2], system.bodies[5]
    n = n / np.linalg.norm(n)
    if mbd.Contact("c", a, b, point=P, normal=n).gap_rate(model, state) > 0:
        n = -n
    variants = (
        mbd.Contact("c", a, b, point=P, normal=n, restitution=0.3),
        mbd.Contact("c", b, a, point=P, normal=-7 * n, restitution=0.3),
        mbd.Contact("c", a, b, point=P + 0.2 * n, normal=n, restitution=0.3, radius=0.2),
    )
    found = [mbd.impulse(model, state, contacts=[c]) for c in variants]
    assert found[0].normal["c"] > 1e-3
    for other in found[1:]:
        assert other.normal["c"] == pytest.approx(found[0].normal["c"], rel=1e-11)
        np.testing.assert_allclose(velocity(other), velocity(found[0]), atol=1e-11)


def table(e):
    """A plate that comes down flat on its four corners."""
    system = mbd.System("table")
    plate = system.add(mbd.Body("plate", 3.0, (0.3, 0.4, 0.7), r=(0, 0, 1), v=(0.2, 0, -2)))
    corners = [(x, y) for x in (-1, 1) for y in (-0.5, 0.5)]
    legs = [
        mbd.Contact(f"leg {k}", system.ground, plate, point=(x, y, 0), normal=(0, 0, 1), restitution=e)
        for k, (x, y) in enumerate(corners)
    ]
    return system.compile(), legs


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_table_on_four_legs(e):
    """W has rank 3; the least impulses are equal."""
    model, legs = table(e)
    found = mbd.impulse(model, contacts=legs)
    np.testing.assert_allclose(list(found.normal.values()), 3.0 * 2 * (1 + e) / 4, rtol=1e-13)
    np.testing.assert_allclose(found.v[1], (0.2, 0, 2 * e), atol=1e-14)
    np.testing.assert_allclose(found.omega_bar[1], 0, atol=1e-14)
    assert "'leg 0', 'leg 1', 'leg 2', 'leg 3' are not unique (rank 3 of 4" in found.messages[0]


def test_a_table_struck_beside_its_middle():
    """Resting on four legs, struck at a corner from above: three legs push or fewer, none pulls, none goes through the floor."""
    system = mbd.System("table")
    plate = system.add(mbd.Body("plate", 3.0, (0.3, 0.4, 0.7), r=(0, 0, 1)))
    corners = [(x, y) for x in (-1, 1) for y in (-0.5, 0.5)]
    legs = [
        mbd.Contact(f"leg {k}", system.ground, plate, point=(x, y, 0), normal=(0, 0, 1), restitution=0.9)
        for k, (x, y) in enumerate(corners)
    ]
    model = system.compile()
    at_corner = mbd.impulse(model, contacts=legs, applied=mbd.PointImpulse("fist", plate, point=(1, 0.5, 1), impulse=(0, 0, -1)))
    np.testing.assert_allclose(list(at_corner.normal.values()), (0, 0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(velocity(at_corner), 0.0, atol=1e-12)
    outside = mbd.impulse(model, contacts=legs, applied=mbd.PointImpulse("fist", plate, point=(2, 0, 1), impulse=(0, 0, -1)))
    assert outside.normal["leg 0"] == outside.normal["leg 1"] == 0.0
    assert sum(outside.normal.values()) > 1.0
    assert outside.omega_bar[1, 1] > 0.0
    assert outside.messages[0].startswith("contact 'leg 0' separates at")


@pytest.mark.slow
def test_several_contacts_warn_where_energy_rises():
    """Random pairs of contacts: a warning, and a sentence, exactly where the kinetic energy rises."""
    rng = np.random.default_rng(8)
    rises = 0
    for k in seeds(60):
        system = random_tree(rng, 3, free=k % 2 == 0)
        model = system.compile()
        state, contacts = consistent(model, rng), random_contacts(rng, system, 2, e=1.0 if k % 3 else None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = mbd.impulse(model, state, contacts=contacts)
        said = [text for text in found.messages if "raises the kinetic energy" in text]
        if found.energy_change > 1e-9 * found.energy_before:
            rises += 1
            assert issubclass(caught[0].category, mbd.EnergyWarning)
            assert said == [str(caught[0].message)]
            assert f"by {found.energy_change:.4g}"[:-1] in said[0]
            assert "'c0', 'c1'" in said[0]
        else:
            assert not caught
            assert not said
    assert rises >= 3


@pytest.mark.slow
def test_plastic_contacts_never_raise_energy():
    """e = 0 at any number of contacts is a projection."""
    rng = np.random.default_rng(9)
    for _ in seeds(15):
        system = random_tree(rng, 4)
        model = system.compile()
        state, contacts = consistent(model, rng), random_contacts(rng, system, 5, e=0.0)
        found = mbd.impulse(model, state, contacts=contacts)
        assert found.energy_change <= EXACT * found.energy_before
        C, _ = rows_of(system, [c.primitive() for c in contacts], state)
        assert (C @ velocity(found)).min() >= -1e-11
