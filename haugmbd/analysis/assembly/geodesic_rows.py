"""Rows of a pose far from closed: by the turn, angle or length that is missing, in place of dot products and squares.

    perp-1   a, b against c              v = theta e,  e along h x c',  theta from h to c'      rows f . v, g . v        h = a x b
    perp-1   with a lock                 v = log(R_j R_i^T)                                      rows f . v, g . v, h . v
    DP1      a . b = f                   angle(a, b) - arccos(f)                                  e = a x b
    Rotation, ConstantVelocityRow        atan2(sine, cosine) - f, within half a turn
    D        d . d = f^2                 |d| - f                                                  d / |d|
    others   as they are

All in metres: an angle counts at the size of the model. Of sum |v|^2 / 2 the gradient along the relative rotation is v itself, so that
the rows f, g, h of the identity are its Jacobian: it vanishes where the axes agree, and nowhere else. At half a turn, where the dot
products hold as well, it is largest. `sign` tells which way c points in the joint that is meant, see `branches`.
Source: Bullo and Murray (1995), proportional control on the Euclidean group (gradient of the squared rotation vector); derived here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.analysis.assembly.branches import LockedAxis, Twist, locked_axes_of, twists_of
from haugmbd.analysis.assembly.constraint_system import Gradient, Pose, Problem, gradient, pose_at
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import FIRST_MARKER, SLOT
from haugmbd.constraints.equations.d import D
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.rotation import Rotation
from haugmbd.math.euler_parameters import cross, from_rotation_matrix, lengths, logarithm, rotation_matrix, skew
from haugmbd.model.inspection.constraint_rows import lines_of
from haugmbd.model.state import State
from haugmbd.redundancy.rank import driver_values

NO_DIRECTION = 1e-12
"""Sine of an angle, or a length relative to the size of the model, below which a direction is rounding and any other is as good."""

ACROSS = 0.05
"""Least squared length of the part of a vector across an axis by which its angle is measured: an angle about the axis that the vector
is nearly along turns arbitrarily fast."""


class GeodesicPose(NamedTuple):
    """A pose with its geodesic rows: what is missing [m] (nr,), held joints last, and its gradient."""

    plain: Pose
    missing: Array
    rows: Gradient

    @property
    def state(self) -> State:
        """Return the state."""
        return self.plain.state

    @property
    def total(self) -> float:
        """Return the sum of the squares [m2]."""
        return float(self.missing @ self.missing)

    @property
    def furthest(self) -> float:
        """Return the largest of the rows [m]."""
        return float(np.abs(self.missing).max(initial=0.0))


_Turning = tuple[Ints, Ints, Ints, Array, Array]
"""Rows (n,), bodies (n,), what is missing [rad] (n,), and its global direction (n, 3) on the second body, against it on the first."""


class _Axes(NamedTuple):
    """Axes that shall agree: rows (n, 2), bodies (n,) of a, b and of c, frames (n, 3, 3) with h the third column, unit c (n, 3)."""

    rows: Ints
    one: Ints
    other: Ints
    frame: Array
    axis: Array


class _Frames(NamedTuple):
    """Frames that shall agree: rows (n, 3), bodies (n,), and frames (n, 3, 3) on both."""

    rows: Ints
    one: Ints
    other: Ints
    frame: Array
    image: Array


class _Pairs(NamedTuple):
    """Vectors of two bodies: rows (n,), bodies (n,), unit vectors (n, k, 3) on each, and the angle that they shall have [rad] (n,)."""

    rows: Ints
    one: Ints
    other: Ints
    x: Array
    y: Array
    value: Array


class GeodesicRows:
    """The geodesic rows of one problem, whose drivers are evaluated at the time of its start."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        model = problem.model
        self._f = driver_values(model, problem.held.start)[model.drivers_of_rows()] if model.nc else np.zeros(0)
        self._row_of = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
        axes = [axis for axis in locked_axes_of(model) if not np.isin(axis.rows, problem.asleep).any()]
        self._axes, self._frames = _axes(axes), _frames(axes, self._f)
        done = {row for axis in axes for row in axis.rows}
        self._dots = self._angles(DP1, done)
        self._rotations = self._angles(Rotation, set())
        self._twists = _twists([twist for twist in twists_of(model) if twist.row not in problem.asleep])
        rows = [self._row_of[int(line[SLOT])] for line in lines_of(model, D)]
        tables = (
            (self._axes, self._axes_at),
            (self._frames, self._frames_at),
            (self._dots, self._dots_at),
            (self._rotations, self._rotations_at),
            (self._twists, self._twists_at),
        )
        self._measures = [measure for table, measure in tables if len(table.rows)]
        self._lengths = np.array([row for row in rows if row not in problem.asleep], dtype=np.int64)

    def _angles(self, kind: type[DP1] | type[Rotation], done: set[int]) -> _Pairs:
        """Return the rows of one kind that prescribe an angle, without those of `done`."""
        tables, model = self.problem.model.tables, self.problem.model
        body_of, x_bar = tables["BODY_OF"].ravel().astype(np.int64), tables["X_BAR"]
        angles = []
        for line in lines_of(model, kind).tolist():
            row, first, last = self._row_of[int(line[SLOT])], int(line[FIRST_MARKER]), int(line[FIRST_MARKER]) + 1
            if row in done or row in self.problem.asleep:
                continue
            if kind is DP1:
                last = int(line[FIRST_MARKER + 1])
                a, b = x_bar[first], x_bar[last]
                size = float(np.linalg.norm(a) * np.linalg.norm(b))
                angle = float(np.arccos(np.clip(self._f[row] / size, -1.0, 1.0)))
                angles.append((row, body_of[first], body_of[last], [_unit(a)], [_unit(b)], angle))
            else:
                e, n, image = (int(line[FIRST_MARKER + k]) for k in range(3))
                angles.append((row, body_of[e], body_of[image], [x_bar[e], x_bar[n]], [_unit(x_bar[image])], float(self._f[row])))
        return _pairs(angles, 1 if kind is DP1 else 2, 1)

    def at(self, state: State) -> GeodesicPose:
        """Return the geodesic rows at a state."""
        problem = self.problem
        pose = pose_at(problem, state)
        plain = gradient(problem, state, pose.rows)
        missing, size = pose.gap.copy(), problem.size
        rows = Gradient(plain.scale[:, None, None] * plain.J, plain.bodies.copy(), np.ones(len(plain.J)))
        self._put_lengths(rows, missing, pose.Phi)
        A = rotation_matrix(state.p)
        for number, i, other, value, direction in (measure(A) for measure in self._measures):
            missing[number] = size * value
            rows.J[number] = 0.0
            rows.bodies[number] = 0
            rows.bodies[number, 0], rows.bodies[number, 1] = i, other
            rows.J[number, 0, 3:] = -size * np.einsum("kab,ka->kb", A[i], direction)
            rows.J[number, 1, 3:] = size * np.einsum("kab,ka->kb", A[other], direction)
        return GeodesicPose(pose, missing, rows)

    def _put_lengths(self, rows: Gradient, missing: Array, Phi: Array) -> None:
        """Write |d| - f of distances, and d / |d|."""
        k = self._lengths
        if not len(k):
            return
        f = self._f[k]
        length = np.sqrt(np.maximum(Phi[k] + f * f, 0.0))
        missing[k] = length - f
        none = length <= NO_DIRECTION * self.problem.size
        rows.J[k] /= (2.0 * self.problem.scale[k] * np.where(none, 1.0, length))[:, None, None]
        for row in k[none].tolist():
            moving = int(np.flatnonzero(rows.bodies[row])[-1])
            rows.J[row], rows.J[row, moving, 0] = 0.0, 1.0  # both points in one place: they part along any direction

    def _axes_at(self, A: Array) -> _Turning:
        a = self._axes
        F = A[a.one] @ a.frame
        h, c = F[:, :, 2], np.einsum("kab,kb->ka", A[a.other], a.axis)
        v = _turn(h, c, F[:, :, 0])
        across = np.swapaxes(F[:, :, :2], 1, 2)
        value = np.einsum("kra,ka->kr", across, v)
        return a.rows.ravel(), np.repeat(a.one, 2), np.repeat(a.other, 2), value.ravel(), across.reshape(-1, 3)

    def _frames_at(self, A: Array) -> _Turning:
        a = self._frames
        F = A[a.one] @ a.frame
        R = A[a.other] @ a.image @ np.swapaxes(F, 1, 2)
        v = logarithm(np.array([from_rotation_matrix(M) for M in R]).reshape(-1, 4))
        axes = np.swapaxes(F, 1, 2)
        value = np.einsum("kra,ka->kr", axes, v)
        rows = axes @ _log_gradient(v)
        return a.rows.ravel(), np.repeat(a.one, 3), np.repeat(a.other, 3), value.ravel(), rows.reshape(-1, 3)

    def _dots_at(self, A: Array) -> _Turning:
        a = self._dots
        x, y = (np.einsum("kab,kb->ka", A[body], u[:, 0]) for body, u in ((a.one, a.x), (a.other, a.y)))
        across = cross(x, y)
        sine = lengths(across)[:, 0]
        none = sine <= NO_DIRECTION
        e = np.where(none[:, None], _any_across(x), across / np.where(none, 1.0, sine)[:, None])
        return a.rows, a.one, a.other, np.arctan2(sine, np.einsum("ka,ka->k", x, y)) - a.value, e

    def _rotations_at(self, A: Array) -> _Turning:
        a = self._rotations
        e, n = (np.einsum("kab,kb->ka", A[a.one], a.x[:, side]) for side in range(2))
        y = np.einsum("kab,kb->ka", A[a.other], a.y[:, 0])
        C, S = np.einsum("ka,ka->k", e, y), np.einsum("ka,ka->k", n, y)
        k = (C[:, None] * cross(y, n) - S[:, None] * cross(y, e)) / np.maximum(C * C + S * S, ACROSS)[:, None]
        return a.rows, a.one, a.other, _within_half_a_turn(np.arctan2(S, C) - a.value), k

    def _twists_at(self, A: Array) -> _Turning:
        a = self._twists
        a_i, b_i = (np.einsum("kab,kb->ka", A[a.one], a.x[:, side]) for side in range(2))
        a_j, b_j = (np.einsum("kab,kb->ka", A[a.other], a.y[:, side]) for side in range(2))
        S = np.einsum("ka,ka->k", a_i, b_j) - np.einsum("ka,ka->k", b_i, a_j)
        C = np.einsum("ka,ka->k", a_i, a_j) + np.einsum("ka,ka->k", b_i, b_j)
        of_S, of_C = -(cross(a_i, b_j) - cross(b_i, a_j)), -(cross(a_i, a_j) + cross(b_i, b_j))
        k = (C[:, None] * of_S - S[:, None] * of_C) / np.maximum(C * C + S * S, ACROSS)[:, None]
        return a.rows, a.one, a.other, np.arctan2(S, C), k


