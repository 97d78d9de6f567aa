r"""Faults of links and of the tables of a chain; all are reported at once.

s^T I s > 0        for every freedom of the last link that moves: no link beyond adds inertia
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.validation import FloatArray, numbers
from haugmbd.errors import Fault, UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.serial_chain.chain_arrays import BALL, TURN
from haugmbd.serial_chain.link import Link

NO_INERTIA = 1e-14
"""A turn of the last link with s^T I s below this part of the link's inertia (m |c|^2 + J) is massless up to rounding."""

ROWS = (((),), ((), (3,)), ((), (3,)), ((3,), (3, 3)), ((3,),))
"""Shapes of a row of the tables m, c, L, I, z."""


def read_table(name: str, value: Any, shapes: tuple[tuple[int, ...], ...]) -> FloatArray:
    """Return one table of a chain, with rows of one of `shapes`. Raise UsageError for another shape."""
    array = numbers(value)
    if array is None:
        raise UsageError(f"the table {name} is {repr(value):.60}, not an array of numbers. Give one row for each link.")
    if array.ndim == 0 or array.shape[1:] not in shapes:
        wanted = " or ".join(f"({', '.join(['n', *map(str, shape)])}{',' if not shape else ''})" for shape in shapes)
        raise UsageError(f"the table {name} has shape {array.shape}, expected {wanted}: one row for each link.")
    return array


def faults_in_a_row(where: str, links: Sequence[Link]) -> list[Fault]:
    """Return all faults of the links, of each one and of the chain."""
    wrong = [link for link in links if not isinstance(link, Link)]
    if wrong or not links:
        what = f"{wrong[0]!r} is not a Link" if wrong else "it has no links"
        return [Fault(where, what, "Give a list of Link.revolute(...), Link.prismatic(...), ...")]
    faults = [fault for link in links for fault in link.faults()]
    names = [link.name for link in links]
    faults += [
        Fault(where, f"two links are called {n!r}", "Give each its own name.")
        for n in sorted({n for n in names if names.count(n) > 1})
    ]
    for k, link in enumerate(links[1:], start=2):
        if link.kind == "free":
            faults.append(
                Fault(f"link {link.name!r}", f"it is free, and is link number {k} of the chain", "Only the first link can be free.")
            )
    return faults or _massless(links)


def _massless(links: Sequence[Link]) -> list[Fault]:
    """Return a fault for each freedom of the last moving link without inertia; links after it are fixed to it."""
    last = max((k for k, link in enumerate(links) if link.ways), default=-1)
    if last < 0 or any(link.mass for link in links[last + 1 :]) or any(link.J_bar.any() for link in links[last + 1 :]):
        return []
    link = links[last]
    size = link.mass * (link.c @ link.c) + np.trace(link.J_bar)
    faults = []
    for (kind, z), label in zip(link.ways, link.labels(), strict=True):
        arm = cross(z, link.c)
        turns = kind in (TURN, BALL)
        inertia = link.mass * (arm @ arm) + z @ link.J_bar @ z if turns else link.mass
        if not inertia > (NO_INERTIA * size if turns else 0.0):
            what = f"the last link has no inertia along its freedom ({label}): s^T I s = {inertia:.3g}"
            faults.append(
                Fault(f"link {link.name!r}", what, "Its acceleration would be infinite: give it mass, or moment of inertia.")
            )
    return faults
