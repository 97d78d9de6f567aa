r"""chain_impulse: the response of a serial chain to applied impulses.

    M dq_dot = tau + sum  J_S^T F + J_R^T N            F, N on the links at their centres of mass
    l_i      = I_i dv_i + l_(i+1) - (impulse on i)     through joint i on link i;  s^T l_i = tau

By the recursion of `impulse_response`: O(n), and no mass matrix.  A contact, with an impulse to be found: `articulated_impulse`.
Source: seed 000 (11)-(14).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.error_messages import need_chain, no_answer
from haugmbd.serial_chain.impulse.impulse_response import KEPT, Response, impulse_entry, strike_record
from haugmbd.serial_chain.recursions.aba import FINE


class Struck(NamedTuple):
    """dqd: (nv,) change of the joint rates;  l: (n, 6) impulse and its moment through joint i on link i, about its handle, global."""

    dqd: Array
    l: Array


@check_keywords
def chain_impulse(chain: BaseChain, q: npt.ArrayLike, wrenches: Any = None, tau: npt.ArrayLike | None = None) -> Struck:
    """What impulses do to `chain` at q (nq,): dqd (nv,) and l (n, 6), constraint and joint impulses together, s^T l = tau.

    wrenches: (n, 6) impulse [N s] and its moment [N m s] on each link at its centre of mass, global;  tau: (nv,) joint impulses
    Raises UsageError for wrong lengths, SimulationError where a freedom has no inertia, naming it.
    """
    need_chain(chain, "chain_impulse")
    q, tau, pushes = chain.read("q", q, chain.nq), chain.read("tau", tau, chain.nv), chain.read_wrenches(wrenches)
    work, kept, response = chain.workspace(), np.empty((chain.n, KEPT)), Response(np.empty(chain.nv), *np.empty((2, chain.n, 6)))
    tables = (chain.tables.ints, chain.tables.reals, work)
    weak = impulse_entry(tables, kept, (q, tau), (tau, pushes), strike_record(), response)
    chain.give_back(work)
    if weak != FINE or not np.isfinite(response.dqd.sum()):
        raise no_answer(chain, weak, q, tau, pushes)
    return Struck(response.dqd, response.l)
