r"""The remaining motions, as twists of named bodies: a sparse basis of Phi_q u = 0, block by block.

    within a block    6 (bodies - base) - rows + dependent rows = its degrees of freedom,   twists relative to its base
    coordinates       rates q of the joints' freedoms,  S q = twist_j - twist_i
    basis             each motion has rate 1 of one driving freedom, and 0 of the other driving freedoms of its block (reduced echelon form)

Motions of different blocks are independent (see `graph`), so that a basis of each makes a basis of all. Bodies beyond a body of
the block move with it. The motions of a block are combined from random ones of the whole mechanism, all from one elimination.
`joint_freedoms` selects the driving freedoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from haugmbd.analysis.mobility.joint_freedoms import JointFreedoms, body_rates, freedom_words, independent, moved, rates_of
from haugmbd.analysis.mobility.joints_of_blocks import JointsOfBlocks
from haugmbd.analysis.mobility.simple_joints import SimpleMotion, simple_motions
from haugmbd.analysis.mobility.twist_format import twist_words
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.errors import UsageError
from haugmbd.graph import Block, Blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis
from haugmbd.redundancy.sparse_ldl import SLOTS, random_motions

MOST = 200
"""Largest number of motions of one block that are listed.

Of a block with more, they are counted (memory and time grow with the square).
"""

ZERO_TOL = 1e-9
"""Part of a motion that is rounding, and is set to zero."""

SHOWN_BODIES = 4
"""Number of bodies that a text names before it counts the others."""


@dataclass(frozen=True, eq=False)
class BodyTwist:
    """The motion of a body relative to the base of its block: v (3,) of its centre of mass r (3,) [m], omega (3,) [rad]; global axes."""

    body: str
    number: int
    v: Array
    omega: Array
    r: Array


@dataclass(frozen=True, eq=False)
class Motion:
    """One remaining motion.  joint: the joint whose freedom has the rate 1, "" for a floating body;  freedom: in words.

    base: the body that the twists are relative to;  twists: of the moving bodies of the block;  carried: number of other bodies
    that move
    """

    joint: str
    freedom: str
    base: str
    twists: tuple[BodyTwist, ...]
    carried: int
    length: float

    def __str__(self) -> str:
        """Return the bodies and their twists as text."""
        size = max((float(np.linalg.norm(t.v) + self.length * np.linalg.norm(t.omega)) for t in self.twists), default=0.0)
        texts = [f"{t.body!r} {twist_words(t.v, t.omega, t.r, self.length, size)}" for t in self.twists[:SHOWN_BODIES]]
        more = len(self.twists) - SHOWN_BODIES
        counted = [f"and {more} more"] if more > 0 else []
        carried = [f"carrying {self.carried} more"] if self.carried else []
        against = "" if self.base == "" else f" (against {self.base!r})"
        return "; ".join([*texts, *counted, *carried]) + against


class Motions(Sequence[Motion]):
    """The motions of a mechanism.  made: those that are known, by number;  make: makes another one, of its number, when it is read"""

    def __init__(self, count: int, made: dict[int, Motion], make: Callable[[int], Motion] | None = None) -> None:
        self._count, self._made, self._make = count, made, make

    @overload
    def __getitem__(self, k: int) -> Motion: ...

    @overload
    def __getitem__(self, k: slice) -> tuple[Motion, ...]: ...

    def __getitem__(self, k: int | slice) -> Motion | tuple[Motion, ...]:
        if isinstance(k, slice):
            return tuple([self[number] for number in range(*k.indices(len(self)))])
        number = range(self._count)[k]  # from the end, or an IndexError
        found = self._made.get(number)
        if found is None:
            assert self._make is not None
            self._made[number] = found = self._make(number)
        return found

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[type[Motions], tuple[int, dict[int, Motion]]]:
        return Motions, (self._count, dict(enumerate(self)))


class Remaining(NamedTuple):
    """The remaining motions of a mechanism.

    motions: of all blocks;  dof: by blocks;  of_block: by motions;  unlisted_motions: motions of blocks that have more than MOST
    """

    motions: Motions
    dof: Ints
    of_block: Ints
    unlisted_motions: int


def remaining(model: Model, rows: Rows, examined: RankAnalysis, blocks: Blocks, joints: JointsOfBlocks) -> Remaining:
    """Return the remaining motions at the pose at which `rows` were evaluated."""
    dof = _degrees_of_freedom(model, examined, blocks)
    simple = simple_motions(rows, blocks, dof, joints)
    is_simple = np.zeros(len(dof), dtype=bool)
    is_simple[list(simple)] = True
    floats = np.array([block.floats for block in blocks.blocks], dtype=bool)
    others = ~is_simple & ~floats & (dof > 0) & (dof <= MOST)
    freedoms = _joint_freedoms(model, rows.state, examined, int(dof[others].max(initial=0)))
    count = np.where(floats, SLOTS, np.where(is_simple | others, dof, 0))
    first, of_block = np.cumsum(count) - count, np.repeat(np.arange(len(dof)), count)
    hanging, made = blocks.hanging(), dict[int, Motion]()
    own = joints.of(others)
    for k in np.flatnonzero(floats | others).tolist():
        block = blocks.blocks[k]
        found = _floating(freedoms, block) if block.floats else _block_motions(freedoms, block, own[k], int(dof[k]))
        for number, (joint, freedom, twists) in enumerate(found, start=int(first[k])):
            made[number] = _motion(freedoms, block, (joint, freedom), twists, hanging)

    def make(number: int) -> Motion:
        k = int(of_block[number])
        return _simple_block_motion(freedoms, blocks.blocks[k], simple[k], hanging)

    return Remaining(Motions(len(of_block), made, make), dof, of_block, int(dof.sum()) - len(of_block))


def _degrees_of_freedom(model: Model, examined: RankAnalysis, blocks: Blocks) -> Ints:
    """Return the degrees of freedom of each block relative to its base, (blocks,)."""
    free = np.array([6 * len(block.bodies) for block in blocks.blocks], dtype=np.int64)
    gone = examined.flat.astype(bool).copy()
    gone[examined.dropped] = True
    edges = model.tables["EDGES"]
    counts = np.bincount(model.slot_of_row[~gone] // SLOTS, minlength=len(edges))
    np.subtract.at(free, blocks.of_pairs(edges[:, 0], edges[:, 1]), counts)
    return free


def _joint_freedoms(model: Model, state: State, examined: RankAnalysis, n: int) -> JointFreedoms:
    """Return `n` random motions."""
    u = random_motions(model, examined.elimination, n) if n else np.zeros((model.nb + 1, SLOTS, 0))
    A = rotation_matrix(state.p)
    omega = A @ u[:, 3:] / examined.length
    v = u[:, :3] + np.cross(state.r[:, :, None], omega, axis=1)
    return JointFreedoms(model, state, A, examined.length, np.concatenate([v, omega], axis=1))


def _floating(freedoms: JointFreedoms, block: Block) -> Iterator[tuple[str, str, Array]]:
    """Yield three displacements and three rotations about the centre of mass of a body without joints."""
    r = freedoms.state.r[block.bodies[0]]
    for k, letter in enumerate("xyzxyz"):
        twist = np.zeros(6)
        twist[k] = 1.0
        if k >= 3:
            twist[:3] = cross(r, twist[3:])
        yield "", f"{'moves along' if k < 3 else 'turns about'} {letter}", twist[None, :]


def _simple_block_motion(freedoms: JointFreedoms, block: Block, one: SimpleMotion, hanging: list[int]) -> Motion:
    """Return the motion of a block that is one body on one joint of one freedom."""
    words = freedom_words(one.S, one.point, freedoms.length)
    return _motion(freedoms, block, (one.joint, words), one.twist[None], hanging)


def _block_motions(freedoms: JointFreedoms, block: Block, joints: list[JointEntry], n: int) -> Iterator[tuple[str, str, Array]]:
    """Yield the basis of one block: driving joint, its freedom, twists (bodies, 6) at the origin relative to the base."""
    place = {body: k for k, body in enumerate((block.base, *block.bodies))}
    U = freedoms.twists[list(place)] - freedoms.twists[block.base]
    scale, center = np.repeat([1.0, freedoms.length], 3), freedoms.state.r[list(block.bodies)].mean(axis=0)
    near = np.array([moved(u, center) for u in U])  # a turn far from the origin would be a motion of hardly anything else there
    left, _, _ = np.linalg.svd((near * scale[:, None]).reshape(SLOTS * len(place), -1), full_matrices=False)
    U = np.array([moved(u, -center) for u in left[:, :n].reshape(len(place), SLOTS, n) / scale[:, None]])
    names, rates = rates_of(freedoms, joints, U, place)
    chosen = independent(rates, n)
    if len(chosen) < n:
        others, more = body_rates(freedoms, U, place)
        names, rates = [*names, *others], np.concatenate([rates, more])
        chosen = independent(rates, n)
    if len(chosen) < n:
        bodies = ", ".join(repr(freedoms.model.body_names[body]) for body in block.bodies)
        what = f"the motions of {bodies} cannot be told apart by rounding: lengths of the model spread too far"
        raise UsageError(f"mobility: {what} ({freedoms.length:.3g} m is its size). Check the units of positions and points.")
    basis = np.linalg.solve(rates[chosen].T, U.reshape(-1, n).T).reshape(n, len(place), SLOTS)
    for (joint, freedom, unit), twists in zip((names[k] for k in chosen), basis, strict=True):
        yield joint, freedom, twists[1:] * unit


def _motion(freedoms: JointFreedoms, block: Block, drive: tuple[str, str], twists: Array, hanging: list[int]) -> Motion:
    """Return the record of one motion, from twists (bodies of the block, 6) at the origin."""
    scale = np.repeat([1.0, freedoms.length], 3)
    largest = float(np.abs(twists * scale).max())
    moving, carried = [], 0
    for body, twist in zip(block.bodies, twists, strict=True):
        at_r = moved(twist[:, None], freedoms.state.r[body])[:, 0]
        at_r[np.abs(at_r * scale) <= ZERO_TOL * largest] = 0.0
        if at_r.any():
            at_r.flags.writeable = False
            moving.append(BodyTwist(freedoms.model.body_names[body], body, at_r[:3], at_r[3:], freedoms.state.r[body]))
            carried += hanging[body]
    base = freedoms.model.body_names[block.base] if block.base else ""
    return Motion(*drive, base, tuple(moving), carried, freedoms.length)


def full_twists(found: Remaining, blocks: Blocks, r: Array) -> Array:
    """Return the motions of all bodies, (motions, nb + 1, 6): v of centres of mass r (nb + 1, 3), and omega, global axes."""
    twists = np.zeros((len(found.motions), len(r), 6))
    in_block: dict[int, list[int]] = {}
    for k, block in enumerate(found.of_block.tolist()):
        in_block.setdefault(block, []).append(k)
    for body in blocks.order:
        number = int(blocks.of_body[body])
        base = blocks.blocks[number].base
        twists[:, body] = twists[:, base]
        twists[:, body, :3] += cross(twists[:, base, 3:], r[body] - r[base])
        for k in in_block.get(number, ()):
            own = [t for t in found.motions[k].twists if t.number == body]
            twists[k, body] = np.concatenate([own[0].v, own[0].omega]) if own else 0.0
    return twists
