"""The routine of friction in joints, which evaluations call by address: a model without friction never compiles it.

PREPARE     directions, rates and coefficients at a state;  viscous friction, and in implicit steps all friction, into Q
SOLVE       friction and multipliers together, from the solution without friction
STAY        the change of coordinates by b, which does not move the joints that stick
REST        the change of velocities by b, which leaves them no rates
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.compiled.status_codes import OK
from haugmbd.constraints.equations.hinge import put_hinge_rows
from haugmbd.friction import columns as at
from haugmbd.friction.channels import add_friction, put_rest_of_revolute, put_terms, put_terms_of_sweeps
from haugmbd.friction.load import normal_force, thrust, wrench_of
from haugmbd.friction.locked_rows import change_with_locked_rows, solve_with_locked_rows
from haugmbd.friction.locks import change_with_locks
from haugmbd.friction.loop import solve_loop, solve_with_forces
from haugmbd.friction.sticking import hold_joints
from haugmbd.friction.sweeps import solve_by_sweeps
from haugmbd.kkt.solver import finish_solution
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import FRICTION_SIGNATURE, Pack

PREPARE, SOLVE, STAY, REST = 0, 1, 2, 3
"""The stages."""


@inlined
def put_friction_of(P: Pack, k: int) -> None:
    """Write the friction of joint k for the multipliers of an implicit step, and its slope over the speed."""
    ints, reals, terms = ws.friction_ints(P), ws.friction_reals(P), ws.friction_terms(P)
    lam = borrow(P.work, ws.start_of(P, layout.LAMBDA), ws.edges(P).shape[0], 6)
    F, M = wrench_of(ints, terms, k, ws.jacobian(P), ws.rotation_matrices(P), lam, 0)
    N, push = normal_force(ints, reals, terms, k, F, M), abs(thrust(ints, terms, k, F))
    f_t = terms[k, at.C_0] + terms[k, at.C_1] * N + terms[k, at.C_2] * push
    for c in range(ints[k, at.CHANNELS]):
        terms[k, at.FRICTION + c] = -f_t * terms[k, at.DIRECTION + c]
    terms[k, at.NORMAL], terms[k, at.LIMIT] = N, terms[k, at.S_0] + terms[k, at.S_1] * N + terms[k, at.S_2] * push
    terms[k, at.SLOPE] = terms[k, at.SLOPE] * (N + terms[k, at.PRESSED]) + terms[k, at.BY_THRUST] * push


@kernel
def put_rest(P: Pack) -> None:
    """Write the rows of hinges, which a stage of a step leaves out, and the channels of friction, which sweeps do not need."""
    ints, m = ws.friction_ints(P), update_kinematics(P, 0.0, ws.stopped_state(P))  # the state is not read
    put_hinge_rows(ws.hinges(P), m, ws.jacobian(P))
    for k in range(ints.shape[0]):
        if ints[k, at.LOADED] == 1:
            put_rest_of_revolute(m, ws.angular_velocities(P), ints, k, ws.friction_terms(P))


@routine
def friction(stage: int, t: float, P: Pack, y: Array) -> int:
    """Do one stage at the state `y`; y is not read to solve."""
    if stage == SOLVE:
        if ws.solves_by_sweeps(P):
            if solve_by_sweeps(P):
                return OK
            put_rest(P)
        elif solve_with_locked_rows(P):
            return OK
        code = finish_solution(P)
        if code == OK:
            code = solve_loop(P, ws.friction_base(P))
        if code == OK and ws.friction_mode(P) == ws.SOLVES_AGAIN:
            code = solve_with_forces(P)
        return code
    if stage in (STAY, REST):
        if ws.solves_by_sweeps(P):
            if change_with_locks(P, stage == REST):
                return OK
            put_rest(P)
        elif change_with_locked_rows(P, stage == REST):
            return OK
        return hold_joints(P, stage == REST)
    ints, terms, Q = ws.friction_ints(P), ws.friction_terms(P), ws.generalized_forces(P)
    slopes = ws.friction_mode(P) == ws.BY_MULTIPLIERS
    m, reals, modes = update_kinematics(P, t, y), ws.friction_reals(P), ws.friction_modes(P)
    if ws.solves_by_sweeps(P):
        put_terms_of_sweeps(m, ws.angular_velocities(P), ints, reals, modes, terms)
    else:
        put_terms(m, ws.angular_velocities(P), ints, reals, modes, terms, slopes)
    for k in range(ints.shape[0]):
        if ints[k, at.LOADED] == 0:
            add_friction(ints, terms, k, Q)
        elif ws.friction_mode(P) == ws.BY_MULTIPLIERS:
            put_friction_of(P, k)
            add_friction(ints, terms, k, Q)
    return OK


FRICTION = Routine(friction, FRICTION_SIGNATURE)
NO_FRICTION = Routine(None, FRICTION_SIGNATURE)
