"""Positions and velocities of an assembly: from any state to the nearest one at which all rows hold, by a damped Gauss-Newton method.

    min |d|_W   with   Phi + Phi_q d = 0,        r <- r + dr,   p <- p exp(dpi_bar)                                    repeated

    near       the step of `regularized_least_squares` with rows of length 1 and mu = (gap / size)^2: quadratic, also where rows
    depend on one another
    far        if that does not reduce the gap: Levenberg-Marquardt on sum (s Phi)^2 / 2, s the scale of a row to metres
    no way     if the gradient of that sum vanishes and the sum does not: the closest pose, at which the joints stay open
               if they do by no more than redundant rows may contradict each other, `diagnosis.settled` decides

Angles count in metres at the size of the model.  Held coordinates have no column; held joints are rows.

The table of a position analysis has a line for each iterate.

    iterate   |Phi|, the largest gap [m]   |dq|   condition of Phi_q   step

|dq| is the largest motion of a body from the iterate before, translations and rotations times the size of the model [m]. The condition is
that of Phi_q with rows of length 1, of its nonzero singular values. A step is the start of a search, or a Newton step.

Velocities: those nearest to the given ones, in kinetic energy, that fulfil the velocity constraints.

    min (u - u0)^T M (u - u0) / 2     with  Phi_q u = nu,   held coordinates as they are

Exact for any rank of Phi_q; of rows that contradict each other (two drivers of one motion) the least-squares solution.
Source: Nocedal and Wright (2006) ch. 10; the metric of mass from Eich (1993); Haug (2021), consistent initial velocities; Eich (1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import (
    Gradient,
    Pose,
    Problem,
    gradient,
    jacobian,
    moved,
    pose_at,
    row_lengths,
    times,
    unit_rows,
)
from haugmbd.analysis.assembly.regularized_least_squares import Metric, body_metric, exact_motion, geometric_metric, least_motion
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.state import State
from haugmbd.plotting.style import axes as own_axes
from haugmbd.plotting.style import set_title, side_legend

ITERATIONS = 200
"""Largest number of steps."""

LEAST_MU = 1e-13
"""mu of the last steps: rounding / sqrt(mu) is small in directions that the rows do not determine."""

HALVED = 0.5
"""A near step that leaves more than this part of the smallest gap so far is rejected."""

POOR, WORSE = 0.9, 2.0
"""After a far step that left more than the first part, one near step may increase the gap by the second: the first step of a long chain
turns its links, and the next one closes it.
"""

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e12
"""mu of Levenberg-Marquardt, for rows in metres and bodies of mass 1: first, smallest and largest value."""

FLAT = 1e-10
"""Relative decrease of the sum of squares of a step below which the pose is the closest."""

SLOW = 1e-3
"""Relative decrease of the sum of squares of a step that hardly reduces the gap; at a singular pose a step still takes three quarters."""

ROUNDING = 1e-10
"""Gap relative to the size of the model that is rounding if no step reduces it."""


FINE = 1e-12
"""Gap relative to the size of the model above which one more step follows where |Phi| is small in its own units: a squared distance of a
mechanism of millimetres is so before the distance is.
"""


class PositionSolution(NamedTuple):
    """The last pose, the number of steps, and whether all rows hold there."""

    pose: Pose
    iterations: int
    closed: bool


def close_positions(problem: Problem, start: State, iterations: int = ITERATIONS, patience: int = ITERATIONS) -> PositionSolution:
    """Return the position solution from `start`: a pose at which all rows hold, or the closest one after so many steps at most.

    patience: steps in a row that hardly reduce the gap, after which the search ends: near a closed pose every step does
    """
    pose = best = pose_at(problem, start)
    damping, patient, slow = FIRST_DAMPING, False, 0
    if problem.search is not None:
        problem.search.begin()
    for k in range(iterations):
        if problem.search is not None:
            problem.search.at(best)
        if best.worst <= problem.tol and best.furthest <= FINE * problem.size:
            return PositionSolution(best, k, True)
        new = _near(problem, pose)
        if best.worst <= problem.tol:
            return PositionSolution(min(new, best, key=lambda p: p.furthest), k + 1, True)
        if new.furthest <= HALVED * best.furthest:
            pose, best, patient, slow = new, new, False, 0
            continue
        if best.furthest <= ROUNDING * problem.size:
            return PositionSolution(min(new, best, key=lambda p: p.furthest), k, True)
        if patient and new.furthest <= WORSE * best.furthest:
            pose, patient = new, False
            continue
        new, damping = _far(problem, best, damping)
        slow = 0 if _sum(new) < (1.0 - SLOW) * _sum(best) else slow + 1
        if slow >= patience or not _sum(new) < (1.0 - FLAT) * _sum(best):
            return PositionSolution(best, k, best.furthest <= problem.loose * problem.size)
        pose, best, patient = new, new, not new.furthest <= POOR * best.furthest
    if best.worst <= problem.tol:
        return PositionSolution(min(_near(problem, best), best, key=lambda p: p.furthest), iterations, True)
    return PositionSolution(best, iterations, best.furthest <= problem.loose * problem.size)


def _sum(pose: Pose) -> float:
    return float(pose.gap @ pose.gap)


def _near(problem: Problem, pose: Pose) -> Pose:
    """Return the pose after a Gauss-Newton step, rows of length 1."""
    J, length = unit_rows(jacobian(problem, problem.metric, gradient(problem, pose.state, pose.rows)))
    mu = min(1.0, max(LEAST_MU, (pose.furthest / problem.size) ** 2))
    z = least_motion(J, pose.Phi / length, mu)
    return pose_at(problem, moved(problem, pose.state, z))


def _far(problem: Problem, pose: Pose, damping: float) -> tuple[Pose, float]:
    """Return the pose after a step that reduces the sum of squares, and the next damping; `pose` itself if there is none."""
    rows = gradient(problem, pose.state, pose.rows)
    J = times(rows.scale, jacobian(problem, problem.metric, rows))
    unit = float(row_lengths(J).max(initial=0.0)) or 1.0
    J = J / unit
    while damping <= MOST_DAMPING:
        z = least_motion(J, pose.gap / unit, damping)
        new = pose_at(problem, moved(problem, pose.state, z))
        if _sum(new) < _sum(pose):
            return new, max(LEAST_DAMPING, damping / 5.0)
        damping *= 4.0
    return pose, damping


ZERO_RTOL = 1e-10
"""Singular values smaller than this part of the largest are those of redundant rows."""


class NewtonRow(NamedTuple):
    """An iterate: its number, largest |Phi| in the units of the rows, largest gap [m], |dq| [m], condition of Phi_q, and the step to it."""

    iterate: int
    Phi: float
    gap: float
    dq: float
    condition: float
    step: str


@dataclass(frozen=True, eq=False)
class NewtonTable:
    """The iterates of a position analysis; print it, or `plot` it."""

    rows: tuple[NewtonRow, ...]

    def __str__(self) -> str:
        lines = [f"{'iterate':>7} {'|Phi|':>10} {'gap [m]':>10} {'|dq| [m]':>10} {'cond':>9}  step"]
        lines += [f"{r.iterate:7d} {r.Phi:10.2e} {r.gap:10.2e} {r.dq:10.2e} {r.condition:9.2e}  {r.step}" for r in self.rows]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Draw |Phi| and |dq| over the iterates, logarithmic; return the axes. Needs matplotlib."""
        axes = own_axes(axes)
        k = [row.iterate for row in self.rows]
        axes.semilogy(k, [max(row.Phi, 1e-17) for row in self.rows], "o-", label="|Phi|")
        axes.semilogy(k[1:], [max(row.dq, 1e-17) for row in self.rows[1:]], "s--", label="|dq| [m]")
        axes.set_xlabel("iterate")
        set_title(axes, "Newton's method: each step doubles the digits")
        side_legend(axes)
        return axes


