"""Fronts, blocks and the recursion over forests against LAPACK on 2000 random graphs, and the elimination itself against its definition.

The tolerance of solutions is the rounding unit times the condition number, times a factor for the growth in a few dozen steps.
"""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.status_codes import OK
from haugmbd.kkt.block_solver import WITH_BLOCKS
from haugmbd.kkt.front_kernels import link_blas
from haugmbd.kkt.front_plan import CHILD, PIVOTS, ROWS, SIBLING, _cliques, plan_fronts
from haugmbd.kkt.front_solver import WITH_FRONTS
from haugmbd.kkt.minimum_degree import bisection_levels, minimum_degree
from haugmbd.kkt.solver import BLOCK, MULTIFRONTAL, TREE, SolverRoutines
from haugmbd.kkt.tree_order import order_of_forest
from haugmbd.kkt.tree_solver import WITH_TREE
from tests.support.augmented_systems import condition
from tests.support.random_graphs import NEARER, Graph, matrix, random_graph, table
from tests.support.seeds import seeds

GROWTH = 1e3
"""Of rounding, relative to the unit times the condition number: 80 is seen."""

RESIDUAL = 1e-11
"""Backward error: 1e-13 is seen."""

link_blas()
SOLVERS = {BLOCK: WITH_BLOCKS, MULTIFRONTAL: WITH_FRONTS, TREE: WITH_TREE}


def solvers_for(graph: Graph) -> list[str]:
    """The recursion over forests where there are no loops, and the other two."""
    no_loops = order_of_forest(len(graph.positions), graph.edges) is not None
    return [name for name in SOLVERS if name != TREE or no_loops]


def solutions(graph: Graph, name: str, right: np.ndarray) -> np.ndarray | None:
    """K^-1 of each column (bodies, then rows), the first with the factorization, the others with the factor alone; None if refused."""
    routines: SolverRoutines = SOLVERS[name]
    w, n = graph.workspace(graph.solver(name)), len(graph.positions)
    found = np.empty_like(right)
    for k in range(right.shape[1]):
        b = matrix(w, "RIGHT")
        b[1:n] = right[: 6 * (n - 1), k].reshape(-1, 6)
        b[n:].reshape(-1)[graph.slots] = right[6 * (n - 1) :, k]
        first = routines.factorize if k == 0 else routines.begin
        if first(w, NO_CALLBACK) != OK:
            return None
        routines.finish(w, NO_CALLBACK)
        x = matrix(w, "SOLUTION")
        found[:, k] = np.concatenate([x[1:n].ravel(), x[n:].ravel()[graph.slots]])
    return found


