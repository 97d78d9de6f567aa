r"""Rope: the length of a path over points and discs of any bodies is prescribed; the row touches all of them.

    Phi = L(q) - f(t)        L = sum over the parts of the path of  w l        w: a factor, 1 unless rope is doubled there

Between points the rope is straight:      l = |D|     D the vector from point to point      l'' = e . D'' + (|D'|^2 - l'^2) / l

Around discs with parallel axes n, between two points, it is unrolled into a plane: l = sqrt(P^2 + h^2), h its way along n, and P the
path in the plane across n.  With rho = +R of a disc that the rope goes round by the right-hand rule about n, -R the other
way, and 0 of a point, the free part from a to b has, with delta = rho_b - rho_a, D = (d cos phi, d sin phi) from centre to centre,

    l = sqrt(d^2 - delta^2)        theta = phi - asin(delta / d)        the direction t of the rope
    P = sum l + sum |rho| psi      psi = +-(theta_out - theta_in)       the angle of the arc on a disc, through whole turns by its start
    dP = sum t . dD                P'' = sum ( t . D'' + (t_n . D')^2 / l ),   t_n across t      the arcs cancel: rope leaves along tangents

A disc whose arc would be negative is left by the rope (take-off; P and dP are continuous, P'' jumps there), and one that lies across the
straight rope then is gone round on its other side.  At its ends the path may be wound on drums, whose turning counts as rope: rho q.
Sources: Haug (2021), distance constraint; geodesics of developable surfaces are straight lines of the unrolled one. Derived here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, floor, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry, kernel, routine
from haugmbd.constraints.base import (
    DRIVER,
    SIDE,
    SLOT,
    Motion,
    Primitive,
    RowTable,
    centripetal,
    distance,
    distance_rate,
    rate,
    value,
)
from haugmbd.constraints.coordinate import Coordinate, angle_and_moment, unwound
from haugmbd.constraints.equations.coupling import ANGLE, COEFFICIENT, FIRST, MARKERS, OFFSET, SIDE_B, add_moment, add_term
from haugmbd.deprecated import public_class
from haugmbd.drivers import Constant
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY, WIDTH
from haugmbd.math.vec3 import Vec, add, cross, dot, load, scale, store, sub, to_global

PART, COUNT, PLANAR = 9, 10, 11
"""Columns after those of a coupling's line: what the line is, how many elements follow, whether they are unrolled into a plane."""
GROUP, ELEMENT, DRUM = 0, 1, 2
NO_SIDE, NO_ANGLE = -1, -1

WEIGHT = 0
RHO, LEAST_ARC, START = 0, 1, 2
"""Columns of the constants: of a group its factor; of an element its signed radius, the least angle that its arc is told as, and for a drum
the direction of the rope at the modelled pose."""

MOST_ELEMENTS = 60
"""Points and discs between two bends: the discs that the rope has left are bits of one integer."""

LEAST_LIFTED = -pi / 2.0
"""The arc [rad], below zero, down to which a disc counts as left by the rope; beyond it, it would be told from a nearly whole turn by
guessing."""
GUARD = 0.05
"""Arcs so near to the end of the whole turn that can be told have no value: a step across it would change L by 2 pi R in silence."""

LEAST_FREE = 1e-6
"""A free part shorter than this part of the radius has come to its disc: rope cannot be drawn in further, and the row has no value."""


class Element(NamedTuple):
    """A point of the path, or the centre of a disc: body, place, signed radius rho; least arc, and direction of the rope at the start."""

    body: Body
    s_bar: Array
    rho: float = 0.0
    least_arc: float = LEAST_LIFTED
    start: float = 0.0


class Group(NamedTuple):
    """A part of the path from point to point: its elements, its factor, and for discs the body and axes of the plane of the arcs."""

    elements: tuple[Element, ...]
    weight: float = 1.0
    plane: tuple[Body, Array, Array, Array] | None = None


