r"""Objectives: a number of the outputs, and its derivative by them.

    dO/dp = dO/dz dz/dp         dO/dz dz by complex steps of the user's function along each parameter: O(z + i h dz/dp) / h

A function that takes complex numbers is differentiated exactly. One that does not (abs, comparisons, conversion to float) loses the
imaginary part, which would be a silent zero: such a derivative is compared with a difference, and refused if they do not agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.sensitivity.sensitivity import OverTime

TINY = 1e-30
"""Complex step, relative to the change of the outputs."""
SIDE = 1e-6
"""Difference along the gradient that checks it, relative to the size of the outputs."""
AGREE = 1e-3
"""Relative distance of the difference from the derivative at which the function has lost imaginary parts."""


class Objective:
    """A number of the outputs.

    given: the name of an output, or a function of the outputs: (m,) at the last time, or (nt, m) at the times of the run
    """

    def __init__(self, given: Any, names: tuple[str, ...], *, over_time: bool) -> None:
        self.over_time = over_time
        self.text = given if isinstance(given, str) else getattr(given, "__name__", "objective")
        if isinstance(given, str):
            if given not in names:
                raise UsageError(f"objective {given!r} is none of the outputs {', '.join(map(repr, names))}.")
            k = names.index(given)
            self._function: Callable[[Any], Any] = lambda z: z[..., -1, k] if over_time else z[..., k]
        elif callable(given):
            self._function = given
        else:
            raise UsageError(f"objective = {given!r:.60} must be the name of an output, or a function of the outputs.")
        self._checked = False

    def _outputs(self, over: OverTime) -> tuple[Array, Array]:
        """Return the outputs as the function takes them, and their Jacobian."""
        return (over.values, over.jacobian) if self.over_time else (over.values[-1], over.jacobian[-1])

    def value(self, over: OverTime) -> float:
        """Return the objective."""
        found = self._function(self._outputs(over)[0])
        if np.ndim(found) or not np.isreal(found) or not np.isfinite(found):
            raise UsageError(f"objective {self.text!r} returned {found!r:.60}, and must return one finite number.")
        return float(np.real(found))

    def gradient(self, over: OverTime) -> Array:
        """Return its derivatives by the parameters, (n,). Raise UsageError where the function loses them."""
        z, J = self._outputs(over)
        if not np.isfinite(J).all():
            raise UsageError(f"objective {self.text!r}: an output is not unique, and has no derivative.")
        found = np.array([self._along(z, J[..., k]) for k in range(J.shape[-1])])
        if not self._checked:
            self._check(z, J, found)
        return found

    def _along(self, z: Array, dz: Array) -> float:
        try:
            value = self._function(z + 1j * TINY * dz)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"objective {self.text!r} takes no complex numbers ({error}): write it with + - * / ** and functions of NumPy, not of math."
            ) from None
        return float(np.imag(value)) / TINY

    def _check(self, z: Array, J: Array, gradient: Array) -> None:
        """Compare the derivative along all parameters, which are mixed so that none cancels, with a difference."""
        n = J.shape[-1]
        size = np.abs(z).max(initial=0.0) or 1.0
        per = np.array([np.abs(J[..., k]).max(initial=0.0) for k in range(n)])
        mix = np.where(per > 0.0, np.cos(1.0 + np.arange(n)) / np.where(per > 0.0, per, 1.0), 0.0) * size
        dz = J @ mix
        high, low = (float(np.real(self._function(z + side * SIDE * dz))) for side in (1.0, -1.0))
        difference, exact = (high - low) / (2.0 * SIDE), float(gradient @ mix)
        noise = 1e-9 * (abs(high) + abs(low)) / SIDE * 1e-4
        if abs(difference - exact) > AGREE * max(abs(difference), abs(exact)) + noise:
            raise UsageError(
                f"objective {self.text!r}: its derivative by complex numbers is {exact:.6g}, and by a difference {difference:.6g}. It "
                "loses imaginary parts, such as by abs, max, comparisons or float(...), or has a kink here: write it with smooth functions."
            )
        self._checked = True
