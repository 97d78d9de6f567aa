r"""Factorization and solution over a forest: from the leaves to the roots, and back.

    [ M  J^T; J  0 ] (u_dot, lam) = b

factor     inward: D and the articulated inertias I^A; the forces go along
forward    inward: the forces of another b
backward   outward: accelerations of each body from those of its parent;  inward: multipliers from the balance of each body

Every pass visits each body once: O(n) for any forest, without fill. Right-hand sides: accelerations, projections, impulses.
Source: Featherstone (2008), ch. 7 (articulated-body algorithm), ch. 4 (trees).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.kkt.tree.general_joint import eliminate_general, move_general, pass_general_force, pass_general_reaction, place_general
from haugmbd.kkt.tree.revolute import (
    eliminate_revolute,
    move_revolute,
    pass_force,
    place_revolute,
    put_jump,
    put_revolute_multipliers,
)
from haugmbd.kkt.tree.tree_arrays import (
    ACCELERATION,
    BODY,
    EDGE,
    FORCE,
    KIND,
    PARENT,
    REVOLUTE,
    TURNING,
    Q,
    TreeArrays,
    center,
    put_own_force,
    put_own_inertia,
    store_wrench,
    tree_arrays,
)
from haugmbd.math.articulated_inertia import Twist, Wrench
from haugmbd.math.vec3 import add, cross, dot, load, scale, store, sub, to_body, to_global
from haugmbd.workspace.layout import Workspace


@inlined
def factor(w: Workspace, x: Array) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6) in the same pass.

    Return the weakest pivot and its node (1.0, -1 where all are larger).
    """
    t = tree_arrays(w)
    worst, where = 1.0, -1
    for n in range(t.steps.shape[0]):
        s = t.steps[n]
        put_own_inertia(t, s)
        weak = place_revolute(t, s) if s[KIND] == REVOLUTE else place_general(w, n)
        if not weak >= worst and worst == worst:
            worst, where = weak, t.body.shape[0] + s[EDGE]
    put_right_hand_side(t, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s = t.steps[n]
        if s[KIND] == REVOLUTE:
            D = eliminate_revolute(t, s)
            pass_force(t, s)
            weak = 1.0 if D > 0.0 else 0.0
        else:
            weak = eliminate_general(w, n)
            pass_general_force(w, n, x)
        if not weak >= worst and worst == worst:
            worst, where = weak, s[BODY]
    return worst, where


@inlined
def put_right_hand_side(t: TreeArrays, x: Array) -> None:
    """Write the forces on every body, and the accelerations that the rows of revolute joints prescribe."""
    for n in range(t.steps.shape[0]):
        s = t.steps[n]
        put_own_force(t, s, x)
        if s[KIND] == REVOLUTE:
            put_jump(t, s, x)


@kernel
def forward(w: Workspace, x: Array) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t = tree_arrays(w)
    put_right_hand_side(t, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s = t.steps[n]
        if s[KIND] == REVOLUTE:
            pass_force(t, s)
        else:
            pass_general_force(w, n, x)


@kernel
def backward(w: Workspace, x: Array) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t = tree_arrays(w)
    for n in range(t.steps.shape[0]):
        s = t.steps[n]
        put_acceleration(t, s, move_revolute(t, s) if s[KIND] == REVOLUTE else move_general(w, n, x), x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s = t.steps[n]
        if s[KIND] == REVOLUTE:
            put_revolute_multipliers(t, s, x)
        elif s[PARENT] > 0:
            pass_general_reaction(w, n, x)


@inlined
def put_acceleration(t: TreeArrays, s: Ints, a: Twist, x: Array) -> None:
    """Replace the forces on a body in x by its accelerations; store what the joints must give, b - M u_dot, at the centre of mass."""
    k, J = s[BODY], t.inertia
    store(t.body, k, ACCELERATION, a.linear)
    store(t.body, k, TURNING, a.angular)
    v, alpha = add(a.linear, cross(a.angular, center(t, s[Q]))), to_body(t.A, k, a.angular)
    force = sub(load(x, k, 0), scale(J[k, 0], v))
    moment = (
        x[k, 3] - dot(load(J, k, 1), alpha),
        x[k, 4] - dot(load(J, k, 4), alpha),
        x[k, 5] - dot(load(J, k, 7), alpha),
    )
    store_wrench(t, k, FORCE, Wrench(force, to_global(t.A, k, moment)))
    store(x, k, 0, v)
    store(x, k, 3, alpha)
