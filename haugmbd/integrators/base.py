"""The base classes of all integrators: frozen objects that advance a problem batch by batch.  A new one is a subclass in its own file.

FixedStep           the user gives the step h
Adaptive            error control chooses the step, by rtol and atol
FixedOrAdaptive     either: h gives fixed steps, rtol or atol gives error control
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from inspect import isabstract
from typing import Any, ClassVar, Self

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.integrators.default_number import AdaptiveDefault, DefaultNumber
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.integrators.step_context import Problem
from haugmbd.names_on_demand import load_package_of

RTOL, ATOL = DefaultNumber(1e-8), DefaultNumber(1e-10)
"""Default tolerances of adaptive methods; a method with fixed steps compares states with them."""


class Integrator(ABC):
    """An integrator; the base class of all.

    Attributes
    ----------
    reference : str
        The source, for `mbd.cite`.
    """

    reference: ClassVar[str]
    solves_constraints: ClassVar[bool] = False
    """Whether the method solves the constraints in its step, so that it takes no stabilization."""
    keeps_factor: ClassVar[bool] = False
    """Whether the method solves with the factor of another pose, which only the compiled NewtonEuler allows."""
    one_step: ClassVar[bool] = True
    """Whether a step depends on the state at its start only.  Other methods use data of earlier steps."""

    makes_steps: ClassVar[bool] = True
    """Whether it makes steps that `simulate` stores and examines; not a function of one's own that makes a whole run."""
    takes_step: ClassVar[bool] = False
    """Whether the method can run with a fixed step h."""
    takes_tolerances: ClassVar[bool] = False
    """Whether the method can control its error by rtol and atol."""
    own_multipliers: ClassVar[bool] = False
    """Whether a step solves for multipliers at its end.  Multipliers of stages and of half steps do not count."""

    watches_rank: ClassVar[bool] = False
    """Whether its steps end where rows are about to become dependent, see `rank_watch`."""
    has_own_matrix: ClassVar[bool] = False
    """Whether its steps factor a matrix of their own, with tangents of the forces, and not that of the accelerations."""

    takes_friction: ClassVar[bool] = True
    """Whether friction in a joint may depend on what the joint carries."""

    lam_at_steps: ClassVar[bool] = False
    """Whether its batches carry multipliers `lam` that the step solved for, with `u_dot` or the accelerations in `y_dot`."""

    stops_at_kinks: ClassVar[bool] = True
    """Whether steps end where a stop is released, with a kink of its force, and not only where it jumps.

    Implicit methods of order two keep their order across kinks. They step across vibrations that they do not resolve, damp little of them,
    and would restart at kinks without end.
    """

    @classmethod
    def examples(cls) -> dict[str, Integrator]:
        """Return one method of each kind that differs in its stabilizations, by its name."""
        return {cls.__name__: cls()}

    @property
    def dense(self) -> bool:
        """Whether dense output of order six is as accurate as the steps.  Otherwise requested states come from steps that end there."""
        return True

    @property
    def keeps_positions(self) -> bool:
        """Whether a method that solves constraints solves Phi = 0.  States between its steps are then projected on it, too."""
        return self.solves_constraints

    @property
    def keeps_velocities(self) -> bool:
        """Whether a method that solves constraints solves Phi_q u = nu.  States between its steps are then projected on it, too."""
        return self.solves_constraints

    @abstractmethod
    def batches(self, problem: Problem, k1: Array, t_end: float) -> Iterator[StepBatch]:
        """Advance `problem` and its rates `k1` to `t_end`; yield a batch of steps at a time."""

    @abstractmethod
    def starting_with(self, h: float) -> Self:
        """Return the same method with a first step of `h` [s]."""

    def step_to(self, problem: Problem, k1: Array, t_end: float) -> Iterable[StepBatch]:
        """Advance `problem` and its rates `k1` to `t_end`, within a step, by one step where the method allows it."""
        return self.starting_with(t_end - problem.t).batches(problem, k1, t_end)

    @abstractmethod
    def limited(self, h_max: float) -> Self:
        """Return the same method with no step longer than `h_max` [s]; a fixed step does not change."""

    @abstractmethod
    def with_arguments(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        """Return the same method with the numbers that `simulate` was given.  Raise UsageError for those that it cannot use."""

    @abstractmethod
    def check(self, span: float) -> None:
        """Raise UsageError for invalid numbers, before a run over `span` [s]."""

    @property
    def step(self) -> float | None:
        """The fixed step [s]; None with error control."""
        return None

    @property
    def correctable(self) -> bool:
        """Whether a state may be changed between steps; not for methods that use data of earlier steps."""
        return not self.solves_constraints

    @property
    @abstractmethod
    def tolerances(self) -> tuple[float, float]:
        """Relative and absolute: states that agree within them are equal to the method."""

    def units(self, problem: Problem) -> Array:
        """Return the units of the absolute tolerance, (ny,): `StateSpace.units` for a default, else 1."""
        return problem.state_space.units() if isinstance(self.tolerances[1], DefaultNumber) else np.ones(problem.y.size)


@dataclass(frozen=True)
class FixedStep(Integrator):
    """A method of fixed step `h` [s]; the last step is shortened to end at t_end."""

    takes_step: ClassVar[bool] = True
    h: float | None = None

    @property
    def step(self) -> float | None:
        return self.h

    def starting_with(self, h: float) -> Self:
        return replace(self, h=h)

    def limited(self, h_max: float) -> Self:
        return self

    def with_arguments(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        if rtol is not None or atol is not None:
            raise UsageError(f"{type(self).__name__} has a fixed step and no error control: give h, or use DormandPrince.")
        return replace(self, **_given_once(self, h=h))

    def check(self, span: float) -> None:
        _check_step(type(self).__name__, self.h, span)

    @property
    def tolerances(self) -> tuple[float, float]:
        return RTOL, ATOL


@dataclass(frozen=True, kw_only=True)
class Adaptive(Integrator):
    """A method with error control.

    rtol, atol: error of a step;  h_first, h_max: first and largest step [s], by default chosen and unlimited
    An atol that is given is in metres, radians and their rates; the default is measured by the characteristic length of the model.
    """

    takes_tolerances: ClassVar[bool] = True
    rtol: float = RTOL
    atol: float = ATOL
    h_first: float | None = None
    h_max: float = np.inf

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h)

    def limited(self, h_max: float) -> Self:
        return replace(self, h_max=min(self.h_max, h_max))

    def with_arguments(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        if h is not None:
            name = type(self).__name__
            raise UsageError(f"{name} chooses its steps: give rtol and atol (a largest step is its own h_max), or use RK4.")
        return replace(self, **_given_once(self, rtol=rtol, atol=atol))

    def check(self, span: float) -> None:
        _check_tolerances(self.rtol, self.atol, self.h_first, self.h_max)

    @property
    def tolerances(self) -> tuple[float, float]:
        return self.rtol, self.atol


@dataclass(frozen=True)
class FixedOrAdaptive(Integrator):
    """A method with a fixed step `h` [s], or with error control by rtol and atol.

    h_first, h_max: of the error control [s];  adaptive_by_default: the choice where neither is given
    An atol that is given is in metres, radians and their rates; the default is measured by the characteristic length of the model.
    """

    takes_step: ClassVar[bool] = True
    takes_tolerances: ClassVar[bool] = True
    adaptive_by_default: ClassVar[bool]

    h: float | None = None
    _: KW_ONLY
    rtol: float = RTOL
    atol: float = ATOL
    h_first: float | None = None
    h_max: float = np.inf

    @property
    def adaptive(self) -> bool:
        """Whether error control chooses the steps."""
        return self.h is None and (self.adaptive_by_default or self._selects_error_control)

    @property
    def _selects_error_control(self) -> bool:
        """Whether one of the tolerances was given."""
        return any(isinstance(x, AdaptiveDefault) or not isinstance(x, DefaultNumber) for x in self.tolerances)

    def under_error_control(self) -> Self:
        """Return the method with steps that error control chooses, by the default tolerances if none was given."""
        return self if self._selects_error_control else replace(self, atol=AdaptiveDefault(self.atol))

    @property
    def step(self) -> float | None:
        return self.h

    def starting_with(self, h: float) -> Self:
        return replace(self, h_first=h) if self.adaptive else replace(self, h=h)

    def limited(self, h_max: float) -> Self:
        return replace(self, h_max=min(self.h_max, h_max))

    def with_arguments(self, h: float | None, rtol: float | None, atol: float | None) -> Self:
        name = type(self).__name__
        method = replace(self, **_given_once(self, h=h, rtol=rtol, atol=atol))
        if method.h is not None and method._selects_error_control:
            raise UsageError(
                f"{name} takes a fixed step (h = {method.h:g} s) or error control (rtol = {method.rtol:g}, atol = {method.atol:g}), "
                "not both."
            )
        return method

    def check(self, span: float) -> None:
        if self.adaptive:
            _check_tolerances(self.rtol, self.atol, self.h_first, self.h_max)
        else:
            _check_step(type(self).__name__, self.h, span)

    @property
    def tolerances(self) -> tuple[float, float]:
        return self.rtol, self.atol


def methods_below(kind: type[Any] = Integrator) -> tuple[type[Integrator], ...]:
    """Return the classes of this package below `kind` that are methods, each once; without those of the user."""
    methods: dict[type[Integrator], None] = {}
    load_package_of(kind)
    for below in _ours(kind):
        if _ours(below):
            methods |= dict.fromkeys(methods_below(below))
        elif not isabstract(below):
            methods[below] = None
    return tuple(methods)


def _ours(kind: type[Any]) -> list[type[Any]]:
    """Return the direct subclasses that belong to this package, and make steps."""
    return [below for below in kind.__subclasses__() if below.__module__.startswith("haugmbd.") and below.makes_steps]


def _given_once(method: Integrator, **given: float | None) -> dict[str, Any]:
    """Return the numbers that `simulate` was given, by name.  Raise UsageError if the method itself has another value."""
    given_by_user = {}
    for name, value in given.items():
        own = getattr(method, name)
        if value is not None:
            if own is not None and not isinstance(own, DefaultNumber) and own != value:
                kind = type(method).__name__
                what = f"{kind}({name}={own:g}) and simulate(..., {name}={value:g})"
                raise UsageError(f"{name} is given twice: {what}. Give it in one place.")
            given_by_user[name] = value
    return given_by_user


def _check_step(name: str, h: float | None, span: float) -> None:
    """Raise UsageError unless h is positive and no longer than the run."""
    if h is None or not (np.isfinite(h) and h > 0.0):
        raise UsageError(f"the step h = {h} s must be positive: {name} needs simulate(..., h=1e-3) or {name}(h=1e-3).")
    if h > span * (1.0 + 1e-12):
        raise UsageError(f"the step h = {h:g} s is larger than the interval of {span:g} s.")


def _check_tolerances(rtol: float, atol: float, h_first: float | None, h_max: float) -> None:
    """Raise UsageError unless the numbers of the error control are positive."""
    if not h_max > 0.0:
        raise UsageError(f"h_max = {h_max} s must be positive.")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (np.isfinite(value) and value > 0.0):
            raise UsageError(f"{name} = {value} must be positive; 1e-8 is a good start.")
    check_first_step(h_first)


def check_first_step(h_first: float | None) -> None:
    """Raise UsageError unless the first step is positive."""
    if h_first is not None and not (np.isfinite(h_first) and h_first > 0.0):
        raise UsageError(f"h_first = {h_first} s must be positive; leave it out, and the method chooses it.")
