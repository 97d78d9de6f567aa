"""One member of a batch as a system of its own: the parts of the model, with the member's values in place of some of them.

A part with other values is made by its `varied`; parts that refer to it (drivers and springs of a joint, all that is on a body) are
copied, so that they refer to the new one, and gears and belts are made anew where the axes of their joints give a sign or a tooth force.
What is compiled is a System like that of the user: its model, its faults and its results are those of a single run. Blocks know other
parts by their names, and are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from haugmbd.batches.parameters import GRAVITY, Parameter, expressions_of
from haugmbd.compiled.array_types import Ints
from haugmbd.drivers import Expression
from haugmbd.errors import UsageError
from haugmbd.model.model import Model
from haugmbd.system.system import System
from haugmbd.workspace.layout import FOR_MASSLESS, REFINES

CHANGES = "the topology of the member is another: "


def variant_model(model: Model, parameters: Sequence[Parameter], k: int) -> Model:
    """Return the compiled model of member k; the model itself if nothing varies.

    Raise ModelError with its faults, and UsageError if its topology is another.
    """
    if not parameters:
        return model
    found = variant_system(model, parameters, k).compile_quietly(
        check_pose=True, redundancy=model.redundancy.rule, tolerance=model.redundancy.given, solver=None
    )
    other = topology_difference(model, found)
    if other:
        raise UsageError(CHANGES + other)
    return found


def variant_system(model: Model, parameters: Sequence[Parameter], k: int) -> System:
    """Return the system of member k."""
    values: dict[int, dict[str, Any]] = {}
    for parameter in parameters:
        if parameter.part is not None:
            values.setdefault(id(parameter.part), {})[parameter.name] = parameter.values[k]
    named = {
        parameter.name: float(parameter.values[k])
        for parameter in parameters
        if parameter.part is None and parameter.name != GRAVITY
    }
    gravity = next(
        (parameter.values[k] for parameter in parameters if parameter.part is None and parameter.name == GRAVITY), model.gravity
    )
    new_names, memo, blocks = _exchanged(model, named)
    for body in model.bodies[1:]:
        memo[id(body)] = body.varied(**values[id(body)]) if id(body) in values else body
    parts: list[Any] = [*(entry.part for entry in model.joints.values()), *model.force_elements]
    for part in parts:
        if id(part) in values:
            _put_varied(part, values[id(part)], memo)
    system = System(model.name, gravity=tuple(np.asarray(gravity).tolist()))
    ground = model.bodies[0]
    system.ground = system.bodies[0] = ground
    bodies = [memo[id(body)] for body in model.bodies[1:]]
    copies: list[Any] = [deepcopy(part, memo) for part in parts]
    for number, part in enumerate(parts[: len(model.joints)]):
        if any(id(joint) in values for joint in part.needs()) or id(getattr(part, "profile", None)) in new_names:
            copies[number] = copies[number].remade()
    system.bodies += bodies  # as they are: force elements have added parts of their own already
    system.joints += copies[: len(model.joints)]
    system.loads += copies[len(model.joints) :]
    system.contacts += [deepcopy(contact, memo) for contact in model.contacts]
    system.blocks += blocks
    return system


def _exchanged(model: Model, named: dict[str, float]) -> tuple[dict[int, Expression], dict[int, Any], list[Any]]:
    """Return new expressions by the places of the old ones, what copies share or take in place of something, and the blocks."""
    new_names = {
        id(expression): renamed(expression, named)
        for expression in expressions_of(model)
        if not named.keys().isdisjoint(expression.names)
    }
    modelled = () if model.network is None else model.network.blocks
    changed = {id(block) for block in modelled if any(id(driver) in new_names for driver in block.drivers())}
    shared = [f for f in (*model.drivers, *user_functions(model)) if id(getattr(f, "block", None)) not in changed]
    memo: dict[int, Any] = {id(model.bodies[0]): model.bodies[0]}
    memo |= {id(function): function for function in shared} | new_names
    blocks = [deepcopy(block, dict(memo)) if id(block) in changed else block for block in modelled]
    memo |= {id(block): copy for block, copy in zip(modelled, blocks, strict=True)}
    return new_names, memo, blocks


def _put_varied(part: Any, values: dict[str, Any], memo: dict[int, Any]) -> None:
    """Let copies refer to the part with these values, and to its frames, in place of `part`."""
    varied = memo[id(part)] = deepcopy(part.varied(**values), memo)
    memo |= {id(getattr(part, name)): getattr(varied, name) for name in ("frame_i", "frame_j") if hasattr(part, name)}


def renamed(expression: Expression, named: dict[str, float]) -> Expression:
    """Return an expression with other values of its parameters."""
    return Expression(
        expression.text, parameters={**expression.parameters, **{n: x for n, x in named.items() if n in expression.names}}
    )


def user_functions(model: Model) -> Iterable[Any]:
    """Yield the functions of the user that force elements call, and their jacobians, but for their own methods: variants share them."""
    for entry in model.loads:
        user_function, jacobian = entry.load.user_function(), entry.load.jacobian
        functions = [each.function for each in (user_function, jacobian) if each is not None]
        yield from (function for function in functions if getattr(function, "__self__", None) is not entry.load)


def topology_difference(model: Model, other: Model) -> str:
    """Return in what the topology of a variant differs; "" if it is the same."""
    if other.redundancy.dropped != model.redundancy.dropped:
        return (
            f"{len(other.redundancy.dropped)} of its rows depend on the others, and {len(model.redundancy.dropped)} of the model's; "
            "an axis or a point fits less well, or better, than in the model"
        )
    if not np.array_equal(_flags(other), _flags(model)):
        return "it has other axes without inertia than the model"
    for name, what in (
        ("EDGES", "bodies that are joined"),
        ("ROW_KIND_STARTS", "kinds of rows"),
    ):
        if not np.array_equal(other.tables[name], model.tables[name]):
            return f"it has other {what} than the model"
    return ""


def _flags(model: Model) -> Ints:
    """Return the flags of a model; light bodies are no topology."""
    flags: Ints = model.tables["FLAGS"][0].copy()
    flags[REFINES] &= FOR_MASSLESS
    return flags
