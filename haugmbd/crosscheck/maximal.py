"""The augmented system of a chain in maximal coordinates, in the order of the links and in global axes; and the same system by LAPACK.

    body accelerations    u_dot of  M u_dot + Phi_q^T lam = Q
    joint wrench          -Phi_q^T lam on the link, moved to its handle, and the actuator:  S (S^T S)^-1 tau
    joint accelerations   S q_ddot = u_dot - sigma      less the motion of the link before;   sigma: u_dot at q_ddot = 0
    impulses              u+ - u-,  -Phi_q^T Lam        from the same matrix

The dense solver is an independent reference: the same system, assembled from `Rows`.

    K = [ M       Phi_q^T ]        S K S (S^-1 x) = S b,    S = diag(s),   s_a = 1 / sqrt(max_b |K_ab|)
        [ Phi_q   0       ]

Only the rows and the generalized forces are shared with the block LDL^T. The dense solver is an independent reference for tests.
O(n^3) time, O(n^2) memory. S scales the largest entry of every row to about one, so that partial pivoting compares rows of different
units (kg, kg m2, units of the rows). One iterative refinement removes the rounding of the factors.
Source: Haug (2021), Newton-Euler equations with Lagrange multipliers; Featherstone 2008, ch. 4 (Jacobians).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.compiled.array_types import Array
from haugmbd.errors import SingularKKTError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.impacts import AngularImpulse, PointImpulse
from haugmbd.impacts.impulse import impulse
from haugmbd.math.euler_parameters import cross
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.chain_arrays import SLIDE
from haugmbd.serial_chain.recursions.link_motion import LinkMotion
from haugmbd.serial_chain.to_system import joint_name
from haugmbd.system.system import System
from haugmbd.workspace.layout import workspace_array


class DenseSystem(NamedTuple):
    """The augmented matrix and its right-hand side, dense.

    K: (6 nb + nc, 6 nb + nc), symmetric indefinite;  b: (6 nb + nc,) = (Q, gamma);  unknowns: u_dot by bodies, then lam
    """

    K: Array
    b: Array


class DenseSolution(NamedTuple):
    """The solution of the dense augmented system.

    v_dot: (nb + 1, 3) global [m/s2];  omega_bar_dot: (nb + 1, 3) body frames [rad/s2];  lam: (nc,) by rows; ground in row 0
    """

    v_dot: Array
    omega_bar_dot: Array
    lam: Array


def dense_system(model: Model, state: State | None = None) -> DenseSystem:
    """Return the augmented matrix and its right-hand side at `state` (by default the modelled one)."""
    state = model.state() if state is None else state
    rows = evaluate(model, state)
    n, nc = 6 * model.nb, model.nc
    K = np.zeros((n + nc, n + nc))
    for k in range(model.nb):
        at = 6 * k
        K[at : at + 3, at : at + 3] = model.mass[k + 1] * np.eye(3)
        K[at + 3 : at + 6, at + 3 : at + 6] = model.J_bar[k + 1]
    K[n:, :n] = rows.Phi_q.toarray()
    K[:n, n:] = K[n:, :n].T
    return DenseSystem(K, np.concatenate([_generalized_forces(model, state), rows.gamma]))


def solve_dense(model: Model, state: State | None = None) -> DenseSolution:
    """Return the solution of the augmented system of the kept rows by LAPACK's LU.

    Raise SingularKKTError if the matrix is exactly singular.
    """
    whole, right = dense_system(model, state)
    kept = np.delete(np.arange(len(right)), 6 * model.nb + np.array(model.redundancy.dropped, dtype=np.int64))
    K, b = whole[np.ix_(kept, kept)], right[kept]
    size = np.abs(K).max(axis=0, initial=0.0)
    s = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    lu, pivots, first_zero = scipy.linalg.lapack.dgetrf(s[:, None] * K * s)
    if first_zero:
        raise SingularKKTError(
            "SingularKKTError: the dense augmented matrix is exactly singular: rows depend on others, or a massless axis is free."
        )
    x = s * scipy.linalg.lapack.dgetrs(lu, pivots, s * b)[0]
    x += s * scipy.linalg.lapack.dgetrs(lu, pivots, s * (b - K @ x))[0]
    bodies = np.vstack([np.zeros(6), x[: 6 * model.nb].reshape(-1, 6)])
    lam = np.zeros(model.nc)
    lam[kept[6 * model.nb :] - 6 * model.nb] = x[6 * model.nb :]
    return DenseSolution(bodies[:, :3], bodies[:, 3:], lam)


def _generalized_forces(model: Model, state: State) -> Array:
    """Return Q by bodies (6 nb,), without the ground."""
    pack = model.pack()
    rows_entry(pack, state.t, state.y)
    model.raise_user_error(pack)
    Q: Array = workspace_array(pack, "Q")[1:].ravel().copy()
    return Q


Flags = npt.NDArray[np.bool_]


class MaximalChain(NamedTuple):
    """A chain in maximal coordinates at q, qd under tau and wrenches;  motion: of the chain at q_ddot = 0;  J: (6 n, nv)."""

    chain: SerialChain
    system: System
    model: Model
    state: State
    rows: Rows
    tau: Array
    motion: LinkMotion
    J: Array


class MaximalSolution(NamedTuple):
    """By links: u_dot (n, 6) = (v_dot, omega_dot);  wrench (n, 6) in the joint, about the handle;  qdd (nv,)."""

    u_dot: Array
    wrench: Array
    qdd: Array


class Jump(NamedTuple):
    """By links: du (n, 6) = (dv, domega);  wrench (n, 6) impulse and moment in the joint, about the handle;  dqd (nv,)."""

    du: Array
    wrench: Array
    dqd: Array


def maximal_chain(
    chain: SerialChain, q: Array, qd: Array, tau: Array, wrenches: Array, motion: LinkMotion, J: Array
) -> MaximalChain:
    """Return the chain in maximal coordinates, compiled."""
    system = chain.to_system(tau, wrenches, q, qd)
    model = system.compile()
    state = model.state()
    return MaximalChain(chain, system, model, state, evaluate(model, state), tau, motion, J)


def accelerated(maximal: MaximalChain) -> MaximalSolution:
    """Return accelerations and joint wrenches."""
    found = accelerations(maximal.model, maximal.state)
    u_dot = _by_links(maximal, found.v_dot, found.omega_bar_dot)
    bias = np.hstack([maximal.motion.v_dot, maximal.motion.omega_dot])
    return MaximalSolution(
        u_dot, _joint_wrenches(maximal, found.lam) + actuators(maximal, maximal.tau), _reduced(maximal, u_dot - bias)
    )


def struck(maximal: MaximalChain, blows: Array) -> Jump:
    """Return the jumps of impulses (n, 6) at the centres of mass, global [N s, N m s]; they do not depend on velocities."""
    applied: list[PointImpulse | AngularImpulse] = []
    for link, blow in zip(maximal.chain.links, blows, strict=True):
        body = maximal.system[link.name]
        applied.append(PointImpulse(f"blow on {link.name}", body, impulse=blow[:3]))
        applied.append(AngularImpulse(f"turn on {link.name}", body, impulse=blow[3:]))
    still = np.zeros((maximal.chain.n + 1, 3))
    after = impulse(maximal.model, maximal.state.replace(v=still, omega_bar=still), applied=applied)
    du = _by_links(maximal, after.v, after.omega_bar)
    return Jump(du, _joint_wrenches(maximal, after.Lam), _reduced(maximal, du))


def _by_links(maximal: MaximalChain, v: Array, omega_bar: Array) -> Array:
    """Return (v, omega) of the links, (n, 6), from those of the bodies, (nb + 1, 3), omega in body frames."""
    rows = list(maximal.chain.order)
    return np.hstack([v[rows], np.einsum("nab,nb->na", maximal.motion.A, omega_bar[rows])])


def _reduced(maximal: MaximalChain, u: Array) -> Array:
    """Return x with J x = u, (nv,), joint by joint, from u (n, 6) less the motion of the link before."""
    v, omega, k = u[:, :3], u[:, 3:], maximal.motion
    d, e = v + cross(omega, k.P - k.r), omega.copy()
    d[1:] -= v[:-1] + cross(omega[:-1], k.P[1:] - k.r[:-1])
    e[1:] -= omega[:-1]
    x = np.zeros(maximal.chain.nv)
    for link, part, own in _own_freedoms(maximal.chain):
        axes = k.axes[own]
        x[own] = np.linalg.solve(axes @ axes.T, axes @ (d, e)[part][link])
    return x


def _own_freedoms(chain: SerialChain) -> Iterator[tuple[int, int, Flags]]:
    """Yield for each link its slides (part 0) and its turns (part 1): link, part, and the mask of these freedoms, (nv,)."""
    kinds, owners = chain.tables["FREEDOMS"].T
    for link in range(chain.n):
        yield link, 0, (owners == link) & (kinds == SLIDE)
        yield link, 1, (owners == link) & (kinds != SLIDE)


def _joint_wrenches(maximal: MaximalChain, multipliers: Array) -> Array:
    """Return -Phi_q^T lam of its joint on every link, about its handle, global, (n, 6)."""
    wrenches = np.zeros((maximal.chain.n, 6))
    for k, link in enumerate(maximal.chain.links):
        entry = maximal.model.joints.get(joint_name(link))
        if entry is None:
            continue
        lam = multipliers[entry.rows]
        force = -lam @ maximal.rows.Phi_r[entry.rows, 1]
        moment = maximal.motion.A[k] @ (-lam @ maximal.rows.PiBar[entry.rows, 1])
        wrenches[k] = np.concatenate([force, moment + cross(maximal.motion.r[k] - maximal.motion.P[k], force)])
    return wrenches


def actuators(maximal: MaximalChain, tau: Array) -> Array:
    """Return the wrench of the actuator on every link about its handle, (n, 6), with the least norm for tau."""
    wrenches = np.zeros((maximal.chain.n, 6))
    for link, part, own in _own_freedoms(maximal.chain):
        axes = maximal.motion.axes[own]
        wrenches[link, 3 * part : 3 * part + 3] = np.linalg.solve(axes @ axes.T, tau[own]) @ axes
    return wrenches
