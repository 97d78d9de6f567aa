"""The motion in a joint at all states: its frames and points, and its coordinates within one turn, with rates and accelerations.

    F_i = A_i A_bar_i, F_j = A_j A_bar_j    the joint's frames (f, g, h), global;    d = P_j - P_i;    w = omega_j - omega_i, global

    turn about h      theta = atan2(g_i . f_j, f_i . f_j)              theta' = h_i . w
    slide along e     x = e . d,  e fixed on body i                    x' = e . d' + (omega_i x e) . d
    universal joint   F_i^T F_j = R_x(u) R_y(v)                        u' = f_i . w,  v' = g_j . w
    arm about h       theta = atan2(g_i . d, f_i . d)                  theta' = h . (d x d*) / |d x h|^2,  d* = d' - omega_i x d
    spherical joint   F_i^T F_j (F_i^T F_j)_0^T = exp(phi~)            F_i^T w

Source: Haug (2021), spatial kinematics: relative coordinates of joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.freedoms import F_I, G_J, Axis, Freedom, Kind, Side, turn, turns_about_h_only
from haugmbd.constraints.joint import Joint
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.workspace.layout import WIDTH

UNIVERSAL = [turn(F_I), turn(G_J)]
"""The rotations of a universal joint."""


class Frames(Protocol):
    """The bodies and frames of one joint, as in `JointEntry`, or of several (m, ...)."""

    @property
    def i(self) -> Any: ...

    @property
    def j(self) -> Any: ...

    @property
    def s_bar_i(self) -> Array: ...

    @property
    def A_bar_i(self) -> Array: ...

    @property
    def s_bar_j(self) -> Array: ...

    @property
    def A_bar_j(self) -> Array: ...


class JointFrames(NamedTuple):
    """The bodies (m,) and points (m, 3) of several joints, and the numbers (m,) of their axes among all different ones (., 3, 3)."""

    i: Ints
    j: Ints
    s_bar_i: Array
    s_bar_j: Array
    axes_i: Ints
    axes_j: Ints
    axes: Array

    @property
    def A_bar_i(self) -> Array:
        """Return the axes on bodies i, (m, 3, 3)."""
        return self.axes[self.axes_i]

    @property
    def A_bar_j(self) -> Array:
        """Return the axes on bodies j, (m, 3, 3)."""
        return self.axes[self.axes_j]

    def part(self, some: slice) -> JointFrames:
        """Return the frames of some of the joints."""
        points = self.s_bar_i[some], self.s_bar_j[some]
        return JointFrames(self.i[some], self.j[some], *points, self.axes_i[some], self.axes_j[some], self.axes)


def frames_of(joints: Sequence[Joint], number: Mapping[Body, int], *, points: bool) -> JointFrames:
    """Return the frames of several joints of bodies with these numbers;  points: whether their points are needed, otherwise 0."""
    sides = [joint.frame_i for joint in joints], [joint.frame_j for joint in joints]
    i, j = (np.array([number[frame.body] for frame in frames], dtype=np.int64) for frames in sides)
    nowhere = np.broadcast_to(np.zeros(3), (len(joints), 3))
    s_bar_i, s_bar_j = (np.array([frame.s_bar for frame in frames]).reshape(-1, 3) if points else nowhere for frames in sides)
    numbers: dict[bytes, int] = {}
    axes_i, axes_j = (
        np.array([numbers.setdefault(frame.A_bar.tobytes(), len(numbers)) for frame in frames], dtype=np.int64) for frames in sides
    )
    return JointFrames(i, j, s_bar_i, s_bar_j, axes_i, axes_j, np.frombuffer(b"".join(numbers)).reshape(-1, 3, 3))


@dataclass(frozen=True, eq=False)
class JointPose:
    """The joint's two frames, and the vector between its points, at all states, global: (nt, ...), or (nt, m, ...) of m joints."""

    F_i: Array
    F_j: Array
    d: Array


