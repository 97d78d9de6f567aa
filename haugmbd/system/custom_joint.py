r"""Parts that a system accepts: bodies, joints, single equations, loads; and a joint of the user, wrapped.

A joint of the user is any object with a `name` and `primitives()`; nothing else is required.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, UsageError

ACCEPTED = (
    "Give a Body, a joint (any object with a name and primitives() is one), a primitive (DP1, DP2, D, CD, Rotation), or a load."
)


@runtime_checkable
class JointLike(Protocol):
    """The attributes that a joint must have."""

    name: str

    def primitives(self) -> Iterable[Primitive]:
        """Return the constraint equations, in the order of the rows."""
        ...


class Wrapped(Joint):
    """A joint of the user: its equations when it was added; reactions act at the first point on each body."""

    def __init__(self, joint: JointLike) -> None:
        self.given = joint
        self._primitives, self.broken = read_primitives(joint)
        if not self._primitives:
            nowhere = Frame(Body.ground("nowhere"), np.zeros(3))
            super().__init__(joint.name, nowhere, nowhere)
            return
        first = self._primitives[0]
        super().__init__(joint.name, Frame(first.i, self._point(first.i)), Frame(first.j, self._point(first.j)))

    def _point(self, body: Body) -> object:
        """Return the first point that a row with a force reads on `body`; its centre of mass if there is none."""
        points = [x for p in self._primitives if p.unit in ("m", "m2") for b, x in reversed(p.markers()) if b is body]
        return points[0] if points else np.zeros(3)

    def as_added(self) -> JointLike:
        """Return the joint of the user."""
        return self.given

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the constraint equations, in the order of the rows."""
        return self._primitives

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of `primitives()`, or of the equations."""
        return self.broken or super().faults()

    def __repr__(self) -> str:
        return f"{type(self.given).__name__}({self.name!r}, {self.i.name!r}, {self.j.name!r})"


@cache
def _is_primitive(kind: type[object]) -> bool:
    """Return whether objects of this class are equations."""
    return issubclass(kind, Primitive)


def read_primitives(joint: JointLike) -> tuple[tuple[Primitive, ...], tuple[Fault, ...]]:
    """Return the equations of a joint; () and a fault if there are none."""
    if isinstance(joint, Wrapped):
        return joint.primitives(), joint.broken
    remedy = "Let primitives() return a tuple of primitives, such as (DP1(...), D(...))."
    try:
        primitives = tuple(joint.primitives())
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - a user's joint may raise anything
        return (), (Fault(f"joint {joint.name!r}", f"primitives() raises {type(error).__name__}: {error}", remedy),)
    wrong = [p for p in primitives if not _is_primitive(type(p))]
    if wrong:
        return (), (Fault(f"joint {joint.name!r}", f"primitives() gives {wrong[0]!r}, which is not a primitive", remedy),)
    if not primitives:
        return (), (Fault(f"joint {joint.name!r}", "primitives() gives no primitive: the joint has no equations", remedy),)
    return primitives, ()
