r"""The joints of clusters, which have one freedom: revolute ones, S = (0, h), and those that slide, S = (d, 0), see `separable_joint`.

    along      S^T w = h . n   or   d . f                response   I S = (H h, J h)   or   (M d, H^T d)

Both keep their geometry in TREE_JOINTS, in columns of their own; `slides` says which.
Source: Featherstone (2008), sec. 4.4 (motion subspaces of revolute and prismatic joints).
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined
from haugmbd.kkt.tree.separable_joint import prescribed
from haugmbd.kkt.tree.tree_arrays import (
    ARM,
    ARM_LINE,
    AXIS,
    BODY,
    DIRECTION,
    EDGE,
    FIRST_ROW,
    FORCE,
    JUMP_LINE,
    JUMP_LINEAR,
    PARENT,
    TreeArrays,
    add_wrench,
    center,
    load_wrench,
)
from haugmbd.math.articulated_inertia import (
    ArticulatedInertia,
    Twist,
    Wrench,
    shift_wrench,
    times_full,
    times_full_transposed,
    times_symmetric,
)
from haugmbd.math.vec3 import Vec, add, dot, load, scale, store, sub

LINE = 6
"""Columns of a line of a separable joint."""

N_LINEAR_OF_SLIDE, N_ANGULAR_OF_SLIDE = 2, 3
"""Rows of a joint that slides, by what they restrict: the third linear direction is its freedom."""


@inlined
def axis_of(t: TreeArrays, k: int, slides: bool) -> Vec:
    """Return h, or d."""
    return load(t.joint, k, LINE * (DIRECTION + N_LINEAR_OF_SLIDE) if slides else AXIS)


@inlined
def arm_of(t: TreeArrays, k: int, slides: bool) -> Vec:
    """Return the point of the joint on the carrier, from its handle."""
    return load(t.joint, k, LINE * ARM_LINE if slides else ARM)


@inlined
def jump_of(t: TreeArrays, k: int, slides: bool) -> Twist:
    """Return (g, beta), the acceleration that the right-hand side prescribes between the bodies."""
    first = LINE * JUMP_LINE if slides else JUMP_LINEAR
    return Twist(load(t.joint, k, first), load(t.joint, k, first + 3))


@inlined
def add_to_jump(t: TreeArrays, k: int, slides: bool, z: float) -> None:
    """Add S z to (g, beta)."""
    first = LINE * JUMP_LINE if slides else JUMP_LINEAR + 3
    store(t.joint, k, first, add(load(t.joint, k, first), scale(z, axis_of(t, k, slides))))


@inlined
def put_slide_jump(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write (g, beta) of a joint that slides, from the right-hand side x (nn, 6)."""
    block = t.block[s[BODY]]
    given = prescribed(block, s, x[t.body.shape[0] + s[EDGE]])
    store(block, JUMP_LINE, 0, given.linear)
    store(block, JUMP_LINE, 3, given.angular)


@inlined
def along(axis: Vec, w: Wrench, slides: bool) -> float:
    """Return S^T w."""
    return dot(axis, w.force if slides else w.moment)


@inlined
def response(I: ArticulatedInertia, axis: Vec, slides: bool) -> Wrench:
    """Return I S."""
    if slides:
        return Wrench(times_symmetric(I.M, axis), times_full_transposed(I.H, axis))
    return Wrench(times_full(I.H, axis), times_symmetric(I.J, axis))


@inlined
def add_motion(a: Twist, axis: Vec, z: float, slides: bool) -> Twist:
    """Return a + S z."""
    if slides:
        return Twist(add(a.linear, scale(z, axis)), a.angular)
    return Twist(a.linear, add(a.angular, scale(z, axis)))


@inlined
def put_slide_multipliers(t: TreeArrays, s: Ints, x: Array) -> Wrench:
    """Write the multipliers of a joint that slides, pass its wrench to the parent, and return it about the handle."""
    k, i, node = s[BODY], s[PARENT], t.body.shape[0] + s[EDGE]
    w = shift_wrench(load_wrench(t, k, FORCE), center(t, k))
    for a in range(N_LINEAR_OF_SLIDE + N_ANGULAR_OF_SLIDE):
        x[node, s[FIRST_ROW + a]] = 0.0
    add_slide_multipliers(t, s, w, x)
    if i > 0:
        add_wrench(t, i, FORCE, shift_wrench(w, sub(arm_of(t, k, True), center(t, i))))
    return w


@inlined
def add_slide_multipliers(t: TreeArrays, s: Ints, w: Wrench, x: Array) -> None:
    """Add what a wrench on the body, about its handle, takes of the rows of a joint that slides."""
    block, node = t.block[s[BODY]], t.body.shape[0] + s[EDGE]
    for a in range(N_LINEAR_OF_SLIDE):
        x[node, s[FIRST_ROW + a]] += dot(load(block, DIRECTION + a, 0), w.force)
    for a in range(N_ANGULAR_OF_SLIDE):
        x[node, s[FIRST_ROW + N_LINEAR_OF_SLIDE + a]] += dot(load(block, DIRECTION + 3 + a, 0), w.moment)
