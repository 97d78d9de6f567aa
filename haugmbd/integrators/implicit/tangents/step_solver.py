r"""The solver of implicit steps, where tangents of forces join the matrix: it may differ from that of the same model's explicit steps.

tree            a forest, with tangents of bodies, and between a body and the one that carries it by a revolute joint
multifrontal    tangents of bodies: there a body is eliminated on its own
block LDL^T     all others: coupled bodies have a block of their own
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.kkt.block_solver import block_tables
from haugmbd.kkt.elimination_order import EdgeRows, make_schedule
from haugmbd.kkt.front_solver import FRONT_ARRAYS, has_fronts
from haugmbd.kkt.solver import AS_ASKED, BLOCK, SolverTables
from haugmbd.kkt.tangent_recursion import NO_PAIR
from haugmbd.kkt.tree_arrays import BODY, KIND, PARENT, REVOLUTE, SEPARABLE
from haugmbd.kkt.tree_order import is_all_revolute
from haugmbd.kkt.tree_solver import TREE_ARRAYS, has_tree
from haugmbd.model.model import Model
from haugmbd.workspace.layout import INTS, WORK

SAVED_NS, SAVED_NS_BY_OTHERS, LEAST_SAVED = 200.0, 80.0, 1500.0
"""Predicted time that the recursion with tangents saves [ns], for each body: in a forest of revolute joints, and of other ones. It is taken
if it saves the last: for a few bodies it would compile more than it saves."""

NONE = -1

Pairs = list[tuple[int, int]]
"""Bodies that forces couple, the smaller body number first."""


class StepSolver(NamedTuple):
    """The solver of implicit steps.

    reason: why it is not that of the model's explicit steps, "" if it is
    pairs: the coupled pairs that keep it from being that
    pair_of_step: of the recursion, see `neighbour_tangents`
    """

    name: str
    reason: str = ""
    pairs: frozenset[tuple[int, int]] = frozenset()
    pair_of_step: Ints = np.zeros((0, 2), dtype=np.int64)


def step_solver(model: Model, pairs: Pairs, loaded: bool) -> StepSolver:
    """Return the solver for tangents of these pairs.  loaded: whether there are tangents."""
    if has_tree(model.tables):
        return _recursion_or_blocks(model, pairs, loaded)
    if has_fronts(model.tables) and pairs:
        return StepSolver(BLOCK, "bodies are coupled", frozenset(pairs))
    return StepSolver(model.solver)


def _recursion_or_blocks(model: Model, pairs: Pairs, loaded: bool) -> StepSolver:
    """Return the recursion over the forest if it can hold the tangents and is faster, or if the user chose it; else the blocks."""
    if not loaded:
        return StepSolver(model.solver)
    steps, n = model.tables["TREE"], model.nb
    if len(steps) < n:
        return StepSolver(BLOCK, "the recursion on trees that hang on loops has no tangents of forces")
    if len(model.tables["CLUSTERS"]) or not np.isin(steps[:, KIND], (REVOLUTE, SEPARABLE)).all():
        return StepSolver(BLOCK, "the recursion with coupled joints, screws, or joints of one's own, has no tangents of forces")
    saved = SAVED_NS if is_all_revolute(steps) else SAVED_NS_BY_OTHERS
    if model.solver_reason != AS_ASKED and saved * n <= LEAST_SAVED:
        return StepSolver(BLOCK, "the recursion with tangents of forces saves too little for so few bodies")
    body, parent = steps[:, BODY], steps[:, PARENT]
    of_step = np.minimum(body, parent) * (n + 1) + np.maximum(body, parent)
    served = np.flatnonzero(steps[:, KIND] == REVOLUTE)
    number = dict(zip(of_step[served].tolist(), served.tolist(), strict=True)) if pairs else {}
    pair_of_step = np.full((len(steps), 2), NO_PAIR)
    left: Pairs = []
    for k, (i, j) in enumerate(pairs):
        step = number.get(i * (n + 1) + j)
        if step is None:
            left.append((i, j))
        else:
            pair_of_step[step] = k, body[step] > parent[step]
    if left:
        return StepSolver(BLOCK, "bodies that no revolute joint connects are coupled", frozenset(left))
    return StepSolver(model.solver, pair_of_step=pair_of_step)


def step_solver_tables(model: Model, edges: list[tuple[int, ...]], pairs: Pairs, loaded: bool) -> tuple[SolverTables, Ints]:
    """Return the tables of the solver, where they differ from the model's, and (n, 2) block of each pair and whether it is transposed."""
    solver, no_block = step_solver(model, pairs, loaded), np.full((len(pairs), 2), NONE)
    if has_tree(model.tables) and solver.name != BLOCK:
        work = {"TREE_PAIRS": (model.nb + 1 if loaded else 0, 36)}
        return SolverTables(solver.name, "", {"PAIR_OF_STEP": solver.pair_of_step}, work), no_block
    if has_fronts(model.tables) and solver.name != BLOCK:
        return SolverTables(solver.name, "", {}, {}), no_block
    weight, kind = model.tables["EDGE_ROWS"].T.tolist()
    schedule = make_schedule(model.nb, edges, pairs, EdgeRows(weight, kind))
    tables = block_tables(schedule, model.nb + 1, "")
    if has_tree(model.tables):
        tables.ints["TREE"] = np.zeros((0, 0), dtype=np.int64)
        tables.work.update(dict.fromkeys(TREE_ARRAYS, (0, 0)))
    if has_fronts(model.tables):
        tables.ints.update({name: np.zeros((0, 0), dtype=np.int64) for name in FRONT_ARRAYS if name in INTS})
        tables.work.update({name: (0, 0) for name in FRONT_ARRAYS if name in WORK})
    return tables, schedule.coupled_block
