r"""projected_newton_euler: the equations of motion by the Jacobi-transposed mapping.

    M q_ddot - f - g = tau
    M = sum  J_S^T m J_S + J_R^T I J_R
    f = -sum J_S^T m sigma_S + J_R^T (I sigma_R + omega x I omega)           sigma: accelerations of the links at q_ddot = 0
    g = sum  J_S^T (m g + F) + J_R^T N                                       gravity and external wrenches

All quantities are at the centres of mass, in global axes. The Jacobians are dense, and the cost is O(n nv^2).
Source: Featherstone 2008, ch. 3 (projection of the Newton-Euler equations); Jourdain's principle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import read_array
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.errors import Fault, SimulationError, UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.serial_chain.base import BaseChain
from haugmbd.serial_chain.error_messages import need_chain
from haugmbd.serial_chain.recursions.link_motion import jacobians, link_motion


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
