r"""Gap, gap rate and row of a contact, at many states, and of many contacts at once.

    n = A_i n_bar       d = P_j - P_i       P = r + A s_bar
    gap      = n . d - radius
    gap_rate = n' . d + n . d' = C u        C_i = (-n, A_i^T (n x (d + s_i)))   C_j = (n, A_j^T (s_j x n))      s = A s_bar
    stop of a coordinate      gap = upper - q  or  q - lower       q = h . d, or the angle of the tangent (n . v) / (e . v) with its turns

Vectors are three arrays, one for each component, over the states (nt,) or over states and contacts (nt, k); or three numbers.
Source: Haug 2021, sec. 9.4 (DP2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, pi
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, entry, kernel
from haugmbd.math.arctangent import arctan2
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import normalized
from haugmbd.math.vec3 import Vec, load
from haugmbd.math.vec3 import cross as cross_of
from haugmbd.math.vec3 import dot as dot_of
from haugmbd.model.state import State
from haugmbd.workspace.layout import WIDTH

Components = Sequence[Any] | Array
"""The components of vectors or of Euler parameters: arrays, or numbers."""


class Placed(NamedTuple):
    """A contact in the numbering of a model: body numbers i and j, n_bar and s_bar in their frames, radius [m], restitution."""

    name: str
    i: int
    j: int
    n_bar: Array
    s_bar_i: Array
    s_bar_j: Array
    radius: float
    restitution: float

    def gap_row(self) -> tuple[list[int], list[float]]:
        """Return places and numbers of the contact in a `GapTable`."""
        vectors = np.concatenate([self.n_bar, self.s_bar_i, self.s_bar_j]).tolist()
        return [self.i, self.j, PLANE, 0, self.i, self.i, self.j], [*vectors, self.radius, 0.0, 0.0]


@runtime_checkable
class KernelGap(Protocol):
    """A contact that is no plane, and whose gap kernels know."""

    def gap_row(self) -> tuple[list[int], list[float]]: ...


class GapFunction(Protocol):
    """A contact that is not a plane, such as a limit of a joint, in the numbering of a model; it knows its own gap."""

    @property
    def name(self) -> str: ...
    @property
    def i(self) -> int: ...
    @property
    def j(self) -> int: ...
    @property
    def restitution(self) -> float: ...
    def gap_and_rate(self, y: Array) -> tuple[Array, Array]: ...
    def gap_at(self, state: State) -> float: ...
    def row(self, y: Array) -> Array: ...


@runtime_checkable
class OfSeveralBodies(Protocol):
    """A contact of two bodies or more, as a rope over pulleys; its row has a line for each."""

    @property
    def bodies(self) -> tuple[int, ...]: ...


def bodies_of(contact: Placed | GapFunction) -> tuple[int, ...]:
    """Return the numbers of the bodies of a contact."""
    return contact.bodies if isinstance(contact, OfSeveralBodies) else (contact.i, contact.j)


class PlacedContacts(NamedTuple):
    """Several contacts: bodies (k, 2), and n_bar, s_bar_i, s_bar_j (k, 3), radius (k,)."""

    bodies: Ints
    n_bar: Array
    s_bar_i: Array
    s_bar_j: Array
    radius: Array

    @property
    def largest(self) -> Array:
        """The largest number that enters each gap [m], apart from the positions of bodies, (k,)."""
        numbers = np.column_stack([self.s_bar_i, self.s_bar_j, self.radius])
        return np.asarray(np.abs(numbers).max(axis=1, initial=0.0))

    @classmethod
    def of(cls, contacts: Sequence[Placed]) -> PlacedContacts:
        """Return the contacts as arrays."""
        bodies = np.array([(c.i, c.j) for c in contacts], dtype=np.int64).reshape(-1, 2)
        n_bar, s_bar_i, s_bar_j = (
            np.array([getattr(c, name) for c in contacts]).reshape(-1, 3) for name in ("n_bar", "s_bar_i", "s_bar_j")
        )
        return cls(bodies, n_bar, s_bar_i, s_bar_j, np.array([c.radius for c in contacts]))

    def gaps(self, y: Array) -> Array:
        """Return the gaps [m] at the states y (nt, ny), (nt, k)."""
        i, j = (_bodies(y, k) for k in self.bodies.T)
        p_i, p_j = i[EULER:VELOCITY], j[EULER:VELOCITY]
        n, s_i, s_j = turned(p_i, self.n_bar.T), turned(p_i, self.s_bar_i.T), turned(p_j, self.s_bar_j.T)
        gap: Array = _dot(n, [j[a] + s_j[a] - i[a] - s_i[a] for a in range(3)]) - self.radius
        return gap

    def gap_rates(self, y: Array) -> Array:
        """Return the rates of the gaps [m/s] at the states y (nt, ny), (nt, k)."""
        i, j = (_bodies(y, k) for k in self.bodies.T)
        n, n_dot = _turned_with_rate(i, self.n_bar.T)
        (s_i, s_i_dot), (s_j, s_j_dot) = _turned_with_rate(i, self.s_bar_i.T), _turned_with_rate(j, self.s_bar_j.T)
        d = [j[a] + s_j[a] - i[a] - s_i[a] for a in range(3)]
        d_dot = [j[VELOCITY + a] + s_j_dot[a] - i[VELOCITY + a] - s_i_dot[a] for a in range(3)]
        rate: Array = _dot(n_dot, d) + _dot(n, d_dot)
        return rate

    def rows(self, y: Array) -> Array:
        """Return C_i and C_j at one state y (ny,), (k, 2, 6): gap_rate = C_i u_i + C_j u_j."""
        i, j = (_bodies(y[None], k)[:, 0] for k in self.bodies.T)
        n, s_j = turned(i[EULER:VELOCITY], self.n_bar.T), turned(j[EULER:VELOCITY], self.s_bar_j.T)
        arm_i = [j[a] + s_j[a] - i[a] for a in range(3)]
        C_i = [*(-x for x in n), *turned(_conjugate(i[EULER:VELOCITY]), cross(n, arm_i))]
        C_j = [*n, *turned(_conjugate(j[EULER:VELOCITY]), cross(s_j, n))]
        return np.stack([np.array(C_i).T, np.array(C_j).T], axis=1)


class MixedContacts:
    """Several contacts, some of which are not planes; the same methods as PlacedContacts.

    A rope over pulleys touches more than two bodies: `bodies` and rows are then wider, with the last body and zeros for other contacts.
    """

    def __init__(self, contacts: Sequence[Placed | GapFunction]) -> None:
        touched = [bodies_of(c) for c in contacts]
        sides = max(map(len, touched), default=2)
        self.bodies = np.array([(*own, *own[-1:] * (sides - len(own))) for own in touched], dtype=np.int64).reshape(-1, sides)
        self._plane = np.array([isinstance(c, Placed) for c in contacts])
        self._planes = PlacedContacts.of([c for c in contacts if isinstance(c, Placed)])
        self._others = [c for c in contacts if not isinstance(c, Placed)]

    @property
    def largest(self) -> Array:
        """The largest number that enters each gap of planes [m], apart from the positions of bodies, (k,); 0 of the others."""
        found = np.zeros(len(self.bodies))
        found[self._plane] = self._planes.largest
        return found

    def gaps(self, y: Array) -> Array:
        """Return the gaps [m or rad] at the states y (nt, ny), (nt, k)."""
        return self._joined(self._planes.gaps(y), [other.gap_and_rate(y)[0] for other in self._others])

    def gap_rates(self, y: Array) -> Array:
        """Return the rates of the gaps at the states y (nt, ny), (nt, k)."""
        return self._joined(self._planes.gap_rates(y), [other.gap_and_rate(y)[1] for other in self._others])

    def rows(self, y: Array) -> Array:
        """Return C of each body at one state y (ny,), (k, sides, 6)."""
        out = np.zeros((*self.bodies.shape, 6))
        out[self._plane, :2] = self._planes.rows(y)
        for k, other in zip(np.flatnonzero(~self._plane), self._others, strict=True):
            own = other.row(y)
            out[k, : len(own)] = own
        return out

    def _joined(self, planes: Array, others: list[Array]) -> Array:
        """Return columns of planes and of others in the order of the contacts."""
        out = np.empty((len(planes), len(self.bodies)))
        out[:, self._plane] = planes
        out[:, ~self._plane] = np.stack(others, axis=1)
        return out


def placed_contacts(contacts: Sequence[Placed | GapFunction]) -> PlacedContacts | MixedContacts:
    """Return several contacts, to be evaluated at once."""
    planes = [c for c in contacts if isinstance(c, Placed)]
    return PlacedContacts.of(planes) if len(planes) == len(contacts) else MixedContacts(contacts)


def gap_at(c: Placed | GapFunction, state: State) -> float:
    """Return the gap [m] of one contact at one state, in plain numbers, which is faster than NumPy for a few three-vectors."""
    if not isinstance(c, Placed):
        return c.gap_at(state)
    p_i, p_j = state.p[c.i].tolist(), state.p[c.j].tolist()
    n, s_i, s_j = turned(p_i, c.n_bar.tolist()), turned(p_i, c.s_bar_i.tolist()), turned(p_j, c.s_bar_j.tolist())
    r_i, r_j = state.r[c.i].tolist(), state.r[c.j].tolist()
    return float(_dot(n, [r_j[a] + s_j[a] - r_i[a] - s_i[a] for a in range(3)])) - c.radius


def turned(p: Components, x: Components) -> Components:
    """Return A x = x + 2 e x (e x x + e0 x) for Euler parameters p of length 1."""
    (e0, *e), w = p, cross(p[1:], x)
    more = cross(e, [w[a] + e0 * x[a] for a in range(3)])
    return [x[a] + 2.0 * more[a] for a in range(3)]


def cross(a: Components, b: Components) -> Components:
    """Return a x b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _dot(a: Components, b: Components) -> Any:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _turned_with_rate(body: Array, x_bar: Components) -> tuple[Components, Components]:
    """Return A x_bar, and its rate A (omega_bar x x_bar), for bodies (13, ...)."""
    return turned(body[EULER:VELOCITY], x_bar), turned(body[EULER:VELOCITY], cross(body[OMEGA_BAR:WIDTH], x_bar))


