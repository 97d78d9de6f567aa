"""Every solver of the registry: its record, its matrices, and the tables by which it is found again."""

from __future__ import annotations

from collections import Counter

import pytest

from haugmbd import UsageError
from haugmbd.gallery import double_pendulum, four_bar, net, planetary_gear
from haugmbd.kkt.registry import REGISTRY, routines_of, solver_of
from haugmbd.kkt.solver import BLOCK, DENSE, MULTIFRONTAL, NO_ROUTINE, TREE
from haugmbd.workspace.layout import COLUMNS, INTS, OWNERS, PLACE, WORK


def test_a_matrix_has_one_owner_and_a_place_of_its_own():
    """Whatever solvers a process imports: the places are constants in machine code."""
    owners = {solver.arrays for name, solver in REGISTRY.items() if name != DENSE}
    count = Counter(name for arrays in owners for name in arrays)
    assert max(count.values()) == 1
    assert set(count) <= {*INTS, *WORK}
    assert len(set(PLACE.values())) == len(PLACE)
    assert set(COLUMNS) <= set(PLACE)
    assert sum(OWNERS.values()) >= len(count)


@pytest.mark.parametrize("make", [four_bar, double_pendulum, net, planetary_gear])
@pytest.mark.parametrize("name", REGISTRY)
def test_the_solver_of_a_model_is_found_by_its_tables_and_uses_its_own_matrices(make, name):
    every = name in (DENSE, BLOCK, MULTIFRONTAL)
    try:
        model = make().compile(solver=name)
    except UsageError:
        assert not every
        return
    solver = solver_of(model.tables)
    assert solver.name == (MULTIFRONTAL if name == DENSE else name)
    assert routines_of(model.tables) == solver.routines(model.tables)
    used = {matrix for matrix in {n for one in REGISTRY.values() for n in one.arrays} if any(model.tables.place(matrix)[1:])}
    assert used <= {*solver.arrays, *(REGISTRY[BLOCK].arrays if not solver.every_pivot and name != TREE else ())}
    assert (solver.routines(model.tables).factorize_chosen is not NO_ROUTINE) == solver.every_pivot
