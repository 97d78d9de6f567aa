r"""RK3: Heun's method of order three.

    k1 = f(t, y)   k2 = f(t + h/3, y + h k1/3)   k3 = f(t + 2h/3, y + 2h k2/3)         y <- post_step( y + h (k1 + 3 k3) / 4 )

Source: Heun (1900); Hairer, Norsett, Wanner, Solving ODE I, table II.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.explicit.tableau import tableau


@public_class
@dataclass(frozen=True)
class RK3(RungeKutta):
    """Heun's method of order three: three stages, fixed step.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Sources: Heun 1900; Hairer, Norsett and Wanner, Solving ODE I, table II.1.1.
    """

    reference = "Heun 1900; Hairer, Norsett and Wanner, Solving ODE I, table II.1.1"
    order = 3
    tableau = tableau(
        (0.0,),
        (1 / 3, 1 / 3),
        (2 / 3, 0.0, 2 / 3),
        (1 / 4, 0.0, 3 / 4),
    )
