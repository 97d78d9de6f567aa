r"""The trapezoidal rule: second order, without damping, the smallest error constant of its order.

    u_(n+1) = u_n + h (u'_n + u'_(n+1)) / 2      dq_n = h (u_n + u_(n+1)) / 2 = h u_n + h^2 (u'_n + u'_(n+1)) / 4

The step of `family` with alpha_m = alpha_f = 0, beta = 1/4, gamma = 1/2.  Nothing is damped, so that it shows what damping costs;
velocities must be kept (index 3 alone would be weakly unstable).
Source: Dahlquist 1963; Hairer, Wanner, Solving ODE II.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.deprecated import public_class
from haugmbd.integrators.implicit.constraint_form import GGL, ConstraintForm
from haugmbd.integrators.implicit.generalized_alpha import FixedNewmarks, Parameters
from haugmbd.integrators.implicit.newton import ModifiedNewton


@public_class
@dataclass(frozen=True)
class Trapezoidal(FixedNewmarks):
    """Order two, fixed step `h` [s].  level: form of the constraints;  tol: what Newton may leave."""

    constraint_form: ConstraintForm = field(default_factory=GGL)
    tol: float = 1e-10
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)
    reference: ClassVar[str] = "Dahlquist 1963; Hairer and Wanner, Solving ODE II"

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, 0.0, 0.25, 0.5)
