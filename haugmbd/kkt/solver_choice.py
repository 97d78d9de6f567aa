r"""The choice between the block LDL^T and the multifrontal solver, made when a model is compiled, by their predicted times.

    block LDL^T    blocks of 6 x 6, which may follow a tree from its leaves: trees, single loops, small models
    dense          one front with all rows; for study only
    tree           the recursion over an open chain or a forest, at the cost of joint coordinates, where most joints have a form it knows
    trees on blocks   the recursion for open chains and trees that hang on loops, and the block LDL^T for these
    multifrontal   true sizes, dense kernels: nets, trusses, and other meshes, where most of the work is fill

    blocks [ns]    NODE_NS for each body and edge, UPDATE_NS for each update
    fronts [ns]    BODY_NS for each body, GRADIENT_NS for each row on a body, PLAN_PART of that of the dense kernels, see `front_folding`

The block order is followed while it is faster than fronts could be, with kernels of one front that costs nothing but its rows. Where it
exceeds that, the fronts are planned, which takes a tenth of the time of a block order, and the block order is continued only while its
predicted time is below theirs: for meshes it would take longer than everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.kkt.elimination_order import NARROW, WIDE, EdgeRows, Schedule, make_schedule
from haugmbd.kkt.multifrontal.front_folding import FRONT_NS, ROW_NS
from haugmbd.kkt.multifrontal.front_kernels import PANEL
from haugmbd.kkt.multifrontal.plan import FrontPlan, plan_fronts, plan_one_front
from haugmbd.kkt.tree.clusters.cluster_arrays import ANGLE_LINES, MOMENT_COLUMNS, PIVOT_NUMBERS, SLIDE_COLUMNS, member_columns
from haugmbd.kkt.tree.clusters.cluster_joint import N_ANGULAR_OF_SLIDE, N_LINEAR_OF_SLIDE
from haugmbd.kkt.tree.clusters.cluster_order import FREE, NO_CLUSTERS, ClusterTables, CoupledRow, cluster_tables
from haugmbd.kkt.tree.tree_arrays import BODY_COLUMNS
from haugmbd.kkt.tree.tree_order import (
    FORM_ROWS,
    NO_FORM,
    Branch,
    Forms,
    joint_columns,
    lead_of,
    no_forms,
    order_of_forest,
    tree_steps,
)

DENSE, BLOCK, MULTIFRONTAL, TREE, TREES_ON_BLOCKS = "dense", "block LDL^T", "multifrontal", "tree", "trees on blocks"
SOLVERS = (DENSE, BLOCK, MULTIFRONTAL, TREE, TREES_ON_BLOCKS)

MOST_DENSE = 10_000
"""Largest number of rows of a dense matrix: it takes 0.8 GB, and its factor as much."""

AS_ASKED = "as asked for"
"""The reason of a solver that the user has chosen."""

LEAVE = "Leave the choice to the model: solver=None."

FRONT_TABLES = ("FRONTS", "FRONT_ROWS", "FRONT_RUNS", "FRONT_BODIES", "BODY_ROWS")
FRONT_ARRAYS = ("FRONT_FACTOR", "FRONT_STACK", "FRONT_MATRIX", "ROWS_OF_BODY", "FRONT_PIVOTS", "FRONT_UNKNOWNS", "FRONT_PANEL")
"""The matrices of the multifrontal solver, see `workspace.layout`."""

TREE_ARRAYS = ("TREE_BODIES", "TREE_JOINTS", "TREE_ROTATIONS", "CLUSTER_MEMBERS", "CLUSTER_PIVOTS", "CLUSTER_MOMENTS")
"""The matrices of the recursion over a forest; what else there is of clusters serves to write the rows of couplings, too."""

UPDATE_NS, NODE_NS = 85.0, 170.0
"""Predicted time of the block LDL^T [ns]: for each update of a block, and for each body and edge."""

BODY_NS, GRADIENT_NS, PLAN_PART = 140.0, 26.0, 2.0
"""Predicted time of fronts [ns]: for each body, for each row on it, and for each ns that `front_folding` counts, which leaves out the
solution.  The constants fit nets and trusses of 8 to 150 bodies to 5 %, and others to 15 %."""

FRONTS_PART, COULD_BE = 0.9, 0.6
"""Fronts are taken if their predicted time is below this part of that of the blocks; they are planned if it could be below the second:
planning loads kernels that models without meshes do not need."""

HINGE_NS, SEPARABLE_NS, JOINT_NS = 85.0, 175.0, 600.0
"""Predicted time of the recursion over a forest [ns], for each body: on a revolute joint, on a separable one or none, and on any other."""

LEAST_SAVED, LEAST_SAVED_FOR_MORE, LEAST_PART = 900.0, 700.0, 0.1
"""Other trees than those of revolute joints alone are solved by the recursion only if this time is saved [ns], since more is compiled for
them; coupled joints, and trees that hang on loops, whose blocks and fronts would take twice the time and more, if the second is; the
latter if this is also that part of the time of all nodes."""

MARGIN = 0.8
"""The recursion over a forest, or the fronts, are taken if their predicted time is below this part of that of the blocks."""


class SolverTables(NamedTuple):
    """The solver of a model, and its tables.

    name: one of SOLVERS;  reason: why it was chosen
    ints: tables of integers by name, see `workspace.layout`;  work: shapes of work matrices
    """

    name: str
    reason: str
    ints: dict[str, Ints]
    work: dict[str, tuple[int, int]]


class Forest(NamedTuple):
    """The data of a model that the recursion over a forest needs, besides its edges.

    forms: those of its edges;  body_of: the body of each marker;  massless: whether a body has a direction without inertia
    couplings: of joint coordinates, on edges of their own;  hanging: the branches of trees that hang on loops, if the model is not a forest
    """

    forms: Forms
    body_of: Ints
    massless: bool = False
    couplings: tuple[CoupledRow, ...] = ()
    hanging: Sequence[Branch] = ()


ANY_JOINTS = Forest(no_forms(0), np.zeros(0, dtype=np.int64))
"""Rows of which nothing is known but their numbers."""


def check_solver(solver: object) -> None:
    """Raise UsageError unless `solver` is None or the name of a solver."""
    if solver is None or (isinstance(solver, str) and solver in SOLVERS):
        return
    near = get_close_matches(str(solver), SOLVERS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"solver = {solver!r} must be one of {', '.join(map(repr, SOLVERS))}, or None for the faster one.{hint}")


def choose_solver(
    positions: Array,
    edges: Sequence[tuple[int, ...]],
    rows: EdgeRows,
    wanted: str | None = None,
    forest: Forest = ANY_JOINTS,
) -> SolverTables:
    """Return the solver for bodies at these positions (nb + 1, 3), the ground first, and edges with these rows between them.

    wanted: by default the one that is predicted to be faster;  forest: for the recursion over a forest
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
    return _chosen(flat, tuple(edges), EdgeRows(tuple(rows.weight), tuple(rows.kind)), wanted)


