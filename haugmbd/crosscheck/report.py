"""The result of a cross-check: named differences, the largest of them, and a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError


@dataclass(frozen=True)
class Difference:
    """One comparison.

    Relative: largest difference over `scale`;  scale: largest magnitude of the kind, in `unit`;  what: a description.
    """

    name: str
    relative: float
    scale: float
    unit: str
    what: str


@public_class
@dataclass(frozen=True)
class CrossCheck:
    """The relative differences between the recursions of a chain and its model in maximal coordinates, and between the recursions.

    Attributes
    ----------
    chain : str
        Name of the chain.
    links, freedoms : int
        Numbers of links and freedoms of the chain.
    rows : int
        Number of constraint rows in maximal coordinates.
    differences : tuple of Difference
        The comparisons, in the order of the report.
    tol : float
        Largest relative difference allowed.
    """

    chain: str
    links: int
    freedoms: int
    rows: int
    differences: tuple[Difference, ...]
    tol: float

    @property
    def worst(self) -> float:
        """Return the largest relative difference; NaN if one is."""
        return float(np.max([d.relative for d in self.differences]))

    @property
    def ok(self) -> bool:
        """Return whether every difference is within `tol`."""
        return self.worst <= self.tol

    @property
    def accelerations(self) -> float:
        """Return the difference of joint and body accelerations, joint against maximal coordinates."""
        return self._largest("joint accelerations", "body accelerations")

    @property
    def joint_wrenches(self) -> float:
        """Return the difference of the joint wrenches, recursion against multipliers."""
        return self["joint wrenches"].relative

    @property
    def impulses(self) -> float:
        """Return the difference of the jumps of rates and velocities, and of the joint impulses."""
        return self._largest("rate jumps", "joint impulses")

    def _largest(self, *names: str) -> float:
        return float(np.max([self[name].relative for name in names]))

    def __iter__(self) -> Iterator[Difference]:
        """Return an iterator over the differences, in order."""
        return iter(self.differences)

    def __getitem__(self, name: str) -> Difference:
        """Return the difference with this name. Raise UsageError if there is none."""
        found = [d for d in self.differences if d.name == name]
        if not found:
            raise UsageError(f"no difference is called {name!r}; there are {', '.join(repr(d.name) for d in self.differences)}.")
        return found[0]

    def __str__(self) -> str:
        """Return the report: one line for each difference, marked if it is beyond the tolerance."""
        verdict = f"all within {self.tol:g}" if self.ok else f"BEYOND {self.tol:g}"
        size = f"{self.links} links, {self.freedoms} freedoms; {self.rows} rows"
        lines = [f"cross-check of {self.chain!r} ({size}): largest relative difference {self.worst:.1e}, {verdict}"]
        for d in self.differences:
            mark = " " if d.relative <= self.tol else "!"
            lines.append(f"{mark} {d.name:<20} {d.relative:8.1e}   of {d.scale:8.3g} {d.unit:<7}  {d.what}")
        return "\n".join(lines)
