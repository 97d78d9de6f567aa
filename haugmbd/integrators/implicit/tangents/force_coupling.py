r"""The tables of a model for implicit steps: bodies that a force couples have a block of their own in the augmented matrix.

    M + c_C C + c_K K        C, K: dampings and stiffnesses of the force elements between two bodies

Explicit steps use tables of the same model without these blocks.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.control.output import BlockOutput
from haugmbd.forces.registry import table_of
from haugmbd.forces.state_force import StateForce
from haugmbd.forces.user_function import TIME
from haugmbd.integrators.implicit.tangents.coloring import color_bodies
from haugmbd.kkt.elimination_order import EdgeRows, make_schedule
from haugmbd.kkt.solver_choice import (
    AS_ASKED,
    FRONT_ARRAYS,
    FRONT_TABLES,
    LEAST_SAVED,
    MULTIFRONTAL,
    TREE,
    TREE_ARRAYS,
    SolverTables,
    block_tables,
)
from haugmbd.kkt.solver_routines import has_fronts, has_tree
from haugmbd.kkt.tree.implicit.neighbour_tangents import NO_PAIR
from haugmbd.kkt.tree.tree_arrays import BODY, GENERAL, KIND, PARENT, REVOLUTE
from haugmbd.kkt.tree.tree_order import is_all_revolute
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.accessors import BY_MULTIPLIERS
from haugmbd.workspace.layout import WIDTH, Tables

MOST_COUPLED = 6
"""Largest number of bodies of one user force that are coupled; for larger ones only the bodies' own blocks enter."""

SAVED_NS, SAVED_NS_BY_OTHERS = 200.0, 80.0
"""Predicted time that the recursion with tangents saves [ns], for each body: in a forest of revolute joints, and of other ones. It is taken
if it saves LEAST_SAVED: for a few bodies it would compile more than it saves."""

NONE = -1

PairNumbers = dict[tuple[int, int], int]
"""The number of the coupling between two bodies, the smaller body number first."""


def tables_with_coupling(model: Model, curved: bool = False) -> Tables:
    """Return the model's tables with couplings between bodies, their elimination schedule, and arrays for tangents and stages.

    curved: include the curvature of the constraints: difference the forces of all bodies, and couple those that share a joint
    """
    entries = sorted(model.loads, key=lambda entry: table_of(type(entry.load)))
    edges = [tuple(map(int, bodies)) for bodies in model.tables["EDGES"]]
    pair_of = _coupled_pairs(entries, edges if curved else [])
    starts = np.full(len(entries), NONE)
    if not curved:
        at = {id(jacobian_call.jacobian): jacobian_call.at for jacobian_call in model.jacobian_callbacks.jacobian_calls}
        starts[:] = [at.get(id(entry.load.jacobian), NONE) for entry in entries]
    colors = _difference_colors(model.nb, entries, edges if curved else None)
    solver, coupled_block = _solver_tables(model, edges, list(pair_of), bool(entries) or curved)
    ints = {
        # Newton's iteration refines the solution for massless directions; friction reads its multipliers
        "FLAGS": np.array([[0, *model.tables["FLAGS"][0, 1:4], BY_MULTIPLIERS if model.tables["FLAGS"][0, 4] else 0]]),
        "COUPLED_PAIRS": np.hstack([np.array(list(pair_of), dtype=np.int64).reshape(-1, 2), coupled_block]),
        "FORCE_COUPLINGS": np.array(
            [(_pair(pair_of, row), start) for e, start in zip(entries, starts, strict=True) for row in e.rows], dtype=np.int64
        ).reshape(-1, 2),
        "JACOBIAN_PAIRS": _jacobian_pairs(entries, starts, pair_of),
        "DIFFERENCE_COLORS": colors,
    } | solver.ints
    work = {
        "TANGENT": (model.nb + 1, 36),
        "COUPLED_TANGENTS": (len(pair_of), 36),
        "DIFFERENCES": (1, model.y0.size + 12 * (model.nb + 1) if colors[0] else 0),
        "USER_JACOBIANS": (1, 0 if curved else model.jacobian_callbacks.size),
        "DISPLACEMENT": (model.nb + 1, 6),  # this and what follows: what a step that fails gives back, see `step_control`
        "BASE_POSE": (model.nb + 1, 7),
        "U_DOT": (model.nb + 1, 6),
        "ALGORITHMIC": (model.nb + 1, 6),
        "U_DOT_BEFORE": (model.nb + 1, 6),
        "U_DOT_EARLIER": (model.nb + 1, 6),
        "PREDICTED_R7": (model.nb + 1, 11),
        "ANGLE_RATE": (1, model.y0.size - WIDTH * (model.nb + 1)),
        "STATE_RATES_BEFORE": (2, model.n_states),
        "LAMBDA": (6 * len(edges), 1),
    } | solver.work
    return model.tables.changed(ints, work)


