r"""A joint that is given by its equations: what a file holds of a joint that is not a class of the catalogue."""

from __future__ import annotations

from haugmbd.bodies.frame import Frame
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.freedoms import Axis, Freedom, Kind, Side, slides_along_h_only, turns_about_h_only
from haugmbd.constraints.joint import Joint


class Equations(Joint):
    """A joint with given frames, equations and freedoms (None if they were not declared)."""

    def __init__(
        self, name: str, frame_i: Frame, frame_j: Frame, equations: tuple[Primitive, ...], allowed: tuple[Freedom, ...] | None
    ) -> None:
        super().__init__(name, frame_i, frame_j)
        self.equations = equations
        setattr(self, "freedoms", allowed)  # noqa: B010  of this object, not of its class

    @property
    def rotates_about_h(self) -> bool:
        return turns_about_h_only(self.freedoms)

    @property
    def slides_along_h(self) -> bool:
        return slides_along_h_only(self.freedoms)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the equations, in the order of the rows."""
        return self.equations


def freedom_text(freedom: Freedom) -> str:
    """Return a freedom as text: turn h_i."""
    return f"{freedom.kind.value} {freedom.axis.name.lower()}_{freedom.side.value}"


def freedom_of(text: str) -> Freedom:
    """Return the freedom of a text."""
    motion, axis = text.split(" ")
    return Freedom(Kind(motion), Axis["FGH"["fgh".index(axis[0])]], Side(axis[2]))
