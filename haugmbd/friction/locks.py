r"""Joints that stick, in the recursion over a forest of revolute joints: a joint that is locked passes on all that its body carries.

    alpha_j - alpha_i = beta + h z,   h . (alpha_j - alpha_i) + bias = 0          gives z, which the jump takes in
    I' = I^A,   p' = p - I^A (g, beta + h z)                                      in place of the elimination of z
    friction    the moment of the joint's wrench along its axis                   where it is at most the limit at rest, the joint holds

The factor is that of the locked mechanism until `unlock` makes that of the rows again.
Source: Featherstone (2008), ch. 7 (articulated-body algorithm); Haug (2021), friction and stiction.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.friction import columns as at
from haugmbd.friction.columns import BODY, FRICTION_OF, SIDE
from haugmbd.friction.loop_arrays import keep_solution, restore_solution
from haugmbd.friction.release import OVER
from haugmbd.kkt.revolute_joint import eliminate_revolute, pass_force, pass_rigidly
from haugmbd.kkt.tree_arrays import (
    AXIS,
    D_INV,
    FORCE,
    JUMP_ANGULAR,
    KIND,
    REVOLUTE,
    TreeArrays,
    center,
    load_wrench,
    put_own_inertia,
    tree_arrays,
)
from haugmbd.kkt.tree_arrays import BODY as TREE_BODY
from haugmbd.kkt.tree_recursion import put_right_hand_side
from haugmbd.math.vec3 import add, cross, dot, load, scale, store, sub
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack

LOCKED = 0.0
"""In place of 1 / D."""
BIAS, RATE, NOTHING = 0, 1, 2
"""What the coordinate of a joint that sticks is not to have: an acceleration, a rate, a displacement."""


@inlined
def sticks(terms: Array, f: int) -> bool:
    """Return whether friction f holds its joint; f = -1 for no friction."""
    return f >= 0 and terms[f, at.STATE] == at.STICKS


@kernel
def lock_joints(P: Pack, rates: int) -> bool:
    """Factor with the joints that stick locked, and pass the forces of b inward; return False where other joints are in the forest.

    rates: what the rates of these joints change by without motion of their own: BIAS, RATE or NOTHING
    """
    t, paths, terms, x = tree_arrays(P), ws.friction_paths(P), ws.friction_terms(P), ws.solution(P)  # type: ignore[arg-type]
    for n in range(t.steps.shape[0]):
        if t.steps[n, KIND] != REVOLUTE:
            return False
    # I^A = I and p = -Q of each body, to begin with
    for n in range(t.steps.shape[0]):
        put_own_inertia(t, t.steps[n])
    put_right_hand_side(t, x, True)
    # h . (alpha_j - alpha_i) + bias = 0 gives z of the joints that stick, and beta takes h z in
    for n in range(paths.shape[0]):
        f = paths[n, FRICTION_OF]
        if sticks(terms, f):
            bias = bias_of(P, f) if rates == BIAS else terms[f, at.RATE] if rates == RATE else 0.0
            lock(t, paths[n, BODY], paths[n, SIDE], bias, load(terms, f, at.AXIS))
    # inward: a locked body passes on all of I^A, others I^A - U U^T / D; then their forces
    for n in range(t.steps.shape[0] - 1, -1, -1):
        if t.joint[t.steps[n, TREE_BODY], D_INV] == LOCKED:
            pass_rigidly(t, t.steps[n])
        else:
            eliminate_revolute(t, t.steps[n])
        pass_force(t, t.steps[n])
    return True


@inlined
def bias_of(P: Pack, f: int) -> float:
    """Return the rate of a . (omega_j - omega_i) at u' = 0, with the axis a of friction f."""
    ints, omega = ws.friction_ints(P), ws.angular_velocities(P)
    omega_i = load(omega, ints[f, at.BODY_I], 0)
    return dot(cross(omega_i, load(ws.friction_terms(P), f, at.AXIS)), sub(load(omega, ints[f, at.BODY_J], 0), omega_i))


@inlined
def lock(t: TreeArrays, k: int, side: int, bias: float, a: tuple[float, float, float]) -> None:
    """Lock the joint that carries body k; side: 1 if this is body j, otherwise -1;  a: its axis."""
    h, beta = load(t.joint, k, AXIS), load(t.joint, k, JUMP_ANGULAR)
    z = -(side * bias + dot(a, beta)) / dot(a, h)
    store(t.joint, k, JUMP_ANGULAR, add(beta, scale(z, h)))
    t.joint[k, D_INV] = LOCKED


@kernel
def put_holding_friction(P: Pack) -> bool:
    """Write friction and margin of the joints that stick, by the solution at hand; return whether all hold that no mode says to stick."""
    t, paths, terms, holds = tree_arrays(P), ws.friction_paths(P), ws.friction_terms(P), True  # type: ignore[arg-type]
    modes = ws.friction_modes(P)
    for n in range(paths.shape[0]):
        k, f = paths[n, BODY], paths[n, FRICTION_OF]
        if sticks(terms, f):
            W = load_wrench(t, k, FORCE)  # on the parent, about the centre of mass
            M = -dot(load(terms, f, at.AXIS), add(W.moment, cross(center(t, k), W.force)))
            limit, needed = terms[f, at.LIMIT], abs(M / terms[f, at.ARM])
            terms[f, at.FRICTION], terms[f, at.MARGIN] = paths[n, SIDE] * M, limit - needed
            holds = holds and (modes[f, at.MODE] != at.FREE or needed - limit <= OVER * needed)
    return holds


@kernel
def unlock(P: Pack, kept: Array, solved: bool) -> None:
    """Factor without locks; a solution stays;  kept: (1, 6 nn) work array."""
    if solved:
        keep_solution(P, kept)
    P.factorize(P, P.python_solver)
    if solved:
        restore_solution(P, kept)


@kernel
def change_with_locks(P: Pack, rates: bool) -> bool:
    """Write the change of coordinates or velocities by b to the solution array, with the joints that stick locked.

    rates: whether it also takes away their rates;  return False where other joints are in the forest
    """
    P.begin(P, P.python_solver)
    if not lock_joints(P, RATE if rates else NOTHING):
        return False
    P.finish(P, P.python_solver)
    unlock(P, ws.friction_base(P), True)
    return True
