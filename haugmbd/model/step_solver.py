r"""The solver of implicit steps, where tangents of forces join the matrix: it may differ from that of the same model's explicit steps.

tree            a forest, with tangents of bodies, and between a body and the one that carries it by a revolute joint
multifrontal    tangents of bodies: there a body is eliminated on its own
block LDL^T     all others: coupled bodies have a block of their own
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.control.output import BlockOutput
from haugmbd.forces.user_function import TIME
from haugmbd.kkt.block_solver import block_tables
from haugmbd.kkt.elimination_order import EdgeRows, make_schedule
from haugmbd.kkt.front_solver import FRONT_ARRAYS, has_fronts
from haugmbd.kkt.solver import AS_ASKED, BLOCK, SolverTables
from haugmbd.kkt.tangent_recursion import NO_PAIR
from haugmbd.kkt.tree_arrays import BODY, KIND, PARENT, REVOLUTE, SEPARABLE
from haugmbd.kkt.tree_order import is_all_revolute
from haugmbd.kkt.tree_solver import TREE_ARRAYS, has_tree
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.workspace.layout import INTS, WORK, Tables

SAVED_NS, SAVED_NS_BY_OTHERS, LEAST_SAVED = 200.0, 80.0, 1500.0
"""Predicted time that the recursion with tangents saves [ns], for each body: in a forest of revolute joints, and of other ones. It is taken
if it saves the last: for a few bodies it would compile more than it saves."""

NONE = -1

Chosen = tuple[str, str]
"""Name of the solver of explicit steps, and why it was chosen."""
Pairs = list[tuple[int, int]]
"""Bodies that forces couple, the smaller body number first."""


MOST_COUPLED = 6
"""Largest number of bodies of one user force that are coupled; for larger ones only the bodies' own blocks enter."""

PairNumbers = dict[tuple[int, int], int]
"""The number of the coupling between two bodies, the smaller body number first."""


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


def step_solver(tables: Tables, chosen: Chosen, pairs: Pairs, loaded: bool) -> StepSolver:
    """Return the solver for tangents of these pairs.  loaded: whether there are tangents."""
    if has_tree(tables):
        return _recursion_or_blocks(tables, chosen, pairs, loaded)
    if has_fronts(tables) and pairs:
        return StepSolver(BLOCK, "bodies are coupled", frozenset(pairs))
    return StepSolver(chosen[0])


def _recursion_or_blocks(tables: Tables, chosen: Chosen, pairs: Pairs, loaded: bool) -> StepSolver:
    """Return the recursion over the forest if it can hold the tangents and is faster, or if the user chose it; else the blocks."""
    if not loaded:
        return StepSolver(chosen[0])
    steps, n = tables["TREE"], n_bodies(tables)
    if len(steps) < n:
        return StepSolver(BLOCK, "the recursion on trees that hang on loops has no tangents of forces")
    if len(tables["CLUSTERS"]) or not np.isin(steps[:, KIND], (REVOLUTE, SEPARABLE)).all():
        return StepSolver(BLOCK, "the recursion with coupled joints, screws, or joints of one's own, has no tangents of forces")
    saved = SAVED_NS if is_all_revolute(steps) else SAVED_NS_BY_OTHERS
    if chosen[1] != AS_ASKED and saved * n <= LEAST_SAVED:
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
    return StepSolver(chosen[0], pair_of_step=pair_of_step)


def step_solver_tables(
    tables: Tables, chosen: Chosen, edges: Sequence[tuple[int, ...]], pairs: Pairs, loaded: bool
) -> tuple[SolverTables, Ints]:
    """Return the tables of the solver, where they differ from the model's, and (n, 2) block of each pair and whether it is transposed."""
    solver, no_block = step_solver(tables, chosen, pairs, loaded), np.full((len(pairs), 2), NONE)
    if has_tree(tables) and solver.name != BLOCK:
        work = {"TREE_PAIRS": (n_bodies(tables) + 1 if loaded else 0, 36)}
        return SolverTables(solver.name, "", {"PAIR_OF_STEP": solver.pair_of_step}, work), no_block
    if has_fronts(tables) and solver.name != BLOCK:
        return SolverTables(solver.name, "", {}, {}), no_block
    weight, kind = tables["EDGE_ROWS"].T.tolist()
    schedule = make_schedule(n_bodies(tables), list(edges), pairs, EdgeRows(weight, kind))
    blocks = block_tables(schedule, n_bodies(tables) + 1, "")
    if has_tree(tables):
        blocks.ints["TREE"] = np.zeros((0, 0), dtype=np.int64)
        blocks.work.update(dict.fromkeys(TREE_ARRAYS, (0, 0)))
    if has_fronts(tables):
        blocks.ints.update({name: np.zeros((0, 0), dtype=np.int64) for name in FRONT_ARRAYS if name in INTS})
        blocks.work.update({name: (0, 0) for name in FRONT_ARRAYS if name in WORK})
    return blocks, schedule.coupled_block


def explain_step_solver(tables: Tables, chosen: Chosen, entries: Sequence[LoadEntry]) -> str:
    """Return the solver of implicit steps, and why it is another one than that of explicit steps, in a few words."""
    solver = step_solver(tables, chosen, list(coupled_pairs(entries, [])), bool(entries))
    if not solver.reason:
        return solver.name
    coupling = [entry.load.name for entry in entries if not solver.pairs.isdisjoint(combinations(sorted(entry.bodies), 2))]
    more = f" and {len(coupling) - 1} more" if len(coupling) > 1 else ""
    by = f" by {coupling[0]!r}{more}" if coupling else ""
    return f"{solver.name}, because {solver.reason}{by}"


def coupled_pairs(entries: Sequence[LoadEntry], edges: Sequence[tuple[int, ...]]) -> PairNumbers:
    """Return the pairs of bodies that forces or these edges couple, numbered."""
    pairs = [entry.bodies for entry in entries if len(entry.bodies) == 2]
    for entry in entries:
        if depends_on_state(entry) and len(entry.bodies) <= MOST_COUPLED:
            pairs += combinations(entry.bodies, 2)
    pair_of: PairNumbers = {}
    for i, j in [*pairs, *(pair for edge in edges for pair in combinations(edge, 2))]:
        if 0 not in (i, j) and i != j:
            pair_of.setdefault((min(i, j), max(i, j)), len(pair_of))
    return pair_of


def depends_on_state(entry: LoadEntry) -> bool:
    """Return whether a user function, or a block, computes this force from the state."""
    user_function = entry.load.user_function()
    if any(isinstance(driver, BlockOutput) for driver in entry.load.drivers()):
        return True
    return user_function is not None and user_function.form != TIME


def n_bodies(tables: Tables) -> int:
    """Return the number of bodies, without the ground."""
    return len(tables["INERTIA"]) - 1
