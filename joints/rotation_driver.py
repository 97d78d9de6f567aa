r"""Rotation driver: the angle of a joint with one rotation axis is f(t), through any number of turns.

    Phi = Rotation(f_i, g_i, f_j; f) = sin(theta - f)       theta the angle from f_i to f_j about h: 0 at the modelled pose

The gradient is 1 for every f (see `haugmbd.constraints.Rotation`); a bare DP1 driver is singular where its cosine is flat.
Source: Haug sec. 9.5 (driving constraints); the row is derived in `haugmbd/constraints/rotation.py`.
"""

from __future__ import annotations

from typing import Any

from haugmbd.constraints import Joint, Primitive, Rotation
from haugmbd.constraints.freedoms import F_I, G_I, H_I, slide, turn
from haugmbd.drivers import as_driver
from haugmbd.errors import Fault
from joints.base import driven, posed


class RotationDriver(Joint):
    """Drives the rotation of `joint` (RJ, CJ, Planar or Parallel): removes 1 degree of freedom beyond the joint's own.

    f: angle of body j relative to body i [rad], a number, a function of t, or a driver; counted about h of the joint's frames, 0 at
    the modelled pose.
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(F_I), turn(G_I))  # where the driven joint keeps h_j along h_i

    def __init__(self, name: str, joint: Joint, f: Any) -> None:
        self.joint = driven(name, joint)
        super().__init__(name, joint.frame_i, joint.frame_j)
        self.f = as_driver(f)

    def needs(self) -> tuple[Joint, ...]:
        """The joint that is driven."""
        return (self.joint,)

    def primitives(self) -> tuple[Primitive, ...]:
        """The rows: Rotation."""
        i, j = self.frame_i, self.frame_j
        return (Rotation(self.i, i.f, i.g, self.j, j.f, self.f),)

    def faults(self) -> tuple[Fault, ...]:
        """A joint that cannot turn, or a faulty driver; faults of the joint are its own."""
        where = f"joint {self.name!r}"
        if not self.joint.rotates_about_h:
            what = f"{self.joint!r} has not one rotation axis that could be driven"
            return (Fault(where, what, "Drive the rotation of one of RJ, CJ, Planar, Parallel."),)
        if self.joint.faults() or not (posed(self.i) and posed(self.j)):
            return ()
        return super().faults()
