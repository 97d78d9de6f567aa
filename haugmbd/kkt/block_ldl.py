r"""The augmented KKT system by one block LDL^T on the body-joint graph.

    [ M       Phi_q^T ] [ u_dot ]   [ Q     ]
    [ Phi_q   0       ] [ lam   ] = [ gamma ]

`assemble` writes M and the rows into 6 x 6 blocks.  `factor` eliminates them in the order of the schedule, together with the first
right-hand side.  `forward` and `backward` solve for any other right-hand side: accelerations (Q, gamma), velocity projection
(0, nu - Phi_q u), position correction (0, -Phi), impulses (P, .).
Blocks with fewer than six rows are padded by -1 on the diagonal, so that the padded unknowns are zero; those of edges of one or two
rows have true sizes, see `narrow_blocks`.  Node numbers as in `elimination_order`.

A massless direction (J_bar singular) makes a body's own block singular, though the joints may determine the motion.  Such a model
factors M + E, with E > 0 on the massless directions only, and refines against the true M.  Each sweep reduces the error by
E / (E + effective inertia), see SHIFT.  The limit is the solution of the true system, within rounding.
A body much lighter than those beside it is refined, too, with E = 0: forces that pass through it leave their rounding, over its inertia, in
its acceleration, which its joints determine.  Its corrections are compared with its own acceleration.
Source: Haug 2021, sec. 11.3; Baraff 1996.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.selection import select, somewhere
from haugmbd.kkt.block_kernels import (
    backward_block,
    backward_narrow,
    carry_block,
    carry_narrow,
    eliminate_from_lines,
    factor_block,
    factor_narrow,
    forward_block,
    forward_narrow,
    pivot_ratio,
    put_lines,
    substitute_in_narrow,
    substitute_lines,
    subtract_product,
    update_between,
    update_block,
    update_diagonal,
    update_diagonal_from_narrow,
    update_lines,
    update_narrow,
    update_vector_by_lines,
    update_vector_from_narrow,
)
from haugmbd.kkt.elimination_order import WIDE, EliminationSteps
from haugmbd.math.larger import worst_of
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace

SHIFT = 1e-8
"""Inertia added on a massless direction before factoring, relative to the body's own size. One sweep of iterative refinement leaves
the part SHIFT / (SHIFT + inertia that the joints add in this direction) of the error. It is small enough for axes down to 1e-3 rad
from that of a rod; refinement restores the digits that the small pivot costs."""

REFINED = 1e-13
"""Relative correction at which the sweeps end; below it the residual is rounding."""
MAX_SWEEPS = 12
"""Sweeps converge fast.  If more than these are needed, a direction has no inertia."""
CONVERGED = 1e3 * REFINED
"""Relative correction up to which massless directions count as refined."""
LEAST_DIGITS = 1e-6
"""The same for light bodies: where sweeps stall, corrections are the rounding of an ill-conditioned matrix; six digits are the least."""
HELD = 1e-3
"""A light body's correction is compared with its own acceleration, and with this part of the largest of all where joints hold it."""


class Factor(NamedTuple):
    """The arrays of one factorization: D (nn, 6, 6) diagonal blocks, d_inv (nn, 6), B (n_blocks, 6, 6) off-diagonal blocks."""

    D: Array
    d_inv: Array
    B: Array


class EdgeBlocks(NamedTuple):
    """The blocks of the edges: (ne, sides) block of each body, and 1 where the body is eliminated first; (ne, 1) their widths.

    fill_lines: (., 1) number of lines of the blocks of the fill, which are the last ones
    """

    body_block: Ints
    body_first: Ints
    width: Ints
    fill_lines: Ints


@inlined
def assemble(edges: EdgeBlocks, inertia: Array, pad: Array, J: Array, f: Factor) -> None:
    """Fill the blocks from inertia (nb + 1, 10) (mass, then J_bar row by row) and the rows J (6 ne, sides, 6).

    pad (6 ne,): 0 for a row, -1 for padding.
    """
    # M = diag(m 1, J_bar) on the diagonal of each body
    for b in range(1, inertia.shape[0]):
        put_body(inertia, b, f.D)
    # Phi_q of each edge beside it, and zero on its own diagonal (-1 in the place of a row that is padding)
    for e in range(edges.body_block.shape[0]):
        put_edge(edges, e, inertia.shape[0] + e, pad, J, f)
    # blocks that only elimination fills
    clear_fill(edges, f.B)


