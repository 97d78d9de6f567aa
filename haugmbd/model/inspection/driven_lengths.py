"""Driven lengths that reach zero: the rows of D have no gradient there, and beyond it they would hold the length |f| in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.equations.d import D
from haugmbd.drivers import Constant
from haugmbd.errors import Fault
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model

HALVINGS = 60
"""Of an interval in which a length reaches zero: down to rounding."""
VANISHED = 1e-3
"""Of a length at the start: where a run stops with less of it, this is named as the cause."""
REMEDY = "Keep the driver f(t) above zero, or end the run before; points that meet are held by a spherical joint (SJ)."


class ZeroLength(NamedTuple):
    """A driven length f that reaches zero at t [s]."""

    joint: str
    t: float

    @property
    def fault(self) -> Fault:
        """Return it as a fault, with its remedy."""
        what = "its length f(t) reaches zero there, where a distance has no direction and cannot be held"
        return Fault(f"joint {self.joint!r}", what, REMEDY)


@once_per_model
def driven_lengths(model: Model) -> dict[int, str]:
    """Return the joint of each driver of a distance that is not a constant, by the number of the driver."""
    if all(isinstance(driver, Constant) for driver in model.drivers):
        return {}
    found = dict[int, str]()
    for row, k in enumerate(model.drivers_of_rows().tolist()):
        if not isinstance(model.drivers[k], Constant) and isinstance(model.labels[row].primitive, D):
            found.setdefault(k, model.labels[row].joint)
    return found


def zero_between(values: Callable[[Array], Array], t: Array) -> float | None:
    """Return the first time between the increasing times t (nt,) at which a length is not positive, to rounding; None if there is none.

    values: returns f, f', f'' at times (n,), (n, 3);  a length may be zero and grow again within an interval
    """
    F = np.asarray(values(t), dtype=np.float64)
    for k in range(len(t) - 1):
        a, b = float(t[k]), float(t[k + 1])
        if F[k, 1] < 0.0 < F[k + 1, 1]:  # the shortest length is between them
            b = _bisected(lambda s: float(values(np.array([s]))[0, 1]) > 0.0, a, b)
        if F[k, 0] <= 0.0:
            return a
        if float(values(np.array([b]))[0, 0]) <= 0.0 or F[k + 1, 0] <= 0.0:
            return _bisected(lambda s: float(values(np.array([s]))[0, 0]) <= 0.0, a, b)
    return None


def _bisected(holds: Callable[[float], bool], a: float, b: float) -> float:
    """Return the time from which on a statement holds that is false at a and true at b."""
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        a, b = (a, middle) if holds(middle) else (middle, b)
    return b


def vanished_lengths(model: Model, t: float) -> str:
    """Return which driven lengths are near zero at time `t`, by joint; "" if none is."""
    texts = []
    for k, joint in driven_lengths(model).items():
        now, first = (float(model.drivers[k].values(when)[0]) for when in (t, model.state().t))
        if abs(now) <= VANISHED * abs(first):
            texts.append(f"joint {joint!r}: its length f(t) is {now:.3g} m there, of {first:.3g} m at first, and reaches zero")
    return "; ".join(texts) + f". {REMEDY}" if texts else ""
