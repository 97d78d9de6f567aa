r"""Coordinates of joints in constraint equations: an angle through any number of turns, or a displacement, as data and two kernels.

    angle          alpha = atan2(n . v, e . v)           e, n orthonormal on body a, normal to the axis;  v on body b, normal to the axis
                   b = ((e . v) n - (n . v) e) / ((e . v)^2 + (n . v)^2)
                   q = alpha - alpha_0 + q_0 + 2 pi k     delta q = (dpi_b - dpi_a) . (v x b)
    displacement   q = h . d - (h . d)_0 + q_0            h on body i,  d from the joint's point on body i to that on body j
                   delta q = h . (dr_j - dr_i) + ...,  as DP2

alpha_0, (h . d)_0 are the values at the modelled pose, and q_0 is the joint's `q0`. Whole turns k are those nearest to the angle
that the state integrates (q' from the modelled pose), as for an RSDA: they do not depend on the multiplier or on the step.
The formulas hold off the constraint manifold, too. u of a universal joint: e, n = g_i, h_i, v = g_j;  v of it: e, n = f_j, h_j, v = f_i.
Source: Haug (2021), spatial kinematics: relative coordinates of joints; derivatives of atan2 derived here.
"""

from __future__ import annotations

from math import floor, pi
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, inlined_kernel, kernel
from haugmbd.constraints.base import Motion, centripetal, distance, distance_rate, rate, value
from haugmbd.constraints.freedoms import F_I, G_J, Freedom, Kind, Side, turn, turns_about_h_only
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.math.arctangent import arctan2
from haugmbd.math.body_columns import EULER, VELOCITY
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.math.vec3 import Vec, add, cross, dot, scale, sub

ANGLE, DISPLACEMENT = "angle", "displacement"
UNIVERSAL = (turn(F_I), turn(G_J))


@public_class
class Coordinate:
    """One coordinate of a joint, for couplings: `joint.coordinate("angle")` returns it.

    Attributes
    ----------
    joint : Joint
        The joint.
    what : {"angle", "displacement"}
        The kind of coordinate.
    number : int
        Which one of several coordinates of this kind, from 1.

    Notes
    -----
    Its value is `joint.q0` (0 where a joint has none) at the modelled pose, and positive as the joint's class says. Angles go through
    any number of turns.
    Source: Haug (2021), spatial kinematics: relative coordinates of joints.
    """

    def __init__(self, joint: Any, what: str, number: int = 1) -> None:
        found = coordinates_of(joint)
        kinds = {name: ways for name in (ANGLE, DISPLACEMENT) if (ways := found[name])}
        if what not in kinds:
            has = " and ".join(f'"{name}"' for name in kinds) or "none that a coupling can take"
            raise UsageError(f"joint {joint.name!r} ({type(joint).__name__}) has no coordinate {what!r}; it has {has}.")
        if isinstance(number, bool) or number not in range(1, len(kinds[what]) + 1):
            raise UsageError(f"number = {number!r}: joint {joint.name!r} has {len(kinds[what])} of {what!r}, counted from 1.")
        self.joint = joint
        self.what = what
        self.number = number
        self.freedom: Freedom = kinds[what][number - 1]

    @property
    def turns(self) -> bool:
        """Return whether the coordinate is an angle."""
        return self.what == ANGLE

    @property
    def key(self) -> tuple[int, str, int]:
        """Return what tells the coordinate from others."""
        return id(self.joint), self.what, self.number

    @property
    def label(self) -> str:
        """Return the coordinate in messages: pin.angle."""
        return f"{self.joint.name}.{self.what}" + (f"({self.number})" if len(coordinates_of(self.joint)[self.what]) > 1 else "")

    @property
    def bodies(self) -> tuple[Body, Body]:
        """Return the bodies a and b: -g and m_a of `Rates` act on the first, g and m_b on the second."""
        (one, _), (other, _), (last, _) = self.markers()
        return (one if self.turns else other), last

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """Return the vectors e, n, v of an angle, or h and the points P_i, P_j of a displacement."""
        i, j = self.joint.frame_i, self.joint.frame_j
        if self.turns and self.freedom == UNIVERSAL[0]:
            return ((i.body, i.g), (i.body, i.h), (j.body, j.g))
        if self.turns and self.freedom == UNIVERSAL[1]:
            return ((j.body, j.f), (j.body, j.h), (i.body, i.f))
        if self.turns:
            return ((i.body, i.f), (i.body, i.g), (j.body, j.f))
        frame = i if self.freedom.side is Side.I else j
        axis = (frame.f, frame.g, frame.h)[self.freedom.axis]
        return ((frame.body, axis), (i.body, i.s_bar), (j.body, j.s_bar))

    def modelled(self) -> float:
        """Return alpha_0 [rad] or (h . d)_0 [m]: the value of the formula at the modelled pose."""
        (a, x), (b, y), (c, z) = self.markers()
        if self.turns:
            e, n, v = a.A @ x, b.A @ y, c.A @ z
            return float(np.arctan2(n @ v, e @ v))
        return float(a.A @ x @ (c.r + c.A @ z - b.r - b.A @ y))

    def angle_near(self, states: dict[Body, Array], near: float) -> float:
        """Return the angle [rad] with the turns that are nearest to `near`.  states: r, p, v, omega_bar (13,) of the bodies."""
        e, n, v = (rotation_matrix(states[body][EULER:VELOCITY]) @ x for body, x in self.markers())
        q = float(np.arctan2(n @ v, e @ v)) - self.modelled() + self.q0
        return q + 2.0 * pi * round((near - q) / (2.0 * pi))

    @property
    def q0(self) -> float:
        """Return the value at the modelled pose [rad or m]."""
        return float(self.joint.q0)

    def __repr__(self) -> str:
        return f"{self.label} of {self.joint!r}"


