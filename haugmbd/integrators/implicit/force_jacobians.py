r"""The tangents of all forces of a model in an implicit step: c_u C + c_q K, by formula, by declared jacobians, or by differences.

There are several routines, so that a model compiles no more than it needs: none without forces, formulas alone for springs and dampers.

User forces enter with their symmetric part S, because the block LDL^T needs a symmetric matrix.  The skew part W is left out; for a linear
force each iteration then leaves the part  rate = spectral radius of S^-1 W  of the error.  For a free body of mass m:

    skew s k beside k               s c_q k / (m + c_q k)
    gyroscopic g c beside c         g c_u c / (m + c_u c)
    gyroscopic B alone              c_u B / m
    k from one coordinate on another, one way only      x / sqrt(m^2 - x^2),  x = c_q k / 2

c_q grows like h^2 and c_u like h, so that smaller steps have smaller rates.  From a rate of about a half on most steps are divided.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.ffi import call_callback
from haugmbd.compiled.function_pointers import F1, Routine, types
from haugmbd.compiled.jit import entry, inlined, routine
from haugmbd.compiled.status_codes import OK, USER_STOPPED, report
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.registry import add_contact_tangents, add_declared_tangents, add_tangents, table_of
from haugmbd.forces.tangent import Tangents
from haugmbd.friction.channels import add_friction_tangents
from haugmbd.integrators.implicit.finite_differences import difference_forces
from haugmbd.integrators.implicit.records import NEWTON_TYPE, Newton
from haugmbd.model.generalized_forces import all_finite, clear, copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import PACK_TYPE, Pack

FRICTION_TABLE = table_of(JointFriction)


@inlined
def tangents(P: Pack, newton: Newton) -> Tangents:
    """Return the blocks that stiffness and damping are added to, with the factors c_q and c_u."""
    return Tangents(
        ws.tangents(P),
        ws.coupled_tangents(P),
        newton.c_q,
        newton.c_u,
        ws.user_jacobian_line(P),
        ws.force_couplings(P),
        ws.coupled_pairs(P),
        ws.jacobian_pairs(P),
    )


@inlined
def put_springs(P: Pack, newton: Newton, t: float, y: Array) -> None:
    """Add c_u C + c_q K of springs, dampers and actuators."""
    T = tangents(P, newton)
    clear(T.own)
    clear(T.pair_blocks)
    add_tangents(ws.force_ints(P), ws.force_reals(P), ws.force_kind_starts(P), update_kinematics(P, t, y), T)


@inlined
def put_declared(P: Pack, newton: Newton, t: float, y: Array) -> None:
    """Add the tangents of forces and torques with jacobians."""
    add_declared_tangents(
        ws.force_ints(P), ws.force_reals(P), ws.force_kind_starts(P), update_kinematics(P, t, y), tangents(P, newton)
    )


@inlined
def call_jacobians(P: Pack, t: float, y: Array) -> int:
    """Write the values of the user's jacobians to USER_JACOBIANS; the signals are those of the forces at the same state."""
    D = ws.user_jacobians(P)
    signals, succeeded = ws.signals(P), ws.succeeded(P)
    if call_callback(P.derive, t, y, signals, D, D, succeeded) and all_finite(D):
        return OK
    copy_line(y, ws.stopped_state(P))
    return report(ws.status(P), USER_STOPPED, 1, t)


@routine
def put_formulas(P: Pack, newton: Newton, t: float, y: Array) -> int:
    """Write the tangents of a model with springs, dampers, and forces that depend on time alone."""
    put_springs(P, newton, t, y)
    return OK


@routine
def put_differenced(P: Pack, newton: Newton, t: float, y: Array) -> int:
    """Write the tangents of a model whose user forces are differenced, or with the curvature of the constraints."""
    put_springs(P, newton, t, y)
    return difference_forces(P, newton.c_q, newton.c_u, newton.curved == 1.0, t, y)


@entry
def put_tangents(P: Pack, newton: Newton, t: float, y: Array) -> int:
    """Write all tangents: for a model with declared jacobians."""
    code: int = call_jacobians(P, t, y)
    if code != OK:
        return code
    put_springs(P, newton, t, y)
    put_declared(P, newton, t, y)
    if ws.difference_colors(P)[0, 0] > 0:
        code = difference_forces(P, newton.c_q, newton.c_u, newton.curved == 1.0, t, y)
    return code


@entry
def put_with_contacts(P: Pack, newton: Newton, t: float, y: Array) -> int:
    """Write all tangents: for a model with contact forces."""
    code: int = OK
    if ws.user_jacobian_line(P).size > 0:
        code = call_jacobians(P, t, y)
        if code != OK:
            return code
    put_springs(P, newton, t, y)
    m = update_kinematics(P, t, y)
    add_contact_tangents(ws.force_ints(P), ws.force_reals(P), ws.force_kind_starts(P), m, tangents(P, newton))
    if ws.user_jacobian_line(P).size > 0:
        put_declared(P, newton, t, y)
    if ws.difference_colors(P)[0, 0] > 0:
        code = difference_forces(P, newton.c_q, newton.c_u, newton.curved == 1.0, t, y)
    return code


@routine
def put_tangents_with_friction(P: Pack, newton: Newton, t: float, y: Array) -> int:
    """Write all tangents of a model with friction in joints."""
    code: int = OK
    declared = ws.user_jacobian_line(P).size > 0
    if declared:
        code = call_jacobians(P, t, y)
    if code != OK:
        return code
    put_springs(P, newton, t, y)
    row = ws.force_kind_starts(P)[FRICTION_TABLE]
    add_friction_tangents(ws.friction_ints(P), ws.friction_reals(P), ws.friction_terms(P), row, tangents(P, newton))
    add_contact_tangents(
        ws.force_ints(P), ws.force_reals(P), ws.force_kind_starts(P), update_kinematics(P, t, y), tangents(P, newton)
    )
    if declared:
        put_declared(P, newton, t, y)
    if ws.difference_colors(P)[0, 0] > 0:
        code = difference_forces(P, newton.c_q, newton.c_u, newton.curved == 1.0, t, y)
    return code


TANGENTS_SIGNATURE = types.int64(PACK_TYPE, NEWTON_TYPE, types.float64, F1)
FORMULAS = Routine(put_formulas, TANGENTS_SIGNATURE)
DIFFERENCED = Routine(put_differenced, TANGENTS_SIGNATURE)
TANGENTS = Routine(put_tangents, TANGENTS_SIGNATURE)
WITH_CONTACTS = Routine(put_with_contacts, TANGENTS_SIGNATURE)
WITH_FRICTION = Routine(put_tangents_with_friction, TANGENTS_SIGNATURE)
NO_TANGENTS = Routine(None, TANGENTS_SIGNATURE)
