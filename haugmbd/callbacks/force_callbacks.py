r"""Calls of the user's functions at every evaluation; `compiled.ffi.Callback` calls `ForceCallbacks.call`.

    F[slot, 0] <- actuator(t, l, l_dot), force(t, r, p, v, omega_bar), ...            the value is written to the place of a driver
    F[k]       <- f, f', f'' of drivers that only Python can evaluate
    Q_user     +=  the value of a StateForce

If all functions are @njit functions, `compile_force_callbacks` makes the same calls without Python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from haugmbd.callbacks.calls import ForceCall, arguments
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import NO_CALLBACK, Callback, CompiledCallback
from haugmbd.compiled.numba_names import is_jitted
from haugmbd.control.diagram.compiled import compilable
from haugmbd.control.diagram.memory import Memory
from haugmbd.control.diagram.network import Network
from haugmbd.control.diagram.tables import NetworkTables, evaluated, tables_of
from haugmbd.drivers import Driver
from haugmbd.drivers.autodiff.operators import NotAFloat
from haugmbd.drivers.functions import PythonDriver
from haugmbd.drivers.user_function import FunctionFault
from haugmbd.errors import HaugmbdError, SimulationError


class DriverCall(NamedTuple):
    """A driver that only Python can evaluate: its index in the driver table, and the part that it drives."""

    slot: int
    driver: Driver
    where: str


@dataclass(frozen=True, eq=False)
class ForceCallbacks:
    """All calls of the user's functions of one model.  shapes: of (y, signals, F, Q_user);  network: the blocks, None without."""

    force_calls: tuple[ForceCall, ...] = ()
    driver_calls: tuple[DriverCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = field(default=((0,), (0, 2), (0, 3), (0, 6)))
    network: Network | None = None

    @property
    def any(self) -> bool:
        """Return whether there are calls."""
        return bool(self.force_calls or self.driver_calls or self.network is not None)

    @cached_property
    def compiled(self) -> bool:
        """Return whether all functions are @njit functions, so that no Python is needed."""
        return (
            not self.driver_calls
            and (self.network is None or compilable(self.network))
            and all(is_jitted(a.user_function.function) for a in self.force_calls)
        )

    def callback(self) -> Callback:
        """Return the callback for one run."""
        if not self.any:
            return NO_CALLBACK
        if self.compiled:
            return CompiledCallback(self._entry)
        if self.network is None:
            return Callback(self.call, self.shapes)
        memory = Memory(self.network)
        callback = Callback(partial(self.call, memory=memory), self.shapes)
        callback.memory = memory
        return callback

    @cached_property
    def _entry(self) -> Any:
        """Return the compiled callback, made once for a model."""
        from haugmbd.callbacks.compiled_force_callbacks import compile_force_callbacks  # noqa: PLC0415  it needs Numba

        return compile_force_callbacks(self.force_calls, self.shapes, self.network)

    @cached_property
    def _tables(self) -> NetworkTables | None:
        """Return the tables of the blocks, made once for a model; None if their functions must be called."""
        return None if self.network is None else tables_of(self.network, self.shapes[0][0])

    def call(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array, *, memory: Memory | None = None) -> None:
        """Call every function, and write the values into F and Q_user;  memory: of the blocks in a run."""
        try:
            for call in self.driver_calls:
                F[call.slot] = driver_values(call, t)
            for force_call in self.force_calls:
                returned = force_call.user_function.call(t, *arguments(force_call, y, signals))
                if force_call.slots:
                    for slot, value in zip(force_call.slots, returned.ravel().tolist(), strict=True):
                        F[slot, 0] = value
                else:
                    for body, row in zip(force_call.bodies, returned, strict=True):  # a body may occur twice
                        Q_user[body] += row
            if self.network is not None and not (self._tables is not None and evaluated(self._tables, y, signals, F)):
                self.network.evaluate(t, y, signals, F, memory)
        except SimulationError as error:
            if np.isfinite(y).all():
                raise
            raise SimulationError(f"the state is not finite at t = {t:.9g} s, and with it {error.message}") from error

    @property
    def unchecked_outputs(self) -> tuple[str, ...]:
        """Return the outputs of blocks that no evaluation calls, so that nothing tells whether they are finite."""
        if self.network is None or (self._tables is not None and not self.compiled):
            return ()
        return self.network.unread

    def names(self) -> str:
        """Return the names of the functions, for a message."""
        blocks = () if self.network is None else (block.where for block in self.network.blocks)
        return ", ".join([*(a.user_function.where for a in self.force_calls), *(c.where for c in self.driver_calls), *blocks])


def driver_values(call: DriverCall, t: float) -> Array:
    """Return f, f', f'' (3,), finite. Exceptions of the user's function are raised unchanged, with a note."""
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
