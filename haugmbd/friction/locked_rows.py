r"""Joints of one rate that stick, in the blocks of a tree: a row in the place of the padding of their edge, which locks them.

    [ M  Phi_q^T  B^T ] [ u'  ]   [ Q     ]
    [ Phi_q           ] [ lam ] = [ gamma ]        B u' + bias = 0 of the joints that stick:  their friction is f = -mu
    [ B               ] [ mu  ]   [ -bias ]

A joint of five rows has an edge of six, so that the factor has the same blocks, and costs what it costs without friction: O(n). Joints that
slide are solved for beside it, by columns of the locked mechanism. Where a joint that no mode says to stick would need more than its limit,
or a joint has several rates, or the mechanism has loops, in which locked rows may depend on each other, the dense system of `sticking`
decides.
The row stands in J, in PAD and in the values of the rows, all of this pack alone, until `unlock_rows` takes it out again.
Source: Haug (2021), friction and stiction; Featherstone (2008), sec. 9.3 (a joint that is locked).
"""

from __future__ import annotations

from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.channels import add_friction
from haugmbd.friction.load import normal_force, thrust, wrench_of
from haugmbd.friction.loop_arrays import Loop, keep_solution, loop_of, restore_solution, slides_now
from haugmbd.friction.release import OVER
from haugmbd.friction.responses import put_base_wrenches, put_sliding_columns_alone
from haugmbd.friction.sliding import put_wrenches_at, solve_sliding, wrench_of_joint
from haugmbd.kkt.block_solver import elimination_order
from haugmbd.kkt.solver import finish_solution, put_loads
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

FIVE, ROWS = 5, 6
"""Rows of a joint of one rate, and of its edge."""
FEW = 4
"""Joints that stick whose dense system costs no more than two factorizations; it leaves a body that is held exactly at rest."""
PADDED, IN_USE = -1.0, 0.0
"""In PAD: a slot without a row, and with one."""
BIAS, RATE, NOTHING = 0, 1, 2
"""What the coordinate of a joint that sticks is not to have: an acceleration, a rate, a displacement."""


@kernel
def locks(P: Pack, L: Loop, by_modes: bool) -> bool:
    """Return whether more than a few joints stick, and all that press by their reactions have a row to be locked by.

    by_modes: whether only those stick whose modes say so, and friction is not solved for
    """
    if ws.friction_mode(P) != ws.WITH_SOLUTION or elimination_order(P).shape[0] == 0:
        return False
    sticking = 0
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        if L.ints[k, at.CHANNELS] != 1 or L.ints[k, at.N_SLOTS] != FIVE or L.ints[k, at.CHILD] < 0:
            return False
        if L.terms[k, at.STATE] == at.AT_LIMIT and not by_modes:
            return False
        sticking += 1 if is_locked(L, k, by_modes) else 0
    return sticking > FEW


@kernel
def is_locked(L: Loop, k: int, by_modes: bool) -> bool:
    """Return whether joint k is locked."""
    state = L.modes[k, at.MODE] if by_modes else L.terms[k, at.STATE]
    locked: bool = L.ints[k, at.LOADED] == 1 and state == at.STICKS
    return locked


