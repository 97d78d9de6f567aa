"""Errors and faults: each one names the place, the defect with its numbers, and the remedy.

A `Fault` is data. Constructors collect faults and do not raise them; `System.validate` raises them all in one `ModelError`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a model.

    Attributes
    ----------
    where : str
        The place, such as "body 'crank'".
    what : str
        The defect, with its numbers.
    remedy : str
        What the user can do about it.
    """

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return one text: body 'crank': mass is -1.0 kg, must be positive. Give the mass in kilograms."""
        return f"{self.where}: {self.what}. {self.remedy}".rstrip()


class HaugmbdError(Exception):
    """Base class of all errors that haugmbd raises. `page` is the place of a class in the catalogue of errors."""

    page: ClassVar[str] = "docs/errors.md"


class ModelError(HaugmbdError, ValueError):
    """A model has faults. The message lists all of them, numbered.

    Attributes
    ----------
    faults : tuple of Fault
        All faults of the model.
    """

    page: ClassVar[str] = "docs/errors.md#modelerror"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        """Return all faults, numbered from 1."""
        if len(self.faults) == 1:
            return f"the model has 1 fault: {self.faults[0]}"
        lines = [f"  {number}. {fault}" for number, fault in enumerate(self.faults, start=1)]
        return "\n".join([f"the model has {len(self.faults)} faults:", *lines])


class AssemblyError(ModelError):
    """A mechanism cannot be assembled. The faults name the joints that stay open or have the wrong sign, and by how much.

    Attributes
    ----------
    faults : tuple of Fault
        One fault for each such joint.
    assembly : Assembly
        The nearest configuration that was found, with `assembly.state`.
    """

    page: ClassVar[str] = "docs/errors.md#assemblyerror"

    def __init__(self, faults: Iterable[Fault], assembly: Any) -> None:
        super().__init__(faults)
        self.assembly = assembly

    def __str__(self) -> str:
        """Return all faults, numbered from 1."""
        starts = getattr(self.assembly, "starts", 1)
        tried = f", and {starts - 1} other starts lead to nothing closer" if starts > 1 else ""
        head = f"the mechanism cannot be assembled{tried}:"
        return "\n".join([head, *(f"  {n}. {f}" for n, f in enumerate(self.faults, start=1))])


class SimulationError(HaugmbdError, RuntimeError):
    """A simulation had to stop.

    Attributes
    ----------
    message : str
        The text of the error.
    result : Result or None
        What was computed before the error; None if nothing was.
    """

    page: ClassVar[str] = "docs/errors.md#simulationerror"

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message, result)
        self.message = message
        self.result = result

    def __str__(self) -> str:
        """Return the message; the result is not printed."""
        return self.message


class SingularKKTError(SimulationError):
    """The augmented system [M Phi_q^T; Phi_q 0] has no unique solution: rows are dependent, or a free axis has no inertia."""

    page: ClassVar[str] = "docs/errors.md#singularkkterror"


class UsageError(HaugmbdError, ValueError):
    """A call has a bad argument. The message names the argument, its value, and what is expected."""

    page: ClassVar[str] = "docs/errors.md#usageerror"


class ModelFileError(ModelError, UsageError):
    """A model file has faults, or a system cannot be written to one. The message lists all of them, with their places.

    Attributes
    ----------
    faults : tuple of Fault
        All faults; the place is the line and the path in the file, such as "line 12, joints[3].axis".
    path : str
        The file.
    """

    page: ClassVar[str] = "docs/errors.md#modelfileerror"

    def __init__(self, path: str, faults: Iterable[Fault], what: str = "cannot be read") -> None:
        super().__init__(faults)
        self.path = path
        self.what = what

    def __reduce__(self) -> Any:
        return type(self), (self.path, self.faults, self.what)

    def __str__(self) -> str:
        """Return all faults, numbered from 1."""
        if len(self.faults) == 1:
            return f"{self.path} {self.what}: {self.faults[0]}"
        lines = [f"  {number}. {fault}" for number, fault in enumerate(self.faults, start=1)]
        return "\n".join([f"{self.path} {self.what}: {len(self.faults)} faults:", *lines])


class SlowFormulationWarning(UserWarning):
    """A formulation whose cost grows with a power of the number of bodies is used on a large model."""

    page: ClassVar[str] = "docs/errors.md#slowformulationwarning"


class LockedModelWarning(UserWarning):
    """A model cannot move: it has no degree of freedom and no driver, or a small misalignment locks a loop."""

    page: ClassVar[str] = "docs/errors.md#lockedmodelwarning"


class EnergyWarning(UserWarning):
    """Newton's law of restitution at several coupled contacts has increased the kinetic energy; this is a property of the law."""

    page: ClassVar[str] = "docs/errors.md#energywarning"


class RunWarning(UserWarning):
    """The result of a run is doubtful: a body turns too far in one step, or energy is lost. It is also in `result.warnings`."""

    page: ClassVar[str] = "docs/errors.md#runwarning"


def error_text(error: BaseException) -> str:
    """Return an error as text: its type, what it says, and its notes, which name the element whose function raised it."""
    notes = "; ".join(getattr(error, "__notes__", ()))
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{text} ({notes})" if notes else text


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that names the user's line: the first one outside this package, however deep inside it the warning arises."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(("haugmbd.", "joints.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Add to an exception of a user's function what it was called for; the exception itself stays as it is."""
    try:
        yield
    except HaugmbdError:
        raise
    except Exception as error:
        error.add_note(f"raised by {what}")
        raise
