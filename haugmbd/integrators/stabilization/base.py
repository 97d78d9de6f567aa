"""What every stabilization is: a frozen object with the two routines of a step and their options.  A new one is a subclass in a file.

rates(P, options, t, y, y_dot)     y_dot = f(t, y), at any y
post_step(P, options, t, y, y_dot)    at the end of a step: bring y back to where it belongs, then y_dot = f(t, y)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from haugmbd.compiled.function_pointers import Routine
from haugmbd.errors import UsageError
from haugmbd.formulations.python_formulation import PythonKKTSolver
from haugmbd.integrators.step_context import PARAMETERS, Options
from haugmbd.kkt.least_squares import REFINE_AND_SUIT_ALL, SUIT_ALL
from haugmbd.model.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import row_lengths
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import Pack, workspace_array


class Stabilization(ABC):
    """A stabilization.  rates, settle: its routines;  reference: its source, for `mbd.cite`."""

    rates: ClassVar[Routine]
    post_step: ClassVar[Routine]
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
    def options(self) -> Options:
        """Parameters, and room for counters."""

    def with_step(self, h: float | None) -> Stabilization:
        """The same for a run with fixed step `h` [s]; None for error control."""
        return self

    def fitted(self, model: Model, pack: Pack) -> Pack:
        """The pack with what the routines need besides.  Raises UsageError for a model that cannot be treated."""
        return pack

    def check(self) -> None:
        """Refuse parameters that are none.  Raises UsageError."""
        options = self.options()
        parameters = np.array([getattr(options, name) for name in PARAMETERS])
        if not (np.isfinite(parameters).all() and (parameters >= 0.0).all()):
            raise UsageError(f"stabilization = {self!r}: its parameters must be finite and not negative.")


def suiting_all_rows(model: Model, pack: Pack) -> Pack:
    """The pack with accelerations that suit dependent rows by least squares: for runs whose states are not brought back to the constraints.

    Those of the kept rows alone leave the others open by many times their own violation, and more with every change of rows.
    """
    redundancy = model.redundancy
    if not redundancy.dropped or redundancy.only_here:
        return pack
    size = row_lengths(model, evaluate(model))
    if isinstance(pack.python_solver, PythonKKTSolver):
        pack.python_solver.suit_all_rows(size)
        return pack
    n = model.nb + 1 + len(model.tables["EDGES"])
    other = model.pack(model.tables.changed({}, {"SPREAD": (5, 6 * n)}))
    by_slot = workspace_array(other, "SPREAD")[4]
    by_slot[:] = 1.0
    by_slot[6 * (model.nb + 1) + model.slot_of_row] = size
    other.ints[other.ints[3 * at.FLAGS]] = 1
    refine = REFINE_AND_SUIT_ALL if model.tables["FLAGS"][0, 0] else SUIT_ALL
    return other._replace(callback=pack.callback, refine=refine)
