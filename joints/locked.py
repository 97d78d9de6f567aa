r"""The row that locks the angle of a joint about its axis: the last row of TJ and of Fixed.

    DP1(a_i, a_j, const)        d Phi / d theta = (a_i x a_j) . h,  which must not be zero where the joint is closed

From global geometry a_i = f and a_j = g are perpendicular: const = 0, where the gradient is largest. From body-frame vectors const
is the modelled product, or the given one; where it holds, the projections of the two vectors on the plane normal to the axis must not
be parallel. Whether they are so at the modelled pose does not matter: the pose need not fit.
Source: Haug (2021), spatial kinematics: translational joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import frozen
from haugmbd.constraints import DP1, Primitive
from haugmbd.drivers import Driver, as_driver
from haugmbd.errors import Fault

from .base import Composed, Place, pose_in
from .geometry import PARALLEL_TOL, modelled_product, sine


class Locked(Composed):
    """A joint with the row DP1(a_i, a_j, f).

    The keyword f of `from_vectors` is the product a_i . a_j that is kept; by default the modelled value.
    """

    f: Driver

    def __init__(self, name: str, place: Place) -> None:
        super().__init__(name, place)
        self.f = as_driver(0.0)

    @classmethod
    def _locked(cls, name: str, place: Place, f: Any) -> Self:
        """Return the joint with these frames and vectors, and the product f."""
        joint = cls._at(name, place)
        square = place.vectors.a_bar_j is place.frame_j.g
        joint.f = as_driver(f) if f is not None else as_driver(0.0 if square else modelled_product(place))
        return joint

    def varied(self, **values: Any) -> Self:
        joint = super().varied(**values)
        joint.f = as_driver(0.0) if "axis" in values else self.f
        return joint

    def numbers_here(self, states: Mapping[Body, Any], angle: Any) -> tuple[float, ...]:
        """Return where the modelled place of body j beside body i is on body j as it stands now: d (3,) and R (9,), body frame of j.

        Raise UsageError for a joint with a coordinate, whose zero would be lost.
        """
        if self.freedoms != ():
            return super().numbers_here(states, angle)
        i, j, (r_i, A_i), (r_j, A_j) = self.i, self.j, pose_in(states, self.i), pose_in(states, self.j)
        turn = A_i @ i.A.T
        R = A_j.T @ turn @ j.A
        d = A_j.T @ (r_i + turn @ (j.r - i.r) - r_j)
        return (*d.tolist(), *R.ravel().tolist())

    def held_at(self, numbers: Sequence[float]) -> Self:
        d, R = np.array(numbers[:3]), np.array(numbers[3:]).reshape(3, 3)
        v, frame = self.vectors, self.frame_j
        moved = v._replace(s_bar_j=frozen(R @ v.s_bar_j + d), a_bar_j=frozen(R @ v.a_bar_j), c_bar_j=frozen(R @ v.c_bar_j))
        return changed(self, vectors=moved, frame_j=Frame(self.j, R @ frame.s_bar + d, R @ frame.A_bar))

    def lock(self) -> Primitive:
        """Return the row that locks the angle."""
        return DP1(self.i, self.vectors.a_bar_i, self.j, self.vectors.a_bar_j, self.f)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this joint alone."""
        found = super().faults()
        if found:
            return found
        v = self.vectors
        across_j = sine(v.a_bar_j, v.c_bar_j)
        cosine = float(self.f.values(0.0)[0]) / float(np.linalg.norm(v.a_bar_i) * np.linalg.norm(v.a_bar_j))
        slope = float(np.sqrt(np.maximum(0.0, across_j**2 - cosine**2)))
        if not slope <= PARALLEL_TOL:
            return ()
        what = f"a_bar_i (on {self.i.name!r}) and a_bar_j (on {self.j.name!r}) are parallel as seen along the axis where the row"
        remedy = "Give an a_bar_j at about a right angle to a_bar_i, or leave it out."
        return (Fault(f"joint {self.name!r}", f"{what} a_i . a_j = {self.f.values(0.0)[0]:.6g} holds: it is flat there", remedy),)
