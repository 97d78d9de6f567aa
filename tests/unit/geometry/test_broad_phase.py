"""Sweep and prune: no pair that touches is missing, none of one body or of bodies kept apart is there, and many shapes take little time."""

import itertools

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.geometry.broad_phase import BroadPhase
from haugmbd.geometry.narrow_phase import has_contact, points_of, poses
from haugmbd.geometry.tables import PLANE, shape_tables
from tests.support.touching_shapes import SHAPES, random_turn, state_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_pair_that_touches_is_missing(seed):
    """Each pair of shapes with points nearer than the margin is a pair of the broad phase; far ones are not."""
    rng = np.random.default_rng(seed)
    kinds = [name for name in SHAPES if name != "tube"]  # a hole has no ends, and no box
    names = [kinds[k] for k in rng.integers(len(kinds), size=24)]
    shapes = [SHAPES[name](0.6) for name in names]
    bodies = [(rng.uniform(-1.5, 1.5, 3), random_turn(rng), np.zeros(3), np.zeros(3)) for _ in range(12)]
    tables = shape_tables([(1 + k // 2, shape) for k, shape in enumerate(shapes)])
    y, margin = state_of(*bodies), 0.1
    broad = BroadPhase(tables, 12, apart=[(3, 1), (2, 5)])
    for _ in range(2):
        pairs = {tuple(pair) for pair in broad.pairs(*poses(y), margin).tolist()}
        for a, b in itertools.combinations(range(len(shapes)), 2):
            joined = tuple(sorted((1 + a // 2, 1 + b // 2))) in ((1, 3), (2, 5))
            if a // 2 == b // 2 or joined:
                assert (a, b) not in pairs
            elif has_contact(shapes[a], shapes[b]) and len(points_of(tables, a, b, y, margin)[0]):
                assert (a, b) in pairs
        y = state_of(*((r + 0.3 * rng.normal(size=3), p, v, w) for r, p, v, w in bodies))
    assert 0 < len(pairs) < 24 * 23 // 2


@pytest.mark.slow
def test_the_room_for_pairs_grows():
    """More pairs than there is room for at first are all returned, and a pile of boxes has the pairs of its boxes only."""
    count = 60
    tables = shape_tables([(k + 1, mbd.Sphere(1.0)) for k in range(count)])
    y = state_of(*((0.01 * k * np.ones(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)) for k in range(count)))
    assert len(BroadPhase(tables, count).pairs(*poses(y), 0.0)) == count * (count - 1) // 2
    grid = np.array(list(itertools.product(range(6), repeat=3)), dtype=float)
    tables = shape_tables([(0, mbd.Plane()), *((k + 1, mbd.Box((0.9, 0.9, 1.0))) for k in range(len(grid)))])
    y = state_of(*((r, np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)) for r in grid))
    pairs = BroadPhase(tables, len(grid)).pairs(*poses(y), 1e-3)
    boxes = pairs[tables.kind[pairs[:, 0]] != PLANE]
    assert len(boxes) == 6 * 6 * 5
    assert np.array_equal(np.abs(np.diff(grid[boxes - 1], axis=1))[:, 0], np.tile([0.0, 0.0, 1.0], (len(boxes), 1)))
