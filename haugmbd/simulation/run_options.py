"""How a run is computed, and what is stored of it: the arguments of `simulate` in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.integrators import Event
from haugmbd.simulation.results.sensor import Sensor


@dataclass(frozen=True)
class RunOutput:
    """The arguments of `simulate` that say what is recorded."""

    t_eval: npt.ArrayLike | None = None
    events: Sequence[Event] = ()
    sensors: Sequence[Sensor] = ()
    store_every: int = 1
    progress: bool = False
    record_method: bool = False


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
