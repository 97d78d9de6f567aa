"""The response of a serial chain to impulses: applied ones, and the impact of a link on a fixed object; two passes, compiled.

    inward     I^A_i, U, 1/D as in `aba`, all at rest;   p_i = -(impulse on link i)
               p^A_i = p_i + what is left of p^A_(i+1);   each freedom:   u = tau - s^T p^A,   p^A <- p^A + U u / D
    outward    dv = dv_(i-1) shifted    dq_dot = (u - U^T dv) / D,   dv <- dv + s dq_dot, each freedom
               l_i = I^A_i dv_i + p^A_i                                  reaction impulse through joint i on link i

An impulse acts for no time, so that rates and gravity do not matter. I^A_i and p^A_i are kept from the inward pass, so that l_i is
computed at its joint: the sum of I_i dv_i from the tip would lose digits by cancellation.

A contact acts on link k at a point along n with the impulse -n J; the links beyond move with it:

    p_k = (n, arm x n) at the handle,   dv, dq_dot, l: the response to J = 1
    n^T A^-1 n = sum u^2 / D,           J = (1 + e) v_imp / (n^T A^-1 n)
Freedoms beyond link k have u = 0, and no reaction crosses their joints but that of their own inertia.
Cost: O(n), with 6-vectors only.

Applied impulses, `chain_impulse`.

    M dq_dot = tau + sum  J_S^T F + J_R^T N            F, N on the links at their centres of mass
    l_i      = I_i dv_i + l_(i+1) - (impulse on i)     through joint i on link i;  s^T l_i = tau

The recursion of `impulse_response` costs O(n) and needs no mass matrix. For a contact with unknown impulse see `articulated_impulse`.

Impact on a fixed object, `articulated_impulse`.

    v_imp    = n^T v_k                              speed of link k's point along n, before
    v_bounce = n^T (v_k + dv_k) = -e v_imp          Newton's law of restitution
    J        = (1 + e) (n^T A_k^-1 n)^-1 v_imp      link k gets -n J, for J > 0
    l_i      = I_i dv_i + l_(i+1)                   reaction impulse through joint i on link i
    dv_k     = -A_k^-1 n J,    dv_i = dv_(i-1) + s_i dq_dot_i

n = (normal; point x normal): wrenches and twists are taken at the world origin, linear part first. Link k is any link. The links
beyond it move with it: A_k^-1 is computed with their articulated inertia added to I_k, and l_i for i > k accelerates them.
The recursion is `impulse_response`. The matrices A_i^-1 and Phi_i are computed on request, in `constrained_inertia`.
Source: Mirtich 1996, ch. 4 (impulses on articulated bodies); Featherstone 2008, ch. 7; Mirtich 1996, ch. 4 (impulses on articulated
bodies).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.frame import unit
from haugmbd.bodies.validation import numbers, read_array, read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, inlined, kernel
from haugmbd.deprecated import check_keywords, public_class, warn_deprecated
from haugmbd.errors import Fault, SimulationError, UsageError
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    NO_TWIST,
    NO_WRENCH,
    ArticulatedInertia,
    Wrench,
    add_wrenches,
    shift_twist,
    times_twist,
)
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global
from haugmbd.serial_chain.base import NONE, BaseChain, need_chain, not_finite_error
from haugmbd.serial_chain.chain_arrays import (
    ChainArrays,
    center,
    chain_arrays,
    end_freedom,
    first_freedom,
    handle,
    slides,
    step,
    store_pair,
)
from haugmbd.serial_chain.constrained_inertia import inverse_inertias, propagations
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.aba import FINE, NOTHING_BEYOND, Eliminated, eliminate_joint
from haugmbd.serial_chain.recursions.link_inertia import (
    D_INV,
    SMALL_U,
    add_rigid,
    freedom_response,
    load_wrench,
    move_along,
    place_inertia,
    store_wrench,
    velocity,
)

KEPT = 27
"""Numbers kept for a link: I^A = [M H; H^T J] (6 + 9 + 6) and p^A (6), about its handle."""

STRIKE = np.dtype(
    [
        ("link", "i8"),
        ("in_link_frame", "i8"),
        ("normal", "f8", (3,)),
        ("moment", "f8", (3,)),
        ("point", "f8", (3,)),
        ("restitution", "f8"),
        ("v_imp", "f8"),
        ("v_bounce", "f8"),
        ("compliance", "f8"),
        ("impulse", "f8"),
        ("yields", "f8"),
    ],
    align=True,
)
"""A contact.  Given: the link, or -1 for none; whether the point is in the link frame; unit normal, point, restitution.

