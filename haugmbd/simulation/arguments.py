"""The arguments of `simulate`: each is read and checked once; errors state what is accepted."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain
from numbers import Real
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import object_meant
from haugmbd.errors import ModelError, UsageError
from haugmbd.integrators import RK4, DormandPrince
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.default_number import DefaultNumber
from haugmbd.integrators.events import Switch
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.inspection.driver_breaks import interval_faults
from haugmbd.model.inspection.given import need_state
from haugmbd.model.inspection.run_memory import freewheels_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.structures import structures_of
from haugmbd.system.system import System

Method = TypeVar("Method", bound=Any)

ADAPTIVE, FIXED = DormandPrince(), RK4()
"""The integrators of a run for which none is chosen."""
MOST_STEPS = 2.0**53
"""Number of steps beyond which t + h equals t."""


def check_numbers(integrator: Any, **numbers: Any) -> None:
    """Raise UsageError for a value that is not a number, or an integrator of another type."""
    for name, value in numbers.items():
        if value.__class__ is float:
            continue
        if isinstance(value, bool) or not (isinstance(value, Real) or (value is None and name not in ("t_end", "store_every"))):
            raise UsageError(f"{name} = {value!r} must be a number.")
        if value is not None:
            plain_float(name, value)
    if integrator is not None and not isinstance(integrator, Integrator):
        meant = object_meant(integrator, Integrator)
        raise UsageError(f"integrator = {integrator!r} must be an object: RK4(h), DormandPrince(...) or SciPySolver(...){meant}.")


def check_limit(most: Any) -> None:
    """Raise UsageError unless the limit is a number of 1 or more."""
    if isinstance(most, bool) or not (
        isinstance(most, int | float) and np.isfinite(plain_float("most_per_second", most)) and most >= 1.0
    ):
        raise UsageError(f"most_per_second = {most!r} must be a number, 1 or more.")


def check_budget(budget: float | None) -> None:
    """Raise UsageError unless the budget is positive."""
    if budget is not None and not budget > 0.0:
        raise UsageError(f"budget = {budget!r} s must be positive, or left out for no limit.")


CHECKED: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Methods of this package that were checked, by their ids: they are frozen, and are checked once."""


@cache
def parameter_types(kind: Any) -> dict[str, tuple[Any, ...]]:
    """Return the types that each parameter of a class may have; they are worked out once for each class."""
    hints = get_type_hints(kind)
    return {part.name: get_args(hints[part.name]) or (hints[part.name],) for part in fields(kind)}


def is_own(method: Any) -> bool:
    """Return whether a method belongs to this package; a user's own annotates as it likes."""
    return is_dataclass(method) and type(method).__module__.startswith("haugmbd.")


def check_parameters(method: Any) -> None:
    """Raise UsageError for parameters of a method of this package that have another type than declared."""
    if not is_own(method):
        return
    kind: Any = type(method)
    for name, kinds in parameter_types(kind).items():
        value = getattr(method, name)
        if not _fits(value, kinds):
            needed = " or ".join(KINDS.get(kind, f"a {kind.__name__} object") for kind in kinds)
            raise UsageError(f"{type(method).__name__} got {name} = {value!r}, which must be {needed}.")


KINDS = {float: "a number", int: "a whole number", bool: "True or False", NoneType: "None"}
"""Names of the types of parameters."""


