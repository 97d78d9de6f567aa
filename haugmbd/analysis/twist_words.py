r"""Twists of bodies in words: "turns 1 about y at (0, 0, 0)", "moves 0.31 along x", "turns 1 about x and moves 0.2 along it".

    omega != 0    a screw: turn |omega| about the axis through  c = r + omega x v / omega^2,  move  v . omega / |omega|  along it
    omega == 0    a move |v|

Directions are said by their letter where they are global axes, and have a positive largest component: the number has the sign.
"""

from __future__ import annotations

import numpy as np

from haugmbd.algebra.vec3 import Array

AXIS_TOL = 1e-3
"""[rad] A direction this near to a global axis is called by its letter."""

SHOWN_PART = 1e-6
"""Parts of a twist below this part of the largest one are rounding, and are not said."""


def twist_words(v: Array, omega: Array, r: Array, length: float, size: float = 0.0) -> str:
    """A twist: v (3,) of the point r (3,), omega (3,), global axes; "" where nothing moves.

    length: turns times this compare with moves [m];  size: the largest move that there is in the whole motion
    """
    least = SHOWN_PART * max(size, float(np.linalg.norm(v)), length * float(np.linalg.norm(omega)))
    turn, about = signed(omega)
    if length * abs(turn) <= least:
        move, along = signed(v)
        return f"moves {number(move)} along {direction_word(along)}" if abs(move) > least else ""
    centre = r + np.cross(omega, v) / turn**2
    centre[np.abs(centre) <= SHOWN_PART * (length + np.abs(r).max())] = 0.0
    text = f"turns {number(turn)} about {direction_word(about)} at {point_word(centre)}"
    move = float(v @ about)
    return f"{text} and moves {number(move)} along it" if abs(move) > least else text


def signed(vector: Array) -> tuple[float, Array]:
    """A size and a unit direction whose largest component is positive; (0, 0) of nothing."""
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        return 0.0, vector
    part = np.abs(vector)
    leading = int(np.argmax(part >= (1.0 - AXIS_TOL) * part.max()))  # the first of equals, whatever rounding says
    sign = 1.0 if vector[leading] > 0.0 else -1.0
    return sign * size, sign * vector / size


def direction_word(direction: Array) -> str:
    """x, y, z, or three numbers."""
    for letter, axis in zip("xyz", np.eye(3), strict=True):
        if np.linalg.norm(direction - axis) < AXIS_TOL:
            return letter
    return point_word(direction)


def point_word(point: Array) -> str:
    """Three numbers in brackets."""
    return "(" + ", ".join(number(x) for x in point) + ")"


def number(x: float) -> str:
    """Three digits, without a negative zero."""
    return f"{float(f'{float(x):.3g}') + 0.0:g}"
