"""Accelerations, multipliers and constraint rows for loops of a user's own: one workspace, no copies, no check of the state."""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import solve_once
from haugmbd.formulations.error_messages import explain
from haugmbd.model.model import Model
from haugmbd.workspace.layout import workspace_array


class Evaluator:
    """Evaluates the equations of motion of one model again and again; `Model.evaluator` returns it.

    Call it with a time and a flat state; then read its attributes.  They are views of one workspace, which the next call overwrites:
    copy what must last.  A second thread needs an evaluator of its own.

    Attributes
    ----------
    v_dot : ndarray, (nb + 1, 3)
        Accelerations of the centres of mass, global frame [m/s2]; the ground is in row 0.
    omega_bar_dot : ndarray, (nb + 1, 3)
        Angular accelerations, body frames [rad/s2].

    Raises
    ------
    SingularKKTError
        In a call: at a singular configuration, or where an axis without inertia is free.
    UsageError
        In a call: if the state is not a contiguous array of 13 (nb + 1) + na floats.

    Notes
    -----
    States are not checked: Euler parameters of a length other than one, or numbers that are not finite, give such results.
    Multipliers of dependent rows are those of the kept rows.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._pack = model.pack()
        x = workspace_array(self._pack, "SOLUTION")
        n = model.nb + 1
        self.v_dot, self.omega_bar_dot = x[:n, :3], x[:n, 3:]
        self._lam, self._level = x[n:].reshape(-1), workspace_array(self._pack, "LEVEL")
        self._shape = model.y0.shape

    def __call__(self, t: float, y: Array) -> Evaluator:
        """Evaluate the flat state y (13 (nb + 1) + na,) at time t [s]; return the evaluator."""
        if not (isinstance(y, np.ndarray) and y.shape == self._shape and y.dtype == np.float64 and y.flags.carray):
            raise UsageError(
                f"an evaluator needs a contiguous, writable array of {self._shape[0]} floats, such as state.y; got {_kind(y)}."
            )
        code = solve_once(self._pack, t, y)
        if code != 0:
            self.model.raise_user_error(self._pack)
            raise explain(self.model, self._pack, code, t)
        self.v_dot[0] = self.omega_bar_dot[0] = 0.0  # the forces on the ground are stored there
        return self

    @property
    def lam(self) -> Array:
        """The multipliers of all rows, a new array (nc,)."""
        return self._lam[self.model.slot_of_row]

    @property
    def Phi(self) -> Array:
        """The constraint functions, a new array (nc,)."""
        return self._rows(0)

    @property
    def nu(self) -> Array:
        """The right-hand sides of the velocity equations, a new array (nc,)."""
        return self._rows(1)

    @property
    def gamma(self) -> Array:
        """The right-hand sides of the acceleration equations, a new array (nc,)."""
        return self._rows(2)

    def _rows(self, column: int) -> Array:
        values: Array = self._level[self.model.slot_of_row, column]
        return values

    def __getstate__(self) -> Any:
        raise UsageError("an evaluator cannot be pickled or copied: give the model, and call model.evaluator() there.")


def _kind(y: object) -> str:
    return f"shape {y.shape}, {y.dtype}" if isinstance(y, np.ndarray) else f"{y!r:.60}"
