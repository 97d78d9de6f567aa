"""Random chains: their equilibria and small motions in maximal coordinates, and in joint coordinates by rnea and crba."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import haugmbd as mbd
from tests.support.seeds import seeds

STEP = 1e-3  # sixth order: h^6 and rounding / h, both below 1e-12
WEIGHTS = (45 / 60, -9 / 60, 1 / 60)
SEEDS = seeds(4)


def in_joint_coordinates(chain, q):
    """(M, K): crba, and differences of the torques that hold the chain still."""
    hold, still = mbd.rnea, np.zeros(chain.nv)
    K = np.zeros((chain.nv, chain.nv))
    for k, e in enumerate(np.eye(chain.nv)):
        K[:, k] = sum(
            w * (hold(chain, q + (n + 1) * STEP * e, still, still) - hold(chain, q - (n + 1) * STEP * e, still, still))
            for n, w in enumerate(WEIGHTS)
        )
    return mbd.crba(chain, q), K / STEP


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kinds", [("revolute",), ("revolute", "universal")], ids=["revolute", "universal"])
def test_a_random_chain_hangs_and_swings_as_its_joint_coordinates_say(kinds, seed):
    chain = mbd.random_chain(5, seed, kinds=kinds)
    found = mbd.equilibrium(chain.to_system())
    q, _ = chain.coordinates(found.state)
    weight = 9.81 * found.model.mass.sum()
    assert np.abs(mbd.rnea(chain, q, np.zeros(chain.nv), np.zeros(chain.nv))).max() < 1e-12 * weight
    M, K = in_joint_coordinates(chain, q)
    np.testing.assert_allclose(K, K.T, atol=1e-9 * weight)
    squares = eigh(0.5 * (K + K.T), M, eigvals_only=True)
    assert squares.min() > 0.0
    assert found.stable
    np.testing.assert_allclose(mbd.linearize(found).omega, np.sqrt(squares), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_chain_is_balanced_wherever_newton_ends(seed):
    """Without going downhill: most of these are unstable, and grow and swing at the rates of joint coordinates."""
    chain = mbd.random_chain(4, seed, kinds=("revolute",))
    found = mbd.equilibrium(chain.to_system(), downhill=False)
    q, _ = chain.coordinates(found.state)
    M, K = in_joint_coordinates(chain, q)
    squares = eigh(0.5 * (K + K.T), M, eigvals_only=True)
    small = mbd.linearize(found)
    expected = sorted([s for s in np.sqrt(squares.astype(complex)).imag if s > 0.0])
    np.testing.assert_allclose(sorted(small.eigenvalues.real[small.eigenvalues.real > 0.0]), expected, rtol=1e-8)
    np.testing.assert_allclose(
        np.sort(small.eigenvalues.imag[small.eigenvalues.imag > 0.0]), np.sqrt(squares[squares > 0.0]), rtol=1e-8
    )
    assert found.kinds.count(mbd.Stability.UNSTABLE) == np.sum(squares < 0.0)
    assert small.stable is bool((squares > 0.0).all())
