r"""Sampled: a controller that is called at exact times, and whose values are held in between.

    t_k = k period,  k = 0, 1, 2, ...        x_k = update(t_k, x_(k-1), signals at t_k)        x(t) = x_k for t_k <= t < t_(k+1)

A run ends a step at each t_k, calls `update` once, and goes on with the new values: there is no delay, and the order of the integrator is
kept. x_k stands in the flat state, with the rate zero.
Source: Astrom, Wittenmark, Computer-Controlled Systems, ch. 2 (sampling, zero-order hold).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.jit import counted
from haugmbd.control.block import FORM, Block
from haugmbd.control.names import texts_of
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault
from haugmbd.forces.user_function import arguments_needed, arguments_text

OUT = "out"
"""Name of the output of a block that has one."""
SAME = 1e-9
"""Relative to a period: times that are nearer to each other are the same."""
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Relative to the number of a multiple: its rounding where there have been many."""


@public_class
class Sampled(Block):
    """A controller that is called at the times 0, period, 2 period, ..., and whose values are held in between.

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    period : float
        Time between calls [s].
    update : callable
        update(t, signals) -> the new values, or update(t, x, signals) with the values so far: a number, or an array as x0. A Python
        function or an @njit function. It is called once at each of the times, also at the start, so that it may keep data of its own.
    x0 : float or array_like, (n,)
        Values before the first call; its shape is that of the values.
    outputs : mapping of str to callable, optional
        g(t, x, signals) by name, as of a `Block`. By default one output, "out": the values as they are.
    inputs : sequence of str, optional
        Names of the signals that the functions read, if they put names together themselves.

    Notes
    -----
    The first call is at t = 0. Values hold from the time of the call on, without a delay; at that time a result has the new ones. A run
    does not call at its end; one that goes on from there does. Other states of a result at times of calls are those after the call: a run
    that goes on from one of these calls again, which counts twice where `update` uses the values so far or data of its own. Go on from the
    end of a run, or from a state between calls.
    If several blocks are called at the same time, one that reads the output of another is called after it.
    Source: Astrom and Wittenmark, Computer-Controlled Systems, ch. 2.
    """

    kind = "Sampled"

    def __init__(
        self,
        name: str,
        period: float,
        update: Callable[..., Any],
        *,
        x0: Any = 0.0,
        outputs: Mapping[str, Callable[..., Any]] | None = None,
        inputs: Sequence[str] | None = None,
    ) -> None:
        held = HeldNumber() if np.ndim(x0) == 0 else HeldVector()
        super().__init__(name, x0, outputs={OUT: held} if outputs is None else outputs, inputs=inputs)
        self.update = update
        faults: list[Fault] = []
        self.period = read_number(faults, self.where, "period", period, unit="s")
        if not faults and not self.period > 0.0:
            faults.append(Fault(self.where, f"period is {self.period:g} s, must be positive", "Give the time between calls [s]."))
        if not callable(update) or arguments_needed(update) not in (2, 3):
            what = arguments_text(arguments_needed(update)) if callable(update) else f"is {shown(update)}"
            faults.append(Fault(self.where, f"update {what}", f"Give update(t, signals) or update({FORM})."))
        self._faults = (*self._faults, *faults)

    @property
    def takes_values(self) -> bool:
        """Return whether `update` takes the values so far."""
        return arguments_needed(self.update) == 3  # noqa: PLR2004  t, x, signals

    def compiled(self) -> dict[str, Any]:
        found = super().compiled()
        if isinstance(self.outputs.get(OUT), HeldNumber):
            found[f"output {OUT!r}"] = held_number
        return found

    def texts(self) -> set[str]:
        return super().texts() | (texts_of(self.update) if self.inputs is None and callable(self.update) else set())


class HeldNumber:
    """The output of a block with one value: that value."""

    def __call__(self, t: float, x: Any, signals: Any) -> Any:
        return x[0]


class HeldVector:
    """The output of a block with several values: all of them."""

    def __call__(self, t: float, x: Any, signals: Any) -> Any:
        return x


@counted
def held_number(t: float, x: Any, signals: Any) -> Any:
    """Return the value of a block with one value."""
    return x[0]


def multiple_at(t: float, period: float) -> int | None:
    """Return the k with t = k period; None if t is between two multiples."""
    n = t / period
    k = round(n)
    return k if abs(n - k) <= SAME + ROUNDING * abs(n) else None
