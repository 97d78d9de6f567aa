r"""Any rows between two bodies in the recursion: the motions that they allow, by a QR factorization.

    rows       J_j u_j + J_i u_i = b                      m rows on the body j and its parent i
    QR         C J_j^T = Q (L^T; 0)                       C = diag(M_j)^-1/2: lengths and angles compare
    =>         u_j = R w + S z,   w = c - K u_i           R = C Q_1,  S = C Q_2;  J_j S = 0;  c = L^-1 b,  K = L^-1 J_i
    inward     U = I^A S    D = S^T U    E = R^T U D^-1   B = R^T I^A R - E D E^T
               zeta = D^-1 S^T p         y = R^T p - E S^T p              p: forces on body j and on what it carries
               I_i <- I_i + K^T B K                       p_i <- p_i - K^T (y - B c)
    outward    z = zeta - E^T w                           lam = L^-T (y - B w)

Nothing is assumed of the rows but that they are independent on body j; then every matrix that is inverted is positive definite. Rows that
nearly depend on each other make L ill-conditioned, and nothing else. A body that hangs on nothing has no rows, S = C.
The cost is about 700 multiply-adds a body to factor, and 200 to solve.
Source: Featherstone (2008), sec. 7.3 (articulated-body algorithm), with S of sec. 3.5 from the rows; Golub and Van Loan, Householder QR.
"""

from __future__ import annotations

from math import sqrt

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import kernel
from haugmbd.compiled.selection import select
from haugmbd.kkt.tree_arrays import (
    BASIS,
    BODY,
    CARRIER,
    EDGE,
    FORCE,
    LINEAR,
    PARENT,
    PIVOT,
    ROWS,
    SCRATCH,
    SIDE,
    STIFF,
    ZETA,
    Y,
    add_inertia,
    add_wrench,
    at_handle,
    center,
    load_inertia,
    load_wrench,
    motion,
    put_center,
    row_wrench,
    step_of,
)
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    NO_WRENCH,
    ZERO,
    ArticulatedInertia,
    Six,
    Twist,
    Wrench,
    add_wrenches,
    power,
    scale_wrench,
    shift_wrench,
    times_twist,
)
from haugmbd.math.larger import weakest_of
from haugmbd.math.vec3 import Vec, load, scale, store
from haugmbd.workspace.layout import Workspace


@kernel
def place_general(w: Workspace, n: int) -> float:
    """Write R, S, L and K of a joint, K about the parent's centre of mass.

    Return the smallest pivot relative to the square of its row on the body that is carried, zero where the rows depend on each other.
    """
    t, s = step_of(w, n)
    k, m, e = s[BODY], s[ROWS], s[EDGE]
    block = t.block[k]
    put_center(t, k, ZERO)
    for a in range(m):
        for c in range(6):
            block[SCRATCH + a, c] = t.J[6 * e + a, s[SIDE], c] * unit_motion(t.inertia, k, c)
    worst = 1.0
    put_basis(block, m)
    for a in range(m):
        node, pivot, square = t.body.shape[0] + e, block[SCRATCH + a, a] ** 2, 0.0
        for b in range(a + 1):
            square += block[SCRATCH + a, b] ** 2  # reflections have not changed the length of the row
        t.d_inv[node, a] = 1.0 / pivot
        worst, _ = weakest_of(worst, 0, pivot / square, 0)
    scale_basis(block, t.inertia, t.A, k)
    if s[PARENT] > 0:
        for a in range(m):
            row = row_wrench(t, 6 * e + a, 1 - s[SIDE], s[PARENT])
            for b in range(a):
                row = add_wrenches(row, scale_wrench(-block[PIVOT + 6 - m + a, 6 - m + b], carrier(block, b)))
            put_carrier(block, a, scale_wrench(1.0 / block[PIVOT + 6 - m + a, 6 - m + a], row))
    return worst


@kernel
def attach_general(w: Workspace, n: int) -> None:
    """Refer K to the parent's handle."""
    t, s = step_of(w, n)
    if s[PARENT] > 0:
        block, c = t.block[s[BODY]], center(t, s[PARENT])
        for a in range(s[ROWS]):
            put_carrier(block, a, at_handle(carrier(block, a), c))


