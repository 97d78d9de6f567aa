r"""Trees that hang on the rest of a model, which the block LDL^T eliminates: the recursion condenses each to the body that carries it.

    inward     I^A and p of the recursion, at the centre of mass of a body k of the rest, [M H; H^T J] and (f, n) in global axes
    block      D_k <- D_k + [M  H A; A^T H^T  A^T J A]              b_k <- b_k + (f, A^T n)              A = A_k: rows are about omega_bar
    rest       [ D  Phi_q^T; Phi_q  0 ] (u_dot, lam) = b            by blocks, without the nodes of the trees
    outward    the accelerations of the bodies k, then the recursion

In the order of elimination the nodes of the trees are the first: the schedule of the blocks is that of the whole model, and a solution
for the rest begins behind them.
Source: Featherstone (2008), sec. 7.3 and ch. 8 (articulated bodies in closed loops); Haug 2021, sec. 11.3.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import inlined
from haugmbd.kkt import block_ldl
from haugmbd.kkt.block_ldl import Factor, clear_fill, factor_nodes, put_body, put_edge
from haugmbd.kkt.block_solver import edge_blocks, factor_of, steps_of
from haugmbd.kkt.elimination_order import EliminationSteps
from haugmbd.kkt.tree_arrays import (
    ACCELERATION,
    FORCE,
    LINEAR,
    TURNING,
    TreeArrays,
    load_inertia,
    load_wrench,
    store_inertia,
    store_wrench,
    tree_arrays,
    tree_steps,
)
from haugmbd.kkt.tree_recursion import backward, factor, forward
from haugmbd.math.articulated_inertia import NO_INERTIA, NO_WRENCH, times_symmetric
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import Vec, add, load, store, to_body, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace


@inlined
def steps_of_rest(w: Workspace) -> EliminationSteps:
    """Return the order of elimination without the nodes of the trees, a body and its edge for each step of the recursion."""
    s, n = steps_of(w), 2 * tree_steps(w).shape[0]
    return EliminationSteps(s.order[n:], s.neighbor_starts[n:], s.neighbors, s.update_starts[n:], s.fill_updates)


@inlined
def factor_with_trees(w: Workspace, x: Array, all_wide: bool) -> tuple[float, int]:
    """Factor, and apply `forward_with_trees` to the right-hand side x (nn, 6) in the same pass.

    all_wide: a constant, see `block_ldl.factor_nodes`
    Return the weakest pivot and its node (1.0, -1 where all are larger).
    """
    t, s, f = tree_arrays(w), steps_of_rest(w), factor_of(w)
    # bodies of the rest begin without what they carry
    for step in range(s.order.shape[0]):
        k = s.order[step, 0]
        if k < t.body.shape[0]:
            store_inertia(t.body, k, LINEAR, NO_INERTIA)
            store_wrench(t, k, FORCE, NO_WRENCH)
    # inward over the trees:  I^A and p of the bodies that carry them
    worst, where = factor(w, x, False)
    # K of the rest, with I^A and p of the trees on their bodies
    assemble_rest(w, s, f)
    for step in range(s.order.shape[0]):
        k = s.order[step, 0]
        if k < t.body.shape[0]:
            add_carried_inertia(t, k, f.D)
            add_carried_force(t, k, x)
    # the rest by blocks
    weak, node = factor_nodes(s, t.scale, f, x, all_wide)
    worst, where = weakest_of(worst, where, weak, node)
    return worst, where


@inlined
def assemble_rest(w: Workspace, s: EliminationSteps, f: Factor) -> None:
    """Fill the blocks of the bodies and edges that are eliminated by blocks."""
    edges, inertia = edge_blocks(w), ws.shifted_inertia(w)
    n_bodies = inertia.shape[0]
    for step in range(s.order.shape[0]):
        node = s.order[step, 0]
        if node < n_bodies:
            put_body(inertia, node, f.D)
        else:
            put_edge(edges, node - n_bodies, node, ws.padding_line(w), ws.jacobian(w), f)
    clear_fill(edges, f.B)


@inlined
def add_carried_inertia(t: TreeArrays, k: int, D: Array) -> None:
    """Add the articulated inertia of the trees that a body carries to its block, of which only the lower triangle is read."""
    I = load_inertia(t.body, k, LINEAR)
    M, H = I.M, I.H
    D[k, 0, 0] += M[0]
    D[k, 1, 0] += M[1]
    D[k, 2, 0] += M[2]
    D[k, 1, 1] += M[3]
    D[k, 2, 1] += M[4]
    D[k, 2, 2] += M[5]
    rows: tuple[Vec, Vec, Vec] = ((H[0], H[1], H[2]), (H[3], H[4], H[5]), (H[6], H[7], H[8]))
    for c in range(3):
        h = to_body(t.A, k, rows[c])
        x: Vec = (t.A[k, 0, c], t.A[k, 1, c], t.A[k, 2, c])
        g = to_body(t.A, k, times_symmetric(I.J, x))
        for a in range(3):
            D[k, 3 + a, c] += h[a]
            D[k, 3 + a, 3 + c] += g[a]


@inlined
def add_carried_force(t: TreeArrays, k: int, x: Array) -> None:
    """Add the forces of the trees that a body carries to its right-hand side."""
    p = load_wrench(t, k, FORCE)
    store(x, k, 0, add(load(x, k, 0), p.force))
    store(x, k, 3, add(load(x, k, 3), to_body(t.A, k, p.moment)))


@inlined
def forward_with_trees(w: Workspace, x: Array, all_wide: bool) -> None:
    """Pass the forces of another right-hand side x (nn, 6) inward, with the current factor."""
    t, s = tree_arrays(w), steps_of_rest(w)
    for step in range(s.order.shape[0]):
        k = s.order[step, 0]
        if k < t.body.shape[0]:
            store_wrench(t, k, FORCE, NO_WRENCH)
    forward(w, x, False)
    for step in range(s.order.shape[0]):
        k = s.order[step, 0]
        if k < t.body.shape[0]:
            add_carried_force(t, k, x)
    block_ldl.forward(s, factor_of(w), x, all_wide)


@inlined
def backward_with_trees(w: Workspace, x: Array, all_wide: bool) -> None:
    """Overwrite the right-hand side x (nn, 6), after `factor_with_trees` or `forward_with_trees`, by the solution."""
    t, s = tree_arrays(w), steps_of_rest(w)
    # accelerations and multipliers of the rest
    block_ldl.backward(s, factor_of(w), x, all_wide)
    # its accelerations, at the handles, are those from which the trees move
    for step in range(s.order.shape[0]):
        k = s.order[step, 0]
        if k < t.body.shape[0]:
            store(t.body, k, ACCELERATION, load(x, k, 0))
            store(t.body, k, TURNING, to_global(t.A, k, load(x, k, 3)))
    # outward over the trees
    backward(w, x, False)
