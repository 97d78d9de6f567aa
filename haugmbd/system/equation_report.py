r"""The equations of a model as text: in words, in symbols, and in numbers at one state.

    Phi = 0        Phi_dot = Phi_q u - nu = 0        Phi_q u_dot = gamma        f, f', f'' of the driver

One row is a paragraph, a joint a paragraph for each of its rows, a model a table with a line for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.drivers import Constant
from haugmbd.errors import UsageError
from haugmbd.model.explanation import Explanation, RowExplanation
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.labels import joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State


def explain_model(model: Model, which: str | int | None, state: State | None) -> Explanation | RowExplanation:
    """Return the table of all rows (None), the rows of a joint by its name, or one row by its number."""
    if which is not None and not isinstance(which, str) and (not isinstance(which, Integral) or isinstance(which, bool)):
        raise UsageError(f"model.explain got {which!r}: give the name of a joint, the number of a row, or nothing for all rows.")
    state = model.state() if state is None else state
    rows = evaluate(model, state)
    if isinstance(which, str):
        numbers = joint_named(model.joints, which).rows.tolist()
        return Explanation(model.name, state.t, tuple(_explained(model, rows, state, numbers)), as_table=False)
    if which is None:
        explained = tuple(_explained(model, rows, state, range(model.nc)))
        return Explanation(model.name, state.t, explained, as_table=True, solver=model.explain_solver())
    return explain_row(model, rows, state, int(which))


def explain_row(model: Model, rows: Rows, state: State, number: int) -> RowExplanation:
    """Return row `number`. Raise UsageError, with the range, if there is none."""
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= number < model.nc:
        there = f"its rows are 0 to {model.nc - 1}" if model.nc else "it has no rows"
        raise UsageError(f"model {model.name!r} has no row {number!r}: {there}.")
    return _explained(model, rows, state, [int(number)])[0]


def _explained(model: Model, rows: Rows, state: State, numbers: Sequence[int]) -> list[RowExplanation]:
    """Return the rows of these numbers."""
    Phi_dot, of_row = phi_rate(rows, state), model.drivers_of_rows()
    kinds = {entry.name: entry.kind for entry in model.joints.values()}
    found = []
    for k in numbers:
        label, (i, j, *more), driver = rows.labels[k], rows.bodies[k].tolist(), model.drivers[of_row[k]]
        names = model.body_names[i], model.body_names[j]
        others = tuple(model.body_names[body] for body in more if body)
        driven = not isinstance(driver, Constant)
        values = float(rows.Phi[k]), float(Phi_dot[k]), float(rows.gamma[k])
        found.append(RowExplanation(k, label, kinds[label.joint], *names, *values, driver.values(state.t), driven, state.t, others))
    return found


def phi_rate(rows: Rows, state: State) -> Array:
    """Return d Phi / dt = Phi_q u - nu at the velocities of `state`, (nc,)."""
    u = np.hstack([state.v, state.omega_bar])
    u[0] = 0.0
    pairs: Ints = rows.bodies
    J = np.concatenate([rows.Phi_r, rows.PiBar], axis=2)
    return np.asarray(np.einsum("rsc,rsc->r", J, u[pairs]) - rows.nu, dtype=np.float64)
