r"""HHT-I3 (Hilber, Hughes, Taylor with index-3 constraints): second order, damping by one parameter.

    M a_(n+1) = (1 + alpha) (Q - Phi_q^T lam)_(n+1) - alpha (Q - Phi_q^T lam)_n          Phi_(n+1) = 0
    alpha in [-1/3, 0]      beta = (1 - alpha)^2 / 4      gamma = 1/2 - alpha

With M u' = Q - Phi_q^T lam and constant M this is the step of `family` with alpha_m = 0, alpha_f = -alpha.  alpha = 0 is the trapezoidal
rule, without damping; -1/3 damps most.
Source: Hilber, Hughes, Taylor 1977; Negrut, Rampalli, Ottarsson, Sajdak 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.family import FixedNewmarks, Parameters
from haugmbd.integrators.implicit.level import Index3, Level
from haugmbd.integrators.implicit.newton import QuasiNewton


@dataclass(frozen=True)
class HHT(FixedNewmarks):
    """Order two, fixed step `h` [s].

    alpha: damping, in [-1/3, 0];  level: form of the constraints;  tol: what Newton may leave
    """

    alpha: float = -0.3
    level: Level = field(default_factory=Index3)
    tol: float = 1e-10
    newton: QuasiNewton = field(default_factory=QuasiNewton)
    reference: ClassVar[str] = "Hilber, Hughes and Taylor 1977; Negrut, Rampalli, Ottarsson and Sajdak 2007"

    def check(self, span: float) -> None:
        super().check(span)
        if not -1.0 / 3.0 - 1e-12 <= self.alpha <= 0.0:
            raise UsageError(f"alpha = {self.alpha} must be in [-1/3, 0]: -1/3 damps most, 0 not at all.")

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, -self.alpha, 0.25 * (1.0 - self.alpha) ** 2, 0.5 - self.alpha)