def coordinates_of(joint: Any) -> dict[str, tuple[Freedom, ...]]:
    """Return the freedoms that are angles about the joint's own axes, and those that are displacements."""
    freedoms = joint.freedoms or ()
    if joint.needs():
        return {ANGLE: (), DISPLACEMENT: ()}  # drivers and couplings
    turns = tuple(freedom for freedom in freedoms if freedom.kind is Kind.TURN)
    about_h = turns_about_h_only(freedoms)
    whole = not any(freedom.kind is Kind.BALL for freedom in freedoms) and (about_h or turns == UNIVERSAL)
    slides = tuple(freedom for freedom in freedoms if freedom.kind is Kind.SLIDE)
    return {ANGLE: turns if whole else (), DISPLACEMENT: slides}


def as_coordinate(faults: list[Fault], where: str, given: Any) -> Coordinate | None:
    """Return the coordinate of a joint of one freedom, or the given one; None and a fault if there is no such coordinate."""
    if isinstance(given, Coordinate):
        return given
    found = coordinates_of(given)
    names = [name for name, ways in found.items() for _ in ways]
    if len(names) == 1 and len(given.freedoms or ()) == 1:
        return Coordinate(given, names[0])
    kind = f"joint {given.name!r} ({type(given).__name__})"
    if names:
        choice = " or ".join(f'.coordinate("{name}")' for name in dict.fromkeys(names))
        faults.append(Fault(where, f"{kind} has more than one freedom", f"Say which coordinate is meant: {choice} of this joint."))
    else:
        remedy = "Couple RJ or TJ, or a coordinate of CJ, UJ, Planar, Parallel or PointOnLine."
        faults.append(Fault(where, f"{kind} has no coordinate that could be coupled", remedy))
    return None


class Rates(NamedTuple):
    """A coordinate at one instant: q;  q'' at u' = 0;  the force g on the body b (-g on a), and global moments on a and on b."""

    q: float
    q_ddot: float
    g: Vec
    m_a: Vec
    m_b: Vec


@kernel
def angle_gradient(m: Motion, e: int, n: int, v: int) -> Vec:
    """Return v x b, so that delta q = (dpi_b - dpi_a) . (v x b)."""
    x = value(m, v)
    c, s = dot(value(m, e), x), dot(value(m, n), x)
    b = scale(1.0 / (c * c + s * s), sub(scale(c, value(m, n)), scale(s, value(m, e))))
    return cross(x, b)


@inlined_kernel
def nearest(q: float, near: float) -> float:
    """Return q + 2 pi k, the nearest to the integrated angle `near`."""
    whole: float = q + 2.0 * pi * floor((near - q) / (2.0 * pi) + 0.5)
    return whole


