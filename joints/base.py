r"""The base class of the joints of the catalogue: two frames, and the body-fixed vectors of the rows.

    Phi^joint = ( Phi^1, Phi^2, ... ) of  ( s_bar_i, a_bar_i, b_bar_i;  s_bar_j, a_bar_j, c_bar_j )

The rows use the vectors as they were given, of any length. The frames are orthonormal, and h is the joint's axis.
A new joint is one file like `revolute.py` and one line in `joints/__init__.py`; the contract tests find it there.
Source: Haug (2021), spatial kinematics: joint definition frames and joints composed of basic constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import FloatArray, frozen
from haugmbd.constraints import Coordinate, Joint
from haugmbd.errors import Fault, UsageError
from haugmbd.math.body_columns import EULER, POSITION, VELOCITY
from haugmbd.math.euler_parameters import rotation_matrix


class Vectors(NamedTuple):
    """Body-frame vectors, (3,) each: point s [m] and directions a, b on body i; point s [m] and directions a, c on body j."""

    s_bar_i: FloatArray
    a_bar_i: FloatArray
    b_bar_i: FloatArray
    s_bar_j: FloatArray
    a_bar_j: FloatArray
    c_bar_j: FloatArray


class Place(NamedTuple):
    """The frames and vectors of a joint, and the faults of the values that the user gave."""

    frame_i: Frame
    frame_j: Frame
    vectors: Vectors
    faults: tuple[Fault, ...]


class Composed(Joint):
    """A joint of the catalogue, given by its frames and vectors."""

    n_vectors = len(Vectors._fields)
    vectors: Vectors

    def __init__(self, name: str, place: Place) -> None:
        super().__init__(name, place.frame_i, place.frame_j)
        self.vectors = place.vectors
        self._faults = place.faults

    @classmethod
    def _at(cls, name: str, place: Place) -> Self:
        """Return the joint with these frames and vectors, without calling the constructor."""
        joint = cls.__new__(cls)
        Composed.__init__(joint, name, place)
        return joint

    @classmethod
    def of_vectors(cls, i: Body, j: Body, vectors: Sequence[FloatArray]) -> Self:
        """Return the joint with these vectors, without a name, and with frames at the centres of mass."""
        return cls._at("", Place(_plain_frame(i), _plain_frame(j), Vectors(*vectors), ()))

    def varied(self, **values: Any) -> Self:
        """Return the joint that the constructor makes at another global point [m], or along another global axis."""
        i, j = (_varied_frame(frame, **values) for frame in (self.frame_i, self.frame_j))
        usual = Vectors(i.s_bar, i.f, i.g, j.s_bar, j.g, j.h)
        vectors = usual if "axis" in values else self.vectors._replace(s_bar_i=i.s_bar, s_bar_j=j.s_bar)
        joint = self._at(self.name, Place(i, j, vectors, (*i.faults(), *j.faults())))
        joint.q0 = self.q0
        return joint

    def faults_of_values(self) -> tuple[Fault, ...] | None:
        """Return the faults of the given values, which hide the faults that follow from them, and so does a faulty pose."""
        i, j = self.frame_i, self.frame_j
        if self._faults or not (posed(i.body) and posed(j.body)):
            return self._faults
        return super().faults_of_values() if i.faults() or j.faults() else None


POINT, AXIS = {"point": ((3,),)}, {"axis": ((3,),)}
"""The attributes of a joint made by `along_axis` that can be varied, see `Joint.variable`."""


def _varied_frame(frame: Frame, point: Any = None, axis: Any = None) -> Frame:
    """Return the frame at a global point, with h along a global axis; what is not given stays as it is."""
    made = Frame.from_global(frame.body, np.zeros(3) if point is None else point, (0.0, 0.0, 1.0) if axis is None else axis)
    kept = frame.s_bar if point is None else made.s_bar, frame.A_bar if axis is None else made.A_bar
    varied = Frame.__new__(Frame)
    varied.__setstate__((frame.body, *kept, made.faults()))
    return varied


def _plain_frame(body: Body) -> Frame:
    """Return the frame of the body itself."""
    frame = Frame.__new__(Frame)
    frame.__setstate__((body, ORIGIN, UNIT_AXES, ()))
    return frame


ORIGIN, UNIT_AXES = frozen(np.zeros(3)), frozen(np.eye(3))


def posed(body: Body) -> bool:
    """Return whether the modelled pose is finite; a body reports a pose that is not."""
    return not body.faults() or bool(np.isfinite(body.r).all() and np.isfinite(body.A).all())


def pose_in(states: Mapping[Body, FloatArray], body: Body) -> tuple[FloatArray, FloatArray]:
    """Return r (3,) and A (3, 3) of a body in states (13,)."""
    own = states[body]
    return own[POSITION:EULER], rotation_matrix(own[EULER:VELOCITY])


def coordinate_in(states: Mapping[Body, FloatArray], q: Coordinate, angle: Callable[[Coordinate], float]) -> float:
    """Return a coordinate at states (13,) of the bodies [rad or m];  angle: the value of an angle, with its turns"""
    if q.turns:
        return angle(q)
    (a, h), (b, y), (c, z) = q.markers()
    (_, A_a), (r_b, A_b), (r_c, A_c) = pose_in(states, a), pose_in(states, b), pose_in(states, c)
    return float((A_a @ h) @ (r_c + A_c @ z - r_b - A_b @ y)) - q.modelled() + q.q0


def driven(name: str, joint: Joint) -> Joint:
    """Return the joint that is driven. Raise UsageError if it is not a Joint, such as a name."""
    if isinstance(joint, Coordinate):
        raise UsageError(
            f"joint {name!r} drives a joint, got the coordinate {joint!r}. Give the joint itself, where it has one such freedom; "
            f"Coupling({name!r}, {{coordinate: 1}}, f) drives one coordinate of several."
        )
    if not isinstance(joint, Joint):
        what = f"joint {name!r} drives a joint, got {joint!r}"
        raise UsageError(f"{what}. Give the object that system.add(RJ(...)) returned.")
    return joint
