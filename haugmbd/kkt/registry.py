r"""The solvers of the augmented system: the whole list.  The choice among them is `solver_choice`.

Measured over the gallery, nets, trusses, trees and gear trains, each is the fastest for some kind of model, but for the dense one, which
is there for study.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.errors import UsageError
from haugmbd.kkt.block_solver import BLOCKS, block_routines, block_tables
from haugmbd.kkt.elimination_order import EdgeRows, make_schedule
from haugmbd.kkt.front_solver import FRONTS, ONE_FRONT
from haugmbd.kkt.solver import MULTIFRONTAL, TREE, TREES_ON_BLOCKS, Solver, SolverRoutines, SolverTables
from haugmbd.kkt.tree_solver import FOREST, HANGING_TREES, TREE_ARRAYS, WITH_RECURSION, has_tree
from haugmbd.workspace.layout import WORK, Pack, Tables, empty_matrix, place_in, workspace_array

REGISTRY: dict[str, Solver] = {solver.name: solver for solver in (ONE_FRONT, BLOCKS, FRONTS, FOREST, HANGING_TREES)}
SOLVERS = tuple(REGISTRY)
"""The names of the solvers."""


def check_solver(solver: object) -> None:
    """Raise UsageError unless `solver` is None or the name of a solver."""
    if solver is None or (isinstance(solver, str) and solver in SOLVERS):
        return
    near = get_close_matches(str(solver), SOLVERS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"solver = {solver!r} must be one of {', '.join(map(repr, SOLVERS))}, or None for the faster one.{hint}")


def solver_of(tables: Tables) -> Solver:
    """Return the solver that tables belong to; the blocks of trees that hang on loops are their own."""
    by_tables = (REGISTRY[name] for name in (TREES_ON_BLOCKS, TREE, MULTIFRONTAL))
    return next((solver for solver in by_tables if solver.serves(tables)), BLOCKS)


def routines_of(tables: Tables, every_row: bool = True) -> SolverRoutines:
    """Return the routines of the solver that these tables belong to.

    every_row: whether no row depends on the others; tables of the recursion over a forest serve no other model
    """
    solver = solver_of(tables)
    assert every_row or solver.every_pivot, "rows depend on others, and the recursion over a forest does not leave rows out"
    return solver.routines(tables)


def with_blocks(pack: Pack) -> Pack:
    """Return the pack with the block LDL^T in place of the recursion over a forest, and with all rows in J.

    For searches that read its pivots.
    The tables are made anew: what a stabilization adds to them must be added afterwards.
    """
    if not any(pack.factorize is solver.factorize for solver in WITH_RECURSION):
        return pack
    if place_in(pack.ints, "ORDER")[1] > 0:  # trees that hang on loops: the tables have the blocks of all bodies
        solver = block_routines(pack.ints)
        return pack._replace(factorize=solver.factorize, finish=solver.finish, begin=solver.begin, prepare_stage=pack.prepare)
    tables = Tables.__new__(Tables)
    tables.ints, tables.reals, tables.work_size = pack.ints, pack.reals, pack.work.size
    blocks = blocks_beside(tables)
    more = tables.changed(blocks.ints, blocks.work)
    solver = block_routines(more.ints)
    other = pack._replace(
        ints=without_sweeps(more.ints),
        reals=more.reals,
        work=np.zeros(more.work_size),
        factorize=solver.factorize,
        finish=solver.finish,
        begin=solver.begin,
        prepare_stage=pack.prepare,
    )
    for name in WORK:
        if any(tables.place(name)):
            workspace_array(other, name)[:] = workspace_array(pack, name)
    return other


def blocks_beside(tables: Tables) -> SolverTables:
    """Return the tables of the block LDL^T for a model that the recursion over a forest solves, which has none."""
    return _blocks(len(tables["INERTIA"]), tables.place("EDGES")[2], tables["EDGES"].tobytes(), tables["EDGE_ROWS"].tobytes())


@lru_cache(maxsize=2)
def _blocks(n_bodies: int, sides: int, edges: bytes, rows: bytes) -> SolverTables:
    """Return `blocks_beside` from the bytes of the edges and of their rows, cached: some methods need it at every run."""
    pairs = list(map(tuple, np.frombuffer(edges, dtype=np.int64).reshape(-1, sides).tolist()))
    weight, kind = np.frombuffer(rows, dtype=np.int64).reshape(-1, 2).T.tolist()
    return block_tables(make_schedule(n_bodies - 1, pairs, rows=EdgeRows(weight, kind)), n_bodies, "")


def without_tree(tables: Tables) -> Tables:
    """Return the tables of a model with the block LDL^T in place of the recursion over a forest; others as they are."""
    if not has_tree(tables):
        return tables
    blocks = blocks_beside(tables)
    no_tree = dict.fromkeys(("TREE", "FRICTION_PATHS"), np.zeros((0, 0), dtype=np.int64))
    return tables.changed(blocks.ints | no_tree, blocks.work | dict.fromkeys((*TREE_ARRAYS, "FRICTION_SWEEPS"), (0, 0)))


def without_sweeps(ints: Ints) -> Ints:
    """Return the integers of tables by which friction is not solved for in the recursion over a forest."""
    if place_in(ints, "FRICTION_PATHS")[1] == 0:
        return ints
    ints = ints.copy()
    empty_matrix(ints, "FRICTION_PATHS")
    return ints
