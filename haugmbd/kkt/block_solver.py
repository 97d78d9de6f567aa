r"""The block LDL^T as a solver: blocks of 6 x 6 for bodies and edges, eliminated in the order of a schedule, see `block_ldl`.

    blocks [ns]    NODE_NS for each body and edge, UPDATE_NS for each update

It serves every model, and is the fastest for single loops and small mechanisms.  Edges of one or two rows are NARROW: they have blocks of
true sizes.  Models without them have entry points of their own, in which no code for narrow edges is compiled.
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.kkt.block_ldl import EdgeBlocks, Factor, assemble, backward, factor_nodes, forward
from haugmbd.kkt.elimination_order import WIDE, EliminationSteps, Schedule
from haugmbd.kkt.pivot_trials import WITH_EQUAL_BODIES, copy, first_trial, next_trial, scale_of
from haugmbd.kkt.rank_deficient import RowChoice, factor_chosen_nodes
from haugmbd.kkt.solver import BLOCK, Solver, SolverRoutines, SolverTables, routines_by_trials
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.accessors import accessor
from haugmbd.workspace.layout import Workspace, declare, place_in

BLOCK_ARRAYS = declare(
    "blocks",
    {
        "ORDER": "(ns, 2) and what follows: the schedule, see `kkt.elimination_order`",
        "NEIGHBOR_STARTS": "(ns + 1, 1)",
        "NEIGHBORS": "(., 3)",
        "UPDATE_STARTS": "(ns + 1, 1)",
        "FILL_UPDATES": "(., 5)",
        "BODY_BLOCK": "(ne, sides)",
        "BODY_FIRST": "(ne, sides)",
        "EDGE_WIDTH": "(ne, 1)",
        "FILL_LINES": "(., 1)",
        "NARROW_EDGES": "(., 1)",
    },
    {
        "B": "(n_blocks, 36) off-diagonal blocks",
    },
    {},
)
"""The matrices of this solver: shapes and meaning."""

elimination_order = accessor("ORDER")
neighbor_starts = accessor("NEIGHBOR_STARTS", flat=True)
neighbors = accessor("NEIGHBORS")
update_starts = accessor("UPDATE_STARTS", flat=True)
fill_updates = accessor("FILL_UPDATES")
body_block = accessor("BODY_BLOCK")
body_first = accessor("BODY_FIRST")
edge_width = accessor("EDGE_WIDTH")
fill_lines = accessor("FILL_LINES")
off_diagonal_blocks = accessor("B", 6, 6)


UPDATE_NS, NODE_NS = 85.0, 170.0
"""Predicted time of the block LDL^T [ns]: for each update of a block, and for each body and edge."""


@inlined
def steps_of(w: Workspace) -> EliminationSteps:
    """Return the order of elimination."""
    return EliminationSteps(
        elimination_order(w),
        neighbor_starts(w),
        neighbors(w),
        update_starts(w),
        fill_updates(w),
    )


@inlined
def factor_of(w: Workspace) -> Factor:
    """Return the arrays of the factorization."""
    return Factor(ws.diagonal_blocks(w), ws.inverse_pivots(w), off_diagonal_blocks(w))


@inlined
def put_blocks(w: Workspace, f: Factor, trial: int) -> None:
    """Write the blocks of M, or of the inertia EVEN, and the rows; include the tangents of an implicit step, if the tables have them."""
    inertia = ws.even_inertia(w) if trial == WITH_EQUAL_BODIES else ws.shifted_inertia(w)
    assemble(edge_blocks(w), inertia, ws.padding_line(w), ws.jacobian(w), f)
    if trial != WITH_EQUAL_BODIES:
        add_tangents(w, f)


@inlined
def edge_blocks(w: Workspace) -> EdgeBlocks:
    """Return the blocks of the edges."""
    return EdgeBlocks(body_block(w), body_first(w), edge_width(w), fill_lines(w))


@inlined
def eliminated(w: Workspace, all_wide: bool) -> int:
    """Assemble, and eliminate together with b; return SINGULAR if rows depend on others."""
    f, x, trial = factor_of(w), ws.solution(w), first_trial(w)
    while trial >= 0:
        # K of this trial: with the inertias themselves, or with equal bodies
        put_blocks(w, f, trial)
        copy(ws.right_hand_side(w), x)
        # K = L d L^T, and x = L^-1 b
        worst, node = factor_nodes(steps_of(w), scale_of(w, trial), f, x, all_wide)
        # a weak pivot: rows that depend on each other, or a light body?
        trial = next_trial(w, trial, worst, node)
    return -1 - trial


@inlined
def eliminated_chosen(w: Workspace, all_wide: bool) -> int:
    """Assemble, and eliminate where rows are dropped; return SINGULAR if rows depend on others."""
    f, x, trial = factor_of(w), ws.solution(w), first_trial(w)
    while trial >= 0:
        # K of this trial
        put_blocks(w, f, trial)
        copy(ws.right_hand_side(w), x)
        scale = scale_of(w, trial)
        choice = RowChoice(ws.padding(w), ws.kept_rows(w), scale, ws.pivot_rows(w), ws.row_spans(w), ws.jacobian(w), ws.length(w))
        # K = L d L^T of the rows that each edge keeps, and x = L^-1 b
        worst, node = factor_chosen_nodes(steps_of(w), choice, f, x, all_wide)
        # a weak pivot: rows that depend on each other, or a light body?
        trial = next_trial(w, trial, worst, node)
    return -1 - trial


@inlined
def add_tangents(w: Workspace, f: Factor) -> None:
    """Add the tangents of an implicit step, if the tables have them, to the blocks of bodies, and write those of coupled pairs."""
    tangents, pair_blocks, pairs = ws.tangent_blocks(w), ws.coupled_tangent_blocks(w), ws.coupled_pairs(w)
    for k in range(1, tangents.shape[0]):
        for a in range(6):
            for c in range(a + 1):
                f.D[k, a, c] += tangents[k, a, c]
    for n in range(pairs.shape[0]):
        block, transposed = pairs[n, 2], pairs[n, 3] == 1
        for a in range(6):
            for c in range(6):
                f.B[block, a, c] = pair_blocks[n, c, a] if transposed else pair_blocks[n, a, c]


@inlined
def forward_blocks(w: Workspace, x: Array, all_wide: bool) -> None:
    """Set x <- d^-1 L^-1 x with the current factor."""
    forward(steps_of(w), factor_of(w), x, all_wide)


@inlined
def backward_blocks(w: Workspace, x: Array, all_wide: bool) -> None:
    """Set x <- L^-T x: the result of `forward_blocks` becomes the solution."""
    backward(steps_of(w), factor_of(w), x, all_wide)


WITH_BLOCKS, WITH_WIDE_BLOCKS = (
    routines_by_trials(
        name,
        __name__,
        all_wide,
        eliminate=eliminated,
        eliminate_chosen=eliminated_chosen,
        forward=forward_blocks,
        backward=backward_blocks,
    )
    for name, all_wide in (("blocks", False), ("wide_blocks", True))
)


def block_routines(ints: Ints) -> SolverRoutines:
    """Return the routines of the blocks for the integers of tables."""
    return WITH_BLOCKS if has_narrow_edges(ints) else WITH_WIDE_BLOCKS


def has_narrow_edges(ints: Ints) -> bool:
    """Return whether the integers of tables have edges of one or two rows, with blocks of true sizes."""
    return place_in(ints, "NARROW_EDGES")[1] > 0


def blocks_ns(n_nodes: int, updates: float = 0.0) -> float:
    """Return the predicted time of the blocks [ns];  n_nodes: bodies and edges."""
    return NODE_NS * n_nodes + UPDATE_NS * updates


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


BLOCKS = Solver(
    BLOCK,
    "every model; the fastest for single loops and small mechanisms",
    BLOCK_ARRAYS,
    lambda tables: tables.place("ORDER")[2] > 0,
    lambda tables: block_routines(tables.ints),
    True,
)
