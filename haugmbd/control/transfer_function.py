r"""TransferFunction: a linear system of one input and one output, by the coefficients of its polynomials.

    b_0 s^n + ... + b_n                    x_1' = x_2, ..., x_n' = u - a_n x_1 - ... - a_1 x_n          (a_0 = 1)
    -------------------                    out  = (b_n - a_n b_0) x_1 + ... + (b_1 - a_1 b_0) x_n + b_0 u
    a_0 s^n + ... + a_n

Source: Astrom, Murray, Feedback Systems, sec. 6.2 (controllable canonical form).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import counted
from haugmbd.control.block import Block
from haugmbd.control.sampled import OUT
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault


@public_class
class TransferFunction(Block):
    """A linear system with one input and one output; its output is "out".

    Parameters
    ----------
    name : str
        Name of the block in signals, messages and results.
    signal : str
        Name of the signal that is its input.
    numerator, denominator : array_like
        Coefficients of the polynomials in s, the highest power first; the numerator has no higher power than the denominator.

    Notes
    -----
    The states are those of the controllable canonical form, zero at the start. With equal degrees the output follows the input at once.
    Source: Astrom and Murray, Feedback Systems, sec. 6.2.
    """

    kind = "TransferFunction"

    def __init__(self, name: str, signal: str, numerator: Any, denominator: Any) -> None:
        where, faults = f"{self.kind} {name!r}", list[Fault]()
        self.signal = signal
        self.numerator, self.denominator = (
            _polynomial(faults, where, label, given) for label, given in (("numerator", numerator), ("denominator", denominator))
        )
        n = len(self.denominator) - 1
        if not faults and len(self.numerator) > n + 1:
            what = f"its numerator has degree {len(self.numerator) - 1}, and its denominator {n}"
            faults.append(Fault(where, what, "It would differentiate its input: give the denominator at least the same degree."))
        if faults:
            n, self.numerator, self.denominator = 0, np.ones(1), np.ones(1)
        a = self.denominator / self.denominator[0]
        b = np.concatenate([np.zeros(n + 1 - len(self.numerator)), self.numerator]) / self.denominator[0]
        self.through, self.feedback, self.readout = float(b[0]), a[:0:-1].copy(), (b - a * b[0])[:0:-1].copy()
        """b_0;  a_n ... a_1 and the coefficients of x_1 ... x_n in the output, (n,) each."""
        super().__init__(
            name,
            np.zeros(n),
            derivative=canonical_rates(signal, a[1:]) if n else None,
            outputs={OUT: canonical_output(signal, (b - a * b[0])[1:], float(b[0]))},
            inputs=(signal,) if isinstance(signal, str) else (),
        )
        if not isinstance(signal, str):
            faults.append(Fault(where, f"signal is {shown(signal)}", 'Give the name of a signal, such as "pin.rate".'))
        self._faults = (*self._faults, *faults)

    def compiled(self) -> dict[str, Any]:
        functions = {f"output {OUT!r}": self.outputs[OUT]} | ({"derivative": self.derivative} if self.derivative else {})
        return {label: counted(function) for label, function in functions.items()}

    def __reduce__(self) -> Any:
        """Return the recipe for pickle: its functions are made again."""
        return type(self), (self.name, self.signal, self.numerator.tolist(), self.denominator.tolist())


def _polynomial(faults: list[Fault], where: str, label: str, given: Any) -> Array:
    """Return the coefficients without leading zeros."""
    array = numbers(given)
    if array is None or array.ndim > 1 or array.size == 0 or not np.isfinite(array).all() or not array.any():
        faults.append(
            Fault(where, f"{label} is {shown(given)}", "Give its coefficients, the highest power of s first, not all zero.")
        )
        return np.ones(1)
    found: Array = np.trim_zeros(np.atleast_1d(np.array(array, dtype=np.float64)), "f")
    return found


def canonical_rates(signal: str, a: Array) -> Any:
    """Return x' of the controllable canonical form;  a: (n,) a_1 ... a_n."""
    n = len(a)

    def derivative(t: float, x: Any, signals: Any) -> Any:
        rates = np.empty_like(x)
        last = signals[signal]
        for k in range(n):
            if k < n - 1:
                rates[k] = x[k + 1]
            last -= a[n - 1 - k] * x[k]
        rates[n - 1] = last
        return rates

    return derivative


def canonical_output(signal: str, c: Array, d: float) -> Any:
    """Return the output;  c: (n,) coefficients of x_n ... x_1;  d: of the input."""
    n = len(c)

    def through(t: float, x: Any, signals: Any) -> Any:
        total = d * signals[signal]
        for k in range(n):
            total += c[n - 1 - k] * x[k]
        return total

    def proper(t: float, x: Any, signals: Any) -> Any:
        total = 0.0
        for k in range(n):
            total += c[n - 1 - k] * x[k]
        return total

    return through if d != 0.0 else proper
