"""The exercises of the sixteen labs: what is right, from closed forms, and what the check of each answer says.

Motion, reactions, drives, impulses, statistics: labs 1, 3, 9 and 12.
A bar of length L on a pin, theta from the downward vertical, J = m L^2 / 3 (+ the thickness):

    released from horizontal                 force on the bar at once  m g / 4,      at the bottom  5 m g / 2
    driven with theta(t)                     torque  J theta'' + m g (L / 2) sin(theta)
    struck at a distance d from the pin      impulse of the pin  S (3 d / (2 L) - 1) along the blow
    released from theta_0, at the bottom     force  m g (1 + 3 (1 - cos(theta_0)) / 2)      slender

Equations, formulations, redundancy, serial chains: labs 2, 6, 7 and 8.
DP1        PiBar_i = A_i^T (a_i x a_j)      PiBar_j = -A_j^T (a_i x a_j)
D          Phi = d . d - f^2                gamma = -2 d' . d'   for constant f and w = 0
two rods   M(q2) = [[5/3 + cos q2, 1/3 + cos(q2)/2], [., 1/3]]  m L^2       gravity, level:  (2, 1/2) m g L

Drift, Baumgarte's gains, stiffness, long runs: labs 4, 5, 10 and 11.
RK4 without stabilization     Phi ~ t^2 h^4          fixed gains h^4, gains like 1 / h: h^2
RK4, alpha = beta             |R(-alpha h)| = 1      alpha h = 2.7853
damper c on a bar, slow       lambda = -c / J

Rows by hand, compared with those of the model at random states, term by term: lab 13.
crank pin    Phi = d                        gamma = omega^2 times the arms
slider       the rod's end stays on a line

Contact with dry friction: lab 14.
holds while mu >= tan(slope)        stops after v^2 / (2 mu g)        paradox from mu = 4/3, at tan(theta) = 2, of a slender rod

A lever whose crank has a slider: lab 15.
RK4 without stabilization     Phi ~ t^2 h^4          closed while   crank <= ground + coupler + rocker

`mystery` gives models with a fault whose name is not said: students find it out from violations, energy and momentum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from haugmbd import faults
from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.bodies.body import Body
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.deprecated import did_you_mean
from haugmbd.drivers import as_driver
from haugmbd.drivers.driver import Driver
from haugmbd.equations.equations import Equations, equations
from haugmbd.errors import UsageError
from haugmbd.faults.fingerprint import example
from haugmbd.forces.rsda import RSDA
from haugmbd.forces.tsda import TSDA
from haugmbd.formulations.accelerations import accelerations
from haugmbd.formulations.base import Formulation
from haugmbd.gallery import double_pendulum, four_bar
from haugmbd.integrators import RK4
from haugmbd.integrators.stabilization.baumgarte import Baumgarte
from haugmbd.joints import RJ, Distance, PointOnLine
from haugmbd.labs.answers import Exercise, G, Judge, array, number, short, word
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.study.drift_law import LAWS
from haugmbd.study.sweeps.cells import RandomCells
from haugmbd.system.system import System
from haugmbd.verification.verify import verify

MASS, LENGTH, J_PIN = 78.0, 4.0, 104.01625 + 78.0 * 2.0**2
"""The bar of labs 1 and 3 [kg, m, kg m2]."""

POSE_TOL = 1e-9
"""Of accelerations of the same mechanism in two hands, relative to g."""
DRIVE_TOL = 1e-6
"""Of the values of a driver [rad, rad/s, rad/s2]."""


def elbow_force() -> float:
    """Return the force [N] in the second pin of the double pendulum at its release: bar 1 is level, bar 2 hangs and does not turn."""
    m2 = 39.0
    alpha = (MASS * G * LENGTH / 2.0 + m2 * G * LENGTH) / (J_PIN + m2 * LENGTH**2)
    return float(abs(m2 * (G - alpha * LENGTH)))


def judge_double_pendulum(answer: Any) -> str:
    """Compare a system with the double pendulum, by its accelerations."""
    if not isinstance(answer, System):
        return f"give a System, not {short(answer)}"
    if len(answer.bodies) != 3:
        return f"it has {len(answer.bodies) - 1} bodies besides the ground, and two are asked for"
    freedom = mobility(answer).degrees_of_freedom
    if freedom != 2:
        return f"it has {freedom} degrees of freedom, and two are asked for: print(mbd.mobility(system))"
    wanted = accelerations(double_pendulum().compile()).v_dot
    v_dot = accelerations(answer.compile()).v_dot
    if np.abs(v_dot - wanted).max() <= POSE_TOL * G:
        return ""
    worst = int(np.abs(v_dot - wanted).max(axis=1).argmax())
    return (
        f"its bodies begin to move otherwise: {answer.bodies[worst].name!r} with {np.array2string(v_dot[worst], precision=3)} m/s2. "
        "Compare masses, inertias, places and pins with the text"
    )


def drive_torque(t: Array) -> Array:
    """Return the torque [N m] that drives the bar as theta = pi / 4 cos(2 t)."""
    theta, theta_ddot = np.pi / 4.0 * np.cos(2.0 * t), -np.pi * np.cos(2.0 * t)
    torque: Array = J_PIN * theta_ddot + MASS * G * LENGTH / 2.0 * np.sin(theta)
    return torque


def largest_power() -> float:
    """Return the largest power of the drive [W]."""
    t = np.linspace(0.0, np.pi, 20001)
    return float(np.abs(drive_torque(t) * -np.pi / 2.0 * np.sin(2.0 * t)).max())


def judge_swing(answer: Any) -> str:
    """Judge a drive that swings the bar by -pi / 2 in 2 s, with rest at both ends."""
    driver = answer if isinstance(answer, Driver) else as_driver(answer)
    if driver.faults():
        return str(driver.faults()[0])
    wanted = np.array([[0.0, 0.0, 0.0], [-np.pi / 2.0, 0.0, 0.0]])
    samples = driver.values(np.array([0.0, 2.0]))
    for k, t in enumerate((0.0, 2.0)):
        for name, x, right in zip(("f", "f'", "f''"), samples[k], wanted[k], strict=True):
            if not abs(x - right) <= DRIVE_TOL:
                return f"{name}({t:g} s) is {x:.6g}, and it should be {right:.6g}"
    return ""


def elbow_impulse() -> float:
    """Return the impulse [N s] of the elbow of two rods (1 kg, 1 m, on a pin) on the lower one, when the tip is struck by 1 N s."""
    M = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]])  # of the absolute rates of straight rods
    first, second = np.linalg.solve(M, [-1.0, -1.0])
    return float(first + second / 2.0 + 1.0)  # m v2 = S + blow


def pin_ratios(theta: Array) -> Array:
    """Return the force at the bottom over the weight, for slender bars released at angles theta [rad]."""
    ratios: Array = 1.0 + 1.5 * (1.0 - np.cos(theta))
    return ratios


def released() -> Array:
    """Return the angles of lab 12 [rad]."""
    return np.array([cell["theta"] for cell in RandomCells({"theta": (0.2, 1.5)}, n=24, seed=1).cells()])


LAB1 = {
    "release": Exercise(
        "vertical force of the pin on the bar right after the release [N]",
        number(lambda: MASS * G / 4.0, 1e-3, "result.reaction('pin').force[0] is the force of the ground on the bar, global."),
    ),
    "largest": Exercise(
        "largest magnitude of the pin force during the swing [N]",
        number(lambda: 2.5 * MASS * G, 1e-3, "Take the norm of each row of the force, then the largest."),
    ),
    "system": Exercise("the double pendulum of the text, a System", judge_double_pendulum),
    "elbow": Exercise(
        "magnitude of the force in the second pin at the release [N]",
        number(elbow_force, 1e-3, "Bar 2 does not turn at first: its weight less mass times acceleration is what the pin carries."),
    ),
}

LAB3 = {
    "torque": Exercise(
        "torque of the drive at t = 0 [N m], positive along the coordinate",
        number(lambda: float(drive_torque(np.array(0.0))), 1e-6, "J is about the pin: J_C + m (L/2)^2."),
    ),
    "power": Exercise(
        "largest magnitude of the power of the drive [W]",
        number(largest_power, 2e-3, "Power is torque times rate; look at more instants than the ends of the swing."),
    ),
    "driver": Exercise("a function f(t) that turns the bar by -pi/2 in 2 s, with f' = f'' = 0 at both ends", judge_swing),
}

LAB9 = {
    "sweet spot": Exercise(
        "distance from the pin [m] at which a blow on the rod of 1 m leaves the pin without impulse",
        number(lambda: 2.0 / 3.0, 2e-3, "The impulse of the pin is linear in the distance: find where it changes its sign."),
    ),
    "elbow": Exercise(
        "impulse of the elbow on the lower rod along y [N s]",
        number(elbow_impulse, 1e-3, "struck.joint('hinge 2').force is the impulse on the second body of the joint."),
    ),
    "rest": Exercise(
        "time until the ball lies still [s]",
        number(
            lambda: float(np.sqrt(2.0 / G) * 1.7 / 0.3),
            1e-3,
            "The first fall, then flights whose durations are a geometric series.",
        ),
    ),
}

LAB12 = {
    "mean": Exercise(
        "mean of the ratio over the 24 cells",
        number(lambda: float(pin_ratios(released()).mean()), 1e-4, "Take table['ratio'] of all cells."),
    ),
    "spread": Exercise(
        "standard deviation of the ratio, with n - 1",
        number(lambda: float(pin_ratios(released()).std(ddof=1)), 1e-3, "np.std divides by n unless ddof=1 is given."),
    ),
    "ratios": Exercise(
        "the ratios of the grid theta = 0.5, 1.0, 1.5 rad, in this order",
        array(lambda: pin_ratios(np.array([0.5, 1.0, 1.5])), 1e-4, "Angles are from the downward vertical."),
    ),
}


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


def judge_slider(answer: Any) -> str:
    """Judge a class of translational joints, by what its rows allow."""
    if not (isinstance(answer, type) and issubclass(answer, Joint)):
        return f"give the class, a subclass of mbd.Joint, not {short(answer)}"
    axis = np.array([0.6, 0.0, 0.8])
    system = System("slider")
    body = system.add(Body("body", 1.0, (0.1, 0.2, 0.25), r=(0.3, 0.1, 0.2)))
    build: Callable[..., Joint] = answer
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


def judge_sizes(answer: Any) -> str:
    """Judge the sizes of the linear systems that four formulations solve for the four-bar."""
    nb, nc = 3, four_bar().compile().nc
    right = {"NewtonEuler": 6 * nb + nc, "EulerParameters": 8 * nb + nc, "RangeSpace": nc, "NullSpace": 6 * nb - nc}
    if not isinstance(answer, dict) or set(answer) != set(right):
        return f"give a dict with the names {', '.join(right)}"
    wrong = [name for name, size in right.items() if answer[name] != size]
    return (
        "" if not wrong else f"not right: {', '.join(wrong)}. Count unknowns: accelerations, multipliers, or what is left of them"
    )


def judge_formulation(answer: Any) -> str:
    """Judge a formulation by `verify`."""
    if not isinstance(answer, Formulation):
        return f"give an object of your class, such as Mine(), not {short(answer)}"
    if not type(answer).__module__.startswith("haugmbd."):
        report = verify(answer)
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
    report = mobility(hinged_door(3))
    return np.array([report.rows, report.rank, report.degrees_of_freedom], dtype=np.float64)


def judge_unique(answer: Any) -> str:
    """Judge which components of the reaction at B of the four-bar on four hinges are unique."""
    right = {"fx": True, "fy": False, "fz": True, "mx": False, "mz": False}
    if not isinstance(answer, dict) or set(answer) != set(right) or not all(isinstance(x, bool) for x in answer.values()):
        return "give a dict {'fx': ..., 'fy': ..., 'fz': ..., 'mx': ..., 'mz': ...} of True and False"
    wrong = [name for name, unique in right.items() if answer[name] is not unique]
    return "" if not wrong else f"not right: {', '.join(wrong)}. Compare with result.reaction('B').unique"


def judge_design(answer: Any) -> str:
    """Judge a door that turns about z and has no dependent rows."""
    if not isinstance(answer, System):
        return f"give a System, not {short(answer)}"
    report = mobility(answer)
    if report.faults:
        return str(report.faults[0])
    if len(answer.bodies) != 2 or report.degrees_of_freedom != 1:
        return f"a door has one freedom, and this system has {report.degrees_of_freedom}"
    if report.dependent:
        names = sorted({name for one in report.dependent for name in one.joints})
        return f"rows still depend on others: {', '.join(names)}"
    turn = np.array(
        [0.0, 0.45, 0.0, 0.0, 0.0, 1.0]
    )  # of the centre of mass, 0.45 m from the axis, in a frame along the global axes
    if np.abs(evaluate(answer.compile()).Phi_q.toarray() @ turn).max() > ZERO:
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


GAINS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Of lab 5, alpha = beta [1/s]."""