@public_class
class RopeRow(Primitive):
    """Prescribed length of a path over points and discs: L = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    groups : sequence of Group
        The parts of the path.
    drums : sequence of (Coordinate, float)
        Angles whose turning winds up rope, and the radius with its sign.
    f : float, callable, sequence of three callables, or Driver
        The prescribed length [m].

    Notes
    -----
    `joints.Rope` makes it. Touches all bodies of the path: two or more.
    Source: Haug (2021), distance constraint; derived here.
    """

    kind = "Rope"
    unit = "m"
    symbols = "Phi = sum of the distances and of the arcs along the path - f(t)"

    def __init__(self, groups: Sequence[Group], drums: Sequence[tuple[Coordinate, float]] = (), f: Any = 0.0) -> None:
        self.groups = tuple(groups)
        self.drums = tuple((q, float(c)) for q, c in drums)
        touched = list(dict.fromkeys(body for body, _ in self.markers()))
        moving = [body for body in touched if not body.is_ground]
        self._reads_ground = len(moving) < len(touched) and len(moving) > 1
        self._bodies = tuple(moving) if len(moving) > 1 else tuple(touched)
        super().__init__(self._bodies[0], self._bodies[-1], f)

    def bodies(self) -> tuple[Body, ...]:
        return self._bodies

    def reads_ground(self) -> bool:
        return self._reads_ground

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        found: list[tuple[Body, Array]] = []
        for group in self.groups:
            if group.plane is not None:
                body, *axes = group.plane
                found.extend((body, axis) for axis in axes)
            found.extend((element.body, element.s_bar) for element in group.elements)
        return (*found, *(marker for q, _ in self.drums for marker in q.markers()))

    def given(self) -> dict[str, Array]:
        return {}

    def words(self) -> str:
        bodies = ", ".join(dict.fromkeys(element.body.name for group in self.groups for element in group.elements))
        length = f"{self.f.value:g} m" if isinstance(self.f, Constant) else f"{self.f}"
        return f"the rope along {bodies} is {length} long"

    def lines(
        self, slot: int, driver: int, markers: Sequence[int], side: Callable[[Body], int], number: Callable[[Coordinate], int]
    ) -> list[tuple[list[int], tuple[float, ...]]]:
        """Return the lines of the row: of each group, of each of its elements, and of each drum.

        side: of a body among those of the row, -1 of the ground where it has none;  number: of an integrated angle
        """
        rest = iter(markers)
        found: list[tuple[list[int], tuple[float, ...]]] = []
        for n, group in enumerate(self.groups):
            axes = [0, 0, 0] if group.plane is None else [next(rest), next(rest), next(rest)]
            own = NO_SIDE if group.plane is None else side(group.plane[0])
            flags = [int(n == 0), GROUP, len(group.elements), int(group.plane is not None)]
            found.append(([slot, own, driver, *axes, NO_SIDE, NO_ANGLE, *flags], (group.weight, 0.0, 0.0)))
            for element in group.elements:
                ints = [slot, side(element.body), driver, next(rest), 0, 0, NO_SIDE, NO_ANGLE, 0, ELEMENT, 0, 0]
                found.append((ints, (element.rho, element.least_arc, element.start)))
        for q, c in self.drums:
            a, b = map(side, q.bodies)
            own_markers = [next(rest) for _ in q.markers()]
            found.append(([slot, a, driver, *own_markers, b, number(q), 0, DRUM, 0, 0], (c, q.modelled(), 0.0)))
        return found

    def pieces(self) -> list[tuple[Body, Array, Body, Array]]:
        """Return the path as modelled in straight pieces: pairs of points on bodies, body frames; arcs as chords."""
        found: list[tuple[Body, Array, Body, Array]] = []
        for group in self.groups:
            if group.plane is None:
                pairs = zip(group.elements, group.elements[1:], strict=False)
                found += [(a.body, a.s_bar, b.body, b.s_bar) for a, b in pairs]
            else:
                found += _pieces_around_discs(group, group.plane)
        return found

    def along(self, states: dict[Body, Array], angles: Array | None = None) -> tuple[Array, Array]:
        """Return length [m] and rate [m/s] of the rope (nt,), and of no prescribed function, along motions of its bodies.

        states: by body, (nt, 13) r, p, v, omega_bar;  angles: (nt, n) integrated angles of the drums
        """
        length, gradient = self.with_gradient(states, angles)
        u = np.stack([states[body][:, VELOCITY:WIDTH] for body in self._bodies], axis=1)
        return length, np.sum(gradient * u, axis=(1, 2))

    def with_gradient(self, states: dict[Body, Array], angles: Array | None = None) -> tuple[Array, Array]:
        """Return the length (nt,), and its gradient (nt, n, 6) by the motion of each of `bodies()`, as Phi_r and PiBar."""
        every = list(dict.fromkeys(body for body, _ in self.markers()))
        sides = {body: k for k, body in enumerate(self._bodies)}
        order = {id(q): k for k, (q, _) in enumerate(self.drums)}
        markers = self.markers()
        lines = self.lines(0, 0, range(len(markers)), lambda body: sides.get(body, NO_SIDE), lambda q: order[id(q)])
        body_of = np.array([every.index(body) for body, _ in markers], dtype=np.int64)
        x_bar = np.array([x for _, x in markers])
        y = np.ascontiguousarray(np.stack([states[body] for body in every], axis=1), dtype=np.float64)
        nt = len(y)
        turned = np.zeros((nt, max(1, len(self.drums)))) if angles is None else np.ascontiguousarray(angles, dtype=np.float64)
        length, J = np.empty(nt), np.empty((nt, len(self._bodies), 6))
        work = np.empty((len(every), 3, 3)), np.empty((len(markers), 9)), np.zeros((1, 3)), np.zeros((1, 3))
        ints = np.array([line for line, _ in lines], dtype=np.int64)
        reals = np.array([numbers for _, numbers in lines])
        measure_rope(ints, reals, y, turned, body_of, x_bar, *work, length, J)
        return length, J


