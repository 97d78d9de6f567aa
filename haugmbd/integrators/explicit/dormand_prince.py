r"""Dormand-Prince 5(4): seven stages, order five, step size from the embedded order four, first stage same as last.

    y1 = y + h sum b_i k_i          error = h sum e_i k_i,  k_7 = f(t + h, y1)              e = b - b_hat

Source: Dormand, Prince, J. Comp. Appl. Math. 6 (1980) 19-26; Hairer, Norsett, Wanner, Solving ODE I, sec. II.4 and table II.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.tableau import tableau


@public_class
@dataclass(frozen=True, kw_only=True)
class DormandPrince(EmbeddedRungeKutta):
    """The Dormand-Prince method 5(4): order five with error control.

    Parameters
    ----------
    rtol, atol : float
        Relative and absolute tolerances of the error of a step.
    h_first : float, optional
        First step [s]; by default chosen.
    h_max : float
        Largest step [s].
    beta : float
        Exponent of the PI step size control; 0 switches it off, 0.04 is usual.

    Notes
    -----
    Sources: Dormand and Prince 1980, J. Comp. Appl. Math. 6, 19-26; Hairer, Norsett and Wanner, Solving ODE I, sec. II.4.
    """

    reference = "Dormand and Prince 1980, J. Comp. Appl. Math. 6, 19-26; Hairer, Norsett and Wanner, Solving ODE I, sec. II.4"
    order = 5
    error_order = 5
    tableau = tableau(
        (0.0,),
        (1 / 5, 1 / 5),
        (3 / 10, 3 / 40, 9 / 40),
        (4 / 5, 44 / 45, -56 / 15, 32 / 9),
        (8 / 9, 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (1.0, 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
    errors = np.array([[71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40], 7 * [0.0]])