def _conjugate(p: Array) -> Array:
    """Return the Euler parameters of A^T."""
    return np.concatenate([p[:1], -p[1:]])


def _bodies(y: Array, k: Ints) -> Array:
    """Return the states of bodies k in y (nt, ny), component by component, (13, nt, k), with p of length 1."""
    states = y[:, WIDTH * k[:, None] + np.arange(WIDTH)]
    states[..., EULER:VELOCITY] = normalized(states[..., EULER:VELOCITY])
    return np.moveaxis(states, -1, 0)


class GapTable(NamedTuple):
    """Gaps as kernels take them, k of them: of contacts with planes, and of stops of joint coordinates.

    places: (k, 7) bodies i and j, kind, column in y of a counted angle (0 without), and the bodies of three vectors, which `numbers` has
    in the frames of these bodies:  n, s_i, s_j of a plane;  h, s_i, s_j of a displacement;  e, n, v of an angle
    numbers: (k, 12) the vectors; the radius, or the value at the modelled pose; limit; side, 1 of an upper limit, -1 of a lower one
    """

    places: Ints
    numbers: Array


PLANE, DISPLACEMENT, ANGLE = range(3)
"""Kinds of gaps."""
BODY_I, BODY_J, KIND, COLUMN, OF_FIRST, OF_SECOND, OF_THIRD = range(7)
FIRST, SECOND, THIRD, VALUE, LIMIT, SIDE = 0, 3, 6, 9, 10, 11
"""Columns of the table."""


