r"""Coupling: a linear combination of joint coordinates is f(t). Gears, racks, screws, belts and differentials are couplings.

    Phi = sum_k c_k q_k - f(t)              q_k a coordinate of a joint: its q0 at the modelled pose, positive as the joint's class says

Angles go through any number of turns. The generalized force on q_k is -c_k lam: a coupling transmits power, and does none itself.
Source: Haug (2021), kinematic couplings; the row is derived in `haugmbd/constraints/equations/coupling.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log10
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import changed
from haugmbd.bodies.validation import read_number
from haugmbd.constraints import DP1, Coordinate, CouplingRow, Joint, Primitive
from haugmbd.constraints.coordinate import as_coordinate
from haugmbd.drivers import Driver, as_driver
from haugmbd.errors import Fault, UsageError

from .base import coordinate_in, posed

START_TOL = 1e-9
"""Difference between f(0) and the sum at the modelled pose, relative to the terms, that is rounding of typed numbers."""

MOST_SPREAD = 1e12
"""Largest coefficient relative to the smallest one: beyond it the smaller term has no digits left, and its joint would be locked."""

LARGEST = 1e100
"""Largest coefficient, and inverse of the smallest one: their squares are numbers in double precision."""


class Coupling(Joint):
    """Coupling: prescribes a sum of coordinates of joints. Removes 1 degree of freedom.

    Parameters
    ----------
    name : str
        Name of the coupling in messages and results.
    terms : dict of Joint or Coordinate to float
        The coefficient c_k of each coordinate. A joint of one freedom stands for its coordinate; for a joint of several freedoms give
        `joint.coordinate("angle")` or `joint.coordinate("displacement")`.
    f : float, callable, sequence of three callables, or Driver
        The prescribed sum f(t). At t = 0 it must be the sum at the modelled pose, which is 0 for joints without `q0`.

    Raises
    ------
    UsageError
        If terms is not a dict of joints or coordinates. Other bad values are collected in `faults()`.

    Notes
    -----
    sum c_k q_k = f(t). q_k is `q0` of its joint at the modelled pose (0 by default), positive as the joint's class says, and unwound
    through any number of turns. The generalized force on q_k is -c_k lam.

    Its reactions act along these coordinates, between the bodies of each joint. A coupling of the angle of a nut on the ground and the
    displacement of a spindle on the ground puts no thrust on the bearing of the nut: the ground carries it at the spindle. With a CJ
    between nut and spindle, and a `Screw`, the bearing carries the thrust.
    """

    reads_geometry = False
    """Whether the constructor reads points and axes of the joints, for a sign or for the place of the teeth."""

    def __init__(self, name: str, terms: Mapping[Joint | Coordinate, float], f: Any = 0.0) -> None:
        where = f"joint {name!r}"
        self._faults: list[Fault] = []
        self.terms = read_terms(self._faults, where, terms)
        self.f: Driver = as_driver(f)
        given = [part if isinstance(part, Joint) else part.joint for part in terms]
        self.given: dict[str, Any] = {"terms": dict(terms)}
        self.coupled: tuple[Joint, ...] = tuple(dict.fromkeys(given))
        super().__init__(name, moving_frame(self.coupled[0]), moving_frame(self.coupled[-1]))

    def remade(self) -> Coupling:
        """Return the coupling that the constructor makes of the joints as they are now; itself, if it does not read their geometry."""
        if not self.reads_geometry:
            return self
        return type(self)(self.name, **{key: value for key, value in self.given.items() if value is not None})

    def needs(self) -> tuple[Joint, ...]:
        """Return the joints that are coupled."""
        return self.coupled

    def places(self) -> tuple[Frame, ...]:
        """Return a frame of the joints on every body that the coupling touches."""
        found: dict[Body, Frame] = {self.i: self.frame_i, self.j: self.frame_j}
        for joint in self.coupled:
            for frame in (joint.frame_j, joint.frame_i):
                found.setdefault(frame.body, frame)
        return tuple(found.values())

    def numbers_here(self, states: Mapping[Body, Any], angle: Callable[[Coordinate], float]) -> tuple[float, ...]:
        """Return the sum of the coordinates now."""
        return (sum(c * coordinate_in(states, q, angle) for q, c in self.terms),)

    def held_at(self, numbers: Sequence[float]) -> Self:
        return changed(self, f=as_driver(float(numbers[0])))

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the row: Coupling. A coupling without a valid term has a row that is never evaluated, because it has a fault."""
        return (CouplingRow(self.terms, self.f),) if self.terms else self.row_of_faulty()

    def row_of_faulty(self) -> tuple[Primitive, ...]:
        """Return a row in place of that of a coupling that has a fault; it is never evaluated."""
        joint = self.coupled[0]
        return (DP1(joint.i, joint.frame_i.f, joint.j, joint.frame_j.g),)

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the coupling; the joints report their own faults."""
        if self._faults:
            return tuple(self._faults)
        if any(joint.faults() or not (posed(joint.i) and posed(joint.j)) for joint in self.coupled):
            return ()
        where = f"joint {self.name!r}"
        found = tuple(Fault(where, fault.what, fault.remedy) for fault in self.f.faults())
        return found or size_faults(where, self.terms) or (() if self.f.reads_state else self._start_faults(where))

    def _start_faults(self, where: str) -> tuple[Fault, ...]:
        """Return a fault if f(0) is not the sum at the modelled pose."""
        parts = [c * q.q0 for q, c in self.terms]
        total, f0 = sum(parts), float(np.ravel(self.f.values(0.0))[0])
        gap = abs(total - f0)
        if gap <= START_TOL * max([abs(f0), *map(abs, parts)]):
            return ()
        unit = CouplingRow(self.terms).unit
        what = (
            f"f(0) = {f0:.9g} {unit}, but the coordinates add up to {total:.9g} {unit} at the modelled pose: {gap:.6g} {unit} apart"
        )
        return (Fault(where, what, "Let f start at this sum (0 unless joints have a q0), or give the joints another q0."),)


def read_terms(faults: list[Fault], where: str, terms: Any) -> tuple[tuple[Coordinate, float], ...]:
    """Return coordinates and coefficients; faults for joints without such a coordinate, and for coefficients that are not numbers or zero.

    Raise UsageError if terms is not a dict of joints or coordinates.
    """
    if not isinstance(terms, Mapping) or not terms or not all(isinstance(part, Joint | Coordinate) for part in terms):
        raise UsageError(f"{where} couples joints, got {terms!r:.200}. Give a dict, such as {{joint_a: 1.0, joint_b: 2.0}}.")
    found: dict[tuple[int, str, int], tuple[Coordinate, float]] = {}
    for part, value in terms.items():
        coordinate = as_coordinate(faults, where, part)
        label = coordinate.label if coordinate is not None else part.name
        c = read_number(faults, where, f"the coefficient of {label}", value)
        if c == 0.0:
            faults.append(Fault(where, f"the coefficient of {label} is zero", "Leave out a coordinate that does not take part."))
        if coordinate is None:
            continue
        if coordinate.key in found:
            faults.append(Fault(where, f"{label} is given twice", "Give each coordinate once, with the sum of the coefficients."))
        found[coordinate.key] = (coordinate, c)
    return tuple(found.values())


def size_faults(where: str, terms: Sequence[tuple[Coordinate, float]]) -> tuple[Fault, ...]:
    """Return a fault if the coefficients are too different, or too large or too small, for double precision."""
    small, large = (of(terms, key=lambda term: abs(term[1])) for of in (min, max))
    if abs(large[1]) > MOST_SPREAD * abs(small[1]):
        what = (
            f"the coefficient of {large[0].label} is {large[1]:.6g}, that of {small[0].label} {small[1]:.6g}: they differ by a factor "
            f"of {spread(small[1], large[1])}, more than {MOST_SPREAD:g}, and the smaller term would be lost in rounding"
        )
        return (Fault(where, what, "Check the ratio, radius or pitch, and its unit."),)
    if abs(large[1]) > LARGEST or abs(small[1]) * LARGEST < 1.0:
        what = f"the coefficients are {small[1]:.6g} ... {large[1]:.6g}, and not within {1.0 / LARGEST:g} ... {LARGEST:g}"
        return (Fault(where, what, "Divide all of them by a common factor."),)
    return ()


def spread(small: float, large: float) -> str:
    """Return the power of ten by which two numbers differ, also where their quotient is too large for a number."""
    return f"1e{round(log10(abs(large)) - log10(abs(small)))}"


def moving_frame(joint: Joint) -> Frame:
    """Return the frame on body j, or on body i where body j is the ground."""
    return joint.frame_i if joint.j.is_ground else joint.frame_j
