r"""The constraint manifold: its tangent space at a pose, the projection on it, and the inertia along it.

    Phi_q x = 0,    x = (dr / L, dpi_bar)            L a length of the model: turns and displacements are measured alike
    Phi_q^T P = Q R                                  N = the last columns of Q, those without a row of R: an orthonormal tangent basis
    [ 1 Phi_q^T; Phi_q 0 ]                           the projection N N^T, sparse, and N where it is needed: see `sparse_projection`
    q (+) x:   r <- r + L dr,   p <- p exp(dpi_bar)
    back:      x = - Phi_q^+ Phi,  q <- q (+) x,  until Phi = 0                            the least motion, by Gauss and Newton

    f(q) = Q - M bias - Phi_q^T lam,      lam held fixed       f = 0 at the balance, so that q (+) x is needed to first order only
    M    = N^T M N                        M x'' + C x' + K x = 0:  C and K are in `tangent_matrices`

Large models are sparse, unless rows are nearly dependent, about which the orthogonal factors decide. Redundant rows that the model drops
are left out. Rows that share no coordinate are decomposed by themselves: the parts of a model that nothing connects have nothing to do
with each other.
Source: Haug (2021), tangent space of the constraint manifold; Kim and Vanderploeg (1986), null space by QR of Phi_q^T.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy  # its linear algebra is imported when it is used, which takes a seventh of the start of a command

from haugmbd.analysis.assembly.constraint_system import row_lengths
from haugmbd.analysis.assembly.regularized_least_squares import dense, exact_motion
from haugmbd.analysis.equilibrium.residual import (
    Residual,
    ResidualEvaluator,
    evaluate_residual,
    gaps_in_tree,
    inertia_times,
    kept_rows,
    moved,
    unit_rows_of,
)
from haugmbd.analysis.equilibrium.tree_equations import Tree, TreeFactor, factor_of, transposed, unit_blocks
from haugmbd.analysis.regular_pose import INVERSE_STEPS, sparse_projection
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import SimulationError

RANK_TOL = 1e-7
"""Distance of a row of Phi_q, of length 1, from the span of the others, below which it is dependent. It is above the rounding of closed
poses; a mechanism nearer than this to a singular configuration is treated as singular.
"""


SPARSE = 60_000
"""Entries of Phi_q from which on it is treated as sparse."""


CLEAR = 10.0
"""Distance of the weakest row, in units of RANK_TOL, above which no row is dependent, whatever the rounding."""


WHOLE = 10_000
"""Entries of Phi_q up to which it is decomposed as a whole, which takes less time than looking for its parts."""


CLOSED_TOL = 1e-13
"""Largest |Phi| over the row's length (in units of L or rad) that counts as zero: rounding of coordinates of size 1 to 100 L."""


STALLED_TOL = 1e-9
"""Largest |Phi|, measured in the same way, if Newton's method makes no more progress; above it the pose cannot be closed."""


OPEN = 1e-2
"""Largest |Phi|, measured in the same way, of a dropped row that holds: loops with axes that do not fit drop rows that are open by as
much. Where the kept rows close in another way it is a large part of 1."""


MAX_CORRECTIONS, HOPE = 30, 15
"""Corrections of a pose, and those after which the gap is half of what it was, or there is no hope."""


ENOUGH, SWEEPS = 1e-9, 30
"""Part of |Phi| that the equations of a correction may leave, as the next correction follows, and the number of repetitions of their
solution: where rows are nearly dependent, hundreds of them would take most of the time of a search.
"""


@dataclass(eq=False)
class Tangent:
    """Tangent space.

    lam: (nk,) with the least norm of force - J^T lam, 0 for dependent rows;  along: the projection x (6 nb,) -> N N^T x
    weakest: distance of the weakest row from the span of the others, or of those before it in an order that keeps it large
    factor: that of the tangent space of a large tree
    """

    lam: Array
    along: Callable[[Array], Array]
    weakest: float
    make_basis: Callable[[], Array]
    factor: TreeFactor | None = None

    @cached_property
    def N(self) -> Array:
        """An orthonormal basis, (6 nb, nd)."""
        return self.make_basis()


