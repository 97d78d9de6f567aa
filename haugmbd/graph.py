r"""The blocks of the graph of bodies and joints: the largest parts that do not fall apart where one body is held.

    bodies = vertices, pairs of bodies with rows = edges        block = biconnected component: a bridge, or loops that hang together

What a block allows its bodies against its base (the body through which it hangs on the ground) does not depend on the other blocks;
what hangs on a body moves with it.  So degrees of freedom add up over blocks, and a motion needs to name the bodies of one block only.
Source: Hopcroft and Tarjan (1973), Algorithm 447, without recursion: O(bodies + pairs).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """base: the body nearest to the ground;  bodies: the others, ascending;  floats: an unattached body, free against the ground."""

    base: int
    bodies: tuple[int, ...]
    floats: bool = False


@dataclass(frozen=True)
class Blocks:
    """blocks: in the order of their first bodies;  order: the bodies, each after the body that carries it.

    of_body: (nb + 1,) the number of the block that carries each body, -1 of the ground
    """

    blocks: tuple[Block, ...]
    of_body: tuple[int, ...]
    order: tuple[int, ...]

    def of_pair(self, a: int, b: int) -> int:
        """The block that rows between two bodies belong to, -1 if there is none."""
        for body, other in ((a, b), (b, a)):
            k = self.of_body[body]
            if k >= 0 and not self.blocks[k].floats and (self.of_body[other] == k or self.blocks[k].base == other):
                return k
        return -1

    def hanging(self) -> list[int]:
        """How many bodies hang on each body through other blocks than its own, (nb + 1,)."""
        count = [0] * len(self.of_body)
        for body in reversed(self.order):
            base = self.blocks[self.of_body[body]].base
            count[base] += count[body] + 1
        return count


def find_blocks(n_bodies: int, pairs: Iterable[tuple[int, int]]) -> Blocks:
    """The blocks of `n_bodies` bodies, the ground (0) included."""
    near: list[list[int]] = [[] for _ in range(n_bodies)]
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    found: list[Block] = []
    seen: dict[int, int] = {}
    order: list[int] = []
    for root in range(n_bodies):
        if root not in seen:
            if root:
                found.append(Block(0, (root,), floats=True))
            _search(near, root, seen, order, found)
    found.sort(key=lambda block: block.bodies)
    of_body = [-1] * n_bodies
    for k, block in enumerate(found):
        for body in block.bodies:
            of_body[body] = k
    return Blocks(tuple(found), tuple(of_body), tuple(order[1:]))


def _search(near: list[list[int]], root: int, seen: dict[int, int], order: list[int], found: list[Block]) -> None:
    """Depth first from `root`: number the bodies in `seen` and `order`, and append the blocks."""
    seen[root] = len(seen)
    order.append(root)
    low, waiting, place = {root: seen[root]}, [root], {root: 0}
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
                    found.append(Block(before, tuple(sorted(waiting[place[body] :]))))
                    del waiting[place[body] :]
        elif other in seen:
            low[body] = min(low[body], seen[other])
        else:
            seen[other] = low[other] = len(seen)
            order.append(other)
            place[other] = len(waiting)
            waiting.append(other)
            path.append((other, iter(near[other])))
