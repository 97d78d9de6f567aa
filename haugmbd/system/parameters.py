r"""Named parameters of a system: the values that its expressions read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from haugmbd.constraints.base import Primitive
from haugmbd.control.block import Block
from haugmbd.drivers.expression import Expression, ExpressionLaw
from haugmbd.forces.base import ForceElement


def expressions_of(equations: Iterable[Iterable[Primitive]], parts: Iterable[ForceElement | Block]) -> Iterator[Expression]:
    """Yield the expressions in drivers of joints, given by their equations, and in values of force elements and blocks."""
    drivers = {id(p.f): p.f for primitives in equations for p in primitives}
    drivers |= {id(driver): driver for part in parts for driver in part.drivers()}
    yield from (driver for driver in drivers.values() if isinstance(driver, Expression))


def bind_expressions(
    name: str, parameters: Mapping[str, float], equations: Iterable[Iterable[Primitive]], parts: Iterable[ForceElement | Block]
) -> None:
    """Give the expressions of a system the values of its parameters.

    Raise UsageError if one of them has other values, of another system.
    """
    parts = list(parts)
    for part in parts:
        user_function = part.user_function() if isinstance(part, ForceElement) else None
        if user_function is not None and isinstance(user_function.function, ExpressionLaw):
            user_function.function.bind(parameters)
    for expression in expressions_of(equations, parts):
        expression.bind(parameters, f"system {name!r}")