def along_basis(N: Array, lam: Array, weakest: float = 1.0) -> Tangent:
    """Return the tangent space of a basis N (6 nb, nd)."""
    return Tangent(lam, lambda x: np.asarray(N @ (N.T @ x)), weakest, lambda: N)


def tangent(residual: Residual) -> Tangent:
    """Return the tangent space at `residual`, and the multipliers of least residual force."""
    if not isinstance(residual.J, np.ndarray) and residual.J.shape[0] * residual.J.shape[1] > SPARSE:
        projection = sparse_projection(residual.J, residual.force)
        if projection is not None and projection.weakest > CLEAR * RANK_TOL:
            return Tangent(projection.lam, projection.along, projection.weakest, projection.basis)
    return _by_orthogonal_factors(dense(residual.J), residual.force)


def tangent_of_tree(tree: Tree, residual: Residual) -> Tangent | None:
    """Return the same of a tree; None if its rows are dependent up to rounding.

    A row that is nearly dependent makes the multipliers of a random force large, by the inverse of its distance.
    """
    J, length = unit_rows_of(residual.by_bodies)
    factor, nc = factor_of(tree, J, unit_blocks(tree)), len(J)
    _, lam = factor.solve(residual.force, np.zeros(nc))
    left = residual.force - transposed(tree, J, lam)
    lam += factor.solve(left, np.zeros(nc))[1]
    y = np.random.default_rng(0).normal(size=nc)
    for _ in range(INVERSE_STEPS):
        y = factor.solve(np.zeros(len(residual.force)), y / np.linalg.norm(y))[1]
    size = float(np.linalg.norm(y))
    weakest = size**-0.5 * size / float(np.abs(y).max())
    if not weakest > CLEAR * RANK_TOL:
        return None

    def along(x: Array) -> Array:
        for _ in range(2):  # once leaves rounding over the smallest singular value
            x = factor.solve(x, np.zeros(nc))[0]
        return x

    return Tangent(lam / length, along, weakest, lambda: tangent(residual).N, factor)


def _by_orthogonal_factors(J: Array, force: Array) -> Tangent:
    """Return the tangent space from Phi_q^T P = Q R, whatever the rank."""
    length = _lengths(J)
    lam, bases, weakest = np.zeros(len(J)), list[tuple[Ints, Array]](), 1.0
    for rows, columns in _parts(J):
        Q, R, order = scipy.linalg.qr(J[np.ix_(rows, columns)].T / length[rows], pivoting=True)
        pivots = np.abs(np.diagonal(R))
        rank, weakest = int(np.sum(pivots > RANK_TOL)), min(weakest, float(pivots.min(initial=1.0)))
        if rank:  # SciPy 1.13 does not solve an empty system
            lam[rows[order[:rank]]] = scipy.linalg.solve_triangular(R[:rank, :rank], Q[:, :rank].T @ force[columns])
        bases.append((columns, Q[:, rank:]))
    if len(bases) == 1 and bases[0][1].shape[0] == J.shape[1]:
        return along_basis(bases[0][1], lam / length, weakest)
    free = np.flatnonzero(~J.any(axis=0))
    N, first = np.zeros((J.shape[1], sum(Q.shape[1] for _, Q in bases) + len(free))), len(free)
    N[free, np.arange(len(free))] = 1.0
    for columns, Q in bases:
        N[columns, first : first + Q.shape[1]] = Q
        first += Q.shape[1]
    return along_basis(N, lam / length, weakest)


