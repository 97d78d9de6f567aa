"""The parts of a system that a file may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.constraints.joint import Joint
from haugmbd.forces.base import ForceElement
from haugmbd.system.system import System


@dataclass(frozen=True)
class Exported:
    """What of a system a file may hold: all parts but those that force elements have added to it, such as the rotors of motors."""

    name: str
    gravity: Any
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loads: tuple[ForceElement, ...]

    @property
    def ground(self) -> Body:
        """Return the ground."""
        return self.bodies[0]


def exported(system: System) -> Exported:
    """Return what of a system a file may hold.  What an element has added leaves with it, unless other parts are attached to it."""
    added = {id(part) for load in system.loads for part in load.parts()}
    joints = [joint for joint in system.joints if id(joint) not in added]
    attached = {id(body) for joint in joints for body in (joint.i, joint.j)}
    attached |= {id(body) for load in system.loads if not load.parts() for body in load.bodies()}
    attached |= {id(part) for joint in joints for part in joint.needs()}
    if added & attached:
        added = set()
    bodies = tuple(body for body in system.bodies if id(body) not in added)
    return Exported(system.name, system.gravity, bodies, tuple(j for j in system.joints if id(j) not in added), tuple(system.loads))


def kind_of(load: ForceElement) -> str:
    """Return the class of a force element in messages, with what it has added to the system."""
    return f"{type(load).__name__} with a rotor" if load.parts() else type(load).__name__
