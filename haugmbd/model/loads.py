r"""The generalized forces of a model at one instant.

Q_k = ( m_k g + F_k,   n_bar_k - omega_bar_k x J_bar_k omega_bar_k )
"""

from __future__ import annotations

from math import isfinite

from haugmbd.algebra.jit import inlined, kernel
from haugmbd.algebra.vec3 import Array
from haugmbd.forces.catalogue import add_loads, measure_loads, put_angle_rates
from haugmbd.model import tables as at
from haugmbd.model.status import OK, USER_STOPPED, report
from haugmbd.model.tables import Pack, line, view
from haugmbd.model.user import GO_ON
from haugmbd.primitives.base import Motion


@inlined
def fill_loads(P: Pack, m: Motion, y: Array) -> int:
    """Leave the generalized forces of the motion `m` (state `y`) in Q, and the drivers that the user's callables give in F."""
    Q = view(P.work, P.ints, at.Q)
    signals = view(P.work, P.ints, at.SIGNALS)
    ints, kind_at = view(P.ints, P.ints, at.LOAD_INTS), line(P.ints, P.ints, at.LOAD_KIND_AT)
    reals = view(P.reals, P.ints, at.LOAD_REALS)
    add_gravity_and_gyroscopic(view(P.reals, P.ints, at.INERTIA), line(P.reals, P.ints, at.GRAVITY), m.bodies, Q)
    measure_loads(ints, reals, kind_at, m, signals)
    if P.ints[P.ints[3 * at.FLAGS] + 1] == 1:
        Q_user = view(P.work, P.ints, at.Q_USER)
        clear(Q_user)
        code = P.asked(m.t, y.ctypes, signals.ctypes, m.F.ctypes, Q_user.ctypes)
        if code != GO_ON or not (all_finite(Q_user) and all_finite(m.F)):
            copy_line(y, line(P.work, P.ints, at.Y_STOPPED))
            return report(line(P.work, P.ints, at.STATUS), USER_STOPPED, code, m.t)
        for k in range(Q.shape[0]):
            for a in range(6):
                Q[k, a] += Q_user[k, a]
    add_loads(ints, reals, kind_at, m, signals, Q)
    return OK


@kernel
def clear(matrix: Array) -> None:
    """Set a matrix to zero (loops: a slice assignment would make Numba compile its error messages, two seconds)."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = 0.0


@kernel
def copy_line(a: Array, b: Array) -> None:
    """b <- a."""
    for i in range(a.shape[0]):
        b[i] = a[i]


@kernel
def all_finite(matrix: Array) -> bool:
    """Whether no entry is NaN or infinite."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if not isfinite(matrix[i, j]):
                return False
    return True


@inlined
def fill_angle_rates(P: Pack, m: Motion, rates: Array) -> None:
    """Write the rates of the integrated angles (na,)."""
    put_angle_rates(
        view(P.ints, P.ints, at.LOAD_INTS), view(P.reals, P.ints, at.LOAD_REALS), line(P.ints, P.ints, at.LOAD_KIND_AT), m, rates
    )


@kernel
def add_gravity_and_gyroscopic(inertia: Array, gravity: Array, bodies: Array, Q: Array) -> None:
    """Q_k <- (m_k g, -omega_bar_k x J_bar_k omega_bar_k); the ground's row is zero."""
    clear(Q)
    for k in range(1, inertia.shape[0]):
        w1, w2, w3 = bodies[k, 10], bodies[k, 11], bodies[k, 12]
        h1 = inertia[k, 1] * w1 + inertia[k, 2] * w2 + inertia[k, 3] * w3
        h2 = inertia[k, 4] * w1 + inertia[k, 5] * w2 + inertia[k, 6] * w3
        h3 = inertia[k, 7] * w1 + inertia[k, 8] * w2 + inertia[k, 9] * w3
        for a in range(3):
            Q[k, a] = inertia[k, 0] * gravity[a]
        Q[k, 3] = w3 * h2 - w2 * h3
        Q[k, 4] = w1 * h3 - w3 * h1
        Q[k, 5] = w2 * h1 - w1 * h2
