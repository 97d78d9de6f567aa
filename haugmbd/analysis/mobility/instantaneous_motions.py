"""The remaining motions, as twists of named bodies: a sparse basis of Phi_q u = 0, block by block.

    within a block    6 (bodies - base) - rows + dependent rows = its degrees of freedom,   twists relative to its base
    coordinates       rates q of the joints' freedoms,  S q = twist_j - twist_i
    basis             each motion has rate 1 of one driving freedom, and 0 of the other driving freedoms of its block (reduced echelon form)

Motions of different blocks are independent (see `graph`), so that a basis of each makes a basis of all. Bodies beyond a body of
the block move with it. The motions of a block are combined from random ones of the whole mechanism, all from one elimination.
`instantaneous_motions` selects the driving freedoms.

The freedoms of the joints of a block, and an independent set of them that parametrizes its motions.

S q = twist_j - twist_i        q the rates of a joint's freedoms, in m and rad; turns count over a length
chosen                         in the order of the joints, hinges and slides first; one that hardly moves is no measure of the others

Blocks that are one body on one joint of one freedom: most blocks of long chains, all at once and without elimination.

    turn about a through c      twist of the joint's point P:  (a x (P - c), a)         slide along a      (a, 0)

The joint's rows have rank five, and this twist is their motion if it moves none of them. At a pose where it does, because the joint
is open, the motion is found from the rows, as those of other blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from haugmbd.analysis.mobility.free_motions import twist_words
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.constraints.freedoms import Freedom, Kind, Side
from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError
from haugmbd.graph import Block, Blocks
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.inspection.joint_subspaces import motion_subspace
from haugmbd.model.labels import JointEntry, JointFrames, entries_at
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.redundancy.rank import RankAnalysis
from haugmbd.redundancy.sparse_ldl import SLOTS, random_motions
from haugmbd.system.checks.constraint_residuals import Flags

GOOD = (0.3, 0.03, 1e-3, 1e-6)
"""Part of the largest rate (turns over a length) that a driving freedom must have beyond those before it: the first are tried first."""


class JointFreedoms(NamedTuple):
    """Data of the whole mechanism: axes A (nb + 1, 3, 3), twists (nb + 1, 6, n) of random motions at the origin."""

    model: Model
    state: State
    A: Array
    length: float
    twists: Array


def rates_of(
    freedoms: JointFreedoms, joints: list[JointEntry], U: Array, index: dict[int, int]
) -> tuple[list[tuple[str, str, float]], Array]:
    """Return names, units and rates (m, n) of the joints' freedoms in the motions U; those of joints with a single freedom first."""
    scale = np.repeat([1.0, freedoms.length], 3)
    rates: list[tuple[bool, tuple[str, str, float], Array]] = []
    for entry in joints:
        if entry.freedoms is None and (entry.part.needs() or not freedoms.model.are_between_two(entry)):
            continue
        point = freedoms.state.r[entry.j] + freedoms.A[entry.j] @ entry.s_bar_j
        S = _subspace(freedoms, entry, point) * scale[:, None]
        size = np.sqrt(np.sum(S**2, axis=0))
        twist = moved(U[index[entry.j]] - U[index[entry.i]], point) * scale[:, None]
        q = (S.T if S.shape[1] == 1 else np.linalg.pinv(S / size) * size[:, None]) @ twist / (size**2)[:, None]
        words = [freedom_words(s / scale, point, freedoms.length) for s in S.T]
        names = [(entry.name, word, float(z)) for word, z in zip(words, size, strict=True)]
        rates += [(S.shape[1] > 1, name, rate * name[2]) for name, rate in zip(names, q, strict=True)]
    rates.sort(key=lambda one: one[0])
    return [name for _, name, _ in rates], np.array([rate for _, _, rate in rates]).reshape(len(rates), U.shape[2])


def body_rates(freedoms: JointFreedoms, U: Array, index: dict[int, int]) -> tuple[list[tuple[str, str, float]], Array]:
    """Return names, units and rates of the bodies' twists, for joints that do not declare their freedoms."""
    names, rates = [], []
    for body in list(index)[1:]:
        twist = moved(U[index[body]], freedoms.state.r[body])
        for k, letter in enumerate("xyzxyz"):
            unit = 1.0 if k < 3 else freedoms.length
            names.append(("", f"{freedoms.model.body_names[body]!r} {'moves along' if k < 3 else 'turns about'} {letter}", unit))
            rates.append(twist[k] * unit)
    return names, np.array(rates)


