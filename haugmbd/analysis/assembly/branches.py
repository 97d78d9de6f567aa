"""The two assemblies of a joint: the signs that tell them apart, and the bodies that are turned where a joint closed in the opposite sense.

Rows of zero dot products also hold with an axis turned by half a turn:

    perp-1   a_i . c_j = b_i . c_j = 0       holds for c_j along a_i x b_i and against it       sign of  (a_i x b_i) . c_j
    lock     a_i . a_j = const, about h      holds for an angle and for its opposite            sign of  (a_i x a_j) . h
    twist    a_i . b_j - b_i . a_j = 0       holds with body j turned half round its shaft      sign of  a_i . a_j + b_i . b_j
    driven   sin(theta - f) = 0              holds half a turn off                              cos(theta - f) > 0

Where the modelled pose closes the joint, its signs are meant: the joint was made from that pose, or fits it. Where the joint is open,
the vectors tell: c_j along a_i x b_i, a_j on the side of h x a_i (a positive turn about h), the pairs of two shafts each along the other;
of a lock whose product is that of the modelled pose, and not zero, that pose.
The rows determine which joints have a sign, whatever their class.

Repair: by the signs,

    s_k = 1 for a body that is turned:      s_i + s_j odd for a joint that is flipped, even for one that is not;  s = 0 on ground

a colouring of the graph of the joints that have a sign; where no ground decides, the lighter side turns.  Bodies that are connected
turn as one, about an axis across that of the flipped joint and through its point; the position solver decides which of these axes it is.
Source: Haug (2021), remark that perpendicularity conditions allow two assemblies; the signs are derived here; derived here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import DRIVER, FIRST_MARKER, SLOT
from haugmbd.constraints.equations.constant_velocity import ConstantVelocityRow
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.drivers import Constant
from haugmbd.math.euler_parameters import cross, from_axis_angle, normalized, product, rotation_matrix
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import evaluate, lines_of
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import constraint_gaps, half_turned

FLAT = 0.05
"""Sine of a locked angle below which it has no reliable sign: an angle and its opposite are nearly the same."""

SETTLED = 0.01
"""Gap [rad], or relative to the size of the model, below which a joint is closed at the modelled pose, as typed numbers close it. Of
random directions one in forty thousand is so near to the opposite one.
"""

PRODUCT = 1e-9
"""Difference of a product from that of the modelled pose, relative to the lengths, that is rounding: it was computed there."""


class Sign(NamedTuple):
    """The sign of a joint: its name, the bodies (3,) and body-frame vectors (3, 3) of its triple product, and the value that is meant.

    opposed: whether the modelled pose, whose sign it is, has the axis against a_i x b_i
    """

    joint: str
    i: int
    j: int
    bodies: tuple[int, int, int]
    x_bar: Array
    modelled: float
    opposed: bool = False


class Lock(NamedTuple):
    """A row that locks the angle about an axis:  a vector on each body, x of `one` and y of `other`;  sign of the angle from x to y."""

    x: Array
    y: Array
    sign: float


class LockedAxis(NamedTuple):
    """An axis of two bodies that shall agree, and the lock of the angle about it, None if it is free.

    rows: of perp-1, and of the lock;  one, other: bodies of a, b and of c;  frame: (3, 3) along a, b and h = a x b;  axis: unit c
    sign: 1 for c along h, -1 against it
    """

    joint: str
    rows: tuple[int, ...]
    one: int
    other: int
    frame: Array
    axis: Array
    sign: float
    lock: Lock | None

    def frames_that_agree(self, f: Array) -> tuple[Array, Array]:
        """Return frames on `one` and `other`, (3, 3) each, that coincide where the rows hold;  f: (nc,) of the rows."""
        assert self.lock is not None
        h, c = self.frame[:, 2], self.sign * self.axis
        x, y = self.lock.x - (self.lock.x @ h) * h, self.lock.y - (self.lock.y @ c) * c
        size = np.linalg.norm(x) * np.linalg.norm(y)
        along = (self.lock.x @ h) * (self.lock.y @ c)
        cosine = (f[self.rows[2]] - along) / size if size > 0.0 else 1.0
        angle = -self.lock.sign * np.arccos(np.clip(cosine, -1.0, 1.0))
        u = y / np.linalg.norm(y)
        image = np.cos(angle) * u + np.sin(angle) * np.cross(c, u)
        return _frame(x, h), _frame(image, c)


class Twist(NamedTuple):
    """A row of constant velocity: its row, joint and bodies, and a_i, b_i, a_j, b_j (4, 3), the last two in the sense that is meant."""

    joint: str
    row: int
    i: int
    j: int
    x_bar: Array


class _Dot(NamedTuple):
    """A DP1 row with a constant: its row, its frames on body i and body j, and the constant."""

    row: int
    i: int
    j: int
    value: float


class _Axis(NamedTuple):
    """The perp-1 of a joint: frames a, b, c; its rows; the other DP1 rows, which may be locks."""

    triple: tuple[int, int, int]
    rows: tuple[int, int]
    locks: list[_Dot]


@once_per_model
def signs_of(model: Model) -> tuple[Sign, ...]:
    """Return all signs of the joints."""
    bodies, x_bar = model.tables["BODY_OF"].ravel().astype(int), model.tables["X_BAR"]
    signs, state, shut = [], model.state(), _closed_joints(model)
    for name, axis in _axes_of(model):
        e = model.joints[name]
        sense, opposed = _sense(model, axis.triple, state, name in shut)
        for triple, value in ((axis.triple, sense), *_locks(model, axis, sense, state, name in shut)):
            at = tuple(int(bodies[m]) for m in triple)
            signs.append(Sign(name, e.i, e.j, (at[0], at[1], at[2]), x_bar[list(triple)], value, opposed and triple is axis.triple))
    return tuple(signs)


def locked_axes_of(model: Model) -> list[LockedAxis]:
    """Return the axes that shall agree, with the first lock of each."""
    bodies, x_bar = model.tables["BODY_OF"].ravel().astype(int), model.tables["X_BAR"]
    axes, state, shut = [], model.state(), _closed_joints(model)
    for name, axis in _axes_of(model):
        a, b, c = axis.triple
        sense, _ = _sense(model, axis.triple, state, name in shut)
        h = cross(x_bar[a], x_bar[b])
        h = h / np.linalg.norm(h)
        lock: Lock | None = None
        rows: tuple[int, ...] = axis.rows
        for (i, j, _), value in _locks(model, axis, sense, state, name in shut)[:1]:
            about_h = value * sense
            lock = Lock(x_bar[i], x_bar[j], about_h) if bodies[i] == bodies[a] else Lock(x_bar[j], x_bar[i], -about_h)
            rows = (*axis.rows, next(dot.row for dot in axis.locks if (dot.i, dot.j) == (i, j)))
        axis_bar = x_bar[c] / np.linalg.norm(x_bar[c])
        axes.append(LockedAxis(name, rows, int(bodies[a]), int(bodies[c]), _frame(x_bar[a], h), axis_bar, sense, lock))
    return axes


@once_per_model
def twists_of(model: Model) -> list[Twist]:
    """Return the rows of constant velocity that allow no twist."""
    bodies, x_bar = model.tables["BODY_OF"].ravel().astype(int), model.tables["X_BAR"]
    row_of, twists, state = {int(slot): row for row, slot in enumerate(model.slot_of_row)}, [], model.state()
    shut = _closed_joints(model)
    for line in lines_of(model, ConstantVelocityRow).tolist():
        driver = model.drivers[line[DRIVER]]
        if not (isinstance(driver, Constant) and driver.value == 0.0):
            continue
        row, at = row_of[line[SLOT]], [line[FIRST_MARKER + k] for k in range(4)]
        i, j = int(bodies[at[0]]), int(bodies[at[2]])
        twist = Twist(model.labels[row].joint, row, i, j, np.array(x_bar[at]))
        _, cosine = twist_of(twist, state)
        if twist.joint in shut and cosine < 0.0:
            twist.x_bar[2:] *= -1.0
        twists.append(twist)
    return twists


def twist_of(twist: Twist, state: State) -> tuple[float, float]:
    """Return a_i . b_j - b_i . a_j and a_i . a_j + b_i . b_j, twice the sine and the cosine of the twist where the shafts are straight."""
    A_i, A_j = rotation_matrix(state.p[twist.i]), rotation_matrix(state.p[twist.j])
    (a_i, b_i), (a_j, b_j) = twist.x_bar[:2] @ A_i.T, twist.x_bar[2:] @ A_j.T
    return float(a_i @ b_j - b_i @ a_j), float(a_i @ a_j + b_i @ b_j)


def _frame(x: Array, h: Array) -> Array:
    """Return the frame (3, 3) with the third axis along the unit vector h and the first along x, which is across it."""
    f = x / np.linalg.norm(x)
    return np.column_stack([f, np.cross(h, f), h])


@once_per_model
def _closed_joints(model: Model) -> set[str]:
    """Return the joints that are closed at the modelled pose."""
    rows = evaluate(model, model.state())
    measured = constraint_gaps(model, rows, rows.state.t)
    part = np.abs(measured.gap) / np.where(measured.is_angle, 1.0, model.length)
    return {e.name for e in model.joints.values() if part[e.rows].max(initial=0.0) <= SETTLED}


def _sense(model: Model, triple: tuple[int, int, int], state: State, shut: bool) -> tuple[float, bool]:
    """Return 1 for c along a x b or -1 against it, and whether a modelled pose that closes the joint says the latter."""
    a, b, c = _unit_vectors(model, triple, state)
    opposed = bool(shut and cross(a, b) @ c < 0.0)
    return (-1.0 if opposed else 1.0), opposed


def _locks(model: Model, axis: _Axis, sense: float, state: State, shut: bool) -> list[tuple[tuple[int, int, int], float]]:
    """Return the frames (a_i, a_j, c) of each lock about an axis with the sign of its angle about c;  sense: of c and h."""
    locks = []
    h_bar = cross(*model.tables["X_BAR"][list(axis.triple[:2])])
    h = rotation_matrix(state.p[int(model.tables["BODY_OF"].ravel()[axis.triple[0]])]) @ h_bar
    for dot in axis.locks:
        x, y = (np.linalg.norm(model.tables["X_BAR"][m]) for m in (dot.i, dot.j))
        a_i, a_j, c = _unit_vectors(model, (dot.i, dot.j, axis.triple[2]), state)
        cosine = dot.value / (x * y)
        if 1.0 - cosine**2 <= FLAT**2:
            continue
        turned = float(cross(a_i, a_j) @ h) / float(np.linalg.norm(h))
        kept = dot.value != 0.0 and abs(float(a_i @ a_j) - cosine) <= PRODUCT and abs(turned) > FLAT
        settled = shut or kept
        locks.append(((dot.i, dot.j, axis.triple[2]), sense * (-1.0 if settled and turned < 0.0 else 1.0)))
    return locks


def _unit_vectors(model: Model, markers: tuple[int, int, int], state: State) -> list[Array]:
    """Return the vectors of three markers in the global frame, of length 1."""
    bodies, x_bar = model.tables["BODY_OF"].ravel(), model.tables["X_BAR"]
    vectors = [rotation_matrix(state.p[int(bodies[m])]) @ x_bar[m] for m in markers]
    return [x / np.linalg.norm(x) for x in vectors]


def flipped(model: Model, signs: tuple[Sign, ...], state: State) -> tuple[str, ...]:
    """Return the joints that are in the opposite sense in `state`, and drivers that are followed half a turn off."""
    twisted = [twist.joint for twist in twists_of(model) if twist_of(twist, state)[1] < 0.0]
    return tuple(dict.fromkeys([*turned_round(signs, state), *twisted, *half_turned(model, state)]))


def opposed(signs: tuple[Sign, ...]) -> tuple[str, ...]:
    """Return the joints whose modelled pose fits with the axis of body j against a_i x b_i: they stay so."""
    return tuple(dict.fromkeys(sign.joint for sign in signs if sign.opposed))


def turned_round(signs: tuple[Sign, ...], state: State) -> tuple[str, ...]:
    """Return the joints that are in the opposite sense in `state`, without drivers: a start may be far from their values."""
    if not signs:
        return ()
    A = rotation_matrix(state.p[[sign.bodies for sign in signs]])
    a, b, c = np.moveaxis(np.einsum("skab,skb->ska", A, np.array([sign.x_bar for sign in signs])), 1, 0)
    wrong = np.einsum("sa,sa->s", cross(a, b), c) * np.array([sign.modelled for sign in signs]) < 0.0
    return tuple(dict.fromkeys(signs[k].joint for k in np.flatnonzero(wrong).tolist()))


def _dots(model: Model) -> dict[int, _Dot]:
    """Return the DP1 rows with a constant, by row number."""
    row_of = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
    dots = {}
    for line in lines_of(model, DP1).tolist():
        driver = model.drivers[line[DRIVER]]
        if isinstance(driver, Constant):
            row = row_of[line[SLOT]]
            dots[row] = _Dot(row, line[FIRST_MARKER], line[FIRST_MARKER + 1], driver.value)
    return dots


def _axes_of(model: Model) -> list[tuple[str, _Axis]]:
    """Return the perp-1 of every joint that has one, by the name of the joint."""
    dots, x_bar = _dots(model), model.tables["X_BAR"]
    axes = []
    for e in model.joints.values():
        axis = _axis([dots[row] for row in e.rows.tolist() if row in dots], x_bar)
        if axis is not None:
            axes.append((e.name, axis))
    return axes


def _axis(dots: list[_Dot], x_bar: Array) -> _Axis | None:
    """Return the perp-1 among the dot products of one joint, and the others."""
    zeros = [dot for dot in dots if dot.value == 0.0]
    for k, row in enumerate(zeros):
        for other in zeros[k + 1 :]:
            triple = _perpendicular(row, other, x_bar)
            if triple is not None:
                return _Axis(triple, (row.row, other.row), [dot for dot in dots if dot is not row and dot is not other])
    return None


def _perpendicular(first: _Dot, other: _Dot, x_bar: Array) -> tuple[int, int, int] | None:
    """Return frames (a, b, c) if both rows share c, and a and b are not parallel."""
    if first.j == other.j and np.any(cross(x_bar[first.i], x_bar[other.i])):
        return first.i, other.i, first.j
    if first.i == other.i and np.any(cross(x_bar[first.j], x_bar[other.j])):
        return first.j, other.j, first.i
    return None


TURNS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0))
"""Directions across the axis, in f and g of the joint, that are tried."""


SINGLES, MANY = 4, 6
"""Number of single bodies that are tried, and of wrong joints above which none is."""


def choices(model: Model, signs: tuple[Sign, ...], wrong: tuple[str, ...], fixed: Iterable[int]) -> list[frozenset[int]]:
    """Return the sets of bodies that may have to be turned: the one that makes all signs right, or single bodies.

    Of those, the ones at most wrong joints, the lightest first; none where so many are wrong that no single turn makes them right.
    """
    stay = {0, *fixed}
    turning = bodies_to_turn(model, signs, wrong, stay)
    if turning is not None:
        return [turning]
    if len(wrong) > MANY:
        return []
    ends = Counter(body for name in wrong for body in (model.joints[name].i, model.joints[name].j) if body not in stay)
    return [frozenset({body}) for body in sorted(ends, key=lambda body: (-ends[body], float(model.mass[body])))[:SINGLES]]


def bodies_to_turn(model: Model, signs: tuple[Sign, ...], wrong: Iterable[str], fixed: Iterable[int]) -> frozenset[int] | None:
    """Return the bodies that must be turned; None if no choice makes all signs right (a start that is far from closed).

    fixed: bodies that must not move
    """
    odd = set(wrong)
    links: dict[int, list[tuple[int, int]]] = {k: [] for k in range(model.nb + 1)}
    for sign in signs:
        for body, other in ((sign.i, sign.j), (sign.j, sign.i)):
            links[body].append((other, int(sign.joint in odd)))
    colour = dict.fromkeys((0, *fixed), 0)
    queue = list(colour)
    turned: set[int] = set()
    for root in [None, *range(1, model.nb + 1)]:
        if root is not None:
            if root in colour:
                continue
            colour[root], queue = 0, [root]
        group = _paint(links, colour, queue)
        if group is None:
            return None
        ones = {k for k in group if colour[k]}
        if root is not None and model.mass[list(ones)].sum() > model.mass[list(group - ones)].sum():
            ones = group - ones
        turned |= ones
    return frozenset(turned)


def _paint(links: dict[int, list[tuple[int, int]]], colour: dict[int, int], queue: list[int]) -> set[int] | None:
    """Colour all bodies that are linked with the queue. Return these bodies, or None if two paths disagree."""
    reached = set(queue)
    while queue:
        k = queue.pop()
        for other, odd in links[k]:
            wanted = colour[k] ^ odd
            if colour.setdefault(other, wanted) != wanted:
                return None
            if other not in reached:
                reached.add(other)
                queue.append(other)
    return reached


def turned_starts(model: Model, wrong: tuple[str, ...], turning: frozenset[int], state: State) -> Iterator[State]:
    """Yield states with the bodies turned, about one axis after the other, and driven bodies turned by half a turn."""
    entries = [model.joints[name] for name in wrong]
    for e in entries:
        if (e.i in turning) == (e.j in turning):
            state = half_turn(state, e, driven_side(model, e), np.array([0.0, 0.0, 1.0]))
    across = [e for e in entries if (e.i in turning) != (e.j in turning)]
    for f, g in TURNS if across else ():
        new, left = state, set(turning)
        for e in across:
            body = e.j if e.j in turning else e.i
            if body in left:
                group = neighbours(model, body, turning)
                left -= group
                new = half_turn(new, e, group, np.array([f, g, 0.0]))
        yield new
    if not across:
        yield state


def driven_side(model: Model, e: JointEntry) -> set[int]:
    """Return the bodies that move with body j of a joint while body i is fixed, as far as loops allow (with body i if j is the ground)."""
    moving, staying = (e.j, e.i) if e.j else (e.i, e.j)
    return neighbours(model, moving, set(range(1, model.nb + 1)) - {staying})


def neighbours(model: Model, body: int, among: Iterable[int]) -> set[int]:
    """Return `body` and all bodies connected to it through the bodies `among`."""
    allowed, connected, queue = set(among), {body}, [body]
    while queue:
        k = queue.pop()
        for e in model.joints.values():
            for near, other in ((e.i, e.j), (e.j, e.i)):
                if near == k and other in allowed and other not in connected:
                    connected.add(other)
                    queue.append(other)
    return connected


def half_turn(state: State, e: JointEntry, group: Iterable[int], axis: Array) -> State:
    """Return the state with the bodies of `group` turned by half a turn about the joint's point and an axis (3,) in its frame on body i."""
    A = rotation_matrix(state.p[e.i])
    return turned(state, group, state.r[e.i] + A @ e.s_bar_i, from_axis_angle(A @ e.A_bar_i @ axis, np.pi))


def turned(state: State, group: Iterable[int], point: Array, q: Array) -> State:
    """Return the state with the bodies of `group` turned together about `point` [m], and their velocities.

    q: Euler parameters of the rotation, global
    """
    r, p, v = state.r.copy(), state.p.copy(), state.v.copy()
    k = sorted(set(group) - {0})
    R = rotation_matrix(q)
    r[k], v[k] = point + (r[k] - point) @ R.T, v[k] @ R.T
    p[k] = normalized(product(np.broadcast_to(q, (len(k), 4)), p[k]))
    return state.replace(r=r, p=p, v=v)
