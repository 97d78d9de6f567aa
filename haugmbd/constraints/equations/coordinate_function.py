r"""Coordinate function: one joint coordinate is a function of another; the row touches every body of both joints.

    Phi   = q_b - f(q_a)                      q_a, q_b: see `coordinate`
    Phi_q = dq_b/dq - f'(q_a) dq_a/dq         on the bodies of both joints; a body of both gets the sum
    nu    = 0                                 gamma = f' q_a'' + f'' q_a'^2 - q_b''          q'' at u' = 0

f, f' and f'' are exact, as those of drivers. With a period T, f is evaluated at q_start + (q_a - q_start) mod T. The generalized force
of the row on q_b is -lam, and f' lam on q_a: power goes through, and the row does no work.
The table of the rows has a line for q_b, a line for q_a, and the lines of the program of f.
Source: Haug (2021), kinematic couplings; cams: Norton (2009), Cam Design and Manufacturing Handbook. Derived here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow_line
from haugmbd.compiled.jit import kernel, routine
from haugmbd.constraints.base import SIDE, SLOT, Motion, RowTable
from haugmbd.constraints.coordinate import Coordinate, Rates, angle_rates, displacement_rates
from haugmbd.constraints.equations.coupling import ANGLE, FIRST, MARKERS, OFFSET, SIDE_B, CouplingRow, add_term
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver
from haugmbd.drivers.autodiff.tape_machine import Three, run_tape
from haugmbd.drivers.program import JET, SPLINE, Program
from haugmbd.drivers.spline_kernel import evaluate_spline
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.math.vec3 import dot, load, to_global

PROGRAM, COLUMNS = 9, 13
"""First column of the program, after those of a coupling's line, and number of columns. Line of q_b: kind, number of operations, number of
constants. Line of q_a: slots of f, f', f''. Then a line for each operation (op, a, b, c), with three constants."""

KIND, N_OPS, N_NUMBERS = PROGRAM, PROGRAM + 1, PROGRAM + 2
WRAP = 2
"""Column of the constants after coefficient and offset: the period (0 for none) on the line of q_b, q_start on that of q_a."""

NO_ANGLE, NO_TERM = -1, -1
"""Entries of a line that is not a term."""


