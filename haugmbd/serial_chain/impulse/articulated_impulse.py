r"""articulated_impulse: a link of a serial chain hits a fixed object.

    v_imp    = n^T v_k                              speed of link k's point along n, before                        (20)
    v_bounce = n^T (v_k + dv_k) = -e v_imp          the law of contact                                             (21), (22)
    J        = (1 + e) (n^T A_k^-1 n)^-1 v_imp      link k gets -n J, for J > 0                                    (22)
    l_i      = I_i dv_i + l_(i+1)                   reaction impulse through joint i on link i                     (12)
    dv_k     = -A_k^-1 n J,    dv_i = dv_(i-1) + s_i dq_dot_i                                                      (19), (28)

n = (normal; point x normal) as in (30): wrenches and twists are taken at the world origin, linear part first.  The seed strikes the last
link, k = N.  Here k is any link, and the links beyond it are dragged along: A_k^-1 is computed with their articulated inertia added
to I_k, and l_i for i > k is what drags them.  Free bases and joints of several freedoms are no special case.
The recursion is `impulse_response`; the matrices A_i^-1 and Phi_i are computed when they are asked for, in `constrained_inertia`.
Source: seed 000 sec. 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.frame import unit
from haugmbd.bodies.validation import numbers, read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import Fault, SimulationError, UsageError
from haugmbd.serial_chain.base import NONE, BaseChain
from haugmbd.serial_chain.error_messages import need_chain, no_answer
from haugmbd.serial_chain.impulse.constrained_inertia import inverse_inertias, propagations
from haugmbd.serial_chain.impulse.impulse_response import KEPT, Response, impulse_entry, strike_record
from haugmbd.serial_chain.recursions.aba import FINE

IMMOVABLE_TOL = 1e-12
"""A contact is immovable where the unit impulse pushes every freedom with less than this: a slide against 1, a turn against its lever
and the point's distance from the world origin.  Rounding makes 1e-16 times some dozen; a real push of 1e-12 would need J of 1e24."""


@public_class
@dataclass(frozen=True, eq=False)
class ArticulatedImpulse:
    """An impact of link number `link`, 0 ... n - 1; l, dv and the matrices at the world origin, linear part first.

    J: [N s], >= 0;  v_imp, v_bounce: speed along the normal before and after [m/s];  compliance: n^T A^-1 n [1/kg]
    normal_wrench: (6,) n = (normal; point x normal), the normal of length 1
    l: (n, 6) reaction impulse through joint i on link i [N s, N m s];  dv: (n, 6) change of the twist of link i [m/s, rad/s]
    dqd: (nv,) change of the joint rates;  qd: (nv,) the joint rates after;  message: what happened, in words
    """

    link: int
    J: float
    v_imp: float
    v_bounce: float
    compliance: float
    normal_wrench: Array
    l: Array
    dqd: Array
    qd: Array
    dv: Array
    message: str
    chain: BaseChain = field(repr=False)
    q: Array = field(repr=False)

    @cached_property
    def inverse_inertia(self) -> Array:
        """A_i^-1 (n, 6, 6) of the chain that ends at link i, the struck link with what hangs on it: (15)-(18).

        Raises SimulationError where a link on the way has no inertia of its own along a freedom.
        """
        return inverse_inertias(self.chain, self.q, self.link)

    @cached_property
    def propagation(self) -> Array:
        """Phi_i (n, 6, 6), l_i = Phi_i n J: (25), (26).  Raises as `inverse_inertia`."""
        return propagations(self.chain, self.q, self.link, self.inverse_inertia)