@kernel
def free_slot(L: Loop, k: int) -> int:
    """Return the slot of the edge of joint k that is none of its five rows."""
    first = ROWS * (L.ints[k, at.SLOTS] // ROWS)
    slot: int = ROWS * first + (ROWS * (ROWS - 1)) // 2
    for c in range(FIVE):
        slot -= L.ints[k, at.SLOTS + c]
    return slot


@kernel
def lock_rows(P: Pack, L: Loop, by_modes: bool, what: int) -> None:
    """Write the rows of the joints that stick, with the values that they are to have;  what: BIAS, RATE or NOTHING."""
    J, level, b, pad, edges = ws.jacobian(P), ws.row_values(P), ws.right_hand_side(P), ws.padding_line(P), ws.edges(P)
    n = ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        if not is_locked(L, k, by_modes):
            continue
        slot = free_slot(L, k)
        e, i, j = slot // ROWS, L.ints[k, at.BODY_I], L.ints[k, at.BODY_J]
        for side in range(edges.shape[1]):
            body = edges[e, side]
            for a in range(6):
                of_i, of_j = L.terms[k, at.B + a], L.terms[k, at.B + 6 + a]
                J[slot, side, a] = of_j if body == j and body > 0 else of_i if body == i and body > 0 else 0.0
        value = -L.terms[k, at.BIAS] if what == BIAS else -L.terms[k, at.RATE] if what == RATE else 0.0
        pad[slot], level[slot, 2], b[n + e, slot - ROWS * e] = IN_USE, value, value


@kernel
def unlock_rows(P: Pack, L: Loop, by_modes: bool) -> None:
    """Take the rows of the joints that stick out again."""
    J, level, b, pad = ws.jacobian(P), ws.row_values(P), ws.right_hand_side(P), ws.padding_line(P)
    n = ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        if is_locked(L, k, by_modes):
            slot = free_slot(L, k)
            e = slot // ROWS
            for side in range(J.shape[1]):
                for a in range(6):
                    J[slot, side, a] = 0.0
            pad[slot], level[slot, 2], b[n + e, slot - ROWS * e] = PADDED, 0.0, 0.0


@kernel
def put_forces(P: Pack, L: Loop, slide: bool) -> None:
    """Write b = (Q + B^T f, gamma), with the friction of the joints that slide if `slide`."""
    put_loads(P)
    b = ws.right_hand_side(P)
    for k in range(L.ints.shape[0]):
        if slide and slides_now(L, k):
            add_friction(L.ints, L.terms, k, b)


@kernel
def slide_beside(P: Pack, L: Loop) -> int:
    """Solve for the friction of joints that slide, by columns of the locked mechanism, and once more with it."""
    # w_0: wrenches without friction;  V: by unit friction of each joint that slides
    put_base_wrenches(P, L)
    put_sliding_columns_alone(P, L)
    code = solve_sliding(P, L)
    if code != OK:
        return code
    put_wrenches_at(L, L.f_t[0])
    for k in range(L.ints.shape[0]):
        if slides_now(L, k):
            F, M = wrench_of_joint(L, k)
            put_limit(L, k, normal_force(L.ints, L.reals, L.terms, k, F, M), abs(thrust(L.ints, L.terms, k, F)))
            L.terms[k, at.FRICTION] = -L.f_t[0, k] * L.terms[k, at.DIRECTION]
            L.terms[k, at.MARGIN] = L.terms[k, at.LIMIT] - abs(L.terms[k, at.FRICTION] / L.terms[k, at.ARM])
    put_forces(P, L, True)
    P.begin(P, P.python_solver)
    return finish_solution(P)


@kernel
def put_limit(L: Loop, k: int, N: float, push: float) -> None:
    """Write normal force and limit at rest of joint k."""
    terms = L.terms
    terms[k, at.NORMAL], terms[k, at.LIMIT] = N, terms[k, at.S_0] + terms[k, at.S_1] * N + terms[k, at.S_2] * push


@kernel
def put_holding_friction(P: Pack, L: Loop) -> bool:
    """Write friction and margin of the joints that stick, by the solution; return whether all hold that no mode says to stick."""
    x, J, A, n, holds = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P), True
    for k in range(L.ints.shape[0]):
        if not is_locked(L, k, False):
            continue
        F, M = wrench_of(L.ints, L.terms, k, J, A, x, n)
        put_limit(L, k, normal_force(L.ints, L.reals, L.terms, k, F, M), abs(thrust(L.ints, L.terms, k, F)))
        slot = free_slot(L, k)
        e = slot // ROWS
        f, x[n + e, slot - ROWS * e] = -x[n + e, slot - ROWS * e], 0.0
        needed = abs(f / L.terms[k, at.ARM])
        L.terms[k, at.FRICTION], L.terms[k, at.MARGIN] = f, L.terms[k, at.LIMIT] - needed
        holds = holds and (L.modes[k, at.MODE] != at.FREE or needed - L.terms[k, at.LIMIT] <= OVER * needed)
    return holds


@kernel
def solve_with_locked_rows(P: Pack) -> bool:
    """Solve friction and multipliers together with the joints that stick locked, for b = (Q, gamma); return whether it is done.

    The factor is that without locks again; where it is not done, b is (Q, gamma), and half eliminated.
    """
    L = loop_of(P)
    if not locks(P, L, False):
        return False
    slides = False
    for k in range(L.ints.shape[0]):
        slides = slides or slides_now(L, k)
    lock_rows(P, L, False, BIAS)
    code = P.factorize(P, P.python_solver)
    if code == OK:
        code = finish_solution(P)
    if code == OK and slides:
        code = slide_beside(P, L)
    done = code == OK and put_holding_friction(P, L)
    if done:
        keep_solution(P, ws.friction_base(P))
    unlock_rows(P, L, False)
    put_forces(P, L, False)
    P.factorize(P, P.python_solver)
    if done:
        restore_solution(P, ws.friction_base(P))
    return done


@kernel
def change_with_locked_rows(P: Pack, rates: bool) -> bool:
    """Write the change of coordinates or velocities by b to the solution, with the joints that stick locked; return whether it is done.

    rates: whether it also takes away their rates
    """
    L = loop_of(P)
    if not locks(P, L, True):
        return False
    lock_rows(P, L, True, RATE if rates else NOTHING)
    code = P.factorize(P, P.python_solver)
    if code == OK:
        code = finish_solution(P)
    if code == OK:
        x, n = ws.solution(P), ws.n_bodies(P)
        for k in range(L.ints.shape[0]):
            if is_locked(L, k, True):
                slot = free_slot(L, k)
                x[n + slot // ROWS, slot % ROWS] = 0.0
        keep_solution(P, ws.friction_base(P))
    unlock_rows(P, L, True)
    P.factorize(P, P.python_solver)
    if code == OK:
        restore_solution(P, ws.friction_base(P))
    return code == OK
