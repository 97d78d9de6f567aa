r"""The record of arrays that the recursions read and write, and its accessors.

All vectors are in global axes, each at its own link's handle.
"""

from __future__ import annotations

from typing import NamedTuple

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import inlined, kernel
from haugmbd.math.vec3 import Vec, load, store
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Workspace

SLIDE, TURN, BALL = 0, 1, 2
"""Kinds of freedoms; a ball is three of them about the link's own axes, with four coordinates: Euler parameters."""

OFFSET, ORIENTATION, C_BAR, MASS, J_BAR = 0, 3, 12, 15, 16
"""Where the columns of LINK_REALS start."""
P, STEP, C = 0, 3, 6
"""Where the columns of LINK_PLACE start."""
V, OMEGA, B_LINEAR, B_ANGULAR = 0, 3, 6, 9
"""Where the columns of LINK_RATE start."""
AXIS = 0
"""Where the columns of FREEDOM_TERMS start; `articulated_inertia` names those behind."""


class ChainArrays(NamedTuple):
    """Views of one chain's tables.

    links: (n, 3) first freedom, number of freedoms, first coordinate;  freedoms: (nv, 2) kind, link
    link: (n, 25) constants;  axes_bar: (nv, 3);  base: (3,);  gravity: (3,)
    A: (n, 3, 3);  place: (n, 9);  rate: (n, 12);  J: (n, 6) about the centres of mass;  wrench, motion: (n, 6);  joint: (nv, 11)
    """

    links: Ints
    freedoms: Ints
    link: Array
    axes_bar: Array
    base: Array
    gravity: Array
    A: Array
    place: Array
    rate: Array
    J: Array
    wrench: Array
    motion: Array
    joint: Array


@inlined
def chain_arrays(ints: Ints, reals: Array, work: Array) -> ChainArrays:
    """Return the views of a chain's flat arrays."""
    w = Workspace(ints, reals, work)
    return ChainArrays(
        ws.links(w),
        ws.freedoms(w),
        ws.link_reals(w),
        ws.freedom_axes(w),
        ws.chain_base(w),
        ws.gravity(w),
        ws.link_rotations(w),
        ws.link_places(w),
        ws.link_rates(w),
        ws.link_inertias(w),
        ws.link_wrenches(w),
        ws.link_motions(w),
        ws.freedom_terms(w),
    )


@kernel
def first_freedom(c: ChainArrays, i: int) -> int:
    """Return the number of the first freedom of link i."""
    return c.links[i, 0]  # type: ignore[no-any-return]


@kernel
def end_freedom(c: ChainArrays, i: int) -> int:
    """Return one more than the number of the last freedom of link i."""
    return c.links[i, 0] + c.links[i, 1]  # type: ignore[no-any-return]


@kernel
def slides(c: ChainArrays, k: int) -> bool:
    """Return whether freedom k is a slide; else it is a turn."""
    return c.freedoms[k, 0] == SLIDE  # type: ignore[no-any-return]


@kernel
def axis(c: ChainArrays, k: int) -> Vec:
    """Return the unit axis of freedom k."""
    return load(c.joint, k, AXIS)


@kernel
def mass(c: ChainArrays, i: int) -> float:
    """Return the mass of link i [kg]."""
    return c.link[i, MASS]  # type: ignore[no-any-return]


@kernel
def handle(c: ChainArrays, i: int) -> Vec:
    """Return the point at which link i is held by its joint [m]."""
    return load(c.place, i, P)


@kernel
def step(c: ChainArrays, i: int) -> Vec:
    """Return the vector from the handle of link i - 1 to that of link i [m]."""
    return load(c.place, i, STEP)


@kernel
def center(c: ChainArrays, i: int) -> Vec:
    """Return the vector from the handle of link i to its centre of mass [m]."""
    return load(c.place, i, C)


@kernel
def gravity(c: ChainArrays) -> Vec:
    """Return the acceleration of gravity [m/s2]."""
    return (c.gravity[0], c.gravity[1], c.gravity[2])


@kernel
def times_central_inertia(c: ChainArrays, i: int, x: Vec) -> Vec:
    """Return J_i x, J_i about the centre of mass."""
    J = c.J
    return (
        J[i, 0] * x[0] + J[i, 1] * x[1] + J[i, 2] * x[2],
        J[i, 1] * x[0] + J[i, 3] * x[1] + J[i, 4] * x[2],
        J[i, 2] * x[0] + J[i, 4] * x[1] + J[i, 5] * x[2],
    )


@kernel
def store_pair(table: Array, row: int, a: Vec, b: Vec) -> None:
    """Write two vectors to the first six columns of a row."""
    store(table, row, 0, a)
    store(table, row, 3, b)
