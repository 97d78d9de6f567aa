"""The result of a comparison with another engine."""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.deprecated import public_class


@public_class
@dataclass(frozen=True)
class EngineCheck:
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
