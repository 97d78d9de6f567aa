"""The recursions agree with one another, with finite differences of the kinematics, and with Newton's laws link by link."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import random_chain
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.serial_chain.chain import random_motion

CHAINS = range(50)
AGREE = 1e-12
"""Relative, times the condition of the mass matrix where it is solved with: only rounding differs between the algorithms."""
DIFFERENCE, STEP = 2e-8, 1e-5
"""Central differences of functions of order one with this step are good to step^2 + rounding / step."""


def case(seed):
    """A random chain of up to 30 links with at least one freedom, its state, and wrenches."""
    chain = random_chain(1 + seed % 30, seed, free_base=seed % 3 == 0)
    if chain.nv == 0:
        chain = random_chain(2, seed, kinds=("revolute",))
    q, qd, tau = random_motion(chain, 1000 + seed)
    return chain, q, qd, tau, np.random.default_rng(seed).normal(size=(chain.n, 6))


def relative(a, b):
    return abs(a - b).max() / abs(b).max()


def moved(chain, q, qd, dt):
    """The coordinates after dt at constant rates; a ball turns by the exponential."""
    out = q.copy()
    for (first, n, c), link in zip(chain.tables["LINKS"].tolist(), chain.links, strict=True):
        plain = n - 3 if link.nq > link.nv else n
        out[c : c + plain] += dt * qd[first : first + plain]
        if link.nq > link.nv:
            out[c + plain : c + plain + 4] = product(q[c + plain : c + plain + 4], exponential(dt * qd[first + plain : first + n]))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHAINS)
def test_the_algorithms_agree(seed):
    chain, q, qd, tau, wrenches = case(seed)
    qdd = mbd.aba(chain, q, qd, tau, wrenches=wrenches)
    M, p = mbd.crba(chain, q), mbd.projected_newton_euler(chain, q, qd, wrenches=wrenches)
    bias = mbd.rnea(chain, q, qd, wrenches=wrenches)
    condition = np.linalg.cond(M)
    assert relative(M, p.M) < AGREE
    assert relative(-bias, p.f + p.g) < AGREE
    assert relative(np.linalg.solve(M, tau - bias), qdd) < AGREE + 1e-15 * condition
    assert relative(p.qdd(tau), qdd) < AGREE + 1e-15 * condition
    assert relative(mbd.rnea(chain, q, qd, qdd, wrenches=wrenches), tau) < AGREE * max(1.0, abs(bias).max() / abs(tau).max())
    assert relative(p.tau(qdd), mbd.rnea(chain, q, qd, qdd, wrenches=wrenches)) < AGREE * max(1.0, abs(bias).max() / abs(tau).max())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_velocities_and_accelerations_are_the_rates_of_poses(seed):
    chain, q, qd, qdd, _ = case(seed)
    now = mbd.link_motion(chain, q, qd, qdd)
    # second order in time: q(t) with rates qd and accelerations qdd, both ways from now
    after, before = (mbd.link_motion(chain, moved(chain, q, qd + 0.5 * dt * qdd, dt), qd + dt * qdd, qdd) for dt in (STEP, -STEP))
    assert (after.r - before.r) / (2 * STEP) == pytest.approx(now.v, abs=DIFFERENCE * 30)
    assert (after.v - before.v) / (2 * STEP) == pytest.approx(now.v_dot, abs=DIFFERENCE * abs(now.v_dot).max() * 30)
    assert (after.omega - before.omega) / (2 * STEP) == pytest.approx(now.omega_dot, abs=DIFFERENCE * abs(now.omega_dot).max() * 30)
    A_dot = (after.A - before.A) / (2 * STEP)
    tilde = A_dot @ np.swapaxes(now.A, 1, 2)
    omega = np.stack([tilde[:, 2, 1], tilde[:, 0, 2], tilde[:, 1, 0]], axis=1)
    assert omega == pytest.approx(now.omega, abs=DIFFERENCE * abs(now.omega).max() ** 3 * 30)


@pytest.mark.parametrize("seed", range(12))
def test_jacobians_give_the_velocities_and_the_kinetic_energy(seed):
    chain, q, qd, _, _ = case(seed)
    now = mbd.link_motion(chain, q, qd)
    J_S, J_R = mbd.jacobians(chain, now)
    assert J_S @ qd == pytest.approx(now.v, abs=1e-12)
    assert J_R @ qd == pytest.approx(now.omega, abs=1e-12)
    energy = 0.0
    for link, v, omega, A in zip(chain.links, now.v, now.omega, now.A, strict=True):
        energy += 0.5 * link.mass * v @ v + 0.5 * omega @ A @ link.J_bar @ A.T @ omega
    assert 0.5 * qd @ mbd.crba(chain, q) @ qd == pytest.approx(energy, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_link_obeys_newton_and_euler_under_the_joint_wrenches(seed):
    chain, q, qd, tau, wrenches = case(seed)
    qdd = mbd.aba(chain, q, qd, tau, wrenches=wrenches)
    now, carried = mbd.link_motion(chain, q, qd, qdd), mbd.joint_wrenches(chain, q, qd, qdd, wrenches=wrenches)
    scale = abs(carried.wrench).max()
    for i, link in enumerate(chain.links):
        force, moment = wrenches[i, :3] + link.mass * chain.gravity, wrenches[i, 3:].copy()
        for k, sign in ((i, 1.0), (i + 1, -1.0)):
            if k < chain.n:
                force = force + sign * carried.wrench[k, :3]
                moment = moment + sign * (carried.wrench[k, 3:] + np.cross(carried.point[k] - now.r[i], carried.wrench[k, :3]))
        A = now.A[i]
        J = A @ link.J_bar @ A.T
        assert force == pytest.approx(link.mass * now.v_dot[i], abs=1e-12 * scale)
        spin = J @ now.omega_dot[i] + np.cross(now.omega[i], J @ now.omega[i])
        assert moment == pytest.approx(spin, abs=1e-11 * scale)


def test_wrenches_and_forces_default_to_none():
    chain, q, qd, _, _ = case(7)
    assert mbd.aba(chain, q, qd) == pytest.approx(mbd.aba(chain, q, qd, np.zeros(chain.nv), wrenches=np.zeros((chain.n, 6))))


def test_a_chain_of_fixed_links_has_nothing_to_accelerate():
    chain = random_chain(3, 1, kinds=("fixed",))
    assert mbd.aba(chain, [], []).shape == (0,)
    assert mbd.crba(chain, []).shape == (0, 0)
    weight = mbd.joint_wrenches(chain, [], [], []).wrench[0, 2]
    assert weight == pytest.approx(9.81 * sum(link.mass for link in chain.links), rel=1e-14)


@pytest.mark.parametrize("function", [mbd.aba, mbd.rnea])
@pytest.mark.parametrize("wrong", range(3))
def test_wrong_lengths_are_named(function, wrong):
    chain, q, qd, tau, _ = case(4)
    given = [q, qd, tau]
    given[wrong] = np.zeros(99)
    with pytest.raises(mbd.UsageError, match=r"shape \(99,\).*coordinates and .* freedoms"):
        function(chain, *given)


def test_numbers_that_are_not_finite_are_not_taken_for_a_missing_mass():
    chain, q, qd, tau, _ = case(4)
    qd[0] = np.nan
    with pytest.raises(mbd.UsageError, match="must be finite"):
        mbd.aba(chain, q, qd, tau)


def test_lists_and_integers_and_read_only_arrays_are_fine():
    chain = random_chain(3, 1, kinds=("revolute",))
    expected = mbd.aba(chain, np.array([1.0, 0.0, 2.0]), np.zeros(3), np.ones(3))
    q = np.array([1.0, 0.0, 2.0])
    q.flags.writeable = False
    assert mbd.aba(chain, [1, 0, 2], (0, 0, 0), np.ones(3, dtype=int)) == pytest.approx(expected, abs=0.0)
    assert mbd.aba(chain, q, None, np.ones(6)[::2]) == pytest.approx(expected, abs=0.0)


@pytest.mark.parametrize("seed", range(20))
def test_a_freedom_that_others_have_already_let_go_has_no_inertia(seed):
    """Two hinges about one axis with nothing but rounding between them: the second has nothing left to resist."""
    rng = np.random.default_rng(seed)
    axis, nothing = rng.normal(size=3), {"c": (0, 0, 0), "L": (0, 0, 0)}
    rod = mbd.Link.revolute("rod", 1.0, (1.0, 1.0, 1.0), axis=axis, c=rng.normal(size=3))
    chain = mbd.SerialChain([mbd.Link.revolute("empty", 0.0, (0, 0, 0), axis=axis, **nothing), rod])
    with pytest.raises(mbd.SimulationError, match="nothing has inertia along freedom 0"):
        mbd.aba(chain, rng.normal(size=2), rng.normal(size=2))


def test_jacobians_take_coordinates_or_a_motion_of_the_same_chain():
    chain, q, qd, _, _ = case(4)
    for by_q, by_motion in zip(mbd.jacobians(chain, q), mbd.jacobians(chain, mbd.link_motion(chain, q, qd)), strict=True):
        assert by_q == pytest.approx(by_motion, abs=0.0)
    with pytest.raises(mbd.UsageError, match="jacobians got the motion of another chain: it has 2 links"):
        mbd.jacobians(chain, mbd.link_motion(random_chain(2, 1), None))


def test_projected_equations_refuse_wrong_lengths_and_a_singular_matrix():
    chain, q, qd, tau, _ = case(4)
    equations = mbd.projected_newton_euler(chain, q, qd)
    assert equations.qdd(0.0) == pytest.approx(equations.qdd(np.zeros(chain.nv)), abs=0.0)
    for ask, label in ((equations.tau, "qdd"), (equations.qdd, "tau")):
        for wrong in ([1.0], "a", np.full(chain.nv, np.nan)):
            with pytest.raises(mbd.UsageError, match=rf"{label} .*Give {chain.nv} finite numbers"):
                ask(wrong)
    ring = [mbd.Link.revolute(name, 0.0, (0, 0, 0), axis=axis, L=0) for name, axis in (("a", (0, 0, 1)), ("b", (0, 1, 0)))]
    wrist = mbd.SerialChain([*ring, mbd.Link.revolute("c", 1.0, (0, 0, 0), axis=(0, 0, 1), c=0.5)])
    with pytest.raises(mbd.SimulationError, match="M is singular"):
        mbd.projected_newton_euler(wrist, np.zeros(3), np.zeros(3)).qdd()
