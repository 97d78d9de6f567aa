r"""Factorization and solution over a forest in an implicit step: `recursion` with the tangents of forces, see `pairs`.

    [ M + c_u C + c_q K   J^T; J   0 ] (u_dot, lam) = b

The tangents are those of bodies, and of bodies with those that carry them, on revolute and separable joints. It is a recursion of its own,
so that explicit methods do without its compilation.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined
from haugmbd.kkt.tree.pairs import (
    NO_PAIR,
    PAIR,
    TRANSPOSED,
    TangentArrays,
    add_own_tangent,
    eliminate_paired_freedoms,
    eliminate_paired_revolute,
    move_paired_revolute,
    moved_by_freedoms,
    pass_by_paired_freedoms,
    pass_paired_revolute_force,
    put_coupling,
    take_own_tangent,
    take_pair_tangent,
    tangent_arrays,
)
from haugmbd.kkt.tree.recursion import (
    move_joint,
    pass_joint_force,
    place_joint,
    put_acceleration,
    put_joint_multipliers,
    put_right_hand_side,
)
from haugmbd.kkt.tree.revolute import eliminate_revolute
from haugmbd.kkt.tree.separable_joint import eliminate_separable
from haugmbd.kkt.tree.tree_arrays import (
    ARM,
    ARM_LINE,
    BODY,
    EDGE,
    KIND,
    PARENT,
    REVOLUTE,
    TreeArrays,
    keep_rotations,
    motion,
    put_own_inertia,
    tree_arrays,
)
from haugmbd.math.articulated_inertia import Twist, shift_twist
from haugmbd.math.vec3 import load
from haugmbd.workspace.layout import Workspace


@inlined
def factor(w: Workspace, x: Array, all_revolute: bool) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6).

    Return the weakest pivot and its node (1.0, -1 where all are larger).  all_revolute: known when compiled, as are all of this name.
    """
    keep_rotations(w)
    t, T = tree_arrays(w), tangent_arrays(w)
    worst, where = 1.0, -1
    for n in range(t.steps.shape[0]):
        s = t.steps[n]
        weak = place_joint(w, t, n, all_revolute)
        put_own_inertia(t, s)
        add_own_tangent(t, T, s[BODY])
        if not weak >= worst and worst == worst:
            worst, where = weak, t.body.shape[0] + s[EDGE]
    put_right_hand_side(t, x, all_revolute)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        D = eliminate_with_tangents(t, T, n, all_revolute)
        pass_force_with_tangents(w, t, T, n, x, all_revolute)
        if not abs(D) > 0.0 and worst == worst:
            worst, where = 0.0, t.steps[n, BODY]
    return worst, where


@inlined
def eliminate_with_tangents(t: TreeArrays, T: TangentArrays, n: int, all_revolute: bool) -> float:
    """Pass the articulated inertia of a body to its parent; return the smallest D."""
    s, k = t.steps[n], t.steps[n, BODY]
    if all_revolute or s[KIND] == REVOLUTE:
        if T.pair_of[n, PAIR] == NO_PAIR:
            return eliminate_revolute(t, s)
        put_coupling(t, T, s, T.pair_of[n], load(t.joint, k, ARM))
        return eliminate_paired_revolute(t, s, T.lines[k])
    if T.pair_of[n, PAIR] == NO_PAIR:
        return eliminate_separable(t, s)
    put_coupling(t, T, s, T.pair_of[n], load(t.block[k], ARM_LINE, 0))
    return eliminate_paired_freedoms(t.body, t.block[k], T.lines[k], s)


@inlined
def pass_force_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> None:
    """Pass the forces on a body to its parent."""
    s, k = t.steps[n], t.steps[n, BODY]
    if T.pair_of[n, PAIR] == NO_PAIR:
        pass_joint_force(w, t, n, x, all_revolute)
    elif all_revolute or s[KIND] == REVOLUTE:
        pass_paired_revolute_force(t, s, T.lines[k])
    else:
        pass_by_paired_freedoms(t.body, t.block[k], T.lines[k], s, x[t.body.shape[0] + s[EDGE]])


@inlined
def move_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    s, k = t.steps[n], t.steps[n, BODY]
    if T.pair_of[n, PAIR] == NO_PAIR:
        a = move_joint(w, t, n, x, all_revolute)
    elif all_revolute or s[KIND] == REVOLUTE:
        a = move_paired_revolute(t, s)
    else:
        a = moved_by_freedoms(t.block[k], T.lines[k], s, shift_twist(motion(t, s[PARENT]), load(t.block[k], ARM_LINE, 0)))
    return a


@inlined
def forward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, T = tree_arrays(w), tangent_arrays(w)
    put_right_hand_side(t, x, all_revolute)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        pass_force_with_tangents(w, t, T, n, x, all_revolute)


@inlined
def backward(w: Workspace, x: Array, all_revolute: bool) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t, T = tree_arrays(w), tangent_arrays(w)
    for n in range(t.steps.shape[0]):
        s, k = t.steps[n], t.steps[n, BODY]
        put_acceleration(t, s, move_with_tangents(w, t, T, n, x, all_revolute), x)
        take_own_tangent(t.body, t.A, T.own[k], k, x)
        if T.pair_of[n, PAIR] != NO_PAIR:
            take_pair_tangent(t.body, t.A, T.between[T.pair_of[n, PAIR]], T.pair_of[n, TRANSPOSED] == 1, k, s[PARENT], x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        put_joint_multipliers(w, t, n, x, all_revolute)