@kernel
def unit_motion(inertia: Array, k: int, c: int) -> float:
    """Return the motion along coordinate c that has the kinetic energy 1/2, without products of inertia."""
    return 1.0 / sqrt(inertia[k, 0] if c < 3 else inertia[k, 4 * c - 11])  # noqa: PLR2004  m; J_xx, J_yy, J_zz in columns 1, 5, 9


@kernel
def put_basis(block: Array, m: int) -> None:
    """Write Q and L for the m rows in the scratch block, which becomes lower triangular."""
    for r in range(6):
        for c in range(6):
            block[BASIS + r, c] = 1.0 if r == c else 0.0
    for a in range(m):
        reflect(block, a, m)
    for a in range(m):
        for b in range(a + 1):
            block[PIVOT + 6 - m + a, 6 - m + b] = block[SCRATCH + a, b]


@kernel
def reflect(block: Array, p: int, m: int) -> None:
    """Turn the rows so that row p has no component behind p, by a reflection, and Q with them."""
    square = 0.0
    for c in range(p, 6):
        square += block[SCRATCH + p, c] ** 2
    size = sqrt(square)
    diagonal = select(block[SCRATCH + p, p] > 0.0, -size, size)
    block[SCRATCH + p, p] -= diagonal
    square = size * abs(block[SCRATCH + p, p])  # half of the square of the normal of the mirror
    for r in range(p + 1, m):
        mirror(block, SCRATCH + p, SCRATCH + r, p, square)
    for r in range(6):
        mirror(block, SCRATCH + p, BASIS + r, p, square)
    block[SCRATCH + p, p] = diagonal


@kernel
def mirror(block: Array, normal: int, row: int, p: int, square: float) -> None:
    """Reflect a row, its components from p on."""
    total = 0.0
    for c in range(p, 6):
        total += block[normal, c] * block[row, c]
    total /= square
    for c in range(p, 6):
        block[row, c] -= total * block[normal, c]


@kernel
def scale_basis(block: Array, inertia: Array, A: Array, k: int) -> None:
    """Multiply Q by C, and turn the rotations, its last three rows, from the frame of body k to the global one."""
    for r in range(6):
        size = unit_motion(inertia, k, r)
        for c in range(6):
            block[BASIS + r, c] *= size
    for c in range(6):
        x, y, z = block[BASIS + 3, c], block[BASIS + 4, c], block[BASIS + 5, c]
        for a in range(3):
            block[BASIS + 3 + a, c] = A[k, a, 0] * x + A[k, a, 1] * y + A[k, a, 2] * z


@kernel
def column(block: Array, c: int) -> Twist:
    """Return column c of (R, S)."""
    linear = (block[BASIS, c], block[BASIS + 1, c], block[BASIS + 2, c])
    return Twist(linear, (block[BASIS + 3, c], block[BASIS + 4, c], block[BASIS + 5, c]))


@kernel
def carrier(block: Array, a: int) -> Wrench:
    """Return row a of K, a wrench on the parent about its handle."""
    return Wrench(load(block, CARRIER + a, 0), load(block, CARRIER + a, 3))


@kernel
def put_carrier(block: Array, a: int, row: Wrench) -> None:
    """Write row a of K."""
    store(block, CARRIER + a, 0, row.force)
    store(block, CARRIER + a, 3, row.moment)


@kernel
def eliminate_general(w: Workspace, n: int) -> float:
    """Compute D, E and B of a joint, and pass the articulated inertia to the parent; return the smallest pivot of D."""
    t, s = step_of(w, n)
    k, m = s[BODY], s[ROWS]
    least = put_stiffness(t.block[k], load_inertia(t.body, k, LINEAR), m)
    if s[PARENT] > 0:
        add_inertia(t.body, s[PARENT], LINEAR, passed_inertia(t.block[k], m))
    return least


