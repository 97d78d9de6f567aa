r"""The graph of bodies and joints: its blocks (biconnected components), its bridges, spanning trees and loops.

    vertices = bodies;  edges = pairs of bodies with rows;  block = biconnected component: a bridge, or loops that share edges

The motions that a block allows its bodies relative to its base (the body that connects it to the ground) do not depend on the other
blocks. A body that hangs on another moves with it. Degrees of freedom therefore add up over blocks, and the motion of one block is
described by its own bodies.
Source: Hopcroft and Tarjan (1973), Algorithm 447, without recursion: O(bodies + pairs). In a forest each body is a block with the body
before it, and a breadth-first search finds that of all bodies at once.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Member = TypeVar("Member", bound=Hashable)

MANY = 500
"""Number of pairs from which SciPy is asked whether they form a forest: its import costs more than the search of fewer."""


class Block(NamedTuple):
    """One block.

    Attributes
    ----------
    base : int
        The body nearest to the ground.
    bodies : tuple of int
        The other bodies, ascending.
    floats : bool
        Whether the block is an unattached body, free relative to the ground.
    """

    base: int
    bodies: tuple[int, ...]
    floats: bool = False


@dataclass(frozen=True)
class Blocks:
    """All blocks of a model.

    Attributes
    ----------
    blocks : tuple of Block
        In the order of their first bodies.
    of_body : ndarray of int, (nb + 1,)
        Number of the block that each body belongs to, -1 for the ground.
    order : sequence of int
        The bodies, each after its parent.
    """

    blocks: tuple[Block, ...]
    of_body: Ints
    order: Sequence[int]

    def of_pairs(self, a: Ints, b: Ints) -> Ints:
        """Return the blocks of the rows between bodies a and b (k,), -1 where there is none."""
        base = np.array([-1 if block.floats else block.base for block in self.blocks] + [-1])  # the last one for the ground
        numbers = np.full(len(a), -1)
        for body, other in ((b, a), (a, b)):
            block = self.of_body[body]
            within = (base[block] >= 0) & ((self.of_body[other] == block) | (base[block] == other))
            numbers[within] = block[within]
        return numbers

    def hanging(self) -> list[int]:
        """Return the number of bodies that hang on each body through blocks other than its own, (nb + 1,)."""
        count, of_body = [0] * len(self.of_body), self.of_body.tolist()
        for body in reversed(self.order):
            base = self.blocks[of_body[body]].base
            count[base] += count[body] + 1
        return count


def find_blocks(n_bodies: int, pairs: Ints) -> Blocks:
    """Return the blocks of `n_bodies` bodies, the ground (0) included.  pairs: (k, 2), each once"""
    blocks = _blocks_of_forest(n_bodies, pairs) if MANY <= len(pairs) < n_bodies else None
    return blocks or _blocks_by_search(n_bodies, pairs)


def _blocks_of_forest(n_bodies: int, pairs: Ints) -> Blocks | None:
    """Return the blocks of a forest: each body hangs on the one before it, a part without the ground on its first body; None of loops."""
    from scipy.sparse import csr_array  # noqa: PLC0415  imported only for large models
    from scipy.sparse.csgraph import breadth_first_order, connected_components  # noqa: PLC0415

    def graph(edges: Ints) -> csr_array:
        return csr_array((np.ones(len(edges)), edges.T), shape=(n_bodies, n_bodies))

    parts, part = connected_components(graph(pairs), directed=False)
    if len(pairs) + parts != n_bodies:
        return None
    _, first = np.unique(part, return_index=True)
    roots = first[first > 0]
    held = np.concatenate([pairs, np.stack([np.zeros_like(roots), roots], axis=1)])
    order, before = breadth_first_order(graph(held), 0, directed=False)
    floats = np.zeros(n_bodies, dtype=bool)
    floats[roots] = True
    one_body = zip(range(1, n_bodies))  # noqa: B905  tuples of one number
    blocks = tuple(map(Block, before[1:].tolist(), one_body, floats[1:].tolist()))
    return Blocks(blocks, np.arange(-1, n_bodies - 1), order[1:].tolist())


def _blocks_by_search(n_bodies: int, pairs: Ints) -> Blocks:
    """Return the blocks of any graph."""
    near: list[list[int]] = [[] for _ in range(n_bodies)]
    for a, b in pairs.tolist():
        near[a].append(b)
        near[b].append(a)
    blocks: list[Block] = []
    seen: dict[int, int] = {}
    order: list[int] = []
    for root in range(n_bodies):
        if root not in seen:
            if root:
                blocks.append(Block(0, (root,), floats=True))
            _search(near, root, seen, order, blocks)
    blocks.sort(key=lambda block: block.bodies)
    of_body = np.full(n_bodies, -1)
    for k, block in enumerate(blocks):
        of_body[list(block.bodies)] = k
    return Blocks(tuple(blocks), of_body, order[1:])


def _search(near: list[list[int]], root: int, seen: dict[int, int], order: list[int], blocks: list[Block]) -> None:
    """Search depth first from `root`: number the bodies in `seen` and `order`, and append the blocks."""
    seen[root] = len(seen)
    order.append(root)
    low, waiting, position = {root: seen[root]}, [root], {root: 0}
    path = [(root, iter(near[root]))]
    while path:
        body, rest = path[-1]
        other = next(rest, None)
        if other is None:
            path.pop()
            if path:
                before = path[-1][0]
                low[before] = min(low[before], low[body])
                if low[body] >= seen[before]:
                    blocks.append(Block(before, tuple(sorted(waiting[position[body] :]))))
                    del waiting[position[body] :]
        elif other in seen:
            low[body] = min(low[body], seen[other])
        else:
            seen[other] = low[other] = len(seen)
            order.append(other)
            position[other] = len(waiting)
            waiting.append(other)
            path.append((other, iter(near[other])))


def bridges(n_bodies: int, edges: list[tuple[int, int]]) -> dict[int, int]:
    """Return the edges whose removal separates the graph, each with its body on the far side (seen from the ground).

    The ground (0) counts as one of the `n_bodies` bodies.  Two edges between the same bodies are not bridges.
    Source: Tarjan, a note on finding the bridges of a graph, Information Processing Letters 2 (1974) 160-161.
    """
    at: list[list[tuple[int, int]]] = [[] for _ in range(n_bodies)]
    for e, (i, j) in enumerate(edges):
        at[i].append((j, e))
        at[j].append((i, e))
    seen = [-1] * (n_bodies)
    low = [0] * (n_bodies)
    far_side: dict[int, int] = {}
    clock = 0
    for root in range(n_bodies):
        if seen[root] >= 0:
            continue
        seen[root] = low[root] = clock
        clock += 1
        path = [(root, -1, iter(at[root]))]
        while path:
            body, came_by, ahead = path[-1]
            for other, e in ahead:
                if e == came_by:
                    continue
                if seen[other] < 0:
                    seen[other] = low[other] = clock
                    clock += 1
                    path.append((other, e, iter(at[other])))
                    break
                low[body] = min(low[body], seen[other])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[body])
                    if low[body] > seen[before]:
                        far_side[came_by] = body
    return far_side


def bridges_of(n_bodies: int, edges: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """Return the bridges as `bridges` does, for edges of two or more bodies.

    An edge of more than two bodies, as that of a coupling of several joints, counts as a ring of pairs, and is not a bridge.
    """
    pairs, number = pairs_of(edges)
    far_side = bridges(n_bodies, pairs)
    return {number[pair]: body for pair, body in far_side.items()}


def pairs_of(edges: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return edges of two or more bodies as pairs, rings of pairs for three or more bodies, and the number of the edge of each pair.

    The ground in third and later places is padding of shorter edges, and is left out.
    """
    pairs: list[tuple[int, int]] = []
    number: list[int] = []
    for e, (i, j, *others) in enumerate(edges):
        ring = [i, j, *(body for body in others if body)]
        ends = zip(ring, [*ring[1:], i], strict=True) if len(ring) > 2 else [(i, j)]  # noqa: PLR2004
        for pair in ends:
            pairs.append(pair)
            number.append(e)
    return pairs, number


