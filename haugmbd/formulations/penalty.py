r"""Penalty: the rows become stiff elements that push back what violates them; the multipliers are what they push with.

    ( M + Phi_q^T alpha Phi_q ) u = b_u + Phi_q^T alpha b_c           lam = alpha ( Phi_q u - b_c )

    b_c <- b_c - 2 mu omega Phi_dot - omega^2 Phi                     for accelerations: the elements have dampers and springs, too

An approximation: its error falls like 1 / alpha, until at about alpha = 1e8 rounding (1e-16 alpha) is larger.  The matrix is positive
definite whatever the rows are: any of them may depend on others.
Source: Bayo, Garcia de Jalon, Serna, A modified Lagrangian formulation ..., CMAME 71 (1988) 183-195, sec. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, Multipliers, SolveFor, negative, not_positive
from haugmbd.formulations.dense_matrices import mass_matrix, solve_definite
from haugmbd.formulations.python_formulation import PythonFormulation


def penalty_of(q: KKTSystem, alpha: float) -> float:
    """Alpha times the mean mass of the bodies [kg], for rows in m."""
    return alpha * float(np.mean(q.M[:, 0, 0]))


def with_feedback(q: KKTSystem, mu: float, omega: float) -> Array:
    """b_c with springs and dampers, where it asks for accelerations."""
    return q.b_c - 2.0 * mu * omega * q.Phi_dot - omega**2 * q.Phi if q.solve_for is SolveFor.ACCELERATIONS else q.b_c


@public_class
@dataclass(frozen=True)
class Penalty(PythonFormulation):
    """Stiff elements instead of rows: O(n^3), and an error that falls like 1 / alpha.

    alpha: stiffness, in mean masses;  mu: damping ratio, omega [1/s]: frequency of the elements, 0 where a stabilization does their work
    """

    alpha: float = 1e7
    mu: float = 1.0
    omega: float = 0.0

    reference: ClassVar[str] = "Bayo, Garcia de Jalon and Serna 1988, CMAME 71, 183-195, sec. 2"
    ms: ClassVar[float] = 3.0
    multipliers: ClassVar[Multipliers] = Multipliers.APPROXIMATE
    all_rows: ClassVar[bool] = True

    def wrong(self) -> list[str]:
        return not_positive(alpha=self.alpha) + negative(mu=self.mu, omega=self.omega)

    def solve(self, question: KKTSystem) -> KKTSolution:
        q, alpha, b_c = question, penalty_of(question, self.alpha), with_feedback(question, self.mu, self.omega)
        K = mass_matrix(q) + alpha * q.Phi_q.T @ q.Phi_q
        u = solve_definite(q, K, q.b_u + alpha * q.Phi_q.T @ b_c, "M + Phi_q^T alpha Phi_q")
        return KKTSolution(u, alpha * (q.Phi_q @ u - b_c))
