"""How a run is computed, and what is stored of it: the arguments of `simulate` in groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.contact_impacts import ContactImpact
from haugmbd.diagnostics.run_warnings import Outcome, RunStatus
from haugmbd.integrators.events import Event, EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.integrators.watches.stiffness_watch import StiffnessWatch
from haugmbd.simulation.results.records import Counters
from haugmbd.simulation.results.sensor import Sensor, SensorHistory

MOST_PER_SECOND = 2000.0
"""Impacts and openings per second of simulated time.  The last second of a cascade of bounces under gravity has about 14 / (1 - e) of
them, so that large restitutions are within the limit."""


@dataclass(frozen=True)
class RunOutput:
    """The arguments of `simulate` that say what is recorded.

    take, keeps_ends: see `Recording`
    """

    t_eval: npt.ArrayLike | None = None
    events: Sequence[Event] = ()
    sensors: Sequence[Sensor] = ()
    store_every: int = 1
    progress: bool = False
    record_method: bool = False
    take: Callable[[Array, Array], None] | None = None
    keeps_ends: bool = False


@dataclass(frozen=True)
class RunLimits:
    """How far a run goes.

    budget: longest time that it may take [s];  until: time [s] from which on its steps are not needed
    most: impacts and openings of rigid contacts and stops per second of simulated time
    """

    budget: float | None = None
    until: float = inf
    most: float = MOST_PER_SECOND


class Recording(NamedTuple):
    """The checked arguments that say what the loop of a run records.

    times: at which states are stored, (nt,), or None for every so many steps
    bodies: number of bodies whose accelerations by the method are kept
    keeps_ends: whether the first and the last state are stored beside those at given times
    take: takes the states (t, y) in parts as the run goes, which then keeps the last of them alone; without sensors
    """

    times: Array | None = None
    every: int = 1
    events: tuple[Event, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    bodies: int = 0
    keeps_ends: bool = False
    take: Callable[[Array, Array], None] | None = None


class Recorded(NamedTuple):
    """The data of a run: t (nt,), y (nt, ny), counters, outcome, events, and the singular configurations that were crossed.

    lam: (nt, nc) multipliers of the method itself, NaN at the start; None without them, before the first step, or at given times
    u_dot: (nt, 6 (nb + 1)) the accelerations that belong to them, if they are kept
    turns: (nt, m) joint angles that were counted from step to step, None if every step is stored;  sensors: values of the sensors
    energy_restored: by an energy projection [J]
    stiffness: what an explicit method of fixed step noted of its steps
    contact_impacts: of compliant contacts, None if every step is stored
    """

    t: Array
    y: Array
    lam: Array | None
    u_dot: Array | None
    turns: Array | None
    sensors: Mapping[str, SensorHistory]
    counters: Counters
    outcome: Outcome
    events: tuple[EventRecord, ...]
    singular_crossings: tuple[SingularCrossing, ...]
    energy_restored: float
    contact_impacts: tuple[ContactImpact, ...] | None
    stiffness: StiffnessWatch | None = None

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C, or the end of its budget, stopped the run."""
        return self.outcome.status in (RunStatus.INTERRUPTED, RunStatus.BUDGET_EXHAUSTED)
