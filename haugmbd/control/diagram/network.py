r"""All blocks of a model: where their states, signals and outputs are, and what is wrong with them.

    y = ( ...;  states of block 1, block 2, ...;  turns of the joints whose angles are signals )           the last numbers of y
    evaluation      read the signals, write x' and the outputs that force elements use to the driver table

The angle of a joint goes through any number of turns: its rate is integrated, and selects the turn, as in an RSDA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.control.block import Block
from haugmbd.control.delay_line import DelayLine
from haugmbd.control.diagram.evaluation import Instant
from haugmbd.control.diagram.implicit import StateSolver
from haugmbd.control.diagram.motion_jets import motion_jet, rate_jet
from haugmbd.control.joint_signal import JointPlaces, places_of
from haugmbd.control.output import BlockOutput, RecordedOutput
from haugmbd.control.sampled import OUT, SAME, HeldNumber, HeldVector, Sampled
from haugmbd.control.signals import DynamicSignal, JointSignal, OutputSignal, Scope, Signal
from haugmbd.workspace.layout import WIDTH


@dataclass(eq=False)
class Network:
    """The blocks of a model.

    signals: what each name means;  read_by: the names that each function of a block reads;  at: the first state of each block
    coordinates: of each joint coordinate that is a signal, its numbers and the state that counts its turns, -1 for none
    turning: the signals whose rates those states integrate;  x0: initial states
    entries: the force elements by name;  outputs: the outputs that they use, with their places in the driver table
    motions: those that joints are driven by, whose f, f' and f'' are written there
    masses: those that are masses or moments of inertia, with f and f'
    vectors: the outputs that are vectors;  shapes: of all outputs, at the modelled pose
    place: of the first state there;  n_states: internal states of the model
    make_state: the State of a flat vector;  alone: whether only motions are wanted, where no force is evaluated
    dynamics: the value of a DynamicSignal at (t, y), by the model of a run; None before one begins
    """

    blocks: tuple[Block, ...]
    scope: Scope
    bodies: Mapping[Body, int]
    signals: dict[str, Signal] = field(default_factory=dict)
    read_by: dict[tuple[Block, str], tuple[str, ...]] = field(default_factory=dict)
    at: dict[Block, int] = field(default_factory=dict)
    coordinates: dict[Any, tuple[JointPlaces, int]] = field(default_factory=dict)
    turning: tuple[JointSignal, ...] = ()
    x0: Array = field(default_factory=lambda: np.zeros(0))
    entries: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[tuple[int, BlockOutput], ...] = ()
    motions: tuple[tuple[int, BlockOutput], ...] = ()
    masses: tuple[tuple[int, BlockOutput], ...] = ()
    vectors: tuple[str, ...] = ()
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    place: int = 0
    alone: bool = False
    n_states: int = 0
    make_state: Callable[[float, Array, int], Any] | None = None
    dynamics: Callable[[float, Array, DynamicSignal], Any] | None = None
    _in_dynamics = False
    """Whether the equations of motion are being solved for a signal: only what forces need is evaluated then."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies: joint coordinates as they are, whose keys belong to one process."""
        signals = [one for one in (*self.signals.values(), *self.turning) if isinstance(one, JointSignal)]
        known = {one.coordinate.key: (one.coordinate, self.coordinates[one.coordinate.key]) for one in signals}
        return {**vars(self), "coordinates": tuple(known.values()), "dynamics": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy, whose coordinates are those of its own joints."""
        vars(self).update(state, coordinates={coordinate.key: placed for coordinate, placed in state["coordinates"]})

    @property
    def size(self) -> int:
        """Return the number of states, with those that count turns."""
        return len(self.x0)

    @cached_property
    def sampled(self) -> tuple[Sampled, ...]:
        """Return the sampled blocks."""
        return tuple(block for block in self.blocks if isinstance(block, Sampled))

    @cached_property
    def takes_values(self) -> dict[Sampled, bool]:
        """Return whether the update of each sampled block takes the values so far."""
        return {block: block.takes_values for block in self.sampled}

    @cached_property
    def delays(self) -> tuple[DelayLine, ...]:
        """Return the delay lines."""
        return tuple(block for block in self.blocks if isinstance(block, DelayLine))

    @property
    def near(self) -> float:
        """Return by how much times of calls and delays may differ by rounding [s]."""
        return SAME * min([*(block.period for block in self.sampled), *(block.delay for block in self.delays), np.inf])

    @cached_property
    def integrated(self) -> Any:
        """Return which states have a rate, and are not held between calls, (nx,) of bool."""
        moves = np.ones(self.size, dtype=bool)
        for block in self.blocks:
            if block.derivative is None:
                moves[self.at[block] : self.at[block] + block.states] = False
        return moves

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """Return the names of the outputs that no evaluation of rates and forces calls, without held values and delays."""
        reached = {output.label for _, output in (*self.outputs, *self.motions, *self.masses)}
        for block in self.blocks:
            reached.update(name for label in ("derivative", "switch") for name in self.read_by.get((block, label), ()))
        new = reached
        while new:
            outputs = [one for name in new if isinstance(one := self.signals.get(name), OutputSignal)]
            new = {name for one in outputs for name in self.read_by[one.block, f"output {one.output!r}"]} - reached
            reached |= new
        kept = (HeldNumber, HeldVector)
        return tuple(
            f"{block.name}.{name}"
            for block in self.blocks
            for name, function in block.outputs.items()
            if f"{block.name}.{name}" not in reached and not isinstance(function, kept) and not isinstance(block, DelayLine)
        )

    def name_of(self, state: int) -> str:
        """Return the block, in messages, that a state belongs to."""
        for block, first in self.at.items():
            if first <= state < first + block.states:
                return block.where
        return "an angle that is a signal"

    def first(self, y: Array) -> int:
        """Return the index of the first state of the network in flat states y (..., ny)."""
        return int(y.shape[-1]) - self.size

    def columns(self, block: Block, y: Array) -> slice:
        """Return the columns of the states of a block in flat states y (..., ny)."""
        first = self.first(y) + self.at[block]
        return slice(first, first + block.states)

    def state(self, t: float, y: Array) -> Any:
        """Return the State of a flat vector, for sensors."""
        assert self.make_state is not None
        return self.make_state(t, y, len(self.bodies))

    def states_of_load(self, entry: Any, y: Array) -> tuple[Array, Array]:
        """Return the states (n, nt, 13) of the bodies of a force element, and its own states, at y (nt, ny)."""
        n = len(self.bodies)
        bodies = np.swapaxes(y[:, : WIDTH * n].reshape(len(y), n, WIDTH), 0, 1)[list(entry.bodies)]
        own = len(entry.load.states())
        if own:
            first = y.shape[1] - self.n_states + entry.state
            return bodies, y[:, first : first + own]
        return bodies, entry.own_angles(y[:, WIDTH * n :])

    def found_late(self, name: str) -> Signal | None:
        """Return the signal of a name that a function has put together; None for no signal, and for an uncounted angle."""
        found = self.scope.resolve(name)
        if isinstance(found, str):
            return None
        if isinstance(found, JointSignal):
            key, angle = found.coordinate.key, found.coordinate.turns and not found.is_rate
            if angle and self.coordinates.get(key, (None, -1))[1] < 0:
                return None
            self.coordinates.setdefault(key, (places_of(found.coordinate, self.bodies), -1))
        self.signals[name] = found
        return found

    def unknown(self, name: str) -> str:
        """Return why a name is not among the signals that were found when the system was compiled."""
        found = self.scope.resolve(name)
        if isinstance(found, str):
            return found
        return f"the angle {name!r} was not found in the functions when the system was compiled: declare it, inputs=({name!r},)"

    def evaluate(self, t: float, y: Array, measured: Array, F: Array, memory: Any = None) -> None:
        """Write the rates of the states, and the outputs that force elements use, to the driver table; in an implicit step solve for x."""
        if self.alone:
            self._put_motions(t, y, np.zeros((0, 2)), F, memory)
            return
        if self._in_dynamics:
            self._evaluate_for_forces(t, y, measured, F, memory)
            return
        if self.size and F[self.place, 2] > 0.0:
            solver = StateSolver() if memory is None else memory.solver
            instant, rates = solver.solve(self, t, y, measured, F, memory)
        else:
            instant = Instant(self, t, y, measured=measured, memory=memory)
            rates = instant.rates()
        F[self.place : self.place + self.size, 0] = rates
        for place, output in self.outputs:
            F[place, 0] = instant.number(output)
        self._put_motions(t, y, measured, F, memory)

    def _put_motions(self, t: float, y: Array, measured: Array, F: Array, memory: Any) -> None:
        """Write what drives joints, and masses in time, which may depend on nothing that the forces give."""
        if self.motions or self.masses:
            instant = Instant(self, t, y, measured=measured, memory=memory, for_forces=True)
            for place, output in self.motions:
                F[place] = motion_jet(instant, output)
            for place, output in self.masses:
                F[place] = rate_jet(instant, output)

    def motion_values(self, t: float, y: Array) -> dict[int, Array]:
        """Return f, f' and f'' (3,) of the outputs that drive joints at a state, by their places in the driver table."""
        if not self.motions:
            return {}
        instant = Instant(self, t, y, for_forces=True)
        return {place: motion_jet(instant, output) for place, output in self.motions}

    def recorded(self, output: Any, t: Array, y: Array) -> RecordedOutput:
        """Return an output and its rate at states y (nt, ny), in place of the output."""
        jets = [rate_jet(Instant(self, float(time), row, for_forces=True), output) for time, row in zip(t, y, strict=True)]
        return RecordedOutput(np.array(jets).reshape(-1, 3))

    def motion_over_time(self, t: Array, y: Array, place: int) -> Array:
        """Return f, f' and f'' (nt, 3) of an output that drives a joint at states y (nt, ny); NaN where a state is not finite."""
        F = np.full((len(t), 3), np.nan)
        for k in np.flatnonzero(np.isfinite(y).all(axis=1)).tolist():
            F[k] = self.motion_values(float(t[k]), y[k])[place]
        return F

    def _evaluate_for_forces(self, t: float, y: Array, measured: Array, F: Array, memory: Any) -> None:
        """Write the outputs that force elements use; raise AlgebraicLoop if one of them needs what the forces give."""
        instant = Instant(self, t, y, measured=measured, memory=memory, for_forces=True)
        for place, output in self.outputs:
            F[place, 0] = instant.number(output)
        self._put_motions(t, y, measured, F, memory)

    @property
    def reads_dynamics(self) -> bool:
        """Return whether a block reads what follows from the equations of motion."""
        return any(isinstance(signal, DynamicSignal) for signal in self.signals.values())

    def dynamic(self, t: float, y: Array, signal: DynamicSignal) -> Any:
        """Return what follows from the equations of motion at a state; zeros before a run begins, when functions are tried."""
        if self.dynamics is None:
            return 0.0 if not signal.shape else np.zeros(signal.shape)
        self._in_dynamics = True
        try:
            return self.dynamics(t, y, signal)
        finally:
            self._in_dynamics = False

    def sample(self, t: float, y: Array, due: tuple[Sampled, ...], memory: Any = None) -> None:
        """Call the sampled blocks that are due, and write their values to y."""
        instant = Instant(self, t, y, memory=memory, due=due)
        for block in due:
            instant.x(block)

    def over_time(self, t: Array, y: Array, names: Iterable[str]) -> dict[str, Array]:
        """Return the values of signals at states y (nt, ny), by name: (nt,), or (nt, n) of a vector."""
        instants = [Instant(self, float(time), row) for time, row in zip(t, y, strict=True)]
        return {name: np.array([instant[name] for instant in instants], dtype=np.float64) for name in names}

    def first_wrong(self, t: Array, y: Array, names: Sequence[str]) -> tuple[int, Exception] | None:
        """Return the first of the states y (nt, ny) at which one of the outputs is not what it must be, and the error; None for none."""
        for k, (time, row) in enumerate(zip(t.tolist(), y, strict=True)):
            if not np.isfinite(row).all():
                continue
            instant = Instant(self, time, row)
            try:
                for name in names:
                    instant[name]
            except Exception as error:  # noqa: BLE001  a user's function may raise anything
                return k, error
        return None

    def output_over_time(self, t: Array, y: Array, output: BlockOutput) -> Array:
        """Return an output that a force element uses at states y (nt, ny), (nt,)."""
        values = [Instant(self, float(time), row).number(output) for time, row in zip(t, y, strict=True)]
        return np.array(values, dtype=np.float64)

    def put_rates(self, t: Array, y: Array, y_dot: Array) -> None:
        """Write the rates of the integrated states at y (nt, ny) to y_dot; the others stay as they are."""
        columns = self.first(y) + np.nonzero(self.integrated)[0]
        if len(columns):
            for k, time in enumerate(t.tolist()):
                y_dot[k, columns] = Instant(self, time, y[k]).rates()[self.integrated]

    def put_held(self, t_new: Array, t: Array, y: Array, y_new: Array) -> None:
        """Write what sampled blocks hold at `t_new` to the states y_new, from the states y (nt, ny) at t."""
        before = np.clip(np.searchsorted(t, t_new, side="right") - 1, 0, len(t) - 1)
        for block in self.sampled:
            held = self.columns(block, y)
            y_new[:, held] = y[before, held]

    def put_delays(self, t: Array, y: Array, memory: Any) -> None:
        """Write the outputs of delays to states y (n, ny) at t (n,)."""
        for time, row in zip(t.tolist(), y if self.delays else (), strict=bool(self.delays)):
            instant = Instant(self, time, row, memory=memory)
            for block in self.delays:
                row[self.columns(block, row)] = instant[f"{block.name}.{OUT}"]

    def placed(
        self,
        entries: Iterable[Any],
        outputs: Iterable[tuple[int, BlockOutput]],
        motions: Iterable[tuple[int, BlockOutput]],
        masses: Iterable[tuple[int, BlockOutput]],
        place: int,
        n_states: int,
    ) -> Network:
        """Return the network with the places of its outputs and states in the tables of a model."""
        named = {**self.entries, **{entry.load.name: entry for entry in entries}}
        found = replace(self, entries=named, place=place, n_states=n_states)
        found.outputs, found.motions, found.masses = tuple(outputs), tuple(motions), tuple(masses)
        return found
