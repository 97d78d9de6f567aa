"""The constant tables of friction in joints, and the sizes of its work arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import Fault, ModelError
from haugmbd.forces.joint_friction import MESH_SLIDE, MESH_TURN, THREAD, JointFriction
from haugmbd.friction import columns as at
from haugmbd.friction.loop_arrays import algebra_size
from haugmbd.friction.shared_loads import shares_size
from haugmbd.friction.sweep_lanes import LANES as SWEEP_LANES
from haugmbd.friction.sweep_lanes import SWEEP_COLUMNS
from haugmbd.graph import bridges_of
from haugmbd.kkt.many_right_sides import LANES
from haugmbd.kkt.registry import without_sweeps
from haugmbd.kkt.tree_order import Branch
from haugmbd.workspace.layout import place_in


class FrictionTables(NamedTuple):
    """The tables of all joints with friction; none are made without them.

    solves: whether some friction depends on what its joint carries
    shared: the number of rows that may share loads by the compliance of bearings
    """

    ints: dict[str, Ints]
    reals: dict[str, Array]
    solves: bool
    n: int
    channels: int
    shared: int = 0

    def paths_to_ground(self, branches: Sequence[Branch] | None, revolute: Container[int]) -> Ints:
        """Return `paths_to_ground` of these joints."""
        return paths_to_ground(
            self.ints["FRICTION_INTS"] if self.solves else np.zeros((0, at.INT_COLUMNS), np.int64), branches, revolute
        )

    def work(self, nodes: int) -> dict[str, tuple[int, int]]:
        """Return the shapes of the work arrays of a model with so many nodes."""
        if not self.n:
            return {}
        n, m = self.n, self.channels
        return {
            "FRICTION_TERMS": (n, at.TERM_COLUMNS),
            "FRICTION_MODES": (n, at.MODE_COLUMNS),
            "FRICTION_BASE": (1, 6 * nodes),
            "FRICTION_COLUMNS": (m, 6 * nodes),
            "FRICTION_LANES": (nodes, 6 * LANES),
            "FRICTION_ALGEBRA": (1, algebra_size(n, m) + shares_size(self.shared, n, nodes)),
        }


def friction_tables(
    number: Any,
    entries: Sequence[Any],
    slots_of: Callable[[str], Ints],
    edges: Any,
    n_angles: int,
    places: Sequence[int],
) -> FrictionTables:
    """Return the tables.

    number: of bodies and markers;  entries: all loads;  slots_of: the slots of the rows of a joint;  edges: see `model.compiling.row_table`
    n_angles: integrated angles;  places: line of each internal state in the driver table
    """
    frictions = [entry for entry in entries if isinstance(entry.load, JointFriction)]
    loads = [entry.load for entry in frictions]
    if not loads:
        return FrictionTables({}, {}, False, 0, 0)
    ints, reals, first = np.zeros((len(loads), at.INT_COLUMNS), np.int64), np.zeros((len(loads), at.REAL_COLUMNS)), 0
    for row, entry in zip(ints, frictions, strict=True):
        load = entry.load
        slots = np.concatenate([slots_of(joint.name) for joint in load.pressing_joints])
        if len(set((slots // 6).tolist())) > 1:
            what = f"{load.joint.name!r} and {load.pressing_joints[-1].name!r} have more rows together than stand in one place"
            raise ModelError([Fault(load.where, what, "Give the two bodies no other joints between them.")])
        i, j = (number.bodies[body] for body in load.bodies())
        row[[at.KIND, at.CHANNELS, at.FIRST, at.BODY_I, at.BODY_J]] = load.shape or 0, load.channels, first, i, j
        row[at.SIDE_J], row[at.N_SLOTS] = edges.touched(int(slots[0]) // 6).index(j), len(slots)
        row[at.SLOTS : at.SLOTS + len(slots)] = slots
        row[at.POINT_I : at.EXACT] = [number.marker(body, x_bar) for body, x_bar in load.markers()]
        row[at.EXACT], row[at.LOADED] = load.is_exact, load.reads_reaction
        has_state = bool(load.states())
        row[at.STATE_Z] = n_angles + entry.state if has_state else -1
        row[at.PLACE_Z] = places[entry.state] if has_state else -1
        row[at.PLACE_PRELOAD] = entry.drivers[0] if entry.drivers else -1
        first += load.channels
    shared = len(edges.of_row) if any(load.bearing_stiffness is not None for load in loads) else 0
    ints[:, at.SHARED] = shared
    _put_bounds(ints, edges.tuples(), edges.of_row)
    reals[:] = [load.friction_numbers() for load in loads]
    return FrictionTables(
        {"FRICTION_INTS": ints}, {"FRICTION_REALS": reals}, any(x.reads_reaction for x in loads), len(loads), first, shared
    )


class SweepTables(NamedTuple):
    """The tables of the sweeps along the paths of `paths_to_ground`: integers, and shapes of work arrays, by name; when they are used."""

    ints: dict[str, Ints]
    work: dict[str, tuple[int, int]]
    reason: str = ""


def sweep_tables(paths: Ints) -> SweepTables:
    """Return the tables."""
    if not len(paths):
        return SweepTables({}, {})
    reason = "friction by sweeps where joints slide and their loop contracts, otherwise by columns"
    return SweepTables(
        {"FRICTION_PATHS": paths}, {"FRICTION_SWEEPS": (-(-len(paths) // SWEEP_LANES), SWEEP_COLUMNS * SWEEP_LANES)}, reason
    )


def paths_to_ground(ints: Ints, branches: Sequence[Branch] | None, revolute: Container[int]) -> Ints:
    """Return the bodies between joints with friction by their reactions and the ground, (n, 5), each after the one that carries it.

    None, (0, 5), where the recursion over a forest does not solve for friction: a joint on the way is not revolute, a joint has two
    frictions, or a part is not attached.
    branches: None for a model that is not a forest;  revolute: the edges with a known axis
    """
    nothing = np.zeros((0, at.PATH_COLUMNS), np.int64)
    friction = {row[at.SLOTS] // 6: k for k, row in enumerate(ints) if row[at.LOADED] == 1}
    by_body = {branch.body: branch for branch in branches or ()}
    by_edge = {branch.edge: branch for branch in branches or ()}
    if not set(friction) <= set(by_edge) or len(friction) < (ints[:, at.LOADED] == 1).sum():
        return nothing
    needed = set[int]()
    for edge in friction:
        body = by_edge[edge].body
        while body != 0 and body not in needed:
            needed.add(body)
            if by_body[body].edge not in revolute:
                return nothing
            body = by_body[body].parent
    lines, line_of = list[tuple[int, ...]](), {0: -1}
    for branch in branches or ():
        if branch.body in needed:
            k = friction.get(branch.edge, -1)
            line_of[branch.body] = len(lines)
            lines.append((branch.body, line_of[branch.parent], k, -1 if k >= 0 and ints[k, at.BODY_I] == branch.body else 1, 0))
    paths = np.array(lines, dtype=np.int64).reshape(-1, at.PATH_COLUMNS)
    parents = paths[:, at.PARENT]
    n_carried = np.bincount(parents[parents >= 0], minlength=len(paths))
    paths[:-1, at.IS_CHAIN] = (n_carried[:-1] == 1) & (parents[1:] == np.arange(len(paths) - 1))
    return paths


def by_columns_alone(ints: Ints) -> Ints:
    """Return the integers of tables by which friction is solved for by columns: neither in a recursion nor by rows that lock joints."""
    ints = without_sweeps(ints).copy()
    start, rows, columns = place_in(ints, "FRICTION_INTS")
    ints[start : start + rows * columns].reshape(rows, columns)[:, at.CHILD] = -1
    return ints


def _put_bounds(ints: Ints, edges: Sequence[tuple[int, ...]], edge_of_row: Ints) -> None:
    """Write the bodies behind the joints of a model without loops, and the number of joints with friction on each body."""
    child_of = bridges_of(1 + max(body for edge in edges for body in edge), edges)
    is_tree = len(child_of) == len(edges)
    n_rows, loaded = np.bincount(edge_of_row), ints[ints[:, at.LOADED] == 1]
    joints_on = Counter(int(body) for row in loaded for body in row[[at.BODY_I, at.BODY_J]])
    for row in ints:
        edge = row[at.SLOTS] // 6
        of_coupling = row[at.KIND] in (THREAD, MESH_TURN, MESH_SLIDE)
        row[at.CHILD] = (
            child_of[edge] if is_tree and not row[at.SHARED] and not of_coupling and n_rows[edge] == row[at.N_SLOTS] else -1
        )
        row[at.JOINTS_ON_I], row[at.JOINTS_ON_J] = joints_on[row[at.BODY_I]], joints_on[row[at.BODY_J]]
