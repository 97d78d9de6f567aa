r"""Runge-Kutta-Munthe-Kaas of order four on R^3 x SO(3): RK4 for the rotation vectors Theta of a step, p = p_0 exp(Theta).

    K_i = dexpinv(Theta_i) omega_bar_i,  Theta_i = h sum a_ij K_j         p_1 = p_0 exp( h (K_1 + 2 K_2 + 2 K_3 + K_4) / 6 )

|p| = 1 holds to rounding, so nothing has to be normalised; positions and velocities are those of RK4.
Source: Munthe-Kaas, BIT 38 (1998) 92-111.
"""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.integrators.lie import LieRungeKutta
from haugmbd.integrators.rk4 import RK4


@dataclass(frozen=True)
class RKMK4(LieRungeKutta):
    """Four stages, order four, rotations as a group; fixed step `h` [s], the last step shortened.  h_first: another first step [s]."""

    reference = "Munthe-Kaas 1998, BIT 38, 92-111"
    order = 4
    tableau = RK4.tableau
