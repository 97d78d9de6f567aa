r"""The order in which the block LDL^T eliminates bodies and edges, determined once per model, in plain Python.

The augmented matrix  [M  Phi_q^T; Phi_q  0]  has one 6 x 6 block per body and one per edge (at most six rows between the same
bodies: two, or more for a coupling of several joints); its graph is the mechanism itself.
The order is minimum degree, under a rule that keeps every pivot block definite:

* an edge that is a bridge of the graph (ground included) may be eliminated after ALL nodes on its far side
  (leaf to root, Baraff 1996): the far side moves freely as a rigid body, so S = J D^-1 J^T has full rank;
* an edge of one or two rows that closes a loop of the others (a coupling of joints, a rod) is eliminated after the bridges that
  connect its bodies to the body where their paths meet.  While this body is at rest, its rows have the rank that they have in
  motion, because they depend on relative positions only; it is not a member of the loop, and the others remain bridges;
* any other edge in a loop is eliminated after all its bodies: S = J M^-1 J^T, the range space, only where loops need it.

In general: the rows eliminated so far must have full rank in the columns of the bodies eliminated so far.
Edges of one or two rows are NARROW: their blocks have true sizes, see `narrow_blocks`; the degree of a node counts unknowns.
Cost: O(n) blocks for chains, trees and stars, also with couplings between neighbours; near O(n) for ladders of loops.
Sources: Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996; George and Liu, minimum degree, SIAM Review 1989.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, overload

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.graph import Groups, bridges_of, loop_groups, pairs_of

WIDE, NARROW = 6, 2
"""Number of unknowns of a body, and of an edge of more than NARROW rows with its padding; other edges have true sizes."""

NARROW_UPDATE = 0.2
"""Time of an update of a block where a narrow edge takes part, relative to one of wide blocks."""

ABSOLUTE, RELATIVE, RELATIVE_TO_GROUND = 0, 1, 2
"""Kinds of edges: rows of positions in the global frame, of its bodies relative to one another, and also relative to the ground."""


class EliminationSteps(NamedTuple):
    """The part of a schedule that elimination reads."""

    order: Ints
    neighbor_starts: Ints
    neighbors: Ints
    update_starts: Ints
    fill_updates: Ints


class Schedule(NamedTuple):
    """The elimination as arrays.  Nodes: body b is b (0, the ground, takes no part), edge e is nb + 1 + e.

    order: (ns, 2) the node of each step, and its width;  neighbor_starts: (ns + 1,) where its neighbours start in
    neighbors: (m, 3) neighbour node, number of the block [node, neighbour], width of the neighbour;
    update_starts: (ns + 1,) where its updates start in
    fill_updates: (k, 5) block [node, a], block [node, b], target block [a, b], for neighbours a eliminated before b; widths of a and b.
    n_blocks: how many off-diagonal blocks; the mechanism's own come first, then the fill;
    body_block: (ne, sides) block that couples edge e with each of its bodies, -1 for the ground;
    body_first: (ne, sides) 1 where that body is eliminated before the edge (the block is then J^T, otherwise J).
    coupled_block: (n, 2) for each pair (i, j) its block, and 1 where j is eliminated before i (the block is then [j, i]).
    width: (ne,) unknowns of each edge;  fill_lines: (number of blocks of the fill,) their lines, six of a block between wide nodes
    updates: time of all updates, in updates of wide blocks
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
    width: Ints
    fill_lines: Ints
    updates: float


class EdgeRows(NamedTuple):
    """The rows of the edges: (ne,) their number, and their kind: ABSOLUTE, RELATIVE or RELATIVE_TO_GROUND."""

    weight: Sequence[int]
    kind: Sequence[int]


NO_COUPLING: list[tuple[int, int]] = []


@overload
def make_schedule(
    n_bodies: int,
    edges: list[tuple[int, ...]],
    coupled: list[tuple[int, int]] = NO_COUPLING,
    rows: EdgeRows | None = None,
    *,
    ahead: Collection[int] = (),
) -> Schedule: ...


@overload
def make_schedule(
    n_bodies: int,
    edges: list[tuple[int, ...]],
    coupled: list[tuple[int, int]] = NO_COUPLING,
    rows: EdgeRows | None = None,
    *,
    most_updates: float,
    beyond: Callable[[], float] | None = None,
) -> Schedule | None: ...


