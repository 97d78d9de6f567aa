"""Recursions that cannot answer say why: something else than a chain, numbers that are none, a ball without a rotation, a missing mass."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import random_chain

J = (0.1, 0.2, 0.25)
BALL = mbd.SerialChain(
    [mbd.Link.revolute("arm", 1.0, J, c=0.5), mbd.Link.spherical("ball", 1.0, J, c=0.5)], gravity=(0, 0, -9.81), name="wrist"
)
HIT = {"plane_normal": (-1, 0, 0), "point": (0, 0, 0)}
ASK = {
    "aba": mbd.aba,
    "rnea": mbd.rnea,
    "joint_wrenches": lambda chain, q, qd: mbd.joint_wrenches(chain, q, qd, qd),
    "projected_newton_euler": mbd.projected_newton_euler,
    "link_motion": mbd.link_motion,
    "articulated_impulse": lambda chain, q, qd: mbd.articulated_impulse(chain, q, qd, **HIT),
    "crosscheck": mbd.crosscheck,
    "crba": lambda chain, q, qd: mbd.crba(chain, q),
    "chain_impulse": lambda chain, q, qd: mbd.chain_impulse(chain, q),
    "jacobians": lambda chain, q, qd: mbd.jacobians(chain, q),
}
MOVED = list(ASK)[:7]  # those that are told rates


@pytest.mark.parametrize("name", ASK)
def test_what_is_no_chain_is_refused_by_name(name):
    q, qd = BALL.q_zero(), np.zeros(BALL.nv)
    with pytest.raises(mbd.UsageError, match=rf"{name} needs a SerialChain, got System.*from_system"):
        ASK[name](BALL.to_system(), q, qd)
    with pytest.raises(mbd.UsageError, match=rf"{name} needs a SerialChain, got None \(NoneType\)\. Make one by SerialChain"):
        ASK[name](None, q, qd)


@pytest.mark.parametrize("name", ASK)
def test_coordinates_that_are_no_numbers_are_refused(name):
    q, qd = BALL.q_zero(), np.zeros(BALL.nv)
    q[0] = np.nan
    with pytest.raises(mbd.UsageError, match="chain 'wrist': q, qd, qdd, tau and wrenches must be finite"):
        ASK[name](BALL, q, qd)


@pytest.mark.parametrize("name", MOVED)
def test_rates_that_are_no_numbers_are_refused(name):
    qd = np.zeros(BALL.nv)
    qd[-1] = np.inf
    with pytest.raises(mbd.UsageError, match="must be finite"):
        ASK[name](BALL, BALL.q_zero(), qd)


@pytest.mark.parametrize("name", ASK)
def test_zeros_are_no_rotation_of_a_ball(name):
    with pytest.raises(mbd.UsageError, match=r"Euler parameters of link 'ball', q\[1:5\], are all zero.*q_zero\(\)"):
        ASK[name](BALL, np.zeros(BALL.nq), np.zeros(BALL.nv))


def test_a_simulation_does_not_start_from_them_either():
    state = mbd.ChainState(np.zeros(BALL.nq), np.zeros(BALL.nv))
    with pytest.raises(mbd.UsageError, match="Euler parameters of link 'ball'"):
        mbd.simulate(BALL, 1.0, h=1e-2, state=state)


def test_no_coordinates_are_those_of_every_joint_at_zero():
    assert mbd.crba(BALL, None) == pytest.approx(mbd.crba(BALL, BALL.q_zero()), abs=0.0)
    assert mbd.rnea(BALL, None, None) == pytest.approx(mbd.rnea(BALL, BALL.q_zero(), np.zeros(BALL.nv)), abs=0.0)


def test_numbers_that_overflow_are_not_taken_for_a_missing_mass():
    chain = random_chain(3, 1, kinds=("revolute",))
    for ask in (mbd.aba, mbd.rnea):
        with pytest.raises(mbd.SimulationError, match=r"numbers overflow; the largest that was given is 1e\+200"):
            ask(chain, np.zeros(3), np.full(3, 1e200))


@pytest.mark.slow
def test_a_long_chain_names_some_of_its_freedoms():
    chain = random_chain(300, 2)
    with pytest.raises(mbd.UsageError) as caught:
        mbd.aba(chain, [1.0], np.zeros(chain.nv))
    assert len(str(caught.value)) < 1000
    assert f"{chain.nq} coordinates and {chain.nv} freedoms" in str(caught.value)
