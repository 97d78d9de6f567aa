"""crosscheck: a serial chain by recursions in joint coordinates, and by the augmented system in maximal coordinates.

    q_ddot            aba                                S q_ddot from u_dot of the augmented system, joint by joint
    u_dot             kinematics at aba's q_ddot         the same
    tau               given                              rnea at aba's q_ddot
    q_ddot            aba                                M q_ddot = tau - rnea(0),  M by crba;   and projected Newton-Euler
    joint wrenches    recursion from the tip             -Phi_q^T lam + actuator
    impulses          articulated bodies                 du, -Phi_q^T Lam
    and the balances below

Differences are relative to the largest magnitude of their kind, including terms that cancel: the accelerations of a chain at rest are only
rounding, but its forces are not.

The balances of the whole chain: mass matrix, constraint rows, momentum and power.

    M           crba                                  N^T M N in maximal coordinates,   N: the columns u of each q_dot
    Phi_q N     0                                     no row opposes a freedom
    d/dt sum m v,  d/dt sum (r - base) x m v + J omega        accelerations by recursion
                gravity, loads wrenches, and the base reaction by lam
    d/dt T      u_dot of the augmented system         power of gravity, tau and loads wrenches

The augmented system of the chain in maximal coordinates, in the order of the links and in global axes; and the same system by LAPACK.

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
Source: Haug (2021), virtual work: ideal constraints have no power; Featherstone 2008, ch. 3 (projected mass matrix); Haug (2021),
Newton-Euler equations with Lagrange multipliers; Featherstone 2008, ch. 4 (Jacobians).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import SingularKKTError, UsageError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.impacts import AngularImpulse, PointImpulse
from haugmbd.impacts.impulse import impulse
from haugmbd.math.euler_parameters import cross
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.serial_chain.base import need_chain, need_finite
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.chain_arrays import SLIDE
from haugmbd.serial_chain.impulses import chain_impulse
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.crba import crba
from haugmbd.serial_chain.recursions.link_motion import LinkMotion, jacobians, link_motion, projected_newton_euler
from haugmbd.serial_chain.recursions.rnea import joint_wrenches, rnea
from haugmbd.serial_chain.to_system import joint_name
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.system.system import System
from haugmbd.workspace.layout import workspace_array

__all__ = ["CrossCheck", "Difference", "crosscheck"]


@dataclass(frozen=True)
class Difference:
    """One comparison.

    Relative: largest difference over `scale`;  scale: largest magnitude of the kind, in `unit`;  what: a description.
    """

    name: str
    relative: float
    scale: float
    unit: str
    what: str


@public_class
@dataclass(frozen=True)
class CrossCheck(StudyData):
    """The relative differences between the recursions of a chain and its model in maximal coordinates, and between the recursions.

    Attributes
    ----------
    chain : str
        Name of the chain.
    links, freedoms : int
        Numbers of links and freedoms of the chain.
    rows : int
        Number of constraint rows in maximal coordinates.
    differences : tuple of Difference
        The comparisons, in the order of the report.
    tol : float
        Largest relative difference allowed.
    """

    chain: str
    links: int
    freedoms: int
    rows: int
    differences: tuple[Difference, ...]
    tol: float

    def _columns(self) -> Columns:
        rows = [(d.name, d.relative, d.scale, d.unit, d.what, d.relative <= self.tol) for d in self.differences]
        names = ("comparison", "relative", "scale", "unit", "what", "ok")
        return {name: column([row[k] for row in rows]) for k, name in enumerate(names)}

    @property
    def worst(self) -> float:
        """Return the largest relative difference; NaN if one is."""
        return float(np.max([d.relative for d in self.differences]))

    @property
    def ok(self) -> bool:
        """Return whether every difference is within `tol`."""
        return self.worst <= self.tol

    @property
    def accelerations(self) -> float:
        """Return the difference of joint and body accelerations, joint against maximal coordinates."""
        return self._largest("joint accelerations", "body accelerations")

    @property
    def joint_wrenches(self) -> float:
        """Return the difference of the joint wrenches, recursion against multipliers."""
        return self["joint wrenches"].relative

    @property
    def impulses(self) -> float:
        """Return the difference of the jumps of rates and velocities, and of the joint impulses."""
        return self._largest("rate jumps", "joint impulses")

    def _largest(self, *names: str) -> float:
        return float(np.max([self[name].relative for name in names]))

    def __iter__(self) -> Iterator[Difference]:
        """Return an iterator over the differences, in order."""
        return iter(self.differences)

    def __getitem__(self, name: str) -> Difference:
        """Return the difference with this name. Raise UsageError if there is none."""
        matching = [d for d in self.differences if d.name == name]
        if not matching:
            raise UsageError(f"no difference is called {name!r}; there are {', '.join(repr(d.name) for d in self.differences)}.")
        return matching[0]

    def __str__(self) -> str:
        """Return the report: one line for each difference, marked if it is beyond the tolerance."""
        verdict = f"all within {self.tol:g}" if self.ok else f"BEYOND {self.tol:g}"
        size = f"{self.links} links, {self.freedoms} freedoms; {self.rows} rows"
        lines = [f"cross-check of {self.chain!r} ({size}): largest relative difference {self.worst:.1e}, {verdict}"]
        for d in self.differences:
            mark = " " if d.relative <= self.tol else "!"
            lines.append(f"{mark} {d.name:<20} {d.relative:8.1e}   of {d.scale:8.3g} {d.unit:<7}  {d.what}")
        return "\n".join(lines)


def masses(maximal: MaximalChain, M: Array) -> tuple[Difference, ...]:
    """Return the differences of N^T M N and crba's M (nv, nv), and of Phi_q N and zero."""
    n, nv, rows = maximal.chain.n, maximal.chain.nv, np.array(maximal.chain.order)
    columns = maximal.J.reshape(n, 6, nv).copy()
    columns[:, 3:] = np.einsum("nab,nak->nbk", maximal.motion.A, columns[:, 3:])  # omega_bar
    m, J_bar = maximal.model.mass[rows], maximal.model.J_bar[rows]
    projected = np.einsum("nai,n,naj->ij", columns[:, :3], m, columns[:, :3])
    projected = projected + np.einsum("nai,nab,nbj->ij", columns[:, 3:], J_bar, columns[:, 3:])
    N = np.zeros_like(columns)
    N[rows - 1] = columns
    left = maximal.rows.Phi_q @ N.reshape(6 * n, nv)
    scale, ways = largest(M), largest(N) * largest(maximal.rows.Phi_r, maximal.rows.PiBar)
    return (
        Difference("mass matrix", relative(M - projected, scale), scale, "kg m2", "crba, and N^T M N in maximal coordinates"),
        Difference("constraint rows", relative(left, ways), ways, "m", "Phi_q N and zero: no row opposes a freedom"),
    )


