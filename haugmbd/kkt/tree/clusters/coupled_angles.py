r"""The rows of couplings that the recursion over a forest embeds: each angle is evaluated once, whatever couplings contain it.

    level   Phi = sum c_k q_k - f      nu = f'      gamma = f'' - sum c_k q_k''          q'' at u' = 0
    J       c_k A^T m_k on body b of angle k, - c_k A^T m_k on body a                    m_k: gradient of the angle, global

The recursion reads m_k; the rows in J and Phi are written for what else reads them, and not in the stages of a step.
Forces of the rows are zero, as are their entries on the sides of other bodies: they are never written.
Source: as `constraints.coupling` and `constraints.coordinate`.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined
from haugmbd.constraints.base import DRIVER, SIDE, Motion, RowTable
from haugmbd.constraints.coordinate import angle_and_moment, unwound
from haugmbd.constraints.equations.coupling import ANGLE, COEFFICIENT, MARKERS, OFFSET, SIDE_B
from haugmbd.kkt.tree.clusters.cluster_arrays import (
    ANGLE_COS,
    ANGLE_NEAR,
    ANGLE_OFFSET,
    ANGLE_Q,
    ANGLE_Q_DDOT,
    ANGLE_SIN,
    gradient,
    put_gradient,
)
from haugmbd.kkt.tree.clusters.cluster_order import END_TERM, FIRST_ON_A, FIRST_ON_B, FIRST_TERM, LINE, NODE, OF_ANGLE, ROW
from haugmbd.math.vec3 import Vec, add, load, scale, store, to_body
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

ROWS_OF_EDGE = 6


@inlined
def measure_angles(P: Pack, m: Motion) -> None:
    """Write q'' and the gradient of every angle, and what `unwind_angles` needs."""
    ints, reals, lines, angles = ws.row_ints(P), ws.row_reals(P), ws.cluster_angles(P), ws.angle_rates_and_moments(P)
    for n in range(lines.shape[0]):
        k = lines[n, 0]
        q = angle_and_moment(m, ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2])
        angles[ANGLE_COS, n], angles[ANGLE_SIN, n], angles[ANGLE_Q_DDOT, n] = q.c, q.s, q.q_ddot
        angles[ANGLE_OFFSET, n], angles[ANGLE_NEAR, n] = reals[k, OFFSET], m.angles[ints[k, ANGLE]]
        put_gradient(angles, n, q.moment)


@inlined
def unwind_angles(angles: Array) -> None:
    """Write q of every angle; several at once, as their numbers stand in lines."""
    for n in range(angles.shape[1]):
        angles[ANGLE_Q, n] = unwound(angles[ANGLE_COS, n], angles[ANGLE_SIN, n], angles[ANGLE_OFFSET, n], angles[ANGLE_NEAR, n])


@inlined
def measure_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write nu and gamma of all embedded couplings, and leave Phi and their rows in J as they are."""
    measure_angles(P, m)
    ints, reals, angles = ws.row_ints(P), ws.row_reals(P), ws.angle_rates_and_moments(P)
    couplings, terms, n_bodies = ws.cluster_rows(P), ws.cluster_terms(P), ws.n_bodies(P)
    for r in range(couplings.shape[0]):
        first = couplings[r, FIRST_TERM]
        driver = ints[terms[first, LINE], DRIVER]
        gamma = m.F[driver, 2]
        for n in range(first, couplings[r, END_TERM]):
            gamma -= reals[terms[n, LINE], COEFFICIENT] * angles[ANGLE_Q_DDOT, terms[n, OF_ANGLE]]
        slot = ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW]
        rows.level[slot, 1], rows.level[slot, 2] = m.F[driver, 1], gamma


@inlined
def assemble_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write the rows of all embedded couplings, and Phi, nu and gamma."""
    measure_angles(P, m)
    unwind_angles(ws.angle_rates_and_moments(P))
    ints, reals, angles = ws.row_ints(P), ws.row_reals(P), ws.angle_rates_and_moments(P)
    couplings, terms, n_bodies = ws.cluster_rows(P), ws.cluster_terms(P), ws.n_bodies(P)
    for r in range(couplings.shape[0]):
        first = couplings[r, FIRST_TERM]
        driver = ints[terms[first, LINE], DRIVER]
        slot = ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW]
        J, Phi, gamma = rows.J[slot], -m.F[driver, 0], m.F[driver, 2]
        for n in range(first, couplings[r, END_TERM]):
            k, angle = terms[n, LINE], terms[n, OF_ANGLE]
            c, moment = reals[k, COEFFICIENT], gradient(angles, angle)
            put_moment(J, m.A, ints[k, SIDE], m.body_of[ints[k, MARKERS]], -c, moment, terms[n, FIRST_ON_A])
            put_moment(J, m.A, ints[k, SIDE_B], m.body_of[ints[k, MARKERS + 2]], c, moment, terms[n, FIRST_ON_B])
            Phi += c * angles[ANGLE_Q, angle]
            gamma -= c * angles[ANGLE_Q_DDOT, angle]
        rows.level[slot, 0], rows.level[slot, 1], rows.level[slot, 2] = Phi, m.F[driver, 1], gamma


@inlined
def put_moment(J: Array, A: Array, side: int, body: int, c: float, moment: Vec, first: int) -> None:
    """Write c A^T moment to one side of a row J (sides, 6), if this is the first term that touches the body; otherwise add it."""
    if side >= 0:
        n = scale(c, to_body(A, body, moment))
        store(J, side, 3, n if first == 1 else add(n, load(J, side, 3)))
