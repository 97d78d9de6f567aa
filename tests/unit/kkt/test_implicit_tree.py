"""The recursion over forests in implicit steps, with tangents of bodies and of pairs, against LAPACK; its factor at another pose."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations.newton_euler import factorize_and_solve_entry
from haugmbd.integrators.implicit.tangents.force_coupling import tables_with_coupling
from haugmbd.kkt.solver_choice import BLOCK, TREE
from haugmbd.kkt.solver_routines import WITH_REVOLUTE_TANGENT_TREE, WITH_REVOLUTE_TREE, WITH_TANGENT_TREE, has_tree
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import Pack, workspace_array
from joints import RJ
from tests.support.augmented_systems import GROWTH


def dense_matrix(model: mbd.Model, state: mbd.State, pairs: np.ndarray, pack: Pack) -> np.ndarray:
    """[M + T, Phi_q^T; Phi_q, 0] from the tangents in the workspace and the rows of the state."""
    n, nc = model.nb + 1, model.nc
    M = np.zeros((6 * n, 6 * n))
    for k in range(1, n):
        at = slice(6 * k, 6 * k + 6)
        T = workspace_array(pack, "TANGENT")[k].reshape(6, 6)
        M[at, at] = T + np.block([[model.mass[k] * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), model.J_bar[k]]])
    for (i, j), C in zip(pairs[:, :2], workspace_array(pack, "COUPLED_TANGENTS"), strict=True):
        M[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] += C.reshape(6, 6)
        M[6 * j : 6 * j + 6, 6 * i : 6 * i + 6] += C.reshape(6, 6).T
    Phi_q = mbd.evaluate(model, state).Phi_q.toarray()
    return np.block([[M[6:, 6:], Phi_q[:, -6 * model.nb :].T], [Phi_q[:, -6 * model.nb :], np.zeros((nc, nc))]])


def put_random_tangents(pack: Pack, seed: int, size: float) -> None:
    """Symmetric blocks of bodies, and any blocks of pairs; the matrix is indefinite where they are large."""
    rng = np.random.default_rng(seed)
    own = workspace_array(pack, "TANGENT")
    blocks = rng.normal(size=(len(own), 6, 6))
    own[:] = size * (blocks + blocks.transpose(0, 2, 1)).reshape(-1, 36)
    pairs = workspace_array(pack, "COUPLED_TANGENTS")
    pairs[:] = size * rng.normal(size=pairs.shape)


def solved(model: mbd.Model, pack: Pack, b: np.ndarray) -> np.ndarray:
    """K^-1 b by the solver of the pack."""
    n, right = model.nb + 1, workspace_array(pack, "RIGHT")
    right[1:n] = b[: 6 * model.nb].reshape(-1, 6)
    right[n:] = 0.0
    right[n:].reshape(-1)[model.slot_of_row] = b[6 * model.nb :]
    assert factorize_and_solve_entry(pack) == 0
    return unknowns(model, pack)


def unknowns(model: mbd.Model, pack: Pack) -> np.ndarray:
    """(u_dot, lam) in the workspace."""
    x = workspace_array(pack, "SOLUTION")
    return np.concatenate([x[1 : model.nb + 1].ravel(), model.lam_of(x)])


def bound_of(K: np.ndarray) -> float:
    """Rounding of a solution, relative to its largest number: of the scaled matrix."""
    s = 1.0 / np.sqrt(np.abs(K).max(axis=0))
    return float(GROWTH * np.finfo(float).eps * np.linalg.cond(s[:, None] * K * s) * s.max() / s.min())


@pytest.mark.parametrize("size", [0.05, 3.0])
def test_random_trees_with_tangents_agree_with_lapack(random_model, state_of, size):
    """Small tangents leave the matrix definite on the motions that the rows allow; large ones do not."""
    rng, paired = np.random.default_rng(0), 0
    for seed in range(40):
        model = random_model("braced", 1 + seed % 9, seed, TREE)
        state = state_of(model, seed, on_manifold=seed % 2 == 0)
        tables = tables_with_coupling(model)
        assert has_tree(tables)
        pack = model.pack(tables)
        if model.loads:
            put_random_tangents(pack, seed, size)
        assert rows_entry(pack, state.t, state.y) == 0
        K, b = dense_matrix(model, state, tables["COUPLED_PAIRS"], pack), rng.normal(size=6 * model.nb + model.nc)
        reference = np.linalg.solve(K, b)
        assert np.abs(solved(model, pack, b) - reference).max() < bound_of(K) * np.abs(reference).max(), seed
        paired += len(tables["COUPLED_PAIRS"])
    assert paired > 50