def _clusters(branches: Sequence[Branch], forest: Forest) -> ClusterTables | None:
    """Return the clusters of coupled joints; None if the recursion does not serve them."""
    if not forest.couplings:
        return NO_CLUSTERS
    revolute, separable = forest.forms.revolute[:, 0] != NO_FORM, forest.forms.separable[:, :FORM_ROWS]
    sliding = (separable == (N_LINEAR_OF_SLIDE, N_ANGULAR_OF_SLIDE, 0)).all(axis=1)
    one, other = (set(np.flatnonzero(found).tolist()) for found in (revolute, sliding))
    return cluster_tables(branches, one, forest.couplings, other)


def _why_tree(n_bodies: int, forest: Forest) -> str:
    """Return why the recursion was chosen."""
    known, n_coupled = int(forest.forms.are_known().sum()), len(forest.couplings)
    of_what = "coordinates" if any(term.slides for row in forest.couplings for term in row.terms) else "angles"
    of_joints = f", {n_coupled} coupling{'s' * (n_coupled > 1)} of their {of_what}" if n_coupled else ""
    return f"no loops, {known} of {n_bodies} bodies on joints that the recursion knows{of_joints}"


def recursion_ns(edges: Ints, weight: Sequence[int], forest: Forest) -> float:
    """Return the predicted time of the recursion over the bodies that these edges carry [ns].

    Blocks have true sizes for edges of one or two rows, and cost least there: the recursion is not faster, of whatever form they are.
    """
    size, forms = np.array(weight, dtype=np.int64)[edges], forest.forms
    revolute = forms.revolute[edges, 0] != NO_FORM
    separable = (forms.separable[edges, 0] != NO_FORM) & (size > NARROW)
    n_revolute, n_separable = int(revolute.sum()), int(separable.sum())
    return HINGE_NS * n_revolute + SEPARABLE_NS * n_separable + JOINT_NS * (len(edges) - n_revolute - n_separable)