CHORD = pi / 12.0
"""Angle of a chord of an arc that is drawn [rad]."""


def _pieces_around_discs(group: Group, plane: tuple[Body, Array, Array, Array]) -> list[tuple[Body, Array, Body, Array]]:
    """Return the free parts and the chords of the arcs of a group at the modelled pose."""
    bearing, *axes = plane
    T = bearing.A @ np.column_stack(axes)
    places = [T.T @ (element.body.r + element.body.A @ element.s_bar) for element in group.elements]
    kept = list(range(len(places)))
    while True:
        rho = [group.elements[k].rho for k in kept]
        theta = []
        for n, (a, b) in enumerate(zip(kept, kept[1:], strict=False)):
            D = (places[b] - places[a])[:2]
            theta.append(atan2(D[1], D[0]) - float(np.arcsin(np.clip((rho[n + 1] - rho[n]) / np.linalg.norm(D), -1.0, 1.0))))
        psi = {
            n: np.sign(rho[n]) * (theta[n] - theta[n - 1]) - 2.0 * pi * floor(
                (np.sign(rho[n]) * (theta[n] - theta[n - 1]) - group.elements[kept[n]].least_arc) / (2.0 * pi)
            )
            for n in range(1, len(kept) - 1)
        }  # fmt: skip
        left = min(psi, key=lambda n: psi[n], default=-1)
        if left < 0 or psi[left] >= 0.0:
            break
        kept.pop(left)

    def rim(n: int, direction: float) -> Array:
        """Return the point of disc n where rope of this direction touches, global."""
        across = rho[n] * np.array([np.sin(direction), -np.cos(direction), 0.0])
        return np.asarray(T @ (places[kept[n]] + across))

    found = []
    ends = [(group.elements[k].body if group.elements[k].rho == 0.0 else bearing) for k in kept]
    for n, direction in enumerate(theta):
        leaves, meets = rim(n, direction), rim(n + 1, direction)
        i, j = ends[n], ends[n + 1]
        found.append((i, i.A.T @ (leaves - i.r), j, j.A.T @ (meets - j.r)))
        if n + 1 in psi:
            count = max(1, int(np.ceil(psi[n + 1] / CHORD)))
            turns = direction + np.sign(rho[n + 1]) * np.linspace(0.0, psi[n + 1], count + 1)
            chords: list[Array] = [bearing.A.T @ (rim(n + 1, angle) - bearing.r) for angle in turns]
            found += [(bearing, start, bearing, end) for start, end in zip(chords, chords[1:], strict=False)]
    return found


class Span(NamedTuple):
    """A free part in the plane: length, direction t and its angle; t . D', P'' of the part; the way along the axis with two rates."""

    l: float  # noqa: E741  the length, as in the head
    theta: float
    t_x: float
    t_y: float
    rate: float
    second: float
    h: float
    h_dot: float
    h_ddot: float


class Along(NamedTuple):
    """A component e . D of the vector between two markers, along a vector e that moves, with two rates at u' = 0."""

    x: float
    x_dot: float
    x_ddot: float


class Total(NamedTuple):
    """The path of a group in the plane, P, P', P'', its way along the axis, h, h', h'', and the arc that is negative, with its element."""

    P: float
    P_dot: float
    P_ddot: float
    h: float
    h_dot: float
    h_ddot: float
    worst: float
    which: int


