r"""The generalized forces of a model at one instant.

Q_k = ( m_k g + F_k,   n_bar_k - omega_bar_k x J_bar_k omega_bar_k )
"""

from __future__ import annotations

from math import isfinite

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.ffi import Callback, call_callback
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import NO_FORCE, OK, USER_STOPPED, report
from haugmbd.constraints.base import Motion
from haugmbd.constraints.equations.coupling import put_angle_rates as put_coupling_angle_rates
from haugmbd.constraints.registry import COORDINATE_FUNCTIONS, COUPLINGS, ROPES
from haugmbd.forces.mass_in_time import CENTRE, INERTIA, MASS, MOMENTS, SHIFT, TRUE
from haugmbd.forces.registry import BUSHINGS, MASSES, add_contacts, add_loads, measure_loads, put_angle_rates, put_contact_rates
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.internal_states import put_state_rates
from haugmbd.workspace.layout import APPLY_SIGNATURE, Pack

FORCES, ANGLE_RATES = 0, 1
"""Stages of `apply`."""


@inlined
def add_loads_to_forces(P: Pack, m: Motion, y: Array) -> int:
    """Leave the generalized forces of the motion `m` (state `y`) in Q, and the values of the user's functions in F."""
    add_gravity_and_gyroscopic(ws.inertia(P), ws.gravity(P), m.bodies, ws.generalized_forces(P))
    if ws.n_forces(P) > ws.n_frictions(P) or ws.calls_user(P):  # friction in joints has a routine of its own
        return P.apply(FORCES, m.t, P, P.callback, y, y)
    return OK


@inlined
def put_angle_rates_of_loads(P: Pack, t: float, y: Array, rates: Array) -> None:
    """Write the rates of the integrated angles, and of the internal states as they were evaluated last, (na,)."""
    if ws.n_states(P) == rates.size and ws.n_forces(P) == ws.n_frictions(P):  # states of friction only
        put_state_rates(P, ws.driver_values(P), rates)
        return
    P.apply(ANGLE_RATES, t, P, P.callback, y, rates)


