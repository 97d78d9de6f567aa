r"""Translation driver: the displacement of a joint along its axis is f(t).

    Phi = DP2(h_i, d_ij, f) = h_i . d_ij - f                h_i the axis, d_ij from the joint's point on body i to that on body j

Source: Haug (2021), spatial kinematics: driving constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.bodies.part import changed
from haugmbd.constraints import DP2, Coordinate, Joint, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, Side, ball, slide
from haugmbd.drivers import as_driver
from haugmbd.errors import Fault

from .base import coordinate_in, driven, posed


class TranslationDriver(Joint):
    """Translation driver: prescribes the displacement of a joint. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the driver in messages and results.
    joint : Joint
        The joint that is driven: TJ, CJ or PointOnLine, in the same system.
    f : float, callable, sequence of three callables, or Driver
        Displacement s = f(t) [m].

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`.

    Notes
    -----
    s = h_i . d_ij is the displacement of body j relative to body i, positive along +h_i of the joint's frame; s is the joint's `q0`
    (0 by default) at the modelled pose if the joint is made from global geometry.
    """

    freedoms = (slide(F_I), slide(G_I), *ball(Side.J))

    def __init__(self, name: str, joint: Joint, f: Any) -> None:
        self.joint = driven(name, joint)
        super().__init__(name, joint.frame_i, joint.frame_j)
        self.f = as_driver(f)

    def needs(self) -> tuple[Joint, ...]:
        """Return the joint that is driven."""
        return (self.joint,)

    def numbers_here(self, states: Mapping[Body, Any], angle: Callable[[Coordinate], float]) -> tuple[float, ...]:
        """Return the coordinate now."""
        return (coordinate_in(states, self.joint.coordinate("displacement"), angle),)

    def held_at(self, numbers: Sequence[float]) -> Self:
        return changed(self, f=as_driver(float(numbers[0])))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: DP2."""
        start = self.frame_i.s_bar if self.joint.q0 == 0.0 else self.frame_i.s_bar - self.joint.q0 * self.frame_i.h
        return (DP2(self.i, self.frame_i.h, start, self.j, self.frame_j.s_bar, self.f),)

    def faults(self) -> tuple[Fault, ...]:
        """Return a fault for a joint without a sliding axis, or those of the driver; the joint reports its own faults."""
        if not self.joint.slides_along_h:
            what = f"{self.joint!r} has no axis to slide along"
            return (Fault(f"joint {self.name!r}", what, "Drive the translation of one of TJ, CJ, PointOnLine."),)
        if self.joint.faults() or not (posed(self.i) and posed(self.j)):
            return ()
        return super().faults()
