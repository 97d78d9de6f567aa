r"""Exercises of labs 2, 6, 7 and 8: equations, formulations, redundancy, serial chains.

DP1        PiBar_i = A_i^T (a_i x a_j)      PiBar_j = -A_j^T (a_i x a_j)
D          Phi = d . d - f^2                gamma = -2 d' . d'   for constant f and w = 0
two rods   M(q2) = [[5/3 + cos q2, 1/3 + cos(q2)/2], [., 1/3]]  m L^2       gravity, level:  (2, 1/2) m g L
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.formulations.base import Formulation
from haugmbd.gallery import four_bar
from haugmbd.joints import RJ
from haugmbd.labs.answers import Exercise, G, Judge, array, number, short
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.system.system import System
from haugmbd.verification.verify import verify

DIGITS = 1e-3
"""Of numbers by hand, which may be rounded to three decimals."""

ZERO = 1e-12
"""Rows that do not see a motion: rounding of numbers of size one."""


def PiBar_of_lab2() -> Array:
    """Return PiBar (2, 3) of DP1 between x of the ground and y of a body that is turned by 30 degrees about z."""
    c, s = np.cos(np.pi / 6.0), np.sin(np.pi / 6.0)
    A = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    a_i, a_j = np.array([1.0, 0.0, 0.0]), A @ np.array([0.0, 1.0, 0.0])
    return np.stack([np.cross(a_i, a_j), -A.T @ np.cross(a_i, a_j)])


def judge_slider(given: Any) -> str:
    """Judge a class of translational joints, by what its rows allow."""
    if not (isinstance(given, type) and issubclass(given, Joint)):
        return f"give the class, a subclass of mbd.Joint, not {short(given)}"
    axis = np.array([0.6, 0.0, 0.8])
    system = System("slider")
    body = system.add(Body("body", 1.0, (0.1, 0.2, 0.25), r=(0.3, 0.1, 0.2)))
    build: Callable[..., Joint] = given
    joint = system.add(build("slide", system.ground, body, point=(0.1, 0.2, 0.3), axis=tuple(axis)))
    if joint.rows != 5:
        return f"it has {joint.rows} rows, and one freedom is left by five"
    report = verify(joint)
    if not report.ok:
        return f"mbd.verify finds {', '.join(report.wrong)} wrong: print(mbd.verify(joint))"
    Phi_q = evaluate(system.compile()).Phi_q.toarray()
    if np.linalg.matrix_rank(Phi_q) < 5:
        return f"its rows have rank {np.linalg.matrix_rank(Phi_q)} in place of 5: they are dependent"
    if np.abs(Phi_q @ np.concatenate([axis, np.zeros(3)])).max() > ZERO:
        return "its rows resist a translation along the axis, which is to be free"
    return ""


def judge_sizes(given: Any) -> str:
    """Judge the sizes of the linear systems that four formulations solve for the four-bar."""
    nb, nc = 3, four_bar().compile().nc
    right = {"NewtonEuler": 6 * nb + nc, "EulerParameters": 8 * nb + nc, "RangeSpace": nc, "NullSpace": 6 * nb - nc}
    if not isinstance(given, dict) or set(given) != set(right):
        return f"give a dict with the names {', '.join(right)}"
    wrong = [name for name, size in right.items() if given[name] != size]
    return (
        "" if not wrong else f"not right: {', '.join(wrong)}. Count unknowns: accelerations, multipliers, or what is left of them"
    )


def judge_formulation(given: Any) -> str:
    """Judge a formulation by `verify`."""
    if not isinstance(given, Formulation):
        return f"give an object of your class, such as Mine(), not {short(given)}"
    if not type(given).__module__.startswith("haugmbd."):
        report = verify(given)
        return "" if report.ok else f"mbd.verify finds {', '.join(report.wrong)} wrong"
    return "it is a formulation of the library: write one of your own"


def hinged_door(hinges: int) -> System:
    """Return a door on hinges along one axis."""
    system = System("door", gravity=(0.0, 0.0, -G))
    door = system.add(Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0.0, 0.0)))
    for k, z in enumerate(np.linspace(-0.8, 0.8, hinges)):
        system.add(RJ(f"hinge {k}", system.ground, door, point=(0.0, 0.0, z), axis=(0.0, 0.0, 1.0)))
    return system


def counts_of_three_hinges() -> Array:
    """Return rows, rank and degrees of freedom of a door on three hinges."""
    found = mobility(hinged_door(3))
    return np.array([found.rows, found.rank, found.degrees_of_freedom], dtype=np.float64)


def judge_unique(given: Any) -> str:
    """Judge which components of the reaction at B of the four-bar on four hinges are unique."""
    right = {"fx": True, "fy": False, "fz": True, "mx": False, "mz": False}
    if not isinstance(given, dict) or set(given) != set(right) or not all(isinstance(x, bool) for x in given.values()):
        return "give a dict {'fx': ..., 'fy': ..., 'fz': ..., 'mx': ..., 'mz': ...} of True and False"
    wrong = [name for name, unique in right.items() if given[name] is not unique]
    return "" if not wrong else f"not right: {', '.join(wrong)}. Compare with result.reaction('B').unique"


def judge_design(given: Any) -> str:
    """Judge a door that turns about z and has no dependent rows."""
    if not isinstance(given, System):
        return f"give a System, not {short(given)}"
    found = mobility(given)
    if found.faults:
        return str(found.faults[0])
    if len(given.bodies) != 2 or found.degrees_of_freedom != 1:
        return f"a door has one freedom, and this system has {found.degrees_of_freedom}"
    if found.dependent:
        names = sorted({name for one in found.dependent for name in one.joints})
        return f"rows still depend on others: {', '.join(names)}"
    turn = np.array(
        [0.0, 0.45, 0.0, 0.0, 0.0, 1.0]
    )  # of the centre of mass, 0.45 m from the axis, in a frame along the global axes
    if np.abs(evaluate(given.compile()).Phi_q.toarray() @ turn).max() > ZERO:
        return "it has one freedom, but does not turn about z through the hinges of the text"
    return ""


def mass_of_two_rods(q2: float) -> Array:
    """Return M of two rods of 1 kg and 1 m in relative angles."""
    c = np.cos(q2)
    return np.array([[5.0 / 3.0 + c, 1.0 / 3.0 + c / 2.0], [1.0 / 3.0 + c / 2.0, 1.0 / 3.0]])


def base_force() -> float:
    """Return the force [N] in the first pin of two level rods right after their release."""
    first, second = np.linalg.solve(mass_of_two_rods(0.0), [-2.0 * G, -0.5 * G])
    accelerations = first / 2.0, first + (first + second) / 2.0
    return float(sum(accelerations) + 2.0 * G)


def sized(expected: Callable[[], Array], hint: str) -> Judge:
    """Return the judge of an array that is known in closed form."""
    return array(expected, DIGITS, hint)


LAB2 = {
    "PiBar": Exercise(
        "PiBar of the DP1 row of the text, for body i and body j, (2, 3)",
        sized(PiBar_of_lab2, "PiBar_j = -A_j^T (a_i x a_j): the vector product is global, PiBar is in body frames."),
    ),
    "joint": Exercise("a class of translational joints, made of your own rows", judge_slider),
    "gamma": Exercise(
        "gamma of the distance row of the text [m2/s2]",
        number(lambda: -8.0, 1e-9, "Differentiate d . d - f^2 twice; what does not contain accelerations goes to the right."),
    ),
}

LAB6 = {
    "sizes": Exercise("sizes of the linear systems for the four-bar, a dict", judge_sizes),
    "formulation": Exercise("a formulation of your own", judge_formulation),
    "factor": Exercise(
        "factor by which the error of Penalty falls when alpha grows tenfold",
        number(lambda: 10.0, 0.05, "Compare two values of alpha that are neither too small nor limited by rounding."),
    ),
}

LAB7 = {
    "counts": Exercise(
        "rows, rank and degrees of freedom of the door on three hinges",
        sized(counts_of_three_hinges, "mbd.mobility(system) has .rows, .rank and .degrees_of_freedom."),
    ),
    "unique": Exercise("which components of the reaction at B are unique, a dict", judge_unique),
    "design": Exercise("a door whose reactions are all unique, a System", judge_design),
}

LAB8 = {
    "M": Exercise(
        "mass matrix of the two rods at q = (0, pi/2)",
        sized(lambda: mass_of_two_rods(np.pi / 2.0), "The second coordinate is relative to the first rod."),
    ),
    "tau": Exercise(
        "torques that hold the two rods level [N m]",
        sized(lambda: np.array([2.0 * G, 0.5 * G]), "Inverse dynamics with rates and accelerations of zero."),
    ),
    "base": Exercise(
        "force in the first pin right after the release from level [N], upwards",
        number(base_force, 1e-6, "Joint wrenches need the accelerations of aba."),
    ),
}
