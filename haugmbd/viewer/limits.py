r"""Limits as they are drawn: lines on the body that has the limit, and a pointer on the body that moves within it.

    JointLimit     of an angle: the sector from lower to upper about the joint's axis;  of a displacement: a scale with an end at each limit
    ConeLimit      the rim of the cone and some of its generators;  the pointer is the axis that stays within
    TwistLimit     a sector across the axis, away from the joint's point

    s = s_P + m + g u        a point of a line, body frame:  m [m] and u in glyph units g, which are in proportion to the mechanism

The pointer meets the end of a sector or a scale where the limit is met. An open end has no limit. A sector of several turns is a spiral.
Each line has as many points whatever its numbers are, so that pages with sliders interpolate them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, isfinite, pi, sin
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.frame import Frame, triad
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.forces.base import ForceElement
from haugmbd.forces.cone_limit import ConeLimit
from haugmbd.forces.joint_loads.joint_coordinate import modelled_value
from haugmbd.forces.joint_loads.joint_limit import JointLimit
from haugmbd.forces.twist_limit import TwistLimit

RADIUS, REACH, LIFT, TICK = 6.0, 7.0, 3.0, 2.0
"""In glyph units: radius of a sector and length of a cone, length of a pointer, height of a twist above the point, half an end."""
POINTS, GENERATORS = 33, 8
"""Of an arc or a rim; lines of a cone, each to a point of its rim."""
OPEN = 0.5 * pi
"""Of a sector with one limit: the angle that is drawn from it [rad]."""
TURNS, GROWTH = 4.0, 0.12
"""Turns of a spiral that are drawn at most, and what its radius grows in a turn."""


class Line(NamedTuple):
    """A line on a body: `along` (n, 3) [m] and `out` (n, 3) in glyph units, body frame, which add up;  pointer: it moves within."""

    body: int
    along: Array
    out: Array
    pointer: bool

    def points(self, g: float) -> Array:
        """Return the points (n, 3), body frame, of the glyph unit g [m]."""
        points: Array = self.along + g * self.out
        return points

    def data(self) -> dict[str, Any]:
        """Return the line as the page reads it."""
        sent = {key: [float(f"{x:.7g}") for x in value.ravel()] for key, value in (("along", self.along), ("out", self.out))}
        return {"body": self.body, **sent, "pointer": self.pointer}


def limit_lines(load: ForceElement, number: Mapping[str, int]) -> tuple[Line, ...]:
    """Return the lines of a limit, none of another element, or where its numbers are none;  number: of bodies, by name."""
    drawn: list[tuple[Frame, Array, Array, bool]] = []
    if isinstance(load, JointLimit):
        for q in load.coordinates():
            drawn += (_sector_of if q.turns else _scale_of)(q, load.lower, load.upper)
    elif isinstance(load, ConeLimit):
        drawn = _cone_of(load)
    elif isinstance(load, TwistLimit):
        drawn = _twist_of(load)
    lines = (Line(number[frame.body.name], frame.s_bar + along, out, pointer) for frame, along, out, pointer in drawn)
    return tuple(line for line in lines if np.isfinite([line.along, line.out]).all())


def _sector(e: Array, n: Array, lower: float, upper: float) -> Array:
    """Return the sector from the angle lower to upper, of e towards n, with a line to its middle at each end that is a limit, (n, 3)."""
    first = lower if isfinite(lower) else upper - OPEN
    last = min(upper if isfinite(upper) else lower + OPEN, first + 2.0 * pi * TURNS)
    angle = np.linspace(first, last, POINTS)
    radius = RADIUS * (1.0 + GROWTH * (angle - first) / (2.0 * pi) if last - first > 2.0 * pi else np.ones(POINTS))
    arc = radius[:, None] * (np.cos(angle)[:, None] * e + np.sin(angle)[:, None] * n)
    middle = np.zeros((1, 3))
    whole: Array = np.concatenate([*([middle] if isfinite(lower) else []), arc, *([middle] if isfinite(upper) else [])])
    return whole


def _sector_of(q: Coordinate, lower: float, upper: float) -> list[tuple[Frame, Array, Array, bool]]:
    """Return the sector of an angle on the body of e and n, in which alpha = limit + alpha_0 - q_0, and v as its pointer."""
    (a, e), (_, n), (b, v) = q.markers()
    frames = q.joint.frame_i, q.joint.frame_j
    frame, other = frames if frames[0].body is a and frames[1].body is b else frames[::-1]
    shift = modelled_value(q)
    sector, pointer = _sector(e, n, lower + shift, upper + shift), np.stack([np.zeros(3), REACH * v])
    return [(frame, 0.0 * sector, sector, False), (other, 0.0 * pointer, pointer, True)]


def _scale_of(q: Coordinate, lower: float, upper: float) -> list[tuple[Frame, Array, Array, bool]]:
    """Return the scale of a displacement h . d = limit + (h . d)_0 - q_0 on the body of h, and a tick on the other body."""
    (of_h, h), _, _ = q.markers()
    i, j = q.joint.frame_i, q.joint.frame_j
    frame, other, sign = (i, j, 1.0) if of_h is i.body else (j, i, -1.0)
    shift, across = modelled_value(q), TICK * triad(h)[:, 0]
    ends = [limit for limit in (lower, upper) if isfinite(limit)]
    lines = []
    for limit in ends:
        tick = np.stack([-across, across])
        lines.append((frame, np.tile(sign * (limit + shift) * h, (2, 1)), tick, False))
    reach = ends if len(ends) == 2 else [ends[0], ends[0]]
    open_end = 0.0 if len(ends) == 2 else RADIUS * (1.0 if isfinite(lower) else -1.0)
    along = np.stack([sign * (limit + shift) * h for limit in reach])
    lines.append((frame, along, np.stack([np.zeros(3), sign * open_end * h]), False))
    turned = other.body.A.T @ frame.body.A @ across
    lines.append((other, np.zeros((2, 3)), 1.6 * np.stack([-turned, turned]), True))
    return lines


def _cone_of(load: ConeLimit) -> list[tuple[Frame, Array, Array, bool]]:
    """Return the rim of the cone about a_i, its generators, and a_j."""
    i, j = load.joint.frame_i, load.joint.frame_j
    a_i, a_j = load.axes
    f, g, _ = triad(a_i).T
    turn = np.linspace(0.0, 2.0 * pi, POINTS)[:, None]
    rim = RADIUS * (cos(load.angle) * a_i + sin(load.angle) * (np.cos(turn) * f + np.sin(turn) * g))
    lines = [rim, *(np.stack([np.zeros(3), rim[k]]) for k in range(0, POINTS - 1, (POINTS - 1) // GENERATORS))]
    pointer = np.stack([np.zeros(3), REACH * a_j])
    return [*((i, 0.0 * line, line, False) for line in lines), (j, 0.0 * pointer, pointer, True)]


def _twist_of(load: TwistLimit) -> list[tuple[Frame, Array, Array, bool]]:
    """Return the sector of the twist about a_i, whose zero f is at the modelled pose that of body j, on a stem of the axis."""
    i, j = load.joint.frame_i, load.joint.frame_j
    a_i, a_j = load.axes
    f, g, _ = triad(a_i).T
    sector = LIFT * a_i + _sector(f, g, load.lower, load.upper)
    pointer = np.stack([np.zeros(3), LIFT * a_j, LIFT * a_j + REACH * (j.body.A.T @ i.body.A @ f)])
    return [(i, 0.0 * sector, sector, False), (j, 0.0 * pointer, pointer, True)]
