"""A stiff spring on a rail, of which tests of Newton's iteration and of declared jacobians make many kinds."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from joints import TJ

K, C, PULLED = 8e9, 4e5, 1e-6
"""Stiffness [N/m], damping [N s/m], and how far the spring is pulled at first [m]."""


def slider(spring) -> mbd.System:
    """A mass of 2 kg on a rail, held to the ground by a stiff spring and damper of 1 m, pulled by a micrometre."""
    system = mbd.System("slider", gravity=(0, 0, -9.81))
    box = system.add(mbd.Body("box", 2.0, (0.1, 0.1, 0.1), r=(1 + PULLED, 0, 0)))
    system.add(TJ("rail", system.ground, box, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(spring(system.ground, box))
    return system


SLIDER_ENDS = {"point_i": (0, 0, 0), "point_j": (1 + PULLED, 0, 0)}


# The spring as functions of the user. They read nothing of other files: Numba keeps them on disk by the date of this one.


def spring_of_state(t, r, p, v, w):
    Q = np.zeros((2, 6))
    Q[1, 0] = -K * (r[1, 0] - 1.0) - C * v[1, 0]
    return Q


def spring_of_state_by(t, r, p, v, w):
    dr, dv = np.zeros((2, 6, 2, 3)), np.zeros((2, 6, 2, 3))
    dr[1, 0, 1, 0], dv[1, 0, 1, 0] = -K, -C
    return dr, 0, dv, 0


def spring_law(t, x, x_dot):
    return K * (x - 1.0) + C * x_dot


def spring_law_by(t, x, x_dot):
    return K, C


def spring_of_body(t, r, p, v, w):
    return np.array([-K * (r[0] - 1.0) - C * v[0], 0.0, 0.0])


def spring_of_body_by(t, r, p, v, w):
    return np.diag(np.array([-K, 0.0, 0.0])), 0, np.diag(np.array([-C, 0.0, 0.0])), 0