def momentum(maximal: MaximalChain, solution: MaximalSolution, motion: LinkMotion, external: Array) -> Difference:
    """Return the difference of the rates of the momenta about the base, by recursion, and the loads wrenches."""
    chain, order = maximal.chain, list(maximal.chain.order)
    m, arm = maximal.model.mass[order, None], motion.r - chain.base
    inertia = motion.A @ maximal.model.J_bar[order] @ np.swapaxes(motion.A, 1, 2)
    spin = np.einsum("nab,nb->na", inertia, motion.omega_dot)
    spin = spin + cross(motion.omega, np.einsum("nab,nb->na", inertia, motion.omega))
    rate, loads = m * motion.v_dot, m * chain.gravity + external[:, :3]
    change = np.concatenate([rate.sum(axis=0), (cross(arm, rate) + spin).sum(axis=0)])
    base, at = solution.wrench[0], motion.P[0] - chain.base
    moment = (cross(arm, loads) + external[:, 3:]).sum(axis=0) + base[3:] + cross(at, base[:3])
    applied = np.concatenate([loads.sum(axis=0) + base[:3], moment])
    length = max(length_of(maximal), largest(arm))
    gap, scale = relative_wrench(change[None], applied[None], largest(rate, loads, base[:3]), length)
    return Difference("momentum balance", gap, scale, "N", "change by recursion, and gravity, loads wrenches, base reaction by lam")


