r"""The equations of all joints of a class at once: which kinds, between which of the joint's vectors, with which constants.

    RJ      CD x, CD y, CD z of (s_i, s_j),   DP1 of (a_i, c_j),   DP1 of (b_i, c_j)

The pattern is read from the `primitives()` of one joint made of known vectors. It stands for all joints of a class that declares
`uniform_rows`: their equations depend on nothing but their bodies and vectors, and in the same way for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import frozen
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.constraints.registry import KINDS, ROW_KINDS
from haugmbd.drivers.tables import ZERO

MOST_MARKERS, MOST_CONSTANTS = 3, 3
"""Markers and constants of each row of a pattern, at most."""
LEAST = 8
"""Number of joints of a class from which their rows are written at once: below it reading them one by one is as fast."""


class RowPattern(NamedTuple):
    """The m rows of each joint of a class, and the u markers that they share.

    kind: (m,) numbers in ROW_KINDS;  markers: (m, 3) which of the shared ones each row reads, -1 behind the last;  constants: (m, 3)
    relative: (2, m) see `Primitive.relative`, of joints between two moving bodies, and of those on the ground
    side, vector: (u,) body (0: i, 1: j) and number of the vector of each shared marker, in the order of first use
    not_zero: numbers of the vectors that must not be zero
    """

    kind: Ints
    markers: Ints
    constants: Array
    relative: npt.NDArray[np.bool_]
    side: Ints
    vector: Ints
    not_zero: Ints


@cache
def pattern_of(kind: type[Joint]) -> RowPattern | None:
    """Return the pattern of a class of joints; None if it declares none itself, or has none."""
    if not vars(kind).get("uniform_rows") or any(
        getattr(kind, name) is not getattr(Joint, name) for name in ("needs", "places", "faults", "faults_of_rows")
    ):
        return None
    i, j = Body("i", 1.0, (1.0, 1.0, 1.0)), Body("j", 1.0, (1.0, 1.0, 1.0))
    vectors = [frozen([k, 2.0, 3.0]) for k in range(1, kind.n_vectors + 1)]
    rows = kind.of_vectors(i, j, vectors).primitives()
    on_ground = kind.of_vectors(Body.ground(), j, vectors).primitives()
    if not all(_is_simple(row, i, j) for row in rows):
        return None
    number = {id(x): k for k, x in enumerate(vectors)}
    shared: dict[tuple[int, int], int] = {}
    markers = []
    for row in rows:
        used = [(int(body is j), number.get(id(x), -1)) for body, x in row.markers()]
        if any(vector < 0 for _, vector in used):
            return None
        own = [shared.setdefault(marker, len(shared)) for marker in used]
        markers.append(own + [-1] * (MOST_MARKERS - len(own)))
    side, vector = np.array(list(shared), dtype=np.int64).T
    return RowPattern(
        kind=np.array([ROW_KINDS.index(type(row)) for row in rows]),
        markers=np.array(markers, dtype=np.int64),
        constants=np.array([(*row.constants(), 0.0, 0.0, 0.0)[:3] for row in rows]),
        relative=np.array([[row.relative() for row in own] for own in (rows, on_ground)]),
        side=side,
        vector=vector,
        not_zero=np.array([k for k in range(len(vectors)) if _is_fault(kind, i, j, vectors, k)], dtype=np.int64),
    )


def _is_simple(row: Primitive, i: Body, j: Body) -> bool:
    """Return whether a row is an equation of body i and body j, equal to zero at all times."""
    return (
        type(row) in KINDS
        and row.f is ZERO
        and row.bodies() == (i, j)
        and not row.velocity_only
        and not row.reads_ground()
        and len(row.constants()) <= MOST_CONSTANTS
        and len(row.markers()) <= MOST_MARKERS
    )


def _is_fault(kind: type[Joint], i: Body, j: Body, vectors: Sequence[Array], k: int) -> bool:
    """Return whether it is a fault if vector k is zero."""
    zero = [frozen(np.zeros(3)) if n == k else x for n, x in enumerate(vectors)]
    return any(row.faults() for row in kind.of_vectors(i, j, zero).primitives())


def uniform_joints(joints: Sequence[Joint]) -> set[int]:
    """Return the ids of the joints without faults whose rows are written at once; a pose that is not finite is a fault of a body."""
    by_class: dict[type[Joint], list[Joint]] = {}
    for joint in joints:
        by_class.setdefault(type(joint), []).append(joint)
    found: set[int] = set()
    for kind, members in by_class.items():
        pattern = pattern_of(kind) if len(members) >= LEAST else None
        if pattern is not None:
            found.update(_without_faults(members, pattern))
    return found


def _without_faults(joints: Sequence[Joint], pattern: RowPattern) -> list[int]:
    """Return the ids of the joints of one class without faults of their values or of the rows made from them."""
    try:
        vectors = vectors_of(joints)
    except ValueError:  # some are not of three numbers: they are read one by one, and reported
        return []
    sound = np.isfinite(vectors).all(axis=(1, 2)) & (vectors[:, pattern.not_zero] != 0.0).any(axis=2).all(axis=1)
    return [
        id(joint)
        for joint, right in zip(joints, sound.tolist(), strict=True)
        if right and joint.frame_i.body is not joint.frame_j.body and joint.faults_of_values() is None
    ]


def vectors_of(joints: Sequence[Joint]) -> Array:
    """Return the vectors of joints of one class, (k, ., 3).  Raises ValueError if they are not all of three numbers."""
    flat: Array = np.concatenate(list(chain.from_iterable([joint.vectors for joint in joints])))
    return flat.reshape(len(joints), type(joints[0]).n_vectors, 3)
