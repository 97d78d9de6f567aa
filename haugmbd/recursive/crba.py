r"""crba: the mass matrix by the composite-rigid-body algorithm.

    inward     I^c_i = I_i + I^c_(i+1) shifted from handle i+1 to handle i               links i ... n as one rigid body
               F = I^c_i s_k,   M_kk = s_k^T F,   M_jk = M_kj = s_j^T F for every freedom j before k,  F shifted inward on the way

A composite body is rigid: mass, first moment h = sum m c and inertia J about the handle are ten numbers.  Cost: O(nv depth).
Source: Walker, Orin (1982); Featherstone ch. 6.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
import numpy.typing as npt

from haugmbd.algebra.jit import entry
from haugmbd.algebra.vec3 import Array, Ints, add, cross, dot, load, scale
from haugmbd.model import tables as at
from haugmbd.model.tables import view
from haugmbd.recursive.aba import FINE, add_rigid_j, sym
from haugmbd.recursive.chain import SerialChain
from haugmbd.recursive.inertia import place_inertia
from haugmbd.recursive.kinematics import AXIS, MASS, SLIDE, STEP, C, place
from haugmbd.recursive.trouble import need_chain, no_answer


@entry
def crba_entry(ints: Ints, reals: Array, work: Array, q: Array, M: Array) -> bool:
    """The mass matrix M (nv, nv), and whether its diagonal is finite."""
    place(ints, reals, work, q)
    place_inertia(ints, reals, work)
    links, freedoms, link = view(ints, ints, at.LINKS), view(ints, ints, at.FREEDOMS), view(reals, ints, at.LINK_REALS)
    where, G, room = view(work, ints, at.LINK_PLACE), view(work, ints, at.LINK_J), view(work, ints, at.FREEDOM_ROOM)
    mass, trace, h, J = 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(links.shape[0] - 1, -1, -1):
        m, c = link[i, MASS], load(where, i, C)
        mass, h, J = mass + m, add(h, scale(m, c)), add_rigid_j(J, G, i, m, c)
        for k in range(links[i, 0] + links[i, 1] - 1, links[i, 0] - 1, -1):
            z = load(room, k, AXIS)
            if freedoms[k, 0] == SLIDE:
                f, n = scale(mass, z), cross(h, z)
            else:
                f, n = cross(z, h), sym(J, z)
            before = i
            for j in range(k, -1, -1):
                while freedoms[j, 1] < before:
                    n = add(n, cross(load(where, before, STEP), f))
                    before -= 1
                s = load(room, j, AXIS)
                M[k, j] = M[j, k] = dot(s, f) if freedoms[j, 0] == SLIDE else dot(s, n)
            trace += M[k, k]
        d = load(where, i, STEP)  # J about the handle before:  J - h~ d~ - d~ h~ - m d~ d~
        hd: float = dot(h, d)
        md = mass * dot(d, d)
        x, y, w = d
        J = (
            J[0] + 2.0 * (hd - h[0] * x) + md - mass * x * x,
            J[1] - h[0] * y - h[1] * x - mass * x * y,
            J[2] - h[0] * w - h[2] * x - mass * x * w,
            J[3] + 2.0 * (hd - h[1] * y) + md - mass * y * y,
            J[4] - h[1] * w - h[2] * y - mass * y * w,
            J[5] + 2.0 * (hd - h[2] * w) + md - mass * w * w,
        )
        h = add(h, scale(mass, d))
    return isfinite(trace)


def crba(chain: SerialChain, q: npt.ArrayLike) -> Array:
    """The mass matrix M (nv, nv) of `chain` at q (nq,), symmetric: qd^T M qd / 2 is the kinetic energy.  UsageError: wrong length."""
    need_chain(chain, "crba")
    q, work, M = chain.read("q", q, chain.nq), chain.room(), np.empty((chain.nv, chain.nv))
    fine = crba_entry(chain.tables.ints, chain.tables.reals, work, q, M)
    chain.give_back(work)
    if not fine:
        raise no_answer(chain, FINE, q)
    return M
