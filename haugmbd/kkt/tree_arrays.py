r"""The arrays of the recursion over a forest, and the meaning of their columns.

Each body has a HANDLE: a point of the joint that carries it, or its centre of mass. All vectors are in global axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.compiled.subscripts import unsigned
from haugmbd.math.articulated_inertia import (
    NO_INERTIA,
    ArticulatedInertia,
    Six,
    Twist,
    Wrench,
    add_inertias,
    add_rigid_body,
    shift_wrench,
    times_symmetric,
)
from haugmbd.math.vec3 import Vec, add, dot, load, scale, store, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.accessors import accessor
from haugmbd.workspace.layout import PLACE, Workspace, declare

ARRAYS_OF_FORESTS = declare(
    "tree",
    {
        "TREE": "(nb, 16) bodies of a forest, each after the one that carries it, see `kkt.tree_arrays`",
        "TREE_LEAD": "(1, 1) of a forest: lines of TREE from a body back to the one that carries it, at most",
        "PAIR_OF_STEP": "(nb, 2) of a forest, implicit: tangents of each body and its parent, see `kkt.neighbour_tangents`",
    },
    {
        "TREE_BODIES": "(nb + 1, 36) of a forest: articulated inertias, forces, accelerations",
        "TREE_JOINTS": "(nb + 1, .) of a forest: the joint that carries each body",
        "TREE_ROTATIONS": "(nb + 1, 9) of a forest: the rotation matrices with which it was factored",
        "TREE_PAIRS": "(nb + 1, 36) of a forest, in implicit steps: the tangents between each body and the one that carries it",
    },
    {"TREE": 16, "TREE_BODIES": 36},
)
"""The matrices of this solver: shapes and meaning."""

tree_steps = accessor("TREE")
pair_of_step = accessor("PAIR_OF_STEP")
tree_bodies = accessor("TREE_BODIES")
tree_joints = accessor("TREE_JOINTS")
tree_joint_blocks = accessor("TREE_JOINTS", 0, 6)
tree_rotations = accessor("TREE_ROTATIONS", 3, 3)
tree_pairs = accessor("TREE_PAIRS", 6, 6)


LEAD_AT = PLACE["TREE_LEAD"]
"""Where the start of TREE_LEAD is written in the integers."""

BODY, PARENT, EDGE, SIDE, ROWS, KIND, P, Q = range(8)
"""Columns of TREE. EDGE: -1 for a root; SIDE: that of the body on its edge; ROWS: how many; KIND: of the joint, one of the following;
P, Q: points on the parent and on the body, if they are markers."""
GENERAL, REVOLUTE, SEPARABLE, HELICAL = range(4)
"""Kinds of joints: the files `general_joint`, `revolute`, `separable_joint`, `helical_joint`."""
SIGN, X1, Y1, X2, Y2 = range(8, 13)
"""Of a revolute joint. SIGN: 1 if the body is body j of the CD, otherwise -1; X1, Y1, X2, Y2: vectors of the DP1, on the parent and on
the body."""
N_LINEAR, N_ANGULAR, FIRST_ROW = range(8, 11)
"""Of a separable joint: how many of its rows restrict translation, and rotation; then their numbers on the edge, in this order. Of a
helical joint the number of the row that couples its freedoms is the last."""
STEP_COLUMNS = 16
NO_MARKER = -1

LINEAR, MIXED, ANGULAR, FORCE, MOMENT, ACCELERATION, TURNING, CENTER = 0, 6, 15, 21, 24, 27, 30, 33
"""Where the columns of TREE_BODIES start. M, H and J of the articulated inertia of a body and of all that it carries, and the forces on
them, about its handle; then what its joint passes to the parent, and what it must give, about the centre of mass. The acceleration of its
handle, and its angular acceleration. Its centre of mass, from the handle."""
BODY_COLUMNS = 36

ARM, DUAL_1, DUAL_2, AXIS, U_FORCE, U_MOMENT, D_INV, SMALL_U = 0, 3, 6, 9, 12, 15, 18, 19
"""Where the columns of TREE_JOINTS start, of a revolute joint: point P from the parent's handle; d1, d2, h; U; 1/D and u."""
JUMP_LINEAR, JUMP_ANGULAR = 20, 23
"""The acceleration that the right-hand side prescribes between P and Q."""
REVOLUTE_COLUMNS = 30

