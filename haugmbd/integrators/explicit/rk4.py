r"""RK4: the classical Runge-Kutta method of order four, fixed step.

    k1 = f(t, y)   k2 = f(t + h/2, y + h k1/2)   k3 = f(t + h/2, y + h k2/2)   k4 = f(t + h, y + h k3)
    y <- post_step( y + h (k1 + 2 k2 + 2 k3 + k4) / 6 )

Source: Kutta (1901); Hairer, Norsett, Wanner, Solving ODE I, table II.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.explicit.tableau import tableau


@public_class
@dataclass(frozen=True)
class RK4(RungeKutta):
    """The classical Runge-Kutta method: four stages, order four, fixed step.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Sources: Kutta 1901; Hairer, Norsett and Wanner, Solving ODE I, table II.1.2.
    """

    reference = "Kutta 1901; Hairer, Norsett and Wanner, Solving ODE I, table II.1.2"
    order = 4
    tableau = tableau(
        (0.0,),
        (1 / 2, 1 / 2),
        (1 / 2, 0.0, 1 / 2),
        (1.0, 0.0, 0.0, 1.0),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )
