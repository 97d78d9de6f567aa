r"""Rows that would depend on the others if axes that are nearly parallel were parallel: loops whose angles were typed with few digits.

    n_1, n_2, ...     mean directions of vectors that agree up to an angle, of the largest group first
    a <- +-|a| n_k    vectors of a group;   others that are nearly across n_k are turned until they are
    rank              of the rows with these vectors, at the same pose

A loop of hinges whose axes are off by an angle e has rows at the distance e from the span of the others: it is locked, although it was
meant to move. A mechanism near a dead centre, or a narrow one, has such rows, too, with axes that fit: those stay. A tolerance between
the distances of the rows that the parallel axes make dependent and those of all others then tells them apart at every pose.
Loops that move by other proportions (Bennett's, spherical ones) are known by their distances alone, if the model is locked otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import FIRST_MARKER, Primitive
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows, evaluate, lines_of
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import RankAnalysis, analyse_rank, only_here
from haugmbd.redundancy.sparse_ldl import SLOTS, WELL_TOL
from haugmbd.tolerances import CONTRADICTION, DEPENDENT, LARGEST_TOLERANCE, TOLD

VECTORS: dict[type[Primitive], tuple[int, ...]] = {DP1: (0, 1), DP2: (0,), Rotation: (0, 1, 2)}
"""The markers of an equation that are vectors."""

MOST = 2000
"""Number of vectors beyond which groups are not searched, which takes the square of it."""

APART = 3.0
"""Rows that parallel axes make dependent are so many times nearer to the span of the others than all rows that stay."""

FAR_APART = 5.0
"""The same of rows that nothing but their distance tells."""

FARTHEST = WELL_TOL**0.5
"""Rows that are farther from the span of the others are not measured: they stay."""


def examine(
    model: Model, rows: Rows, tolerance: float | None = None, without: Ints | None = None, limit: float = CONTRADICTION
) -> RankAnalysis:
    """Return the rank where `rows` were evaluated, with the tolerance that is given, or the one that tells redundant rows from others.

    without: rows that take no part;  limit: misfit up to which rows are redundant, unless the tolerance is given
    """
    if tolerance is not None:
        parallel = examine(model, rows, None, without, tolerance) if tolerance > DEPENDENT else None
        return (
            parallel if parallel is not None and parallel.tolerance > tolerance else analyse_rank(model, rows, tolerance, without)
        )
    rank = analyse_rank(model, rows, DEPENDENT, without)
    if not (rank.misfit > TOLD or any(distance <= LARGEST_TOLERANCE for _, distance in rank.weak)):
        return rank
    parallel = _as_if_parallel(model, rows, rank, without, limit)
    return parallel or _unlocked(model, rows, rank, without, limit) or rank


def _as_if_parallel(model: Model, rows: Rows, rank: RankAnalysis, without: Ints | None, limit: float) -> RankAnalysis | None:
    """Return the rank for which rows are dependent that would be if axes were parallel; None if that makes no difference."""
    vectors = _vectors(model)
    if not 0 < len(vectors) <= MOST:
        return None
    other = with_parallel_axes(model, rows, vectors, limit)
    aligned = analyse_rank(other, evaluate(other, rows.state), DEPENDENT, without)
    more = len(aligned.dropped) - len(rank.dropped)
    distances = _distances(rank)
    if not 0 <= more <= len(distances) or not len(aligned.dropped):
        return None
    near = max(distances[more - 1] if more else 0.0, rank.misfit)
    rest = distances[more] if more < len(distances) else FARTHEST
    if near > LARGEST_TOLERANCE or rest < APART * near or not (more or APART * near > DEPENDENT):
        return None
    return _with_tolerance(model, rows, (near, rest), len(aligned.dropped), without)


def _unlocked(model: Model, rows: Rows, rank: RankAnalysis, without: Ints | None, limit: float) -> RankAnalysis | None:
    """Return the rank for which a loop moves that its proportions should let move, as Bennett's; None if the model moves, or would not.

    Of a model that moves, a row near the span of the others may be that of a narrow mechanism.
    """
    rows_left = model.nc - len(rank.dropped) - int(np.count_nonzero(rank.flat)) - (0 if without is None else len(without))
    distances = _distances(rank)
    if rows_left < SLOTS * model.nb or not distances:
        return None
    rest = [*distances[1:], FARTHEST]
    last = next((k for k, near in enumerate(distances) if rest[k] >= FAR_APART * near), None)
    if last is None or distances[last] > limit:
        return None
    return _with_tolerance(model, rows, (distances[last], rest[last]), len(rank.dropped) + last + 1, without)


def _distances(rank: RankAnalysis) -> list[float]:
    """Return the distances of the kept rows that are near the span of the others, the nearest first."""
    return sorted(distance for _, distance in rank.weak)


def _with_tolerance(model: Model, rows: Rows, between: tuple[float, float], n: int, without: Ints | None) -> RankAnalysis | None:
    """Return the rank with a tolerance between two distances; None unless it drops n rows, which depend on the others at all poses.

    It is next to the farther distance, because along a motion rows are off by more than at one pose.
    """
    tolerance = max(DEPENDENT, min(LARGEST_TOLERANCE, between[1] / APART))
    wide = analyse_rank(model, rows, tolerance, without)
    if len(wide.dropped) != n or len(only_here(model, rows.state, wide)):
        return None
    return wide


def with_parallel_axes(model: Model, rows: Rows, vectors: Ints, angle: float) -> Model:
    """Return the model whose vectors (marker numbers) that agree up to an angle [rad] at the pose of `rows` agree exactly."""
    tables = model.tables.changed({}, {})
    start, count, columns = tables.place("X_BAR")
    x_bar = tables.reals[start : start + count * columns].reshape(count, columns)
    A = rotation_matrix(rows.state.p)[np.asarray(model.tables["BODY_OF"]).ravel()[vectors].astype(int)]
    a = np.einsum("kab,kb->ka", A, x_bar[vectors])
    x_bar[vectors] = np.einsum("kba,kb->ka", A, _aligned(a, angle))
    return replace(model, tables=tables)


def _vectors(model: Model) -> Ints:
    """Return the numbers of the markers that are vectors of rows."""
    markers = [lines_of(model, kind)[:, [FIRST_MARKER + k for k in places]].ravel() for kind, places in VECTORS.items()]
    numbers: Ints = np.unique(np.concatenate(markers)).astype(np.int64)
    return numbers


def _aligned(a: Array, angle: float) -> Array:
    """Return the vectors a (k, 3) with those parallel that are parallel up to an angle, and across one another that are nearly so."""
    size = np.linalg.norm(a, axis=1)
    u = a / np.where(size > 0.0, size, 1.0)[:, None]
    across: list[list[Array]] = [[] for _ in u]
    for members in _groups(u, angle):
        sense = np.sign(u[members] @ u[members[0]])
        n = (sense[:, None] * u[members]).mean(axis=0)
        n /= np.linalg.norm(n)
        u[members] = sense[:, None] * n
        for k in np.nonzero(np.abs(u @ n) <= 2.0 * angle)[0].tolist():
            across[k] = [*across[k], n]
            u[k] = _across(u[k], across[k])
    turned: Array = u * size[:, None]
    return turned


def _groups(u: Array, angle: float) -> list[Ints]:
    """Return groups of unit vectors that are parallel up to an angle, the largest first; vectors alone are left out."""
    left, groups = np.ones(len(u), dtype=bool), []
    for k in range(len(u)):
        if left[k]:
            near = left & (np.linalg.norm(np.cross(u, u[k]), axis=1) <= 2.0 * angle)
            left &= ~near
            groups.append(np.nonzero(near)[0])
    return sorted((group for group in groups if len(group) > 1), key=len, reverse=True)


def _across(u: Array, normals: list[Array]) -> Array:
    """Return the unit vector nearest to u that is across the normals."""
    basis = np.linalg.svd(np.array(normals), full_matrices=True)
    rank = int(np.count_nonzero(basis[1] > 0.5))
    free = basis[2][rank:]
    turned = free.T @ (free @ u)
    length = float(np.linalg.norm(turned))
    return np.asarray(turned / length) if length > 0.5 else u
