r"""The rows of couplings that the recursion over a forest embeds: each coordinate is evaluated once, whatever couplings contain it.

    level   Phi = sum c_k q_k - f      nu = f'      gamma = f'' - sum c_k q_k''          q'' at u' = 0
    J       c_k A^T m_k on body b of angle k, - c_k A^T m_k on body a                    m_k: gradient of the angle, global
            c_k (g_k, A^T m_b) on body b of displacement k, c_k (- g_k, A^T m_a) on body a

The recursion reads the gradients; the rows in J and Phi are written for what else reads them, and not in the stages of a step.
Forces of rows of angles are zero, as are the entries on the sides of other bodies: they are never written.
Source: as `constraints.coupling` and `constraints.coordinate`.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.subscripts import unsigned
from haugmbd.constraints.base import DRIVER, SIDE, Motion, RowTable, value
from haugmbd.constraints.coordinate import angle_of_rotations, displacement_rates, unwound
from haugmbd.constraints.equations.coupling import COEFFICIENT, MARKERS, OFFSET, SIDE_B
from haugmbd.kkt.cluster_arrays import (
    ANGLE_COS,
    ANGLE_NEAR,
    ANGLE_OFFSET,
    ANGLE_Q,
    ANGLE_Q_DDOT,
    ANGLE_SIN,
    SLIDE_FORCE,
    SLIDE_MOMENT_A,
    SLIDE_MOMENT_B,
    SLIDE_Q,
    SLIDE_Q_DDOT,
    angle_rates_and_moments,
    cluster_angles,
    cluster_displacements,
    cluster_rows,
    cluster_terms,
    displacement_rates_and_wrenches,
    gradient,
    put_gradient,
)
from haugmbd.kkt.cluster_order import (
    ANGLE_LINE,
    BODY_A,
    BODY_B,
    COORDINATE,
    END_TERM,
    FIRST_ON_A,
    FIRST_ON_B,
    FIRST_TERM,
    INTEGRATED,
    LINE,
    NODE,
    OF_SLIDE,
    ROW,
    WITH_SLIDES,
    E,
    N,
    V,
)
from haugmbd.math.vec3 import Vec, add, load, scale, store, to_body
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

ROWS_OF_EDGE = 6


@inlined
def measure_angles(P: Pack, m: Motion) -> None:
    """Write q'' and the gradient of every angle, and what `unwind_angles` needs."""
    reals, omega, lines, angles = ws.row_reals(P), ws.angular_velocities(P), cluster_angles(P), angle_rates_and_moments(P)
    for n in range(lines.shape[0]):
        w_a, w_b = load(omega, lines[n, BODY_A], 0), load(omega, lines[n, BODY_B], 0)
        q = angle_of_rotations(value(m, lines[n, E]), value(m, lines[n, N]), value(m, lines[n, V]), w_a, w_b)
        angles[ANGLE_COS, n], angles[ANGLE_SIN, n], angles[ANGLE_Q_DDOT, n] = q.c, q.s, q.q_ddot
        angles[ANGLE_OFFSET, n] = reals[unsigned(lines[n, ANGLE_LINE]), OFFSET]
        angles[ANGLE_NEAR, n] = m.angles[unsigned(lines[n, INTEGRATED])]
        put_gradient(angles, n, q.moment)


@inlined
def measure_displacements(P: Pack, m: Motion) -> None:
    """Write q, q'' and the gradient of every displacement."""
    ints, reals, lines, D = ws.row_ints(P), ws.row_reals(P), cluster_displacements(P), displacement_rates_and_wrenches(P)
    for n in range(lines.shape[0]):
        k = lines[n, 0]
        q = displacement_rates(m, ints[k, MARKERS], ints[k, MARKERS + 1], ints[k, MARKERS + 2], reals[k, OFFSET])
        D[n, SLIDE_Q], D[n, SLIDE_Q_DDOT] = q.q, q.q_ddot
        store(D, n, SLIDE_FORCE, q.g)
        store(D, n, SLIDE_MOMENT_A, q.m_a)
        store(D, n, SLIDE_MOMENT_B, q.m_b)


@inlined
def unwind_angles(angles: Array) -> None:
    """Write the unwound coordinate q of every coupled angle; angles side by side, so that the loop is vectorised."""
    for n in range(angles.shape[1]):
        angles[ANGLE_Q, n] = unwound(angles[ANGLE_COS, n], angles[ANGLE_SIN, n], angles[ANGLE_OFFSET, n], angles[ANGLE_NEAR, n])


@inlined
def measure_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write nu and gamma of all embedded couplings, and leave Phi and their rows in J as they are."""
    measure_angles(P, m)
    measure_displacements(P, m)
    ints, reals, angles, D = ws.row_ints(P), ws.row_reals(P), angle_rates_and_moments(P), displacement_rates_and_wrenches(P)
    couplings, terms, n_bodies = cluster_rows(P), cluster_terms(P), ws.n_bodies(P)
    for row in range(couplings.shape[0]):
        r = unsigned(row)
        driver = driver_of(ints, terms, couplings[r, FIRST_TERM])
        gamma = m.F[driver, 2]
        for term in range(couplings[r, FIRST_TERM], couplings[r, END_TERM]):
            n = unsigned(term)
            q = unsigned(terms[n, COORDINATE])
            q_ddot = D[q, SLIDE_Q_DDOT] if terms[n, OF_SLIDE] == 1 else angles[ANGLE_Q_DDOT, q]
            gamma -= reals[unsigned(terms[n, LINE]), COEFFICIENT] * q_ddot
        slot = unsigned(ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW])
        rows.level[slot, 1], rows.level[slot, 2] = m.F[driver, 1], gamma


