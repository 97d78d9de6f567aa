r"""Spatial tendons of MJCF: springs, dampers and stops along a path over sites, around spheres and cylinders, and through pulleys.

    length     L = sum over the parts of the path of w |x_b - x_a|          w = 1 / divisor of the pulley before the part
    force      T = -k (L - clamp(L, L_l, L_u)) - c L'                       slack between L_l and L_u
    one part   between two bodies, and no slack: a TSDA; parts that stand shift its free length
    on bodies  F_a = T w (x_a - x_b) / |x_b - x_a| at x_a, and the reverse at x_b:    dL = sum of unit vectors . dx
    around     where the straight part would cut a sphere or cylinder: tangent, geodesic, tangent. A geodesic is stationary, so that dL has
               only the straight parts; the tangent points act on the body of the geom

    tangents to a circle of radius R from a point d outside of it, in its plane:    t = R (R d -+ sqrt(d.d - R^2) J d) / d.d
    a helix on a cylinder is straight on the unrolled surface: its height grows in proportion to the length in the plane

Source: MuJoCo's documentation, Computation: actuation model (tendon transmission); XML reference: tendon/spatial.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces import TSDA
from haugmbd.forces.base import ForceElement
from haugmbd.joints import Distance, Rope
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.modelfile.imports import OPEN
from haugmbd.modelfile.mjcf.engine import LARGEST, Engine, is_fixed

PULLEY, SITE, SPHERE, CYLINDER = 2, 3, 4, 5
"""Of mjtWrap: parts of the path of a tendon."""
NO_LENGTH = 1e-12
"""[m] Points that are nearer have no direction between them."""
AROUND = 15
"""Numbers of a geom on the path: part, radius, 1 for a sphere, its centre, and its axes by rows."""


class Tendon(ForceElement):
    """A spring and damper along a path.

    on: the body of each point of the path;  places: (n, 3) in the frames of these bodies [m];  weights: (n - 1,) of the parts between them,
    0 where a pulley ends a branch;  around: bodies of geoms on the path;  geoms: (m, 15) their numbers, see `AROUND`
    k, c: stiffness and damping [N/m], [N s/m];  lower, upper: lengths between which the spring is slack [m]
    """

    kind = "Tendon"
    reads_pose = False

    def __init__(
        self,
        name: str,
        on: Any,
        *,
        places: Any,
        weights: Any,
        k: float,
        c: float,
        lower: float,
        upper: float,
        around: Any = (),
        geoms: Any = (),
    ) -> None:
        super().__init__(name)
        self.on, self.around = tuple(on), tuple(around)
        self.places = np.array(places, dtype=np.float64).reshape(-1, 3)
        self.weights = np.array(weights, dtype=np.float64).ravel()
        self.geoms = np.array(geoms, dtype=np.float64).reshape(-1, AROUND)
        self.k, self.c, self.lower, self.upper = float(k), float(c), float(lower), float(upper)

    def bodies(self) -> tuple[Body, ...]:
        return tuple(dict.fromkeys((*self.on, *self.around)))

    def forces(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> Array:
        """Return force and torque on each body."""
        A = rotation_matrix(p)
        length, ends = self._path(r, A)
        G = np.zeros((len(r), 6))  # dL of each body: of its centre of mass, and of its rotation in its frame
        for body, at, u in ends:
            G[body, :3] += u
            G[body, 3:] += A[body].T @ cross(at - r[body], u)
        rate = float(np.sum(G[:, :3] * v) + np.sum(G[:, 3:] * omega_bar))
        return np.asarray((-self.k * self._stretch(length) - self.c * rate) * G)

    def potential(self, t: float, r: Array, p: Array) -> float:
        """Return the energy of the spring [J]."""
        return 0.5 * self.k * self._stretch(self._path(r, rotation_matrix(p))[0]) ** 2

    def dissipated(self, t: float, r: Array, p: Array, v: Array, omega_bar: Array) -> float:
        """Return the power of the damper [W]."""
        A = rotation_matrix(p)
        rate = 0.0
        for body, at, u in self._path(r, A)[1]:
            rate += float(u @ (v[body] + cross(A[body] @ omega_bar[body], at - r[body])))
        return self.c * rate**2

    def _stretch(self, length: float) -> float:
        return length - min(max(length, self.lower), self.upper)

    def _path(self, r: Array, A: Array) -> tuple[float, list[tuple[int, Array, Array]]]:
        """Return the length, and the ends of its straight parts: number of the body, point, and dL/dx there (global)."""
        number = {body: k for k, body in enumerate(self.bodies())}
        at = [number[body] for body in self.on]
        x = [r[k] + A[k] @ s for k, s in zip(at, self.places, strict=True)]
        wrapped = {int(row[0]): (number[body], row) for row, body in zip(self.geoms, self.around, strict=True)}
        length, ends = 0.0, list[tuple[int, Array, Array]]()
        for a, weight in enumerate(self.weights):
            if weight == 0.0:
                continue
            stops = [(at[a], x[a]), (at[a + 1], x[a + 1])]
            if a in wrapped:
                k, geom = wrapped[a]
                round_it = geodesic(geom, r[k], A[k], x[a], x[a + 1])
                if round_it is not None:
                    arc, first, last = round_it
                    length += weight * arc
                    stops[1:1] = [(k, first), (k, last)]
            for (i, x_i), (j, x_j) in zip(stops[::2], stops[1::2], strict=True):
                d = x_j - x_i
                size = float(np.linalg.norm(d))
                length += weight * size
                if i != j and size > NO_LENGTH:
                    u = weight * d / size
                    ends += [(i, x_i, -u), (j, x_j, u)]
        return length, ends

    def lines(self) -> tuple[tuple[Body, Any, Body, Any], ...]:
        """Return the parts of the path, drawn straight."""
        pairs = [a for a, weight in enumerate(self.weights) if weight]
        return tuple((self.on[a], self.places[a], self.on[a + 1], self.places[a + 1]) for a in pairs)


def geodesic(geom: Array, r: Array, A: Array, start: Array, end: Array) -> tuple[float, Array, Array] | None:
    """Return the length of the path on a geom and its two ends, global; None where the straight way is free.

    geom: its numbers, see `AROUND`;  r, A: pose of its body
    """
    R, sphere, center = geom[1], geom[2], geom[3:6]
    B = A @ geom[6:].reshape(3, 3)
    at = r + A @ center
    p, q = B.T @ (start - at), B.T @ (end - at)
    if np.linalg.norm(p) < NO_LENGTH or np.linalg.norm(q) < NO_LENGTH:
        return None
    e = np.eye(3)[:2]
    if sphere:
        e = _plane(p, q)
    found = _around_circle(e @ p, e @ q, R)
    if found is None:
        return None
    arc, first, last = found
    ends = [e.T @ first, e.T @ last]
    if not sphere:
        before, after = (float(np.linalg.norm(e @ a - b)) for a, b in ((p, first), (q, last)))
        slope = (q[2] - p[2]) / (before + arc + after)
        ends[0][2], ends[1][2] = p[2] + slope * before, p[2] + slope * (before + arc)
        arc *= float(np.hypot(1.0, slope))
    return arc, at + B @ ends[0], at + B @ ends[1]


def _plane(p: Array, q: Array) -> Array:
    """Return two directions of the plane through the centre of a sphere and two points, (2, 3)."""
    e = p / np.linalg.norm(p)
    normal = cross(p, q)
    size = float(np.linalg.norm(normal))
    if size < NO_LENGTH:  # the points and the centre are on one line: any plane through it
        normal = cross(e, np.eye(3)[int(np.argmin(np.abs(e)))])
        size = float(np.linalg.norm(normal))
    return np.array((e, cross(normal / size, e)))


def _around_circle(p: Array, q: Array, R: float) -> tuple[float, Array, Array] | None:
    """Return the shorter arc on a circle between the tangents from two points of its plane, and its ends; None where the way is free."""
    pp, qq, d = float(p @ p), float(q @ q), q - p
    if min(pp, qq) < R * R or R < NO_LENGTH or float(d @ d) < NO_LENGTH:
        return None
    nearest = p + min(max(-float(d @ p) / float(d @ d), 0.0), 1.0) * d
    if nearest @ nearest > R * R:
        return None
    ways = []
    for sign in (1.0, -1.0):
        ends = []
        for x, xx, s in ((p, pp, sign), (q, qq, -sign)):
            ends.append(R * (R * x + s * np.sqrt(max(xx - R * R, 0.0)) * np.array((x[1], -x[0]))) / xx)
        first, last = ends
        ways.append((_cut(p, first, q, last), float((first - last) @ (first - last)), sign, first, last))
    _, _, sign, first, last = min(ways, key=lambda way: way[:3])
    if _cut(p, first, q, last):
        return None
    angle = float(np.arccos(np.clip(first @ last / (R * R), -1.0, 1.0)))
    turn = float(first[1] * last[0] - first[0] * last[1])
    if turn * sign < 0.0:
        angle = 2.0 * np.pi - angle
    return R * angle, first, last


def _cut(a: Array, b: Array, c: Array, d: Array) -> bool:
    """Return whether the segments from a to b and from c to d cut each other."""
    u, v, w = b - a, d - c, c - a
    det = float(u[0] * v[1] - u[1] * v[0])
    if abs(det) < NO_LENGTH**2:
        return False
    s, t = float(w[0] * v[1] - w[1] * v[0]) / det, float(w[0] * u[1] - w[1] * u[0]) / det
    return 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0


class Course(NamedTuple):
    """The path of a spatial tendon: bodies and points (body frames), weights of the parts, and geoms with their bodies."""

    on: tuple[Body, ...]
    points: Array
    weights: Array
    around: tuple[Body, ...]
    geoms: Array

    @property
    def moves(self) -> bool:
        """Return whether its length can change."""
        ends = zip(self.on, self.on[1:], self.weights, strict=False)
        return bool(self.around) or any(i is not j and weight for i, j, weight in ends)


def course_of(engine: Engine, n: int, bodies: list[Body]) -> Course | str:
    """Return the path of a spatial tendon, or what cannot be read of it."""
    m, d = engine.m, engine.d
    on, points, weights = list[Body](), list[Array](), list[float]()
    around, geoms = list[Body](), list[Array]()
    weight = 1.0
    joined = False  # whether a part leads from the last point to the next one
    for part in range(m.tendon_adr[n], m.tendon_adr[n] + m.tendon_num[n]):
        kind, number = int(m.wrap_type[part]), int(m.wrap_objid[part])
        if kind == PULLEY:
            weight, joined = 1.0 / float(m.wrap_prm[part]), False
        elif kind == SITE:
            body, x = bodies[int(m.site_bodyid[number])], np.array(d.site_xpos[number])
            weights += [weight if joined else 0.0] if on else []
            on.append(body)
            points.append(body.A.T @ (x - body.r))
            joined = True
        elif kind in (SPHERE, CYLINDER):
            geom = _geom_of(engine, part, bodies, len(on) - 1)
            if isinstance(geom, str):
                return geom
            around.append(geom[0])
            geoms.append(geom[1])
        else:
            return f"a part of its path has the type {kind}"
    return Course(tuple(on), np.array(points), np.array(weights), tuple(around), np.array(geoms))


def _geom_of(engine: Engine, part: int, bodies: list[Body], segment: int) -> tuple[Body, Array] | str:
    """Return the body and the numbers of a sphere or cylinder on a path."""
    m, d = engine.m, engine.d
    number, site = int(m.wrap_objid[part]), round(float(m.wrap_prm[part]))
    body, R = bodies[int(m.geom_bodyid[number])], float(m.geom_size[number, 0])
    x, axes = np.array(d.geom_xpos[number]), np.array(d.geom_xmat[number]).reshape(3, 3)
    if site >= 0:
        names = engine.name("site", site), engine.name("geom", number)
        return f"its side site {names[0]!r} chooses the way round {names[1]!r}, by a rule that is not known"
    sphere = 1.0 if m.wrap_type[part] == SPHERE else 0.0
    return body, np.array((segment, R, sphere, *(body.A.T @ (x - body.r)), *np.ravel(body.A.T @ axes)))


def spatial_tendon(
    engine: Engine, n: int, bodies: list[Body], name: str, k: float, c: float, rest: Any
) -> list[ForceElement] | str:
    """Return the spring and damper along a spatial tendon, slack between the lengths `rest`; or why there is none."""
    course = course_of(engine, n, bodies)
    if isinstance(course, str):
        return course
    lower, upper = (float(np.clip(x, -LARGEST, LARGEST)) for x in rest)
    if not course.moves:
        return []
    moving = [a for a, (i, j) in enumerate(zip(course.on, course.on[1:], strict=False)) if i is not j]
    if len(moving) == 1 and lower == upper and not course.around and set(course.weights.tolist()) == {1.0}:
        ends = [body.r + body.A @ s for body, s in zip(course.on, course.points, strict=True)]
        still = sum(float(np.linalg.norm(b - a)) for n, (a, b) in enumerate(zip(ends, ends[1:], strict=False)) if n not in moving)
        a = moving[0]
        i, j = course.on[a : a + 2]
        return [TSDA(name, i, j, point_i=ends[a], point_j=ends[a + 1], k=k, c=c, l0=lower - still)]
    path = {"places": course.points, "weights": course.weights, "around": course.around, "geoms": course.geoms}
    return [Tendon(name, course.on, k=k, c=c, lower=lower, upper=upper, **path)]


def held_tendon(engine: Engine, k: int, n: int, bodies: list[Body], name: str) -> Joint | Fault:
    """Return a spatial tendon whose length an equality holds, as a Distance or a Rope; or why there is none."""
    m = engine.m
    where, off = f"equality {name!r}", 'Remove it, or set active="false".'
    course = course_of(engine, n, bodies)
    if isinstance(course, str) or course.around or set(course.weights.tolist()) != {1.0}:
        why = course if isinstance(course, str) else "its path has pulleys or runs around geoms"
        return Fault(where, f"a tendon equality cannot be read here: {why}", off)
    length = float(m.tendon_length0[n]) + float(m.eq_data[k][0])
    ends = [body.r + body.A @ s for body, s in zip(course.on, course.points, strict=True)]
    if not OPEN < length < LARGEST:
        return Fault(where, f"it holds a length of {length:g} m", "Give a positive one.")
    if len(ends) == 2:  # noqa: PLR2004  a rod
        return Distance(name, course.on[0], course.on[1], point_i=ends[0], point_j=ends[1], f=length)
    return Rope(name, list(zip(course.on, ends, strict=True)), length=length)


def is_held(engine: Engine, k: int) -> int:
    """Return the spatial tendon that an equality holds at a length; -1 for other equalities of tendons."""
    m = engine.m
    n, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    return n if other < 0 and not is_fixed(engine, n) else -1