def make_schedule(
    n_bodies: int,
    edges: list[tuple[int, ...]],
    coupled: list[tuple[int, int]] = NO_COUPLING,
    rows: EdgeRows | None = None,
    *,
    most_updates: float | None = None,
    beyond: Callable[[], float] | None = None,
    ahead: Collection[int] = (),
) -> Schedule | None:
    """Order the elimination of `n_bodies` bodies (numbered from 1; 0 is the ground) and of `edges` (body numbers: pairs, or
    more bodies for couplings of several joints).

    coupled: pairs of bodies whose blocks are coupled directly, by the tangent of a force between them
    rows: of the edges; by default six each
    most_updates: None is returned if the order needs more updates of wide blocks, as soon as this is known
    beyond: gives a larger number, asked for once where the first is exceeded
    ahead: nodes that come before all others: bodies of trees that hang on the rest, and their edges
    """
    rows = EdgeRows([WIDE] * len(edges), [ABSOLUTE] * len(edges)) if rows is None else rows
    width = [WIDE] * (n_bodies + 1) + [k if k <= NARROW else WIDE for k in rows.weight]
    waits_for, releases = _precedence(n_bodies, edges, closing_edges(n_bodies, edges, rows), rows.kind)
    limit = np.inf if most_updates is None else most_updates
    order, neighbors_of, updates = _minimum_degree(_graph(n_bodies, edges, coupled), width, waits_for, releases, limit, beyond)
    if len(order) < n_bodies + len(edges):
        return None
    if ahead:
        steps = sorted(range(len(order)), key=lambda k: order[k] not in ahead)
        order, neighbors_of = [order[k] for k in steps], [neighbors_of[k] for k in steps]
    return _as_arrays(n_bodies, edges, coupled, order, neighbors_of, width)._replace(updates=updates)


def _graph(n_bodies: int, edges: list[tuple[int, ...]], coupled: list[tuple[int, int]]) -> list[set[int]]:
    """Return the neighbours of each node."""
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
    return graph


def _minimum_degree(
    graph: list[set[int]],
    width: list[int],
    waits_for: list[int],
    releases: list[list[int]],
    most_updates: float,
    beyond: Callable[[], float] | None,
) -> tuple[list[int], list[list[int]], float]:
    """Eliminate symbolically; return the nodes in order, for each node the neighbours that remained at that moment, and the updates.

    The order ends where the updates, one for each pair of neighbours, exceed `most_updates`, and what `beyond` returns then.
    """
    wide = all(w == WIDE for w in width)

    def unknowns(neighbors: set[int]) -> int:
        return sum([width[a] for a in neighbors])

    degree_of: Callable[[set[int]], int] = len if wide else unknowns
    heap = [(degree_of(graph[node]), node) for node in range(1, len(graph)) if waits_for[node] == 0]
    heapq.heapify(heap)
    order: list[int] = []
    neighbors_of: list[list[int]] = []
    gone = [False] * len(graph)
    updates = 0.0
    while heap:
        if updates > most_updates:
            most_updates, beyond = (most_updates if beyond is None else beyond()), None
            if updates > most_updates:
                break
        degree, node = heapq.heappop(heap)
        if gone[node] or degree != degree_of(graph[node]):
            continue
        gone[node] = True
        neighbors = graph[node]
        updates += degree * (degree - 1) / 2 if wide else _updates(node, neighbors, width)
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
                heapq.heappush(heap, (degree_of(graph[a]), a))
    return order, neighbors_of, updates


def _updates(node: int, neighbors: set[int], width: list[int]) -> float:
    """Return the updates by a node, one for each pair of neighbours, in updates of wide blocks."""
    n = len(neighbors)
    wide = sum([width[a] == WIDE for a in neighbors]) if width[node] == WIDE else 0
    return NARROW_UPDATE * n * (n - 1) / 2 + (1.0 - NARROW_UPDATE) * wide * (wide - 1) / 2


def closing_edges(n_bodies: int, edges: list[tuple[int, ...]], rows: EdgeRows) -> list[int]:
    """Return the narrow edges of relative positions that close loops of the other edges."""
    narrow = [e for e, n in enumerate(rows.weight) if n <= NARROW and rows.kind[e] != ABSOLUTE]
    if not narrow:
        return []
    bridges = bridges_of(n_bodies + 1, edges)
    narrow = [e for e in narrow if e not in bridges]
    may_close = set(narrow)
    pairs, _ = pairs_of([bodies for e, bodies in enumerate(edges) if e not in may_close])
    groups = Groups(range(n_bodies + 1))
    for i, j in pairs:
        groups.unite(i, j)
    closing: list[int] = []
    for e in narrow:
        ends = {groups.find(body) for body in spanned(edges[e], rows.kind[e])}
        if len(ends) == 1:
            closing.append(e)
        for end in ends:
            groups.leader[end] = min(ends)
    return closing


def spanned(bodies: tuple[int, ...], kind: int) -> set[int]:
    """Return the bodies whose relative positions an edge reads, the ground included; its padding is left out."""
    first, second, *others = bodies
    ground = {0} if kind == RELATIVE_TO_GROUND else set()
    return {first, second, *(body for body in others if body), *ground}


class _Precedence:
    """Which nodes wait for which: the number of nodes that each one waits for, and the nodes that each one releases."""

    def __init__(self, n_nodes: int) -> None:
        self.waits_for = [0] * n_nodes
        self.releases: list[list[int]] = [[] for _ in range(n_nodes)]

    def after(self, later: int, earlier: int) -> None:
        """Let a node wait for another one; the ground takes no part."""
        if later != 0 and earlier != 0:
            self.waits_for[later] += 1
            self.releases[earlier].append(later)


