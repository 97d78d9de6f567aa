"""Bodies, motions and chains in closed form, whose spatial quantities are known or can be differenced."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from haugmbd.math import euler_parameters, spatial
from haugmbd.math.euler_parameters import skew

ROUNDING = 1e-13  # some dozen products of numbers of size 1 to 10
DIFFERENCE_TOL = 1e-10  # eighth-order differences with h = 0.005: some 1e-12 times accelerations of size 10

ZERO, ONE = np.zeros((3, 3)), np.eye(3)


def near(a, b, tol=ROUNDING):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    return np.abs(a - b).max() <= tol * max(1.0, np.abs(b).max())


def rotation(rng, *shape):
    return euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=(*shape, 4))))


def definite(rng, n):
    B = rng.normal(size=(n, n))
    return B @ B.T + 0.5 * np.eye(n)


class Body:
    """Mass, inertia about the centre of mass C in the axes of the world, and where C is."""

    def __init__(self, rng):
        self.m, self.J, self.c = rng.uniform(1.0, 3.0), definite(rng, 3), rng.normal(size=3)
        self.I = spatial.spatial_inertia(self.m, self.J, self.c)


class Motion:
    """A frame that moves: A = A0 exp(w1~ t) exp(w2~ t), origin on a parabola; its twist and spatial acceleration at the world origin."""

    def __init__(self, rng):
        self.A0, (self.w1, self.w2) = rotation(rng), rng.normal(size=(2, 3))
        self.r0, self.v0, self.a0 = rng.normal(size=(3, 3))

    def A(self, t):
        return self.A0 @ expm(skew(self.w1 * t)) @ expm(skew(self.w2 * t))

    def r(self, t):
        return self.r0 + self.v0 * t + 0.5 * self.a0 * t * t

    def r_dot(self, t):
        return self.v0 + self.a0 * t

    def omega(self, t):
        return self.A(t) @ (expm(-skew(self.w2 * t)) @ self.w1 + self.w2)

    def omega_dot(self, t):
        return self.A(t) @ -np.cross(self.w2, expm(-skew(self.w2 * t)) @ self.w1)

    def twist(self, t):
        return np.concatenate([self.r_dot(t) + np.cross(self.r(t), self.omega(t)), self.omega(t)])

    def X(self, t):
        """From the world to this frame, for twists."""
        return spatial.motion_transform(self.A(t).T, self.r(t))

    def X_star(self, t):
        return spatial.force_transform(self.A(t).T, self.r(t))


class Moving:
    """A body that follows a motion; everything at the world origin."""

    def __init__(self, body, motion):
        self.body, self.motion = body, motion

    def inertia(self, t):
        A = self.motion.A(t)
        return spatial.spatial_inertia(self.body.m, A @ self.body.J @ A.T, self.motion.r(t) + A @ self.body.c)

    def momentum(self, t):
        return spatial.spatial_momentum(self.inertia(t), self.motion.twist(t))


class Chain:
    """Screws in series on a moving base: joint k turns or slides about s_k, each with its own law q_k(t)."""

    def __init__(self, rng, n):
        self.base = Motion(rng)
        self.screws0 = rng.normal(size=(n, 6))  # at q = 0, in the frame of the base
        self.q0, self.q1, self.q2 = rng.normal(size=(3, n))
        self.bodies = [Body(rng) for _ in range(n)]

    def q_dot(self, t):
        return self.q1 + 2.0 * self.q2 * t

    def placed(self, t):
        """Transforms of twists to the world, from bodies 0 .. n as they stand at q = 0."""
        q = self.q0 + self.q1 * t + self.q2 * t * t
        G = [np.linalg.inv(self.base.X(t))]
        for s, angle in zip(self.screws0, q, strict=True):
            G.append(G[-1] @ expm(spatial.cross_motion(s) * angle))
        return G

    def screws(self, t):
        """s_k at the world origin, which moves with body k - 1 (and k)."""
        return np.array([G @ s for G, s in zip(self.placed(t), self.screws0, strict=False)])

    def twists(self, t):
        return self.base.twist(t) + np.cumsum(self.screws(t) * self.q_dot(t)[:, None], axis=0)
