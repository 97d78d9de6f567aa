"""The block LDL^T against LAPACK, on random mechanisms of up to 120 bodies: accelerations, multipliers, residual, balance.

1e-10 (agreement) allows for the condition of a random chain of 120 bodies, about 1e5; 1e-12 (residual) is backward stability.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.crosscheck import dense_system, solve_dense
from tests.support.seeds import seeds

AGREE, RESIDUAL, BALANCE = 1e-10, 1e-12, 1e-10
CASES = [
    (topology, n) for topology in ("chain", "tree", "star", "closed", "ring") for n in (5, 30, 120 if topology == "chain" else 70)
]


def gap(x: np.ndarray, y: np.ndarray) -> float:
    """Largest difference, relative to the largest number."""
    return float(np.abs(x - y).max(initial=0.0) / max(np.abs(y).max(initial=0.0), 1e-300))


@pytest.mark.slow
@pytest.mark.parametrize("on_manifold", [True, False], ids=["on", "off"])
@pytest.mark.parametrize(("topology", "n"), CASES)
def test_block_factorization_agrees_with_lapack(random_model, state_of, topology, n, on_manifold):
    for seed in seeds(1, first=1):
        model = random_model(topology, n, seed)
        state = state_of(model, seed, on_manifold=on_manifold)
        block, dense = mbd.accelerations(model, state), solve_dense(model, state)
        u_dot, reference = (np.hstack([a.v_dot, a.omega_bar_dot]) for a in (block, dense))
        assert gap(u_dot, reference) < AGREE
        assert gap(block.lam, dense.lam) < AGREE

        K, b = dense_system(model, state)
        x = np.concatenate([u_dot[1:].ravel(), block.lam])
        size = np.abs(K).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
        assert np.abs(K @ x - b).max() < RESIDUAL * size


@pytest.mark.slow
@pytest.mark.parametrize(("topology", "n"), [("chain", 40), ("tree", 40), ("star", 40), ("closed", 40), ("ring", 40)])
def test_every_body_is_in_balance(random_model, state_of, topology, n):
    """M u_dot + Phi_q^T lam = Q, with Q = (m g, -w x J w) written out here, body by body."""
    model = random_model(topology, n, 11)
    state = state_of(model, 12, on_manifold=False)
    found, rows = mbd.accelerations(model, state), mbd.evaluate(model, state)
    force, torque = np.zeros((model.nb + 1, 3)), np.zeros((model.nb + 1, 3))
    for row in range(model.nc):
        for side in range(2):
            body = rows.bodies[row, side]
            force[body] -= rows.Phi_r[row, side] * found.lam[row]
            torque[body] -= rows.PiBar[row, side] * found.lam[row]
    for k in range(1, model.nb + 1):
        w, J = state.omega_bar[k], model.J_bar[k]
        inertial = model.mass[k] * found.v_dot[k], J @ found.omega_bar_dot[k]
        applied = model.mass[k] * np.array([0.3, -0.5, -9.81]), -np.cross(w, J @ w)
        for left, reaction, right in zip(inertial, (force[k], torque[k]), applied, strict=True):
            scale = np.abs(found.lam).max() + np.abs(left).max() + np.abs(right).max()
            assert np.abs(left - reaction - right).max() < BALANCE * scale


@pytest.mark.slow
def test_accelerations_fulfil_the_rows(random_model, state_of):
    for topology in ("chain", "tree", "closed"):
        model = random_model(topology, 60, 5)
        state = state_of(model, 6, on_manifold=False)
        found, rows = mbd.accelerations(model, state), mbd.evaluate(model, state)
        u_dot = np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel()
        scale = np.abs(rows.Phi_q).sum(axis=1).max() * np.abs(u_dot).max()
        np.testing.assert_allclose(rows.Phi_q @ u_dot, rows.gamma, rtol=0.0, atol=1e-12 * scale)


def test_a_hanging_body_pulls_with_its_weight():
    """Reaction of the pin = m g to 1e-12, for every joint that carries it, the ground on either side."""
    from joints import RJ, SJ, UJ, Distance, Fixed

    def make(kind, i, j, point):
        if kind == "Distance":
            return (
                Distance(kind, i, j, point_i=point, point_j=(0, 0, -1))
                if i.is_ground
                else Distance(kind, i, j, point_i=(0, 0, -1), point_j=point)
            )
        options = {"RJ": {"axis": (0, 1, 0)}, "UJ": {"axis_i": (1, 0, 0), "axis_j": (0, 1, 0)}}.get(kind, {})
        return {"RJ": RJ, "SJ": SJ, "UJ": UJ, "Fixed": Fixed}[kind](kind, i, j, point=point, **options)

    for kind in ("RJ", "SJ", "UJ", "Fixed", "Distance"):
        for ground_first in (True, False):
            system = mbd.System("hanging", gravity=(0, 0, -9.81))
            body = system.add(mbd.Body("weight", 2.5, (0.2, 0.3, 0.4), r=(0, 0, -1)))
            pair = (system.ground, body) if ground_first else (body, system.ground)
            system.add(make(kind, *pair, (0, 0, 0)))
            model = system.compile()
            found, rows = mbd.accelerations(model), mbd.evaluate(model)
            assert np.abs(found.v_dot).max() < 1e-13
            side = 1 if ground_first else 0
            reaction = -found.lam @ rows.Phi_r[:, side]
            np.testing.assert_allclose(reaction, [0.0, 0.0, 2.5 * 9.81], rtol=0.0, atol=1e-12 * 2.5 * 9.81)
            np.testing.assert_allclose(found.lam @ rows.PiBar[:, side], 0.0, atol=1e-12 * 2.5 * 9.81)


def test_a_hanging_chain_carries_what_hangs_below():
    from joints import RJ

    system = mbd.System("hanging chain", gravity=(0, 0, -9.81))
    previous, n = system.ground, 30
    for k in range(n):
        link = system.add(mbd.Body(f"link {k}", 1.5, (0.1, 0.1, 0.01), r=(0, 0, -k - 0.5)))
        system.add(RJ(f"pin {k}", previous, link, point=(0, 0, -k), axis=(0, 1, 0) if k % 2 else (1, 0, 0)))
        previous = link
    model = system.compile()
    found, rows = mbd.accelerations(model), mbd.evaluate(model)
    for k in range(n):
        mine = [row for row, label in enumerate(rows.labels) if label.joint == f"pin {k}"]
        weight = 1.5 * 9.81 * (n - k)
        np.testing.assert_allclose(-found.lam[mine] @ rows.Phi_r[mine, 1], [0, 0, weight], atol=1e-12 * 1.5 * 9.81 * n)