Found: moment = point x normal, v_imp, v_bounce, compliance = n^T A^-1 n, the impulse J, and the largest u of a freedom against its lever.
"""


RECORD = np.dtype((np.record, STRIKE))
"""The same with attributes, as in compiled code."""


NO_VECTOR = (0.0, 0.0, 0.0)


def strike_record(
    link: int = -1, in_link_frame: bool = False, normal: Any = NO_VECTOR, point: Any = NO_VECTOR, restitution: float = 0.0
) -> Any:
    """Return a contact of `link`, with what is found zero; link -1 means no contact."""
    record = link, in_link_frame, normal, NO_VECTOR, point, restitution, 0.0, 0.0, 0.0, 0.0, 0.0
    return np.array([record], dtype=RECORD)[0]


class Response(NamedTuple):
    """The response of a chain to impulses.

    dqd: (nv,) change of the joint rates;  l: (n, 6) impulses through the joints;  dv: (n, 6) changes of the twists
    """

    dqd: Array
    l: Array
    dv: Array


@kernel
def three(a: Array) -> Vec:
    """Return the numbers of an array (3,)."""
    return (a[0], a[1], a[2])


@kernel
def keep(kept: Array, i: int, I: ArticulatedInertia, p: Wrench) -> None:
    """Keep I^A and p^A of link i."""
    for a in range(6):
        kept[i, a], kept[i, 15 + a] = I.M[a], I.J[a]
    for a in range(9):
        kept[i, 6 + a] = I.H[a]
    store(kept, i, 21, p.force)
    store(kept, i, 24, p.moment)


@kernel
def kept_inertia(kept: Array, i: int) -> ArticulatedInertia:
    """Return I^A of link i."""
    k = kept[i]
    return ArticulatedInertia(
        (k[0], k[1], k[2], k[3], k[4], k[5]),
        (k[6], k[7], k[8], k[9], k[10], k[11], k[12], k[13], k[14]),
        (k[15], k[16], k[17], k[18], k[19], k[20]),
    )


@kernel
def kept_bias(kept: Array, i: int) -> Wrench:
    """Return p^A of link i."""
    return Wrench(load(kept, i, 21), load(kept, i, 24))


@inlined
def apply_external(c: ChainArrays, external: Array) -> None:
    """Write p_i = -(impulse on link i) about its handle, from impulses (n, 6) about the centres of mass; none is (0, 6)."""
    for i in range(c.links.shape[0]):
        store_wrench(c, i, NO_WRENCH)
        if external.shape[0] > 0:
            f, n = load(external, i, 0), load(external, i, 3)
            store_wrench(c, i, Wrench(scale(-1.0, f), scale(-1.0, add(n, cross(center(c, i), f)))))


@inlined
def apply_strike(c: ChainArrays, strike: Any) -> None:
    """Write v_imp and p_k of a contact; a point given in the link frame becomes a global one."""
    k, n, point = strike.link, three(strike.normal), three(strike.point)
    if strike.in_link_frame == 1:
        point = add(handle(c, k), to_global(c.A, k, point))
    arm, v, moment = sub(point, handle(c, k)), velocity(c, k), cross(point, n)
    for a in range(3):
        strike.point[a], strike.moment[a] = point[a], moment[a]
    strike.v_imp = dot(n, add(v.linear, cross(v.angular, arm)))
    store_wrench(c, k, Wrench(n, cross(arm, n)))


@inlined
def articulate_at_rest(c: ChainArrays, tau: Array, kept: Array) -> int:
    """Run the inward pass: U, 1/D, u of every freedom, I^A and p^A of every link; return a freedom without inertia, or FINE."""
    weak = FINE
    left = Eliminated(NO_INERTIA, NO_WRENCH, NOTHING_BEYOND, FINE)
    for i in range(c.links.shape[0] - 1, -1, -1):
        I, p = add_rigid(left.inertia, c, i), add_wrenches(left.bias, load_wrench(c, i))
        keep(kept, i, I, p)
        left = eliminate_joint(c, i, I, p, left.scale, tau)
        weak = left.weak if left.weak != FINE else weak
    return weak


@inlined
def respond(c: ChainArrays, kept: Array, response: Response) -> None:
    """Run the outward pass: dq_dot (nv,), l_i and dv_i (n, 6) about and at the handles."""
    dv = NO_TWIST
    for i in range(c.links.shape[0]):
        dv = shift_twist(dv, step(c, i))
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            response.dqd[k] = freedom_response(c, k, dv)
            dv = move_along(dv, c, k, response.dqd[k])
        l = add_wrenches(kept_bias(kept, i), times_twist(kept_inertia(kept, i), dv))
        store_pair(response.l, i, l.force, l.moment)
        store_pair(response.dv, i, dv.linear, dv.angular)


@inlined
def bounce(c: ChainArrays, strike: Any, response: Response) -> None:
    """Apply the law of contact: n^T A^-1 n and J; the response to J = 1 becomes that to J, at the world origin."""
    point, (dqd, l, dv) = three(strike.point), response
    far = dot(point, point) ** 0.5
    compliance, yields = 0.0, 0.0
    for k in range(c.freedoms.shape[0]):
        u = c.joint[k, SMALL_U]
        compliance += u * u * c.joint[k, D_INV]
        arm = sub(point, handle(c, c.freedoms[k, 1]))
        lever = 1.0 if slides(c, k) else dot(arm, arm) ** 0.5 + far
        yields = max(yields, abs(u) / lever if u != 0.0 else 0.0)
    J = (1.0 + strike.restitution) * strike.v_imp / compliance if strike.v_imp > 0.0 and compliance > 0.0 else 0.0
    strike.compliance, strike.impulse, strike.yields = compliance, J, yields
    for k in range(c.freedoms.shape[0]):
        dqd[k] = J * dqd[k] if J > 0.0 else 0.0
    for i in range(l.shape[0]):
        for a in range(6):
            l[i, a] = J * l[i, a] if J > 0.0 else 0.0
            dv[i, a] = J * dv[i, a] if J > 0.0 else 0.0
        store(l, i, 3, add(load(l, i, 3), cross(handle(c, i), load(l, i, 0))))
        store(dv, i, 0, add(load(dv, i, 0), cross(handle(c, i), load(dv, i, 3))))
    strike.v_bounce = strike.v_imp
    for a in range(3):
        strike.v_bounce += strike.normal[a] * dv[strike.link, a] + strike.moment[a] * dv[strike.link, 3 + a]


@inlined
def impulse_response(
    c: ChainArrays, kept: Array, q: Array, qd: Array, tau: Array, external: Array, strike: Any, response: Response
) -> int:
    """Compute the response to joint impulses tau and external impulses about the handles, or to a contact, at the world origin.

    Returns the freedom without inertia, or FINE.
    """
    place(c, q)
    place_inertia(c)
    apply_external(c, external)
    if strike.link >= 0:
        rate(c, qd)
        apply_strike(c, strike)
    weak = articulate_at_rest(c, tau, kept)
    respond(c, kept, response)
    if strike.link >= 0:
        bounce(c, strike, response)
    return weak


@entry
def impulse_entry(
    tables: tuple[Ints, Array, Array],
    kept: Array,
    motion: tuple[Array, Array],
    applied: tuple[Array, Array],
    strike: Any,
    response: Response,
) -> int:
    """Run `impulse_response` for Python;  tables: (ints, reals, work);  motion: (q, qd);  applied: (tau, external)."""
    c = chain_arrays(tables[0], tables[1], tables[2])
    return impulse_response(c, kept, motion[0], motion[1], applied[0], applied[1], strike, response)


run_impulse = DirectCall(impulse_entry)


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
        which = "neither is given" if normal is None else "both are given"
        raise UsageError(
            f"impact of link {chain.links[k].name!r}: {which}. Give plane_normal=, of the object, towards the link, as a Contact has it."
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
        which = "neither point nor point_bar is given" if point is None else "both point and point_bar are given"
        raise UsageError(f"{where}: {which}. Give point=, global, or point_bar=, in the link frame from its handle [m].")
    remedy = "Give the direction from the object towards the link: three numbers, not all zero; the length does not matter."
    n = read_array(faults, where, "plane_normal", normal, (3,), remedy=remedy)
    if not any(n.tolist()):
        faults.append(Fault(where, "plane_normal is (0, 0, 0)", remedy))
    label, value = ("point_bar", point_bar) if point is None else ("point", point)
    arm = read_array(faults, where, label, value, (3,), unit="m")
    restitution = read_number(faults, where, "restitution", restitution)
    if restitution < 0.0 or restitution > 1.0:
        what = f"restitution is {restitution:g}, must be between 0 and 1"
        faults.append(Fault(where, what, "Give 0 for no bounce, 1 for no loss."))
    if faults:
        raise UsageError(" ".join(map(str, faults)))
    return strike_record(k, point is None, tuple((-unit(n)).tolist()), tuple(arm.tolist()), restitution)


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
    motion = f"separates with {-v_imp:.6g} m/s" if v_imp < 0.0 else "does not approach (v_imp = 0)"
    return f"link {name!r} {motion}: no impulse, the motion is unchanged."
