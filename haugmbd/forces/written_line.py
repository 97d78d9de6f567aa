"""A line of the driver table that nothing prescribes: it is written while a model is evaluated or a run continues.

An internal state has x', and its equation in an implicit step, there (`workspace.internal_states`); a stop and a contact have what a run
holds (`joint_loads.stops`, `compliant.contact_force`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.compiled.array_types import Array
from haugmbd.drivers import Driver
from haugmbd.drivers.program import CONSTANT, Program
from haugmbd.errors import Fault

HELD = 1
"""The column of the driver table in which a run writes what a stop or a contact holds; 0 there holds nothing, the state decides."""


class WrittenLine(Driver):
    """A line of the driver table, all zero until it is written."""

    def values(self, t: ArrayLike) -> Array:
        """Return zeros: nothing is prescribed."""
        return np.zeros((*np.shape(t), 3))

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault: the element checks what it writes."""
        return ()

    def program(self) -> Program:
        """Return a constant; the other numbers of the line are written in a run."""
        return Program(CONSTANT, value=0.0)