def moved(twists: Array, point: Array) -> Array:
    """Return twists (6, n) of a point at the origin as twists of `point`: v + omega x point."""
    (x, y, z), (a, b, c) = point, twists[3:]
    return np.concatenate([twists[:3] + np.array([b * z - c * y, c * x - a * z, a * y - b * x]), twists[3:]])


def _subspace(freedoms: JointFreedoms, entry: JointEntry, point: Array) -> Array:
    """Return the motion subspace of a joint, (6, k), as twists of its point; a single turn or slide directly."""
    if entry.freedoms is not None and len(entry.freedoms) == 1 and entry.freedoms[0].kind is not Kind.BALL:
        (freedom,) = entry.freedoms
        body, s_bar, A_bar = (
            (entry.i, entry.s_bar_i, entry.A_bar_i) if freedom.side is Side.I else (entry.j, entry.s_bar_j, entry.A_bar_j)
        )
        a = freedoms.A[body] @ A_bar[:, freedom.axis]
        if freedom.kind is Kind.SLIDE:
            return np.array([*a, 0.0, 0.0, 0.0])[:, None]
        x, y, z = point - freedoms.state.r[body] - freedoms.A[body] @ s_bar
        return np.array([a[1] * z - a[2] * y, a[2] * x - a[0] * z, a[0] * y - a[1] * x, *a])[:, None]
    return moved(motion_subspace(freedoms.model, freedoms.state, entry.name), point)


def freedom_words(s: Array, point: Array, length: float) -> str:
    """Return a description of a freedom."""
    return twist_words(s[:3], s[3:], point, length).replace(" 1 ", " ", 1).replace(" -1 ", " ", 1)


def independent(rates: Array, n: int) -> list[int]:
    """Return independent rows of `rates` (m, n): the first ones that are far enough from the span of those before."""
    left, chosen = rates.copy(), list[int]()
    largest = float(np.linalg.norm(rates, axis=1).max(initial=0.0))
    for good in GOOD:
        for k in range(len(rates)):
            size = float(np.linalg.norm(left[k]))
            if len(chosen) < n and size > good * largest:
                chosen.append(k)
                direction = left[k] / size
                left -= np.outer(left @ direction, direction)
    return sorted(chosen)


@dataclass(frozen=True, eq=False)
class JointsOfBlocks:
    """The joints of a model by blocks: made only of the blocks whose joints are asked for.

    frames: of all joints;  block: (nj,) block of each joint, -1 for none: the rows of a custom joint may act between other bodies than
    its frames;  count: (blocks,) number of joints of each block
    """

    entries: Mapping[str, JointEntry]
    frames: JointFrames
    block: Ints
    count: Ints

    def alone(self) -> Ints:
        """Return the numbers of the joints that are alone in their block."""
        alone: Ints = np.flatnonzero((self.block >= 0) & (self.count[self.block] == 1))
        return alone

    def of(self, chosen: Flags) -> dict[int, list[JointEntry]]:
        """Return the joints of the chosen blocks (blocks,), in their order, by the number of the block."""
        joints: dict[int, list[JointEntry]] = {k: [] for k in np.flatnonzero(chosen).tolist()}
        numbers = np.flatnonzero((self.block >= 0) & chosen[self.block]) if joints else np.zeros(0, dtype=np.int64)
        for entry, k in zip(entries_at(self.entries, numbers.tolist()), self.block[numbers].tolist(), strict=True):
            joints[k].append(entry)
        return joints


def joints_of_blocks(entries: Mapping[str, JointEntry], frames: JointFrames, blocks: Blocks) -> JointsOfBlocks:
    """Return the joints by blocks."""
    block = blocks.of_pairs(frames.i, frames.j)
    return JointsOfBlocks(entries, frames, block, np.bincount(block[block >= 0], minlength=len(blocks.blocks)))


MOVES_TOL = 1e-9
"""Part of its largest value by which a row may change in the motion of its joint: rounding, not the gap of an open joint."""


class SimpleMotion(NamedTuple):
    """The motion of a block.  S: (6,) twist of `point` (3,), body j relative to body i;  twist: (6,) of the block's body at the origin."""

    joint: str
    S: Array
    point: Array
    twist: Array


