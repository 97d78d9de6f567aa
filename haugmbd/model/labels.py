"""What rows and joints of a compiled model are called, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError

if TYPE_CHECKING:
    pass


class RowLabel(NamedTuple):
    """What a row is: the joint's name, the primitive's kind, what it says in words, and the unit of Phi; the primitive itself."""

    joint: str
    kind: str
    words: str
    unit: str
    primitive: Primitive

    def __str__(self) -> str:
        return f"{self.joint!r} {self.kind}: {self.words}"


class JointEntry(NamedTuple):
    """A joint of a compiled model: its rows, its bodies' numbers, its frames (s_bar, A_bar) on them, and what it leaves free.

    freedoms: as the joint declares them, from body i to body j; None if it does not say;  part: the joint itself
    """

    name: str
    kind: str
    rows: Ints
    i: int
    j: int
    s_bar_i: Array
    A_bar_i: Array
    s_bar_j: Array
    A_bar_j: Array
    freedoms: tuple[Freedom, ...] | None
    part: Joint


def joint_named(joints: Mapping[str, JointEntry], name: str) -> JointEntry:
    """The joint of that name; a UsageError that names the joints where there is none."""
    if name not in joints:
        raise UsageError(f"no joint is called {name!r}; the joints are {', '.join(map(repr, joints)) or 'none'}.")
    return joints[name]
