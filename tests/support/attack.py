"""An attack on every method: random mechanisms, each run held against a converged reference; what is wrong and not told is printed.

    python -m tests.support.attack --seed 1 --cases 2000 [--only 137] [--family windows]

A case is a mechanism (families below) and a method (formulation, integrator, stabilization that go together, a step or a tolerance).
coarse      converges like that, too, but the step that was asked for is far too long for it, and nothing could tell: a fixed step
agrees      the run lies at the reference, or comes to it as the step or the tolerance is made smaller
told        it ends in an error of this package that names a part or a time, or `result.warnings` says that it is in doubt
finding     anything else: one line, with what `--only` needs to repeat it

References: joint coordinates (chains), one coordinate along the curve of possible poses (windows), closed forms (driven and free
bodies), and for the rest NewtonEuler with DOP853 at 1e-11, whose energy and position violation are looked at.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.serial_chain.random_chain import random_motion
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators
from joints import RJ, SJ, RotationDriver
from tests.support.loops import moving
from tests.support.redundant_loops import J_BAR, bennett, bricard, ladder, loop

PER_MECHANISM = 6
"""Cases that share a mechanism and its reference."""
G = 9.81
ALLOWED = (mbd.UsageError, mbd.ModelError, mbd.SimulationError)
CLOSE = 1e-6
"""A fixed step that is as near as this to the reference is not looked at twice."""
PENALTY = 1e-2
"""Penalty is an approximation whose error, 1 / (alpha sigma^2), grows beside singular poses; it says so of itself."""
EXCUSES = ("turn", "violation", "energy", "near")
"""Kinds of notes that put a run in doubt; that a singular configuration was crossed does not."""
INTEGRATORS = {name: method for name, method in integrators().items() if not name.startswith("SciPySolver")} | {
    f"SciPySolver {name}": mbd.SciPySolver(name) for name in ("RK45", "LSODA")
}
SLOW = ("SciPySolver RK45", "SciPySolver LSODA")


class Broken(Exception):
    """What a user's function raises here."""


@dataclass
class Mechanism:
    """A mechanism to simulate.  reference(times) -> y (n, ny);  must: what an error has to say, where the run has to be refused.

    size: velocity that errors of velocities are held against [m/s, rad/s]
    """

    name: str
    model: mbd.Model
    t_end: float
    reference: Callable[[np.ndarray], np.ndarray]
    state: mbd.State | None = None
    must: tuple[str, ...] = ()
    reset: Callable[[], None] = lambda: None
    reached: Callable[[], bool] | None = None
    """Whether the user's function has failed in the run just made."""
    known: dict[bytes, Any] = field(default_factory=dict)

    def at(self, times: np.ndarray) -> np.ndarray:
        """The reference at these times, or the error that it ended in, made once."""
        key = times.tobytes()
        if key not in self.known:
            self.reset()
            try:
                self.known[key] = self.reference(times)
            except ALLOWED as error:
                self.known[key] = error
        if isinstance(self.known[key], Exception):
            raise self.known[key]
        return self.known[key]


