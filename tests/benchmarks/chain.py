r"""The mechanisms that every tool is measured on: n rigid links on revolute joints with random axes, the same numbers for all.

    chain   link k hangs on link k - 1, link 1 on the ground; link k runs from its joint point along a random direction, 1 m long
    star    a hub on the ground, n arms on the hub

    omega_k = omega_parent + axis_k q_dot_k        v_k = v_parent + omega_parent x (point - r_parent) + omega_k x (r_k - point)

All bodies have A = I at the modelled pose, so that body frames and the global frame are parallel there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MASS = 1.0
INERTIA = (0.1, 0.2, 0.25)
LENGTH = 1.0
GRAVITY = 9.81


@dataclass(frozen=True)
class Links:
    """parent (n,): body number, 0 = ground, the link of row k is body k + 1;  point, axis, r (n, 3): joint point, unit axis, centre
    of mass, global [m];  rate (n,): joint rates [rad/s];  v, omega (n, 3): the velocities that belong to them.
    """

    parent: npt.NDArray[np.int64]
    point: Array
    axis: Array
    r: Array
    rate: Array
    v: Array
    omega: Array

    def __len__(self) -> int:
        return len(self.parent)


def chain(n: int, *, moving: bool, seed: int = 0) -> Links:
    """n links in a row, at rest or with random joint rates of about 1 rad/s."""
    return _links(np.arange(n), moving, seed)


def star(n: int, *, moving: bool, seed: int = 0) -> Links:
    """A hub and n arms: n + 1 bodies; every arm's joint stands half a metre from the hub's centre."""
    return _links(np.array([0] + [1] * n), moving, seed)


def _links(parent: npt.NDArray[np.int64], moving: bool, seed: int) -> Links:
    """Random links on the given tree."""
    rng = np.random.default_rng(seed)
    n = len(parent)
    children = np.bincount(parent, minlength=n + 1)
    direction, axis = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in rng.normal(size=(2, n, 3)))
    rate = rng.normal(size=n) * moving
    point, r, v, omega = np.zeros((4, n + 1, 3))
    tip = np.zeros((n + 1, 3))
    for k in range(1, n + 1):
        i, e = parent[k - 1], direction[k - 1]
        hub = i > 0 and children[i] > 1
        point[k] = r[i] + 0.5 * LENGTH * e if hub else tip[i]
        r[k] = point[k] + 0.5 * LENGTH * e
        tip[k] = point[k] + LENGTH * e
        omega[k] = omega[i] + axis[k - 1] * rate[k - 1]
        v[k] = v[i] + np.cross(omega[i], point[k] - r[i]) + np.cross(omega[k], r[k] - point[k])
    return Links(parent, point[1:], axis, r[1:], rate, v[1:], omega[1:])


def energy(r: Array, v: Array, omega_bar: Array) -> float:
    """Kinetic and potential energy [J] of the links, each (n, 3)."""
    kinetic = 0.5 * MASS * (v**2).sum() + 0.5 * (omega_bar**2 @ np.array(INERTIA)).sum()
    return float(kinetic + MASS * GRAVITY * r[:, 2].sum())


def gap(links: Links, r: Array, A: Array) -> float:
    """Largest distance [m] between the two points of a joint; r (n, 3), A (n, 3, 3)."""
    worst = 0.0
    for k, i in enumerate(links.parent):
        on_link = r[k] + A[k] @ (links.point[k] - links.r[k])
        on_parent = links.point[k] if i == 0 else r[i - 1] + A[i - 1] @ (links.point[k] - links.r[i - 1])
        worst = max(worst, float(np.linalg.norm(on_link - on_parent)))
    return worst