def _solver_tables(
    model: Model, edges: list[tuple[int, ...]], pairs: list[tuple[int, int]], loaded: bool
) -> tuple[SolverTables, Ints]:
    """Return the tables of the solver, where they differ from the model's, and (n, 2) block of each pair and whether it is transposed.

    Coupled bodies are eliminated by blocks, also in a model with fronts: there a body is eliminated on its own. The recursion over a forest
    serves a body that is coupled to the one that carries it by a revolute joint, and no others.  loaded: whether there are tangents
    """
    if has_tree(model.tables) and (not loaded or _pays(model)):
        pair_of_step = _pairs_of_forest(model, pairs) if loaded else np.zeros((0, 2), dtype=np.int64)
        if pair_of_step is not None:
            work = {"TREE_PAIRS": (model.nb + 1 if loaded else 0, 36)}
            return SolverTables(TREE, "", {"PAIR_OF_STEP": pair_of_step}, work), np.full((len(pairs), 2), NONE)
    if has_fronts(model.tables) and not pairs:
        return SolverTables(MULTIFRONTAL, "", {}, {}), np.zeros((0, 2), dtype=np.int64)
    weight, kind = model.tables["EDGE_ROWS"].T.tolist()
    schedule = make_schedule(model.nb, edges, pairs, EdgeRows(weight, kind))
    solver = block_tables(schedule, model.nb + 1, "")
    if has_tree(model.tables):
        solver.ints["TREE"] = np.zeros((0, 0), dtype=np.int64)
        solver.work.update(dict.fromkeys(TREE_ARRAYS, (0, 0)))
    if has_fronts(model.tables):
        solver.ints.update({name: np.zeros((0, 0), dtype=np.int64) for name in FRONT_TABLES})
        solver.work.update(dict.fromkeys(FRONT_ARRAYS, (0, 0)))
    return solver, schedule.coupled_block


def _pays(model: Model) -> bool:
    """Return whether the recursion with tangents saves enough, or is asked for."""
    saved = SAVED_NS if is_all_revolute(model.tables["TREE"]) else SAVED_NS_BY_OTHERS
    return model.solver_reason == AS_ASKED or saved * model.nb > LEAST_SAVED


def _pairs_of_forest(model: Model, pairs: list[tuple[int, int]]) -> Ints | None:
    """Return the pair of each step of the recursion, see `neighbour_tangents`; None if it does not serve the tangents of this model."""
    steps = model.tables["TREE"]
    if len(steps) < model.nb or len(model.tables["CLUSTERS"]) or (steps[:, KIND] == GENERAL).any():
        return None
    number = {pair: n for n, pair in enumerate(pairs)}
    found = np.full((len(steps), 2), NO_PAIR)
    for row, (body, parent, kind) in zip(found, steps[:, [BODY, PARENT, KIND]].tolist(), strict=True):
        pair = number.get((min(body, parent), max(body, parent)), NO_PAIR)
        if pair != NO_PAIR and kind == REVOLUTE:
            row[:] = pair, body > parent
    return found if (found[:, 0] != NO_PAIR).sum() == len(pairs) else None


def _coupled_pairs(entries: list[LoadEntry], edges: list[tuple[int, ...]]) -> PairNumbers:
    """Return the pairs of bodies that forces or these edges couple, numbered."""
    pairs = [entry.bodies for entry in entries if len(entry.bodies) == 2]
    for entry in entries:
        if _of_state(entry) and len(entry.bodies) <= MOST_COUPLED:
            pairs += combinations(entry.bodies, 2)
    pair_of: PairNumbers = {}
    for i, j in [*pairs, *(pair for edge in edges for pair in combinations(edge, 2))]:
        if 0 not in (i, j) and i != j:
            pair_of.setdefault((min(i, j), max(i, j)), len(pair_of))
    return pair_of


def _pair(pair_of: PairNumbers, bodies: tuple[int, ...]) -> int:
    """Return the coupling of a force between two bodies."""
    return pair_of.get((min(bodies), max(bodies)), NONE) if len(bodies) == 2 else NONE


def _of_state(entry: LoadEntry) -> bool:
    """Return whether a user function, or a block, computes this force from the state."""
    user_function = entry.load.user_function()
    if any(isinstance(driver, BlockOutput) for driver in entry.load.drivers()):
        return True
    return user_function is not None and user_function.form != TIME


def _difference_colors(nb: int, entries: list[LoadEntry], edges: list[tuple[int, ...]] | None) -> Ints:
    """Return the colors (nb + 1, 1) of the bodies whose forces are differenced, and their number in the row of the ground."""
    differenced = {body for e in entries if _of_state(e) and e.load.jacobian is None for body in e.bodies}
    bodies = sorted(differenced - {0}) if edges is None else range(1, nb + 1)
    colors = color_bodies(nb + 1, bodies, [*(e.bodies for e in entries), *(edges or [])])
    colors[0] = colors.max()
    return colors[:, None]


def _jacobian_pairs(entries: list[LoadEntry], starts: Ints, pair_of: PairNumbers) -> Ints:
    """Return the blocks of every StateForce with a jacobian: of each body, and of each coupled pair."""
    rows = []
    for entry, start in zip(entries, starts, strict=True):
        if start == NONE or not isinstance(entry.load, StateForce):
            continue
        n = len(entry.bodies)
        for a, b in product(range(n), repeat=2):
            i, j = entry.bodies[a], entry.bodies[b]
            pair = pair_of.get((min(i, j), max(i, j)), NONE)
            if i != 0 and (i == j or pair != NONE):
                rows.append((start, n, a, b, i, j, pair))
    return np.array(rows, dtype=np.int64).reshape(-1, 7)