def power(maximal: MaximalChain, solution: MaximalSolution, qd: Array, external: Array) -> Difference:
    """Return the difference of the rate of the kinetic energy and the powers."""
    order, k = list(maximal.chain.order), maximal.motion
    m, J_bar = maximal.model.mass[order], maximal.model.J_bar[order]
    spin = np.einsum("nab,nbc,ndc,nd->na", k.A, J_bar, k.A, solution.u_dot[:, 3:])
    change = m * np.sum(k.v * solution.u_dot[:, :3], axis=1) + np.sum(k.omega * spin, axis=1)
    pushed = np.sum(external[:, :3] * k.v + external[:, 3:] * k.omega, axis=1)
    powers = np.concatenate([maximal.tau * qd, m * (k.v @ maximal.chain.gravity), pushed])
    scale = largest(change, powers)
    gap = relative(change.sum() - powers.sum(), scale)
    return Difference(
        "power balance", gap, scale, "W", "d/dt kinetic energy by the augmented system, and gravity, tau, loads wrenches"
    )


# Relative differences: the largest magnitude of a difference over the largest of its kind.
#
# wrenches (F, N)      N is measured against  max |N|, L |F|            L: how large the chain is
# twists (v, omega)    omega against  max |omega|, |v| / L;   v against  max |v|, L |omega|


def largest(*arrays: Any) -> float:
    """Return the largest magnitude; 0 for nothing."""
    return float(np.max([np.max(np.abs(a), initial=0.0) for a in arrays]))


def relative(difference: Any, scale: float) -> float:
    """Return the largest magnitude over `scale`; the magnitude itself if the scale is 0."""
    size = largest(difference)
    return size / scale if scale > 0.0 else size


def length_of(maximal: MaximalChain) -> float:
    """Return the length of the chain [m]: its extent, or a radius of gyration."""
    points = np.vstack([maximal.motion.P, maximal.motion.r])
    gyration = np.sqrt(np.trace(maximal.model.J_bar[1:], axis1=1, axis2=2) / maximal.model.mass[1:])
    return largest(np.ptp(points, axis=0), gyration)


def per(length: float) -> float:
    """Return 1 / length [1/m]; 0 for a chain of points, where nothing turns."""
    return 1.0 / length if length > 0.0 else 0.0


def relative_wrench(a: Array, b: Array, force: float, length: float) -> tuple[float, float]:
    """Return the relative difference of wrenches (n, 6), and the scale of the forces: `force` or larger."""
    force = max(force, largest(a[:, :3], b[:, :3]))
    moment = max(force * length, largest(a[:, 3:], b[:, 3:]))
    return max(relative(a[:, :3] - b[:, :3], force), relative(a[:, 3:] - b[:, 3:], moment)), force


