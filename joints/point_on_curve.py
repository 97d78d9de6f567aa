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
from haugmbd.tolerances import ROUNDING
from joints.base import posed
from joints.geometry import Reader

FEWEST = 6
"""Points that determine a quintic spline."""
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
        P, table = read.point("point", point), self._table(curve)
        self.closed = bool(closed)
        self.given = {"point": point, "curve": curve, "closed": self.closed or None}
        super().__init__(name, Frame.from_global(i, P), Frame.from_global(j, P))
        self._pieces: tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]] | None = None
        if not read.faults and posed(i) and posed(j):
            self._fit(table @ np.eye(3))

    def _table(self, curve: Any) -> FloatArray:
        """Return the points (n, 3); a fault if they are not a curve."""
        table, remedy = numbers(curve), "Give at least six points, shape (n, 3), finite, each once, in their order [m]."
        if table is None or table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():  # noqa: PLR2004
            self.read.fault("curve is not a table of points", remedy)
            return np.zeros((FEWEST, 3))
        if len(table) < FEWEST:
            self.read.fault(f"curve has {len(table)} points", remedy)
        elif (np.linalg.norm(np.diff(table, axis=0), axis=1) <= ROUNDING * np.ptp(table, axis=0).max()).any():
            self.read.fault("curve has the same point twice in a row", remedy)
        return np.asarray(table, dtype=np.float64)

    def _fit(self, table: FloatArray) -> None:
        """Fit the curve and the vectors across it, in the frame of body i; a fault if the curve meets itself."""
        points = (table - self.i.r) @ self.i.A
        if self.closed and np.abs(points[0] - points[-1]).max() > ROUNDING * np.ptp(points, axis=0).max():
            points = np.vstack([points, points[:1]])
        elif self.closed:
            points[-1] = points[0]
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        curve = [QuinticSpline(s, x, periodic=self.closed) for x in points.T]
        tangents = np.stack([spline.values(s)[:, 1] for spline in curve], axis=1)
        if (np.linalg.norm(tangents, axis=1) < 1e-3).any():  # of unit length, up to the difference of arc and polygon
            self.read.fault("curve turns back on itself at a point", "Give points of a smooth curve.")
            return
        across = _across(points, tangents / np.linalg.norm(tangents, axis=1, keepdims=True), s, closed=self.closed)
        fields = [[QuinticSpline(s, x, periodic=self.closed) for x in field.T] for field in across]
        self._pieces = (
            curve[0].breakpoints,
            np.stack([spline.coefficients for spline in curve], axis=1),
            tuple(np.stack([spline.coefficients for spline in field], axis=1) for field in fields),  # type: ignore[assignment]
        )
        self._check_crossing(curve, s)

    def _check_crossing(self, curve: list[QuinticSpline], s: FloatArray) -> None:
        """Append a fault if the curve meets itself: the nearest point would not be determined there."""
        t = np.linspace(s[0], s[-1], SAMPLES * len(s) + 1)
        x = np.stack([spline.values(t)[:, 0] for spline in curve], axis=1)
        apart, h = np.abs(t[:, None] - t), t[1] - t[0]
        if self.closed:
            apart = np.minimum(apart, s[-1] - apart)
        near = (np.linalg.norm(x[:, None] - x, axis=2) < 0.75 * h) & (apart > SAMPLES * h)
        if near.any():
            at = self.i.r + self.i.A @ x[np.argwhere(near)[0][0]]
            what = f"curve meets itself near ({', '.join(f'{v:.4g}' for v in at)})"
            self.read.fault(what, "Give a curve without crossings; closed=True joins its ends.")

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
