r"""The report of an import: what was read, substituted and ignored, how far loops were open, and what is doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees
from typing import NamedTuple

from haugmbd.bodies.frame import Frame
from haugmbd.deprecated import public_class


class LoopClosure(NamedTuple):
    """A joint that was open, or closes a loop: its type, where it was written, and how far it was open as read [m], [rad]."""

    name: str
    type: str
    convention: str
    distance: float
    angle: float


@public_class
@dataclass(frozen=True, eq=False)
class ImportReport:
    """The outcome of an import.

    Attributes
    ----------
    source : str
        The file.
    links, joints : int
        Numbers of links (parts, bodies) and joints in the file.
    body_of : dict of str to str
        The body that each link is part of; "ground" for links that do not move.
    q : dict of str to float
        Joint coordinates of the file's own convention at the pose that was read [rad], [m].
    frames : dict of str to Frame
        The frame of each link, on its body.
    substituted : tuple of str
        What was replaced, and by what.
    ignored : tuple of str
        What was not read.
    loops : tuple of LoopClosure
        The joints that close loops; of formats without trees, the joints that were open.
    iterations : int
        Iterations that closed the loops; 0 if there is none, or if they are still open.
    closed : bool
        Whether all joints are closed at the modelled pose.
    degrees_of_freedom : int or None
        Degrees of freedom at the modelled pose; None if it was not determined because loops are open.
    warnings : tuple of str
        What is doubtful, such as a mass that does not fit the size.
    word : str
        What the file calls a body: link, part, body.
    nothing_moves : str
        What to do where all bodies of the file are the ground.
    """

    source: str
    links: int
    joints: int
    body_of: dict[str, str]
    q: dict[str, float]
    frames: dict[str, Frame]
    substituted: tuple[str, ...]
    ignored: tuple[str, ...]
    loops: tuple[LoopClosure, ...]
    iterations: int
    closed: bool
    degrees_of_freedom: int | None
    warnings: tuple[str, ...]
    word: str = "link"
    nothing_moves: str = ""

    def __str__(self) -> str:
        """Return the report, one fact a line."""
        bodies = len(set(self.body_of.values()) - {"ground"})
        merged = sum(link != body for link, body in self.body_of.items())
        several = {"body": "bodies"}.get(self.word, f"{self.word}s")
        lines = [f"{self.source}: {self.links} {several} and {self.joints} joints; {bodies} bodies ({merged} {several} merged)"]
        if self.degrees_of_freedom is not None:
            lines.append(f"degrees of freedom: {self.degrees_of_freedom}")
        for loop in self.loops:
            gap = f"{loop.distance:.4g} m, {degrees(loop.angle):.4g} degrees"
            lines.append(
                f"{'loop' if self.word == 'link' else 'joint'} {loop.name!r} ({loop.type}, {loop.convention}) was open by {gap}"
            )
        if self.loops or not self.closed:
            lines.append(f"closed in {self.iterations} iterations" if self.closed else "the joints were left open")
        lines += [f"substituted: {text}" for text in self.substituted]
        lines += [f"ignored: {text}" for text in self.ignored]
        lines += [f"warning: {text}" for text in self.warnings]
        lines += [f"nothing moves: {self.nothing_moves}"] if self.nothing_moves and not bodies else []
        return "\n".join(lines)

    __repr__ = __str__
