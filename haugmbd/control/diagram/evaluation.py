r"""Signals, outputs and rates of the blocks at one instant, each evaluated once, when it is needed.

A function reads `signals["pin.angle"]`. The output of another block is evaluated then, so that blocks follow each other in the order of
their signals. A signal that needs itself is an algebraic loop, and is refused with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from types import FunctionType
from typing import Any

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.control.block import FORM, Block
from haugmbd.control.diagram.switched_rate import switched_rate
from haugmbd.control.joint_signal import measure_joint
from haugmbd.control.output import BlockOutput
from haugmbd.control.output_values import with_outputs
from haugmbd.control.sampled import Sampled
from haugmbd.control.signals import MEASURED, DynamicSignal, JointSignal, LoadSignal, OutputSignal, SensorSignal
from haugmbd.drivers.driver import shown
from haugmbd.errors import SimulationError

SAME_TURN = 3.0
"""[rad] A measured angle that is nearer than this to a counted one is the nearest of its turns: they are 2 pi apart."""

MOST_SHOWN = 6
"""Numbers of a wrong value that are shown one by one."""


class AlgebraicLoop(SimulationError):
    """Signals that depend on each other at the same instant;  cycle: their names."""

    cycle: frozenset[str] = frozenset()


class UnknownSignal(SimulationError):
    """A name that is not a signal."""


class Instant(Mapping[str, Any]):
    """The blocks of a network at one instant: t, the flat state y, and the signals by name.

    measured: the signals of force elements that compiled code has measured, (ns, 2), or None
    memory: what the run remembers, for delays, or None;  due: sampled blocks that are called now
    left: whether outputs of delays are those before a jump at t; by default at the end of a step that a stop ends
    for_forces: whether the values go to force elements, so that nothing may depend on what the forces give
    known: the blocks with the same bodies and other states of blocks, whose joint coordinates need not be measured again
    """

    def __init__(
        self,
        network: Any,
        t: float,
        y: Array,
        *,
        measured: Array | None = None,
        memory: Any = None,
        due: tuple[Sampled, ...] = (),
        left: bool | None = None,
        known: Instant | None = None,
        for_forces: bool = False,
    ) -> None:
        self.network, self.t, self.y, self.measured, self.memory = network, t, y, measured, memory
        self._left = left
        self._due = list(due)
        self._values: dict[str, Any] = {}
        self._first = network.first(y)
        self._joints: dict[Any, tuple[float, float]] = {}
        self._known: dict[Any, tuple[float, float]] = {} if known is None else {**known._known, **known._joints}
        self._active: list[str] = []
        self._for_forces = for_forces
        self._y0 = y.copy() if due else y

    @property
    def left(self) -> bool:
        """Return whether outputs of delays are those before a jump."""
        return self._left if self._left is not None else self.memory is not None and self.memory.ends_at(self.t)

    def __iter__(self) -> Iterator[str]:
        return iter(self.network.signals)

    def __len__(self) -> int:
        return len(self.network.signals)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a signal. Raise SimulationError for an unknown name, and for an algebraic loop."""
        if name in self._values:
            return self._values[name]
        if name in self._active:
            cycle = [*self._active[self._active.index(name) :], name]
            what = "algebraic loop: " + " needs ".join(map(repr, cycle)) + " at the same instant"
            error = AlgebraicLoop(f"{what}. Give one of the blocks a state, such as a LowPass, or let it read something else.")
            error.cycle = frozenset(cycle)
            raise error
        signal = self.network.signals.get(name) or self.network.found_late(name)
        if signal is None:
            raise UnknownSignal(self.network.unknown(name))
        self._active.append(name)
        value = self._values[name] = self._value(signal)
        self._active.pop()
        return value

    def _value(self, signal: Any) -> Any:
        """Return the value of a signal."""
        if isinstance(signal, JointSignal):
            return self._coordinate(signal)
        if isinstance(signal, LoadSignal):
            return self._quantity(signal)
        if isinstance(signal, OutputSignal):
            return self._output(signal.block, signal.output)
        if isinstance(signal, DynamicSignal):
            return self._dynamic(signal)
        if isinstance(signal.sensor.function, str):
            return self[signal.sensor.function]
        assert isinstance(signal, SensorSignal)
        value = signal.sensor.value(self.network.state(self.t, self.y))
        return float(value) if value.shape == () else value

    def _dynamic(self, signal: DynamicSignal) -> Any:
        """Return what follows from the equations of motion, with the values that sampled blocks held before their calls now."""
        if self._for_forces:
            cycle = [*self._active, "the forces", *self._active[:1]]
            what = "algebraic loop: " + " needs ".join(map(repr, cycle)) + " at the same instant"
            error = AlgebraicLoop(f"{what}. Let a Sampled block read {self._active[-1]!r}, or a LowPass.")
            error.cycle = frozenset(cycle)
            raise error
        return self.network.dynamic(self.t, self._y0, signal)

    def _coordinate(self, signal: JointSignal) -> float:
        """Return the coordinate of a joint, or its rate; both are measured once."""
        key = signal.coordinate.key
        if key not in self._joints:
            places, turn = self.network.coordinates[key]
            near = float(self.y[self._first + turn]) if turn >= 0 else 0.0
            known = self._known.get(key)
            if known is None or not (turn < 0 or abs(known[0] - near) < SAME_TURN):
                known = measure_joint(self.y, places, near)
            self._joints[key] = known
        return self._joints[key][signal.is_rate]

    def _quantity(self, signal: LoadSignal) -> Any:
        """Return a quantity of a force element."""
        load = signal.load
        entry = self.network.entries[load.name]
        if self.measured is not None and len(self.measured) and signal.quantity in MEASURED.get(load.kind, ()):
            return float(self.measured[entry.signal, MEASURED[load.kind].index(signal.quantity)])
        bodies, own = self.network.states_of_load(entry, self.y[None])
        known = with_outputs(load, lambda output: np.array([self.number(output)]))
        found = known.quantities(np.array([self.t]), bodies, own)
        values = {**found.values, "power": found.power}
        if signal.quantity not in values:
            raise SimulationError(f"{load.where} has no {signal.quantity}: it has {', '.join(values)}")
        value = values[signal.quantity][0]
        return float(value) if np.ndim(value) == 0 else value

    def x(self, block: Block) -> Array:
        """Return the states of a block, as a copy; of a sampled block after its call, if it is called now."""
        if block in self._due:
            self._due.remove(block)
            self._call(block)
        first = self._first + self.network.at[block]
        states: Array = self.y[first : first + block.states].copy()
        return states

    def _call(self, block: Sampled) -> None:
        """Call a sampled block, and write its values to y."""
        own = self.network.columns(block, self.y)
        before = self.y[own].copy()
        arguments = (before,) if self.network.takes_values[block] else ()
        given = self._called(block, "update", block.update, *arguments)
        values = numbers(given)
        if values is None or values.size != block.states or values.ndim > 1 or not np.isfinite(values).all():
            wanted = "a finite number" if block.states == 1 else f"{block.states} finite numbers, as x0"
            what = shown(given) if values is None or values.size > MOST_SHOWN else values.tolist()
            raise SimulationError(f"{block.where}: update returns {what} at t = {self.t:.9g} s, must be {wanted}")
        self.y[own] = values

    def _output(self, block: Block, name: str) -> Any:
        """Return an output of a block: a finite number, or an array of them."""
        given = self._called(block, f"output {name!r}", block.outputs[name], self.x(block))
        shape = self.network.shapes.get(f"{block.name}.{name}")
        if isinstance(given, float) and isfinite(given) and not shape:  # most outputs: the rest finds what is wrong with others
            return float(given)
        value = numbers(given)
        if value is None or value.ndim > 1 or not np.isfinite(value).all() or (shape is not None and value.shape != shape):
            what = given if value is None else value.tolist()
            wanted = "a finite number, or a vector of them"
            if shape is not None and value is not None and value.shape != shape:
                wanted = f"{f'{shape[0]} finite numbers' if shape else 'a finite number'}, as at the modelled pose"
            raise SimulationError(f"{block.where}: output {name!r} is {shown(what)} at t = {self.t:.9g} s, must be {wanted}")
        return float(value) if value.shape == () else np.array(value, dtype=np.float64)

    def _called(self, block: Block, label: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function of a block returns; its exceptions are raised with a note."""
        try:
            compiled = not isinstance(function, FunctionType) and is_jitted(function)
            signals = self.record_of(block, label) if compiled else self
            return function(self.t, *arguments, signals)
        except UnknownSignal as error:
            raise SimulationError(f"{block.where}: {label} at t = {self.t:.9g} s: {error.message}") from None
        except SimulationError:
            raise
        except Exception as error:
            error.add_note(f"raised by {label} of {block.where}, a function of ({FORM}), at t = {self.t:.9g} s")
            raise

    def record_of(self, block: Block, label: str) -> Any:
        """Return the signals of a function of a block as one record, for functions compiled by Numba."""
        names = self.network.read_by[block, label]
        if not names:
            return np.zeros(1)
        record = np.zeros(1, dtype=[(name, np.float64) for name in names])
        for name in names:
            record[0][name] = self[name]
        return record[0]

    def number(self, output: BlockOutput) -> float:
        """Return an output that is used by a force element, or one number of it. Raise SimulationError if it is not a number."""
        value = self[output.label]
        if output.component is None and np.ndim(value) == 0:
            return float(value)
        if output.component is not None and np.ndim(value) == 1 and 0 <= output.component < len(value):
            return float(value[output.component])
        is_now = "a number" if np.ndim(value) == 0 else f"{len(value)} numbers"
        wanted = "one number" if output.component is None else f"its number {output.component}"
        raise SimulationError(f"{output.block.where}: output {output.name!r} is {is_now}, and {wanted} is needed")

    def rates_of(self, block: Block) -> Array:
        """Return what the derivative of a block gives, (n,) finite numbers."""
        assert block.derivative is not None
        given = self._called(block, "derivative", block.derivative, self.x(block))
        rate = numbers(given)
        if rate is None or rate.size != block.states or rate.ndim > 1 or not np.isfinite(rate).all():
            what = shown(given) if rate is None or rate.size > MOST_SHOWN else rate.tolist()
            wanted = "a finite number" if block.states == 1 else f"{block.states} finite numbers"
            raise SimulationError(f"{block.where}: derivative returns {what} at t = {self.t:.9g} s, must be {wanted}")
        return np.atleast_1d(rate)

    def rates(self, lines: Array | None = None) -> Array:
        """Return the rates of all states of the network: of the blocks, then of the turns that are counted.

        lines: of an implicit step x = past + c x', (n, 3) with past and c in the last columns; a rate that jumps takes its value in it
        """
        network = self.network
        out = np.zeros(network.size)
        for block in network.blocks:
            if block.derivative is None:
                continue
            first = network.at[block]
            out[first : first + block.states] = self.rates_of(block)
            if lines is not None and block.switch is not None:
                e, switch = self._called(block, "switch", block.switch, self.x(block))
                out[first] = switched_rate(float(e), float(switch), float(lines[first, 1]), float(lines[first, 2]))
        for signal in network.turning:
            out[network.coordinates[signal.coordinate.key][1]] = self._coordinate(signal)
        return out
