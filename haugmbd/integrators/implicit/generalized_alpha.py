r"""Generalized-alpha on the Lie group R^3 x SO(3): second order, with numerical damping to choose.

    alpha_m = (2 rho - 1) / (rho + 1)    alpha_f = rho / (rho + 1)    gamma = 1/2 - alpha_m + alpha_f    beta = (gamma + 1/2)^2 / 4

The step is that of `family`; `generalized_alpha_r7` is the method on Euler parameters as plain numbers, to be read beside it.
rho in [0, 1) is the spectral radius at infinite frequency: 0 forgets high frequencies in a step, 1 would keep them (and the multipliers
of index 3 would oscillate, and grow).
Source: Chung, Hulbert 1993; Arnold, Bruels 2007; Bruels, Cardona, Arnold 2012 (Lie group).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.errors import UsageError
from haugmbd.integrators.implicit.family import Newmarks, Parameters, of_rho
from haugmbd.integrators.implicit.level import GGL, Index3, Level
from haugmbd.integrators.implicit.method import ImplicitFixedOrAdaptive
from haugmbd.integrators.implicit.newton import QuasiNewton


@dataclass(frozen=True)
class GeneralizedAlpha(Newmarks, ImplicitFixedOrAdaptive):
    """Generalized-alpha, order two: fixed step `h` [s], or error control by rtol or atol.

    rho: spectral radius at infinite frequency, in [0, 1]
    level: form of the constraints, Index3(), Index2(), GGL(), HillerAnantharaman(); by default Index3() with a fixed step, and GGL() with
           error control, which needs velocities that are kept when the step changes
    tol: what Newton may leave of a step [m, rad]; a hundredth of it, relative to 1 + |u|, where velocities are kept
    """

    adaptive_by_default: ClassVar[bool] = False
    reference: ClassVar[str] = "Chung and Hulbert 1993; Arnold and Bruels 2007; Bruels, Cardona and Arnold 2012 (Lie group)"

    rho: float = 0.8
    level: Level | None = None
    tol: float = 1e-10
    newton: QuasiNewton = field(default_factory=QuasiNewton)

    def check(self, span: float) -> None:
        super().check(span)
        check_rho(self.rho)

    @property
    def form(self) -> Level:
        return self.level or (GGL() if self.adaptive else Index3())

    @property
    def parameters(self) -> Parameters:
        return of_rho(self.rho)


def check_rho(rho: float) -> None:
    """Refuse a spectral radius that is none."""
    if not 0.0 <= rho <= 1.0:
        raise UsageError(f"rho = {rho} must be in [0, 1]: 1 keeps high frequencies, 0 forgets them in a step.")