@kernel
def component(m: Motion, e: int, D: Vec, D_dot: Vec, D_ddot: Vec) -> Along:
    """Return e . D and its rates of the vector marker e."""
    x_dot = dot(rate(m, e), D) + dot(value(m, e), D_dot)
    x_ddot = dot(centripetal(m, e), D) + 2.0 * dot(rate(m, e), D_dot) + dot(value(m, e), D_ddot)
    return Along(dot(value(m, e), D), x_dot, x_ddot)


@kernel
def span_of(ints: Ints, group: int, a: int, b: int, delta: float, m: Motion) -> Span:
    """Return the free part between the elements in lines a and b of the table."""
    P, Q = ints[a, MARKERS], ints[b, MARKERS]
    D, D_dot, D_ddot = distance(m, P, Q), distance_rate(m, P, Q), sub(centripetal(m, Q), centripetal(m, P))
    x = component(m, ints[group, MARKERS], D, D_dot, D_ddot)
    y = component(m, ints[group, MARKERS + 1], D, D_dot, D_ddot)
    h = component(m, ints[group, MARKERS + 2], D, D_dot, D_ddot)
    d2 = x.x * x.x + y.x * y.x
    l = sqrt(d2 - delta * delta)  # noqa: E741
    if not l > LEAST_FREE * abs(delta):
        l = np.nan  # noqa: E741
    t_x, t_y = (l * x.x + delta * y.x) / d2, (l * y.x - delta * x.x) / d2
    along, across = t_x * x.x_dot + t_y * y.x_dot, t_x * y.x_dot - t_y * x.x_dot
    second = t_x * x.x_ddot + t_y * y.x_ddot + across * across / l
    return Span(l, atan2(t_y, t_x), t_x, t_y, along, second, h.x, h.x_dot, h.x_ddot)


@kernel
def told_from(x: float, least: float) -> float:
    """Return x + 2 pi k in [least, least + 2 pi)."""
    told: float = x - 2.0 * pi * floor((x - least) / (2.0 * pi))
    return told


@kernel
def radius_of(floats: Array, line: int, bit: int, flipped: int) -> float:
    """Return the signed radius of an element, whose disc may be gone round on its other side."""
    rho: float = floats[line, RHO]
    return -rho if (flipped >> bit) & 1 else rho


@kernel
def arc_of(floats: Array, line: int, bit: int, flipped: int, theta_in: float, theta_out: float) -> float:
    """Return the angle of the arc on a disc between the directions of the rope; NaN where it is not told from another number of turns."""
    other = (flipped >> bit) & 1
    least = LEAST_LIFTED if other else floats[line, LEAST_ARC]
    turned = theta_out - theta_in if radius_of(floats, line, bit, flipped) > 0.0 else theta_in - theta_out
    psi = told_from(turned, least)
    return np.nan if psi < least + GUARD or psi > least + 2.0 * pi - GUARD else psi


@kernel
def turned_on_drum(floats: Array, line: int, theta: float) -> float:
    """Return the direction of the rope at a drum from that at the modelled pose; NaN near half a turn."""
    psi = told_from(theta - floats[line, START], -pi)
    return np.nan if abs(psi) > pi - GUARD else psi


@kernel
def path_of(ints: Ints, floats: Array, group: int, m: Motion, left: int, flipped: int) -> Total:
    """Return the path of a group without the discs that the rope has left, those of the bits in `left`."""
    n = ints[group, COUNT]
    P, P_dot, P_ddot, h, h_dot, h_ddot, worst, which = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1
    a, theta_in = 0, 0.0
    for b in range(1, n):
        if (left >> b) & 1:
            continue
        rho_a, rho_b = radius_of(floats, group + 1 + a, a, flipped), radius_of(floats, group + 1 + b, b, flipped)
        s = span_of(ints, group, group + 1 + a, group + 1 + b, rho_b - rho_a, m)
        if a > 0:
            psi = arc_of(floats, group + 1 + a, a, flipped, theta_in, s.theta)
            P, P_ddot = P + abs(rho_a) * psi, P_ddot + 0.0 * psi  # an arc without a value is none of gamma, either
            if psi < worst:
                worst, which = psi, a
        elif rho_a != 0.0:
            psi = turned_on_drum(floats, group + 1, s.theta)
            P, P_ddot = P + rho_a * psi, P_ddot + 0.0 * psi
        if b == n - 1 and rho_b != 0.0:
            psi = turned_on_drum(floats, group + 1 + b, s.theta)
            P, P_ddot = P - rho_b * psi, P_ddot + 0.0 * psi
        P, P_dot, P_ddot = P + s.l, P_dot + s.rate, P_ddot + s.second
        h, h_dot, h_ddot = h + s.h, h_dot + s.h_dot, h_ddot + s.h_ddot
        a, theta_in = b, s.theta
    return Total(P, P_dot, P_ddot, h, h_dot, h_ddot, worst, which)


