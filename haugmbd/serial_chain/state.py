"""A state of a serial chain: time, coordinates and rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from haugmbd.bodies.validation import frozen, numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError, warn_user
from haugmbd.model.immutable import immutable


@public_class
@immutable("Make another one: state.replace(qd=..., t=...).")
@dataclass(frozen=True, eq=False, init=False)
class ChainState:
    """A state of a serial chain: ChainState(t, q, qd), or ChainState(q, qd) at t = 0.

    Attributes
    ----------
    t : float
        Time [s].
    q : ndarray, (nq,)
        Joint coordinates, read-only.
    qd : ndarray, (nv,)
        Joint rates, read-only.

    Raises
    ------
    UsageError
        If q or qd is not a vector, or t is not a number.

    Notes
    -----
    All arguments can be given by name. The old order ChainState(q, qd, t) still works, with a DeprecationWarning.
    """

    t: float
    q: Array
    qd: Array

    def __init__(self, *given: Any, **named: Any) -> None:
        names: tuple[str, ...] = ("t", "q", "qd") if len(given) == 3 or (given and _is_time(given[0])) else ("q", "qd")
        if len(given) == 3 and not _is_time(given[0]) and _is_time(given[2]):
            warn_user("ChainState(q, qd, t): give t first, as in State, ChainState(t, q, qd), or by name.", DeprecationWarning)
            names = ("q", "qd", "t")
        values = {"t": 0.0} | dict(zip(names, given, strict=False)) | named
        if len(given) > len(names) or {*names[: len(given)]} & {*named} or {*values} != {"t", "q", "qd"}:
            raise UsageError("ChainState takes q and qd, and the time t [s]: ChainState(t, q, qd), or ChainState(q, qd) at t = 0.")
        for name in ("q", "qd"):
            array = numbers(values[name])
            if array is None or array.ndim != 1:
                raise UsageError(f"ChainState: {name} is {values[name]!r:.60}. Give its numbers in a row, one for each.")
            object.__setattr__(self, name, frozen(array))
        if not _is_time(values["t"]):
            raise UsageError(f"ChainState: t is {values['t']!r}. Give the time [s].")
        object.__setattr__(self, "t", values["t"])

    def replace(self, **changes: Any) -> ChainState:
        """Return a copy with some values changed: state.replace(qd=..., t=...)."""
        return replace(self, **changes)

    @property
    def y(self) -> Array:
        """Return (q, qd) as one flat vector, a new array."""
        return np.concatenate([self.q, self.qd])


def _is_time(given: Any) -> bool:
    """Return whether this can be a time."""
    return isinstance(given, Real) and not isinstance(given, bool)
