"""Redundant mechanisms for the tests: loops of revolute joints, planar and spatial."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, tan

import numpy as np

from haugmbd import Body, System
from joints import RJ

J_BAR = (0.1, 0.2, 0.25)
GRAVITY = (0.3, -9.81, 1.0)  # no symmetry plane


def loop(points: Sequence[np.ndarray], axes: Sequence[np.ndarray]) -> System:
    """A closed loop of revolute joints: ground, then a body between each two points, then ground."""
    system = System("loop", gravity=GRAVITY)
    bodies = [system.ground]
    for k in range(len(points) - 1):
        bodies.append(system.add(Body(f"link {k}", 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2)))
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % len(bodies)], point=point, axis=axis))
    return system


def denavit_hartenberg(links: Sequence[tuple[float, float, float, float]]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Points and z axes of a closed chain of (theta, d, a, alpha)."""
    frame, points, axes = np.eye(4), [], []
    for theta, d, a, alpha in links:
        points.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        c, s, ca, sa = cos(theta), sin(theta), cos(alpha), sin(alpha)
        frame = frame @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
    assert np.allclose(frame, np.eye(4), atol=1e-9), frame
    return points, axes


def bennett_angle(theta: float, alpha: float = pi / 6, beta: float = 5 * pi / 12) -> float:
    """The angle of hinge 1 that belongs to `theta` of hinge 0: tan(t0/2) tan(t1/2) = sin((beta+alpha)/2) / sin((beta-alpha)/2)."""
    return float(2 * np.arctan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(theta / 2)))


def bennett(theta: float = 0.8, *, a: float = 1.0, alpha: float = pi / 6, beta: float = 5 * pi / 12) -> System:
    """Bennett's linkage: sides a, b with a / sin(alpha) = b / sin(beta); the parameters of `spatial_analytic.json`."""
    b = a * sin(beta) / sin(alpha)
    other = bennett_angle(theta, alpha, beta)
    return loop(*denavit_hartenberg([(theta, 0, a, alpha), (other, 0, b, beta), (-theta, 0, a, alpha), (-other, 0, b, beta)]))


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


def bricard(cosine: float = 0.3) -> System:
    """Bricard's orthogonal linkage with equal sides: 6 hinges, 30 rows for 5 bodies, and mobile; c1 c2 + c1 + c2 = 0."""
    first, second = np.arccos(cosine), np.arccos(-cosine / (1 + cosine))
    return loop(*denavit_hartenberg([(first, 0, 1.0, pi / 2), (second, 0, 1.0, -pi / 2)] * 3))