@inlined
def driver_of(ints: Ints, terms: Ints, first: int) -> int:
    """Return the driver of the coupling with this first term, as a subscript."""
    driver: int = unsigned(ints[unsigned(terms[unsigned(first), LINE]), DRIVER])
    return driver


@inlined
def assemble_couplings(P: Pack, m: Motion, rows: RowTable) -> None:
    """Write the rows of all embedded couplings, and Phi, nu and gamma."""
    measure_angles(P, m)
    unwind_angles(angle_rates_and_moments(P))
    measure_displacements(P, m)
    ints, reals, angles, D = ws.row_ints(P), ws.row_reals(P), angle_rates_and_moments(P), displacement_rates_and_wrenches(P)
    couplings, terms, lines, n_bodies = cluster_rows(P), cluster_terms(P), cluster_angles(P), ws.n_bodies(P)
    for row in range(couplings.shape[0]):
        r = unsigned(row)
        driver = driver_of(ints, terms, couplings[r, FIRST_TERM])
        slot = unsigned(ROWS_OF_EDGE * (couplings[r, NODE] - n_bodies) + couplings[r, ROW])
        J, Phi, gamma = rows.J[slot], -m.F[driver, 0], m.F[driver, 2]
        if couplings[r, WITH_SLIDES] == 1:
            clear_forces(J)
        for term in range(couplings[r, FIRST_TERM], couplings[r, END_TERM]):
            n = unsigned(term)
            k, q = unsigned(terms[n, LINE]), unsigned(terms[n, COORDINATE])
            c = reals[k, COEFFICIENT]
            if terms[n, OF_SLIDE] == 1:
                a, b = m.body_of[unsigned(ints[k, MARKERS + 1])], m.body_of[unsigned(ints[k, MARKERS + 2])]
                put_force(J, ints[k, SIDE], scale(-c, load(D, q, SLIDE_FORCE)))
                put_force(J, ints[k, SIDE_B], scale(c, load(D, q, SLIDE_FORCE)))
                m_a, m_b = scale(c, load(D, q, SLIDE_MOMENT_A)), scale(c, load(D, q, SLIDE_MOMENT_B))
                Phi += c * D[q, SLIDE_Q]
                gamma -= c * D[q, SLIDE_Q_DDOT]
            else:
                a, b = lines[q, BODY_A], lines[q, BODY_B]
                m_b = scale(c, gradient(angles, q))
                m_a = scale(-1.0, m_b)
                Phi += c * angles[ANGLE_Q, q]
                gamma -= c * angles[ANGLE_Q_DDOT, q]
            put_moment(J, m.A, ints[k, SIDE], a, m_a, terms[n, FIRST_ON_A])
            put_moment(J, m.A, ints[k, SIDE_B], b, m_b, terms[n, FIRST_ON_B])
        rows.level[slot, 0], rows.level[slot, 1], rows.level[slot, 2] = Phi, m.F[driver, 1], gamma


@inlined
def clear_forces(J: Array) -> None:
    """Clear the forces of a row J (sides, 6)."""
    for side in range(J.shape[0]):
        store(J, side, 0, (0.0, 0.0, 0.0))


@inlined
def put_force(J: Array, side: int, force: Vec) -> None:
    """Add a force to one side of a row J (sides, 6)."""
    if side >= 0:
        store(J, side, 0, add(load(J, side, 0), force))


@inlined
def put_moment(J: Array, A: Array, side: int, body: int, moment: Vec, first: int) -> None:
    """Write A^T moment to one side of a row J (sides, 6), if this is the first term that touches the body; otherwise add it."""
    if side >= 0:
        n = to_body(A, body, moment)
        store(J, side, 3, n if first == 1 else add(n, load(J, side, 3)))
