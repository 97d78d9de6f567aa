"""Names and indices of the rows and joints of a compiled model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.freedoms import Freedom
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import UsageError

T = TypeVar("T")


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


class RowLabels(Sequence[RowLabel]):
    """The labels of the rows of a model with many joints: each is made when it is asked for.

    joints: in the order of their rows, not changed afterwards;  first: (nj + 1,) first row of each
    given: the equations of each joint; None for one whose class has a pattern, which are made anew of its bodies and vectors
    """

    def __init__(self, joints: Sequence[Joint], first: Ints, given: Sequence[tuple[Primitive, ...] | None]) -> None:
        self._joints, self._first, self._given = joints, first, given
        self._last: tuple[int, tuple[RowLabel, ...]] = (-1, ())
        self._of_class: dict[Any, tuple[RowLabel, ...]] = {}

    def of_joint(self, k: int) -> tuple[RowLabel, ...]:
        """Return the labels of the rows of joint k."""
        last = self._last
        if last[0] != k:
            given, joint = self._given[k], self._joints[k]
            if given is None:
                given = joint.of_vectors(joint.i, joint.j, joint.vectors).primitives()
            self._last = last = k, tuple([RowLabel(joint.name, p) for p in given])
        return last[1]  # not that of another thread

    def by_class(self) -> Iterator[tuple[tuple[RowLabel, ...], Ints]]:
        """Yield labels, and the numbers of all rows that have the same classes of equations, (k, .): joints with a pattern together."""
        for kind, members in self._classes.items():
            labels = self._of_class.get(kind) or self._of_class.setdefault(kind, self.of_joint(int(members[0])))
            yield labels, self._first[members][:, None] + np.arange(len(labels))

    @cached_property
    def _classes(self) -> dict[Any, Ints]:
        """The numbers of the joints of each class with a pattern, and of each other joint."""
        numbers: dict[Any, int] = {}
        kinds = (
            type(joint) if given is None else k for k, (joint, given) in enumerate(zip(self._joints, self._given, strict=True))
        )
        number = np.fromiter((numbers.setdefault(kind, len(numbers)) for kind in kinds), dtype=np.int64, count=len(self._joints))
        ends = np.cumsum(np.bincount(number, minlength=len(numbers)))
        return dict(zip(numbers, np.split(np.argsort(number, kind="stable"), ends[:-1]), strict=True)) if numbers else {}

    def joint_numbers(self) -> Ints:
        """Return the number of the joint of each row, (nc,)."""
        return np.repeat(np.arange(len(self._joints)), np.diff(self._first))

    def joint_name(self, row: int) -> str:
        """Return the name of the joint of a row, whose labels are not made."""
        return self._joints[int(np.searchsorted(self._first, row, side="right")) - 1].name

    def __len__(self) -> int:
        return int(self._first[-1])

    @overload
    def __getitem__(self, row: int) -> RowLabel: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[RowLabel, ...]: ...

    def __getitem__(self, row: int | slice) -> RowLabel | tuple[RowLabel, ...]:
        if isinstance(row, slice):
            return tuple([self[k] for k in range(*row.indices(len(self)))])
        number = range(len(self))[row]  # from the end, or an IndexError
        k = int(np.searchsorted(self._first, number, side="right")) - 1
        return self.of_joint(k)[number - int(self._first[k])]

    def __iter__(self) -> Iterator[RowLabel]:
        return chain.from_iterable(map(self.of_joint, range(len(self._joints))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(len(self))


def joint_of_rows(labels: Sequence[RowLabel]) -> Ints:
    """Return a number for the joint of each row, (nc,)."""
    if isinstance(labels, RowLabels):
        return labels.joint_numbers()
    number: dict[str, int] = {}
    return np.array([number.setdefault(label.joint, len(number)) for label in labels], dtype=np.int64)


def joint_name(labels: Sequence[RowLabel], row: int) -> str:
    """Return the name of the joint of a row."""
    return labels.joint_name(row) if isinstance(labels, RowLabels) else labels[row].joint


def rows_by_class(labels: Sequence[RowLabel]) -> Iterator[tuple[tuple[RowLabel, ...], Ints]]:
    """Yield labels and the numbers of rows, (k, .): each column has the class and the unit of its label."""
    if isinstance(labels, RowLabels):
        yield from labels.by_class()
    else:
        yield tuple(labels), np.arange(len(labels))[None, :]


def units_of_labels(labels: Sequence[RowLabel]) -> tuple[list[str], npt.NDArray[np.int8]]:
    """Return the units of Phi that occur, and the number of that of each row among them, (nc,)."""
    known: dict[str, int] = {}
    number = np.zeros(len(labels), dtype=np.int8)
    for own, rows in rows_by_class(labels):
        number[rows] = [known.setdefault(label.unit, len(known)) for label in own]
    return list(known), number


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


class EntryMaker(Protocol):
    """Makes the entries of joints, and numbers their bodies."""

    def __call__(self, joint: Joint, rows: Ints) -> JointEntry:
        """Return the entry of a joint of these rows."""

    def bodies_of(self, joints: Sequence[Joint]) -> tuple[Ints, Ints]:
        """Return the numbers of bodies i and of bodies j of joints (k,)."""


class JointFrames(NamedTuple):
    """The joints of a model all at once, in their order: the joints themselves, the first row of each (nj + 1,), and their frames.

    i, j: numbers of the bodies (nj,);  s_bar_i, s_bar_j: (nj, 3);  A_bar_i, A_bar_j: (nj, 3, 3)
    """

    parts: Sequence[Joint]
    first: Ints
    i: Ints
    j: Ints
    s_bar_i: Array
    A_bar_i: Array
    s_bar_j: Array
    A_bar_j: Array

    def rows_of(self, joints: Ints) -> tuple[Ints, Ints]:
        """Return the rows of some joints one after the other: the place of each row's joint among `joints`, and its number."""
        count = self.first[joints + 1] - self.first[joints]
        of = np.repeat(np.arange(len(joints)), count)
        before = np.cumsum(count) - count
        return of, np.arange(len(of)) + (self.first[joints] - before)[of]