def colors_of(n: int, groups: Iterable[Collection[int]]) -> Ints:
    """Return a color of each of n vertices, 0, 1, ..., so that no two vertices of a group have the same.

    Each vertex gets the first color that is left. Columns of a Jacobian that share no row are found so,
    and their differences are taken at once.
    Source: Curtis, Powell and Reid (1974), On the estimation of sparse Jacobian matrices.
    """
    of_vertex: list[list[int]] = [[] for _ in range(n)]
    taken: list[set[int]] = []
    for k, group in enumerate(groups):
        taken.append(set())
        for vertex in group:
            of_vertex[vertex].append(k)
    colors = np.zeros(n, dtype=np.int64)
    for vertex, groups_of_vertex in enumerate(of_vertex):
        forbidden = set[int]().union(*(taken[k] for k in groups_of_vertex))
        color = next(c for c in count() if c not in forbidden)
        colors[vertex] = color
        for k in groups_of_vertex:
            taken[k].add(color)
    return colors


class Groups(Generic[Member]):
    """Disjoint sets of members (union-find)."""

    def __init__(self, members: Iterable[Member]) -> None:
        self.leader = {member: member for member in members}

    def find(self, member: Member) -> Member:
        """Return the leader of the set of a member; the path to it is halved."""
        leader = self.leader
        while leader[member] != member:
            leader[member] = leader[leader[member]]
            member = leader[member]
        return member

    def unite(self, i: Member, j: Member) -> None:
        """Unite the sets of i and j; the leader of j leads both."""
        self.leader[self.find(i)] = self.find(j)


