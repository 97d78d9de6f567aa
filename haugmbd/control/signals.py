r"""What the name of a signal means: part.quantity, where the part is a joint, a force element or a block; or the name of a sensor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT, Coordinate, coordinates_of
from haugmbd.constraints.joint import Joint
from haugmbd.control.block import Block
from haugmbd.deprecated import did_you_mean
from haugmbd.forces.base import ForceElement

RATE = "rate"
OF_JOINTS = (ANGLE, DISPLACEMENT, RATE, f"{ANGLE}_{RATE}", f"{DISPLACEMENT}_{RATE}")
"""Quantities of a joint; the last two are those of a joint that has both. Where it has several of a kind: angle_1, angle_2_rate, ..."""

CARRIED = ("force", "torque")
"""What a joint exerts on its body j, global, the torque about its point; of a driver one number, positive along the coordinate."""
OF_BODIES = ("acceleration", "angular_acceleration")
"""Of the centre of mass, global [m/s2]; about the axes of the body [rad/s2]."""
COMPONENTS = {".x": 0, ".y": 1, ".z": 2}

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


class DynamicSignal(NamedTuple):
    """What a joint carries, what a driver takes, or how a body accelerates: it follows from the equations of motion.

    part: name of the joint, driver or body;  kind: "joint", "driver" or "body";  component: of a vector, None for all
    """

    part: str
    kind: str
    quantity: str
    component: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the value."""
        return () if self.kind == "driver" or self.component is not None else (3,)


class SensorSignal(NamedTuple):
    """A sensor: an object with `value(state)`."""

    sensor: Any


Signal = JointSignal | LoadSignal | OutputSignal | DynamicSignal | SensorSignal


class Scope(NamedTuple):
    """The parts that signals may be of, by name."""

    joints: Mapping[str, Joint]
    loads: Mapping[str, ForceElement]
    blocks: Mapping[str, Block]
    sensors: Mapping[str, Any]
    bodies: Mapping[str, Any] = MappingProxyType({})
    contacts: Mapping[str, Any] = MappingProxyType({})

    def resolve(self, name: str) -> Signal | str:
        """Return the signal of a name, or a text on what is wrong with it."""
        found: list[Signal] = [SensorSignal(self.sensors[name])] if name in self.sensors else []
        wrong: list[str] = []
        for part, quantity in _splits(name):
            if part in self.joints:
                carried = _carried(self.joints[part], quantity)
                _keep(_joint_signal(self.joints[part], quantity) if carried is None else carried, found, wrong)
            if part in self.contacts and _base(quantity) in CARRIED:
                found.append(DynamicSignal(part, "joint", _base(quantity), _component(quantity)))
            if part in self.bodies and _base(quantity) in OF_BODIES:
                found.append(DynamicSignal(part, "body", _base(quantity), _component(quantity)))
            if part in self.loads and not (part in self.contacts and _base(quantity) in CARRIED):
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
            (part in names and _base(quantity).isidentifier())
            or (part in self.bodies and _base(quantity) in OF_BODIES)
            or (part in self.contacts and _base(quantity) in CARRIED)
            for part, quantity in _splits(text)
            for names in (self.joints, self.loads, self.blocks)
        )

    def _unknown(self, name: str) -> str:
        known = [*self.sensors, *(f"{joint}.{what}" for joint in self.joints for what in (*OF_JOINTS[:3], *CARRIED))]
        known += [f"{body}.{what}" for body in self.bodies for what in OF_BODIES]
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


def _base(quantity: str) -> str:
    """Return a quantity without its component: force of force.x."""
    return quantity[:-2] if quantity[-2:] in COMPONENTS else quantity


def _component(quantity: str) -> int | None:
    """Return the number of a component, None for all of them."""
    return COMPONENTS.get(quantity[-2:])


def _carried(joint: Joint, quantity: str) -> DynamicSignal | str | None:
    """Return the signal of what a joint carries; None for another quantity, and what is wrong with a component of a driver."""
    base = _base(quantity)
    if base not in CARRIED:
        return None
    if not joint.needs() or getattr(joint, "terms", None) is not None:
        return DynamicSignal(joint.name, "joint", base, _component(quantity))
    if base != quantity:
        return f"driver {joint.name!r} has the number {base!r}, which has no components"
    return DynamicSignal(joint.name, "driver", base)


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
        has = f"it has {', '.join(own)} and {'rates of them' if len(own) > 1 else RATE}" if own else "it has no coordinate"
        known = (*OF_JOINTS, *numbered, *CARRIED)
        return f"{of_joint} has no signal {quantity!r}{did_you_mean(quantity, known)}: {has}, and {' and '.join(CARRIED)}"
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
    if load.impulsive and quantity in CARRIED:
        return (
            f"load {load.name!r} is rigid, and carries nothing as a load: its stops are contacts, such as "
            f"'{load.name} upper.{quantity}', which carry while they are closed"
        )
    return LoadSignal(load, quantity)


def _output_signal(block: Block, quantity: str) -> OutputSignal | str:
    """Return the signal of a block, or what is wrong."""
    if quantity not in block.outputs:
        has = ", ".join(block.outputs) or "none"
        return f"{block.where} has no output {quantity!r}{did_you_mean(quantity, block.outputs)}: it has {has}"
    return OutputSignal(block, quantity)
