r"""What the name of a signal means: part.quantity, where the part is a joint, a force element or a block; or the name of a sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, Coordinate, coordinates_of
from haugmbd.constraints.joint import Joint
from haugmbd.control.block import Block
from haugmbd.deprecated import did_you_mean
from haugmbd.forces.base import ForceElement

RATE = "rate"
OF_JOINTS = (ANGLE, DISPLACEMENT, RATE, f"{ANGLE}_{RATE}", f"{DISPLACEMENT}_{RATE}")
"""Quantities of a joint; the last two are those of a joint that has both. Where it has several of a kind: angle_1, angle_2_rate, ..."""

MEASURED = {"TSDA": ("length", "rate"), "LinearActuator": ("length", "rate"), "RSDA": ("angle", "rate")}
"""Quantities that the kernel of a force element measures in any case."""
_COMMON = ("length", "displacement", "angle", "rate", "force", "torque", "power", "point")
OF_LOADS = (*_COMMON, "indentation", "normal_force", "friction_force", "slip", "coordinates", "rates", "forces")
POSITIONS = ("length", "displacement", "angle", "point", "indentation", "coordinates")
"""Quantities of a force element that do not depend on velocities."""


@runtime_checkable
class SensorLike(Protocol):
    """A sensor: a function of time and state with a name."""

    name: str

    def function(self, t: float, state: Any, /) -> Any: ...
    def value(self, state: Any) -> Any: ...


class JointSignal(NamedTuple):
    """A coordinate of a joint, or its rate."""

    coordinate: Coordinate
    is_rate: bool


class LoadSignal(NamedTuple):
    """A quantity of a force element, as `ForceElement.quantities` has it."""

    load: ForceElement
    quantity: str


class OutputSignal(NamedTuple):
    """An output of a block."""

    block: Block
    output: str


class SensorSignal(NamedTuple):
    """A sensor: an object with `value(state)`."""

    sensor: Any


Signal = JointSignal | LoadSignal | OutputSignal | SensorSignal


class Scope(NamedTuple):
    """The parts that signals may be of, by name."""

    joints: Mapping[str, Joint]
    loads: Mapping[str, ForceElement]
    blocks: Mapping[str, Block]
    sensors: Mapping[str, Any]

    def resolve(self, name: str) -> Signal | str:
        """Return the signal of a name, or a text on what is wrong with it."""
        found: list[Signal] = [SensorSignal(self.sensors[name])] if name in self.sensors else []
        wrong: list[str] = []
        for part, quantity in _splits(name):
            if part in self.joints:
                _keep(_joint_signal(self.joints[part], quantity), found, wrong)
            if part in self.loads:
                _keep(_load_signal(self.loads[part], quantity), found, wrong)
            if part in self.blocks:
                _keep(_output_signal(self.blocks[part], quantity), found, wrong)
        if len(found) == 1:
            return found[0]
        if found:
            return f"signal {name!r} is the name of {len(found)} things: give the parts names of their own"
        return wrong[0] if wrong else self._unknown(name)

    def is_meant(self, text: str) -> bool:
        """Return whether a text in a function is the name of a signal, as far as its part."""
        return text in self.sensors or any(
            part in names and quantity.isidentifier()
            for part, quantity in _splits(text)
            for names in (self.joints, self.loads, self.blocks)
        )

    def _unknown(self, name: str) -> str:
        known = [*self.sensors, *(f"{joint}.{what}" for joint in self.joints for what in OF_JOINTS[:3])]
        known += [f"{load}.{what}" for load in self.loads for what in OF_LOADS[:6]]
        known += [f"{block.name}.{output}" for block in self.blocks.values() for output in block.outputs]
        return f"there is no signal {name!r}{did_you_mean(name, known)}"


def _splits(name: str) -> list[tuple[str, str]]:
    """Return the ways to read a name as part.quantity; names of parts may contain points."""
    return [(name[:k], name[k + 1 :]) for k, letter in enumerate(name) if letter == "."]


def _keep(read: Signal | str, found: list[Signal], wrong: list[str]) -> None:
    """Add what was read to one of the lists."""
    if isinstance(read, str):
        wrong.append(read)
    else:
        found.append(read)


def _joint_signal(joint: Joint, quantity: str) -> JointSignal | str:
    """Return the signal of a joint, or what is wrong."""
    of_joint = f"joint {joint.name!r} ({type(joint).__name__})"
    ways = coordinates_of(joint)
    several = [what for what in (ANGLE, DISPLACEMENT) if len(ways[what]) > 1]
    numbered = {f"{what}_{n}": (what, n) for what in several for n in range(1, len(ways[what]) + 1)}
    coordinate = quantity.removesuffix(f"_{RATE}")
    if coordinate in numbered:
        return JointSignal(Coordinate(joint, *numbered[coordinate]), is_rate=quantity != coordinate)
    names = [what for what in (ANGLE, DISPLACEMENT) for _ in ways[what]]
    if quantity not in OF_JOINTS:
        own = (*(what for what in dict.fromkeys(names) if what not in several), *numbered)
        has = f"it has {', '.join(own)} and {'rates of them' if len(own) > 1 else RATE}" if own else "it has none"
        return f"{of_joint} has no signal {quantity!r}{did_you_mean(quantity, (*OF_JOINTS, *numbered))}: {has}"
    if quantity == RATE:
        if len(names) != 1:
            take = ", ".join(f"{name}_{RATE}" for name in (*(what for what in ways if len(ways[what]) == 1), *numbered))
            return f"{of_joint} has {len(names)} coordinates, so that its rate is not one" + (f": take {take}" if take else "")
        return JointSignal(Coordinate(joint, names[0]), is_rate=True)
    if len(ways[coordinate]) != 1:
        has = " and ".join(names) or "no coordinate"
        take = ", ".join(f"{name}{quantity.removeprefix(coordinate)}" for name in numbered if name.startswith(coordinate))
        return f"{of_joint} has {has}, so that {quantity!r} is not one number" + (f": take {take}" if take else "")
    return JointSignal(Coordinate(joint, coordinate), is_rate=quantity != coordinate)


def _load_signal(load: ForceElement, quantity: str) -> LoadSignal | str:
    """Return the signal of a force element, or what is wrong."""
    if quantity not in OF_LOADS:
        return f"load {load.name!r} has no signal {quantity!r}{did_you_mean(quantity, OF_LOADS)}: loads have {', '.join(OF_LOADS)}"
    return LoadSignal(load, quantity)


def _output_signal(block: Block, quantity: str) -> OutputSignal | str:
    """Return the signal of a block, or what is wrong."""
    if quantity not in block.outputs:
        has = ", ".join(block.outputs) or "none"
        return f"{block.where} has no output {quantity!r}{did_you_mean(quantity, block.outputs)}: it has {has}"
    return OutputSignal(block, quantity)
