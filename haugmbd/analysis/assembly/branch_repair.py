r"""Joints in the opposite sense: the signs that tell the two assemblies of a joint apart, and the bodies that are turned to repair one.

Rows of zero dot products also hold with an axis turned by half a turn:

    perp-1   a_i . c_j = b_i . c_j = 0       holds for c_j along a_i x b_i and against it       sign of  (a_i x b_i) . c_j
    lock     a_i . a_j = const, about h      holds for an angle and for its opposite            sign of  (a_i x a_j) . h
    driven   sin(theta - f) = 0              holds half a turn off                              cos(theta - f) > 0

The signs of the modelled pose are the reference. The rows determine which joints have a sign, whatever their class.

    s_k = 1 for a body that is turned:      s_i + s_j odd for a joint that is flipped, even for one that is not;  s = 0 on ground

a colouring of the graph of the joints that have a sign; where no ground decides, the lighter side turns.  Bodies that are connected
turn as one, about an axis across that of the flipped joint and through its point; the position solver decides which of these axes it is.
Source: derived here; Haug (2021), remark that perpendicularity conditions allow two assemblies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import DRIVER, FIRST_MARKER, SLOT
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.constraints.registry import KINDS
from haugmbd.drivers import Constant
from haugmbd.math.euler_parameters import from_axis_angle, normalized, product, rotation_matrix
from haugmbd.model.description.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.system.checks.constraint_residuals import half_turned

FLAT = 0.05
"""A triple product below this, of unit vectors, has no reliable sign: the modelled axes are 87 degrees off, or in one plane."""


class Sign(NamedTuple):
    """The sign of a joint: its name, the bodies (3,) and body-frame vectors (3, 3) of its triple product, and the modelled value."""

    joint: str
    i: int
    j: int
    bodies: tuple[int, int, int]
    x_bar: Array
    modelled: float


class _Dot(NamedTuple):
    """A DP1 row with a constant: its frames on body i and body j, and the constant."""

    i: int
    j: int
    value: float


def signs_of(model: Model) -> tuple[Sign, ...]:
    """Return all signs that the modelled pose fixes."""
    dots, state = _dots(model), model.state()
    bodies, x_bar = model.tables["BODY_OF"].ravel().astype(int), model.tables["X_BAR"]
    found = []
    for e in model.joints.values():
        for triple in _triples([dots[row] for row in e.rows.tolist() if row in dots], x_bar):
            at = tuple(int(bodies[m]) for m in triple)
            sign = Sign(e.name, e.i, e.j, (at[0], at[1], at[2]), x_bar[list(triple)], 0.0)
            modelled = triple_product(sign, state)
            if abs(modelled) > FLAT:
                found.append(sign._replace(modelled=modelled))
    return tuple(found)


def flipped(model: Model, signs: tuple[Sign, ...], state: State) -> tuple[str, ...]:
    """Return the joints that are in the opposite sense in `state`, and drivers that are followed half a turn off."""
    return tuple(dict.fromkeys([*turned_round(signs, state), *half_turned(model, state)]))


def turned_round(signs: tuple[Sign, ...], state: State) -> tuple[str, ...]:
    """Return the joints that are in the opposite sense in `state`, without drivers: a start may be far from their values."""
    return tuple(dict.fromkeys(sign.joint for sign in signs if triple_product(sign, state) * sign.modelled < 0.0))


def triple_product(sign: Sign, state: State) -> float:
    """Return the triple product of unit vectors, in [-1, 1]."""
    a, b, c = (rotation_matrix(state.p[k]) @ x for k, x in zip(sign.bodies, sign.x_bar, strict=True))
    across = np.cross(a, b)
    size = float(np.linalg.norm(across) * np.linalg.norm(c))
    return float(across @ c) / size if size > 0.0 else 0.0


def _dots(model: Model) -> dict[int, _Dot]:
    """Return the DP1 rows with a constant, by row number."""
    kind = KINDS.index(DP1)
    first, last = model.tables["ROW_KIND_STARTS"][0][kind : kind + 2].astype(int)
    row_of = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
    found = {}
    for line in model.tables["ROW_INTS"][first:last].astype(int).tolist():
        driver = model.drivers[line[DRIVER]]
        if isinstance(driver, Constant):
            found[row_of[line[SLOT]]] = _Dot(line[FIRST_MARKER], line[FIRST_MARKER + 1], driver.value)
    return found


def _triples(dots: list[_Dot], x_bar: Array) -> list[tuple[int, int, int]]:
    """Return frames (a, b, c) of the triple products of one joint: its perp-1, and its locks about that axis."""
    zeros = [dot for dot in dots if dot.value == 0.0]
    for k, one in enumerate(zeros):
        for other in zeros[k + 1 :]:
            pair = _perpendicular(one, other, x_bar)
            if pair is not None:
                locks = [dot for dot in dots if dot is not one and dot is not other]
                return [pair, *((dot.i, dot.j, pair[2]) for dot in locks)]
    return []


def _perpendicular(one: _Dot, other: _Dot, x_bar: Array) -> tuple[int, int, int] | None:
    """Return frames (a, b, c) if both rows share c, and a and b are not parallel."""
    if one.j == other.j and np.any(np.cross(x_bar[one.i], x_bar[other.i])):
        return one.i, other.i, one.j
    if one.i == other.i and np.any(np.cross(x_bar[one.j], x_bar[other.j])):
        return one.j, other.j, one.i
    return None


TURNS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0))
"""Directions across the axis, in f and g of the joint, that are tried."""


def choices(model: Model, signs: tuple[Sign, ...], wrong: tuple[str, ...], fixed: Iterable[int]) -> list[frozenset[int]]:
    """Return the sets of bodies that may have to be turned: the one that makes all signs right, or single bodies, the lightest first."""
    stay = {0, *fixed}
    turning = bodies_to_turn(model, signs, wrong, stay)
    if turning is not None:
        return [turning]
    ends = {body for name in wrong for body in (model.joints[name].i, model.joints[name].j)} - stay
    return [frozenset({body}) for body in sorted(ends, key=lambda body: float(model.mass[body]))]


def bodies_to_turn(model: Model, signs: tuple[Sign, ...], wrong: Iterable[str], fixed: Iterable[int]) -> frozenset[int] | None:
    """Return the bodies that must be turned; None if no choice makes all signs right (a start that is far from closed).

    fixed: bodies that must not move
    """
    odd = set(wrong)
    links: dict[int, list[tuple[int, int]]] = {k: [] for k in range(model.nb + 1)}
    for sign in signs:
        for one, other in ((sign.i, sign.j), (sign.j, sign.i)):
            links[one].append((other, int(sign.joint in odd)))
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
    allowed, found, queue = set(among), {body}, [body]
    while queue:
        k = queue.pop()
        for e in model.joints.values():
            for one, other in ((e.i, e.j), (e.j, e.i)):
                if one == k and other in allowed and other not in found:
                    found.add(other)
                    queue.append(other)
    return found


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
