"""The same questions answered by full matrices: NumPy, and all subsets of contacts; nothing of `haugmbd.contact` but its definitions."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

import haugmbd as mbd


class Dense:
    """M, Phi_q and nu of a system, or its model, at a state, as full matrices (6 nb)."""

    def __init__(self, system, state):
        model = system.compile(check_pose=False) if isinstance(system, mbd.System) else system
        rows = mbd.evaluate(model, state)
        self.J, self.nu = rows.Phi_q.toarray(), rows.nu
        self.M = np.zeros((6 * model.nb, 6 * model.nb))
        for k in range(model.nb):
            self.M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = model.mass[k + 1] * np.eye(3)
            self.M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = model.J_bar[k + 1]
        self.u = np.hstack([state.v, state.omega_bar])[1:].ravel()

    def solve(self, P, C=None, c=None):
        """u+ and multipliers with rows C u+ = c beside the model's; least squares where rows depend on one another."""
        C, c = (np.zeros((0, len(self.u))), np.zeros(0)) if C is None else (C, c)
        G, g = np.vstack([self.J, C]), np.concatenate([self.nu, c])
        K = np.block([[self.M, G.T], [G, np.zeros((len(g), len(g)))]])
        x = np.linalg.lstsq(K, np.concatenate([P + self.M @ self.u, g]), rcond=1e-13)[0]
        return x[: len(self.u)], x[len(self.u) :]

    def newton(self, P, C, e, tol=1e-9):
        """u+ and f: the subset of contacts whose impulses are positive while no bound is broken."""
        bound = np.maximum(0.0, -e * (C @ self.u))
        n = len(bound)
        for act in chain.from_iterable(combinations(range(n), k) for k in range(n + 1)):
            k = list(act)
            u, x = self.solve(P, C[k], bound[k])
            f = np.zeros(n)
            f[k] = -x[len(self.nu) :]
            if (f >= -tol).all() and (C @ u >= bound - tol).all():
                return u, f
        raise AssertionError("no subset fits")


def rows_of(system, parts, state):
    """Phi_q and nu of joints or primitives between the bodies of `system`, by the engine."""
    other = mbd.System("beside")
    other.ground, other.bodies = system.ground, list(system.bodies)
    for part in parts:
        other.add(part)
    rows = mbd.evaluate(other.compile(check_pose=False), state)
    return rows.Phi_q.toarray(), rows.nu


def wrench(model, applied):
    """P (6 nb,) of applied impulses at the modelled pose, from their definition."""
    P, state = np.zeros((model.nb + 1, 6)), model.state()
    for blow in applied:
        k, A = model.body(blow.body.name), blow.body.A
        S = A @ blow.impulse if blow.in_body else blow.impulse
        if isinstance(blow, mbd.PointImpulse):
            P[k, :3] += S
            P[k, 3:] += A.T @ np.cross(blow.frame.point - state.r[k], S)
        else:
            P[k, 3:] += A.T @ S
    return P[1:].ravel()


def consistent(system, rng, speed=1.0):
    """The modelled state of a system, or of its model, with random velocities that the joints allow (projected by full matrices)."""
    model = system.compile() if isinstance(system, mbd.System) else system
    state = model.state()
    v, omega_bar = np.zeros((2, model.nb + 1, 3))
    v[1:], omega_bar[1:] = speed * rng.normal(size=(2, model.nb, 3))
    wild = state.replace(v=v, omega_bar=omega_bar)
    for _ in range(2):  # the second takes off what rounding has left of the first
        wild = with_velocity(wild, Dense(model, wild).solve(np.zeros(6 * model.nb))[0])
    return wild


def with_velocity(state, u):
    """The state with velocities u (6 nb,)."""
    u = np.vstack([np.zeros(6), u.reshape(-1, 6)])
    return state.replace(v=u[:, :3], omega_bar=u[:, 3:])


def velocity(found):
    """u+ (6 nb,) of an Impulse or a State."""
    return np.hstack([found.v, found.omega_bar])[1:].ravel()
