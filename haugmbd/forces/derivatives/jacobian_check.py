r"""Comparison of a declared jacobian with differences of its function, once, when they are read: at the modelled state and some nearby.

    dF/dx = (8 (F_1 - F_-1) - (F_2 - F_-2)) / (12 h) + O(h^4),   F_k = F(x + k h)        x = l, l_dot;  r, v, omega_bar
    about axis a of a body:   p o exp(k h e_a)                                            and one-sided, because F may have a kink nearby

No step fits all functions: the nearest difference counts, as it does for drivers. The differences are used for this comparison only.
Source: Fornberg, Math. Comp. 51 (1988) 699-706; Dennis, Schnabel, Numerical Methods for Unconstrained Optimization, sec. 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, SimulationError
from haugmbd.forces.derivatives.jacobian import TURN, Jacobian, copies
from haugmbd.math import euler_parameters

NEARBY = 3
"""Number of states besides the modelled one; they reveal an entry that is right only at rest, or only for an unturned body."""
SPREAD, AT_LEAST = 0.05, 0.1
"""Displacement of these states: this part of the size of an argument, which is at least 0.1 (m, m/s, rad/s); as many rad."""

TOL = 1e-6
"""Allowed error, relative to the largest entry by the same argument in the same row; above truncation and rounding."""
NOISE = 1e-12
"""Allowed error, relative to the largest entry in the row: cancellation in a stiff force."""
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Steps, relative to the size of an argument, which is at least 1."""
ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Rounding of the force, relative to it; a difference divides it by the step."""

ONE_SIDED = np.array([-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4])
STENCILS = (
    (np.array([-2, -1, 1, 2]), np.array([1.0, -8.0, 8.0, -1.0]) / 12.0),
    (np.arange(5), ONE_SIDED),
    (-np.arange(5), -ONE_SIDED),
)


def disagreement(jacobian: Jacobian, t: float, arguments: Sequence[Any]) -> tuple[Fault, ...]:
    """Return a fault for the first entry in which a jacobian and its function disagree; () if they agree."""
    for k, state in enumerate(nearby(jacobian, arguments)):
        try:
            given = jacobian.call(t, *copies(state))
        except (SimulationError, ArithmeticError, ValueError):  # out of the function's range; the modelled state was tried before
            continue
        for column in range(given.shape[1]):
            nearest = _nearest(jacobian, t, state, column, given)
            if nearest is not None:
                place = "the modelled state" if k == 0 else "a state near the modelled one"
                return (_fault(jacobian, t, column, given, nearest, place),)
    return ()


def nearby(jacobian: Jacobian, arguments: Sequence[Any]) -> list[list[Any]]:
    """Return the modelled arguments, and some displaced ones, the same at every call."""
    rng, found = np.random.default_rng(4), [copies(arguments)]
    for _ in range(NEARBY):
        state = copies(arguments)
        for k, x in enumerate(state):
            if jacobian.of_bodies and k == TURN:
                p = x.reshape(-1, 4)
                p[:] = euler_parameters.product(p, euler_parameters.exponential(SPREAD * rng.normal(size=(len(p), 3))))
            else:
                state[k] = x + SPREAD * max(float(np.linalg.norm(x)), AT_LEAST) * rng.normal(size=np.shape(x))
        found.append(copies(state))
    return found


def moved(jacobian: Jacobian, arguments: Sequence[Any], column: int, h: float) -> list[Any]:
    """Return the arguments with the coordinate of a column changed by h."""
    state = copies(arguments)
    if not jacobian.of_bodies:
        state[column] += h
        return state
    part, place = divmod(column, 3 * jacobian.bodies)
    if part == TURN:
        p = state[TURN].reshape(-1, 4)[place // 3]
        p[:] = euler_parameters.product(p, euler_parameters.exponential(h * np.eye(3)[place % 3]))
    else:
        state[part].reshape(-1)[place] += h
    return state


def _nearest(jacobian: Jacobian, t: float, state: Sequence[Any], column: int, given: Array) -> tuple[int, float, float] | None:
    """Return row, difference and allowed error of the entry of a column with the largest error; None if all agree."""
    part = column // (given.shape[1] // 4) if jacobian.of_bodies else column
    width = 3 * jacobian.bodies if jacobian.of_bodies else 1
    scale = np.abs(given[:, part * width : (part + 1) * width]).max(axis=1)
    allowed = TOL * scale + NOISE * np.abs(given).max(axis=1)
    size = 1.0 if jacobian.of_bodies and part == TURN else max(1.0, float(np.linalg.norm(state[part])))
    best, open_rows = np.full(len(given), np.inf), np.ones(len(given), dtype=bool)
    estimate, limit = np.zeros(len(given)), allowed
    for offsets, weights in STENCILS:
        for step in STEPS:
            h = step * size
            F = _displaced_values(jacobian, t, state, column, h * np.asarray(offsets, dtype=np.float64))
            if F is None:
                continue
            found, free = weights @ F / h, allowed + ROUNDING * np.abs(F).max(axis=0) / h
            off = np.abs(found - given[:, column])
            nearer = off - free < best
            best[nearer], estimate[nearer], limit[nearer] = (off - free)[nearer], found[nearer], free[nearer]
            open_rows &= off > free
            if not open_rows.any():
                return None
    rows = np.flatnonzero(open_rows & np.isfinite(best))
    if not len(rows):
        return None
    row = int(rows[np.argmax(best[rows])])
    return row, float(estimate[row]), float(limit[row])


def _displaced_values(jacobian: Jacobian, t: float, state: Sequence[Any], column: int, shifts: Array) -> Array | None:
    """Return the function's values (k, rows) for shifted coordinates; None if one of them is unusable."""
    values = []
    for shift in shifts:
        try:
            values.append(jacobian.user_function.call(t, *moved(jacobian, state, column, float(shift))).ravel())
        except Exception:  # noqa: BLE001  a user's function may raise anything, and need not be defined here
            return None
    return np.array(values, dtype=np.float64)


def _fault(jacobian: Jacobian, t: float, column: int, given: Array, nearest: tuple[int, float, float], place: str) -> Fault:
    row, estimate, limit = nearest
    label, entry = jacobian.user_function.label, float(given[row, column])
    derivative = f"d {_component(jacobian, row)} / d {_argument(jacobian, column)}"
    what = (
        f"the jacobian entry {derivative} is {entry:.9g} at {place} and t = {t:.9g} s, and "
        f"differences of {label} give {estimate:.9g}: off by {abs(entry - estimate):.3g} (allowed {limit:.3g})"
    )
    remedy = f"Correct jacobian or {label}; or leave jacobian out: {label} is then differenced."
    return Fault(jacobian.where, what, remedy)


def _component(jacobian: Jacobian, row: int) -> str:
    """Return the name of an entry of the value: force[1], force[0, 3], actuator."""
    shape, label = jacobian.user_function.shape, jacobian.user_function.label
    return label + (str([int(k) for k in np.unravel_index(row, shape)]) if shape else "")


def _argument(jacobian: Jacobian, column: int) -> str:
    """Return the name of a coordinate: r[0, 2], pi_bar[1] (a turn about the body's y axis), l."""
    names = jacobian.user_function.form.split(", ")[1:]
    if not jacobian.of_bodies:
        return names[column]
    part, place = divmod(column, 3 * jacobian.bodies)
    index = [place] if len(jacobian.user_function.shape) == 1 else [place // 3, place % 3]
    if part == TURN:
        return f"pi_bar{index} (a turn about the body's own {'xyz'[place % 3]})"
    return f"{names[part]}{index}"