def _parts(J: Array) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows and columns of the parts of J that share none; all of them at once where J is small, or of one part."""
    if J.size > WHOLE:
        from scipy.sparse import coo_array  # noqa: PLC0415  imported only where a model is large
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        row, column = np.nonzero(J)
        n = sum(J.shape)
        graph = coo_array((np.ones(len(row), dtype=np.int8), (row, len(J) + column)), shape=(n, n))
        of_part = connected_components(graph, directed=False)[1]
        of_row, of_column = of_part[: len(J)], of_part[len(J) :]
        if len(np.unique(of_part)) > 1:
            for part in np.unique(of_row[J.any(axis=1)]):
                yield np.flatnonzero(of_row == part), np.flatnonzero(of_column == part)
            return
    yield np.arange(len(J)), np.arange(J.shape[1])


def closed(evaluator: ResidualEvaluator, y: Array, *, patient: bool = True) -> Array:
    """Return the nearest pose with Phi = 0. Raise SimulationError, which names the row that stays open, if there is none nearby.

    patient: long series of corrections are made, even if gaps do not become smaller at first: no shorter step is tried in their place
    """
    last, before = np.inf, list[float]()
    tree = evaluator.tree
    for _ in range(MAX_CORRECTIONS):
        Phi, rows = kept_rows(evaluator, y) if tree is None else gaps_in_tree(evaluator, y)
        gaps = np.abs(Phi)
        gap = float(gaps.max(initial=0.0))
        if gap <= CLOSED_TOL or (gap <= STALLED_TOL and gap >= 0.5 * last):
            return y
        if not patient and len(before) >= HOPE and gap > 0.5 * max(before[-HOPE : 3 - HOPE]):
            break
        before.append(gap)
        x = None if tree is None else _motion_of_tree(tree, rows, Phi)
        if x is None:
            x = exact_motion(rows if tree is None else kept_rows(evaluator, y)[1], Phi, enough=ENOUGH, sweeps=SWEEPS)
        y, last = moved(evaluator, y, x / max(1.0, float(np.abs(x).max()))), gap
    row = int(np.argmax(gaps))
    label = evaluator.model.labels[evaluator.kept[row]]
    what = f"{label} is left at {evaluate_residual(evaluator, y).Phi[row]:.3g} {label.unit} at t = {evaluator.t:g} s"
    raise SimulationError(f"the mechanism cannot be closed: {what}. Correct the pose, the joints, or what drives them.")


def _motion_of_tree(tree: Tree, rows: Array, Phi: Array) -> Array | None:
    """Return x of least norm with J x = -Phi; None where rows are nearly dependent, and it would be far larger than Phi."""
    x = factor_of(tree, rows, unit_blocks(tree)).solve(np.zeros(6 * len(tree.parent)), -Phi)[0]
    with np.errstate(invalid="ignore"):
        return x if np.abs(x).max() * CLEAR * RANK_TOL <= np.abs(Phi).max() else None


def check_dropped(evaluator: ResidualEvaluator, y: Array) -> None:
    """Raise SimulationError if rows that are dropped do not hold at a pose that closes the kept ones: these have closed in another way."""
    dropped = np.setdiff1d(np.arange(evaluator.model.nc), evaluator.kept)
    gaps = np.abs(kept_rows(evaluator._replace(kept=dropped), y)[0])
    if gaps.max(initial=0.0) > OPEN:
        label = evaluator.model.labels[dropped[int(np.argmax(gaps))]]
        raise SimulationError(f"the mechanism cannot be closed: {label} is open where the rows that it depends on are closed.")


def _lengths(J: Array) -> Array:
    """Return the lengths of the rows, 1 for a row without gradient."""
    length = np.linalg.norm(J, axis=1)
    return np.where(length > 0.0, length, 1.0)


AXES = "xyz"

Derivative: TypeAlias = Callable[[Callable[[float], Array]], Array]

H = 1e-3
"""Step of differences, in L or rad: truncation and rounding errors are both small for smooth forces. Velocities are in L or rad times the
rate of the motions, see `rate_of_motions`.
"""

WEIGHTS = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)
"""f' = sum w_k (f(k h) - f(-k h)) / h."""

SKETCH_H = 1e-4
"""Step of a plain central difference, for K during the iteration, which needs fewer evaluations and less accuracy."""

NOISE = 1e-10
"""Part of the forces at work below which a derivative is rounding."""

INDIFFERENT_TOL = 10.0 * NOISE
"""Stiffness that counts as zero at most, relative to the forces at work and to the largest stiffness."""

