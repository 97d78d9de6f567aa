r"""The closed pose nearest to a start, from wherever the start is.

    near     Newton's method from the start, as it is
    far      candidates: Newton's method; a search on geodesic rows in the metric of masses; one in that of geometry; each closed by
             Newton's method; of those with all joints in the sense that is meant the nearest one, moved along the closed poses
    none     the same from other starts, shaken at random: a single local minimum does not prove that there is no closed pose

Of large models the first closed candidate is taken, as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.assembly.branch_signs import Sign, flipped
from haugmbd.analysis.assembly.constraint_system import Pose, Problem
from haugmbd.analysis.assembly.far_starts.geodesic_rows import GeodesicRows
from haugmbd.analysis.assembly.far_starts.nearest_pose import distance, nearest
from haugmbd.analysis.assembly.far_starts.pose_search import geometry_metric, search, shaken
from haugmbd.analysis.assembly.far_starts.tree_starts import moved_along_tree
from haugmbd.analysis.assembly.position_solver import PositionSolution, close_positions
from haugmbd.math.euler_parameters import conjugate, lengths, logarithm, product
from haugmbd.model.state import State

NEAR = 0.3
"""Largest gap of a start, relative to the size of the model and in radians, from which Newton's method is taken alone."""

MOVED = 0.1
"""Largest motion of a body, in the same units, that is the least up to second order as it is: the excess is below half a percent."""

HOLDS = 1e-6
"""Largest gap of a row, relative to the size of the model, that holds at a start: as of joints typed with six digits."""

SMALL = 40
"""Bodies of a model of which all candidates are compared. Of a larger one the first is taken that closes."""

ATTEMPT = 60
"""Largest number of Newton steps from a far start: from one that is right it takes some ten."""

RESTARTS, FEW = 12, 4
"""Number of other starts if the first does not close, of small and of large models."""

AGREE, ENOUGH = 1e-2, 4
"""Relative difference of the sums of squares below which two starts have found the same closest pose; so many times it is believed."""

SHAKES = ((0.2, 0.1, 0.5), (0.5, 0.5, 1.0), (1.0, 0.5, 3.0))
"""Displacements of other starts, in turn: along a tree in parts of half a turn, or each body in parts of the size of the model, and in
radians.
"""

SEED = 20260501
"""Seed of the other starts, so that an assembly can be repeated."""


class Closing(NamedTuple):
    """The closed pose, or the closest one, and the number of starts that were tried."""

    solution: PositionSolution
    tries: int


def is_near(problem: Problem, pose: Pose, begun: tuple[str, ...]) -> bool:
    """Return whether Newton's method is taken from the pose alone;  begun: joints in the opposite sense there."""
    return not begun and pose.furthest <= NEAR * problem.size


def close_from_afar(problem: Problem, signs: tuple[Sign, ...], start: State, first: PositionSolution) -> Closing:
    """Return the closed pose nearest to the start of the problem, or the closest pose if none is found.

    start: where the search begins;  first: the end of Newton's method from there
    """
    small = problem.model.nb <= SMALL
    found: list[PositionSolution] = []
    best, steps = first, first.iterations
    if _right(problem, signs, first):
        found.append(first)
    if not found or small:
        rows = GeodesicRows(problem)
        for other in _candidates(problem, rows, start):
            steps += other.iterations
            best = _closer(best, other)
            if _right(problem, signs, other):
                found.append(other)
                if not small:
                    break
    if found:
        return Closing(_nearest_of(problem, found)._replace(iterations=steps), 1)
    return _from_elsewhere(problem, signs, rows, start, best._replace(iterations=steps))


def _from_elsewhere(problem: Problem, signs: tuple[Sign, ...], rows: GeodesicRows, start: State, best: PositionSolution) -> Closing:
    """Return a closed pose found from other starts, or the closest pose of all."""
    random, steps, same = np.random.default_rng(SEED), best.iterations, 0
    restarts = RESTARTS if problem.model.nb <= SMALL else FEW
    for k in range(restarts):
        for other in _candidates(problem, rows, _another(problem, start, random, k)):
            steps += other.iterations
            if _right(problem, signs, other):
                return Closing(_nearest_of(problem, [other])._replace(iterations=steps), k + 2)
            one, two = _sum(other), _sum(best)
            same = same + 1 if abs(one - two) <= AGREE * two else same if one > two else 0
            best = _closer(best, other)
        if same >= ENOUGH:
            return Closing(best._replace(iterations=steps), k + 2)
    return Closing(best._replace(iterations=steps), restarts + 1)


def _another(problem: Problem, start: State, random: np.random.Generator, k: int) -> State:
    """Return the k-th other start: the bodies shaken each, or moved along a tree of joints where no body is held."""
    part, shift, turn = SHAKES[k // 2 % len(SHAKES)]
    if k % 2 == 0 and problem.held.free.all():
        return moved_along_tree(problem.model, start, random, part)
    return shaken(problem, start, random, shift, turn)


def _candidates(problem: Problem, rows: GeodesicRows, start: State) -> Iterator[PositionSolution]:
    """Yield the ends of the searches from a start, each after Newton's method: in the two metrics, and with closed rows kept."""
    missing = np.abs(rows.at(start).missing)
    kept = missing <= HOLDS * problem.size
    geometry = geometry_metric(problem)
    for metric, held in ((problem.metric, None), (geometry, None), *([(geometry, kept)] if kept.any() else [])):
        end = search(problem._replace(metric=metric), rows, start, held)
        closed = close_positions(problem._replace(search=None), end.pose.state, ATTEMPT)
        yield closed._replace(iterations=end.steps + closed.iterations)


def _right(problem: Problem, signs: tuple[Sign, ...], solution: PositionSolution) -> bool:
    """Return whether all joints are closed, in the sense that is meant."""
    return solution.closed and not flipped(problem.model, signs, solution.pose.state)


def _closer(one: PositionSolution, other: PositionSolution) -> PositionSolution:
    """Return the solution that is closed, or less open."""
    if one.closed != other.closed:
        return one if one.closed else other
    return other if _sum(other) < _sum(one) else one


def _sum(solution: PositionSolution) -> float:
    return float(solution.pose.gap @ solution.pose.gap)


def _nearest_of(problem: Problem, found: list[PositionSolution]) -> PositionSolution:
    """Return the nearest of the closed poses, each moved along the closed poses."""
    moved: list[PositionSolution] = []
    for closed in found:
        if not any(_same(problem, closed.pose.state, other.pose.state) for other in moved):
            moved.append(brought_near(problem, closed))
    return min(moved, key=lambda c: distance(problem, c.pose.state))


def brought_near(problem: Problem, closed: PositionSolution) -> PositionSolution:
    """Return the closed pose nearest to the start, if `closed` is so far from it that it need not be, and the model is small."""
    if problem.model.nb > SMALL or _motion(problem, problem.held.start, closed.pose.state) <= MOVED:
        return closed
    return nearest(problem, closed)


SAME = 1e-6
"""Largest motion between two poses that are the same, relative to the size of the model and in radians."""


def _same(problem: Problem, one: State, other: State) -> bool:
    return _motion(problem, one, other) <= SAME


def _motion(problem: Problem, one: State, other: State) -> float:
    """Return the largest motion of a body, relative to the size of the model and in radians."""
    shift = float(lengths(other.r - one.r).max())
    turn = float(lengths(logarithm(product(conjugate(one.p), other.p))).max())
    return max(shift / problem.size, turn)
