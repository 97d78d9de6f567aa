r"""The base class of constraint equations: one scalar equation between two bodies, as data, and one kernel that fills its row.

    Phi(q, t) = 0      Phi_q u = nu      Phi_q u_dot = gamma      u = (v, omega_bar)
    delta Phi = Phi_r dr + PiBar dpi_bar,     for body i and body j: twelve numbers

A variation of the row is a force along a global direction g at body j (and -g at body i), with global moments m_i and m_j about the
centres of mass:     Phi_r_i = -g   Phi_r_j = g   PiBar_i = A_i^T m_i   PiBar_j = A_j^T m_j.      `put_row` writes these numbers.

The quantities that kernels read are computed once per MARKER (a point s_bar or a vector a_bar on a body) and shared by all rows:

    X[marker] = ( A x_bar,   A (w x x_bar),   A (w x (w x x_bar)) )        w = omega_bar      value, rate, second rate at u_dot = 0

A new equation is one file like `dp1.py` (its class and its `assemble_row`) and one line in `registry.py`.
Source: Haug (2021), spatial kinematics; the second derivative in (r, omega_bar) follows from d/dt(A a_bar) = A (w x a_bar).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import masked
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver, as_driver
from haugmbd.drivers.tables import ZERO
from haugmbd.errors import Fault
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.vec3 import Vec, add, load, scale, store, sub, to_body

SLOT, SIDE, DRIVER, FIRST_MARKER = 0, 1, 2, 3
"""Columns of a kind's integer table: slot of the row; side of body i on its edge; driver; then the markers."""


class Motion(NamedTuple):
    """The kinematic quantities of one instant, as kernels read them.

    t: time [s];  bodies: (nb + 1, 13) r, p, v, omega_bar;  A: (nb + 1, 3, 3);  angles: (na,) integrated joint angles [rad]
    body_of: (nm,) body of each marker;  X: (nm, 9) value, rate and centripetal part of each marker, global frame;
    F: (nd, 3) f, f', f'' of each driver.
    """

    t: float
    bodies: Array
    A: Array
    angles: Array
    body_of: Ints
    X: Array
    F: Array


class RowTable(NamedTuple):
    """The arrays that row kernels write.

    J: (slots, sides, 6) Phi_r and PiBar of the edge's bodies;  level: (slots, 3) Phi, nu, gamma;  tape: (n, 3) room for tapes.
    """

    J: Array
    level: Array
    tape: Array


