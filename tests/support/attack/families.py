"""Families of random mechanisms, and the mechanism of a number."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.serial_chain.chain import random_motion
from joints import RJ, SJ, RotationDriver
from tests.support.attack.mechanism import Broken, G, Mechanism, by_dop853
from tests.support.attack.windows import near_windows, windows
from tests.support.loops import moving
from tests.support.redundant_loops import J_BAR, bennett, bricard, ladder, loop


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
        before = armed["on"]
        armed["on"] = False
        try:
            return times(t)
        finally:
            armed["on"] = before

    armed["on"] = True
    made = Mechanism(f"failing {how} {'call' if by_call else 't'} {limit:.3g}", model, 0.3, reference, reset=reset)
    made.reached = lambda: bool(seen["failed"])
    made.must = ("push",)
    made.may_fail = lambda may: armed.update(on=may)
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
"""A function that draws one, and its share of the cases."""
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
