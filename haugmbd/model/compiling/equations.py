r"""The equations of all joints, in the order of the rows, as columns of numbers.

    row     kind   body i, body j   driver   markers            constants      equation
    0       CD     0, 1             0        0, 1               1, 0, 0        point 1 - point 0, along x
    1       CD     0, 1             0        0, 1               0, 1, 0
    ...

Where many joints of one class have the same equations but for their bodies and vectors (`row_pattern`), the columns of all of them are
written at once, and no object is made for an equation until somebody asks for it. Other equations are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.equations.cd import CD
from haugmbd.constraints.equations.coupling import CouplingRow
from haugmbd.constraints.equations.curve import PointOnCurveRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.equations.dp2 import DP2
from haugmbd.constraints.equations.pose import PoseRow
from haugmbd.constraints.equations.rope import RopeRow
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.registry import ROW_KINDS
from haugmbd.model.compiling.numbering import Numbering
from haugmbd.model.compiling.row_pattern import RowPattern, pattern_of, vectors_of

Flags = npt.NDArray[np.bool_]
Given = Sequence[tuple[Primitive, ...] | None]
"""The equations of each joint; None for a joint whose class has a pattern."""

KIND = {kind: number for number, kind in enumerate(ROW_KINDS)}
OF_SEVERAL_LINES = frozenset([kind for kind in ROW_KINDS if issubclass(kind, CouplingRow | PointOnCurveRow | RopeRow | PoseRow)])
"""The classes of equations that have lines of their own in the table of rows, see `row_table`."""
SEVERAL_LINES = np.array([kind in OF_SEVERAL_LINES for kind in ROW_KINDS])
"""(kinds,) The same by number."""
REAL_COLUMNS = 3
"""Least number of constants of a row."""


VECTORS_FIRST = {CD: 0, DP2: 1, DP1: 2}
"""How many of the markers of a row are vectors, before its points."""


class Equations(NamedTuple):
    """The columns, and the equations that were read one by one.

    first: (nj + 1,) first row of each joint;  kind: (nc,) numbers in ROW_KINDS
    bodies: (nc, 2) body i and body j;  more_bodies: by row, the bodies of couplings that touch more than two
    reads_ground, relative, velocity_only: (nc,) see `Primitive`;  driver: (nc,) numbers of the drivers
    markers: (nc, .) numbers of the markers that a row reads, -1 behind the last;  constants: (nc, .) those that it reads, 0 behind the last
    objects: equations by row;  several_markers: by row, the markers of equations that have several lines in the table of rows
    """

    first: Ints
    kind: Ints
    bodies: Ints
    more_bodies: dict[int, tuple[int, ...]]
    reads_ground: Flags
    relative: Flags
    velocity_only: Flags
    driver: Ints
    markers: Ints
    constants: Array
    objects: dict[int, Primitive]
    several_markers: dict[int, list[int]]

    @property
    def owner(self) -> Ints:
        """Return the number of the joint of each row, (nc,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


class _Uniform(NamedTuple):
    """Joints of one class: their pattern, their numbers (k,), their bodies (k, 2) and vectors (k, ., 3)."""

    pattern: RowPattern
    joints: Ints
    bodies: Ints
    vectors: Array


class _Uses(NamedTuple):
    """The markers that rows read, in the order of the joints: (m,) bodies, (m, 3) points and vectors.

    first: (nj,) the first one of each joint
    """

    bodies: Ints
    x_bar: Array
    first: Ints


def read_equations(joints: Sequence[Joint], given: Given, number: Numbering) -> Equations:
    """Return the equations of the joints as columns; bodies, markers and drivers are numbered."""
    uniform = _uniform_joints(joints, given, number)
    counts = np.fromiter([0 if own is None else len(own) for own in given], dtype=np.int64, count=len(given))
    for group in uniform:
        counts[group.joints] = len(group.pattern.kind)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    owners = [k for k, own in enumerate(given) if own is not None for _ in own]
    objects = [p for own in given if own is not None for p in own]
    rows = np.array(_rows_of(given, first), dtype=np.int64)
    used = [p.markers() for p in objects]
    uses, at = _uses(used, owners, uniform, len(joints), number)
    numbers = number.markers(uses.bodies, uses.x_bar, () if uniform else _origins(objects, used, [joints[k] for k in owners]))
    e = _empty(first, objects, rows, used)
    _put_objects(e, objects, rows, used, at, numbers, number)
    for group in uniform:
        _put_uniform(e, group, uses.first, numbers)
    return e


def _origins(objects: Sequence[Primitive], used: Sequence[Sequence[tuple[Any, Array]]], joints: Sequence[Joint]) -> list[Any]:
    """Return where the markers of rows come from: a vector or a point of the `vectors` of their joint; None for others.

    A vector and a point of equal numbers may be the same array, and are apart.
    """
    found: list[Any] = []
    for p, markers, joint in zip(objects, used, joints, strict=True):
        vectors = VECTORS_FIRST.get(type(p), -1) if joint.vectors else -1
        found += [None if vectors < 0 else (id(joint), k < vectors, id(x)) for k, (_, x) in enumerate(markers)]
    return found


def _rows_of(given: Given, first: Ints) -> Iterable[int]:
    """Return the numbers of the rows that are given as objects."""
    return [row for own, start in zip(given, first.tolist()[:-1], strict=True) if own for row in range(start, start + len(own))]


def _uniform_joints(joints: Sequence[Joint], given: Given, number: Numbering) -> list[_Uniform]:
    """Return the joints whose classes have patterns, by class."""
    by_class: dict[type[Joint], list[int]] = {}
    for k, own in enumerate(given):
        if own is None:
            by_class.setdefault(type(joints[k]), []).append(k)
    found = []
    for kind, numbers in by_class.items():
        members = [joints[k] for k in numbers]
        pattern = pattern_of(kind)
        assert pattern is not None  # otherwise its equations are given
        found.append(_Uniform(pattern, np.array(numbers, dtype=np.int64), bodies_of(members, number), vectors_of(members)))
    return found


def bodies_of(joints: Sequence[Joint], number: Numbering) -> Ints:
    """Return the numbers of body i and body j of joints, (k, 2)."""
    of = number.bodies
    return np.array([(of[joint.frame_i.body], of[joint.frame_j.body]) for joint in joints], dtype=np.int64).reshape(-1, 2)


def _uses(
    used: Sequence[Sequence[tuple[Any, Array]]],
    owners: Sequence[int],
    uniform: Sequence[_Uniform],
    n_joints: int,
    number: Numbering,
) -> tuple[_Uses, Ints]:
    """Return the markers that rows read, and where those of each given row start among them.

    used: markers of the given rows;  owners: their joints
    """
    own = np.array([len(x) for x in used], dtype=np.int64)
    before = np.cumsum(own) - own
    own_bodies = [number.bodies[body] for markers in used for body, _ in markers]
    own_x_bar = np.array([x for markers in used for _, x in markers], dtype=np.float64).reshape(-1, 3)
    if not uniform:
        return _Uses(np.array(own_bodies, dtype=np.int64), own_x_bar, before), before
    of_joint = np.array(owners, dtype=np.int64)
    counts = np.bincount(of_joint, weights=own, minlength=n_joints).astype(np.int64)
    for group in uniform:
        counts[group.joints] = len(group.pattern.side)
    first = np.cumsum(counts) - counts
    bodies, x_bar = np.zeros(int(counts.sum()), dtype=np.int64), np.zeros((int(counts.sum()), 3))
    for group in uniform:
        at = first[group.joints, None] + np.arange(len(group.pattern.side))
        bodies[at], x_bar[at] = group.bodies[:, group.pattern.side], group.vectors[:, group.pattern.vector]
    own_of_joint = np.bincount(of_joint, weights=own, minlength=n_joints).astype(np.int64)
    start = first[of_joint] + before - (np.cumsum(own_of_joint) - own_of_joint)[of_joint]
    if len(own):
        at = np.repeat(start - before, own) + np.arange(int(own.sum()))
        bodies[at], x_bar[at] = own_bodies, own_x_bar
    return _Uses(bodies, x_bar, first), start


def _empty(first: Ints, objects: Sequence[Primitive], rows: Ints, used: Sequence[Sequence[Any]]) -> Equations:
    """Return the columns of rows with zeros: as many as the last number of `first`."""
    n = int(first[-1])
    width = max([3, *[len(x) for p, x in zip(objects, used, strict=True) if type(p) not in OF_SEVERAL_LINES]])
    own_constants = padded([p.constants() for p in objects], REAL_COLUMNS, np.dtype(np.float64))
    constants = np.zeros((n, own_constants.shape[1]))
    constants[rows] = own_constants
    flags = np.zeros((3, n), dtype=bool)
    return Equations(
        first=first,
        kind=np.zeros(n, dtype=np.int64),
        bodies=np.zeros((n, 2), dtype=np.int64),
        more_bodies={},
        reads_ground=flags[0],
        relative=flags[1],
        velocity_only=flags[2],
        driver=np.zeros(n, dtype=np.int64),
        markers=np.full((n, width), -1, dtype=np.int64),
        constants=constants,
        objects=dict(zip(rows.tolist(), objects, strict=True)),
        several_markers={},
    )


def padded(rows: Sequence[Sequence[Any]], columns: int, dtype: np.dtype[Any]) -> Any:
    """Return rows of numbers as a matrix of at least so many columns, filled with zeros."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    width = max(columns, int(lengths.max(initial=0)))
    matrix = np.zeros((len(rows), width), dtype=dtype)
    matrix[np.arange(width) < lengths[:, None]] = np.fromiter(chain.from_iterable(rows), dtype=dtype, count=int(lengths.sum()))
    return matrix


def _put_objects(
    e: Equations,
    objects: Sequence[Primitive],
    rows: Ints,
    used: Sequence[Sequence[Any]],
    at: Ints,
    numbers: Ints,
    number: Numbering,
) -> None:
    """Write the rows that are given as objects.

    at: where the markers of each start among all that rows read;  numbers: of all these markers
    """
    e.kind[rows] = [KIND[type(p)] for p in objects]
    e.reads_ground[rows] = [p.reads_ground() for p in objects]
    e.relative[rows] = [p.relative() for p in objects]
    e.velocity_only[rows] = [p.velocity_only for p in objects]
    e.driver[rows] = [number.driver(p.f) for p in objects]
    pairs = []
    for row, p in zip(rows.tolist(), objects, strict=True):
        touched = tuple([number.bodies[body] for body in p.bodies()])
        pairs.append(touched[:2])
        if len(touched) > 2:  # noqa: PLR2004
            e.more_bodies[row] = touched
    e.bodies[rows] = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    several = [type(p) in OF_SEVERAL_LINES for p in objects]
    for k in [k for k, has_lines in enumerate(several) if has_lines]:
        e.several_markers[int(rows[k])] = numbers[at[k] : at[k] + len(used[k])].tolist()
    n_used = np.array([0 if has_lines else len(own) for has_lines, own in zip(several, used, strict=True)], dtype=np.int64)
    column = np.arange(e.markers.shape[1])
    reads = column < n_used[:, None]
    e.markers[rows] = np.where(reads, numbers[np.where(reads, at[:, None] + column, 0)], -1) if len(numbers) else -1


def _put_uniform(e: Equations, group: _Uniform, first_use: Ints, numbers: Ints) -> None:
    """Write the rows of joints of one class;  first_use: where the markers of each joint start among all that rows read."""
    p, n = group.pattern, len(group.joints)
    rows = e.first[group.joints, None] + np.arange(len(p.kind))
    e.kind[rows], e.constants[rows, :REAL_COLUMNS] = p.kind, p.constants
    e.bodies[rows] = group.bodies[:, None, :]
    e.relative[rows] = np.where((group.bodies == 0).any(axis=1)[:, None], p.relative[1], p.relative[0])
    own = numbers[first_use[group.joints, None] + np.arange(len(p.side))]
    shared = np.where(p.markers < 0, -1, own[:, np.maximum(p.markers, 0)].reshape(n, *p.markers.shape))
    e.markers[rows, : p.markers.shape[1]] = shared