def _fits(value: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether a value has one of these types; booleans are not numbers, and any real number is accepted for another."""
    if float in kinds or int in kinds:
        return (value is None and NoneType in kinds) or (isinstance(value, Real) and not isinstance(value, bool))
    return isinstance(value, kinds)


def with_floats(method: Method) -> Method:
    """Return the method with plain floats as numbers, because compiled code is specialized by type."""
    if not is_own(method):
        return method
    kind: Any = type(method)
    changes = {}
    for name, kinds in parameter_types(kind).items():
        value = getattr(method, name)
        if float in kinds and type(value) is not float and value is not None and not isinstance(value, DefaultNumber):
            changes[name] = plain_float(f"{type(method).__name__} got {name}", value)
    return replace(method, **changes) if changes else method


def plain_float(what: str, value: Any) -> float:
    """Return the value as a float. Raise UsageError for an integer that is too large."""
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{what} = {value!r:.20}..., which is larger than any float.") from None


def check_kinds(system: Any, state: Any, stabilization: Any) -> None:
    """Raise UsageError for arguments of the wrong type."""
    if not isinstance(system, System | Model):
        raise UsageError(f"simulate got {system!r}, and needs a System, a compiled Model, or a SerialChain.")
    if state is not None:
        need_state(state)
    if stabilization is None or CHECKED.get(id(stabilization)) is stabilization:
        return
    if isinstance(stabilization, type) or not isinstance(stabilization, Stabilization):
        meant = object_meant(stabilization, Stabilization)
        raise UsageError(
            f"stabilization = {stabilization!r} must be an object, Projection() or Baumgarte(alpha, beta), or None{meant}."
        )
    check_parameters(stabilization)
    with_floats(stabilization)  # refuses whole numbers that are larger than any float
    stabilization.check()
    if is_own(stabilization):
        CHECKED[id(stabilization)] = stabilization


def choose_integrator(h: float | None, rtol: float | None, atol: float | None, given: Integrator | None) -> Integrator:
    """Return the integrator that the arguments select."""
    check_numbers(given, h=h, rtol=rtol, atol=atol)
    if h is not None and (rtol is not None or atol is not None):
        raise UsageError(f"h = {h} selects a fixed step, and rtol or atol an adaptive one: give one of them.")
    if given is None:
        given = ADAPTIVE if h is None else FIXED
    if CHECKED.get(id(given)) is None:
        check_parameters(given)
        if is_own(given):
            CHECKED[id(given)] = given
    return with_floats(given.with_arguments(h, rtol, atol))


def wanted_times(t_eval: npt.ArrayLike | None, t_start: float, t_end: float) -> Array | None:
    """Return the given times, increasing and inside the interval."""
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
        first, last, start, end = (_all_digits(t) for t in (times[0], times[-1], t_start, t_end))
        raise UsageError(f"t_eval runs from {first} to {last} s, the simulation from {start} to {end} s.")
    return times


def _all_digits(t: float) -> str:
    """Return a number as text with as many digits as it has: 0.3 and 0.30000000000000004 are different times."""
    return f"{t:g}" if float(f"{t:g}") == t else repr(float(t))


def check_drivers(model: Model, t_start: float, t_end: float) -> None:
    """Raise ModelError for an interval that a tabulated driver does not cover, and for derivatives that do not match."""
    faults = interval_faults(model, t_start, t_end)
    if faults:
        raise ModelError(faults)


def check_friction(model: Model, method: Integrator) -> None:
    """Raise UsageError if the method cannot treat the friction in the joints of the model."""
    loads = model.force_elements
    name = type(method).__name__
    exact = [repr(load.name) for load in loads if load.is_exact]
    if exact and not (method.one_step and method.takes_friction):
        raise UsageError(
            f"friction {', '.join(exact)} sticks exactly, by events between which a method starts anew, and {name} does not: take RK4, "
            "DormandPrince or another explicit method, or a smooth law, such as Coulomb(mu, velocity=1e-3) or BrownMcPhee."
        )
    loaded = [repr(load.name) for load in loads if load.reads_reaction]
    if loaded and not method.takes_friction:
        raise UsageError(
            f"friction {', '.join(loaded)} depends on what its joint carries, and {name} does not solve for both together: take RK4, "
            "DormandPrince, BDF or another method."
        )


def check_interval(method: Integrator, t_start: float, t_end: float, every: int) -> None:
    """Raise UsageError for an empty interval and a step that is not valid."""
    if not (np.isfinite(t_end) and t_end > t_start):
        raise UsageError(f"t_end = {t_end} s must be a finite time after the start, t = {t_start:g} s.")
    if not (1.0 <= float(every) <= MOST_STEPS and every == int(every)):
        raise UsageError(f"store_every = {every} must be a whole number of steps, 1 or more.")
    method.check(t_end - t_start)
    if method.step is not None and (t_end - t_start) / method.step > MOST_STEPS:
        raise UsageError(
            f"t_end = {t_end:g} s is {(t_end - t_start) / method.step:.3g} steps of {method.step:g} s: give a larger h."
        )


def rigid_stop(system: System | Model) -> str:
    """Return the first JointLimit with a restitution, or rigid contact; "" if there is none."""
    loads = system.loads if isinstance(system, System) else system.force_elements
    limits = (load.where for load in loads if load.impulsive)
    return next(chain(limits, (contact.where for contact in system.contacts)), "")


def need_no_stops(model: Model, what: str) -> None:
    """Raise UsageError if a JointLimit has a restitution: the velocities jump at its hits;  what: that needs a smooth motion."""
    if stop := rigid_stop(model):
        raise UsageError(
            f"{what} needs a smooth motion, and {stop} is rigid: the velocities jump at its hits. Make it compliant: k= and c= of a "
            "JointLimit, or a ContactForce."
        )


def needs_switching(model: Model, events: Any, state: Any) -> bool:
    """Return whether an event switches parts, or the state has another structure than the model."""
    if isinstance(state, State) and state.structure is not None and state.structure != structures_of(model).first:
        return True
    if freewheels_of(model):
        return True
    return isinstance(events, list | tuple) and any(isinstance(event, Switch) for event in events)