def loop_groups(n_bodies: int, edges: list[tuple[int, int]], without: Collection[int]) -> list[int]:
    """Return a number for each body that it shares with the bodies of its loops, which the edges that are not bridges unite.

    without: the numbers of the bridges.
    """
    groups = Groups(range(n_bodies))
    for e, (i, j) in enumerate(edges):
        if e not in without:
            groups.unite(i, j)
    return [groups.find(body) for body in range(n_bodies)]


def spanning_tree(root: int, edges: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int, int]]:
    """Return (depth, body before, edge to it) of each body that edges connect to `root`, nearest first; (0, root, -1) of the root."""
    at: dict[int, list[int]] = {}
    for e, pair in enumerate(edges):
        for body in pair:
            at.setdefault(body, []).append(e)
    tree = {root: (0, root, -1)}
    queue = [root]
    for body in queue:
        for e in at.get(body, ()):
            other = sum(edges[e]) - body
            if other not in tree:
                tree[other] = (tree[body][0] + 1, body, e)
                queue.append(other)
    return tree


def fundamental_cycles(root: int, edges: Sequence[tuple[int, int]], longest: int) -> Iterator[list[int]]:
    """Yield the cycles of at most `longest` edges that edges outside of the spanning tree close: edge numbers in order around them."""
    tree = spanning_tree(root, edges)
    in_tree = {e for _, _, e in tree.values()}
    for e, (i, j) in enumerate(edges):
        if e not in in_tree and i in tree and j in tree:
            cycle = _around(tree, e, i, j, longest)
            if len(cycle) <= longest:
                yield cycle


def _around(tree: dict[int, tuple[int, int, int]], closing: int, start: int, other: int, longest: int) -> list[int]:
    """Return the cycle that the edge `closing` closes: up from its bodies to where the paths meet; cut beyond `longest` edges."""
    there, back = list[int](), list[int]()
    while start != other and len(there) + len(back) <= longest:
        deeper = tree[start][0] >= tree[other][0]
        _, before, e = tree[start if deeper else other]
        (there if deeper else back).append(e)
        start, other = (before, other) if deeper else (start, before)
    return [*there[::-1], closing, *back]
