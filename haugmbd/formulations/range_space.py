r"""RangeSpace: the multipliers first, from the Schur complement of the augmented matrix.

    S lam = Phi_q M^-1 b_u - b_c          S = Phi_q M^-1 Phi_q^T   (symmetric positive definite, so Cholesky)
    u     = M^-1 (b_u - Phi_q^T lam)

M is inverted body by body.  S is dense even for a tree, because all rows on one body couple.
Source: Haug 2021, sec. 11.3; Featherstone 2008, sec. 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.formulations.base import NONE, KKTSolution, KKTSystem, Solver
from haugmbd.formulations.dense_matrices import blockwise, solve_definite
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model


@public_class
@dataclass(frozen=True)
class RangeSpace(PythonFormulation):
    """Multipliers from the Schur complement S = Phi_q M^-1 Phi_q^T.  The work is O(n^3) in the number of rows.

    Notes
    -----
    The formulation needs independent rows and a regular inertia of every body.
    Sources: Haug 2021, sec. 11.3; Featherstone 2008, sec. 3.4.
    """

    reference: ClassVar[str] = "Haug 2021, sec. 11.3; Featherstone 2008, sec. 3.4"
    any_unit: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    ms: ClassVar[float] = 1.6
    massless: ClassVar[bool] = False

    def begin(self, model: Model) -> Solver:
        return SchurComplement(self)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        return SchurComplement(self).solve(kkt)


class SchurComplement(Solver):
    """The solver of one run, which inverts its mass matrix once."""

    def __init__(self, formulation: RangeSpace) -> None:
        super().__init__(formulation)
        self.M, self.W = NONE, NONE

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        if kkt.M is not self.M:
            self.M, self.W = kkt.M, np.asarray(np.linalg.inv(kkt.M))
        W = self.W
        S = kkt.Phi_q @ blockwise(W, kkt.Phi_q.T)
        lam = solve_definite(kkt, S, kkt.Phi_q @ blockwise(W, kkt.b_u) - kkt.b_c, "Phi_q M^-1 Phi_q^T")
        return KKTSolution(blockwise(W, kkt.b_u - kkt.Phi_q.T @ lam), lam)