ERRORS, ROUNDED = 10.0, 1e-14
"""Differences between two sizes of step that count as zero, and stiffness of motions that are rounding, relative to the largest."""


def differentiated(f: Callable[[float], Array]) -> Array:
    """Return df/dh at 0."""
    total = sum(w * (f((k + 1) * H) - f(-(k + 1) * H)) for k, w in enumerate(WEIGHTS))
    return np.asarray(total / H)


def sketched(f: Callable[[float], Array]) -> Array:
    """Return df/dh at 0 by a plain central difference."""
    return (f(SKETCH_H) - f(-SKETCH_H)) / (2.0 * SKETCH_H)


def inertia(evaluator: ResidualEvaluator, N: Array) -> Array:
    """Return M (nd, nd) [J s2] in the basis N (6 nb, nd)."""
    model = evaluator.model
    twists = np.zeros((N.shape[1], model.nb + 1, 6))
    twists[:, 1:] = (evaluator.scale[:, None] * N).T.reshape(N.shape[1], model.nb, 6)
    momenta, shape = np.array([inertia_times(model, twist) for twist in twists]), (len(twists), 6 * (model.nb + 1))
    return np.asarray(twists.reshape(shape) @ momenta.reshape(shape).T)


def scale_of(work: float, K: Array) -> float:
    """Return the scale of a balance [J]: the forces at work, or the stiffness for a unit motion, whichever is larger."""
    return max(work, float(np.abs(K).max(initial=0.0)))


def rounding_of(scale: float, left: float, error: float, weakest: float) -> float:
    """Return the stiffness [J] that may be rounding: of differences, of forces that are left over, and of a tangent space near singular.

    scale: of the balance [J];  left: over [J];  error: of the derivatives, by two sizes of step [J];  weakest: see `Tangent`
    A long beam of stiff links has motions a billion times softer than the stiffest one, which are not zero.
    """
    return min(max(ERRORS * error, left, ROUNDED * scale / max(weakest, ROUNDED)), INDIFFERENT_TOL * scale)


def rate_of_motions(M: Array, scale: float) -> float:
    """Return the rate of motions [1/s] that forces `scale` [J] cause: 1 /s, or sqrt(scale / M) where that is larger;  M: inertia [J s2]"""
    largest = float(np.abs(M).max(initial=0.0))
    return max(1.0, float(np.sqrt(scale / largest))) if largest > 0.0 else 1.0


def at_work(evaluator: ResidualEvaluator, residual: Residual, at: Tangent) -> float:
    """Return the size of the forces whose sum is the balance [J], as a scale of rounding; 0 if no force acts."""
    model = evaluator.model
    weight = float(model.mass.max(initial=0.0) * np.linalg.norm(model.tables["GRAVITY"])) * evaluator.length
    carried = float((row_lengths(residual.J) * np.abs(at.lam)).max(initial=0.0))
    return max(weight, carried, float(np.abs(residual.force).max(initial=0.0)))


def independent_coordinates(evaluator: ResidualEvaluator, N: Array) -> tuple[Array, tuple[str, ...], Ints]:
    """Return T, so that N T x is the motion of the coordinates x, the names of x, and which of the 6 nb components they are.

    The coordinates are displacements and rotations of bodies, chosen by a pivoted QR decomposition.
    """
    nd = N.shape[1]
    if nd == 0:
        return np.zeros((0, 0)), (), np.zeros(0, dtype=np.int64)
    _, _, pivots = scipy.linalg.qr(N.T, pivoting=True, mode="economic")
    chosen = np.sort(pivots[:nd])
    T = np.linalg.inv(N[chosen]) / evaluator.scale[chosen]
    names = []
    for k in chosen.tolist():
        name, axis = evaluator.model.body_names[k // 6 + 1], AXES[k % 3]
        names.append(f"{name!r} moves along {axis} [m]" if k % 6 < 3 else f"{name!r} turns about its {axis} [rad]")
    return T, tuple(names), chosen
