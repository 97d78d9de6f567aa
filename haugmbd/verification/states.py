r"""Random states of a model, small displacements of its bodies, and a motion with accelerations through a state.

r = r0 + v s + a s^2 / 2        p = p0 exp(w1 s) exp(w2 s)        omega_bar = A(exp(w2 s))^T w1 + w2
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math import euler_parameters
from haugmbd.math.euler_parameters import cross
from haugmbd.model.model import Model
from haugmbd.model.state import State

Random = np.random.Generator


def random_state(model: Model, rng: Random, t: float, part: float = 1.0) -> State:
    """Return a state whose bodies are placed about the modelled positions, as far as the model is large; the ground stays.

    part: of the way from the modelled pose at rest to such a state
    """
    n, length = model.nb + 1, part * model.length
    start = model.state()
    r = start.r + length * rng.normal(size=(n, 3))
    v, omega_bar = length * rng.normal(size=(n, 3)), part * rng.normal(size=(n, 3))
    p = euler_parameters.normalized((1.0 - part) * start.p + part * rng.normal(size=(n, 4)))
    r[0], p[0], v[0], omega_bar[0] = start.r[0], start.p[0], 0.0, 0.0
    return start.replace(t=t, r=r, p=p, v=v, omega_bar=omega_bar)


def displaced(state: State, bodies: Ints, direction: int, s: float) -> State:
    """Return the state with some bodies moved by s in one of six directions: dr (global), or dpi_bar (body frame)."""
    r, p = state.r.copy(), state.p.copy()
    d = s * np.eye(3)[direction % 3]
    if direction < 3:
        r[bodies] += d
    else:
        p[bodies] = euler_parameters.product(p[bodies], euler_parameters.exponential(d))
    return state.replace(r=r, p=p)


class AcceleratedMotion:
    """A motion through a state, with accelerations of all bodies but the ground."""

    def __init__(self, model: Model, state: State, rng: Random) -> None:
        self._state = state
        self._a, self._w1, self._w2 = rng.normal(size=(3, *state.r.shape))
        self._a *= model.length
        self._a[0] = self._w1[0] = self._w2[0] = 0.0

    def at(self, s: float) -> State:
        """Return the state at the time s from the first one."""
        turn = euler_parameters.exponential(self._w2 * s)
        back = np.einsum("nji,nj->ni", euler_parameters.rotation_matrix(turn), self._w1)
        p = euler_parameters.product(euler_parameters.product(self._state.p, euler_parameters.exponential(self._w1 * s)), turn)
        r = self._state.r + self._state.v * s + 0.5 * self._a * s * s
        return self._state.replace(t=self._state.t + s, r=r, p=p, v=self._state.v + self._a * s, omega_bar=back + self._w2)

    def u_dot(self) -> Array:
        """Return the accelerations (v_dot, omega_bar_dot) at the first state, (nb + 1, 6)."""
        return np.hstack([self._a, -cross(self._w2, self._w1)])
