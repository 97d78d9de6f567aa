"""Bodies that turn far in a step: RATTLE finds the turn or refuses it, and every method says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.integrators.base import methods_below
from joints import RJ

FREE = {"sphere": (0.1, 0.1, 0.1), "top": (0.1, 0.1, 0.18), "brick": (0.1, 0.15, 0.2)}


def rotor(speed, *, hinged=True):
    system = mbd.System("rotor", gravity=(0, 0, 0))
    body = system.add(mbd.Body("rotor", mass=1.0, J_bar=(0.1, 0.1, 0.2), r=(0, 0, 0), omega_bar=(0, 0, speed)))
    if hinged:
        system.add(RJ("shaft", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    return system


def tumbling(J_bar, omega_bar):
    system = mbd.System("tumbling", gravity=(0, 0, 0))
    system.add(mbd.Body("stone", mass=1.0, J_bar=J_bar, omega_bar=tuple(omega_bar)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("kind", FREE)
def test_rattle_keeps_energy_and_momentum_or_refuses_the_turn(kind):
    """Free bodies about random axes, from a tenth of a radian to two in a step: never a last iterate."""
    random, kept, refused = np.random.default_rng(7), 0, 0
    for _ in range(30):
        axis, angle = random.normal(size=3), random.uniform(0.1, 2.0)
        h = 0.1
        result, error = run_to_error(
            tumbling(FREE[kind], axis / np.linalg.norm(axis) * angle / h), 20 * h, integrator=mbd.RATTLE(h=h)
        )
        if error:
            assert "'stone'" in error
            assert "Give h = " in error
            assert angle > 0.8
            assert result.status is mbd.RunStatus.FAILED
            refused += 1
            continue
        assert angle < 1.2
        L = result.momentum().angular
        np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), atol=1e-12 * np.linalg.norm(L[0]))
        if kind == "sphere":
            kinetic = result.energy().kinetic
            np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-12)
        kept += 1
    assert kept > 5
    assert refused > 5


@pytest.mark.parametrize("hinged", [True, False])
def test_rattle_refuses_with_body_angle_and_step(hinged):
    with pytest.raises(mbd.SimulationError, match=r"'rotor'.*1\.5 rad.*h = 0\.0017 s") as caught:
        mbd.simulate(rotor(300.0, hinged=hinged), 0.1, integrator=mbd.RATTLE(h=5e-3))
    assert not caught.value.result.success
    result = mbd.simulate(rotor(300.0, hinged=hinged), 0.1, integrator=mbd.RATTLE(h=1.6e-3))
    np.testing.assert_allclose(result["rotor"].omega_bar[-1], [0.0, 0.0, 300.0], atol=1e-9)


def run_to_error(*arguments, **options):
    """The result, and the error that ended it, "" for none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.RunWarning)
        try:
            return mbd.simulate(*arguments, **options), ""
        except mbd.SimulationError as error:
            return error.result, str(error)


FIXED = [m for m in methods_below() if m.takes_step and m is not mbd.RATTLE]


@pytest.mark.slow
@pytest.mark.parametrize("method", FIXED, ids=lambda m: m.__name__)
def test_every_method_of_fixed_step_warns_of_a_far_turn_once(method):
    """1.2 rad a step: body, angle, step, and the step to take; and nothing where it turns 0.6 rad."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            result = mbd.simulate(rotor(12.0), 0.6, h=0.1, integrator=method(), stabilization=rule(method))
        except mbd.SimulationError as error:  # refused: the step is too large for Newton's iteration
            result = error.result
            assert result.status is mbd.RunStatus.FAILED
            return
    turns = [text for text in result.warnings if "'rotor'" in text and "1.2 rad" in text]
    assert len(turns) == 1
    assert "h = 0.042 s or less" in turns[0]
    assert [str(w.message) for w in issued if w.category is mbd.RunWarning].count(turns[0]) == 1
    close = mbd.simulate(rotor(6.0), 0.6, h=0.1, integrator=method(), stabilization=rule(method))
    assert not [text for text in close.warnings if "turns by more" in text]


def rule(method):
    return None if method.solves_constraints else mbd.Projection()


@pytest.mark.parametrize(
    "integrator", [mbd.DOP853(rtol=1e-3, atol=1e-3), mbd.DormandPrince(rtol=1e-2, atol=1e-2)], ids=lambda i: type(i).__name__
)
def test_error_control_that_allows_far_turns_is_noted_and_not_warned_of(integrator):
    result = mbd.simulate(rotor(300.0), 0.2, integrator=integrator)
    assert any("'rotor'" in text and "h_max=" in text for text in result.warnings)


def test_a_ball_joint_of_a_chain_is_noticed_and_a_revolute_one_is_not():
    ball = mbd.SerialChain([mbd.Link.spherical("stone", 1.0, (0.1, 0.1, 0.15))])
    hinge = mbd.SerialChain([mbd.Link.revolute("wheel", 1.0, (0.1, 0.1, 0.15))])
    rate = {ball: [0.0, 0.0, 15.0], hinge: [15.0]}
    for chain in (ball, hinge):
        state = mbd.ChainState(chain.q_zero(), np.array(rate[chain]))
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            result = mbd.simulate(chain, 1.0, h=0.1, state=state)
        assert bool(issued) == (chain is ball)
        assert any("'stone'" in text for text in result.warnings) == (chain is ball)
