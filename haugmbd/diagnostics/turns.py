"""The whole turns of joint angles: from a spring's or a driver's own angle, from the run's record, or from the rates at stored states.

    RSDA            its integrated angle is in the state             driver    theta = f(t) through any number of turns
    record          the run counts from step to step and keeps the angle at the stored states, if it does not store every step
    rates           between stored states the angle changes by h (w_0 + w_1) / 2 + h^2 (a_0 - a_1) / 12 up to order five

Each gives the angle well enough to choose among theta + 2 pi k. Where a step, or the way between stored states, is so long that the angle
is too far from this, the turns are not known, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.joint import Joint
from haugmbd.diagnostics.joint_motion import (
    JointFrames,
    angle_in_turn,
    angle_rates,
    angles_of,
    frames_of,
    is_arm,
    joint_motion,
    joint_pose,
    states_of_bodies,
)
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.model.immutable import once_per_model
from haugmbd.model.labels import JointEntry, parts_of, rows_by_class
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

Flags = npt.NDArray[np.bool_]
Steps = tuple[Array, Array, Array]
"""t (k,), y (k, ny) and y_dot (k, ny)."""

UNSURE = 0.5 * np.pi
"""[rad] An angle that is farther from what its rates say has been seen too seldom to count its turns, and one whose accelerations say
so much else than its rates."""
SHORT = 0.5
"""[rad] A step in which no angle may change by more than this needs no rates: nearest angles are the right ones."""
TOGETHER = 1.5
"""[rad] Such steps are examined together as far as no angle changes by more than this: less than UNSURE."""
SURE = 0.3
"""[rad] The same, of an angle that turns by more than half a turn from state to state."""
AT_ONCE = 2000
"""Joints whose frames are in memory at the same time."""
WHOLE = 2.0 * np.pi


def principal(angle: Array) -> Array:
    """Return the angle from -pi to pi."""
    inside: Array = np.remainder(angle + np.pi, WHOLE) - np.pi
    return inside


def nearest_turn(angle: Array, near: Array) -> Array:
    """Return angle + 2 pi k, the nearest to `near`."""
    nearest: Array = angle + WHOLE * np.round((near - angle) / WHOLE)
    return nearest


def expected_changes(t: Array, rate: Array, acceleration: Array) -> Array:
    """Return the changes (nt - 1, ...) of angles between states, up to order five, from their rates and accelerations (nt, ...)."""
    h = np.diff(t).reshape(-1, *[1] * (rate.ndim - 1))
    change: Array = 0.5 * h * (rate[1:] + rate[:-1]) + h * h / 12.0 * (acceleration[:-1] - acceleration[1:])
    return change


def counted_changes(t: Array, angle: Array, rate: Array, acceleration: Array) -> tuple[Array, Flags, Array]:
    """Return the changes (nt - 1, ...) of angles with their whole turns, whether they are known, and what the rates say of them.

    angle: (nt, ...) within one turn
    """
    expected, seen = expected_changes(t, rate, acceleration), np.diff(angle, axis=0)
    turns = np.round((expected - seen) / WHOLE)
    far = np.abs(expected - seen - WHOLE * turns)
    h = np.diff(t).reshape(-1, *[1] * (rate.ndim - 1))
    correction = np.abs(expected - 0.5 * h * (rate[1:] + rate[:-1]))
    sure: Flags = (far <= np.where(np.abs(expected) > np.pi, SURE, UNSURE)) & (correction <= UNSURE)
    return seen + WHOLE * turns, sure, expected


def unwound(name: str, t: Array, angle: Array, rate: Array, acceleration: Array) -> Array:
    """Return the angle (nt,) with its whole turns, counted by the rates; UsageError where the states are too far apart to know them.

    States that are not finite keep NaN, and the turns continue behind them.
    """
    finite = np.isfinite(angle) & np.isfinite(rate) & np.isfinite(acceleration)
    out = np.full(len(angle), np.nan)
    if not finite.any():
        return out
    times, base = t[finite], principal(angle[finite])
    change, sure, expected = counted_changes(times, base, rate[finite], acceleration[finite])
    if not sure.all():
        k = int(np.argmin(sure))
        raise UsageError(
            f"joint {name!r}: between t = {times[k]:.6g} s and {times[k + 1]:.6g} s it turns by about {expected[k]:.3g} rad, too far for "
            "the stored states to count its turns. Store more states (a smaller store_every, or a denser t_eval); runs of simulate count "
            "them from step to step."
        )
    out[finite] = nearest_turn(base, base[0] + np.concatenate([[0.0], np.cumsum(change)]))
    return out


def turning_joints(model: Model) -> Iterator[tuple[Joint, Freedom]]:
    """Yield joint and freedom of every angle that the run's record has a column for, in this order."""
    angles = cache(angles_of)
    return ((joint, freedom) for joint in parts_of(model.joints) for freedom in angles(tuple(joint.freedoms or ())))


