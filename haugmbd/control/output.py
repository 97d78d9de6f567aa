"""An output of a block, in the place of a driver: it goes wherever a force element takes a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.compiled.array_types import Array
from haugmbd.drivers import Driver
from haugmbd.drivers.program import CONSTANT, Program
from haugmbd.errors import Fault
from haugmbd.forces.user_function import VectorDriver


class BlockOutput(VectorDriver):
    """An output of a block, or one number of it: `block["torque"]`.

    block: the block;  name: of the output;  component: of a vector, None for a number
    """

    def __init__(self, block: Any, name: str, component: int | None = None) -> None:
        self.block, self.name, self.component = block, name, component

    @property
    def label(self) -> str:
        """Return the signal's name: controller.torque."""
        return f"{self.block.name}.{self.name}"

    @property
    def may_be_vector(self) -> bool:
        return self.component is None

    def parts(self, n: int) -> tuple[Driver, ...]:
        return tuple(self.block[self.name, k] for k in range(n))

    def values(self, t: ArrayLike) -> Array:
        """Return NaN: the value does not depend on time alone."""
        return np.full((*np.shape(t), 3), np.nan)

    @property
    def reads_state(self) -> bool:
        return True

    def at_start(self) -> float:
        """Return the output with the initial states; NaN where it reads signals, which are known with the system only."""
        try:
            given = self.block.outputs[self.name](0.0, self.block.x0, {})
            return float(given if self.component is None else given[self.component])
        except Exception:  # noqa: BLE001  a user's function may raise anything; it is called again, and told of, by its system
            return np.nan

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault: the network of the blocks checks its outputs."""
        return ()

    def faults_of_motion(self) -> tuple[Fault, ...]:
        """Return no fault: the network of the blocks differentiates it along the motion, and says where it cannot."""
        return ()

    def fault_at(self, t: float) -> Fault | None:
        """Return no fault: the network of the blocks checks its outputs."""
        return None

    def program(self) -> Program:
        """Return a constant, which is overwritten at each evaluation."""
        return Program(CONSTANT)

    def __str__(self) -> str:
        """Return the signal's name."""
        return self.label

    def __repr__(self) -> str:
        return f"{self.label}{'' if self.component is None else f'[{self.component}]'} of {self.block!r}"


class RecordedOutput(Driver):
    """The values (nt,) of an output on a trajectory of nt instants, or (nt, 3) with its rates, for the ledger of a force element."""

    def __init__(self, recorded: Array) -> None:
        self.recorded = recorded

    def values(self, t: ArrayLike) -> Array:
        """Return the recorded values as (nt, 3)."""
        if np.ndim(self.recorded) == 2:  # noqa: PLR2004
            return self.recorded
        F = np.zeros((*np.shape(t), 3))
        F[..., 0] = self.recorded
        return F

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault."""
        return ()
