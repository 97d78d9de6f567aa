"""The coordinates of a joint: over time, with rates and accelerations; and one of them as a function of the state, for events and sensors.

Angles and displacements are `q0` of the joint, by default zero, at the modelled pose (`joint_motion` has the formulas). Angles go
through any number of turns: `turns` counts them.

    f(t, state) = q - zero,  or q'        q as in `joint_history`
    angle         that of a torsion spring or a driver;  in a run counted from step to step, from -pi to pi at its start;
                  of a single state from -pi to pi about `zero`
    counted       theta + 2 pi k, the nearest to theta_0 + (t - t_0) (theta_0' + theta') / 2 from the nearest call before
Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.joint_motion import (
    JointMotion,
    angle_in_turn,
    angle_rates,
    angles_of,
    has_balls,
    is_arm,
    joint_motion,
    rotation,
    slide,
    slide_rates,
)
from haugmbd.diagnostics.turns import UNSURE, angle_source, known_angle, nearest_turn, principal, unwound
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.inspection.given import model_given
from haugmbd.model.labels import JointEntry, joint_named
from haugmbd.model.model import Model
from haugmbd.model.state import State


@dataclass(frozen=True, eq=False)
class JointHistory(NamesMeant):
    """The coordinates of one joint at all stored states.

    Attributes
    ----------
    joint : str
        Name of the joint.
    coordinates : tuple of str
        What the columns of `rate` and `acceleration` are, such as ("displacement", "angle") of a cylindrical joint.
    t : ndarray, (nt,)
        Times [s].
    angle : ndarray, (nt,) or (nt, 2)
        Angles [rad] of the joint's rotations, unwound through any number of turns; `q0` of the joint (0 by default) at the modelled
        pose.
    displacement : ndarray, (nt,) or (nt, 2)
        Displacements [m]; `q0` of the joint (0 by default) at the modelled pose.
    rotation : ndarray, (nt, 3)
        Rotation vector [rad] of body j against body i from the modelled pose, in the joint's frame on body i, shorter than pi; of joints
        that let body j turn freely about a point.
    rate, acceleration : ndarray, (nt,) or (nt, n)
        First and second derivatives of the coordinates, in the order of `coordinates`; of spherical joints the relative angular
        velocity and acceleration in the joint's frame on body i.
    """

    joint: str
    coordinates: tuple[str, ...]
    t: Array
    rate: Array
    acceleration: Array
    _values: dict[str, Array]

    @property
    def angle(self) -> Array:
        return self._value("angle")

    @property
    def displacement(self) -> Array:
        return self._value("displacement")

    @property
    def rotation(self) -> Array:
        return self._value("rotation")

    def _value(self, name: str) -> Array:
        """Return a coordinate. UsageError if the joint does not have it."""
        if name not in self._values:
            has = ", ".join(f".{own}" for own in self._values)
            raise UsageError(f"joint {self.joint!r} has no {name}: it has {has}.")
        return self._values[name]

    def __repr__(self) -> str:
        return f"JointHistory of {self.joint!r}: {', '.join(self.coordinates)}, {len(self.t)} states"


def joint_history(model: Model, joint: JointEntry, t: Array, y: Array, u_dot: Array, turns: Array | None = None) -> JointHistory:
    """Return the coordinates of a joint at the states y (nt, ny) with accelerations u_dot (nt, nb + 1, 6), (v', omega_bar').

    turns: angles (nt, m) that the run has counted, see `turns.TurnCounter`

    Raises
    ------
    UsageError
        If the joint does not declare its freedoms, or leaves none; if the stored states are too far apart to count its turns.
    """
    freedoms = joint.freedoms
    if not freedoms:
        why = "does not declare its freedoms" if freedoms is None else "leaves no freedom"
        raise UsageError(f"joint {joint.name!r} ({joint.kind}) has no coordinates: it {why}.")
    if not angles_of(freedoms) and not has_balls(freedoms) and any(freedom.kind is Kind.TURN for freedom in freedoms):
        hint = f"; result.driver({joint.name!r}) has what it drives" if joint.part.needs() else ""
        raise UsageError(
            f"joint {joint.name!r} ({joint.kind}) has no coordinates: its rotations are not angles about its own axes{hint}."
        )
    m, start = joint_motion(joint, y, u_dot), joint_motion(joint, model.y0[None], np.zeros((1, *u_dot.shape[1:])))
    names: list[str] = []
    values: dict[str, list[Array]] = {}
    rates, accelerations = [], []
    for name, value, rate, acceleration in _coordinates(model, joint, t, y, m, start, turns):
        names.append(name)
        values.setdefault(name, []).append(value)
        rates += [rate] if rate.ndim == 1 else list(rate.T)
        accelerations += [acceleration] if acceleration.ndim == 1 else list(acceleration.T)
    columns = {name: _columns(parts) for name, parts in values.items()}
    return JointHistory(joint.name, tuple(names), t, _columns(rates), _columns(accelerations), columns)


def _coordinates(
    model: Model, joint: JointEntry, t: Array, y: Array, m: JointMotion, start: JointMotion, turns: Array | None
) -> Iterator[tuple[str, Array, Array, Array]]:
    """Return name, value, rate and acceleration of each coordinate, in the order of the joint's freedoms."""
    freedoms = joint.freedoms or ()
    arm, angles = is_arm(freedoms), angles_of(freedoms)
    for freedom in freedoms:
        if freedom.kind is Kind.SLIDE:
            yield "displacement", slide(freedom, m) - slide(freedom, start) + joint.part.q0, *slide_rates(freedom, m)
        elif freedom in angles:
            value = angle_in_turn(freedom, m, arm=arm) - angle_in_turn(freedom, start, arm=arm)
            rate, acceleration = angle_rates(freedom, m, arm=arm)
            known = known_angle(model, joint, freedom, t, y, turns)
            whole = unwound(joint.name, t, value, rate, acceleration) if known is None else nearest_turn(principal(value), known)
            yield "angle", whole + joint.part.q0, rate, acceleration
    if has_balls(freedoms):
        yield "rotation", *rotation(m, start)