def table_of(contacts: Sequence[Placed | GapFunction]) -> GapTable | None:
    """Return the gaps of contacts as kernels take them; None if one of them is a function of its own."""
    rows = [contact.gap_row() for contact in contacts if isinstance(contact, Placed | KernelGap)]
    if len(rows) < len(contacts):
        return None
    places = np.array([row[0] for row in rows], dtype=np.int64).reshape(-1, 7)
    return GapTable(places, np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, 12))


@kernel
def turned_by(y: Array, body: int, x: Vec) -> Vec:
    """Return A x of a body in the flat state, in the order of operations of `turned`."""
    p = WIDTH * body + EULER
    e0, e = y[p], (y[p + 1], y[p + 2], y[p + 3])
    w = cross_of(e, x)
    more = cross_of(e, (w[0] + e0 * x[0], w[1] + e0 * x[1], w[2] + e0 * x[2]))
    return (x[0] + 2.0 * more[0], x[1] + 2.0 * more[1], x[2] + 2.0 * more[2])


@kernel
def turned_back_by(y: Array, body: int, x: Vec) -> Vec:
    """Return A^T x of a body in the flat state."""
    p = WIDTH * body + EULER
    e0, e = y[p], (-y[p + 1], -y[p + 2], -y[p + 3])
    w = cross_of(e, x)
    more = cross_of(e, (w[0] + e0 * x[0], w[1] + e0 * x[1], w[2] + e0 * x[2]))
    return (x[0] + 2.0 * more[0], x[1] + 2.0 * more[1], x[2] + 2.0 * more[2])