DAMPING = 4e5
"""Of lab 10 [N m s/rad]."""

STEPS, RELATIVE = 40, 1e-5
"""Of lab 10: largest number of steps, and relative error of the angle at the end."""


def point_pendulum() -> System:
    """Return a point of 1 kg on a distance of 1 m, released from horizontal."""
    system = System("point pendulum", gravity=(0.0, -9.81, 0.0))
    mass = system.add(Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(1.0, 0.0, 0.0)))
    system.add(Distance("bar", system.ground, mass, point_i=(0.0, 0.0, 0.0), point_j=(1.0, 0.0, 0.0)))
    return system


def best_gain() -> float:
    """Return the gain of the list with the least violation over 10 s."""
    model = point_pendulum().compile()
    violation = [
        np.abs(simulate(model, 10.0, integrator=RK4(1e-2), stabilization=Baumgarte(gain, gain)).violation("position")).max()
        for gain in GAINS
    ]
    return GAINS[int(np.argmin(violation))]


def judge_faults(answer: Any) -> str:
    """Judge the names of the three faults; how many are right is told, which ones are not."""
    if not isinstance(answer, dict) or set(answer) != set(MYSTERIES):
        return f"give a dict with the names {', '.join(MYSTERIES)}"
    right = sum(answer[letter] == fault for letter, fault in MYSTERIES.items())
    return "" if right == len(MYSTERIES) else f"{right} of {len(MYSTERIES)} are right. Compare with the table of fingerprints"


