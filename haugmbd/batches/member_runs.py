"""The runs of the members of one batch, by the fastest road that has the numbers and the words of a single run.

eight side by side    fixed steps of many members, in one vector register, see `runs_side_by_side`
in one call           short runs by the default methods, one after the other in compiled code, see `short_members`
one by one            the rest of these, in a workspace that members share, see `simulation.smooth_run`
as a single run       everything else, and whatever has something to say
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from haugmbd.batches.direct_tables import direct_tables, loads_and_gravity_alone, member_model
from haugmbd.batches.parameters import Parameter
from haugmbd.batches.runs_side_by_side import RunGroups, run_side_by_side
from haugmbd.batches.short_members import ShortMembers
from haugmbd.batches.trajectories import Deferred, Members
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.wide import MEMBERS
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus
from haugmbd.integrators.initial_state import check_start
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.records import Recorded
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import NEWTON_EULER, PROJECTION, RunLimits, RunMethods, RunOutput
from haugmbd.simulation.simulate import result_of_short_run, run_system, with_sensor_notes
from haugmbd.simulation.smooth_run import GroupSteps, ended, short_run, suited


class Starts(NamedTuple):
    """The members of a batch: their model, times (N,), states (N, ny), None for the modelled one, and parameters."""

    model: Model
    t: Array
    states: Array | None
    parameters: Sequence[Parameter]


class Wanted(NamedTuple):
    """What is wanted of each run, as of `simulate`."""

    t_end: float
    methods: RunMethods
    output: RunOutput
    project_velocity: bool
    budget: float | None

    @property
    def is_plain(self) -> bool:
        """Whether the methods are those of the default, but for the integrator, and all states are stored."""
        default = self.methods.formulation is NEWTON_EULER and self.methods.stabilization is PROJECTION
        every = self.output.t_eval is None and self.output.store_every == 1
        return default and every and self.budget is None and not self.project_velocity


class MemberRuns:
    """The runs of the members of one batch.

    starts: the members;  wanted: of each run;  modelled: the modelled state at a time;  stores: whether results are written to files
    """

    def __init__(self, starts: Starts, wanted: Wanted, modelled: Callable[[float], State], *, stores: bool) -> None:
        self.starts, self.wanted, self.modelled = starts, wanted, modelled
        model, t, states, parameters = starts
        self.tables = direct_tables(model, parameters) if parameters else None
        self.groups: RunGroups | None = None
        self.block: ShortMembers | None = None
        shared = not parameters or (self.tables is not None and loads_and_gravity_alone(parameters))
        self.is_short = wanted.is_plain and not stores and shared and suited(model).smooth
        if not self.is_short:
            return
        method, odd = wanted.methods.integrator, self.tables is not None and bool(np.any(self.tables.odd))
        steps = 0.0 if method.step is None else (wanted.t_end - float(t.min())) / method.step
        if not odd and run_side_by_side(model, method, len(t), steps):
            own = np.tile(model.y0, (len(t), 1)) if states is None else states
            self.groups = RunGroups(model, method, t, own, wanted.t_end, None if self.tables is None else self.tables.reals)
        else:
            self.block = ShortMembers.of(model, method, t, wanted.t_end)

    def members(self, model_of: Callable[[int], Model], threads: int) -> Members:
        """Return the members as `run_all` takes them."""
        n = len(self.starts.t)
        run_one = self.short if self.is_short else self.single
        members = Members(n, len(self.starts.model.y0), run_one, model_of, size=1 if self.groups is None else MEMBERS)
        if self.block is None:
            return members
        return members._replace(together=self.together, size=min(self.block.size, -(-n // threads)))

    def start_of(self, k: int) -> State:
        """Return the initial state of member k where all have the modelled rows."""
        t, states = float(self.starts.t[k]), self.starts.states
        return self.modelled(t) if states is None else State.from_y(t, states[k], self.starts.model.nb + 1)

    def single(self, k: int) -> Result:
        """Run member k as a single run."""
        starts, wanted = self.starts, self.wanted
        model, t = member_model(starts.model, starts.parameters, self.tables, k), float(starts.t[k])
        state = model.state().replace(t=t) if starts.states is None else State.from_y(t, starts.states[k], model.nb + 1)
        asked = (model, wanted.t_end, wanted.methods, wanted.output, RunLimits(wanted.budget))
        return with_sensor_notes(run_system(*asked, state=state, project_velocity=wanted.project_velocity))

    def short(self, k: int) -> Result | Deferred:
        """Run member k with its group, or in a workspace that members share."""
        if self.tables is not None and self.tables.odd[k]:
            return self.single(k)
        made = None if self.groups is None else self.groups.steps_of(k)
        if made is not None:
            outcome = ended(RunStatus.COMPLETED, float(made.t[-1]), self.wanted.t_end)
            return self._deferred(k, made.t, made.y, outcome, partial(self._recorded, k, made))
        check_start(self.starts.model, self.start_of(k), project_velocity=False)
        recorded = self._recorded(k)
        return self.single(k) if recorded is None else self._deferred(k, recorded.t, recorded.y, recorded.outcome, lambda: recorded)

    def together(self, first: int, last: int) -> list[Deferred | None]:
        """Run the members first ... last - 1 in one call; None for those that are left to `short`."""
        assert self.block is not None
        starts, tables = self.starts, self.tables
        none = np.zeros((last - first, 0))
        y0 = np.tile(starts.model.y0, (last - first, 1)) if starts.states is None else starts.states[first:last]
        places, reals = (none[0].astype(np.int64), none) if tables is None else (tables.places, tables.values(first, last))
        made: list[Deferred | None] = []
        for k, run in enumerate(self.block.run(y0, places, reals), first):
            if run is None or (tables is not None and tables.odd[k]):
                made.append(None)
            else:
                made.append(self._deferred(k, run.t, run.y, run.outcome, partial(_itself, run)))
        return made

    def _recorded(self, k: int, made: GroupSteps | None = None) -> Recorded | None:
        """Return what the short run of member k records, whose steps may be made; None if it is made as a single run."""
        reals = None if self.tables is None else self.tables.reals(k)
        t_end, method = self.wanted.t_end, self.wanted.methods.integrator
        return short_run(self.starts.model, method, NEWTON_EULER, PROJECTION, self.start_of(k), t_end, reals, made)

    def _deferred(self, k: int, t: Array, y: Array, outcome: Outcome, find: Callable[[], Recorded | None]) -> Deferred:
        """Return the run of member k, whose Result is made when somebody asks for it, of what `find` says that it has recorded."""

        def result() -> Result:
            recorded = find()
            if recorded is None:
                return self.single(k)
            model = member_model(self.starts.model, self.starts.parameters, self.tables, k)
            return result_of_short_run(model, self.wanted.methods, self.start_of(k), self.wanted.t_end, recorded)

        return Deferred(t, y, outcome, result)


def _itself(found: Recorded) -> Recorded:
    """Return what a run has recorded."""
    return found