def tree_is_faster(n_bodies: int, weight: Sequence[int], forest: Forest) -> bool:
    """Return whether the recursion is predicted to be faster than blocks, if a model of so many bodies is a forest."""
    of_forest = np.ones(len(weight), dtype=bool)
    of_forest[[row.edge for row in forest.couplings]] = False
    edges = np.flatnonzero(of_forest)
    if len(forest.forms.revolute) < len(weight):
        return False
    n_couplings = len(weight) - len(edges)
    with_tree = SEPARABLE_NS * (n_bodies - len(edges)) + recursion_ns(edges, weight, forest) + HINGE_NS * n_couplings
    with_blocks = NODE_NS * (2 * len(edges) + n_couplings)
    plain = not forest.couplings and bool((forest.forms.revolute[:, 0] != NO_FORM).all()) and len(edges) == n_bodies
    least = 0.0 if plain else LEAST_SAVED if not forest.couplings else LEAST_SAVED_FOR_MORE
    return with_tree < MARGIN * with_blocks and with_blocks - with_tree > least


def hanging_is_faster(weight: Sequence[int], forest: Forest) -> bool:
    """Return whether the trees that hang on loops are predicted to be solved faster by the recursion, by what it saves at least."""
    if not forest.hanging:
        return False
    with_blocks = 2 * NODE_NS * len(forest.hanging)
    with_trees = recursion_ns(np.array([branch.edge for branch in forest.hanging], dtype=np.int64), weight, forest)
    saved = with_blocks - with_trees
    return with_trees < MARGIN * with_blocks and saved > LEAST_SAVED_FOR_MORE and saved > LEAST_PART * 2 * NODE_NS * len(weight)


def hanging_tables(positions: Array, edges: Sequence[tuple[int, ...]], rows: EdgeRows, forest: Forest, reason: str) -> SolverTables:
    """Return the tables of the blocks, in whose order the nodes of hanging trees come first, and of the recursion over these trees."""
    why = (
        "" if forest.hanging else "no tree hangs on loops, or the factor of the blocks serves friction, or refines for light bodies"
    )
    why = "a body has no inertia about an axis, or no mass" if forest.massless else why
    if why:
        raise UsageError(
            f"solver = {TREES_ON_BLOCKS!r} serves loops with trees that hang on them, and not this model: {why}. {LEAVE}"
        )
    n, n_hanging = len(positions), len(forest.hanging)
    ahead = {*(branch.body for branch in forest.hanging), *(n + branch.edge for branch in forest.hanging)}
    blocks = block_tables(make_schedule(n - 1, list(edges), rows=rows, ahead=ahead), n, "")
    steps = tree_steps(forest.hanging, np.array(edges, dtype=np.int64), rows.weight, forest.forms, forest.body_of)
    work = tree_work(n, steps)
    reason = reason or f"{n_hanging} of {n - 1} bodies in trees that hang on the rest"
    return SolverTables(TREES_ON_BLOCKS, reason, blocks.ints | tree_ints(steps), blocks.work | work)


