r"""Heun's method of order two: an Euler step, then the mean of the rates at both ends.

    k1 = f(t, y)   k2 = f(t + h, y + h k1)         y <- post_step( y + h (k1 + k2) / 2 )

Source: Heun (1900); Hairer, Norsett, Wanner, Solving ODE I, sec. II.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.explicit.tableau import tableau


@public_class
@dataclass(frozen=True)
class Heun(RungeKutta):
    """Heun's method: two stages, order two, fixed step.

    Parameters
    ----------
    h : float, optional
        Fixed step [s]; may be given to `simulate` instead.  The last step is shortened to end at t_end.
    h_first : float, optional
        First step [s], if it differs from `h`.

    Notes
    -----
    Sources: Heun 1900; Hairer, Norsett and Wanner, Solving ODE I, sec. II.1.
    """

    reference = "Heun 1900; Hairer, Norsett and Wanner, Solving ODE I, sec. II.1"
    order = 2
    tableau = tableau(
        (0.0,),
        (1.0, 1.0),
        (1 / 2, 1 / 2),
    )
