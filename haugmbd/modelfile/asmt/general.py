r"""Motions of all six coordinates between two markers, and forces along the line of two markers.

    GeneralMotion        x_i . d_ij = rIJI1(t), y_i . d_ij = rIJI2(t), z_i . d_ij = rIJI3(t)
                         A_i^T A_j = R_a(angIJJ1) R_b(angIJJ2) R_c(angIJJ3),   a, b, c the axes of RotationOrder;  one angle may move
    InLineForceTorque    tension(rIJ, vrIJ), positive pulls:   c0 + k rIJ + c vrIJ   is a TSDA

Source: the files that OndselSolver reads.
"""

from __future__ import annotations

import re

import numpy as np

from haugmbd.bodies.frame import Frame
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import DP1, DP2, Rotation
from haugmbd.constraints.joint import Single
from haugmbd.drivers import Driver, Expression
from haugmbd.drivers.expression_grammar import parse as parse_formula
from haugmbd.drivers.expression_grammar import variables
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.tsda import TSDA
from haugmbd.math.euler_parameters import exponential, rotation_matrix
from haugmbd.modelfile.asmt.assembly import AsmtGeneralMotion, AsmtLoad, Assembly, at_line
from haugmbd.modelfile.asmt.formulas import expression_of, plain_numbers
from haugmbd.system.system import System

REMEDY = "Give a formula of time, and let at most one of the three angles move."
LENGTH, RATE = re.compile(r"\brIJ\s*\(\s*self\s*\)"), re.compile(r"\bvrIJ\s*\(\s*self\s*\)")
LINEAR = 1e-9
"""Relative departure of a force from its tangent that is rounding: the force is linear."""
SAMPLES = ((1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (3.7, -1.9), (0.2, 5.3))
"""Lengths and rates at which a force is evaluated: three for its coefficients, two for the check that it is linear."""


def add_general_motion(made: Assembly, system: System, motion: AsmtGeneralMotion, ends: tuple[Frame, Frame]) -> None:
    """Add the six driven equations of a motion, or record why they cannot be."""
    where, (i, j) = f"motion {motion.name!r}", ends
    if i.body is j.body:
        made.fault(motion.line, where, f"both its markers are on {i.body.name!r}", "Give markers of parts that move.")
        return
    if sorted(motion.order) != [1, 2, 3]:
        made.fault(motion.line, where, f"RotationOrder is {motion.order}", "Give the numbers 1, 2 and 3 in some order.")
        return
    try:
        position = [_value(formula, made.length) for formula in motion.position]
        angles = [_value(formula, 1.0) for formula in motion.angles]
        parts = [
            Single(f"{motion.name} {axis}", DP2(i.body, a, i.s_bar, j.body, j.s_bar, f))
            for axis, a, f in zip("xyz", (i.f, i.g, i.h), position, strict=True)
        ]
        parts += _turned(motion, ends, angles)
    except UsageError as error:
        made.fault(motion.line, where, str(error).rstrip("."), REMEDY)
        return
    for part in parts:
        for fault in part.faults():
            made.faults.append(Fault(at_line(motion.line, fault.where), fault.what, fault.remedy))
        system.add(part)


def _value(formula: str, factor: float) -> Driver | float:
    """Return a formula: a number where it does not move."""
    found = expression_of(formula, factor)
    return found if variables(parse_formula(found.text)) else float(np.ravel(found.values(0.0))[0])


def _turned(motion: AsmtGeneralMotion, ends: tuple[Frame, Frame], angles: list[Driver | float]) -> list[Single]:
    """Return the three equations of the rotation, about the axis of the one angle that moves, or z.

    A_i R_before R_a(f) R_after = A_j:   frame i is turned by R_before, frame j by R_after back, and the axis a is common to both.
    """
    moving = [k for k, angle in enumerate(angles) if isinstance(angle, Driver)]
    if len(moving) > 1:
        raise UsageError(f"{len(moving)} of its three angles move")
    at = moving[0] if moving else 2
    before, after = np.eye(3), np.eye(3)
    for k, (axis, angle) in enumerate(zip(motion.order, angles, strict=True)):
        if k != at and not isinstance(angle, Driver):
            turn = rotation_matrix(exponential(angle * np.eye(3)[axis - 1]))
            before, after = (before @ turn, after) if k < at else (before, after @ turn)
    (i, j), axis = ends, motion.order[at] - 1
    e, n, h = ((i.A_bar @ before)[:, (axis + k) % 3] for k in (1, 2, 0))
    own: Array = j.A_bar @ after.T
    v, w = own[:, (axis + 1) % 3], own[:, axis]
    del h
    return [
        Single(f"{motion.name} tilt 1", DP1(i.body, e, j.body, w)),
        Single(f"{motion.name} tilt 2", DP1(i.body, n, j.body, w)),
        Single(f"{motion.name} turn", Rotation(i.body, e, n, j.body, v, angles[at])),
    ]


def add_line_force(made: Assembly, system: System, load: AsmtLoad, ends: tuple[Frame, Frame]) -> None:
    """Add a force along the line of two markers as a spring, a damper and a constant, or record why it cannot be."""
    where, (i, j) = f"load {load.name!r}", ends
    if i.body is j.body:
        made.fault(load.line, where, f"both its markers are on {i.body.name!r}", "Give markers of parts that move.")
        return
    try:
        if _force(load.twist) != [0.0] * len(SAMPLES):
            raise UsageError("it has a twist")
        force = _force(load.tension)
    except UsageError as error:
        made.fault(load.line, where, str(error).rstrip("."), "Give a tension that is linear in rIJ(self) and vrIJ(self).")
        return
    k, c = force[1] - force[0], force[2] - force[0]
    constant = force[0] - k
    k, c = k / made.length, c / made.length
    l0 = -constant / k if k > 0.0 and constant <= 0.0 else 0.0
    actuator = 0.0 if l0 or not constant else constant
    part = TSDA(load.name, i.body, j.body, point_i=i.point, point_j=j.point, k=k, c=c, l0=l0, actuator=actuator)
    for fault in part.faults():
        made.faults.append(Fault(at_line(load.line, fault.where), fault.what, fault.remedy))
    system.add(part)


def _force(formula: str) -> list[float]:
    """Return a formula at the samples, in units of the file. Raise UsageError if it is not linear, or moves by itself."""
    text = LENGTH.sub("(L)", RATE.sub("(V)", plain_numbers(formula)))
    unknown = [name for name in variables(parse_formula(text.replace("^", "**"))) if name not in ("L", "V", "pi")]
    if unknown:
        raise UsageError(f"the formula {formula!r:.80} has {unknown[0]!r}")
    found = []
    for length, rate in SAMPLES:
        made = Expression(text.replace("^", "**"), parameters={"L": length, "V": rate})
        for fault in made.faults():
            raise UsageError(fault.what)
        found.append(float(np.ravel(made.values(0.0))[0]))
    k, c = found[1] - found[0], found[2] - found[0]
    for (length, rate), value in zip(SAMPLES[3:], found[3:], strict=True):
        if abs(found[0] + k * (length - 1.0) + c * rate - value) > LINEAR * (1.0 + abs(value)):
            raise UsageError(f"the formula {formula!r:.80} is not linear in length and rate")
    return found
