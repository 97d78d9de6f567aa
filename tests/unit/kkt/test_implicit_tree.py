"""The recursion over forests in implicit steps, with tangents of bodies and of pairs, against LAPACK; its factor at another pose."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.crosscheck import dense_system
from haugmbd.formulations.newton_euler import factorize_and_solve_entry
from haugmbd.integrators.implicit.force_coupling import tables_with_coupling
from haugmbd.kkt.block_solver import WITH_WIDE_BLOCKS
from haugmbd.kkt.registry import BLOCK, TREE
from haugmbd.kkt.tree_solver import WITH_REVOLUTE_TANGENT_TREE, WITH_REVOLUTE_TREE, WITH_TANGENT_TREE, WITH_TREE, has_tree
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import Pack, workspace_array
from joints import CJ, RJ, SJ, Screw
from tests.support.augmented_systems import GROWTH, condition
from tests.support.seeds import seeds

NEWTON = 1e-8
"""Relative to the largest number of a state after a run: 1e-12 is seen, the tolerance of Newton's iterations apart."""


def dense_matrix(model: mbd.Model, state: mbd.State, pairs: np.ndarray, pack: Pack) -> np.ndarray:
    """[M + T, Phi_q^T; Phi_q, 0] from the tangents in the workspace and the rows of the state."""
    M = dense_tangents(model, pairs, pack)
    for k in range(model.nb):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] += model.mass[k + 1] * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] += model.J_bar[k + 1]
    Phi_q = mbd.evaluate(model, state).Phi_q.toarray()[:, -6 * model.nb :]
    return np.block([[M, Phi_q.T], [Phi_q, np.zeros((model.nc, model.nc))]])


def dense_tangents(model: mbd.Model, pairs: np.ndarray, pack: Pack) -> np.ndarray:
    """T, (6 nb, 6 nb)."""
    n = model.nb + 1
    T = np.zeros((n, 6, n, 6))
    for k, own in enumerate(workspace_array(pack, "TANGENT").reshape(-1, 6, 6)):
        T[k, :, k] = own
    for (i, j), C in zip(pairs[:, :2], workspace_array(pack, "COUPLED_TANGENTS").reshape(-1, 6, 6), strict=True):
        T[i, :, j] = C
        T[j, :, i] = C.T
    return T[1:, :, 1:].reshape(6 * n - 6, 6 * n - 6)


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
    put_right_hand_side(model, pack, b)
    assert factorize_and_solve_entry(pack) == 0
    return unknowns(model, pack)


def put_right_hand_side(model: mbd.Model, pack: Pack, b: np.ndarray) -> None:
    """Write (b_u, b_c)."""
    n, right = model.nb + 1, workspace_array(pack, "RIGHT")
    right[1:n] = b[: 6 * model.nb].reshape(-1, 6)
    right[n:] = 0.0
    right[n:].reshape(-1)[model.slot_of_row] = b[6 * model.nb :]


def unknowns(model: mbd.Model, pack: Pack) -> np.ndarray:
    """(u_dot, lam) in the workspace."""
    x = workspace_array(pack, "SOLUTION")
    return np.concatenate([x[1 : model.nb + 1].ravel(), model.lam_of(x)])


def bound_of(K: np.ndarray) -> float:
    """Rounding of a solution, relative to its largest number: of the scaled matrix."""
    s = 1.0 / np.sqrt(np.abs(K).max(axis=0))
    return float(GROWTH * np.finfo(float).eps * condition(s[:, None] * K * s) * s.max() / s.min())


def random_tree(random_model, state_of, seed: int, size: float) -> tuple[mbd.Model, mbd.State, Pack, np.ndarray]:
    """A tree with springs, a state, a workspace with random tangents and the rows of the state, and the dense matrix of both."""
    model = random_model("braced", 1 + seed % 9, seed, TREE)
    state = state_of(model, seed, on_manifold=seed % 2 == 0)
    tables = tables_with_coupling(model)
    assert has_tree(tables)
    pack = model.pack(tables)
    if model.loads:
        put_random_tangents(pack, seed, size)
    assert rows_entry(pack, state.t, state.y) == 0
    return model, state, pack, dense_matrix(model, state, tables["COUPLED_PAIRS"], pack)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.05, 3.0])
def test_random_trees_with_tangents_agree_with_lapack(random_model, state_of, size):
    """Small tangents leave the matrix definite on the motions that the rows allow; large ones do not."""
    rng, paired = np.random.default_rng(0), 0
    for seed in seeds(12):
        model, _, pack, K = random_tree(random_model, state_of, seed, size)
        b = rng.normal(size=6 * model.nb + model.nc)
        reference = np.linalg.solve(K, b)
        assert np.abs(solved(model, pack, b) - reference).max() < bound_of(K) * np.abs(reference).max(), seed
        paired += len(tables_with_coupling(model)["COUPLED_PAIRS"])
    assert paired > 10