@inlined
def put_body(inertia: Array, b: int, D: Array) -> None:
    """Fill the block of a body."""
    for a in range(3):
        for c in range(3):
            D[b, a, c] = 0.0
            D[b, 3 + a, c] = 0.0
            D[b, 3 + a, 3 + c] = inertia[b, 1 + 3 * a + c]
        D[b, a, a] = inertia[b, 0]


@inlined
def put_edge(edges: EdgeBlocks, e: int, node: int, pad: Array, J: Array, f: Factor) -> None:
    """Fill the blocks of an edge."""
    body_block = edges.body_block
    if edges.width[e, 0] != WIDE:
        put_narrow_edge(edges, e, node, pad, J, f)
    else:
        for a in range(6):
            for c in range(a):
                f.D[node, a, c] = 0.0
            f.D[node, a, a] = pad[6 * e + a]
        for side in range(body_block.shape[1]):
            if body_block[e, side] >= 0:
                put_coupling(f.B[body_block[e, side]], J, pad, 6 * e, side, edges.body_first[e, side] == 1)


@inlined
def clear_fill(edges: EdgeBlocks, B: Array) -> None:
    """Set the blocks of the fill to zero."""
    first = B.shape[0] - edges.fill_lines.shape[0]
    for k in range(edges.fill_lines.shape[0]):
        for a in range(edges.fill_lines[k, 0]):
            for c in range(6):
                B[first + k, a, c] = 0.0


@kernel
def put_narrow_edge(edges: EdgeBlocks, e: int, node: int, pad: Array, J: Array, f: Factor) -> None:
    """Fill the blocks of a narrow edge."""
    n = edges.width[e, 0]
    for a in range(n):
        for c in range(a):
            f.D[node, a, c] = 0.0
        f.D[node, a, a] = pad[6 * e + a]
    for side in range(edges.body_block.shape[1]):
        if edges.body_block[e, side] >= 0:
            put_lines(f.B[edges.body_block[e, side]], J, pad, 6 * e, side, n)


@kernel
def put_coupling(B: Array, J: Array, pad: Array, slot: int, side: int, transposed: bool) -> None:
    """Write the six rows of J from `slot` on one side, or their transpose, to the block B; padding is zero.

    Fill blocks are numbered after these.
    """
    if transposed:
        for a in range(6):
            keep = 1.0 + pad[slot + a]
            for c in range(6):
                B[c, a] = keep * J[slot + a, side, c]
    else:
        for a in range(6):
            keep = 1.0 + pad[slot + a]
            for c in range(6):
                B[a, c] = keep * J[slot + a, side, c]


@inlined
def eliminate_node(s: EliminationSteps, f: Factor, x: Array, step: int, node: int, all_wide: bool) -> None:
    """Update the neighbours of the factored node, and the right-hand side."""
    D, d_inv, B = f.D, f.d_inv, f.B
    if all_wide or s.order[step, 1] == WIDE:
        # x_n <- L_n^-1 x_n, of the pivot D_n = L_n diag(d) L_n^T
        forward_block(D[node], x, node)
        for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
            other, block = s.neighbors[k, 0], s.neighbors[k, 1]
            if all_wide or s.neighbors[k, 2] == WIDE:
                # W = L_n^-1 B;  D_o <- D_o - W^T d^-1 W;  x_o <- x_o - W^T d^-1 x_n
                carry_block(D[node], B[block])
                update_diagonal(B[block], d_inv[node], D[other])
                update_vector(B[block], d_inv, x, node, other)
            else:
                eliminate_from_lines(D[node], d_inv[node], B[block], D[other], x, node, other, s.neighbors[k, 2])
        # two neighbours a and b of the node meet:  B_ab <- B_ab - W_a^T d^-1 W_b
        for k in range(s.update_starts[step], s.update_starts[step + 1]):
            a, b, target = s.fill_updates[k, 0], s.fill_updates[k, 1], s.fill_updates[k, 2]
            if all_wide or s.fill_updates[k, 3] + s.fill_updates[k, 4] == 2 * WIDE:
                update_block(B[a], d_inv[node], B[b], B[target])
            else:
                update_beside_narrow(B, a, b, target, d_inv[node], s.fill_updates[k, 3], s.fill_updates[k, 4])
    else:
        eliminate_narrow(s, f, x, step, node)