def judge_stiff_run(answer: Any) -> str:
    """Judge a run of the damped bar by its steps and by the angle at its end."""
    if not isinstance(answer, Result):
        return f"give the result of mbd.simulate, not {short(answer)}"
    if abs(answer.t[-1] - 10.0) > 1e-9 or answer.model.nb != 1:
        return "give the run of the damped bar to t_end = 10 s"
    if answer.counters.steps > STEPS:
        return f"it took {answer.counters.steps} steps, and {STEPS} are allowed"
    end = damped_bar_end()
    error = abs(answer.r[-1, 1, 2] / -2.0 - end) / end
    return "" if error <= RELATIVE else f"it took {answer.counters.steps} steps, but the place of the bar is off by {error:.0e}"


def damped_bar_end() -> float:
    """Return the sine of the angle below the horizontal of the damped bar after 10 s, from its own equation.

    J phi'' = m g (L / 2) cos(phi) - c phi', at rest at first, by SciPy's Radau.
    """
    from scipy.integrate import solve_ivp

    weight = 78.0 * 9.81 * 2.0

    def rates(t: float, y: Array) -> list[float]:
        return [y[1], (weight * np.cos(y[0]) - DAMPING * y[1]) / J_PIN]

    run = solve_ivp(rates, (0.0, 10.0), [0.0, 0.0], method="Radau", rtol=1e-10, atol=1e-14)
    return float(np.sin(run.y[0, -1]))


