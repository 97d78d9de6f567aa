r"""Factorization and solution over a forest: from the leaves to the roots, and back.

    [ M  J^T; J  0 ] (u_dot, lam) = b

factor     inward: D and the articulated inertias I^A; the forces go along
forward    inward: the forces of another b
backward   outward: accelerations of each body from those of its parent;  inward: multipliers from the balance of each body

Every pass visits each body once: O(n) for any forest, without fill. Right-hand sides: accelerations, projections, impulses.
An inward pass writes what belongs to a body alone `lead` steps ahead, just before something is passed to the body: a large model then goes
through the memory once.
The factor contains all that it needs of its pose, so that it serves iterations that move the bodies.
Source: Featherstone (2008), ch. 7 (articulated-body algorithm), ch. 4 (trees).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.subscripts import unsigned
from haugmbd.kkt.general_joint import (
    attach_general,
    eliminate_general,
    move_general,
    pass_general_force,
    pass_general_reaction,
    place_general,
)
from haugmbd.kkt.helical_joint import (
    eliminate_along_thread,
    move_along_thread,
    pass_force_of_thread,
    place_thread,
    put_multipliers_of_thread,
)
from haugmbd.kkt.revolute_joint import (
    attach_revolute,
    eliminate_revolute,
    move_revolute,
    pass_force,
    place_revolute,
    put_jump,
    put_revolute_multipliers,
)
from haugmbd.kkt.separable_joint import (
    attach_separable,
    eliminate_separable,
    move_separable,
    pass_separable_force,
    place_separable,
    put_separable_multipliers,
)
from haugmbd.kkt.tree_arrays import (
    ACCELERATION,
    BODY,
    EDGE,
    FORCE,
    GENERAL,
    HELICAL,
    KIND,
    PARENT,
    REVOLUTE,
    SEPARABLE,
    TURNING,
    TreeArrays,
    center,
    keep_rotations,
    put_own_force,
    put_own_inertia,
    store_wrench,
    tree_arrays,
    tree_lead,
)
from haugmbd.math.articulated_inertia import Twist, Wrench
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import add, cross, dot, load, scale, store, sub, to_body, to_global
from haugmbd.workspace.layout import Workspace


@inlined
def factor(w: Workspace, x: Array, all_revolute: bool) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6) in the same pass.

    Return the weakest pivot and its node (1.0, -1 where all are larger).  all_revolute: known when compiled, as are all of this name.
    """
    keep_rotations(w)
    t, lead = tree_arrays(w), tree_lead(w)
    worst, where = 1.0, -1
    for n in range(t.steps.shape[0] - 1, -1 - lead, -1):
        if n >= 0:
            s = t.steps[unsigned(n)]
            # geometry of the joint that carries the body: its axis h, or the rows that it restricts
            weak = place_joint(w, t, n, all_revolute)
            # I^A and p of the body alone, about its handle
            put_own_inertia(t, s)
            put_forces_and_jump(t, s, x, all_revolute)
            worst, where = weakest_of(worst, where, weak, t.body.shape[0] + s[EDGE])
        carried = n + lead
        if carried < t.steps.shape[0]:
            # the body behind has all that it carries: refer its joint to the handle of the parent
            attach_joint(w, t, carried, all_revolute)
            # eliminate its freedom:  I_i += I^A - U U^T / D,  p_i += p - I^A a_J - U z, a_J: what b prescribes
            weak = eliminate_joint(w, t, carried, x, all_revolute)
            worst, where = weakest_of(worst, where, weak, t.steps[unsigned(carried), BODY])
    return worst, where


@inlined
def place_joint(w: Workspace, t: TreeArrays, n: int, all_revolute: bool) -> float:
    """Write the geometry of the joint that carries a body, as far as its own bodies tell; return the weakest pivot of its rows."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        return place_revolute(t, s)
    if s[KIND] == GENERAL:
        return place_general(w, n)
    weak = place_separable(t, s)
    if s[KIND] == HELICAL:
        place_thread(t, s)
    return weak


@inlined
def attach_joint(w: Workspace, t: TreeArrays, n: int, all_revolute: bool) -> None:
    """Refer a joint to the handle of the parent, which the joint of the parent has."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        attach_revolute(t, s)
    elif s[KIND] == GENERAL:
        attach_general(w, n)
    else:
        attach_separable(t, s)


