r"""JointLimit: stops of a joint's coordinate, as springs and dampers that never pull, or as impacts.

    x = q - upper > 0  or  x = q - lower < 0            f = -(k x + c q') while it pushes back, else 0
    restitution=       no force: `simulate` treats the limits as contacts, see `contact.joint_stop`

    potential energy  k x^2 / 2         dissipated power  -(f + k x) q' >= 0: what the damper takes, and the spring that is left behind

Source: Haug (2021), generalized forces; Johnson, Contact Mechanics, for compliant stops.
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
from haugmbd.errors import Fault
from haugmbd.forces.base import JointRange
from haugmbd.forces.joint_loads.joint_load import Along, JointLoad, depth_of, limit_constants, limit_law, pushing, units_of
from haugmbd.forces.stops import Side, held_value
from haugmbd.forces.user_function import Value

START_TOL = 1e-9
"""Excess over a limit at the modelled pose, relative to the limits, that is rounding of typed numbers."""


@public_class
class JointLimit(JointLoad):
    """Stops of a joint's coordinate: springs and dampers that never pull, or impacts with restitution.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint or Coordinate
        A joint of one freedom, such as RJ or TJ, or a coordinate of a joint: `joint.coordinate("angle")`.
    lower, upper : float, optional
        The limits of the coordinate [rad or m]; at least one.
    k : float
        Stiffness of the stops, positive [N m/rad or N/m].
    c : float
        Damping of the stops, not negative [N m s/rad or N s/m].
    restitution : float, optional
        In place of k and c, Newton's coefficient of restitution of rigid stops, from 0 (no bounce) to 1 (no loss). `result.impacts`
        then has the hits.

    Raises
    ------
    UsageError
        If joint is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`, such as a modelled pose beyond a limit.

    Notes
    -----
    With k: beyond a limit by x the force along the coordinate is -(k x + c q'), and zero where this would pull. With c it jumps at touch.
    Touch and release are events of `simulate`, "NAME upper: touch": a step ends there, so that methods keep their order. Implicit methods
    of order two step across the release, whose force has a kink only; they report it where the coordinate leaves the stop. With
    restitution: no force; a stop is a contact "NAME lower" or "NAME upper", which may also stay closed; `result.energy().drift`
    falls at each hit by the energy that is lost there. The coordinate is positive as the joint's class says, is `q0` at the modelled
    pose, and goes through any number of turns.
    Source: Haug (2021), generalized forces and virtual work.
    """

    kind = "JointLimit"
    variable = MappingProxyType({"lower": ((),), "upper": ((),), "k": ((),), "c": ((),)})

    def __init__(
        self,
        name: str,
        joint: Joint | Coordinate,
        *,
        lower: float | None = None,
        upper: float | None = None,
        k: float | None = None,
        c: float = 0.0,
        restitution: float | None = None,
    ) -> None:
        super().__init__(name, (joint,))
        faults, where = self._own, self.where
        self.units = units_of(self._coordinates[0] if self._coordinates else None)
        self.lower = -np.inf if lower is None else read_number(faults, where, "lower", lower, unit=self.units[0])
        self.upper = np.inf if upper is None else read_number(faults, where, "upper", upper, unit=self.units[0])
        self.impulsive = restitution is not None
        self.restitution = 0.0 if restitution is None else read_number(faults, where, "restitution", restitution)
        self.k = 0.0 if self.impulsive and k is None else _positive(faults, where, k, f"{self.units[1]}/{self.units[0]}")
        self.c = read_number(faults, where, "c", c, unit=f"{self.units[1]} s/{self.units[0]}")
        if self.c < 0.0:
            faults.append(Fault(where, f"c is {self.c:g}, must not be negative", "Give the damping of the stops, c >= 0."))
        if self.impulsive and (k is not None or self.c != 0.0):
            faults.append(
                Fault(where, "it has k or c, and a restitution", "Give k and c of springs, or restitution= of rigid stops.")
            )
        if not 0.0 <= self.restitution <= 1.0:
            what = f"restitution is {self.restitution:g}, must be between 0 and 1"
            faults.append(Fault(where, what, "Give 0 for no bounce, 1 for no loss."))
        if lower is None and upper is None:
            faults.append(Fault(where, "it has no limit", "Give lower=, upper=, or both."))
        elif self.lower >= self.upper:
            faults.append(Fault(where, f"lower is {self.lower:g} and upper is {self.upper:g}", "Give lower < upper."))
        self.law = limit_law(self.lower, self.upper)
        self._held = held_value()
        self._faults = tuple(faults)

    def varied(self, **values: Any) -> JointLimit:
        given = {"restitution": self.restitution} if self.impulsive else {"k": self.k, "c": self.c}
        given |= {name: x for name in ("lower", "upper") if np.isfinite(x := getattr(self, name))}
        other = JointLimit(self.name, self._coordinates[0], **{name: float(x) for name, x in (given | values).items()})
        other._held = self._held
        return other

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults or self.start_faults()

    def constants(self) -> tuple[float, ...]:
        return (self.k, self.c, *limit_constants(self.lower, self.upper))

    def given_angles(self) -> tuple[tuple[str, float], ...]:
        return self._angle(lower=self.lower, upper=self.upper)

    def joint_range(self) -> JointRange | None:
        return next((JointRange(q, self.lower, self.upper, self.k, self.c) for q in self._coordinates), None)

    def value(self) -> Value:
        return self._held

    def sides(self) -> tuple[Side, ...]:
        if self.impulsive:
            return ()
        limits = (("lower", -1.0, self.lower), ("upper", 1.0, self.upper))
        return tuple(Side(f"{self.name} {word}", sign, x, self.k, self.c) for word, sign, x in limits if np.isfinite(x))

    @property
    def conservative(self) -> bool:
        return self.c == 0.0

    def start_faults(self) -> tuple[Fault, ...]:
        q, unit = self.modelled_coordinate(), self.units[0]
        size = max(abs(x) for x in (q, self.lower, self.upper) if np.isfinite(x))
        excess = max(q - self.upper, self.lower - q)
        if excess <= START_TOL * size:
            return ()
        limit, words = (self.upper, "upper") if q > self.upper else (self.lower, "lower")
        what = (
            f"the modelled pose violates its limit: q = {q:.9g} {unit} is {excess:.6g} {unit} beyond {words} = {limit:.9g} {unit}"
        )
        return (Fault(self.where, what, "Model the joint within its limits, give it another q0, or move the limit."),)

    def along(self, t: Array, q: Array, q_dot: Array) -> Along:
        return pushing(depth_of(q[:, 0], self.lower, self.upper), q_dot[:, 0], self.k, self.c)


def _positive(faults: list[Fault], where: str, k: Any, unit: str) -> float:
    """Return the stiffness; a fault if there is none."""
    remedy = f"Give the stiffness of the stops, k > 0 [{unit}]."
    if k is None:
        faults.append(Fault(where, "it has no stiffness k and no restitution", f"{remedy[:-1]}, or restitution= of rigid stops."))
        return float("nan")
    number = read_number(faults, where, "k", k, unit=unit)
    if number <= 0.0:
        faults.append(Fault(where, f"k is {number:g} {unit}, must be positive", remedy))
    return number
