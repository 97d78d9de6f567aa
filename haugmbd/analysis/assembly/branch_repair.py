r"""Joints in the opposite sense: the bodies that are turned to repair them, by the signs of `branch_signs`.

    s_k = 1 for a body that is turned:      s_i + s_j odd for a joint that is flipped, even for one that is not;  s = 0 on ground

a colouring of the graph of the joints that have a sign; where no ground decides, the lighter side turns.  Bodies that are connected
turn as one, about an axis across that of the flipped joint and through its point; the position solver decides which of these axes it is.
Source: derived here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from haugmbd.analysis.assembly.branch_signs import Sign
from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import from_axis_angle, normalized, product, rotation_matrix
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State

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
