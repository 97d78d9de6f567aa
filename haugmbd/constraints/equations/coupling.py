r"""Coupling: a sum of joint coordinates is prescribed; the row touches every body of the joints.

    Phi   = sum_k c_k q_k - f(t)              q_k: see `coordinate`
    Phi_q = sum_k c_k dq_k/dq                 on body i, body j, ... of all joints; a body of several joints gets the sum
    nu    = f'                                gamma = f'' - sum_k c_k q_k''          q'' at u' = 0

The generalized force of the row on q_k is -c_k lam. A coupling does no work while f is constant.
The table of the rows has one line for each term; the first line of a row clears it.
Source: Haug (2021), kinematic couplings; derived here from relative coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.constraints.base import DRIVER, SIDE, SLOT, Motion, Primitive, RowTable
from haugmbd.constraints.coordinate import Coordinate, angle_and_moment, angle_gradient, displacement_rates, unwound
from haugmbd.deprecated import public_class
from haugmbd.drivers import Constant
from haugmbd.math.body_columns import OMEGA_BAR
from haugmbd.math.vec3 import Vec, add, dot, load, scale, store, sub, to_body, to_global

MARKERS, SIDE_B, ANGLE, FIRST = 3, 6, 7, 8
"""Columns of a line after slot, side of body a, driver: three markers; side of body b; index of the integrated angle, -1 for a
displacement; 1 for the first line of a row."""

COEFFICIENT, OFFSET = 0, 1
"""Columns of the constants: c_k, and what is taken off alpha or h . d."""


@public_class
class CouplingRow(Primitive):
    """Prescribed sum of joint coordinates: sum c_k q_k = f(t). Removes 1 degree of freedom.

    Parameters
    ----------
    terms : sequence of (Coordinate, float)
        The coordinates and their coefficients c_k.
    f : float, callable, sequence of three callables, or Driver
        The prescribed sum.

    Notes
    -----
    `joints.Coupling` makes it of joints. Touches all bodies of the joints: two or more.
    Source: Haug (2021), kinematic couplings.
    """

    kind = "Coupling"
    unit = "rad"
    symbols = "Phi = sum of c_k q_k - f(t),  q_k the coordinates of joints, q0 at the modelled pose, through any number of turns"

    def __init__(self, terms: Sequence[tuple[Coordinate, float]], f: Any = 0.0) -> None:
        self.terms = tuple((coordinate, float(c)) for coordinate, c in terms)
        self._bodies = moving_bodies([q for q, _ in self.terms])
        super().__init__(self._bodies[0], self._bodies[-1], f)
        self.unit = "rad" if all(q.turns for q, _ in self.terms) else "m"  # type: ignore[misc]

    def bodies(self) -> tuple[Body, ...]:
        return self._bodies

    def reads_ground(self) -> bool:
        ends = {body for q, _ in self.terms for body in (q.joint.i, q.joint.j)}
        return any(body.is_ground for body in ends) and not any(body.is_ground for body in self._bodies)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        return tuple(marker for q, _ in self.terms for marker in q.markers())

    def given(self) -> dict[str, Array]:
        return {}

    def words(self) -> str:
        total = " ".join(f"{c:+.6g} {q.label}" for q, c in self.terms).removeprefix("+")
        if isinstance(self.f, Constant):
            return f"{total} = {self.f.value:g}"
        return f"{total} = {self.f}"


def moving_bodies(coordinates: Sequence[Coordinate]) -> tuple[Body, ...]:
    """Return the bodies of the row, each once, without the ground unless there is only one other."""
    touched = list(dict.fromkeys(body for q in coordinates for body in (q.joint.i, q.joint.j)))
    moving = [body for body in touched if not body.is_ground]
    return tuple(moving) if len(moving) > 1 else tuple(touched)


@kernel
def add_term(J: Array, A: Array, side: int, body: int, c: float, g: Vec, moment: Vec) -> None:
    """Add c (g, A^T moment) to one side of a row J (sides, 6); the ground has no side where the row touches more bodies."""
    if side < 0:
        return
    n = to_body(A, body, moment)
    for a in range(3):
        J[side, a] += c * g[a]
        J[side, 3 + a] += c * n[a]


@inlined
def add_moment(J: Array, A: Array, side: int, body: int, c: float, moment: Vec) -> None:
    """Add c A^T moment to one side of a row J (sides, 6), as `add_term` does."""
    if side >= 0:
        store(J, side, 3, add(load(J, side, 3), scale(c, to_body(A, body, moment))))


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all couplings, term by term."""
    for k in range(ints.shape[0]):
        slot = ints[k, SLOT]
        J = rows.J[slot]
        if ints[k, FIRST] == 1:
            for side in range(J.shape[0]):
                for a in range(6):
                    J[side, a] = 0.0
            driver = ints[k, DRIVER]
            rows.level[slot, 0] = -m.F[driver, 0]
            rows.level[slot, 1] = m.F[driver, 1]
            rows.level[slot, 2] = m.F[driver, 2]
        c, offset, angle = floats[k, COEFFICIENT], floats[k, OFFSET], ints[k, ANGLE]
        x, y, z = ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2]
        if angle >= 0:
            turn = angle_and_moment(m, x, y, z)
            rows.level[slot, 0] += c * unwound(turn.c, turn.s, offset, m.angles[angle])
            rows.level[slot, 2] -= c * turn.q_ddot
            add_moment(J, m.A, ints[k, SIDE], m.body_of[x], -c, turn.moment)
            add_moment(J, m.A, ints[k, SIDE_B], m.body_of[z], c, turn.moment)
        else:
            q = displacement_rates(m, x, y, z, offset)
            rows.level[slot, 0] += c * q.q
            rows.level[slot, 2] -= c * q.q_ddot
            add_term(J, m.A, ints[k, SIDE], m.body_of[y], -c, q.g, (-q.m_a[0], -q.m_a[1], -q.m_a[2]))
            add_term(J, m.A, ints[k, SIDE_B], m.body_of[z], c, q.g, q.m_b)


@kernel
def put_angle_rates(ints: Ints, first: int, last: int, m: Motion, rates: Array) -> None:
    """Write the rate of every integrated angle of the couplings in lines first ... last - 1."""
    for k in range(first, last):
        angle = ints[k, ANGLE]
        if angle >= 0:
            e, n, v = ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2]
            a, b = m.body_of[e], m.body_of[v]
            w = sub(to_global(m.A, b, load(m.bodies, b, OMEGA_BAR)), to_global(m.A, a, load(m.bodies, a, OMEGA_BAR)))
            rates[angle] = dot(angle_gradient(m, e, n, v), w)
