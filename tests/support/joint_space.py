r"""Forests of joints with couplings in joint coordinates, by products of exponentials: without rows and recursions.

    T_k = T_parent exp(s_1 q_1) exp(s_2 q_2) ...                        motion of body k from its modelled pose, global axes
    M q'' + C^T lam = Q - b,   C q'' = gamma                            M = sum J^T diag(m, J_C) J,  b from J' by complex steps
    C = d Phi / dq                                                      Phi: linear in q, or q_b - f(q_a)

Source: Lynch and Park (2017), Modern Robotics, ch. 4 (products of exponentials) and ch. 8 (dynamics of open chains).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd import Body

STEP = 1e-30
"""Of complex differences, which do not cancel."""


class Motion(NamedTuple):
    """One coordinate: about or along an axis a through a point, global, at the modelled pose;  sign: -1 from body j to body i."""

    a: np.ndarray
    point: np.ndarray
    slides: bool
    sign: float


class Law(NamedTuple):
    """A coupling: c . q = f(t), or q_b = f(q_a) for `ends` (a, b);  f: the function and its two derivatives."""

    name: str
    f: Sequence[Callable[[Any], Any]]
    c: np.ndarray | None = None
    ends: tuple[int, int] | None = None


class JointSpace:
    """Bodies, the coordinates on the way from the ground to each of them, q at the modelled pose, and couplings."""

    def __init__(self, gravity: np.ndarray) -> None:
        self.gravity = gravity
        self.bodies: list[Body] = []
        self.parents: list[int] = []
        """The number of the body before each body;  -1: the ground."""
        self.own: list[list[int]] = []
        """The numbers of the coordinates between each body and its parent."""
        self.solids: list[tuple[float, np.ndarray, np.ndarray]] = []
        """Mass, J_bar, and the rotation matrix at the modelled pose, of each body."""
        self.motions: list[Motion] = []
        self.q0: list[float] = []
        self.laws: list[Law] = []

    def add(self, body: Body, parent: Body, motions: Sequence[Motion], q0: float) -> list[int]:
        """Add a body and the motions from its parent to it; return the numbers of its coordinates."""
        new = list(range(len(self.motions), len(self.motions) + len(motions)))
        self.motions += motions
        self.q0 += [q0] * len(motions)
        self.parents.append(self.bodies.index(parent) if parent in self.bodies else -1)
        self.own.append(new)
        self.bodies.append(body)
        self.solids.append((body.mass, body.J_bar, body.A))
        return new

    def poses(self, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return the rotation from the modelled pose, the centre of mass, and J (6, n) of every body; q may be complex."""
        found = []
        still = np.eye(3, dtype=q.dtype), np.zeros(3, dtype=q.dtype), []
        moved = []
        """R and d of x -> R x + d, and the axes (number, a, point, slides) on the way, of each body."""
        for body, parent, own in zip(self.bodies, self.parents, self.own, strict=True):
            R, d, axes = moved[parent] if parent >= 0 else still
            axes = list(axes)
            for k in own:
                a, point, slides, sign = self.motions[k]
                axes.append((k, sign * (R @ a), R @ point + d, slides))
                x = sign * (q[k] - self.q0[k])
                if slides:
                    d = d + R @ a * x
                    continue
                a_tilde = tilde(a)
                E = np.eye(3) + np.sin(x) * a_tilde + (1.0 - np.cos(x)) * (a_tilde @ a_tilde)
                R, d = R @ E, R @ (point - E @ point) + d
            moved.append((R, d, axes))
            center, J = R @ body.r + d, np.zeros((6, len(q)), dtype=q.dtype)
            for k, a, point, slides in axes:
                J[:3, k] = a if slides else tilde(a) @ (center - point)
                J[3:, k] = 0.0 if slides else a
            found.append((R, center, J))
        return found

    def constraints(self, q: np.ndarray, rates: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return Phi, C, nu and gamma of the couplings."""
        Phi, nu, gamma = np.zeros((3, len(self.laws)))
        C = np.zeros((len(self.laws), len(q)))
        for k, (_, f, c, ends) in enumerate(self.laws):
            if c is not None:
                C[k], Phi[k], nu[k], gamma[k] = c, c @ q - f[0](t), f[1](t), f[2](t)
            else:
                a, b = ends
                C[k, a], C[k, b] = -f[1](q[a]), 1.0
                Phi[k], gamma[k] = q[b] - f[0](q[a]), f[2](q[a]) * rates[a] ** 2
        return Phi, C, nu, gamma

    def solve(
        self, q: np.ndarray, rates: np.ndarray, t: float, stiffness: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return q'', the multipliers of the couplings, and (v', omega') of every body;  stiffness: of Baumgarte's stabilization."""
        R, _, J_ahead = map(np.array, zip(*self.poses(q + 1j * STEP * rates), strict=True))
        J, drift = J_ahead.real, J_ahead.imag / STEP @ rates  # a step of 1e-30 leaves the real part as it is
        mass, J_bar, A = map(np.array, zip(*self.solids, strict=True))
        A = R.real @ A
        inertia, w = A @ J_bar @ A.swapaxes(1, 2), J[:, 3:] @ rates
        force = mass[:, None] * (self.gravity - drift[:, :3])
        torque = -times(inertia, drift[:, 3:]) - np.cross(w, times(inertia, w))
        weighted = np.concatenate([mass[:, None, None] * J[:, :3], inertia @ J[:, 3:]], axis=1)
        n = len(q)
        M = J.reshape(-1, n).T @ weighted.reshape(-1, n)
        Q = np.hstack([force, torque]).ravel() @ J.reshape(-1, n)
        Phi, C, nu, gamma = self.constraints(q, rates, t)
        gamma = gamma - 2.0 * stiffness * (C @ rates - nu) - stiffness**2 * Phi
        K = np.block([[M, C.T], [C, np.zeros((len(gamma), len(gamma)))]])
        x = np.linalg.solve(K, np.concatenate([Q, gamma]))
        return x[:n], x[n:], list(J @ x[:n] + drift)

    def random_motion(self, rng: np.random.Generator, t: float, spread: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Return coordinates and rates that the couplings allow, far from the modelled pose; None if none were found."""
        n = len(self.motions)
        for _ in range(20):
            q = np.array(self.q0) + spread * rng.normal(size=n)
            for _ in range(50):
                Phi, C, nu, _ = self.constraints(q, np.zeros(n), t)
                q = q - np.linalg.lstsq(C, Phi, rcond=None)[0]
            Phi, C, nu, _ = self.constraints(q, np.zeros(n), t)
            if np.abs(Phi).max() < 1e-11 and np.linalg.svd(C, compute_uv=False)[-1] > 1e-2:
                rates = rng.normal(size=n)
                return q, rates - np.linalg.lstsq(C, C @ rates - nu, rcond=None)[0]
        return None


def tilde(a: np.ndarray) -> np.ndarray:
    """Return the matrix of the cross product."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the products of matrices (n, 3, 3) and vectors (n, 3)."""
    return (matrices @ vectors[..., None])[..., 0]
