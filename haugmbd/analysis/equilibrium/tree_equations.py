r"""Equations of large trees, eliminated from the leaves to the root: what a balance asks of its tangent space, without a basis of it.

    [ H  J^T ] (x )   (f)        H = 1: the least motion with J x = c, the projection on the tangent space, multipliers of least force
    [ J   0  ] (mu) = (c)        H = A = -df/dx: x = N K^-1 g, the step of Newton's method        K = N^T A N

    body b with the rows J_b that join it to its parent p:

    J_b^T = [T1 T2] (R, 0)^T                    orthogonal factors: T2 are the motions that the joint lets free
    D22 = T2^T H_b T2 = L U                     stiffness along them, with all bodies beyond
    [ H_p  . ] <- [ H_p  . ] - (H_pb, J_p^T) K_b^-1 (H_bp, J_p)^T

Forces act between a body and the one it hangs on, or the ground.  All pivots of U are positive if, and only if, K is positive definite: the
pivots of a symmetric matrix in any order count its eigenvalues of each sign.  A step takes about n operations, that by an orthonormal
basis n^3.
Source: Golub and Van Loan, Matrix Computations, sec. 4.2 (positive definite), 4.4 (law of inertia); Featherstone (2008), ch. 8 (sparsity of
trees).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import DirectCall, counted_entry, kernel
from haugmbd.graph import colors_of
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model


class Tree(NamedTuple):
    """A model whose joints close no loop. Moving bodies count from 0.

    parent: (nb,) the body that each hangs on, -1 for the ground;  order: (nb,) leaves first
    starts: (nb + 1,), rows: (nc,) the rows of each body;  side: (nc, 2) of its body and of the parent, in the order of `rows`
    colors: (nb,) bodies of the same color act on no common body
    """

    parent: Ints
    order: Ints
    starts: Ints
    rows: Ints
    side: Ints
    colors: Ints


class Blocks(NamedTuple):
    """A matrix of a tree: diagonal (nb, 6, 6);  up: rows of a body, columns of its parent;  down: rows of the parent."""

    diagonal: Array
    up: Array
    down: Array

    @property
    def symmetric(self) -> Blocks:
        """The symmetric part."""
        up = 0.5 * (self.up + self.down.transpose(0, 2, 1))
        return Blocks(0.5 * (self.diagonal + self.diagonal.transpose(0, 2, 1)), up, up.transpose(0, 2, 1).copy())

    @property
    def largest(self) -> float:
        """The largest entry."""
        return max(float(np.abs(part).max(initial=0.0)) for part in self)

    @property
    def skew(self) -> Blocks:
        """The matrix less its transpose."""
        up = self.up - self.down.transpose(0, 2, 1)
        return Blocks(self.diagonal - self.diagonal.transpose(0, 2, 1), up, -up.transpose(0, 2, 1))

    def plus(self, least: float) -> Blocks:
        """Return the matrix with a number added on the diagonal."""
        return self._replace(diagonal=self.diagonal + least * np.eye(6))

    def along(self, tree: Tree, N: Array) -> Array:
        """Return N^T A N (nd, nd), for N (6 nb, nd)."""
        from scipy.sparse import coo_array  # noqa: PLC0415  imported only where a model is large

        body, hangs = np.arange(len(tree.parent)), np.flatnonzero(tree.parent >= 0)
        above = tree.parent[hangs]
        rows, columns = np.concatenate([body, hangs, above]), np.concatenate([body, above, hangs])
        data = np.concatenate([self.diagonal, self.up[hangs], self.down[hangs]])
        at = 6 * rows[:, None, None] + np.arange(6)[:, None], 6 * columns[:, None, None] + np.arange(6)
        shape = np.broadcast_shapes(at[0].shape, at[1].shape)
        where = tuple(np.broadcast_to(index, shape).ravel() for index in at)
        return np.asarray(N.T @ (coo_array((data.ravel(), where), shape=(len(N), len(N))).tocsr() @ N))

    def times(self, tree: Tree, x: Array) -> Array:
        """Return the product with x (6 nb,)."""
        x = x.reshape(-1, 6)
        y, hangs = np.einsum("bij,bj->bi", self.diagonal, x), np.flatnonzero(tree.parent >= 0)
        y[hangs] += np.einsum("bij,bj->bi", self.up[hangs], x[tree.parent[hangs]])
        np.add.at(y, tree.parent[hangs], np.einsum("bij,bj->bi", self.down[hangs], x[hangs]))
        return np.asarray(y.ravel())


class Rows(NamedTuple):
    """Where rows stand, and their gradients by the body (nc, 6) and its parent (nc, 6), in the order of `Tree.rows`."""

    parents: Ints
    order: Ints
    starts: Ints
    body: Array
    parent: Array


class Factors(NamedTuple):
    """D = T^T H T with D22 factored, T, R: (nb, 6, 6);  W = K_b^-1 (H_bp, J_p)^T (nb, 12, 6);  up, down: of H (nb, 6, 6)"""

    D: Array
    T: Array
    R: Array
    W: Array
    up: Array
    down: Array


class TreeFactor(NamedTuple):
    """The factors of [ H J^T; J 0 ];  least: the smallest pivot of U, positive if H is positive definite along the tangent space."""

    tree: Tree
    rows: Rows
    factors: Factors
    least: float

    def solve(self, f: Array, c: Array) -> tuple[Array, Array]:
        """Return x (6 nb,) and mu (nc,) for the right-hand side f (6 nb,), c (nc,)."""
        x, mu, of_rows = f.reshape(-1, 6).copy(), c[self.tree.rows].copy(), np.empty_like(c)
        solve_at(self.rows, self.factors, x, mu)
        of_rows[self.tree.rows] = mu
        return x.ravel(), of_rows


def factor_of(tree: Tree, J: Array, H: Blocks) -> TreeFactor:
    """Return the factors, for rows J (nc, 2, 6) of their two bodies."""
    nb, of_body = len(tree.parent), J[tree.rows]
    body, parent = (of_body[np.arange(len(of_body)), side].copy() for side in tree.side.T)
    rows = Rows(tree.parent, tree.order, tree.starts, body, parent)
    T, R, W = np.zeros((nb, 6, 6)), np.zeros((nb, 6, 6)), np.zeros((nb, 12, 6))
    factors = Factors(H.diagonal.copy(), T, R, W, H.up.copy(), H.down.copy())
    return TreeFactor(tree, rows, factors, factor_at(rows, factors))


def unit_blocks(tree: Tree) -> Blocks:
    """Return the unit matrix."""
    nb = len(tree.parent)
    return Blocks(np.tile(np.eye(6), (nb, 1, 1)), np.zeros((nb, 6, 6)), np.zeros((nb, 6, 6)))


def transposed(tree: Tree, J: Array, lam: Array) -> Array:
    """Return J^T lam (6 nb,) of rows J (nc, 2, 6)."""
    of_body, product = J[tree.rows] * lam[tree.rows, None, None], np.zeros((len(tree.parent), 6))
    body = np.repeat(np.arange(len(tree.parent)), np.diff(tree.starts))
    hangs, n = tree.parent[body] >= 0, np.arange(len(body))
    np.add.at(product, body, of_body[n, tree.side[:, 0]])
    np.add.at(product, tree.parent[body[hangs]], of_body[n[hangs], tree.side[hangs, 1]])
    return product.ravel()


def blocks_of(tree: Tree, changes: Array) -> Blocks:
    """Return the matrix whose columns, of bodies of one color at once, are changes (n_colors, 6, nb, 6)."""
    body, parent = np.arange(len(tree.parent)), np.maximum(tree.parent, 0)
    hangs = (tree.parent >= 0)[:, None, None]
    diagonal = changes[tree.colors, :, body].transpose(0, 2, 1)
    up = np.where(hangs, changes[tree.colors[parent], :, body].transpose(0, 2, 1), 0.0)
    down = np.where(hangs, changes[tree.colors, :, parent].transpose(0, 2, 1), 0.0)
    return Blocks(diagonal.copy(), up.copy(), down.copy())


@once_per_model
def tree_of(model: Model) -> Tree | None:
    """Return the tree of a model; None if joints close a loop, or forces act between bodies that no joint joins."""
    if model.sides > 2 or len(model.redundancy.dropped) or len(model.velocity_rows) or not model.nc:
        return None
    if any(entry.load.is_friction for entry in model.loads) or model.network is not None:
        return None
    pairs = model.bodies_of_rows()
    near: list[set[int]] = [set() for _ in range(model.nb + 1)]
    for i, j in np.unique(np.sort(pairs, axis=1), axis=0).tolist():
        near[i].add(j)
        near[j].add(i)
    parent = np.full(model.nb + 1, -1)
    order = _depths_first(near, parent)
    hung = {frozenset((int(parent[body]), body)) for body in order if parent[body] >= 0}
    if len(hung) != sum(map(len, near)) // 2 or (pairs[:, 0] == pairs[:, 1]).any():
        return None
    if any(len(group) > 1 and frozenset(body + 1 for body in group) not in hung for group in groups_of_forces(model)):
        return None
    of_row = np.where(parent[pairs[:, 0]] == pairs[:, 1], pairs[:, 0], pairs[:, 1])
    count, rows = np.bincount(of_row - 1, minlength=model.nb), np.argsort(of_row, kind="stable")
    if count.max(initial=0) > 6:
        return None
    side = (pairs[rows, 1] == of_row[rows]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(count)])
    above = np.where(parent[1:] > 0, parent[1:] - 1, -1)
    return Tree(above, np.array(order[::-1]) - 1, starts, rows, np.column_stack([side, 1 - side]), colors_of_bodies(model))


def _depths_first(near: list[set[int]], parent: Ints) -> list[int]:
    """Return the moving bodies, each behind the one that it hangs on, and write that to `parent`; -1 for those that begin a tree."""
    order, seen = list[int](), np.zeros(len(near), dtype=bool)
    for root in range(len(near)):
        if seen[root]:
            continue
        seen[root], waiting = True, [root]
        while waiting:
            body = waiting.pop()
            if body:
                order.append(body)
            for other in sorted(near[body]):
                if not seen[other]:
                    seen[other], parent[other] = True, body
                    waiting.append(other)
    return order


@once_per_model
def colors_of_bodies(model: Model) -> Ints:
    """Return a color of each moving body (nb,): those of one color act on no common body, and are moved at once."""
    return colors_of(model.nb, bodies_that_act(model))


def bodies_that_act(model: Model) -> list[set[int]]:
    """Return the moving bodies, from 0, that act on each one, itself among them."""
    near = [{k} for k in range(model.nb)]
    for group in groups_of_forces(model):
        for body in group:
            near[body] |= group
    return near


def groups_of_forces(model: Model) -> Iterator[set[int]]:
    """Yield the moving bodies, from 0, of each row and of each force element; all of them if any may act on any."""
    if model.network is not None or any(entry.load.is_friction for entry in model.loads):
        yield set(range(model.nb))
        return
    pairs = np.unique(np.sort(model.bodies_of_rows(), axis=1), axis=0)
    for pair in pairs.tolist():
        yield {body - 1 for body in pair if body}
    numbers = {id(body): k for k, body in enumerate(model.bodies[1:])}
    for entry in model.loads:
        load = entry.load
        used = [*load.bodies(), *(body for body, _ in load.markers())]
        used += [body for coordinate in load.coordinates() for body, _ in coordinate.markers()]
        used += [body for joint in load.needs() for body in (joint.i, joint.j)]
        yield {numbers[id(body)] for body in used if id(body) in numbers} | {body - 1 for body in entry.bodies if body}


@kernel
def _orthogonal_factors(J: Array, first: int, m: int, T: Array, R: Array) -> None:
    """Write T (6, 6) and R (m, m) with J^T = T (R, 0)^T, by reflections;  J: its rows first ... first + m - 1"""
    A = R  # (6, 6): J^T, then R
    for i in range(6):
        for j in range(m):
            A[i, j] = J[first + j, i]
        for j in range(6):
            T[i, j] = 1.0 if i == j else 0.0
    for k in range(m):
        # v = a + sign(a_k) |a| e_k,   1 - 2 v v^T / v^T v
        square = 0.0
        for i in range(k, 6):
            square += A[i, k] * A[i, k]
        size = np.sqrt(square)
        alpha = -size if A[k, k] > 0.0 else size
        of_v = square - alpha * A[k, k]
        if of_v > 0.0:
            A[k, k] -= alpha
            for j in range(k + 1, m):
                part = 0.0
                for i in range(k, 6):
                    part += A[i, k] * A[i, j]
                for i in range(k, 6):
                    A[i, j] -= part / of_v * A[i, k]
            for row in range(6):
                part = 0.0
                for i in range(k, 6):
                    part += T[row, i] * A[i, k]
                for i in range(k, 6):
                    T[row, i] -= part / of_v * A[i, k]
        A[k, k] = alpha


@kernel
def _solve_body(D: Array, T: Array, R: Array, m: int, f: Array, mu: Array, y: Array) -> None:
    """Solve for one body: f (6,) becomes x, mu (m,) becomes the multipliers from c;  D, U: T^T H T with D22 factored;  y: (6,) room"""
    # R^T a = c
    for i in range(m):
        s = mu[i]
        for j in range(i):
            s -= R[j, i] * y[j]
        y[i] = s / R[i, i]
    # D22 b = T2^T f - D21 a = L U b
    for i in range(m, 6):
        s = 0.0
        for j in range(6):
            s += T[j, i] * f[j]
        for j in range(i):
            s -= D[i, j] * y[j]
        y[i] = s
    for k in range(6 - m):
        i = 5 - k
        s = y[i]
        for j in range(i + 1, 6):
            s -= D[i, j] * y[j]
        y[i] = s / D[i, i]
    # R mu = T1^T f - D11 a - D12 b
    for k in range(m):
        i = m - 1 - k
        s = 0.0
        for j in range(6):
            s += T[j, i] * f[j] - D[i, j] * y[j]
        for j in range(i + 1, m):
            s -= R[i, j] * mu[j]
        mu[i] = s / R[i, i]
    # x = T (a, b)
    for i in range(6):
        s = 0.0
        for j in range(6):
            s += T[i, j] * y[j]
        f[i] = s


@kernel
def _along_joint(T: Array, D: Array, half: Array) -> None:
    """Replace D by T^T D T;  half: (6, 6) room"""
    for i in range(6):
        for j in range(6):
            s = 0.0
            for a in range(6):
                s += D[i, a] * T[a, j]
            half[i, j] = s
    for i in range(6):
        for j in range(6):
            s = 0.0
            for a in range(6):
                s += T[a, i] * half[a, j]
            D[i, j] = s


@kernel
def _lower_upper(D: Array, m: int) -> float:
    """Factor D22 = L U without exchanges; return the smallest pivot."""
    least = np.inf
    for k in range(m, 6):
        least = min(least, D[k, k])
        for i in range(k + 1, 6):
            D[i, k] /= D[k, k]
            for j in range(k + 1, 6):
                D[i, j] -= D[i, k] * D[k, j]
    return least


@counted_entry
def factor_entry(rows: Rows, F: Factors) -> float:
    """Factor [ H J^T; J 0 ] and return the smallest pivot;  F.D: blocks of H on its diagonal, which become T^T H T"""
    least, half, column, room = np.inf, np.zeros((6, 6)), np.zeros((2, 6)), np.zeros(6)
    for n in range(rows.order.size):
        b = rows.order[n]
        first, m, p = rows.starts[b], rows.starts[b + 1] - rows.starts[b], rows.parents[b]
        # J_b^T = T (R, 0)^T,   D = T^T H T,   D22 = L U
        _orthogonal_factors(rows.body, first, m, F.T[b], F.R[b])
        _along_joint(F.T[b], F.D[b], half)
        least = min(least, _lower_upper(F.D[b], m))
        if p < 0:
            continue
        # W = K_b^-1 (H_bp, J_p)^T,   H_p <- H_p - (H_pb, J_p^T) W
        for j in range(6):
            for i in range(6):
                column[0, i] = F.up[b, i, j]
            for i in range(m):
                column[1, i] = rows.parent[first + i, j]
            _solve_body(F.D[b], F.T[b], F.R[b], m, column[0], column[1], room)
            for i in range(6):
                F.W[b, i, j] = column[0, i]
            for i in range(m):
                F.W[b, 6 + i, j] = column[1, i]
            for i in range(6):
                for a in range(6):
                    F.D[p, i, j] -= F.down[b, i, a] * column[0, a]
                for a in range(m):
                    F.D[p, i, j] -= rows.parent[first + a, i] * column[1, a]
    return least


@counted_entry
def solve_entry(rows: Rows, F: Factors, x: Array, mu: Array) -> None:
    """Solve with the factors: x (nb, 6) is f and becomes x, mu (nc,), by bodies, is c and becomes the multipliers."""
    room = np.zeros(6)
    for n in range(rows.order.size):
        b = rows.order[n]
        first, m, p = rows.starts[b], rows.starts[b + 1] - rows.starts[b], rows.parents[b]
        _solve_body(F.D[b], F.T[b], F.R[b], m, x[b], mu[first : first + m], room)
        if p >= 0:
            for i in range(6):
                for a in range(6):
                    x[p, i] -= F.down[b, i, a] * x[b, a]
                for a in range(m):
                    x[p, i] -= rows.parent[first + a, i] * mu[first + a]
    for n in range(rows.order.size):
        b = rows.order[rows.order.size - 1 - n]
        first, m, p = rows.starts[b], rows.starts[b + 1] - rows.starts[b], rows.parents[b]
        if p >= 0:
            for i in range(6):
                for a in range(6):
                    x[b, i] -= F.W[b, i, a] * x[p, a]
            for i in range(m):
                for a in range(6):
                    mu[first + i] -= F.W[b, 6 + i, a] * x[p, a]


factor_at, solve_at = DirectCall(factor_entry), DirectCall(solve_entry)
