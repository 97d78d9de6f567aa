"""Redundant mechanisms for the tests: loops of revolute joints, planar and spatial."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin

import numpy as np

from haugmbd import Body, System
from haugmbd.gallery.spatial_linkages import (
    GRAVITY,
    J_BAR,
    Link,
    bennett,
    bennett_angle,
    bricard,
    hinges,
    link_frames,
    loop,
)
from joints import RJ

__all__ = ["GRAVITY", "J_BAR", "bennett", "bennett_angle", "bricard", "denavit_hartenberg", "ladder", "loop", "planar_points"]


def denavit_hartenberg(links: Sequence[Link]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Points and z axes of a closed chain of (theta, d, a, alpha)."""
    behind = link_frames(links)[-1]
    assert np.allclose(behind, np.eye(4), atol=1e-9), behind
    return hinges(links)


def planar_points() -> list[np.ndarray]:
    """A four-bar in the plane z = 0."""
    return [np.array(p, dtype=float) for p in ((0, 0, 0), (0, 1, 0), (3, 2, 0), (4, 0, 0))]


def ladder(n: int, *, lean: float = 0.3) -> System:
    """n four-bars in a row that share their uprights: 15 n + 5 rows, 3 n of them dependent, 1 degree of freedom."""
    system = System("ladder", gravity=(0, -9.81, 0))
    up = np.array([sin(lean), cos(lean), 0.0])
    uprights = [system.add(Body(f"upright {k}", 1.0, J_BAR, r=(k, 0, 0) + up / 2)) for k in range(n + 1)]
    for k, body in enumerate(uprights):
        system.add(RJ(f"foot {k}", system.ground, body, point=(k, 0, 0), axis=(0, 0, 1)))
    for k in range(n):
        bar = system.add(Body(f"bar {k}", 1.0, J_BAR, r=(k + 0.5, 0, 0) + up))
        system.add(RJ(f"left {k}", uprights[k], bar, point=(k, 0, 0) + up, axis=(0, 0, 1)))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=(k + 1, 0, 0) + up, axis=(0, 0, 1)))
    return system
