r"""Parameters of a batch by their paths: "link.mass", "link.J_bar", "pin.point", "pin.axis", "spring.k", "gravity", or a named parameter.

    body.mass  body.J_bar        joint.point  joint.axis        element.k  element.c  ...        what a class lists as `variable`
    gravity                      the name of a parameter of the system that its expressions read

Values have one row for each member. All faults are reported at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.coordinate_function import CoordinateFunctionRow
from haugmbd.deprecated import did_you_mean
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.model.model import Model

GRAVITY = "gravity"
STATE = ("r", "p", "v", "omega_bar")
"""What belongs to a state, not to a model."""
TOPOLOGY = ("name", "i", "j", "body", "bodies", "joint", "joints", "solver", "redundancy")
"""What makes another topology."""

Shapes = tuple[tuple[int, ...], ...]


class Parameter(NamedTuple):
    """One parameter of a batch.

    path: as it was given;  part: the body, joint or force element, None for gravity and named parameters;  name: of the attribute
    values: (N, ...)
    """

    path: str
    part: Any
    name: str
    values: Array


class Variable(NamedTuple):
    """A path that a model has: its part, the name of the attribute, and the shapes of a value."""

    part: Any
    name: str
    shapes: Shapes


def variables_of(model: Model) -> dict[str, Variable]:
    """Return every path of a model."""
    found = {name: Variable(None, name, ((),)) for name in named_parameters(model)}
    found |= {GRAVITY: Variable(None, GRAVITY, ((3,),))}
    for part in parts_of(model):
        found |= {f"{part.name}.{name}": Variable(part, name, shapes) for name, shapes in part.variable.items()}
    return found


def parts_of(model: Model) -> Iterable[Any]:
    """Yield the bodies without the ground, the joints and the force elements of a model."""
    yield from model.bodies[1:]
    yield from (entry.part for entry in model.joints.values())
    yield from model.force_elements


def named_parameters(model: Model) -> dict[str, float]:
    """Return the parameters that expressions of a model read, with their values."""
    found: dict[str, float] = {}
    for expression in expressions_of(model):
        found |= expression.parameters
    return found


def expressions_of(model: Model) -> list[Expression]:
    """Return the expressions of a model: its drivers, setpoints, and functions of joint coordinates, such as profiles of cams."""
    rows = [label.primitive for label in model.labels] if model.has_rows_of(CoordinateFunctionRow) else []
    blocks = () if model.network is None else model.network.blocks
    set_points = (driver for block in blocks for driver in block.drivers())
    functions = [*model.drivers, *set_points, *(row.profile for row in rows if isinstance(row, CoordinateFunctionRow))]
    return [function for function in functions if isinstance(function, Expression)]


def read_parameters(model: Model, parameters: Any, members: int | None, caller: str = "batch") -> tuple[Parameter, ...]:
    """Return the parameters, with one row of values for each member. Raise UsageError with all faults.

    members: the number of members, if states give it;  caller: the function that the user has called, for the messages
    """
    if not isinstance(parameters, Mapping):
        raise UsageError(
            f"{caller}: parameters = {parameters!r:.60} must be a dict of arrays by path, such as {{'link.mass': masses}} with one value "
            "a member."
        )
    if parameters and model.network is not None and model.network.scope.sensors:
        names = ", ".join(map(repr, model.network.scope.sensors))
        raise UsageError(
            f"{caller}: blocks of model {model.name!r} read the sensors {names}, which belong to its own parts: vary the states only, "
            "or give sweep a function that builds a system for each cell."
        )
    variables, faults, read = variables_of(model), [], []
    for path, value in parameters.items():
        if path not in variables:
            faults.append(unknown(model, path, variables))
            continue
        if fault := _built_on(model, path, variables[path]):
            faults.append(fault)
            continue
        values, fault = _read_values(path, value, variables[path])
        if fault:
            faults.append(fault)
        else:
            read.append(Parameter(path, variables[path].part, variables[path].name, values))
    lengths = Counter(len(parameter.values) for parameter in read)
    n = members if members is not None or not lengths else lengths.most_common(1)[0][0]
    source = "states" if members is not None else "the others"
    faults += [
        f"{parameter.path!r} has {len(parameter.values)} values, and {source} have {n} members: give one value for each member"
        for parameter in read
        if len(parameter.values) != n
    ]
    if faults:
        raise UsageError(f"{caller}: {'; '.join(faults)}.")
    return tuple(read)


PATHS = (
    "paths are 'gravity', 'BODY.mass', 'JOINT.point', 'SPRING.k', and names of the parameters that an Expression of time reads; other "
    "parameters of a model file are in its numbers: build by load_model(path, parameters=...) for each value"
)
"""What can be given in place of an unknown path."""


def _built_on(model: Model, path: str, wanted: Variable) -> str:
    """Return a fault if a force element has built parts of its own on what varies; "" if none has."""
    for entry in model.loads:
        if any(joint is wanted.part and name == wanted.name for joint, name in entry.load.built_on()):
            of = f"{type(entry.load).__name__} {entry.load.name!r}"
            return f"{path!r}: {of} has its rotor on this {wanted.name}, where it would stay: build a system for each value, or use sweep"
    return ""


def unknown(model: Model, path: Any, known: Mapping[str, Variable]) -> str:
    """Return what is wrong with a path that a model does not have."""
    if not isinstance(path, str):
        return f"{path!r} is not a path of a parameter: give a string, such as 'link.mass'"
    name, dot, attribute = path.rpartition(".")
    parts = [part for part in parts_of(model) if part.name == name]
    if not dot or not parts:
        hint = did_you_mean(path, known)
        example = "" if hint else f": {PATHS}"
        return f"{path!r} is not a parameter of model {model.name!r}{hint}{example}"
    if attribute in TOPOLOGY:
        return f"{path!r} changes the topology, and a batch has one: build and compile another system"
    if attribute in STATE:
        return f"{path!r} belongs to the state: give it in states=, one row a member"
    has = [f"{one}" for part in parts for one in part.variable]
    kind = type(parts[0]).__name__
    may = f"it has {', '.join(map(repr, has))}" if has else f"a batch cannot vary a {kind}: build a system for each value"
    return f"{path!r} is not a parameter of {kind} {name!r}{did_you_mean(attribute, has)}: {may}"


def _read_values(path: str, value: Any, wanted: Variable) -> tuple[Array, str]:
    """Return the values (N, ...), and what is wrong with them; "" if nothing is."""
    shapes = " or ".join(str(("N", *shape)).replace("'", "") for shape in wanted.shapes)
    array = numbers(value)
    if array is None:
        return np.zeros(0), f"{path!r} is {value!r:.60}, and must be an array of numbers of shape {shapes}"
    if array.ndim == 0 or array.shape[1:] not in wanted.shapes:
        return np.zeros(0), f"{path!r} has shape {array.shape}, and must have {shapes}: one value for each member"
    bad = np.nonzero(~np.isfinite(array).all(axis=tuple(range(1, array.ndim))))[0]
    if len(bad):
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        return np.zeros(0), f"{path!r} is not finite for member {bad[0]}{more}"
    return array, ""
