r"""articulated_impulse: the impact of a link of a serial chain on a fixed object.

    v_imp    = n^T v_k                              speed of link k's point along n, before
    v_bounce = n^T (v_k + dv_k) = -e v_imp          Newton's law of restitution
    J        = (1 + e) (n^T A_k^-1 n)^-1 v_imp      link k gets -n J, for J > 0
    l_i      = I_i dv_i + l_(i+1)                   reaction impulse through joint i on link i
    dv_k     = -A_k^-1 n J,    dv_i = dv_(i-1) + s_i dq_dot_i

n = (normal; point x normal): wrenches and twists are taken at the world origin, linear part first. Link k is any link. The links
beyond it move with it: A_k^-1 is computed with their articulated inertia added to I_k, and l_i for i > k accelerates them.
The recursion is `impulse_response`. The matrices A_i^-1 and Phi_i are computed on request, in `constrained_inertia`.
Source: Mirtich 1996, ch. 4 (impulses on articulated bodies).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.frame import unit
from haugmbd.bodies.validation import numbers, read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, public_class, warn_deprecated
from haugmbd.errors import Fault, SimulationError, UsageError
from haugmbd.serial_chain.base import NONE, BaseChain
from haugmbd.serial_chain.error_messages import need_chain, not_finite_error
from haugmbd.serial_chain.impulse.constrained_inertia import inverse_inertias, propagations
from haugmbd.serial_chain.impulse.impulse_response import KEPT, Response, run_impulse, strike_record
from haugmbd.serial_chain.recursions.aba import FINE

IMMOVABLE_TOL = 1e-12
"""A contact is immovable where the unit impulse pushes every freedom with less than this: a slide against 1, a turn against its lever
and the point's distance from the world origin.  Rounding makes 1e-16 times some dozen; a real push of 1e-12 would need J of 1e24."""


