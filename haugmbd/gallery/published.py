"""A value that others have published or computed, to compare a run with."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """quantity: in words;  unit;  t: time [s];  value;  tol: what a converged run reaches, absolute;  source: where it is from."""

    quantity: str
    unit: str
    t: float
    value: float
    tol: float
    source: str
