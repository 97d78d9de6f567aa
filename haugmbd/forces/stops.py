"""The sides of a stop: where a one-sided spring and damper touches and is released, and what a run holds between these instants.

    x = q - upper, or lower - q                    s = k x + c x'          the force is s where x > 0 and s > 0, else 0
    p = min(x, s / k)  (k = 0: min(x, x' 1 s))     > 0 where it pushes

With damping the force jumps at touch (x = 0), and has a kink at release (s = 0, x > 0). A run ends a step at both, and holds the side that
pushes, or none, in between: a stage of a step that looks across the edge does not see the other side of it.
Source: Johnson, Contact Mechanics, for compliant stops; Hairer, Norsett, Wanner, Solving ODEs I, sec. II.6: discontinuities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from haugmbd.compiled.array_types import Array
from haugmbd.drivers import Driver
from haugmbd.drivers.program import CONSTANT, Program
from haugmbd.errors import Fault
from haugmbd.forces.user_function import Value

BY_STATE, PUSHES_DOWN, PUSHES_UP, FREE = 0.0, 1.0, -1.0, 2.0
"""What is held: nothing, the state decides; the force of the upper or of the lower limit; no force."""
EDGE = 1e-12
"""Relative to 1, the limit and the speed: p has passed zero by so much where it is taken to be across it. Above rounding of events."""


class Pressed(NamedTuple):
    """Sides over time, (nt, n) each: x, s / k, the width of the edge of both at zero, and x'."""

    depth: Array
    push: Array
    width: Array
    rate: Array

    @property
    def p(self) -> Array:
        """Return p, which is positive where the side pushes."""
        p: Array = np.minimum(self.depth, self.push)
        return p


class Side(NamedTuple):
    """One limit of a stop.  name: in events;  sign: 1 of an upper limit, -1 of a lower one;  limit [rad or m];  k, c"""

    name: str
    sign: float
    limit: float
    k: float
    c: float

    @property
    def held(self) -> float:
        """Return what a run holds while this side pushes."""
        return PUSHES_DOWN if self.sign > 0.0 else PUSHES_UP


def pressed(sides: Sequence[Side], q: Array, q_dot: Array) -> Pressed:
    """Return how n sides are pressed by coordinates and rates (nt, n)."""
    sign, limit, k, c = np.array([(side.sign, side.limit, side.k, side.c) for side in sides]).reshape(-1, 4).T
    x, rate = sign * (q - limit), sign * q_dot
    stiff = k > 0.0
    push = np.where(stiff, x, 0.0) + np.where(stiff, c / np.where(stiff, k, 1.0), 1.0) * rate
    return Pressed(x, push, EDGE * (1.0 + np.abs(limit) + np.abs(rate)), rate)


def held_value() -> Value:
    """Return the value of a stop: a place of its own in the driver table."""
    return Value((WrittenLine(),))


# A line of the driver table that nothing prescribes: it is written while a model is evaluated or a run continues.
#
# An internal state has x', and its equation in an implicit step, there (`workspace.internal_states`); a stop and a contact have what a run
# holds (`joint_loads.stops`, `compliant.contact_force`).

HELD = 1
"""The column of the driver table in which a run writes what a stop or a contact holds; 0 there holds nothing, the state decides."""


class WrittenLine(Driver):
    """A line of the driver table, all zero until it is written."""

    def values(self, t: ArrayLike) -> Array:
        """Return zeros: nothing is prescribed."""
        return np.zeros((*np.shape(t), 3))

    def faults(self) -> tuple[Fault, ...]:
        """Return no fault: the element checks what it writes."""
        return ()

    def program(self) -> Program:
        """Return a constant; the other numbers of the line are written in a run."""
        return Program(CONSTANT, value=0.0)
