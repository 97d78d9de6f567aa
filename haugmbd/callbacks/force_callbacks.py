r"""What a model asks its user's callables at every evaluation: `Questions.call` is what stands behind the callback `user.Asked`.

    F[slot, 0] <- actuator(t, l, l_dot), force(t, r, p, v, omega_bar), ...            the answer takes the place of a driver
    F[k]       <- f, f', f'' of drivers that only Python can evaluate
    Q_user     +=  the answer of a StateForce

Where all callables are @njit functions, `compile_force_callbacks` makes the same call without Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np

from haugmbd.callbacks.calls import ForceCall, arguments
from haugmbd.callbacks.compiled_force_callbacks import compile_force_callbacks
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK, Callback, CompiledCallback
from haugmbd.drivers import Driver
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.drivers.functions import PythonDriver
from haugmbd.drivers.user_function import FunctionFault
from haugmbd.errors import HaugmbdError, SimulationError


class DriverCall(NamedTuple):
    """A driver that only Python can evaluate: its place in the driver table, and what it drives."""

    slot: int
    driver: Driver
    where: str


@dataclass(frozen=True, eq=False)
class ForceCallbacks:
    """Everything that one model asks.  shapes: of (y, signals, F, Q_user)."""

    force_calls: tuple[ForceCall, ...] = ()
    driver_calls: tuple[DriverCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = field(default=((0,), (0, 2), (0, 3), (0, 6)))

    @property
    def any(self) -> bool:
        """Whether the user is asked at all."""
        return bool(self.force_calls or self.driver_calls)

    @property
    def compiled(self) -> bool:
        """Whether all callables are @njit functions, so that no Python is needed."""
        return not self.driver_calls and all(numba.extending.is_jitted(a.question.function) for a in self.force_calls)

    def callback(self) -> Callback:
        """The door, for one run."""
        if not self.any:
            return NO_CALLBACK
        return CompiledCallback(self._entry) if self.compiled else Callback(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """The compiled door, made once a model."""
        return compile_force_callbacks(self.force_calls, self.shapes)

    def call(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        """Ask every callable, and write the answers into F and Q_user."""
        try:
            for call in self.driver_calls:
                F[call.slot] = driver_values(call, t)
            for force_call in self.force_calls:
                answer = force_call.question.call(t, *arguments(force_call, y, signals))
                if force_call.slots:
                    for slot, value in zip(force_call.slots, answer.ravel().tolist(), strict=True):
                        F[slot, 0] = value
                else:
                    for body, row in zip(force_call.bodies, answer, strict=True):  # a body may be there twice
                        Q_user[body] += row
        except SimulationError as error:
            if np.isfinite(y).all():
                raise
            raise SimulationError(f"the state is not finite at t = {t:.9g} s (and then {error.message})") from error

    def names(self) -> str:
        """Who is asked, for a message."""
        return ", ".join([*(a.question.where for a in self.force_calls), *(c.where for c in self.driver_calls)])


def driver_values(call: DriverCall, t: float) -> Array:
    """f, f', f'' (3,), finite; what the user's function raises comes out as it is, with a note."""
    try:
        F = call.driver.row(t) if isinstance(call.driver, PythonDriver) else np.asarray(call.driver.values(t))
    except FunctionFault as error:
        raised = error.__cause__
        if isinstance(raised, Exception) and not isinstance(raised, NotAFloat | HaugmbdError):
            raised.add_note(f"raised by the driver of {call.where} at t = {t:.9g} s")
            raise raised from None
        raise SimulationError(f"{call.where}: {error.fault}") from error
    except Exception as error:
        error.add_note(f"raised by the driver of {call.where} at t = {t:.9g} s")
        raise
    if F.shape != (3,) or not np.isfinite(F).all():
        what = f"its driver gives {F.tolist()} at t = {t:.9g} s, must be three finite numbers f, f', f''"
        raise SimulationError(f"{call.where}: {what}")
    return F