@public_class
class CoordinateFunctionRow(CouplingRow):
    """One joint coordinate is a function of another: q_b = f(q_a). Removes 1 degree of freedom.

    Parameters
    ----------
    a, b : Coordinate
        The coordinates.
    profile : Driver
        The function f; its argument is q_a in place of the time.
    period : float
        The period of f [rad or m]; 0 if it is used as it stands.
    start : float
        Where the first period starts [rad or m].

    Notes
    -----
    `joints.CoordinateFunction` and `joints.Cam` make it of joints. Touches all bodies of both joints.
    Source: Haug (2021), kinematic couplings.
    """

    kind = "CoordinateFunction"
    symbols = "Phi = q_b - f(q_a),  q_a and q_b coordinates of joints, q0 at the modelled pose, through any number of turns"

    def __init__(self, a: Coordinate, b: Coordinate, profile: Driver, period: float = 0.0, start: float = 0.0) -> None:
        super().__init__([(b, 1.0), (a, 1.0)])
        self.a, self.b, self.profile = a, b, profile
        self.period, self.start = float(period), float(start)
        self.unit = "rad" if b.turns else "m"  # type: ignore[misc]

    def values(self, q_a: Any) -> Array:
        """Return f, f', f'' at q_a (...), shape (..., 3)."""
        x = np.asarray(q_a, dtype=np.float64)
        return self.profile.values(self.start + np.remainder(x - self.start, self.period) if self.period > 0.0 else x)

    @property
    def q_range(self) -> tuple[float, float]:
        """Return the least and the largest q_a at which f is defined."""
        return self.profile.t_range if self.period == 0.0 else (-np.inf, np.inf)

    def words(self) -> str:
        return f"{self.b.label} = f({self.a.label})"

    def term_lines(self) -> tuple[tuple[tuple[int, int, int], float], ...]:
        """Return the columns that lines of q_b and of q_a have beyond those of a coupling: three integers, and a constant."""
        program = self.profile.program()
        return (((program.kind, len(program.ops), len(program.numbers)), self.period), (program.outputs, self.start))

    def program_lines(self, slot: int, driver: int) -> list[tuple[list[int], tuple[float, ...]]]:
        """Return the lines of operations and constants."""
        program: Program = self.profile.program()
        n = max(len(program.ops), -(-len(program.numbers) // 3))
        ops, numbers = np.zeros((n, 4), dtype=np.int64), np.zeros(3 * n)
        ops[: len(program.ops)], numbers[: len(program.numbers)] = program.ops, program.numbers
        head = [slot, 0, driver, 0, 0, 0, 0, NO_ANGLE, NO_TERM]
        return [([*head, *op], tuple(line)) for op, line in zip(ops.tolist(), numbers.reshape(n, 3).tolist(), strict=True)]


def room_for_profiles(ints: Ints) -> int:
    """Return the number of slots of the longest tape of a table of rows."""
    heads = ints[(ints[:, FIRST] == 1) & (ints[:, KIND] != SPLINE)]
    return int((1 + heads[:, N_OPS] + heads[:, N_NUMBERS]).max(initial=0))


@kernel
def evaluate_profile(x: float, ints: Ints, floats: Array, k: int, W: Array) -> Three:
    """Return f, f', f'' at x of the row whose line of q_b is k;  W: (n, 3) room for its tape."""
    n_ops, n_numbers = ints[k, N_OPS], ints[k, N_NUMBERS]
    period, start = floats[k, WRAP], floats[k + 1, WRAP]
    if period > 0.0:
        x = start + np.remainder(x - start, period)
    first = 3 * (k + 2)
    numbers = borrow_line(floats, 0, first + n_numbers)
    if ints[k, KIND] == SPLINE:
        return evaluate_spline(x, numbers, first, first + n_numbers)
    run_tape(x, ints[:, PROGRAM:COLUMNS], k + 2, k + 2 + n_ops, numbers, first, first + n_numbers, W)
    a = ints[k + 1, PROGRAM]
    if ints[k, KIND] == JET:
        return W[a, 0], W[a, 1], W[a, 2]
    return W[a, 0], W[ints[k + 1, PROGRAM + 1], 0], W[ints[k + 1, PROGRAM + 2], 0]


@kernel
def term_rates(ints: Ints, floats: Array, m: Motion, k: int) -> Rates:
    """Return the coordinate of a line and its derivatives."""
    x, y, z = ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2]
    if ints[k, ANGLE] >= 0:
        return angle_rates(m, x, y, z, floats[k, OFFSET], m.angles[ints[k, ANGLE]])
    return displacement_rates(m, x, y, z, floats[k, OFFSET])


@kernel
def term_bodies(ints: Ints, m: Motion, k: int) -> tuple[int, int]:
    """Return the bodies a and b of the coordinate of a line, see `Coordinate.bodies`."""
    first = MARKERS if ints[k, ANGLE] >= 0 else MARKERS + 1
    return m.body_of[ints[k, first]], m.body_of[ints[k, MARKERS + 2]]


@kernel
def coordinate_rate(m: Motion, a: int, b: int, q: Rates) -> float:
    """Return q' of a coordinate between bodies a and b."""
    total: float = 0.0
    total += dot(q.g, load(m.bodies, b, VELOCITY)) - dot(q.g, load(m.bodies, a, VELOCITY))
    total += dot(q.m_a, to_global(m.A, a, load(m.bodies, a, OMEGA_BAR))) + dot(
        q.m_b, to_global(m.A, b, load(m.bodies, b, OMEGA_BAR))
    )
    return total


@kernel
def add_coordinate(ints: Ints, m: Motion, J: Array, k: int, c: float, q: Rates) -> None:
    """Add c dq/dq of the coordinate of a line to its row J (sides, 6)."""
    a, b = term_bodies(ints, m, k)
    add_term(J, m.A, ints[k, SIDE], a, -c, q.g, (-q.m_a[0], -q.m_a[1], -q.m_a[2]))
    add_term(J, m.A, ints[k, SIDE_B], b, c, q.g, q.m_b)


@routine
def assemble_row(ints: Ints, floats: Array, m: Motion, rows: RowTable) -> None:
    """Fill the rows of all coordinate functions."""
    for k in range(ints.shape[0]):
        if ints[k, FIRST] != 1:
            continue
        slot = ints[k, SLOT]
        J = rows.J[slot]
        for side in range(J.shape[0]):
            for column in range(6):
                J[side, column] = 0.0
        q_b, q_a = term_rates(ints, floats, m, k), term_rates(ints, floats, m, k + 1)
        a, b = term_bodies(ints, m, k + 1)
        f, f1, f2 = evaluate_profile(q_a.q, ints, floats, k, rows.tape)
        rate = coordinate_rate(m, a, b, q_a)
        add_coordinate(ints, m, J, k, 1.0, q_b)
        add_coordinate(ints, m, J, k + 1, -f1, q_a)
        rows.level[slot, 0] = q_b.q - f
        rows.level[slot, 1] = 0.0
        rows.level[slot, 2] = f1 * q_a.q_ddot + f2 * rate * rate - q_b.q_ddot