@check_keywords
def articulated_impulse(
    chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, *,
    link: str | int = -1, normal: Any = None, plane_normal: Any = None, point: Any = None, point_bar: Any = None, restitution: float = 0.0,
) -> ArticulatedImpulse:  # fmt: skip
    """What happens when `link` of `chain`, at q (nq,) and qd (nv,), hits a fixed object.

    link: name or number, the last one by default
    point: where, global [m], (3,); or point_bar: the same in the link frame, from the link's handle
    plane_normal: of the object, towards the side where the link may be, global, (3,), any length, as the `normal` of a `Contact`;
        or normal: the other way, from the link towards the object, as in the source: the point approaches with v_imp = n^T v > 0, and
        gets -n J; plane_normal = -normal, and what is returned has n = normal either way
    restitution: e, v_bounce = -e v_imp, 0 <= e <= 1
    A point that does not approach gets no impulse; `.message` says so.
    Raises UsageError for bad arguments; SimulationError where the contact is immovable (no joint gives way along the normal), or
    where a freedom has no inertia.
    """
    need_chain(chain, "articulated_impulse")
    q, qd, k = chain.read("q", q, chain.nq), chain.read("qd", qd, chain.nv), chain.link(link)
    if (normal is None) == (plane_normal is None):
        given = "neither is given" if normal is None else "both are given"
        raise UsageError(
            f"impact of link {chain.links[k].name!r}: {given}. Give plane_normal=, of the object, towards the link, as a Contact has it; "
            "or normal=, from the link towards the object."
        )
    if plane_normal is not None and (numbers_given := numbers(plane_normal)) is not None:
        normal = -numbers_given
    elif plane_normal is not None:
        normal = plane_normal  # refused as every wrong normal
    strike = _read(f"impact of link {chain.links[k].name!r}", k, normal, point, point_bar, restitution)
    work, kept, response = chain.workspace(), np.empty((chain.n, KEPT)), Response(np.empty(chain.nv), *np.empty((2, chain.n, 6)))
    tables = (chain.tables.ints, chain.tables.reals, work)
    weak = impulse_entry(tables, kept, (q, qd), (np.zeros(chain.nv), NONE), strike, response)
    chain.give_back(work)
    if weak != FINE or not np.isfinite(strike["v_imp"]):
        raise no_answer(chain, weak, q, qd)
    if not strike["yields"] > IMMOVABLE_TOL:
        raise _immovable(chain, k, strike)
    v_imp, v_bounce, compliance, J = (float(strike[name]) for name in ("v_imp", "v_bounce", "compliance", "impulse"))
    message, n = _message(chain.links[k].name, v_imp, v_bounce, J), np.concatenate([strike["normal"], strike["moment"]])
    dqd, l, dv = response
    return ArticulatedImpulse(k, J, v_imp, v_bounce, compliance, n, l, dqd, qd + dqd, dv, message, chain, q.copy())


def _read(where: str, k: int, normal: Any, point: Any, point_bar: Any, restitution: Any) -> Any:
    """Return the contact of link k as compiled code reads it."""
    faults: list[Fault] = []
    if (point is None) == (point_bar is None):
        given = "neither point nor point_bar is given" if point is None else "both point and point_bar are given"
        raise UsageError(f"{where}: {given}. Give point=, global, or point_bar=, in the link frame from its handle [m].")
    remedy = "Give the direction from the link towards the object: three numbers, not all zero; the length does not matter."
    n = read_array(faults, where, "normal", normal, (3,), remedy=remedy)
    if not n.any():
        faults.append(Fault(where, "normal is (0, 0, 0)", remedy))
    label, value = ("point_bar", point_bar) if point is None else ("point", point)
    place = read_array(faults, where, label, value, (3,), unit="m")
    restitution = read_number(faults, where, "restitution", restitution)
    if restitution < 0.0 or restitution > 1.0:
        what = f"restitution is {restitution:g}, must be between 0 and 1"
        faults.append(Fault(where, what, "Give 0 for no bounce, 1 for no loss."))
    if faults:
        raise UsageError(" ".join(map(str, faults)))
    strike = strike_record(k)
    strike["in_link_frame"] = point is None
    strike["normal"], strike["point"], strike["restitution"] = unit(n), place, restitution
    return strike


def _immovable(chain: BaseChain, k: int, strike: Any) -> SimulationError:
    """Return the error for a contact along which no joint can give way."""
    n, at = (", ".join(f"{x:.6g}" for x in strike[name]) for name in ("normal", "point"))
    return SimulationError(
        f"chain {chain.name!r}: the contact of link {chain.links[k].name!r} at ({at}) m along ({n}) is immovable: no joint can give way "
        f"along the normal (n^T A^-1 n = {strike['compliance']:.3g} 1/kg), and the impulse cannot be told. "
        "Choose a point and a normal along which the link can move, or leave the contact out: nothing moves there."
    )


def _message(name: str, v_imp: float, v_bounce: float, J: float) -> str:
    """What happened, in words."""
    if J > 0.0:
        return f"link {name!r} hits with {v_imp:.6g} m/s and leaves with {-v_bounce:.6g} m/s: J = {J:.6g} N s."
    way = f"separates with {-v_imp:.6g} m/s" if v_imp < 0.0 else "does not approach (v_imp = 0)"
    return f"link {name!r} {way}: no impulse, the motion is unchanged."