@kernel
def update_beside_narrow(B: Array, a: int, b: int, target: int, d_inv: Array, n: int, m: int) -> None:
    """Update the block between two neighbours of a wide pivot, with n and m unknowns, of which one or both are narrow."""
    if n != WIDE and m != WIDE:
        update_narrow(B[a], d_inv, B[b], B[target], n, m)
    else:
        lines, block = (a, b) if m == WIDE else (b, a)
        update_lines(B[lines], d_inv, B[block], B[target], min(n, m))


@kernel
def eliminate_narrow(s: EliminationSteps, f: Factor, x: Array, step: int, node: int) -> None:
    """Update the neighbours of a factored narrow node, and the right-hand side."""
    D, d_inv, B, rows = f.D, f.d_inv, f.B, s.order[step, 1]
    # x_n <- L_n^-1 x_n, with a pivot of one or two rows
    forward_narrow(D[node], x, node, rows)
    for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
        other, block, n = s.neighbors[k, 0], s.neighbors[k, 1], s.neighbors[k, 2]
        # W = L_n^-1 B;  D_o <- D_o - W^T d^-1 W;  x_o <- x_o - W^T d^-1 x_n
        carry_narrow(D[node], B[block], rows)
        update_diagonal_from_narrow(B[block], d_inv[node], D[other], rows, n)
        update_vector_from_narrow(B[block], d_inv, x, node, other, rows, n)
    # two neighbours a and b of the node meet:  B_ab <- B_ab - W_a^T d^-1 W_b
    for k in range(s.update_starts[step], s.update_starts[step + 1]):
        a, b, target = s.fill_updates[k, 0], s.fill_updates[k, 1], s.fill_updates[k, 2]
        n, m = s.fill_updates[k, 3], s.fill_updates[k, 4]
        if n != WIDE and m != WIDE:
            update_between(B[a], d_inv[node], B[b], B[target], rows, n, m)
        else:
            lines, block = (a, b) if m == WIDE else (b, a)
            for r in range(rows):
                subtract_product(B[lines], r, d_inv[node, r], B[block], B[target], n if m == WIDE else m)


@inlined
def factor_pivot(s: EliminationSteps, f: Factor, step: int, node: int, all_wide: bool) -> None:
    """Factor the pivot block of a step."""
    if all_wide or s.order[step, 1] == WIDE:
        factor_block(f.D[node], f.d_inv[node])
    else:
        factor_narrow(f.D[node], f.d_inv[node], s.order[step, 1])


@inlined
def factor_nodes(s: EliminationSteps, scale: Array, f: Factor, x: Array, all_wide: bool) -> tuple[float, int]:
    """Factor in place, and apply `forward` to the right-hand side x (nn, 6) in the same pass.

    all_wide: a constant, so that what is for narrow edges is not compiled
    Return the smallest |pivot| / scale (nn, 6) and its node (1.0, -1 when all are larger).
    """
    worst, where = 1.0, -1
    for step in range(s.order.shape[0]):
        node = s.order[step, 0]
        # D_n = L_n diag(d) L_n^T
        factor_pivot(s, f, step, node, all_wide)
        # |d| beside its scale says whether rows depend on each other; NaN stays the weakest
        weak = pivot_ratio(f.d_inv[node], scale[node])
        worst, where = worst_of(worst, where, weak, node)
        # eliminate the unknowns of the node from its neighbours, and from b
        eliminate_node(s, f, x, step, node, all_wide)
    return 1.0 / worst, where


@kernel
def update_vector(W: Array, d_inv: Array, x: Array, node: int, other: int) -> None:
    """Set x[other] <- x[other] - W^T d^-1 x[node]."""
    q0, q1, q2 = x[node, 0] * d_inv[node, 0], x[node, 1] * d_inv[node, 1], x[node, 2] * d_inv[node, 2]
    q3, q4, q5 = x[node, 3] * d_inv[node, 3], x[node, 4] * d_inv[node, 4], x[node, 5] * d_inv[node, 5]
    for c in range(6):
        x[other, c] -= (W[0, c] * q0 + W[1, c] * q1 + W[2, c] * q2) + (W[3, c] * q3 + W[4, c] * q4 + W[5, c] * q5)