@kernel
def put_stiffness(block: Array, I: ArticulatedInertia, m: int) -> float:
    """Write the factor of D, and B and E; return the smallest pivot of D."""
    for c in range(6 - m):
        U = times_twist(I, column(block, m + c))
        for b in range(c + 1):
            block[PIVOT + c, b] = power(U, column(block, m + b))
        for a in range(m):
            block[STIFF + a, m + c] = power(U, column(block, a))
    least = factor_pivot(block, 6 - m)
    for a in range(m):
        for c in range(m, 6):
            total = block[STIFF + a, c]
            for b in range(m, c):
                total -= block[PIVOT + c - m, b - m] * block[STIFF + a, b]
            block[STIFF + a, c] = total / block[PIVOT + c - m, c - m]
    for b in range(m):
        f = times_twist(I, column(block, b))
        for a in range(b, m):
            total = power(f, column(block, a))
            for c in range(m, 6):
                total -= block[STIFF + a, c] * block[STIFF + b, c]
            block[STIFF + a, b] = block[STIFF + b, a] = total
    for a in range(m):
        back_substitute(block, STIFF + a, m, 6 - m)
    return least


@kernel
def factor_pivot(block: Array, n: int) -> float:
    """Overwrite D (n, n) by its Cholesky factor; return the smallest square of its diagonal, at most 1."""
    least = 1.0
    for c in range(n):
        for r in range(c, n):
            total = block[PIVOT + r, c]
            for b in range(c):
                total -= block[PIVOT + r, b] * block[PIVOT + c, b]
            if r > c:
                block[PIVOT + r, c] = total / block[PIVOT + c, c]
            else:
                least = weakest_of(least, 0, total, 0)[0]
                block[PIVOT + c, c] = sqrt(total)
    return least


@kernel
def back_substitute(block: Array, line: int, first: int, n: int) -> None:
    """Replace a line x (n,), which starts at a column, by x G^-1 with the factor G of D."""
    for c in range(n - 1, -1, -1):
        total = block[line, first + c]
        for b in range(c + 1, n):
            total -= block[line, first + b] * block[PIVOT + b, c]
        block[line, first + c] = total / block[PIVOT + c, c]


@kernel
def passed_inertia(block: Array, m: int) -> ArticulatedInertia:
    """Return K^T B K."""
    I = NO_INERTIA
    for b in range(m):
        w = NO_WRENCH
        for a in range(m):
            w = add_wrenches(w, scale_wrench(block[STIFF + a, b], carrier(block, a)))
        I = add_product(I, w, carrier(block, b))
    return I


@kernel
def add_product(I: ArticulatedInertia, v: Wrench, w: Wrench) -> ArticulatedInertia:
    """Return I + v w^T, of which only the upper triangles of M and J are kept."""
    H, x, n = I.H, v.force, w.moment
    mixed = (
        H[0] + x[0] * n[0], H[1] + x[0] * n[1], H[2] + x[0] * n[2],
        H[3] + x[1] * n[0], H[4] + x[1] * n[1], H[5] + x[1] * n[2],
        H[6] + x[2] * n[0], H[7] + x[2] * n[1], H[8] + x[2] * n[2],
    )  # fmt: skip
    return ArticulatedInertia(add_upper(I.M, x, w.force), mixed, add_upper(I.J, v.moment, n))


@kernel
def add_upper(M: Six, a: Vec, b: Vec) -> Six:
    """Return the upper triangle of M + a b^T."""
    return (
        M[0] + a[0] * b[0], M[1] + a[0] * b[1], M[2] + a[0] * b[2], M[3] + a[1] * b[1], M[4] + a[1] * b[2], M[5] + a[2] * b[2]
    )  # fmt: skip


@kernel
def pass_general_force(w: Workspace, n: int, x: Array) -> None:
    """Compute zeta and y of a joint, replace b by c, and pass the forces to the parent."""
    t, s = step_of(w, n)
    k, m, node = s[BODY], s[ROWS], t.body.shape[0] + s[EDGE]
    put_forces(t.block[k], load_wrench(t, k, FORCE), m)
    if m > 0:
        put_jumps(t.block[k], x, node, m)
    if s[PARENT] > 0:
        add_wrench(t, s[PARENT], FORCE, passed_force(t.block[k], x, node, m))