def judge_return(answer: Any) -> str:
    """Judge the distance from the start after a run forth and back."""
    try:
        distance = float(answer)
    except (TypeError, ValueError):
        return f"give a distance [m], not {short(answer)}"
    if distance < 0.0 or not np.isfinite(distance):
        return f"{distance} is not a distance"
    return (
        "" if distance <= 1e-9 else "it does not come back. Turn the signs of v and omega_bar of the last state, and keep the step"
    )


LAB4 = {
    "law": Exercise(
        "law of the drift of positions without stabilization",
        word("quadratic", LAWS, "that is the law of another level, or of another window: drift_law(result, level='position')"),
    ),
    "order": Exercise(
        "exponent k of the step in the violation at the end, h^k",
        number(lambda: 4.0, 0.1, "Halve the step, and take log2 of the ratio of the violations at the end."),
    ),
    "faults": Exercise("names of the faults of A, B and C, a dict", judge_faults),
}

LAB5 = {
    "limit": Exercise(
        "largest stable alpha h of RK4 for alpha = beta, in theory",
        number(lambda: 2.785293563405282, 2e-3, "The largest x with |1 - x + x^2/2 - x^3/6 + x^4/24| <= 1."),
    ),
    "best": Exercise(
        "the gain of the list with the least violation [1/s]",
        number(best_gain, 1e-9, "Run every gain of the list with the same step, and compare the largest |Phi|."),
    ),
    "orders": Exercise(
        "orders in h of the violation: with fixed gains, and with gains like 1 / h",
        array(lambda: np.array([4.0, 2.0]), 0.6, "Halve the step twice, and take log2 of the ratios."),
    ),
}

