r"""JointSpring: a spring and a damper along a coordinate of a joint, linear, by a table, or one-sided.

    f = -(k (q - free) + c q')               f = -(s(q - free) + c q')             s: table or spline of the spring's resistance
    one-sided, side="above":  f = -(k x + c q'), x = q - free > 0, and only while it pushes back;   side="below": x < 0

    potential energy  k (q - free)^2 / 2, or the integral of s          dissipated power  c q'^2

Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers.driver import shown
from haugmbd.errors import Fault
from haugmbd.forces.base import LinearSpring
from haugmbd.forces.joint_loads.characteristic import read_characteristic
from haugmbd.forces.joint_loads.joint_load import (
    BY_TABLE,
    LINEAR,
    NOTHING,
    Along,
    JointLoad,
    depth_of,
    limit_constants,
    limit_law,
    pushing,
    read_coefficient,
    units_of,
)
from haugmbd.forces.stops import Side, held_value
from haugmbd.forces.user_function import Value

BOTH, OVER, UNDER = "both", "above", "below"


@public_class
class JointSpring(JointLoad):
    """A spring and damper along the coordinate of a joint.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint or Coordinate
        A joint of one freedom, such as RJ or TJ, or a coordinate of a joint: `joint.coordinate("angle")`.
    k : float
        Stiffness, not negative [N m/rad or N/m].
    c : float
        Damping, not negative [N m s/rad or N s/m].
    free : float
        Value of the coordinate where the spring is free [rad or m].
    characteristic : (x, f) or QuinticSpline, optional
        In place of k, the force f with which the spring resists the deflection x = q - free: a table, interpolated by monotone cubics, or a
        spline, which may be periodic. Beyond a table it continues with the slope at its end.
    side : {"both", "above", "below"}
        Where a linear spring acts: everywhere, or only above or below its free value, as a bump stop. There it never pulls, damper
        included.

    Raises
    ------
    UsageError
        If joint is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`.

    Notes
    -----
    f = -(k (q - free) + c q') along the coordinate q, which is positive as the joint's class says, is the joint's `q0` at the modelled
    pose, and goes through any number of turns. `result.load(name)` has the force or torque along the coordinate. Where a one-sided spring
    starts and stops pushing, `simulate` has an event, "NAME: touch" or "NAME: release", at which a step ends, so that methods keep their
    order.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind = "JointSpring"
    variable = MappingProxyType({"k": ((),), "c": ((),), "free": ((),)})

    def __init__(
        self,
        name: str,
        joint: Joint | Coordinate,
        *,
        k: float = 0.0,
        c: float = 0.0,
        free: float = 0.0,
        characteristic: Any = None,
        side: str = BOTH,
    ) -> None:
        super().__init__(name, (joint,))
        faults, where = self._own, self.where
        units = units_of(self._coordinates[0] if self._coordinates else None)
        self.k = read_coefficient(faults, where, "k", k, f"{units[1]}/{units[0]}")
        self.c = read_coefficient(faults, where, "c", c, f"{units[1]} s/{units[0]}")
        self.free = read_number(faults, where, "free", free, unit=units[0])
        self.side = side if isinstance(side, str) and side in (BOTH, OVER, UNDER) else BOTH
        self.characteristic = (
            None if characteristic is None else read_characteristic(faults, where, "characteristic", characteristic, units)
        )
        if self.side is not side:
            faults.append(Fault(where, f"side is {shown(side)}", 'Give "both", "above" or "below".'))
        if characteristic is not None and (self.k != 0.0 or self.side != BOTH):
            what = "it has a characteristic and " + ("k" if self.k != 0.0 else f"side = {self.side!r}")
            faults.append(Fault(where, what, "Put all of the spring's force into the table: zeros where it does not act."))
        if characteristic is None and self.k == 0.0 == self.c:
            faults.append(Fault(where, "it has no k, no c and no characteristic", "Give one of them."))
        self.law = BY_TABLE if characteristic is not None else LINEAR if self.side == BOTH else limit_law(*self.limits)
        self._held = NOTHING if self.side == BOTH else held_value()
        self._faults = tuple(faults)

    def number_faults(self) -> tuple[Fault, ...]:
        table = None if self.characteristic is None else ((0.0, 1.0), (0.0, 1.0))
        q = self._coordinates[0]
        return JointSpring(self.name, q, k=self.k, c=self.c, free=self.free, characteristic=table, side=self.side)._faults

    @property
    def limits(self) -> tuple[float, float]:
        """Return the values below and above which a one-sided spring acts."""
        return (self.free if self.side == UNDER else -np.inf), (self.free if self.side == OVER else np.inf)

    def constants(self) -> tuple[float, ...]:
        table = () if self.characteristic is None else tuple(self.characteristic.numbers.tolist())
        return (self.k, self.c, *limit_constants(*self.limits), self.free, *table)

    def given_angles(self) -> tuple[tuple[str, float], ...]:
        return self._angle(free=self.free)

    def linear_spring(self) -> LinearSpring | None:
        if self.characteristic is not None or self.side != BOTH:
            return None
        return next((LinearSpring(q.joint, self.k, self.c, self.free - q.q0, False) for q in self._coordinates), None)

    def value(self) -> Value:
        return self._held

    def sides(self) -> tuple[Side, ...]:
        if self.side == BOTH:
            return ()
        return (Side(self.name, 1.0 if self.side == OVER else -1.0, self.free, self.k, self.c),)

    @property
    def conservative(self) -> bool:
        return self.c == 0.0

    def along(self, t: Array, q: Array, q_dot: Array) -> Along:
        x, rate = q[:, 0] - self.free, q_dot[:, 0]
        stiff, energy = self.k * x, 0.5 * self.k * x * x
        if self.characteristic is not None:
            values = self.characteristic.values(x)
            stiff, energy = values[:, 0], values[:, 2]
        elif self.side != BOTH:
            return pushing(depth_of(q[:, 0], *self.limits), rate, self.k, self.c)
        nothing = np.zeros(len(t))
        return Along(-(stiff + self.c * rate)[:, None], energy, self.c * rate * rate, nothing)
