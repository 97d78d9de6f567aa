r"""Freedoms of a joint: rotations and translations of body j relative to body i, about or along an axis of one of the joint's frames.

    turn(h_i)    omega = h_i through P_i         slide(h_i)   v = h_i         an axis of side i is fixed on body i, of side j on body j
    ball(j)      omega = f_j, g_j, h_j through P_j

A joint declares its freedoms in order from body i to body j. They span the twists that its rows allow when the rows hold. The axis
of a freedom of side i passes through P_i, of side j through P_j. `freedoms = (slide(H_I), turn(H_J))` is a cylindrical joint.
Source: Featherstone (2008), ch. 4: motion subspaces S; every joint of the catalogue is tested by T S = 0.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class Kind(Enum):
    """A relative motion of body j: rotation about an axis, translation along it, or one of the three rotations of a spherical joint."""

    TURN = "turn"
    SLIDE = "slide"
    BALL = "ball"


class Axis(IntEnum):
    """An axis of a frame: the column of A_bar."""

    F = 0
    G = 1
    H = 2


class Side(Enum):
    """The body that an axis is fixed on."""

    I = "i"
    J = "j"


class FrameAxis(NamedTuple):
    """An axis of the frame of body i or of body j."""

    axis: Axis
    side: Side


F_I, G_I, H_I = (FrameAxis(axis, Side.I) for axis in Axis)
F_J, G_J, H_J = (FrameAxis(axis, Side.J) for axis in Axis)


class Freedom(NamedTuple):
    """One relative motion of body j with respect to body i."""

    kind: Kind
    axis: Axis
    side: Side


def turn(about: FrameAxis) -> Freedom:
    """Return the rotation about an axis through the joint's point on the same body."""
    return Freedom(Kind.TURN, *about)


def slide(along: FrameAxis) -> Freedom:
    """Return the translation along an axis."""
    return Freedom(Kind.SLIDE, *along)


def ball(side: Side) -> tuple[Freedom, Freedom, Freedom]:
    """Return the three rotations about the joint's point on the body of `side`, about its axes."""
    f, g, h = (Freedom(Kind.BALL, axis, side) for axis in Axis)
    return f, g, h


def turns_about_h_only(freedoms: tuple[Freedom, ...] | None) -> bool:
    """Return whether body j turns about h and about no other axis; False if nothing is declared."""
    turns = [freedom for freedom in freedoms or () if freedom.kind is not Kind.SLIDE]
    return len(turns) == 1 and turns[0].kind is Kind.TURN and turns[0].axis is Axis.H


def slides_along_h_only(freedoms: tuple[Freedom, ...] | None) -> bool:
    """Return whether body j slides along h and along no other axis; False if nothing is declared."""
    slides = [freedom for freedom in freedoms or () if freedom.kind is Kind.SLIDE]
    return len(slides) == 1 and slides[0].axis is Axis.H
