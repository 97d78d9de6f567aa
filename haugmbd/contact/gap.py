r"""Gap, gap rate and row of a contact, at many states, and of many contacts at once.

    n = A_i n_bar       d = P_j - P_i       P = r + A s_bar
    gap      = n . d - radius
    gap_rate = n' . d + n . d' = C u        C_i = (-n, A_i^T (n x (d + s_i)))   C_j = (n, A_j^T (s_j x n))      s = A s_bar

Vectors are three arrays, one for each component, over the states (nt,) or over states and contacts (nt, k); or three numbers.
Source: Haug 2021, sec. 9.4 (DP2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import normalized
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
    """Several contacts, some of which are not planes; the same methods as PlacedContacts."""

    def __init__(self, contacts: Sequence[Placed | GapFunction]) -> None:
        self.bodies = np.array([(c.i, c.j) for c in contacts], dtype=np.int64).reshape(-1, 2)
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
        """Return C_i and C_j at one state y (ny,), (k, 2, 6)."""
        out = np.empty((len(self.bodies), 2, 6))
        out[self._plane] = self._planes.rows(y)
        out[~self._plane] = np.array([other.row(y) for other in self._others]).reshape(-1, 2, 6)
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
