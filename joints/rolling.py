r"""Rolling without slip: a disc and a sphere on a plane, and a knife edge.

    RollingDisc      Phi = ( DiscOnPlane, Slip along t_1, Slip along t_2 )           t_1, t_2 two directions of the plane
    RollingSphere    the same, without an axis
    KnifeEdge        Phi = ( KnifeEdge )

Slip and KnifeEdge are equations of velocities: they take degrees of freedom of velocity, and none of position.
Source: Neimark and Fufaev (1972), dynamics of nonholonomic systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import FloatArray, read_number
from haugmbd.constraints import Joint, Primitive
from haugmbd.constraints.equations.rolling import DiscOnPlane, KnifeEdgeRow, Slip
from haugmbd.errors import Fault, UsageError

from .base import posed
from .geometry import PARALLEL_TOL, Reader

ORIGIN, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class OnPlane(Joint):
    """Base class: a body on a plane of another one."""

    def __init__(
        self, name: str, body: Body, plane_body: Body | None, point: Any, axis: Any, normal: Any, plane_point: Any
    ) -> None:
        if not isinstance(body, Body):
            raise UsageError(f"joint {name!r} needs a body, got {body!r}. Give the object that system.add(...) returned.")
        if plane_body is not None and not isinstance(plane_body, Body):
            raise UsageError(f"plane_body of joint {name!r} is {plane_body!r}. Give a Body; by default it is the ground.")
        self.grounded = plane_body is None
        plane_body = Body.ground() if plane_body is None else plane_body
        self.read = Reader(name, plane_body, body)
        centre, n = self.read.point("center", point), self.read.direction("plane_normal", normal)
        along = n if axis is None else self.read.direction("axis", axis)
        start = self.read.point("plane_point", plane_point)
        super().__init__(name, Frame.from_global(plane_body, start, n), Frame.from_global(body, centre, along))

    def put_on_ground(self, ground: Body) -> None:
        """Take the system's ground, if no body carries the plane."""
        if self.grounded:
            self.__dict__["frame_i"] = Frame(ground, self.frame_i.s_bar, self.frame_i.A_bar)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this joint alone; faults of the given values hide those that follow from them."""
        if self.read.faults or not (posed(self.i) and posed(self.j)):
            return tuple(self.read.faults)
        return super().faults()

    def _radius(self, radius: Any) -> float:
        """Return the radius; a fault if it is not a positive number."""
        found = read_number(self.read.faults, self.read.where, "radius", radius, unit="m")
        if found <= 0.0:
            self.read.fault(f"radius = {found:g} m is not positive", "Give the radius of the disc or sphere [m].")
        return found

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