@public_class
class Primitive(ABC):
    """One scalar constraint equation between two bodies, with a prescribed function f(t).

    Parameters
    ----------
    i, j : Body
        The two bodies, or the ground.
    f : float, callable, sequence of three callables, or Driver
        The prescribed function of time: a number, a function of t [s], three functions (f, f', f''), or a driver.

    Notes
    -----
    An equation is frozen data. Its constructor does not raise for bad values: `faults()` returns them.
    A subclass defines `kind`, `unit`, `symbols`, `markers` and `words`; its file also has the kernel `assemble_row`.
    Source: Haug (2021), spatial kinematics: basic constraints.
    """

    kind: ClassVar[str]
    """Name of the equation, such as DP1."""
    unit: ClassVar[str]
    """Unit of Phi."""
    velocity_only: ClassVar[bool] = False
    """Whether the equation restricts velocities only (nonholonomic): it has no Phi, which is 0."""
    symbols: ClassVar[str]
    """The equation in symbols: Phi = ... - f(t)."""

    def __init__(self, i: Body, j: Body, f: Any) -> None:
        self.i = i
        self.j = j
        self.f: Driver = as_driver(f)

    def bodies(self) -> tuple[Body, ...]:
        """Return the bodies that the row touches: two, or more for a coupling of several joints; the ground only beside one other."""
        return (self.i, self.j)

    def prescribed(self) -> tuple[Driver, ...]:
        """Return the functions of time of the row."""
        return (self.f,)

    def reads_ground(self) -> bool:
        """Return whether the row reads positions relative to the ground, which is not among its bodies: that of some couplings."""
        return False

    def relative(self) -> bool:
        """Return whether the row does not change if all of its bodies, with the ground if it reads it, move together as one."""
        return True

    @abstractmethod
    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """Return the points and vectors (body, x_bar (3,)) that the kernel reads, in its order."""

    def constants(self) -> tuple[float, ...]:
        """Return the constants that the kernel reads, besides its markers."""
        return ()

    @abstractmethod
    def words(self) -> str:
        """Return the equation in words."""

    def given(self) -> dict[str, Array]:
        """Return the points and vectors given to the constructor, by their names: s_bar_i, a_bar_j, c, ..."""
        parameters = signature(type(self)).parameters
        return {name: getattr(self, name) for name in parameters if name not in ("i", "j", "f")}

    def extra_faults(self) -> tuple[Fault, ...]:
        """Return faults of this kind of equation, besides numbers that are not finite; a subclass may override it."""
        return ()

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this equation alone."""
        found = [] if self.f is ZERO else [Fault(repr(self), fault.what, fault.remedy) for fault in self.f.faults_of_motion()]
        for body, x_bar in self.markers():
            if not (x_bar.shape == (3,) and all(map(isfinite, x_bar.tolist()))):
                what = f"a point or vector on body {body.name!r} is {x_bar.tolist()}"
                found.append(Fault(repr(self), what, "Give three finite numbers."))
        return (*found, *self.extra_faults()) if found else self.extra_faults()

    def __repr__(self) -> str:
        return f"{self.kind}({self.i.name!r}, {self.j.name!r})"


def zero_vector_faults(primitive: Primitive, **vectors: Array) -> tuple[Fault, ...]:
    """Return a fault for each of the named vectors that is zero."""
    found = []
    for name, vector in vectors.items():
        if not any(vector.ravel().tolist()):
            found.append(Fault(repr(primitive), f"{name} is (0, 0, 0)", "Give a direction: three numbers, not all zero."))
    return tuple(found)


FLOAT = np.dtype(np.float64)


def _writeable(base: Any) -> bool:
    """Return whether the memory of a view may be written to."""
    return not (type(base) is np.ndarray and not base.flags.writeable and base.base is None)


def as_vector(x: Any) -> Array:
    """Return a read-only float copy of `x`; NaN if it is not an array of numbers, which becomes a fault later.

    An array that nobody can write to is not copied.
    """
    if type(x) is np.ndarray and x.dtype is FLOAT and not x.flags.writeable and (x.base is None or not _writeable(x.base)):
        return x
    try:
        vector = np.full(3, np.nan) if masked(x) else np.array(x, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.full(3, np.nan)
    vector.flags.writeable = False
    return vector


@kernel
def value(m: Motion, marker: int) -> Vec:
    """Return A x_bar."""
    return load(m.X, marker, 0)


@kernel
def rate(m: Motion, marker: int) -> Vec:
    """Return d/dt (A x_bar) = A (w x x_bar)."""
    return load(m.X, marker, 3)


@kernel
def centripetal(m: Motion, marker: int) -> Vec:
    """Return d2/dt2 (A x_bar) at w' = 0: A (w x (w x x_bar))."""
    return load(m.X, marker, 6)


@kernel
def distance(m: Motion, P: int, Q: int) -> Vec:
    """Return d_ij = r_j + s_j - r_i - s_i, from the point marker P on body i to the point marker Q on body j."""
    i, j = m.body_of[P], m.body_of[Q]
    return sub(add(load(m.bodies, j, 0), value(m, Q)), add(load(m.bodies, i, 0), value(m, P)))


@kernel
def distance_rate(m: Motion, P: int, Q: int) -> Vec:
    """Return d_ij'."""
    i, j = m.body_of[P], m.body_of[Q]
    return sub(add(load(m.bodies, j, VELOCITY), rate(m, Q)), add(load(m.bodies, i, VELOCITY), rate(m, P)))


@kernel
def put_row(rows: RowTable, m: Motion, ints: Ints, k: int, i: int, j: int, g: Vec, m_i: Vec, m_j: Vec) -> None:
    """Write the twelve numbers: force g at body j, -g at body i, moments m_i and m_j, all global."""
    slot, side = ints[k, SLOT], ints[k, SIDE]
    J = rows.J[slot]
    store(J, side, 0, scale(-1.0, g))
    store(J, side, 3, to_body(m.A, i, m_i))
    store(J, 1 - side, 0, g)
    store(J, 1 - side, 3, to_body(m.A, j, m_j))


@kernel
def row_speed(edges: Ints, J: Array, bodies: Array, e: int, a: int) -> float:
    """Return Phi_q u of row a of edge e;  edges: (ne, sides);  J: (6 ne, sides, 6);  bodies: (nb + 1, 13), the ground at rest."""
    slot, i, j = 6 * e + a, edges[e, 0], edges[e, 1]
    total = 0.0
    for c in range(6):
        total += J[slot, 0, c] * bodies[i, VELOCITY + c] + J[slot, 1, c] * bodies[j, VELOCITY + c]
    for side in range(2, edges.shape[1]):  # of couplings
        for c in range(6):
            total += J[slot, side, c] * bodies[edges[e, side], VELOCITY + c]
    return total


@kernel
def put_level(rows: RowTable, slot: int, Phi: float, nu: float, gamma: float) -> None:
    """Write Phi, nu and gamma."""
    rows.level[slot, 0] = Phi
    rows.level[slot, 1] = nu
    rows.level[slot, 2] = gamma