@inlined
def forward(s: EliminationSteps, f: Factor, x: Array, all_wide: bool) -> None:
    """Set x <- L^-1 x for a right-hand side x (nn, 6) by nodes, with the current factor;  all_wide: a constant, see `factor_nodes`."""
    for step in range(s.order.shape[0]):
        node = s.order[step, 0]
        if all_wide or s.order[step, 1] == WIDE:
            # x_n <- L_n^-1 x_n
            forward_block(f.D[node], x, node)
            for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
                # x_o <- x_o - W^T d^-1 x_n
                other, W = s.neighbors[k, 0], f.B[s.neighbors[k, 1]]
                if all_wide or s.neighbors[k, 2] == WIDE:
                    update_vector(W, f.d_inv, x, node, other)
                else:
                    update_vector_by_lines(W, f.d_inv, x, node, other, s.neighbors[k, 2])
        else:
            rows = s.order[step, 1]
            forward_narrow(f.D[node], x, node, rows)
            for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
                other, W, n = s.neighbors[k, 0], f.B[s.neighbors[k, 1]], s.neighbors[k, 2]
                update_vector_from_narrow(W, f.d_inv, x, node, other, rows, n)


@inlined
def backward(s: EliminationSteps, f: Factor, x: Array, all_wide: bool) -> None:
    """Set x <- L^-T d^-1 x: the result of `forward` becomes the solution;  all_wide: a constant, see `factor_nodes`."""
    for step in range(s.order.shape[0] - 1, -1, -1):
        node = s.order[step, 0]
        if all_wide or s.order[step, 1] == WIDE:
            # x_n <- d^-1 (x_n - sum W x_o), whose neighbours are solved
            for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
                other, W = s.neighbors[k, 0], f.B[s.neighbors[k, 1]]
                if all_wide or s.neighbors[k, 2] == WIDE:
                    substitute(W, x, node, other)
                else:
                    substitute_lines(W, x, node, other, s.neighbors[k, 2])
            for a in range(6):
                x[node, a] *= f.d_inv[node, a]
            # x_n <- L_n^-T x_n
            backward_block(f.D[node], x, node)
        else:
            rows = s.order[step, 1]
            for k in range(s.neighbor_starts[step], s.neighbor_starts[step + 1]):
                other, W, n = s.neighbors[k, 0], f.B[s.neighbors[k, 1]], s.neighbors[k, 2]
                substitute_in_narrow(W, x, node, other, rows, n)
            for a in range(6):
                x[node, a] *= f.d_inv[node, a]
            backward_narrow(f.D[node], x, node, rows)


@inlined
def substitute(W: Array, x: Array, node: int, other: int) -> None:
    """Set x[node] <- x[node] - W x[other], where x[other] is known."""
    y0, y1, y2, y3, y4, y5 = x[other, 0], x[other, 1], x[other, 2], x[other, 3], x[other, 4], x[other, 5]
    for a in range(6):
        x[node, a] -= (W[a, 0] * y0 + W[a, 1] * y1 + W[a, 2] * y2) + (W[a, 3] * y3 + W[a, 4] * y4 + W[a, 5] * y5)


@kernel
def residual(inertia: Array, pad: Array, edges: Ints, J: Array, b: Array, x: Array, out: Array) -> None:
    """Write b - K x to out, all (nn, 6) by nodes, with the true inertia."""
    n = inertia.shape[0]
    for k in range(1, n):
        for a in range(3):
            total = 0.0
            for c in range(3):
                total += inertia[k, 1 + 3 * a + c] * x[k, 3 + c]
            out[k, a] = b[k, a] - inertia[k, 0] * x[k, a]
            out[k, 3 + a] = b[k, 3 + a] - total
    for e in range(edges.shape[0]):
        for a in range(6):
            slot = 6 * e + a
            lam = x[n + e, a]
            total = pad[slot] * lam
            for side in range(edges.shape[1]):
                body = edges[e, side]
                if body == 0 or pad[slot] != 0.0:
                    continue
                for c in range(6):
                    total += J[slot, side, c] * x[body, c]
                    out[body, c] -= J[slot, side, c] * lam
            out[n + e, a] = b[n + e, a] - total