LAB10 = {
    "eigenvalue": Exercise(
        "the fast eigenvalue of the damped bar [1/s]",
        number(lambda: -DAMPING / J_PIN, 1e-2, "J phi'' + c phi' = ...: gravity is slow beside the damper."),
    ),
    "step": Exercise(
        "largest step with which RK4 is stable [s]",
        number(lambda: 2.785293563405282 * J_PIN / DAMPING, 2e-2, "|R(h lambda)| <= 1 on the negative real axis."),
    ),
    "run": Exercise(f"a run to 10 s in at most {STEPS} steps, accurate to {RELATIVE:g}", judge_stiff_run),
}

LAB11 = {
    "laws": Exercise(
        "laws of the energy drift of RK4 and of RATTLE, joined by a comma",
        word(
            "linear,oscillating",
            [f"{first},{second}" for first in LAWS for second in LAWS],
            "look at energy().drift over the whole run: which one has a trend, and which one swings?",
        ),
    ),
    "order": Exercise(
        "exponent k of the step in the largest energy error of RATTLE, h^k",
        number(lambda: 2.0, 0.1, "Halve the step, and take log2 of the ratio."),
    ),
    "return": Exercise("distance from the start after a run forth and back [m]", judge_return),
}


def slider_crank_of_lab13() -> System:
    """Return a crank of 1 m and a rod of 2 m whose end stays on the x axis, in the plane xz."""
    system = System("slider-crank", gravity=(0.0, 0.0, -9.81))
    crank = system.add(Body("crank", 2.0, (0.17, 0.17, 0.01), r=(0.3, 0.0, 0.4)))
    rod = system.add(Body("rod", 3.0, (1.0, 1.0, 0.02), r=(0.6 + 0.5 * (2.0**2 - 0.8**2) ** 0.5, 0.0, 0.4)))
    system.add(RJ("crank pin", system.ground, crank, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(RJ("rod pin", crank, rod, point=(0.6, 0.0, 0.8), axis=(0.0, 1.0, 0.0)))
    end = (0.6 + (2.0**2 - 0.8**2) ** 0.5, 0.0, 0.0)
    system.add(PointOnLine("slider", system.ground, rod, point=end, axis=(1.0, 0.0, 0.0)))
    return system


@lru_cache(maxsize=1)
def equations_of_lab13() -> Equations:
    """Return the equations of the slider-crank in its plane."""
    return equations(slider_crank_of_lab13(), planar="xz")


def rows_judged(joint: str, quantity: str) -> Judge:
    """Return the judge of the rows of a joint, as texts or SymPy expressions."""

    def judge(answer: Any) -> str:
        if not isinstance(answer, list | tuple | str):
            return f"give a list of texts, one for each row, not {short(answer)}"
        try:
            report = equations_of_lab13().check(answer, joint, quantity=quantity)
        except UsageError as error:
            return str(error)
        wrong = report.first_wrong
        return "" if wrong is None else f"row {wrong.row} {wrong.kind}: {wrong.message}"

    return judge


LAB13 = {
    "Phi": Exercise("the two rows of the rod pin, texts", rows_judged("rod pin", "Phi")),
    "slider": Exercise("the row of the slider, a text", rows_judged("slider", "Phi")),
    "gamma": Exercise("gamma of the two rows of the rod pin, texts", rows_judged("rod pin", "gamma")),
}


LAB14 = {
    "least mu": Exercise(
        "least coefficient of friction at which the block holds on 25 degrees",
        number(
            lambda: float(np.tan(np.radians(25.0))), 2e-3, "At the limit the friction mu N balances the weight along the incline."
        ),
    ),
    "stop": Exercise(
        "how far the block slides on a level floor [m]",
        number(
            lambda: 2.0**2 / (2.0 * 0.3 * G), 1e-3, "The friction mu m g takes the kinetic energy; the angle of the incline is 0."
        ),
    ),
    "paradox": Exercise(
        "least coefficient of friction with the paradox at some angle",
        number(lambda: 4.0 / 3.0, 2e-3, "1 + 3 cos^2 = 3 mu sin cos: solve for mu, and find its least value over the angles."),
    ),
}

PINS_OF_LAB15 = {"A": (0.0, 0.0, 0.0), "B": (0.0, 0.0, 0.4), "C": (0.9, 0.0, 0.7), "D": (1.0, 0.0, 0.0)}
"""Pins of the lever as it is closed."""


def lever_of_lab15(length: float = 0.4) -> System:
    """Return a four-bar in its closed pose, with a crank of another length: open, until it is assembled.

    Parameters
    ----------
    length : float
        Of the crank [m]; the pose fits 0.4.

    Returns
    -------
    System
        Crank A-B, coupler B-C, rocker C-D.
    """
    system = System("lever", gravity=(0.0, 0.0, -9.81))
    pins = {name: np.array(point) for name, point in PINS_OF_LAB15.items()}
    bars = {"crank": "AB", "coupler": "BC", "rocker": "CD"}
    bodies = {
        name: system.add(Body(name, 1.0, (0.02, 0.02, 1e-3), r=0.5 * (pins[ends[0]] + pins[ends[1]])))
        for name, ends in bars.items()
    }
    chain = [system.ground, *bodies.values(), system.ground]
    for pin, i, j in zip("ABCD", chain, chain[1:], strict=False):
        s_i, s_j = (pins[pin] - np.array(body.r) for body in (i, j))
        if pin == "B":
            s_i = np.array([0.0, 0.0, length - 0.2])
        system.add(RJ.from_vectors(pin, i, s_i, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), j, s_j, (0.0, 1.0, 0.0)))
    return system


def reach_of_lab15() -> float:
    """Return the longest crank with which the lever can be closed [m]."""
    pins = [np.array(PINS_OF_LAB15[name]) for name in "BCDA"]
    return float(sum(np.linalg.norm(p - q) for p, q in zip(pins, pins[1:], strict=False)))


LAB15 = {
    "step": Exercise(
        "exponent k of the step in the violation", number(lambda: 4.0, 0.02, "Halve the step, and take log2 of the ratio.")
    ),
    "time": Exercise(
        "exponent k of time in the violation", number(lambda: 2.0, 0.02, "Compare 4 s with 2 s, and take log2 of the ratio.")
    ),
    "reach": Exercise("longest crank that can be closed [m]", number(reach_of_lab15, 0.005, "All other bars are in line then.")),
}


def ball_of_lab16(height: float, restitution: float) -> System:
    """Return a ball that falls from a height [m] on a floor."""
    system = System("ball", gravity=(0.0, 0.0, -9.81))
    ball = system.add(Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, height)))
    where: dict[str, Any] = {"point": (0.0, 0.0, height), "normal": (0.0, 0.0, 1.0), "plane_point": (0.0, 0.0, 0.0)}
    system.add(Contact("floor", system.ground, ball, restitution=restitution, **where))
    return system