@public_class
@dataclass(frozen=True, eq=False)
class ArticulatedImpulse:
    """The impact of one link on a fixed object; l, dv and the matrices are at the world origin, linear part first.

    Attributes
    ----------
    link : int
        Number of the link, 0 ... n - 1.
    J : float
        Impulse [N s], >= 0.
    v_imp, v_bounce : float
        Speed along the normal before and after [m/s].
    compliance : float
        n^T A^-1 n [1/kg].
    normal_wrench : ndarray, (6,)
        n = (normal; point x normal), the normal of length 1.
    l : ndarray, (n, 6)
        Reaction impulse through joint i on link i [N s, N m s].
    dv : ndarray, (n, 6)
        Change of the twist of link i [m/s, rad/s].
    dqd : ndarray, (nv,)
        Change of the joint rates.
    qd : ndarray, (nv,)
        Joint rates after the impact.
    message : str
        Description of the impact.
    chain : SerialChain
        The chain.
    q : ndarray, (nq,)
        Joint coordinates.
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
        """Return A_i^-1 (n, 6, 6) of the chain that ends at link i, that of the struck link with the links beyond it.

        Raises SimulationError if a link has no inertia along a freedom.
        """
        return inverse_inertias(self.chain, self.q, self.link)

    @cached_property
    def propagation(self) -> Array:
        """Return Phi_i (n, 6, 6) in l_i = Phi_i n J. Raises as `inverse_inertia`."""
        return propagations(self.chain, self.q, self.link, self.inverse_inertia)


@check_keywords
def articulated_impulse(
    chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, *,
    link: str | int = -1, normal: Any = None, plane_normal: Any = None, point: Any = None, point_bar: Any = None, restitution: float = 0.0,
) -> ArticulatedImpulse:  # fmt: skip
    """Return the impact of a link of a serial chain on a fixed object.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates before the impact.
    link : str or int
        Name or number of the link; by default the last one.
    normal : array_like, (3,), optional
        The old name of -plane_normal, from the link towards the object; it warns.
    plane_normal : array_like, (3,), optional
        Normal of the object towards the link, global, of any length, as in `Contact`: n = -plane_normal, and the link gets -n J.
    point : array_like, (3,), optional
        Contact point, global [m].
    point_bar : array_like, (3,), optional
        Contact point in the link frame, from the link's handle [m]. Give one of the two points.
    restitution : float
        Coefficient of restitution e, 0 <= e <= 1: v_bounce = -e v_imp.

    Returns
    -------
    ArticulatedImpulse
        Impulse, jumps and reaction impulses, with n = normal. A point that does not approach gets no impulse; see `.message`.

    Raises
    ------
    UsageError
        If an argument is not valid.
    SimulationError
        If the contact is immovable (no joint moves along the normal), or a freedom has no inertia.

    Notes
    -----
    Source: Mirtich 1996, ch. 4.
    """
    need_chain(chain, "articulated_impulse")
    q, qd, k = chain.read("q", q, chain.nq), chain.read("qd", qd, chain.nv), chain.link(link)
    if (normal is None) == (plane_normal is None):
        given = "neither is given" if normal is None else "both are given"
        raise UsageError(
            f"impact of link {chain.links[k].name!r}: {given}. Give plane_normal=, of the object, towards the link, as a Contact has it."
        )
    if normal is not None:
        text = "articulated_impulse(normal=n) is plane_normal=-n since haugmbd 0.2, the sense of a Contact's normal"
        warn_deprecated(text, stacklevel=3)
        given_numbers = numbers(normal)
        plane_normal = normal if given_numbers is None else -given_numbers
    strike = _read(f"impact of link {chain.links[k].name!r}", k, plane_normal, point, point_bar, restitution)
    work, kept, response = chain.workspace(), np.empty((chain.n, KEPT)), Response(np.empty(chain.nv), *np.empty((2, chain.n, 6)))
    tables = (chain.tables.ints, chain.tables.reals, work)
    weak = run_impulse(tables, kept, (q, qd), (np.zeros(chain.nv), NONE), strike, response)
    chain.give_back(work)
    _, _, normal, moment, _, _, v_imp, v_bounce, compliance, J, yields = strike.item()
    if weak != FINE or not isfinite(v_imp):
        raise not_finite_error(chain, weak, q, qd)
    if not yields > IMMOVABLE_TOL:
        raise _immovable(chain, k, strike)
    message, n = _message(chain.links[k].name, v_imp, v_bounce, J), np.concatenate([normal, moment])
    dqd, l, dv = response
    return ArticulatedImpulse(k, J, v_imp, v_bounce, compliance, n, l, dqd, qd + dqd, dv, message, chain, q.copy())


def _read(where: str, k: int, normal: Any, point: Any, point_bar: Any, restitution: Any) -> Any:
    """Return the contact of link k as compiled code reads it."""
    faults: list[Fault] = []
    if (point is None) == (point_bar is None):
        given = "neither point nor point_bar is given" if point is None else "both point and point_bar are given"
        raise UsageError(f"{where}: {given}. Give point=, global, or point_bar=, in the link frame from its handle [m].")
    remedy = "Give the direction from the object towards the link: three numbers, not all zero; the length does not matter."
    n = read_array(faults, where, "plane_normal", normal, (3,), remedy=remedy)
    if not any(n.tolist()):
        faults.append(Fault(where, "plane_normal is (0, 0, 0)", remedy))
    label, value = ("point_bar", point_bar) if point is None else ("point", point)
    place = read_array(faults, where, label, value, (3,), unit="m")
    restitution = read_number(faults, where, "restitution", restitution)
    if restitution < 0.0 or restitution > 1.0:
        what = f"restitution is {restitution:g}, must be between 0 and 1"
        faults.append(Fault(where, what, "Give 0 for no bounce, 1 for no loss."))
    if faults:
        raise UsageError(" ".join(map(str, faults)))
    return strike_record(k, point is None, tuple((-unit(n)).tolist()), tuple(place.tolist()), restitution)


def _immovable(chain: BaseChain, k: int, strike: Any) -> SimulationError:
    """Return the error for a contact along which no joint can move."""
    n, at = (", ".join(f"{x:.6g}" for x in strike[name]) for name in ("normal", "point"))
    return SimulationError(
        f"chain {chain.name!r}: the contact of link {chain.links[k].name!r} at ({at}) m along ({n}) is immovable: no joint can give way "
        f"along the normal (n^T A^-1 n = {strike['compliance']:.3g} 1/kg), and the impulse cannot be computed. "
        "Choose a point and a normal along which the link can move, or leave the contact out: nothing moves there."
    )


def _message(name: str, v_imp: float, v_bounce: float, J: float) -> str:
    """Return a description of the impact."""
    if J > 0.0:
        return f"link {name!r} hits with {v_imp:.6g} m/s and leaves with {-v_bounce:.6g} m/s: J = {J:.6g} N s."
    way = f"separates with {-v_imp:.6g} m/s" if v_imp < 0.0 else "does not approach (v_imp = 0)"
    return f"link {name!r} {way}: no impulse, the motion is unchanged."
