r"""A net: small balls on a grid, held at a distance by massless rods; two opposite corners are held."""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import sphere
from haugmbd.gallery.building import check_count
from haugmbd.joints import SJ, Distance
from haugmbd.system.system import System

MESH = 0.2
"""Distance of two neighbours [m]."""


def net(n: int = 5) -> System:
    """Return a square net of n x n balls of 0.1 kg, level and at rest; two opposite corners are held.

    Parameters
    ----------
    n : int
        Number of balls along a side, at least 2.

    Returns
    -------
    System
        Bodies: "ball i j".  Joints: "along i j", "across i j" (Distance) to the next ball, "corner 1", "corner 2" (SJ).
        Degrees of freedom: 6 n^2 - 2 n (n - 1) - 6, of which 3 n^2 are spins of the balls.

    Raises
    ------
    UsageError
        If n is not a whole number of at least 2.
    """
    check_count("net", n, "balls along a side", least=2)
    system = System(f"net of {n} x {n}", gravity=(0.0, 0.0, -9.81))
    place = {(i, j): np.array([i * MESH, j * MESH, 0.0]) for i in range(n) for j in range(n)}
    ball = {at: system.add(Body(f"ball {at[0]} {at[1]}", *sphere(0.02, mass=0.1), r=r)) for at, r in place.items()}
    for i, j in place:
        for name, near in (("along", (i + 1, j)), ("across", (i, j + 1))):
            if near in place:
                ends = {"point_i": place[i, j], "point_j": place[near]}
                system.add(Distance(f"{name} {i} {j}", ball[i, j], ball[near], **ends))
    system.add(SJ("corner 1", system.ground, ball[0, 0], point=place[0, 0]))
    system.add(SJ("corner 2", system.ground, ball[n - 1, n - 1], point=place[n - 1, n - 1]))
    return system
