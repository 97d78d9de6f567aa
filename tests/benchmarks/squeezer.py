"""Andrews' squeezing mechanism as numbers, without the library: joints, bodies, spring at the start, and the crank angle at the end.

Source: Mazzia, Magherini, Test Set for IVP Solvers; the end is that of minimal coordinates, DOP853 at 1e-13.
"""

from __future__ import annotations

import numpy as np


def turn(angle: float, x: float, y: float) -> np.ndarray:
    """(x, y, 0) turned by `angle` about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y, 0.0])


START, T_END, END = -0.06171389001427645, 0.03, 15.810771195153597
"""Crank angle [rad] at the start; [s]; crank angle at the end."""
TORQUE, STIFFNESS, FREE_LENGTH = 0.033, 4530.0, 0.07785
GAMMA, DELTA, PHI, EPSILON = 0.45527981916307037, 0.48736497954384256, 0.22266839016588588, 1.2305474445498212
A, B, C = np.array([-0.06934, -0.00227, 0.0]), np.array([-0.03635, 0.03273, 0.0]), np.array([0.014, 0.072, 0.0])
F, E, D = turn(START, 0.007, 0.0), B + turn(GAMMA, 0.0, -0.035), B + turn(GAMMA, 0.02, -0.018)
G, H = A + turn(DELTA, 0.04, 0.0), A + turn(EPSILON, 0.0, -0.04)

BODIES = {  # body it is hinged to, hinge, centre of mass, mass [kg], moment of inertia about z [kg m2]
    "OF": ("", np.zeros(3), turn(START, 0.00092, 0.0), 0.04325, 2.194e-06),
    "FE": ("OF", F, F + turn(START, -0.0115, 0.0), 0.00365, 4.41e-07),
    "BDE": ("", B, B + turn(GAMMA, 0.01043, -0.01874), 0.02373, 5.255e-06),
    "AG": ("", A, A + turn(DELTA, 0.02308, 0.00916), 0.0705, 1.169e-05),
    "EG": ("AG", G, G + turn(PHI + DELTA, 0.0, -(0.02 - 0.01421)), 0.00706, 5.667e-07),
    "AH": ("", A, A + turn(EPSILON, -0.00449, -0.01228), 0.05498, 1.912e-05),
    "EH": ("AH", H, H + turn(EPSILON - PHI, 0.02 - 0.01421, 0.0), 0.00706, 5.667e-07),
}
CLOSED = ("FE", "EG", "EH")
"""Each meets BDE at E."""
