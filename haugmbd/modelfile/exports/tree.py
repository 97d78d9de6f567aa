r"""A spanning tree of a system: the joint that leads to each body from the ground, and the joints that are cut.

Joints are taken breadth first, in the order of the system; a body that no tree joint reaches is free. Joints with springs, limits
and couplings are in the tree wherever that is possible, because files hold none of joints that are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from haugmbd.bodies.body import Body
from haugmbd.constraints.joint import Joint
from haugmbd.graph import Groups
from haugmbd.modelfile.exports.exported_parts import Exported
from haugmbd.modelfile.exports.springs import joints_with_loads
from haugmbd.system.system import System


class Branch(NamedTuple):
    """A body of the tree: the body before it, the joint between them (None: free), and whether the joint leads from j to i."""

    body: Body
    parent: Body
    joint: Joint | None
    reverse: bool


def spanning_tree(
    system: System | Exported, kinds: tuple[type[Joint], ...], loops: tuple[type[Joint], ...]
) -> tuple[list[Branch], list[Joint]]:
    """Return the branches, each after that of its parent, and the joints that are not in the tree.

    kinds: of joints that may be in the tree;  loops: of those that may close loops, others are in the tree wherever that is possible
    """
    branches, cut = _grown(system, kinds, system.joints)
    needed = [joint for joint in system.joints if isinstance(joint, kinds) and not isinstance(joint, loops)]
    needed += [*joints_with_loads(system), *(part for joint in system.joints for part in joint.needs())]
    if not {id(joint) for joint in needed} & {id(joint) for joint in cut}:
        return branches, cut
    order = [joint for joint in (*needed, *(branch.joint for branch in branches), *cut) if isinstance(joint, kinds)]
    return _grown(system, kinds, _without_loops(order, system.bodies))


def _without_loops(joints: Iterable[Joint], bodies: Sequence[Body]) -> list[Joint]:
    """Return the joints without those that close a loop with joints before them (Kruskal's algorithm)."""
    number = {id(body): k for k, body in enumerate(bodies)}
    groups, kept = Groups(len(bodies)), []
    for joint in joints:
        i, j = number[id(joint.i)], number[id(joint.j)]
        if not joint.needs() and groups.find(i) != groups.find(j):
            groups.unite(i, j)
            kept.append(joint)
    return kept


def _grown(system: System | Exported, kinds: tuple[type[Joint], ...], joints: Sequence[Joint]) -> tuple[list[Branch], list[Joint]]:
    """Return the tree that grows from the ground and from bodies that hang on nothing, and the joints that are not in it."""
    at: dict[int, list[Joint]] = {}
    for joint in joints:
        if isinstance(joint, kinds) and not joint.needs():
            at.setdefault(id(joint.i), []).append(joint)
            at.setdefault(id(joint.j), []).append(joint)
    reached, used = {id(system.ground)}, set()
    branches: list[Branch] = []
    for start in system.bodies:
        if id(start) not in reached:
            branches.append(Branch(start, system.ground, None, False))
            reached.add(id(start))
        elif not start.is_ground:
            continue
        queue = [start]
        for body in queue:
            for joint in at.get(id(body), ()):
                other = joint.j if joint.i is body else joint.i
                if id(joint) in used or id(other) in reached:
                    continue
                used.add(id(joint))
                reached.add(id(other))
                branches.append(Branch(other, body, joint, joint.j is body))
                queue.append(other)
    return branches, [joint for joint in system.joints if id(joint) not in used]
