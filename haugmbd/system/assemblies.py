r"""Systems within systems: a copy of one as parts of another, and parts that are taken out again.

system.add(wheel, prefix="left/", at=(r, p), mirror="xz")        a copy, as often as one likes; names "left/hub", "left/axle", ...
system.remove(part)                                              refused while other parts need it
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.control.block import Block
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError, warn_user
from haugmbd.forces.base import ForceElement
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.formats import view


@public_class
class Subassembly:
    """The parts that a copy of a system has added to another one: what `system.add(other, ...)` returns.

    Parameters
    ----------
    name : str
        Name of the copied system.
    prefix : str
        What the names of its parts begin with.
    parts : tuple of Body, Joint, ForceElement and Contact
        The parts.
    notes : tuple of str
        What a mirror image has changed, such as the hand of a screw.
    """

    def __init__(self, name: str, prefix: str, parts: tuple[Any, ...], notes: tuple[str, ...]) -> None:
        self.name = name
        self.prefix = prefix
        self.parts = parts
        self.notes = notes

    def __getitem__(self, name: str) -> Any:
        """Return the part that was called `name` in the copied system. Raise UsageError if there is none."""
        for part in self.parts:
            if part.name == f"{self.prefix}{name}":
                return part
        has = ", ".join(repr(part.name.removeprefix(self.prefix)) for part in self.parts[:12])
        raise UsageError(f"the copy {self.prefix!r} of {self.name!r} has nothing named {name!r}. It has {has}.")

    def __iter__(self) -> Iterator[Any]:
        """Return the parts in their order."""
        return iter(self.parts)

    def __repr__(self) -> str:
        return f"Subassembly({self.name!r}, prefix={self.prefix!r}: {len(self.parts)} parts)"


def add_system(system: Any, other: Any, prefix: str, at: Any, mirror: str | None) -> Subassembly:
    """Add copies of the parts of a system; return them. Raise UsageError for arguments that are none, or parts that have no copy."""
    if other is system:
        raise UsageError(f"system {system.name!r} cannot be added to itself. Build the part as a system of its own.")
    if not isinstance(prefix, str):
        raise UsageError(f"prefix = {prefix!r}: give a text, such as 'left/'.")
    made, notes = view("copies of a system")(system, other, prefix, at, mirror)
    taken = {part.name for part in every_part(system)} & {part.name for part in every_part(made)}
    if taken:
        names = ", ".join(map(repr, sorted(taken)[:6]))
        raise UsageError(f"system {system.name!r} has parts named {names} already. Give the copy another prefix=, such as 'left/'.")
    system.bodies.extend(made.bodies[1:])
    system.joints.extend(made.joints)
    system.loads.extend(made.loads)
    system.contacts.extend(made.contacts)
    system.put_off(made.inactive)
    off = {f"{prefix}{part.name}" for part in other.inactive}
    system.put_off([part for part in every_part(made) if part.name in off])
    for note in notes:
        warn_user(f"{note}.", UserWarning)
    return Subassembly(other.name, prefix, tuple(every_part(made)), notes)


def every_part(system: Any) -> Iterator[Any]:
    """Yield all parts of a system but the ground."""
    yield from chain(system.bodies[1:], system.joints, system.loads, system.contacts, system.blocks, system.sensors)


def remove_parts(system: Any, parts: tuple[Any, ...]) -> None:
    """Take parts out of a system. Raise UsageError if one is not in it, or if others need it, by name."""
    removed = {id(part) for part in parts}
    removed |= {id(load) for load in system.loads if isinstance(load, MassInTime) and id(load.body) in removed}
    for load in (part for part in parts if isinstance(part, ForceElement)):
        removed.update(id(part) for part in load.parts())
        removed.add(id(getattr(load, "rope", load)))
    there = {id(part) for part in every_part(system)} | {id(load.rope) for load in system.loads if hasattr(load, "rope")}
    for part in parts:
        if id(part) not in there:
            raise UsageError(
                f"system.remove: {part!r} is not in system {system.name!r}. Give a part that system.add(...) returned."
            )
    made_by = {id(part): load for load in system.loads for part in load.parts()}  # such as the rotor of a motor
    for user in every_part(system):
        used = [part for part in needed_by(user) if id(part) in removed and id(user) not in removed]
        if used and id(getattr(user, "rope", user)) not in removed:
            names, user = ", ".join(dict.fromkeys(repr(part.name) for part in used)), made_by.get(id(user), user)
            raise UsageError(
                f"system.remove: {user.name!r} needs {names}. Remove {user.name!r} first, or both: system.remove([...])."
            )
    for parts_of_kind in (system.bodies, system.joints, system.loads, system.contacts, system.blocks, system.sensors):
        kept: list[Any] = [
            part for part in parts_of_kind if id(part) not in removed and id(getattr(part, "rope", part)) not in removed
        ]
        parts_of_kind[:] = kept
    system.put_off(())
    system.put_off(())


def needed_by(part: Any) -> list[Any]:
    """Return the parts that a part is made of or attached to."""
    if isinstance(part, Joint):
        bodies = [body for row in part.primitives() for body in row.bodies()]
        return [part.i, part.j, *bodies, *(place.body for place in part.places()), *part.needs()]
    if isinstance(part, ForceElement):
        outputs = [getattr(driver, "block", None) for driver in part.drivers()]
        return [*part.bodies(), *part.needs(), *outputs]
    if isinstance(part, Contact):
        return [part.i, part.j]
    if isinstance(part, Body):
        return []
    if isinstance(part, Block):
        return [value for value in vars(part).values() if isinstance(value, Body | Joint | Block)]
    return [value for value in getattr(part, "__dict__", {}).values() if isinstance(value, Body | Joint | Block)]