def newton_table(poses: Sequence[tuple[Pose, bool]], size: float) -> NewtonTable:
    """Return the table of recorded poses, each with whether it starts a search; size: of the model [m]."""
    rows: list[NewtonRow] = []
    before: Pose | None = None
    for pose, starts in poses:
        dq = 0.0 if before is None else _motion(before, pose, size)
        if before is not None and dq == 0.0 and not starts:
            continue  # the last pose, once more
        rows.append(NewtonRow(len(rows), pose.worst, pose.furthest, dq, _condition(pose), "start" if starts else "Newton"))
        before = pose
    return NewtonTable(tuple(rows))


def _motion(before: Pose, after: Pose, size: float) -> float:
    """Return the largest motion of a body [m]."""
    a, b = before.state, after.state
    turns = np.linalg.norm(logarithm(product(conjugate(a.p), b.p)), axis=1)
    return float(np.maximum(np.linalg.norm(b.r - a.r, axis=1), size * turns).max())


def _condition(pose: Pose) -> float:
    """Return the condition of Phi_q, rows of length 1."""
    J = pose.rows.Phi_q.toarray()
    lengths = np.linalg.norm(J, axis=1, keepdims=True)
    values = np.linalg.svd(J / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    kept = values[values > ZERO_RTOL * values.max(initial=0.0)]
    return float(kept[0] / kept[-1]) if len(kept) else 1.0


LIGHTEST = 1e-8
"""Inertia of axes without inertia, relative to the body's largest."""

REMOVED = 1e-12
"""Rest of velocities, relative to the rates of the rows, that is rounding."""

FITTED = 1e-2
"""Part of the rest of velocities below which a correction that does not look at inertia has removed it: no rows contradict each other."""

PROJECTIONS = 2
"""Axes with hardly any inertia amplify the rounding of a projection, by 1 / LIGHTEST at most. The second projection removes that."""


class VelocitySolution(NamedTuple):
    """The state with its new velocities, and the largest |Phi_q u - nu| before and after, in the units of the rows per second."""

    state: State
    before: float
    after: float


def nearest_velocities(problem: Problem, state: State) -> VelocitySolution:
    """Return the nearest velocities that fulfil the constraints."""
    rows = evaluate(problem.model, state)
    G = gradient(problem, state, rows, velocities=True)
    nu = np.concatenate([rows.nu, [joint.rate for joint in problem.held.joints]])
    nu[problem.asleep] = 0.0
    metric = body_metric(problem.model, size=problem.size, lift=LIGHTEST)
    J, length = unit_rows(jacobian(problem, metric, G))
    before = left = rates(G, state) - nu
    new = state
    for _ in range(PROJECTIONS):
        new = _changed(problem, metric, new, exact_motion(J, left / length))
        left = rates(G, new) - nu
    new, left = _fitted(problem, G, nu, new, left)
    return VelocitySolution(new, _largest(before), _largest(left))


def _fitted(problem: Problem, G: Gradient, nu: Array, state: State, left: Array) -> tuple[State, Array]:
    """Return the velocities, and their rest, after a correction in lengths and angles if that fulfils the rows.

    In the metric of inertia the rows between a light body and a heavy one hardly see the heavy one: with masses nine orders apart its
    motion is a direction of a singular value of 1e-5, and what is left of it is no contradiction. Rows that contradict each other keep
    the least-squares solution of the nearest velocities.
    """
    if _largest(left) <= REMOVED * max(_largest(nu), _largest(rates(G, state))):
        return state, left
    metric = geometric_metric(problem.model.nb, problem.size)
    J, length = unit_rows(jacobian(problem, metric, G))
    new, rest = state, left
    for _ in range(PROJECTIONS):
        new = _changed(problem, metric, new, exact_motion(J, rest / length))
        rest = rates(G, new) - nu
    return (new, rest) if _largest(rest) < FITTED * _largest(left) else (state, left)


def _changed(problem: Problem, metric: Metric, state: State, z: Array) -> State:
    """Return the state with the velocities u + W^(-1/2) z of the free columns."""
    full = np.zeros(6 * problem.model.nb)
    full[problem.held.free] = z
    du = np.einsum("kab,kb->ka", metric.inverse, full.reshape(-1, 6))
    du.ravel()[~problem.held.free] = 0.0
    v, omega_bar = state.v.copy(), state.omega_bar.copy()
    v[1:] += du[:, :3]
    omega_bar[1:] += du[:, 3:]
    return state.replace(v=v, omega_bar=omega_bar)


def rates(G: Gradient, state: State) -> Array:
    """Return Phi_q u, (nr,)."""
    u = np.hstack([state.v, state.omega_bar])
    u[0] = 0.0
    moving: Array = np.einsum("rsc,rsc->r", G.J, u[G.bodies])
    return moving


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
