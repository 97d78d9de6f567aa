r"""The signs of joints that tell the two assemblies of a joint apart.

Rows of zero dot products also hold with an axis turned by half a turn:

    perp-1   a_i . c_j = b_i . c_j = 0       holds for c_j along a_i x b_i and against it       sign of  (a_i x b_i) . c_j
    lock     a_i . a_j = const, about h      holds for an angle and for its opposite            sign of  (a_i x a_j) . h
    driven   sin(theta - f) = 0              holds half a turn off                              cos(theta - f) > 0

The signs of the modelled pose are the reference. The rows determine which joints have a sign, whatever their class.
Source: Haug (2021), remark that perpendicularity conditions allow two assemblies; the signs are derived here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import DRIVER, FIRST_MARKER, SLOT
from haugmbd.constraints.equations.dp1 import DP1
from haugmbd.drivers import Constant
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import lines_of
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
    across = cross(a, b)
    size = float(np.linalg.norm(across) * np.linalg.norm(c))
    return float(across @ c) / size if size > 0.0 else 0.0


def _dots(model: Model) -> dict[int, _Dot]:
    """Return the DP1 rows with a constant, by row number."""
    row_of = {int(slot): row for row, slot in enumerate(model.slot_of_row)}
    found = {}
    for line in lines_of(model, DP1).tolist():
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
    if one.j == other.j and np.any(cross(x_bar[one.i], x_bar[other.i])):
        return one.i, other.i, one.j
    if one.i == other.i and np.any(cross(x_bar[one.j], x_bar[other.j])):
        return one.j, other.j, one.i
    return None