class AugmentedMatrix(NamedTuple):
    """The arrays of the matrix K, with the true inertia, and of K + E, with the shifted one, which is factored.

    inertia, shifted: (nb + 1, 10);  pad: (6 ne,);  edges: (ne, sides);  J: (6 ne, sides, 6)
    """

    inertia: Array
    shifted: Array
    pad: Array
    edges: Ints
    J: Array


def refinement(solve: Any) -> Any:
    """Return the kernel of iterative refinement with a solver:  solve(w, x) sets x <- (K + E)^-1 x."""

    @kernel
    def refine(w: Workspace, K: AugmentedMatrix, b: Array, x: Array, dx: Array) -> tuple[float, int]:
        """Improve x by sweeps x <- x + (K + E)^-1 (b - K x); return the last relative correction and its node."""
        change, where, light = np.inf, -1, ws.has_light_bodies(w)
        part = 1.0  # of the correction that is added: nothing where the sweeps have ended
        for _ in range(MAX_SWEEPS):
            residual(K.inertia, K.pad, K.edges, K.J, b, x, dx)
            solve(w, dx)
            found, node = correct(K.inertia, K.shifted, b, x, dx, part)
            if light:
                found, node = largest_own_part(K.inertia, K.shifted, b, x, dx)
            goes_on, ends = part > 0.0, (found <= REFINED) | (found >= change)
            change, where = select(goes_on, found, change), select(goes_on, node, where)
            part = select(ends, 0.0, part)
            if not somewhere(part > 0.0):
                break
        return change, where

    return refine


@kernel
def largest_moment(inertia: Array, k: int) -> float:
    """Return the largest moment of inertia about an axis of the frame of body k;  inertia: (nb + 1, 10)."""
    return max(inertia[k, 1], inertia[k, 5], inertia[k, 9])  # type: ignore[no-any-return]


@kernel
def correct(inertia: Array, shifted: Array, b: Array, x: Array, dx: Array, part: float) -> tuple[float, int]:
    """Add a part, 1 or 0, of the correction dx to x; return the largest of dx, relative to the largest acceleration, and its node.

    Where joints hold what forces push, x is rounding: it is compared with the accelerations of free bodies under the same forces, too.
    """
    largest, largest_dx, where = 0.0, 0.0, -1
    for k in range(1, inertia.shape[0]):
        for a in range(6):
            x[k, a] += part * dx[k, a]
            largest_dx, where = worst_of(largest_dx, where, abs(dx[k, a]), k)
        largest = max(largest, own_acceleration(inertia, shifted, b, x, k))
    for k in range(inertia.shape[0], x.shape[0]):
        for a in range(6):
            x[k, a] += part * dx[k, a]
    return select((largest > 0.0) | (largest_dx != largest_dx), largest_dx / largest, 0.0), where  # noqa: PLR0124  NaN stays


@kernel
def own_acceleration(inertia: Array, shifted: Array, b: Array, x: Array, k: int) -> float:
    """Return the largest component of the acceleration of body k, or of what it would be without joints."""
    largest, moment = 0.0, largest_moment(inertia, k)
    if moment == 0.0:
        moment = largest_moment(shifted, k) / SHIFT
    for a in range(6):
        free = b[k, a] / (inertia[k, 0] if a < 3 else moment)  # noqa: PLR2004  the force comes first
        largest = max(largest, abs(x[k, a]), abs(free))
    return largest


@kernel
def largest_own_part(inertia: Array, shifted: Array, b: Array, x: Array, dx: Array) -> tuple[float, int]:
    """Return the largest correction of a body, relative to its own acceleration, and its node; see HELD."""
    largest, worst, where = 0.0, 0.0, -1
    for k in range(1, inertia.shape[0]):
        largest = max(largest, own_acceleration(inertia, shifted, b, x, k))
    for k in range(1, inertia.shape[0]):
        size = max(own_acceleration(inertia, shifted, b, x, k), HELD * largest)
        for a in range(6):
            larger_one = (not abs(dx[k, a]) <= worst * size) & (worst == worst)  # NaN stays the worst
            worst, where = select(larger_one, abs(dx[k, a]) / size, worst), select(larger_one, k, where)
    return worst, where
