r"""Windows: n four-bars in a row that share their uprights, a loop with a singular configuration where all bars lie on one line.

15 n + 5 rows for 2 n + 1 bodies, of which 3 n depend on the others.
Source: IFToMM library of computational benchmark problems, "N four-bar mechanism" (problem A02).
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies import inertia
from haugmbd.bodies.body import Body
from haugmbd.gallery.building import AXIS, check_count
from haugmbd.joints import RJ
from haugmbd.system.system import System


def windows(n: int = 2, *, lean: float = 0.0, speed: float = 1.0, length: float = 1.0) -> System:
    """Return n windows of bars of 1 kg, which turn over.

    Parameters
    ----------
    n : int
        Number of windows, at least 1.
    lean : float
        Angle of the uprights from the vertical [rad].
    speed : float
        Speed of the tops, in lengths a second [1/s].
    length : float
        Length of the bars [m]; gravity is 9.81 m/s2 times length / 1 m, so that every size takes the same time.

    Returns
    -------
    System
        Bodies: "upright 0" ... "upright n", "bar 0" ... .  Joints (RJ): "foot k", "left k", "right k".  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If n is not a positive whole number.

    Notes
    -----
    Source: IFToMM library of computational benchmark problems, problem A02, with the default arguments.
    """
    check_count("windows", n, "windows")
    system = System(f"{n} windows", gravity=(0.0, 0.0, -9.81 * length))
    up, along = length * np.array([np.sin(lean), 0.0, np.cos(lean)]), length * np.array([np.cos(lean), 0.0, -np.sin(lean)])
    side = np.array([length, 0.0, 0.0])
    uprights = []
    for k in range(n + 1):
        foot = k * side
        rod, v = inertia.rod(length, density=1.0 / length, axis=up), speed / 2 * along
        uprights.append(system.add(Body(f"upright {k}", *rod, r=foot + up / 2, v=v, omega_bar=(0.0, speed, 0.0))))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot, axis=AXIS))
    for k in range(n):
        top = k * side + up
        rod = inertia.rod(length, density=1.0 / length, axis=(1, 0, 0))
        bar = system.add(Body(f"bar {k}", *rod, r=top + 0.5 * side, v=speed * along))
        system.add(RJ(f"left {k}", uprights[k], bar, point=top, axis=AXIS))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=top + side, axis=AXIS))
    return system
