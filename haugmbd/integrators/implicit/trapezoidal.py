r"""The trapezoidal rule: order two, without numerical damping, with the smallest error constant of its order.

    u_(n+1) = u_n + h (u'_n + u'_(n+1)) / 2      dq_n = h (u_n + u_(n+1)) / 2 = h u_n + h^2 (u'_n + u'_(n+1)) / 4

This is the step of `generalized_alpha` with alpha_m = alpha_f = 0, beta = 1/4, gamma = 1/2.  Because nothing is damped, it shows the
cost of damping in other methods.  Velocities must fulfil their constraints; with index 3 alone the rule would be weakly unstable.
Source: Dahlquist 1963; Hairer, Wanner, Solving ODE II, ch. VII.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from haugmbd.deprecated import public_class
from haugmbd.integrators.implicit.base import NEWTON_TOL
from haugmbd.integrators.implicit.constraint_form import GGL, ConstraintForm
from haugmbd.integrators.implicit.generalized_alpha import FixedNewmarks, Parameters
from haugmbd.integrators.implicit.newton import ModifiedNewton


@public_class
@dataclass(frozen=True)
class Trapezoidal(FixedNewmarks):
    """The trapezoidal rule: order two, fixed step, no numerical damping.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.
    constraint_form : ConstraintForm
        Form of the constraints that is solved; by default `GGL()`.
    tol : float
        Error that Newton's iteration may leave in a step [m, rad].
    newton : ModifiedNewton or FullNewton
        The matrix of Newton's iteration.

    Notes
    -----
    Sources: Dahlquist 1963; Hairer and Wanner, Solving ODE II.
    """

    constraint_form: ConstraintForm = field(default_factory=GGL)
    tol: float = NEWTON_TOL
    newton: ModifiedNewton = field(default_factory=ModifiedNewton)
    reference: ClassVar[str] = "Dahlquist 1963; Hairer and Wanner, Solving ODE II"

    @property
    def parameters(self) -> Parameters:
        return Parameters(0.0, 0.0, 0.25, 0.5)
