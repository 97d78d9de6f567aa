"""Integrated angles that drift from the orientations of the bodies by the small errors of many steps: a run continues without the drift."""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.status_codes import OK
from haugmbd.integrators.state_space import StateSpace
from haugmbd.integrators.step_batch import StepBatch, Stopped

DRIFTS = 100
"""Steps in which integrated angles drift from the orientations by small errors; where they do in fewer, the steps are too long."""


class AngleDrift:
    """The drift of the integrated angles of a run, by the steps in which it has grown.

    since: number of the step at which there was none
    """

    def __init__(self, state_space: StateSpace, since: int) -> None:
        self.state_space, self.since = state_space, since
        self._state: Array | None = None

    def leave_start(self, y: Array) -> None:
        """Take the drift out of the state y (ny,) at which a run starts."""
        found = self.state_space.without_drift(y[None])
        if found is not None:
            y[:] = found[1]

    def cut(self, batch: StepBatch, stopped: Stopped, steps: int) -> tuple[StepBatch, Stopped]:
        """Return the batch up to a state with drift, and the error that stops the run; steps: those before the batch."""
        first = max(0, DRIFTS - 1 - (steps - self.since))
        interrupted = stopped is not None and not isinstance(stopped, Exception)
        found = None if interrupted or batch.curve is not None else self.state_space.without_drift(batch.y[first:])
        if found is None:
            self._state = None
            return batch, stopped
        k, self._state = found
        return batch.first(first + k + 1)._replace(code=OK), None

    def state_without(self, steps: int) -> Array | None:
        """Return the last state of a batch without its drift, from which the run continues; None if it has none.  steps: so far"""
        if self._state is not None:
            self.since = steps
        return self._state
