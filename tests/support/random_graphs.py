"""Random graphs of bodies and edges with random rows, as the tables of either solver: trees, nets, hubs, doubled joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.kkt.elimination_order import ABSOLUTE, EdgeRows
from haugmbd.kkt.registry import choose_solver
from haugmbd.kkt.solver import SolverTables
from haugmbd.math.euler_parameters import cross
from haugmbd.workspace import layout
from haugmbd.workspace.layout import Tables, Workspace

KINDS = ("tree", "net", "hub", "doubled")
NEAR = (1e-2, 1e-3, 1e-4)
"""By how much rows miss the span of others."""
NEARER = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""The same where the solution has no correct digit: the matrix has a condition number of the inverse square."""


class Graph(NamedTuple):
    """positions (nb + 1, 3), edges (pairs), rows of each edge, J (6 ne, 2, 6), inertia (nb + 1, 10)."""

    positions: np.ndarray
    edges: list[tuple[int, int]]
    weight: list[int]
    J: np.ndarray
    inertia: np.ndarray

    @property
    def slots(self) -> np.ndarray:
        """The slots of the rows."""
        weight = np.array(self.weight, dtype=np.int64)
        first = np.cumsum(weight) - weight
        return np.arange(weight.sum()) + np.repeat(6 * np.arange(len(weight)) - first, weight)

    def dense(self) -> np.ndarray:
        """[ M J^T; J 0 ] of the bodies and the rows."""
        n, nc = 6 * (len(self.positions) - 1), len(self.slots)
        K = np.zeros((n + nc, n + nc))
        for k in range(n // 6):
            K[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = self.inertia[k + 1, 0] * np.eye(3)
            K[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = self.inertia[k + 1, 1:].reshape(3, 3)
        bodies = np.array(self.edges)[self.slots // 6]
        row, side = np.nonzero(bodies)
        K[n + row[:, None], 6 * bodies[row, side][:, None] - 6 + np.arange(6)] = self.J[self.slots[row], side]
        K[:n, n:] = K[n:, :n].T
        return K

    def workspace(self, solver: SolverTables) -> Workspace:
        """The flat arrays of these rows for a solver."""
        ne, n = len(self.edges), len(self.positions)
        pad = np.full((ne, 6), -1.0)
        pad.ravel()[self.slots] = 0.0
        scale = np.full((n + ne, 6), 1e-300)
        ints = {"FLAGS": np.zeros((1, 2), dtype=np.int64), "EDGES": np.array(self.edges, dtype=np.int64).reshape(ne, -1)}
        reals = {"INERTIA": self.inertia, "SHIFTED": self.inertia, "PAD": pad, "KEPT": 1.0 + pad, "SCALE": scale}
        work = {
            "A": (n, 9),
            "X": (0, 9),
            "J": (6 * ne, 6 * self.J.shape[1]),
            "D_INV": (n + ne, 6),
            "RIGHT": (n + ne, 6),
            "SOLUTION": (n + ne, 6),
            "PIVOTS": (6, 7),
            "STATUS": (1, 4),
        }
        tables = Tables(ints | solver.ints, reals, work | solver.work)
        w = Workspace(tables.ints, tables.reals, np.zeros(tables.work_size))
        matrix(w, "J")[:] = self.J.reshape(6 * ne, -1)
        matrix(w, "A")[:] = np.eye(3).ravel()
        return w

    def solver(self, name: str) -> SolverTables:
        """The tables of a solver."""
        return choose_solver(self.positions, self.edges, EdgeRows(self.weight, [ABSOLUTE] * len(self.edges)), name)


def matrix(w: Workspace, name: str) -> np.ndarray:
    """A work matrix of a workspace, writable."""
    start, m, n = layout.place_in(w.ints, name)
    return w.work[start : start + m * n].reshape(m, n)


def table(w: Workspace, name: str) -> np.ndarray:
    """A table of real numbers of a workspace, writable."""
    start, m, n = layout.place_in(w.ints, name)
    return w.reals[start : start + m * n].reshape(m, n)


def edges_of(rng: np.random.Generator, kind: str) -> tuple[int, list[tuple[int, int]]]:
    """The number of bodies, and edges of a random graph of this kind, numbered at random."""
    if kind == "net":
        a, b = rng.integers(2, 5, size=2).tolist()
        at = {(i, j): 1 + i * b + j for i in range(a) for j in range(b)}
        edges = [(at[p], at[q]) for p in at for q in ((p[0] + 1, p[1]), (p[0], p[1] + 1)) if q in at and rng.random() < 0.95]
        n = a * b
        edges += [(0, int(k)) for k in rng.choice(n, size=min(n, 2), replace=False) + 1]
    else:
        n = int(rng.integers(1, 14))
        edges = [(1 if kind == "hub" and k > 1 else int(rng.integers(0, k)), k) for k in range(1, n + 1)]
        for _ in range(int(rng.integers(0, 5)) if kind != "tree" and n > 1 else 0):
            i, j = sorted(rng.choice(n + 1, size=2, replace=False).tolist())
            edges.append((int(i), int(j)))
        if kind == "doubled":
            edges += [edges[int(k)] for k in rng.integers(0, len(edges), size=2)]
    return n, [edges[k] for k in rng.permutation(len(edges))]


def wrench_on(pair: tuple[int, int], positions: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """A row between two bodies, (2, 6), that does not change when both move as one; zero on the ground."""
    row = np.zeros((2, 6))
    for side, (body, sign) in enumerate(zip(pair, (-1.0, 1.0), strict=True)):
        if body:
            row[side, :3], row[side, 3:] = sign * wrench[:3], sign * (wrench[3:] - cross(positions[body], wrench[:3]))
    return row


def random_graph(seed: int, missing: tuple[float, ...] = NEAR) -> Graph:
    """Random rows on a random graph, independent of one another; of every third graph some nearly depend on others of their edge."""
    rng = np.random.default_rng(seed)
    n, edges = edges_of(rng, KINDS[seed % len(KINDS)])
    positions = rng.normal(size=(n + 1, 3))
    J, weight = np.zeros((6 * len(edges), 2, 6)), []
    basis, known = np.zeros((5 * len(edges), 6 * n + 6)), 0
    for e, pair in enumerate(edges):
        rows = 0
        for _ in range(int(rng.integers(1, 6))):
            near = seed % 3 == 0 and rows > 1
            row = np.einsum("k,ksc->sc", rng.normal(size=rows), J[6 * e : 6 * e + rows]) if near else np.zeros((2, 6))
            row = row + (rng.choice(missing) if near else 1.0) * wrench_on(pair, positions, rng.normal(size=6))
            new, others = np.zeros(6 * n + 6), basis[:known]
            for body, part in zip(pair, row, strict=True):
                new[6 * body : 6 * body + 6] = part
            for _ in range(2):
                new -= (others @ new) @ others
            distance = np.sqrt(new @ new)
            if distance < (0.1 * min(missing) if near else 0.1):
                break
            basis[known], known = new / distance, known + 1
            J[6 * e + rows] = row
            rows += 1
        weight.append(rows)
    used = [e for e, m in enumerate(weight) if m]
    J, edges, weight = J.reshape(-1, 6, 2, 6)[used].reshape(-1, 2, 6), [edges[e] for e in used], [weight[e] for e in used]
    inertia = np.zeros((n + 1, 10))
    inertia[1:, 0] = 10.0 ** rng.uniform(-1, 1, size=n)
    for k in range(1, n + 1):
        a = rng.normal(size=(3, 3))
        inertia[k, 1:] = (inertia[k, 0] * (a @ a.T + 0.1 * np.eye(3))).ravel()
    return Graph(positions, edges, weight, J, inertia)
