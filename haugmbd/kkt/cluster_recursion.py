r"""Factorization and solution over a forest whose joints are coupled: `recursion` with clusters, see `cluster`.

The bodies of a cluster follow its base, in their own order: inward, the last of them that is passed is the first of the cluster.
It is a recursion of its own, so that models without couplings do without its compilation; `form` is a constant of the compiled code.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined
from haugmbd.compiled.subscripts import unsigned
from haugmbd.kkt.cluster import (
    eliminate_member,
    move_member,
    pass_base_force,
    pass_member_force,
    place_cluster,
    put_coupling_multipliers,
    put_member_multipliers,
    put_prescribed,
    put_slide_jump,
    solve_free,
)
from haugmbd.kkt.cluster_arrays import ClusterArrays, Form, cluster_arrays, free_coordinates, slides
from haugmbd.kkt.cluster_order import CLUSTER, FIRST, LAST
from haugmbd.kkt.tree_arrays import BODY, EDGE, TreeArrays, keep_rotations, put_own_inertia, tree_arrays
from haugmbd.kkt.tree_recursion import (
    attach_joint,
    eliminate_joint,
    move_joint,
    pass_joint_force,
    place_joint,
    put_acceleration,
    put_forces_and_jump,
    put_joint_multipliers,
    put_right_hand_side,
)
from haugmbd.workspace.layout import Workspace


@inlined
def factor(w: Workspace, x: Array, form: Form) -> tuple[float, int]:
    """Factor, and apply `forward` to the right-hand side x (nn, 6) in the same pass.

    Return the weakest pivot and its node (1.0, -1 where all are larger).
    """
    keep_rotations(w)
    t, q = tree_arrays(w), cluster_arrays(w, form)
    worst, where = 1.0, -1
    # geometry, own inertia and own forces of every body
    for n in range(t.steps.shape[0]):
        s = t.steps[unsigned(n)]
        weak = place_joint(w, t, n, q.all_revolute)
        attach_joint(w, t, n, q.all_revolute)
        put_own_inertia(t, s)
        put_forces_and_jump(t, s, x, q.all_revolute)
        if not weak >= worst and worst == worst:
            worst, where = weak, t.body.shape[0] + s[EDGE]
    put_slide_jumps(t, q, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            if cs[LAST] == 1:
                # z = G y + z0: the couplings of the cluster make its joints follow y
                weak, node = place_cluster(t, q, unsigned(cs[CLUSTER]), x)
                if not weak >= worst and worst == worst:
                    worst, where = weak, node
            # add the joint to D = sum S^T I^A S and u; at the base of the cluster eliminate y
            weak = eliminate_member(t, s, q, cs, free_coordinates(q, unsigned(cs[CLUSTER])))
        else:
            # a joint of no cluster: as in `recursion`
            weak = eliminate_joint(w, t, n, x, q.all_revolute)
        if not weak >= worst and worst == worst:
            worst, where = weak, s[BODY]
    return worst, where


@inlined
def forward(w: Workspace, x: Array, form: Form) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, q = tree_arrays(w), cluster_arrays(w, form)
    put_right_hand_side(t, x, q.all_revolute)
    put_slide_jumps(t, q, x)
    put_prescribed(t, q, x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            m = free_coordinates(q, unsigned(cs[CLUSTER]))
            pass_member_force(t, s, q, cs, m)
            if cs[FIRST] == 1:
                pass_base_force(t, q, unsigned(cs[CLUSTER]), m)
        else:
            pass_joint_force(w, t, n, x, q.all_revolute)


@inlined
def backward(w: Workspace, x: Array, form: Form) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor` or `forward`, by the solution."""
    t, q = tree_arrays(w), cluster_arrays(w, form)
    for n in range(t.steps.shape[0]):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            m = free_coordinates(q, unsigned(cs[CLUSTER]))
            if cs[FIRST] == 1:
                # D y = u - U^T a of the base
                solve_free(t, q, unsigned(cs[CLUSTER]), m)
            # a = X a_i + a_J + S (G y)_k
            put_acceleration(t, s, move_member(t, s, q, cs, m), x)
        else:
            put_acceleration(t, s, move_joint(w, t, n, x, q.all_revolute), x)
    for n in range(t.steps.shape[0] - 1, -1, -1):
        s, cs = t.steps[unsigned(n)], q.steps[unsigned(n)]
        if cs[CLUSTER] >= 0:
            # lam of the joints, then of the couplings, which take their part off
            put_member_multipliers(t, s, q, cs, x)
        else:
            put_joint_multipliers(w, t, n, x, q.all_revolute)
        if cs[FIRST] == 1:
            put_coupling_multipliers(t, q, unsigned(cs[CLUSTER]), x)


@inlined
def put_slide_jumps(t: TreeArrays, q: ClusterArrays, x: Array) -> None:
    """Write the accelerations that the right-hand side prescribes for the joints of clusters that slide."""
    for n in range(t.steps.shape[0]):
        if slides(q, q.steps[unsigned(n)]):
            put_slide_jump(t, t.steps[unsigned(n)], x)