def _axes(axes: list[LockedAxis]) -> _Axes:
    """Return the axes that are not locked about themselves."""
    alone = [axis for axis in axes if axis.lock is None]
    return _Axes(
        np.array([axis.rows[:2] for axis in alone], dtype=np.int64).reshape(-1, 2),
        np.array([axis.one for axis in alone], dtype=np.int64),
        np.array([axis.other for axis in alone], dtype=np.int64),
        np.array([axis.frame for axis in alone]).reshape(-1, 3, 3),
        np.array([axis.sign * axis.axis for axis in alone]).reshape(-1, 3),
    )


def _frames(axes: list[LockedAxis], f: Array) -> _Frames:
    """Return the frames of the axes that are locked about themselves, each with the image that it shall have on the other body."""
    locked = [axis for axis in axes if axis.lock is not None]
    frames = [axis.frames_that_agree(f) for axis in locked]
    return _Frames(
        np.array([axis.rows for axis in locked], dtype=np.int64).reshape(-1, 3),
        np.array([axis.one for axis in locked], dtype=np.int64),
        np.array([axis.other for axis in locked], dtype=np.int64),
        np.array([frame for frame, _ in frames]).reshape(-1, 3, 3),
        np.array([image for _, image in frames]).reshape(-1, 3, 3),
    )