@inlined_kernel
def unwound(c: float, s: float, offset: float, near: float) -> float:
    """Return q = alpha - offset + 2 pi k of the angle alpha of (c, s), the nearest to the integrated angle `near`."""
    return nearest(arctan2(s, c) - offset, near)


@kernel
def angle_of(m: Motion, e: int, n: int, v: int, offset: float, near: float) -> float:
    """Return q = alpha - offset + 2 pi k, the nearest to the integrated angle `near`."""
    x = value(m, v)
    return unwound(dot(value(m, e), x), dot(value(m, n), x), offset, near)


class AngleRates(NamedTuple):
    """An angle at one instant: c = e . v and s = n . v;  q'' at u' = 0;  the global moment on body b (its opposite acts on a)."""

    c: float
    s: float
    q_ddot: float
    moment: Vec


@inlined
def angle_and_moment(m: Motion, e: int, n: int, v: int) -> AngleRates:
    """Return an angle, yet to be unwound, and its derivatives, with v x b = (c v x n - s v x e) / (c^2 + s^2)."""
    E, N, V = value(m, e), value(m, n), value(m, v)
    E1, N1, V1 = rate(m, e), rate(m, n), rate(m, v)
    c, s = dot(E, V), dot(N, V)
    one = 1.0 / (c * c + s * s)
    c_dot, s_dot = dot(E1, V) + dot(E, V1), dot(N1, V) + dot(N, V1)
    V2 = centripetal(m, v)
    c_ddot = dot(centripetal(m, e), V) + 2.0 * dot(E1, V1) + dot(E, V2)
    s_ddot = dot(centripetal(m, n), V) + 2.0 * dot(N1, V1) + dot(N, V2)
    q_dot = (c * s_dot - s * c_dot) * one
    q_ddot = ((c * s_ddot - s * c_ddot) - 2.0 * q_dot * (c * c_dot + s * s_dot)) * one
    return AngleRates(c, s, q_ddot, cross(V, sub(scale(c * one, N), scale(s * one, E))))


@inlined_kernel
def angle_of_rotations(e: Vec, n: Vec, v: Vec, w_a: Vec, w_b: Vec) -> AngleRates:
    """Return what `angle_and_moment` does, from e, n and v and the angular velocities of their bodies a and b.

    With w = w_b - w_a, and the derivatives as the body a sees them:  q' = g . w,  c s'' - s c'' = (w . v) (c n - s e) . w,
    and w' = - w_a x w_b, as w_a and w_b are constant at u' = 0.
    """
    c, s, w = dot(e, v), dot(n, v), sub(w_b, w_a)
    one = 1.0 / (c * c + s * s)
    k = sub(scale(c, n), scale(s, e))
    g = scale(one, cross(v, k))
    q_dot, growth = dot(g, w), dot(w, cross(v, add(scale(c, e), scale(s, n))))  # half of (c^2 + s^2)'
    q_ddot = (dot(w, v) * dot(k, w) - 2.0 * q_dot * growth) * one - dot(g, cross(w_a, w_b))
    return AngleRates(c, s, q_ddot, g)


@kernel
def angle_rates(m: Motion, e: int, n: int, v: int, offset: float, near: float) -> Rates:
    """Return an angle and its derivatives, as those of a displacement."""
    q = angle_and_moment(m, e, n, v)
    return Rates(unwound(q.c, q.s, offset, near), q.q_ddot, scale(0.0, q.moment), scale(-1.0, q.moment), q.moment)


@inlined_kernel
def displacement_rates(m: Motion, h: int, P: int, Q: int, offset: float) -> Rates:
    """Return a displacement and its derivatives; h on body i, or on body j."""
    H, d = value(m, h), distance(m, P, Q)
    q_ddot = (
        dot(centripetal(m, h), d)
        + 2.0 * dot(rate(m, h), distance_rate(m, P, Q))
        + dot(H, sub(centripetal(m, Q), centripetal(m, P)))
    )
    m_a, m_b = cross(H, value(m, P)), cross(value(m, Q), H)
    if m.body_of[h] == m.body_of[P]:
        m_a = add(m_a, cross(H, d))
    else:
        m_b = add(m_b, cross(H, d))
    return Rates(dot(H, d) - offset, q_ddot, H, m_a, m_b)