class SimpleMotions(Mapping[int, SimpleMotion]):
    """The motions of many blocks, by the number of the block.  blocks: (m,);  joints, S, point, twist: of each"""

    def __init__(self, blocks: Ints, joints: Sequence[Joint], S: Array, point: Array, twist: Array) -> None:
        self._place = dict(zip(blocks.tolist(), range(len(blocks)), strict=True))
        self._joints, self._S, self._point, self._twist = joints, S, point, twist

    def __getitem__(self, block: int) -> SimpleMotion:
        k = self._place[block]
        return SimpleMotion(self._joints[k].name, self._S[k], self._point[k], self._twist[k])

    def __iter__(self) -> Iterator[int]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


def simple_motions(rows: Rows, blocks: Blocks, dof: Ints, joints: JointsOfBlocks) -> SimpleMotions:
    """Return the motions of the blocks that are one body on one joint of one freedom."""
    number, frames = _simple_joints(blocks, dof, joints), joints.frames
    at, parts = joints.block[number], [frames.parts[k] for k in number.tolist()]
    body = np.array([blocks.blocks[k].bodies[0] for k in at.tolist()], dtype=np.int64)
    r, A = rows.state.r, rotation_matrix(rows.state.p)
    S, point = _twists(frames, number, [part.freedoms[0] for part in parts if part.freedoms], r, A)
    twist = np.hstack([S[:, :3] - cross(S[:, 3:], point), S[:, 3:]])
    twist[body != frames.j[number]] *= -1.0
    still = np.flatnonzero(~_moves_rows(frames, number, body, twist, rows, A))
    return SimpleMotions(at[still], [parts[k] for k in still.tolist()], S[still], point[still], twist[still])


def _simple_joints(blocks: Blocks, dof: Ints, joints: JointsOfBlocks) -> Ints:
    """Return the numbers of the joints of one freedom, a turn or a slide, that are alone in a block of one body and one motion."""
    alone = joints.alone()
    at = joints.block[alone]
    simple = [
        k
        for k, block, n in zip(alone.tolist(), at.tolist(), dof[at].tolist(), strict=True)
        if n == 1 and len(blocks.blocks[block].bodies) == 1 and _is_simple(joints.frames.parts[k])
    ]
    return np.array(simple, dtype=np.int64)


def _is_simple(joint: Joint) -> bool:
    """Return whether a joint has one freedom, which is a turn or a slide."""
    freedoms = joint.freedoms
    return freedoms is not None and len(freedoms) == 1 and freedoms[0].kind is not Kind.BALL and not joint.needs()


def _twists(frames: JointFrames, number: Ints, freedoms: list[Freedom], r: Array, A: Array) -> tuple[Array, Array]:
    """Return the motion subspaces (m, 6), as twists of the points on bodies j, and these points (m, 3)."""
    distinct = {id(freedom): freedom for freedom in freedoms}
    index = dict(zip(distinct, range(len(distinct)), strict=True))
    kind = np.array([index[id(freedom)] for freedom in freedoms], dtype=np.int64)
    words = [(freedom.side is Side.J, freedom.kind is Kind.SLIDE, int(freedom.axis)) for freedom in distinct.values()]
    on_j, slides, axis = np.array(words, dtype=np.int64).reshape(-1, 3)[kind].T
    j, s_bar_j = frames.j[number], frames.s_bar_j[number]
    body = np.where(on_j == 1, j, frames.i[number])
    s_bar = np.where(on_j[:, None] == 1, s_bar_j, frames.s_bar_i[number])
    a_bar = np.where(on_j[:, None] == 1, frames.A_bar_j[number, :, axis], frames.A_bar_i[number, :, axis])
    A_of = A[body]
    a = np.einsum("kab,kb->ka", A_of, a_bar)
    point = r[j] + np.einsum("kab,kb->ka", A[j], s_bar_j)
    arm = point - r[body] - np.einsum("kab,kb->ka", A_of, s_bar)
    return np.hstack([np.where(slides[:, None] == 1, a, cross(a, arm)), np.where(slides[:, None] == 1, 0.0, a)]), point


