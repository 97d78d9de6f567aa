r"""Levenberg-Marquardt on geodesic rows: from any pose to one near a closed one, whose rows Newton's method then closes.

    min |J z + rho|^2 / 2 + mu |z|^2 / 2        accepted if the sum of squares falls, at mu / FASTER; else mu * SLOWER

Rows that hold at the start can be kept: they have mu = 0, and are closed again after each step. The search then moves along the motions
of an open mechanism, such as the tree of a robot whose loops are open, where a step of all rows pulls the tree apart.

The metric is that of the masses, in which the step is the least motion, or of geometry: all bodies of mass 1, turns times the arms of
their rows. Where bodies of 1 g hang on bodies of 1 t the second one finds poses that the first one does not.
Source: Nocedal and Wright (2006) ch. 10.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.assembly.constraint_system import Problem, displaced, jacobian, moved, row_lengths
from haugmbd.analysis.assembly.far_starts.geodesic_rows import GeodesicPose, GeodesicRows
from haugmbd.analysis.assembly.regularized_least_squares import Metric, least_motion
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import lengths
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.state import State

Flags = npt.NDArray[np.bool_]

STEPS = 150
"""Largest number of steps of a search."""

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e8
"""mu for rows whose longest has length 1: first, smallest and largest value."""

FASTER, SLOWER = 5.0, 4.0
"""Factors of mu after a step that is accepted, and after one that is not."""

NEARLY = 1e-6
"""Rows that miss less than this part of the size of the model are left to Newton's method, which squares it with each step."""

LARGEST_TURN = 2.0
"""[rad] A step turns no body further."""

RIGID = 1e-10
"""mu of rows that are kept: they hold up to this part."""

CLOSINGS, CLOSED, KEPT = 4, 1e-4, 1e-2
"""Newton steps by which kept rows are closed after a step, at most; their sum of squares, relative to that of the others, at which they
are closed; and relative to that before the step, above which the step is rejected.
"""

SLOW, PATIENCE = 1e-3, 8
"""Relative decrease of the sum of squares by which so many steps in a row must be exceeded once: else the search is in a local minimum."""

SHORTEST_ARM = 1.0
"""Least arm of a body in the metric of geometry, relative to the size of the model: a body that is held at its centre turns about it."""


class SearchEnd(NamedTuple):
    """The last pose of a search, the number of its steps, and whether it is near a closed one."""

    pose: GeodesicPose
    steps: int
    near: bool


def search(problem: Problem, rows: GeodesicRows, start: State, kept: Flags | None = None, steps: int = STEPS) -> SearchEnd:
    """Return the end of a search from `start`, in the metric of `problem`.

    kept: (nr,) rows that hold at the start, and at every pose of the search
    """
    pose, damping, slow = rows.at(start), FIRST_DAMPING, 0
    kept = np.zeros(len(pose.missing), dtype=bool) if kept is None else kept
    if problem.search is not None:
        problem.search.begin()
    for k in range(steps):
        if problem.search is not None:
            problem.search.at(pose.plain)
        if pose.furthest <= NEARLY * problem.size:
            return SearchEnd(pose, k, True)
        new, damping = _step(problem, rows, pose, damping, kept)
        slow = slow + 1 if not _total(new, ~kept) < (1.0 - SLOW) * _total(pose, ~kept) else 0
        if new is pose or slow >= PATIENCE:
            return SearchEnd(new, k, False)
        pose = new
    return SearchEnd(pose, steps, pose.furthest <= NEARLY * problem.size)


def _total(pose: GeodesicPose, some: Flags) -> float:
    """Return the sum of the squares of some rows [m2]."""
    return float(pose.missing[some] @ pose.missing[some])


def _step(problem: Problem, rows: GeodesicRows, pose: GeodesicPose, damping: float, kept: Flags) -> tuple[GeodesicPose, float]:
    """Return the pose after a step that reduces the sum of squares, and the next damping; `pose` itself if there is none."""
    J = jacobian(problem, problem.metric, pose.rows)
    unit = float(row_lengths(J).max(initial=0.0)) or 1.0
    J = J / unit
    total = _total(pose, ~kept)
    while damping <= MOST_DAMPING:
        z = least_motion(J, pose.missing / unit, np.where(kept, RIGID, damping))
        d = _motion(problem, z)
        if (
            float(lengths(d[:, 3:]).max(initial=0.0)) > LARGEST_TURN
        ):  # a shorter step has another direction, unlike a part of this one
            damping *= SLOWER
            continue
        new = rows.at(displaced(pose.state, d))
        if kept.any():
            new = _kept_closed(problem, rows, new, kept)
        if _total(new, ~kept) < total and _total(new, kept) <= KEPT * max(total, _total(pose, kept)):
            return new, max(LEAST_DAMPING, damping / FASTER)
        damping *= SLOWER
    return pose, damping


def _motion(problem: Problem, z: Array) -> Array:
    """Return the motion (nb, 6) of the bodies in a step z of the free columns."""
    full = np.zeros(6 * problem.model.nb)
    full[problem.held.free] = z
    d = np.einsum("kab,kb->ka", problem.metric.inverse, full.reshape(-1, 6))
    d.ravel()[~problem.held.free] = 0.0
    return np.asarray(d)


def _kept_closed(problem: Problem, rows: GeodesicRows, pose: GeodesicPose, kept: Flags) -> GeodesicPose:
    """Return the pose after a few Newton steps on the rows that are kept."""
    for _ in range(CLOSINGS):
        if _total(pose, kept) <= CLOSED * _total(pose, ~kept):
            break
        J = jacobian(problem, problem.metric, pose.rows)[kept]
        unit = float(row_lengths(J).max(initial=0.0)) or 1.0
        pose = rows.at(moved(problem, pose.state, least_motion(J / unit, pose.missing[kept] / unit, RIGID)))
    return pose


def geometry_metric(problem: Problem) -> Metric:
    """Return the metric of bodies of mass 1, whose turns count by the longest arm of their rows at the start."""
    arms = evaluate(problem.model, problem.held.start).longest_arms[1:]
    arms = np.maximum(np.where(arms > 0.0, arms, problem.size), SHORTEST_ARM * problem.size)
    root = np.zeros((problem.model.nb, 6, 6))
    root[:, :3, :3] = np.eye(3)
    root[:, 3:, 3:] = arms[:, None, None] * np.eye(3)
    inverse = np.zeros_like(root)
    inverse[:, :3, :3] = np.eye(3)
    inverse[:, 3:, 3:] = np.eye(3) / arms[:, None, None]
    return Metric(root, inverse)


def shaken(problem: Problem, start: State, random: np.random.Generator, shift: float, turn: float) -> State:
    """Return the start with bodies displaced at random, by parts of the size of the model and radians, as far as they may move."""
    shake: Array = random.uniform(-1.0, 1.0, (problem.model.nb, 6)) * np.repeat([shift * problem.size, turn], 3)
    shake.ravel()[~problem.held.free] = 0.0
    return displaced(start, shake)
