r"""Rolling without slip: a disc and a sphere on a plane, a ball on or in a cylinder or a sphere, a wheel on a curve, and a knife edge.

    RollingDisc      Phi = ( DiscOnPlane, Slip along t_1, Slip along t_2 )           t_1, t_2 two directions of the plane
    RollingSphere    the same, without an axis
    RollingOnCylinder    Phi = ( AxisDistance, CurvedSlip along the axis, CurvedSlip around it )
    RollingOnSphere      Phi = ( AxisDistance of a centre, CurvedSlip along two tangents )
    RollingOnCurve   Phi = ( CurveDistance, CurveSlip across the plane, CurveSlip along the curve )
    KnifeEdge        Phi = ( KnifeEdge )

Slip, CurvedSlip, CurveSlip and KnifeEdge are equations of velocities: they take degrees of freedom of velocity, and none of position.
Source: Neimark and Fufaev (1972), dynamics of nonholonomic systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import FloatArray, numbers, read_flag, read_number
from haugmbd.constraints import DP1, Joint, PointOnCurveRow, Primitive
from haugmbd.constraints.equations.rolling import DiscOnPlane, KnifeEdgeRow, Slip
from haugmbd.constraints.equations.rolling_curved import AxisDistance, CurvedSlip
from haugmbd.constraints.equations.rolling_on_curve import CurveDistance, CurveSlip
from haugmbd.errors import Fault, UsageError

from .base import posed
from .geometry import PARALLEL_TOL, Reader
from .point_on_curve import check_crossing, coefficients_of, curve_through, table_of

ORIGIN, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
SPAN_POINTS = 201
"""Places at which a function of a curve is read: a quintic spline over pieces of 1/200 is 1e-13 times the sixth derivative off."""
FLAT_TOL = 1e-6
"""Of the size of a curve: points across its plane by less are typed with the digits of a file."""
FIT_SAMPLES = 8
"""Places in each piece of a curve at which its curvature is compared with the wheel."""


class OnSurface(Joint):
    """Base class: a body on a surface of another one."""

    surface_key = "surface_body"
    """The name of the argument that has the other body."""

    def _read_bodies(self, name: str, body: Body, other: Body | None) -> Body:
        """Check both bodies, and return that of the surface; by default a ground, until `put_on_ground`."""
        if not isinstance(body, Body):
            raise UsageError(f"joint {name!r} needs a body, got {body!r}. Give the object that system.add(...) returned.")
        if other is not None and not isinstance(other, Body):
            raise UsageError(f"{self.surface_key} of joint {name!r} is {other!r}. Give a Body; by default it is the ground.")
        self.grounded = other is None
        other = Body.ground() if other is None else other
        self.read = Reader(name, other, body)
        return other

    def put_on_ground(self, ground: Body) -> None:
        """Take the system's ground, if no body carries the surface."""
        if self.grounded:
            self.__dict__["frame_i"] = Frame(ground, self.frame_i.s_bar, self.frame_i.A_bar)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this joint alone; faults of the given values hide those that follow from them."""
        if self.read.faults or not (posed(self.i) and posed(self.j)):
            return tuple(self.read.faults)
        return super().faults()

    def _radius(self, radius: Any) -> float:
        """Return the radius; a fault if it is not a positive number."""
        return self._positive("radius", radius, "the disc or sphere")

    def _positive(self, label: str, given: Any, of: str) -> float:
        """Return a radius of something; a fault if it is not a positive number."""
        found = read_number(self.read.faults, self.read.where, label, given, unit="m")
        if found <= 0.0:
            self.read.fault(f"{label} = {found:g} m is not positive", f"Give the radius of {of} [m].")
        return found


class OnPlane(OnSurface):
    """Base class: a body on a plane of another one."""

    surface_key = "plane_body"

    def __init__(
        self, name: str, body: Body, plane_body: Body | None, point: Any, axis: Any, normal: Any, plane_point: Any
    ) -> None:
        plane_body = self._read_bodies(name, body, plane_body)
        centre, n = self.read.point("center", point), self.read.direction("plane_normal", normal)
        along = n if axis is None else self.read.direction("axis", axis)
        start = self.read.point("plane_point", plane_point)
        super().__init__(name, Frame.from_global(plane_body, start, n), Frame.from_global(body, centre, along))

    def _rolling(self, axis: FloatArray, radius: float) -> tuple[Primitive, ...]:
        """Return contact, and no slip along two directions."""
        i, j = self.frame_i, self.frame_j
        slips = (Slip(self.i, t, i.h, self.j, axis, j.s_bar, radius) for t in (i.f, i.g))
        return (DiscOnPlane(self.i, i.h, i.s_bar, self.j, axis, j.s_bar, radius), *slips)


class RollingDisc(OnPlane):
    """Rolling disc: the edge of a disc or wheel rolls on a plane without slip. Removes 1 degree of freedom of position, 3 of velocity.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The disc.
    center : array_like, (3,)
        Centre of the disc at the modelled pose, global frame [m].
    axis : array_like, (3,)
        Axis of the disc at the modelled pose, global frame; its length does not matter.
    radius : float
        Radius of the edge [m].
    plane_point, plane_normal : array_like, (3,)
        A point and the normal of the plane, on the side of the disc, at the modelled pose, global frame; by default z = 0.
    plane_body : Body, optional
        The body that carries the plane, such as a turntable; by default the ground.

    Raises
    ------
    UsageError
        If body or plane_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The contact bears in both directions: a multiplier that pulls means that a real disc would lift off. Slip is a velocity row: positions
    that rolling reaches are not restricted. A disc that lies flat on the plane has no contact point.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        center: Any,
        axis: Any,
        radius: float,
        plane_point: Any = ORIGIN,
        plane_normal: Any = UP,
        plane_body: Body | None = None,
    ) -> None:
        super().__init__(name, body, plane_body, center, axis, plane_normal, plane_point)
        self.given = {"center": center, "axis": axis, "radius": radius, "plane_point": plane_point, "plane_normal": plane_normal}
        self.radius = self._radius(radius)
        if not self.read.faults and self.read.posed:
            n, a = self.i.A @ self.frame_i.h, self.j.A @ self.frame_j.h
            if np.linalg.norm(np.cross(n, a)) <= PARALLEL_TOL:
                self.read.fault(
                    "the disc lies flat on the plane: it has no contact point", "Give an axis that is not normal to the plane."
                )

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DiscOnPlane, Slip, Slip."""
        return self._rolling(self.frame_j.h, self.radius)


class RollingSphere(OnPlane):
    """Rolling sphere: a sphere rolls on a plane without slip. Removes 1 degree of freedom of position, 3 of velocity.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The sphere.
    center : array_like, (3,)
        Centre of the sphere at the modelled pose, global frame [m]; it need not be the centre of mass.
    radius : float
        Radius [m].
    plane_point, plane_normal : array_like, (3,)
        A point and the normal of the plane, on the side of the sphere, at the modelled pose, global frame; by default z = 0.
    plane_body : Body, optional
        The body that carries the plane, such as a turntable; by default the ground.

    Raises
    ------
    UsageError
        If body or plane_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The contact bears in both directions. The sphere may spin about the normal. Slip is a velocity row.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        center: Any,
        radius: float,
        plane_point: Any = ORIGIN,
        plane_normal: Any = UP,
        plane_body: Body | None = None,
    ) -> None:
        super().__init__(name, body, plane_body, center, None, plane_normal, plane_point)
        self.given = {"center": center, "radius": radius, "plane_point": plane_point, "plane_normal": plane_normal}
        self.radius = self._radius(radius)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DiscOnPlane, Slip, Slip."""
        return self._rolling(np.zeros(3), self.radius)


class Curved(OnSurface):
    """Base class: a ball on or in a surface that is curved, at a distance of its centre from the axis or centre of the surface."""

    def _roll(self, radius: Any, label: str, surface_radius: Any, inside: Any) -> None:
        """Read the radii, and whether the ball is inside."""
        self.radius, self.surface_radius = self._radius(radius), self._positive(label, surface_radius, "the surface")
        self.inside = read_flag(self.read.faults, self.read.where, "inside", inside)
        if self.inside and not self.surface_radius > self.radius and not self.read.faults:
            what = f"a ball of radius {self.radius:g} m does not roll inside a surface of radius {self.surface_radius:g} m"
            self.read.fault(what, "Give a smaller ball, or a larger surface; or inside=False.")
        if not self.read.faults and self.read.posed:
            centre, start = (frame.body.r + frame.body.A @ frame.s_bar for frame in (self.frame_j, self.frame_i))
            d, h = centre - start, self.i.A @ self._axis()
            if np.linalg.norm(d - (h @ d) * h) <= PARALLEL_TOL * self.surface_radius:
                self.read.fault(
                    "the centre of the ball is in the middle of the surface: it has no contact point", "Put it at its place."
                )

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: AxisDistance, CurvedSlip, CurvedSlip."""
        i, j, h = self.frame_i, self.frame_j, self._axis()
        length = self.surface_radius - self.radius if self.inside else self.surface_radius + self.radius
        arm = self.radius if self.inside else -self.radius
        slips = (CurvedSlip(self.i, h, i.s_bar, self.j, j.s_bar, arm, number) for number in (0, 1))
        return (AxisDistance(self.i, h, i.s_bar, self.j, j.s_bar, length), *slips)

    def _axis(self) -> FloatArray:
        """Return the axis of the surface on its body; zero for a sphere."""
        raise NotImplementedError


