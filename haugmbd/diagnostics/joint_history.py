r"""The coordinates of a joint over time: angles, displacements, and their rates and accelerations.

    F_i = A_i A_bar_i, F_j = A_j A_bar_j    the joint's frames (f, g, h), global;    d = P_j - P_i;    w = omega_j - omega_i, global

    turn about h      theta = atan2(g_i . f_j, f_i . f_j)              theta' = h_i . w
    slide along e     x = e . d,  e fixed on body i                    x' = e . d' + (omega_i x e) . d
    universal joint   F_i^T F_j = R_x(u) R_y(v)                        u' = f_i . w,  v' = g_j . w
    spherical joint   F_i^T F_j (F_i^T F_j)_0^T = exp(phi~)            F_i^T w

All are zero at the modelled pose. Turns are counted by the rates: between stored states the angle changes by h (w_0 + w_1) / 2 +
h^2 (a_0 - a_1) / 12 up to order five, and the whole turns are those that come nearest.
Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation as SpatialRotation

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.freedoms import F_I, G_J, Axis, Freedom, Kind, Side, turn, turns_about_h_only
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

UNIVERSAL = [turn(F_I), turn(G_J)]
"""The rotations of a universal joint."""
UNSURE = 0.5 * np.pi
"""[rad] An angle that is farther from what its rates say has been seen too seldom to count its turns."""


@dataclass(frozen=True, eq=False)
class JointHistory:
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
        Angles [rad] of the joint's rotations, unwound through any number of turns; zero at the modelled pose.
    displacement : ndarray, (nt,) or (nt, 2)
        Displacements [m]; zero at the modelled pose.
    rotation : ndarray, (nt, 3)
        Rotation vector [rad] of body j against body i from the modelled pose, in the joint's frame on body i; of spherical joints, and
        shorter than pi.
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


@dataclass(frozen=True, eq=False)
class _Motion:
    """The joint's two frames and points at all states, global: value, first and second derivative."""

    F_i: Array
    F_j: Array
    omega_i: Array
    omega_j: Array
    alpha_i: Array
    alpha_j: Array
    d: Array
    d_dot: Array
    d_ddot: Array

    @property
    def w(self) -> Array:
        """The relative angular velocity."""
        return self.omega_j - self.omega_i

    def axis(self, freedom: Freedom) -> tuple[Array, Array, Array]:
        """Return the axis of a freedom, and the angular velocity and acceleration of the body on which it is fixed."""
        if freedom.side is Side.I:
            return self.F_i[:, :, freedom.axis], self.omega_i, self.alpha_i
        return self.F_j[:, :, freedom.axis], self.omega_j, self.alpha_j


def joint_history(model: Model, joint: JointEntry, t: Array, y: Array, u_dot: Array) -> JointHistory:
    """Return the coordinates of a joint at the states y (nt, ny) with accelerations u_dot (nt, nb + 1, 6), (v', omega_bar').

    Raises
    ------
    UsageError
        If the joint does not declare its freedoms, or leaves none; if the stored states are too far apart to count its turns.
    """
    if not joint.freedoms:
        why = "does not declare its freedoms" if joint.freedoms is None else "leaves no freedom"
        raise UsageError(f"joint {joint.name!r} ({joint.kind}) has no coordinates: it {why}.")
    m, start = _motion(joint, y, u_dot), _motion(joint, model.y0[None], np.zeros((1, *u_dot.shape[1:])))
    names: list[str] = []
    values: dict[str, list[Array]] = {}
    rates, accelerations = [], []
    for name, value, rate, acceleration in _coordinates(joint, t, m, start):
        names.append(name)
        values.setdefault(name, []).append(value)
        rates += [rate] if rate.ndim == 1 else list(rate.T)
        accelerations += [acceleration] if acceleration.ndim == 1 else list(acceleration.T)
    found = {name: _columns(parts) for name, parts in values.items()}
    return JointHistory(joint.name, tuple(names), t, _columns(rates), _columns(accelerations), found)


def _coordinates(joint: JointEntry, t: Array, m: _Motion, start: _Motion) -> Iterator[tuple[str, Array, Array, Array]]:
    """Return name, value, rate and acceleration of each coordinate, in the order of the joint's freedoms."""
    freedoms = joint.freedoms or ()
    spherical = any(freedom.kind is Kind.BALL for freedom in freedoms)
    for freedom in freedoms:
        if freedom.kind is Kind.SLIDE:
            yield "displacement", _slide(freedom, m) - _slide(freedom, start), *_slide_rates(freedom, m)
        elif freedom.kind is Kind.TURN:
            if spherical or not (turns_about_h_only(freedoms) or UNIVERSAL == [f for f in freedoms if f.kind is Kind.TURN]):
                raise UsageError(
                    f"joint {joint.name!r} ({joint.kind}) has no coordinates: its rotations are not angles about its own axes."
                )
            rate, acceleration = _turn_rates(freedom, m)
            yield (
                "angle",
                _unwound(joint.name, t, _turn(freedom, m) - _turn(freedom, start), rate, acceleration),
                rate,
                acceleration,
            )
    if spherical:
        yield "rotation", *_rotation(m, start)


