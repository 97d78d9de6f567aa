"""One call of a user's function: the function, and the arguments that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.forces.jacobian import Jacobian
from haugmbd.forces.user_function import BODY, TIME, UserFunction
from haugmbd.math.body_columns import EULER, OMEGA_BAR, PARTS, VELOCITY
from haugmbd.workspace.layout import WIDTH


class JacobianCall(NamedTuple):
    """A jacobian, and the places of its arguments and its value: body numbers, signal, index of the first number in D."""

    jacobian: Jacobian
    bodies: tuple[int, ...]
    signal: int
    at: int

    @property
    def size(self) -> int:
        """Return the number of values that the user's jacobian returns."""
        return self.jacobian.shape[0] * self.jacobian.shape[1]


class ForceCall(NamedTuple):
    """A user's function, and the places of its arguments and its value: body numbers, signal, places in the driver table.

    Without places in the driver table the value is added to Q_user: rows of generalized forces.
    constants: places in the driver table of the numbers that the function takes as its last argument, if it takes them
    """

    user_function: UserFunction
    bodies: tuple[int, ...]
    signal: int
    slots: tuple[int, ...]
    constants: tuple[int, ...] = ()


def arguments(force_call: ForceCall, y: Array, signals: Array) -> Sequence[Array | float]:
    """Return the arguments of the function after t: copies, so that it may keep or change them."""
    return arguments_of(force_call.user_function, force_call.bodies, force_call.signal, y, signals)


def arguments_of(
    user_function: UserFunction, bodies: Sequence[int], signal: int, y: Array, signals: Array
) -> Sequence[Array | float]:
    """Return the arguments of a function of these bodies, or of this signal."""
    if user_function.form == TIME:
        return ()
    if user_function.form != BODY and user_function.shape:
        own = signals[signal : signal + user_function.shape[0]].T.copy()
        return own[0], own[1]
    if user_function.form != BODY:
        return float(signals[signal, 0]), float(signals[signal, 1])
    if len(user_function.shape) == 1:
        row = y[WIDTH * bodies[0] :][:WIDTH].copy()
        return row[0:3], row[EULER:VELOCITY], row[VELOCITY:OMEGA_BAR], row[OMEGA_BAR:WIDTH]
    rows = np.array([y[WIDTH * k :][:WIDTH] for k in bodies])
    return [np.ascontiguousarray(rows[:, a:b]) for a, b in PARTS]
