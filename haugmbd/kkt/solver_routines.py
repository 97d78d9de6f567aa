"""The routines of the solver that a set of tables belongs to."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.compiled.function_pointers import Routine
from haugmbd.kkt import entry_points as blocks
from haugmbd.kkt import least_squares
from haugmbd.kkt.elimination_order import EdgeRows, make_schedule
from haugmbd.kkt.entry_points import NO_REFINE as NO_ROUTINE
from haugmbd.kkt.multifrontal import entry_points as fronts
from haugmbd.kkt.multifrontal.blas import link_blas
from haugmbd.kkt.solver_choice import TREE_ARRAYS, SolverTables, block_tables
from haugmbd.kkt.tree import entry_points as trees
from haugmbd.kkt.tree import hanging_entry_points as hanging
from haugmbd.kkt.tree.clusters import coupled_entry_points as coupled_trees
from haugmbd.kkt.tree.clusters.cluster_order import FREE
from haugmbd.kkt.tree.implicit import implicit_entry_points as implicit_trees
from haugmbd.kkt.tree.tree_order import is_all_revolute
from haugmbd.workspace.layout import WORK, Pack, Tables, empty_matrix, place_in, workspace_array


class SolverRoutines(NamedTuple):
    """The operations on the augmented matrix, see `kkt.entry_points` and `kkt.least_squares`."""

    factorize: Routine
    factorize_chosen: Routine
    finish: Routine
    begin: Routine
    refine: Routine
    fit_all_rows: Routine
    refine_and_fit_all_rows: Routine


WITH_BLOCKS = SolverRoutines(
    blocks.FACTORIZE,
    blocks.FACTORIZE_CHOSEN,
    blocks.FINISH,
    blocks.BEGIN,
    blocks.REFINE,
    least_squares.FIT_ALL_ROWS,
    least_squares.REFINE_AND_FIT_ALL_ROWS,
)

WITH_WIDE_BLOCKS = SolverRoutines(
    blocks.FACTORIZE_WIDE,
    blocks.FACTORIZE_CHOSEN_WIDE,
    blocks.FINISH_WIDE,
    blocks.BEGIN_WIDE,
    blocks.REFINE_WIDE,
    least_squares.FIT_ALL_ROWS_WIDE,
    least_squares.REFINE_AND_FIT_ALL_ROWS_WIDE,
)
"""For models without narrow edges, the most: what is for these is not compiled."""

WITH_FRONTS = SolverRoutines(
    fronts.FACTORIZE,
    fronts.FACTORIZE_CHOSEN,
    fronts.FINISH,
    fronts.BEGIN,
    fronts.REFINE,
    fronts.FIT_ALL_ROWS,
    fronts.REFINE_AND_FIT_ALL_ROWS,
)

NOT_BY_TREE = (NO_ROUTINE, NO_ROUTINE, NO_ROUTINE)
"""No model with dependent rows or massless directions is solved by the recursion over a forest."""

WITH_TREE = SolverRoutines(trees.FACTORIZE, NO_ROUTINE, trees.FINISH, trees.BEGIN, *NOT_BY_TREE)

WITH_REVOLUTE_TREE = SolverRoutines(trees.FACTORIZE_REVOLUTE, NO_ROUTINE, trees.FINISH_REVOLUTE, trees.BEGIN_REVOLUTE, *NOT_BY_TREE)
"""For forests of revolute joints only: what is for others is not compiled."""

WITH_TANGENT_TREE = SolverRoutines(implicit_trees.FACTORIZE, NO_ROUTINE, implicit_trees.FINISH, implicit_trees.BEGIN, *NOT_BY_TREE)

WITH_REVOLUTE_TANGENT_TREE = SolverRoutines(
    implicit_trees.FACTORIZE_REVOLUTE, NO_ROUTINE, implicit_trees.FINISH_REVOLUTE, implicit_trees.BEGIN_REVOLUTE, *NOT_BY_TREE
)
"""For implicit steps of forests with forces."""

WITH_TREES_ON_BLOCKS = SolverRoutines(hanging.FACTORIZE, NO_ROUTINE, hanging.FINISH, hanging.BEGIN, *NOT_BY_TREE)

WITH_TREES_ON_WIDE_BLOCKS = SolverRoutines(
    hanging.FACTORIZE_WIDE, NO_ROUTINE, hanging.FINISH_WIDE, hanging.BEGIN_WIDE, *NOT_BY_TREE
)

WITH_COUPLED_TREE = tuple(
    tuple(
        WITH_TREE._replace(factorize=factorize, finish=finish, begin=begin) for factorize, finish, begin in zip(*pairs, strict=True)
    )
    for pairs in zip(coupled_trees.FACTORIZE, coupled_trees.FINISH, coupled_trees.BEGIN, strict=True)
)
"""The same for forests with coupled joints, by the number of free coordinates of all clusters, 0 where it varies or is larger: gear trains
have one, differentials two; and by whether all joints are revolute. What is for these is not compiled for others."""

WITH_RECURSION = (
    WITH_TREE,
    WITH_REVOLUTE_TREE,
    WITH_TANGENT_TREE,
    WITH_REVOLUTE_TANGENT_TREE,
    WITH_TREES_ON_BLOCKS,
    WITH_TREES_ON_WIDE_BLOCKS,
    *(solver for pair in WITH_COUPLED_TREE for solver in pair),
)
"""The solvers whose factor has no pivots of all rows."""


def with_blocks(pack: Pack) -> Pack:
    """Return the pack with the block LDL^T in place of the recursion over a forest, and with all rows in J.

    For searches that read its pivots.
    The tables are made anew: what a stabilization adds to them must be added afterwards.
    """
    if not any(pack.factorize is solver.factorize for solver in WITH_RECURSION):
        return pack
    if place_in(pack.ints, "ORDER")[1] > 0:  # trees that hang on loops: the tables have the blocks of all bodies
        solver = blocks_for(pack.ints)
        return pack._replace(factorize=solver.factorize, finish=solver.finish, begin=solver.begin, prepare_stage=pack.prepare)
    tables = Tables.__new__(Tables)
    tables.ints, tables.reals, tables.work_size = pack.ints, pack.reals, pack.work.size
    blocks = blocks_beside(tables)
    more = tables.changed(blocks.ints, blocks.work)
    solver = blocks_for(more.ints)
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


def blocks_for(ints: Ints) -> SolverRoutines:
    """Return the routines of the blocks for the integers of tables."""
    return WITH_BLOCKS if has_narrow_edges(ints) else WITH_WIDE_BLOCKS


def has_narrow_edges(ints: Ints) -> bool:
    """Return whether the integers of tables have edges of one or two rows, with blocks of true sizes."""
    return place_in(ints, "NARROW_EDGES")[1] > 0


def has_tree(tables: Tables) -> bool:
    """Return whether these are tables of the recursion, over a forest or over trees that hang on loops."""
    return tables.place("TREE")[2] > 0


def tree_routines(tables: Tables) -> SolverRoutines:
    """Return the routines of the recursion over a forest, or over the trees that hang on loops."""
    steps, clusters = tables["TREE"], tables["CLUSTERS"]
    if len(steps) < len(tables["SHIFTED"]) - 1:
        return WITH_TREES_ON_BLOCKS if has_narrow_edges(tables.ints) else WITH_TREES_ON_WIDE_BLOCKS
    if tables.place("PAIR_OF_STEP")[1] > 0:
        return WITH_REVOLUTE_TANGENT_TREE if is_all_revolute(steps) else WITH_TANGENT_TREE
    if not len(clusters):
        return WITH_REVOLUTE_TREE if is_all_revolute(steps) else WITH_TREE
    m = int(clusters[0, FREE]) if len(set(clusters[:, FREE].tolist())) == 1 else 0
    return WITH_COUPLED_TREE[m if m < len(WITH_COUPLED_TREE) else 0][is_all_revolute(steps)]


def has_fronts(tables: Tables) -> bool:
    """Return whether these are tables of the multifrontal solver."""
    return tables.place("FRONTS")[2] > 0


def routines_of(tables: Tables, every_row: bool = True) -> SolverRoutines:
    """Return the routines of the solver that these tables belong to.

    every_row: whether no row depends on the others; tables of the recursion over a forest serve no other model
    """
    if has_tree(tables):
        assert every_row, "rows depend on others, and the recursion over a forest does not leave rows out"
        return tree_routines(tables)
    if not has_fronts(tables):
        return blocks_for(tables.ints)
    link_blas()
    return WITH_FRONTS
