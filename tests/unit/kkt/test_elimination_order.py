"""The schedule: bridges, precedence, and a number of blocks that grows linearly for chains, stars, trees and ladders."""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.graph import bridges, loop_groups
from haugmbd.kkt.elimination_order import make_schedule

Edges = list[tuple[int, int]]


def chain(n: int) -> Edges:
    return [(k, k + 1) for k in range(n)]


def star(n: int) -> Edges:
    return [(1, k) if k > 1 else (0, 1) for k in range(1, n + 1)]


def binary_tree(n: int) -> Edges:
    return [(k // 2, k) for k in range(1, n + 1)]


def ladder(n: int) -> Edges:
    """Two rails of n / 2 bodies from the ground, with a rung between each pair."""
    half = n // 2
    rails = [(k - 1, k) for k in range(1, half + 1)] + [(half + k - 1 if k > 1 else 0, half + k) for k in range(1, half + 1)]
    return rails + [(k, half + k) for k in range(1, half + 1)]


def connected_without(n: int, edges: Edges, left_out: int) -> bool:
    """Whether the ends of an edge are still connected when it is gone."""
    reached, ahead = {edges[left_out][0]}, [edges[left_out][0]]
    while ahead:
        body = ahead.pop()
        for e, pair in enumerate(edges):
            if e != left_out and body in pair:
                other = sum(pair) - body
                if other not in reached:
                    reached.add(other)
                    ahead.append(other)
    return edges[left_out][1] in reached


def random_graph(rng: np.random.Generator, n: int, extra: int) -> Edges:
    """A random tree on the ground and `extra` edges more, no pair twice; sometimes in pieces that do not reach the ground."""
    edges = {(int(rng.integers(0, k)), k) for k in range(1, n + 1) if rng.random() < 0.95}
    while extra:
        i, j = sorted(rng.integers(0, n + 1, size=2).tolist())
        if i != j and (i, j) not in edges:
            edges.add((i, j))
            extra -= 1
    shuffled = [pair if rng.random() < 0.5 else pair[::-1] for pair in sorted(edges)]
    return [shuffled[k] for k in rng.permutation(len(shuffled))]


@pytest.mark.parametrize("seed", range(20))
def test_bridges_are_the_edges_that_separate(seed):
    """Tarjan's search against the definition: remove each edge and look."""
    rng = np.random.default_rng(seed)
    n = 14
    edges = random_graph(rng, n, int(rng.integers(0, 7)))
    expected = {e for e in range(len(edges)) if not connected_without(n, edges, e)}
    separating = bridges(n + 1, edges)
    assert set(separating) == expected
    assert all(child in edges[e] and child != 0 for e, child in separating.items())
    group = loop_groups(n + 1, edges, separating)
    for e, (i, j) in enumerate(edges):
        assert (group[i] == group[j]) == (e not in expected)


@pytest.mark.parametrize("seed", range(20))
def test_every_node_is_eliminated_once_and_in_a_safe_order(seed):
    """A loop's edge follows both its bodies; a bridge follows the body on its far side."""
    rng = np.random.default_rng(100 + seed)
    n = 14
    edges = random_graph(rng, n, int(rng.integers(0, 7)))
    schedule = make_schedule(n, edges)
    order = schedule.order[:, 0].tolist()
    assert sorted(order) == list(range(1, n + 1 + len(edges)))
    separating = bridges(n + 1, edges)
    for e, pair in enumerate(edges):
        step = order.index(n + 1 + e)
        before = (separating[e],) if e in separating else tuple(body for body in pair if body != 0)
        assert all(order.index(body) < step for body in before)


@pytest.mark.parametrize(("graph", "per_body"), [(chain, 2.0), (star, 2.0), (binary_tree, 2.0)])
def test_open_graphs_have_no_fill(graph, per_body):
    """A tree of bodies and edges is eliminated leaf to root: its own blocks, two an edge, and none besides."""
    for n in (10, 100, 1000):
        edges = graph(n)
        own = sum((i != 0) + (j != 0) for i, j in edges)
        schedule = make_schedule(n, edges)
        assert schedule.n_blocks == own <= per_body * n
        assert len(schedule.fill_updates) <= 1.0 * n


@pytest.mark.slow
def test_a_ladder_of_loops_has_linear_fill():
    sizes = np.array([20, 40, 80, 160, 320, 640])
    blocks = np.array([make_schedule(int(n), ladder(int(n))).n_blocks for n in sizes])
    updates = np.array([len(make_schedule(int(n), ladder(int(n))).fill_updates) for n in sizes])
    assert np.polyfit(np.log(sizes[2:]), np.log(blocks[2:]), 1)[0] < 1.05
    assert np.polyfit(np.log(sizes[2:]), np.log(updates[2:]), 1)[0] < 1.05
    assert blocks[-1] < 12 * sizes[-1]


def test_one_big_ring_has_linear_fill():
    """A chain from ground to ground: all of its edges lie in one loop."""
    sizes = np.array([50, 100, 200, 400])
    blocks = [make_schedule(int(n), [*chain(int(n)), (int(n), 0)]).n_blocks for n in sizes]
    assert np.polyfit(np.log(sizes), np.log(blocks), 1)[0] < 1.02
    assert blocks[-1] < 4 * sizes[-1]


def test_blocks_are_numbered_consistently():
    """Each edge's block couples it with its body; neighbors and fill updates name blocks of the nodes that they speak of."""
    n, edges = 8, ladder(8)
    s = make_schedule(n, edges)
    step_of = {node: step for step, node in enumerate(s.order[:, 0].tolist())}
    couples: dict[int, tuple[int, int]] = {}
    for e, pair in enumerate(edges):
        for side, body in enumerate(pair):
            if body == 0:
                assert s.body_block[e, side] == -1
                continue
            node = n + 1 + e
            assert s.body_first[e, side] == (step_of[body] < step_of[node])
            couples[s.body_block[e, side]] = (body, node) if s.body_first[e, side] else (node, body)
    for step, node in enumerate(s.order[:, 0].tolist()):
        for other, block, _ in s.neighbors[s.neighbor_starts[step] : s.neighbor_starts[step + 1]].tolist():
            assert couples.setdefault(block, (node, other)) == (node, other)
        for first, second, target, _, _ in s.fill_updates[s.update_starts[step] : s.update_starts[step + 1]].tolist():
            (own, a), (same, b) = couples[first], couples[second]
            assert own == same == node
            assert couples.setdefault(target, (a, b)) == (a, b)
    assert sorted(couples) == list(range(s.n_blocks))


def test_a_system_without_joints_has_no_blocks():
    schedule = make_schedule(3, [])
    assert schedule.n_blocks == 0
    assert sorted(schedule.order[:, 0].tolist()) == [1, 2, 3]
    assert schedule.body_block.shape == (0, 2)