def tree_ints(steps: Ints) -> dict[str, Ints]:
    """Return the integers of the recursion."""
    return {"TREE": steps, "TREE_LEAD": np.array([[lead_of(steps)]])}


def tree_work(n_bodies: int, steps: Ints) -> dict[str, tuple[int, int]]:
    """Return the shapes of the matrices of the recursion;  n_bodies: the ground counted."""
    return {
        "TREE_BODIES": (n_bodies, BODY_COLUMNS),
        "TREE_JOINTS": (n_bodies, joint_columns(steps)),
        "TREE_ROTATIONS": (n_bodies, 9),
    }


def tree_tables(
    branches: Sequence[Branch] | None,
    edges: Sequence[tuple[int, ...]],
    weight: Sequence[int],
    forest: Forest,
    clusters: ClusterTables | None,
    reason: str,
) -> SolverTables:
    """Return the tables of the recursion over a forest.

    branches, clusters: None raises UsageError: the model is not a forest, or its couplings are not served
    """
    why = "its joints close loops, or couple more than two bodies" if branches is None else ""
    couples = "it couples joints that neither turn about one axis nor slide along one, or in loops, or too many of them at once"
    why = why or (couples if clusters is None else "")
    why = "a body has no inertia about an axis, or no mass" if forest.massless else why
    if branches is None or clusters is None or why:
        raise UsageError(f"solver = {TREE!r} serves open chains and trees, and not this model: {why}. {LEAVE}")
    bodies = np.array(edges, dtype=np.int64).reshape(len(edges), len(edges[0]) if edges else 2)
    forms = forest.forms if len(forest.forms.revolute) == len(edges) else no_forms(len(edges))
    steps = tree_steps(branches, bodies, weight, forms, forest.body_of)
    n = len(branches) + 1
    ints, work = tree_ints(steps), tree_work(n, steps)
    if len(clusters.clusters):
        ints |= {
            "CLUSTER_STEPS": clusters.steps,
            "CLUSTERS": clusters.clusters,
            "CLUSTER_ROWS": clusters.rows,
            "CLUSTER_TERMS": clusters.terms,
            "CLUSTER_ANGLES": clusters.angles,
            "CLUSTER_DISPLACEMENTS": clusters.displacements,
        }
        most_free = int(clusters.clusters[:, FREE].max())
        work |= {
            "CLUSTER_MEMBERS": (clusters.n_members, member_columns(most_free)),
            "CLUSTER_PIVOTS": (len(clusters.clusters), PIVOT_NUMBERS),
            "CLUSTER_MOMENTS": (len(clusters.terms), MOMENT_COLUMNS),
            "ANGLES": (ANGLE_LINES, len(clusters.angles)),
            "DISPLACEMENTS": (len(clusters.displacements), SLIDE_COLUMNS),
        }
    return SolverTables(TREE, reason, ints, work)


