"""The solvers of the augmented system: the whole list, and the choice among them when a model is compiled, by their predicted times.

Measured over the gallery, nets, trusses, trees and gear trains, each is the fastest for some kind of model, but for the dense one, which
is there for study.

    block LDL^T    blocks of 6 x 6, which may follow a tree from its leaves: trees, single loops, small models
    dense          one front with all rows; for study only
    tree           the recursion over an open chain or a forest, at the cost of joint coordinates, where most joints have a form it knows
    trees on blocks   the recursion for open chains and trees that hang on loops, and the block LDL^T for these
    multifrontal   true sizes, dense kernels: nets, trusses, and other meshes, where most of the work is fill

The block order is followed while it is faster than fronts could be, with kernels of one front that costs nothing but its rows. Where it
exceeds that, the fronts are planned, which takes a tenth of the time of a block order, and the block order is continued only while its
predicted time is below theirs: for meshes it would take longer than everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.kkt.block_solver import BLOCKS, UPDATE_NS, block_routines, block_tables, blocks_ns
from haugmbd.kkt.cluster import N_ANGULAR_OF_SLIDE, N_LINEAR_OF_SLIDE
from haugmbd.kkt.cluster_order import NO_CLUSTERS, ClusterTables, cluster_tables
from haugmbd.kkt.elimination_order import NO_COUPLINGS, Couplings, EdgeRows, make_schedule
from haugmbd.kkt.front_plan import FRONT_NS, ROW_NS, FrontPlan, plan_fronts, plan_one_front
from haugmbd.kkt.front_solver import FRONTS, ONE_FRONT, front_tables, fronts_ns
from haugmbd.kkt.solver import AS_ASKED, BLOCK, DENSE, MULTIFRONTAL, TREE, TREES_ON_BLOCKS, Solver, SolverRoutines, SolverTables
from haugmbd.kkt.tree_order import FORM_ROWS, NO_FORM, Branch, order_of_forest
from haugmbd.kkt.tree_solver import (
    ANY_JOINTS,
    FOREST,
    HANGING_TREES,
    HINGE_NS,
    SEPARABLE_NS,
    TREE_ARRAYS,
    WITH_RECURSION,
    Forest,
    hanging_tables,
    has_tree,
    recursion_ns,
    tree_tables,
)
from haugmbd.workspace.layout import WORK, Pack, Tables, empty_matrix, place_in, workspace_array

REVOLUTE_ROWS = 5
"""Rows of a revolute joint whose angle is free."""

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
    """Return the tables with the block LDL^T of all edges in place of the recursion over a forest, or of blocks that leave some out.

    Others as they are.
    """
    if leaves_out_edges(tables):
        blocks = blocks_beside(tables)
        return tables.changed(blocks.ints, blocks.work)
    if not has_tree(tables):
        return tables
    blocks = blocks_beside(tables)
    no_tree = dict.fromkeys(("TREE", "FRICTION_PATHS"), np.zeros((0, 0), dtype=np.int64))
    return tables.changed(blocks.ints | no_tree, blocks.work | dict.fromkeys((*TREE_ARRAYS, "FRICTION_SWEEPS"), (0, 0)))


def leaves_out_edges(tables: Tables) -> bool:
    """Return whether blocks of tables leave out edges of which no row is kept."""
    if tables.place("BODY_BLOCK")[2] == 0:
        return False
    bodies, blocks = tables["EDGES"], tables["BODY_BLOCK"]
    return bool(((blocks < 0).all(axis=1) & (bodies > 0).any(axis=1)).any())


def without_sweeps(ints: Ints) -> Ints:
    """Return the integers of tables by which friction is not solved for in the recursion over a forest."""
    if place_in(ints, "FRICTION_PATHS")[1] == 0:
        return ints
    ints = ints.copy()
    empty_matrix(ints, "FRICTION_PATHS")
    return ints


MOST_DENSE = 10_000
"""Largest number of rows of a dense matrix: it takes 0.8 GB, and its factor as much."""

FRONTS_PART, COULD_BE = 0.9, 0.6
"""Fronts are taken if their predicted time is below this part of that of the blocks; they are planned if it could be below the second:
planning loads kernels that models without meshes do not need."""

LEAST_SAVED, LEAST_SAVED_FOR_MORE, LEAST_SAVED_IF_COUPLED, LEAST_PART = 900.0, 700.0, 450.0, 0.1
"""Other trees than those of revolute joints alone are solved by the recursion only if this time is saved [ns], since more is compiled for
them; trees that hang on loops, whose blocks and fronts would take twice the time and more, if the second is, and this is also that part of
the time of all nodes; coupled joints if the third is, which a pair of gears, or of a rack and a pinion, saves: blocks take 1.3 to 1.4 times
as long for it."""

MARGIN = 0.8
"""The recursion over a forest, or the fronts, are taken if their predicted time is below this part of that of the blocks."""


def choose_solver(
    positions: Array,
    edges: Sequence[tuple[int, ...]],
    rows: EdgeRows,
    wanted: str | None = None,
    forest: Forest = ANY_JOINTS,
    left_out: frozenset[int] = frozenset(),
) -> SolverTables:
    """Return the solver for bodies at these positions (nb + 1, 3), the ground first, and edges with these rows between them.

    wanted: by default the one that is predicted to be faster;  forest: for the recursion over a forest
    left_out: edges of which no row is kept, which couple nothing in blocks
    """
    if wanted == TREES_ON_BLOCKS or (wanted is None and not forest.massless and hanging_is_faster(rows.weight, forest)):
        flat = np.asarray(positions, dtype=np.float64).tobytes()
        blocks = _chosen(flat, tuple(edges), EdgeRows(tuple(rows.weight), tuple(rows.kind)), wanted and BLOCK)
        if wanted or blocks.name == BLOCK:
            return hanging_tables(np.asarray(positions), edges, rows, forest, AS_ASKED if wanted else "")
        return blocks
    if wanted == TREE or (wanted is None and not forest.massless and tree_is_faster(len(positions) - 1, rows.weight, forest)):
        branches = order_of_forest(len(positions), edges, {row.edge for row in forest.couplings})
        clusters = _clusters(branches, forest) if branches is not None else None
        if wanted == TREE or clusters is not None:
            reason = AS_ASKED if wanted == TREE else _why_tree(len(positions) - 1, forest)
            return tree_tables(branches, edges, rows.weight, forest, clusters, reason)
    flat = np.asarray(positions, dtype=np.float64).tobytes()
    alone = _alone(forest, rows, left_out)
    return _chosen(flat, tuple(edges), EdgeRows(tuple(rows.weight), tuple(rows.kind)), wanted, left_out, alone)


def _alone(forest: Forest, rows: EdgeRows, left_out: frozenset[int]) -> Couplings:
    """Return the couplings that are alone on their edges."""
    if not forest.couplings:
        return NO_COUPLINGS
    joints = tuple(
        (row.edge, tuple(term.bodies for term in row.terms if term.coefficient != 0.0))
        for row in forest.couplings
        if rows.weight[row.edge] == 1 and row.edge not in left_out
    )
    revolute = np.flatnonzero(forest.forms.revolute[:, 0] != NO_FORM).tolist()
    return Couplings(joints, frozenset(e for e in revolute if rows.weight[e] == REVOLUTE_ROWS))


def _clusters(branches: Sequence[Branch], forest: Forest) -> ClusterTables | None:
    """Return the clusters of coupled joints; None if the recursion does not serve them."""
    if not forest.couplings:
        return NO_CLUSTERS
    revolute, separable = forest.forms.revolute[:, 0] != NO_FORM, forest.forms.separable[:, :FORM_ROWS]
    sliding = (separable == (N_LINEAR_OF_SLIDE, N_ANGULAR_OF_SLIDE, 0)).all(axis=1)
    turning, other = (set(np.flatnonzero(coupled).tolist()) for coupled in (revolute, sliding))
    return cluster_tables(branches, turning, forest.couplings, other)


def _why_tree(n_bodies: int, forest: Forest) -> str:
    """Return why the recursion was chosen."""
    n_known, n_coupled = int(forest.forms.are_known().sum()), len(forest.couplings)
    of_what = "coordinates" if any(term.slides for row in forest.couplings for term in row.terms) else "angles"
    of_joints = f", {n_coupled} coupling{'s' * (n_coupled > 1)} of their {of_what}" if n_coupled else ""
    return f"no loops, {n_known} of {n_bodies} bodies on joints that the recursion knows{of_joints}"


def tree_is_faster(n_bodies: int, weight: Sequence[int], forest: Forest) -> bool:
    """Return whether the recursion is predicted to be faster than blocks, if a model of so many bodies is a forest."""
    of_forest = np.ones(len(weight), dtype=bool)
    of_forest[[row.edge for row in forest.couplings]] = False
    edges = np.flatnonzero(of_forest)
    if len(forest.forms.revolute) < len(weight):
        return False
    n_couplings = len(weight) - len(edges)
    with_tree = SEPARABLE_NS * (n_bodies - len(edges)) + recursion_ns(edges, weight, forest) + HINGE_NS * n_couplings
    with_blocks = blocks_ns(2 * len(edges) + n_couplings)
    plain = not forest.couplings and bool((forest.forms.revolute[:, 0] != NO_FORM).all()) and len(edges) == n_bodies
    least = 0.0 if plain else LEAST_SAVED if not forest.couplings else LEAST_SAVED_IF_COUPLED
    return with_tree < MARGIN * with_blocks and with_blocks - with_tree > least


def hanging_is_faster(weight: Sequence[int], forest: Forest) -> bool:
    """Return whether the trees that hang on loops are predicted to be solved faster by the recursion, by what it saves at least."""
    if not forest.hanging:
        return False
    with_blocks = blocks_ns(2 * len(forest.hanging))
    with_trees = recursion_ns(np.array([branch.edge for branch in forest.hanging], dtype=np.int64), weight, forest)
    saved = with_blocks - with_trees
    return with_trees < MARGIN * with_blocks and saved > LEAST_SAVED_FOR_MORE and saved > LEAST_PART * blocks_ns(2 * len(weight))


@lru_cache(maxsize=2)
def _chosen(
    positions: bytes,
    edges: tuple[tuple[int, ...], ...],
    rows: EdgeRows,
    wanted: str | None,
    left_out: frozenset[int] = frozenset(),
    couplings: Couplings = NO_COUPLINGS,
) -> SolverTables:
    """Return the solver; a model is compiled twice, with and without loads."""
    r, weight = np.frombuffer(positions).reshape(-1, 3), tuple(rows.weight)
    if wanted == MULTIFRONTAL:
        return front_tables(_planned(r, edges, weight), len(r), AS_ASKED)
    pairs = [tuple(0 for _ in bodies) if e in left_out else bodies for e, bodies in enumerate(edges)]
    nodes = len(r) + len(edges) - len(left_out)
    if wanted == DENSE:
        if sum(weight) > MOST_DENSE:
            raise UsageError(
                f"solver = {DENSE!r} is meant for at most {MOST_DENSE} rows, and the model has {sum(weight)}: its matrix would take "
                f"{8e-9 * sum(weight) ** 2:.2g} GB, and its factor as much. Take {MULTIFRONTAL!r}, or None for the faster one."
            )
        return front_tables(plan_one_front(len(r), *_arrays(edges, weight)), len(r), AS_ASKED, DENSE)
    if wanted == BLOCK or len(edges) <= len(
        {body for pair in edges for body in pair if body}
    ):  # open chains and trees have no fill
        whole = make_schedule(len(r) - 1, pairs, rows=rows, couplings=couplings)
        return block_tables(whole, len(r), AS_ASKED if wanted else "little fill")
    fixed = blocks_ns(nodes)
    plans: list[FrontPlan] = []

    def updates_of_plan() -> float:
        """Return up to how many updates blocks are faster than fronts, which are planned."""
        plans.append(_planned(r, edges, weight))
        return (fronts_ns(edges, weight, plans[0].ns) / FRONTS_PART - fixed) / UPDATE_NS

    least = (fronts_ns(edges, weight, FRONT_NS + ROW_NS * sum(weight)) / COULD_BE - fixed) / UPDATE_NS
    most = least if least >= 0.0 else updates_of_plan()
    beyond = None if plans else updates_of_plan
    schedule = None
    if most >= 0.0:
        schedule = make_schedule(len(r) - 1, pairs, rows=rows, couplings=couplings, most_updates=most, beyond=beyond)
    if schedule is not None and not plans:
        return block_tables(schedule, len(r), "little fill")
    with_fronts = 1e-6 * fronts_ns(edges, weight, plans[0].ns)
    if schedule is None:
        slowest = max(1e-6 * fixed, with_fronts / FRONTS_PART)
        return front_tables(
            plans[0], len(r), f"which is predicted to take {with_fronts:.2g} ms a factorization, and blocks at least {slowest:.2g}"
        )
    with_blocks = 1e-6 * blocks_ns(nodes, schedule.updates)
    return block_tables(
        schedule, len(r), f"which is predicted to take {with_blocks:.2g} ms a factorization, and fronts {with_fronts:.2g}"
    )


def _planned(positions: Array, edges: tuple[tuple[int, ...], ...], weight: tuple[int, ...]) -> FrontPlan:
    """Return the plan of the fronts."""
    return plan_fronts(positions, *_arrays(edges, weight))


def _arrays(edges: tuple[tuple[int, ...], ...], weight: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the bodies of each edge, (ne, sides), and their numbers of rows."""
    bodies = (
        np.array(edges, dtype=np.int64).reshape(len(edges), len(edges[0]) if edges else 2)
        if edges
        else np.zeros((0, 2), dtype=np.int64)
    )
    return bodies, np.array(weight, dtype=np.int64)