BASIS, PIVOT, STIFF, CARRIER, SCRATCH, ZETA, Y = 0, 6, 12, 18, 24, 30, 31
"""Where the 6 x 6 blocks of TREE_JOINTS start, of any other joint with m rows, see `general_joint`: R, and S from column m on; the factor
of D, and L from row and column 6 - m on; B, and E from column m on; the rows of the parent; scratch; and the lines zeta, y."""
GENERAL_COLUMNS = 6 * 32

DIRECTION, U_LINE, JUMP_LINE, ARM_LINE = 0, 6, 12, 13
"""Where the lines of six of TREE_JOINTS start, of a separable joint: three linear and three angular directions, each with 1/D and u/D;
U of each that is free; the acceleration that the right-hand side prescribes; the common point from the parent's handle."""
D_INV_OF, Z_OF = 3, 4
"""Columns of 1/D and u/D, behind a direction."""
SEPARABLE_COLUMNS = 6 * 14
THREAD_LINE, THREAD_MOTION, THREAD_U = U_LINE, U_LINE + 1, U_LINE + 2
"""Of a helical joint, in place of U: the row that couples, as a wrench; the motion S that it allows; U."""
C_INV_OF = 5
"""Column of 1/C_1 of a helical joint, behind D_INV_OF and Z_OF of the direction along its axis."""


class TreeArrays(NamedTuple):
    """Views of the arrays of a forest.

    steps: (nb, 16);  A: (nb + 1, 3, 3) of the pose that was factored, see `keep_rotations`;  X: (nm, 9) markers
    inertia: (nb + 1, 10);  J: (6 ne, 2, 6);  scale: (nn, 6) of the pivots
    d_inv: (nn, 6) inverse squares of the distances of the rows of an edge from those before, as `integrators.rank_watch` reads them
    body: (nb + 1, 36);  joint: (nb + 1, .), by the body that it carries;  block: the same as (nb + 1, ., 6)
    """

    steps: Ints
    A: Array
    X: Array
    inertia: Array
    J: Array
    scale: Array
    d_inv: Array
    body: Array
    joint: Array
    block: Array


@kernel
def tree_lead(P: Any) -> int:
    """Return how many steps of a forest a body is behind the one that carries it, at most."""
    return P.ints[P.ints[LEAD_AT]]  # type: ignore[no-any-return]


@inlined
def tree_arrays(w: Workspace) -> TreeArrays:
    """Return the views."""
    return TreeArrays(
        tree_steps(w),
        tree_rotations(w),
        ws.markers(w),
        ws.shifted_inertia(w),
        ws.jacobian(w),
        ws.pivot_scale(w),
        ws.inverse_pivots(w),
        tree_bodies(w),
        tree_joints(w),
        tree_joint_blocks(w),
    )


@inlined
def keep_rotations(w: Workspace) -> None:
    """Store the rotation matrices of the pose that is factored: a factor outlasts its pose."""
    now, kept = ws.rotation_matrices(w), tree_rotations(w)
    for k in range(kept.shape[0]):
        for a in range(3):
            for c in range(3):
                kept[k, a, c] = now[k, a, c]


@inlined
def step_of(w: Workspace, n: int) -> tuple[TreeArrays, Ints]:
    """Return the views, and step n: for kernels that are not inlined, and would copy all views at every call."""
    t = tree_arrays(w)
    return t, t.steps[n]


