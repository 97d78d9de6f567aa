"""The memory that the states of a run take: refused beforehand where their number is known, otherwise told before nothing is left.

A system that promises more memory than it has ends the process where the promise is called in, and what was computed is lost.
"""

from __future__ import annotations

from haugmbd.errors import SimulationError, UsageError
from haugmbd.model.memory import GIGA, available_memory

CHECKED = 1e7
"""[bytes] More than this is asked for; less is always there."""
FEWER = "Store fewer: store_every= or t_eval="


def need_memory_for_states(states: float, width: int) -> None:
    """Raise UsageError, with the estimate, if so many states of `width` numbers do not fit into the memory."""
    needed = 8.0 * states * width
    if needed > CHECKED and needed > (free := available_memory()):
        raise UsageError(
            f"{states:.4g} states of {width} numbers would be stored, which take {needed / GIGA:.3g} GB, and {free / GIGA:.3g} GB are "
            f"free. {FEWER}, or a larger step."
        )


def need_memory_to_grow(stored: float, more: float) -> None:
    """Raise SimulationError if there are no `more` [bytes] for the next states, beside those that are stored."""
    if more > CHECKED and more > (free := available_memory()):
        raise full(stored, f"{more / GIGA:.3g} GB more are needed for the next, and {free / GIGA:.3g} GB are free")


def full(stored: float, why: str) -> SimulationError:
    """Return the error of a run that cannot store more."""
    return SimulationError(
        f"the states stored so far take {stored / GIGA:.3g} GB: {why}. {FEWER}; `.result` of this error has the states so far."
    )
