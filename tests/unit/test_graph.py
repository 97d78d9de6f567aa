"""Blocks of the graph against their definition: no single body holds two parts of a block together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from haugmbd import graph
from haugmbd.graph import bridges, colors_of, find_blocks, fundamental_cycles, loop_groups, spanning_tree


def parts(bodies: set[int], pairs: set[tuple[int, int]]) -> list[set[int]]:
    """Connected parts, by spreading."""
    left, found = set(bodies), []
    while left:
        part = {left.pop()}
        while more := {b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a in part and b in left}:
            part |= more
            left -= more
        found.append(part)
    return found


def together(n: int, pairs: set[tuple[int, int]], a: int, b: int) -> bool:
    """Two bodies share a block: a pair, or not parted by taking away any third body (of one part)."""
    if (a, b) in pairs:
        return True
    every = set(range(n))
    for gone in (None, *sorted(every - {a, b})):
        left = {pair for pair in pairs if gone not in pair}
        if not any({a, b} <= part for part in parts(every - {gone}, left)):
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    every = list(combinations(range(n), 2))
    pairs = {every[k] for k in rng.choice(len(every), size=int(rng.integers(0, min(len(every), 2 * n))), replace=False)}
    found = find_blocks(n, np.array(sorted(pairs)).reshape(-1, 2))
    members = [{block.base, *block.bodies} for block in found.blocks if not block.floats]
    for a, b in every:
        assert any({a, b} <= block for block in members) == together(n, pairs, a, b), (a, b)
    one, other = np.array(every).T
    k = found.of_pairs(one, other)
    assert (k == found.of_pairs(other, one)).all()
    for (a, b), number in zip(every, k.tolist(), strict=True):
        assert (number >= 0) == any({a, b} <= block for block in members)
        if (a, b) in pairs:
            assert {a, b} <= {found.blocks[number].base, *found.blocks[number].bodies}
    assert sorted(found.order) == list(range(1, n))
    assert sorted(body for block in found.blocks for body in block.bodies) == list(range(1, n))
    place = {body: k for k, body in enumerate((0, *found.order))}
    assert all(place[found.blocks[found.of_body[body]].base] < place[body] for body in found.order)
    floating = [part for part in parts(set(range(n)), pairs) if 0 not in part]
    assert sum(block.floats for block in found.blocks) == len(floating)


@pytest.mark.slow
def test_a_long_chain_does_not_recurse():
    n = 20_000
    found = find_blocks(n, np.array([(k, k + 1) for k in range(n - 1)]))
    assert len(found.blocks) == n - 1
    assert found.hanging()[0] == n - 1
    assert found.hanging()[n - 1] == 0


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_a_forest(seed, monkeypatch):
    """A search of all bodies at once finds what the search for loops finds, in parts with and without the ground; a loop is told."""
    rng = np.random.default_rng(seed)
    n = 40
    label = np.array([0, *(1 + rng.permutation(n - 1))])
    pairs = np.array([np.sort(label[[k, rng.integers(0, k)]]) for k in range(1, n) if rng.random() < 0.8])
    monkeypatch.setattr(graph, "MANY", 1)
    quick = find_blocks(n, pairs)
    monkeypatch.setattr(graph, "_blocks_of_forest", lambda *_: None)
    usual = find_blocks(n, pairs)
    assert quick.blocks == usual.blocks
    assert (quick.of_body == usual.of_body).all()
    assert quick.hanging() == usual.hanging()
    assert sorted(quick.order) == sorted(usual.order)


def test_a_loop_is_no_forest(monkeypatch):
    monkeypatch.setattr(graph, "MANY", 1)
    found = find_blocks(6, np.array([(0, 1), (1, 2), (2, 3), (1, 3), (4, 5)]))
    assert found.blocks == ((0, (1,), False), (1, (2, 3), False), (0, (4,), True), (4, (5,), False))


def labels(n: int, edges: list[tuple[int, int]]) -> tuple[int, np.ndarray]:
    """Connected parts by SciPy: how many, and the part of each body."""
    i, j = np.array(edges, dtype=int).reshape(-1, 2).T
    return connected_components(coo_array((np.ones(len(edges)), (i, j)), shape=(n, n)), directed=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_bridges_and_loops_against_scipy(seed):
    """A bridge is an edge without which there is one part more; edges may stand twice between the same bodies."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    every = list(combinations(range(n), 2))
    edges = [every[k] for k in rng.choice(len(every), size=int(rng.integers(0, 2 * n)))]
    found = bridges(n, edges)
    parts_now, part_of = labels(n, edges)
    for e, (i, j) in enumerate(edges):
        n_parts, part = labels(n, edges[:e] + edges[e + 1 :])
        assert (e in found) == (n_parts > parts_now)
        if e in found:
            assert found[e] in (i, j)
            root = int(np.flatnonzero(part_of == part_of[i])[0])
            assert part[found[e]] != part[root]
    group = np.array(loop_groups(n, edges, found))
    _, loops = labels(n, [edge for e, edge in enumerate(edges) if e not in found])
    np.testing.assert_array_equal(group[:, None] == group, loops[:, None] == loops)


@pytest.mark.parametrize("seed", range(20))
def test_trees_and_cycles(seed):
    """Depths are those of SciPy's breadth first search; cycles close, are as many as Euler's formula says, and are independent."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    every = list(combinations(range(n), 2))
    edges = [every[k] for k in rng.choice(len(every), size=int(rng.integers(1, 2 * n)))]
    root = edges[0][0]
    tree = spanning_tree(root, edges)
    i, j = np.array(edges).T
    order, before = breadth_first_order(coo_array((np.ones(len(edges)), (i, j)), shape=(n, n)).tocsr(), root, directed=False)
    depth = {root: 0}
    for body in order[1:].tolist():
        depth[body] = depth[int(before[body])] + 1
    assert {body: d for body, (d, _, _) in tree.items()} == depth
    inside = [e for e, pair in enumerate(edges) if pair[0] in tree]
    cycles = list(fundamental_cycles(root, edges, len(edges)))
    assert len(cycles) == len(inside) - len(tree) + 1
    for cycle in cycles:
        ends = [edges[e] for e in cycle]
        assert len(set(cycle)) == len(cycle)
        assert all(set(a) & set(b) for a, b in zip(ends, [*ends[1:], ends[0]], strict=True))
        assert all(sum(body in pair for pair in ends) == 2 for body in {body for pair in ends for body in pair})
        assert sum(e not in {edge for _, _, edge in tree.values()} for e in cycle) == 1
    assert list(fundamental_cycles(root, edges, 3)) == [cycle for cycle in cycles if len(cycle) <= 3]


@pytest.mark.parametrize("seed", range(3))
def test_no_two_vertices_of_a_group_have_the_same_color(seed):
    rng = np.random.default_rng(seed)
    n = 30
    groups = [sorted(set(rng.integers(n, size=3).tolist())) for _ in range(40)]
    colors = colors_of(n, groups)
    assert all(len(set(colors[group].tolist())) == len(group) for group in groups)
    near = [{v for group in groups if vertex in group for v in group} - {vertex} for vertex in range(n)]
    assert int(colors.max()) <= max(map(len, near))  # greedy: one more than the neighbors is enough


def test_a_chain_has_two_colors_and_vertices_alone_one():
    assert set(colors_of(400, [(k, k + 1) for k in range(399)]).tolist()) == {0, 1}
    assert not colors_of(5, []).any()
