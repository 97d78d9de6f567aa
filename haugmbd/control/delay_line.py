r"""DelayLine: a signal as it was some time ago, exactly on the dense output of the run.

    out(t) = s(t - delay)                  s at the state of the dense output;  before the start of the run: `before`, or s at the start

A run ends a step at each multiple of the delay. The signal at t - delay then belongs to steps that are complete (method of steps). It ends
one, too, where jumps and kinks of the signal arrive (`breaking_points`): the step to there has the value before the jump, the next one that
behind it, so that the order of the integrator is kept.
Source: Bellen, Zennaro, Numerical Methods for Delay Differential Equations, ch. 4 (method of steps, breaking points).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.control.block import Block
from haugmbd.control.sampled import OUT
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault


@public_class
class DelayLine(Block):
    """A signal as it was some time ago; its output is "out".

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    signal : str
        Name of the signal, such as "pin.angle" or "controller.torque".
    delay : float
        The delay [s].
    before : float, optional
        Value of the output before the signal of the start has arrived. By default the signal at the start.

    Notes
    -----
    The value is that of the signal on the dense output of the run, not of a table. No step is longer than the delay. Steps end where jumps
    and kinks arrive, of the start and of sampled blocks, through chains of delays and feedback, too; at such a time a result has the
    output behind the jump. Jumps at other times, such as those in a function of a `Block`, lie within steps. The states of a
    result hold the output, so that accelerations and reactions belong to it. A run that continues from a state of another knows nothing of
    the motion before: its output stays as it is there, until the delay has passed.
    Source: Bellen and Zennaro, Numerical Methods for Delay Differential Equations, ch. 4.
    """

    kind = "DelayLine"

    def __init__(self, name: str, signal: str, delay: float, *, before: float | None = None) -> None:
        super().__init__(
            name,
            0.0 if before is None else before,
            outputs={OUT: self._delayed},
            inputs=(signal,) if isinstance(signal, str) else (),
        )
        self.signal = signal
        faults: list[Fault] = []
        self.delay = read_number(faults, self.where, "delay", delay, unit="s")
        self.before = None if before is None else read_number(faults, self.where, "before", before)
        if not faults and not self.delay > 0.0:
            faults.append(Fault(self.where, f"delay is {self.delay:g} s, must be positive", "Give the delay [s]."))
        if not isinstance(signal, str):
            faults.append(Fault(self.where, f"signal is {shown(signal)}", 'Give the name of a signal, such as "pin.angle".'))
        self._faults = (*self._faults, *faults)

    def initial(self, signals: Mapping[str, Any]) -> Array:
        """Return the output at the start."""
        return np.array([float(signals[self.signal])]) if self.before is None else self.x0

    def _delayed(self, t: float, x: Any, signals: Any) -> Any:
        """Return the signal at t - delay; without the motion so far the output that the state has."""
        memory = signals.memory
        if memory is None or memory.between is None:
            return x[0]
        then = t - self.delay
        if then > memory.t_start + memory.near or (then >= memory.t_start - memory.near and not signals.left):
            return memory.instant(max(then, memory.t_start), left=signals.left)[self.signal]
        if memory.t_start > 0.0:  # a run that continues from another
            return x[0]
        return memory.instant(memory.t_start)[self.signal] if self.before is None else self.before
