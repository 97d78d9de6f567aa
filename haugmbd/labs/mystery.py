"""Models with a fault whose name is not said: students find it out from violations, energy and momentum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from haugmbd import faults
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError
from haugmbd.faults.fingerprint import example
from haugmbd.model.model import Model
from haugmbd.model.state import State

MYSTERIES = {"A": "no_gyroscopic_term", "B": "missing_factor_2", "C": "world_inertia"}
"""The faults, by letter: each leaves a trace that the others do not."""


@contextmanager
def mystery(letter: str) -> Iterator[tuple[Model, State]]:
    """Yield a model with a fault, and its initial state: a body on a ball joint, another on a skew hinge, spinning.

    Parameters
    ----------
    letter : str
        "A", "B", "C"; or "none" for the same model without a fault.

    Yields
    ------
    tuple of Model and State
        For `simulate(model, ..., state=state)`. After the block the model is right, so that results are measured by the right equations.

    Raises
    ------
    UsageError
        If there is no such letter.
    """
    model, state = example()
    if letter == "none":
        yield model, state
        return
    if letter not in MYSTERIES:
        known = [*MYSTERIES, "none"]
        raise UsageError(f"no mystery is called {letter!r}{did_you_mean(str(letter), known)}; there are {', '.join(known)}.")
    with getattr(faults, MYSTERIES[letter])(model) as broken:
        yield broken, state
