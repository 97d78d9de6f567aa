"""A force element with other values in place of outputs of blocks: those on a trajectory, or at an instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from haugmbd.bodies.part import changed
from haugmbd.compiled.array_types import Array
from haugmbd.control.output import BlockOutput, RecordedOutput
from haugmbd.forces.base import ForceElement
from haugmbd.forces.user_function import Value


def with_outputs(load: ForceElement, values: Callable[[BlockOutput], Array]) -> ForceElement:
    """Return the element with `values(output)` (nt,) in place of each output of a block; the same element if it has none."""
    found = [name for name, value in vars(load).items() if isinstance(value, Value) and any(map(is_output, value.drivers))]
    if not found:
        return load
    recorded = {}
    for name in found:
        value: Value = getattr(load, name)
        drivers = tuple(RecordedOutput(values(driver)) if isinstance(driver, BlockOutput) else driver for driver in value.drivers)
        recorded[name] = value._replace(drivers=drivers)
    return changed(load, **recorded)


def is_output(driver: Any) -> bool:
    """Return whether a driver is the output of a block."""
    return isinstance(driver, BlockOutput)
