r"""Coloring of bodies: which bodies may be displaced at once when forces are differenced.

    N(k) = k and all that share a force, or an edge, with it;      color a = color b   only if   N(a) and N(b) are disjoint

Every force that changes is then due to one body.  A model is differenced with six evaluations per color: three colors for a chain of any
length; as many as there are arms for bodies on a moving hub.
Source: Coleman, More, Estimation of sparse Jacobian matrices and graph coloring problems, SIAM J. Numer. Anal. 20 (1983) 187-209.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from haugmbd.compiled.array_types import Ints

GROUND = 0


def color_bodies(n: int, bodies: Iterable[int], groups: Iterable[Sequence[int]]) -> Ints:
    """Return colors 1, 2, ... (n,) of `bodies`, 0 for all others.  Bodies of one of the `groups` are neighbours; the ground is excluded."""
    near: list[set[int]] = [{k} for k in range(n)]
    for group in groups:
        moving = set(group) - {GROUND}
        for k in moving:
            near[k] |= moving
    found = np.zeros(n, dtype=np.int64)
    taken: list[set[int]] = [set() for _ in range(n)]
    for k in bodies:
        used = set().union(*(taken[m] for m in near[k]))
        colour = next(c for c in range(1, len(used) + 2) if c not in used)
        found[k] = colour
        for m in near[k]:
            taken[m].add(colour)
    return found
