r"""A flyball governor: two arms on a rotating shaft, coupled to a slider by stiff spring-dampers.

At the start the eigenvalues of its motion are -8117, -20.05 and +-7.35 i [1/s].  Explicit methods need steps below 0.4 ms, although the
motion itself changes in tenths of a second.
Source: IFToMM library of computational benchmark problems, "flyball governor" (problem A05).
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.forces import TSDA
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ, TJ
from haugmbd.system.system import System

DENSITY, THICK, CUBE, TIP = 3000.0, 0.01, 0.1, 5.0
HALF, PIN, BELOW, S0, SPEED = 0.05, 1.0, np.radians(30.0), 0.5, 2.0 * np.pi
K, C, L0 = 8e5, 4e4, 0.5

_SOURCE = "minimal coordinates, Radau and DOP853 at 1e-13; IFToMM publishes 1.2e-6"
SLIDER = (
    Published("height of the slider", "m", 1.0, 0.501420922380, 1e-9, _SOURCE),
    Published("height of the slider", "m", 10.0, 0.619622917061, 1e-9, _SOURCE),
)


def governor() -> System:
    """Return a flyball governor: a shaft that rotates freely with 2 pi rad/s, two arms with 5 kg at their ends, a slider of 3 kg.

    Returns
    -------
    System
        Bodies: "shaft" (1 m), "arm 1", "arm 2" (1 m), "slider".  Joints: "bearing" (RJ), "hinge 1", "hinge 2" (RJ), "slide" (TJ).
        Forces: "coupling 1", "coupling 2" (TSDA).  Degrees of freedom: 4.

    Notes
    -----
    Source: IFToMM library of computational benchmark problems, problem A05.
    """
    rod = DENSITY * THICK**2
    axial, across = rod * THICK**2 / 6.0, rod * (1.0 + THICK**2) / 12.0
    system = System("governor", gravity=(0.0, 0.0, -9.81))
    shaft = system.add(Body("shaft", rod, (across, across, axial), r=(0, 0, 0.5), omega_bar=(0, 0, SPEED)))
    system.add(RJ("bearing", system.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    cube, side = DENSITY * CUBE**3, DENSITY * CUBE**5 / 6.0
    slider = system.add(Body("slider", cube, (side, side, side), r=(0, 0, S0), omega_bar=(0, 0, SPEED)))
    system.add(TJ("slide", shaft, slider, point=(0, 0, S0), axis=(0, 0, 1)))
    centre = (rod * 0.5 + TIP) / (rod + TIP)
    J = across + rod * (centre - 0.5) ** 2 + TIP * (1.0 - centre) ** 2
    for n, sign in ((1, 1.0), (2, -1.0)):
        pin = np.array([sign * HALF, 0.0, PIN])
        along = np.array([sign * np.cos(BELOW), 0.0, -np.sin(BELOW)])
        turn = BELOW if sign > 0.0 else np.pi - BELOW  # about y, from x to the arm
        p = (np.cos(turn / 2.0), 0.0, np.sin(turn / 2.0), 0.0)
        r, omega = pin + centre * along, np.array([0.0, 0.0, SPEED])
        omega_bar = (-SPEED * np.sin(turn), 0.0, SPEED * np.cos(turn))
        arm = system.add(Body(f"arm {n}", rod + TIP, (axial, J, J), r=r, p=p, v=np.cross(omega, r), omega_bar=omega_bar))
        system.add(RJ(f"hinge {n}", shaft, arm, point=pin, axis=(0, 1, 0)))
        ends = {"point_i": pin + 0.5 * along, "point_j": (sign * HALF, 0.0, S0)}
        system.add(TSDA(f"coupling {n}", arm, slider, k=K, c=C, l0=L0, **ends))
    return system
