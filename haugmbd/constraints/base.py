r"""What every primitive is made of: one scalar equation between two bodies, as data, and one kernel that fills its row.

    Phi(q, t) = 0      Phi_q u = nu      Phi_q u_dot = gamma      u = (v, omega_bar)
    delta Phi = Phi_r dr + PiBar dpi_bar,     for body i and body j: twelve numbers

A variation of the row is a force along a global direction g at body j (and -g at body i), with global moments m_i and m_j about the
centres of mass:     Phi_r_i = -g   Phi_r_j = g   PiBar_i = A_i^T m_i   PiBar_j = A_j^T m_j.      `put_row` writes exactly that.

What kernels read is computed once per MARKER (a point s_bar or a vector a_bar on a body), however many rows share it:

    X[marker] = ( A x_bar,   A (w x x_bar),   A (w x (w x x_bar)) )        w = omega_bar      value, rate, rate of the rate at u_dot = 0

A new primitive is one file like `dp1.py` (its class and its `fill`) and one line in `catalogue.py`.
Source: Haug ch. 9 and 11; seed 004; the form (r, omega_bar) of the second derivative from d/dt(A a_bar) = A (w x a_bar).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import masked
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver, as_driver
from haugmbd.errors import Fault
from haugmbd.math.vec3 import Vec, add, load, scale, store, sub, to_body

SLOT, SIDE, DRIVER, FIRST_MARKER = 0, 1, 2, 3
"""Columns of a kind's integer table: row slot; on which side of its edge body i stands; driver; then the markers."""


class Motion(NamedTuple):
    """What kernels read at one instant.

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
    """What row kernels write.  J: (slots, 2, 6) Phi_r and PiBar of the edge's two bodies;  level: (slots, 3) Phi, nu, gamma."""

    J: Array
    level: Array


@public_class
class Primitive(ABC):
    """One scalar equation between body `i` and body `j`, driven by f(t).  Frozen data; `faults()` says what is wrong with it."""

    kind: ClassVar[str]
    """Name of the equation, such as DP1."""
    unit: ClassVar[str]
    """Unit of Phi."""
    symbols: ClassVar[str]
    """The equation in the book's symbols: Phi = ... - f(t)."""

    def __init__(self, i: Body, j: Body, f: Any) -> None:
        self.i = i
        self.j = j
        self.f: Driver = as_driver(f)

    @abstractmethod
    def markers(self) -> tuple[tuple[Body, Array], ...]:
        """The points and vectors (body, x_bar (3,)) that the kernel reads, in its order."""

    def constants(self) -> tuple[float, ...]:
        """The numbers that the kernel reads beside its markers."""
        return ()

    @abstractmethod
    def words(self) -> str:
        """What the equation says, in words."""

    def given(self) -> dict[str, Array]:
        """The points and vectors that it was made from, by the names of the constructor: s_bar_i, a_bar_j, c, ..."""
        asked = signature(type(self)).parameters
        return {name: getattr(self, name) for name in asked if name not in ("i", "j", "f")}

    def extra_faults(self) -> tuple[Fault, ...]:
        """What is wrong beyond bad numbers (a primitive with a rule of its own overrides this)."""
        return ()

    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this primitive alone."""
        where = repr(self)
        found = [Fault(where, fault.what, fault.remedy) for fault in self.f.faults()]
        for body, x_bar in self.markers():
            if not (x_bar.shape == (3,) and np.isfinite(x_bar).all()):
                what = f"a point or vector on body {body.name!r} is {x_bar.tolist()}"
                found.append(Fault(where, what, "Give three finite numbers."))
        return (*found, *self.extra_faults())

    def __repr__(self) -> str:
        return f"{self.kind}({self.i.name!r}, {self.j.name!r})"


def zero_vector_faults(primitive: Primitive, **vectors: Array) -> tuple[Fault, ...]:
    """A fault for each of the named vectors that has no direction."""
    return tuple(
        Fault(repr(primitive), f"{name} is (0, 0, 0)", "Give a direction: three numbers, not all zero.")
        for name, vector in vectors.items()
        if not vector.any()
    )


def as_vector(x: Any) -> Array:
    """A read-only float copy of `x`; NaN where it is no array of numbers (a fault later, never an exception here)."""
    try:
        vector = np.full(3, np.nan) if masked(x) else np.array(x, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.full(3, np.nan)
    vector.flags.writeable = False
    return vector


@inlined
def value(m: Motion, marker: int) -> Vec:
    """A x_bar."""
    return load(m.X, marker, 0)


@inlined
def rate(m: Motion, marker: int) -> Vec:
    """d/dt (A x_bar) = A (w x x_bar)."""
    return load(m.X, marker, 3)


@inlined
def centripetal(m: Motion, marker: int) -> Vec:
    """d2/dt2 (A x_bar) at w' = 0: A (w x (w x x_bar))."""
    return load(m.X, marker, 6)


@kernel
def distance(m: Motion, P: int, Q: int) -> Vec:
    """d_ij = r_j + s_j - r_i - s_i, from the point marker P on body i to the point marker Q on body j."""
    i, j = m.body_of[P], m.body_of[Q]
    return sub(add(load(m.bodies, j, 0), value(m, Q)), add(load(m.bodies, i, 0), value(m, P)))


@kernel
def distance_rate(m: Motion, P: int, Q: int) -> Vec:
    """d_ij'."""
    i, j = m.body_of[P], m.body_of[Q]
    return sub(add(load(m.bodies, j, 7), rate(m, Q)), add(load(m.bodies, i, 7), rate(m, P)))


@kernel
def put_row(rows: RowTable, m: Motion, ints: Ints, k: int, i: int, j: int, g: Vec, m_i: Vec, m_j: Vec) -> None:
    """Write the twelve numbers: force g at body j, -g at body i, moments m_i and m_j, all global."""
    slot, side = ints[k, SLOT], ints[k, SIDE]
    J = rows.J[slot]
    store(J, side, 0, scale(-1.0, g))
    store(J, side, 3, to_body(m.A, i, m_i))
    store(J, 1 - side, 0, g)
    store(J, 1 - side, 3, to_body(m.A, j, m_j))


@inlined
def put_level(rows: RowTable, slot: int, Phi: float, nu: float, gamma: float) -> None:
    """Write Phi, nu and gamma."""
    rows.level[slot, 0] = Phi
    rows.level[slot, 1] = nu
    rows.level[slot, 2] = gamma
