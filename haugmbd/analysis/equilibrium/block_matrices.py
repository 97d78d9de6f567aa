r"""Derivatives that the states of blocks add to small motions.

    M x'' + C x' + K x = E z            E = N^T dQ/dz
    z' = F x + G x' + H z               F = df/dx N,   G = df/dx' N,   H = df/dz

x are measured in L and rad, z in units of the user; blocks have limits and dead zones. Steps of many sizes are tried, see
`smooth_derivative`, for the forces and for the rate of each state by itself.
Source: Astrom and Murray, Feedback Systems, ch. 6 (linearization of state equations).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from haugmbd.analysis.equilibrium.residual import ResidualEvaluator, evaluate_residual, moved
from haugmbd.analysis.equilibrium.smooth_derivative import MOVED, NO_PART, differences, smooth_derivative
from haugmbd.analysis.equilibrium.tangent_space import sketched
from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError

SIZES: Array = 10.0 ** np.arange(-5.0, 7.0)
"""Sizes of steps in z, relative to the typical value."""


class Defect(NamedTuple):
    """Reason why there is no derivative, "" if there is one, and its largest value for a step of typical size, if all may be rounding."""

    text: str
    largest: float


NO_DEFECT = Defect("", np.inf)


class BlockMatrices(NamedTuple):
    """The derivatives that couple the motion x of the bodies with the states z of blocks.

    E: (nd, ns) [J per unit of z];  F, G: (ns, nd);  H: (ns, ns)
    """

    E: Array
    F: Array
    G: Array
    H: Array

    @property
    def rate_scale(self) -> Array:
        """The rates (ns,) of a motion of one unit: of 1 L or rad, L/s or rad/s, or the typical size of a state; 1 if nothing moves z."""
        size = np.abs(np.hstack([self.F, self.G, self.H])).sum(axis=1)
        return np.where(size > 0.0, size, 1.0)


def sketched_block_matrices(evaluator: ResidualEvaluator, y: Array, N: Array) -> BlockMatrices:
    """Return the matrices in the basis N (6 nb, nd) at a pose, by one difference each: enough for a step of an iteration."""
    F, G = (
        np.array([sketched(_rates_along(evaluator, y, x, moves)) for x in N.T]).reshape(N.shape[1], -1).T for moves in (False, True)
    )
    EH = np.array([sketched(_after(evaluator, y, N, j)) for j in range(len(evaluator.states.columns))]).T / evaluator.states.typical
    return BlockMatrices(EH[: N.shape[1]], F, G, EH[N.shape[1] :])


def block_matrices(evaluator: ResidualEvaluator, y: Array, N: Array) -> BlockMatrices:
    """Return the matrices in the basis N (6 nb, nd) at a pose. Raise UsageError if forces or rates are not smooth there."""
    states, nd = evaluator.states, N.shape[1]
    ns = len(states.columns)
    of_rates = [[k] for k in range(ns)]
    columns, defects = list[Array](), list[list[Defect]]()
    for k, x in enumerate([*N.T, *N.T]):
        column, defect = _column(_rates_along(evaluator, y, x, k >= nd), MOVED, of_rates)
        columns.append(np.concatenate([np.zeros(nd), column]))
        defects.append([NO_DEFECT, *defect])
    for j in range(ns):
        column, defect = _column(_after(evaluator, y, N, j), SIZES, [list(range(nd)), *([nd + k] for k in range(ns))])
        columns.append(column / states.typical[j])
        defects.append(defect)
    A = np.array(columns).T
    _refuse_kinks(evaluator, A, defects, nd)
    return BlockMatrices(A[:nd, 2 * nd :], A[nd:, :nd], A[nd:, nd : 2 * nd], A[nd:, 2 * nd :])


def _column(f: Callable[[float], Array], sizes: Array, groups: list[list[int]]) -> tuple[Array, list[Defect]]:
    """Return the derivative of f, and what is wrong with it in each group."""
    quotients = differences(f, sizes)
    column, defects = np.zeros(quotients.slopes.shape[1]), list[Defect]()
    for group in groups:
        part = smooth_derivative(quotients.part(group))
        column[group] = part.value
        defects.append(Defect(part.defect, part.largest))
    return column, defects


def _refuse_kinks(evaluator: ResidualEvaluator, A: Array, defects: list[list[Defect]], nd: int) -> None:
    """Raise UsageError with what is not smooth, unless rounding hides what is too small to matter.

    A: (nd + ns, 2 nd + ns) with columns of x, x' and z;  defects: of each column, of the forces and of each rate
    """
    names, typical = evaluator.states.names, np.concatenate([np.ones(2 * nd), evaluator.states.typical])
    size = np.abs(A * typical)
    of_rows = [float(size[:nd].max(initial=0.0)), *size[nd:].max(axis=1, initial=0.0).tolist()]
    for column, defect in enumerate(defects):
        by = names[column - 2 * nd] if column >= 2 * nd else "the motion of the bodies"
        for row, (text, largest) in enumerate(defect):
            if not text or largest <= NO_PART * of_rows[row]:
                continue
            what = f"the rate of {names[row - 1]} is" if row else "forces are"
            raise UsageError(
                f"{what} not smooth in {by} ({text}): there is no linearization. Start from another value of it, or simulate."
            )


def _rates_along(evaluator: ResidualEvaluator, y: Array, x: Array, moves: bool) -> Callable[[float], Array]:
    """Return z' (ns,) as a function of the size of a displacement x (6 nb,), or of a velocity."""
    nb = evaluator.model.nb

    def displaced(h: float) -> Array:
        return evaluate_residual(evaluator, moved(evaluator, y, h * x)).rates

    def moving(h: float) -> Array:
        u = np.vstack([np.zeros(6), (h * x * evaluator.scale).reshape(nb, 6)])
        return evaluate_residual(evaluator, y, u).rates

    return moving if moves else displaced


def _after(evaluator: ResidualEvaluator, y: Array, N: Array, j: int) -> Callable[[float], Array]:
    """Return (N^T force, z') (nd + ns,) as a function of the change of state j, relative to the typical one."""
    states = evaluator.states

    def after(h: float) -> Array:
        there = y.copy()
        there[states.columns[j]] += h * states.typical[j]
        residual = evaluate_residual(evaluator, there)
        return np.concatenate([N.T @ residual.force, residual.rates])

    return after
