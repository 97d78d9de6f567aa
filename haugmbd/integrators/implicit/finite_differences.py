r"""Tangents by differences, where there is no formula: user forces, and the curvature of the constraints.

    column a of body k:   ( R(q o exp(c_q eps e_a), u + c_u eps e_a) - R(q, u) ) / eps  =  c_q dR/dq + c_u dR/du         R = Phi_q^T lam - Q

One evaluation gives stiffness and damping together, for everything that acts on the body, and for all bodies of one color (which have no
neighbour in common, see `implicit.coloring`).  The cost is O(n) for chains and trees with few branches at a body.
The symmetric part enters the matrix: blocks of bodies whose forces are differenced, and of pairs with one.  The solution of Newton's
iteration does not change.
modified Newton   the bodies under a user function without a jacobian, without Phi_q^T lam
full Newton       all bodies, with Phi_q^T lam:  d(Phi_q^T lam)/dq is the curvature of the constraints under their reactions
Source: Geradin, Cardona, Flexible Multibody Dynamics, ch. 12 (tangent of constraint forces); Dennis, Schnabel (differences).
"""

from __future__ import annotations

from typing import Any

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.math.body_columns import VELOCITY
from haugmbd.math.euler_kernels import rotate_by
from haugmbd.model.evaluate import prepare
from haugmbd.model.generalized_forces import copy_line
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import WIDTH, Pack

SMALL_Q, SMALL_U = 1e-7, 1e-5
"""Largest displacement [m, rad] and change of u of a difference: half the digits of positions of size 1."""


@kernel
def put_unbalanced(P: Pack, curved: bool, R: Array) -> None:
    """Write Phi_q^T lam - Q, or -Q alone, to R (nb + 1, 6)."""
    Q, J, edges = ws.generalized_forces(P), ws.jacobian(P), ws.edges(P)
    lam = ws.multipliers(P)
    for k in range(R.shape[0]):
        for a in range(6):
            R[k, a] = -Q[k, a]
    if not curved:
        return
    for e in range(edges.shape[0]):
        for side in range(edges.shape[1]):
            for a in range(6):
                for c in range(6):
                    R[edges[e, side], c] += J[6 * e + a, side, c] * lam[6 * e + a]


@kernel
def displace(y: Array, k: int, a: int, c_q: float, c_u: float) -> None:
    """Displace body k by c_q along, or about, its axis a, and change that velocity by c_u."""
    if a < 3:
        y[WIDTH * k + a] += c_q
    else:
        turn: Any = (c_q if a == 3 else 0.0, c_q if a == 4 else 0.0, c_q if a == 5 else 0.0)
        rotate_by(borrow_line(y, WIDTH * k + 3, 4), turn)
    y[WIDTH * k + VELOCITY + a] += c_u


@kernel
def clear_differenced(colors: Ints, pairs: Ints, own: Array, pair_blocks: Array) -> None:
    """Clear the blocks that differences fill."""
    for k in range(1, colors.shape[0]):
        if colors[k, 0] > 0:
            for a in range(36):
                own[k, a] = 0.0
    for n in range(pairs.shape[0]):
        if colors[pairs[n, 0], 0] + colors[pairs[n, 1], 0] > 0:
            for a in range(36):
                pair_blocks[n, a] = 0.0


@kernel
def add_columns(colors: Ints, pairs: Ints, color: int, a: int, slopes: Array, own: Array, pair_blocks: Array) -> None:
    """Add column a of all bodies of a color, half of it as a row: the symmetric part.  slopes: (nb + 1, 6)"""
    for k in range(1, colors.shape[0]):
        if colors[k, 0] != color:
            continue
        for m in range(6):
            half = 0.5 * slopes[k, m]
            own[k, 6 * m + a] += half
            own[k, 6 * a + m] += half
    for n in range(pairs.shape[0]):
        i, j = pairs[n, 0], pairs[n, 1]
        share = 0.5 if colors[i, 0] > 0 and colors[j, 0] > 0 else 1.0
        for m in range(6):
            if colors[j, 0] == color:
                pair_blocks[n, 6 * m + a] += share * slopes[i, m]
            elif colors[i, 0] == color:
                pair_blocks[n, 6 * a + m] += share * slopes[j, m]


@inlined
def difference_forces(P: Pack, c_q: float, c_u: float, curved: bool, t: float, y: Array) -> int:
    """Fill the tangents of differenced bodies, and restore rows and forces."""
    colors, pairs = ws.difference_colors(P), ws.coupled_pairs(P)
    own, pair_blocks = ws.tangents(P), ws.coupled_tangents(P)
    n, start = own.shape[0], ws.start_of(P, at.DIFFERENCES)
    moved, before, slopes = (
        borrow_line(P.work, start, y.size),
        borrow(P.work, start + y.size, n, 6),
        borrow(P.work, start + y.size + 6 * n, n, 6),
    )
    eps = min(SMALL_Q / c_q, SMALL_U / c_u)
    clear_differenced(colors, pairs, own, pair_blocks)
    put_unbalanced(P, curved, before)
    for column in range(6 * colors[0, 0]):
        color, a = 1 + column // 6, column % 6
        copy_line(y, moved)
        for k in range(1, n):
            if colors[k, 0] == color:
                displace(moved, k, a, c_q * eps, c_u * eps)
        code = prepare(P, t, moved)
        if code != OK:
            return code
        put_unbalanced(P, curved, slopes)
        for k in range(n):
            for m in range(6):
                slopes[k, m] = (slopes[k, m] - before[k, m]) / eps
        add_columns(colors, pairs, color, a, slopes, own, pair_blocks)
    restored: int = prepare(P, t, y)
    return restored
