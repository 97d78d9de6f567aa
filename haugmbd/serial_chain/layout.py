"""The tables of a chain for compiled code: links and freedoms in rows, and the workspace of the recursions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.bodies.validation import FloatArray, frozen
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.serial_chain.link import Link
from haugmbd.workspace.layout import Tables


def chain_tables(links: Sequence[Link], gravity: FloatArray, base: FloatArray) -> Tables:
    """Return the tables of a chain for compiled code."""
    nv, n = sum(link.nv for link in links), len(links)
    rows, freedoms, axes, reals = [], [], [], []
    first = coordinate = 0
    offset = np.zeros(3)
    for k, link in enumerate(links):
        rows.append((first, link.nv, coordinate))
        freedoms += [(kind, k) for kind, _ in link.ways]
        axes += [axis for _, axis in link.ways]
        reals.append(np.concatenate([offset, rotation_matrix(link.p).ravel(), link.c, [link.mass], link.J_bar.ravel()]))
        first, coordinate, offset = first + link.nv, coordinate + link.nq, link.L
    ints = {
        "LINKS": np.array(rows, dtype=np.int64).reshape(n, 3),
        "FREEDOMS": np.array(freedoms, dtype=np.int64).reshape(nv, 2),
    }
    constants = {
        "GRAVITY": frozen(gravity)[None],
        "LINK_REALS": np.array(reals).reshape(n, 25),
        "FREEDOM_AXES": np.array(axes, dtype=np.float64).reshape(nv, 3),
        "BASE": frozen(base)[None],
    }
    widths = {"LINK_A": 9, "LINK_PLACE": 9, "LINK_RATE": 12, "LINK_WRENCH": 6, "LINK_J": 6, "LINK_MOTION": 6}
    work = {
        "STATUS": (1, 4),
        "SUCCEEDED": (1, 1),
        **{name: (n, width) for name, width in widths.items()},
        "FREEDOM_TERMS": (nv, 11),
    }
    work |= {"TAU_IS_A_FUNCTION": (1, 1), "QDD": (1, nv), "TAU": (1, nv), "EXTERNAL_WRENCHES": (n, 6)}
    return Tables(ints, constants, work)
