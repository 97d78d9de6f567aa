r"""CoordinatePartitioning: independent coordinates are integrated, dependent coordinates follow from the constraints.

    Phi_q Pi = [ Phi_d  Phi_i ]              Phi_d square and well conditioned
    u_d = Phi_d^-1 (b_c - Phi_i u_i)         u = u_0 + H u_i,    H = (-Phi_d^-1 Phi_i; 1),    u_0 = (Phi_d^-1 b_c; 0)

    accelerations    H^T M H u_i = H^T (b_u - M u_0)                    lam = Phi_d^-T (b_u - M u)_d
    positions        u_i = 0,  u_d = -Phi_d^-1 Phi, repeated: Newton's method for the dependent coordinates
    velocities       u_i = 0,  u_d = Phi_d^-1 (nu - Phi_q u)

The coordinates are those of u: displacements of centres of mass, and rotations about body axes.  QR with column pivoting selects the
dependent ones.  They are kept from one solution to the next, and selected again when the condition number of Phi_d has grown.
With `Projection()` the correction is therefore that of Wehage and Haug, not the one of least mass-weighted size.
Source: Wehage, Haug, Generalized coordinate partitioning for dimension reduction ..., J. Mech. Des. 104 (1982) 247-255.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.deprecated import public_class
from haugmbd.formulations.base import KKTSolution, KKTSystem, SolveFor, Solver, not_positive
from haugmbd.formulations.dense_matrices import SINGULAR_TOL, pivots_of, singular, solve_definite, times_mass
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model

DEGRADED = 1.2
"""Default growth of the condition number.  A correction of the dependent coordinates magnifies the error of a step by about this growth,
so that a small value is better; every new selection costs one more QR factorization."""


@public_class
@dataclass(frozen=True)
class CoordinatePartitioning(PythonFormulation):
    """Independent and dependent coordinates, selected by pivoting.  The work is O(n^3).

    Parameters
    ----------
    degraded : float
        Dependent coordinates are selected again when the condition number of Phi_d has grown by this factor since the last selection.

    Notes
    -----
    `result.counters.repartitions` contains the number of selections.
    Source: Wehage and Haug 1982, J. Mech. Des. 104, 247-255.
    """

    degraded: float = DEGRADED

    reference: ClassVar[str] = "Wehage and Haug 1982, J. Mech. Des. 104, 247-255"
    any_unit: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    ms: ClassVar[float] = 3.9

    def wrong(self) -> list[str]:
        return not_positive(degraded=self.degraded)

    def begin(self, model: Model) -> Solver:
        return Partition(self)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        """Solve with coordinates selected for this system."""
        return Partition(self).solve(kkt)


class Partition(Solver):
    """The dependent coordinates of one run, and the condition number of Phi_d when they were selected."""

    formulation: CoordinatePartitioning

    def __init__(self, formulation: CoordinatePartitioning) -> None:
        super().__init__(formulation)
        self.dependent: Ints | None = None
        self.condition = 0.0

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        choices = self._choose(kkt)
        d = self.dependent
        assert d is not None
        i = np.delete(np.arange(len(kkt.b_u)), d)
        u_0 = np.zeros(len(kkt.b_u))
        u_0[d] = np.linalg.solve(kkt.Phi_q[:, d], kkt.b_c)
        if kkt.solve_for is not SolveFor.ACCELERATIONS:
            return KKTSolution(u_0, np.zeros(len(kkt.b_c)), repartitions=choices)
        H = np.zeros((len(kkt.b_u), len(i)))
        H[i, np.arange(len(i))] = 1.0
        H[d] = -np.linalg.solve(kkt.Phi_q[:, d], kkt.Phi_q[:, i])
        u = u_0 + H @ solve_definite(kkt, H.T @ times_mass(kkt, H), H.T @ (kkt.b_u - times_mass(kkt, u_0)), "H^T M H")
        return KKTSolution(
            u, np.asarray(np.linalg.solve(kkt.Phi_q[:, d].T, (kkt.b_u - times_mass(kkt, u))[d])), repartitions=choices
        )

    def _choose(self, kkt: KKTSystem) -> int:
        """Select dependent coordinates if there are none or they have degraded.  Return the number of selections, 0 or 1."""
        if self.dependent is not None and condition(kkt.Phi_q[:, self.dependent]) <= self.formulation.degraded * self.condition:
            return 0
        pivots, order = pivots_of(kkt.Phi_q)
        k = len(kkt.b_c)
        if k > len(pivots) or (k and not pivots[k - 1] > SINGULAR_TOL * pivots[0]):
            raise singular(kkt, f"no {k} coordinates can be dependent: the rows have a lower rank")
        self.dependent = np.sort(order[:k])
        self.condition = condition(kkt.Phi_q[:, self.dependent])
        return 1


def condition(Phi_d: Array) -> float:
    """Return the condition number of Phi_d in the 1-norm."""
    return float(np.linalg.cond(Phi_d, 1)) if Phi_d.size else 1.0
