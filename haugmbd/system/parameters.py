r"""Named parameters of a system: the values that its expressions read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from haugmbd.constraints.joint import Joint
from haugmbd.drivers.expression import Expression
from haugmbd.forces.base import ForceElement
from haugmbd.system.custom_joint import read_primitives


def expressions_of(joints: Iterable[Joint], loads: Iterable[ForceElement]) -> Iterator[Expression]:
    """Yield the expressions in drivers of joints and in values of force elements."""
    drivers = [p.f for joint in joints for p in read_primitives(joint)[0]]
    drivers += [driver for load in loads for driver in load.drivers()]
    yield from (driver for driver in drivers if isinstance(driver, Expression))


def bind_expressions(name: str, parameters: Mapping[str, float], joints: Iterable[Joint], loads: Iterable[ForceElement]) -> None:
    """Give the expressions of a system the values of its parameters.

    Raise UsageError if one of them has other values, of another system.
    """
    for expression in expressions_of(joints, loads):
        expression.bind(parameters, f"system {name!r}")