@lru_cache(maxsize=2)
def _chosen(positions: bytes, edges: tuple[tuple[int, ...], ...], rows: EdgeRows, wanted: str | None) -> SolverTables:
    """Return the solver; a model is compiled twice, with and without loads."""
    r, weight = np.frombuffer(positions).reshape(-1, 3), tuple(rows.weight)
    if wanted == MULTIFRONTAL:
        return front_tables(_planned(r, edges, weight), len(r), AS_ASKED)
    pairs = list(edges)
    nodes = len(r) + len(edges)
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
        return block_tables(make_schedule(len(r) - 1, pairs, rows=rows), len(r), AS_ASKED if wanted else "little fill")
    fixed = NODE_NS * nodes
    plans: list[FrontPlan] = []

    def updates_of_plan() -> float:
        """Return up to how many updates blocks are faster than fronts, which are planned."""
        plans.append(_planned(r, edges, weight))
        return (fronts_ns(edges, weight, plans[0].ns) / FRONTS_PART - fixed) / UPDATE_NS

    least = (fronts_ns(edges, weight, FRONT_NS + ROW_NS * sum(weight)) / COULD_BE - fixed) / UPDATE_NS
    most = least if least >= 0.0 else updates_of_plan()
    beyond = None if plans else updates_of_plan
    schedule = make_schedule(len(r) - 1, pairs, rows=rows, most_updates=most, beyond=beyond) if most >= 0.0 else None
    if schedule is not None and not plans:
        return block_tables(schedule, len(r), "little fill")
    with_fronts = 1e-6 * fronts_ns(edges, weight, plans[0].ns)
    if schedule is None:
        slowest = max(1e-6 * fixed, with_fronts / FRONTS_PART)
        return front_tables(
            plans[0], len(r), f"which is predicted to take {with_fronts:.2g} ms a factorization, and blocks at least {slowest:.2g}"
        )
    with_blocks = 1e-6 * (fixed + UPDATE_NS * schedule.updates)
    return block_tables(
        schedule, len(r), f"which is predicted to take {with_blocks:.2g} ms a factorization, and fronts {with_fronts:.2g}"
    )


def fronts_ns(edges: Sequence[tuple[int, ...]], weight: Sequence[int], planned: float) -> float:
    """Return the predicted time of fronts [ns];  planned: of their dense kernels."""
    bodies = {body for pair in edges for body in pair if body}
    gradients = sum(n for pair, n in zip(edges, weight, strict=True) for body in pair if body)
    return BODY_NS * len(bodies) + GRADIENT_NS * gradients + PLAN_PART * planned


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


def block_tables(schedule: Schedule, n_bodies: int, reason: str) -> SolverTables:
    """Return the tables of the block LDL^T; n_bodies: the ground counted."""
    ints = {
        "ORDER": schedule.order,
        "NEIGHBOR_STARTS": schedule.neighbor_starts[:, None],
        "NEIGHBORS": schedule.neighbors,
        "UPDATE_STARTS": schedule.update_starts[:, None],
        "FILL_UPDATES": schedule.fill_updates,
        "BODY_BLOCK": schedule.body_block,
        "BODY_FIRST": schedule.body_first,
        "EDGE_WIDTH": schedule.width[:, None],
        "FILL_LINES": schedule.fill_lines[:, None],
        "NARROW_EDGES": np.flatnonzero(schedule.width != WIDE)[:, None],
    }
    work = {"D": (n_bodies + len(schedule.body_block), 36), "B": (schedule.n_blocks, 36)}
    return SolverTables(BLOCK, reason, ints, work)


def front_tables(plan: FrontPlan, n_bodies: int, reason: str, name: str = MULTIFRONTAL) -> SolverTables:
    """Return the tables of the multifrontal solver, also for a single front; n_bodies: the ground counted."""
    ints = {
        "FRONTS": plan.fronts,
        "FRONT_ROWS": plan.rows[:, None],
        "FRONT_RUNS": plan.runs,
        "FRONT_BODIES": plan.bodies,
        "BODY_ROWS": plan.body_rows,
    }
    factor, stack, most = plan.sizes.tolist()
    work = {
        "D": (n_bodies, 36),
        "FRONT_FACTOR": (1, factor),
        "FRONT_STACK": (1, stack),
        "FRONT_MATRIX": (1, most * most),
        "ROWS_OF_BODY": (len(plan.body_rows), 6),
        "FRONT_PIVOTS": (1, most),
        "FRONT_UNKNOWNS": (1, most),
        "FRONT_PANEL": (PANEL, most),
    }
    return SolverTables(name, reason, ints, work)
