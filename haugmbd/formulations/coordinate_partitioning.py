r"""CoordinatePartitioning: independent coordinates move freely, dependent ones follow.

    Phi_q Pi = [ Phi_d  Phi_i ]              Phi_d square and well conditioned
    u_d = Phi_d^-1 (b_c - Phi_i u_i)         u = u_0 + H u_i,    H = (-Phi_d^-1 Phi_i; 1),    u_0 = (Phi_d^-1 b_c; 0)

    accelerations    H^T M H u_i = H^T (b_u - M u_0)                    lam = Phi_d^-T (b_u - M u)_d
    positions        u_i = 0,  u_d = -Phi_d^-1 Phi, repeated: Newton for the dependent ones, the independent ones stay
    velocities       u_i = 0,  u_d = Phi_d^-1 (nu - Phi_q u): the same

The coordinates are those of u: displacements of centres of mass, and turns about body axes.  Which of them are dependent is chosen by
Gaussian elimination with pivoting (here QR with column pivoting), kept from question to question, and chosen anew when the condition
number of Phi_d has grown.  With `Projection()` the stabilization is therefore Wehage's and Haug's, not the least motion in mass.
Source: Wehage, Haug, Generalized coordinate partitioning for dimension reduction ..., J. Mech. Des. 104 (1982) 247-255.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, SolveFor, Solver, not_positive
from haugmbd.formulations.dense_matrices import SINGULAR_TOL, pivoted_qr, singular, solve_definite, times_mass
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model

DEGRADED = 1.2
"""A four-bar on a full turn, RK4: velocities have an error of 2.1e-5 with 1.2 (13 choices), 1.7e-5 with a choice at every step, 1e-4 with
1.5, 2.5e-3 with 10: what corrects dependent coordinates is as much larger than the error of a step.  (Least motion in mass: 4e-8.)"""


@public_class
@dataclass(frozen=True)
class CoordinatePartitioning(PythonFormulation):
    """Independent coordinates by pivoting, chosen anew when they degrade: O(n^3); `result.counters` tells how often they were.

    degraded: growth of the condition number of Phi_d since they were chosen, at which they are chosen anew
    """

    degraded: float = DEGRADED

    reference: ClassVar[str] = "Wehage and Haug 1982, J. Mech. Des. 104, 247-255"
    ms: ClassVar[float] = 8.0

    def wrong(self) -> list[str]:
        return not_positive(degraded=self.degraded)

    def begin(self, model: Model) -> Solver:
        return Partition(self)

    def solve(self, question: KKTSystem) -> KKTSolution:
        """With coordinates chosen for this question."""
        return Partition(self).answer(question)


class Partition(Solver):
    """The dependent coordinates of one run; `condition`: of Phi_d when they were chosen."""

    formulation: CoordinatePartitioning

    def __init__(self, formulation: CoordinatePartitioning) -> None:
        super().__init__(formulation)
        self.dependent: Ints | None = None
        self.condition = 0.0

    def answer(self, question: KKTSystem) -> KKTSolution:
        q = question
        choices = self._choose(q)
        d = self.dependent
        assert d is not None
        i = np.delete(np.arange(len(q.b_u)), d)
        u_0 = np.zeros(len(q.b_u))
        u_0[d] = np.linalg.solve(q.Phi_q[:, d], q.b_c)
        if q.solve_for is not SolveFor.ACCELERATIONS:
            return KKTSolution(u_0, np.zeros(len(q.b_c)), repartitions=choices)
        H = np.zeros((len(q.b_u), len(i)))
        H[i, np.arange(len(i))] = 1.0
        H[d] = -np.linalg.solve(q.Phi_q[:, d], q.Phi_q[:, i])
        u = u_0 + H @ solve_definite(q, H.T @ times_mass(q, H), H.T @ (q.b_u - times_mass(q, u_0)), "H^T M H")
        return KKTSolution(u, np.asarray(np.linalg.solve(q.Phi_q[:, d].T, (q.b_u - times_mass(q, u))[d])), repartitions=choices)

    def _choose(self, q: KKTSystem) -> int:
        """Keep the dependent coordinates as long as they are good; return how often they were chosen, 0 or 1."""
        if self.dependent is not None and condition(q.Phi_q[:, self.dependent]) <= self.formulation.degraded * self.condition:
            return 0
        _, R, order = pivoted_qr(q.Phi_q)
        k = len(q.b_c)
        if k > R.shape[1] or (k and not abs(R[k - 1, k - 1]) > SINGULAR_TOL * abs(R[0, 0])):
            raise singular(q, f"no {k} coordinates can be dependent: the rows have a lower rank")
        self.dependent = np.sort(order[:k])
        self.condition = condition(q.Phi_q[:, self.dependent])
        return 1


def condition(Phi_d: Array) -> float:
    """The condition number of Phi_d (1-norm)."""
    return float(np.linalg.cond(Phi_d, 1)) if Phi_d.size else 1.0