def pendulum_of_lab16(mass: float, inertia: float, length: float, k: float) -> System:
    """Return a pendulum with a rotational spring, its centre of mass at a length from the pin [m]."""
    system = System("pendulum", gravity=(0.0, -9.81, 0.0))
    bob = system.add(Body("bob", mass, (inertia,) * 3, r=(length, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(RSDA("spring", pin, k=k, c=0.0))
    return system


def spring_of_lab16(k: float) -> System:
    """Return a body of 2 kg on a spring of 0.6 m, stretched to 1 m."""
    system = System("spring")
    body = system.add(Body("body", 2.0, (1.0, 1.0, 1.0), r=(1.0, 0.0, 0.0)))
    system.add(TSDA("spring", system.ground, body, point_i=(0.0, 0.0, 0.0), point_j=(1.0, 0.0, 0.0), k=k, l0=0.6))
    return system


LAB16 = {
    "impact": Exercise(
        "the derivative of the time of the second impact by the restitution [s]",
        number(
            lambda: 2.0 * (2.0 / 9.81) ** 0.5,
            1e-4,
            "Between the first two impacts the ball flies for 2 e v / g, with v = sqrt(2 g h).",
        ),
    ),
    "rank": Exercise(
        "number of combinations of four parameters that the angles tell",
        number(
            lambda: 2.0, 1e-9, "(J + m L^2) phi'' = -m g L cos(...) - k phi: divide by the first bracket, and count what is left."
        ),
    ),
    "spring": Exercise(
        "the spring rate that brings the body to 0.8 m after 0.5 s [N/m]",
        number(lambda: 2.0 * (np.pi / 1.5) ** 2, 1e-3, "x = 0.6 + 0.4 cos(sqrt(k / m) t)."),
    ),
}


MYSTERIES = {"A": "no_gyroscopic_term", "B": "missing_factor_2", "C": "world_inertia"}
"""The faults, by letter: each leaves a trace that the others do not."""


@contextmanager
def mystery(letter: str) -> Iterator[tuple[Model, State]]:
    """Yield a model with a fault, and its initial state: a body on a ball joint, another on a skew hinge, spinning.

    Parameters
    ----------
    letter : str
        "A", "B", "C"; or "none" for the same model without a fault.

    Yields
    ------
    tuple of Model and State
        For `simulate(model, ..., state=state)`. After the block the model is right, so that results are measured by the right equations.

    Raises
    ------
    UsageError
        If there is no such letter.
    """
    model, state = example()
    if is_one_of(letter, ("none",)):
        yield model, state
        return
    if not is_one_of(letter, MYSTERIES):
        letters = [*MYSTERIES, "none"]
        raise UsageError(f"no mystery is called {letter!r}{did_you_mean(str(letter), letters)}; there are {', '.join(letters)}.")
    with getattr(faults, MYSTERIES[letter])(model) as broken:
        yield broken, state
