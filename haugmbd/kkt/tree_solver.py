r"""The recursions over forests as solvers: open chains and trees, with coupled joints, with tangents of forces; trees that hang on loops.

    recursion [ns]    HINGE_NS for each body on a revolute joint, SEPARABLE_NS on a separable one or none, JOINT_NS on any other

They serve models without dependent rows and without massless directions, and are the fastest for chains and trees of joints that they
know.  For forests of revolute joints there are entry points of their own, in which no other joint is compiled; and for forests with
coupled joints by the number of free coordinates of all clusters: gear trains have one, differentials two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.kkt import cluster, tangent_recursion, tree_recursion
from haugmbd.kkt.block_solver import block_tables, has_narrow_edges
from haugmbd.kkt.cluster_arrays import (
    ANGLE_LINES,
    ARRAYS_OF_CLUSTERS,
    MOMENT_COLUMNS,
    PIVOT_NUMBERS,
    SLIDE_COLUMNS,
    member_columns,
)
from haugmbd.kkt.cluster_order import FREE, ClusterTables, CoupledRow
from haugmbd.kkt.elimination_order import NARROW, EdgeRows, make_schedule
from haugmbd.kkt.hanging_trees import backward_with_trees, factor_with_trees, forward_with_trees
from haugmbd.kkt.solver import LEAVE, TREE, TREES_ON_BLOCKS, Solver, SolverRoutines, SolverTables, routines_by_one_pass
from haugmbd.kkt.tree_arrays import ARRAYS_OF_FORESTS, BODY_COLUMNS
from haugmbd.kkt.tree_order import NO_FORM, Branch, Forms, is_all_revolute, joint_columns, lead_of, no_forms, tree_steps
from haugmbd.workspace.layout import Tables

TREE_ARRAYS = ("TREE_BODIES", "TREE_JOINTS", "TREE_ROTATIONS", "CLUSTER_MEMBERS", "CLUSTER_PIVOTS", "CLUSTER_MOMENTS")
"""The matrices of the recursion over a forest; what else there is of clusters serves to write the rows of couplings, too."""

HINGE_NS, SEPARABLE_NS, JOINT_NS = 85.0, 175.0, 600.0
"""Predicted time of the recursion over a forest [ns], for each body: on a revolute joint, on a separable one or none, and on any other."""


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


WITH_TREE, WITH_REVOLUTE_TREE = (
    routines_by_one_pass(
        name, __name__, all_revolute, factor=tree_recursion.factor, forward=tree_recursion.forward, backward=tree_recursion.backward
    )
    for name, all_revolute in (("tree", False), ("revolute_tree", True))
)

WITH_TANGENT_TREE, WITH_REVOLUTE_TANGENT_TREE = (
    routines_by_one_pass(
        name,
        __name__,
        all_revolute,
        factor=tangent_recursion.factor,
        forward=tangent_recursion.forward,
        backward=tangent_recursion.backward,
    )
    for name, all_revolute in (("tangent_tree", False), ("revolute_tangent_tree", True))
)
"""For implicit steps of forests with forces."""

WITH_TREES_ON_BLOCKS, WITH_TREES_ON_WIDE_BLOCKS = (
    routines_by_one_pass(
        name, __name__, all_wide, factor=factor_with_trees, forward=forward_with_trees, backward=backward_with_trees
    )
    for name, all_wide in (("trees_on_blocks", False), ("trees_on_wide_blocks", True))
)

WITH_COUPLED_TREE = tuple(
    tuple(
        routines_by_one_pass(
            f"coupled_tree_{number}{name}",
            __name__,
            (free, all_revolute),
            factor=cluster.factor,
            forward=cluster.forward,
            backward=cluster.backward,
        )
        for name, all_revolute in (("", False), ("_revolute", True))
    )
    for free, number in enumerate(("varying", "one", "two"))
)
"""By the number of free coordinates of every cluster, 0 where it varies or is larger; and by whether all joints are revolute."""

WITH_RECURSION = (
    WITH_TREE,
    WITH_REVOLUTE_TREE,
    WITH_TANGENT_TREE,
    WITH_REVOLUTE_TANGENT_TREE,
    WITH_TREES_ON_BLOCKS,
    WITH_TREES_ON_WIDE_BLOCKS,
    *(routines for pair in WITH_COUPLED_TREE for routines in pair),
)
"""The entry points by which a factor has no pivots of all rows."""


def has_tree(tables: Tables) -> bool:
    """Return whether these are tables of the recursion, over a forest or over trees that hang on loops."""
    return tables.place("TREE")[2] > 0


def tree_routines(tables: Tables) -> SolverRoutines:
    """Return the routines of the recursion over a forest, or over the trees that hang on loops."""
    steps, clusters = tables["TREE"], tables["CLUSTERS"]
    if is_hanging(tables):
        return WITH_TREES_ON_BLOCKS if has_narrow_edges(tables.ints) else WITH_TREES_ON_WIDE_BLOCKS
    if tables.place("PAIR_OF_STEP")[1] > 0:
        return WITH_REVOLUTE_TANGENT_TREE if is_all_revolute(steps) else WITH_TANGENT_TREE
    if not len(clusters):
        return WITH_REVOLUTE_TREE if is_all_revolute(steps) else WITH_TREE
    m = int(clusters[0, FREE]) if len(set(clusters[:, FREE].tolist())) == 1 else 0
    return WITH_COUPLED_TREE[m if m < len(WITH_COUPLED_TREE) else 0][is_all_revolute(steps)]


def is_hanging(tables: Tables) -> bool:
    """Return whether these are tables of the recursion over trees that hang on loops."""
    return len(tables["TREE"]) < len(tables["SHIFTED"]) - 1


def recursion_ns(edges: Ints, weight: Sequence[int], forest: Forest) -> float:
    """Return the predicted time of the recursion over the bodies that these edges carry [ns].

    Blocks have true sizes for edges of one or two rows, and cost least there: the recursion is not faster, of whatever form they are.
    """
    size, forms = np.array(weight, dtype=np.int64)[edges], forest.forms
    revolute = forms.revolute[edges, 0] != NO_FORM
    separable = (forms.separable[edges, 0] != NO_FORM) & (size > NARROW)
    n_revolute, n_separable = int(revolute.sum()), int(separable.sum())
    return HINGE_NS * n_revolute + SEPARABLE_NS * n_separable + JOINT_NS * (len(edges) - n_revolute - n_separable)


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


FOREST = Solver(
    TREE,
    "open chains and trees without massless directions; the fastest for them",
    ARRAYS_OF_FORESTS + ARRAYS_OF_CLUSTERS,
    lambda tables: has_tree(tables) and not is_hanging(tables),
    tree_routines,
    False,
)

HANGING_TREES = FOREST._replace(
    name=TREES_ON_BLOCKS,
    takes="loops on which open chains and trees hang; the fastest where these have some ten bodies",
    serves=lambda tables: has_tree(tables) and is_hanging(tables),
)
