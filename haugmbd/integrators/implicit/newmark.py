r"""Newmark: the ancestor of the family, with beta and gamma to choose; first order but for gamma = 1/2.

    dq_n = h u_n + h^2 (1/2 - beta) u'_n + h^2 beta u'_(n+1)          u_(n+1) = u_n + h (1 - gamma) u'_n + h gamma u'_(n+1)
    M u'_(n+1) + Phi_q^T lam_(n+1) = Q_(n+1),      and the constraints

The step of `family` with alpha_m = alpha_f = 0.  Damping, and stability of the multipliers of index 3, need gamma > 1/2, and then the order
is one; unconditionally stable for beta >= (gamma + 1/2)^2 / 4.
Source: Newmark 1959; Hughes, The Finite Element Method, ch. 9; Negrut et al. 2007 (with constraints).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.family import FixedNewmarks, Parameters
from haugmbd.integrators.implicit.level import Index3, Level
from haugmbd.integrators.implicit.newton import QuasiNewton


@dataclass(frozen=True)
class Newmark(FixedNewmarks):
    """Fixed step `h` [s]; order one, or two with gamma = 1/2 (then take level=GGL()).

    beta, gamma: parameters, gamma in [1/2, 1], beta at least (gamma + 1/2)^2 / 4;  level: form of the constraints;  tol: as in HHT
    """

    beta: float = 0.3025
    gamma: float = 0.6
    level: Level = field(default_factory=Index3)
    tol: float = 1e-10
    newton: QuasiNewton = field(default_factory=QuasiNewton)
    reference: ClassVar[str] = "Newmark 1959; Negrut, Rampalli, Ottarsson and Sajdak 2007"

    def check(self, span: float) -> None:
        super().check(span)
        least = 0.25 * (self.gamma + 0.5) ** 2
        if not (0.5 <= self.gamma <= 1.0 and self.beta >= least * (1.0 - 1e-12)):
            raise UsageError(
                f"gamma = {self.gamma} must be in [0.5, 1], and beta = {self.beta} at least {least:g}: stable steps need it."
            )

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, 0.0, self.beta, self.gamma)
