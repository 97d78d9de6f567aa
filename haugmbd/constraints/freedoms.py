r"""What a joint leaves free: turns and slides of body j against body i, each about or along an axis of one of the joint's frames.

    turn(h_i)    omega = h_i through P_i         slide(h_i)   v = h_i         an axis of side i is fixed on body i, of side j on body j
    ball(j)      omega = f_j, g_j, h_j through P_j

A joint declares its freedoms in order from body i to body j; they span the twists that its rows allow where the rows hold.  A freedom
of side i passes through P_i, of side j through P_j.  `freedoms = (slide(H_I), turn(H_J))` is a cylindrical joint.
Source: seed 001 (motion subspaces S, dual to the rows of Haug sec. 9.4); checked for every joint of the catalogue by T S = 0.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class Kind(Enum):
    """How body j moves: a turn about an axis, a slide along it, or one of the three turns of a ball."""

    TURN = "turn"
    SLIDE = "slide"
    BALL = "ball"


class Axis(IntEnum):
    """An axis of a frame: the column of A_bar."""

    F = 0
    G = 1
    H = 2


class Side(Enum):
    """The body that an axis is fixed in."""

    I = "i"
    J = "j"


class FrameAxis(NamedTuple):
    """An axis of the frame of body i or of body j."""

    axis: Axis
    side: Side


F_I, G_I, H_I = (FrameAxis(axis, Side.I) for axis in Axis)
F_J, G_J, H_J = (FrameAxis(axis, Side.J) for axis in Axis)


class Freedom(NamedTuple):
    """One way in which body j can move against body i."""

    kind: Kind
    axis: Axis
    side: Side


def turn(about: FrameAxis) -> Freedom:
    """Return the turn about an axis through the joint's point on the same body."""
    return Freedom(Kind.TURN, *about)


def slide(along: FrameAxis) -> Freedom:
    """Return the slide along an axis."""
    return Freedom(Kind.SLIDE, *along)


def ball(side: Side) -> tuple[Freedom, Freedom, Freedom]:
    """Return the three turns of a ball about the joint's point on the body of `side`, in its axes."""
    f, g, h = (Freedom(Kind.BALL, axis, side) for axis in Axis)
    return f, g, h


def turns_about_h_only(freedoms: tuple[Freedom, ...] | None) -> bool:
    """Say whether body j turns about h, and about no other axis; False where nothing is declared."""
    turns = [freedom for freedom in freedoms or () if freedom.kind is not Kind.SLIDE]
    return len(turns) == 1 and turns[0].kind is Kind.TURN and turns[0].axis is Axis.H


def slides_along_h_only(freedoms: tuple[Freedom, ...] | None) -> bool:
    """Say whether body j slides along h, and along no other axis; False where nothing is declared."""
    slides = [freedom for freedom in freedoms or () if freedom.kind is Kind.SLIDE]
    return len(slides) == 1 and slides[0].axis is Axis.H
