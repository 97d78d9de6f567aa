r"""Belt: two pulleys turn with the same speed of the belt, from the modelled pose on.

    Phi = r_b (q_b - q_b0) - s r_a (q_a - q_a0)              s = 1, -1 for a crossed belt; the other sign for antiparallel axes

The belt neither stretches nor slips, and its span is constant: both pulleys turn on one carrier.
Source: Haug (2021), kinematic couplings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.validation import read_array, read_flag
from haugmbd.constraints import Coordinate, Joint
from haugmbd.errors import Fault, UsageError

from .base import posed
from .coupling import Coupling
from .gear import PARALLEL_TOL, angle_of, axis_point, share_a_carrier, wheel_axis

TOUCHING = 1e-9
"""Relative to r_a + r_b, or |r_a - r_b|: pulleys that overlap by less touch, up to the rounding of given positions."""


class Belt(Coupling):
    """Belt or chain: two pulleys with the same circumferential speed. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name in messages and results.
    joint_a, joint_b : Joint or Coordinate
        The joints of the pulleys, with parallel axes, on a common carrier (or the ground).
    radii : tuple of two float
        Radii (r_a, r_b) of the pulleys [m].
    crossed : bool
        Whether the belt is crossed, so that the pulleys turn against each other.

    Raises
    ------
    UsageError
        If a joint is neither a Joint nor a Coordinate. Other bad values are collected in `faults()`.

    Notes
    -----
    r_b (q_b - q_b0) = r_a (q_a - q_a0), or its negative for a crossed belt, through any number of turns. Antiparallel axes, and joints
    whose body i is the pulley, change the sign. The axes must be at least r_a + r_b apart for a crossed belt, |r_a - r_b| for an open one.
    It does not slip: a belt of a largest force goes round a rim without mass that rubs on its pulley, see the page on couplings.
    """

    reads_geometry = True

    def __init__(
        self, name: str, joint_a: Joint | Coordinate, joint_b: Joint | Coordinate, *, radii: Any, crossed: bool = False
    ) -> None:
        where, faults = f"joint {name!r}", list[Fault]()
        a, b = angle_of(faults, where, joint_a), angle_of(faults, where, joint_b)
        self.radii = read_array(faults, where, "radii", radii, (2,), unit="m")
        self.crossed = read_flag(faults, where, "crossed", crossed)
        if not faults and not (self.radii > 0.0).all():
            faults.append(Fault(where, f"radii = {self.radii.tolist()} must be positive", "Give (r_a, r_b) [m]."))
        if a is not None and b is not None and a.key == b.key:
            raise UsageError(f"{where} needs two joints, got {a.label} twice.")
        sign = self._sign(faults, where, a, b) if a is not None and b is not None else 1.0
        if not faults and a is not None and b is not None:
            self._check_distance(faults, where, a, b)
        c_a, c_b = (-sign * self.radii[0], self.radii[1]) if not faults else (-1.0, 1.0)
        start = c_a * a.q0 + c_b * b.q0 if a is not None and b is not None and np.isfinite([c_a, c_b]).all() else 0.0
        super().__init__(name, {a or joint_a: c_a, b or joint_b: c_b}, start)
        self.given = {"joint_a": joint_a, "joint_b": joint_b, "radii": radii, "crossed": self.crossed or None}
        self._faults = faults  # of the arguments, not of the terms made from them

    def _sign(self, faults: list[Fault], where: str, a: Coordinate, b: Coordinate) -> float:
        """Return the sign of q_b / q_a."""
        if not all(posed(body) for q in (a, b) for body in (q.joint.i, q.joint.j)):
            return 1.0
        if not share_a_carrier(faults, where, a, b, "a Coupling with the coefficients of your belt"):
            return 1.0
        h_a, h_b = wheel_axis(a, b), wheel_axis(b, a)
        if not np.linalg.norm(np.cross(h_a, h_b)) <= PARALLEL_TOL:
            faults.append(
                Fault(where, "the axes of the pulleys are not parallel", "Use Coupling with the coefficients of your belt.")
            )
        return float(np.sign(h_a @ h_b) or 1.0) * (-1.0 if self.crossed else 1.0)

    def _check_distance(self, faults: list[Fault], where: str, a: Coordinate, b: Coordinate) -> None:
        """Add a fault if the pulleys are nearer than a belt can go round both: r_a + r_b if it is crossed, |r_a - r_b| if it is open."""
        if not all(posed(body) for q in (a, b) for body in (q.joint.i, q.joint.j)):
            return
        apart = float(np.linalg.norm(np.cross(axis_point(b) - axis_point(a), wheel_axis(a, b))))
        r_a, r_b = self.radii.tolist()
        least, words = (r_a + r_b, "r_a + r_b") if self.crossed else (abs(r_a - r_b), "|r_a - r_b|")
        if apart < least * (1.0 - TOUCHING):
            kind = "a crossed belt cannot go round pulleys that overlap" if self.crossed else "no open belt goes round both"
            what = f"the axes are {apart:.6g} m apart, less than {words} = {least:.6g} m: {kind}"
            faults.append(
                Fault(where, what, "Check the radii [m] and the axes, or use Coupling with the coefficients of your belt.")
            )
