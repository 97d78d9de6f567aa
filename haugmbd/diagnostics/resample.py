r"""States at other times, from stored states alone.

dense     the dense output of the integrators (`integrators.dense_output`): quintic Hermite in (r, p), velocities by its derivative
          y' at the stored states is that of the equations of motion; without a model, v' and omega_bar' of a cubic spline
          O(h^6) in r and p, O(h^5) in v and omega_bar; without a model O(h^5) and O(h^4); integrated angles O(h^4)
linear    r, v, omega_bar and angles piecewise linear, p by slerp

If the stored states fulfil the constraints, interpolated states are projected on the constraints, as those of `t_eval` are. If the
stored states have drifted, there is no projection.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import NO_CONVERGENCE, OFF_MANIFOLD, OK
from haugmbd.diagnostics.dense_states import Rests, rates_of, states_between
from haugmbd.diagnostics.violation import PHI, VELOCITY_GAP, rows_over_time
from haugmbd.diagnostics.work import hold_touch_speeds
from haugmbd.errors import SimulationError, SingularKKTError, UsageError, warn_user
from haugmbd.integrators.dense_output import interpolate
from haugmbd.integrators.stabilization.projection import Projection
from haugmbd.integrators.step_context import post_step_each
from haugmbd.integrators.stick_slip.watched_quantities import may_stick
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import p_dot_from, resample
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

FULFILLED = 1e-10
"""Largest violation of the stored states that is rounding and not drift, relative to the size of the mechanism (at least 1)."""
FAR = 1e-4
"""Violation of an interpolated state, relative in the same way, above which its error along the constraints is too large."""


def resample_states(
    model: Model | None, t: Array, y: Array, n: int, t_new: Array, kind: str, solutions: Callable[[], Array]
) -> Array:
    """Return states (k, ny) of n bodies at `t_new` (k,) within [t[0], t[-1]], from y (nt, ny) at increasing t (nt,).

    solutions: returns (u_dot, lam) by nodes at the states, (nt, nn, 6), if there is a model
    Raises UsageError for times outside, fewer than two states, or an unknown kind. Raises SimulationError if a state between stored ones
    cannot be projected on the constraints. Warns if an interpolated state is far from the constraints.
    """
    if not is_one_of(kind, ("dense", "linear")):
        raise UsageError(f"kind is {kind!r}: give 'dense' or 'linear'.")
    if len(t) < 2:
        raise UsageError(f"there are {len(t)} states to interpolate between; at least two are needed.")
    if not (t_new.ndim == 1 and np.all((t_new >= t[0]) & (t_new <= t[-1]))):
        raise UsageError(f"t_new must be times (k,) within {t[0]:g} .. {t[-1]:g} s; got {t_new.min():g} .. {t_new.max():g} s.")
    out = _linear(t, y, n, t_new) if kind == "linear" else _dense(model, t, y, n, t_new, solutions)
    if model is not None:
        hold_touch_speeds(model, t, y, t_new, out)
        if model.network is not None and kind == "linear":
            model.network.put_held(t_new, t, y, out)
    k = np.searchsorted(t, t_new)
    stored = t[k] == t_new
    out[stored] = y[k[stored]]
    if kind == "dense" and model is not None:
        _project(model, t, y, t_new, out, np.flatnonzero(~stored))
    return out


def _dense(model: Model | None, t: Array, y: Array, n: int, t_new: Array, solutions: Callable[[], Array]) -> Array:
    """Return states by the dense output of the integrators."""
    from scipy.interpolate import CubicSpline  # noqa: PLC0415  SciPy's splines are loaded where they are used

    rates = None
    if model is not None:
        try:
            rates = rates_of(t, y, solutions(), n)
        except SingularKKTError:  # a stored state at a singular position has no rates
            pass
    if rates is None:
        slope = CubicSpline(t, y)(t, 1)
        bodies, slopes = (x[:, : WIDTH * n].reshape(len(t), n, WIDTH) for x in (y, slope))
        slopes[..., 0:3] = bodies[..., VELOCITY:OMEGA_BAR]
        slopes[..., EULER:VELOCITY] = p_dot_from(bodies[..., EULER:VELOCITY], bodies[..., OMEGA_BAR:WIDTH])
        rates = slope
    states = interpolate(t_new, t, y, rates, n) if model is None else states_between(model, t_new, t, y, rates)
    angles = slice(WIDTH * n, y.shape[1] - (0 if model is None or model.network is None else model.network.size))
    if angles.stop > angles.start:
        states[:, angles] = CubicSpline(t, y[:, angles])(t_new)
    return states


def _linear(t: Array, y: Array, n: int, t_new: Array) -> Array:
    """Return linearly interpolated states, with p by slerp."""
    out = np.stack([np.interp(t_new, t, column) for column in y.T], axis=1)
    bodies, new = (x[:, : WIDTH * n].reshape(len(x), n, WIDTH) for x in (y, out))
    new[..., EULER:VELOCITY] = resample(t, bodies[..., EULER:VELOCITY], t_new)
    return out


def _project(model: Model, t: Array, y: Array, t_new: Array, states: Array, which: Ints) -> None:
    """Project `states[which]` in place on the constraints that the stored states y (nt, ny) fulfil."""
    if model.nc == 0 or len(which) == 0:
        return
    gaps = np.abs(rows_over_time(model, t, y).gaps[..., [PHI, VELOCITY_GAP]]).max(axis=(0, 1))
    size = max(1.0, float(np.abs(y[:, : WIDTH * (model.nb + 1)].reshape(len(t), -1, WIDTH)[..., :3]).max()))
    positions, velocities = (gaps <= FULFILLED * size).tolist()
    if not (positions or velocities):
        return
    if positions:
        _warn_if_far(model, t, t_new[which], states[which], FAR * size)
    rule = Projection(positions=positions, velocities=velocities)
    pack = rule.fitted(model, model.pack())
    rests = Rests(model, t, y) if may_stick(model) else None
    for k in which.tolist():
        if rests is not None:
            rests.hold(pack, float(t_new[k]))
        projected = states[k : k + 1].copy()
        code, _ = post_step_each(rule.post_step, pack, rule.options(), t_new[k : k + 1], projected)
        if code == OK:
            states[k] = projected[0]
            continue
        model.raise_user_error(pack)
        if code in (OFF_MANIFOLD, NO_CONVERGENCE):
            raise SimulationError(f"the state at {_between(t, t_new[k])} cannot be brought back to the constraints. {REMEDY}")


REMEDY = "Store states closer together, or give t_eval= to simulate."


def _warn_if_far(model: Model, t: Array, t_new: Array, states: Array, far: float) -> None:
    """Warn if interpolated states violate the constraints by much.

    After the projection they fulfil the constraints, but are inaccurate along them.
    """
    gaps = np.abs(rows_over_time(model, t_new, states).gaps[..., PHI]).max(axis=1)
    k = int(gaps.argmax())
    if gaps[k] > far:
        what = f"the state at {_between(t, t_new[k])} missed the constraints by {gaps[k]:.1e} before it was brought back to them"
        warn_user(f"{what}: the stored states are far apart, so that states between them are not accurate. {REMEDY}")


def _between(t: Array, time: float) -> str:
    """Return the interval of stored times around a time, as text."""
    k = int(np.searchsorted(t, time))
    return f"t = {time:.9g} s, between those stored at {t[k - 1]:.9g} and {t[k]:.9g} s,"
