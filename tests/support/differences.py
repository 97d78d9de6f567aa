r"""Derivatives by differences, for all rows of a model at once: what Phi_q, nu and gamma are held against.

    f'(0) = (4/5 (f_1 - f_-1) - 1/5 (f_2 - f_-2) + 4/105 (f_3 - f_-3) - 1/280 (f_4 - f_-4)) / h + O(h^8)
    Phi_q: along dr and along p exp(dpi_bar / 2), body by body      nu = -dPhi/dt at fixed q
    gamma = Phi_q u_dot - d/dt (Phi_q u - nu) along a motion with accelerations

With h = 0.005 and angular velocities up to 5 rad/s, truncation and rounding are both about 1e-12.
"""

from __future__ import annotations

import numpy as np

from haugmbd import evaluate
from haugmbd.math import euler_parameters
from tests.support.samples import jacobian, random_state

H = 0.005
OFFSETS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / H


def slope(f):
    """f'(0) of an array-valued function of one number."""
    return sum(w * f(H * k) for w, k in zip(WEIGHTS, OFFSETS, strict=True))


def moved(state, bodies, direction, s):
    """The state with `bodies` moved by s along one of six directions: dr (global) or dpi_bar (body frame)."""
    r, p = state.r.copy(), state.p.copy()
    d = s * np.eye(3)[direction % 3]
    if direction < 3:
        r[bodies] += d
    else:
        p[bodies] = euler_parameters.product(p[bodies], euler_parameters.exponential(d))
    return state.replace(r=r, p=p)


def Phi_q_by_differences(model, state, roles):
    """(nc, 2, 6); `roles` are the bodies i and the bodies j of all rows, each body in one role and under one joint only."""
    J = np.zeros((model.nc, 2, 6))
    for side, bodies in enumerate(roles):
        for direction in range(6):
            J[:, side, direction] = slope(lambda s, b=bodies, d=direction: evaluate(model, moved(state, b, d, s)).Phi)
    return J


def nu_by_differences(model, state):
    return -slope(lambda s: evaluate(model, state.replace(t=state.t + s)).Phi)


class Path:
    """A motion through a state with accelerations: r a parabola, p = p0 exp(w1 s) exp(w2 s), of all bodies but the ground."""

    def __init__(self, state, rng):
        self.state = state
        self.a, self.w1, self.w2 = rng.normal(size=(3, *state.r.shape))
        for x in (self.a, self.w1, self.w2):
            x[0] = 0.0

    def at(self, s):
        """(state, v_dot, omega_bar_dot) at the time s from the state."""
        turn = euler_parameters.exponential(self.w2 * s)
        back = np.einsum("nji,nj->ni", euler_parameters.rotation_matrix(turn), self.w1)
        p = euler_parameters.product(euler_parameters.product(self.state.p, euler_parameters.exponential(self.w1 * s)), turn)
        r = self.state.r + self.state.v * s + 0.5 * self.a * s * s
        v = self.state.v + self.a * s
        state = self.state.replace(t=self.state.t + s, r=r, p=p, v=v, omega_bar=back + self.w2)
        return state, self.a, -np.cross(self.w2, back)


def along(rows, x, x_bar):
    """Phi_q (x, x_bar), (nc,)."""
    return np.einsum("rsk,rsk->r", jacobian(rows), np.concatenate([x, x_bar], axis=1)[rows.bodies])


def velocity_gap(model, path, s):
    """Phi_q u - nu on the path."""
    state, _, _ = path.at(s)
    rows = evaluate(model, state)
    return along(rows, state.v, state.omega_bar) - rows.nu


def gamma_by_differences(model, path):
    """(gamma computed by the rows, gamma by differences) where the path begins."""
    state, v_dot, omega_bar_dot = path.at(0.0)
    rows = evaluate(model, state)
    return rows.gamma, along(rows, v_dot, omega_bar_dot) - slope(lambda s: velocity_gap(model, path, s))


def worst_errors(model, n_states, rng):
    """Largest error of each row over random states, relative to its largest value or 1: {"Phi_q" | "nu" | "gamma": (nc,)}."""
    sides = evaluate(model).bodies.T
    roles = [np.setdiff1d(side, [0]) for side in sides]
    assert np.intersect1d(*roles).size == 0, "each sample needs bodies of its own"
    error = {name: np.zeros(model.nc) for name in ("Phi_q", "nu", "gamma")}
    size = {name: np.ones(model.nc) for name in error}
    for _ in range(n_states):
        state = random_state(model, rng, t=rng.uniform(0.0, 2.0))
        rows = evaluate(model, state)
        gamma = gamma_by_differences(model, Path(state, rng))
        pairs = {
            "Phi_q": (jacobian(rows), Phi_q_by_differences(model, state, roles)),
            "nu": (rows.nu, nu_by_differences(model, state)),
            "gamma": gamma,
        }
        for name, (given, differences) in pairs.items():
            error[name] = np.maximum(error[name], np.abs(given - differences).reshape(model.nc, -1).max(axis=1))
            size[name] = np.maximum(size[name], np.abs(given).reshape(model.nc, -1).max(axis=1))
    return {name: error[name] / size[name] for name in error}
