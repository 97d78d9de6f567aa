r"""Redundant rows of an assembly: the independent ones are closed to rounding, and what the others are off by then is measured.

    all rows hold                      nothing to do
    else, at the closest pose          rows that depend on the others all along the motion are left out, and the rest is closed
    what they are off by is            at most the tolerance: assembled, and told         more: refused, with their joints

A mechanism whose lengths do not fit has dependent rows at its closest pose, too, but only there: it stays open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.constraint_system import NONE, Pose, Problem, pose_at
from haugmbd.analysis.assembly.position_solver import ROUNDING, PositionSolution, close_positions
from haugmbd.compiled.array_types import Ints
from haugmbd.math.euler_parameters import conjugate, logarithm, product
from haugmbd.model.state import State
from haugmbd.redundancy.redundancy import find_redundancy
from haugmbd.system.checks.constraint_residuals import constraint_gaps
from haugmbd.system.checks.contradictions import Contradiction, contradictions_at
from haugmbd.tolerances import CONTRADICTION, GROWTH, LARGEST_TOLERANCE

SLID = 20.0
"""Times the gap of the start, relative to the size, that bodies move where redundant rows which do not fit drive them along the motion that
the mechanism should have: to a place where they happen to fit."""


class Settled(NamedTuple):
    """A position solution, and the problem without the redundant rows that it leaves out, with what they are off by.

    contradictions: also those beyond the tolerance, of a solution that is not closed
    """

    problem: Problem
    solution: PositionSolution
    left_out: Ints = NONE
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def limit(self) -> float:
        """Return the misfit up to which rows of the closed pose are redundant: their contradiction has been judged, if they are."""
        return LARGEST_TOLERANCE if len(self.left_out) else CONTRADICTION


def settled(problem: Problem, solution: PositionSolution, start: State) -> Settled:
    """Return the solution with its independent rows closed, if redundant rows are what keeps it open; otherwise as it is.

    start: where the solution came from; the nearest pose to it is the one that closes the independent rows from there
    """
    pose, model = solution.pose, problem.model
    exact = pose.worst <= problem.tol or pose.furthest <= ROUNDING * problem.size
    as_it_is = Settled(problem, solution._replace(closed=exact))
    begun = pose_at(problem, start)
    near = [begun] if begun.furthest <= LARGEST_TOLERANCE * problem.size else []
    slid = bool(near) and _way(problem, start, pose.state) > SLID * begun.furthest / problem.size + ROUNDING
    if not model.nc or (pose.worst <= problem.tol and not slid) or not pose.furthest <= LARGEST_TOLERANCE * problem.size:
        return as_it_is
    rule, given, allowed = model.redundancy.rule, model.redundancy.given, model.redundancy.limit
    for by, limit in ((given, CONTRADICTION), (None, LARGEST_TOLERANCE)):  # the second for the cause only
        for at in (*near, pose):
            redundancy = find_redundancy(model, at.rows, rule, by, limit)
            if redundancy.only_here or not redundancy.dropped:
                continue
            rows = np.array(redundancy.dropped, dtype=np.int64)
            rest = problem._replace(asleep=np.union1d(problem.asleep, rows), loose=0.0)
            again = close_positions(rest, start)
            again = again if again.closed else close_positions(rest, pose.state)
            if not again.closed:
                continue
            found = contradictions_at(model, redundancy, again.pose.state)
            if found and found[0].part > allowed:
                return Settled(problem, solution._replace(closed=False), NONE, found)
            if limit == CONTRADICTION:
                return Settled(rest, again._replace(iterations=solution.iterations + again.iterations), rows, found)
    return as_it_is


def _way(problem: Problem, start: State, end: State) -> float:
    """Return the largest displacement of a body relative to the size, or its rotation [rad]."""
    turn = float(np.linalg.norm(logarithm(product(conjugate(start.p), end.p)), axis=1).max(initial=0.0))
    return max(turn, float(np.abs(end.r - start.r).max(initial=0.0)) / problem.size)


def redundant_rows_hold(problem: Problem, pose: Pose) -> bool:
    """Return whether the rows that are left out hold at another pose, as far as they may contradict each other along a motion."""
    if not len(problem.asleep):
        return True
    measured = constraint_gaps(problem.model, pose.rows, pose.state.t)
    gap = np.abs(measured.gap / np.where(measured.is_angle, 1.0, problem.size))[problem.asleep]
    return bool(gap.max(initial=0.0) <= GROWTH * problem.model.redundancy.limit)
