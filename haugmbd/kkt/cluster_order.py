r"""Clusters of coupled joints in a forest, determined once per model in plain Python.

Joints that couplings link, with the joints between them in the forest, form a CLUSTER.  Its joints move by m free coordinates y,

    z_k = sum_j G_kj y_j + z0_k

Each coupling gives one DEPENDENT joint.  They are assigned so that each coupling contains, besides its own, only dependent joints of
couplings before it: a joint that only one coupling contains is the dependent one of this coupling, which is then set aside, and so on.
Of those at hand, the one with the largest coefficient relative to the others of its coupling is taken: G then stays small.
Source: Jain (2012), Multibody graph transformations and analysis II, Nonlinear Dynamics 67 (constraint embedding); Chignoli et al. (2023),
Recursive rigid-body dynamics algorithms for systems with kinematic loops.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Ints
from haugmbd.graph import Groups
from haugmbd.kkt.tree_order import Branch

MOST_FREE = 6
"""Largest number of free coordinates of a cluster: the work for each of its bodies grows with the square of it."""

MOST_GAIN = 1e3
"""Largest entry of G: the solution loses this factor of digits."""

CLUSTER, MEMBER, CARRIER, FIRST, LEAF, ONLY, SLIDES, LAST = range(8)
"""Columns of CLUSTER_STEPS: the cluster of a body, or -1; its line in CLUSTER_MEMBERS, and that of the body that carries it, or of the
base; 1 for the first body of the cluster; 1 if it carries no other of the cluster; 1 for the last body that its carrier, or the base,
carries of the cluster, which is the first that passes on what it carries; 1 if its joint slides, 0 if it is revolute; 1 for the last body
of the cluster, which is passed first inward."""
STEP_COLUMNS = 8

BASE, BASE_MEMBER, FREE, END_MEMBER, FIRST_ROW, END_ROW = range(6)
"""Columns of CLUSTERS: the body that carries the cluster; its line in CLUSTER_MEMBERS, behind which stand those of the m free joints, then
those of the others; m; the line behind its last; its rows in CLUSTER_ROWS."""

NODE, ROW, FIRST_TERM, END_TERM, WITH_SLIDES = range(5)
"""Columns of CLUSTER_ROWS: node and row of a coupling; its terms in CLUSTER_TERMS, that of the dependent joint first; 1 if some are
displacements."""

LINE, BODY, SIGN, OF, JOINT, COORDINATE, FIRST_ON_A, FIRST_ON_B, OF_SLIDE, STEP = range(10)
"""Columns of CLUSTER_TERMS: line of the tables of rows; the body that the joint carries; 1 if this is body b of the coordinate, otherwise
-1; its line in CLUSTER_MEMBERS; node of the joint; line in CLUSTER_ANGLES, or in CLUSTER_DISPLACEMENTS, whose first column is a line of the
tables of rows; 1 for the first term of the row on body a, and on body b; 1 for a displacement; step of the body in TREE."""

ANGLE_LINE, E, N, V, BODY_A, BODY_B, INTEGRATED = range(7)
"""Columns of CLUSTER_ANGLES: a line of the tables of rows, and what is read of it: e, n and v; their bodies; the integrated angle."""


class Term(NamedTuple):
    """One term of a coupling.

    The bodies a and b of the coordinate, the line in the tables of rows, the coefficient, what tells the coordinate from others, and
    whether it is a displacement.
    """

    bodies: tuple[int, int]
    line: int
    coefficient: float
    coordinate: Hashable
    slides: bool = False


class CoupledRow(NamedTuple):
    """A coupling: its edge, its row on it, and its terms."""

    edge: int
    row: int
    terms: tuple[Term, ...]


Parents = Mapping[int, int]
"""The body that carries a body; the roots are not among the keys."""


class ClusterTables(NamedTuple):
    """Tables for compiled code, see the columns above; shapes (nb, 8), (nc, 6), (nr, 5), (nt, 10), (na, 1), (nd, 1).

    n_members: number of lines of CLUSTER_MEMBERS
    """

    steps: Ints
    clusters: Ints
    rows: Ints
    terms: Ints
    angles: Ints
    displacements: Ints
    n_members: int


NO_TABLE = np.zeros((0, 0), dtype=np.int64)
NO_CLUSTERS = ClusterTables(NO_TABLE, NO_TABLE, NO_TABLE, NO_TABLE, NO_TABLE, NO_TABLE, 0)


def cluster_tables(
    branches: Sequence[Branch], revolute: Collection[int], rows: Sequence[CoupledRow], sliding: Collection[int] = ()
) -> ClusterTables | None:
    """Return the clusters of a forest; None if the recursion does not serve them.

    revolute: the edges with a known axis;  sliding: those with a known direction of translation, and no other freedom
    """
    parent: dict[int, int] = {}
    edge_of: dict[int, int] = {}
    depth = [0] * (len(branches) + 1)
    for body, carrier, edge in branches:
        if edge >= 0:
            parent[body], edge_of[body], depth[body] = carrier, edge, depth[carrier] + 1
    if not rows:
        return NO_CLUSTERS
    groups = Groups(range(len(branches) + 1))
    for row in rows:
        joints = [_carried(term, parent) for term in row.terms]
        path = _joints_between(joints, parent, depth) if -1 not in joints and len(set(joints)) == len(joints) else []
        if not path or any(edge_of[body] not in revolute and edge_of[body] not in sliding for body in path):
            return None
        if any(term.slides != (edge_of[body] in sliding) for term, body in zip(row.terms, joints, strict=True)):
            return None
        for body in path:
            groups.unite(path[0], body)
    rows_of: dict[int, list[CoupledRow]] = {}
    for row in rows:
        rows_of.setdefault(groups.find(_carried(row.terms[0], parent)), []).append(row)
    bodies_of: dict[int, list[int]] = {}
    step_of = {branch.body: n for n, branch in enumerate(branches)}
    for body in step_of:
        if groups.find(body) in rows_of:
            bodies_of.setdefault(groups.find(body), []).append(body)
    tables = _Lines(np.full((len(branches), STEP_COLUMNS), -1, dtype=np.int64), [], [], [], {}, {}, sliding)
    for root, rows_of_root in rows_of.items():
        order = triangular_order(rows_of_root, parent)
        if order is None or not _add_cluster(tables, bodies_of[root], order, branches, step_of):
            return None
    clusters, table_rows, terms = (np.array(lines, dtype=np.int64) for lines in (tables.clusters, tables.rows, tables.terms))
    angles, displacements = (
        np.array([line for _, line in chosen_lines.values()], dtype=np.int64)[:, None]
        for chosen_lines in (tables.angles, tables.displacements)
    )
    return ClusterTables(tables.steps, clusters, table_rows, terms, angles, displacements, int(clusters[-1, END_MEMBER]))


def _carried(term: Term, parent: Parents) -> int:
    """Return the body that the joint of a term carries; -1 if its bodies are no branch of the forest."""
    a, b = term.bodies
    return b if parent.get(b) == a else a if parent.get(a) == b else -1


def _joints_between(joints: Sequence[int], parent: Parents, depth: Sequence[int]) -> list[int]:
    """Return the joints, by the bodies that they carry, and those between them; none if they are in parts that nothing connects."""
    coupled = list(dict.fromkeys(joints))
    inside = set(coupled)
    tops = {parent[body] for body in coupled}
    while len(tops) > 1:
        lowest = max(tops, key=lambda body: depth[body])
        tops.discard(lowest)
        if lowest not in parent:
            return []
        if lowest not in inside:
            inside.add(lowest)
            coupled.append(lowest)
            tops.add(parent[lowest])
    return coupled


def triangular_order(rows: Sequence[CoupledRow], parent: Parents) -> list[tuple[CoupledRow, int]] | None:
    """Return the rows in an order in which each has one joint that no row before it has, and its dependent joint; None if there is none."""
    terms = [{_carried(term, parent): abs(term.coefficient) for term in row.terms} for row in rows]
    if not all(all(0.0 < c < np.inf for c in row.values()) for row in terms):
        return None
    with_joint: dict[int, set[int]] = {}
    for n, row in enumerate(terms):
        for joint in row:
            with_joint.setdefault(joint, set()).add(n)

    def at_hand(joint: int) -> tuple[float, int]:
        (n,) = with_joint[joint]
        return -terms[n][joint] / max(terms[n].values()), joint

    waiting = [at_hand(joint) for joint, rows_of_joint in with_joint.items() if len(rows_of_joint) == 1]
    heapify(waiting)
    ordered: list[tuple[CoupledRow, int]] = []
    while waiting:
        _, dependent = heappop(waiting)
        if not with_joint[dependent]:
            continue
        (n,) = with_joint[dependent]
        ordered.append((rows[n], dependent))
        for joint in terms[n]:
            with_joint[joint].discard(n)
            if len(with_joint[joint]) == 1:
                heappush(waiting, at_hand(joint))
    return ordered[::-1] if len(ordered) == len(rows) else None


class _Lines(NamedTuple):
    """The tables while they are filled;  angles, displacements: number and line of each, by its key;  sliding: edges."""

    steps: Ints
    clusters: list[list[int]]
    rows: list[list[int]]
    terms: list[list[int]]
    angles: dict[Hashable, tuple[int, int]]
    displacements: dict[Hashable, tuple[int, int]]
    sliding: Collection[int]


def _add_cluster(
    tables: _Lines,
    bodies: Sequence[int],
    order: Sequence[tuple[CoupledRow, int]],
    branches: Sequence[Branch],
    step_of: dict[int, int],
) -> bool:
    """Add a cluster; return whether it has few enough free coordinates, and its joints no large ratios."""
    parent = {body: branches[step_of[body]].parent for body in bodies}
    dependent = {joint for _, joint in order}
    free = [body for body in bodies if body not in dependent]
    if len(free) > MOST_FREE or largest_gain(free, order, parent) > MOST_GAIN:
        return False
    base_member = tables.clusters[-1][END_MEMBER] if tables.clusters else 0
    member = {body: base_member + 1 + n for n, body in enumerate([*free, *(body for body in bodies if body in dependent)])}
    n_bodies, first_row = len(branches) + 1, len(tables.rows)
    seen = set[int]()
    for n, body in reversed(list(enumerate(bodies))):
        carrier = member.get(parent[body], base_member)
        leaf, first = member[body] not in seen, carrier not in seen
        seen.add(carrier)
        slides = branches[step_of[body]].edge in tables.sliding
        last = n == len(bodies) - 1
        tables.steps[step_of[body]] = len(tables.clusters), member[body], carrier, n == 0, leaf, first, slides, last
    for row, dependent_joint in order:
        first_term, touched = len(tables.terms), set[int]()
        for term in sorted(row.terms, key=lambda term: _carried(term, parent) != dependent_joint):
            body = _carried(term, parent)
            node = n_bodies + branches[step_of[body]].edge
            coordinates = tables.displacements if term.slides else tables.angles
            number, _ = coordinates.setdefault(term.coordinate, (len(coordinates), term.line))
            a, b = term.bodies
            of_joint = [term.line, body, 1 if b == body else -1, member[body], node, number]
            tables.terms.append([*of_joint, a not in touched, b not in touched, term.slides, step_of[body]])
            touched |= {a, b}
        slides = any(term.slides for term in row.terms)
        tables.rows.append([n_bodies + row.edge, row.row, first_term, len(tables.terms), slides])
    end = base_member + 1 + len(bodies)
    tables.clusters.append([parent[bodies[0]], base_member, len(free), end, first_row, len(tables.rows)])
    return True


def largest_gain(free: Sequence[int], order: Sequence[tuple[CoupledRow, int]], parent: Parents) -> float:
    """Return the largest entry of G."""
    G = {body: np.eye(len(free))[n] for n, body in enumerate(free)}
    for row, dependent in order:
        terms = {_carried(term, parent): term.coefficient for term in row.terms}
        G[dependent] = -sum((c * G[body] for body, c in terms.items() if body != dependent), np.zeros(len(free))) / terms[dependent]
    return max((float(np.abs(line).max(initial=0.0)) for line in G.values()), default=0.0)
