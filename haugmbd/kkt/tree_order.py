r"""The order of the bodies of a forest, each after the body that carries it, determined once per model in plain Python.

A model is a forest if each of its edges (the rows between the same bodies) is a bridge of the graph of bodies and edges. Each edge then
carries one body: the one that is farther from the root. The root is the ground, or the first body of a part that is not attached.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Ints
from haugmbd.graph import bridges_of
from haugmbd.kkt.tree_arrays import (
    BODY,
    EDGE,
    FIRST_ROW,
    GENERAL,
    GENERAL_COLUMNS,
    HELICAL,
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

Flags = npt.NDArray[np.bool_]

NO_FORM = -1
"""First column of the forms of other edges."""
REVOLUTE_FORM = 6
"""Columns of the forms of revolute edges, whose rows are three CD along x, y, z and two DP1 in this order: the points on body i and body j
of the CD; the vectors of each DP1, one on each of its bodies."""
SEPARABLE_FORM, FORM_THREADS, FORM_ROWS, FORM_POINTS = 11, 2, 3, 9
"""Columns of the forms of separable edges, of which each row restricts the translation of one point, or the rotation, see
`separable_joint`: how many do, of each, and how many couple the two freedoms that two and two such rows leave, one or none; the numbers of
these rows on the edge, in this order; markers of the points on body i and on body j, of CD both, of DP2 that on body j, or none."""


class Forms(NamedTuple):
    """The edges of known forms.  revolute: (ne, 6);  separable: (ne, 11) of those that are not revolute."""

    revolute: Ints
    separable: Ints

    def are_known(self) -> Flags:
        """Return of which edges the form is known, (ne,)."""
        have_form: Flags = (self.revolute[:, 0] != NO_FORM) | (self.separable[:, 0] != NO_FORM)
        return have_form

    def of(self, edges: Collection[int]) -> Forms:
        """Return the forms of these edges alone; nothing is known of the others."""
        others = np.setdiff1d(np.arange(len(self.revolute)), np.fromiter(edges, dtype=np.int64, count=len(edges)))
        left = Forms(self.revolute.copy(), self.separable.copy())
        left.revolute[others], left.separable[others] = NO_FORM, NO_FORM
        return left


def no_forms(n_edges: int) -> Forms:
    """Return the forms of edges of which nothing is known."""
    return Forms(*(np.full((n_edges, columns), NO_FORM, dtype=np.int64) for columns in (REVOLUTE_FORM, SEPARABLE_FORM)))


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
        if len(bodies) > 2 and any(bodies[2:]):  # noqa: PLR2004
            return None
        at[bodies[0]].append(e)
        at[bodies[1]].append(e)
    seen, branches = [False] * n_bodies, list[Branch]()
    for root in range(n_bodies):
        if seen[root]:
            continue
        seen[root] = True
        if root > 0:
            branches.append(Branch(root, 0, -1))
        waiting = [(root, -1)]
        for body, came_by in waiting:
            for e in at[body]:
                other = edges[e][0] + edges[e][1] - body
                if e == came_by:
                    continue
                if seen[other]:
                    return None
                seen[other] = True
                branches.append(Branch(other, body, e))
                waiting.append((other, e))
    return branches


def hanging_branches(n_bodies: int, edges: Sequence[tuple[int, ...]]) -> list[Branch]:
    """Return the branches of the trees that hang on the rest of a model, each after that of its parent: bodies that no loop needs.

    A chain that carries a loop belongs to the rest.  n_bodies: the ground counted
    """
    child_of = bridges_of(n_bodies, edges)
    at: list[list[int]] = [[] for _ in range(n_bodies)]
    for e, bodies in enumerate(edges):
        for body in {*bodies} - {0}:
            at[body].append(e)
    left = [len(edges_of_body) for edges_of_body in at]
    waiting = [body for body in range(1, n_bodies) if left[body] == 1]
    gone, branches = [False] * len(edges), list[Branch]()
    for body in waiting:
        e = next(e for e in at[body] if not gone[e])
        if child_of.get(e) != body:
            continue
        gone[e] = True
        parent = edges[e][0] + edges[e][1] - body
        branches.append(Branch(body, parent, e))
        left[parent] -= 1
        if parent > 0 and left[parent] == 1:
            waiting.append(parent)
    return branches[::-1]


def tree_steps(branches: Sequence[Branch], bodies: Ints, weight: Sequence[int], forms: Forms, body_of: Ints) -> Ints:
    """Return the table of the recursion, (nb, .), see `tree_arrays`.

    bodies: (ne, 2) of the edges;  weight: number of rows of each edge;  body_of: the body of each marker
    """
    steps = np.full((len(branches), STEP_COLUMNS), NO_MARKER, dtype=np.int64)
    steps[:, [BODY, PARENT, EDGE]] = np.array(branches, dtype=np.int64).reshape(-1, 3)
    steps[:, SIDE], steps[:, ROWS], steps[:, KIND] = 0, 0, GENERAL
    carried = steps[:, EDGE] >= 0
    body, edge = steps[carried, BODY], steps[carried, EDGE]
    steps[carried, SIDE], steps[carried, ROWS] = bodies[edge, 0] != body, np.array(weight, dtype=np.int64)[edge]
    roots = ~carried
    steps[roots, KIND], steps[roots, N_LINEAR], steps[roots, N_ANGULAR] = SEPARABLE, 0, 0  # what holds such a body: no row
    revolute, at = forms.revolute[edge, 0] != NO_FORM, np.flatnonzero(carried)
    put_separable(steps, at[forms.separable[edge, 0] != NO_FORM], forms.separable, body_of)
    put_revolute(steps, at[revolute], forms.revolute, body_of)
    return steps


def lead_of(steps: Ints) -> int:
    """Return how many steps a body is behind the one that carries it, at most."""
    numbers = np.arange(len(steps))
    step_of = np.full(steps[:, [BODY, PARENT]].max(initial=0) + 1, len(steps))  # behind all, for bodies that are no step
    step_of[steps[:, BODY]] = numbers
    return int((numbers - step_of[steps[:, PARENT]]).max(initial=0))


def put_revolute(steps: Ints, at: Ints, forms: Ints, body_of: Ints) -> None:
    """Write the columns of revolute joints, in the lines `at`."""
    body, form = steps[at, BODY], forms[steps[at, EDGE]]
    steps[at, KIND], steps[at, SIGN] = REVOLUTE, np.where(body_of[form[:, 1]] != body, -1, 1)
    for (on_parent, on_body), (i, j) in zip(((P, Q), (X1, Y1), (X2, Y2)), form.reshape(-1, 3, 2).transpose(1, 2, 0), strict=True):
        turned = body_of[j] != body
        steps[at, on_parent], steps[at, on_body] = np.where(turned, j, i), np.where(turned, i, j)


def put_separable(steps: Ints, at: Ints, forms: Ints, body_of: Ints) -> None:
    """Write the columns of separable and helical joints, in the lines `at`."""
    body, form = steps[at, BODY], forms[steps[at, EDGE]]
    steps[at, KIND] = np.where(form[:, FORM_THREADS] > 0, HELICAL, SEPARABLE)
    steps[at, N_LINEAR], steps[at, N_ANGULAR] = form[:, 0], form[:, 1]
    steps[at, FIRST_ROW:STEP_COLUMNS] = form[:, FORM_ROWS:FORM_POINTS]
    for marker in form[:, FORM_POINTS:].T:
        has_marker = marker >= 0
        on_body = has_marker & (body_of[marker] == body)
        steps[at[on_body], Q], steps[at[has_marker & ~on_body], P] = marker[on_body], marker[has_marker & ~on_body]


def is_all_revolute(steps: Ints) -> bool:
    """Return whether all joints of these steps are revolute."""
    return bool((steps[:, KIND] == REVOLUTE).all())


def joint_columns(steps: Ints) -> int:
    """Return the number of columns that the joints of these steps need."""
    columns = {REVOLUTE: REVOLUTE_COLUMNS, SEPARABLE: SEPARABLE_COLUMNS, HELICAL: SEPARABLE_COLUMNS, GENERAL: GENERAL_COLUMNS}
    return max((columns[kind] for kind in set(steps[:, KIND].tolist())), default=REVOLUTE_COLUMNS)