@dataclass(frozen=True, eq=False)
class JointMotion(JointPose):
    """The joint's two frames and points at all states, global: value, first and second derivative."""

    omega_i: Array
    omega_j: Array
    alpha_i: Array
    alpha_j: Array
    d_dot: Array
    d_ddot: Array

    @property
    def w(self) -> Array:
        """The relative angular velocity."""
        return self.omega_j - self.omega_i

    def axis(self, freedom: Freedom) -> tuple[Array, Array, Array]:
        """Return the axis of a freedom, and the angular velocity and acceleration of the body on which it is fixed."""
        if freedom.side is Side.I:
            return self.F_i[..., freedom.axis], self.omega_i, self.alpha_i
        return self.F_j[..., freedom.axis], self.omega_j, self.alpha_j


def in_frame(A: Array, x: Array) -> Array:
    """Return A x, (..., 3)."""
    product: Array = (A @ x[..., None])[..., 0]
    return product


def states_of_bodies(y: Array, n: int) -> Array:
    """Return the states of the bodies in y (nt, ny): (nt, n, WIDTH)."""
    return y[:, : WIDTH * n].reshape(len(y), n, WIDTH)


def joint_pose(joint: Frames, y: Array, n: int) -> JointPose:
    """Return the frames of both bodies at the states y (nt, ny) of n bodies, the ground included."""
    bodies = states_of_bodies(y, n)
    frames, points = [], []
    for body, s_bar, A_bar in ((joint.i, joint.s_bar_i, joint.A_bar_i), (joint.j, joint.s_bar_j, joint.A_bar_j)):
        row = bodies[:, body]
        A = rotation_matrix(row[..., EULER:VELOCITY])
        frames.append(A @ A_bar)
        points.append(row[..., 0:3] + in_frame(A, s_bar))
    return JointPose(frames[0], frames[1], points[1] - points[0])


def joint_motion(joint: Frames, y: Array, u_dot: Array) -> JointMotion:
    """Return frames and points of both bodies at the states y (nt, ny) with accelerations u_dot (nt, nb + 1, 6)."""
    bodies = states_of_bodies(y, u_dot.shape[1])
    parts = []
    for body, s_bar, A_bar in ((joint.i, joint.s_bar_i, joint.A_bar_i), (joint.j, joint.s_bar_j, joint.A_bar_j)):
        row, rates = bodies[:, body], u_dot[:, body]
        A = rotation_matrix(row[..., EULER:VELOCITY])
        omega, alpha, s = in_frame(A, row[..., OMEGA_BAR:WIDTH]), in_frame(A, rates[..., 3:]), in_frame(A, s_bar)
        v = row[..., VELOCITY:OMEGA_BAR] + cross(omega, s)
        a = rates[..., :3] + cross(alpha, s) + cross(omega, cross(omega, s))
        parts.append((A @ A_bar, omega, alpha, row[..., 0:3] + s, v, a))
    (F_i, omega_i, alpha_i, P_i, v_i, a_i), (F_j, omega_j, alpha_j, P_j, v_j, a_j) = parts
    return JointMotion(F_i, F_j, P_j - P_i, omega_i, omega_j, alpha_i, alpha_j, v_j - v_i, a_j - a_i)


def is_arm(freedoms: tuple[Freedom, ...]) -> bool:
    """Return whether the joint is an arm that turns about h and carries body j on a ball (RevoluteSpherical)."""
    turns = [freedom for freedom in freedoms if freedom.kind is Kind.TURN]
    return has_balls(freedoms) and len(turns) == 1 and turns[0].axis is Axis.H


def has_balls(freedoms: tuple[Freedom, ...]) -> bool:
    """Return whether body j turns freely about a point."""
    return any(freedom.kind is Kind.BALL for freedom in freedoms)


def angles_of(freedoms: tuple[Freedom, ...] | None) -> tuple[Freedom, ...]:
    """Return the freedoms that are angles about axes of the joint's own: one about h, those of a universal joint, or that of an arm."""
    freedoms = freedoms or ()
    turns = tuple(freedom for freedom in freedoms if freedom.kind is Kind.TURN)
    if is_arm(freedoms):
        return turns
    if has_balls(freedoms):
        return ()
    return turns if turns_about_h_only(freedoms) or list(turns) == UNIVERSAL else ()