def relative_twist(a: Array, b: Array, others: Array, length: float) -> tuple[float, float]:
    """Return the relative difference of velocities or accelerations (n, 6), and the scale of the linear part.

    others: (k, 6) other magnitudes of the kind, which enter the scale
    """
    angular = largest(a[:, 3:], b[:, 3:], others[:, 3:])
    linear = max(largest(a[:, :3], b[:, :3], others[:, :3]), length * angular)
    angular = max(angular, linear * per(length))
    return max(relative(a[:, :3] - b[:, :3], linear), relative(a[:, 3:] - b[:, 3:], angular)), linear


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
    solution = accelerations(maximal.model, maximal.state)
    u_dot = _by_links(maximal, solution.v_dot, solution.omega_bar_dot)
    bias = np.hstack([maximal.motion.v_dot, maximal.motion.omega_dot])
    return MaximalSolution(
        u_dot, _joint_wrenches(maximal, solution.lam) + actuators(maximal, maximal.tau), _reduced(maximal, u_dot - bias)
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
    for link, part, freedoms in _own_freedoms(maximal.chain):
        axes = k.axes[freedoms]
        x[freedoms] = np.linalg.solve(axes @ axes.T, axes @ (d, e)[part][link])
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
    for link, part, freedoms in _own_freedoms(maximal.chain):
        axes = maximal.motion.axes[freedoms]
        wrenches[link, 3 * part : 3 * part + 3] = np.linalg.solve(axes @ axes.T, tau[freedoms]) @ axes
    return wrenches


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
    solution, qdd, M = accelerated(maximal), aba(chain, q, qd, tau, wrenches=external), crba(chain, q)
    motion, carried = link_motion(chain, q, qd, qdd), joint_wrenches(chain, q, qd, qdd, wrenches=external)
    joints, *recursions = _joints(maximal, solution, q, qd, external, qdd, M, carried.tau)
    differences = (
        joints,
        _bodies(maximal, solution, motion),
        *recursions,
        *masses(maximal, M),
        _wrenches(maximal, solution, carried.wrench),
        *_impulses(maximal, struck(maximal, blows), q, blows),
        momentum(maximal, solution, motion, external),
        power(maximal, solution, qd, external),
    )
    return CrossCheck(chain.name, chain.n, chain.nv, maximal.model.nc, differences, float(tol))


def _default_blows(chain: SerialChain) -> Array:
    """Return 1 N s along (1, 1, 1) at the centre of mass of the last link."""
    blows = np.zeros((chain.n, 6))
    blows[-1, :3] = 1.0 / np.sqrt(3.0)
    return blows


def _joints(
    maximal: MaximalChain, solution: MaximalSolution, q: Array, qd: Array, external: Array, qdd: Array, M: Array, tau: Array
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
            relative(qdd - solution.qdd, scale),
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


def _bodies(maximal: MaximalChain, solution: MaximalSolution, motion: LinkMotion) -> Difference:
    """Return the difference of body accelerations, relative to gravity and bias accelerations as well."""
    terms = np.vstack([np.hstack([maximal.motion.v_dot, maximal.motion.omega_dot]), [*maximal.chain.gravity, 0.0, 0.0, 0.0]])
    gap, scale = relative_twist(solution.u_dot, np.hstack([motion.v_dot, motion.omega_dot]), terms, length_of(maximal))
    return Difference("body accelerations", gap, scale, "m/s2", "kinematics at aba's accelerations, and the augmented system")


def _wrenches(maximal: MaximalChain, solution: MaximalSolution, carried: Array) -> Difference:
    """Return the difference of joint wrenches, relative to the weight of the chain as well."""
    weight = float(maximal.model.mass.sum() * np.linalg.norm(maximal.chain.gravity))
    gap, scale = relative_wrench(carried, solution.wrench, weight, length_of(maximal))
    return Difference("joint wrenches", gap, scale, "N", "recursion from the tip, and -Phi_q^T lam with the actuators")


def _impulses(maximal: MaximalChain, jump: Jump, q: Array, blows: Array) -> tuple[Difference, ...]:
    """Return the differences of jumps and joint impulses, relative to the impulses and to the response of each link alone as well."""
    response, length = chain_impulse(maximal.chain, q, blows), length_of(maximal)
    m = maximal.model.mass[list(maximal.chain.order), None]
    alone = np.hstack([blows[:, :3] / m, blows[:, 3:] / m * per(length) ** 2])
    bodies, size = relative_twist((maximal.J @ response.dqd).reshape(-1, 6), jump.du, alone, length)
    scale = largest(response.dqd, jump.dqd, size * per(length))
    rates = max(relative(response.dqd - jump.dqd, scale), bodies)
    joints, impulses = relative_wrench(response.l, jump.wrench, largest(blows[:, :3], blows[:, 3:] * per(length)), length)
    return (
        Difference("rate jumps", rates, scale, "1/s", "articulated bodies, and the augmented system: joints and bodies"),
        Difference("joint impulses", joints, impulses, "N s", "articulated bodies, and -Phi_q^T Lam"),
    )
