"""Random trees and loops of joints of the catalogue, closed and moving, for exporters."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.math import euler_parameters
from joints import CJ, RJ, SJ, TJ, UJ, ConstantVelocity, Fixed, Gear, Planar, RackPinion, Screw

SEED = 20261125
TREE = ("RJ", "TJ", "Fixed", "Planar", "free", "RJ")
ALL = (*TREE, "SJ", "CJ", "UJ")


def solid(name, rng, r=None):
    a, b, c = rng.uniform(0.2, 0.5, 3) ** 2
    m = rng.uniform(0.5, 3.0)
    R = euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))
    J = R @ np.diag(m * np.array((b + c, a + c, a + b))) @ R.T
    return mbd.Body(name, m, J, r=rng.normal(size=3) if r is None else r, p=euler_parameters.normalized(rng.normal(size=4)))


def connect(kind, name, i, j, rng):
    P, a = rng.normal(size=3), rng.normal(size=3)
    if kind in ("RJ", "TJ", "CJ"):
        return {"RJ": RJ, "TJ": TJ, "CJ": CJ}[kind](name, i, j, point=P, axis=a)
    if kind == "Planar":
        return Planar(name, i, j, point=P, normal=a)
    if kind == "UJ":
        return UJ(name, i, j, point=P, axis_i=a, axis_j=np.cross(a, rng.normal(size=3)))
    if kind == "ConstantVelocity":
        return ConstantVelocity(name, i, j, point=P, axis_i=a, axis_j=a + 0.4 * np.linalg.norm(a) * rng.normal(size=3))
    return SJ(name, i, j, point=P) if kind == "SJ" else Fixed(name, i, j, point=P)


def random_tree(seed, kinds=ALL, n=6, springs=False):
    """A tree in which joints lead from either side."""
    rng = np.random.default_rng(SEED + seed)
    system = mbd.System(f"tree {seed}", gravity=rng.normal(size=3))
    for k in range(n):
        body = solid(f"body {k}", rng)
        kind = kinds[int(rng.integers(len(kinds)))]
        parent = system.bodies[int(rng.integers(max(0, k - 2), k + 1))]
        system.add(body)
        if kind == "free":
            continue
        pair = (parent, body) if rng.random() < 0.5 else (body, parent)
        joint = system.add(connect(kind, f"joint {k}", *pair, rng))
        if kind == "RJ" and springs:
            k_, theta0 = (0.0, 0.0) if springs == "damping" else (float(rng.uniform(1, 5)), float(rng.normal()))
            system.add(mbd.RSDA(f"spring {k}", joint, k=k_, c=float(rng.uniform(0, 1)), theta0=theta0))
    return system


def loop(closing):
    """A spatial chain of four bodies on the ground at both ends; the last joint closes it."""
    rng = np.random.default_rng(SEED)
    system = mbd.System(f"loop {closing}", gravity=(0.5, -9.81, 1.0))
    bodies = [system.add(solid(f"body {k}", rng)) for k in range(4)]
    if closing == "RJ":
        for k, (i, j) in enumerate(zip([system.ground, *bodies[:3]], bodies[:4], strict=True)):
            system.add(RJ(f"pin {k}", i, j, point=(k, (k % 2) * 0.7, 0.1 * k), axis=(0, 0, 1)))
        system.add(RJ("last", bodies[3], system.ground, point=(4, 0, 0), axis=(0, 0, 1)))
        return system
    ends = [system.ground, *bodies]
    for k in range(4):
        system.add(connect("RJ", f"pin {k}", ends[k], ends[k + 1], rng))
    if closing == "Fixed":  # between the tips of two chains
        other = [system.ground, *(system.add(solid(f"other {k}", rng)) for k in range(4))]
        for k in range(4):
            system.add(connect("RJ", f"hinge {k}", other[k], other[k + 1], rng))
        system.add(Fixed("last", bodies[3], other[4], point=(1, 1, 1)))
        return system
    system.add(connect(closing, "last", bodies[3], system.ground, rng))
    return system


def moving(system, seed=0):
    """The same system with a random motion that its joints allow."""
    model = system.compile()
    rows = mbd.evaluate(model).Phi_q.toarray().reshape(-1, 6 * model.nb)
    _, values, right = np.linalg.svd(rows)
    free = right[int(np.count_nonzero(values > 1e-9)) :]
    u = (np.random.default_rng(seed).normal(size=len(free)) @ free).reshape(-1, 6)
    return {body.name: (u[k, :3], u[k, 3:]) for k, body in enumerate(system.bodies[1:])}


def accelerations(system, motion):
    """Accelerations of all bodies by name, at velocities by name."""
    model = system.compile()
    start = model.state()
    v, w = start.v.copy(), start.omega_bar.copy()
    for k, body in enumerate(system.bodies[1:], start=1):
        v[k], w[k] = motion[body.name]
    found = mbd.accelerations(model, start.replace(v=v, omega_bar=w))
    return {body.name: np.concatenate([found.v_dot[k], found.omega_bar_dot[k]]) for k, body in enumerate(system.bodies[1:], 1)}


def geared(screw=True):
    """A gear pair on a turning arm, a rack on it, and a nut on a spindle (screw); shapes and a motion that the joints allow."""
    rng = np.random.default_rng(SEED + 100)
    system = mbd.System("geared", gravity=(0.5, -9.81, 1.0))
    names = ("arm", "one", "two", "rack", *(("nut",) if screw else ()))
    arm, one, two, rack, *nut = (system.add(solid(name, rng)) for name in names)
    system.add(RJ("pivot", system.ground, arm, point=(0.1, 0.2, 0.3), axis=(1, 2, 3)))
    a = system.add(RJ("a", arm, one, point=(0.5, 0, 0), axis=(0.2, 0, 1)))
    b = system.add(RJ("b", two, arm, point=(0.7, 0.3, 0.1), axis=(0.2, 0, 1)))
    rail = system.add(TJ("rail", rack, arm, point=(0.2, 0.6, 0.1), axis=(0, 1, 0)))
    system.add(Gear("gear", a, b, ratio=-1.7))
    system.add(RackPinion("rack and pinion", b, rail, radius=0.13))
    if nut:
        thread = system.add(CJ("thread", arm, nut[0], point=(0.1, 0.5, 0.2), axis=(1, 1, 0)))
        system.add(Screw("screw", thread, pitch=-0.3))
    motion = moving(system)
    for body in system.bodies[1:]:
        v, w = motion[body.name]
        body.__setstate__(body.__getstate__() | {"v": v, "omega_bar": w})
    return system


def same(one, two, tol=1e-9):
    """The same accelerations at the same velocities, by names of bodies.

    tol: relative to the largest acceleration or gravity: numbers that went through rotations; seen 1e-13
    """
    motion = moving(one)
    a, b = (accelerations(each, motion) for each in (one, two))
    assert a.keys() == b.keys()
    scale = max(1.0, *(np.abs(x).max() for x in a.values()))
    for name, x in a.items():
        np.testing.assert_allclose(b[name], x, rtol=0, atol=tol * scale)


def velocities(system):
    """v and omega of each body, global, by its name."""
    return {body.name: np.concatenate([body.v, body.A @ body.omega_bar]) for body in system.bodies[1:]}