@inlined
def eliminate_joint(w: Workspace, t: TreeArrays, n: int, x: Array, all_revolute: bool) -> float:
    """Pass the articulated inertia of a body, and the forces on it, to its parent; return the weakest pivot of D, at most 1."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        D = eliminate_revolute(t, s)
        pass_force(t, s)
        weak = 1.0 if D > 0.0 else 0.0
    elif s[KIND] == SEPARABLE:
        D = eliminate_separable(t, s)
        pass_separable_force(t, s, x)
        weak = 1.0 if D > 0.0 else 0.0
    elif s[KIND] == HELICAL:
        D = eliminate_along_thread(t.body, t.block[s[BODY]], s)
        pass_force_of_thread(t.body, t.block[s[BODY]], s, x[t.body.shape[0] + s[EDGE]])
        weak = 1.0 if D > 0.0 else 0.0
    else:
        weak = eliminate_general(w, n)
        pass_general_force(w, n, x)
    return weak


@inlined
def pass_joint_force(w: Workspace, t: TreeArrays, n: int, x: Array, all_revolute: bool) -> None:
    """Pass the forces on a body to its parent."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        pass_force(t, s)
    elif s[KIND] == SEPARABLE:
        pass_separable_force(t, s, x)
    elif s[KIND] == HELICAL:
        pass_force_of_thread(t.body, t.block[s[BODY]], s, x[t.body.shape[0] + s[EDGE]])
    else:
        pass_general_force(w, n, x)


@inlined
def move_joint(w: Workspace, t: TreeArrays, n: int, x: Array, all_revolute: bool) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        return move_revolute(t, s)
    if s[KIND] == HELICAL:
        return move_along_thread(t, s)
    return move_separable(t, s) if s[KIND] == SEPARABLE else move_general(w, n, x)


@inlined
def put_joint_multipliers(w: Workspace, t: TreeArrays, n: int, x: Array, all_revolute: bool) -> None:
    """Pass the wrench on a body to its parent, and write the multipliers of its joint, where `move_joint` has not."""
    s = t.steps[unsigned(n)]
    if all_revolute or s[KIND] == REVOLUTE:
        put_revolute_multipliers(t, s, x)
    elif s[KIND] == SEPARABLE:
        put_separable_multipliers(t, s, x)
    elif s[KIND] == HELICAL:
        put_multipliers_of_thread(t, s, x)
    elif s[PARENT] > 0:
        pass_general_reaction(w, n, x)


@inlined
def put_right_hand_side(t: TreeArrays, x: Array, all_revolute: bool) -> None:
    """Write the forces on every body, and the accelerations that the rows of revolute joints prescribe."""
    for n in range(t.steps.shape[0]):
        put_forces_and_jump(t, t.steps[unsigned(n)], x, all_revolute)


@inlined
def put_forces_and_jump(t: TreeArrays, s: Ints, x: Array, all_revolute: bool) -> None:
    """Write the forces on a body, and the acceleration that the rows of its joint prescribe if this is revolute."""
    put_own_force(t, s, x)
    if all_revolute or s[KIND] == REVOLUTE:
        put_jump(t, s, x)


@inlined
def forward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, lead = tree_arrays(w), tree_lead(w)
    for n in range(t.steps.shape[0] - 1, -1 - lead, -1):
        if n >= 0:
            # p of the body alone, from b
            put_forces_and_jump(t, t.steps[unsigned(n)], x, all_revolute)
        if n + lead < t.steps.shape[0]:
            # u = S^T p;  p_i += p - I^A a_J - U z
            pass_joint_force(w, t, n + lead, x, all_revolute)


@inlined
def backward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t = tree_arrays(w)
    for n in range(t.steps.shape[0]):
        # outward:  a = a_i + a_J + S z,  z = (u - U^T a) / D;  b - M u_dot is what the joints must give
        put_acceleration(t, t.steps[unsigned(n)], move_joint(w, t, n, x, all_revolute), x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        # inward:  lam from the wrench on the body; the rest of it goes to the parent
        put_joint_multipliers(w, t, n, x, all_revolute)


@inlined
def put_acceleration(t: TreeArrays, s: Ints, a: Twist, x: Array) -> None:
    """Replace the forces on a body in x by its accelerations; store what the joints must give, b - M u_dot, at the centre of mass."""
    k, J = unsigned(s[BODY]), t.inertia
    store(t.body, k, ACCELERATION, a.linear)
    store(t.body, k, TURNING, a.angular)
    # from the handle to the centre of mass
    v, alpha = add(a.linear, cross(a.angular, center(t, k))), to_body(t.A, k, a.angular)
    # what is left of the forces for the joints:  F - m v_dot,  n_bar - J_bar omega_bar_dot
    force = sub(load(x, k, 0), scale(J[k, 0], v))
    moment = (
        x[k, 3] - dot(load(J, k, 1), alpha),
        x[k, 4] - dot(load(J, k, 4), alpha),
        x[k, 5] - dot(load(J, k, 7), alpha),
    )
    store_wrench(t, k, FORCE, Wrench(force, to_global(t.A, k, moment)))
    store(x, k, 0, v)
    store(x, k, 3, alpha)
