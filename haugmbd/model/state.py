r"""A state: time, poses, velocities, as a value.

y = ( r, p, v, omega_bar of body 0 (ground), 1, ..., nb;  integrated joint angles )
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from haugmbd.bodies.validation import need_unmasked
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.model.immutable import immutable
from haugmbd.workspace.layout import WIDTH


@public_class
@immutable("Make another one: state.replace(v=..., t=...).")
@dataclass(frozen=True, eq=False)
class State:
    """One instant of a mechanism; read-only arrays, ground in row 0.

    t: time [s];  r: (nb + 1, 3) centres of mass, global [m];  p: (nb + 1, 4) Euler parameters, scalar first
    v: (nb + 1, 3) global [m/s];  omega_bar: (nb + 1, 3) body frame [rad/s];  angles: (na,) integrated joint angles [rad]
    """

    t: float
    r: Array
    p: Array
    v: Array
    omega_bar: Array
    angles: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for name in ("r", "p", "v", "omega_bar", "angles"):
            need_unmasked(name, getattr(self, name))
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def replace(self, **changes: Any) -> State:
        """A copy with some arrays changed: state.replace(v=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """The state as one flat vector, a new array (13 (nb + 1) + na,)."""
        return np.concatenate([np.hstack([self.r, self.p, self.v, self.omega_bar]).ravel(), self.angles])

    @classmethod
    def from_y(cls, t: float, y: Array, n_bodies: int) -> State:
        """The state of a flat vector with `n_bodies` bodies, the ground included."""
        rows = y[: WIDTH * n_bodies].reshape(n_bodies, WIDTH)
        return cls(float(t), rows[:, 0:3], rows[:, 3:7], rows[:, 7:10], rows[:, 10:13], y[WIDTH * n_bodies :])
