r"""The whole turns of joint angles: from a spring's or a driver's own angle, from the run's record, or from the rates at stored states.

    RSDA            its integrated angle stands in the state         driver    theta = f(t) through any number of turns
    record          the run counts from step to step and keeps the angle at the stored states, if it does not store every step
    rates           between stored states the angle changes by h (w_0 + w_1) / 2 + h^2 (a_0 - a_1) / 12 up to order five

Each gives the angle well enough to choose among theta + 2 pi k. Where a step, or the way between stored states, is so long that the angle
is too far from this, the turns are not known, and nothing is guessed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.rotation import Rotation
from haugmbd.diagnostics.joint_motion import JointMotion, angle_in_turn, angle_rates, angles_of, is_arm, joint_motion
from haugmbd.errors import UsageError
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

Flags = npt.NDArray[np.bool_]

UNSURE = 0.5 * np.pi
"""[rad] An angle that is farther from what its rates say has been seen too seldom to count its turns, and one whose accelerations say
so much else than its rates."""
SURE = 0.3
"""[rad] The same, of an angle that turns by more than half a turn from state to state."""
WHOLE = 2.0 * np.pi


def principal(angle: Array) -> Array:
    """Return the angle from -pi to pi."""
    inside: Array = np.remainder(angle + np.pi, WHOLE) - np.pi
    return inside


def nearest_turn(angle: Array, near: Array) -> Array:
    """Return angle + 2 pi k, the nearest to `near`."""
    found: Array = angle + WHOLE * np.round((near - angle) / WHOLE)
    return found


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
    known: Flags = (far <= np.where(np.abs(expected) > np.pi, SURE, UNSURE)) & (correction <= UNSURE)
    return seen + WHOLE * turns, known, expected


def unwound(name: str, t: Array, angle: Array, rate: Array, acceleration: Array) -> Array:
    """Return the angle (nt,) with its whole turns, counted by the rates; UsageError where the states are too far apart to know them.

    States that are not finite keep NaN, and the turns go on behind them.
    """
    finite = np.isfinite(angle) & np.isfinite(rate) & np.isfinite(acceleration)
    out = np.full(len(angle), np.nan)
    if not finite.any():
        return out
    times, base = t[finite], principal(angle[finite])
    change, known, expected = counted_changes(times, base, rate[finite], acceleration[finite])
    if not known.all():
        k = int(np.argmin(known))
        raise UsageError(
            f"joint {name!r}: between t = {times[k]:.6g} s and {times[k + 1]:.6g} s it turns by about {expected[k]:.3g} rad, too far for "
            "the stored states to count its turns. Store more states (a smaller store_every, or a denser t_eval); runs of simulate count "
            "them from step to step."
        )
    out[finite] = nearest_turn(base, base[0] + np.concatenate([[0.0], np.cumsum(change)]))
    return out


def turning_joints(model: Model) -> tuple[tuple[JointEntry, Freedom], ...]:
    """Return joint and freedom of every angle that the run's record has a column for, in this order."""
    return tuple((joint, freedom) for joint in model.joints.values() for freedom in angles_of(joint.freedoms))


def known_angle(model: Model, joint: JointEntry, freedom: Freedom, t: Array, y: Array, record: Array | None) -> Array | None:
    """Return the angle, measured as `angle_in_turn`, from a spring's or a driver's own angle or the run's record; None if there is none.

    record: (nt, m) angles from the modelled pose, in the order of `turning_joints`; NaN where the run could not count
    """
    if joint.part.rotates_about_h:
        for entry in model.loads:
            if entry.load.angles and joint.part in entry.load.needs():
                own: Array = y[:, WIDTH * (model.nb + 1) + entry.angle]
                return own - _modelled(model, joint, freedom)
        for row, label in enumerate(model.labels):
            if isinstance(label.primitive, Rotation) and joint.part in model.joints[label.joint].part.needs():
                f: Array = model.drivers[model.drivers_of_rows()[row]].values(t)[:, 0]
                return f - _modelled(model, joint, freedom)
    if record is None:
        return None
    angle = record[:, [(one.name, way) for one, way in turning_joints(model)].index((joint.name, freedom))]
    lost = np.isnan(angle) & np.isfinite(y).all(axis=1)
    if lost.any():
        raise UsageError(
            f"joint {joint.name!r}: before t = {t[lost][0]:.6g} s the run takes steps in which it turns too far to count its turns. "
            "Give a smaller h, h_max or rtol; to kinematics closer times."
        )
    return angle


