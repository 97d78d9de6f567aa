r"""Exercises of lab 13: rows of a slider-crank by hand, compared with those of the model at random states, term by term.

crank pin    Phi = d                        gamma = omega^2 times the arms
slider       the rod's end stays on a line
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.equations.equations import Equations, equations
from haugmbd.errors import UsageError
from haugmbd.joints import RJ, PointOnLine
from haugmbd.labs.answers import Exercise, Judge, short
from haugmbd.system.system import System


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

    def judge(given: Any) -> str:
        if not isinstance(given, list | tuple | str):
            return f"give a list of texts, one for each row, not {short(given)}"
        try:
            found = equations_of_lab13().check(given, joint, quantity=quantity)
        except UsageError as error:
            return str(error)
        wrong = found.first_wrong
        return "" if wrong is None else f"row {wrong.row} {wrong.kind}: {wrong.message}"

    return judge


LAB13 = {
    "Phi": Exercise("the two rows of the rod pin, texts", rows_judged("rod pin", "Phi")),
    "slider": Exercise("the row of the slider, a text", rows_judged("slider", "Phi")),
    "gamma": Exercise("gamma of the two rows of the rod pin, texts", rows_judged("rod pin", "gamma")),
}
