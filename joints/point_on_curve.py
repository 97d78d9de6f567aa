r"""PointOnCurve: a point of body j stays on a spline curve that is fixed on body i, such as a pin in a curved slot or a rail.

    Phi = ( n_1 . (x - c), n_2 . (x - c) )              c the nearest point of the curve, n_1, n_2 across it

The curve is the quintic spline through given points over the length of their polygon. n_1 and n_2 turn with its tangent, as little as
they can.
Source: Haug (2021), point-follower constraints; frames of least rotation: Wang, Juettler, Zheng and Liu (2008), double reflection.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.validation import FloatArray, frozen, numbers
from haugmbd.constraints import DP1, Joint, PointOnCurveRow, Primitive
from haugmbd.drivers import QuinticSpline
from haugmbd.errors import Fault

from .base import posed
from .geometry import Reader

FEWEST = 6
"""Points that determine a quintic spline."""
SAME_POINT_RTOL = 1e-6
"""Two points nearer than this part of the curve's length are one point, written with the digits of a file."""
SAMPLES = 8
"""Points of a piece at which the curve is compared with itself."""


class PointOnCurve(Joint):
    """Point on a curve: a point of body j stays on a spline curve of body i. Removes 2 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    i, j : Body
        The body of the curve, or the ground; the body of the point.
    point : array_like, (3,)
        The point at the modelled pose, global frame [m]; on the curve.
    curve : array_like, (n, 3)
        Points of the curve at the modelled pose, global frame [m], in their order, at least six.
    closed : bool
        Whether the last point is joined to the first one.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The curve is the quintic spline through the points over the length of their polygon, with four continuous derivatives. It must not meet
    itself. A motion that leaves an open curve is an error. The force is normal to the curve; there is no friction.
    """

    def __init__(self, name: str, i: Body, j: Body, *, point: Any, curve: Any, closed: bool = False) -> None:
        self.read = read = Reader(name, i, j)
        P, table = read.point("point", point), table_of(read, curve)
        self.closed = bool(closed)
        self.given = {"point": point, "curve": curve, "closed": self.closed or None}
        super().__init__(name, Frame.from_global(i, P), Frame.from_global(j, P))
        self._pieces: tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]] | None = None
        if not read.faults and posed(i) and posed(j):
            self._fit(table @ np.eye(3))

    def _fit(self, table: FloatArray) -> None:
        """Fit the curve and the vectors across it, in the frame of body i; a fault if the curve meets itself."""
        fitted = curve_through(self.read, (table - self.i.r) @ self.i.A, closed=self.closed)
        if fitted is None:
            return
        points, s, curve, tangents = fitted
        across = _across(points, tangents, s, closed=self.closed)
        fields = [[QuinticSpline(s, x, periodic=self.closed) for x in field.T] for field in across]
        self._pieces = (
            curve[0].breakpoints,
            coefficients_of(curve),
            tuple(coefficients_of(field) for field in fields),  # type: ignore[assignment]
        )
        check_crossing(self.read, self.i, curve, s, closed=self.closed)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: two PointOnCurveRow. A joint with faults has rows that are never evaluated."""
        if self._pieces is None:
            return (DP1(self.i, self.frame_i.f, self.j, self.frame_j.g),) * 2
        at, c, fields = self._pieces
        period = float(at[-1] - at[0]) if self.closed else 0.0
        return tuple(PointOnCurveRow(self.i, at, c, n, self.j, self.frame_j.s_bar, period) for n in fields)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this joint alone; faults of the given values hide those that follow from them."""
        if self.read.faults or not (posed(self.i) and posed(self.j)):
            return tuple(self.read.faults)
        return super().faults()


def table_of(read: Reader, curve: Any) -> FloatArray:
    """Return the points (n, 3) of a curve; a fault if they are not one."""
    table, remedy = numbers(curve), "Give at least six points, shape (n, 3), finite, each once, in their order [m]."
    if table is None or table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():  # noqa: PLR2004
        read.fault("curve is not a table of points", remedy)
        return np.zeros((FEWEST, 3))
    if len(table) < FEWEST:
        read.fault(f"curve has {len(table)} points", remedy)
    elif (k := _repeated(table)) >= 0:
        read.fault(f"curve has the same point twice in a row, its points {k} and {k + 1}", remedy)
    return np.asarray(table, dtype=np.float64)