@kernel
def load_six(table: Array, k: int, first: int) -> Six:
    """Return six numbers."""
    a, b = load(table, k, first), load(table, k, first + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def load_inertia(table: Array, k: int, first: int) -> ArticulatedInertia:
    """Return M, H and J, which start at a column of a table."""
    x, y, z = load(table, k, first + 6), load(table, k, first + 9), load(table, k, first + 12)
    H = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    return ArticulatedInertia(load_six(table, k, first), H, load_six(table, k, first + 15))


@kernel
def store_inertia(table: Array, k: int, first: int, I: ArticulatedInertia) -> None:
    """Store M, H and J from a column of a table on."""
    M, H, J = I.M, I.H, I.J
    store(table, k, first, (M[0], M[1], M[2]))
    store(table, k, first + 3, (M[3], M[4], M[5]))
    store(table, k, first + 6, (H[0], H[1], H[2]))
    store(table, k, first + 9, (H[3], H[4], H[5]))
    store(table, k, first + 12, (H[6], H[7], H[8]))
    store(table, k, first + 15, (J[0], J[1], J[2]))
    store(table, k, first + 18, (J[3], J[4], J[5]))


@kernel
def add_inertia(table: Array, k: int, first: int, I: ArticulatedInertia) -> None:
    """Add M, H and J from a column of a table on."""
    store_inertia(table, k, first, add_inertias(load_inertia(table, k, first), I))


@kernel
def load_wrench(t: TreeArrays, k: int, first: int) -> Wrench:
    """Return force and moment of body k, which start at a column."""
    return Wrench(load(t.body, k, first), load(t.body, k, first + 3))


@kernel
def store_wrench(t: TreeArrays, k: int, first: int, w: Wrench) -> None:
    """Store force and moment of body k from a column on."""
    store(t.body, k, first, w.force)
    store(t.body, k, first + 3, w.moment)


@kernel
def add_wrench(t: TreeArrays, k: int, first: int, w: Wrench) -> None:
    """Add to force and moment of body k from a column on."""
    store(t.body, k, first, add(load(t.body, k, first), w.force))
    store(t.body, k, first + 3, add(load(t.body, k, first + 3), w.moment))


@inlined
def put_center(t: TreeArrays, k: int, handle: Vec) -> None:
    """Write the centre of mass of body k from its handle, of which the vector from the centre of mass is given."""
    store(t.body, k, CENTER, scale(-1.0, handle))


@inlined
def center(t: TreeArrays, k: int) -> Vec:
    """Return the vector from the handle of body k to its centre of mass; zero for the ground."""
    return load(t.body, k, CENTER)


@inlined
def put_own_inertia(t: TreeArrays, s: Ints) -> None:
    """Write the inertia of a body, without what it carries, about its handle."""
    k = unsigned(s[BODY])
    store_inertia(t.body, k, LINEAR, add_rigid_body(NO_INERTIA, t.inertia[k, 0], center(t, k), global_inertia(t, k)))


@inlined
def global_inertia(t: TreeArrays, k: int) -> Six:
    """Return A J_bar A^T of body k."""
    A, J = t.A, t.inertia
    J_bar = (J[k, 1], J[k, 2], J[k, 3], J[k, 5], J[k, 6], J[k, 9])
    x: Vec = (A[k, 0, 0], A[k, 0, 1], A[k, 0, 2])
    y: Vec = (A[k, 1, 0], A[k, 1, 1], A[k, 1, 2])
    z: Vec = (A[k, 2, 0], A[k, 2, 1], A[k, 2, 2])
    Jx, Jy, Jz = times_symmetric(J_bar, x), times_symmetric(J_bar, y), times_symmetric(J_bar, z)
    return (dot(x, Jx), dot(x, Jy), dot(x, Jz), dot(y, Jy), dot(y, Jz), dot(z, Jz))


@inlined
def put_own_force(t: TreeArrays, s: Ints, x: Array) -> None:
    """Write the forces of the right-hand side x (nn, 6) on a body, about its handle."""
    k = unsigned(s[BODY])
    store_wrench(t, k, FORCE, at_handle(Wrench(load(x, k, 0), to_global(t.A, k, load(x, k, 3))), center(t, k)))


@inlined
def motion(t: TreeArrays, k: int) -> Twist:
    """Return the acceleration of body k at its handle."""
    return Twist(load(t.body, k, ACCELERATION), load(t.body, k, TURNING))


@kernel
def row_wrench(t: TreeArrays, row: int, side: int, k: int) -> Wrench:
    """Return the wrench of a row of J on body k, about its centre of mass."""
    J = t.J[row]
    return Wrench(load(J, side, 0), to_global(t.A, k, load(J, side, 3)))


@kernel
def at_handle(w: Wrench, c: Vec) -> Wrench:
    """Return a wrench about the centre of mass as that about the handle, from which the centre of mass is c."""
    return shift_wrench(w, c)