def coordinates_within_a_turn(joint: JointEntry, y: Array, y0: Array) -> list[tuple[str, Array, Array]]:
    """Return what each coordinate of a joint is, its value since the pose y0 (ny,), of angles within a turn, and its rate, at y (nt, ny).

    Accelerations are not needed, and none are solved for.  Rotations about a point have no value here.
    """
    freedoms, bodies = joint.freedoms or (), y.shape[1] // WIDTH
    m, start = (joint_motion(joint, x, np.zeros((len(x), bodies, 6))) for x in (y, y0[None]))
    arm, angles, found = is_arm(freedoms), angles_of(freedoms), list[tuple[str, Array, Array]]()
    for freedom in freedoms:
        if freedom.kind is Kind.SLIDE:
            found.append(("displacement", slide(freedom, m) - slide(freedom, start), slide_rates(freedom, m)[0]))
        elif freedom in angles:
            value = angle_in_turn(freedom, m, arm=arm) - angle_in_turn(freedom, start, arm=arm)
            found.append(("angle", value, angle_rates(freedom, m, arm=arm)[0]))
    if has_balls(freedoms):
        found += [("rotation", np.zeros(len(y)), rate) for rate in rotation(m, start)[1].T]
    return found


def _columns(parts: list[Array]) -> Array:
    """Return one coordinate as (nt,) or as it is, several as (nt, n); read-only."""
    array = parts[0].copy() if len(parts) == 1 else np.stack(parts, axis=1)
    array.flags.writeable = False
    return array


MOST_CALLS = 100_000
"""Calls that are remembered: more than the steps of a batch, in which events are located."""


