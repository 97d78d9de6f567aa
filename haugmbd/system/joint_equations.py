r"""The equations of the joints of a system: read once, or known by the pattern of their class.

A joint of the user is asked for its equations once. The rows of many joints of one class of the catalogue are written at once, see
`model.compiling.row_pattern`, and their equations are made only where somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from haugmbd.bodies.body import Body
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.model.compiling.row_pattern import uniform_joints
from haugmbd.system.custom_joint import read_primitives


class JointEquations:
    """The equations of these joints, and the faults of reading them."""

    def __init__(self, joints: Sequence[Joint]) -> None:
        self._uniform = uniform_joints(joints)
        self._read = {id(joint): read_primitives(joint) for joint in joints if id(joint) not in self._uniform}

    def of(self, joint: Joint) -> tuple[Primitive, ...]:
        """Return the equations of a joint; () if they could not be read."""
        return joint.primitives() if id(joint) in self._uniform else self._read[id(joint)][0]

    def faults_of(self, joint: Joint) -> tuple[Fault, ...]:
        """Return the faults of reading the equations of a joint."""
        return () if id(joint) in self._uniform else self._read[id(joint)][1]

    def of_all(self, joints: Sequence[Joint]) -> list[tuple[Primitive, ...] | None]:
        """Return the equations of each joint; None for those that have a pattern."""
        return [None if id(joint) in self._uniform else self._read[id(joint)][0] or joint.primitives() for joint in joints]

    def that_were_read(self) -> Iterator[tuple[Primitive, ...]]:
        """Yield the equations of the joints that have no pattern: all that have drivers."""
        return (own for own, _ in self._read.values())

    def that_have_no_pattern(self, joints: Sequence[Joint]) -> list[Joint]:
        """Return the joints whose equations are read one by one."""
        return [joint for joint in joints if id(joint) not in self._uniform] if self._read else []

    def outside(self, joints: Sequence[Joint], bodies: Container[int]) -> list[Joint]:
        """Return the joints with rows that touch a body whose id is not among `bodies`."""
        return [
            joint
            for joint in joints
            if not (id(joint.frame_i.body) in bodies and id(joint.frame_j.body) in bodies)
            or (self._read and not self.are_among(joint, bodies))
        ]

    def are_among(self, joint: Joint, bodies: Container[int]) -> bool:
        """Return whether the ids of all bodies of the rows of a joint are among `bodies`."""
        if id(joint) in self._uniform:
            return id(joint.frame_i.body) in bodies and id(joint.frame_j.body) in bodies
        return all([id(body) in bodies for body in self.bodies_of(joint)])

    def bodies_of(self, joint: Joint) -> list[Body]:
        """Return the bodies of the rows of a joint, each once."""
        if id(joint) in self._uniform:
            return [joint.frame_i.body, joint.frame_j.body]
        return bodies_of(self._read[id(joint)][0])


def bodies_of(primitives: Sequence[Primitive]) -> list[Body]:
    """Return the bodies of the rows, each once."""
    found: dict[int, Body] = {}
    for primitive in primitives:
        for body in primitive.bodies():
            found[id(body)] = body
    return list(found.values())