def dot(a: Array, b: Array) -> Array:
    """Return a . b, state by state."""
    product: Array = np.einsum("...a,...a->...", a, b)
    return product


def slide(freedom: Freedom, m: JointMotion) -> Array:
    """Return e . d."""
    return dot(m.axis(freedom)[0], m.d)


def slide_rates(freedom: Freedom, m: JointMotion) -> tuple[Array, Array]:
    """Return the first and second derivative of e . d."""
    e, omega, alpha = m.axis(freedom)
    e_dot = cross(omega, e)
    e_ddot = cross(alpha, e) + cross(omega, e_dot)
    return dot(e, m.d_dot) + dot(e_dot, m.d), dot(e, m.d_ddot) + 2.0 * dot(e_dot, m.d_dot) + dot(e_ddot, m.d)


def angle_in_turn(freedom: Freedom, m: JointPose, *, arm: bool) -> Array:
    """Return the angle about an axis, within one turn: about h, u or v of a universal joint, or of an arm."""
    if arm:
        f, g = m.F_i[..., 0], m.F_i[..., 1]
        angle: Array = np.arctan2(dot(g, m.d), dot(f, m.d))
        return angle
    R = np.swapaxes(m.F_i, -1, -2) @ m.F_j
    pairs = {Axis.H: (R[..., 1, 0], R[..., 0, 0]), Axis.F: (R[..., 2, 1], R[..., 1, 1]), Axis.G: (R[..., 0, 2], R[..., 0, 0])}
    angle = np.arctan2(*pairs[freedom.axis])
    return angle


def angle_rates(freedom: Freedom, m: JointMotion, *, arm: bool) -> tuple[Array, Array]:
    """Return the first and second derivative of an angle; about h the axis is that of body i."""
    if arm:
        return _arm_rates(m)
    e, omega, _ = m.axis(Freedom(freedom.kind, freedom.axis, Side.I) if freedom.axis is Axis.H else freedom)
    return dot(e, m.w), dot(e, m.alpha_j - m.alpha_i) + dot(cross(omega, e), m.w)


def _arm_rates(m: JointMotion) -> tuple[Array, Array]:
    """Return the first and second derivative of the angle of d about h_i, from d and its derivatives in the frame on body i."""
    to_i = np.swapaxes(m.F_i, -1, -2)
    seen = m.d_dot - cross(m.omega_i, m.d)
    coriolis = cross(m.alpha_i, m.d) + cross(m.omega_i, cross(m.omega_i, m.d)) + 2.0 * cross(m.omega_i, seen)
    (x, y), (vx, vy), (ax, ay) = ((v[..., 0], v[..., 1]) for v in (in_frame(to_i, x) for x in (m.d, seen, m.d_ddot - coriolis)))
    square = x * x + y * y
    rate = (x * vy - y * vx) / square
    return rate, (x * ay - y * ax) / square - 2.0 * rate * (x * vx + y * vy) / square


def rotation(m: JointMotion, start: JointMotion) -> tuple[Array, Array, Array]:
    """Return the rotation vector of a spherical joint, and its angular velocity and acceleration, in the frame on body i."""
    from scipy.spatial.transform import Rotation as SpatialRotation  # noqa: PLC0415  0.2 s, only for spherical joints

    to_i = np.swapaxes(m.F_i, 1, 2)
    now, before = to_i @ m.F_j, np.swapaxes(start.F_i, 1, 2) @ start.F_j
    finite = np.isfinite(now).all(axis=(1, 2))
    vector = np.full((len(now), 3), np.nan)
    if finite.any():
        vector[finite] = SpatialRotation.from_matrix((now @ np.swapaxes(before, 1, 2))[finite]).as_rotvec()
    return vector, in_frame(to_i, m.w), in_frame(to_i, m.alpha_j - m.alpha_i - cross(m.omega_i, m.w))
