"""What has happened at a switch: which parts have gone on and off, and the energies that it has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haugmbd.deprecated import public_class


@public_class
@dataclass(frozen=True, eq=False)
class SwitchRecord:
    """One change of the structure of a mechanism.

    Attributes
    ----------
    t : float
        Time [s].
    names : tuple of str
        The switches that have occurred; none where runs of two mechanisms were joined.
    locked, gripped, released : tuple of str
        The parts that went on as modelled, on at the pose of the moment, and off.
    kinetic, potential : float
        Change of the kinetic energy, and of the potential energy by force elements that went on or off [J]. A joint that closes takes
        kinetic energy: it is lost.
    impulse : Impulse or None
        The impulses in the joints; None where nothing has closed or struck.
    """

    t: float
    names: tuple[str, ...]
    locked: tuple[str, ...]
    gripped: tuple[str, ...]
    released: tuple[str, ...]
    kinetic: float
    potential: float
    impulse: Any = None

    def __repr__(self) -> str:
        who = [", ".join(self.names)] if self.names else []
        what = [f"{word} {', '.join(names)}" for word, names in self._changes() if names]
        return f"SwitchRecord at t = {self.t:.9g} s: {'; '.join([*who, *what])}; {self.kinetic + self.potential:+.6g} J"

    def _changes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return (("locks", self.locked), ("grips", self.gripped), ("releases", self.released))
