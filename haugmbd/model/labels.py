"""Names and indices of the rows and joints of a compiled model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError

if TYPE_CHECKING:
    pass


class RowLabel(NamedTuple):
    """The label of a row.

    Attributes
    ----------
    joint, kind, words, unit : str
        Name of the joint, kind of the equation, the equation in words, unit of Phi.
    primitive : Primitive
        The equation.
    """

    joint: str
    primitive: Primitive

    @property
    def kind(self) -> str:
        """The kind of the equation."""
        return self.primitive.kind

    @property
    def words(self) -> str:
        """The equation in words."""
        return self.primitive.words()

    @property
    def unit(self) -> str:
        """The unit of Phi."""
        return self.primitive.unit

    def __str__(self) -> str:
        return f"{self.joint!r} {self.kind}: {self.words}"


class JointEntry(NamedTuple):
    """A joint of a compiled model: its rows, the numbers of its bodies, its frames (s_bar, A_bar) on them, and its freedoms.

    freedoms: as the joint declares them, from body i to body j; None if it declares none;  part: the joint itself
    places: of a coupling, the numbers of all bodies that it touches, each with a point and axes there (s_bar, A_bar)
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
    places: tuple[tuple[int, Array, Array], ...] = ()


SHOWN = 12
"""Number of names that an error lists."""


def no_such(what: str, name: str, names: Iterable[str], others: Mapping[str, Iterable[str]] | None = None) -> UsageError:
    """Return the error of a name that does not exist: the names that do, the nearest one, and what else has that name.

    what: "joint", "load", ...;  others: by the call that is meant, the names that it takes, such as {"result.load": loads}
    """
    known = list(names)
    listed = ", ".join(map(repr, known[:SHOWN])) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
    plural = "bodies" if what == "body" else f"{what}s"
    hint = next((f"; {call}({name!r}) has it" for call, own in (others or {}).items() if name in own), "")
    hint = hint or did_you_mean(str(name), known)
    return UsageError(f"no {what} is called {name!r}; the {plural} are {listed or 'none'}{hint}.")


def joint_named(joints: Mapping[str, JointEntry], name: str) -> JointEntry:
    """Return the joint of that name. Raise UsageError, with the names of all joints, if there is none."""
    if name not in joints:
        raise no_such("joint", name, joints)
    return joints[name]
