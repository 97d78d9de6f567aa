"""Bodies that fall on contacts."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd

G = 9.81

DOWN = (0.0, 0.0, -G)

METHODS = {"RK4": {"h": 1e-2}, "DormandPrince": {"rtol": 1e-10, "atol": 1e-12}}


def ball(e: float, *, z: float = 1.0, radius: float = 0.1, v=(0.0, 0.0, 0.0)):
    """A ball of 2 kg, its lowest point at height z above a floor at z = 0; the system and its one contact."""
    system = mbd.System("ball", gravity=DOWN)
    body = system.add(mbd.Body("ball", 2.0, (0.008, 0.008, 0.008), r=(0.3, 0.2, z + radius), v=v))
    floor = mbd.Contact(
        "floor", system.ground, body, point=body.r, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=e, radius=radius
    )
    return system, [floor]


def box(e: float, *, z: float = 1.0, sizes=(0.6, 0.4, 0.2), center=(0.0, 0.0), v=(0.0, 0.0, 0.0), turned: float = 0.0):
    """A box of 3 kg, level, its bottom at height z; centre of mass off the middle by `center`; four contacts below its corners."""
    system = mbd.System("box", gravity=DOWN)
    a, b, c = sizes
    J = 3.0 / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    p = (np.cos(0.5 * turned), 0.0, np.sin(0.5 * turned), 0.0)
    body = system.add(mbd.Body("box", 3.0, J, r=(0.0, 0.0, z + 0.5 * c), p=p, v=v))
    A = body.A
    contacts = []
    for name, x, y in (("a", 1, 1), ("b", -1, 1), ("c", -1, -1), ("d", 1, -1)):
        corner = body.r + A @ np.array([0.5 * a * x - center[0], 0.5 * b * y - center[1], -0.5 * c])
        contacts.append(
            mbd.Contact(name, system.ground, body, point=corner, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=e)
        )
    return system, contacts
