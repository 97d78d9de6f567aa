"""Edges of one or two rows that close loops: at every step the eliminated rows have full rank in the columns of the eliminated bodies.

The rows are random and read differences of the motions of their bodies, as rows of relative positions do; a row of a coupling reads those
of several joints, and the ground is not among its bodies where it reads others.
"""

from __future__ import annotations

import numpy as np
import pytest

from haugmbd.kkt.elimination_order import (
    ABSOLUTE,
    NARROW,
    NARROW_UPDATE,
    RELATIVE,
    RELATIVE_TO_GROUND,
    EdgeRows,
    closing_edges,
    make_schedule,
    spanned,
)
from tests.support.seeds import seeds

FULL_RANK = 1e-9
"""Smallest singular value of random rows of length one; 1e-6 is seen, and 1e-17 where rows depend on others."""


class Mechanism:
    """A random tree of joints, some loops, rods and couplings; its rows as matrices (rows, n_bodies + 1, 6) of the motions."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.n = int(self.rng.integers(3, 10))
        self.edges: list[tuple[int, ...]] = []
        self.kind: list[int] = []
        self.rows: list[np.ndarray] = []
        joints = []
        for k in range(1, self.n + 1):
            before = int(self.rng.integers(0, k)) if self.rng.random() < 0.7 else k - 1
            if k > 1 and self.rng.random() < 0.1:
                continue  # a body that floats, with those that hang on it
            self.join(before, k, int(self.rng.integers(3, 6)))
            joints.append((before, k))
        for _ in range(int(self.rng.integers(0, 3))):
            i, j = sorted(self.rng.choice(self.n + 1, 2, replace=False).tolist())
            self.join(i, j, int(self.rng.integers(1, 4)))
        for _ in range(int(self.rng.integers(0, 4))):
            count = min(len(joints), int(self.rng.integers(1, 4)))
            self.couple([joints[k] for k in self.rng.choice(len(joints), count, replace=False)])

    def join(self, i: int, j: int, n_rows: int) -> None:
        """Add rows of the difference of two motions."""
        rows = np.zeros((n_rows, self.n + 1, 6))
        rows[:, j] = self.rng.normal(size=(n_rows, 6))
        rows[:, i] = -rows[:, j]
        self.put((i, j), RELATIVE, rows)

    def couple(self, joints: list[tuple[int, int]]) -> None:
        """Add one row, or two, of the motions in several joints."""
        rows = np.zeros((int(self.rng.integers(1, 3)), self.n + 1, 6))
        for i, j in joints:
            part = self.rng.normal(size=(len(rows), 6))
            rows[:, j] += part
            rows[:, i] -= part
        touched = {body for pair in joints for body in pair}
        moving = touched - {0}
        if len(moving) > 1:
            self.put(tuple(sorted(moving)), RELATIVE_TO_GROUND if 0 in touched else RELATIVE, rows)
        else:
            self.put(tuple(sorted(touched)), RELATIVE, rows)

    def put(self, bodies: tuple[int, ...], kind: int, rows: np.ndarray) -> None:
        """Add an edge."""
        self.edges.append(bodies)
        self.kind.append(kind)
        self.rows.append(rows)

    @property
    def weights(self) -> EdgeRows:
        """The rows of the edges, as the schedule takes them."""
        return EdgeRows([len(rows) for rows in self.rows], self.kind)

    def padded(self) -> list[tuple[int, ...]]:
        """The edges with the same number of sides."""
        sides = max(len(bodies) for bodies in self.edges)
        return [(*bodies, *[0] * (sides - len(bodies))) for bodies in self.edges]


@pytest.mark.slow
@pytest.mark.parametrize("block", seeds(2))
def test_the_eliminated_rows_have_full_rank_at_every_step(block):
    tested = closed = 0
    for seed in range(60 * block, 60 * block + 60):
        m = Mechanism(seed)
        J = np.concatenate(m.rows)
        J /= np.linalg.norm(J, axis=(1, 2), keepdims=True)
        J[:, 0] = 0.0
        flat = J.reshape(len(J), -1)
        if len(flat) > flat.shape[1] or np.linalg.svd(flat, compute_uv=False)[-1] < 1e-3:
            continue  # dependent rows are left out when the model is compiled
        tested += 1
        starts = np.cumsum([0, *m.weights.weight])
        schedule = make_schedule(m.n, m.padded(), rows=m.weights)
        closed += len(closing_edges(m.n, m.padded(), m.weights))
        bodies, rows = [], []
        for node in schedule.order[:, 0].tolist():
            if node <= m.n:
                bodies.append(node)
                continue
            e = node - m.n - 1
            rows += range(starts[e], starts[e + 1])
            part = J[np.ix_(rows, bodies)].reshape(len(rows), -1)
            assert part.shape[1] >= len(rows)
            assert np.linalg.svd(part, compute_uv=False)[-1] > FULL_RANK, seed
    assert tested > 20
    assert closed > 20


def gear_pairs(n: int) -> tuple[int, list[tuple[int, ...]], EdgeRows]:
    """A chain of 2 n links, with a gear between each two of its joints."""
    edges: list[tuple[int, ...]] = [(k, k + 1, 0) for k in range(2 * n)]
    gears = [(2 * k, 2 * k + 1, 2 * k + 2) for k in range(n)]
    gears[0] = (1, 2, 0)
    kinds = [RELATIVE] * (2 * n) + [RELATIVE_TO_GROUND] + [RELATIVE] * (n - 1)
    return 2 * n, edges + gears, EdgeRows([5] * (2 * n) + [1] * n, kinds)


@pytest.mark.slow
def test_a_chain_of_gear_pairs_has_linear_work_and_no_update_of_wide_blocks():
    """Each gear is carried as one column through the two joints of its pair."""
    for n in (10, 100, 1000):
        s = make_schedule(*gear_pairs(n)[:2], rows=gear_pairs(n)[2])
        assert len(s.fill_updates) <= 5 * n
        assert s.updates == pytest.approx(NARROW_UPDATE * len(s.fill_updates))
        assert s.n_blocks <= 9 * n
        assert len(s.fill_lines) == s.n_blocks - (s.body_block >= 0).sum()
        assert (s.fill_lines == 1).all()


@pytest.mark.slow
def test_wheels_on_the_ground_need_only_columns():
    """A train of n wheels, each geared to the next one: the gears are a chain of single rows behind all wheels."""
    for n in (10, 1000):
        edges = [(0, k) for k in range(1, n + 1)] + [(k, k + 1) for k in range(1, n)]
        rows = EdgeRows([5] * n + [1] * (n - 1), [RELATIVE] * n + [RELATIVE_TO_GROUND] * (n - 1))
        s = make_schedule(n, edges, rows=rows)
        assert s.updates <= NARROW_UPDATE * 4 * n


def test_rows_of_global_directions_and_wide_edges_stay_in_their_loops():
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    for rows, closing in (
        (EdgeRows([5, 5, 5, 1], [RELATIVE] * 4), [3]),
        (EdgeRows([5, 5, 5, 1], [RELATIVE] * 3 + [ABSOLUTE]), []),
        (EdgeRows([5, 5, 5, NARROW + 1], [RELATIVE] * 4), []),
        (EdgeRows([1, 1, 1, 1], [RELATIVE] * 4), [3]),
    ):
        assert closing_edges(3, ring, rows) == closing


def test_bodies_that_only_rods_hold_stay_local():
    """A rod that joins what no other edge joins is not a closing edge: it would wait for the whole way to the ground."""
    n = 40
    edges = [(k, k + 1) for k in range(n)] + [(20, n + 1), (21, n + 1)]
    rows = EdgeRows([5] * n + [1, 1], [RELATIVE] * (n + 2))
    assert closing_edges(n + 1, edges, rows) == [n + 1]
    s = make_schedule(n + 1, edges, rows=rows)
    assert len(s.fill_updates) < 12


def test_the_ground_is_read_where_a_coupling_says_so():
    assert spanned((1, 2, 0), RELATIVE) == {1, 2}
    assert spanned((1, 2, 0), RELATIVE_TO_GROUND) == {0, 1, 2}
    assert spanned((0, 2, 0), RELATIVE) == {0, 2}
