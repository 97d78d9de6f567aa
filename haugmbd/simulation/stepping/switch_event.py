"""An event at which a force changes its law: a step ends there, and the run restarts behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haugmbd.integrators.events import Event


@dataclass(frozen=True, eq=False)
class SwitchEvent(Event):
    """The event of one place of a watch.

    watch: has switch(event, t, y), which switches the place and returns the records of the run;  number: of the place
    """

    watch: Any = None
    number: int = 0


def never(t: float, state: Any) -> float:
    """Stand for the function of an event that has a value of its own."""
    raise AssertionError
