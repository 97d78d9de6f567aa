r"""Applied impulses: the time integrals of a very large force or torque over a very short time.

    P = (S, A^T (s x S))       S [N s] at the point s = A s_bar of a body, in the global frame, or in the body frame:  S = A S_bar
    P = (0, h_bar)             an angular impulse [N m s]:  h_bar = A^T h

Frames and points as in `forces.point_force` and `forces.torque`.
Source: Haug 2021, sec. 11.2 (generalized force of a force at a point), integrated over the impact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import read_array
from haugmbd.compiled.array_types import Array
from haugmbd.contact.gap import Components, cross, turned
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault
from haugmbd.forces.point_force import read_frame


class AppliedImpulse(ABC):
    """An impulse on a body; the base class of PointImpulse and AngularImpulse.  Its data are frozen."""

    kind: ClassVar[str]
    unit: ClassVar[str]

    def __init__(self, name: str, body: Body, point: Any, impulse: Any, frame: str) -> None:
        self.name = name
        self.frame = Frame(body, (0.0, 0.0, 0.0)) if point is None else Frame.from_global(body, point)
        faults: list[Fault] = []
        if point is not None:
            read_array(faults, self.where, "point", point, (3,), unit="m")
        self.impulse = read_array(faults, self.where, "impulse", impulse, (3,), unit=self.unit)
        self.in_body = read_frame(faults, self.where, frame)
        if body.is_ground:
            faults.append(Fault(self.where, "it acts on the ground, which does not move", "Give the body that is struck."))
        self._faults = tuple(faults)

    @property
    def where(self) -> str:
        """The part as it is named in errors, such as PointImpulse 'blow'."""
        return f"{self.kind} {self.name!r}"

    @property
    def body(self) -> Body:
        """The body that the impulse acts on."""
        return self.frame.body

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this impulse."""
        return self._faults

    @abstractmethod
    def generalized(self, p: Array) -> Array:
        """Return (S, A^T (s x S)) or (0, h_bar), (6,), at the Euler parameters p (4,) of the body."""

    def __repr__(self) -> str:
        return f"{self.kind}({self.name!r}, {self.body.name!r}, impulse={self.impulse.tolist()})"


@public_class
class PointImpulse(AppliedImpulse):
    """An impulse at a point of a body.

    Parameters
    ----------
    name : str
        Name of the impulse in errors and results.
    body : Body
        The body that is struck.
    point : array, shape (3,), optional
        Point of the body at the modelled pose, global frame [m].  By default the centre of mass.
    impulse : array, shape (3,)
        Impulse [N s].
    frame : {"global", "body"}
        Frame in which the impulse is given.

    Notes
    -----
    Invalid values are collected, and raised as one ModelError by `mbd.impulse`.
    Source: Haug 2021, sec. 11.2, integrated over the impact.
    """

    kind = "PointImpulse"
    unit = "N s"

    def __init__(self, name: str, body: Body, *, point: Any = None, impulse: Any, frame: str = "global") -> None:
        super().__init__(name, body, point, impulse, frame)

    def generalized(self, p: Array) -> Array:
        S, S_bar = _both_frames(self.impulse, p, self.in_body)
        return np.array([*S, *cross(self.frame.s_bar.tolist(), S_bar)])


@public_class
class AngularImpulse(AppliedImpulse):
    """A pure angular impulse on a body.

    Parameters
    ----------
    name : str
        Name of the impulse in errors and results.
    body : Body
        The body that is struck.
    impulse : array, shape (3,)
        Angular impulse [N m s].
    frame : {"global", "body"}
        Frame in which the impulse is given.

    Notes
    -----
    Invalid values are collected, and raised as one ModelError by `mbd.impulse`.
    Source: Haug 2021, sec. 11.2, integrated over the impact.
    """

    kind = "AngularImpulse"
    unit = "N m s"

    def __init__(self, name: str, body: Body, *, impulse: Any, frame: str = "global") -> None:
        super().__init__(name, body, None, impulse, frame)

    def generalized(self, p: Array) -> Array:
        return np.array([0.0, 0.0, 0.0, *_both_frames(self.impulse, p, self.in_body)[1]])


def _both_frames(x: Array, p: Array, in_body: bool) -> tuple[Components, Components]:
    """Return a vector in the global frame and in the body frame, which is faster in plain numbers than in NumPy."""
    length = math.hypot(*p)
    e0, e1, e2, e3 = (e / length for e in p.tolist())
    given = x.tolist()
    if in_body:
        return turned((e0, e1, e2, e3), given), given
    return given, turned((e0, -e1, -e2, -e3), given)
