"""Loops of joints with redundant rows whose points and axes are off by a relative error, as digits of a file leave them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import haugmbd as mbd
from haugmbd.gallery.spatial_linkages import bennett_angle, hinges
from joints import RJ, TJ, RotationDriver

Z = np.array([0.0, 0.0, 1.0])
Array = np.ndarray


def hinge_loop(
    points: Sequence[Array],
    axes: Sequence[Array],
    error: float,
    *,
    seed: int = 0,
    driven: bool = False,
    slide: bool = False,
    kinds: str = "points axes",
    scale: float = 1.0,
    tolerance: float | None = None,
) -> mbd.System:
    """Return a closed loop of hinges, the first on the ground, whose points and axes on each body are off by `error` of the size.

    slide: the last joint is a slide along x;  driven: the first hinge turns at 1 rad/s
    """
    rng = np.random.default_rng(seed)
    points = [scale * np.asarray(p, dtype=float) for p in points]
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    system = mbd.System("loop", gravity=(0.3, -9.81, 1.0), tolerance=tolerance)
    bodies = [system.ground]
    for k in range(len(points) - 1):
        middle, J = 0.5 * (points[k] + points[k + 1]), (0.02 * size**2, 0.03 * size**2, 0.04 * size**2)
        turn = rng.normal(size=4)
        bodies.append(system.add(mbd.Body(f"link {k}", 1.0, J, r=middle, p=turn / np.linalg.norm(turn))))
    bodies.append(system.ground)
    hinges = []
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        i, j = bodies[k], bodies[k + 1]
        ends = [b.A.T @ (point - b.r) + ("points" in kinds) * error * size * rng.uniform(-1, 1, 3) for b in (i, j)]
        given = np.array([1.0, 0.0, 0.0]) if slide and k == len(points) - 1 else np.asarray(axis, dtype=float)
        turned = [given + ("axes" in kinds) * error * rng.uniform(-1, 1, 3) for _ in range(2)]
        h_i, h_j = (h / np.linalg.norm(h) for h in turned)
        f = np.cross(h_i, [0.36, 0.48, 0.8])
        f /= np.linalg.norm(f)
        g = np.cross(h_i, f)
        if slide and k == len(points) - 1:
            hinges.append(TJ.from_vectors(f"joint {k}", i, ends[0], i.A.T @ f, i.A.T @ g, j, ends[1], j.A.T @ h_j))
        else:
            hinges.append(RJ.from_vectors(f"joint {k}", i, ends[0], i.A.T @ f, i.A.T @ g, j, ends[1], j.A.T @ h_j))
        system.add(hinges[-1])
    if driven:
        system.add(RotationDriver("drive", hinges[0], lambda t: 0.0 + t))
    return system


PLANAR = [np.array(p, dtype=float) for p in ((0, 0, 0), (0.05, 0.2, 0), (0.45, 0.35, 0), (0.6, 0, 0))]
LOZENGE = [np.array(p, dtype=float) for p in ((0, 0, 0), (0.1, 0.3, 0), (0.7, 0.3, 0), (0.6, 0, 0))]
CRANK = [np.array(p, dtype=float) for p in ((0, 0, 0), (0.1, 0.2, 0), (0.7, 0.0, 0), (0.7, 0, 0))]


def sarrus() -> tuple[list[Array], list[Array]]:
    """Points and axes of Sarrus' linkage: two arms of three parallel hinges each, across one another, that lift a plate."""
    x, y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    arm = [np.array([0.5, 0.0, 0.0]), np.array([0.9, 0.0, 0.35]), np.array([0.5, 0.0, 0.7])]
    other = [np.array([0.0, 0.5, 0.7]), np.array([0.0, 0.9, 0.35]), np.array([0.0, 0.5, 0.0])]
    return [*arm, *other], [y, y, y, x, x, x]


def bennett() -> tuple[list[Array], list[Array]]:
    """Points and axes of Bennett's linkage."""
    theta, a, alpha, beta = 0.8, 1.0, np.pi / 6, 5 * np.pi / 12
    b, other = a * np.sin(beta) / np.sin(alpha), bennett_angle(theta, alpha, beta)
    return hinges([(theta, 0, a, alpha), (other, 0, b, beta), (-theta, 0, a, alpha), (-other, 0, b, beta)])


FAMILIES: dict[str, Callable[..., mbd.System]] = {
    "four-bar": lambda e, **how: hinge_loop(PLANAR, [Z] * 4, e, **how),
    "parallelogram": lambda e, **how: hinge_loop(LOZENGE, [Z] * 4, e, **how),
    "slider-crank": lambda e, **how: hinge_loop(CRANK, [Z] * 4, e, slide=True, **how),
    "sarrus": lambda e, **how: hinge_loop(*sarrus(), e, **how),
    "bennett": lambda e, **how: hinge_loop(*bennett(), e, **how),
}
