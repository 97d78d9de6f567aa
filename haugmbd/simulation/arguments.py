"""What `simulate` is asked with: every argument read once, when they are read, and refused with what it should be."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from numbers import Real
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from haugmbd import integrators
from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.errors import ModelError, UsageError
from haugmbd.formulations import FORMULATIONS, Formulation, NewtonEuler
from haugmbd.integrators import RK4, DormandPrince
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.driver_breaks import interval_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.system import System

MOST_STEPS = 2.0**53
"""Beyond these t + h is t."""


def check_formulation(formulation: Any) -> None:
    """Refuse what is no formulation, with what there is."""
    if not isinstance(formulation, Formulation):
        names = ", ".join(f"{kind.__name__}()" for kind in FORMULATIONS)
        raise UsageError(f"formulation = {formulation!r} must be an object, one of {names}.")
    formulation.check()


def need_newton_euler(formulation: Formulation, who: str) -> None:
    """Refuse another formulation where `who` asks the block LDL^T itself."""
    if not isinstance(formulation, NewtonEuler):
        free = ", ".join(kind.__name__ for kind in integrators_with_requirements())
        raise UsageError(
            f"{who} uses the block LDL^T of NewtonEuler() for its own equations: leave out formulation={formulation!r}, or use simulate "
            f"with {free}, which take every formulation."
        )


def integrators_with_requirements() -> tuple[type[Integrator], ...]:
    """Those that ask a formulation for accelerations, whichever it is."""
    kinds = (getattr(integrators, name) for name in sorted(integrators.__all__))
    return tuple(
        k for k in kinds if isinstance(k, type) and issubclass(k, Integrator) and not (k.solves_constraints or k.keeps_factor)
    )


def check_numbers(integrator: Any, **numbers: Any) -> None:
    """Refuse what should be a number or an integrator and is none."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not (isinstance(value, Real) or (value is None and name not in ("t_end", "store_every"))):
            raise UsageError(f"{name} = {value!r} must be a number.")
        if value is not None:
            plain_float(name, value)
    if integrator is not None and not isinstance(integrator, Integrator):
        raise UsageError(f"integrator = {integrator!r} must be an object: RK4(h), DormandPrince(...) or SciPySolver(...).")


def check_flags(**flags: Any) -> None:
    """Refuse what should be True or False and is neither."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise UsageError(f"{name} = {value!r} must be True or False.")


@cache
def parameter_types(kind: Any) -> dict[str, Any]:
    """Return the annotated types of a class's parameters; they are worked out once for each class."""
    return get_type_hints(kind)


def check_parameters(method: Any) -> None:
    """Refuse parameters of a method of this package that are not of the kind its class says: text for a number, a class for an object."""
    if not (is_dataclass(method) and type(method).__module__.startswith("haugmbd.")):
        return  # a user's own method annotates as it likes
    kind: Any = type(method)
    hints = parameter_types(kind)
    for part in fields(method):
        value, hint = getattr(method, part.name), hints[part.name]
        kinds = get_args(hint) or (hint,)
        if not _fits(value, kinds):
            needed = " or ".join(KINDS.get(kind, f"a {kind.__name__} object") for kind in kinds)
            raise UsageError(f"{type(method).__name__} got {part.name} = {value!r}, which must be {needed}.")


KINDS = {float: "a number", int: "a whole number", bool: "True or False", NoneType: "None"}
"""How kinds of parameters are called."""


def _fits(value: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether a value is of one of these kinds; a truth value is no number, and any real number may stand for another."""
    if float in kinds or int in kinds:
        return (value is None and NoneType in kinds) or (isinstance(value, Real) and not isinstance(value, bool))
    return isinstance(value, kinds)


def with_floats(method: Integrator) -> Integrator:
    """The method with plain floats where it takes numbers: compiled code would be compiled once more for those of another type."""
    if not (is_dataclass(method) and type(method).__module__.startswith("haugmbd.")):
        return method
    kind: Any = type(method)
    hints, changes = parameter_types(kind), {}
    for part in fields(method):
        value = getattr(method, part.name)
        if value is not None and float in (get_args(hints[part.name]) or (hints[part.name],)):
            changes[part.name] = plain_float(f"{type(method).__name__} got {part.name}", value)
    return replace(method, **changes)


def plain_float(what: str, value: Any) -> float:
    """The value as Python's own float; UsageError for a whole number that is none."""
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{what} = {value!r:.20}..., which is larger than any float.") from None


def check_kinds(system: Any, state: Any, stabilization: Any) -> None:
    """Refuse arguments of the wrong kind, each with what it should be."""
    if not isinstance(system, System | Model):
        raise UsageError(f"simulate got {system!r}, and needs a System, a compiled Model, or a SerialChain.")
    if state is not None and not isinstance(state, State):
        raise UsageError(f"state = {state!r} must be a State: start from model.state() and change it with state.replace(...).")
    if stabilization is None:
        return
    if isinstance(stabilization, type) or not isinstance(stabilization, Stabilization):
        raise UsageError(f"stabilization = {stabilization!r} must be an object, Projection() or Baumgarte(alpha, beta), or None.")
    check_parameters(stabilization)
    stabilization.check()


def choose_integrator(h: float | None, rtol: float | None, atol: float | None, given: Integrator | None) -> Integrator:
    """The integrator that the arguments mean."""
    if h is not None and (rtol is not None or atol is not None):
        raise UsageError(f"h = {h} asks for a fixed step and rtol or atol for an adaptive one: give one of them.")
    if given is None:
        given = DormandPrince() if h is None else RK4()
    check_parameters(given)
    return with_floats(given.told(h, rtol, atol))


def wanted_times(t_eval: npt.ArrayLike | None, t_start: float, t_end: float) -> Array | None:
    """The wanted times, increasing and inside the interval."""
    if t_eval is None:
        return None
    given = numbers(t_eval)
    if given is None:
        raise UsageError(f"t_eval = {t_eval!r:.60} must be times [s], such as np.linspace(0, 1, 101).")
    times = np.atleast_1d(given)
    if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise UsageError("t_eval must be one-dimensional, finite and strictly increasing.")
    if not len(times):
        raise UsageError("t_eval is empty: give at least one time [s], or leave it out, and every step is kept.")
    if times[0] < t_start or times[-1] > t_end:
        raise UsageError(f"t_eval runs from {times[0]:g} to {times[-1]:g} s, the simulation from {t_start:g} to {t_end:g} s.")
    return times


def check_drivers(model: Model, t_start: float, t_end: float) -> None:
    """Refuse an interval that a tabulated driver does not cover, and derivatives that are none."""
    faults = interval_faults(model, t_start, t_end)
    if faults:
        raise ModelError(faults)


def check_interval(method: Integrator, t_start: float, t_end: float, every: int) -> None:
    """Refuse an empty interval and a step that is no step."""
    if not (np.isfinite(t_end) and t_end > t_start):
        raise UsageError(f"t_end = {t_end} s must be a finite time after the start, t = {t_start:g} s.")
    if not (np.isfinite(every) and every >= 1 and every == int(every)):
        raise UsageError(f"store_every = {every} must be a whole number of steps, 1 or more.")
    method.check(t_end - t_start)
    if method.step is not None and (t_end - t_start) / method.step > MOST_STEPS:
        raise UsageError(
            f"t_end = {t_end:g} s is {(t_end - t_start) / method.step:.3g} steps of {method.step:g} s: give a larger h."
        )
