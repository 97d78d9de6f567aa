"""What can be wrong, said once: where it is, what it is with numbers, and what to do.

A `Fault` is data; constructors collect faults and never raise.  `System.validate()` raises them all in one `ModelError`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: `where` ("body 'crank'"), `what` with its numbers, and the `remedy`."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """One sentence: body 'crank': mass is -1.0 kg, must be positive. Give the mass in kilograms."""
        return f"{self.where}: {self.what}. {self.remedy}".rstrip()


class HaugmbdError(Exception):
    """The base of every error that haugmbd raises on purpose."""


class ModelError(HaugmbdError, ValueError):
    """A model with faults: the message lists all of them, numbered."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        """All faults, numbered from 1."""
        if len(self.faults) == 1:
            return f"the model has 1 fault: {self.faults[0]}"
        lines = [f"  {number}. {fault}" for number, fault in enumerate(self.faults, start=1)]
        return "\n".join([f"the model has {len(self.faults)} faults:", *lines])


class AssemblyError(ModelError):
    """A mechanism whose parts do not fit: the faults say which joints stay open, or are the other way round, and by how much.

    assembly: the closest that was found, with `assembly.state`
    """

    def __init__(self, faults: Iterable[Fault], assembly: Any) -> None:
        super().__init__(faults)
        self.assembly = assembly

    def __str__(self) -> str:
        """All faults, numbered from 1."""
        return "\n".join(["the mechanism cannot be assembled:", *(f"  {n}. {f}" for n, f in enumerate(self.faults, start=1))])


class SimulationError(HaugmbdError, RuntimeError):
    """A simulation that had to stop; `result` holds what was computed so far (None if nothing was)."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message, result)
        self.message = message
        self.result = result

    def __str__(self) -> str:
        """The message; the result is not printed."""
        return self.message


class SingularKKTError(SimulationError):
    """The augmented system [M Phi_q^T; Phi_q 0] has no unique solution: dependent rows, or a free axis without inertia."""


class UsageError(HaugmbdError, ValueError):
    """A bad argument of a call: the message says which one, its value, and what is expected."""


class SlowFormulationWarning(UserWarning):
    """A formulation whose work grows with a power of the size, on a model that is large for it."""


class LockedModelWarning(UserWarning):
    """A model that cannot move: no degree of freedom and no driver, or a small misalignment that locks a loop."""


class EnergyWarning(UserWarning):
    """Newton restitution at several coupled contacts has raised the kinetic energy: the law, not the arithmetic, is at fault."""


class RunWarning(UserWarning):
    """What makes the answer of a run doubtful: a body that turns too far in a step, energy that is lost; it stays in `result.warnings`."""
