"""What a run is asked for: the arguments of `simulate` in groups, its methods, output and limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import NamedTuple

import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.contact.impact_laws import ImpactLaw
from haugmbd.formulations import Formulation, NewtonEuler
from haugmbd.integrators import Projection
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.events import Event
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.dependent_rows import Rule
from haugmbd.simulation.sensor import Sensor

NEWTON_EULER, PROJECTION = NewtonEuler(), Projection()
"""Default formulation and default stabilization of a system."""
MOST_PER_SECOND = 2000.0
"""Impacts and openings per second of simulated time.  The last second of a cascade of bounces under gravity has about 14 / (1 - e) of
them, so that large restitutions are within the limit."""
SHORTEST = 1e-6
"""[s] that the next part of a run may take where its budget is used up: it is stopped in its first batch."""


@dataclass(frozen=True)
class RunMethods:
    """The methods of a run, which its result keeps: by them the run can be made again.

    redundancy: the rule for multipliers of dependent rows, None for that of the model;  impact: the law of impacts, None for the default
    """

    integrator: Integrator
    formulation: Formulation = NEWTON_EULER
    stabilization: Stabilization | None = PROJECTION
    redundancy: Rule | None = None
    impact: ImpactLaw | None = None

    @property
    def texts(self) -> dict[str, str]:
        """The methods as text, for the settings of a result."""
        impact = {} if self.impact is None else {"impact": repr(self.impact)}
        return {
            "formulation": _text(self.formulation),
            "integrator": repr(self.integrator),
            "stabilization": _text(self.stabilization),
            **impact,
        }


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

    def after(self, seconds: float) -> RunLimits:
        """Return the limits of the next part of a run that has taken so long; a part behind the budget is stopped in its first batch."""
        return self if self.budget is None else replace(self, budget=max(self.budget - seconds, SHORTEST))


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


@cache
def _texts_of_defaults() -> dict[int, str]:
    """Return the defaults as text, by their ids."""
    return {id(method): repr(method) for method in (NEWTON_EULER, PROJECTION)}


def _text(method: object) -> str:
    """Return a method as text."""
    text = _texts_of_defaults().get(id(method))
    return repr(method) if text is None else text