def _twists(twists: list[Twist]) -> _Pairs:
    """Return the rows of constant velocity."""
    return _pairs([(t.row, t.i, t.j, t.x_bar[:2], t.x_bar[2:], 0.0) for t in twists], 2, 2)


def _pairs(table: list[tuple[Any, ...]], first: int, second: int) -> _Pairs:
    """Return the table of pairs, with so many vectors on the first body and on the second."""
    rows, i, other, x, y, value = zip(*table, strict=True) if table else ([], [], [], [], [], [])
    return _Pairs(
        np.array(rows, dtype=np.int64),
        np.array(i, dtype=np.int64),
        np.array(other, dtype=np.int64),
        np.array(x, dtype=float).reshape(-1, first, 3),
        np.array(y, dtype=float).reshape(-1, second, 3),
        np.array(value, dtype=float),
    )


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x))


def _any_across(x: Array) -> Array:
    """Return unit vectors (n, 3) across the unit vectors x (n, 3)."""
    least = np.eye(3)[np.argmin(np.abs(x), axis=1)] if len(x) else np.zeros((0, 3))
    across = cross(x, least)
    return np.asarray(across / lengths(across))


def _turn(h: Array, c: Array, f: Array) -> Array:
    """Return the rotation vectors (n, 3) of the shortest turns from h to c, about f if c is opposite to h."""
    across = cross(h, c)
    sine = lengths(across)[:, 0]
    none = sine <= NO_DIRECTION
    e = np.where(none[:, None], f, across / np.where(none, 1.0, sine)[:, None])
    return np.asarray(np.arctan2(sine, np.einsum("ka,ka->k", h, c))[:, None] * e)


def _log_gradient(v: Array) -> Array:
    """Return d log(R) / d omega (n, 3, 3) for R = exp(v), omega a small turn in front of it: 1 - v~ / 2 + c v~ v~."""
    theta = lengths(v)[:, 0]
    small = theta < 1e-3
    at = np.where(small, 1.0, theta)
    c = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * at / np.tan(0.5 * at)) / at**2)
    V = skew(v)
    return np.asarray(np.eye(3) - 0.5 * V + c[:, None, None] * (V @ V))


def _within_half_a_turn(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
