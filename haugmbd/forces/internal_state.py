"""The line of an internal state in the driver table: x', and its equation in an implicit step, see `model.internal_states`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.compiled.array_types import Array
from haugmbd.drivers import Driver
from haugmbd.drivers.program import CONSTANT, Program
from haugmbd.errors import Fault


class InternalState(Driver):
    """A line of the driver table for one internal state: x', past and c; all zero until they are written."""

    def values(self, t: ArrayLike) -> Array:
        """Return zeros: the state is no function of time."""
        return np.zeros((*np.shape(t), 3))

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault: the element checks its states."""
        return ()

    def program(self) -> Program:
        """Return a constant, which is overwritten at each evaluation."""
        return Program(CONSTANT, value=0.0)
