"""Free motions at a state, and motions that become free at a singular configuration, by singular values; and in words.

    J = U diag(sigma) V^T     rows of length 1, columns of omega_bar divided by a length, so that all are comparable
    free motions              V of sigma = 0 (and the rest of V)         sum of squares of U by joint: its part in a dependency

Dense algebra: for error messages only.

Words: "turns 1 about y at (0, 0, 0)", "moves 0.31 along x", "turns 1 about x and moves 0.2 along it".

    omega != 0    a screw: turn |omega| about the axis through  c = r + omega x v / omega^2,  move  v . omega / |omega|  along it
    omega == 0    a move |v|

Directions along global axes are given by their letter. Their largest component is positive: the number has the sign.

Motions of bodies in words: 'crank' turns 1.00 about y; 'slider' moves 0.31 along x.

Turns in rad and moves of centres of mass in m, both along global axes; the largest turn is 1, or the largest move where nothing turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.inspection.length import characteristic_length
from haugmbd.model.model import Model
from haugmbd.model.state import State

AXIS_TOL = 1e-3
"""[rad] A direction nearer than this to a global axis is given by its letter."""

ROUNDING_PART = 1e-6
"""Parts of a twist, or of a direction, below this part of the largest one are rounding, and are left out."""


def twist_words(v: Array, omega: Array, r: Array, length: float, size: float = 0.0) -> str:
    """Return a twist as text: v (3,) of the point r (3,), omega (3,), global axes; "" if nothing moves.

    length: rotations times this are compared with displacements [m];  size: the largest displacement in the whole motion
    """
    least = ROUNDING_PART * max(size, float(np.linalg.norm(v)), length * float(np.linalg.norm(omega)))
    turn, about = signed(omega)
    if length * abs(turn) <= least:
        move, along = signed(v)
        return f"moves {number(move)} along {direction_word(along)}" if abs(move) > least else ""
    centre = r + cross(omega, v) / turn**2
    centre[np.abs(centre) <= ROUNDING_PART * (length + np.abs(r).max())] = 0.0
    text = f"turns {number(turn)} about {direction_word(about)} at {point_word(centre)}"
    move = float(v @ about)
    return f"{text} and moves {number(move)} along it" if abs(move) > least else text


def signed(vector: Array) -> tuple[float, Array]:
    """Return a size and a unit direction whose largest component is positive; (0, 0) for zero."""
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        return 0.0, vector
    part = np.abs(vector)
    leading = int(np.argmax(part >= (1.0 - AXIS_TOL) * part.max()))  # the first of equals, independent of rounding
    sign = 1.0 if vector[leading] > 0.0 else -1.0
    return sign * size, sign * vector / size


def direction_word(direction: Array) -> str:
    """Return x, y, z, or three numbers, of a direction of length 1."""
    for letter, axis in zip("xyz", np.eye(3), strict=True):
        if np.linalg.norm(direction - axis) < AXIS_TOL:
            return letter
    return point_word(np.where(np.abs(direction) > ROUNDING_PART, direction, 0.0))


def point_word(point: Array) -> str:
    """Return three numbers in brackets."""
    return "(" + ", ".join(number(x) for x in point) + ")"


def number(x: float) -> str:
    """Return three digits, without a negative zero."""
    return f"{float(f'{float(x):.3g}') + 0.0:g}"


Complex: TypeAlias = npt.NDArray[np.complex128]

SHOWN_PART = 5e-3
"""Parts of a motion below this part of its largest one are left out."""

SMALL = 0.1
"""Sizes below it are written with four decimals."""

SHOWN_BODIES = 4
"""Number of bodies that are named before the others are counted; those with the largest motion come first."""


def turns_first(motion: Array | Complex, length: float) -> bool:
    """Return whether a motion (nb + 1, 6) is measured by its rotations: some matter beside its displacements over `length` [m]."""
    size = np.abs(motion)
    return bool(length * size[:, 3:].max(initial=0.0) > SHOWN_PART * size[:, :3].max(initial=0.0))


def largest(motion: Array | Complex, length: float) -> float:
    """Return the largest rotation of a motion (nb + 1, 6), or the largest displacement if nothing rotates."""
    columns = slice(3, 6) if turns_first(motion, length) else slice(0, 3)
    return float(np.linalg.norm(motion[:, columns], axis=1).max(initial=0.0))


def leading(motion: Array | Complex, p: Array, length: float) -> complex:
    """Return the largest component of a motion along a global axis, of its rotations or else its displacements; 1 if nothing moves."""
    size, turns = np.abs(motion), np.einsum("kab,kb->ka", rotation_matrix(p), motion[:, 3:])
    part = turns if turns_first(size, length) else motion[:, :3]
    return complex(part.flat[int(np.argmax(np.abs(part)))]) or 1.0


def motion_text(motion: Array, p: Array, names: Sequence[str], length: float, unit: float | None = None) -> str:
    """Return the motion (nb + 1, 6) of bodies at p (nb + 1, 4) as text: v global, omega_bar body frames; divided by `unit`."""
    if unit is None:
        unit = float(np.copysign(largest(motion, length) or 1.0, leading(motion, p, length).real))
    turns = np.einsum("kab,kb->ka", rotation_matrix(p), motion[:, 3:]) / unit
    moves = motion[:, :3] / unit
    size = np.maximum(np.linalg.norm(moves, axis=1), length * np.linalg.norm(turns, axis=1))
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > SHOWN_PART * size.max()]
    texts = [_body(names[k], turns[k], moves[k], SHOWN_PART * size[k], length) for k in order[:SHOWN_BODIES].tolist()]
    more = len(order) - SHOWN_BODIES
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")


def _body(name: str, turn: Array, move: Array, least: float, length: float) -> str:
    """Return the motion of one body as text."""
    parts = [
        f"{verb} {size:.{2 if abs(size) >= SMALL else 4}f} {word} {direction_word(direction)}"
        for verb, word, vector, allowed in (("turns", "about", turn, least / length), ("moves", "along", move, least))
        for size, direction in [signed(vector)]
        if abs(size) > allowed
    ]
    return f"{name!r} {' and '.join(parts)}"


RANK_TOL = 1e-8
"""Singular value, of rows of length 1, below which a direction is free."""

SHOWN = 6
"""Number of joints that a text names."""

SMALL_PART = 0.02
"""A joint with less than this part of a singular vector is left out of a text."""


class RowDecomposition(NamedTuple):
    """The singular value decomposition of the rows at a state.

    sigma: (min(nc, 6 nb),) falling;  left: (nc, .) and right: (6 nb, .) singular vectors, all of them;  length: the unit [m]
    """

    sigma: Array
    left: Array
    right: Array
    length: float

    @property
    def rank(self) -> int:
        """Return the number of independent rows."""
        return int(np.count_nonzero(self.sigma > RANK_TOL * max(1.0, float(self.sigma.max(initial=0.0)))))


def freedom_at(model: Model, state: State) -> RowDecomposition:
    """Return the singular value decomposition of the rows at a state."""
    rows = evaluate(model, state)
    length = characteristic_length(model, rows)
    J = rows.Phi_q.toarray().reshape(model.nc, model.nb, 6)
    J[:, :, 3:] /= length
    J = J.reshape(model.nc, 6 * model.nb)
    norm = np.linalg.norm(J, axis=1, keepdims=True)
    U, sigma, V = np.linalg.svd(J / np.where(norm > 0.0, norm, 1.0))
    return RowDecomposition(sigma, U, V.T, length)


def motion_words(model: Model, state: State, freedom: RowDecomposition, k: int) -> str:
    """Return a description of the motion of right singular vector k, by bodies."""
    u = np.zeros((model.nb + 1, 6))
    u[1:] = freedom.right[:, k].reshape(model.nb, 6)
    u[:, 3:] /= freedom.length
    return motion_text(u, state.p, model.body_names, freedom.length)


def joints_of(model: Model, freedom: RowDecomposition, k: int) -> tuple[str, ...]:
    """Return the joints with rows in left singular vector k, the largest part first."""
    part = {e.name: float(np.sum(freedom.left[e.rows, k] ** 2)) for e in model.joints.values()}
    names = sorted(part, key=lambda name: -part[name])
    return tuple(name for name in names if part[name] > SMALL_PART**2)[:SHOWN]
