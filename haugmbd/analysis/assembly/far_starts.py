"""Assembly from far: the closed pose nearest to a start, from wherever the start is; rows are measured by the turn that is missing.

    near     Newton's method from the start, as it is
    far      candidates: Newton's method; a search on geodesic rows in the metric of masses; one in that of geometry; each closed by
             Newton's method; of those with all joints in the sense that is meant the nearest one, moved along the closed poses
    none     the same from other starts, shaken at random: a single local minimum does not prove that there is no closed pose

Of large models the first closed candidate is taken, as it is.

The search: Levenberg-Marquardt on `geodesic_rows`, from any pose to one near a closed one, whose rows Newton's method then closes.

    min |J z + rho|^2 / 2 + mu |z|^2 / 2        accepted if the sum of squares falls, at mu / FASTER; else mu * SLOWER

Rows that hold at the start can be kept: they have mu = 0, and are closed again after each step. The search then moves along the motions
of an open mechanism, such as the tree of a robot whose loops are open, where a step of all rows pulls the tree apart.

The metric is that of the masses, in which the step is the least motion, or of geometry: all bodies of mass 1, turns times the arms of
their rows. Where bodies of 1 g hang on bodies of 1 t the second one finds poses that the first one does not.

Other starts: the joints of a spanning tree at random angles and displacements; bodies move rigidly with all bodies beyond the joint.

The joints of the tree stay closed if they are so; only loops open.

The nearest of the closed poses: steps along the closed poses, down the distance, each closed again.

    distance^2 = d^T W d,   d = (r - r0, log(p0^-1 p))          g = W^(1/2) d
    step       z = -s P g,  P the projection on the null space of J = Phi_q W^(-1/2);  s by Barzilai and Borwein, halved where it does
               not fall

At the nearest pose P g = 0: the motion that is left is across all motions that the joints allow. A correction that is small in
comparison with the arms of the mechanism is so to second order.
Source: Absil, Mahony and Sepulchre (2008), ch. 4 (line search on a manifold with a retraction); Barzilai and Borwein (1988); Nocedal
and Wright (2006) ch. 10; derived here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.assembly.branches import Sign, flipped, turned
from haugmbd.analysis.assembly.constraint_system import Pose, Problem, displaced, gradient, jacobian, moved, row_lengths, unit_rows
from haugmbd.analysis.assembly.geodesic_rows import GeodesicPose, GeodesicRows
from haugmbd.analysis.assembly.position_solver import PositionSolution, close_positions
from haugmbd.analysis.assembly.regularized_least_squares import Metric, exact_motion, least_motion
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind
from haugmbd.constraints.freedoms import Side as OnBody
from haugmbd.math.euler_parameters import conjugate, from_axis_angle, lengths, logarithm, product, rotation_matrix
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State

ALONG = 0.1
"""Part of the distance along which the joints allow a motion, below which a pose is the nearest: its square over 2 is the excess."""

DESCENT_STEPS, CLOSING, HALVINGS = 40, 12, 6
"""Largest number of steps, of Newton steps that close each, and of halvings of a step."""

NEAR_ENOUGH = 1e-2
"""Part of the decrease of the squared distance that the slope promises, 2 s |P g|^2, which a step must reach (half of this)."""

SWEEPS = 30
"""Sweeps of a projection: directions of a tiny singular value count as motions that the joints allow."""


def motion_from(problem: Problem, state: State) -> Array:
    """Return W^(1/2) d of the free columns, d the motion from the start to `state`."""
    start = problem.held.start
    d = np.hstack([state.r - start.r, logarithm(product(conjugate(start.p), state.p))])[1:]
    return np.asarray(np.einsum("kab,kb->ka", problem.metric.half, d).ravel()[problem.held.free])


def distance(problem: Problem, state: State) -> float:
    """Return the distance of a state from the start, in the metric of the problem."""
    return float(np.linalg.norm(motion_from(problem, state)))


def along_the_joints(problem: Problem, pose: Pose, g: Array) -> Array:
    """Return the part of g (n,) that the joints allow at a pose."""
    J, _ = unit_rows(jacobian(problem, problem.metric, gradient(problem, pose.state, pose.rows)))
    return np.asarray(g + exact_motion(J, J @ g, sweeps=SWEEPS))


def nearest(problem: Problem, closed: PositionSolution) -> PositionSolution:
    """Return the closed pose nearest to the start that descent along the closed poses from `closed` leads to."""
    quiet = problem._replace(search=None)
    g = motion_from(problem, closed.pose.state)
    down = along_the_joints(problem, closed.pose, g)
    step = 1.0
    for _ in range(DESCENT_STEPS):
        if float(np.linalg.norm(down)) <= ALONG * float(np.linalg.norm(g)):
            break
        for _ in range(HALVINGS):
            other = close_positions(quiet, moved(problem, closed.pose.state, -step * down), CLOSING)
            new = motion_from(problem, other.pose.state)
            if other.closed and new @ new <= g @ g - NEAR_ENOUGH * step * (down @ down):
                break
            step *= 0.5
        else:
            break
        closed = other._replace(iterations=closed.iterations + other.iterations)
        before, g = down, new
        down = along_the_joints(problem, closed.pose, g)
        change = down - before
        step = float(np.clip(-(step * before @ change) / max(float(change @ change), 1e-300), 0.1, 10.0))
    return closed


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
        d = _motion_of(problem, z)
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


def _motion_of(problem: Problem, z: Array) -> Array:
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


def random_starts(model: Model, state: State, n: int, seed: int) -> Iterator[State]:
    """Yield `n` states with the joints of a spanning tree at random angles and displacements."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        yield moved_along_tree(model, state, random)


