"""The signals of violation studies: a violation over time as one number, checked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.diagnostics.violation import Level
from haugmbd.errors import UsageError
from haugmbd.model.inspection.length import units_of_rows
from haugmbd.model.labels import joint_named
from haugmbd.model.model import Model
from haugmbd.simulation.results.result import Result

FEWEST = 16
"""Least number of samples from which a law is told."""
SYMBOL = {"position": "Phi", "velocity": "Phi_q u - nu", "acceleration": "Phi_q u_dot - gamma"}
PER_TIME = {"position": "", "velocity": "/s", "acceleration": "/s2"}


ROUNDING = 100.0 * float(np.finfo(np.float64).eps)
"""Relative to lengths and speeds: a violation that never exceeds it is rounding, in which no law is looked for."""


class Signal(NamedTuple):
    """A signal y (n,) at increasing times t (n,), what it is, and what is rounding of it."""

    t: Array
    y: Array
    name: str
    rounding: float = 0.0


def need_result(result: object, who: str, states: int = 2) -> None:
    """Raise UsageError unless this is a result of a System with some states."""
    if not isinstance(result, Result):
        raise UsageError(f"{who} got {type(result).__name__}: give the Result of a System, as mbd.simulate(...) returns it.")
    if len(result) < states:
        raise UsageError(f"{who} needs {states} states or more, and the result has {len(result)}.")


def rows_of(result: Result, level: Level) -> Array:
    """Return the violation of all rows, (nt, nc); at acceleration level with the accelerations of the method, if they were recorded."""
    return result.violation(level, of_method=level == "acceleration" and result.has_accelerations_of_method)


def violation_signal(result: Result, level: Level, joint: str | None = None) -> Signal:
    """Return the violation of a result over time: signed for a single row, else the norm over the rows in units of the model's length."""
    rows, model = rows_of(result, level), result.model
    chosen, name = chosen_rows(model, joint), signal_name(model, level, joint)
    if len(chosen) == 1:
        k = int(chosen[0])
        return _increasing(result, rows[:, k], name, float(units_of_rows(model)[k]) * _rounding(result, level))
    return _increasing(result, scaled_norm(result, rows[:, chosen], chosen), name, _rounding(result, level))


def chosen_rows(model: Model, joint: str | None = None) -> Ints:
    """Return the numbers of the rows of a joint, or of all.  Raise UsageError if there are none."""
    chosen = np.arange(len(model.labels)) if joint is None else np.asarray(joint_named(model.joints, joint).rows)
    if not len(chosen):
        raise UsageError(f"{model.name!r} has no constraint rows, and nothing that could be violated.")
    return chosen


def signal_name(model: Model, level: Level, joint: str | None = None) -> str:
    """Return what `violation_signal` is, with its unit."""
    if not is_one_of(level, SYMBOL):
        raise UsageError(f"level is {level!r}: give one of {', '.join(map(repr, SYMBOL))}.")
    chosen = chosen_rows(model, joint)
    if len(chosen) > 1:
        unit = "1" + PER_TIME[level]
        return f"|{SYMBOL[level]}| of {'all rows' if joint is None else repr(joint)} [{unit}]"
    label = model.labels[int(chosen[0])]
    return f"{SYMBOL[level]} of {label.joint!r} [{label.unit + PER_TIME[level]}]"


def scaled_norm(result: Result, rows: Array, chosen: Ints | None = None) -> Array:
    """Return the norm over rows (nt, k), with Phi in m divided by the length of the model, in m2 by its square, angles by 1."""
    units = units_of_rows(result.model)
    norm: Array = np.linalg.norm(rows / (units if chosen is None else units[chosen]), axis=1)
    return norm


def _rounding(result: Result, level: Level) -> float:
    """Return what is rounding of a violation in units of the length; 0 for the acceleration level, whose size varies."""
    L = result.model.length
    speed = float(max(np.abs(result.v).max() / L, np.abs(result.omega_bar).max()))
    return ROUNDING * {"position": 1.0, "velocity": speed, "acceleration": 0.0}[level]


def _increasing(result: Result, y: Array, name: str, rounding: float) -> Signal:
    """Return the signal without states at the time of the one before, and without those at which the method has no accelerations."""
    new = np.concatenate([[True], np.diff(result.t) > 0.0])
    if result.has_accelerations_of_method:
        new &= ~np.isnan(y)
    return checked_signal(result.t[new], y[new], name)._replace(rounding=rounding)


def checked_signal(t: npt.ArrayLike, y: npt.ArrayLike, name: str = "y") -> Signal:
    """Return the signal as arrays.  Raise UsageError for arrays that no law can be fitted to, with all faults."""
    try:
        times, values = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"drift_law(t, y): t and y must be real numbers: {error}.") from error
    faults = []
    if times.ndim != 1 or values.ndim != 1 or times.shape != values.shape:
        faults.append(f"t has shape {times.shape} and y {values.shape}, must be (nt,) both")
    for label, array in (("t", times), ("y", values)):
        bad = np.flatnonzero(~np.isfinite(array.ravel()))
        if len(bad):
            faults.append(f"{label}[{bad[0]}] is {array.ravel()[bad[0]]}: numbers must be finite")
    if times.ndim == 1 and len(times) < FEWEST:
        faults.append(f"there are {len(times)} samples, a law needs {FEWEST} or more")
    if times.ndim == 1 and np.isfinite(times).all() and not (np.diff(times) > 0.0).all():
        k = int(np.flatnonzero(~(np.diff(times) > 0.0))[0])
        faults.append(f"t must increase, but t[{k + 1}] = {times[k + 1]:g} follows t[{k}] = {times[k]:g}")
    if faults:
        raise UsageError(f"drift_law: {'; '.join(faults)}.")
    return Signal(times, values, name)
