r"""Translation driver: the displacement of a joint along its axis is f(t).

    Phi = DP2(h_i, d_ij, f) = h_i . d_ij - f                h_i the axis, d_ij from the joint's point on body i to that on body j

Source: Haug sec. 9.5 (driving constraints); seed 004 (Basic GCon DP2).
"""

from __future__ import annotations

from typing import Any

from haugmbd.constraints import DP2, Joint, Primitive
from haugmbd.constraints.freedoms import F_I, G_I, Side, ball, slide
from haugmbd.drivers import as_driver
from haugmbd.errors import Fault
from joints.base import driven, posed


class TranslationDriver(Joint):
    """Drives the sliding of `joint` (TJ, CJ or PointOnLine): removes 1 degree of freedom beyond the joint's own.

    f: displacement of body j along the joint's axis [m], a number, a function of t, or a driver; 0 at the modelled pose of a joint
    from global geometry, and h_i . d_ij in general.
    """

    freedoms = (slide(F_I), slide(G_I), *ball(Side.J))

    def __init__(self, name: str, joint: Joint, f: Any) -> None:
        self.joint = driven(name, joint)
        super().__init__(name, joint.frame_i, joint.frame_j)
        self.f = as_driver(f)

    def needs(self) -> tuple[Joint, ...]:
        """The joint that is driven."""
        return (self.joint,)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: DP2."""
        return (DP2(self.i, self.frame_i.h, self.frame_i.s_bar, self.j, self.frame_j.s_bar, self.f),)

    def faults(self) -> tuple[Fault, ...]:
        """A joint that cannot slide, or a faulty driver; faults of the joint are its own."""
        if not self.joint.slides_along_h:
            what = f"{self.joint!r} has no axis to slide along"
            return (Fault(f"joint {self.name!r}", what, "Drive the translation of one of TJ, CJ, PointOnLine."),)
        if self.joint.faults() or not (posed(self.i) and posed(self.j)):
            return ()
        return super().faults()
