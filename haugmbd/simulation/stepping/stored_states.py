"""What a run stores of its steps: states, what its method has solved for, counted angles, and values of sensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.control.diagram.network import Network
from haugmbd.diagnostics.turns import Steps, TurnCounter
from haugmbd.integrators.step_batch import StepBatch
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.model import Model
from haugmbd.simulation.sensor import SensorHistory, SensorRecorder
from haugmbd.simulation.stepping.clock import Clock
from haugmbd.simulation.stepping.growing import Growing
from haugmbd.simulation.stepping.wanted_times import WantedTimes
from haugmbd.workspace.layout import WIDTH

PART, OVERLAP = 4096, 24
"""States of a part of a run that is taken as it goes, and those of them that begin the next part, too: more than any rule of integration
has points in a step, and more than dense output looks before and behind one."""


def accelerations_in(y_dot: Array, n: int) -> Array:
    """Return (v', omega_bar') of n bodies, (k, 6 n), in the rates (k, ny) of flat states."""
    return y_dot[:, : WIDTH * n].reshape(len(y_dot), n, WIDTH)[:, :, VELOCITY:].reshape(len(y_dot), 6 * n)


class Selection(NamedTuple):
    """Which states are stored.

    every: each `every`-th;  wanted: instead those at given times;  with_ends: beside them the first and the last
    """

    every: int
    wanted: WantedTimes | None
    with_ends: bool


class CheckedOutputs(NamedTuple):
    """Outputs of the blocks of a network that nobody reads, by name: an error in them is found where a state is stored."""

    network: Network
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: Model) -> CheckedOutputs | None:
        """Return those of a model; None if it has none."""
        callbacks = model.force_callbacks
        if callbacks.network is None or not callbacks.unchecked_outputs:
            return None
        return cls(callbacks.network, callbacks.unchecked_outputs)


class Stored(NamedTuple):
    """The stored states: t (nt,), y (nt, ny), and with it, or None, lam (nt, nc), u_dot (nt, 6 (nb + 1)) and turns (nt, m)."""

    t: Array
    y: Array
    lam: Array | None
    u_dot: Array | None
    turns: Array | None
    sensors: Mapping[str, SensorHistory]


class StoredStates:
    """The stored states of a run so far.

    ny: numbers of a state;  bodies: whose accelerations by the method are stored, 0 for none;  counter: of joint angles, None if every
    step is stored;  clock: of delays;  checked: outputs of blocks that are checked at each state that is stored, None without
    """

    def __init__(
        self,
        selection: Selection,
        ny: int,
        sensors: SensorRecorder,
        counter: TurnCounter | None,
        clock: Clock | None,
        bodies: int,
        checked: CheckedOutputs | None = None,
    ) -> None:
        self.checked = checked
        self.selection, self.sensors, self.counter, self.clock, self.bodies = selection, sensors, counter, clock, bodies
        self.t, self.y = Growing(1), Growing(ny)
        self.lam: Growing | None = None
        self.u_dot = Growing(6 * bodies) if bodies else None
        self.angles = None if counter is None else Growing(len(counter.zero))

    def begin(self, first: Steps, turned: Array | None) -> None:
        """Store the initial state, the first of every result without given times.

        turned: the angles counted so far, if a run continues
        """
        t, y, y_dot = first
        angles = None
        if self.counter is not None:
            angles = self.counter.start(y, turned)
            self.sensors.watch(t, y)
        if self.selection.wanted is None or self.selection.with_ends:
            self._keep(t, y, angles)
            if self.u_dot is not None:
                self.u_dot.append(accelerations_in(y_dot, self.bodies))

    def put_last(self, t: float, y: Array) -> None:
        """Replace the last state, if it is the one at t, and what sensors say of it, by those behind a stop."""
        if not self.t.ends_with(t):
            return
        behind = y.copy()
        if self.clock is not None:
            self.clock.put_delays(np.array([t]), behind[None])
        wrong = self._first_wrong(np.array([t]), behind[None])
        if wrong is not None:
            raise wrong[1]
        changes = not np.array_equal(self.y.last(), behind)
        self.y.put_last(behind)
        if changes:
            self.sensors.put_last(t, behind)

    def add(self, last: Steps, batch: StepBatch, steps: int, t_end: float, *, calls_follow: bool) -> None:
        """Store states of a batch.

        last: the state before it;  steps: their number before it;  calls_follow: whether the state at its end changes by calls of blocks
        """
        if self.counter is not None:
            self.sensors.watch(batch.t, batch.y)
        if self.selection.wanted is None:
            self._add_steps(last, batch, steps, t_end)
            return
        t, y, y_dot = _joined(last, batch)
        wanted, states = self.selection.wanted.states(t, y, y_dot, batch.curve, with_last=not calls_follow)
        if self.selection.with_ends and t[-1] >= t_end and not (len(wanted) and wanted[-1] == t[-1]):
            wanted, states = np.append(wanted, t[-1]), np.vstack([states, y[-1]])
        self._keep(
            wanted, states, None if self.counter is None else self.counter.follow(t, y, y_dot, np.maximum(wanted, t[0]), states)
        )

    def drain(self) -> tuple[Array, Array]:
        """Return the stored states, t (n,) and y (n, ny), and keep the last few of them alone: those that begin the next part."""
        t, y = self.t.rows()[:, 0], self.y.rows()
        for part in (self.t, self.y, self.lam, self.u_dot, self.angles):
            if part is not None:
                part.drop_first(len(t) - OVERLAP)
        return t, y

    def _add_steps(self, last: Steps, batch: StepBatch, steps: int, t_end: float) -> None:
        """Store every `every`-th step, and the one that ends the run."""
        kept = self._kept(batch, steps, t_end)
        numbers = np.flatnonzero(kept)
        if self.clock is None and kept.all():
            kept = slice(None)  # all, without a copy, since nothing is written to them
        if batch.lam is not None:
            if self.lam is None:
                lam = Growing(batch.lam.shape[1])
                lam.append(np.full((len(self.t), batch.lam.shape[1]), np.nan))
                self.lam = lam
            self.lam.append(batch.lam[kept])
        if self.u_dot is not None:
            self.u_dot.append((accelerations_in(batch.y_dot, self.bodies) if batch.u_dot is None else batch.u_dot)[kept])
        angles = None if self.counter is None else self.counter.at_steps(last, batch[:3], numbers)
        self._keep(batch.t[kept], batch.y[kept], angles)

    def _kept(self, batch: StepBatch, steps: int, t_end: float) -> Any:
        """Return which states of a batch are stored."""
        numbers = np.arange(steps + 1, steps + 1 + len(batch.t))
        return (numbers % self.selection.every == 0) | ((batch.t[-1] >= t_end) & (batch.t >= t_end))

    def _keep(self, t: Array, y: Array, angles: Array | None) -> None:
        """Store states y (n, ny), the joint angles that were counted at them, and the values of the sensors."""
        if self.clock is not None:
            self.clock.put_delays(t, y)
        wrong = self._first_wrong(t, y)
        if wrong is not None:
            t, y, angles = t[: wrong[0]], y[: wrong[0]], None if angles is None else angles[: wrong[0]]
        self.t.append(t)
        self.y.append(y)
        if self.angles is not None and angles is not None:
            self.angles.append(angles)
        self.sensors.record(t, y)
        if wrong is not None:
            raise wrong[1]

    def _first_wrong(self, t: Array, y: Array) -> tuple[int, Exception] | None:
        """Return the first of the states at which an output is wrong that nobody reads, and the error; None for none."""
        return None if self.checked is None else self.checked.network.first_wrong(t, y, self.checked.names)

    def states(self) -> tuple[Array, Array]:
        """Return the times and the states that are stored so far, t (nt,) and y (nt, ny)."""
        t, y = self.t.rows()[:, 0], self.y.rows()
        n = min(len(t), len(y))
        return t[:n], y[:n]

    def found(self, last: Steps) -> Stored:
        """Return the stored states; all parts of one length, where Ctrl-C came while a batch was stored, too.

        last: the state that the run has reached, the only one if none is stored: what was not computed there is NaN
        """
        t, y = self.t.rows()[:, 0], self.y.rows()
        lam, u_dot, turns = (None if part is None else part.rows() for part in (self.lam, self.u_dot, self.angles))
        lengths = [len(part) for part in (t, y, lam, u_dot, turns) if part is not None]
        lengths += [] if self.sensors.states is None else [self.sensors.states]
        n = min(lengths)
        if n == 0:
            angles = None if self.counter is None else self.counter.start(last[1], self.counter.last)
            u_dot = None if u_dot is None else np.full((1, 6 * self.bodies), np.nan)
            return Stored(last[0], last[1], None, u_dot, angles, self.sensors.histories(last[0]))
        lam, u_dot, turns = (None if part is None else part[:n] for part in (lam, u_dot, turns))
        return Stored(t[:n], y[:n], lam, u_dot, turns, self.sensors.histories(t[:n]))


def _joined(last: Steps, batch: StepBatch) -> Steps:
    """Return the steps of a batch with the state before it."""
    t, y, y_dot = (np.concatenate(pair) for pair in zip(last, batch[:3], strict=True))
    return t, y, y_dot
