r"""The order in which the block LDL^T eliminates bodies and edges, determined once per model, in plain Python.

The augmented matrix  [M  Phi_q^T; Phi_q  0]  has one 6 x 6 block per body and one per edge (at most six rows between the same
bodies: two, or more for a coupling of several joints); its graph is the mechanism itself.
The order is minimum degree, under a rule that keeps every pivot block definite:

* an edge that is a bridge of the graph (ground included) may be eliminated after ALL nodes on its far side
  (leaf to root, Baraff 1996): the far side moves freely as a rigid body, so S = J D^-1 J^T has full rank;
* an edge in a loop, or of more than two bodies, is eliminated after all its bodies: S = J M^-1 J^T, the range space, only where
  loops need it.

Cost: O(n) blocks for chains, trees and stars, near O(n) for ladders of loops.
Sources: Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996; George and Liu, minimum degree, SIAM Review 1989.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple, overload

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.graph import bridges_of, loop_groups, pairs_of


class Steps(NamedTuple):
    """The part of a schedule that elimination reads."""

    order: Ints
    neighbor_starts: Ints
    neighbors: Ints
    update_starts: Ints
    fill_updates: Ints


class Schedule(NamedTuple):
    """The elimination as arrays.  Nodes: body b is b (0, the ground, takes no part), edge e is nb + 1 + e.

    order: (ns,) the node of each step;  neighbor_starts: (ns + 1,) where its neighbours start in
    neighbors: (m, 2) neighbour node, number of the block [node, neighbour];
    update_starts: (ns + 1,) where its updates start in
    fill_updates: (k, 3) block [node, a], block [node, b], target block [a, b], for neighbours a eliminated before b.
    n_blocks: how many off-diagonal blocks; the mechanism's own come first, then the fill;
    body_block: (ne, sides) block that couples edge e with each of its bodies, -1 for the ground;
    body_first: (ne, sides) 1 where that body is eliminated before the edge (the block is then J^T, otherwise J).
    coupled_block: (n, 2) for each pair (i, j) its block, and 1 where j is eliminated before i (the block is then [j, i]).
    """

    order: Ints
    neighbor_starts: Ints
    neighbors: Ints
    update_starts: Ints
    fill_updates: Ints
    n_blocks: int
    body_block: Ints
    body_first: Ints
    coupled_block: Ints


NO_COUPLING: list[tuple[int, int]] = []


@overload
def make_schedule(n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]] = NO_COUPLING) -> Schedule: ...


@overload
def make_schedule(
    n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]] = NO_COUPLING, *, most_updates: int
) -> Schedule | None: ...


def make_schedule(
    n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]] = NO_COUPLING, *, most_updates: int | None = None
) -> Schedule | None:
    """Order the elimination of `n_bodies` bodies (numbered from 1; 0 is the ground) and of `edges` (body numbers: pairs, or
    more bodies for couplings of several joints).

    coupled: pairs of bodies whose blocks are coupled directly, by the tangent of a force between them
    most_updates: None is returned if the order needs more updates of blocks, as soon as this is known
    """
    order, neighbors_of = _minimum_degree(n_bodies, edges, coupled, np.inf if most_updates is None else most_updates)
    return None if len(order) < n_bodies + len(edges) else _as_arrays(n_bodies, edges, coupled, order, neighbors_of)


def _minimum_degree(
    n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]], most_updates: float
) -> tuple[list[int], list[list[int]]]:
    """Eliminate symbolically; return the nodes in order, and for each node the neighbours that remained at that moment.

    The order ends where the updates, one for each pair of neighbours, exceed `most_updates`.
    """
    first_edge = n_bodies + 1
    graph: list[set[int]] = [set() for _ in range(first_edge + len(edges))]
    for e, pair in enumerate(edges):
        for body in pair:
            if body != 0:
                graph[first_edge + e].add(body)
                graph[body].add(first_edge + e)
    for i, j in coupled:
        graph[i].add(j)
        graph[j].add(i)
    waits_for, releases = _precedence(n_bodies, edges)
    heap = [(len(neighbors), node) for node, neighbors in enumerate(graph) if node != 0 and waits_for[node] == 0]
    heapq.heapify(heap)
    order: list[int] = []
    neighbors_of: list[list[int]] = []
    gone = [False] * len(graph)
    updates = 0
    while heap and updates <= most_updates:
        degree, node = heapq.heappop(heap)
        if gone[node] or degree != len(graph[node]):
            continue
        gone[node] = True
        neighbors = graph[node]
        updates += degree * (degree - 1) // 2
        order.append(node)
        neighbors_of.append(list(neighbors))
        for a in neighbors:
            graph[a] |= neighbors
            graph[a] -= {a, node}
        touched = set(neighbors)
        for later in releases[node]:
            waits_for[later] -= 1
            touched.add(later)
        for a in touched:
            if waits_for[a] == 0 and not gone[a]:
                heapq.heappush(heap, (len(graph[a]), a))
    return order, neighbors_of


def _precedence(n_bodies: int, edges: list[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
    """Return how many nodes each node waits for, and which nodes each one releases."""
    first_edge = n_bodies + 1
    waits_for = [0] * (first_edge + len(edges))
    releases: list[list[int]] = [[] for _ in waits_for]

    def after(later: int, earlier: int) -> None:
        if later != 0 and earlier != 0:
            waits_for[later] += 1
            releases[earlier].append(later)

    child_of = bridges_of(n_bodies + 1, edges)
    pairs, number = pairs_of(edges)
    group = loop_groups(n_bodies + 1, pairs, {pair for pair, e in enumerate(number) if e in child_of})
    loop_edges: dict[int, list[int]] = {}
    for e, bodies in enumerate(edges):
        if e not in child_of:
            for body in bodies:
                after(first_edge + e, body)
            loop_edges.setdefault(group[bodies[0]], []).append(first_edge + e)
    for e, child in child_of.items():
        parent = sum(edges[e]) - child
        after(first_edge + e, child)
        for inside in loop_edges.get(group[child], []):
            after(first_edge + e, inside)
        after(parent, first_edge + e)
    return waits_for, releases


def _as_arrays(
    n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]], order: list[int], neighbors_of: list[list[int]]
) -> Schedule:
    """Number the off-diagonal blocks, and list the blocks that each step reads and updates."""
    step_of = {node: step for step, node in enumerate(order)}
    block_of: dict[tuple[int, int], int] = {}
    sides = max((len(bodies) for bodies in edges), default=2)
    body_block = np.full((len(edges), sides), -1, dtype=np.int64)
    body_first = np.zeros((len(edges), sides), dtype=np.int64)
    for e, pair in enumerate(edges):
        node = n_bodies + 1 + e
        for side, body in enumerate(pair):
            if body != 0:
                body_first[e, side] = step_of[body] < step_of[node]
                body_block[e, side] = len(block_of)
                block_of[(body, node) if body_first[e, side] else (node, body)] = len(block_of)
    coupled_block = np.array([(len(block_of) + k, step_of[i] > step_of[j]) for k, (i, j) in enumerate(coupled)], dtype=np.int64)
    for i, j in coupled:
        block_of[(i, j) if step_of[i] < step_of[j] else (j, i)] = len(block_of)
    neighbors: list[tuple[int, int]] = []
    fill_updates: list[tuple[int, int, int]] = []
    neighbor_starts, update_starts = [0], [0]
    for node, others in zip(order, neighbors_of, strict=True):
        others.sort(key=step_of.__getitem__)
        neighbors += [(a, block_of[node, a]) for a in others]
        for k, a in enumerate(others):
            for b in others[k + 1 :]:
                target = block_of.setdefault((a, b), len(block_of))
                fill_updates.append((block_of[node, a], block_of[node, b], target))
        neighbor_starts.append(len(neighbors))
        update_starts.append(len(fill_updates))
    return Schedule(
        order=np.array(order, dtype=np.int64),
        neighbor_starts=np.array(neighbor_starts, dtype=np.int64),
        neighbors=np.array(neighbors, dtype=np.int64).reshape(-1, 2),
        update_starts=np.array(update_starts, dtype=np.int64),
        fill_updates=np.array(fill_updates, dtype=np.int64).reshape(-1, 3),
        n_blocks=len(block_of),
        body_block=body_block,
        body_first=body_first,
        coupled_block=coupled_block.reshape(-1, 2),
    )
