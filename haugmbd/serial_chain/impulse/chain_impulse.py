r"""chain_impulse: the response of a serial chain to applied impulses.

    M dq_dot = tau + sum  J_S^T F + J_R^T N            F, N on the links at their centres of mass
    l_i      = I_i dv_i + l_(i+1) - (impulse on i)     through joint i on link i;  s^T l_i = tau

The recursion of `impulse_response` costs O(n) and needs no mass matrix. For a contact with unknown impulse see `articulated_impulse`.
Source: Mirtich 1996, ch. 4 (impulses on articulated bodies).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.error_messages import need_chain, not_finite_error
from haugmbd.serial_chain.impulse.impulse_response import KEPT, Response, run_impulse, strike_record
from haugmbd.serial_chain.recursions.aba import FINE


class Struck(NamedTuple):
    """The response to impulses.

    Attributes
    ----------
    dqd : ndarray, (nv,)
        Change of the joint rates.
    l : ndarray, (n, 6)
        Impulse [N s] and its moment [N m s] through joint i on link i, about its handle, global.
    """

    dqd: Array
    l: Array


@check_keywords
def chain_impulse(chain: BaseChain, q: npt.ArrayLike, wrenches: Any = None, tau: npt.ArrayLike | None = None) -> Struck:
    """Return the response of a serial chain to applied impulses.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    wrenches : array_like, (n, 6), optional
        Impulse [N s] and its moment [N m s] on each link at its centre of mass, global.
    tau : array_like, (nv,), optional
        Joint impulses.

    Returns
    -------
    Struck
        dqd (nv,), and l (n, 6): constraint and joint impulses together, s^T l = tau.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.
    SimulationError
        If a freedom has no inertia; the message names it.

    Notes
    -----
    Source: Mirtich 1996, ch. 4.
    """
    need_chain(chain, "chain_impulse")
    q, tau, external = chain.read("q", q, chain.nq), chain.read("tau", tau, chain.nv), chain.read_wrenches(wrenches)
    work, kept, response = chain.workspace(), np.empty((chain.n, KEPT)), Response(np.empty(chain.nv), *np.empty((2, chain.n, 6)))
    tables = (chain.tables.ints, chain.tables.reals, work)
    weak = run_impulse(tables, kept, (q, tau), (tau, external), strike_record(), response)
    chain.give_back(work)
    if weak != FINE or not np.isfinite(response.dqd.sum()):
        raise not_finite_error(chain, weak, q, tau, external)
    return Struck(response.dqd, response.l)
