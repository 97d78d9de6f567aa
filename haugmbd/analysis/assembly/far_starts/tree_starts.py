r"""States with the joints of a spanning tree at random angles and displacements: bodies move rigidly with all bodies beyond the joint.

The joints of the tree stay closed if they are so; only loops open.
Source: derived here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np

from haugmbd.analysis.assembly.branch_repair import turned
from haugmbd.constraints.freedoms import Kind
from haugmbd.constraints.freedoms import Side as OnBody
from haugmbd.math.euler_parameters import from_axis_angle, rotation_matrix
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model
from haugmbd.model.state import State


def random_starts(model: Model, state: State, n: int, seed: int) -> Iterator[State]:
    """Yield `n` states with the joints of a spanning tree at random angles and displacements."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        yield moved_along_tree(model, state, random)


def moved_along_tree(model: Model, state: State, random: np.random.Generator, part: float = 1.0) -> State:
    """Return the state with the joints of a spanning tree moved: by up to this part of half a turn and of the size of the model."""
    for e, child, group in spanning_tree(model):
        state = _moved_at(state, e, child, group, random, part, model.length)
    return state


def spanning_tree(model: Model) -> list[tuple[JointEntry, int, frozenset[int]]]:
    """Return the joints from the ground outwards, each with its outer body and all bodies beyond; drivers are left out."""
    reached, order = {0}, []
    links = [e for e in model.joints.values() if e.freedoms is not None and len(e.rows) > 1]
    while new := next((e for e in links if (e.i in reached) != (e.j in reached)), None):
        child = new.j if new.i in reached else new.i
        reached.add(child)
        order.append((new, child))
    below = {child: {child} for _, child in order}
    for e, child in reversed(order):
        parent = e.i if child == e.j else e.j
        if parent:
            below[parent] |= below[child]
    return [(e, child, frozenset(below[child])) for e, child in order]


def _moved_at(
    state: State, e: JointEntry, child: int, group: frozenset[int], random: np.random.Generator, part: float, size: float
) -> State:
    """Return the state with `group` moved by random amounts of the freedoms of its joint."""
    for freedom in e.freedoms or ():
        body, s_bar, A_bar = (e.i, e.s_bar_i, e.A_bar_i) if freedom.side is OnBody.I else (e.j, e.s_bar_j, e.A_bar_j)
        A = rotation_matrix(state.p[body])
        axis = A @ A_bar[:, freedom.axis]
        if freedom.kind is Kind.SLIDE:
            r = state.r.copy()
            r[sorted(group)] += random.uniform(-1.0, 1.0) * part * size * axis
            state = state.replace(r=r)
        else:
            state = turned(state, group, state.r[body] + A @ s_bar, from_axis_angle(axis, part * random.uniform(-pi, pi)))
    return state
