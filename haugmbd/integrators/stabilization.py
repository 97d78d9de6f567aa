"""What every stabilization is: a frozen object with the two routines of a step and their options.  A new one is a subclass in a file.

rates(P, options, t, y, y_dot)     y_dot = f(t, y), at any y
settle(P, options, t, y, y_dot)    at the end of a step: bring y back to where it belongs, then y_dot = f(t, y)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array
from haugmbd.errors import UsageError
from haugmbd.integrators.stepping import PARAMETERS
from haugmbd.model.model import Model
from haugmbd.model.tables import Pack


class Stabilization(ABC):
    """A stabilization.  rates, settle: its routines;  reference: its source, for `mbd.cite`."""

    rates: ClassVar[Routine]
    settle: ClassVar[Routine]
    reference: ClassVar[str]
    feeds_back: ClassVar[bool] = False
    """Whether it changes accelerations: a method that finds its own would not feel it."""
    corrects: ClassVar[bool] = False
    """Whether it changes states between steps: methods that remember more than the state cannot have that."""
    needs_step: ClassVar[bool] = False
    """Whether its numbers are made with the step of the run: adaptive methods have none."""
    needs_block_factor: ClassVar[bool] = False
    """Whether it asks the block LDL^T of NewtonEuler() questions that other formulations do not answer."""

    @abstractmethod
    def options(self) -> Array:
        """Parameters, and room for counters."""

    def with_step(self, h: float | None) -> Stabilization:
        """The same for a run with fixed step `h` [s]; None for error control."""
        return self

    def fitted(self, model: Model, pack: Pack) -> Pack:
        """The pack with what the routines need besides.  Raises UsageError for a model that cannot be treated."""
        return pack

    def check(self) -> None:
        """Refuse parameters that are none.  Raises UsageError."""
        parameters = self.options()[:PARAMETERS]
        if not (np.isfinite(parameters).all() and (parameters >= 0.0).all()):
            raise UsageError(f"stabilization = {self!r}: its parameters must be finite and not negative.")
