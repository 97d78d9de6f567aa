"""The tables of a model for implicit steps: bodies that a force couples have a block of their own in the augmented matrix.

    M + c_C C + c_K K        C, K: dampings and stiffnesses of the force elements between two bodies

Explicit steps use tables of the same model without these blocks.

Coloring of bodies: which bodies may be displaced at once when forces are differenced.

    N(k) = k and all that share a force, or an edge, with it;      color a = color b   only if   N(a) and N(b) are disjoint

Every force that changes is then due to one body.  A model is differenced with six evaluations per color: three colors for a chain
of any length; as many as there are arms for bodies on a moving hub.
Source: Coleman, More, Estimation of sparse Jacobian matrices and graph coloring problems, SIAM J. Numer. Anal. 20 (1983) 187-209.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.forces.registry import table_of
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.model.step_solver import NONE, PairNumbers, coupled_pairs, depends_on_state, step_solver_tables
from haugmbd.workspace.accessors import BY_MULTIPLIERS
from haugmbd.workspace.layout import WIDTH, Tables


def tables_with_coupling(model: Model, curved: bool = False) -> Tables:
    """Return the model's tables with couplings between bodies, their elimination schedule, and arrays for tangents and stages.

    curved: include the curvature of the constraints: difference the forces of all bodies, and couple those that share a joint
    """
    entries = sorted(model.loads, key=lambda entry: table_of(type(entry.load)))
    edges = [tuple(map(int, bodies)) for bodies in model.tables["EDGES"]]
    pair_of = coupled_pairs(entries, edges if curved else [])
    starts = np.full(len(entries), NONE)
    if not curved:
        at = {id(jacobian_call.jacobian): jacobian_call.at for jacobian_call in model.jacobian_callbacks.jacobian_calls}
        starts[:] = [at.get(id(entry.load.jacobian), NONE) for entry in entries]
    colors = _difference_colors(model.nb, entries, edges if curved else None)
    solver, coupled_block = step_solver_tables(
        model.tables, (model.solver, model.solver_reason), edges, list(pair_of), bool(entries) or curved
    )
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


def _pair(pair_of: PairNumbers, bodies: tuple[int, ...]) -> int:
    """Return the coupling of a force between two bodies."""
    return pair_of.get((min(bodies), max(bodies)), NONE) if len(bodies) == 2 else NONE


def _difference_colors(nb: int, entries: list[LoadEntry], edges: list[tuple[int, ...]] | None) -> Ints:
    """Return the colors (nb + 1, 1) of the bodies whose forces are differenced, and their number in the row of the ground."""
    differenced = {body for e in entries if depends_on_state(e) and e.load.jacobian is None for body in e.bodies}
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


GROUND = 0


def color_bodies(n: int, bodies: Iterable[int], groups: Iterable[Sequence[int]]) -> Ints:
    """Return colors 1, 2, ... (n,) of `bodies`, 0 for all others.  Bodies of one of the `groups` are neighbours; the ground is excluded."""
    near: list[set[int]] = [{k} for k in range(n)]
    for group in groups:
        moving = set(group) - {GROUND}
        for k in moving:
            near[k] |= moving
    found = np.zeros(n, dtype=np.int64)
    taken: list[set[int]] = [set() for _ in range(n)]
    for k in bodies:
        used = set().union(*(taken[m] for m in near[k]))
        colour = next(c for c in range(1, len(used) + 2) if c not in used)
        found[k] = colour
        for m in near[k]:
            taken[m].add(colour)
    return found