class RollingOnCylinder(Curved):
    """Rolling on a cylinder: a ball rolls on or in a cylinder without slip. Removes 1 degree of freedom of position, 3 of velocity.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The ball; or a disc or roller whose axis other joints keep parallel to that of the cylinder.
    center : array_like, (3,)
        Centre of the ball at the modelled pose, global frame [m]; it need not be the centre of mass.
    radius : float
        Radius of the ball [m].
    point, axis : array_like, (3,)
        A point of the axis of the cylinder, and its direction, at the modelled pose, global frame.
    cylinder_radius : float
        Radius of the cylinder [m].
    inside : bool
        Whether the ball is in the cylinder, a pipe; by default it is on it.
    surface_body : Body, optional
        The body that carries the cylinder, such as a drum; by default the ground.

    Raises
    ------
    UsageError
        If body or surface_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The contact bears in both directions: a multiplier that pulls means that a real ball would lift off. The ball may spin about the normal.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        center: Any,
        radius: float,
        point: Any,
        axis: Any,
        cylinder_radius: float,
        inside: bool = False,
        surface_body: Body | None = None,
    ) -> None:
        surface_body = self._read_bodies(name, body, surface_body)
        centre, start, h = self.read.point("center", center), self.read.point("point", point), self.read.direction("axis", axis)
        super().__init__(name, Frame.from_global(surface_body, start, h), Frame.from_global(body, centre, h))
        self._roll(radius, "cylinder_radius", cylinder_radius, inside)
        self.given = {"center": center, "radius": radius, "point": point, "axis": axis, "cylinder_radius": cylinder_radius}
        self.given |= {"inside": True} if self.inside else {}

    def _axis(self) -> FloatArray:
        return self.frame_i.h


class RollingOnSphere(Curved):
    """Rolling on a sphere: a ball rolls on or in a sphere without slip. Removes 1 degree of freedom of position, 3 of velocity.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The ball.
    center : array_like, (3,)
        Centre of the ball at the modelled pose, global frame [m]; it need not be the centre of mass.
    radius : float
        Radius of the ball [m].
    sphere_center : array_like, (3,)
        Centre of the sphere at the modelled pose, global frame [m].
    sphere_radius : float
        Radius of the sphere [m].
    inside : bool
        Whether the ball is in the sphere, a bowl; by default it is on it.
    surface_body : Body, optional
        The body that carries the sphere, such as another ball; by default the ground.

    Raises
    ------
    UsageError
        If body or surface_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The contact bears in both directions. The ball may spin about the normal. The two multipliers of slip are those of tangents that are
    chosen by the place of the contact; reactions do not depend on the choice.
    """

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        center: Any,
        radius: float,
        sphere_center: Any,
        sphere_radius: float,
        inside: bool = False,
        surface_body: Body | None = None,
    ) -> None:
        surface_body = self._read_bodies(name, body, surface_body)
        centre, middle = self.read.point("center", center), self.read.point("sphere_center", sphere_center)
        super().__init__(name, Frame.from_global(surface_body, middle, UP), Frame.from_global(body, centre, UP))
        self._roll(radius, "sphere_radius", sphere_radius, inside)
        self.given = {"center": center, "radius": radius, "sphere_center": sphere_center, "sphere_radius": sphere_radius}
        self.given |= {"inside": True} if self.inside else {}

    def _axis(self) -> FloatArray:
        return np.zeros(3)


class RollingOnCurve(OnSurface):
    """Rolling on a curve: a wheel or ball rolls along a plane curve without slip. Removes 1 degree of freedom of position, 3 of velocity.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The ball; or a wheel whose axis other joints keep normal to the plane of the curve.
    center : array_like, (3,)
        Centre of the wheel at the modelled pose, global frame [m]; the side of the curve on which it is, is that on which it rolls.
    radius : float
        Radius of the wheel [m].
    curve : array_like, (n, 3), or callable
        Points of the curve at the modelled pose, global frame [m], in their order, at least six; or a function of one number that returns
        a point, over the range `span`.
    axis : array_like, (3,)
        Normal of the plane of the curve at the modelled pose, global frame: the curve sweeps a surface along it.
    closed : bool
        Whether the last point is joined to the first one.
    span : (float, float), optional
        Range of the number of a function; it is read at `SPAN_POINTS` places.
    surface_body : Body, optional
        The body that carries the curve; by default the ground.

    Raises
    ------
    UsageError
        If body or surface_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The curve is the quintic spline through the points, as that of a PointOnCurve. The contact bears in both directions: a multiplier that
    pulls means that a real wheel would lift off. The wheel must fit into the curve. A motion that leaves an open curve is an error.
    The last two rows let it slip neither across the plane nor along the curve; a ball may spin about the normal of the surface.
    Source: Neimark and Fufaev (1972).
    """

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        center: Any,
        radius: float,
        curve: Any,
        axis: Any,
        closed: bool = False,
        span: Any = None,
        surface_body: Body | None = None,
    ) -> None:
        surface_body = self._read_bodies(name, body, surface_body)
        centre, b = self.read.point("center", center), self.read.direction("axis", axis)
        table = table_of(self.read, self._read_at(curve, span))
        self.radius = self._radius(radius)
        self.closed = read_flag(self.read.faults, self.read.where, "closed", closed)
        super().__init__(name, Frame.from_global(surface_body, centre, b), Frame.from_global(body, centre, b))
        self.given = {"center": center, "radius": radius, "curve": table, "axis": axis} | ({"closed": True} if self.closed else {})
        self._pieces: tuple[FloatArray, FloatArray, float] | None = None
        if not self.read.faults and self.read.posed:
            self._fit(table)

    def _read_at(self, curve: Any, span: Any) -> Any:
        """Return the points of a curve that is a function over a range; any other as it is."""
        if not callable(curve):
            if span is not None:
                self.read.fault("span is given without a function", "Leave it out: points are a curve by themselves.")
            return curve
        ends = numbers(span)
        if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] == ends[1]:
            self.read.fault(f"curve is a function, and its span is {span!r:.60}", "Give the range of its number, span=(0, 1).")
            return None
        return [np.asarray(curve(float(x)), dtype=np.float64) for x in np.linspace(*ends, SPAN_POINTS)]

    def _fit(self, table: FloatArray) -> None:
        """Fit the curve in the frame of its body; faults if it is not in a plane, meets itself, or is too narrow for the wheel."""
        i, j = self.frame_i, self.frame_j
        points, centre = (table - self.i.r) @ self.i.A, (self.j.r + self.j.A @ j.s_bar - self.i.r) @ self.i.A
        height = points @ i.h
        span = np.ptp(points, axis=0).max()
        if np.ptp(height) > FLAT_TOL * span:
            what = f"the curve is not in a plane normal to axis: its points differ by {np.ptp(height):.3g} m along it"
            self.read.fault(what, "Give the axis of the wheel and a curve across it.")
            return
        points = points - (height - height.mean())[:, None] * i.h
        fitted = curve_through(self.read, points, closed=self.closed)
        if fitted is None:
            return
        _, s, curve, _ = fitted
        check_crossing(self.read, self.i, curve, s, closed=self.closed)
        row = PointOnCurveRow(
            self.i, curve[0].breakpoints, coefficients_of(curve), np.zeros((len(s) - 1, 3, 6)), self.j, j.s_bar, self._period(s)
        )
        at, slope, _ = row.at(row.parameters(centre[None]))
        side = 1.0 if np.cross(i.h, slope[0]) @ (centre - at[0]) >= 0.0 else -1.0
        self._pieces = row.breakpoints, row.c, side * self.radius
        self._check_fit(row, s, side)

    def _period(self, s: FloatArray) -> float:
        return float(s[-1] - s[0]) if self.closed else 0.0

    def _check_fit(self, row: PointOnCurveRow, s: FloatArray, side: float) -> None:
        """Append a fault if a wheel that touches the curve somewhere would cut it."""
        t = np.linspace(s[0], s[-1], FIT_SAMPLES * len(s) + 1)
        c, c1, c2 = row.at(t)
        b, size = self.frame_i.h, np.linalg.norm(c1, axis=1)
        bend = side * np.cross(c1, c2) @ b / size**3
        narrow = bend * self.radius >= 1.0
        if narrow.any():
            k = int(np.argmax(bend))
            where = ", ".join(f"{x:.4g}" for x in self.i.r + self.i.A @ c[k])
            least = f"whose radius of curvature is {1 / bend[k]:.4g} m at ({where})"
            what = f"a wheel of radius {self.radius:g} m does not fit into the curve, {least}"
            self.read.fault(what, "Give a smaller wheel or a wider curve, or put the centre on the other side.")

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: CurveDistance, CurveSlip across the plane, CurveSlip along the curve."""
        i, j = self.frame_i, self.frame_j
        if self._pieces is None:
            return (DP1(self.i, i.f, self.j, j.g),) * 3
        at, c, radius = self._pieces
        given = (self.i, at, c, i.h, self.j, j.s_bar, radius, float(at[-1] - at[0]) if self.closed else 0.0)
        return CurveDistance(*given), CurveSlip(*given, 0), CurveSlip(*given, 1)


