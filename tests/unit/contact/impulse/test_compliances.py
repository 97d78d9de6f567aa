"""Contacts whose compliances differ by orders of magnitude, and joints that close beside contacts: each part of the solver by itself."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.impacts import impulse_equations
from haugmbd.impacts.auxiliary_rows import AuxiliaryRows, solve_auxiliary_rows
from haugmbd.impacts.impulse_arguments import read_arguments
from haugmbd.impacts.impulse_equations import FactoredSystem, RowSet
from haugmbd.impacts.restitution import restitution
from joints import SJ, Distance
from tests.support.dense_impulse import Dense, consistent, rows_of
from tests.support.random_trees import random_contacts, random_tree
from tests.support.seeds import seeds

SEEDS = [seed for seed in seeds(12) if seed != 11]  # nothing gives way to the first contact of 11


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_impulses_do_not_depend_on_how_a_contact_is_measured(seed):
    """A row that is multiplied by c has W and h multiplied likewise, and its impulse divided: f(D W D, D h) = f(W, h) / D.

    The c are spread over eight orders of magnitude, so that W has sixteen: masses of a gram and of a thousand tons.
    """
    rng = np.random.default_rng(seed)
    k, full = 2 + seed % 4, seed % 3 != 0
    C = rng.normal(size=(k, 6 if full else max(1, k - 1)))
    W = C @ C.T
    h = rng.normal(size=k) if full else C @ rng.normal(size=C.shape[1])  # bounds that dependent rows can meet
    c = 10.0 ** rng.uniform(-4.0, 4.0, size=k)
    plain = restitution(W, h, np.diag(W))
    other = restitution(c[:, None] * W * c, c * h, c**2 * np.diag(W))
    assert plain is not None
    assert other is not None
    if full:
        np.testing.assert_allclose(c * other, plain, rtol=1e-9, atol=1e-9 * np.abs(plain).max())
    velocity = (c[:, None] * W * c @ other - c * h) / (c * np.sqrt(np.diag(W)))
    size = np.abs(h / np.sqrt(np.diag(W))).max()
    assert (other >= 0.0).all()
    assert velocity.min() >= -1e-8 * size
    assert np.abs(other * c * np.sqrt(np.diag(W)) * velocity).max() <= 1e-8 * size**2


def question(seed):
    """A question with closing joints and contacts that act on one another, and its parts."""
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 6)
    state, contacts = consistent(system, rng), random_contacts(rng, system, 3, e=0.3)
    b = system.bodies
    closing = (SJ("latch", b[6], b[5], point=rng.normal(size=3)), Distance("rod", b[0], b[4], point_i=(1, 1, 1), point_j=(0, 2, 0)))
    model = system.compile()
    q = read_arguments(model, state, (), contacts, closing, True)
    factor = FactoredSystem(model, state)
    beside = AuxiliaryRows.of(factor, RowSet.joined(q.closed.rows, q.contact_rows))
    u = np.hstack([state.v, state.omega_bar])
    du, Lam = factor.solve(q.P, factor.rows.nu - factor.rows.of(u))
    return q, beside, u, u + du, Lam, (system, model, contacts, closing)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_closing_joints_and_contacts_are_solved_together(seed):
    """E u+ = nu and the law of contact hold for the multipliers as they are found, before anything takes the rounding off them."""
    q, beside, u, u0, Lam, _ = question(seed)
    found = solve_auxiliary_rows(q, beside, u, u0)
    after = beside.rows.of(beside.moved(np.concatenate([found.mu, -found.f]), u0, Lam)[0])
    n, size = len(found.mu), np.abs(u0).max() + np.abs(found.f).max()
    coupling = np.abs(beside.W[:n, n:] @ found.f).max()
    np.testing.assert_allclose(after[:n], q.closed.rows.nu, atol=1e-9 * size)
    np.testing.assert_allclose(after[n:], found.after, atol=1e-9 * size)
    assert (after[n:] >= found.bound - 1e-9 * size).all()
    acting = found.f > 0.0
    np.testing.assert_allclose(after[n:][acting], found.bound[acting], atol=1e-9 * size)
    assert not acting.any() or coupling > 1e-3  # or the test would see nothing


@pytest.mark.slow
def test_some_contacts_act_in_these_questions():
    assert sum((solve_auxiliary_rows(q, beside, u, u0).f > 0.0).sum() for q, beside, u, u0, _, _ in map(question, SEEDS)) > len(
        SEEDS
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_correction_heals_a_wrong_multiplier(seed, rng):
    """From velocities that miss their targets by 1e-4, it brings the rows that act to them, and leaves the others to what follows."""
    q, beside, u, u0, Lam, _ = question(seed)
    found = solve_auxiliary_rows(q, beside, u, u0)
    n = len(found.mu)
    x = np.concatenate([found.mu, -found.f])
    acting = np.concatenate([np.ones(n, dtype=bool), found.f > 0.0])
    target = np.concatenate([q.closed.rows.nu, found.bound])
    wrong = x + 1e-4 * rng.normal(size=len(x)) * acting
    u_wrong, Lam_wrong = beside.moved(wrong, u0, Lam)
    assert np.abs((beside.rows.of(u_wrong) - target)[acting]).max() > 1e-6
    more = beside.correction(acting, target, u_wrong)
    u_right, Lam_right = beside.moved(more, u_wrong, Lam_wrong)
    size = np.abs(u0).max() + np.abs(x).max()
    np.testing.assert_allclose(beside.rows.of(u_right)[acting], target[acting], atol=1e-11 * size)
    assert not more[~acting].any()
    assert not np.array_equal(Lam_right, Lam_wrong)
    np.testing.assert_allclose(u_right, beside.moved(x, u0, Lam)[0], atol=1e-9 * size)


def test_what_rounding_leaves_of_closed_joints_is_taken_off(monkeypatch):
    """The corrections see velocities that a factor of ten digits gives, and leave rows and momentum at rounding all the same."""
    _, _, _, _, _, (system, model, contacts, closing) = question(3)
    state = consistent(system, np.random.default_rng(3))
    exact, noise = FactoredSystem.solve, np.random.default_rng(4)

    def rounded(self, P, g=None):
        du, Lam = exact(self, P, g)
        return du * (1.0 + 1e-8 * noise.normal(size=du.shape)), Lam

    monkeypatch.setattr(impulse_equations.FactoredSystem, "solve", rounded)
    found = mbd.impulse(model, state, contacts=contacts, close=closing)
    u = np.hstack([found.v, found.omega_bar])
    E, nu = rows_of(system, closing, state)
    assert np.abs(E @ u[1:].ravel() - nu).max() < 1e-12
    dense = Dense(system, state)
    assert np.abs(dense.J @ u[1:].ravel() - dense.nu).max() < 1e-6
