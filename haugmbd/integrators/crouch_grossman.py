r"""Crouch-Grossman of order three on R^3 x SO(3): rotations as products of exponentials of stage velocities, for comparison.

    p_1 = p_0 exp(h b_1 omega_bar_1) exp(h b_2 omega_bar_2) exp(h b_3 omega_bar_3)

The order conditions are those of order three and one more, because rotations do not commute: RK3's tableau would have order two.
Source: Crouch, Grossman (1993); Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. IV.8.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.integrators.lie import LieRungeKutta
from haugmbd.integrators.tableau import tableau


@dataclass(frozen=True)
class CrouchGrossman3(LieRungeKutta):
    """Three stages, order three, rotations as a group; fixed step `h` [s], the last step shortened.  h_first: another first step [s]."""

    reference = "Crouch and Grossman 1993, J. Nonlinear Sci. 3, 1-33"
    order = 3
    products = True
    tableau = tableau(
        (0.0,),
        (3 / 4, 3 / 4),
        (17 / 24, 119 / 216, 17 / 108),
        (13 / 51, -2 / 3, 24 / 17),
    )