@pytest.mark.slow
def test_a_factor_serves_other_right_hand_sides_after_the_bodies_have_moved(random_model, state_of):
    """Of the implicit steps, with tangents, and of the accelerations, without."""
    rng = np.random.default_rng(1)
    for seed in seeds(15):
        model, _, pack, K = random_tree(random_model, state_of, seed, 0.05)
        own, n = model.pack(), 6 * model.nb
        without = K - np.pad(dense_tangents(model, tables_with_coupling(model)["COUPLED_PAIRS"], pack), (0, model.nc))
        for of, matrix in ((pack, K), (own, without)):
            state, moved = state_of(model, seed, on_manifold=seed % 2 == 0), state_of(model, seed + 1, on_manifold=False)
            assert rows_entry(of, state.t, state.y) == 0
            solved(model, of, rng.normal(size=n + model.nc))
            assert rows_entry(of, moved.t, moved.y) == 0
            b = rng.normal(size=n + model.nc)
            put_right_hand_side(model, of, b)
            assert of.begin(of, NO_CALLBACK) == 0
            assert of.finish(of, NO_CALLBACK) == 0
            reference = np.linalg.solve(matrix, b)
            assert np.abs(unknowns(model, of) - reference).max() < bound_of(matrix) * np.abs(reference).max(), seed


@pytest.mark.slow
def test_a_factor_of_any_rows_serves_other_right_hand_sides_after_the_bodies_have_moved(random_model, state_of):
    """Also of rows that are neither those of a revolute joint nor separable."""
    rng = np.random.default_rng(2)
    for seed in seeds(15):
        model = random_model("tree", 1 + seed % 9, seed, TREE)
        state, moved = state_of(model, seed, on_manifold=seed % 2 == 0), state_of(model, seed + 1, on_manifold=False)
        pack, K = model.pack(), dense_system(model, state)[0]
        b = rng.normal(size=len(K))
        assert rows_entry(pack, state.t, state.y) == 0
        solved(model, pack, b)
        assert rows_entry(pack, moved.t, moved.y) == 0
        put_right_hand_side(model, pack, b)
        assert pack.begin(pack, NO_CALLBACK) == 0
        assert pack.finish(pack, NO_CALLBACK) == 0
        reference = np.linalg.solve(K, b)
        assert np.abs(unknowns(model, pack) - reference).max() < bound_of(K) * np.abs(reference).max(), seed


def hinged(*joints: type[mbd.Joint], forces: str) -> mbd.Model:
    """A chain of these joints with springs across all of them, or to the ground, or between bodies that no joint connects."""
    system = mbd.System("chain", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k, kind in enumerate(joints):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(k + 1.0, 0.0, 0.0)))
        axis = {"axis": (0.0, 1.0, 0.0)} if kind is RJ else {}
        system.add(kind(f"j{k}", before, body, point=(k + 0.5, 0.0, 0.0), **axis))
        far = {"across": before, "ground": system.ground, "apart": system.bodies[max(0, k - 1)], "none": None}[forces]
        if far is not None:
            system.add(mbd.TSDA(f"s{k}", far, body, point_i=far.r, point_j=body.r + (0.0, 0.0, 1.0), k=100.0, c=1.0, l0=1.0))
        before = body
    return system.compile(solver=TREE)


@pytest.mark.parametrize(
    ("model", "curved", "solver"),
    [
        (lambda: hinged(RJ, RJ, RJ, forces="none"), False, WITH_REVOLUTE_TREE),
        (lambda: hinged(RJ, RJ, RJ, forces="across"), False, WITH_REVOLUTE_TANGENT_TREE),
        (lambda: hinged(RJ, RJ, RJ, forces="none"), True, WITH_REVOLUTE_TANGENT_TREE),
        (lambda: hinged(RJ, SJ, RJ, forces="ground"), False, WITH_TANGENT_TREE),
        (lambda: hinged(RJ, SJ, RJ, forces="across"), False, WITH_WIDE_BLOCKS),
        (lambda: hinged(RJ, SJ, RJ, forces="none"), True, WITH_WIDE_BLOCKS),
        (lambda: hinged(RJ, RJ, RJ, forces="apart"), False, WITH_WIDE_BLOCKS),
    ],
)
def test_the_recursion_serves_tangents_across_revolute_joints_and_no_others(model, curved, solver):
    """All other couplings of bodies are left to the blocks."""
    model = model()
    assert model.pack(tables_with_coupling(model, curved)).factorize is solver.factorize


def screwed(forces: bool, solver: str) -> mbd.Model:
    """A chain of screws, with springs to the ground or without."""
    system = mbd.System("screws", gravity=(0.3, -0.5, -9.81))
    before = system.ground
    for k in range(4):
        body = system.add(mbd.Body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), r=(k + 1.0, 0.1 * k, 0.0)))
        joint = system.add(CJ(f"j{k}", before, body, point=(k + 0.5, 0.0, 0.0), axis=(0.2 * k, 1.0, 0.3)))
        system.add(Screw(f"thread {k}", joint, pitch=0.4))
        if forces:
            system.add(mbd.TSDA(f"s{k}", system.ground, body, point_i=(0, 0, 2), point_j=body.r, k=100.0, c=1.0, l0=1.0))
        before = body
    return system.compile(solver=solver)


@pytest.mark.slow
def test_screws_have_no_tangents_in_the_recursion():
    """With springs their implicit steps are solved by blocks, and end where those of a model solved by blocks do."""
    for forces, solver in ((False, WITH_TREE), (True, WITH_WIDE_BLOCKS)):
        model = screwed(forces, TREE)
        assert model.pack(tables_with_coupling(model, False)).factorize is solver.factorize
        for method in (mbd.GeneralizedAlpha(h=1e-3), mbd.RadauIIA(h=2e-3)):
            one, other = (mbd.simulate(which, 0.02, integrator=method).y[-1] for which in (model, screwed(forces, BLOCK)))
            np.testing.assert_allclose(one, other, rtol=0.0, atol=NEWTON * np.abs(other).max())