def moved_along_tree(model: Model, state: State, random: np.random.Generator, part: float = 1.0) -> State:
    """Return the state with the joints of a spanning tree moved: by up to this part of half a turn and of the size of the model."""
    for e, child, group in spanning_tree(model):
        state = _moved_at(state, e, child, group, random, part, model.length)
    return state


def spanning_tree(model: Model) -> list[tuple[JointEntry, int, frozenset[int]]]:
    """Return the joints from the ground outwards, each with its outer body and all bodies beyond; drivers are left out."""
    reached, order = {0}, []
    links = [e for e in model.joints.values() if e.freedoms is not None and len(e.rows) > 1]
    while new := next((e for e in links if (e.i in reached) != (e.j in reached)), None):
        child = new.j if new.i in reached else new.i
        reached.add(child)
        order.append((new, child))
    below = {child: {child} for _, child in order}
    for e, child in reversed(order):
        parent = e.i if child == e.j else e.j
        if parent:
            below[parent] |= below[child]
    return [(e, child, frozenset(below[child])) for e, child in order]


def _moved_at(
    state: State, e: JointEntry, child: int, group: frozenset[int], random: np.random.Generator, part: float, size: float
) -> State:
    """Return the state with `group` moved by random amounts of the freedoms of its joint."""
    for freedom in e.freedoms or ():
        body, s_bar, A_bar = (e.i, e.s_bar_i, e.A_bar_i) if freedom.side is OnBody.I else (e.j, e.s_bar_j, e.A_bar_j)
        A = rotation_matrix(state.p[body])
        axis = A @ A_bar[:, freedom.axis]
        if freedom.kind is Kind.SLIDE:
            r = state.r.copy()
            r[sorted(group)] += random.uniform(-1.0, 1.0) * part * size * axis
            state = state.replace(r=r)
        else:
            state = turned(state, group, state.r[body] + A @ s_bar, from_axis_angle(axis, part * random.uniform(-pi, pi)))
    return state


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

TINY = 12
"""Bodies of a model whose searches take a few hundredths of a second: more other starts are tried."""

MANY, RESTARTS, FEW = 16, 12, 4
"""Number of other starts if the first does not close, of tiny, small and large models."""

