r"""Work between stored states: the powers of loads and drivers, integrated by Gauss's rule over dense output.

    W(t_(k+1)) - W(t_k) = h sum w_i P(t_k + c_i h),   h = t_(k+1) - t_k        three points: exact for polynomials of degree five

The states at the Gauss points are quintic Hermite interpolants of (r, p), with the second rates of the equations of motion at the
stored states. The error is of order six in the output step; that of a cubic spline through the powers is of order four.
With contact forces the points are those of a rule that is graded towards both ends of the interval, which may be touch and release.
Source: Abramowitz, Stegun, 25.4.30 (Gauss); `diagnostics.dense_states`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.dense_states import rates_of, states_between
from haugmbd.diagnostics.rows_over_time import NU, rows_over_time
from haugmbd.drivers.driver import Constant
from haugmbd.errors import SingularKKTError
from haugmbd.formulations.accelerations import solve_states
from haugmbd.model.inspection.energy_balance import load_ledger
from haugmbd.model.model import Model

POINTS = 0.5 + 0.5 * np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
"""Gauss's rule of three points on 0 ... 1."""


class QuadratureRule(NamedTuple):
    """A rule of integration on 0 ... 1: points and weights."""

    points: Array
    weights: Array


def graded_rule(n: int) -> QuadratureRule:
    """Return Gauss's rule of n points in s with c = s^2 (3 - 2 s), for powers that begin or end an interval like c^(3/2)."""
    x, w = np.polynomial.legendre.leggauss(n)
    s = 0.5 + 0.5 * x
    return QuadratureRule(s * s * (3.0 - 2.0 * s), 3.0 * w * s * (1.0 - s))


GAUSS = QuadratureRule(POINTS, WEIGHTS)
AT_CONTACT = graded_rule(8)
"""For models with contact forces: at touch and release the power of the damping begins and ends like the power 3/2 of the time."""


def times_between(t: Array, rule: QuadratureRule = GAUSS) -> Array:
    """Return the times at which powers are evaluated: those of the rule, by default three, in each interval of t (nt,)."""
    times: Array = (t[:-1, None] + np.diff(t)[:, None] * rule.points).ravel()
    return times


def integral(t: Array, power: Array, rule: QuadratureRule = GAUSS) -> Array:
    """Return the integral from t[0], (nt,), of a power that is known at `times_between(t, rule)`."""
    parts = np.diff(t) * (power.reshape(-1, len(rule.points)) @ rule.weights)
    work: Array = np.concatenate([np.zeros(min(1, len(t))), np.cumsum(parts)])
    return work


def work_over_time(model: Model, t: Array, y: Array, solutions: Callable[[], Array]) -> tuple[Array, Array]:
    """Return applied and dissipated work from t[0], (nt,) each.

    `solutions()` returns (u_dot, lam) by nodes at the states, (nt, nn, 6).
    """
    working = any(not entry.load.keeps_energy for entry in model.loads)
    if len(t) < 2 or not (working or is_driven(model)):
        return np.zeros(len(t)), np.zeros(len(t))
    rule = AT_CONTACT if model.has_contacts else GAUSS
    try:
        times = times_between(t, rule)
        rates = rates_of(t, y, solutions(), model.nb + 1)
        states = states_between(model, times, t, y, rates)
        hold_touch_speeds(model, t, y, times, states)
        applied, dissipated = powers(model, times, states)
    except SingularKKTError:  # a stored state at a singular position has no rates: use the spline through the powers at the states
        return spline_of(model, t, y)
    return integral(t, applied, rule), integral(t, dissipated, rule)


def hold_touch_speeds(model: Model, t: Array, y: Array, t_new: Array, states: Array) -> None:
    """Overwrite the touch speeds of contacts in interpolated states by those of the previous stored state, because they jump."""
    if len(model.touch_columns):
        before = np.searchsorted(t, t_new, side="right") - 1
        states[:, model.touch_columns] = y[np.ix_(before, model.touch_columns)]


def is_driven(model: Model) -> bool:
    """Return whether a row has a driver that moves, and may do work."""
    return any(not isinstance(model.drivers[k], Constant) for k in model.drivers_of_rows())


def powers(model: Model, t: Array, y: Array) -> tuple[Array, Array]:
    """Return applied and dissipated power at states y (nt, ny); a driven row has the power -lam nu.

    Raises the errors of the accelerations.
    """
    applied, dissipated = np.zeros(len(t)), np.zeros(len(t))
    for element in load_ledger(model, t, y).values():
        applied = applied + element.applied
        dissipated = dissipated + element.dissipated
    nu = rows_over_time(model, t, y).gaps[:, :, NU] if is_driven(model) else np.zeros(0)
    if nu.any():
        slots = solve_states(model, t, y)[:, model.nb + 1 :].reshape(len(t), -1)
        applied = applied - np.sum(slots[:, model.slot_of_row] * nu, axis=1)
    return applied, dissipated


def spline_of(model: Model, t: Array, y: Array) -> tuple[Array, Array]:
    """Return applied and dissipated work by cubic splines through the powers at the states."""
    from scipy.interpolate import CubicSpline  # noqa: PLC0415  only where there is nothing better

    applied, dissipated = (CubicSpline(t, power).antiderivative()(t) for power in powers(model, t, y))
    return applied, dissipated