def _columns(parts: list[Array]) -> Array:
    """Return one coordinate as (nt,) or as it is, several as (nt, n); read-only."""
    array = parts[0].copy() if len(parts) == 1 else np.stack(parts, axis=1)
    array.flags.writeable = False
    return array


def _motion(joint: JointEntry, y: Array, u_dot: Array) -> _Motion:
    """Return frames and points of both bodies."""
    parts = []
    for body, s_bar, A_bar in ((joint.i, joint.s_bar_i, joint.A_bar_i), (joint.j, joint.s_bar_j, joint.A_bar_j)):
        row = y[:, WIDTH * body : WIDTH * body + WIDTH]
        A = rotation_matrix(row[:, 3:7])
        omega, alpha = ((A @ x[:, :, None])[:, :, 0] for x in (row[:, 10:13], u_dot[:, body, 3:]))
        s = A @ s_bar
        v = row[:, 7:10] + np.cross(omega, s)
        a = u_dot[:, body, :3] + np.cross(alpha, s) + np.cross(omega, np.cross(omega, s))
        parts.append((A @ A_bar, omega, alpha, row[:, 0:3] + s, v, a))
    (F_i, omega_i, alpha_i, P_i, v_i, a_i), (F_j, omega_j, alpha_j, P_j, v_j, a_j) = parts
    return _Motion(F_i, F_j, omega_i, omega_j, alpha_i, alpha_j, P_j - P_i, v_j - v_i, a_j - a_i)


def _dot(a: Array, b: Array) -> Array:
    """Return a . b, state by state."""
    product: Array = np.einsum("ta,ta->t", a, b)
    return product


def _slide(freedom: Freedom, m: _Motion) -> Array:
    """Return e . d."""
    return _dot(m.axis(freedom)[0], m.d)


def _slide_rates(freedom: Freedom, m: _Motion) -> tuple[Array, Array]:
    """Return the first and second derivative of e . d."""
    e, omega, alpha = m.axis(freedom)
    e_dot = np.cross(omega, e)
    e_ddot = np.cross(alpha, e) + np.cross(omega, e_dot)
    return _dot(e, m.d_dot) + _dot(e_dot, m.d), _dot(e, m.d_ddot) + 2.0 * _dot(e_dot, m.d_dot) + _dot(e_ddot, m.d)


def _turn(freedom: Freedom, m: _Motion) -> Array:
    """Return the angle about an axis, within one turn: about h, or u or v of a universal joint."""
    R = np.swapaxes(m.F_i, 1, 2) @ m.F_j
    angles = {Axis.H: (R[:, 1, 0], R[:, 0, 0]), Axis.F: (R[:, 2, 1], R[:, 1, 1]), Axis.G: (R[:, 0, 2], R[:, 0, 0])}
    angle: Array = np.arctan2(*angles[freedom.axis])
    return angle


def _turn_rates(freedom: Freedom, m: _Motion) -> tuple[Array, Array]:
    """Return e . w and its derivative; about h the axis is that of body i."""
    e, omega, _ = m.axis(Freedom(freedom.kind, freedom.axis, Side.I) if freedom.axis is Axis.H else freedom)
    return _dot(e, m.w), _dot(e, m.alpha_j - m.alpha_i) + _dot(np.cross(omega, e), m.w)


def _unwound(name: str, t: Array, angle: Array, rate: Array, acceleration: Array) -> Array:
    """Return the angle with its whole turns; UsageError where the stored states are too far apart to know them."""
    h, whole = np.diff(t), 2.0 * np.pi
    expected = 0.5 * h * (rate[1:] + rate[:-1]) + h * h / 12.0 * (acceleration[:-1] - acceleration[1:])
    change = np.diff(angle)
    change = change + whole * np.round((expected - change) / whole)
    far = np.abs(expected - change)
    if far.size and not far.max() <= UNSURE:
        k = int(np.argmax(np.where(np.isfinite(far), far, np.inf)))
        raise UsageError(
            f"joint {name!r}: between t = {t[k]:.6g} s and {t[k + 1]:.6g} s it turns by about {expected[k]:.3g} rad, too far for the "
            "stored states to count its turns. Store more states (a smaller store_every, or a denser t_eval)."
        )
    first = np.remainder(angle[:1] + np.pi, whole) - np.pi
    return np.concatenate([first, first + np.cumsum(change)])


def _rotation(m: _Motion, start: _Motion) -> tuple[Array, Array, Array]:
    """Return the rotation vector of a spherical joint, and its angular velocity and acceleration, in the frame on body i."""
    to_i = np.swapaxes(m.F_i, 1, 2)
    now, before = to_i @ m.F_j, np.swapaxes(start.F_i, 1, 2) @ start.F_j
    rotation = SpatialRotation.from_matrix(now @ np.swapaxes(before, 1, 2)).as_rotvec()
    rate = (to_i @ m.w[:, :, None])[:, :, 0]
    return rotation, rate, (to_i @ (m.alpha_j - m.alpha_i - np.cross(m.omega_i, m.w))[:, :, None])[:, :, 0]