def _modelled(model: Model, joint: JointEntry, freedom: Freedom) -> float:
    """Return the angle of the frames at the modelled pose."""
    start = joint_motion(joint, model.y0[None], np.zeros((1, model.nb + 1, 6)))
    return float(angle_in_turn(freedom, start, arm=is_arm(joint.freedoms or ()))[0])


class TurnCounter:
    """The angles of all joints that turn, counted from step to step of a run: from the modelled pose, at the last step seen."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.joints: dict[str, tuple[JointEntry, tuple[Freedom, ...]]] = {
            joint.name: (joint, angles_of(joint.freedoms)) for joint, _ in turning_joints(model)
        }
        self.zero = np.array([_modelled(model, joint, freedom) for joint, freedom in turning_joints(model)])
        self.last: Array | None = None

    def observe(self, t: Array, y: Array, y_dot: Array) -> tuple[Array, Array]:
        """Return angles and rates (n + 1, m) of the steps between states y with rates y_dot (n + 1, ny), the first seen before.

        An angle whose step is too long to be counted is NaN from there on.
        """
        base, rate, acceleration = self._measure(y, y_dot)
        if self.last is None:
            self.last = base[0]
        change, known, _ = counted_changes(t, base, rate, acceleration)
        change = np.where(known, change, np.nan)
        counted = nearest_turn(base, np.concatenate([self.last[None], self.last + np.cumsum(change, axis=0)]))
        self.last = counted[-1]
        return counted, rate

    def between(self, t_new: Array, y_new: Array, t: Array, counted: Array, rate: Array) -> Array:
        """Return the angles (k, m) at states y_new between the steps at t (n + 1,), where angles and rates are known."""
        base = self._measure(y_new, np.zeros_like(y_new))[0]
        if len(t) < 2:
            return nearest_turn(base, np.repeat(counted, len(t_new), axis=0))
        k = np.clip(np.searchsorted(t, t_new, side="right") - 1, 0, len(t) - 2)
        h = (t[k + 1] - t[k])[:, None]
        s, gap = (t_new - t[k])[:, None] / h, counted[k + 1] - counted[k]
        d0, d1 = h * rate[k], h * rate[k + 1]
        near = counted[k] + s * (d0 + s * (3.0 * gap - 2.0 * d0 - d1 + s * (d0 + d1 - 2.0 * gap)))
        return nearest_turn(base, near)

    def _measure(self, y: Array, y_dot: Array) -> tuple[Array, Array, Array]:
        """Return angles within one turn, from the modelled pose, rates and accelerations, (n, m) each."""
        n = self.model.nb + 1
        u_dot = y_dot[:, : WIDTH * n].reshape(len(y), n, WIDTH)[:, :, 7:]
        columns: list[tuple[Array, Array, Array]] = []
        for joint, freedoms in self.joints.values():
            m: JointMotion = joint_motion(joint, y, u_dot)
            arm = is_arm(joint.freedoms or ())
            columns += [(angle_in_turn(freedom, m, arm=arm), *angle_rates(freedom, m, arm=arm)) for freedom in freedoms]
        angle, rate, acceleration = (np.array([c[part] for c in columns]).reshape(len(columns), len(y)).T for part in range(3))
        return principal(angle - self.zero), rate, acceleration