@routine
def apply(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Add the forces of all elements to Q; or write the rates of the integrated angles and of the internal states.

    It is a routine of its own: compiled once for all formulations, and never for a model without elements.
    """
    return apply_loads(stage, t, P, callback, y, rates)


@routine
def apply_with_contacts(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Do what `apply` does, for a model with contact forces."""
    code: int = apply_loads(stage, t, P, callback, y, rates)
    return apply_contacts(stage, code, t, P, y, rates)


@inlined
def apply_contacts(stage: int, code: int, t: float, P: Pack, y: Array, rates: Array) -> int:
    """Add contact forces, or write the rates of their touch speeds;  code: how the other elements ended, which is returned."""
    m = update_kinematics(P, t, y)
    table, kind_at, numbers = ws.force_ints(P), ws.force_kind_starts(P), ws.force_reals(P)
    if stage == ANGLE_RATES:
        put_contact_rates(table, numbers, kind_at, m, rates)
    elif code == OK:
        add_contacts(table, numbers, kind_at, m, ws.generalized_forces(P))
    return code


@routine
def apply_with_masses(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Do what `apply_with_contacts` does, for a model with masses in time.

    functions and blocks  ->  F  ->  m(t), J(t) in the tables of this run  ->  gravity and gyroscopic torques again  ->  all forces
    """
    code: int = OK
    if stage == ANGLE_RATES:
        code = apply_loads(stage, t, P, callback, y, rates)
        return apply_contacts(stage, code, t, P, y, rates)
    if ws.calls_user(P):
        code = call_functions(t, P, callback, y)
    if code == OK:
        m = update_kinematics(P, t, y)
        table, kind_at, numbers = ws.force_ints(P), ws.force_kind_starts(P), ws.force_reals(P)
        first, last = kind_at[MASSES], kind_at[MASSES + 1]
        if put_inertia(table, numbers, first, last, m, ws.inertia(P), ws.shifted_inertia(P)) > 0:
            copy_line(y, ws.stopped_state(P))
            return report(ws.status(P), NO_FORCE, 0, t)
        add_gravity_and_gyroscopic(ws.inertia(P), ws.gravity(P), m.bodies, ws.generalized_forces(P))
        code = add_called_loads(t, P, y)
    return apply_contacts(stage, code, t, P, y, rates)


@inlined
def apply_loads(stage: int, t: float, P: Pack, callback: Callback, y: Array, rates: Array) -> int:
    """Do what `apply` does, for all elements but contact forces."""
    m = update_kinematics(P, t, y)
    table, kind_at, numbers = ws.force_ints(P), ws.force_kind_starts(P), ws.force_reals(P)
    if stage == ANGLE_RATES:
        put_angle_rates(table, numbers, kind_at, m, rates)
        starts = ws.row_kind_starts(P)
        put_coupling_angle_rates(ws.row_ints(P), starts[COUPLINGS], starts[COUPLINGS + 1], m, rates)
        put_coupling_angle_rates(ws.row_ints(P), starts[COORDINATE_FUNCTIONS], starts[COORDINATE_FUNCTIONS + 1], m, rates)
        put_coupling_angle_rates(ws.row_ints(P), starts[ROPES], starts[ROPES + 1], m, rates)
        put_state_rates(P, m.F, rates)
        return OK
    if ws.calls_user(P):
        code: int = call_functions(t, P, callback, y)
        if code != OK:
            return code
    return add_called_loads(t, P, y)


@inlined
def call_functions(t: float, P: Pack, callback: Callback, y: Array) -> int:
    """Call the functions of the user, which leave their values in F and their forces apart."""
    m = update_kinematics(P, t, y)
    signals, Q_user = ws.signals(P), ws.user_forces(P)
    measure_loads(ws.force_ints(P), ws.force_reals(P), ws.force_kind_starts(P), m, signals)
    clear(Q_user)
    succeeded = call_callback(callback, t, y, signals, m.F, Q_user, ws.succeeded(P))
    if not (succeeded and all_finite(Q_user) and all_finite(m.F)):
        copy_line(y, ws.stopped_state(P))
        return report(ws.status(P), USER_STOPPED, 0, t)
    return OK


@inlined
def add_called_loads(t: float, P: Pack, y: Array) -> int:
    """Add the forces of the functions that were called, and of all elements but contact forces."""
    m = update_kinematics(P, t, y)
    table, kind_at, numbers = ws.force_ints(P), ws.force_kind_starts(P), ws.force_reals(P)
    Q = ws.generalized_forces(P)
    if ws.calls_user(P):
        add_matrix(ws.user_forces(P), Q)
    add_loads(table, numbers, kind_at, m, Q)
    if kind_at[BUSHINGS + 1] > kind_at[BUSHINGS] and not all_finite(Q):
        copy_line(y, ws.stopped_state(P))
        return report(ws.status(P), NO_FORCE, 0, t)
    return OK


@kernel
def put_inertia(ints: Ints, floats: Array, first: int, last: int, m: Motion, inertia: Array, shifted: Array) -> int:
    """Write mass and J_bar of this instant; return the number of the first body that cannot have them, 0 for none."""
    for k in range(first, last):
        b = m.body_of[ints[k, CENTRE]]
        for column in range(INERTIA):
            inertia[b, column] = floats[k, TRUE + column]
        inertia[b, 0] = m.F[ints[k, MASS], 0]
        least = inertia[b, 0]
        if ints[k, MOMENTS] >= 0:
            for a in range(3):
                inertia[b, 1 + 4 * a] = m.F[ints[k, MOMENTS + a], 0]
                if not inertia[b, 1 + 4 * a] >= 0.0:
                    least = -1.0
        for column in range(INERTIA):
            shifted[b, column] = inertia[b, column] + floats[k, SHIFT + column]
        if not least > 0.0:
            return int(b)
    return 0


APPLY = Routine(apply, APPLY_SIGNATURE)
APPLY_WITH_CONTACTS = Routine(apply_with_contacts, APPLY_SIGNATURE)
APPLY_WITH_MASSES = Routine(apply_with_masses, APPLY_SIGNATURE)
NO_APPLY = Routine(None, APPLY_SIGNATURE)


@kernel
def add_matrix(a: Array, b: Array) -> None:
    """Add a to b."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] += a[i, j]


@kernel
def clear(matrix: Array) -> None:
    """Set a matrix to zero, by loops: a slice assignment would make Numba compile its error messages."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = 0.0


@kernel
def copy_line(a: Array, b: Array) -> None:
    """Copy a to b."""
    for i in range(a.shape[0]):
        b[i] = a[i]


@kernel
def all_finite(matrix: Array) -> bool:
    """Return whether no entry is NaN or infinite."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if not isfinite(matrix[i, j]):
                return False
    return True


@inlined
def add_gravity_and_gyroscopic(inertia: Array, gravity: Array, bodies: Array, Q: Array) -> None:
    """Write Q_k = (m_k g, -omega_bar_k x J_bar_k omega_bar_k); the ground's row is zero."""
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
