"""The result of a verification: the blocks that were compared, the largest error of each, and a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.text_table import table_lines


@dataclass(frozen=True)
class Check:
    """One block of a part, compared with something independent of it.

    Attributes
    ----------
    name : str
        The block: "PiBar", "gamma", "energy", ...
    error : float
        Largest difference, relative to the size of the block; NaN if a value is not finite.
    allowed : float
        Largest error that passes.
    against : str
        What the block was compared with.
    where : str
        The row, body or time of the largest error, with both numbers.
    """

    name: str
    error: float
    allowed: float
    against: str
    where: str = ""

    @property
    def ok(self) -> bool:
        """Return whether the error is within the allowed one; False for NaN."""
        return bool(self.error <= self.allowed)


@dataclass(frozen=True)
class Verification:
    """The findings of `verify`.

    Attributes
    ----------
    subject : str
        What was verified.
    checks : tuple of Check
        One for each block.
    interrupted : bool
        Whether Ctrl-C ended the verification: blocks may be missing, and the last ones may be of fewer states.
    """

    subject: str
    checks: tuple[Check, ...]
    interrupted: bool = False

    @property
    def ok(self) -> bool:
        """Return whether all blocks are right; False if the verification was interrupted."""
        return not self.interrupted and all(check.ok for check in self.checks)

    @property
    def worst(self) -> Check:
        """Return the check that is farthest beyond what is allowed, or nearest to it."""
        return max(self.checks, key=lambda check: np.inf if np.isnan(check.error) else check.error / check.allowed)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return the names of the blocks that are wrong."""
        return tuple(check.name for check in self.checks if not check.ok)

    def __iter__(self) -> Iterator[Check]:
        """Return an iterator over the checks."""
        return iter(self.checks)

    def __getitem__(self, name: str) -> Check:
        """Return the check with this name. Raise UsageError if there is none."""
        found = {check.name: check for check in self.checks}
        if name not in found:
            raise UsageError(f"no check is called {name!r}{did_you_mean(name, found)}; there are {', '.join(map(repr, found))}.")
        return found[name]

    def __str__(self) -> str:
        """Return the table, with the place of each error that is too large."""
        verdict = f"WRONG: {', '.join(self.wrong)}" if self.wrong else "all blocks are right"
        if self.interrupted:
            verdict = f"interrupted by Ctrl-C; {len(self.checks)} blocks were compared: {verdict}"
        lines = [
            ["" if check.ok else "!", check.name, f"{check.error:.1e}", f"{check.allowed:.0e}", check.against]
            for check in self.checks
        ]
        note = [f"{self.subject}: {verdict}", *table_lines(["", "block", "error", "allowed", "against"], lines, right=(2, 3))]
        return "\n".join([*note, *(f"  {check.name}: {check.where}" for check in self.checks if not check.ok and check.where)])
