r"""The coordinates of a joint over time: angles, displacements, and their rates and accelerations.

All are `q0` of the joint, by default zero, at the modelled pose (`joint_motion` has the formulas). Angles go through any
number of turns: `turns` counts them.
Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import Kind
from haugmbd.deprecated import NamesMeant
from haugmbd.diagnostics.joint_motions.joint_motion import (
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
from haugmbd.diagnostics.joint_motions.turns import known_angle, nearest_turn, principal, unwound
from haugmbd.errors import UsageError
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model


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
    found = {name: _columns(parts) for name, parts in values.items()}
    return JointHistory(joint.name, tuple(names), t, _columns(rates), _columns(accelerations), found)


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


def _columns(parts: list[Array]) -> Array:
    """Return one coordinate as (nt,) or as it is, several as (nt, n); read-only."""
    array = parts[0].copy() if len(parts) == 1 else np.stack(parts, axis=1)
    array.flags.writeable = False
    return array
