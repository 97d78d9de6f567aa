"""The motion of links: poses, velocities, accelerations, Jacobians; and the equations of motion by projection with them.

    r = P + c          v_C = v + omega x c          v_C_dot = a + omega x v + alpha x c + omega x (omega x c)           a: spatial
    v_C = J_S q_dot    omega = J_R q_dot            v_C_dot = J_S q_ddot + sigma_S     omega_dot = J_R q_ddot + sigma_R
    columns of freedom k for every link i it carries:   turn  J_S = z x (r_i - P_k), J_R = z      slide  J_S = z, J_R = 0

`projected_newton_euler`: the Jacobi-transposed mapping.

    M q_ddot - f - g = tau
    M = sum  J_S^T m J_S + J_R^T I J_R
    f = -sum J_S^T m sigma_S + J_R^T (I sigma_R + omega x I omega)           sigma: accelerations of the links at q_ddot = 0
    g = sum  J_S^T (m g + F) + J_R^T N                                       gravity and external wrenches

All quantities are at the centres of mass, in global axes. The Jacobians are dense, and the cost is O(n nv^2).
Source: Featherstone 2008, ch. 2 and 4 (spatial velocity, recursive kinematics); Featherstone 2008, ch. 3 (projection of the Newton-
Euler equations); Jourdain's principle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import read_array
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.deprecated import check_keywords
from haugmbd.errors import Fault, SimulationError, UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.serial_chain.base import BaseChain, need_chain, not_finite_error
from haugmbd.serial_chain.chain_arrays import SLIDE, chain_arrays
from haugmbd.serial_chain.kinematics import place, rate
from haugmbd.serial_chain.recursions.aba import FINE
from haugmbd.serial_chain.recursions.rnea import accelerate


@entry
def motion_entry(ints: Ints, reals: Array, work: Array, q: Array, qd: Array, qdd: Array) -> None:
    """Compute places, rates and accelerations of all links in the workspace."""
    c = chain_arrays(ints, reals, work)
    place(c, q)
    rate(c, qd)
    accelerate(c, qdd)


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """The motion of all links, in global axes.

    Attributes
    ----------
    A : ndarray, (n, 3, 3)
        Orientations.
    P : ndarray, (n, 3)
        Handles [m].
    r : ndarray, (n, 3)
        Centres of mass [m].
    v : ndarray, (n, 3)
        Velocities of the centres of mass [m/s].
    omega : ndarray, (n, 3)
        Angular velocities [rad/s].
    v_dot : ndarray, (n, 3)
        Accelerations of the centres of mass [m/s2].
    omega_dot : ndarray, (n, 3)
        Angular accelerations [rad/s2].
    axes : ndarray, (nv, 3)
        Axes of the freedoms.
    """

    A: Array
    P: Array
    r: Array
    v: Array
    omega: Array
    v_dot: Array
    omega_dot: Array
    axes: Array

    @property
    def twist(self) -> Array:
        """Return the velocity twists (v_O, omega) at the world origin, (n, 6)."""
        return np.hstack([self.v - cross(self.omega, self.r), self.omega])


@check_keywords
def link_motion(
    chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, qdd: npt.ArrayLike | None = None
) -> LinkMotion:
    """Return poses, velocities and accelerations of all links.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,), optional
        Joint rates; by default zero.
    qdd : array_like, (nv,), optional
        Joint accelerations; by default zero.

    Returns
    -------
    LinkMotion
        Motion of the links at their centres of mass, global.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.

    Notes
    -----
    Source: Featherstone 2008, ch. 2 and 4.
    """
    need_chain(chain, "link_motion")
    q, qd, qdd = chain.read_motion(q, qd, "qdd", qdd)
    work = chain.workspace()
    motion_entry(chain.tables.ints, chain.tables.reals, work, q, qd, qdd)
    A, places, rates = (chain.matrix(work, name) for name in ("LINK_A", "LINK_PLACE", "LINK_RATE"))
    motion, axes = chain.matrix(work, "LINK_MOTION"), chain.matrix(work, "FREEDOM_TERMS")[:, :3]
    chain.give_back(work)
    if not (np.isfinite(places).all() and np.isfinite(rates).all() and np.isfinite(motion).all()):
        raise not_finite_error(chain, FINE, q, qd, qdd)
    P, c, v, omega = places[:, :3], places[:, 6:], rates[:, :3], rates[:, 3:6]
    a, alpha = motion[:, :3] + chain.gravity + cross(omega, v), motion[:, 3:]
    v_dot = a + cross(alpha, c) + cross(omega, cross(omega, c))
    return LinkMotion(A.reshape(-1, 3, 3), P, P + c, v + cross(omega, c), omega, v_dot, alpha, axes)


@check_keywords
def jacobians(chain: BaseChain, at: LinkMotion | npt.ArrayLike) -> tuple[Array, Array]:
    """Return the Jacobians of the centres of mass and of the rotations of all links.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    at : array_like (nq,) or LinkMotion
        Joint coordinates, or the result of `link_motion` for this chain.

    Returns
    -------
    J_S, J_R : ndarray, (n, 3, nv)
        v_C = J_S q_dot and omega = J_R q_dot, global.

    Raises
    ------
    UsageError
        If q has the wrong length, or the motion is that of another chain.

    Notes
    -----
    Source: Featherstone 2008, ch. 4.
    """
    need_chain(chain, "jacobians")
    motion = at if isinstance(at, LinkMotion) else link_motion(chain, at)
    if len(motion.r) != chain.n or len(motion.axes) != chain.nv:
        what = f"{len(motion.r)} links and {len(motion.axes)} freedoms, chain {chain.name!r} has {chain.n} and {chain.nv}"
        raise UsageError(f"jacobians got the motion of another chain: it has {what}. Give link_motion(chain, q), or q itself.")
    kinds, owners = chain.tables["FREEDOMS"].T
    carried = np.arange(chain.n)[:, None] >= owners
    slide = kinds == SLIDE
    arms = motion.r[:, None] - motion.P[owners]
    J_S = np.where(slide[:, None], motion.axes, cross(motion.axes, arms)) * carried[..., None]
    J_R = np.where(slide[:, None], 0.0, motion.axes) * carried[..., None]
    return np.swapaxes(J_S, 1, 2), np.swapaxes(J_R, 1, 2)


@dataclass(frozen=True, eq=False)
class Projected:
    """The equations of motion M q_ddot - f - g = tau.

    Attributes
    ----------
    M : ndarray, (nv, nv)
        Mass matrix.
    f : ndarray, (nv,)
        Coriolis and centrifugal forces.
    g : ndarray, (nv,)
        Gravity and external wrenches.
    """

    M: Array
    f: Array
    g: Array

    def tau(self, qdd: npt.ArrayLike | float = 0.0) -> Array:
        """Return the generalized forces (nv,) for the accelerations qdd (nv,): inverse dynamics."""
        return np.asarray(self.M @ self._read("qdd", qdd) - self.f - self.g)

    def qdd(self, tau: npt.ArrayLike | float = 0.0) -> Array:
        """Return the accelerations (nv,) under tau (nv,): forward dynamics. Raise SimulationError if M is singular."""
        forces = self.f + self.g + self._read("tau", tau)
        try:
            return np.asarray(np.linalg.solve(self.M, forces))
        except np.linalg.LinAlgError as error:
            what = "M is singular: nothing has inertia along some freedom"
            raise SimulationError(f"{what}. `aba` of the chain names the freedom.") from error

    def _read(self, label: str, value: npt.ArrayLike | float) -> Array:
        """Return `value` (nv,), or one number for all freedoms. Raise UsageError for another shape."""
        faults: list[Fault] = []
        remedy = f"Give {len(self.f)} finite numbers, one a freedom, or one number for all of them."
        array = read_array(faults, "projected Newton-Euler", label, value, (len(self.f),), (), remedy=remedy)
        if faults:
            raise UsageError(str(faults[0]))
        return np.broadcast_to(array, self.f.shape)


@check_keywords
def projected_newton_euler(chain: BaseChain, q: npt.ArrayLike, qd: npt.ArrayLike, *, wrenches: Any = None) -> Projected:
    """Return the mass matrix and the forces of a serial chain by projection of the Newton-Euler equations.

    Parameters
    ----------
    chain : SerialChain
        The chain.
    q : array_like, (nq,)
        Joint coordinates.
    qd : array_like, (nv,)
        Joint rates.
    wrenches : array_like, (n, 6), optional
        External force [N] and moment [N m] on each link at its centre of mass, global.

    Returns
    -------
    Projected
        M, f and g. `.tau(qdd)` is the inverse dynamics, and `.qdd(tau)` the forward dynamics.

    Raises
    ------
    UsageError
        If an argument has the wrong length, or is not finite.

    Notes
    -----
    Source: Featherstone 2008, ch. 3.
    """
    need_chain(chain, "projected_newton_euler")
    external = chain.read_wrenches(wrenches)
    k = link_motion(chain, q, qd)
    J_S, J_R = jacobians(chain, k)
    m = np.array([link.mass for link in chain.links])
    inertia = k.A @ np.array([link.J_bar for link in chain.links]) @ np.swapaxes(k.A, 1, 2)
    M = _squared(J_S, m[:, None, None] * J_S) + _squared(J_R, inertia @ J_R)
    turning = np.einsum("nab,nb->na", inertia, k.omega_dot) + cross(k.omega, np.einsum("nab,nb->na", inertia, k.omega))
    f = -np.einsum("nai,n,na->i", J_S, m, k.v_dot) - np.einsum("nai,na->i", J_R, turning)
    g = np.einsum("nai,na->i", J_S, m[:, None] * chain.gravity)
    if len(external):
        g = g + np.einsum("nai,na->i", J_S, external[:, :3]) + np.einsum("nai,na->i", J_R, external[:, 3:])
    return Projected(M, f, g)


def _squared(J: Array, moved: Array) -> Array:
    """Return the sum of J^T moved over the links, both (n, 3, nv), as one product of matrices."""
    rows, nv = J.shape[0] * J.shape[1], J.shape[2]
    return np.asarray(J.reshape(rows, nv).T @ moved.reshape(rows, nv))
