r"""UdwadiaKalaba: the free motion plus the least mass-weighted correction that fulfils the constraints, by a pseudo-inverse.

    u = a + M^-1/2 B^+ (b_c - Phi_q a)          a = M^-1 b_u,    B = Phi_q M^-1/2        (Gauss's principle of least constraint)
    lam = -(B^T)^+ B^+ (b_c - Phi_q a)          of least norm where rows depend on others

Rows may depend on others.  B^+ is built with as many singular values as the compiled model has independent rows.  M must be regular;
`UdwadiaPhohomsiri` accepts a singular M, as of slender rods and point masses.
Source: Udwadia, Kalaba, A new perspective on constrained motion, Proc. R. Soc. A 439 (1992) 407-410.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.formulations.base import NONE, KKTSolution, KKTSystem, Multipliers, Solver
from haugmbd.formulations.dense_matrices import blockwise, split
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.model.model import Model


@public_class
@dataclass(frozen=True)
class UdwadiaKalaba(PythonFormulation):
    """The fundamental equation of Udwadia and Kalaba in (v, omega_bar), by a singular value decomposition.  The work is O(n^3).

    Notes
    -----
    The formulation accepts dependent rows and returns multipliers of least norm.  Every body must have inertia about all axes.
    Source: Udwadia and Kalaba 1992, Proc. R. Soc. A 439, 407-410.
    """

    reference: ClassVar[str] = "Udwadia and Kalaba 1992, Proc. R. Soc. A 439, 407-410"
    any_unit: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    ms: ClassVar[float] = 10.0
    multipliers: ClassVar[Multipliers] = Multipliers.LEAST
    all_rows: ClassVar[bool] = True
    massless: ClassVar[bool] = False
    instead: ClassVar[str] = "UdwadiaPhohomsiri(), the fundamental equation for a singular mass matrix"

    def begin(self, model: Model) -> Solver:
        return LeastCorrection(self)

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        return LeastCorrection(self).solve(kkt)


class LeastCorrection(Solver):
    """The solver of one run, which takes the root of its mass matrix once."""

    def __init__(self, formulation: UdwadiaKalaba) -> None:
        super().__init__(formulation)
        self.M, self.root = NONE, NONE

    def solve(self, kkt: KKTSystem) -> KKTSolution:
        if kkt.M is not self.M:
            moments, axes = np.linalg.eigh(kkt.M)
            self.M, self.root = kkt.M, (axes / np.sqrt(moments)[:, None, :]) @ np.swapaxes(axes, 1, 2)  # M^-1/2, body by body
        root = self.root
        a = blockwise(root, blockwise(root, kkt.b_u))
        s = split(kkt, blockwise(root, kkt.Phi_q.T).T, kkt.rank, with_Z=False)
        z = s.U.T @ (kkt.b_c - kkt.Phi_q @ a) / s.s
        return KKTSolution(a + blockwise(root, s.V @ z), -s.U @ (z / s.s))
