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
from haugmbd.forces.user_function import TIME
from haugmbd.integrators.implicit.tangents.coloring import color_bodies
from haugmbd.integrators.implicit.tangents.step_solver import NONE, step_solver, step_solver_tables
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace.accessors import BY_MULTIPLIERS
from haugmbd.workspace.layout import WIDTH, Tables

MOST_COUPLED = 6
"""Largest number of bodies of one user force that are coupled; for larger ones only the bodies' own blocks enter."""

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
    solver, coupled_block = step_solver_tables(model, edges, list(pair_of), bool(entries) or curved)
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


def explain_step_solver(model: Model) -> str:
    """Return the solver of implicit steps, and why it is another one than that of explicit steps, in a few words."""
    entries = list(model.loads)
    solver = step_solver(model, list(_coupled_pairs(entries, [])), bool(entries))
    if not solver.reason:
        return solver.name
    coupling = [entry.load.name for entry in entries if not solver.pairs.isdisjoint(combinations(sorted(entry.bodies), 2))]
    more = f" and {len(coupling) - 1} more" if len(coupling) > 1 else ""
    by = f" by {coupling[0]!r}{more}" if coupling else ""
    return f"{solver.name}, because {solver.reason}{by}"


def _coupled_pairs(entries: list[LoadEntry], edges: list[tuple[int, ...]]) -> PairNumbers:
    """Return the pairs of bodies that forces or these edges couple, numbered."""
    pairs = [entry.bodies for entry in entries if len(entry.bodies) == 2]
    for entry in entries:
        if _depends_on_state(entry) and len(entry.bodies) <= MOST_COUPLED:
            pairs += combinations(entry.bodies, 2)
    pair_of: PairNumbers = {}
    for i, j in [*pairs, *(pair for edge in edges for pair in combinations(edge, 2))]:
        if 0 not in (i, j) and i != j:
            pair_of.setdefault((min(i, j), max(i, j)), len(pair_of))
    return pair_of


def _pair(pair_of: PairNumbers, bodies: tuple[int, ...]) -> int:
    """Return the coupling of a force between two bodies."""
    return pair_of.get((min(bodies), max(bodies)), NONE) if len(bodies) == 2 else NONE


def _depends_on_state(entry: LoadEntry) -> bool:
    """Return whether a user function, or a block, computes this force from the state."""
    user_function = entry.load.user_function()
    if any(isinstance(driver, BlockOutput) for driver in entry.load.drivers()):
        return True
    return user_function is not None and user_function.form != TIME


def _difference_colors(nb: int, entries: list[LoadEntry], edges: list[tuple[int, ...]] | None) -> Ints:
    """Return the colors (nb + 1, 1) of the bodies whose forces are differenced, and their number in the row of the ground."""
    differenced = {body for e in entries if _depends_on_state(e) and e.load.jacobian is None for body in e.bodies}
    bodies = sorted(differenced - {0}) if edges is None else range(1, nb + 1)
    colors = color_bodies(nb + 1, bodies, [*(e.bodies for e in entries), *(edges or [])])
    colors[0] = colors.max()
    return colors[:, None]


def _jacobian_pairs(entries: list[LoadEntry], starts: Ints, pair_of: PairNumbers) -> Ints:
    """Return the blocks of every law of states with a jacobian: of each body, and of each coupled pair."""
    rows = []
    for entry, start in zip(entries, starts, strict=True):
        jacobian = entry.load.jacobian
        if start == NONE or jacobian is None or not jacobian.is_of_generalized_forces:
            continue
        n = len(entry.bodies)
        for a, b in product(range(n), repeat=2):
            i, j = entry.bodies[a], entry.bodies[b]
            pair = pair_of.get((min(i, j), max(i, j)), NONE)
            if i != 0 and (i == j or pair != NONE):
                rows.append((start, n, a, b, i, j, pair))
    return np.array(rows, dtype=np.int64).reshape(-1, 7)
