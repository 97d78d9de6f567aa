r"""Coordinate function: the coordinate of one joint is a function of that of another; a cam is one with a closed profile.

    Phi = q_b - f(q_a)              q_a, q_b coordinates of joints: q0 at the modelled pose, positive as the joint's class says

f', f'' are exact, as those of drivers: q_b' = f' q_a',  q_b'' = f' q_a'' + f'' q_a'^2. The generalized force on q_b is -lam, that on q_a
f' lam: the row transmits power, and does none itself.
Source: Haug (2021), kinematic couplings; the row is derived in `haugmbd/constraints/equations/coordinate_function.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import FloatArray, read_flag
from haugmbd.constraints import Coordinate, CoordinateFunctionRow, Joint, Primitive
from haugmbd.constraints.coordinate import as_coordinate
from haugmbd.drivers import Driver, Expression, Functions, QuinticSpline, as_driver
from haugmbd.drivers.derivative_check import disagreements
from haugmbd.drivers.program import CONSTANT, PYTHON
from haugmbd.errors import Fault, UsageError

from .coupling import MOST_SPREAD, START_TOL, Coupling

TURN = 2.0 * pi
CLOSED_TOL = 1e-9
"""Difference of a profile, or of its slope, at the two ends of a turn, relative to its largest value there, that is rounding of typed
numbers; the same for the length of a table against a turn."""

NEARLY = 0.05
"""Difference of a table at the two ends of a turn, relative to its range, below which it was probably meant to close."""

COMPILABLE = (
    "Write it with NumPy (np.where in place of if, np.sin in place of math.sin), or give a QuinticSpline through points of it."
)
NEIGHBORHOOD = 1e-2
"""Length [rad or m] about the modelled pose in which three functions are compared with each other: farther away none may be meant."""

SAMPLES = 128
"""Points of a turn at which a profile is evaluated, for its size and for values that are not finite."""


class CoordinateFunction(Coupling):
    """Coordinate function: q_b = f(q_a). Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    joint_a, joint_b : Joint or Coordinate
        The joints. A joint of one freedom stands for its coordinate; for a joint of several freedoms give `joint.coordinate("angle")`.
    f : callable, sequence of three callables, or Driver
        The function of q_a [rad or m]: one function written with NumPy, three functions (f, f', f''), or QuinticSpline(q_a, q_b).

    Raises
    ------
    UsageError
        If joint_a or joint_b is neither a Joint nor a Coordinate, or both are the same. Other bad values are collected in `faults()`.

    Notes
    -----
    At the modelled pose f must be the coordinate of joint b, which is 0 for joints without `q0`. A run that leaves the table of a spline
    is an error. The generalized force on q_b is -lam, that on q_a is f' lam.
    """

    reads_geometry = True
    """The constructor reads the function: whether it is closed, and its period."""
    argument = "f"
    """Name of the function among the arguments."""

    def __init__(self, name: str, joint_a: Joint | Coordinate, joint_b: Joint | Coordinate, f: Any) -> None:
        where, faults = f"joint {name!r}", list[Fault]()
        for part in (joint_a, joint_b):
            if not isinstance(part, Joint | Coordinate):
                raise UsageError(f"{where} needs joints, got {part!r:.200}. Give the object that system.add(RJ(...)) returned.")
        a, b = (as_coordinate(faults, where, part) for part in (joint_a, joint_b))
        if a is not None and b is not None and a.key == b.key:
            raise UsageError(f"{where} needs two joints, got {a.label} twice.")
        super().__init__(name, {part: 1.0 for part in (a or joint_a, b or joint_b)})
        self.a, self.b = a, b
        self.profile: Driver = as_driver(f, start=0.0 if a is None else a.q0)
        self.f: Driver = self.profile
        self.given = {"joint_a": joint_a, "joint_b": joint_b, self.argument: self.profile}
        self.period, self.start = 0.0, 0.0
        self._faults = faults or self._profile_faults(where)

    def numbers_here(self, states: Mapping[Body, Any], angle: Callable[[Coordinate], float]) -> tuple[float, ...]:
        """Raise UsageError: the function is one of the coordinates as they are."""
        return Joint.numbers_here(self, states, angle)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the row: CoordinateFunctionRow. A joint without valid coordinates has a row that is never evaluated."""
        if self.a is None or self.b is None or self._faults:
            return self.row_of_faulty()
        return (CoordinateFunctionRow(self.a, self.b, self.profile, self.period, self.start),)

    def _profile_faults(self, where: str) -> list[Fault]:
        """Return the faults of the function itself."""
        faults = [Fault(where, f"{self.argument}: {fault.what}", fault.remedy) for fault in self.profile.faults_of_motion()]
        if faults and isinstance(self.profile, Expression) and not self.profile.parameters:
            remedy = "Give them to the expression, which is read before there is a system: Expression(..., parameters={...})."
            faults = [Fault(where, fault.what, remedy) for fault in faults]
        if not faults and self.a is not None and isinstance(self.profile, Functions):
            faults = [
                Fault(where, f"{self.argument}: {fault.what}", fault.remedy) for fault in _disagreements(self.profile, self.a)
            ]
        kind = self.profile.program().kind
        if not faults and kind == CONSTANT:
            remedy = "Give a function of the coordinate of joint a, or lock joint b: Coupling(name, {joint_b: 1.0}, f=value)."
            faults.append(Fault(where, f"{self.argument} is the number {self.profile}, not a function", remedy))
        if not faults and kind == PYTHON:
            faults.append(Fault(where, f"{self.argument} cannot be compiled: it branches on its argument", COMPILABLE))
        return faults

    def _start_faults(self, where: str) -> tuple[Fault, ...]:
        """Return a fault if f(q_a) is not q_b at the modelled pose."""
        (row,) = self.primitives()
        if not isinstance(row, CoordinateFunctionRow):
            return ()
        a, b = row.a, row.b
        units = ["rad" if q.turns else "m" for q in (a, b)]
        low, high = row.q_range
        if not low <= a.q0 <= high:
            what = f"{self.argument} is given for {a.label} = {low:.9g} .. {high:.9g} {units[0]}, which is {a.q0:.9g} at the modelled pose"
            return (Fault(where, what, "Give a table that has the modelled pose, or give the joint another q0."),)
        f = row.values(a.q0)
        if not np.isfinite(f).all():
            what = f"({self.argument}, its slope, its second derivative) is {f.tolist()} at {a.label} = {a.q0:.9g} {units[0]}"
            return (Fault(where, what, "All three must be finite wherever the function is used."),)
        if abs(f[1]) > MOST_SPREAD:
            what = f"the slope of {self.argument} is {f[1]:.6g} at {a.label} = {a.q0:.9g} {units[0]}, more than {MOST_SPREAD:g}"
            return (Fault(where, what, "Check the function and its units; or exchange the joints, and give the inverse function."),)
        gap = abs(float(f[0]) - b.q0)
        if gap <= START_TOL * max(abs(b.q0), *np.abs(f).tolist()):
            return ()
        given = f"{self.argument} = {f[0]:.9g} {units[1]} at {a.label} = {a.q0:.9g} {units[0]}"
        what = f"{given}, but {b.label} is {b.q0:.9g} {units[1]} at the modelled pose: {gap:.6g} {units[1]} apart"
        remedy = f"Give joint {b.joint.name!r} q0={f[0]:.9g}, or let the function start at {b.q0:.9g} {units[1]}."
        return (Fault(where, what, remedy),)


class Cam(CoordinateFunction):
    """Cam: a coordinate function whose profile is periodic if it closes after a turn. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    joint_a : Joint or Coordinate
        The joint of the cam: RJ, or the angle of another joint; TJ for a sliding cam, whose profile is used as it stands.
    joint_b : Joint or Coordinate
        The joint of the follower: TJ, or RJ for a rocker.
    profile : callable, sequence of three callables, or Driver
        The coordinate of the follower [m or rad] against that of the cam [rad or m]: one function written with NumPy, three functions
        (f, f', f''), or QuinticSpline(angle, rise), over one turn if it is closed.
    unilateral : bool
        Whether the follower only rests on the cam, which can push it along +q_b. Runs locate where the cam would have to pull as events
        ("name: lift-off", "name: return"), and say so in `result.warnings`; they keep it closed.

    Raises
    ------
    UsageError
        If joint_a or joint_b is neither a Joint nor a Coordinate, or both are the same. Other bad values are collected in `faults()`.

    Notes
    -----
    q_b = profile(q_a), through any number of turns. A profile that has the same value at both ends of a turn is closed, and periodic
    from there on: it is evaluated within the first turn only. Its slope must close, too. Any other one is used as it stands: a sector cam.
    The follower is guided in both directions, as by a groove. The force of the cam on it along +q_b is -lam.
    """

    argument = "profile"

    def __init__(
        self, name: str, joint_a: Joint | Coordinate, joint_b: Joint | Coordinate, profile: Any, *, unilateral: bool = False
    ) -> None:
        super().__init__(name, joint_a, joint_b, profile)
        self.unilateral = read_flag(self._faults, f"joint {name!r}", "unilateral", unilateral)
        self.given |= {"unilateral": self.unilateral or None}
        if not self._faults and self.a is not None and self.a.turns:
            self._faults = self._close(f"joint {name!r}")

    def _close(self, where: str) -> list[Fault]:
        """Make a closed profile periodic; return the faults of one that does not close as it should."""
        given = self.profile
        if isinstance(given, QuinticSpline) and given.periodic:
            return _period_faults(where, given)
        low, high = given.t_range if isinstance(given, QuinticSpline) else (0.0, TURN)
        if abs(high - low - TURN) > CLOSED_TOL * TURN:
            return []
        x = np.linspace(low, high, SAMPLES)
        f = given.values(x)
        gap, size = f[-1] - f[0], np.abs(f).max(axis=0)
        if not np.isfinite(f).all() or abs(gap[0]) > CLOSED_TOL * size[0]:
            return []
        if abs(gap[1]) > CLOSED_TOL * size[1]:
            return self._smooth(where, gap)
        self.period, self.start = high - low, low
        return []

    def warnings(self) -> tuple[str, ...]:
        """Return a warning of a table over a turn that nearly closes: it is that of a sector cam."""
        given = self.profile
        if self._faults or self.period or not isinstance(given, QuinticSpline) or given.periodic:
            return ()
        if self.a is None or not self.a.turns or abs(given.t_range[1] - given.t_range[0] - TURN) > CLOSED_TOL * TURN:
            return ()
        gap, size = float(given.f[-1] - given.f[0]), float(np.ptp(given.f))
        if not abs(gap) < NEARLY * size:
            return ()
        what = f"joint {self.name!r}: profile is a table over a turn whose ends differ by {gap:.6g}, {abs(gap) / size:.2g} of its range"
        remedy = "Give both ends the same value for a closed cam"
        return (f"{what}: it is used as a sector cam, and a run that leaves the turn is an error. {remedy}.",)

    def _smooth(self, where: str, gap: FloatArray) -> list[Fault]:
        """Take the periodic spline through a table that closes; return a fault for a function whose slope does not close."""
        given = self.profile
        if isinstance(given, QuinticSpline) and given.start is None and given.end is None:
            self.profile = QuinticSpline(given.t, given.f, periodic=True)
            self.f = self.profile
            return [Fault(where, f"profile: {fault.what}", fault.remedy) for fault in self.profile.faults_of_motion()]
        what = f"profile closes after a turn, but its slope jumps there by {gap[1]:.6g}: the follower would be struck once a turn"
        return [Fault(where, what, "Let the slope close, too, or use CoordinateFunction for a function as it stands.")]


def _disagreements(given: Functions, a: Coordinate) -> tuple[Fault, ...]:
    """Return a fault if the three functions are not derivatives of each other about the modelled pose."""
    near = (a.q0 - 0.5 * NEIGHBORHOOD, a.q0 + 0.5 * NEIGHBORHOOD)
    return disagreements(given.row, near, within=near, argument=f"{a.label} = {{:.9g}} {'rad' if a.turns else 'm'}")


def _period_faults(where: str, profile: QuinticSpline) -> list[Fault]:
    """Return a fault if the period is no turn, no part and no multiple of one, such as one in degrees."""
    period = float(profile.t[-1] - profile.t[0])
    parts = max(TURN / period, period / TURN)
    if abs(parts - round(parts)) <= CLOSED_TOL * parts:
        return []
    remedy = "Give the angles of the table in radians, over a turn, 2 pi, or a whole part or multiple of it."
    return [Fault(where, f"the profile has a period of {period:.9g} rad", remedy)]
