r"""Paths of a System: the numbers of its parts, by the arguments of their constructors.

    "bob.r[0]"  "bob.omega_bar[2]"  "pin.axis"  "wheel.radius"  "gear.ratio"  "pid.kp"  "drive.f"  "spring.k"  "gravity"

What `batch` varies is among them. A system of other values is made by the same calls with other numbers, in the order of the parts, so
that a point keeps its place in the global frame where a body moves, and what is derived from a number follows it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from haugmbd.batches.parameters import GRAVITY, expressions_of
from haugmbd.batches.variant import renamed
from haugmbd.bodies.body import Body
from haugmbd.bodies.part import Part, call_of
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.control.output import BlockOutput
from haugmbd.deprecated import did_you_mean
from haugmbd.drivers.driver import Driver
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.forces.rope import SlackRope
from haugmbd.model.model import Model
from haugmbd.system.system import System

OF_BODY = ("mass", "J_bar", "r", "p", "v", "omega_bar", "exhaust")
"""Arguments of a body that are numbers; it keeps them as attributes."""

SYMMETRIC = ("J_bar", "K", "C")
"""Matrices that are symmetric."""


class Number(NamedTuple):
    """A number, or an array of numbers, that may vary.  part: its part, None for gravity and named parameters;  value: as it is"""

    part: Any
    name: str
    value: Array


def numbers_of(system: System, model: Model) -> dict[str, Number]:
    """Return all numbers that may vary, by their paths."""
    numbers = {
        name: Number(None, name, np.array(x)) for expression in expressions_of(model) for name, x in expression.parameters.items()
    }
    numbers[GRAVITY] = Number(None, GRAVITY, np.array(model.gravity, dtype=np.float64))
    for part in parts_of(system):
        for name, value in arguments_of_part(part).items():
            array = _numbers(value)
            if array is not None:
                numbers[f"{part.name}.{name}"] = Number(part, name, array)
    return numbers


def parts_of(system: System) -> Iterator[Any]:
    """Yield the parts of a system that were added, without the ground, and without what other parts have added."""
    own = {id(one) for load in system.loads for one in load.parts()}
    for part in (*system.bodies[1:], *system.blocks, *system.joints, *system.loads, *system.contacts):
        if id(part) not in own and not isinstance(part, MassInTime):
            yield part.rope if isinstance(part, SlackRope) else part


def arguments_of_part(part: Any) -> dict[str, Any]:
    """Return the arguments of the constructor of a part, by name, with what was set since; {} where they are not known."""
    if isinstance(part, Body):
        return {name: getattr(part, name) for name in OF_BODY}
    variable = getattr(part, "variable", {})
    found = {name: getattr(part, name) for name in variable if hasattr(part, name)}
    call = call_of(part)
    if call is None:
        return found
    bound: Any = signature_of(part.__class__).bind(part, *call.positional, **call.named)
    bound.apply_defaults()
    given = {name: value for name, value in list(bound.arguments.items())[2:] if name not in ("args", "kwargs")}
    return given | {name: value for name, value in found.items() if _numbers(value) is not None}


@cache
def signature_of(kind: Any) -> inspect.Signature:
    """Return the signature of the constructor of a class."""
    return inspect.signature(getattr(kind, "__init__"))  # noqa: B009  the constructor of an instance is no constructor of a class


def _numbers(value: Any) -> Array | None:
    """Return a number or an array of finite numbers; None for what is none."""
    if value is None or isinstance(value, bool | str | Driver | Part) or callable(value):
        return None
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.size and np.isfinite(array).all() else None


def unknown_path(system: System, path: str, known: Mapping[str, Number]) -> str:
    """Return what is wrong with a path that a system does not have."""
    owner, _, name = path.rpartition(".")
    parts = [part for part in parts_of(system) if part.name == owner]
    if not parts:
        such = "paths are 'BODY.mass', 'JOINT.point[0]', 'BLOCK.kp'"
        return f"{path!r} is not a parameter of system {system.name!r}{did_you_mean(path, known)}: {such}"
    has = [one for one in arguments_of_part(parts[0]) if f"{owner}.{one}" in known]
    may = f"it has {', '.join(map(repr, has))}" if has else "it has no numbers that are known"
    more = (
        ", and a function that builds the system can vary all"
        if not isinstance(parts[0], Body) and call_of(parts[0]) is None
        else ""
    )
    return f"{path!r} is not a number of {type(parts[0]).__name__} {owner!r}{did_you_mean(name, has)}: {may}{more}"


def system_with(system: System, model: Model, values: Mapping[str, Array], known: Mapping[str, Number]) -> System:
    """Return the system in which the numbers of some paths have other values."""
    return _Copy(system, model, [(known[path], value) for path, value in values.items()]).made()


def put_component(name: str, value: Array, index: tuple[int, ...], x: float) -> None:
    """Write one number of an array; of a matrix that is symmetric by its meaning both numbers, such as a product of inertia."""
    value[index] = x
    if name.rpartition(".")[2] in SYMMETRIC and len(index) == 2:  # noqa: PLR2004  a matrix
        value[index[::-1]] = x


class _Copy:
    """The parts of a system, made again.

    changes: numbers of parts, with their new values
    stands_for: what takes the place of a part, an expression or the ground of the system, by its id
    """

    def __init__(self, system: System, model: Model, changes: list[tuple[Number, Array]]) -> None:
        self.system, self.changes = system, [(number, x) for number, x in changes if number.part is not None]
        of_system = {number.name: x for number, x in changes if number.part is None}
        gravity = of_system.pop(GRAVITY, system.gravity)
        named = {name: float(x) for name, x in of_system.items()}
        self.copy = System(system.name, gravity=gravity, parameters=dict(system.parameters), tolerance=system.tolerance)
        self.copy.ground = self.copy.bodies[0] = system.ground
        self.stands_for: dict[int, Any] = {id(system.ground): system.ground}
        for expression in expressions_of(model):
            if not named.keys().isdisjoint(expression.names):
                self.stands_for[id(expression)] = renamed(expression, named)

    def made(self) -> System:
        """Return the system; parts that are off are off in it."""
        off = set(map(id, self.system.inactive))
        for sensor in self.system.sensors:
            self.copy.add(sensor)
        for part in parts_of(self.system):
            if isinstance(part, Joint):
                part.put_on_ground(self.system.ground)
            again = self.stands_for[id(part)] = self.made_part(part)
            joint_is_off = getattr(part, "active", True) is False  # also the rope of a load
            self.copy.add(again, active=not (joint_is_off or id(part) in off))
            if hasattr(part, "parts") and callable(part.parts) and not isinstance(part, Driver):  # bodies and joints of its own
                self.stands_for |= {id(old): new for old, new in zip(part.parts(), again.parts(), strict=True)}
        return self.copy

    def made_part(self, part: Any) -> Any:
        """Return a part with its values, made by the call that has made it; a copy of one that was made otherwise."""
        changes = {number.name: value for number, value in self.changes if number.part is part}
        if isinstance(part, Body):
            return _body_with(part, changes) if changes else part
        call = call_of(part)
        if call is None:
            again = deepcopy(part, dict(self.stands_for))
            return again.varied(**changes) if changes else again
        # numbers that were set since the call, then those that vary
        own = arguments_of_part(part)
        values = {name: own[name] for name in getattr(part, "variable", {}) if name in own} | changes
        signature = signature_of(part.__class__)
        bound: Any = signature.bind(part, *call.positional, **call.named)
        bound.arguments |= {name: _like(value) for name, value in values.items() if name in signature.parameters}
        positional, named = bound.args[1:], bound.kwargs
        again = type(part)(*map(self.mapped, positional), **{name: self.mapped(x) for name, x in named.items()})
        # numbers that are derived from others in the constructor
        derived = {name: value for name, value in changes.items() if name not in signature.parameters}
        return again.varied(**derived) if derived else again

    def mapped(self, x: Any) -> Any:
        """Return an argument with the parts of the copy in place of those of the system."""
        if id(x) in self.stands_for:
            return self.stands_for[id(x)]
        if isinstance(x, tuple) and not hasattr(x, "_fields"):
            return tuple(map(self.mapped, x))
        if isinstance(x, list):
            return list(map(self.mapped, x))
        if isinstance(x, dict):
            return {self.mapped(key): self.mapped(value) for key, value in x.items()}
        is_number = isinstance(x, np.ndarray | float | int | str | None)
        is_driver = isinstance(x, Driver) and not isinstance(x, BlockOutput)
        is_function = callable(x) and not isinstance(x, Part | BlockOutput)
        if is_number or is_driver or is_function:  # it refers to no part
            return x
        return deepcopy(x, dict(self.stands_for))


def _body_with(body: Body, changes: Mapping[str, Any]) -> Body:
    """Return a body with other numbers."""
    values = {name: getattr(body, name) for name in OF_BODY} | dict(changes)
    mass, J_bar = float(values.pop("mass")), values.pop("J_bar")
    return Body(body.name, mass, J_bar, **values, shape=body.shape)


def _like(value: Any) -> Any:
    """Return a number for an array without axes; a zero as in `variations.given_values`."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return float(value) or np.float64(0.0)
    return value