@kernel
def across_rope(ints: Ints, floats: Array, group: int, m: Motion, left: int, flipped: int) -> int:
    """Return the disc, left by the rope, that now lies across its straight part, to be gone round on its other side; -1 for none."""
    n, a = ints[group, COUNT], 0
    for b in range(1, n):
        if (left >> b) & 1:
            continue
        rho_a, rho_b = radius_of(floats, group + 1 + a, a, flipped), radius_of(floats, group + 1 + b, b, flipped)
        for c in range(a + 1, b):
            s = span_of(ints, group, group + 1 + a, group + 1 + b, rho_b - rho_a, m)
            P, Q = ints[group + 1 + a, MARKERS], ints[group + 1 + c, MARKERS]
            D = distance(m, P, Q)
            x, y = dot(value(m, ints[group, MARKERS]), D), dot(value(m, ints[group, MARKERS + 1]), D)
            along, aside = s.t_x * x + s.t_y * y, s.t_x * y - s.t_y * x - rho_a
            if 0.0 < along < s.l and abs(aside) < abs(floats[group + 1 + c, RHO]) and not (flipped >> c) & 1:
                return c
        a = b
    return -1


@kernel
def add_forces_of_path(
    ints: Ints, floats: Array, group: int, m: Motion, J: Array, left: int, flipped: int, w_P: float, w_h: float
) -> None:
    """Add the gradient of the path: a force along each free part at the centres, and its moment on the body of the axes."""
    n, a = ints[group, COUNT], 0
    e, g, k = ints[group, MARKERS], ints[group, MARKERS + 1], ints[group, MARKERS + 2]
    for b in range(1, n):
        if (left >> b) & 1:
            continue
        line_a, line_b = group + 1 + a, group + 1 + b
        rho_a, rho_b = radius_of(floats, line_a, a, flipped), radius_of(floats, line_b, b, flipped)
        s = span_of(ints, group, line_a, line_b, rho_b - rho_a, m)
        F = add(scale(w_P, add(scale(s.t_x, value(m, e)), scale(s.t_y, value(m, g)))), scale(w_h, value(m, k)))
        P, Q = ints[line_a, MARKERS], ints[line_b, MARKERS]
        add_term(J, m.A, ints[line_a, SIDE], m.body_of[P], -1.0, F, cross(value(m, P), F))
        add_term(J, m.A, ints[line_b, SIDE], m.body_of[Q], 1.0, F, cross(value(m, Q), F))
        add_term(J, m.A, ints[group, SIDE], m.body_of[e], 1.0, scale(0.0, F), cross(F, distance(m, P, Q)))
        a = b


@kernel
def add_discs(ints: Ints, floats: Array, group: int, m: Motion, J: Array, level: Array) -> None:
    """Add a part of the path that is unrolled around discs."""
    # The discs that the rope touches: those with a negative arc are left one by one, and those across the straight rope are gone round.
    left, flipped = 0, 0
    path = path_of(ints, floats, group, m, left, flipped)
    for _ in range(2 * ints[group, COUNT]):
        if path.which >= 0:
            left |= 1 << path.which
        else:
            c = across_rope(ints, floats, group, m, left, flipped) if left != 0 else -1
            if c < 0:
                break
            left, flipped = left & ~(1 << c), flipped | (1 << c)
        path = path_of(ints, floats, group, m, left, flipped)
    # l = sqrt(P^2 + h^2), and two rates
    w, l = floats[group, WEIGHT], sqrt(path.P * path.P + path.h * path.h)  # noqa: E741
    l_dot = (path.P * path.P_dot + path.h * path.h_dot) / l
    squares = path.P_dot * path.P_dot + path.h_dot * path.h_dot - l_dot * l_dot
    level[0] += w * l if path.which < 0 else np.nan
    level[2] -= w * (path.P * path.P_ddot + path.h * path.h_ddot + squares) / l
    add_forces_of_path(ints, floats, group, m, J, left, flipped, w * path.P / l, w * path.h / l)


