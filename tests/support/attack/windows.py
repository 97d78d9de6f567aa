"""Four-bar windows at and beside their singular pose, with their motion along the curve of possible poses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import haugmbd as mbd
from joints import RJ
from tests.support.attack.mechanism import G, Mechanism, plane


def windows(rng: np.random.Generator) -> Mechanism:
    """One or two windows that come to their singular pose, start on it, or end at it."""
    n = int(rng.integers(1, 3))
    kind = rng.choice(["through", "start", "end", "beside"], p=[0.55, 0.15, 0.15, 0.15])
    a, speed = float(rng.uniform(0.3, 1.3)), float(rng.uniform(1.0, 5.0))
    if kind == "start":
        a = np.pi / 2 + float(rng.choice([0.0, 1e-12, 1e-9, 1e-6, -1e-9, -1e-6, -1e-3]))
    quarter = time_to_lie(a, speed, n) if kind != "start" else 0.0
    t_end = {"through": quarter + 0.2, "start": 0.2, "end": quarter, "beside": max(0.5 * quarter, 0.02)}[kind]
    if kind == "end":
        t_end += float(rng.choice([0.0, 1e-12, -1e-9, 1e-6, 1e-4, -1e-4]))
    system, reference = window_system(n, a, speed, 0.0, plane(rng))
    return Mechanism(f"{n} windows, {kind}", system.compile(), float(t_end), reference)


def near_windows(rng: np.random.Generator) -> Mechanism:
    """A window whose bar is longer or shorter than the ground by a little: it turns aside sharply at a pose that is nearly singular."""
    off = float(rng.choice([1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]) * rng.choice([-1, 1]))
    a, speed = float(rng.uniform(0.6, 1.3)), float(rng.uniform(1.0, 4.0))
    system, reference = window_system(1, a, speed, off, plane(rng))
    quarter = time_to_lie(a, speed, 1)
    return Mechanism(f"window off by {off:g}", system.compile(), float(quarter + 0.15), reference)


def window_system(
    n: int, a: float, speed: float, off: float, axis: np.ndarray
) -> tuple[mbd.System, Callable[[np.ndarray], np.ndarray]]:
    """n windows, or one whose bar is `off` longer than the ground: the system, and its states (angles a, b of the uprights, rates)."""
    e1, e3 = axis  # the plane: feet along e1, up e3
    e2 = np.cross(e3, e1)
    c = 1.0 + off
    b = a if off == 0.0 else other_angle(a, c)
    rates = direction(a, b, c, 1.0) if off else np.ones(2)
    rates = rates / rates[0] * speed if abs(rates[0]) > 0.3 else rates * speed
    system = mbd.System("windows", gravity=-G * e3)
    angles, speeds = [a, b] if n == 1 else [a] * (n + 1), list(rates) if n == 1 else [speed] * (n + 1)
    foot = [k * e1 for k in range(n + 1)]
    up = [np.sin(x) * e1 + np.cos(x) * e3 for x in angles]
    along = [w * (np.cos(x) * e1 - np.sin(x) * e3) for x, w in zip(angles, speeds, strict=True)]
    J_up = np.diag([1 / 12, 1 / 12, 1 / 12])
    uprights = []
    for k in range(n + 1):
        uprights.append(
            system.add(mbd.Body(f"upright {k}", 1.0, J_up, r=foot[k] + up[k] / 2, v=along[k] / 2, omega_bar=speeds[k] * e2))
        )
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=foot[k], axis=e2))
    for k in range(n):
        A, B = foot[k] + up[k], foot[k + 1] + up[k + 1]
        spin = np.cross(B - A, along[k + 1] - along[k]) / c**2
        bar = system.add(mbd.Body(f"bar {k}", 1.0, c**2 * J_up, r=(A + B) / 2, v=(along[k] + along[k + 1]) / 2, omega_bar=spin))
        system.add(RJ(f"left {k}", uprights[k], bar, point=A, axis=e2))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=B, axis=e2))

    def reference(times: np.ndarray) -> np.ndarray:
        """Centres and velocities only: (nt, bodies, 6)."""
        found = parallel(a, speed, n, times) if off == 0.0 else along_curve(a, b, rates, c, times)
        rows = []
        for x in found:
            at = [x[0], x[1]] if n == 1 else [x[0]] * (n + 1)
            w = [x[2], x[3]] if n == 1 else [x[2]] * (n + 1)
            top = [foot[k] + np.sin(at[k]) * e1 + np.cos(at[k]) * e3 for k in range(n + 1)]
            going = [w[k] * (np.cos(at[k]) * e1 - np.sin(at[k]) * e3) for k in range(n + 1)]
            pieces = [np.concatenate([(foot[k] + top[k]) / 2, going[k] / 2]) for k in range(n + 1)]
            pieces += [np.concatenate([(top[k] + top[k + 1]) / 2, (going[k] + going[k + 1]) / 2]) for k in range(n)]
            rows.append(pieces)
        return np.array(rows)

    return system, reference


def gap(a: float, b: float, c: float) -> float:
    """What closes one window: |B - A|^2 - c^2."""
    return float((1 + np.sin(b) - np.sin(a)) ** 2 + (np.cos(b) - np.cos(a)) ** 2 - c**2)


def other_angle(a: float, c: float) -> float:
    """The angle of the second upright nearest to that of the first."""
    return float(brentq(lambda b: gap(a, b, c), a - 0.5, a + 0.5, xtol=1e-16))


def direction(a: float, b: float, c: float, sense: float) -> np.ndarray:
    """Unit tangent (a', b') of the curve of possible angles."""
    dx, dz = 1 + np.sin(b) - np.sin(a), np.cos(b) - np.cos(a)
    F_a, F_b = 2 * (-dx * np.cos(a) + dz * np.sin(a)), 2 * (dx * np.cos(b) - dz * np.sin(b))
    t = sense * np.array([F_b, -F_a])
    return t / np.linalg.norm(t)


def energies(a: float, b: float, rates: np.ndarray, c: float) -> tuple[float, float]:
    """T and V of one window."""
    A, B = (w * np.array([np.cos(x), -np.sin(x)]) for x, w in ((a, rates[0]), (b, rates[1])))
    dx, dz = 1 + np.sin(b) - np.sin(a), np.cos(b) - np.cos(a)
    spin = (dx * (B - A)[1] - dz * (B - A)[0]) / c**2
    T = (rates @ rates) / 6 + np.sum(((A + B) / 2) ** 2) / 2 + c**2 * spin**2 / 24
    return float(T), float(G * (np.cos(a) + np.cos(b)))


def along_curve(a: float, b: float, rates: np.ndarray, c: float, times: np.ndarray) -> np.ndarray:
    """(a, b, a', b') of a window whose bar has length c at `times`: one coordinate along the curve, speed by the energy."""
    sense = float(np.sign(direction(a, b, c, 1.0) @ rates))
    E = sum(energies(a, b, rates, c))

    def velocity(_: float, x: np.ndarray) -> np.ndarray:
        t = direction(x[0], x[1], c, sense)
        T, V = energies(x[0], x[1], t, c)
        return t * np.sqrt(max(E - V, 0.0) / T)

    found = solve_ivp(velocity, (0.0, times[-1]), [a, b], "DOP853", times, rtol=1e-12, atol=1e-14)
    return np.array([[*x, *velocity(0.0, x)] for x in found.y.T])


def parallel(a: float, speed: float, n: int, times: np.ndarray) -> np.ndarray:
    """The same of n windows that stay parallelograms: a physical pendulum."""
    inertia_, weight = (n + 1) / 3 + n, G * ((n + 1) / 2 + n)
    found = solve_ivp(
        lambda _, x: [x[1], weight / inertia_ * np.sin(x[0])], (0.0, times[-1]), [a, speed], "DOP853", times, rtol=1e-12, atol=1e-13
    )
    return np.array([[x, x, w, w] for x, w in found.y.T])


@cache
def time_to_lie(a: float, speed: float, n: int) -> float:
    """When the uprights first lie on the ground [s]."""
    last = 0.1
    while parallel(a, speed, n, np.array([0.0, last]))[-1, 0] < np.pi / 2:
        last += 0.05
    return float(brentq(lambda t: parallel(a, speed, n, np.array([0.0, t]))[-1, 0] - np.pi / 2, 1e-9, last, xtol=1e-15))
