"""Where the motion of a batch ends, because no method can follow it further: a jump of a driver, or an angle whose turn is not known."""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.status_codes import USER_STOPPED
from haugmbd.errors import SimulationError
from haugmbd.integrators.state_space import StateSpace
from haugmbd.integrators.step_batch import StepBatch, Stopped

CREPT = 1e-6
"""Relative to |t| + 1 s: distance after the last time of a run at which drivers are checked for a break."""


def before_break(
    space: StateSpace, batch: StepBatch, stopped: Stopped, t_last: float, step: float | None, t_end: float
) -> tuple[StepBatch, Stopped]:
    """Return the batch up to a jump or kink of a joint's driver, and the error that stops the run there.

    stopped: the error that has stopped the batch;  t_last: the end of the step before it;  step: of the method, None for an adaptive one
    """
    if batch.code == USER_STOPPED:  # no callback is evaluated after an error
        return batch, stopped
    t = np.append(t_last, batch.t)
    if stopped is not None:  # error control creeps up to the place, a fixed step leaps over it
        ahead = max(CREPT * (1.0 + abs(t[-1])), step or 0.0)
        t = np.append(t, min(t_end, max(batch.t_stop, t[-1]) + ahead))
    try:
        broken = space.broken(t)
    except Exception as error:  # noqa: BLE001  a driver in Python raised: what is before is kept
        return batch._replace(code=USER_STOPPED), stopped or error
    if broken is None:
        return batch, stopped
    t_broken, what = broken
    before = batch.first(int(np.searchsorted(batch.t, t_broken)))._replace(t_stop=t_broken)
    return before, _caused(f"the simulation stops at t = {t_broken:.9g} s: {what}", stopped)


def with_known_turns(space: StateSpace, batch: StepBatch, stopped: Stopped) -> tuple[StepBatch, Stopped]:
    """Return the batch up to the state at which the turn of an angle is not known any more, and the error that stops the run there."""
    lost = None if batch.curve is not None else space.lost_turn(batch.t, batch.y)
    if lost is None:
        return batch, stopped
    k, what = lost
    return batch.first(k)._replace(t_stop=float(batch.t[k])), _caused(what, stopped)


def _caused(what: str, by: Stopped) -> SimulationError:
    """Return the error that stops a run, with its cause."""
    stop = SimulationError(what)
    stop.__cause__ = by
    return stop
