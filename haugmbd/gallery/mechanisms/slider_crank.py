r"""The spatial slider-crank: a crank in the plane x = 0 drives a slider along the x axis through a rod.

    |B(theta) - C| = 0.3       B = (0, 0.1 - 0.08 sin(theta), 0.12 + 0.08 cos(theta))       C = (x, 0, 0)

RJ (ground-crank) + SJ (crank-rod) + UJ (rod-slider) + TJ (slider-ground) = 5 + 3 + 4 + 5 = 17 rows, 18 - 17 = 1 degree of freedom.

Source: Haug (1989), sec. 12.2, the first edition of the book, where the example was published; a benchmark of the IFToMM library.
Values from the minimal-coordinate equation (derived with SymPy, integrated with DOP853 and Radau at 1e-13; driven: closed form),
in agreement with the published curves.  All body frames have the global axes at the modelled pose.
"""

from __future__ import annotations

from math import pi

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import FloatArray
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ, SJ, TJ, UJ, RotationDriver
from haugmbd.simulation.results.result import Result
from haugmbd.system.system import System

A = np.array([0.0, 0.1, 0.12])
B = np.array([0.0, 0.1, 0.2])
C = np.array([0.2, 0.0, 0.0])
X = np.array([1.0, 0.0, 0.0])
ALONG = (C - B) / 0.3
"""Unit vector along the rod at the modelled pose."""

SPEED = 6.0
"""Initial speed of the free crank [rad/s]; the velocities of the other bodies are in proportion."""

_FREE = "Haug (1989) sec. 12.2, IFToMM; minimal coordinates, DOP853 and Radau at 1e-13"
_DRIVEN = "Haug (1989) sec. 12.2, IFToMM; closed form"

FREE = (
    Published("crank angle theta", "rad", 1.0, 10.484073838524, 1e-8, _FREE),
    Published("slider position x", "m", 1.0, 0.233764750335, 1e-8, _FREE),
    Published("crank angle theta", "rad", 5.0, 51.3694398879276, 1e-6, _FREE),
    Published("slider position x", "m", 5.0, 0.254650085467, 1e-6, _FREE),
)

DRIVEN = (
    Published("slider position x", "m", 0.25, 0.274226184016, 1e-10, _DRIVEN),
    Published("torque of the drive", "N m", 0.0, 0.137048347649, 1e-9, _DRIVEN),
    Published("torque of the drive", "N m", 0.25, -0.295922922802, 1e-9, _DRIVEN),
)


def slider_crank(*, driven: bool = False) -> System:
    """Return the spatial slider-crank.

    Parameters
    ----------
    driven : bool
        False: the crank moves freely with 6 rad/s at first.  True: the crank is driven as theta = 2 pi t.

    Returns
    -------
    System
        Bodies: "crank", "rod", "slider".  Joints: "R" (RJ), "S" (SJ), "U" (UJ), "T" (TJ) and, if driven, "drive" (RotationDriver).
        Degrees of freedom: 1, or 0 if driven.

    Notes
    -----
    Source: Haug (1989), sec. 12.2; IFToMM benchmark library.
    """
    speed = 2.0 * pi if driven else SPEED
    u = speed / SPEED
    system = System("driven spatial slider-crank" if driven else "spatial slider-crank", gravity=(0.0, 0.0, -9.81))
    crank = system.add(Body("crank", 0.12, (1e-4, 1e-4, 1e-5), r=A, omega_bar=speed * X))
    J_rod = 4e-3 * np.eye(3) + (4e-4 - 4e-3) * np.outer(ALONG, ALONG)
    v_rod, omega_rod = u * np.array([0.12, -0.24, 0.0]), u * np.array([1.92, -0.96, 0.48])
    rod = system.add(Body("rod", 0.5, J_rod, r=(B + C) / 2.0, v=v_rod, omega_bar=omega_rod))
    slider = system.add(Body("slider", 2.0, (1e-4, 1e-4, 1e-4), r=C, v=u * 0.24 * X))
    pin = system.add(RJ("R", system.ground, crank, point=A, axis=X))
    system.add(SJ("S", crank, rod, point=B))
    system.add(UJ("U", rod, slider, point=C, axis_i=(0.0, -2.0, 1.0), axis_j=X))
    system.add(TJ("T", system.ground, slider, point=C, axis=X))
    if driven:
        system.add(RotationDriver("drive", pin, lambda t: 2.0 * pi * t))
    return system


def crank_angle(result: Result) -> FloatArray:
    """Return the angle of the crank [rad], (nt,), counted through all turns.

    Consecutive states must be less than half a turn apart.
    """
    p = result["crank"].p
    angle: FloatArray = np.unwrap(2.0 * np.arctan2(p[:, 1], p[:, 0]))
    return angle
