r"""crba: the mass matrix by the composite-rigid-body algorithm.

    inward     I^c_i = I_i + I^c_(i+1) shifted from handle i+1 to handle i               links i ... n as one rigid body
               F = I^c_i s_k,   M_kk = s_k^T F,   M_jk = M_kj = s_j^T F for every freedom j before k,  F shifted inward on the way

A composite body is rigid: mass, first moment h = sum m c and inertia J about the handle are ten numbers.  Cost: O(nv depth).
Source: Walker, Orin (1982); Featherstone 2008, table 6.2.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry
from haugmbd.deprecated import check_keywords
from haugmbd.math.articulated_inertia import Wrench, shift_wrench, times_symmetric
from haugmbd.math.vec3 import add, cross, dot, scale
from haugmbd.serial_chain.base import BaseChain, need_chain, not_finite_error
from haugmbd.serial_chain.chain_arrays import axis, center, chain_arrays, end_freedom, first_freedom, mass, slides, step
from haugmbd.serial_chain.kinematics import place
from haugmbd.serial_chain.recursions.aba import FINE
from haugmbd.serial_chain.recursions.link_inertia import add_link_rotation, along_axis, place_inertia


@entry
def crba_entry(ints: Ints, reals: Array, work: Array, q: Array, M: Array) -> bool:
    """Compute the mass matrix M (nv, nv), and return whether its diagonal is finite."""
    c = chain_arrays(ints, reals, work)
    place(c, q)
    place_inertia(c)
    total, trace, h, J = 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(c.links.shape[0] - 1, -1, -1):
        total, h, J = total + mass(c, i), add(h, scale(mass(c, i), center(c, i))), add_link_rotation(J, c, i)
        for k in range(end_freedom(c, i) - 1, first_freedom(c, i) - 1, -1):
            z = axis(c, k)
            if slides(c, k):
                F = Wrench(scale(total, z), cross(h, z))
            else:
                F = Wrench(cross(z, h), times_symmetric(J, z))
            before = i
            for j in range(k, -1, -1):
                while c.freedoms[j, 1] < before:
                    F = shift_wrench(F, step(c, before))
                    before -= 1
                M[k, j] = M[j, k] = along_axis(F, c, j)
            trace += M[k, k]
        d = step(c, i)  # J about the handle before:  J - h~ d~ - d~ h~ - m d~ d~
        hd: float = dot(h, d)
        md = total * dot(d, d)
        x, y, w = d
        J = (
            J[0] + 2.0 * (hd - h[0] * x) + md - total * x * x,
            J[1] - h[0] * y - h[1] * x - total * x * y,
            J[2] - h[0] * w - h[2] * x - total * x * w,
            J[3] + 2.0 * (hd - h[1] * y) + md - total * y * y,
            J[4] - h[1] * w - h[2] * y - total * y * w,
            J[5] + 2.0 * (hd - h[2] * w) + md - total * w * w,
        )
        h = add(h, scale(total, d))
    return isfinite(trace)


run_crba = DirectCall(crba_entry)


@check_keywords
def crba(chain: BaseChain, q: npt.ArrayLike) -> Array:
    """Return the mass matrix of a serial chain by the composite-rigid-body algorithm.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.

    Returns
    -------
    ndarray, (nv, nv)
        Symmetric mass matrix M; qd^T M qd / 2 is the kinetic energy.

    Raises
    ------
    UsageError
        If q has the wrong length, or is not finite.

    Notes
    -----
    Source: Walker, Orin (1982); Featherstone 2008, table 6.2.
    """
    need_chain(chain, "crba")
    nv = chain.nv
    q, work, M = chain.read("q", q, chain.nq), chain.workspace(), np.empty((nv, nv))
    fine = run_crba(chain.tables.ints, chain.tables.reals, work, q, M)
    chain.give_back(work)
    if not fine:
        raise not_finite_error(chain, FINE, q)
    return M