@kernel
def add_straight(ints: Ints, floats: Array, group: int, m: Motion, J: Array, level: Array) -> None:
    """Add a part of the path that is straight from point to point."""
    w = floats[group, WEIGHT]
    for line in range(group + 1, group + ints[group, COUNT]):
        P, Q = ints[line, MARKERS], ints[line + 1, MARKERS]
        D, D_dot, D_ddot = distance(m, P, Q), distance_rate(m, P, Q), sub(centripetal(m, Q), centripetal(m, P))
        l = sqrt(dot(D, D))  # noqa: E741
        e = scale(1.0 / l, D)
        l_dot = dot(e, D_dot)
        level[0] += w * l
        level[2] -= w * (dot(e, D_ddot) + (dot(D_dot, D_dot) - l_dot * l_dot) / l)
        add_term(J, m.A, ints[line, SIDE], m.body_of[P], -w, e, cross(value(m, P), e))
        add_term(J, m.A, ints[line + 1, SIDE], m.body_of[Q], w, e, cross(value(m, Q), e))


@kernel
def add_line(ints: Ints, floats: Array, k: int, m: Motion, J: Array, level: Array) -> None:
    """Add the part of the path, or the drum, whose line is k."""
    if ints[k, FIRST] == 1:
        for side in range(J.shape[0]):
            for a in range(6):
                J[side, a] = 0.0
        driver = ints[k, DRIVER]
        level[0], level[1], level[2] = -m.F[driver, 0], m.F[driver, 1], m.F[driver, 2]
    if ints[k, PART] == DRUM:
        c, x, y, z = floats[k, COEFFICIENT], ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2]
        turn = angle_and_moment(m, x, y, z)
        level[0] += c * unwound(turn.c, turn.s, floats[k, OFFSET], m.angles[ints[k, ANGLE]])
        level[2] -= c * turn.q_ddot
        add_moment(J, m.A, ints[k, SIDE], m.body_of[x], -c, turn.moment)
        add_moment(J, m.A, ints[k, SIDE_B], m.body_of[z], c, turn.moment)
    elif ints[k, PLANAR] == 1:
        add_discs(ints, floats, k, m, J, level)
    else:
        add_straight(ints, floats, k, m, J, level)


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all ropes, part by part."""
    k = 0
    while k < ints.shape[0]:
        add_line(ints, floats, k, m, rows.J[ints[k, SLOT]], rows.level[ints[k, SLOT]])
        k += 1 + (ints[k, COUNT] if ints[k, PART] == GROUP else 0)


@kernel
def put_orientation(A: Array, y: Array, k: int, t: int) -> None:
    """Write the rotation matrix of the Euler parameters of body k at the instant t, made of length 1."""
    e0, e1, e2, e3 = y[t, k, EULER], y[t, k, EULER + 1], y[t, k, EULER + 2], y[t, k, EULER + 3]
    size = 1.0 / sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    e0, e1, e2, e3 = e0 * size, e1 * size, e2 * size, e3 * size
    store(A[k], 0, 0, (1.0 - 2.0 * (e2 * e2 + e3 * e3), 2.0 * (e1 * e2 - e0 * e3), 2.0 * (e1 * e3 + e0 * e2)))
    store(A[k], 1, 0, (2.0 * (e1 * e2 + e0 * e3), 1.0 - 2.0 * (e1 * e1 + e3 * e3), 2.0 * (e2 * e3 - e0 * e1)))
    store(A[k], 2, 0, (2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), 1.0 - 2.0 * (e1 * e1 + e2 * e2)))


@entry
def measure_rope(
    ints: Ints,
    floats: Array,
    y: Array,
    angles: Array,
    body_of: Ints,
    x_bar: Array,
    A: Array,
    X: Array,
    F: Array,
    level: Array,
    length: Array,
    J: Array,
) -> None:
    """Write length (nt,) and gradient (nt, n, 6) of one rope along states y (nt, nb, 13) and angles (nt, na); A, X, F, level: work."""
    for t in range(y.shape[0]):
        for k in range(y.shape[1]):
            put_orientation(A, y, k, t)
        for n in range(body_of.size):
            k, x, w = body_of[n], load(x_bar, n, 0), load(y[t], body_of[n], OMEGA_BAR)
            store(X, n, 0, to_global(A, k, x))
            store(X, n, 3, to_global(A, k, cross(w, x)))
            store(X, n, 6, to_global(A, k, cross(w, cross(w, x))))
        m = Motion(0.0, y[t], A, angles[t], body_of, X, F)
        k = 0
        while k < ints.shape[0]:
            add_line(ints, floats, k, m, J[t], level[0])
            k += 1 + (ints[k, COUNT] if ints[k, PART] == GROUP else 0)
        length[t] = level[0, 0]
