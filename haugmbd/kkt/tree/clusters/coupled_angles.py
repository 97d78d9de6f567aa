r"""The rows of couplings that the recursion over a forest embeds: each angle is evaluated once, whatever couplings contain it.

    level   Phi = sum c_k q_k - f      nu = f'      gamma = f'' - sum c_k q_k''          q'' at u' = 0
    J       c_k A^T m_k on body b of angle k, - c_k A^T m_k on body a                    m_k: gradient of the angle, global

The recursion reads m_k; the rows in J are written for what else reads them, and not in the stages of a step.
Source: as `constraints.coupling` and `constraints.coordinate`.
"""

from __future__ import annotations

from haugmbd.compiled.jit import inlined
from haugmbd.constraints.base import DRIVER, SIDE, Motion, RowTable
from haugmbd.constraints.coordinate import angle_and_moment
from haugmbd.constraints.equations.coupling import ANGLE, COEFFICIENT, MARKERS, OFFSET, SIDE_B, add_moment
from haugmbd.kkt.tree.clusters.cluster_arrays import ANGLE_MOMENT, ANGLE_Q, ANGLE_Q_DDOT
from haugmbd.kkt.tree.clusters.cluster_order import END_TERM, FIRST_TERM, LINE, NODE, OF_ANGLE, ROW
from haugmbd.math.vec3 import load, store
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

ROWS_OF_EDGE = 6


@inlined
def measure_angles(P: Pack, m: Motion) -> None:
    """Write q, q'' and the gradient of every angle."""
    ints, reals, lines, angles = ws.row_ints(P), ws.row_reals(P), ws.cluster_angles(P), ws.angle_rates_and_moments(P)
    for n in range(lines.shape[0]):
        k = lines[n, 0]
        near = m.angles[ints[k, ANGLE]]
        q = angle_and_moment(m, ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2], reals[k, OFFSET], near)
        angles[n, ANGLE_Q], angles[n, ANGLE_Q_DDOT] = q.q, q.q_ddot
        store(angles, n, ANGLE_MOMENT, q.moment)


@inlined
def measure_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write Phi, nu and gamma of all embedded couplings, and leave their rows in J as they are."""
    measure_angles(P, m)
    ints, reals, angles = ws.row_ints(P), ws.row_reals(P), ws.angle_rates_and_moments(P)
    couplings, terms, n_bodies = ws.cluster_rows(P), ws.cluster_terms(P), ws.n_bodies(P)
    for r in range(couplings.shape[0]):
        first = couplings[r, FIRST_TERM]
        driver = ints[terms[first, LINE], DRIVER]
        Phi, gamma = -m.F[driver, 0], m.F[driver, 2]
        for n in range(first, couplings[r, END_TERM]):
            c, angle = reals[terms[n, LINE], COEFFICIENT], terms[n, OF_ANGLE]
            Phi += c * angles[angle, ANGLE_Q]
            gamma -= c * angles[angle, ANGLE_Q_DDOT]
        slot = ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW]
        rows.level[slot, 0], rows.level[slot, 1], rows.level[slot, 2] = Phi, m.F[driver, 1], gamma


@inlined
def assemble_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write the rows of all embedded couplings, and Phi, nu and gamma."""
    measure_couplings(P, m, rows)
    ints, reals, angles = ws.row_ints(P), ws.row_reals(P), ws.angle_rates_and_moments(P)
    couplings, terms, n_bodies = ws.cluster_rows(P), ws.cluster_terms(P), ws.n_bodies(P)
    for r in range(couplings.shape[0]):
        J = rows.J[ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW]]
        for side in range(J.shape[0]):  # forces stay zero
            for a in range(3, 6):
                J[side, a] = 0.0
        for n in range(couplings[r, FIRST_TERM], couplings[r, END_TERM]):
            k = terms[n, LINE]
            c, moment = reals[k, COEFFICIENT], load(angles, terms[n, OF_ANGLE], ANGLE_MOMENT)
            add_moment(J, m.A, ints[k, SIDE], m.body_of[ints[k, MARKERS]], -c, moment)
            add_moment(J, m.A, ints[k, SIDE_B], m.body_of[ints[k, MARKERS + 2]], c, moment)
