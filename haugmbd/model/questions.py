r"""What a model asks its user's callables at every evaluation: `Questions.call` is what stands behind the door `user.Asked`.

    F[slot, 0] <- actuator(t, l, l_dot), force(t, r, p, v, omega_bar), ...            the answer takes the place of a driver
    F[k]       <- f, f', f'' of drivers that only Python can evaluate
    Q_user     +=  the answer of a StateForce

Where all callables are @njit functions, `compiled_door` makes the same call without Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np

from haugmbd.algebra.vec3 import Array
from haugmbd.drivers import Driver
from haugmbd.drivers.calling import FunctionFault
from haugmbd.drivers.functions import PythonDriver
from haugmbd.drivers.operators import NotAFloat
from haugmbd.errors import HaugmbdError, SimulationError
from haugmbd.forces.values import BODY, TIME, Question
from haugmbd.model.compiled_door import compiled_door
from haugmbd.model.tables import WIDTH
from haugmbd.model.user import NOBODY, Asked, CompiledAsked


class Asking(NamedTuple):
    """A question and where its arguments and its answer stand: body numbers, signal, places in the driver table.

    Without places the answer goes to Q_user: rows of generalized forces.
    """

    question: Question
    bodies: tuple[int, ...]
    signal: int
    slots: tuple[int, ...]


class DriverCall(NamedTuple):
    """A driver that only Python can evaluate: its place in the driver table, and what it drives."""

    slot: int
    driver: Driver
    where: str


@dataclass(frozen=True, eq=False)
class Questions:
    """Everything that one model asks.  shapes: of (y, signals, F, Q_user)."""

    askings: tuple[Asking, ...] = ()
    driver_calls: tuple[DriverCall, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = field(default=((0,), (0, 2), (0, 3), (0, 6)))

    @property
    def any(self) -> bool:
        """Whether the user is asked at all."""
        return bool(self.askings or self.driver_calls)

    @property
    def compiled(self) -> bool:
        """Whether all callables are @njit functions, so that no Python is needed."""
        return not self.driver_calls and all(numba.extending.is_jitted(a.question.function) for a in self.askings)

    def asked(self) -> Asked:
        """The door, for one run."""
        if not self.any:
            return NOBODY
        return CompiledAsked(self._entry) if self.compiled else Asked(self.call, self.shapes)

    @cached_property
    def _entry(self) -> Any:
        """The compiled door, made once a model."""
        return compiled_door(self.askings, self.shapes)

    def call(self, t: float, y: Array, signals: Array, F: Array, Q_user: Array) -> None:
        """Ask every callable, and write the answers into F and Q_user."""
        try:
            for call in self.driver_calls:
                F[call.slot] = driver_values(call, t)
            for asking in self.askings:
                answer = asking.question.ask(t, *arguments(asking, y, signals))
                if asking.slots:
                    for slot, value in zip(asking.slots, answer.ravel().tolist(), strict=True):
                        F[slot, 0] = value
                else:
                    for body, row in zip(asking.bodies, answer, strict=True):  # a body may be there twice
                        Q_user[body] += row
        except SimulationError as error:
            if np.isfinite(y).all():
                raise
            raise SimulationError(f"the state is not finite at t = {t:.9g} s (and then {error.message})") from error

    def names(self) -> str:
        """Who is asked, for a message."""
        return ", ".join([*(a.question.where for a in self.askings), *(c.where for c in self.driver_calls)])


def arguments(asking: Asking, y: Array, signals: Array) -> Sequence[Array | float]:
    """What the function is given after t: copies, so that it may keep or change them."""
    return arguments_of(asking.question, asking.bodies, asking.signal, y, signals)


def arguments_of(question: Question, bodies: Sequence[int], signal: int, y: Array, signals: Array) -> Sequence[Array | float]:
    """The same of a question about these bodies, or this signal."""
    if question.form == TIME:
        return ()
    if question.form != BODY:
        return float(signals[signal, 0]), float(signals[signal, 1])
    if len(question.shape) == 1:
        row = y[WIDTH * bodies[0] :][:WIDTH].copy()
        return row[0:3], row[3:7], row[7:10], row[10:13]
    rows = np.array([y[WIDTH * k :][:WIDTH] for k in bodies])
    return [np.ascontiguousarray(rows[:, a:b]) for a, b in ((0, 3), (3, 7), (7, 10), (10, 13))]


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
