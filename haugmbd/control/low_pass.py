r"""LowPass: a filter of first order.

    tau x' = s - x,   out = x              transfer function 1 / (1 + tau s)

Source: Astrom, Murray, Feedback Systems, sec. 3.2.
"""

from __future__ import annotations

from typing import Any

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.jit import counted
from haugmbd.control.block import Block
from haugmbd.control.sampled import OUT, held_number
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault


@public_class
class LowPass(Block):
    """A low-pass filter of first order; its output is "out".

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    signal : str
        Name of the signal, such as "pin.rate".
    tau : float
        Time constant [s].
    x0 : float
        Output at the start.

    Notes
    -----
    tau x' = s - x, out = x.
    Source: Astrom and Murray, Feedback Systems, sec. 3.2.
    """

    kind = "LowPass"

    def __init__(self, name: str, signal: str, tau: float, *, x0: float = 0.0) -> None:
        faults: list[Fault] = []
        self.tau = read_number(faults, f"LowPass {name!r}", "tau", tau, unit="s")
        self.signal = signal
        super().__init__(
            name,
            x0,
            derivative=lag(signal, self.tau),
            outputs={OUT: first_state},
            inputs=(signal,) if isinstance(signal, str) else (),
        )
        if not faults and not self.tau > 0.0:
            faults.append(Fault(self.where, f"tau is {self.tau:g} s, must be positive", "Give the time constant [s]."))
        if not isinstance(signal, str):
            faults.append(Fault(self.where, f"signal is {shown(signal)}", 'Give the name of a signal, such as "pin.rate".'))
        self._faults = (*self._faults, *faults)

    def compiled(self) -> dict[str, Any]:
        return {"derivative": counted(lag(self.signal, self.tau)), f"output {OUT!r}": held_number}

    def __reduce__(self) -> Any:
        """Return the recipe for pickle: its functions are made again."""
        return _remade, (self.name, self.signal, self.tau, float(self.x0[0]))


def _remade(name: str, signal: str, tau: float, x0: float) -> LowPass:
    return LowPass(name, signal, tau, x0=x0)


def lag(signal: str, tau: float) -> Any:
    """Return x' = (s - x) / tau."""

    def derivative(t: float, x: Any, signals: Any) -> Any:
        return (signals[signal] - x[0]) / tau

    return derivative


def first_state(t: float, x: Any, signals: Any) -> Any:
    """Return the first state."""
    return x[0]