class JointEntries(Mapping[str, JointEntry]):
    """The entries of the joints of a model with many, by name, in their order: each is made when it is asked for.

    joints: not changed afterwards;  first: (nj + 1,) first row of each;  make: makes the entry of a joint of its rows
    """

    def __init__(self, joints: Sequence[Joint], first: Ints, make: EntryMaker) -> None:
        self._joints, self._first, self._make = joints, first, make

    @cached_property
    def _number(self) -> dict[str, int]:
        """The numbers of the joints by name; most runs of large models ask for none."""
        return {joint.name: k for k, joint in enumerate(self._joints)}

    def __getitem__(self, name: str) -> JointEntry:
        return self.entry(self._number[name])

    def entry(self, k: int) -> JointEntry:
        """Return the entry of joint k."""
        return self._make(self._joints[k], np.arange(self._first[k], self._first[k + 1]))

    def frames(self) -> JointFrames:
        """Return the frames of all joints, without their entries."""
        joints = self._joints
        i, j = self._make.bodies_of(joints)
        frames = [frame for joint in joints for frame in (joint.frame_i, joint.frame_j)]
        s_bar = np.concatenate([frame.s_bar for frame in frames]).reshape(-1, 2, 3)
        A_bar = np.concatenate([frame.A_bar for frame in frames]).reshape(-1, 2, 3, 3)
        return JointFrames(joints, self._first, i, j, s_bar[:, 0], A_bar[:, 0], s_bar[:, 1], A_bar[:, 1])

    def parts(self) -> Sequence[Joint]:
        """Return the joints themselves."""
        return self._joints

    def __iter__(self) -> Iterator[str]:
        return (joint.name for joint in self._joints)

    def __len__(self) -> int:
        return len(self._joints)


def frames_of(joints: Mapping[str, JointEntry]) -> JointFrames:
    """Return the frames of all joints."""
    if isinstance(joints, JointEntries):
        return joints.frames()
    entries = list(joints.values())
    return JointFrames(
        parts=[entry.part for entry in entries],
        first=np.cumsum([0, *(len(entry.rows) for entry in entries)]),
        i=np.array([entry.i for entry in entries], dtype=np.int64),
        j=np.array([entry.j for entry in entries], dtype=np.int64),
        s_bar_i=np.array([entry.s_bar_i for entry in entries]).reshape(-1, 3),
        A_bar_i=np.array([entry.A_bar_i for entry in entries]).reshape(-1, 3, 3),
        s_bar_j=np.array([entry.s_bar_j for entry in entries]).reshape(-1, 3),
        A_bar_j=np.array([entry.A_bar_j for entry in entries]).reshape(-1, 3, 3),
    )


def entries_at(joints: Mapping[str, JointEntry], numbers: Iterable[int]) -> list[JointEntry]:
    """Return the entries of the joints of these numbers."""
    if isinstance(joints, JointEntries):
        return list(map(joints.entry, numbers))
    entries = list(joints.values())
    return [entries[k] for k in numbers]


def parts_of(joints: Mapping[str, JointEntry]) -> Sequence[Joint]:
    """Return the joints of these entries, in their order."""
    return joints.parts() if isinstance(joints, JointEntries) else [entry.part for entry in joints.values()]


SHOWN = 12
"""Number of names that an error lists."""


def no_such(what: str, name: Any, names: Iterable[str], others: Mapping[str, Iterable[str]] | None = None) -> UsageError:
    """Return the error of a name that does not exist, or is none: the names that do, the nearest one, and what else has that name.

    what: "joint", "load", ...;  others: by the call that is meant, the names that it takes, such as {"result.load": loads}
    """
    known = list(names)
    listed = ", ".join(map(repr, known[:SHOWN])) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
    plural = "bodies" if what == "body" else f"{what}s"
    if not isinstance(name, str):
        own_name = getattr(name, "name", None)
        hint = f"; give the name, {own_name!r}" if own_name in known else ""
    else:
        hint = next((f"; {call}({name!r}) has it" for call, own in (others or {}).items() if name in own), "")
        hint = hint or did_you_mean(name, known)
    there = f"the {plural} are {listed}" if known else f"there are no {plural}"
    return UsageError(f"no {what} is called {name!r:.60}; {there}{hint}.")


def named(what: str, name: Any, entries: Mapping[str, T], others: Mapping[str, Iterable[str]] | None = None) -> T:
    """Return the entry of that name. Raise the error of `no_such` if there is none."""
    if not isinstance(name, str) or name not in entries:
        raise no_such(what, name, entries, others)
    return entries[name]


def joint_named(joints: Mapping[str, JointEntry], name: str) -> JointEntry:
    """Return the joint of that name. Raise UsageError, with the names of all joints, if there is none."""
    return named("joint", name, joints)