def scaled(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S K S with entries of order one, and the diagonal of S."""
    s = 1.0 / np.sqrt(np.abs(K).max(axis=0))
    return s[:, None] * K * s, s


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(3))
def test_solvers_agree_with_lapack_on_random_graphs(block):
    skipped = 0
    for seed in range(100 * block, 100 * block + 100):
        graph = random_graph(seed)
        K, s = scaled(graph.dense())
        right = np.random.default_rng(seed).normal(size=(len(K), 2))
        sizes = np.abs(np.linalg.eigvalsh(K))
        bound = GROWTH * np.finfo(float).eps * sizes.max() / sizes.min()
        if bound > 1e-2:  # dependent within rounding
            skipped += 1
            continue
        reference = np.linalg.solve(K, right)
        for name in solvers_for(graph):
            x = solutions(graph, name, right / s[:, None])
            assert x is not None, (seed, name)
            x /= s[:, None]
            size = np.abs(x).max(axis=0)
            residual = np.abs(K @ x - right).max(axis=0) / (sizes.max() * size + 1.0)
            gap = np.abs(x - reference).max(axis=0) / np.abs(reference).max(axis=0)
            assert (residual < RESIDUAL).all(), (seed, name)
            assert (gap < bound).all(), (seed, name)
    assert skipped < 40


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(2))
def test_rows_that_depend_on_others_almost_to_rounding_are_refused_or_solved(block):
    """With 1e-5 ... 1e-9 no digit of a multiplier is left, and what is found must still solve the equations to rounding."""
    refused = 0
    for seed in range(150 * block, 150 * block + 150, 3):
        graph = random_graph(seed, NEARER)
        K, s = scaled(graph.dense())
        right = np.random.default_rng(seed).normal(size=(len(K), 2))
        for name in solvers_for(graph):
            x = solutions(graph, name, right / s[:, None])
            if x is None:
                refused += 1
                continue
            x /= s[:, None]
            residual = np.abs(K @ x - right).max(axis=0) / (np.linalg.norm(K, 2) * np.abs(x).max(axis=0) + 1.0)
            assert (residual < RESIDUAL).all(), (seed, name)
    assert refused < 30


@pytest.mark.slow
def test_rows_on_three_and_four_bodies():
    """A net whose bodies are also coupled by rows on three or four of them."""
    rng = np.random.default_rng(0)
    for _ in seeds(10):
        graph = random_graph(4 * int(rng.integers(0, 500)) + 1)
        n, ne = len(graph.positions), len(graph.edges)
        more = [
            tuple(sorted(rng.choice(np.arange(1, n), size=min(n - 1, int(rng.integers(2, 5))), replace=False).tolist()))
            for _ in range(3)
        ]
        edges = [(*pair, 0, 0) for pair in graph.edges] + [(*group, 0, 0)[:4] for group in more]
        weight = [1] * len(edges)
        J = np.zeros((6 * len(edges), 4, 6))
        J[: 6 * ne, :2] = graph.J
        J[6 * ne :] = rng.normal(size=(18, 4, 6))
        for e, bodies in enumerate(edges):
            J[6 * e : 6 * e + 6][:, [side for side, body in enumerate(bodies) if body == 0]] = 0.0
        wider = Graph(graph.positions, edges, weight, J, graph.inertia)
        K, s = scaled(wider.dense())
        right = rng.normal(size=(len(K), 2))
        x = solutions(wider, MULTIFRONTAL, right / s[:, None]) / s[:, None]
        bound = GROWTH * np.finfo(float).eps * condition(K)
        assert np.abs(x - np.linalg.solve(K, right)).max() < bound * np.abs(x).max()


@pytest.mark.slow
@pytest.mark.parametrize("tie", [-1.0, 1.0])
def test_fronts_are_the_elimination_of_the_graph(tie):
    """Each variable is a pivot once; the boundary of each front is what elimination by definition leaves connected to its pivots."""
    for seed in seeds(30):
        graph = random_graph(seed)
        bodies, weight = np.array(graph.edges, dtype=np.int64), np.array(graph.weight, dtype=np.int64)
        starts, elements = _cliques(len(graph.positions), bodies)
        level = bisection_levels(graph.positions, bodies, 3) if seed % 2 else np.zeros(len(weight), dtype=np.int64)
        fronts = minimum_degree(weight, starts, elements, level, tie)
        assert sorted(fronts.pivots.tolist()) == list(range(len(weight)))
        near = {e: {f for f in range(len(bodies)) if f != e and set(bodies[e]) & set(bodies[f]) - {0}} for e in range(len(bodies))}
        for f in range(len(fronts.parents)):
            pivots = fronts.pivots[fronts.pivot_starts[f] : fronts.pivot_starts[f + 1]].tolist()
            boundary = fronts.boundary[fronts.boundary_starts[f] : fronts.boundary_starts[f + 1]].tolist()
            reached = set().union(*(near[p] for p in pivots)) - set(pivots)
            assert set(boundary) == reached
            assert len(boundary) == len(reached)
            assert (fronts.parents[f] > f) == bool(boundary)
            for a in reached:
                near[a] = (near[a] | reached) - {a, *pivots}


def test_a_bisection_parts_the_bodies_of_a_level():
    """Edges of level 0 lie inside parts of at most `leaf` bodies; taking away those of higher levels separates these parts."""
    rng = np.random.default_rng(0)
    r = rng.normal(size=(41, 3))
    bodies = np.array([(i, j) for i in range(41) for j in range(i)], dtype=np.int64)
    level = bisection_levels(r, bodies, 5)
    group = {k: {k} for k in range(1, 41)}
    for (i, j), at in zip(bodies.tolist(), level.tolist(), strict=True):
        if at == 0 and j:
            group[i] |= group[j]
            for k in group[i]:
                group[k] = group[i]
    assert max(map(len, group.values())) <= 5
    assert level.max() == 3


def test_tables_of_fronts_hold_together():
    """Children come before parents and fit into them; every unknown is a pivot once; a plan without edges is empty."""
    graph = random_graph(1)
    bodies, weight = np.array(graph.edges, dtype=np.int64), np.array(graph.weight, dtype=np.int64)
    plan = plan_fronts(graph.positions, bodies, weight)
    fronts = plan.fronts
    assert fronts[:, PIVOTS].sum() == weight.sum()
    first = np.concatenate([[0], np.cumsum(fronts[:, ROWS])])
    pivots = np.concatenate([plan.rows[a : a + k] for a, k in zip(first[:-1], fronts[:, PIVOTS], strict=True)])
    assert sorted(pivots.tolist()) == sorted((6 * len(graph.positions) + graph.slots).tolist())
    for q, (child, sibling) in enumerate(fronts[:, [CHILD, SIBLING]]):
        assert child < q
        assert sibling < q
    empty = plan_fronts(graph.positions, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert len(empty.fronts) == 0


def test_dependent_rows_are_left_out_in_place():
    """Of two rows that are equal one is kept: the other has no multiplier, and the solution is that without it."""
    for seed in range(2, 40, 4):
        graph = random_graph(seed)
        e = int(np.argmax(graph.weight))
        if graph.weight[e] < 2:
            continue
        graph.J[6 * e + 1] = graph.J[6 * e]
        right = np.random.default_rng(seed).normal(size=len(graph.dense()))
        n, out = 6 * (len(graph.positions) - 1), int(np.nonzero(graph.slots == 6 * e + 1)[0][0])
        some = np.delete(np.arange(len(right)), n + out)
        expected = np.linalg.solve(graph.dense()[np.ix_(some, some)], right[some])
        w = graph.workspace(graph.solver(MULTIFRONTAL))
        kept, scale = table(w, "KEPT"), table(w, "SCALE")
        kept[e, 1], scale[:] = 0.0, 1.0
        matrix(w, "RIGHT")[1 : n // 6 + 1] = right[:n].reshape(-1, 6)
        matrix(w, "RIGHT")[n // 6 + 1 :].reshape(-1)[graph.slots] = right[n:]
        WITH_FRONTS.factorize_chosen(w, NO_CALLBACK)
        WITH_FRONTS.finish(w, NO_CALLBACK)
        x = matrix(w, "SOLUTION")
        lam = x[n // 6 + 1 :].ravel()[graph.slots]
        bound = GROWTH * np.finfo(float).eps * condition(graph.dense()[np.ix_(some, some)])
        found = np.concatenate([x[1 : n // 6 + 1].ravel(), np.delete(lam, out)])
        assert 0.0 in lam[[out, out - 1]]
        assert np.abs(found[:n] - expected[:n]).max() < bound * np.abs(expected).max()