@kernel
def rate_of_turned(y: Array, body: int, x: Vec) -> Vec:
    """Return (A x)' = A (omega_bar x x)."""
    return turned_by(y, body, cross_of(three_of(y, body, OMEGA_BAR), x))


@kernel
def three_of(y: Array, body: int, first: int) -> Vec:
    """Return three numbers of a body in the flat state."""
    k = WIDTH * body + first
    return (y[k], y[k + 1], y[k + 2])


@kernel
def between_points(y: Array, i: int, s_i: Vec, j: int, s_j: Vec) -> Vec:
    """Return d = P_j - P_i."""
    r_i, r_j = three_of(y, i, 0), three_of(y, j, 0)
    return (r_j[0] + s_j[0] - r_i[0] - s_i[0], r_j[1] + s_j[1] - r_i[1] - s_i[1], r_j[2] + s_j[2] - r_i[2] - s_i[2])


@kernel
def vectors_of(table: GapTable, k: int, y: Array) -> tuple[Vec, Vec, Vec]:
    """Return the three vectors of gap k, global."""
    places, numbers = table.places, table.numbers
    return (
        turned_by(y, places[k, OF_FIRST], load(numbers, k, FIRST)),
        turned_by(y, places[k, OF_SECOND], load(numbers, k, SECOND)),
        turned_by(y, places[k, OF_THIRD], load(numbers, k, THIRD)),
    )


@kernel
def rates_of_vectors(table: GapTable, k: int, y: Array) -> tuple[Vec, Vec, Vec]:
    """Return the rates of the three vectors of gap k, global."""
    places, numbers = table.places, table.numbers
    return (
        rate_of_turned(y, places[k, OF_FIRST], load(numbers, k, FIRST)),
        rate_of_turned(y, places[k, OF_SECOND], load(numbers, k, SECOND)),
        rate_of_turned(y, places[k, OF_THIRD], load(numbers, k, THIRD)),
    )


@kernel
def gap_of(table: GapTable, k: int, y: Array) -> float:
    """Return gap k [m or rad] at a flat state with p of length 1."""
    places, numbers = table.places, table.numbers
    a, b, c = vectors_of(table, k, y)
    if places[k, KIND] == ANGLE:
        q, near = arctan2(dot_of(b, c), dot_of(a, c)) - numbers[k, VALUE], y[places[k, COLUMN]]
        q += 2.0 * pi * floor((near - q) / (2.0 * pi) + 0.5)
        left: float = numbers[k, SIDE] * (numbers[k, LIMIT] - q)
        return left
    x = dot_of(a, between_points(y, places[k, BODY_I], b, places[k, BODY_J], c)) - numbers[k, VALUE]
    gap: float = x if places[k, KIND] == PLANE else numbers[k, SIDE] * (numbers[k, LIMIT] - x)
    return gap


@kernel
def gap_rate_of(table: GapTable, k: int, y: Array) -> float:
    """Return the rate of gap k [m/s or rad/s] at a flat state with p of length 1."""
    places, numbers = table.places, table.numbers
    i, j, kind = places[k, BODY_I], places[k, BODY_J], places[k, KIND]
    (a, b, c), (a_dot, b_dot, c_dot) = vectors_of(table, k, y), rates_of_vectors(table, k, y)
    if kind == ANGLE:
        # q' = (c s' - s c') / (c^2 + s^2) of the angle with tangent s / c
        cosine, sine = dot_of(a, c), dot_of(b, c)
        cosine_dot, sine_dot = dot_of(a_dot, c) + dot_of(a, c_dot), dot_of(b_dot, c) + dot_of(b, c_dot)
        q_dot = (cosine * sine_dot - sine * cosine_dot) / (cosine * cosine + sine * sine)
        approach: float = -numbers[k, SIDE] * q_dot
        return approach
    d, v_i, v_j = between_points(y, i, b, j, c), three_of(y, i, VELOCITY), three_of(y, j, VELOCITY)
    d_dot = (v_j[0] + c_dot[0] - v_i[0] - b_dot[0], v_j[1] + c_dot[1] - v_i[1] - b_dot[1], v_j[2] + c_dot[2] - v_i[2] - b_dot[2])
    rate = dot_of(a_dot, d) + dot_of(a, d_dot)
    return rate if kind == PLANE else -numbers[k, SIDE] * rate