class IntegratedAngle(NamedTuple):
    """A column of the state that is the angle of a joint, through all turns, and its value where `angle_in_turn` starts."""

    column: int
    at_start: float


def angle_source(model: Model, joint: JointEntry, freedom: Freedom) -> IntegratedAngle | int | None:
    """Return the source of the angle of a joint through all turns: the state, or the row of its driver; None if there is none.

    The state has the angles of couplings and of torsion springs.
    """
    first = WIDTH * (model.nb + 1)
    for coordinate, k in model.angles:
        if id(coordinate.joint) == id(joint.part) and coordinate.freedom == freedom:
            return IntegratedAngle(first + k, joint.part.q0)
    if not joint.part.rotates_about_h:
        return None
    for entry in model.loads:
        if entry.load.angles and joint.part in entry.load.needs():
            return IntegratedAngle(first + entry.angle, _modelled(model, joint, freedom) + joint.part.q0)
    driven = (row for row, driver in driver_angles(model) if joint.part in driver.needs())
    return next(driven, None)


@once_per_model
def driver_angles(model: Model) -> tuple[tuple[int, Joint], ...]:
    """Return the rows whose value is the angle of a joint, each with the driver that it belongs to."""
    kinds = rows_by_class(model.labels)
    rows = [numbers[:, k] for labels, numbers in kinds for k, label in enumerate(labels) if isinstance(label.primitive, Rotation)]
    return tuple(
        (int(row), model.joints[model.labels[row].joint].part) for row in np.sort(np.concatenate([np.zeros(0, int), *rows]))
    )


def known_angle(model: Model, joint: JointEntry, freedom: Freedom, t: Array, y: Array, record: Array | None) -> Array | None:
    """Return the angle, measured as `angle_in_turn`, from a spring's or a driver's own angle or the run's record; None if there is none.

    record: (nt, m) angles from the modelled pose, in the order of `turning_joints`; NaN where the run could not count
    """
    source = angle_source(model, joint, freedom)
    if isinstance(source, IntegratedAngle):
        column: Array = y[:, source.column]
        return column - source.at_start
    if source is not None:
        f: Array = model.driver_over_time(source, t, y)[:, 0]
        return f - _modelled(model, joint, freedom) - joint.part.q0
    if record is None:
        return None
    angle = record[
        :, [(turning_joint.name, turning) for turning_joint, turning in turning_joints(model)].index((joint.name, freedom))
    ]
    lost = np.isnan(angle) & np.isfinite(y).all(axis=1)
    if lost.any():
        raise UsageError(
            f"joint {joint.name!r}: before t = {t[lost][0]:.6g} s the run takes steps in which it turns too far to count its turns. "
            "Give a smaller h, h_max or rtol; to kinematics closer times."
        )
    return angle


def _modelled(model: Model, joint: JointEntry, freedom: Freedom) -> float:
    """Return the angle of the frames at the modelled pose."""
    start = joint_pose(joint, model.y0[None], model.nb + 1)
    return float(angle_in_turn(freedom, start, arm=is_arm(joint.freedoms or ()))[0])


class Alike(NamedTuple):
    """The joints with the same freedom, their columns in the record, and their angles at the modelled pose, (k,)."""

    columns: Ints
    joints: JointFrames
    freedom: Freedom
    arm: bool
    zero: Array


@once_per_model
def alike_joints(model: Model) -> list[Alike]:
    """Return the joints that turn, those with the same freedom together."""
    alike: dict[tuple[Freedom, bool], tuple[list[int], list[Joint]]] = {}
    arms = cache(is_arm)
    for k, (joint, freedom) in enumerate(turning_joints(model)):
        columns, of_them = alike.setdefault((freedom, arms(tuple(joint.freedoms or ()))), ([], []))
        columns.append(k)
        of_them.append(joint)
    number, groups = {body: k for k, body in enumerate(model.bodies)}, []
    for (freedom, arm), (freedoms, turning) in alike.items():
        joints = frames_of(turning, number, points=arm)
        zero = angle_in_turn(freedom, joint_pose(joints, model.y0[None], model.nb + 1), arm=arm)[0]
        groups.append(Alike(np.array(freedoms), joints, freedom, arm, zero))
    return groups


