"""Local solutions of the eliminated system against full passes over all nodes."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.redundancy.rank import analyse_rank
from haugmbd.redundancy.sparse_ldl import SLOTS, LocalSolver, solve
from tests.support.redundant_loops import bennett, bricard, ladder, loop, planar_points

MAKE = {
    "four-bar": lambda: loop(planar_points(), [np.array([0.0, 0.0, 1.0])] * 4),
    "Bennett": bennett,
    "Bricard": bricard,
    "ladder": lambda: ladder(7),
    "flat ladder": lambda: ladder(4, lean=np.pi / 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKE)
def test_dropped_rows_and_random_right_hand_sides(name):
    model = MAKE[name]().compile(check_pose=False)
    x = analyse_rank(model, mbd.evaluate(model))
    solver, edges = LocalSolver(model, x.elimination), model.tables["EDGES"]
    n_nodes = len(x.elimination.inverse)
    rng = np.random.default_rng(5)
    sides = [{int(body): rng.normal(size=(SLOTS, 2))} for body in rng.integers(1, model.nb + 1, 3)]
    for slot in model.slot_of_row[x.dropped].tolist():
        sides.append({int(body): x.J[slot, side][:, None] for side, body in enumerate(edges[slot // SLOTS]) if body})
    for b in sides:
        full = np.zeros((n_nodes, SLOTS, next(iter(b.values())).shape[1]))
        for node, part in b.items():
            full[node] = part
        wanted = solve(model, x.elimination, full)
        found = np.zeros_like(wanted)
        for node, value in solver.solve(b).items():
            found[node] = value
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-7 * max(1.0, np.abs(wanted).max()))


@pytest.mark.slow
def test_few_nodes_are_visited():
    model = ladder(200).compile()
    x = analyse_rank(model, mbd.evaluate(model))
    solver, edges = LocalSolver(model, x.elimination), model.tables["EDGES"]
    slot = int(model.slot_of_row[x.dropped[300]])
    found = solver.solve({int(body): x.J[slot, side][:, None] for side, body in enumerate(edges[slot // SLOTS]) if body})
    assert len(found) <= 10  # of 1202