@kernel
def put_forces(block: Array, p: Wrench, m: int) -> None:
    """Write zeta and y."""
    free = 6 - m
    for c in range(free):
        block[SCRATCH, c] = power(p, column(block, m + c))
    for a in range(m):
        total = power(p, column(block, a))
        for c in range(free):
            total -= block[STIFF + a, m + c] * block[SCRATCH, c]
        block[Y, a] = total
    for c in range(free):
        total = block[SCRATCH, c]
        for b in range(c):
            total -= block[PIVOT + c, b] * block[ZETA, b]
        block[ZETA, c] = total / block[PIVOT + c, c]
    back_substitute(block, ZETA, 0, free)


@kernel
def put_jumps(block: Array, x: Array, node: int, m: int) -> None:
    """Replace b by c = L^-1 b."""
    first = 6 - m
    for a in range(m):
        total = x[node, a]
        for b in range(a):
            total -= block[PIVOT + first + a, first + b] * x[node, b]
        x[node, a] = total / block[PIVOT + first + a, first + a]


@kernel
def passed_force(block: Array, x: Array, node: int, m: int) -> Wrench:
    """Return - K^T (y - B c)."""
    passed = NO_WRENCH
    for a in range(m):
        total = block[Y, a]
        for b in range(m):
            total -= block[STIFF + a, b] * x[node, b]
        passed = add_wrenches(passed, scale_wrench(-total, carrier(block, a)))
    return passed


@kernel
def move_general(w: Workspace, n: int, x: Array) -> Twist:
    """Return the acceleration of a body at its handle, and write the multipliers of its rows."""
    t, s = step_of(w, n)
    k, i, m, e = s[BODY], s[PARENT], s[ROWS], s[EDGE]
    node = t.body.shape[0] + e
    if i > 0:
        subtract_motion(t.block[k], motion(t, i), x, node, m)
    if e >= 0:
        put_general_multipliers(t.block[k], x, node, m)
    return resulting_motion(t.block[k], m)


@kernel
def subtract_motion(block: Array, a: Twist, x: Array, node: int, m: int) -> None:
    """Replace c by w = c - K u_i."""
    for r in range(m):
        x[node, r] -= power(carrier(block, r), a)


@kernel
def put_general_multipliers(block: Array, x: Array, node: int, m: int) -> None:
    """Move w to the scratch block, and write lam = L^-T (y - B w) in its place."""
    first = 6 - m
    for a in range(m):
        block[SCRATCH, a] = x[node, a]
    for a in range(m - 1, -1, -1):
        total = block[Y, a]
        for b in range(m):
            total -= block[STIFF + a, b] * block[SCRATCH, b]
        for b in range(a + 1, m):
            total -= block[PIVOT + first + b, first + a] * x[node, b]
        x[node, a] = total / block[PIVOT + first + a, first + a]
    for a in range(m, 6):
        x[node, a] = 0.0


@kernel
def resulting_motion(block: Array, m: int) -> Twist:
    """Return R w + S z, with z = zeta - E^T w."""
    for c in range(m, 6):
        total = block[ZETA, c - m]
        for a in range(m):
            total -= block[STIFF + a, c] * block[SCRATCH, a]
        block[SCRATCH, c] = total
    return Twist(three_components(block, 0), three_components(block, 3))


@kernel
def three_components(block: Array, first: int) -> Vec:
    """Return three components of (R, S) (w, z)."""
    return (component(block, first), component(block, first + 1), component(block, first + 2))


@kernel
def component(block: Array, r: int) -> float:
    """Return component r of (R, S) (w, z)."""
    total = 0.0
    for c in range(6):
        total += block[BASIS + r, c] * block[SCRATCH, c]
    return total


@kernel
def pass_general_reaction(w: Workspace, n: int, x: Array) -> None:
    """Add what the rows of a joint take from the parent, - K^T L^T lam, about the parent's centre of mass."""
    t, s = step_of(w, n)
    k, i, m = s[BODY], s[PARENT], s[ROWS]
    block, node, taken = t.block[k], t.body.shape[0] + s[EDGE], NO_WRENCH
    for b in range(m):
        total = 0.0
        for a in range(b, m):
            total += block[PIVOT + 6 - m + a, 6 - m + b] * x[node, a]
        taken = add_wrenches(taken, scale_wrench(-total, carrier(block, b)))
    add_wrench(t, i, FORCE, shift_wrench(taken, scale(-1.0, center(t, i))))
