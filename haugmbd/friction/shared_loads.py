r"""Loads that redundant rows share, decided by the compliance of bearings: of all multipliers with the same motion those of least energy.

    lam = lam_0 + S y,   Phi_q^T S = 0          lam_0: zero in the rows that are left out;  S: self-stresses, a column for each such row
    S_r = c - e_r,       K (., c) = (Phi_r^T, 0)
    minimise  sum over bearings  w^T C w / 2    w = (F, M): wrench of the joint at P_j;  C: compliance of its bearing
    (S^T C S) y = -S^T C lam_0                  with the wrenches of the columns in place of S

A bearing of stiffness k is as stiff against forces in every direction; its moments are a couple of two bearings of k / 2 each, a length
apart. Joints without a stiffness are rigid, C = 0. The friction reads lam, and lam of unit friction, which is as linear.
Which rows are left out the factorization may choose within an edge: S_r = 0 for a row that is kept, and y_r = 0.
Source: Wojtyra, Joint reactions in rigid body mechanisms with dependent constraints, Mech. Mach. Theory 44 (2009); Wojtyra and Fraczek,
Joint reactions in rigid or flexible body mechanisms with redundant constraints, Bull. Pol. Acad. Sci. 60 (2012).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.array_views import borrow
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.status_codes import OK
from haugmbd.friction import columns as at
from haugmbd.friction.load import wrench_of
from haugmbd.friction.loop_arrays import Loop, algebra_size, keep_solution, restore_solution
from haugmbd.kkt.solver import finish_solution
from haugmbd.math.vec3 import dot, load, store
from haugmbd.workspace import accessors as ws
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Pack

ZERO_COLUMN = 1e-16
"""Energy of a self-stress relative to the largest of all, below which its row is kept: rounding, squared, with a margin."""
DEPENDENT = 1e-10
"""Part of the energy of a self-stress that others leave, below which it acts in rigid joints alone, and is left out."""


class Shares(NamedTuple):
    """The arrays, of at most s self-stresses.

    count: (1, 1) number of columns at hand;  S: (s, 6 nn) in the places of solutions;  W: (s, 6 n) their wrenches
    C: (s, s) lower triangle of S^T C S, then its Cholesky factor;  y: (1, s)
    """

    count: Array
    S: Array
    W: Array
    C: Array
    y: Array


def shares_size(s: int, n: int, nodes: int) -> int:
    """Return the numbers that s self-stresses of n joints with friction need."""
    return 1 + s * (6 * nodes + 6 * n + s + 1) if s else 0


@inlined
def shares_of(P: Pack, L: Loop) -> Shares:
    """Return the arrays of a pack, which stand behind those of the loop."""
    s, n, m = L.ints[0, at.SHARED], L.ints.shape[0], L.X.shape[0]
    count = ws.start_of(P, layout.FRICTION_ALGEBRA) + algebra_size(n, m)
    S = count + 1
    W = S + s * L.X.shape[1]
    C = W + s * 6 * n
    return Shares(
        borrow(P.work, count, 1, 1),
        borrow(P.work, S, s, L.X.shape[1]),
        borrow(P.work, W, s, 6 * n),
        borrow(P.work, C, s, s),
        borrow(P.work, C + s * s, 1, s),
    )


@kernel
def compliant(L: Loop, k: int) -> bool:
    """Return whether the bearing of joint k has a stiffness."""
    return L.ints[k, at.LOADED] == 1 and L.reals[k, at.COMPLIANCE] > 0.0  # type: ignore[no-any-return]


@kernel
def put_own_wrenches(P: Pack, L: Loop, w: Array, line: int) -> None:
    """Write the wrenches of the joints with compliant bearings by the current solution to a line of w (., 6 n), zero for others."""
    x, J, A, first = ws.solution(P), ws.jacobian(P), ws.rotation_matrices(P), ws.n_bodies(P)
    for k in range(L.ints.shape[0]):
        for a in range(6):
            w[line, 6 * k + a] = 0.0
        if compliant(L, k):
            F, M = wrench_of(L.ints, L.terms, k, J, A, x, first)
            store(w, line, 6 * k, F)
            store(w, line, 6 * k + 3, M)


@kernel
def energy(L: Loop, w: Array, i: int, j: int, v: Array) -> float:
    """Return the sum of w_i^T C v_j over all bearings."""
    total = 0.0
    for k in range(L.ints.shape[0]):
        if compliant(L, k):
            total += L.reals[k, at.COMPLIANCE] * dot(load(w, i, 6 * k), load(v, j, 6 * k))
            total += L.reals[k, at.COMPLIANCE + 1] * dot(load(w, i, 6 * k + 3), load(v, j, 6 * k + 3))
    return total


@kernel
def put_self_stress(P: Pack, L: Loop, s: Shares, e: int, a: int) -> int:
    """Write S_r = c - e_r of row a of edge e, and its wrenches, to the next line."""
    b, x, J, edges, first = ws.right_hand_side(P), ws.solution(P), ws.jacobian(P), ws.edges(P), ws.n_bodies(P)
    line = int(s.count[0, 0])
    for node in range(b.shape[0]):
        for c in range(6):
            b[node, c] = 0.0
    for side in range(edges.shape[1]):
        for c in range(6):
            b[edges[e, side], c] += J[6 * e + a, side, c]
    for c in range(6):
        b[0, c] = 0.0
    # K (., c) = (Phi_r^T, 0)
    P.begin(P, P.python_solver)
    code = finish_solution(P)
    for node in range(first):
        for c in range(6):
            x[node, c] = 0.0
    x[first + e, a] -= 1.0
    for node in range(x.shape[0]):
        for c in range(6):
            s.S[line, 6 * node + c] = x[node, c]
    put_own_wrenches(P, L, s.W, line)
    s.count[0, 0] += 1.0
    return code  # type: ignore[no-any-return]


@kernel
def factor_energies(L: Loop, s: Shares) -> None:
    """Write the Cholesky factor of S^T C S; a zero on its diagonal leaves out a column."""
    n, largest = int(s.count[0, 0]), 0.0
    for i in range(n):
        for j in range(i + 1):
            s.C[i, j] = energy(L, s.W, i, j, s.W)
        largest = max(largest, s.C[i, i])
    for j in range(n):
        own = s.C[j, j]
        for k in range(j):
            s.C[j, j] -= s.C[j, k] * s.C[j, k]
        regular = own > ZERO_COLUMN * largest and s.C[j, j] > DEPENDENT * own
        s.C[j, j] = sqrt(s.C[j, j]) if regular else 0.0
        for i in range(j + 1, n):
            for k in range(j):
                s.C[i, j] -= s.C[i, k] * s.C[j, k]
            s.C[i, j] = s.C[i, j] / s.C[j, j] if regular else 0.0


@kernel
def share_solution(P: Pack, L: Loop) -> None:
    """Add S y to the multipliers of the solution, so that the bearings store the least energy."""
    s, x = shares_of(P, L), ws.solution(P)
    n = int(s.count[0, 0])
    put_own_wrenches(P, L, L.w, 0)
    # C C^T y = -S^T C lam
    for i in range(n):
        s.y[0, i] = -energy(L, s.W, i, 0, L.w)
        for k in range(i):
            s.y[0, i] -= s.C[i, k] * s.y[0, k]
        s.y[0, i] = s.y[0, i] / s.C[i, i] if s.C[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            s.y[0, i] -= s.C[k, i] * s.y[0, k]
        s.y[0, i] = s.y[0, i] / s.C[i, i] if s.C[i, i] > 0.0 else 0.0
    # lam = lam_0 + S y
    for i in range(n):
        for node in range(ws.n_bodies(P), x.shape[0]):
            for a in range(6):
                x[node, a] += s.y[0, i] * s.S[i, 6 * node + a]


@kernel
def begin_sharing(P: Pack, L: Loop, base: Array) -> int:
    """Write the self-stresses of the rows that are left out, and share the loads of the solution at hand; base: (1, 6 nn) keeps it."""
    s, kept, pad = shares_of(P, L), ws.kept_rows(P), ws.padding(P)
    keep_solution(P, base)
    s.count[0, 0] = 0.0
    for e in range(kept.shape[0]):
        drops = False
        for a in range(6):
            drops = drops or (pad[e, a] == 0.0 and kept[e, a] == 0.0)
        for a in range(6):
            if drops and pad[e, a] == 0.0:
                code = put_self_stress(P, L, s, e, a)
                if code != OK:
                    return code
    factor_energies(L, s)
    restore_solution(P, base)
    share_solution(P, L)
    return OK


@inlined
def shares(L: Loop) -> bool:
    """Return whether the compliance of bearings decides what redundant rows carry."""
    return L.ints[0, at.SHARED] > 0  # type: ignore[no-any-return]
