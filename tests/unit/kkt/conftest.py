"""Random mechanisms of every topology, with mixed joints and driven rows, and random states on and off the manifold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import lstsq

import haugmbd as mbd
from haugmbd.math.euler_parameters import exponential, product
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, RotationDriver, TranslationDriver

KINDS = ("RJ", "SJ", "UJ", "CJ", "TJ", "Fixed", "Distance", "driven RJ", "driven CJ", "driven TJ")
LOOSE = ("SJ", "UJ", "RJ", "CJ", "Distance", "driven CJ")
"""Joints that keep four or more freedoms in a loop of four, so that closing it by a point (3 rows) adds no dependent row."""


class Builder:
    """Adds random bodies and joints to one system."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.system = mbd.System("random", gravity=(0.3, -0.5, -9.81))
        self.bodies = [self.system.ground]
        self.tips = [np.zeros(3)]

    def unit(self) -> np.ndarray:
        a = self.rng.normal(size=3)
        return a / np.linalg.norm(a)

    def body(self, parent: int) -> int:
        """A body about one metre from its parent, with a general inertia."""
        r = self.tips[parent] + self.unit()
        a = self.rng.uniform(0.02, 0.3, size=3)
        turn = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        J_bar = turn @ np.diag(a.sum() - a) @ turn.T
        p = exponential(self.rng.normal(size=3))
        name = f"b{len(self.bodies)}"
        self.bodies.append(
            self.system.add(mbd.Body(name, self.rng.uniform(0.5, 3.0), (J_bar + J_bar.T) / 2.0, r=r, p=p / np.linalg.norm(p)))
        )
        self.tips.append(r)
        return len(self.bodies) - 1

    def joint(self, a: int, b: int, kind: str) -> None:
        """A joint of this kind between two bodies, in either order."""
        if self.rng.random() < 0.5:
            a, b = b, a
        i, j, name = self.bodies[a], self.bodies[b], f"j{len(self.system.joints)}"
        point, axis = (self.tips[a] + self.tips[b]) / 2.0 + 0.2 * self.unit(), self.unit()
        driven, kind = kind.startswith("driven"), kind.removeprefix("driven ")
        add = self.system.add
        if kind == "SJ":
            add(SJ(name, i, j, point=point))
        elif kind == "UJ":
            add(UJ(name, i, j, point=point, axis_i=axis, axis_j=np.cross(axis, self.unit())))
        elif kind == "Fixed":
            add(Fixed(name, i, j, point=point))
        elif kind == "Distance":
            add(Distance(name, i, j, point_i=point, point_j=point + self.unit()))
        else:
            joint = add({"RJ": RJ, "CJ": CJ, "TJ": TJ}[kind](name, i, j, point=point, axis=axis))
            if driven and kind != "TJ":
                add(RotationDriver(f"{name} drive", joint, lambda t: 0.4 * np.sin(3.0 * t)))
            elif driven:
                add(TranslationDriver(f"{name} drive", joint, lambda t: 0.2 * np.sin(2.0 * t)))

    def kind(self) -> str:
        return KINDS[self.rng.integers(len(KINDS))]


def chain(n: int, seed: int) -> mbd.System:
    b = Builder(seed)
    for k in range(n):
        b.joint(k, b.body(k), b.kind())
    return b.system


def tree(n: int, seed: int) -> mbd.System:
    b = Builder(seed)
    for k in range(n):
        parent = int(b.rng.integers(max(0, k - 8), k + 1))
        b.joint(parent, b.body(parent), b.kind())
    return b.system


def star(n: int, seed: int) -> mbd.System:
    """All arms on one free body."""
    b = Builder(seed)
    hub = b.body(0)
    for _ in range(n - 1):
        b.joint(hub, b.body(hub), b.kind())
    return b.system


def closed(n: int, seed: int) -> mbd.System:
    """A chain of mixed and driven joints whose bodies are tied to one another and to the ground, loop in loop."""
    b = Builder(seed)
    for k in range(n):
        b.joint(k, b.body(k), LOOSE[b.rng.integers(len(LOOSE))])
    for k in range(4, n + 1, 4):
        other = int(b.rng.integers(0, k - 3))
        b.joint(other, k, "SJ" if k % 8 else "Distance")
    return b.system


def spherical_ring(n: int, seed: int) -> mbd.System:
    """A chain of spherical joints from ground to ground."""
    b = Builder(seed)
    for k in range(n):
        b.joint(k, b.body(k), "SJ")
    b.joint(n, 0, "SJ")
    return b.system


def braced(n: int, seed: int) -> mbd.System:
    """A tree, half of it on revolute joints with springs across most of them, and with springs from some bodies to the ground."""
    b = Builder(seed)
    others = [kind for kind in KINDS if kind != "Distance"]
    for k in range(n):
        parent = int(b.rng.integers(max(0, k - 4), k + 1))
        body = b.body(parent)
        kind = "RJ" if b.rng.random() < 0.5 else others[b.rng.integers(len(others))]
        b.joint(parent, body, kind)
        if kind == "RJ" and b.rng.random() < 0.8:
            ends = (parent, body) if b.rng.random() < 0.5 else (body, parent)
            i, j = (b.bodies[end] for end in ends)
            b.system.add(mbd.TSDA(f"spring {k}", i, j, point_i=b.unit(), point_j=b.tips[body] + b.unit(), k=300.0, c=2.0, l0=1.0))
        if b.rng.random() < 0.3:
            ground, tip = b.system.ground, b.tips[body]
            b.system.add(mbd.TSDA(f"rope {k}", ground, b.bodies[body], point_i=b.unit(), point_j=tip + b.unit(), k=200.0, l0=0.5))
    return b.system


TOPOLOGIES = {"chain": chain, "tree": tree, "star": star, "closed": closed, "ring": spherical_ring, "braced": braced}


def random_state(model: mbd.Model, seed: int, *, on_manifold: bool) -> mbd.State:
    """The modelled pose with velocities that fulfil the rows; or a pose and velocities that fulfil nothing."""
    rng = np.random.default_rng(seed)
    state = model.state()
    shape = state.v[1:].shape
    u = np.hstack([rng.normal(size=shape), rng.normal(size=shape)])
    r, p, t = state.r.copy(), state.p.copy(), 0.0
    if on_manifold:
        rows = mbd.evaluate(model, state)
        Phi_q = rows.Phi_q.toarray()
        u = u.ravel()
        u = (u + lstsq(Phi_q, rows.nu - Phi_q @ u, lapack_driver="gelsy")[0]).reshape(-1, 6)
    else:
        t = 0.37
        r[1:] += 0.1 * rng.normal(size=shape)
        p[1:] = product(p[1:], exponential(0.1 * rng.normal(size=shape)))
    v, omega_bar = np.zeros_like(r), np.zeros_like(r)
    v[1:], omega_bar[1:] = u[:, :3], u[:, 3:]
    return state.replace(t=t, r=r, p=p, v=v, omega_bar=omega_bar)


@pytest.fixture(scope="session")
def random_model() -> Callable[..., mbd.Model]:
    """Make `random_model(topology, n, seed, solver=None)`."""
    return lambda topology, n, seed, solver=None: TOPOLOGIES[topology](n, seed).compile(solver=solver)


@pytest.fixture(scope="session")
def state_of() -> Callable[..., mbd.State]:
    """Make `state_of(model, seed, on_manifold=...)`."""
    return random_state