def _moves_rows(frames: JointFrames, joints: Ints, body: Ints, twist: Array, rows: Rows, A: Array) -> Flags:
    """Return whether each twist (m, 6) of a body at the origin moves a row of its joint, (m,); True for a row between other bodies."""
    of, number = frames.rows_of(joints)
    moved, i, j = body[of], frames.i[joints][of], frames.j[joints][of]
    first, second = (rows.bodies[number, side] for side in (0, 1))
    others = ~(((first == i) & (second == j)) | ((first == j) & (second == i))) | rows.bodies[number, 2:].any(axis=1)
    omega = np.einsum("kba,kb->ka", A[body], twist[:, 3:])[of]
    v = (twist[:, :3] + cross(twist[:, 3:], rows.state.r[body]))[of]
    side = (second == moved).astype(np.int8)
    Phi_r, PiBar = rows.Phi_r[number, side], rows.PiBar[number, side]
    change = np.abs(np.einsum("ka,ka->k", Phi_r, v) + np.einsum("ka,ka->k", PiBar, omega))
    size = _length(Phi_r) * _length(v) + _length(PiBar) * _length(omega)
    moves = np.zeros(len(joints), dtype=bool)
    moves[of[others | ~(change <= MOVES_TOL * size)]] = True
    return moves


def _length(vectors: Array) -> Array:
    """Return the lengths of vectors (k, 3)."""
    length: Array = np.sqrt(np.einsum("ka,ka->k", vectors, vectors))
    return length


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
    joints_of_block = joints.of(others)
    for k in np.flatnonzero(floats | others).tolist():
        block = blocks.blocks[k]
        basis = _floating(freedoms, block) if block.floats else _block_motions(freedoms, block, joints_of_block[k], int(dof[k]))
        for number, (joint, freedom, twists) in enumerate(basis, start=int(first[k])):
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


def _simple_block_motion(freedoms: JointFreedoms, block: Block, simple: SimpleMotion, hanging: list[int]) -> Motion:
    """Return the motion of a block that is one body on one joint of one freedom."""
    words = freedom_words(simple.S, simple.point, freedoms.length)
    return _motion(freedoms, block, (simple.joint, words), simple.twist[None], hanging)


def _block_motions(freedoms: JointFreedoms, block: Block, joints: list[JointEntry], n: int) -> Iterator[tuple[str, str, Array]]:
    """Yield the basis of one block: driving joint, its freedom, twists (bodies, 6) at the origin relative to the base."""
    index = {body: k for k, body in enumerate((block.base, *block.bodies))}
    U = freedoms.twists[list(index)] - freedoms.twists[block.base]
    scale, center = np.repeat([1.0, freedoms.length], 3), freedoms.state.r[list(block.bodies)].mean(axis=0)
    near = np.array([moved(u, center) for u in U])  # a turn far from the origin would be a motion of hardly anything else there
    left, _, _ = np.linalg.svd((near * scale[:, None]).reshape(SLOTS * len(index), -1), full_matrices=False)
    U = np.array([moved(u, -center) for u in left[:, :n].reshape(len(index), SLOTS, n) / scale[:, None]])
    names, rates = rates_of(freedoms, joints, U, index)
    chosen = independent(rates, n)
    if len(chosen) < n:
        others, more = body_rates(freedoms, U, index)
        names, rates = [*names, *others], np.concatenate([rates, more])
        chosen = independent(rates, n)
    if len(chosen) < n:
        bodies = ", ".join(repr(freedoms.model.body_names[body]) for body in block.bodies)
        what = f"the motions of {bodies} cannot be told apart by rounding: lengths of the model spread too far"
        raise UsageError(f"mobility: {what} ({freedoms.length:.3g} m is its size). Check the units of positions and points.")
    basis = np.linalg.solve(rates[chosen].T, U.reshape(-1, n).T).reshape(n, len(index), SLOTS)
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


def full_twists(remaining: Remaining, blocks: Blocks, r: Array) -> Array:
    """Return the motions of all bodies, (motions, nb + 1, 6): v of centres of mass r (nb + 1, 3), and omega, global axes."""
    twists = np.zeros((len(remaining.motions), len(r), 6))
    in_block: dict[int, list[int]] = {}
    for k, block in enumerate(remaining.of_block.tolist()):
        in_block.setdefault(block, []).append(k)
    for body in blocks.order:
        number = int(blocks.of_body[body])
        base = blocks.blocks[number].base
        twists[:, body] = twists[:, base]
        twists[:, body, :3] += cross(twists[:, base, 3:], r[body] - r[base])
        for k in in_block.get(number, ()):
            twists_of_body = [t for t in remaining.motions[k].twists if t.number == body]
            twists[k, body] = np.concatenate([twists_of_body[0].v, twists_of_body[0].omega]) if twists_of_body else 0.0
    return twists
