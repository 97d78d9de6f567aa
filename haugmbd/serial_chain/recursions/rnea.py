r"""rnea: inverse dynamics by the recursive Newton-Euler algorithm, and the wrenches through the joints.

    outward    a_i = a_(i-1) shifted + sum s q_ddot + b_i            a_0 = -g
               f_i = I_i a_i + v x* I v - external
    inward     f_i += f_(i+1) shifted from handle i+1 to handle i       the wrench through joint i on link i, about its handle
               tau = s^T f_i

The wrench through a joint is the sum of the constraint wrench and the actuator wrench: s^T f = tau.
Cost: O(n).
Source: Luh, Walker, Paul (1980); Featherstone 2008, table 5.1.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, inlined
from haugmbd.deprecated import check_keywords
from haugmbd.math.articulated_inertia import NO_WRENCH, ZERO, Twist, Wrench, add_twists, add_wrenches, shift_twist, shift_wrench
from haugmbd.math.vec3 import add, cross, load, scale
from haugmbd.serial_chain.base import BaseChain, need_chain, not_finite_error
from haugmbd.serial_chain.chain_arrays import (
    ChainArrays,
    center,
    chain_arrays,
    end_freedom,
    first_freedom,
    gravity,
    mass,
    step,
    store_pair,
    times_central_inertia,
)
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.aba import FINE
from haugmbd.serial_chain.recursions.link_inertia import (
    along_axis,
    bias_acceleration,
    load_wrench,
    move_along,
    place_inertia,
    put_bias_wrench,
    store_wrench,
)


@inlined
def accelerate(c: ChainArrays, qdd: Array) -> None:
    """Write the spatial accelerations of the links, gravity as an acceleration of the base, after `rate`."""
    a = Twist(scale(-1.0, gravity(c)), ZERO)
    for i in range(c.links.shape[0]):
        a = shift_twist(a, step(c, i))
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            a = move_along(a, c, k, qdd[k])
        a = add_twists(a, bias_acceleration(c, i))
        store_pair(c.motion, i, a.linear, a.angular)


@inlined
def project_wrenches(c: ChainArrays, tau: Array) -> None:
    """Run the inward pass: wrenches through the joints, and tau."""
    f = NO_WRENCH
    for i in range(c.links.shape[0] - 1, -1, -1):
        a, alpha, center_i = load(c.motion, i, 0), load(c.motion, i, 3), center(c, i)
        F = scale(mass(c, i), add(a, cross(alpha, center_i)))
        inertial = Wrench(F, add(times_central_inertia(c, i, alpha), cross(center_i, F)))
        f = add_wrenches(f, add_wrenches(inertial, load_wrench(c, i)))
        store_wrench(c, i, f)
        for k in range(first_freedom(c, i), end_freedom(c, i)):
            tau[k] = along_axis(f, c, k)
        f = shift_wrench(f, step(c, i))


@entry
def rnea_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, qdd: Array, external: Array, tau: Array) -> bool:
    """Compute the generalized forces tau (nv,), and return whether they are finite.

    Joint wrenches and link accelerations stay in the workspace.
    """
    c = chain_arrays(ints, reals, work)
    place(c, q)
    rate(c, qd)
    place_inertia(c)
    put_bias_wrench(c, external)
    accelerate(c, qdd)
    project_wrenches(c, tau)
    total = 0.0
    for k in range(tau.size):
        total += tau[k]
    return isfinite(total)


run_rnea = DirectCall(rnea_entry)


class Carried(NamedTuple):
    """Wrenches through the joints.

    Attributes
    ----------
    tau : ndarray, (nv,)
        Generalized forces.
    wrench : ndarray, (n, 6)
        Force [N] and moment [N m] through joint i on link i, about the handle `point`, global.
    point : ndarray, (n, 3)
        Handles, global [m].
    """

    tau: Array
    wrench: Array
    point: Array


@check_keywords
def rnea(chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike | None = None, *, wrenches: Any = None) -> Array:
    """Return the generalized forces of a serial chain: inverse dynamics by the recursive Newton-Euler algorithm.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates.
    qdd : array_like, (nv,), optional
        Joint accelerations; by default zero.
    wrenches : array_like, (n, 6), optional
        External force [N] and moment [N m] on each link at its centre of mass, global.

    Returns
    -------
    ndarray, (nv,)
        Generalized forces tau that cause the accelerations.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.

    Notes
    -----
    Source: Luh, Walker, Paul (1980); Featherstone 2008, table 5.1.
    """
    need_chain(chain, "rnea")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    external, work, tau = chain.read_wrenches(wrenches), chain.workspace(), np.empty(chain.nv)
    fine = run_rnea(chain.tables.ints, chain.tables.reals, work, q, qd, qdd, external, tau)
    chain.give_back(work)
    if not fine:
        raise not_finite_error(chain, FINE, q, qd, qdd, external)
    return tau


@check_keywords
def joint_wrenches(chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, wrenches: Any = None) -> Carried:
    """Return the wrench through every joint, constraint and actuator together.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates.
    qdd : array_like, (nv,)
        Joint accelerations.
    wrenches : array_like, (n, 6), optional
        External force [N] and moment [N m] on each link at its centre of mass, global.

    Returns
    -------
    Carried
        Generalized forces, and the wrench through each joint on its link, about the link's handle.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.

    Notes
    -----
    Source: Luh, Walker, Paul (1980); Featherstone 2008, table 5.1.
    """
    need_chain(chain, "joint_wrenches")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    external, work, tau = chain.read_wrenches(wrenches), chain.workspace(), np.empty(chain.nv)
    fine = run_rnea(chain.tables.ints, chain.tables.reals, work, q, qd, qdd, external, tau)
    carried = Carried(tau, chain.matrix(work, "LINK_WRENCH"), chain.matrix(work, "LINK_PLACE")[:, :3])
    chain.give_back(work)
    if not fine:
        raise not_finite_error(chain, FINE, q, qd, qdd, external)
    return carried
