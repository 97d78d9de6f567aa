r"""Stiffness and damping along the tangent space of the constraints.

    f(q) = Q - M bias - Phi_q^T lam,      lam held fixed       f = 0 at the balance, so that q (+) x is needed to first order only
    K    = - N^T df/dx N                  forces, geometry, centrifugal forces and the curvature of the constraints at once
    C    = - N^T d(Q - M bias)/du' N      dampers, gyroscopic and Coriolis terms

    few degrees of freedom      a derivative along each column of N
    many                        derivatives along the coordinates of the bodies, A = df/dx sparse; bodies that act on no common body are
                                moved at once, so that a chain or a net needs the same few derivatives whatever its size

Derivatives by central differences; K of a balance is the exact geometric stiffness, K_ij = d2(V + lam . Phi).
Source: Haug (2021), tangent space of the constraint manifold; Curtis, Powell and Reid (1974), estimation of sparse Jacobian matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, force_at, left_nearby, sampled
from haugmbd.analysis.equilibrium.smooth_derivative import STEPS_OF_TWO, MotionDerivative, NotSmooth
from haugmbd.analysis.equilibrium.tangent_space import SKETCH_H, Derivative, Tangent
from haugmbd.analysis.equilibrium.tree_equations import Blocks, Tree, blocks_of, bodies_that_act, colors_of_bodies
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model

WORTH = 2
"""Derivatives along N for each one along coordinates, above which the latter are taken: they see directions that the rows forbid, too."""

STIFF = 1e3
"""Entry of A relative to the largest of K above which K would be rounding of what the rows forbid: it is then taken along N."""


def stiffness(evaluator: ResidualEvaluator, y: Array, at: Tangent, derivative: Derivative) -> Array:
    """Return K (nd, nd) [J] in the basis `at.N`."""
    return _matrix(evaluator, left_nearby(evaluator, y, at.lam), at.N, derivative)


def damping(evaluator: ResidualEvaluator, y: Array, at: Tangent, rate: float, derivative: Derivative) -> Array:
    """Return C (nd, nd) [J s] in the basis `at.N`; gyroscopic and Coriolis terms are its skew part.  rate: of the motions [1/s]"""
    model = evaluator.model

    def force(x: Array) -> Array:
        u = np.vstack([np.zeros(6), (rate * x * evaluator.scale).reshape(model.nb, 6)])
        return force_at(evaluator, y, u)

    return _matrix(evaluator, force, at.N, derivative) / rate


def stiffness_blocks(evaluator: ResidualEvaluator, tree: Tree, y: Array, lam: Array) -> Blocks:
    """Return A = -df/dx of a tree at rest, by one difference each: enough for a step of an iteration."""
    before, after = np.moveaxis(sampled(evaluator, tree, y, np.array([-SKETCH_H, SKETCH_H]), lam=lam), 2, 0)
    return blocks_of(tree, (before - after) / (2.0 * SKETCH_H))


def smooth_stiffness_blocks(evaluator: ResidualEvaluator, tree: Tree, y: Array, lam: Array, derivative: MotionDerivative) -> Blocks:
    """Return A = -df/dx of a tree at rest. Raise NotSmooth if forces are not smooth in some motion, perhaps one that the rows forbid."""
    samples = sampled(evaluator, tree, y, STEPS_OF_TWO, lam=lam)
    return _smooth_blocks(tree, samples, left_nearby(evaluator, y, lam), derivative)


def smooth_damping_blocks(evaluator: ResidualEvaluator, tree: Tree, y: Array, rate: float, derivative: MotionDerivative) -> Blocks:
    """Return the same of C, times the rate of the motions [1/s]."""

    def force(x: Array) -> Array:
        return force_at(evaluator, y, np.vstack([np.zeros(6), (rate * x * evaluator.scale).reshape(-1, 6)]))

    return _smooth_blocks(tree, sampled(evaluator, tree, y, STEPS_OF_TWO, rate=rate), force, derivative)


def _smooth_blocks(tree: Tree, samples: Array, f: Callable[[Array], Array], derivative: MotionDerivative) -> Blocks:
    """Return -df/dx from samples (n_colors, 6, n_steps, nb, 6) at STEPS_OF_TWO; f is asked where these do not agree."""
    colors, _, _, nb, _ = samples.shape
    changes = np.empty((colors, 6, nb, 6))
    for color in range(colors):
        for k in range(6):
            direction = np.zeros((nb, 6))
            direction[tree.colors == color, k] = 1.0
            at = dict(zip(STEPS_OF_TWO.tolist(), samples[color, k].reshape(len(STEPS_OF_TWO), -1), strict=True))
            changes[color, k] = derivative(partial(_sample, at, f, direction.ravel())).reshape(nb, 6)
    return blocks_of(tree, -changes)


def _sample(at: dict[float, Array], f: Callable[[Array], Array], direction: Array, h: float) -> Array:
    """Return f(h direction), which may be known."""
    return at[h] if h in at else f(h * direction)


def _matrix(evaluator: ResidualEvaluator, f: Callable[[Array], Array], N: Array, derivative: Derivative) -> Array:
    """Return -N^T df/dx N (nd, nd)."""
    sources = sources_of_forces(evaluator.model)
    if number_of_derivatives(evaluator, N) < N.shape[1]:
        try:
            return _by_bodies(f, sources, N, derivative)
        except NotSmooth:  # perhaps in a direction that the rows forbid
            pass
    return _along_columns(f, N, derivative)


def number_of_derivatives(evaluator: ResidualEvaluator, N: Array) -> int:
    """Return how many derivatives stiffness or damping takes in a basis N (6 nb, nd)."""
    of_bodies = 6 * len(sources_of_forces(evaluator.model))
    return of_bodies if WORTH * of_bodies < N.shape[1] else N.shape[1]


def _along_columns(f: Callable[[Array], Array], N: Array, derivative: Derivative) -> Array:
    """Return -N^T df/dx N (nd, nd) from derivatives along the columns of N."""
    changes = [derivative(partial(_along, f, direction)) for direction in N.T]
    return np.asarray(-N.T @ np.array(changes).reshape(N.shape[::-1]).T)


def _along(f: Callable[[Array], Array], direction: Array, h: float) -> Array:
    """Return f(h direction)."""
    return f(h * direction)


def _by_bodies(f: Callable[[Array], Array], sources: Ints, N: Array, derivative: Derivative) -> Array:
    """Return -N^T A N from derivatives along the coordinates of bodies."""
    from scipy.sparse import csr_array  # noqa: PLC0415  imported only where a model has many degrees of freedom

    values, rows, columns = list[Array](), list[Ints](), list[Ints]()
    for source in sources:
        (acted_on,) = np.nonzero(source >= 0)
        row = (6 * acted_on[:, None] + np.arange(6)).ravel()
        for k in range(6):
            direction = np.zeros(len(N))
            direction[6 * np.unique(source[acted_on]) + k] = 1.0
            values.append(derivative(partial(_along, f, direction))[row])
            rows.append(row)
            columns.append(np.repeat(6 * source[acted_on] + k, 6))
    A = csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(len(N), len(N)))
    K = -_congruent(N, A @ N)
    if float(np.abs(A.data).max(initial=0.0)) > STIFF * float(np.abs(K).max(initial=0.0)):
        return _along_columns(f, N, derivative)
    return K


def _congruent(N: Array, AN: Array) -> Array:
    """Return N^T AN, whose rows and columns of motions without any force, such as turns of balls on rods, are zero."""
    rows, columns = AN.any(axis=1), AN.any(axis=0)
    forced = N[rows].any(axis=0)
    if forced.all() and columns.all():
        return np.asarray(N.T @ AN)
    K = np.zeros((N.shape[1], N.shape[1]))
    K[np.ix_(forced, columns)] = N[np.ix_(rows, forced)].T @ AN[np.ix_(rows, columns)]
    return K


@once_per_model
def sources_of_forces(model: Model) -> Ints:
    """Return sets of bodies that are moved at once, (n_sets, nb): the body of each set that acts on each body, -1 for none.

    Moving bodies from 0. Every pair of a body and one that acts on it is in one set.
    """
    colors = colors_of_bodies(model)
    sources = np.full((int(colors.max(initial=-1)) + 1, model.nb), -1)
    for body, others in enumerate(bodies_that_act(model)):
        bodies = np.fromiter(others, dtype=np.int64)
        sources[colors[bodies], body] = bodies
    return sources
