"""A state of a serial chain: time, coordinates, rates, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.checks import frozen
from haugmbd.model.immutable import immutable


@immutable("Make another one: state.replace(qd=..., t=...).")
@dataclass(frozen=True, eq=False)
class ChainState:
    """t: [s];  q: (nq,) coordinates;  qd: (nv,) rates, as `SerialChain` says; read-only."""

    q: Array
    qd: Array
    t: float = 0.0

    def __post_init__(self) -> None:
        for name in ("q", "qd"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def replace(self, **changes: Any) -> ChainState:
        """A copy with something changed: state.replace(qd=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """(q, qd) as one flat vector, a new array."""
        return np.concatenate([self.q, self.qd])
