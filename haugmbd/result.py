r"""What a simulation leaves: the states, and the counters of the work done.  Everything else is computed from them when asked.

    t (nt,)   r (nt, nb+1, 3)   p (nt, nb+1, 4)   v (nt, nb+1, 3)   omega_bar (nt, nb+1, 3)   lam (nt, nc)        ground in row 0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.errors import UsageError
from haugmbd.formulations.face import solve_states
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.tables import WIDTH


@dataclass(frozen=True)
class Counters:
    """steps, rejected: of the integrator;  evaluations, factorizations: of the right-hand side;  corrected: steps projected

    euler_worst, euler_sum: how far |p| left 1 in a step before it was normalised, the largest and the sum over all steps
    cpu: [s]
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    factorizations: int = 0
    corrected: int = 0
    euler_worst: float = 0.0
    euler_sum: float = 0.0
    cpu: float = 0.0


@dataclass(frozen=True)
class BodyHistory:
    """One body over time: t (nt,), r, v (nt, 3) global, p (nt, 4), omega_bar (nt, 3) body frame."""

    name: str
    t: Array
    r: Array
    p: Array
    v: Array
    omega_bar: Array

    @property
    def quaternion(self) -> Any:
        """The orientation as numpy quaternions, (nt,)."""
        import quaternion  # noqa: PLC0415  costs 0.4 s, only where it is asked for

        return quaternion.as_quat_array(self.p)


@dataclass(frozen=True, eq=False)
class Result:
    """States of a run, by time.  `result["crank"].r` is one body's history; methods recompute everything else from the states.

    model;  t: (nt,) [s];  y: (nt, ny) flat states;  counters;  settings: what was asked for, as text;  interrupted: stopped by Ctrl-C
    """

    model: Model
    t: Array
    y: Array
    counters: Counters = field(default_factory=Counters)
    settings: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def _bodies(self) -> Array:
        n = self.model.nb + 1
        return self.y[:, : WIDTH * n].reshape(len(self.t), n, WIDTH)

    @property
    def r(self) -> Array:
        """Centres of mass, global [m], (nt, nb + 1, 3)."""
        return self._bodies[..., 0:3]

    @property
    def p(self) -> Array:
        """Euler parameters, scalar first, (nt, nb + 1, 4)."""
        return self._bodies[..., 3:7]

    @property
    def v(self) -> Array:
        """Velocities of the centres of mass, global [m/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 7:10]

    @property
    def omega_bar(self) -> Array:
        """Angular velocities, body frames [rad/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 10:13]

    @cached_property
    def _solutions(self) -> Array:
        """(u_dot, lam) by nodes at every state, (nt, nn, 6)."""
        return solve_states(self.model, self.t, self.y)

    @property
    def v_dot(self) -> Array:
        """Accelerations of the centres of mass, global [m/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, :3]

    @property
    def omega_bar_dot(self) -> Array:
        """Angular accelerations, body frames [rad/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, 3:]

    @cached_property
    def lam(self) -> Array:
        """Lagrange multipliers at every state, by rows, (nt, nc)."""
        flat = self._solutions[:, self.model.nb + 1 :].reshape(len(self.t), -1)
        return flat[:, self.model.slot_of_row]

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, body: str) -> BodyHistory:
        if body not in self.model.body_names:
            raise UsageError(f"no body is called {body!r}; the bodies are {', '.join(map(repr, self.model.body_names))}.")
        k = self.model.body(body)
        return BodyHistory(body, self.t, self.r[:, k], self.p[:, k], self.v[:, k], self.omega_bar[:, k])

    def state(self, k: int = -1) -> State:
        """The k-th state, by default the last."""
        return State.from_y(float(self.t[k]), self.y[k], self.model.nb + 1)

    def __repr__(self) -> str:
        return f"Result({self.model.name!r}, {len(self.t)} states, t = {self.t[0]:g} .. {self.t[-1]:g} s, {self.counters.steps} steps)"
