"""The same mechanism at any length: lengths and gravity times s, inertia times s^2; masses and times as they are."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ

G = 9.81
X, Y, Z = np.eye(3)


def rod(system, name, a, b, mass, s):
    """A rod from a to b [m, at s = 1] in the x-z plane, with its x-axis along it."""
    length = np.linalg.norm(b - a)
    turn = np.arctan2(a[2] - b[2], b[0] - a[0])
    J = mass * np.array([0.01, length**2 / 12.0, length**2 / 12.0]) * s**2
    return system.add(mbd.Body(name, mass, J, r=0.5 * (a + b) * s, p=(np.cos(turn / 2), 0, np.sin(turn / 2), 0)))


def pendulum(s):
    system = mbd.System("pendulum", gravity=(0.0, 0.0, -G * s))
    bar = rod(system, "bar", 0.0 * X, 1.0 * X, 2.0, s)
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=Y))
    return system


def four_bar(s):
    system = mbd.System("four-bar", gravity=(0.0, 0.0, -G * s))
    P = np.array([[0, 0, 0], [0, 0, 1.0], [3.0, 0, 2.0], [4.0, 0, 0]])
    crank, coupler, rocker = (
        rod(system, name, P[k], P[k + 1], 1.0 + k, s) for k, name in enumerate(("crank", "coupler", "rocker"))
    )
    system.add(RJ("A", system.ground, crank, point=P[0] * s, axis=Y))
    system.add(UJ("B", crank, coupler, point=P[1] * s, axis_i=Y, axis_j=P[2] - P[1]))
    system.add(SJ("C", coupler, rocker, point=P[2] * s))
    system.add(RJ("D", system.ground, rocker, point=P[3] * s, axis=Y))
    return system


def slider_crank(s):
    system = mbd.System("slider-crank", gravity=(0.0, 0.0, -G * s))
    P = np.array([[0, 0, 0], [0.3, 0, 0.4], [1.5, 0, 0]])
    crank, connecting = rod(system, "crank", P[0], P[1], 1.0, s), rod(system, "rod", P[1], P[2], 2.0, s)
    slider = system.add(mbd.Body("slider", 3.0, 0.1 * s**2 * np.ones(3), r=P[2] * s))
    system.add(RJ("O", system.ground, crank, point=P[0] * s, axis=Y))
    system.add(SJ("A", crank, connecting, point=P[1] * s))
    system.add(CJ("B", connecting, slider, point=P[2] * s, axis=Y))
    system.add(TJ("S", system.ground, slider, point=P[2] * s, axis=X))
    return system


MECHANISMS = {"pendulum": pendulum, "four-bar": four_bar, "slider-crank": slider_crank}


def to_one_metre(state, s):
    """The flat numbers of a state, lengths divided by s."""
    return np.concatenate([state.r.ravel() / s, state.p.ravel(), state.v.ravel() / s, state.omega_bar.ravel()])