def _precedence(
    n_bodies: int, edges: list[tuple[int, ...]], closing: list[int], kind: Sequence[int]
) -> tuple[list[int], list[list[int]]]:
    """Return how many nodes each node waits for, and which nodes each one releases."""
    first_edge = n_bodies + 1
    p = _Precedence(first_edge + len(edges))
    closes = set(closing)
    others = [e for e in range(len(edges)) if e not in closes]
    left = [edges[e] for e in others]
    child_of = {others[k]: child for k, child in bridges_of(n_bodies + 1, left).items()}
    pairs, number = pairs_of(left)
    group = loop_groups(n_bodies + 1, pairs, {pair for pair, k in enumerate(number) if others[k] in child_of})
    loop_edges: dict[int, list[int]] = {}
    for e in others:
        if e not in child_of:
            for body in edges[e]:
                p.after(first_edge + e, body)
            loop_edges.setdefault(group[edges[e][0]], []).append(first_edge + e)
    for e, child in child_of.items():
        parent = sum(edges[e]) - child
        p.after(first_edge + e, child)
        for inside in loop_edges.get(group[child], []):
            p.after(first_edge + e, inside)
        p.after(parent, first_edge + e)
    if closing:
        above = {group[child]: (e, sum(edges[e]) - child) for e, child in child_of.items()}
        paths = _Paths(group, above)
        for e in closing:
            for node in paths.nodes_before(spanned(edges[e], kind[e]), first_edge):
                p.after(first_edge + e, node)
    return p.waits_for, p.releases


class _Paths:
    """The tree of groups of bodies in loops, connected by bridges.

    group: number of the group of each body;  above: for each group that hangs on another one, its bridge and the body that it hangs on
    """

    def __init__(self, group: list[int], above: dict[int, tuple[int, int]]) -> None:
        self.group, self.above = group, above
        self._depth: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        for body, g in enumerate(group):
            self._members.setdefault(g, []).append(body)

    def depth(self, group: int) -> int:
        """Return the number of bridges above a group."""
        path = []
        while group in self.above and group not in self._depth:
            path.append(group)
            group = self.group[self.above[group][1]]
        depth = self._depth.setdefault(group, 0)
        for g in reversed(path):
            depth += 1
            self._depth[g] = depth
        return self._depth[path[0]] if path else depth

    def nodes_before(self, bodies: set[int], first_edge: int) -> set[int]:
        """Return what an edge that closes loops waits for: the highest bridges on the paths from its bodies to where they meet.

        Each of them waits for everything below it.  If the paths meet in a loop, at several bodies, all bodies of the loop are added.
        """
        at: dict[int, set[int]] = {}  # group: the bodies of the group where the paths arrive
        came_by: dict[int, set[int]] = {}  # group: the bridges by which they arrive
        heap: list[tuple[int, int]] = []

        def arrive(body: int, bridge: int | None) -> None:
            g = self.group[body]
            if g not in at:
                at[g], came_by[g] = set(), set()
                heapq.heappush(heap, (-self.depth(g), g))
            at[g].add(body)
            if bridge is not None:
                came_by[g].add(first_edge + bridge)

        for body in bodies:
            arrive(body, None)
        while len(heap) > 1:
            _, g = heapq.heappop(heap)
            bridge, parent = self.above[g]
            arrive(parent, bridge)
        g = heap[0][1]
        return came_by[g] | (set(self._members[g]) if len(at[g]) > 1 else set())


def _as_arrays(
    n_bodies: int,
    edges: list[tuple[int, ...]],
    coupled: list[tuple[int, int]],
    order: list[int],
    neighbors_of: list[list[int]],
    width: list[int],
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
    n_own, fill_lines = len(block_of), list[int]()
    neighbors: list[tuple[int, int, int]] = []
    fill_updates: list[tuple[int, int, int, int, int]] = []
    neighbor_starts, update_starts = [0], [0]
    for node, others in zip(order, neighbors_of, strict=True):
        others.sort(key=step_of.__getitem__)
        neighbors += [(a, block_of[node, a], width[a]) for a in others]
        for k, a in enumerate(others):
            for b in others[k + 1 :]:
                target = block_of.setdefault((a, b), len(block_of))
                if target == n_own + len(fill_lines):
                    fill_lines.append(min(width[a], width[b]) if WIDE in (width[a], width[b]) else width[a])
                fill_updates.append((block_of[node, a], block_of[node, b], target, width[a], width[b]))
        neighbor_starts.append(len(neighbors))
        update_starts.append(len(fill_updates))
    return Schedule(
        order=np.array([(node, width[node]) for node in order], dtype=np.int64).reshape(-1, 2),
        neighbor_starts=np.array(neighbor_starts, dtype=np.int64),
        neighbors=np.array(neighbors, dtype=np.int64).reshape(-1, 3),
        update_starts=np.array(update_starts, dtype=np.int64),
        fill_updates=np.array(fill_updates, dtype=np.int64).reshape(-1, 5),
        n_blocks=len(block_of),
        body_block=body_block,
        body_first=body_first,
        coupled_block=coupled_block.reshape(-1, 2),
        width=np.array(width[n_bodies + 1 :], dtype=np.int64),
        fill_lines=np.array(fill_lines, dtype=np.int64),
        updates=0.0,
    )
