r"""Exercises of labs 4, 5, 10 and 11: drift, Baumgarte's gains, stiffness, long runs.

RK4 without stabilization     Phi ~ t^2 h^4          fixed gains h^4, gains like 1 / h: h^2
RK4, alpha = beta             |R(-alpha h)| = 1      alpha h = 2.7853
damper c on a bar, slow       lambda = -c / J
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.integrators import RK4
from haugmbd.integrators.stabilization.baumgarte import Baumgarte
from haugmbd.joints import Distance
from haugmbd.labs.answers import Exercise, array, number, short, word
from haugmbd.labs.motion import J_PIN
from haugmbd.labs.mystery import MYSTERIES
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.simulate import simulate
from haugmbd.study.drift_law import LAWS
from haugmbd.system.system import System

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


def judge_faults(given: Any) -> str:
    """Judge the names of the three faults; how many are right is told, which ones are not."""
    if not isinstance(given, dict) or set(given) != set(MYSTERIES):
        return f"give a dict with the names {', '.join(MYSTERIES)}"
    right = sum(given[letter] == fault for letter, fault in MYSTERIES.items())
    return "" if right == len(MYSTERIES) else f"{right} of {len(MYSTERIES)} are right. Compare with the table of fingerprints"


def judge_stiff_run(given: Any) -> str:
    """Judge a run of the damped bar by its steps and by the angle at its end."""
    if not isinstance(given, Result):
        return f"give the result of mbd.simulate, not {short(given)}"
    if abs(given.t[-1] - 10.0) > 1e-9 or given.model.nb != 1:
        return "give the run of the damped bar to t_end = 10 s"
    if given.counters.steps > STEPS:
        return f"it took {given.counters.steps} steps, and {STEPS} are allowed"
    end = damped_bar_end()
    error = abs(given.r[-1, 1, 2] / -2.0 - end) / end
    return "" if error <= RELATIVE else f"it took {given.counters.steps} steps, but the place of the bar is off by {error:.0e}"


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


def judge_return(given: Any) -> str:
    """Judge the distance from the start after a run forth and back."""
    try:
        distance = float(given)
    except (TypeError, ValueError):
        return f"give a distance [m], not {short(given)}"
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
