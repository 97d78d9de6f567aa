r"""The kernels that run through all force elements, in the order of the force tables: the package lists them in `MODULES`.

The file of an element has its class, and those of the following kernels that it needs, each for the rows  first ... last - 1  of the force
tables `ints` and `floats` at the motion m:

    add_forces(ints, floats, first, last, m, Q)             add its generalized forces to Q (nb + 1, 6)
    measure(ints, floats, first, last, m, signals)          write length or angle, and its rate, for functions of the user
    put_angle_rates(ints, floats, first, last, m, rates)    write the rate of the angle that it integrates
    potential(ints, floats, first, last, m)                 return its potential energy
    add_tangent(ints, floats, first, last, m, T)            add its stiffness and damping, by formula, to the `Tangents` T
    add_declared_tangent(...)                               the same from the jacobian that the user has declared

The forces of a StateForce, and of a class without an entry (see `ForceElement`), are added by a callback, those of a JointFriction by
the package `friction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.constraints.base import Motion
from haugmbd.forces import MODULES, Bushing, StateForce
from haugmbd.forces.base import ForceElement
from haugmbd.forces.compliant import contact_force
from haugmbd.forces.mass_in_time import MassInTime

BUSHINGS = next(k for k, (kind, _) in enumerate(MODULES) if kind is Bushing)
"""Number of the table of bushings, which may have no force."""


MASSES = next(k for k, (kind, _) in enumerate(MODULES) if kind is MassInTime)
"""Number of the table of masses in time."""

OPEN = next(k for k, (kind, _) in enumerate(MODULES) if kind is StateForce)
"""Number of the table of laws of states, StateForce and the open classes of users: a callback adds their forces."""


def table_of(kind: type[ForceElement]) -> int:
    """Return the number of the table, and of the entry in MODULES, whose kernels act for elements of a class."""
    return next((k for k, (known, _) in enumerate(MODULES) if issubclass(kind, known)), OPEN)


def each_kind(name: str, modules: Iterable[Any]) -> Callable[..., Any]:
    """Return the kernel  run(ints, floats, at, m, out)  that calls the kernel `name` of each module that has it, which writes to `out`.

    Kind k has rows at[k] ... at[k + 1] - 1 of the force tables.  The calls are written out one after another before LLVM sees them.
    """
    run: Callable[..., Any] | None = None
    for k, module in reversed(list(enumerate(modules))):
        if hasattr(module, name):
            act = getattr(module, name)
            run = _last(k, act) if run is None else _then(k, act, run)
    assert run is not None
    return run


def _last(k: int, act: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that calls `act` for the elements of kind k."""

    @inlined
    def run(ints: Ints, floats: Array, at: Ints, m: Motion, out: Any) -> None:
        act(ints, floats, at[k], at[k + 1], m, out)

    return run


def _then(k: int, act: Callable[..., Any], rest: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that calls `act` for the elements of kind k, and then `rest`."""

    @inlined
    def run(ints: Ints, floats: Array, at: Ints, m: Motion, out: Any) -> None:
        act(ints, floats, at[k], at[k + 1], m, out)
        rest(ints, floats, at, m, out)

    return run


def sum_of_kinds(name: str, modules: Iterable[Any]) -> Callable[..., Any]:
    """Return the kernel  total(ints, floats, at, m)  that adds up what the kernels `name` of the modules return."""
    total: Callable[..., Any] = _zero
    for k, module in reversed(list(enumerate(modules))):
        if hasattr(module, name):
            total = _plus(k, getattr(module, name), total)
    return total


@inlined
def _zero(ints: Ints, floats: Array, at: Ints, m: Motion) -> float:
    """Return the sum over no kind."""
    return 0.0


def _plus(k: int, value: Callable[..., Any], rest: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that adds `value` of the elements of kind k to `rest`."""

    @inlined
    def total(ints: Ints, floats: Array, at: Ints, m: Motion) -> float:
        return value(ints, floats, at[k], at[k + 1], m) + rest(ints, floats, at, m)  # type: ignore[no-any-return]

    return total


SEPARATE = (contact_force,)
"""Modules whose kernels have routines of their own, so that models without these elements do not compile them."""
_MODULES = tuple(None if module in SEPARATE else module for _, module in MODULES)
_CONTACTS = tuple(module if module is contact_force else None for _, module in MODULES)
measure_loads = each_kind("measure", _MODULES)
add_loads = each_kind("add_forces", _MODULES)
put_angle_rates = each_kind("put_angle_rates", _MODULES)
potential_of_loads = sum_of_kinds("potential", _MODULES)
add_tangents = each_kind("add_tangent", _MODULES)
add_declared_tangents = each_kind("add_declared_tangent", _MODULES)
add_contacts = each_kind("add_forces", _CONTACTS)
put_contact_rates = each_kind("put_angle_rates", _CONTACTS)
add_contact_tangents = each_kind("add_tangent", _CONTACTS)