class KnifeEdge(OnPlane):
    """Knife edge: a point of a body moves along its blade only, in a plane. Removes 1 degree of freedom of velocity, none of position.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    body : Body
        The body of the blade, such as a skate or sledge.
    point : array_like, (3,)
        Point of the blade at the modelled pose, global frame [m].
    direction : array_like, (3,)
        Direction along which the point may move, fixed on the body, at the modelled pose, global frame; its length does not matter.
    plane_normal : array_like, (3,)
        Normal of the plane at the modelled pose, global frame; by default z.
    plane_body : Body, optional
        The body that carries the plane, such as a turntable; by default the ground.

    Raises
    ------
    UsageError
        If body or plane_body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The joint does not hold the body in the plane: add `Planar` or another joint that does.
    """

    def __init__(
        self, name: str, body: Body, *, point: Any, direction: Any, plane_normal: Any = UP, plane_body: Body | None = None
    ) -> None:
        super().__init__(name, body, plane_body, point, direction, plane_normal, point)
        self.given = {"point": point, "direction": direction, "plane_normal": plane_normal}
        if not self.read.faults and self.read.posed:
            n, e = self.i.A @ self.frame_i.h, self.j.A @ self.frame_j.h
            if np.linalg.norm(np.cross(n, e)) <= PARALLEL_TOL:
                self.read.fault("direction is normal to the plane", "Give the direction in which the blade may move.")

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the row: KnifeEdge."""
        return (KnifeEdgeRow(self.i, self.frame_i.h, self.j, self.frame_j.h, self.frame_j.s_bar),)
