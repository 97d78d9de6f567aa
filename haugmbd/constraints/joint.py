r"""A joint: a name, a frame on each of two bodies, and the primitives that it is composed of.

    Phi^joint = ( Phi^1, Phi^2, ... )        each Phi^k one of DP1, DP2, D, CD, ...

The engine asks a joint only for its name, its primitives and its frames (where the reaction is reported), and what it leaves free if
it says so; the catalogue is the package `joints`.  A joint of one's own is a subclass with `primitives()`.
Source: Haug sec. 9.4; seed 004 (High Level GCons).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.freedoms import Freedom, slides_along_h_only, turns_about_h_only
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError


@public_class
class Joint(ABC):
    """Two bodies and the equations between them.  `frame_i` and `frame_j` remember where the joint sits, and h is its axis."""

    freedoms: ClassVar[tuple[Freedom, ...] | None] = None
    """What the joint leaves free, from body i to body j, such as (slide(H_I), turn(H_J)); None if it does not say."""

    def __init_subclass__(cls) -> None:
        """Refuse a declaration that is no tuple of freedoms, such as one freedom without its comma."""
        super().__init_subclass__()
        given = cls.freedoms
        if given is not None and not (type(given) is tuple and all(isinstance(freedom, Freedom) for freedom in given)):
            raise UsageError(f"{cls.__name__}.freedoms is {given!r}. Give a tuple of freedoms, such as (turn(H_I),), or None.")

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame) -> None:
        self.name = name
        self.frame_i = frame_i
        self.frame_j = frame_j

    @property
    def i(self) -> Body:
        """The first body."""
        return self.frame_i.body

    @property
    def j(self) -> Body:
        """The second body; the reaction on it is what `reaction` reports by default."""
        return self.frame_j.body

    @property
    def rotates_about_h(self) -> bool:
        """Whether body j can turn against body i about h, and about no other axis: what a rotation driver or an RSDA needs."""
        return turns_about_h_only(self.freedoms)

    @property
    def slides_along_h(self) -> bool:
        """Whether body j can slide against body i along h, and along no other direction: what a translation driver needs."""
        return slides_along_h_only(self.freedoms)

    def needs(self) -> tuple[Joint, ...]:
        """Other joints that must be in the same system (a driver needs the joint it drives)."""
        return ()

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The equations, in the order of the rows."""

    @property
    def rows(self) -> int:
        """How many equations the joint has: the degrees of freedom it removes, as they are independent at a generic pose."""
        return len(self.primitives())

    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this joint alone; a fault of its frames hides those of the rows made from them."""
        where = f"joint {self.name!r}"
        found = (*self.frame_i.faults(where), *self.frame_j.faults(where))
        if found:
            return found
        return tuple(
            Fault(f"{where}, row {k} {fault.where}", fault.what, fault.remedy)
            for k, primitive in enumerate(self.primitives())
            for fault in primitive.faults()
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.i.name!r}, {self.j.name!r})"


class Single(Joint):
    """One primitive as a joint: what `System.add` makes of a primitive that is added by itself."""

    def __init__(self, name: str, primitive: Primitive) -> None:
        points = {body: x_bar for body, x_bar in primitive.markers()}
        super().__init__(name, Frame(primitive.i, points[primitive.i]), Frame(primitive.j, points[primitive.j]))
        self.primitive = primitive

    def primitives(self) -> tuple[Primitive, ...]:
        return (self.primitive,)
