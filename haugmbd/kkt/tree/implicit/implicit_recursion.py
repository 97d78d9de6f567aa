r"""Factorization and solution over a forest in an implicit step: `recursion` with the tangents of forces, see `neighbour_tangents`.

    [ M + c_u C + c_q K   J^T; J   0 ] (u_dot, lam) = b

The tangents are those of bodies on revolute and separable joints, and between bodies and their parents on revolute ones. It is a
recursion of its own, so that explicit methods do without its compilation.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined
from haugmbd.kkt.tree.implicit.neighbour_tangents import (
    NO_PAIR,
    PAIR,
    TangentArrays,
    add_own_tangent,
    eliminate_paired,
    move_paired,
    pass_paired_force,
    put_coupling,
    take_tangents,
    tangent_arrays,
)
from haugmbd.kkt.tree.recursion import (
    attach_joint,
    move_joint,
    pass_joint_force,
    place_joint,
    put_acceleration,
    put_joint_multipliers,
    put_right_hand_side,
)
from haugmbd.kkt.tree.revolute import eliminate_revolute
from haugmbd.kkt.tree.separable_joint import eliminate_separable
from haugmbd.kkt.tree.tree_arrays import BODY, EDGE, KIND, REVOLUTE, TreeArrays, keep_rotations, put_own_inertia, tree_arrays
from haugmbd.math.articulated_inertia import Twist
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
        # geometry, I^A of the body alone, with its own tangent c_u C + c_q K
        weak = place_joint(w, t, n, all_revolute)
        attach_joint(w, t, n, all_revolute)
        put_own_inertia(t, s)
        add_own_tangent(t, T, s[BODY])
        if not weak >= worst and worst == worst:
            worst, where = weak, t.body.shape[0] + s[EDGE]
    # p of every body alone
    put_right_hand_side(t, x, all_revolute)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        # eliminate the freedom, with the tangent between the body and its parent
        D = eliminate_with_tangents(t, T, n, all_revolute)
        pass_force_with_tangents(w, t, T, n, x, all_revolute)
        if not abs(D) > 0.0 and worst == worst:
            worst, where = 0.0, t.steps[n, BODY]
    return worst, where


@inlined
def eliminate_with_tangents(t: TreeArrays, T: TangentArrays, n: int, all_revolute: bool) -> float:
    """Pass the articulated inertia of a body to its parent; return the smallest D, which vanishes where the matrix is singular."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        put_coupling(t, T, n)
        D = eliminate_paired(t, T, n)
    elif all_revolute or t.steps[n, KIND] == REVOLUTE:
        D = eliminate_revolute(t, t.steps[n])
    else:
        D = eliminate_separable(t, t.steps[n])
    return D


@inlined
def pass_force_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> None:
    """Pass the forces on a body to its parent."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        pass_paired_force(t, T, n)
    else:
        pass_joint_force(w, t, n, x, all_revolute)


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
        put_acceleration(t, t.steps[n], move_with_tangents(w, t, T, n, x, all_revolute), x)
        take_tangents(t, T, n, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        put_joint_multipliers(w, t, n, x, all_revolute)


@inlined
def move_with_tangents(w: Workspace, t: TreeArrays, T: TangentArrays, n: int, x: Array, all_revolute: bool) -> Twist:
    """Return the acceleration of a body at its handle, from that of its parent."""
    if T.pair_of[n, PAIR] != NO_PAIR:
        a = move_paired(t, n)
    else:
        a = move_joint(w, t, n, x, all_revolute)
    return a
