r"""The augmented system by one LU with complete pivoting, for bodies so light beside others that every fixed order of elimination fails.

    K x = b        s_i s_j |K_ij| <= 1, the largest of each line near 1        P (S K S) Q = L U        x = S Q U^-1 L^-1 P S b

A fixed order (bodies before the rows that hold them) writes 1 / m into the complement of the rows.  With a link of 1e-9 kg between bodies
of 1e9 kg nothing of these remains there: 1e-9 of their inertia against 1e9, eighteen orders.  The matrix itself is not to blame, if its
rows are independent: its lines can be scaled so that all pivots lie far above rounding, once a light body is eliminated together with
rows that hold it, as the largest entry that remains says.
The cost is n^3 / 3 for each right-hand side, and so this is taken only where iterative refinement of the other factors stalls.
It serves models of at most MOST_UNKNOWNS, since the matrix is stored whole.
Source: Golub and Van Loan (2013), Matrix Computations, sec. 3.4 (complete pivoting) and 3.5 (scaling); Hough and Vavasis (1997), Complete
orthogonal decomposition for weighted least squares, SIAM J. Matrix Anal. Appl. 18 (why spread weights need exchanges).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout as at
from haugmbd.workspace.layout import Workspace

MOST_UNKNOWNS = 400
"""Most unknowns of a model that is solved in this way: the matrix takes 1.3 MB, its factor 15 ms."""

PLACE, SCALE, ROW, COLUMN, VALUE = range(5)
"""Columns beside the matrix: the unknown as 6 k + a for number a of node k; its scale; the exchanges of rows and of columns; a vector."""

BESIDE = 5
"""Number of these columns."""

ROUNDS = 4
"""Rounds of scaling; each takes the square root of what is left."""

LEAST_PIVOT = 1e-25
"""Least pivot of the scaled matrix.  Those of graded masses lie below rounding and are exact for all that; whether one is only rounding is
for the refinement to say, whose corrections do not become small then."""


class Entries(NamedTuple):
    """The entries of K.

    inertia: (nb + 1, 10);  edges: (ne, sides);  J: (6 ne, sides, 6);  pad: (6 ne,)
    kept: (ne, 6) of the compiled model;  d_inv: (nn, 6), zero for the rows of an edge that its factor leaves out
    """

    inertia: Array
    edges: Ints
    J: Array
    pad: Array
    kept: Array
    d_inv: Array


def room_for(n_bodies: int, n_rows: int) -> tuple[int, int]:
    """Return the shape of the matrix COMPLETE for so many moving bodies and rows; none for a model with too many unknowns."""
    n = 6 * n_bodies + n_rows
    return (n, n + BESIDE) if n <= MOST_UNKNOWNS else (0, 0)


@kernel
def can_exchange(w: Workspace) -> bool:
    """Return whether this elimination serves the model: it has room, and no tangent of a force stands in K."""
    return ws.rows_of(w, at.COMPLETE) > 0 and ws.tangent_blocks(w).shape[0] == 0


@inlined
def matrix_of(w: Workspace) -> Array:
    """Return the matrix with the columns beside it."""
    n = ws.rows_of(w, at.COMPLETE)
    matrix: Array = borrow(w.work, ws.start_of(w, at.COMPLETE), n, n + BESIDE)
    return matrix


@kernel
def number_unknowns(K: Entries, W: Array, number: Array) -> None:
    """Write the unknowns to W[:, PLACE], with the scale 1, and to number (nn, 6) where each stands, -1 for none.

    A row that is left out has the scale 0; so have lines that no unknown needs.
    """
    n, first_edge, beside = 0, K.inertia.shape[0], W.shape[0]
    for i in range(beside):
        W[i, beside + PLACE], W[i, beside + SCALE] = 0.0, 0.0
    for k in range(1, number.shape[0]):
        chooses = False
        for a in range(6):
            e = k - first_edge
            chooses |= e >= 0 and K.pad[6 * e + a] == 0.0 and K.kept[e, a] == 0.0
        for a in range(6):
            number[k, a] = -1.0
            if k < first_edge or (K.pad[6 * (k - first_edge) + a] == 0.0 and not (chooses and K.d_inv[k, a] == 0.0)):
                number[k, a] = n
                W[n, beside + PLACE], W[n, beside + SCALE] = 6 * k + a, 1.0
                n += 1


@kernel
def put_matrix(K: Entries, W: Array, number: Array) -> None:
    """Write K, and 1 on the diagonal of lines without an unknown."""
    n, first_edge = W.shape[0], K.inertia.shape[0]
    for i in range(n):
        for j in range(n):
            W[i, j] = 0.0
        W[i, i] = 1.0 - W[i, n + SCALE]
    # M = diag(m 1, J_bar)
    for k in range(1, first_edge):
        first = int(number[k, 0])
        for a in range(3):
            W[first + a, first + a] = K.inertia[k, 0]
            for c in range(3):
                W[first + 3 + a, first + 3 + c] = K.inertia[k, 1 + 3 * a + c]
    # Phi_q and its transpose
    for e in range(K.edges.shape[0]):
        for a in range(6):
            row = int(number[first_edge + e, a])
            if row >= 0:
                for side in range(K.edges.shape[1]):
                    body = K.edges[e, side]
                    if body > 0:
                        for c in range(6):
                            column = int(number[body, c])
                            W[row, column] += K.J[6 * e + a, side, c]
                            W[column, row] += K.J[6 * e + a, side, c]


@kernel
def scale_lines(W: Array) -> None:
    """Scale K from both sides to entries of at most about 1, the largest of each line near 1, and write the scales."""
    n = W.shape[0]
    for _ in range(ROUNDS):
        # s_i = 1 / sqrt(max |K_ij|), from both sides at once
        for i in range(n):
            largest = 0.0
            for j in range(n):
                largest = max(largest, abs(W[i, j]))
            W[i, n + VALUE] = 1.0 / sqrt(largest) if largest > 0.0 else 1.0
        for i in range(n):
            s = W[i, n + VALUE]
            W[i, n + SCALE] *= s
            for j in range(n):
                W[i, j] *= s * W[j, n + VALUE]


@kernel
def factor_scaled(W: Array) -> float:
    """Overwrite the scaled K by its factors L and U; return the smallest pivot, and stop at one that is rounding."""
    n, least = W.shape[0], 1.0
    for k in range(n):
        # the largest entry that remains becomes the pivot
        p, q, pivot = k, k, 0.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(W[i, j]) > pivot:
                    p, q, pivot = i, j, abs(W[i, j])
        W[k, n + ROW], W[k, n + COLUMN], least = p, q, min(least, pivot)
        if not pivot > LEAST_PIVOT:
            return pivot
        for j in range(n):
            W[k, j], W[p, j] = W[p, j], W[k, j]
        for i in range(n):
            W[i, k], W[i, q] = W[i, q], W[i, k]
        # K_ij <- K_ij - K_ik K_kj / K_kk
        inverse = 1.0 / W[k, k]
        for i in range(k + 1, n):
            if W[i, k] != 0.0:
                W[i, k] *= inverse
                part = W[i, k]
                for j in range(k + 1, n):
                    W[i, j] -= part * W[k, j]
    return least


@kernel
def factor_completely(w: Workspace) -> float:
    """Factor K; return its smallest pivot.  The correction of a refinement serves as room for the numbers of the unknowns."""
    W, number = matrix_of(w), ws.correction(w)
    K = Entries(ws.inertia(w), ws.edges(w), ws.jacobian(w), ws.padding_line(w), ws.kept_rows(w), ws.inverse_pivots(w))
    number_unknowns(K, W, number)
    put_matrix(K, W, number)
    scale_lines(W)
    return factor_scaled(W)


@kernel
def solve_completely(w: Workspace, x: Array) -> None:
    """Set x (nn, 6) to K^-1 x, with zero for unknowns that take no part."""
    W = matrix_of(w)
    n = W.shape[0]
    for i in range(n):
        node, a = divmod(int(W[i, n + PLACE]), 6)
        W[i, n + VALUE] = W[i, n + SCALE] * x[node, a]
    # y = L^-1 P S b
    for k in range(n):
        p = int(W[k, n + ROW])
        W[k, n + VALUE], W[p, n + VALUE] = W[p, n + VALUE], W[k, n + VALUE]
    for i in range(n):
        for j in range(i):
            W[i, n + VALUE] -= W[i, j] * W[j, n + VALUE]
    # x = S Q U^-1 y
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            W[i, n + VALUE] -= W[i, j] * W[j, n + VALUE]
        W[i, n + VALUE] /= W[i, i]
    for k in range(n - 1, -1, -1):
        q = int(W[k, n + COLUMN])
        W[k, n + VALUE], W[q, n + VALUE] = W[q, n + VALUE], W[k, n + VALUE]
    for k in range(x.shape[0]):
        for a in range(6):
            x[k, a] = 0.0
    for i in range(n):
        node, a = divmod(int(W[i, n + PLACE]), 6)
        x[node, a] += W[i, n + SCALE] * W[i, n + VALUE]
