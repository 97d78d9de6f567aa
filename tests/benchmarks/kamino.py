"""The section of `make bench` on the four-bar of Kamino, a solver for closed loops in games and robotics: gap of the joints and energy.

Kamino (the solver of Newton Physics; Tsounis, Grandia, Baecher, arXiv:2504.19771, 2025) works in single precision on a GPU.  Its figures
are cited, not timed: they were measured once, with the defaults of newton 1.8.0 on a CPU, on the mechanism `fourbar` of its tests.

Four bars of 0.1 m and 1 kg, the lowest one fixed, pins 0.112 m apart; upright at first, turning at 6 rad/s; 1 s in steps of 1 ms.
"""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from joints import RJ
from tests.benchmarks import record

T_END, H = 1.0, 1e-3
PIN, SPEED, MASS, BAR = 0.112, 6.0, 1.0, (0.01, 0.01, 0.1)
CITED = {"gap": 9.1e-4, "energy": 0.28}
"""Kamino: largest distance of the two points of a joint [m], and largest error of the energy [J], of 2.8 J."""
ENOUGH_GAP, ENOUGH_ENERGY = 8e-14, 2e-8


def four_bar() -> mbd.System:
    """Return the mechanism; four parallel revolute joints, of which three rows each are redundant."""
    system = mbd.System("four-bar of Kamino", gravity=(0, 0, -9.81))
    up, turn, axis = np.array([0.0, 0.0, PIN]), np.array([0.0, SPEED, 0.0]), (0, 1, 0)
    left, right = np.array([-PIN / 2, 0.0, 0.0]), np.array([PIN / 2, 0.0, 0.0])

    def arm(name: str, pin: np.ndarray) -> mbd.Body:
        solid = mbd.inertia.box(BAR, mass=MASS)
        return system.add(mbd.Body(name, *solid, r=pin + up / 2, v=np.cross(turn, up / 2), omega_bar=turn))

    a, b = arm("left", left), arm("right", right)
    coupler = system.add(mbd.Body("coupler", *mbd.inertia.box(BAR[::-1], mass=MASS), r=up, v=np.cross(turn, up)))
    system.add(RJ("left pin", system.ground, a, point=left, axis=axis))
    system.add(RJ("right pin", system.ground, b, point=right, axis=axis))
    system.add(RJ("left top", a, coupler, point=left + up, axis=axis))
    system.add(RJ("right top", b, coupler, point=right + up, axis=axis))
    return system


def measured() -> dict[str, float]:
    """Return largest gap [m] and energy error [J] of RK4 with projection, all redundant rows included."""
    result = mbd.simulate(four_bar(), T_END, h=H)
    return {"gap": float(abs(result.violation("position")).max()), "energy": float(abs(result.energy().drift).max())}


def section() -> None:
    """Print our figures beside the cited ones."""
    mine = measured()
    record.keep("ours", "kamino", {}, mine)
    print(
        "\nFour-bar of Kamino over 1 s, steps of 1 ms: gap of the joints [m], energy error [J]; Kamino's are cited, not measured here"
    )
    print(f"{'haugmbd, RK4 with projection':>30} {mine['gap']:>8.1e} {mine['energy']:>8.1e}")
    print(f"{'Kamino, defaults':>30} {CITED['gap']:>8.1e} {CITED['energy']:>8.1e}")
    met = mine["gap"] <= ENOUGH_GAP and mine["energy"] <= ENOUGH_ENERGY
    print(f"bars {ENOUGH_GAP:g} m and {ENOUGH_ENERGY:g} J {'met' if met else 'MISSED'}")