@public_class
class JointCoordinate:
    """A coordinate of a joint, or its rate, as a function f(t, state): for `Event` and `Sensor`.

    Parameters
    ----------
    system : System or Model
        The mechanism.
    joint : str
        Name of the joint.
    what : {"angle", "displacement"}
        The kind of coordinate.
    zero : float
        Value that is taken off [rad or m]: the function is zero where the coordinate has this value. Not used for rates.
    number : int
        Which one of several coordinates of this kind, from 1.
    derivative : {0, 1}
        0 for the coordinate, 1 for its rate.

    Raises
    ------
    UsageError
        If the joint or its coordinate does not exist, or an argument is not valid.

    Notes
    -----
    The coordinate is `q0` of the joint (0 by default) at the modelled pose, and positive as the joint's class says. As the function of an
    `Event` or `Sensor` an angle goes through any number of turns: a run counts them from step to step, from -pi to pi at its start, or
    takes them from an RSDA, a coupling or a driver on the joint. A state alone does not store whole turns: where the function is called
    by other code, the angle is measured from -pi to pi about `zero`, and jumps there.
    """

    def __init__(
        self, system: Any, joint: str, what: str = "angle", *, zero: float = 0.0, number: int = 1, derivative: int = 0
    ) -> None:
        self.model: Model = model_given(system, "JointCoordinate")
        self.joint = joint_named(self.model.joints, joint)
        freedoms = self.joint.freedoms or ()
        known = {"angle": angles_of(freedoms), "displacement": tuple(f for f in freedoms if f.kind is Kind.SLIDE)}
        has = {name: ways for name, ways in known.items() if ways}
        if what not in has:
            raise UsageError(f"what is {what!r}: joint {joint!r} ({self.joint.kind}) has {', '.join(map(repr, has)) or 'neither'}.")
        if number not in range(1, len(has[what]) + 1):
            raise UsageError(f"number = {number!r}: joint {joint!r} has {len(has[what])} of {what!r}, from 1.")
        given: Any = zero  # numbers of NumPy, too
        if isinstance(given, bool) or not isinstance(given, Real) or not np.isfinite(float(given)):
            raise UsageError(f"zero = {zero!r:.60} must be a finite number.")
        if not is_one_of(derivative, (0, 1)):
            raise UsageError(f"derivative = {derivative!r} must be 0 or 1: a state has no accelerations.")
        self.freedom, self.what, self.derivative = has[what][number - 1], what, derivative
        self.zero = float(zero) - self.joint.part.q0  # the coordinate is counted from the modelled pose here
        self._none = np.zeros((1, self.model.nb + 1, 6))
        self._modelled = joint_motion(self.joint, self.model.y0[None], self._none)
        self._arm = is_arm(freedoms)
        self._counts_turns = what == "angle" and not derivative and angle_source(self.model, self.joint, self.freedom) is None

    def __call__(self, t: float, state: State) -> float:
        """Return the coordinate less `zero`, or its rate."""
        y = state.y[None]
        m = joint_motion(self.joint, y, self._none)
        if self.what == "displacement":
            value = (
                slide_rates(self.freedom, m)[0] if self.derivative else slide(self.freedom, m) - slide(self.freedom, self._modelled)
            )
            return float(value[0]) - (0.0 if self.derivative else self.zero)
        if self.derivative:
            return float(angle_rates(self.freedom, m, arm=self._arm)[0][0])
        angle = self._angle(m) - self.zero
        known = None if self._counts_turns else self._known(t, y)
        near = 0.0 if known is None else known - self.zero
        return float(principal(angle - near) + near)

    def angle_and_rate(self, state: State) -> tuple[float, float]:
        """Return the angle from -pi to pi, from the modelled pose, and its rate."""
        m = joint_motion(self.joint, state.y[None], self._none)
        return float(principal(self._angle(m))), float(angle_rates(self.freedom, m, arm=self._arm)[0][0])

    def _angle(self, m: JointMotion) -> Array:
        """Return the angle from the modelled pose, within one turn."""
        angle = angle_in_turn(self.freedom, m, arm=self._arm) - angle_in_turn(self.freedom, self._modelled, arm=self._arm)
        return np.asarray(angle[0])

    def _known(self, t: float, y: Array) -> float | None:
        """Return the angle with its turns from a torsion spring or a driver on the joint; None if there is none."""
        known = known_angle(self.model, self.joint, self.freedom, np.array([t]), y, None)
        return None if known is None else float(known[0])

    def __repr__(self) -> str:
        return f"JointCoordinate({self.joint.name!r}, {self.what!r}{', derivative=1' if self.derivative else ''})"


class CountedCoordinate:
    """The angle of a JointCoordinate along one run, with its whole turns, counted from call to call."""

    def __init__(self, coordinate: JointCoordinate) -> None:
        self.coordinate = coordinate
        self._calls: list[tuple[float, float, float]] = []

    def __call__(self, t: float, state: State) -> float:
        """Return the angle less `zero`. Raise UsageError if the state is too far from the one before to count its turns."""
        angle, rate = self.coordinate.angle_and_rate(state)
        place = bisect_left(self._calls, t, key=itemgetter(0))
        if not self._calls:
            self._calls.append((t, angle, rate))
            return angle - self.coordinate.zero
        near = min(self._calls[max(place - 1, 0) : place + 1], key=lambda call: abs(call[0] - t))
        expected = near[1] + 0.5 * (t - near[0]) * (near[2] + rate)
        counted = float(nearest_turn(np.asarray(angle), np.asarray(expected)))
        if not abs(counted - expected) <= UNSURE:
            raise UsageError(
                f"joint {self.coordinate.joint.name!r} turns by about {expected - near[1]:.3g} rad from t = {near[0]:.6g} s to {t:.6g} s, "
                "too far to count its turns. Give a smaller h, h_max or rtol."
            )
        if near[0] != t:
            self._calls.insert(place, (t, counted, rate))
            del self._calls[: -MOST_CALLS if len(self._calls) > 2 * MOST_CALLS else 0]
        return counted - self.coordinate.zero

    def forget_after(self, t: float) -> None:
        """Forget the calls after a time [s], at which the motion goes on in another way."""
        del self._calls[bisect_left(self._calls, t, key=itemgetter(0)) :]

    def __repr__(self) -> str:
        return repr(self.coordinate)


P = TypeVar("P", bound=Any)


def counting_turns(part: P) -> P:
    """Return an event or a sensor for one run: if its function is an angle whose turns no state tells, they are counted."""
    function = part.function
    if isinstance(function, JointCoordinate) and function._counts_turns:
        counted: P = replace(part, function=CountedCoordinate(function))
        return counted
    return part
