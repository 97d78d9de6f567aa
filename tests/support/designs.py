"""Small mechanisms whose numbers are arguments, for tests of derivatives by parameters."""

import numpy as np

import haugmbd as mbd
from joints import RJ, SJ, RotationDriver

Z = (0, 0, 1)


def pendulum(m=1.2, L=0.5, J=0.05, k=1.5, c=0.12, angle=-0.4, rate=2.0, g=9.81):
    """Return a pendulum with a rotational spring."""
    e, n = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
    system = mbd.System("pendulum", gravity=(0, -g, 0))
    bob = system.add(mbd.Body("bob", m, (J, J, J), r=L * e, v=L * rate * n, omega_bar=(0, 0, rate)))
    pin = system.add(RJ("pin", system.ground, bob, point=(0, 0, 0), axis=Z))
    system.add(mbd.RSDA("spring", pin, k=k, c=c))
    return system


def four_bar(l1=0.4, l2=1.1, l3=0.9, d=1.0, m=1.0, tilt=0.0, speed=None, redundant=True):
    """Return a four-bar linkage under gravity, with redundant rows of four revolute joints by default."""
    B, D = l1 * np.array([np.cos(0.7), np.sin(0.7), 0.0]), np.array([d, 0.0, 0.0])
    e = D - B
    distance = np.sqrt(e @ e)
    c = (l2**2 + distance**2 - l3**2) / (2 * l2 * distance)
    s = np.sqrt(1 - c * c)
    C = B + l2 / distance * np.array([e[0] * c - e[1] * s, e[1] * c + e[0] * s, 0.0])
    system = mbd.System("four-bar", gravity=(0, -9.81, 0))

    def rod(name, a, b, mass):
        return system.add(mbd.Body(name, mass, (mass * (b - a) @ (b - a) / 12,) * 3, r=(a + b) / 2))

    crank, coupler, rocker = rod("crank", np.zeros(3), B, m), rod("coupler", B, C, 1.4), rod("rocker", C, D, 0.9)
    pin = system.add(RJ("A", system.ground, crank, point=(0, 0, 0), axis=Z))
    system.add(RJ("B", crank, coupler, point=B, axis=Z))
    if redundant:
        system.add(RJ("C", coupler, rocker, point=C, axis=Z))
    else:
        system.add(SJ("C", coupler, rocker, point=C))
    system.add(RJ("D", system.ground, rocker, point=D, axis=(np.sin(tilt), 0, np.cos(tilt))))
    if speed is not None:
        system.add(RotationDriver("drive", pin, mbd.Expression("w * t", parameters={"w": speed})))
    return system


def differences(f, p, relative=1e-3):
    """Return derivatives (m, n) of f(**p) of sixth order, for values p of the order of one."""
    columns = []
    for name, value in p.items():
        h = relative * (abs(value) or 1.0)
        at = {k: np.asarray(f(**(p | {name: value + k * h}))) for k in (1, 2, 3, -1, -2, -3)}
        columns.append((45 * (at[1] - at[-1]) - 9 * (at[2] - at[-2]) + at[3] - at[-3]) / (60 * h))
    return np.array(columns).T


def worst(J, exact):
    """Return the largest error of a Jacobian, relative to the largest entry of its row."""
    return float((np.abs(J - exact).max(axis=1) / np.abs(exact).max(axis=1)).max())
