"""A value from the literature or from an independent computation, to compare a simulation with."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A published value.

    Attributes
    ----------
    quantity : str
        Name of the quantity.
    unit : str
        Its unit.
    t : float
        Time [s].
    value : float
        The published value.
    tol : float
        Absolute error of a converged simulation.
    source : str
        The source of the value.
    """

    quantity: str
    unit: str
    t: float
    value: float
    tol: float
    source: str
