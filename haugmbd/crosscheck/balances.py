"""Differences of a cross-check, and the balances of the whole chain: mass matrix, constraint rows, momentum and power.

    M           crba                                  N^T M N in maximal coordinates,   N: the columns u of each q_dot
    Phi_q N     0                                     no row opposes a freedom
    d/dt sum m v,  d/dt sum (r - base) x m v + J omega        accelerations by recursion
                gravity, loads wrenches, and the base reaction by lam
    d/dt T      u_dot of the augmented system         power of gravity, tau and loads wrenches
Source: Haug (2021), virtual work: ideal constraints have no power; Featherstone 2008, ch. 3 (projected mass matrix).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.crosscheck.maximal import MaximalChain, MaximalSolution
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross
from haugmbd.serial_chain.recursions.link_motion import LinkMotion


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
class CrossCheck:
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
        found = [d for d in self.differences if d.name == name]
        if not found:
            raise UsageError(f"no difference is called {name!r}; there are {', '.join(repr(d.name) for d in self.differences)}.")
        return found[0]

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


def momentum(maximal: MaximalChain, found: MaximalSolution, motion: LinkMotion, external: Array) -> Difference:
    """Return the difference of the rates of the momenta about the base, by recursion, and the loads wrenches."""
    chain, order = maximal.chain, list(maximal.chain.order)
    m, arm = maximal.model.mass[order, None], motion.r - chain.base
    inertia = motion.A @ maximal.model.J_bar[order] @ np.swapaxes(motion.A, 1, 2)
    spin = np.einsum("nab,nb->na", inertia, motion.omega_dot)
    spin = spin + cross(motion.omega, np.einsum("nab,nb->na", inertia, motion.omega))
    rate, loads = m * motion.v_dot, m * chain.gravity + external[:, :3]
    change = np.concatenate([rate.sum(axis=0), (cross(arm, rate) + spin).sum(axis=0)])
    base, at = found.wrench[0], motion.P[0] - chain.base
    moment = (cross(arm, loads) + external[:, 3:]).sum(axis=0) + base[3:] + cross(at, base[:3])
    given = np.concatenate([loads.sum(axis=0) + base[:3], moment])
    length = max(length_of(maximal), largest(arm))
    gap, scale = relative_wrench(change[None], given[None], largest(rate, loads, base[:3]), length)
    return Difference("momentum balance", gap, scale, "N", "change by recursion, and gravity, loads wrenches, base reaction by lam")


def power(maximal: MaximalChain, found: MaximalSolution, qd: Array, external: Array) -> Difference:
    """Return the difference of the rate of the kinetic energy and the powers."""
    order, k = list(maximal.chain.order), maximal.motion
    m, J_bar = maximal.model.mass[order], maximal.model.J_bar[order]
    spin = np.einsum("nab,nbc,ndc,nd->na", k.A, J_bar, k.A, found.u_dot[:, 3:])
    change = m * np.sum(k.v * found.u_dot[:, :3], axis=1) + np.sum(k.omega * spin, axis=1)
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


def relative_twist(a: Array, b: Array, known: Array, length: float) -> tuple[float, float]:
    """Return the relative difference of velocities or accelerations (n, 6), and the scale of the linear part.

    known: (k, 6) other magnitudes of the kind, which enter the scale
    """
    angular = largest(a[:, 3:], b[:, 3:], known[:, 3:])
    linear = max(largest(a[:, :3], b[:, :3], known[:, :3]), length * angular)
    angular = max(angular, linear * per(length))
    return max(relative(a[:, :3] - b[:, :3], linear), relative(a[:, 3:] - b[:, 3:], angular)), linear
