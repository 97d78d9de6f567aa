"""A run that is to be made: what `simulate` hands on to the run of each kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

from haugmbd.compiled.array_types import Array
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.initial_state import consistent_start
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.arguments import check_drivers, check_interval, wanted_times
from haugmbd.simulation.results.segments import Again
from haugmbd.simulation.run_options import RunLimits, RunMethods, RunOutput


@dataclass(frozen=True, eq=False)
class RunTask:
    """A run of a model from a state to the time `t_end` [s].

    rule: the stabilization of the methods, or what takes its place
    project_velocity: whether inconsistent initial velocities are projected
    again: makes the run again, see `Result`;  repeats: whether it is made again, from a state that is known to fit
    """

    model: Model
    start: State
    t_end: float
    methods: RunMethods
    rule: Stabilization
    output: RunOutput
    limits: RunLimits
    again: Again
    project_velocity: bool = False
    repeats: bool = False

    @property
    def integrator(self) -> Integrator:
        """The integrator."""
        return self.methods.integrator

    @property
    def times(self) -> Array | None:
        """The times at which states are stored [s], (nt,); None for every so many steps."""
        return wanted_times(self.output.t_eval, self.start.t, self.t_end)

    def check_interval(self) -> None:
        """Raise UsageError or ModelError for an interval or step that do not fit, and for drivers that do not cover the interval."""
        check_interval(self.integrator, self.start.t, self.t_end, self.output.store_every)
        check_drivers(self.model, self.start.t, self.t_end)

    def checked(self) -> RunTask:
        """Return the task with a start that fits. Raise UsageError or ModelError for an interval, step, drivers or state that do not."""
        if self.repeats:
            return self
        self.check_interval()
        start = consistent_start(self.model, self.model.pack(), self.start, project_velocity=self.project_velocity)
        return replace(self, start=start)