AGREE, ENOUGH, PLENTY = 1e-2, 4, 20
"""Relative difference of the sums of squares below which two searches have found the same closest pose; so many times it is believed, of a
tiny model the second number: a dead centre that lies near the closed poses attracts most searches, ten starts one after another.
"""

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
    candidates: list[PositionSolution] = []
    best, steps = first, first.iterations
    if _right(problem, signs, first):
        candidates.append(first)
    if not candidates or small:
        rows = GeodesicRows(problem)
        for other in _candidates(problem, rows, start):
            steps += other.iterations
            best = _closer(best, other)
            if _right(problem, signs, other):
                candidates.append(other)
                if not small:
                    break
    modelled = _from_modelled_pose(problem, start)
    if modelled is not None and _right(problem, signs, modelled):
        candidates.append(modelled)
    if candidates:
        return Closing(_nearest_of(problem, candidates)._replace(iterations=steps), 1)
    return _from_elsewhere(problem, signs, rows, start, best._replace(iterations=steps))


def _from_modelled_pose(problem: Problem, start: State) -> PositionSolution | None:
    """Return the end of Newton's method from the modelled pose: closed poses beside it are known, however far the start is.

    None where the start is the modelled pose, or coordinates are held elsewhere.
    """
    modelled = problem.model.state()
    if not problem.held.free.all() or _same(problem, start, modelled):
        return None
    return close_positions(problem._replace(search=None), start.replace(r=modelled.r, p=modelled.p), ATTEMPT)


def _from_elsewhere(problem: Problem, signs: tuple[Sign, ...], rows: GeodesicRows, start: State, best: PositionSolution) -> Closing:
    """Return a closed pose found from other starts, or the closest pose of all."""
    random, steps, same = np.random.default_rng(SEED), best.iterations, 0
    nb = problem.model.nb
    restarts = MANY if nb <= TINY else RESTARTS if nb <= SMALL else FEW
    enough = PLENTY if nb <= TINY else ENOUGH
    for k in range(restarts):
        for other in _candidates(problem, rows, _another(problem, start, random, k)):
            steps += other.iterations
            if _right(problem, signs, other):
                return Closing(_nearest_of(problem, [other])._replace(iterations=steps), k + 2)
            sum_there, two = _sum(other), _sum(best)
            same = same + 1 if abs(sum_there - two) <= AGREE * two else same if sum_there > two else 0
            best = _closer(best, other)
        if same >= enough:
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
        closed = close_positions(problem._replace(search=None), end.pose.state, ATTEMPT, PATIENCE)
        yield closed._replace(iterations=end.steps + closed.iterations)


def _right(problem: Problem, signs: tuple[Sign, ...], solution: PositionSolution) -> bool:
    """Return whether all joints are closed, in the sense that is meant."""
    return solution.closed and not flipped(problem.model, signs, solution.pose.state)


def _closer(solution: PositionSolution, other: PositionSolution) -> PositionSolution:
    """Return the solution that is closed, or less open."""
    if solution.closed != other.closed:
        return solution if solution.closed else other
    return other if _sum(other) < _sum(solution) else solution


def _sum(solution: PositionSolution) -> float:
    return float(solution.pose.gap @ solution.pose.gap)


def _nearest_of(problem: Problem, candidates: list[PositionSolution]) -> PositionSolution:
    """Return the nearest of the closed poses, each moved along the closed poses."""
    moved: list[PositionSolution] = []
    for closed in candidates:
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


def _same(problem: Problem, state: State, other: State) -> bool:
    return _motion(problem, state, other) <= SAME


def _motion(problem: Problem, state: State, other: State) -> float:
    """Return the largest motion of a body, relative to the size of the model and in radians."""
    shift = float(lengths(other.r - state.r).max())
    turn = float(lengths(logarithm(product(conjugate(state.p), other.p))).max())
    return max(shift / problem.size, turn)
