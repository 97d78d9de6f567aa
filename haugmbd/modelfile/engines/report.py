"""The result of a comparison with another engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.simulation.results.study_data import Columns, StudyData, column


@public_class
@dataclass(frozen=True, repr=False)
class EngineCheck(StudyData):
    """Accelerations of one mechanism by this package and by another engine.

    Attributes
    ----------
    system : str
        Name of the system.
    engine : str
        Name and version of the engine.
    states : int
        Number of states that were compared, the modelled one first.
    relative : dict of str to float
        Largest difference of the accelerations of each body at all states, relative to the largest acceleration there.
    tol : float
        Largest relative difference allowed.
    notes : tuple of str
        Known differences between the engine and the system.
    interrupted : bool
        Whether Ctrl-C ended the comparison before all states.
    """

    system: str
    engine: str
    states: int
    relative: dict[str, float]
    tol: float
    notes: tuple[str, ...]
    interrupted: bool = False

    def _columns(self) -> Columns:
        values = np.array(list(self.relative.values()), dtype=np.float64)
        return {"body": column(list(self.relative)), "relative difference": values, "within tol": values <= self.tol}

    @property
    def worst(self) -> float:
        """Return the largest relative difference."""
        return max(self.relative.values(), default=0.0)

    @property
    def ok(self) -> bool:
        """Return whether every difference is within `tol`; False if the comparison was interrupted."""
        return self.worst <= self.tol and not self.interrupted

    def __str__(self) -> str:
        """Return the report: one line for each body, marked if it is beyond the tolerance."""
        verdict = f"all within {self.tol:g}" if self.worst <= self.tol else f"BEYOND {self.tol:g}"
        stopped = " (interrupted by Ctrl-C)" if self.interrupted else ""
        lines = [
            f"{self.system!r} and {self.engine} at {self.states} states{stopped}: largest relative difference {self.worst:.1e}, {verdict}"
        ]
        lines += [f"{' ' if x <= self.tol else '!'} {name:<24} {x:8.1e}" for name, x in self.relative.items()]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])

    __repr__ = __str__
