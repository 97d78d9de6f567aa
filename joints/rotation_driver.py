r"""Rotation driver: the angle of a joint with one rotation axis is f(t), through any number of turns.

    Phi = Rotation(f_i, g_i, f_j; f) = sin(theta - f)       theta the angle from f_i to f_j about h: q0 at the modelled pose

The gradient is 1 for every f (see `haugmbd.constraints.Rotation`). A DP1 driver is singular where its cosine is stationary.
Source: Haug (2021), spatial kinematics: driving constraints; the row is derived in `haugmbd/constraints/equations/rotation.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from haugmbd.bodies.body import Body
from haugmbd.bodies.part import changed
from haugmbd.constraints import Coordinate, Joint, Primitive, Rotation
from haugmbd.constraints.freedoms import F_I, G_I, H_I, slide, turn
from haugmbd.drivers import as_driver
from haugmbd.errors import Fault

from .base import coordinate_in, driven, posed


class RotationDriver(Joint):
    """Rotation driver: prescribes the angle of a joint. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the driver in messages and results.
    joint : Joint
        The joint that is driven: RJ, CJ, Planar or Parallel, in the same system.
    f : float, callable, sequence of three callables, or Driver
        Angle theta = f(t) [rad].

    Raises
    ------
    UsageError
        If joint is not a Joint. Other bad values are collected in `faults()`.

    Notes
    -----
    theta is the angle from f_i to f_j, positive about +h_i of the joint's frame by the right-hand rule; theta is the joint's `q0`
    (0 by default) at the modelled pose.
    """

    freedoms = (slide(F_I), slide(G_I), slide(H_I), turn(F_I), turn(G_I))  # where the driven joint keeps h_j along h_i

    def __init__(self, name: str, joint: Joint, f: Any) -> None:
        self.joint = driven(name, joint)
        super().__init__(name, joint.frame_i, joint.frame_j)
        self.f = as_driver(f)

    def needs(self) -> tuple[Joint, ...]:
        """Return the joint that is driven."""
        return (self.joint,)

    def numbers_here(self, states: Mapping[Body, Any], angle: Callable[[Coordinate], float]) -> tuple[float, ...]:
        """Return the coordinate now."""
        return (coordinate_in(states, self.joint.coordinate("angle"), angle),)

    def held_at(self, numbers: Sequence[float]) -> Self:
        return changed(self, f=as_driver(float(numbers[0])))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: Rotation."""
        e, n = self.joint.angle_axes()
        return (Rotation(self.i, e, n, self.j, self.frame_j.f, self.f),)

    def faults(self) -> tuple[Fault, ...]:
        """Return a fault for a joint without one rotation axis, or those of the driver; the joint reports its own faults."""
        where = f"joint {self.name!r}"
        if not self.joint.rotates_about_h:
            what = f"{self.joint!r} has not one rotation axis that could be driven"
            return (Fault(where, what, "Drive the rotation of one of RJ, CJ, Planar, Parallel."),)
        if self.joint.faults() or not (posed(self.i) and posed(self.j)):
            return ()
        return super().faults()
