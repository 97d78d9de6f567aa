"""What every integrator is: a frozen object that advances a problem chunk by chunk.  A new one is a subclass in a file of its own.

FixedStep    the user says the step h          Adaptive    error control chooses it, by rtol and atol
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import isabstract
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.errors import UsageError
from haugmbd.integrators.chunk import Chunk
from haugmbd.integrators.stepping import Problem


class Unsaid(float):
    """A number that nobody has given: the default of a method, which what is said elsewhere replaces."""


RTOL, ATOL = Unsaid(1e-8), Unsaid(1e-10)
"""What adaptive methods take where nothing is said, and what the state of a fixed step is compared to where something must be."""


class Integrator(ABC):
    """An integrator.  reference: its source, for `mbd.cite`."""

    reference: ClassVar[str]
    solves_constraints: ClassVar[bool] = False
    """Whether the method fulfils the constraints by itself, so that no stabilization has a place in its step."""
    dense: ClassVar[bool] = True
    """Whether dense output of order six is as good as the steps; if not, states at wanted times come from steps that end there."""
    keeps_factor: ClassVar[bool] = False
    """Whether one factor answers questions with rows of another pose, which only the compiled NewtonEuler has."""
    one_step: ClassVar[bool] = True
    """Whether a step from a stored state is the step that a run would make there; other methods remember more than the state."""

    own_multipliers: ClassVar[bool] = False
    """Whether a step solves for multipliers that belong to the state at its end; those of stages and of half steps belong to none."""

    @classmethod
    def examples(cls) -> dict[str, Integrator]:
        """One of each kind that differs in what goes with it, by what it is called."""
        return {cls.__name__: cls()}

    @property
    def keeps_positions(self) -> bool:
        """Whether a method that solves constraints solves Phi = 0: states between its steps are then brought there, too."""
        return self.solves_constraints

    @property
    def keeps_velocities(self) -> bool:
        """Whether such a method solves Phi_q u = nu: the same of velocities."""
        return self.solves_constraints

    @abstractmethod
    def chunks(self, problem: Problem, k1: Array, t_end: float) -> Iterator[Chunk]:
        """Advance `problem` and its rates `k1` to `t_end`, a chunk of steps at a time."""

    @abstractmethod
    def starting_with(self, h: float) -> Self:
        """The same method with a first step of `h` [s]."""

    @abstractmethod
    def limited(self, h_max: float) -> Self:
        """The same method with no step longer than `h_max` [s]; a fixed step stays what the user has said."""

    @abstractmethod
    def told(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        """The same method with the numbers that `simulate` was given.  UsageError for those that it has no use for."""

    @abstractmethod
    def check(self, span: float) -> None:
        """Refuse numbers that are none, before a run over `span` [s].  Raises UsageError."""

    @property
    def step(self) -> float | None:
        """The fixed step [s]; None where error control chooses it."""
        return None

    @property
    def correctable(self) -> bool:
        """Whether a state may be changed between steps; not of methods that remember more than the state."""
        return not self.solves_constraints

    @property
    @abstractmethod
    def tolerances(self) -> tuple[float, float]:
        """Relative and absolute: what two states should agree to that the method cannot tell apart."""


@dataclass(frozen=True)
class FixedStep(Integrator):
    """A method of fixed step `h` [s]; the last step is shortened to end at t_end."""

    h: float | None = None

    @property
    def step(self) -> float | None:
        return self.h

    def starting_with(self, h: float) -> Self:
        return replace(self, h=h)

    def limited(self, h_max: float) -> Self:
        return self

    def told(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        if rtol is not None or atol is not None:
            raise UsageError(f"{type(self).__name__} has a fixed step and no error control: give h, or use DormandPrince.")
        if h is not None and self.h is not None and h != self.h:
            raise _said_twice(type(self).__name__, "h", self.h, h)
        return self if h is None else replace(self, h=h)

    def check(self, span: float) -> None:
        name = type(self).__name__
        if self.h is None or not (np.isfinite(self.h) and self.h > 0.0):
            raise UsageError(f"the step h = {self.h} s must be positive: {name} needs simulate(..., h=1e-3) or {name}(h=1e-3).")
        if self.h > span * (1.0 + 1e-12):
            raise UsageError(f"the step h = {self.h:g} s is larger than the interval of {span:g} s.")

    @property
    def tolerances(self) -> tuple[float, float]:
        return RTOL, ATOL


@dataclass(frozen=True, kw_only=True)
class Adaptive(Integrator):
    """A method with error control.  rtol, atol: error a step;  h_first, h_max: [s], by default chosen and unlimited."""

    rtol: float = RTOL
    atol: float = ATOL
    h_first: float | None = None
    h_max: float = np.inf

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h)

    def limited(self, h_max: float) -> Self:
        return replace(self, h_max=min(self.h_max, h_max))

    def told(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        if h is not None:
            name = type(self).__name__
            raise UsageError(f"{name} chooses its steps: give rtol and atol (a largest step is its own h_max), or use RK4.")
        said = {}
        for key, given, own in (("rtol", rtol, self.rtol), ("atol", atol, self.atol)):
            if given is not None:
                if not isinstance(own, Unsaid) and given != own:
                    raise _said_twice(type(self).__name__, key, own, given)
                said[key] = given
        return replace(self, **said)

    def check(self, span: float) -> None:
        if not self.h_max > 0.0:
            raise UsageError(f"h_max = {self.h_max} s must be positive.")
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f"{name} = {value} must be positive; 1e-8 is a good start.")
        check_first_step(self.h_first)

    @property
    def tolerances(self) -> tuple[float, float]:
        return self.rtol, self.atol


def methods_below(kind: type[Any] = Integrator) -> tuple[type[Integrator], ...]:
    """The classes of this package below `kind` that are methods, each once; a user's own stands beside them, and takes no one's place."""
    found: dict[type[Integrator], None] = {}
    for below in _ours(kind):
        if _ours(below):
            found |= dict.fromkeys(methods_below(below))
        elif not isabstract(below):
            found[below] = None
    return tuple(found)


def _ours(kind: type[Any]) -> list[type[Any]]:
    """The direct subclasses that are of this package."""
    return [below for below in kind.__subclasses__() if below.__module__.startswith("haugmbd.")]


def _said_twice(method: str, name: str, own: float, given: float) -> UsageError:
    """Say that a number of a method is given in two places, and differs."""
    return UsageError(f"{name} is given twice: {method}({name}={own:g}) and simulate(..., {name}={given:g}). Give it in one place.")


def check_first_step(h_first: float | None) -> None:
    """Refuse a first step that is none."""
    if h_first is not None and not (np.isfinite(h_first) and h_first > 0.0):
        raise UsageError(f"h_first = {h_first} s must be positive; leave it out, and the method chooses it.")
