r"""crosscheck: a serial chain by recursions in joint coordinates, and by the augmented system in maximal coordinates.

    q_ddot            aba                                S q_ddot from u_dot of the augmented system, joint by joint
    u_dot             kinematics at aba's q_ddot         the same
    tau               given                              rnea at aba's q_ddot
    q_ddot            aba                                M q_ddot = tau - rnea(0),  M by crba;   and projected Newton-Euler
    joint wrenches    recursion from the tip             -Phi_q^T lam + actuator
    impulses          articulated bodies                 du, -Phi_q^T Lam
    and the balances of `balances`

Differences are relative to the largest magnitude of their kind, including terms that cancel: the accelerations of a chain at rest are only
rounding, but its forces are not.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.crosscheck.balances import (
    CrossCheck,
    Difference,
    largest,
    length_of,
    masses,
    momentum,
    per,
    power,
    relative,
    relative_twist,
    relative_wrench,
)
from haugmbd.crosscheck.maximal import Jump, MaximalChain, MaximalSolution, accelerated, maximal_chain, struck
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.serial_chain.base import need_chain, need_finite
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.impulses import chain_impulse
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.crba import crba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, jacobians, link_motion, projected_newton_euler
from haugmbd.serial_chain.recursions.rnea import joint_wrenches, rnea

TOL = 1e-9
"""Largest relative difference allowed: above the rounding of long chains, below the effect of a wrong term."""


@check_keywords
def crosscheck(
    chain: SerialChain,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    tau: npt.ArrayLike | None = None,
    *,
    wrenches: Any = None,
    impulse: Any = None,
    tol: float = TOL,
) -> CrossCheck:
    """Compute accelerations, joint wrenches and impulses of a serial chain in joint and in maximal coordinates, and compare them.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates.
    tau : array_like, (nv,), optional
        Generalized forces; by default zero.
    wrenches : array_like, (n, 6), optional
        External force [N] and moment [N m] on each link at its centre of mass, global.
    impulse : array_like, (n, 6), optional
        Impulse [N s] and its moment [N m s] on each link; by default 1 N s along (1, 1, 1) on the last link.
    tol : float
        Largest relative difference allowed.

    Returns
    -------
    CrossCheck
        The relative differences; print it to read them.

    Raises
    ------
    UsageError
        If an argument is not valid.
    ModelError
        If the chain has no equivalent in maximal coordinates (a massless link).
    """
    need_chain(chain, "crosscheck")
    if not (isinstance(tol, Real) and 0.0 < tol < np.inf):
        raise UsageError(f"tol is {tol!r}. Give the largest relative difference allowed, such as {TOL:g}.")
    q, qd, tau = chain.read("q", q, chain.nq), chain.read("qd", qd, chain.nv), chain.read("tau", tau, chain.nv)
    need_finite(chain, q, qd, tau)
    external = np.zeros((chain.n, 6)) if wrenches is None else chain.read_wrenches(wrenches)
    blows = _default_blows(chain) if impulse is None else chain.read_wrenches(impulse, "impulse")
    bias = link_motion(chain, q, qd)
    maximal = maximal_chain(
        chain, q, qd, tau, external, bias, np.concatenate(jacobians(chain, bias), axis=1).reshape(6 * chain.n, chain.nv)
    )
    found, qdd, M = accelerated(maximal), aba(chain, q, qd, tau, wrenches=external), crba(chain, q)
    motion, carried = link_motion(chain, q, qd, qdd), joint_wrenches(chain, q, qd, qdd, wrenches=external)
    joints, *recursions = _joints(maximal, found, q, qd, external, qdd, M, carried.tau)
    differences = (
        joints,
        _bodies(maximal, found, motion),
        *recursions,
        *masses(maximal, M),
        _wrenches(maximal, found, carried.wrench),
        *_impulses(maximal, struck(maximal, blows), q, blows),
        momentum(maximal, found, motion, external),
        power(maximal, found, qd, external),
    )
    return CrossCheck(chain.name, chain.n, chain.nv, maximal.model.nc, differences, float(tol))


def _default_blows(chain: SerialChain) -> Array:
    """Return 1 N s along (1, 1, 1) at the centre of mass of the last link."""
    blows = np.zeros((chain.n, 6))
    blows[-1, :3] = 1.0 / np.sqrt(3.0)
    return blows


def _joints(
    maximal: MaximalChain, found: MaximalSolution, q: Array, qd: Array, external: Array, qdd: Array, M: Array, tau: Array
) -> tuple[Difference, ...]:
    """Return the differences of joint accelerations: aba and maximal coordinates, aba and other recursions, and tau by rnea."""
    projected = projected_newton_euler(maximal.chain, q, qd, wrenches=external)
    causes = np.column_stack([projected.f, projected.g, maximal.tau])
    scale, forces = largest(qdd, np.linalg.solve(projected.M, causes)), largest(causes)
    by_crba = np.linalg.solve(M, maximal.tau - rnea(maximal.chain, q, qd, wrenches=external))
    by_projected = projected.qdd(maximal.tau)
    return (
        Difference(
            "joint accelerations",
            relative(qdd - found.qdd, scale),
            scale,
            "1/s2",
            "aba, and the augmented system in maximal coordinates",
        ),
        Difference(
            "rnea after aba", relative(tau - maximal.tau, forces), forces, "N, N m", "tau given, and tau of aba's accelerations"
        ),
        Difference("crba after aba", relative(by_crba - qdd, scale), scale, "1/s2", "aba, and crba's matrix solved"),
        Difference("projected after aba", relative(by_projected - qdd, scale), scale, "1/s2", "aba, and projected Newton-Euler"),
    )


def _bodies(maximal: MaximalChain, found: MaximalSolution, motion: LinkMotion) -> Difference:
    """Return the difference of body accelerations, relative to gravity and bias accelerations as well."""
    known = np.vstack([np.hstack([maximal.motion.v_dot, maximal.motion.omega_dot]), [*maximal.chain.gravity, 0.0, 0.0, 0.0]])
    gap, scale = relative_twist(found.u_dot, np.hstack([motion.v_dot, motion.omega_dot]), known, length_of(maximal))
    return Difference("body accelerations", gap, scale, "m/s2", "kinematics at aba's accelerations, and the augmented system")


def _wrenches(maximal: MaximalChain, found: MaximalSolution, carried: Array) -> Difference:
    """Return the difference of joint wrenches, relative to the weight of the chain as well."""
    weight = float(maximal.model.mass.sum() * np.linalg.norm(maximal.chain.gravity))
    gap, scale = relative_wrench(carried, found.wrench, weight, length_of(maximal))
    return Difference("joint wrenches", gap, scale, "N", "recursion from the tip, and -Phi_q^T lam with the actuators")


def _impulses(maximal: MaximalChain, found: Jump, q: Array, blows: Array) -> tuple[Difference, ...]:
    """Return the differences of jumps and joint impulses, relative to the impulses and to the response of each link alone as well."""
    response, length = chain_impulse(maximal.chain, q, blows), length_of(maximal)
    m = maximal.model.mass[list(maximal.chain.order), None]
    alone = np.hstack([blows[:, :3] / m, blows[:, 3:] / m * per(length) ** 2])
    bodies, size = relative_twist((maximal.J @ response.dqd).reshape(-1, 6), found.du, alone, length)
    scale = largest(response.dqd, found.dqd, size * per(length))
    rates = max(relative(response.dqd - found.dqd, scale), bodies)
    joints, impulses = relative_wrench(response.l, found.wrench, largest(blows[:, :3], blows[:, 3:] * per(length)), length)
    return (
        Difference("rate jumps", rates, scale, "1/s", "articulated bodies, and the augmented system: joints and bodies"),
        Difference("joint impulses", joints, impulses, "N s", "articulated bodies, and -Phi_q^T Lam"),
    )
