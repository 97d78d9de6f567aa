r"""Positions: from any state to the nearest one at which all rows hold, by a damped Gauss-Newton method.

    min |d|_W   with   Phi + Phi_q d = 0,        r <- r + dr,   p <- p exp(dpi_bar)                                    repeated

    near       the step of `regularized_least_squares` with rows of length 1 and mu = (gap / size)^2: quadratic, also where rows
    depend on one another
    far        if that does not reduce the gap: Levenberg-Marquardt on sum (s Phi)^2 / 2, s the scale of a row to metres
    no way     if the gradient of that sum vanishes and the sum does not: the closest pose, at which the joints stay open
               if they do by no more than redundant rows may contradict each other, `diagnosis.settled` decides

Angles count in metres at the size of the model.  Held coordinates have no column; held joints are rows.
Source: Nocedal and Wright (2006) ch. 10; the metric of mass from Eich (1993).
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.analysis.assembly.constraint_system import (
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
from haugmbd.analysis.assembly.regularized_least_squares import least_motion
from haugmbd.model.state import State

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


def close_positions(problem: Problem, start: State, iterations: int = ITERATIONS) -> PositionSolution:
    """Return the position solution from `start`: a pose at which all rows hold, or the closest one after so many steps at most."""
    pose = best = pose_at(problem, start)
    damping, patient = FIRST_DAMPING, False
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
            pose, best, patient = new, new, False
            continue
        if best.furthest <= ROUNDING * problem.size:
            return PositionSolution(min(new, best, key=lambda p: p.furthest), k, True)
        if patient and new.furthest <= WORSE * best.furthest:
            pose, patient = new, False
            continue
        new, damping = _far(problem, best, damping)
        if not _sum(new) < (1.0 - FLAT) * _sum(best):
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
