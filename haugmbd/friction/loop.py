r"""Friction and multipliers solved together, with the factor at hand.

    [ M  Phi_q^T; Phi_q  0 ] (u', lam) = (Q + B^T f(lam), gamma)

    1   x = x_0 + sum f_c x_c            x_0: without friction;  x_c = K^-1 (B_c^T, 0)             `responses`
    2   a joint that sticks              B u' + bias = 0 gives its f: a row that is switched on    `sticking`
    3   joints that slide                f_t = C(w_0 + sum phi_s w_s)                              `sliding`, `sliding`
    4   at a state without modes         joints at rest are released where they must be            `release`
        with several rates               in the direction of their acceleration                    `first_motion`

Where all joints slide and the loop contracts, the solution is unique, and an iteration finds it without columns: `contraction`.
Source: Haug (2021), friction.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.status_codes import FRICTION_UNDECIDED, OK, report
from haugmbd.friction import columns as at
from haugmbd.friction.channels import add_friction
from haugmbd.friction.contraction import iterate_solutions, may_contract
from haugmbd.friction.first_motion import ROUNDING, TURNED, TURNS, begin_all, stick_again, turn_to_first_motion
from haugmbd.friction.load import normal_force
from haugmbd.friction.loop_arrays import Loop, keep_solution, loop_of, restore_solution, slides_now
from haugmbd.friction.release import release, release_with_others, slide_released, slide_unstopped
from haugmbd.friction.responses import (
    put_base_wrenches,
    put_columns,
    put_sliding_columns,
    put_sliding_columns_alone,
    solve_again,
)
from haugmbd.friction.shared_loads import begin_sharing, share_solution, shares
from haugmbd.friction.sliding import largest, put_wrenches_at, solve_sliding, wrench_of_joint
from haugmbd.friction.sticking import condense_sticking
from haugmbd.kkt.block_solver import elimination_order
from haugmbd.kkt.many_right_sides import LANES
from haugmbd.kkt.solver import put_loads
from haugmbd.kkt.tree_arrays import tree_steps
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack


@kernel
def put_friction(L: Loop) -> None:
    """Write friction, normal force, limit and margin of every joint."""
    put_wrenches_at(L, L.f_t[0])
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        F, M = wrench_of_joint(L, k)
        terms, needed = L.terms, 0.0
        for c in range(L.ints[k, at.CHANNELS]):
            channel = L.ints[k, at.FIRST] + c
            if slides_now(L, k):
                f = -L.f_t[0, k] * terms[k, at.DIRECTION + c]
            else:
                f = L.R[0, channel]
                for s in range(L.ints.shape[0]):
                    if slides_now(L, s):
                        f += L.f_t[0, s] * L.R[1 + s, channel]
            terms[k, at.FRICTION + c] = f
            needed += (f / terms[k, at.ARM + c]) ** 2
        terms[k, at.NORMAL] = normal_force(L.ints, L.reals, terms, k, F, M)
        terms[k, at.LIMIT] = largest(L, k, F, M, True, True)
        terms[k, at.MARGIN] = terms[k, at.LIMIT] - sqrt(needed)


@kernel
def put_solution(P: Pack, L: Loop, base: Array) -> None:
    """Write x = x_0 + sum f_c x_c to the solution array."""
    restore_solution(P, base)
    x = ws.solution(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 0:
            continue
        first = L.ints[k, at.FIRST]
        for c in range(1 if slides_now(L, k) else L.ints[k, at.CHANNELS]):
            f = L.f_t[0, k] if slides_now(L, k) else L.terms[k, at.FRICTION + c]
            for node in range(x.shape[0]):
                for a in range(6):
                    x[node, a] += f * L.X[first + c, 6 * node + a]


@kernel
def solve_with_forces(P: Pack) -> int:
    """Solve K x = (Q + B^T f, gamma) once more with the friction found: for solvers that keep data of their last solution."""
    put_loads(P)
    b, L = ws.right_hand_side(P), loop_of(P)
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1:
            add_friction(L.ints, L.terms, k, b)
    code = solve_again(P)
    if shares(L):
        share_solution(P, L)
    return code


@kernel
def only_slides(P: Pack, L: Loop) -> bool:
    """Return whether no joint sticks or begins to slide, and the factor is that of the blocks or of the recursion over a forest."""
    if ws.friction_mode(P) != ws.WITH_SOLUTION or elimination_order(P).shape[0] == 0 or ws.refines_solutions(P) or shares(L):
        return False
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and (L.terms[k, at.STATE] == at.STICKS or L.modes[k, at.MODE] == at.BEGINS):
            return False
    return True


@kernel
def solve_for_sliding(P: Pack, L: Loop, base: Array) -> int:
    """Solve friction of joints that slide and multipliers together: many joints by an iteration, others by the columns of all."""
    n, x, by_tree = L.ints.shape[0], ws.solution(P), tree_steps(P).shape[0] > 0
    # many joints: where the loop contracts, f <- C(w(x)) needs one solution a step, and the columns n of them
    if n > LANES and not by_tree:
        may, proved = may_contract(P, L)
        if may and iterate_solutions(P, L, proved):
            return OK
        restore_solution(P, base)
    # w_0: wrenches without friction;  V: wrenches by unit friction of each joint, K^-1 (-D^T B, 0)
    put_base_wrenches(P, L)
    if by_tree:
        put_sliding_columns_alone(P, L)
    else:
        put_sliding_columns(P, L)
    code = solve_sliding(P, L)
    if code != OK:
        return code
    put_friction(L)
    if n > LANES or by_tree:
        return solve_with_forces(P)
    # few joints: the columns are still there, x = x_0 + sum f_t x_s
    X = ws.friction_lanes(P)
    for node in range(x.shape[0]):
        for a in range(6):
            total = base[0, 6 * node + a]
            for k in range(n):
                total += L.f_t[0, k] * X[node, a, k]
            x[node, a] = total
    return OK


@kernel
def joint_that_lacks_most(L: Loop) -> int:
    """Return the joint that needs most friction beyond its limit."""
    which = 0
    for k in range(L.ints.shape[0]):
        if L.ints[k, at.LOADED] == 1 and not L.terms[k, at.MARGIN] >= L.terms[which, at.MARGIN]:
            which = k
    return which


@kernel
def solve_loop(P: Pack, base: Any) -> int:
    """Solve friction and multipliers together, from the solution without friction; base: (1, 6 nn), which it is copied to."""
    L = loop_of(P)
    # x_0 = K^-1 (Q, gamma) is the solution at hand;  lam_0 + S y of compliant bearings
    if shares(L):
        code = begin_sharing(P, L, base)
        if code != OK:
            return code
    keep_solution(P, base)
    # all slide: f_t = C(w_0 + sum f_s w_s), without rows that are switched on
    if only_slides(P, L):
        return solve_for_sliding(P, L, base)
    # x_c = K^-1 (B_c^T, 0): a column for each rate that sticks, and for each joint that slides
    code = put_columns(P, L)
    if code != OK:
        return code
    begin_all(L)
    before = 1e300
    for _ in range(3 * L.ints.shape[0] + 3 + TURNS):
        # eliminate the friction of joints that stick: S f = -(rates of x_0 and of the columns of sliding)
        condense_sticking(L)
        # f_t of the joints that slide, by the wrenches that are left
        code = solve_sliding(P, L)
        if code != OK:
            if release_with_others(L):
                continue
            return code
        put_friction(L)
        # |needed| > limit: the joint is released, and the mechanism solved for again
        if release(L) or slide_unstopped(L, base) or slide_released(L):
            continue
        code, held = stick_again(P, L)
        if code != OK:
            return code
        if held:
            continue
        # several rates: the direction e of the friction against the acceleration, until it stays
        code, turn = turn_to_first_motion(P, L)
        if code != OK:
            return code
        if turn <= TURNED or (turn <= ROUNDING and turn >= 0.5 * before):
            # x = x_0 + sum f_c x_c
            put_solution(P, L, base)
            return OK
        before = turn
    which = joint_that_lacks_most(L)
    return report(ws.status(P), FRICTION_UNDECIDED, which, -L.terms[which, at.MARGIN])