def by_dop853(model: mbd.Model, state: mbd.State | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """States of a run with DOP853 at 1e-11, whose violation is looked at."""

    def reference(times: np.ndarray) -> np.ndarray:
        result = mbd.simulate(model, times[-1], integrator=mbd.DOP853(rtol=1e-11, atol=1e-12), t_eval=times, state=state)
        assert np.max(result.violation("position"), initial=0.0) < 1e-8
        return result.y

    return reference


# mechanisms


def chain(rng: np.random.Generator) -> Mechanism:
    """A random chain, against its motion in joint coordinates."""
    n, seed = int(rng.integers(2, 6)), int(rng.integers(1 << 30))
    kinds = ("revolute", "prismatic", "cylindrical", "universal", "spherical")
    made = mbd.random_chain(n, seed, kinds=kinds)
    q, qd, tau = random_motion(made, seed + 1)
    tau = tau if rng.random() < 0.5 else 0.0 * tau
    system = made.to_system(tau=tau if tau.any() else None, q=q, qd=qd)
    model = system.compile()
    start = mbd.ChainState(0.0, q, qd)

    def reference(times: np.ndarray) -> np.ndarray:
        result = mbd.simulate(made, times[-1], integrator=mbd.DOP853(rtol=1e-11, atol=1e-12), state=start, tau=tau, t_eval=times)
        return np.array([made.state(model, *row).y[: 13 * (model.nb + 1)] for row in zip(result.q, result.qd, strict=True)])

    return Mechanism(f"chain of {n}", model, float(rng.uniform(0.2, 0.6)), reference)


def regular_loop(rng: np.random.Generator) -> Mechanism:
    """A loop with dependent rows: planar with any bars, Bennett, Bricard, a ladder."""
    kind = rng.choice(["planar", "minimal", "bennett", "bricard", "ladder"])
    if kind in ("planar", "minimal"):
        points = [np.append(p, 0.0) for p in ((0, 0), (0, 1), (3, 2), (4, 0)) + rng.uniform(-0.3, 0.3, size=(4, 2))]
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        points, axis = [R @ p for p in points], R[:, 2]
        system = loop(points, [axis] * 4)
        if kind == "minimal":
            parts = system.bodies
            system = mbd.System("loop", gravity=(0.3, -9.81, 1.0))
            bodies = [system.ground] + [
                system.add(mbd.Body(b.name, 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2)) for k, b in enumerate(parts[-3:])
            ]
            for k, point in enumerate(points):
                i, j = bodies[k], bodies[(k + 1) % 4]
                system.add(SJ(f"ball {k}", i, j, point=point) if k in (1, 3) else RJ(f"hinge {k}", i, j, point=point, axis=axis))
    else:
        make: dict[str, Callable[[], mbd.System]] = {
            "bennett": lambda: bennett(float(rng.uniform(0.4, 1.2))),
            "bricard": lambda: bricard(float(rng.uniform(0.1, 0.6))),
            "ladder": lambda: ladder(int(rng.integers(1, 3)), lean=float(rng.uniform(0.1, 0.8))),
        }
        system = make[kind]()
    model = system.compile()
    state = moving(model, int(rng.integers(1 << 30)))
    return Mechanism(f"loop {kind}", model, float(rng.uniform(0.2, 0.5)), by_dop853(model, state), state)


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


def time_to_lie(a: float, speed: float, n: int) -> float:
    """When the uprights first lie on the ground [s]."""
    last = 0.1
    while parallel(a, speed, n, np.array([0.0, last]))[-1, 0] < np.pi / 2:
        last += 0.05
    return float(brentq(lambda t: parallel(a, speed, n, np.array([0.0, t]))[-1, 0] - np.pi / 2, 1e-9, last, xtol=1e-15))


def plane(rng: np.random.Generator) -> np.ndarray:
    """Two directions, the plane of a mechanism."""
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return R[:, :2].T


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


def stiff(rng: np.random.Generator) -> Mechanism:
    """A chain of links with a stiff spring, with or without a damper."""
    n = int(rng.integers(2, 5))
    system = mbd.System("stiff", gravity=(0.0, 0.0, -G))
    before, bodies = system.ground, []
    for k in range(n):
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        body = system.add(mbd.Body(f"link {k}", float(10 ** rng.uniform(-2, 1)), J_BAR, r=(k + 0.5, 0.1 * k, 0.0)))
        system.add(
            SJ(f"ball {k}", before, body, point=(k, 0, 0))
            if rng.random() < 0.4
            else RJ(f"pin {k}", before, body, point=(k, 0, 0), axis=R[0])
        )
        bodies.append(body)
        before = body
    end = np.array([n + 0.0, 0.0, -0.5])
    k, c = float(10 ** rng.uniform(3, 6)), float(rng.choice([0.0, 10.0, 1e3]))
    system.add(
        mbd.TSDA(
            "spring",
            system.ground,
            bodies[-1],
            point_i=(n, 0.5, 1.0),
            point_j=end,
            k=k,
            c=c,
            l0=float(np.linalg.norm(end - (n, 0.5, 1.0))) * float(rng.choice([1.0, 0.98])),
        )
    )
    model = system.compile()
    return Mechanism(f"stiff {k:.1e} {c:g}", model, 0.2, by_dop853(model))


def driven(rng: np.random.Generator) -> Mechanism:
    """A pendulum on a driven arm; the driver is smooth, jumps or kinks at a time inside or beyond the run."""
    kind = rng.choice(["smooth", "jump", "kink", "jump later", "fast"])
    T = float(rng.uniform(0.05, 0.25))
    t_end = 0.3 if kind in ("smooth", "jump", "kink", "fast") else 0.9 * T
    size = float(10 ** rng.uniform(-4, 0))
    amplitude, w = (0.5, 3.0) if kind != "fast" else (0.01, 200.0)

    def f(t: Any) -> Any:
        base = amplitude * (1.0 - np.cos(w * t))
        if kind in ("jump", "jump later"):
            return base + np.where(t < T, 0.0, size)
        return base + size * np.maximum(t - T, 0.0) if kind == "kink" else base

    system = mbd.System("driven", gravity=(0.0, 0.0, -G))
    arm = system.add(mbd.Body("arm", 1.0, J_BAR, r=(0.5, 0, 0)))
    bob = system.add(mbd.Body("bob", float(rng.uniform(0.1, 2)), J_BAR, r=(1.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, arm, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("elbow", arm, bob, point=(1, 0, 0), axis=(0, 1, 0.3)))
    system.add(RotationDriver("drive", pin, f))
    model = system.compile()
    must = ("drive", f"{T:.6g}"[:5]) if kind in ("jump", "kink") else ()
    return Mechanism(f"driven {kind} {size:.1e}", model, t_end, by_dop853(model), must=must)


def failing(rng: np.random.Generator) -> Mechanism:
    """A force of the user that raises, or gives nothing usable, at a random call or from a random time on."""
    how = rng.choice(["raise", "nan", "shape", "text", "inf"])
    by_call = bool(rng.random() < 0.5)
    limit = int(rng.integers(2, 400)) if by_call else float(rng.uniform(0.0, 0.35))
    seen = {"calls": 0, "failed": False}

    def reset() -> None:
        seen.update(calls=0, failed=False)

    def force(t: float, r: Any, p: Any, v: Any, omega_bar: Any) -> Any:
        seen["calls"] += 1
        if armed["on"] and (seen["calls"] >= limit if by_call else t >= limit):
            seen["failed"] = True
            if how == "raise":
                raise Broken(f"at {t}")
            return {"nan": (np.nan, 0.0, 0.0), "shape": (1.0, 2.0), "text": ("a", "b", "c"), "inf": (0.0, np.inf, 0.0)}[how]
        return (-0.5 * v[0], np.sin(3 * t), 0.0)

    armed = {"on": False}
    system = mbd.System("failing", gravity=(0.0, 0.0, -G))
    a = system.add(mbd.Body("a", 1.0, J_BAR, r=(0.5, 0, 0)))
    b = system.add(mbd.Body("b", 1.0, J_BAR, r=(1.5, 0, 0)))
    system.add(RJ("pin", system.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(SJ("ball", a, b, point=(1, 0, 0)))
    system.add(mbd.PointForce("push", b, force=force))
    model = system.compile()
    times = by_dop853(model)

    def reference(t: np.ndarray) -> np.ndarray:
        armed["on"] = False
        try:
            return times(t)
        finally:
            armed["on"] = True

    armed["on"] = True
    made = Mechanism(f"failing {how} {'call' if by_call else 't'} {limit:.3g}", model, 0.3, reference, reset=reset)
    made.reached = lambda: bool(seen["failed"])
    made.must = ("push",)
    return made


def free_body(rng: np.random.Generator) -> Mechanism:
    """A body that flies and spins about its axis of symmetry in space: closed form."""
    J1, J3 = rng.uniform(0.1, 0.4, size=2)
    J3 = min(J3, 1.9 * J1)
    system = mbd.System("free", gravity=(0.0, 0.0, -G))
    v, omega = rng.normal(size=3), rng.normal(size=3) * float(rng.choice([1.0, 20.0]))
    system.add(mbd.Body("top", 1.3, (J1, J1, J3), v=v, omega_bar=omega))
    model = system.compile()

    def reference(times: np.ndarray) -> np.ndarray:
        k = (J3 - J1) / J1 * omega[2]
        c, s = np.cos(k * times), np.sin(k * times)
        spin = np.column_stack([omega[0] * c - omega[1] * s, omega[0] * s + omega[1] * c, np.full(len(times), omega[2])])
        y = by_dop853(model)(times).reshape(len(times), -1, 13).copy()
        y[:, 1, :3] = np.outer(times, v) + np.outer(times**2 / 2, (0, 0, -G))
        y[:, 1, 7:10] = v + np.outer(times, (0, 0, -G))
        assert np.abs(y[:, 1, 10:] - spin).max() < 1e-8 * (1.0 + np.abs(omega).max())
        return y.reshape(len(times), -1)

    return Mechanism("free body", model, float(rng.uniform(0.2, 1.0)), reference)


FAMILIES: dict[str, tuple[Callable[[np.random.Generator], Mechanism], float]] = {
    "chain": (chain, 0.24),
    "loop": (regular_loop, 0.2),
    "windows": (windows, 0.14),
    "near": (near_windows, 0.1),
    "stiff": (stiff, 0.1),
    "driven": (driven, 0.08),
    "failing": (failing, 0.08),
    "free": (free_body, 0.06),
}


DRAWS = 20
"""Draws of one mechanism at most."""


@lru_cache(maxsize=2)
def mechanism_of(seed: int, number: int, family: str = "") -> Mechanism:
    """The mechanism of this number; one whose start is refused when it is compiled is drawn again."""
    rng = np.random.default_rng((seed, number))
    drawn = rng.choice(list(FAMILIES), p=[share for _, share in FAMILIES.values()])
    for _ in range(DRAWS):
        with contextlib.suppress(mbd.ModelError):
            return FAMILIES[family or drawn][0](rng)
    raise RuntimeError(f"mechanism {number} of {seed}: {DRAWS} draws of the family {family or drawn!r} are refused when compiled.")


# methods


@dataclass
class Method:
    """A formulation, an integrator, a stabilization, and a step or a tolerance."""

    formulation: Any
    integrator: Any
    stabilization: Any
    h: float | None
    rtol: float | None
    dense: bool

    def finer(self, times: int) -> Method:
        """A step half as long, or tolerances a hundredth, so many times."""
        h = None if self.h is None else self.h / 2.0**times
        return Method(
            self.formulation,
            self.integrator,
            self.stabilization,
            h,
            None if self.rtol is None else self.rtol / 100.0**times,
            self.dense,
        )

    @property
    def options(self) -> dict[str, Any]:
        tolerances = {"h": self.h} if self.h else {"rtol": self.rtol, "atol": 1e-2 * self.rtol}  # type: ignore[operator]
        return {
            "formulation": self.formulation, "integrator": self.integrator, "stabilization": self.stabilization, **tolerances,
        }  # fmt: skip

    def __str__(self) -> str:
        step = f"h={self.h:g}" if self.h else f"rtol={self.rtol:g}"
        name = f"{type(self.integrator).__name__}{getattr(self.integrator, 'method', '')}"
        return f"{self.formulation!r} {name} {step} {self.stabilization!r}{' t_eval' * self.dense}"


def method_of(rng: np.random.Generator, t_end: float) -> Method:
    """A random method."""
    while True:
        kind = mbd.NewtonEuler if rng.random() < 0.45 else rng.choice(FORMULATIONS)
        formulation = mbd.NullSpace(mbd.SVD()) if kind is mbd.NullSpace and rng.random() < 0.5 else kind()
        name = str(rng.choice(list(INTEGRATORS)))
        if name in SLOW and rng.random() < 0.7:
            continue
        integrator = INTEGRATORS[name]
        rule_name = str(rng.choice(list(STABILIZATIONS)))
        rule = None if rule_name == "None" else STABILIZATIONS[rule_name]
        if incompatibility(formulation, integrator, STABILIZATIONS[rule_name]):
            continue
        if hasattr(integrator, "constraint_form") and rng.random() < 0.5:
            forms = [mbd.Index2(), mbd.GGL()] if integrator.takes_tolerances else [mbd.Index2(), mbd.Index3(), mbd.GGL()]
            if type(integrator).__name__ not in ("Trapezoidal", "GeneralizedAlphaR7"):
                integrator = type(integrator)(constraint_form=forms[int(rng.integers(len(forms)))])
        fixed = integrator.takes_step and not (integrator.takes_tolerances and rng.random() < 0.6)
        slow = kind is not mbd.NewtonEuler
        steps = [1e-2, 5e-3] if slow else [1e-2, 5e-3, 2e-3, 1e-3]
        h = min(float(rng.choice(steps)), t_end / 2) if fixed else None
        lowest = {"GeneralizedAlpha": 6, "BDF": 8}.get(type(integrator).__name__, 10)
        rtol = None if fixed else 10.0 ** -int(rng.integers(4, lowest + 1))
        return Method(formulation, integrator, rule, h, rtol, bool(rng.random() < 0.3))


# judgement


def error_of(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest error of positions [m, rad] and of velocities, in parts of 1 + the largest velocity; (n, bodies, 6) has no rotations."""
    n = len(wanted)
    if wanted.ndim == 3:
        y = found[:, : 13 * (1 + wanted.shape[1])].reshape(n, -1, 13)[:, 1:]
        order = window_order(wanted.shape[1])
        y = y[:, order]
        size = 1.0 + np.abs(wanted[..., 3:]).max()
        return float(max(np.abs(y[..., :3] - wanted[..., :3]).max(), np.abs(y[..., 7:10] - wanted[..., 3:]).max() / size))
    width = wanted.shape[1] // 13 * 13
    a, b = (x[:, :width].reshape(n, -1, 13) for x in (found, wanted))
    turn = 2 * np.minimum(np.abs(a[..., 3:7] - b[..., 3:7]).max(axis=-1), np.abs(a[..., 3:7] + b[..., 3:7]).max(axis=-1))
    size = 1.0 + np.abs(b[..., 7:]).max()
    return float(max(np.abs(a[..., :3] - b[..., :3]).max(), turn.max(), np.abs(a[..., 7:] - b[..., 7:]).max() / size))


def window_order(n_bodies: int) -> list[int]:
    """Uprights first, then bars: how they were added."""
    return list(range(n_bodies))


@dataclass
class Verdict:
    """agrees, told or finding, and why."""

    kind: str
    why: str = ""


def names_something(model: mbd.Model, text: str) -> bool:
    """Whether a message says where or when, or what to do about the arguments."""
    names = [*model.body_names[1:], *(label.joint for label in model.labels), *(entry.load.name for entry in model.loads)]
    return any(name in text for name in names) or "t = " in text


def attempt(m: Mechanism, method: Method, times: np.ndarray) -> tuple[float, Any, Exception | None]:
    """(error, result, what was raised)."""
    m.reset()
    options = method.options | ({"t_eval": times} if method.dense else {})
    try:
        result = mbd.simulate(m.model, float(times[-1]), state=m.state, **options)
    except Exception as error:  # noqa: BLE001
        return np.nan, getattr(error, "result", None), error
    failed = m.reached() if m.reached else None
    if failed:
        return np.nan, result, None
    wanted = m.at(times) if method.dense else m.at(times)[-1:]
    return error_of(result.y if method.dense else result.y[-1:], wanted), result, None


def judge(m: Mechanism, method: Method) -> Verdict:
    """One case."""
    times = np.linspace(0.0, m.t_end, 6)
    failure: Exception | None = None
    try:
        if not (m.must and m.reached is None):
            m.at(times)
    except ALLOWED as error:
        failure = error
    if failure is not None:
        m.reset()
    if m.must and m.reached is None:
        m.reset()
        try:
            mbd.simulate(m.model, m.t_end, state=m.state, **method.options)
        except Exception as error:  # noqa: BLE001
            return refused(m, error, m.must)
        return Verdict("finding", f"no error that says {m.must}")
    if failure is not None:
        try:
            result = mbd.simulate(m.model, m.t_end, state=m.state, **method.options)
        except Exception as error:  # noqa: BLE001
            return refused(m, error, ())
        return (
            Verdict("told", "warned")
            if excused(result)
            else Verdict("finding", f"the reference says {failure}, and this says nothing")
        )
    error, result, raised = attempt(m, method, times)
    if raised is not None:
        return refused(m, raised, m.must if m.reached is not None and m.reached() else ())
    if m.reached is not None and m.reached():
        return Verdict("finding", "the function has failed, and the run has gone on")
    small = CLOSE if method.h else min(1e-2, 1e3 * method.rtol)  # type: ignore[operator]
    if error <= small or excused(result):
        return Verdict("agrees" if error <= small else "told", f"{error:.1e}")
    return converging(m, method, times, error, small)


def converging(m: Mechanism, method: Method, times: np.ndarray, first: float, small: float) -> Verdict:
    """Whether smaller steps or tolerances lead to the reference."""
    errors = [first]
    for k in range(1, 6 if method.h else 4):
        error, result, raised = attempt(m, method.finer(k), times)
        if raised is not None:
            return refused(m, raised, ())
        errors.append(error)
        if error <= small:
            return gross(errors)
        if method.h and len(errors) > 2 and errors[-1] < 0.65 * errors[-2] and errors[-2] < 0.65 * errors[-3]:
            return gross(errors)
        if method.rtol and error <= 1e3 * method.finer(k).rtol:  # type: ignore[operator]
            return gross(errors)
        if isinstance(method.formulation, mbd.Penalty) and error < PENALTY:
            return Verdict("agrees", "as near as penalties come")
    return Verdict("finding", "does not come to the reference: " + " ".join(f"{e:.1e}" for e in errors))


def gross(errors: list[float]) -> Verdict:
    """Converging, but so far from it at first that a word would be expected."""
    told = " ".join(f"{e:.1e}" for e in errors)
    return Verdict("agrees" if errors[0] < 0.3 else "coarse", told)


def excused(result: Any) -> bool:
    """Whether the run says itself that it is in doubt."""
    return any(note.kind in EXCUSES and (note.doubtful or note.kind != "turn") for note in result.outcome.notes)


def refused(m: Mechanism, error: Exception, must: tuple[str, ...]) -> Verdict:
    """Whether an error is one of this package, or the user's own, and says where."""
    told = "\n".join([str(error), *getattr(error, "__notes__", [])])
    cause = isinstance(error, Broken) or isinstance(error.__cause__, Broken)
    if not isinstance(error, ALLOWED) and not cause:
        return Verdict("finding", f"raw {type(error).__name__}: {told}")
    missing = [word for word in must if word not in told]
    if isinstance(error, mbd.UsageError | mbd.ModelError) and not cause:
        missing = []  # what does not go together is said before the run
    if missing:
        return Verdict("finding", f"an error without {missing}: {told}")
    if not names_something(m.model, told) and not isinstance(error, mbd.UsageError):
        return Verdict("finding", f"an error without names: {told}")
    return Verdict("refused" if not must else "told", f"{type(error).__name__}: {told}")


def cases(seed: int, n: int, only: int | None = None, family: str = "") -> Iterator[tuple[int, Mechanism, Method, Verdict]]:
    """Every case with its verdict."""
    for k in range(n) if only is None else (only,):
        m = mechanism_of(seed, k // PER_MECHANISM, family)
        method = method_of(np.random.default_rng((seed, 1, k)), m.t_end)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                verdict = judge(m, method)
            except Exception as error:  # noqa: BLE001
                verdict = Verdict("finding", f"the attack itself: {type(error).__name__}: {error}")
        yield k, m, method, verdict


def main() -> None:
    """Print findings, one a line, and at the end what there was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--family", default="", choices=["", *FAMILIES])
    parser.add_argument("--refused", action="store_true", help="print refusals, too")
    given = parser.parse_args()
    count: Counter[str] = Counter()
    for k, m, method, verdict in cases(given.seed, given.cases, given.only, given.family):
        count[verdict.kind] += 1
        if verdict.kind == "finding" or given.only is not None or (given.refused and verdict.kind in ("refused", "coarse", "told")):
            why = " ".join(verdict.why.split())[:300]
            print(f"{verdict.kind} case {k}: {m.name}, t_end={m.t_end:.9g}: {method}: {why}", flush=True)  # noqa: T201
    print(dict(count), f"CPU {time.process_time():.0f} s", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
