r"""Penalty: the rows are replaced by stiff elements, whose forces approximate the multipliers.

    ( M + Phi_q^T alpha Phi_q ) u = b_u + Phi_q^T alpha b_c           lam = alpha ( Phi_q u - b_c )

    b_c <- b_c - 2 mu omega Phi_dot - omega^2 Phi                     for accelerations: dampers and springs of the elements

The method is an approximation.  Its error falls like 1 / alpha until rounding, which grows like alpha, is larger.
The matrix is positive definite for any rows, also for dependent ones.
Source: Bayo, Garcia de Jalon, Serna, A modified Lagrangian formulation ..., CMAME 71 (1988) 183-195, sec. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import NONE, KKTSolution, KKTSystem, Multipliers, SolveFor, Solver, negative, not_positive
from haugmbd.formulations.dense_matrices import mass_matrix, solve_definite
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model


def penalty_of(kkt: KKTSystem, alpha: float) -> float:
    """Return alpha times the mean mass of the bodies [kg], for rows in m."""
    return alpha * float(np.mean(kkt.M[:, 0, 0]))


def with_feedback(kkt: KKTSystem, mu: float, omega: float) -> Array:
    """Return b_c with the forces of springs and dampers, if the unknowns are accelerations."""
    return kkt.b_c - 2.0 * mu * omega * kkt.Phi_dot - omega**2 * kkt.Phi if kkt.solve_for is SolveFor.ACCELERATIONS else kkt.b_c


@public_class
@dataclass(frozen=True)
class Penalty(PythonFormulation):
    """Stiff elements instead of constraint rows.  The work is O(n^3), and the error falls like 1 / alpha.

    Parameters
    ----------
    alpha : float
        Stiffness, in units of the mean mass of the bodies.
    mu : float
        Damping ratio of the elements.
    omega : float
        Frequency of the elements [1/s].  Give 0 if the integrator has a stabilization of its own.

    Notes
    -----
    The multipliers are approximate.  The formulation accepts dependent rows.
    Source: Bayo, Garcia de Jalon and Serna 1988, CMAME 71, 183-195, sec. 2.
    """

    alpha: float = 1e7
    mu: float = 1.0
    omega: float = 0.0

    reference: ClassVar[str] = "Bayo, Garcia de Jalon and Serna 1988, CMAME 71, 183-195, sec. 2"
    any_unit: ClassVar[bool] = True
    ms: ClassVar[float] = 2.1
    multipliers: ClassVar[Multipliers] = Multipliers.APPROXIMATE
    all_rows: ClassVar[bool] = True

    def wrong(self) -> list[str]:
        return not_positive(alpha=self.alpha) + negative(mu=self.mu, omega=self.omega)

    def begin(self, model: Model) -> Solver:
        return StiffElements(self)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        return StiffElements(self).solve(kkt)


class StiffElements(Solver):
    """The solver of one run, which writes its mass matrix once."""

    def __init__(self, penalty: Penalty) -> None:
        super().__init__(penalty)
        self.penalty, self.blocks, self.M, self.alpha = penalty, NONE, NONE, 0.0

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        if kkt.M is not self.blocks:
            self.blocks, self.M, self.alpha = kkt.M, mass_matrix(kkt), penalty_of(kkt, self.penalty.alpha)
        alpha, b_c = self.alpha, with_feedback(kkt, self.penalty.mu, self.penalty.omega)
        weighted = alpha * kkt.Phi_q.T
        u = solve_definite(kkt, self.M + weighted @ kkt.Phi_q, kkt.b_u + weighted @ b_c, "M + Phi_q^T alpha Phi_q")
        return KKTSolution(u, alpha * (kkt.Phi_q @ u - b_c))