class TurnCounter:
    r"""The angles of all joints that turn, counted along a run: from the modelled pose, at the last step seen.

        omega, alpha    the largest angular velocity and acceleration of a body: no angle about an axis changes by more than
                        2 h (omega + h alpha / 2) in a step

    Where this is a small part of a turn from one state to another, nearest angles are the right ones; steps between are not examined.
    Longer steps, and arms, which may be faster, need rates and accelerations.

    last: the angles at the last state that was examined;  unseen: [rad] how far an angle may have turned since then
    """

    def __init__(self, model: Model) -> None:
        self.n = model.nb + 1
        self.alike = alike_joints(model)
        self.arms = any(alike.arm for alike in self.alike)
        self.zero = np.zeros(sum(len(alike.columns) for alike in self.alike))
        for alike in self.alike:
            self.zero[alike.columns] = alike.zero
        self.last: Array | None = None
        self.unseen = 0.0

    def start(self, y: Array, near: Array | None = None) -> Array:
        """Return the angles (1, m) at the first state y (1, ny): from -pi to pi, or the nearest to `near` (m,)."""
        angles = self._angles(y)
        if near is not None:
            angles = nearest_turn(angles, near)
        self.last, self.unseen = angles[0], 0.0
        return angles

    def at_steps(self, before: Steps, steps: Steps, kept: Ints) -> Array:
        """Return the angles (k, m) at some of the steps, by their numbers (k,), as `follow` does.

        before: t (1,), y (1, ny) and y_dot (1, ny) of the last state that was seen
        """
        if self.last is not None and not self.arms:
            t = np.concatenate([before[0], steps[0]])
            turned = _way(t, [self._fastest(*x[1:]) for x in (before, steps)])
            if not np.max(np.diff(turned), initial=0.0) > SHORT:
                return self._at_steps(t, partial(_states_at, before[1], steps[1]), turned, kept + 1)
        t, y, y_dot = (np.concatenate(pair) for pair in zip(before, steps, strict=True))
        return self.follow(t, y, y_dot, steps[0][kept], steps[1][kept])

    def follow(self, t: Array, y: Array, y_dot: Array, wanted: Array, y_wanted: Array, known: Array | None = None) -> Array:
        """Return the angles (k, m) at the states y_wanted (k, ny) between the steps at t (n + 1,), the first of which was the last seen.

        An angle whose step is too long to be counted is NaN from there on.

        known: the angles at t, if they have been counted before
        """
        way = None if known is not None or self.arms else _way(t, [self._fastest(y, y_dot)])
        if way is not None and not np.max(np.diff(way), initial=0.0) > SHORT:
            numbers = np.minimum(np.searchsorted(t, wanted), len(t) - 1)
            if self.last is not None and np.array_equal(wanted, t[numbers]) and np.array_equal(y_wanted, y[numbers]):
                return self._at_steps(t, y.__getitem__, way, numbers)
            nodes = _spread(way)
            t = t[nodes]
            counted, rate = self._counted(t, self._angles(y[nodes])), None
        else:
            counted, rate = self.count(t, y, y_dot, known)
        return nearest_turn(self._angles(y_wanted), _near(t, counted, rate, wanted))

    def _at_steps(self, t: Array, states: Callable[[Ints], Array], way: Array, numbers: Ints) -> Array:
        """Return the angles (k, m) at some of the steps: steps between are examined only where an angle may turn too far without them.

        states: returns the states of steps with these numbers, in ascending order
        """
        nodes = np.array(_enough(way, -self.unseen, numbers), dtype=np.int64)
        if not len(nodes):
            self.unseen += way[-1]
            return np.empty((0, len(self.zero)))
        counted = self._counted(t[nodes], self._angles(states(nodes)))
        self.unseen = way[-1] - way[nodes[-1]]
        return counted[np.searchsorted(nodes, numbers)]

    def count(self, t: Array, y: Array, y_dot: Array, known: Array | None = None) -> tuple[Array, Array | None]:
        """Return the angles (n + 1, m) at the states, and their rates if any step is so long that these are needed."""
        short = not self.arms and not np.max(np.diff(_way(t, [self._fastest(y, y_dot)])), initial=0.0) > SHORT
        rates = None if short else self._rates(y, y_dot)
        if known is None:
            known = self._counted(t, self._angles(y), rates)
        self.last, self.unseen = known[-1], 0.0
        return known, None if rates is None else rates[0]

    def _counted(self, t: Array, angle: Array, rates: tuple[Array, Array] | None = None) -> Array:
        """Return the angles (n, m) with their turns, from those within one turn; NaN from where they are not known.

        rates: rates and accelerations (n, m) of the angles; None where nearest angles are the right ones
        """
        change, sure, _ = counted_changes(t, angle, *(np.zeros((2, *angle.shape)) if rates is None else rates))
        change = np.where(sure, change, np.nan)
        last = angle[0] if self.last is None else self.last
        counted = nearest_turn(angle, np.concatenate([last[None], last + np.cumsum(change, axis=0)]))
        self.last, self.unseen = counted[-1], 0.0
        return counted

    def _fastest(self, y: Array, y_dot: Array) -> Array:
        """Return the largest angular velocity and acceleration of a body at the states, (2, n)."""
        of_bodies = (states_of_bodies(x, self.n)[:, 1:, OMEGA_BAR:WIDTH] for x in (y, y_dot))
        return np.array([np.sqrt(np.einsum("tka,tka->tk", x, x).max(axis=1, initial=0.0)) for x in of_bodies])

    def _angles(self, y: Array) -> Array:
        """Return the angles (n, m) at the states y within one turn, from the modelled pose."""
        angle = np.empty((len(y), len(self.zero)))
        for columns, joints, freedom, arm, _ in self.alike:
            for first in range(0, len(columns), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                pose = joint_pose(joints.part(some), y, self.n)
                angle[:, columns[some]] = angle_in_turn(freedom, pose, arm=arm)
        return principal(angle - self.zero)

    def _rates(self, y: Array, y_dot: Array) -> tuple[Array, Array]:
        """Return rates and accelerations of the angles (n, m)."""
        rate, acceleration = np.empty((2, len(y), len(self.zero)))
        u_dot = states_of_bodies(y_dot, self.n)[:, :, VELOCITY:]
        for columns, joints, freedom, arm, _ in self.alike:
            rate[:, columns], acceleration[:, columns] = angle_rates(freedom, joint_motion(joints, y, u_dot), arm=arm)
        return rate, acceleration


def _states_at(first: Array, more: Array, numbers: Ints) -> Array:
    """Return the states with these ascending numbers of (1, ny) and (n, ny) below it; those of one step, or in a row, are not copied."""
    if numbers[0] == 0:
        return first if len(numbers) == 1 else np.concatenate([first, more[numbers[1:] - 1]])
    in_a_row = numbers[-1] - numbers[0] == len(numbers) - 1
    return more[numbers[0] - 1 : numbers[-1]] if in_a_row else more[numbers - 1]


def _way(t: Array, fastest: Sequence[Array]) -> Array:
    """Return how far an angle may have turned so far (n + 1,) [rad], by the fastest bodies at the ends of each step.

    fastest: (2, .) angular velocities and accelerations, in parts that have n + 1 columns together
    """
    omega, alpha = np.concatenate(fastest, axis=1)
    h = np.abs(np.diff(t))
    step = 2.0 * h * (np.maximum(omega[1:], omega[:-1]) + 0.5 * h * np.maximum(alpha[1:], alpha[:-1]))
    return np.concatenate([[0.0], np.cumsum(step)])


def _spread(way: Array) -> Ints:
    """Return the numbers of states that are as far apart as TOGETHER permits, the first and the last among them."""
    chosen, last = [0], len(way) - 1
    while chosen[-1] < last:
        reached = int(way.searchsorted(way[chosen[-1]] + TOGETHER, side="right")) - 1
        chosen.append(max(chosen[-1] + 1, min(reached, last)))
    return np.array(chosen)


def _enough(way: Array, at: float, numbers: Ints) -> list[int]:
    """Return the numbers of states, `numbers` among them, so many that the way from each to the next is not longer than TOGETHER.

    at: where on the way the last state before these is
    """
    chosen: list[int] = []
    for k in [*numbers.tolist(), len(way) - 1]:
        while way[k] - at > TOGETHER:
            chosen.append(int(way.searchsorted(at + TOGETHER, side="right")) - 1)
            at = way[chosen[-1]]
        if k in numbers and k not in chosen[-1:]:
            chosen.append(k)
            at = way[k]
    return chosen


def _near(t: Array, angle: Array, rate: Array | None, wanted: Array) -> Array:
    """Return angles (k, m) between those at t (n, m): cubics if the rates are given, else straight lines."""
    if len(t) < 2:  # noqa: PLR2004
        return np.repeat(angle, len(wanted), axis=0)
    k = np.clip(np.searchsorted(t, wanted, side="right") - 1, 0, len(t) - 2)
    h, gap = (t[k + 1] - t[k])[:, None], angle[k + 1] - angle[k]
    s = (wanted - t[k])[:, None] / h
    d0, d1 = (gap, gap) if rate is None else (h * rate[k], h * rate[k + 1])
    near: Array = angle[k] + s * (d0 + s * (3.0 * gap - 2.0 * d0 - d1 + s * (d0 + d1 - 2.0 * gap)))
    return near
