"""A state of a serial chain: time, coordinates, rates, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.checks import frozen, numbers
from haugmbd.errors import UsageError
from haugmbd.model.immutable import immutable


@immutable("Make another one: state.replace(qd=..., t=...).")
@dataclass(frozen=True, eq=False)
class ChainState:
    """t: [s];  q: (nq,) coordinates;  qd: (nv,) rates, as `SerialChain` says; read-only.  Raises UsageError for what is no vector."""

    q: Array
    qd: Array
    t: float = 0.0

    def __post_init__(self) -> None:
        for name in ("q", "qd"):
            given = getattr(self, name)
            array = numbers(given)
            if array is None or array.ndim != 1:
                raise UsageError(f"ChainState: {name} is {given!r:.60}. Give its numbers in a row, one for each.")
            object.__setattr__(self, name, frozen(array))
        if not isinstance(self.t, Real) or isinstance(self.t, bool):
            raise UsageError(f"ChainState: t is {self.t!r}. Give the time [s].")

    def replace(self, **changes: Any) -> ChainState:
        """A copy with something changed: state.replace(qd=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """(q, qd) as one flat vector, a new array."""
        return np.concatenate([self.q, self.qd])
