"""Every kind of question against full matrices."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ, Distance, RotationDriver
from tests.support.dense_impulse import Dense, consistent, rows_of, velocity, wrench
from tests.support.random_trees import random_blows, random_contacts, random_tree
from tests.support.seeds import seeds

TOL = 1e-11
"""Relative to the largest number: rounding, times condition numbers of up to 1e4."""


def near(a, b):
    np.testing.assert_allclose(a, b, rtol=0.0, atol=TOL * max(1.0, np.abs(b).max(initial=0.0)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_applied_impulses(seed):
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 6, free=seed % 3 == 0)
    state, blows = consistent(system, rng), random_blows(rng, system)
    model = system.compile()
    found = mbd.impulse(model, state, applied=blows)
    u, Lam = Dense(system, state).solve(wrench(model, blows))
    near(velocity(found), u)
    near(found.Lam, Lam)
    assert found.state.t == state.t
    np.testing.assert_array_equal(found.state.r, state.r)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_applied_is_the_projection(seed):
    """The nearest velocities in mass, with drivers: M (u+ - u) = -Phi_q^T Lam, Phi_q u+ = nu."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 5)
    hinge = system.add(
        RJ("hinge", system.ground, system.add(mbd.Body("wheel", 2.0, (0.1, 0.2, 0.15))), point=(0, 0, 1), axis=(1, 2, 3))
    )
    system.add(RotationDriver("drive", hinge, lambda t: 0.7 * t))
    model = system.compile()
    wild = model.state().replace(v=np.vstack([np.zeros(3), rng.normal(size=(6, 3))]))
    found = mbd.impulse(model, wild)
    u, Lam = Dense(system, wild).solve(np.zeros(36))
    near(velocity(found), u)
    near(found.Lam, Lam)
    assert np.linalg.norm(found.omega_bar[-1]) == pytest.approx(0.7, rel=1e-12)
    again = mbd.impulse(model, found.state)
    near(velocity(again), u)
    near(again.Lam, 0.0 * Lam)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::haugmbd.EnergyWarning")
@pytest.mark.parametrize("seed", seeds(16))
def test_contacts(seed):
    """One to four contacts, each with its own e, with and without a blow."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 5, free=seed % 2 == 0)
    model = system.compile()
    state, contacts = consistent(model, rng), random_contacts(rng, system, 1 + seed % 4)
    blows = random_blows(rng, system) if seed % 3 == 0 else ()
    found = mbd.impulse(model, state, applied=blows, contacts=contacts)
    C, _ = rows_of(system, [c.primitive() for c in contacts], state)
    u, f = Dense(model, state).newton(wrench(model, blows), C, np.array([c.restitution for c in contacts]))
    near(velocity(found), u)
    near(np.array([found.normal[c.name] for c in contacts]), f)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_everything_at_once(seed):
    rng = np.random.default_rng(100 + seed)
    system = random_tree(rng, 6)
    state, blows, contacts = consistent(system, rng), random_blows(rng, system), random_contacts(rng, system, 3, e=0.0)
    b = system.bodies
    closing = (SJ("latch", b[6], b[5], point=rng.normal(size=3)), Distance("rod", b[0], b[4], point_i=(1, 1, 1), point_j=(0, 2, 0)))
    model = system.compile()
    found = mbd.impulse(model, state, applied=blows, contacts=contacts, close=closing)
    for joint in closing:
        system.add(joint)
    C, _ = rows_of(system, [c.primitive() for c in contacts], state)
    dense = Dense(system, state)
    u, f = dense.newton(wrench(model, blows), C, np.zeros(3))
    near(velocity(found), u)
    near(np.array([found.normal[c.name] for c in contacts]), f)
    Lam = np.concatenate([found.Lam, *found.closed.values()])
    near(dense.M @ (u - dense.u) + dense.J.T @ Lam - C.T @ f, wrench(model, blows))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_rods_without_inertia_about_their_axes(seed):
    """A chain of rods on revolute joints: the matrix M is singular, the augmented one is not."""
    rng = np.random.default_rng(seed)
    system = mbd.System("rods")
    before, P = system.ground, np.zeros(3)
    for k in range(6):
        along = rng.normal(size=3)
        along /= np.linalg.norm(along)
        axis = np.cross(along, rng.normal(size=3))
        half = np.sqrt(0.5 * (1 + along[0])) if along[0] > -0.9 else 1.0
        p = np.array([half, 0, -along[2] / (2 * half), along[1] / (2 * half)]) if half < 1.0 else np.array([0, 0, 0, 1.0])
        end = P + mbd.Body("turn", 1.0, (1, 1, 1), p=p).A[:, 0]
        rod = system.add(mbd.Body(f"rod {k}", 1.0, (0, 1 / 12, 1 / 12), r=0.5 * (P + end), p=p))
        system.add(RJ(f"joint {k}", before, rod, point=P, axis=axis))
        before, P = rod, end
    state, model, blows = consistent(system, rng), system.compile(), random_blows(rng, system)
    floor = mbd.Contact("floor", system.ground, before, point=P, normal=rng.normal(size=3), restitution=0.5)
    found = mbd.impulse(model, state, applied=blows, contacts=[floor])
    C, _ = rows_of(system, [floor.primitive()], state)
    u, f = Dense(system, state).newton(wrench(model, blows), C, np.array([0.5]))
    near(velocity(found), u)
    near(found.normal["floor"], f[0])