@kernel
def put_gap_row(table: GapTable, k: int, y: Array, room: Array, C: Array) -> None:
    """Write C_i and C_j of gap k to C (12,): what its rate is by unit velocities;  room: (ny,)"""
    i, j = table.places[k, BODY_I], table.places[k, BODY_J]
    if table.places[k, KIND] == PLANE:
        n, s_j = turned_by(y, i, load(table.numbers, k, FIRST)), turned_by(y, j, load(table.numbers, k, THIRD))
        r_i, r_j = three_of(y, i, 0), three_of(y, j, 0)
        arm = (r_j[0] + s_j[0] - r_i[0], r_j[1] + s_j[1] - r_i[1], r_j[2] + s_j[2] - r_i[2])
        of_i, of_j = turned_back_by(y, i, cross_of(n, arm)), turned_back_by(y, j, cross_of(s_j, n))
        for a in range(3):
            C[a], C[3 + a], C[6 + a], C[9 + a] = -n[a], of_i[a], n[a], of_j[a]
        return
    for number in range(WIDTH):
        room[WIDTH * i + number], room[WIDTH * j + number] = y[WIDTH * i + number], y[WIDTH * j + number]
    for a in range(6):
        room[WIDTH * i + VELOCITY + a] = room[WIDTH * j + VELOCITY + a] = 0.0
    for side in range(2):
        first = WIDTH * (i if side == 0 else j) + VELOCITY
        for a in range(6):
            room[first + a] = 1.0
            C[6 * side + a] = gap_rate_of(table, k, room)
            room[first + a] = 0.0


@kernel
def second_gap_rate(table: GapTable, k: int, y: Array, y_dot: Array, room: Array) -> float:
    """Return the second rate of gap k along the motion with the rates y_dot, by a central difference, to nine digits; room: (ny,)"""
    i, j, change = table.places[k, BODY_I], table.places[k, BODY_J], 0.0
    for sign in (1.0, -1.0):
        for n in range(WIDTH):
            room[WIDTH * i + n] = y[WIDTH * i + n] + sign * DIFFERENCE * y_dot[WIDTH * i + n]
            room[WIDTH * j + n] = y[WIDTH * j + n] + sign * DIFFERENCE * y_dot[WIDTH * j + n]
        change += sign * gap_rate_of(table, k, room)
    return change / (2.0 * DIFFERENCE)


DIFFERENCE = 1e-6
"""[s] Time of the central difference: second rates are compared with what stops a bounce, where a factor matters, not digits."""


@entry
def gaps_entry(table: GapTable, y: Array, gaps: Array) -> int:
    """Write the gaps (k,) at a flat state."""
    for k in range(gaps.size):
        gaps[k] = gap_of(table, k, y)
    return 0


@entry
def gap_entry(table: GapTable, k: int, y: Array) -> float:
    """Return gap k at a flat state."""
    return gap_of(table, k, y)


@entry
def gap_rate_entry(table: GapTable, k: int, y: Array) -> float:
    """Return the rate of gap k at a flat state."""
    return gap_rate_of(table, k, y)


@entry
def gap_over_states_entry(table: GapTable, y: Array, gaps: Array, rates: Array) -> int:
    """Write the first gap and its rate at the flat states y (nt, ny)."""
    for n in range(gaps.size):
        gaps[n], rates[n] = gap_of(table, 0, y[n]), gap_rate_of(table, 0, y[n])
    return 0


put_gaps, gap_of_table, rate_of_gap = DirectCall(gaps_entry), DirectCall(gap_entry), DirectCall(gap_rate_entry)
put_gap_over_states = DirectCall(gap_over_states_entry)
