"""Chains simulated in their own coordinates: closed forms, conserved quantities, and the callbacks of `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import haugmbd as mbd
from haugmbd import random_chain
from haugmbd.serial_chain.chain import random_motion

FINE = {"rtol": 1e-11, "atol": 1e-12}
KEPT = 1e-8
"""Of energies of order 10 J over a second at rtol 1e-11."""


def start(chain, seed):
    q, qd, tau = random_motion(chain, seed)
    return mbd.ChainState(q, qd), tau


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("free_base", [False, True])
def test_energy_is_kept(seed, free_base):
    chain = random_chain(5, seed, free_base=free_base)
    result = mbd.simulate(chain, 1.0, state=start(chain, seed)[0], **FINE)
    energy = result.kinetic_energy() + result.potential_energy()
    assert abs(energy - energy[0]).max() < KEPT * abs(result.kinetic_energy()).max()
    assert result.t[-1] == 1.0
    assert result.counters.evaluations > 6 * result.counters.steps


@pytest.mark.slow
def test_a_pendulum_has_the_period_of_its_elliptic_integral():
    from scipy.special import ellipk

    amplitude, m, c, J, g = 2.0, 1.3, 0.4, 0.05, 9.81
    link = mbd.Link.revolute("bar", m, (J, J, J), axis=(0, 1, 0), c=(0, 0, -c))
    chain = mbd.SerialChain([link], gravity=(0, 0, -g))
    omega0 = np.sqrt(m * g * c / (J + m * c * c))
    period = 4.0 * ellipk(np.sin(amplitude / 2) ** 2) / omega0
    state = mbd.ChainState([amplitude], [0.0])
    top = mbd.Event("top", lambda t, s: s.qd[0], direction=-1)
    result = mbd.simulate(chain, 3.2 * period, state=state, events=[top], **FINE)
    assert [record.t for record in result.events] == pytest.approx([period, 2 * period, 3 * period], abs=1e-8)


def test_a_free_chain_keeps_its_momentum():
    chain = random_chain(4, 8, free_base=True, gravity=(0, 0, 0))
    result = mbd.simulate(chain, 1.0, state=start(chain, 8)[0], **FINE)
    linear, angular = np.zeros((2, len(result), 3))
    for link in chain.links:
        history = result[link.name]
        J = history.A @ link.J_bar @ np.swapaxes(history.A, 1, 2)
        linear += link.mass * history.v
        angular += link.mass * np.cross(history.r, history.v) + np.einsum("tij,tj->ti", J, history.omega)
    assert abs(linear - linear[0]).max() < KEPT
    assert abs(angular - angular[0]).max() < KEPT


@pytest.mark.slow
def test_it_is_what_scipy_gets_from_aba():
    chain = random_chain(4, 2, kinds=("revolute", "prismatic", "cylindrical", "universal"))
    state, tau = start(chain, 2)

    def f(t, y):
        return np.concatenate([y[chain.nq :], mbd.aba(chain, y[: chain.nq].copy(), y[chain.nq :].copy(), np.sin(t) * tau)])

    expected = solve_ivp(f, (0.0, 0.5), state.y, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    for options in (FINE, {"h": 1e-3}, {"integrator": mbd.SciPySolver("RK45", rtol=1e-11, atol=1e-12)}):
        result = mbd.simulate(chain, 0.5, state=state, tau=lambda t, q, qd: np.sin(t) * tau, **options)
        assert np.concatenate([result.q[-1], result.qd[-1]]) == pytest.approx(expected, abs=2e-9)


def test_dense_output_lies_on_the_motion():
    chain = random_chain(4, 5)
    state, tau = start(chain, 5)
    wanted = np.linspace(0.0, 0.5, 23)
    dense = mbd.simulate(chain, 0.5, state=state, tau=tau, t_eval=wanted, **FINE)
    assert np.array_equal(dense.t, wanted)
    for k in (1, 7, 22):
        exact = mbd.simulate(chain, float(wanted[k]), state=state, tau=tau, **FINE)
        assert dense.q[k] == pytest.approx(exact.q[-1], abs=1e-9)
        assert dense.qd[k] == pytest.approx(exact.qd[-1], abs=1e-7)


def test_accelerations_and_joint_wrenches_come_with_the_result():
    chain = random_chain(3, 11)
    state, tau = start(chain, 11)
    wrenches = np.random.default_rng(3).normal(size=(3, 6))
    result = mbd.simulate(chain, 0.1, h=1e-2, state=state, tau=tau, wrenches=wrenches)
    k = 4
    assert result.qdd[k] == pytest.approx(mbd.aba(chain, result.q[k], result.qd[k], tau, wrenches=wrenches), rel=1e-13)
    expected = mbd.joint_wrenches(chain, result.q[k], result.qd[k], result.qdd[k], wrenches=wrenches).wrench[1]
    assert result.joint_wrench("link 2")[k] == pytest.approx(expected, rel=1e-13)
    assert result.tau[k] == pytest.approx(tau, abs=0.0)
    assert result.state(k).q == pytest.approx(result.q[k], abs=0.0)


def test_the_doors_refuse_by_name():
    chain = random_chain(2, 1, kinds=("revolute",))
    system = chain.name
    with pytest.raises(mbd.UsageError, match="moves in its own coordinates"):
        mbd.simulate(chain, 1.0, h=1e-3, stabilization=mbd.Baumgarte(1.0, 1.0))
    with pytest.raises(mbd.UsageError, match="moves in its own coordinates.*redundancy"):
        mbd.simulate(chain, 1.0, h=1e-3, redundancy=mbd.MinimumNorm())
    with pytest.raises(mbd.UsageError, match=r"ChainState\(q, qd\)"):
        mbd.simulate(chain, 1.0, h=1e-3, state=3)
    with pytest.raises(mbd.UsageError, match="tau .*shape"):
        mbd.simulate(chain, 1.0, h=1e-3, tau=[1.0])
    with pytest.raises(mbd.SimulationError, match="must give 2 finite numbers"):
        mbd.simulate(chain, 1.0, h=1e-3, tau=lambda t, q, qd: [1.0, np.nan])
    with pytest.raises(mbd.UsageError, match="tau and wrenches belong to a SerialChain"):
        mbd.simulate(mbd.System(system), 1.0, h=1e-3, tau=[1.0])
    with pytest.raises(mbd.UsageError, match="no freedom"):
        mbd.simulate(random_chain(2, 1, kinds=("fixed",)), 1.0, h=1e-3)
    with pytest.raises(mbd.UsageError, match="System, a compiled Model, or a SerialChain"):
        mbd.simulate("pendulum", 1.0, h=1e-3)


def test_an_exception_in_the_users_function_comes_out_with_the_result_so_far():
    chain = random_chain(2, 1, kinds=("revolute",))

    def tau(t, q, qd):
        if t > 0.5:
            raise ZeroDivisionError("mine")
        return np.zeros(2)

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        mbd.simulate(chain, 1.0, h=1e-2, tau=tau)
    assert caught.value.result.t[-1] == pytest.approx(0.49, abs=0.011)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_both_coordinates_tell_the_same_motion_and_the_same_reactions(seed):
    """Mixed joints and constant tau over half a second: the chain in its own coordinates, and its twin with multipliers."""
    chain = random_chain(4, seed)
    state, tau = start(chain, seed)
    times = np.linspace(0.0, 0.5, 6)
    reduced = mbd.simulate(chain, 0.5, state=state, tau=0.3 * tau, t_eval=times, **FINE)
    model = chain.to_system(tau=0.3 * tau).compile()
    maximal = mbd.simulate(model, 0.5, state=chain.state(model, state.q, state.qd), t_eval=times, **FINE)
    mapped = reduced.maximal()
    assert mapped.r == pytest.approx(maximal.r, abs=1e-7)
    assert np.sum(mapped.p * maximal.p, axis=-1) ** 2 == pytest.approx(np.ones((6, chain.n + 1)), abs=1e-12)
    assert mapped.v == pytest.approx(maximal.v, abs=1e-6)
    assert abs(mapped.violation("position")).max() < 1e-12
    joint = model.labels[0].joint
    scale = abs(maximal.reaction(joint).force).max()
    assert mapped.reaction(joint).force == pytest.approx(maximal.reaction(joint).force, abs=1e-6 * scale)
    assert mapped.energy().kinetic == pytest.approx(reduced.kinetic_energy(), rel=1e-12)


@pytest.mark.slow
def test_orientations_of_the_mapped_motion_do_not_jump():
    chain = mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (1.0, 1.0, 1.0))])
    spun = mbd.simulate(chain, 2.0, h=1e-2, state=mbd.ChainState([0.0], [10.0])).maximal()
    assert abs(np.diff(spun["wheel"].p, axis=0)).max() < 0.06


@pytest.mark.slow
def test_the_twin_has_the_values_of_a_function_along_the_motion():
    chain = mbd.random_chain(4, 5)

    def tau(t, q, qd):
        return 0.3 * np.sin(3.0 * t + np.arange(chain.nv)) - 0.1 * qd

    result = mbd.simulate(chain, 0.2, h=1e-2, tau=tau)
    twin = result.maximal()
    for k, link in enumerate(chain.links):
        np.testing.assert_allclose(twin[link.name].a, result[k].a, rtol=0.0, atol=1e-9 * max(1.0, abs(result[k].a).max()))
        np.testing.assert_allclose(
            twin[link.name].omega_dot, result[k].omega_dot, rtol=0.0, atol=1e-9 * max(1.0, abs(result[k].omega_dot).max())
        )
    np.testing.assert_allclose(
        twin.energy().applied_work, result.energy().applied_work, rtol=0.0, atol=1e-6
    )  # a spline through tau


@pytest.mark.parametrize("options", [{"t_eval": "all"}, {"t_eval": [[0.1, 0.2], [0.3]]}, {"h": True}, {"t_end": True}])
def test_wrong_kinds_of_times_are_refused(options):
    chain = random_chain(2, 1, kinds=("revolute",))
    with pytest.raises(mbd.UsageError, match="t_eval = .* must be times|must be a number"):
        mbd.simulate(chain, **{"t_end": 1.0, "h": 1e-2, **options})


@pytest.mark.parametrize("wrong", [{"q": "a"}, {"q": None}, {"qd": [[0.0]]}, {"t": "now"}])
def test_a_state_of_other_things_than_numbers_is_refused(wrong):
    with pytest.raises(mbd.UsageError, match=f"ChainState: {next(iter(wrong))} is"):
        mbd.ChainState(**{"q": [0.0], "qd": [0.0], **wrong})


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_energy_and_work_are_those_of_the_twin(seed):
    chain = random_chain(3, seed, free_base=True)
    _, qd, tau = random_motion(chain, seed)
    wrenches = np.random.default_rng(seed).normal(size=(chain.n, 6))
    state = mbd.ChainState(chain.q_zero(), qd)
    result = mbd.simulate(chain, 0.5, h=1e-3, state=state, tau=tau, wrenches=wrenches)
    ours, theirs = result.energy(), result.maximal().energy()
    size = np.abs(theirs.kinetic).max() + np.abs(theirs.potential).max()
    for name in ("kinetic", "potential", "applied_work", "dissipated_work", "total"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-11 * size)
    assert np.abs(ours.drift).max() < 1e-6 * size


@pytest.mark.slow
@pytest.mark.parametrize("free_base", [False, True])
def test_work_between_few_stored_states(free_base):
    """A tau of time and state, and wrenches: the work of every state, from a twentieth of them."""
    chain = random_chain(3, 4, free_base=free_base)
    _, qd, tau = random_motion(chain, 4)
    wrenches = np.random.default_rng(4).normal(size=(chain.n, 6))
    options = {"h": 1e-3, "state": mbd.ChainState(chain.q_zero(), qd), "wrenches": wrenches}
    few, many = (
        mbd.simulate(chain, 0.4, tau=lambda t, q, qd: np.sin(9.0 * t) * tau - 0.1 * qd, store_every=n, **options).energy()
        for n in (20, 1)
    )
    size = np.abs(many.applied_work).max()
    assert size > 0.1
    assert np.abs(few.applied_work - many.applied_work[::20]).max() < 1e-6 * size


@pytest.mark.parametrize("given", ["abc", [1.0, [2.0, 3.0]], None, 1j, {}, 10**400, np.zeros((2, 2)), [np.nan] * 3], ids=repr)
def test_a_tau_that_gives_no_numbers_is_named(given):
    chain = random_chain(3, 1, kinds=("revolute",))
    for tau in (lambda t, q, qd: given, lambda t, q, qd: np.zeros(3) if t < 0.05 else given):
        with pytest.raises(mbd.SimulationError, match=r"tau\(t, q, qd\) gives .* must give 3 finite numbers"):
            mbd.simulate(chain, 0.1, h=1e-2, tau=tau)


def test_what_a_tau_raises_comes_out_with_a_note():
    chain = random_chain(2, 1, kinds=("revolute",))
    with pytest.raises(ZeroDivisionError) as raised:
        mbd.simulate(chain, 0.1, h=1e-2, tau=lambda t, q, qd: [1.0 / 0.0] * 2)
    assert "raised by tau(t, q, qd) of chain" in raised.value.__notes__[0]
