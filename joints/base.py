r"""What every joint of the catalogue is: two frames, and the body-fixed vectors that its rows are made of.

    Phi^joint = ( Phi^1, Phi^2, ... ) of  ( s_bar_i, a_bar_i, b_bar_i;  s_bar_j, a_bar_j, c_bar_j )

Rows use the vectors as they were given, of any length; frames are orthonormal, and h is the joint's axis.
A new joint is one file like `revolute.py` and one line in `joints/__init__.py`; the contract tests find it there.
Source: Haug sec. 9.4; seed 004 (High Level GCons, and the table that composes them).
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import FloatArray
from haugmbd.constraints import Joint
from haugmbd.errors import Fault, UsageError


class Vectors(NamedTuple):
    """Body-frame vectors, (3,) each: point s [m] and directions a, b on body i; point s [m] and directions a, c on body j."""

    s_bar_i: FloatArray
    a_bar_i: FloatArray
    b_bar_i: FloatArray
    s_bar_j: FloatArray
    a_bar_j: FloatArray
    c_bar_j: FloatArray


class Place(NamedTuple):
    """Where a joint sits: its frames, its vectors, and what was wrong with what the user gave."""

    frame_i: Frame
    frame_j: Frame
    vectors: Vectors
    faults: tuple[Fault, ...]


class Composed(Joint):
    """A joint at a place."""

    def __init__(self, name: str, place: Place) -> None:
        super().__init__(name, place.frame_i, place.frame_j)
        self.vectors = place.vectors
        self._faults = place.faults

    @classmethod
    def _at(cls, name: str, place: Place) -> Self:
        """The joint at a place, made without the constructor from global geometry."""
        joint = cls.__new__(cls)
        Composed.__init__(joint, name, place)
        return joint

    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this joint alone; what was given hides what follows from it, and so does a faulty pose."""
        if self._faults or not (posed(self.i) and posed(self.j)):
            return self._faults
        return super().faults()


def posed(body: Body) -> bool:
    """Say whether the modelled pose is finite (if not, the body says so itself)."""
    return bool(np.isfinite(body.r).all() and np.isfinite(body.A).all())


def driven(name: str, joint: Joint) -> Joint:
    """The joint that a driver is made for; a UsageError where it is none, such as its name."""
    if not isinstance(joint, Joint):
        what = f"joint {name!r} drives a joint, got {joint!r}"
        raise UsageError(f"{what}. Give the object that system.add(RJ(...)) returned.")
    return joint