def curve_through(
    read: Reader, points: FloatArray, *, closed: bool
) -> tuple[FloatArray, FloatArray, list[QuinticSpline], FloatArray] | None:
    """Return the points of a curve, its parameters there (m,), its three splines and unit tangents (m, 3); None with a fault.

    points: (n, 3), body frame;  the first one is repeated at the end of a closed curve
    """
    ends_meet = np.linalg.norm(points[-1] - points[0]) <= _same_point(points)
    if closed:
        points = np.vstack([points[:-1] if ends_meet else points, points[:1]])
    elif ends_meet:
        read.fault("curve ends where it begins", "Give closed=True for a closed curve, or leave its last point out.")
        return None
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    curve = [QuinticSpline(s, x, periodic=closed) for x in points.T]
    tangents = np.stack([spline.values(s)[:, 1] for spline in curve], axis=1)
    size = np.linalg.norm(tangents, axis=1, keepdims=True)
    if (size < 1e-3).any():  # of unit length, up to the difference of arc and polygon
        read.fault("curve turns back on itself at a point", "Give points of a smooth curve.")
        return None
    return points, s, curve, tangents / size


def coefficients_of(splines: list[QuinticSpline]) -> FloatArray:
    """Return the coefficients of three splines over the same breakpoints, (m, 3, 6)."""
    return np.stack([spline.coefficients for spline in splines], axis=1)


def check_crossing(read: Reader, i: Body, curve: list[QuinticSpline], s: FloatArray, *, closed: bool) -> None:
    """Append a fault if the curve of body i meets itself: the nearest point would not be determined there."""
    t = np.linspace(s[0], s[-1], SAMPLES * len(s) + 1)
    x = np.stack([spline.values(t)[:, 0] for spline in curve], axis=1)
    apart, h = np.abs(t[:, None] - t), t[1] - t[0]
    if closed:
        apart = np.minimum(apart, s[-1] - apart)
    near = (np.linalg.norm(x[:, None] - x, axis=2) < 0.75 * h) & (apart > SAMPLES * h)
    if near.any():
        at = i.r + i.A @ x[np.argwhere(near)[0][0]]
        what = f"curve meets itself near ({', '.join(f'{v:.4g}' for v in at)})"
        read.fault(what, "Give a curve without crossings; closed=True joins its ends.")


def _same_point(points: FloatArray) -> float:
    """Return the distance up to which two of the points (n, 3) are one [m]."""
    return SAME_POINT_RTOL * float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _repeated(points: FloatArray) -> int:
    """Return the first of the points (n, 3) that the next one repeats; -1 without one."""
    again = np.linalg.norm(np.diff(points, axis=0), axis=1) <= _same_point(points)
    return int(np.argmax(again)) if again.any() else -1


def _across(points: FloatArray, tangents: FloatArray, s: FloatArray, *, closed: bool) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors across each tangent (n, 3), which turn as little as they can; those of a closed curve close."""
    first = triad(tangents[0])[:, 0]
    n = [first]
    for k in range(len(points) - 1):
        v = points[k + 1] - points[k]
        r, t = n[-1] - 2.0 * (v @ n[-1]) / (v @ v) * v, tangents[k] - 2.0 * (v @ tangents[k]) / (v @ v) * v
        v = tangents[k + 1] - t
        size = v @ v
        turned = r - 2.0 * (v @ r) / size * v if size > 0.0 else r
        turned -= (turned @ tangents[k + 1]) * tangents[k + 1]
        n.append(turned / np.linalg.norm(turned))
    one = np.array(n)
    two = np.cross(tangents, one)
    if closed:
        left = -np.arctan2(one[-1] @ two[0], one[-1] @ one[0]) * s / s[-1]
        one, two = (np.cos(left) * one.T + np.sin(left) * two.T).T, (np.cos(left) * two.T - np.sin(left) * one.T).T
        one[-1], two[-1] = one[0], two[0]
    return frozen(one), frozen(two)
