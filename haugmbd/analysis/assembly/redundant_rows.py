r"""Redundant rows of an assembly: the independent ones are closed to rounding, and what the others are off by then is measured.

    all rows hold                      nothing to do
    else, at the closest pose          rows that depend on the others all along the motion are left out, and the rest is closed
    what they are off by is            at most the tolerance: assembled, and told         more: refused, with their joints

A mechanism whose lengths do not fit has dependent rows at its closest pose, too, but only there: it stays open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import NONE, Pose, Problem
from haugmbd.analysis.assembly.position_solver import ROUNDING, PositionSolution, close_positions
from haugmbd.compiled.array_types import Ints
from haugmbd.redundancy.redundancy import find_redundancy
from haugmbd.system.checks.constraint_residuals import constraint_gaps
from haugmbd.system.checks.contradictions import NEAR, Contradiction, contradictions_at
from haugmbd.tolerances import GROWTH


class Settled(NamedTuple):
    """A position solution, and the problem without the redundant rows that it leaves out, with what they are off by.

    contradictions: also those beyond the tolerance, of a solution that is not closed
    """

    problem: Problem
    solution: PositionSolution
    left_out: Ints = NONE
    contradictions: tuple[Contradiction, ...] = ()


def settled(problem: Problem, solution: PositionSolution) -> Settled:
    """Return the solution with its independent rows closed, if redundant rows are what keeps it open; otherwise as it is."""
    pose, model = solution.pose, problem.model
    exact = pose.worst <= problem.tol or pose.furthest <= ROUNDING * problem.size
    as_it_is = Settled(problem, solution._replace(closed=exact))
    if pose.worst <= problem.tol or not pose.furthest <= NEAR * problem.size or not model.nc:
        return as_it_is
    redundancy = find_redundancy(model, pose.rows, model.redundancy.rule, model.redundancy.given)
    if redundancy.only_here or not redundancy.dropped:
        return as_it_is
    rows = np.array(redundancy.dropped, dtype=np.int64)
    rest = problem._replace(asleep=np.union1d(problem.asleep, rows), loose=0.0)
    again = close_positions(rest, pose.state)
    if not again.closed:
        return as_it_is
    found = contradictions_at(model, redundancy, again.pose.state)
    if found and found[0].part > redundancy.limit:
        return as_it_is._replace(contradictions=found)
    return Settled(rest, again._replace(iterations=solution.iterations + again.iterations), rows, found)


def redundant_rows_hold(problem: Problem, pose: Pose) -> bool:
    """Return whether the rows that are left out hold at another pose, as far as they may contradict each other along a motion."""
    if not len(problem.asleep):
        return True
    measured = constraint_gaps(problem.model, pose.rows, pose.state.t)
    gap = np.abs(measured.gap / np.where(measured.is_angle, 1.0, problem.size))[problem.asleep]
    return bool(gap.max(initial=0.0) <= GROWTH * problem.model.redundancy.limit)
