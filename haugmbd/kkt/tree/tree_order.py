r"""The order of the bodies of a forest, each after the body that carries it, determined once per model in plain Python.

A model is a forest if each of its edges (the rows between the same bodies) is a bridge of the graph of bodies and edges. Each edge then
carries one body: the one that is farther from the root. The root is the ground, or the first body of a part that is not attached.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.kkt.tree.tree_arrays import (
    BODY,
    EDGE,
    FIRST_ROW,
    GENERAL,
    GENERAL_COLUMNS,
    KIND,
    N_ANGULAR,
    N_LINEAR,
    NO_MARKER,
    PARENT,
    REVOLUTE,
    REVOLUTE_COLUMNS,
    ROWS,
    SEPARABLE,
    SEPARABLE_COLUMNS,
    SIDE,
    SIGN,
    STEP_COLUMNS,
    X1,
    X2,
    Y1,
    Y2,
    P,
    Q,
)


class RevoluteMarkers(NamedTuple):
    """The markers of an edge whose rows are three CD along x, y, z and two DP1, in this order.

    points: on body i and body j of the CD;  vectors: of each DP1, one on each of its bodies
    """

    points: tuple[int, int]
    vectors: tuple[tuple[int, int], tuple[int, int]]


class SeparableRows(NamedTuple):
    """The rows of an edge of which each restricts the translation of one point, or the rotation, see `separable_joint`.

    linear, angular: their numbers on the edge;  points: markers on body i and on body j;  of CD both, of DP2 that on body j, or none
    """

    linear: tuple[int, ...]
    angular: tuple[int, ...]
    points: tuple[int, ...]


ROOT = SeparableRows((), (), ())
"""What holds a body that hangs on nothing."""


class Branch(NamedTuple):
    """A body, the body that carries it, and the edge between them; edge -1: the body is a root, and hangs on nothing."""

    body: int
    parent: int
    edge: int


def order_of_forest(n_bodies: int, edges: Sequence[tuple[int, ...]], coupled: Collection[int] = ()) -> list[Branch] | None:
    """Return the branches, each after that of its parent; None if the edges close a loop, or touch more than two bodies.

    n_bodies: the ground counted;  coupled: edges that couple joints of the forest, and are none of its own
    """
    at: list[list[int]] = [[] for _ in range(n_bodies)]
    for e, bodies in enumerate(edges):
        if e in coupled:
            continue
        if any(bodies[2:]):
            return None
        for body in bodies[:2]:
            at[body].append(e)
    seen, found = [False] * n_bodies, list[Branch]()
    for root in range(n_bodies):
        if seen[root]:
            continue
        seen[root] = True
        if root > 0:
            found.append(Branch(root, 0, -1))
        waiting = [(root, -1)]
        for body, came_by in waiting:
            for e in at[body]:
                other = edges[e][0] + edges[e][1] - body
                if e == came_by:
                    continue
                if seen[other]:
                    return None
                seen[other] = True
                found.append(Branch(other, body, e))
                waiting.append((other, e))
    return found


def tree_steps(
    branches: Sequence[Branch],
    edges: Sequence[tuple[int, ...]],
    weight: Sequence[int],
    forms: Mapping[int, RevoluteMarkers | SeparableRows],
    body_of: Sequence[int],
) -> Ints:
    """Return the table of the recursion, (nb, .), see `tree_arrays`.

    weight: number of rows of each edge;  forms: the edges of a known form;  body_of: the body of each marker
    """
    steps = np.full((len(branches), STEP_COLUMNS), NO_MARKER, dtype=np.int64)
    for step, (body, parent, e) in zip(steps, branches, strict=True):
        step[[BODY, PARENT, EDGE, SIDE, ROWS, KIND]] = body, parent, e, 0, 0, GENERAL
        if e >= 0:
            step[[SIDE, ROWS]] = edges[e].index(body), weight[e]
        form = forms.get(e) if e >= 0 else ROOT
        if isinstance(form, RevoluteMarkers):
            put_revolute(step, form, body_of)
        elif form is not None:
            put_separable(step, form, body_of)
    return steps


def put_revolute(step: Ints, form: RevoluteMarkers, body_of: Sequence[int]) -> None:
    """Write the columns of a revolute joint."""
    (i, j), vectors = form
    swapped = body_of[j] != step[BODY]
    x_y = [x if (body_of[x[1]] == step[BODY]) else x[::-1] for x in vectors]
    step[[SIGN, KIND]] = -1 if swapped else 1, REVOLUTE
    step[[P, Q]] = (j, i) if swapped else (i, j)
    step[[X1, Y1, X2, Y2]] = *x_y[0], *x_y[1]


def put_separable(step: Ints, form: SeparableRows, body_of: Sequence[int]) -> None:
    """Write the columns of a separable joint."""
    rows = (*form.linear, *form.angular)
    step[[KIND, N_LINEAR, N_ANGULAR]] = SEPARABLE, len(form.linear), len(form.angular)
    step[FIRST_ROW : FIRST_ROW + len(rows)] = rows
    for marker in form.points:
        step[Q if body_of[marker] == step[BODY] else P] = marker


def is_all_revolute(steps: Ints) -> bool:
    """Return whether all joints of these steps are revolute."""
    return bool((steps[:, KIND] == REVOLUTE).all())


def joint_columns(steps: Ints) -> int:
    """Return the number of columns that the joints of these steps need."""
    columns = {REVOLUTE: REVOLUTE_COLUMNS, SEPARABLE: SEPARABLE_COLUMNS, GENERAL: GENERAL_COLUMNS}
    return max((columns[kind] for kind in set(steps[:, KIND].tolist())), default=REVOLUTE_COLUMNS)
