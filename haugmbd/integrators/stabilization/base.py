"""The base class of all stabilizations: a frozen object with two routines and their options.  A new one is a subclass in its own file.

rates(P, options, t, y, y_dot)        y_dot = f(t, y), at any y
post_step(P, options, t, y, y_dot)    at the end of a step: correct y, then y_dot = f(t, y)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.function_pointers import Routine
from haugmbd.errors import UsageError
from haugmbd.formulations.python_formulation import PythonKKTSolver
from haugmbd.integrators.state_space import StateSpace
from haugmbd.integrators.step_context import PARAMETERS, Options, Problem
from haugmbd.kkt.registry import routines_of
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.redundancy.rank import row_lengths
from haugmbd.workspace.layout import FOR_MASSLESS, REFINES, Pack, flags_in, with_callback, workspace_array


class Stabilization(ABC):
    """A stabilization of the constraints; the base class of all.

    Attributes
    ----------
    rates, post_step : routine
        The two compiled routines.
    reference : str
        The source, for `mbd.cite`.
    """

    rates: ClassVar[Routine]
    post_step: ClassVar[Routine]
    reference: ClassVar[str]
    feeds_back: ClassVar[bool] = False
    """Whether it changes accelerations, which has no effect in a method that computes its own."""
    corrects: ClassVar[bool] = False
    """Whether it changes states between steps, which methods that use data of earlier steps do not allow."""
    needs_step: ClassVar[bool] = False
    """Whether its parameters depend on the step of the run, which adaptive methods do not have."""
    needs_block_factor: ClassVar[bool] = False
    """Whether it needs the block LDL^T of NewtonEuler() for other right-hand sides."""

    @classmethod
    def examples(cls) -> dict[str, Stabilization]:
        """Return an example of the class by its name, for the table of legal combinations and its tests."""
        return {cls.__name__: cls()}

    @abstractmethod
    def options(self) -> Options:
        """Return the parameters, with counters at zero."""

    def with_step(self, h: float | None) -> Stabilization:
        """Return the same stabilization for a run with fixed step `h` [s]; None for error control."""
        return self

    def fitted(self, model: Model, pack: Pack) -> Pack:
        """Return the pack with the additional data of the routines.  Raise UsageError for a model that cannot be treated."""
        return pack

    def problem(self, space: StateSpace, pack: Pack, t: float, y: Array) -> Problem:
        """Return the data that an integrator advances from the state y (ny,) at t [s]."""
        return Problem(space, pack, self.rates, self.post_step, self.options(), t, y)

    def check(self) -> None:
        """Raise UsageError if parameters are invalid."""
        options = self.options()
        parameters = np.array([getattr(options, name) for name in PARAMETERS])
        if not (np.isfinite(parameters).all() and (parameters >= 0.0).all()):
            raise UsageError(f"stabilization = {self!r}: its parameters must be finite and not negative.")


def fitting_all_rows(model: Model, pack: Pack) -> Pack:
    """Return the pack with accelerations that fit dependent rows by least squares, for runs without projection.

    Accelerations of the kept rows alone violate the others by many times their own violation, and more with every change of rows.
    """
    redundancy = model.redundancy
    if not redundancy.dropped or redundancy.only_here:
        return pack
    size = row_lengths(model, evaluate(model))
    if isinstance(pack.python_solver, PythonKKTSolver):
        pack.python_solver.fit_all_rows(size)
        return pack
    n = model.nb + 1 + len(model.tables["EDGES"])
    other = model.pack(model.tables.changed({}, {"LEAST_SQUARES": (5, 6 * n)}))
    by_slot = workspace_array(other, "LEAST_SQUARES")[4]
    by_slot[:] = 1.0
    by_slot[6 * (model.nb + 1) + model.slot_of_row] = size
    flags_in(other.ints)[REFINES] = flags_in(other.ints)[REFINES] or FOR_MASSLESS  # in place of a refinement, or after it
    solver = routines_of(model.tables, every_row=False)
    refine = solver.refine_and_fit_all_rows if flags_in(model.tables.ints)[REFINES] else solver.fit_all_rows
    return with_callback(other._replace(refine=refine), pack.callback)
